data <- blobs()

test_that("features, data frames, integers, kernels and lists of them are taken", {
  # As many as two views need to confirm each other.
  data <- blobs(60)
  truth <- data$truth
  expect_identical(fitted(scmk(data$x, 3)), truth)
  expect_identical(fitted(scmk(as.data.frame(data$x), 3)), truth)
  whole <- round(10 * data$x)
  storage.mode(whole) <- "integer"
  expect_identical(fitted(scmk(whole, 3)), truth)
  expect_identical(fitted(scmk(gaussian(data$x), 3, kernels = "precomputed")), truth)
  expect_identical(fitted(scmk(Matrix::Matrix(gaussian(data$x)), 3, kernels = "precomputed")), truth)
  both <- scmk(list(own = gaussian(data$x), raw = data$x), 3,
               kernels = list("precomputed", c("linear", "gaussian(t=1)")))
  expect_identical(fitted(both), truth)
  expect_named(coef(both), c("own", "raw: linear", "raw: gaussian(t=1)"))
})

test_that("the order of features and kernels is that of R", {
  # The same kernel by hand and by the library, of a matrix that is not symmetric in any sense.
  x <- data$x
  given <- scmk(tcrossprod(x), 3, kernels = "precomputed")
  built <- scmk(x, 3, kernels = "linear")
  # Kernels that differ in their last digits may stop a step apart, both within kkt_tolerance.
  expect_equal(as.matrix(given), as.matrix(built), tolerance = 1e-6)
  expect_equal(given$info$objective, built$info$objective, tolerance = 1e-9)
})

test_that("weights have names", {
  expect_named(coef(scmk(data$x, 3, kernels = "linear")), "linear")
  expect_named(coef(scmk(data$x, 3)), "standardize; gaussian(t=25,neighbors=7)")
  expect_named(coef(scmk(data$x, 3, kernels = "paper")), c(
    sprintf("gaussian(t=%s)", c(0.01, 0.05, 0.1, 1, 10, 50, 100)), "linear",
    "polynomial(a=0,b=2)", "polynomial(a=0,b=4)", "polynomial(a=1,b=2)", "polynomial(a=1,b=4)"
  ))
  expect_named(coef(scmk(list(data$x, data$x), 3, kernels = "linear")), c("view 1: linear", "view 2: linear"))
  expect_named(coef(scmk(gaussian(data$x), 3, kernels = "precomputed")), "kernel 1")
  by_view <- scmk(list(a = data$x, b = data$x), 3, kernels = list(b = "linear", a = c("linear", "gaussian(t=2)")))
  expect_named(coef(by_view), c("a: linear", "a: gaussian(t=2)", "b: linear"))
})

test_that("plain defaults are automatic", {
  expect_null(formals(scmk)$k)
  expect_identical(formals(scmk)$kernels, "auto")
  data <- blobs(60)
  noise <- matrix(sin(seq_len(300)^2), 60)
  views <- list(metres = data$x, kilometres = data$x %*% diag(c(1e-3, 1)), noise = noise)
  fit <- scmk(views, 3)
  expect_identical(fitted(fit), data$truth)
  expect_identical(fit$options$preset, "auto")
  expect_identical(fit$view_weights[["noise"]], 0)
  expect_equal(sum(coef(fit)), 1)
  expect_equal(fit$weights[[1]], fit$weights[[2]])
  # What auto has done depends on the view.
  counts <- matrix(0, 60, 30)
  counts[cbind(1:60, 10 * (data$truth - 1) + 1:10)] <- 1:4
  counts[cbind(1:60, 10 * (data$truth - 1) + c(4, 9, 2))] <- 2
  expect_match(names(coef(scmk(counts, 3))), "^tfidf; unit_rows; gaussian")
  expect_named(coef(scmk(counts, 3, kernels = "auto; linear")), "tfidf; unit_rows; linear")
})

