# What is given as features, and what is said about it.

data <- blobs()
message_of <- function(expression) conditionMessage(scmk_error_of(expression))
named <- function(x, names = paste0("s", seq_len(nrow(x)))) {
  rownames(x) <- names
  x
}

test_that("a missing value is told by view, row and column, from 1", {
  missing <- data$x
  missing[3, 2] <- NA
  expect_identical(message_of(scmk(missing, 3)), "features of view 1 entry (3, 2) is NaN")
  expect_identical(message_of(scmk(as.data.frame(missing), 3)), "features of view 1 entry (3, 2) is NaN")
  expect_identical(message_of(scmk(list(shape = data$x, pixels = missing), 3)),
                   "features of view 'pixels' entry (3, 2) is NaN")
  expect_identical(message_of(scmk(list(data$x, missing), 3)), "features of view 2 entry (3, 2) is NaN")
  expect_identical(message_of(scmk_model(list("Größe" = missing), 3)),
                   "features of view 'Größe' entry (3, 2) is NaN")
})

test_that("a view of another size, and one without differences, are told by name", {
  expect_identical(message_of(scmk(list(a = data$x, b = data$x[1:20, ]), 3)),
                   "n_samples of view 'b': 20 given, the model has 30")
  expect_match(message_of(scmk(list(a = data$x, b = 0 * data$x + 1), 3, kernels = "gaussian(t=1); linear")),
               "kernel 4 (linear) of view 'b' is degenerate", fixed = TRUE)
})

test_that("names of views reach the library, and what it calls the rest comes back", {
  views <- stats::setNames(list(data$x, data$x, gaussian(data$x)), c("Größe", NA, ""))
  fit <- scmk(views, 3, kernels = list("linear", "linear", "precomputed"))
  expect_named(fit$view_weights, c("Größe", "view 2", "kernel 3"))
  expect_named(fit$weights, c("Größe: linear", "view 2: linear", "kernel 3"))
  expect_output(print(scmk_model(list(a = data$x, b = data$x), 3)), "views: a, b")
  long <- stats::setNames(list(data$x), strrep("a", 300))
  expect_identical(scmk_error_of(scmk(long, 3))$status, "SCMK_E_INVALID_ARGUMENT")
})

test_that("every view has a share, and they are shown", {
  fit <- scmk(list(a = data$x, b = data$x^2), 3, preset = "joint", kernels = "paper")
  expect_named(fit$view_weights, c("a", "b"))
  expect_equal(sum(fit$view_weights), 1)
  of_a <- startsWith(names(fit$weights), "a: ")
  expect_identical(sum(of_a), 12L)
  expect_equal(fit$view_weights[["a"]], sum(fit$weights[of_a]) / sum(fit$weights))
  expect_output(print(fit), "Share of each view:\n  a  0\\.[0-9]+\n  b  0\\.[0-9]+")
  expect_output(print(summary(fit)), "Share of each view")
  one <- scmk(data$x, 3)
  expect_identical(one$view_weights, c("view 1" = 1))
  expect_no_match(paste(capture.output(print(one)), collapse = "\n"), "Share")
})

test_that("views in another order of rows are refused, and how to reorder is said", {
  a <- named(data$x)
  b <- a[30:1, ]
  views <- list(first = data$x, shape = a, colour = b)
  expect_identical(
    message_of(scmk(views, 3)),
    paste("view 'colour' has the samples of view 'shape' in another order:",
          "reorder it by x[[\"colour\"]][rownames(x[[\"shape\"]]), ]")
  )
  x <- views
  x[["colour"]] <- x[["colour"]][rownames(x[["shape"]]), ]
  expect_identical(unname(fitted(scmk(x, 3))), data$truth)
  x <- list(as.data.frame(a), tcrossprod(b))
  expect_match(message_of(scmk(x, 3, kernels = list("paper", "precomputed"))), fixed = TRUE,
               "view 2 has the samples of view 1 in another order: reorder it by x[[2]][rownames(x[[1]]), rownames(x[[1]])]")
  x[[2]] <- x[[2]][rownames(x[[1]]), rownames(x[[1]])]
  expect_identical(unname(fitted(scmk(x, 3, kernels = list("paper", "precomputed")))), data$truth)
})

test_that("views of other samples are refused", {
  a <- named(data$x)
  b <- named(data$x, c(paste0("s", 1:6), "z", paste0("s", 8:30)))
  expect_identical(
    message_of(scmk_model(list(a = a, b = b), 3)),
    "view 'b' has other samples than view 'a': row 7 is 'z' and not 's7'; give all views the same row names, or none"
  )
})

test_that("row names that agree, or are missing, are fine", {
  a <- named(data$x)
  fit <- scmk(list(data$x, a, as.data.frame(data$x), a), 3, kernels = "linear")
  expect_identical(fitted(fit), stats::setNames(data$truth, rownames(a)))
})

test_that("a symmetric matrix as features is warned about", {
  kernel <- gaussian(data$x)
  warned <- expect_warning(scmk(kernel, 3), "x is taken as features.*kernels = \"precomputed\"", class = "scmk_warning")
  expect_warning(scmk(list(a = data$x, b = named(kernel)), 3, method = "kkm"),
                 "view 'b' is taken as features")
  expect_silent(scmk(kernel, 3, kernels = "precomputed"))
  expect_silent(scmk(kernel[sample(30), ], 3))
  expect_silent(scmk(matrix(1, 1, 1), 1, kernels = "precomputed", method = "kkm"))
})

test_that("what is no number is refused by its name", {
  expect_identical(message_of(scmk(iris, 3)),
                   "x has columns that are not numbers: Species (factor); leave them out, or make numbers of them")
  other <- data.frame(a = 1:4, name = letters[1:4], day = Sys.Date() + 0:3)
  expect_match(message_of(scmk(list(good = 1:4, frame = other)[2], 2)),
               "view 'frame' has columns that are not numbers: name (character), day (Date)", fixed = TRUE)
  expect_match(message_of(scmk(iris$Species, 3)), "x must be a numeric matrix.*class factor")
  expect_match(message_of(scmk(list(a = data$x, b = matrix("1", 30, 2)), 3)), "view 'b' must be.*character matrix")
  expect_match(message_of(scmk(letters, 2)), "class character")
  expect_match(message_of(scmk(dist(data$x), 2)), "class dist")
})

test_that("columns that never change, and columns of other units, need no care", {
  table <- data.frame(text = "a", constant = 0.1, data$x %*% diag(c(1e6, 1e-6)))
  expect_identical(fitted(scmk(Filter(is.numeric, table), 3)), data$truth)
})

test_that("the citation names the paper", {
  expect_silent(text <- paste(format(citation("scmk"), style = "text"), collapse = " "))
  text <- gsub("\\s+", " ", text)
  expect_match(text, "Twin Learning for Similarity and Clustering: A Unified Kernel Approach")
  expect_match(text, "Kang Z, Peng C, Cheng Q (2017)", fixed = TRUE)
})
