# The model as a reference: many fits, progress, stopping, and errors on the way.

data <- blobs(60)
# Nothing converges to 0: many iterations, unless something stops them.
long <- function(model, ...) {
  scmk_fit(model, preset = "joint", tolerance = 0, max_iterations = 20, ...)
}

test_that("a result before a fit is an error", {
  model <- scmk_model(data$x, 3)
  error <- scmk_error_of(scmk_result(model))
  expect_identical(error$status, "SCMK_E_STATE")
  expect_identical(fitted(scmk_fit(model)), data$truth)
  expect_identical(fitted(scmk_result(model)), data$truth)
})

test_that("options stay, and a refused one changes nothing", {
  model <- scmk_model(data$x, 3, "linear; gaussian(t=1)")
  expect_output(print(model), "60 samples")
  first <- scmk_fit(model, alpha = 0.5, method = "scmk")
  expect_identical(scmk_fit(model)$options$alpha, 0.5)
  scmk_error_of(scmk_fit(model, beta = 0.1, alpha = -1))
  again <- scmk_fit(model)
  expect_identical(again$options$beta, first$options$beta)
  expect_identical(again$trace, first$trace)
})

test_that("a warm start goes on from the last result", {
  model <- scmk_model(data$x, 3, kernels = "paper", preset = "joint")
  cold <- scmk_fit(model, warm_start = FALSE)
  warm <- scmk_fit(model, warm_start = TRUE)
  expect_lt(warm$info$iterations, cold$info$iterations)
  expect_lte(warm$info$objective, cold$info$objective * (1 + 1e-9))
})

test_that("borrowed kernels survive what happens to the variable", {
  kernel <- gaussian(data$x)
  expected <- scmk(kernel + 0, 3, kernels = "precomputed")
  model <- scmk_model(kernel, 3, kernels = "precomputed")
  kernel[] <- 0
  rm(kernel)
  gc()
  expect_identical(scmk_fit(model)$trace, expected$trace)
})

test_that("progress is told", {
  seen <- NULL
  model <- scmk_model(data$x, 3, "paper")
  fit <- long(model, progress = function(step, iteration, fraction, objective) {
    seen <<- rbind(seen, data.frame(step, iteration, fraction, objective))
  })
  complete <- seen[seen$step == "iteration", ]
  expect_identical(complete$iteration, as.double(seq_len(fit$info$iterations)))
  expect_equal(complete$objective, fit$trace)
  expect_true(all(seen$fraction >= 0 & seen$fraction <= 1))
  expect_true(all(is.na(seen$objective[seen$iteration == 0])))
})

test_that("a progress function stops the fit", {
  model <- scmk_model(data$x, 3, "paper")
  whole <- long(model)
  fit <- long(model, progress = function(step, iteration, fraction, objective) iteration < 2)
  expect_identical(fit$outcome, "cancelled")
  expect_identical(fit$info$iterations, 2L)
  expect_identical(fitted(fit), data$truth)
  expect_identical(long(model)$trace, whole$trace)
})

test_that("an error in the progress function comes out as it was, and the model stays usable", {
  model <- scmk_model(data$x, 3, "paper")
  whole <- long(model)
  mine <- structure(class = c("mine", "error", "condition"), list(message = "mine", call = NULL))
  for (i in 1:50) {
    error <- tryCatch(
      long(model, progress = function(step, iteration, fraction, objective) {
        if (iteration == 2) stop(mine)
      }),
      mine = identity
    )
    expect_identical(error, mine)
  }
  # What was reached is there.
  expect_identical(scmk_result(model)$outcome, "cancelled")
  expect_identical(scmk_result(model)$info$iterations, 2L)
  expect_identical(long(model)$trace, whole$trace)
  # So do calling handlers, restarts and returns: everything that jumps.
  seen <- NULL
  value <- withRestarts(
    withCallingHandlers(
      long(model, progress = function(...) stop("caught on the way")),
      error = function(e) {
        seen <<- conditionMessage(e)
        invokeRestart("mine", 42)
      }
    ),
    mine = identity
  )
  expect_identical(value, 42)
  expect_identical(seen, "caught on the way")
  leave <- function() long(model, progress = function(...) return_from(7))
  return_from <- NULL
  value <- callCC(function(exit) {
    return_from <<- exit
    leave()
  })
  expect_identical(value, 7)
  # scmk() itself does not lose its model either.
  expect_error(scmk(data$x, 3, progress = function(...) stop("mine")), "mine")
  expect_identical(long(model)$trace, whole$trace)
})

