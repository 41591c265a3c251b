# The problems that every language solves, and the inputs that every language refuses.

# expect_equal() scales differences by the mean: this is the promise, entry by entry.
expect_close <- function(got, expected) {
  expect_identical(length(got), length(expected))
  expect_lte(max(abs(got - expected) / pmax(1, abs(expected))), 1e-10)
}

folder <- golden_folder()

if (is.null(folder)) {
  test_that("golden problems", {
    skip("the golden problems are not part of the package")
  })
} else {
  problems <- dirname(list.files(folder, "^problem\\.csv$", recursive = TRUE))
  test_that("golden problems are found", {
    expect_gte(length(problems), 12)
    expect_true(all(c("auto", "chosen") %in% problems))
  })

  for (problem in problems) {
    test_that(paste("golden", problem), {
      here <- file.path(folder, problem)
      lines <- utils::read.csv(file.path(here, "problem.csv"), header = FALSE,
                               colClasses = "character")
      settings <- stats::setNames(as.list(lines[[2]]), lines[[1]])
      options <- lapply(settings[!names(settings) %in% c("clusters", "kernels")], function(value) {
        utils::type.convert(value, as.is = TRUE)
      })
      files <- list.files(here, "^(kernel|features)[0-9]+\\.csv$")
      views <- lapply(files, function(file) read_numbers(here, file))
      k <- as.numeric(settings$clusters)
      kernels <- if (is.null(settings$kernels)) "precomputed" else settings$kernels
      # What is warned about is a part of some problems.
      fits <- suppressWarnings(classes = "scmk_warning", list(
        do.call(scmk, c(list(views, k, kernels = kernels), options)),
        do.call(scmk_fit, c(list(scmk_model(views, k, kernels, copy = TRUE)), options))
      ))
      for (fit in fits) {
        expect_identical(fitted(fit) - 1L, as.vector(read_numbers(here, "labels.csv")))
        expect_close(unname(coef(fit)), as.vector(read_numbers(here, "weights.csv")))
        expect_close(fit$info$objective, as.vector(read_numbers(here, "objective.csv")))
        expect_identical(fit$trace[length(fit$trace)], fit$info$objective)
        expect_identical(fit$chosen, k == 0)
        if (file.exists(file.path(here, "similarity.csv"))) {
          expect_close(unname(as.matrix(fit)), read_numbers(here, "similarity.csv"))
        } else {
          expect_null(fit$similarity)
        }
      }
    })
  }

  bad <- utils::read.csv(file.path(folder, "bad_inputs.csv"), colClasses = "character")
  test_that("bad inputs are found", {
    expect_gte(nrow(bad), 15)
  })
  kernel1 <- read_numbers(folder, "one_kernel", "kernel1.csv")
  features1 <- read_numbers(folder, "features", "features1.csv")
  # Rows and columns are counted from 0 there.
  with_entry <- function(matrix, where, value) {
    at <- as.integer(strsplit(where, " ")[[1]]) + 1L
    matrix[at[1], at[2]] <- as.numeric(value)
    matrix
  }

  take_option <- function(name, value) {
    option <- stats::setNames(list(value), name)
    # k is an argument of scmk(): only the function behind it can mistake it for an option.
    if (name == "k") scmk:::check_options(option, NULL)
    else do.call(scmk, c(list(kernel1, 3, kernels = "precomputed"), option))
  }

  for (i in seq_len(nrow(bad))) {
    line <- bad[i, ]
    test_that(paste("bad input", line$name), {
      error <- scmk_error_of(switch(line$kind,
        entry = scmk(with_entry(kernel1, line$argument, line$value), 3, kernels = "precomputed"),
        feature = scmk(with_entry(features1, line$argument, line$value), 3, kernels = "linear"),
        clusters = scmk(kernel1, as.numeric(line$value), kernels = "precomputed"),
        option = take_option(line$argument, utils::type.convert(line$value, as.is = TRUE)),
        kernels = scmk(features1, 3, kernels = line$value),
        metric = scmk_metric(1:3, 1:3, line$value)
      ))
      expect_identical(conditionMessage(error), line$message_from_1)
      expect_identical(error$status, line$status)
    })
  }
}