test_that("what is to be known about an answer is a warning, and stays with it", {
  # Forty samples close together, and four far away.
  angle <- seq_len(40)
  x <- rbind(0.1 * cbind(sin(angle), sin(angle^2)), 60 * cbind(c(1, -1, 1, -1), c(1, 1, -1, -1)))
  said <- "4 of 5 clusters are single samples"
  condition <- expect_warning(fit <- scmk(x, 5, preset = "joint"), said, class = "scmk_warning")
  expect_identical(deparse(conditionCall(condition)[[1]]), "scmk")
  expect_identical(fit$info$warning, said)
  expect_identical(c(fit$info$smallest_cluster, fit$info$largest_cluster), c(1L, 40L))
  expect_output(print(fit), paste("Warning:", said), fixed = TRUE)
  expect_output(print(summary(fit)), paste("Warning:", said), fixed = TRUE)
  # A model tells it with each fit, and not again when the result is read.
  model <- scmk_model(x, 5, preset = "joint")
  expect_warning(scmk_fit(model), said, class = "scmk_warning")
  expect_silent(again <- scmk_result(model))
  expect_identical(again$info$warning, said)
  # As an error it leaves the result.
  before <- options(warn = 2)
  on.exit(options(before))
  expect_error(scmk_fit(model, tolerance = 1e-4), said)
  options(before)
  expect_identical(fitted(scmk_result(model)), fitted(fit))
  # Two views of noise have nothing in common.
  noise <- function(power) matrix(sin(seq_len(400)^power), 100)
  expect_warning(scmk(list(noise(2), noise(1.7)), 3), "no view or kernel confirms another", class = "scmk_warning")
  expect_silent(fit <- scmk(data$x, 3))
  expect_identical(fit$info$warning, "")
  expect_no_match(paste(capture.output(print(summary(fit))), collapse = "\n"), "[Ww]arning")
})