test_that("a warning in the progress function is a warning", {
  expect_warning(
    fit <- scmk(data$x, 3, progress = function(step, iteration, ...) {
      if (step == "iteration" && iteration == 1) warning("careful")
    }),
    "careful"
  )
  expect_identical(fit$outcome, "converged")
})

test_that("a model is busy inside its own fit, another one is not", {
  model <- scmk_model(data$x, 3)
  status <- NULL
  inner <- NULL
  fit <- scmk_fit(model, progress = function(...) {
    status <<- tryCatch(scmk_result(model), scmk_error = function(e) e$status)
    if (is.null(inner)) inner <<- scmk(data$x, 3)
    gc()
  })
  expect_identical(status, "SCMK_E_BUSY")
  expect_identical(fitted(inner), data$truth)
  expect_identical(fit$trace, inner$trace)
})

test_that("an interrupt stops the fit and is an interrupt", {
  skip_on_os("windows")
  model <- scmk_model(data$x, 3, "paper")
  whole <- long(model)
  caught <- tryCatch(
    long(model, progress = function(step, iteration, fraction, objective) {
      # As Ctrl-C: the signal is noticed at the next occasion.
      if (iteration == 2) tools::pskill(Sys.getpid(), tools::SIGINT)
      NULL
    }),
    interrupt = function(condition) "interrupted"
  )
  expect_identical(caught, "interrupted")
  expect_identical(scmk_result(model)$outcome, "cancelled")
  expect_identical(long(model)$trace, whole$trace)
})

test_that("a long fit is interrupted within a second", {
  skip_on_cran()
  skip_on_os("windows")
  x <- matrix(sin(seq_len(2000 * 20)^2), 2000)
  now <- function() as.numeric(Sys.time())
  model <- scmk_model(x, 10, "gaussian(t=0.1); gaussian(t=1); linear", preset = "joint")
  # Nothing of R runs here but the look for interrupts; the file tells when the signal was sent.
  file <- tempfile()
  on.exit(unlink(file))
  for (progress in c(FALSE, TRUE)) {
    system(sprintf("(sleep 2; date +%%s.%%N >'%s'; kill -INT %d) &", file, Sys.getpid()))
    drawn <- capture.output(type = "message", {
      caught <- tryCatch(scmk_fit(model, alpha = 10, tolerance = 0, progress = progress),
                         interrupt = function(condition) "interrupted")
    })
    sent <- as.numeric(readLines(file))
    expect_identical(caught, "interrupted")
    expect_lt(now() - sent, 1)
    # The line of progress stays as it was: nothing has converged.
    if (progress) expect_match(sub(".*\r", "", drawn[1]), "^([0-9]+ complete|[a-z]+ [0-9]+ %)")
  }
  started <- now()
  fit <- scmk_fit(model, progress = function(...) if (now() - started > 1) { sent <<- now(); FALSE })
  expect_identical(fit$outcome, "cancelled")
  expect_lt(now() - sent, 1)
})

test_that("several numbers of clusters are tried with the same kernels", {
  model <- scmk_model(data$x, 2, "gaussian(t=0.5); linear")
  copy <- model
  for (k in 2:5) {
    fit <- scmk_fit(model, k = k)
    expect_identical(fit$trace, scmk(data$x, k, kernels = "gaussian(t=0.5); linear")$trace)
    expect_length(fit$size, k)
    expect_identical(dim(fit$embedding), c(60L, k))
  }
  # It stays, for every name of the model.
  expect_length(scmk_fit(copy)$size, 5)
  expect_output(print(copy), "for 5 clusters")
  # What is refused changes nothing.
  expect_identical(scmk_error_of(scmk_fit(model, k = 61, alpha = 7))$status, "SCMK_E_DIMENSION")
  expect_identical(scmk_error_of(scmk_fit(model, k = 4, alpha = -1))$status, "SCMK_E_INVALID_ARGUMENT")
  scmk_error_of(scmk_fit(model, k = 2:3))
  expect_identical(scmk_result(model)$trace, fit$trace)
  expect_identical(scmk_result(copy)$options$alpha, 1)
})

# Kernels that take longer to build than the first look around.
wide <- function() matrix(sin(seq_len(2000 * 2000)^2), 2000)

