data <- blobs()

test_that("features, data frames, integers, kernels and lists of them are taken", {
  truth <- data$truth
  expect_identical(fitted(scmk(data$x, 3)), truth)
  expect_identical(fitted(scmk(as.data.frame(data$x), 3)), truth)
  whole <- round(10 * data$x)
  storage.mode(whole) <- "integer"
  expect_identical(fitted(scmk(whole, 3)), truth)
  expect_identical(fitted(scmk(gaussian(data$x), 3, kernel = TRUE)), truth)
  expect_identical(fitted(scmk(Matrix::Matrix(gaussian(data$x)), 3, kernel = TRUE)), truth)
  both <- scmk(list(own = gaussian(data$x), raw = data$x), 3, kernel = c(TRUE, FALSE),
               kernels = c("linear", "gaussian(t=1)"))
  expect_identical(fitted(both), truth)
  expect_named(coef(both), c("own", "raw:linear", "raw:gaussian(t=1)"))
})

test_that("the order of features and kernels is that of R", {
  # The same kernel by hand and by the library, of a matrix that is not symmetric in any sense.
  x <- data$x
  given <- scmk(tcrossprod(x), 3, kernel = TRUE)
  built <- scmk(x, 3, kernels = "linear")
  # Kernels that differ in their last digits may stop a step apart, both within kkt_tolerance.
  expect_equal(as.matrix(given), as.matrix(built), tolerance = 1e-6)
  expect_equal(given$info$objective, built$info$objective, tolerance = 1e-9)
})

test_that("weights have names", {
  expect_named(coef(scmk(data$x, 3, kernels = "linear")), "linear")
  expect_named(coef(scmk(data$x, 3)), paste0("paper", 1:12))
  expect_named(coef(scmk(list(data$x, data$x), 3, kernels = "linear")), c("view1", "view2"))
  expect_named(coef(scmk(gaussian(data$x), 3, kernel = TRUE)), "kernel1")
  by_view <- scmk(list(a = data$x, b = data$x), 3, kernels = list(b = "linear", a = c("linear", "gaussian(t=2)")))
  expect_named(coef(by_view), c("a:linear", "a:gaussian(t=2)", "b"))
})

test_that("row names go to the results", {
  x <- data$x
  rownames(x) <- paste0("s", seq_len(nrow(x)))
  fit <- scmk(x, 3)
  expect_named(fitted(fit), rownames(x))
  expect_identical(rownames(fit$embedding), rownames(x))
  expect_identical(dimnames(as.matrix(fit)), list(rownames(x), rownames(x)))
})

test_that("a fit has all results", {
  fit <- scmk(data$x, 3, alpha = 0.1)
  expect_s3_class(fit, "scmk")
  expect_identical(fit$size, c(10L, 10L, 10L))
  expect_identical(dim(fit$embedding), c(30L, 3L))
  expect_s4_class(fit$similarity, "dgCMatrix")
  expect_true(methods::validObject(fit$similarity))
  expect_equal(Matrix::colSums(fit$similarity), rep(1, 30), tolerance = 1e-8)
  expect_equal(sum(sqrt(coef(fit))), 1)
  expect_true(all(diff(fit$trace) <= 0))
  expect_length(fit$trace, fit$info$iterations)
  expect_identical(fit$outcome, "converged")
  expect_setequal(names(fit$info), scmk_infos()$name)
  expect_setequal(names(fit$options), scmk_options()$name)
  expect_identical(fit$options$alpha, 0.1)
  expect_length(fit$absent, 0)
  expect_equal(methods::as(fit, "dgCMatrix"), fit$similarity)
  expect_equal(as.matrix(fit), as.matrix(fit$similarity))
})

test_that("every method runs, and has what it has", {
  expect_gte(length(scmk_methods()), 7)
  for (method in scmk_methods()) {
    fit <- scmk(list(data$x, gaussian(data$x)), 3, kernel = c(FALSE, TRUE), kernels = "gaussian(t=0.5)",
                method = method, seed = 3)
    expect_equal(unname(scmk_metric(data$truth, fit, "accuracy")), 1, info = method)
    expect_identical(fit$options$method, method)
    expect_identical(is.null(fit$similarity), method != "scmk", info = method)
    expect_identical(is.null(fit$embedding), !method %in% c("scmk", "sc", "aasc"), info = method)
    expect_identical(is.na(fit$info$kkt_residual), method != "scmk", info = method)
    expect_output(print(fit), method)
    expect_output(print(summary(fit)), method)
  }
  kkm <- scmk(data$x, 3, method = "kkm")
  error <- scmk_error_of(as.matrix(kkm))
  expect_identical(conditionMessage(error), "method kkm has no similarity")
  expect_identical(error$status, "SCMK_E_STATE")
  expect_identical(conditionMessage(scmk_error_of(plot(kkm, "embedding"))), "method kkm has no embedding")
})

test_that("options reach the library in every type", {
  fit <- scmk(data$x, 3, learn_weights = FALSE, restarts = 7L, tolerance = 1e-4, labels = "qr",
              seed = "9223372036854775807", memory_limit = 2^40)
  expect_identical(fit$options$learn_weights, 0L)
  expect_identical(fit$options$restarts, 7L)
  expect_identical(fit$options$tolerance, 1e-4)
  expect_identical(fit$options$labels, "qr")
  expect_identical(fit$options$seed, "9223372036854775807")
  expect_identical(fit$options$memory_limit, 2^40)
  expect_equal(unname(coef(fit)), rep(1 / 144, 12))
  paper <- scmk(data$x, 3, alpha = 5, preset = "paper")
  expect_identical(paper$options$normalize, "max")
  expect_identical(paper$options$alpha, 5)
})