test_that("a fit tells how well clusters are separated", {
  fit <- scmk(data$x, 3)
  expect_gt(fit$info$silhouette, 0.5)
  expect_output(print(fit), "\nsilhouette 0\\.[0-9]+\n")
  expect_identical(c(fit$info$smallest_cluster, fit$info$largest_cluster), c(10L, 10L))
  # One cluster has none.
  one <- scmk(data$x, 1)
  expect_identical(one$info$silhouette, NA)
  expect_no_match(paste(capture.output(print(one)), collapse = "\n"), "silhouette")
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
  fit <- scmk(data$x, 3, alpha = 0.1, preset = "joint", kernels = "paper")
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

test_that("the graph is as good as kkt_residual says, for what it was given", {
  # The largest relative duality gap of a column, by the formula.
  gap <- function(fit, kernels, alpha, beta) {
    mixed <- Reduce(`+`, Map(`*`, kernels, fit$certified$weights))
    n <- nrow(mixed)
    centring <- diag(n) - 1 / n
    centred <- centring %*% mixed %*% centring
    z <- as.matrix(fit)
    distance <- as.matrix(dist(fit$certified$embedding))^2
    gradient <- 2 * (centred %*% (z - diag(n)) + alpha * z) + beta / 2 * distance
    max(colSums(gradient * z) - apply(gradient, 2, min)) / (max(abs(mixed)) + alpha)
  }
  kernels <- list(a = gaussian(data$x), b = gaussian(data$x, 2))
  solve <- function(kernels, beta) {
    fit <- scmk(kernels, 3, alpha = 0.5, beta = beta, kernels = "precomputed", preset = "joint",
                normalize = "none")
    expect_lte(gap(fit, kernels, 0.5, beta), 2 * fit$info$kkt_residual + 1e-9)
    fit
  }
  one <- solve(kernels["a"], 0)
  expect_identical(one$certified, list(weights = c(a = 1), embedding = matrix(0, 30, 3)))
  two <- solve(kernels, 0.1)
  expect_named(two$certified$weights, c("a", "b"))
  expect_gt(min(abs(colSums(two$certified$embedding^2))), 0.99)
  # Nothing of it is shown, and other methods have none.
  expect_no_match(paste(capture.output(print(two)), collapse = "\n"), "certified")
  other <- scmk(data$x, 3, method = "kkm")
  expect_null(other$certified)
  expect_match(other$absent[["certified"]], "kkm")
})

test_that("every method runs, and has what it has", {
  expect_gte(nrow(scmk_methods()), 7)
  data <- blobs(60)
  for (method in scmk_methods()$name) {
    fit <- scmk(list(data$x, gaussian(data$x)), 3, kernels = list("gaussian(t=0.5)", "precomputed"),
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
              seed = "9223372036854775807", memory_limit = 2^40, preset = "joint", kernels = "paper")
  expect_identical(fit$options$learn_weights, 0L)
  expect_identical(fit$options$restarts, 7L)
  expect_identical(fit$options$tolerance, 1e-4)
  expect_identical(fit$options$labels, "qr")
  expect_identical(fit$options$seed, "9223372036854775807")
  expect_identical(fit$options$memory_limit, 2^40)
  expect_equal(unname(coef(fit)), rep(1 / 144, 12))
})

test_that("a preset comes before all other options, in whatever order they are given", {
  model <- scmk_model(data$x, 3)
  fits <- list(
    scmk(data$x, 3, alpha = 5, preset = "paper"),
    scmk(data$x, 3, preset = "paper", alpha = 5),
    scmk_fit(model, alpha = 5, preset = "paper"),
    scmk_fit(model, preset = "paper", alpha = 5),
    scmk_fit(scmk_model(data$x, 3, alpha = 5, preset = "paper"))
  )
  for (fit in fits) {
    expect_identical(fit$options$normalize, "max")
    expect_identical(fit$options$beta, 1e-5)
    expect_identical(fit$options$alpha, 5)
  }
})

test_that("messages count from 1, which is no option that the user has set", {
  fit <- scmk(data$x, 3)
  expect_identical(fit$options$index_base, 1L)
  expect_no_match(paste(capture.output(print(summary(fit))), collapse = "\n"), "index_base")
  expect_no_match(paste(capture.output(print(summary(fit))), collapse = "\n"), "not at their defaults")
})

test_that("limits hold while kernels are built", {
  error <- scmk_error_of(scmk(data$x, 3, memory_limit = 1000))
  expect_identical(error$status, "SCMK_E_OUT_OF_MEMORY")
  expect_match(conditionMessage(error), "memory_limit")
  expect_identical(scmk_error_of(scmk_model(data$x, 3, memory_limit = 1000))$status, "SCMK_E_OUT_OF_MEMORY")
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

test_that("methods are listed by the library", {
  methods <- scmk_methods()
  expect_true(is.data.frame(methods))
  expect_named(methods, c("name", "doc"))
  expect_identical(methods$name[1], "scmk")
  expect_true(all(nzchar(methods$doc)))
  option <- subset(scmk_options(), name == "method")
  expect_identical(strsplit(option$choices, ",")[[1]], methods$name)
  expect_identical(option$default, formals(scmk)$method)
  expect_identical(scmk_error_of(scmk(data$x, 3, method = "scmkk"))$status, "SCMK_E_INVALID_ARGUMENT")
  expect_error(scmk_methods(1), "unused argument")
})

test_that("kernel functions are listed by the library", {
  kernels <- scmk_kernels()
  expect_true(is.data.frame(kernels))
  expect_named(kernels, c("name", "parameters", "doc"))
  expect_gt(nrow(kernels), 0)
  expect_true(all(nzchar(kernels$doc)))
  for (i in seq_len(nrow(kernels))) {
    name <- kernels$name[i]
    full <- if (kernels$parameters[i] == "") name else sprintf("%s(%s)", name, kernels$parameters[i])
    expect_named(coef(scmk(data$x, 3, kernels = c(full, name))), c(full, full))
  }
  wrong <- scmk_error_of(scmk(data$x, 3, kernels = paste0(kernels$name[1], "x")))
  expect_identical(wrong$status, "SCMK_E_UNKNOWN_OPTION")
  expect_error(scmk_kernels(1), "unused argument")
})

test_that("steps that prepare features are listed by the library", {
  steps <- scmk_preparations()
  expect_s3_class(steps, c("scmk_table", "data.frame"), exact = TRUE)
  expect_named(steps, c("name", "doc"))
  expect_gt(nrow(steps), 0)
  expect_true(all(nzchar(steps$doc)))
  # Counts, which no step refuses.
  counts <- round(abs(data$x))
  for (name in steps$name) {
    # The name of a kernel tells what auto has done.
    prepared <- paste0(if (name == "auto") "standardize" else name, "; linear")
    expect_named(coef(scmk(counts, 3, kernels = paste0(name, "; linear"))), prepared)
    expect_named(coef(scmk(counts, 3, kernels = c(name, "linear"))), prepared)
    late <- scmk_error_of(scmk(counts, 3, kernels = paste0("linear; ", name)))
    expect_identical(late$status, "SCMK_E_INVALID_ARGUMENT")
    expect_identical(conditionMessage(late), paste0("kernels = '", name, "' is not allowed: ",
                                                    "features are prepared before the first kernel of the list"))
  }
  # A column that never changes becomes 0.
  fits <- lapply(list(data$x, cbind(data$x, 0.1)), scmk, 3, kernels = "standardize; gaussian")
  expect_equal(fits[[1]]$trace, fits[[2]]$trace)
  expect_error(scmk_preparations(1), "unused argument")
})

test_that("tables are printed within the width of the console", {
  for (width in c(60, 80, 120)) {
    before <- options(width = width)
    for (table in list(scmk_methods(), scmk_kernels(), scmk_preparations(), scmk_infos(),
                       scmk_metrics())) {
      lines <- capture.output(print(table))
      expect_lte(max(nchar(lines)), width)
      words <- function(text) strsplit(paste(text, collapse = " "), "[[:space:]]+")[[1]]
      expect_true(all(words(unlist(table)) %in% words(lines)))
      expect_identical(sub(" .*", "", lines[1]), "name")
    }
    lines <- capture.output(print(scmk_options()))
    expect_true(all(nchar(lines[startsWith(lines, "    ")]) <= width))
    options(before)
  }
  # Parts of a table, too.
  expect_output(print(scmk_options()[c("name", "default")]), "alpha")
  expect_output(print(scmk_methods()["doc"]), "kernel")
  expect_output(print(scmk_methods()[0, ]), "0 rows")
})

test_that("the help takes its lists from the library", {
  help_of <- function(page) {
    rd <- tools::Rd_db("scmk")[[page]]
    text <- capture.output(tools::Rd2txt(rd, stages = c("build", "install", "render"),
                                         options = list(underline_titles = FALSE)))
    gsub("[[:space:]]+", " ", paste(gsub("_\b", "", text), collapse = " "))
  }
  text <- help_of("scmk.Rd")
  known <- scmk_options()
  named <- subset(known, name %in% c("alpha", "beta", "preset", "seed"))
  docs <- c(named$doc, scmk_methods()$doc, scmk_kernels()$doc, scmk_preparations()$doc)
  for (doc in docs) expect_match(text, doc, fixed = TRUE)
  for (name in scmk_methods()$name) expect_match(text, paste0(name, "\\W"))
  warm <- known$doc[known$name == "warm_start"]
  expect_match(help_of("scmk_model.Rd"), warm, fixed = TRUE)
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
  expect_match(message_of(scmk(1:5, 2)), "numeric matrix")
  expect_match(message_of(scmk(list(), 3)), "no view")
  expect_match(message_of(scmk(list(data$x, "a"), 3)), "view 2 must be")
  for (k in list(2.5, -1, NA_real_, c(2, 3), "3")) expect_match(message_of(scmk(data$x, k)), "whole number")
  expect_match(message_of(scmk(data$x, 2:4)), "to compare several, see ?suggest_clusters", fixed = TRUE)
  expect_match(message_of(scmk(data$x, 3, kernels = "precomputed")), "x must be square.*30 rows and 2 columns")
  expect_match(message_of(scmk(list(data$x, data$x), 3, kernels = c("precomputed", "linear"))),
               "list(\"precomputed\", \"linear\")", fixed = TRUE)
  # The old spelling, alone, for each view, and beside a list of kernels.
  spelling <- "kernel matrices are given with kernels = \"precomputed\", and not with kernel = TRUE"
  expect_identical(message_of(scmk(gaussian(data$x), 3, kernel = TRUE)), spelling)
  expect_identical(message_of(scmk_model(gaussian(data$x), 3, kernel = TRUE)), spelling)
  expect_identical(message_of(scmk(list(data$x, data$x), 3, kernel = c(FALSE, TRUE))), spelling)
  expect_identical(message_of(scmk(data$x, 3, kernel = FALSE, kernels = "linear")), spelling)
  expect_match(message_of(scmk(data$x, 3, kernels = 3)), "kernels must be text")
  expect_match(message_of(scmk(data$x, 3, kernels = list("linear", "linear"))), "one for each view")
  expect_match(message_of(scmk(data$x, 3, alpha = 1:2)), "option alpha must be a single")
  expect_match(message_of(scmk(data$x, 3, alpha = NA)), "alpha = NaN is not allowed")
  expect_match(message_of(scmk(data$x, 3, seed = -1)), "seed = -1 is not allowed")
  expect_match(message_of(scmk(data$x, 3, restarts = NULL)), "restarts must be a single")
  expect_match(message_of(scmk(data$x, 3, 1, 1, "scmk", "paper", NULL, 1, 5)), "must have names")
  expect_match(message_of(scmk(data$x, 3, progress = 5)), "progress must be")
  expect_match(message_of(scmk(list(data$x, data$x[-1, ]), 3)), "n_samples of view 2: 29 given, the model has 30", fixed = TRUE)
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
  fit <- scmk(data$x, 3, preset = "joint", kernels = "paper")
  expect_identical(plot(fit), fit)
  for (which in c("similarity", "weights", "objective", "embedding")) expect_silent(plot(fit, which))
  expect_silent(plot(scmk(data$x, 3, method = "rmkkm")))
  expect_silent(plot(scmk(data$x, 1), "embedding", main = "one"))
  expect_error(plot(fit, "nothing"), "should be one of")
  # Long names and many kernels leave room for the bars, also in a small picture.
  many <- scmk(list("a rather long name of a view" = data$x, b = data$x, c = data$x), 3,
               kernels = "paper")
  par(mfrow = c(2, 2))
  expect_silent(plot(many))
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