test_that("building kernels tells progress and can be stopped", {
  skip_on_cran()
  x <- wide()
  seen <- NULL
  model <- scmk_model(list(a = x), 10, "paper", progress = function(step, iteration, fraction, objective) {
    seen <<- rbind(seen, data.frame(step, iteration, fraction, objective))
  })
  expect_gte(nrow(seen), 1)
  expect_true(all(seen$step == "kernels" & seen$iteration == 0 & is.na(seen$objective)))
  expect_false(is.unsorted(seen$fraction))
  error <- scmk_error_of(scmk(x, 10, kernels = "paper", progress = function(...) FALSE))
  expect_identical(error$status, "SCMK_E_STOPPED")
  expect_identical(error$code, -17L)
  expect_error(scmk_model(x, 10, "paper", progress = function(...) stop("mine")), "^mine$")
})

test_that("an interrupt stops the building of kernels and is an interrupt", {
  skip_on_cran()
  skip_on_os("windows")
  x <- wide()
  step <- NULL
  for (build in list(scmk, scmk_model)) {
    caught <- tryCatch(
      build(x, 10, kernels = "paper", progress = function(step, ...) {
        step <<- step
        tools::pskill(Sys.getpid(), tools::SIGINT)
        NULL
      }),
      interrupt = function(condition) "interrupted"
    )
    expect_identical(caught, "interrupted")
    expect_identical(step, "kernels")
  }
})

test_that("the progress line tells what is known, and nothing else", {
  lines_of <- function(expression) {
    drawn <- paste(capture.output(type = "message", expression), collapse = "\n")
    trimws(strsplit(drawn, "[\r\n]+")[[1]])
  }
  lines <- lines_of(fit <- scmk(data$x, 3, kernels = "paper", preset = "joint", progress = TRUE))
  expect_identical(lines[length(lines)], sprintf("converged: %d iterations, objective %s",
                                                 fit$info$iterations, format(fit$info$objective)))
  # What is counted on the way are restarts here, but at the end iterations as everywhere.
  lines <- lines_of(fit <- scmk(data$x, 3, method = "kkm", restarts = 7, progress = TRUE))
  expect_identical(lines[length(lines)], sprintf("converged: %s, objective %s",
                                                 scmk:::plural(fit$info$iterations, "iteration"),
                                                 format(fit$info$objective)))
  lines <- lines_of(model <- scmk_model(data$x, 3, kernels = "paper", preset = "joint",
                                        progress = TRUE))
  expect_identical(lines[length(lines)], "12 kernels")
  lines <- lines_of(fit <- scmk_fit(model, tolerance = 0, max_iterations = 2, progress = TRUE))
  expect_match(lines[length(lines)], "^iteration limit: 2 iterations, objective ")
  # Left halfway, it does not say that all is done, and the next output has a line of its own.
  lines <- lines_of({
    line <- scmk:::progress_line()
    line$view(2L, 3L)
    line$progress("kernels", 0, 0.25, NA)
    line$close()
    cat("next\n", file = stderr())
  })
  expect_identical(lines[lines != ""], c("kernels of view 2 of 3 25 %", "next"))
})

test_that("a model of another session is refused", {
  model <- scmk_model(data$x, 3)
  saved <- unserialize(serialize(model, NULL))
  expect_identical(scmk_error_of(scmk_fit(saved))$status, "SCMK_E_INVALID_HANDLE")
  expect_identical(scmk_error_of(scmk_result(saved))$status, "SCMK_E_INVALID_HANDLE")
  expect_output(print(saved), "another R session")
})

test_that("forked processes fit after a fit of their parent", {
  skip_on_os("windows")
  expected <- fitted(scmk_fit(scmk_model(data$x, 3)))
  found <- parallel::mclapply(1:3, function(i) fitted(scmk_fit(scmk_model(data$x, 3))), mc.cores = 2)
  for (labels in found) expect_identical(labels, expected)
})

test_that("there are two threads at most under R CMD check", {
  before <- Sys.getenv("_R_CHECK_LIMIT_CORES_", NA)
  on.exit(
    if (is.na(before)) Sys.unsetenv("_R_CHECK_LIMIT_CORES_")
    else Sys.setenv("_R_CHECK_LIMIT_CORES_" = before)
  )
  Sys.setenv("_R_CHECK_LIMIT_CORES_" = "TRUE")
  expect_equal(as.numeric(scmk_fit(scmk_model(data$x, 3))$options$threads), 2)
  Sys.setenv("_R_CHECK_LIMIT_CORES_" = "false")
  expect_equal(as.numeric(scmk_fit(scmk_model(data$x, 3))$options$threads), 0)
})