test_that("the tables come from the library", {
  options <- scmk_options()
  expect_true(all(c("method", "alpha", "seed") %in% options$name))
  expect_true(all(nzchar(options$doc)))
  expect_identical(options$min[options$name == "beta"], 0)
  expect_true(is.na(options$min[options$name == "method"]))
  model <- scmk_model(data$x, 3)
  expect_identical(scmk_options(model)$value[options$name == "alpha"], "1")
  expect_setequal(scmk_metrics()$name, names(scmk_metric(1:3, 1:3)))
  expect_match(scmk_version(), "^[0-9]+\\.[0-9]+\\.[0-9]+$")
})

test_that("metrics take what R users have", {
  expect_equal(unname(scmk_metric(c("a", "a", "b"), factor(c("y", "y", "x")))), rep(1, nrow(scmk_metrics())))
  expect_equal(scmk_metric(c(1, 1, 2, 2), c(1, 2, 2, 2), "accuracy"), c(accuracy = 0.75))
  expect_equal(scmk_metric(c(TRUE, FALSE), c(0.5, 1.5), c("nmi", "ari")), c(nmi = 1, ari = 1))
  expect_identical(scmk_error_of(scmk_metric(1:3, 1:2))$status, "SCMK_E_DIMENSION")
  expect_identical(scmk_error_of(scmk_metric(integer(), integer(), "nmi"))$status, "SCMK_E_DIMENSION")
  scmk_error_of(scmk_metric(c(1, NA), 1:2))
  scmk_error_of(scmk_metric(list(1, 2), 1:2))
  scmk_error_of(scmk_metric(1:2, 1:2, 5))
})

test_that("arguments are checked", {
  message_of <- function(expression) conditionMessage(scmk_error_of(expression))
  expect_match(message_of(scmk(letters, 2)), "numeric matrix")
  expect_match(message_of(scmk(1:5, 2)), "numeric matrix")
  expect_match(message_of(scmk(iris, 3)), "Species")
  expect_match(message_of(scmk(list(), 3)), "no view")
  expect_match(message_of(scmk(list(data$x, "a"), 3)), "x[[2]]", fixed = TRUE)
  for (k in list(2.5, -1, NA_real_, c(2, 3), "3", NULL)) expect_match(message_of(scmk(data$x, k)), "whole number")
  expect_match(message_of(scmk(data$x, 3, kernel = NA)), "kernel must be")
  expect_match(message_of(scmk(data$x, 3, kernel = c(TRUE, TRUE))), "kernel must be")
  expect_match(message_of(scmk(data$x, 3, kernel = TRUE)), "square: 30 rows and 2 columns")
  expect_match(message_of(scmk(data$x, 3, kernels = 3)), "kernels must be text")
  expect_match(message_of(scmk(data$x, 3, kernels = list("linear", "linear"))), "one for each view")
  expect_match(message_of(scmk(data$x, 3, alpha = 1:2)), "option alpha must be a single")
  expect_match(message_of(scmk(data$x, 3, alpha = NA)), "alpha = NaN is not allowed")
  expect_match(message_of(scmk(data$x, 3, seed = -1)), "seed = -1 is not allowed")
  expect_match(message_of(scmk(data$x, 3, restarts = NULL)), "restarts must be a single")
  expect_match(message_of(scmk(data$x, 3, 1, 1, "scmk", "paper", FALSE, NULL, 1, 5)), "must have names")
  expect_match(message_of(scmk(data$x, 3, progress = 5)), "progress must be")
  expect_match(message_of(scmk(list(data$x, data$x[-1, ]), 3)), "29")
  expect_match(message_of(scmk(data$x[, 0], 3)), "n_features")
  expect_match(message_of(scmk_fit(5)), "scmk_model")
  expect_match(message_of(scmk_model(data$x, 3, copy = NA)), "copy must be")
})

test_that("R's random numbers are left alone, and the seed decides", {
  set.seed(5)
  before <- .Random.seed
  a <- scmk(data$x, 3, method = "kkm", seed = 1, restarts = 2)
  expect_identical(.Random.seed, before)
  set.seed(6)
  b <- scmk(data$x, 3, method = "kkm", seed = 1, restarts = 2)
  expect_identical(fitted(a), fitted(b))
  expect_identical(a$trace, b$trace)
})

test_that("pictures are drawn", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit(unlink(file))
  fit <- scmk(data$x, 3)
  expect_identical(plot(fit), fit)
  for (which in c("similarity", "weights", "objective", "embedding")) expect_silent(plot(fit, which))
  expect_silent(plot(scmk(data$x, 3, method = "rmkkm")))
  expect_silent(plot(scmk(data$x, 1), "embedding", main = "one"))
  expect_error(plot(fit, "nothing"), "should be one of")
  grDevices::dev.off()
  expect_gt(file.size(file), 5000)
})

test_that("update() and saving work as for other models of R", {
  fit <- scmk(data$x, 3)
  expect_identical(update(fit, alpha = 2)$options$alpha, 2)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(fit, file)
  expect_equal(readRDS(file), fit)
})
