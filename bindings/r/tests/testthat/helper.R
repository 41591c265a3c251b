# Three clouds of points, far apart.
blobs <- function(n = 30) {
  truth <- rep_len(1:3, n)
  angle <- 2 * pi * seq_len(n) / 7
  list(
    x = cbind(10 * truth + cos(angle), 5 * (truth == 2) + sin(angle)),
    truth = truth
  )
}

gaussian <- function(x, width = 20) unname(exp(-as.matrix(dist(x))^2 / width))

# The error of an expression; its class and its status are always those promised.
scmk_error_of <- function(expression) {
  error <- tryCatch(expression, error = identity)
  expect_identical(class(error), c("scmk_error", "error", "condition"))
  expect_match(error$status, "^SCMK_E_")
  expect_true(error$code < 0)
  error
}

# The folder of the golden problems: of the checkout that the tests run in, or as told.
golden_folder <- function() {
  folder <- Sys.getenv("SCMK_GOLDEN")
  if (folder != "") return(folder)
  above <- normalizePath(".")
  repeat {
    folder <- file.path(above, "tests", "golden")
    if (file.exists(file.path(folder, "bad_inputs.csv"))) return(folder)
    if (dirname(above) == above) return(NULL)
    above <- dirname(above)
  }
}

read_numbers <- function(...) {
  unname(as.matrix(utils::read.csv(file.path(...), header = FALSE)))
}
