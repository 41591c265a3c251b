# How many clusters there are, when nobody says.

# Four clouds of points, far apart.
four <- function(n = 80) {
  truth <- rep_len(1:4, n)
  angle <- seq_len(n)^2
  list(
    x = cbind(20 * (truth %% 2) + sin(angle), 20 * (truth > 2) + sin(1.3 * angle)),
    truth = truth
  )
}
data <- four()
set.seed(1)
noise <- matrix(stats::rnorm(80 * 6), 80)

test_that("the number of clusters is suggested, with the scores of all that were tried", {
  suggestion <- suggest_clusters(data$x, 2, 9)
  expect_s3_class(suggestion, "scmk_suggestion")
  expect_identical(suggestion$best, 4L)
  expect_identical(suggestion$scores$k, 2:9)
  expect_identical(suggestion$scores$k[which.max(suggestion$scores$score)], 4L)
  expect_true(suggestion$confidence > 0.5 && suggestion$confidence <= 1)
  expect_false(suggestion$runner_up %in% 4L)
  expect_output(print(suggestion), "Suggested number of clusters: 4, of 2 to 9")
  expect_output(print(suggestion), "Confidence, from 0 to 1: ")
  # As far as a fit looks.
  expect_identical(range(suggest_clusters(data$x)$scores$k), c(2L, 20L))
  expect_identical(suggest_clusters(data$x)$best, 4L)
})

test_that("samples that do not fall into clusters are told in words", {
  suggestion <- suggest_clusters(noise)
  expect_identical(suggestion$best, 1L)
  expect_output(print(suggestion), "The samples do not fall into clusters: no number from 2 to 20")
  expect_warning(fit <- scmk(noise), "no number of clusters", class = "scmk_warning")
  expect_identical(fit$size, 80L)
})

test_that("a fit without a number of clusters chooses it", {
  for (fit in list(scmk(data$x), scmk(data$x, NULL), scmk(data$x, 0))) {
    expect_identical(fitted(fit), data$truth)
    expect_true(fit$chosen)
    expect_identical(fit$info$suggested_clusters, 4L)
    expect_identical(dim(fit$embedding), c(80L, 4L))
    expect_output(print(fit), "80 samples in 4 clusters (number chosen) by method scmk", fixed = TRUE)
    expect_output(print(fit), "confidence in the number of clusters ")
    expect_output(print(summary(fit)), "(number chosen)", fixed = TRUE)
  }
  given <- scmk(data$x, 4)
  expect_false(given$chosen)
  expect_identical(given$info$suggested_clusters, NA)
  expect_no_match(paste(capture.output(print(given)), collapse = "\n"), "chosen|confidence")
  for (method in scmk_methods()$name) expect_length(scmk(data$x, method = method)$size, 4)
})

test_that("a model chooses in each fit, until it is told a number", {
  model <- scmk_model(data$x)
  copy <- model
  expect_output(print(model), "80 samples for as many clusters as a fit chooses; views: view 1")
  expect_true(scmk_fit(model)$chosen)
  expect_true(scmk_result(copy)$chosen)
  expect_output(print(model), "as many clusters as a fit chooses")
  expect_length(scmk_fit(model, k = 3)$size, 3)
  expect_false(scmk_result(copy)$chosen)
  expect_output(print(copy), "for 3 clusters")
  # NULL leaves it, 0 chooses again.
  expect_length(scmk_fit(model, k = NULL)$size, 3)
  expect_identical(fitted(scmk_fit(model, k = 0)), data$truth)
  expect_true(scmk_result(model)$chosen)
})

test_that("a suggestion uses the kernels of a model, and leaves its result", {
  model <- scmk_model(data$x, 3, "linear; gaussian(t=0.1)")
  fit <- scmk_fit(model)
  suggestion <- suggest_clusters(model, 2, 6)
  expect_identical(suggestion$best, 4L)
  expect_identical(suggestion$scores, suggest_clusters(data$x, 2, 6, kernels = "linear; gaussian(t=0.1)")$scores)
  again <- scmk_result(model)
  expect_identical(fitted(again), fitted(fit))
  expect_false(again$chosen)
  suggest_clusters(model, alpha = 2)
  expect_identical(scmk_fit(model)$options$alpha, 2)
})

test_that("a suggestion tells progress, and can be stopped", {
  skip_on_os("windows")
  skip_on_cran()
  seen <- NULL
  # It takes longer than the first look around.
  model <- scmk_model(four(1500)$x)
  watch <- function(step, iteration, fraction, objective) {
    seen <<- rbind(seen, data.frame(step, iteration, fraction, objective))
  }
  whole <- suggest_clusters(model, 2, 6, progress = watch)
  expect_gte(nrow(seen), 1)
  expect_true(all(seen$fraction >= 0 & seen$fraction <= 1))
  error <- scmk_error_of(suggest_clusters(model, 2, 6, progress = function(...) FALSE))
  expect_identical(error$status, "SCMK_E_STOPPED")
  expect_error(suggest_clusters(model, 2, 6, progress = function(...) stop("mine")), "^mine$")
  caught <- tryCatch(
    suggest_clusters(model, 2, 6, progress = function(...) {
      tools::pskill(Sys.getpid(), tools::SIGINT)
      NULL
    }),
    interrupt = function(condition) "interrupted"
  )
  expect_identical(caught, "interrupted")
  expect_identical(suggest_clusters(model, 2, 6)$scores, whole$scores)
  drawn <- capture.output(type = "message", suggest_clusters(model, 2, 6, progress = TRUE))
  expect_match(sub(".*\r", "", drawn[1]), "^4 clusters *$")
})

test_that("a range that makes no sense is refused", {
  message_of <- function(expression) conditionMessage(scmk_error_of(expression))
  for (wrong in list(0, -1, 2.5, NA, "2", 2:3)) {
    expect_match(message_of(suggest_clusters(data$x, wrong)), "from and to must be whole numbers")
    expect_match(message_of(suggest_clusters(data$x, 1, wrong)), "from and to must be whole numbers")
  }
  expect_match(message_of(suggest_clusters(data$x, from = 3)), "from and to must be whole numbers")
  expect_match(message_of(suggest_clusters(data$x, 5, 3)), "from: 5 given, from 1 to 'to' = 3 expected")
  error <- scmk_error_of(suggest_clusters(data$x, 2, 1e12))
  expect_identical(error$status, "SCMK_E_DIMENSION")
  expect_match(conditionMessage(error), "at most n_samples = 80 expected")
  model <- scmk_model(data$x)
  expect_match(message_of(suggest_clusters(model, kernels = "linear")), "has its kernels already")
  expect_match(message_of(suggest_clusters(data$x, aplha = 1)), "unknown option 'aplha'")
  saved <- unserialize(serialize(model, NULL))
  expect_identical(scmk_error_of(suggest_clusters(saved))$status, "SCMK_E_INVALID_HANDLE")
})

test_that("scores are drawn, and the best is marked", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit(unlink(file))
  suggestion <- suggest_clusters(data$x)
  expect_identical(plot(suggestion), suggestion)
  expect_silent(plot(suggest_clusters(noise), main = "noise", col = "black"))
  grDevices::dev.off()
  expect_gt(file.size(file), 3000)
})
