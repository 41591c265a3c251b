# A file of its own, before that of the large fits: what they leave to malloc is not to be measured.

test_that("a thousand models do not grow the memory", {
  skip_if_not(file.exists("/proc/self/statm"))
  skip_on_cran()
  small <- blobs(12)
  resident <- function() {
    gc()
    pages <- scan("/proc/self/statm", quiet = TRUE)
    pages[2] * 4096 / 1e6
  }
  once <- function() {
    fit <- scmk(small$x, 3, kernels = "linear; gaussian(t=1)", threads = 1)
    scmk_model(small$x, 3, "linear")
    try(scmk(small$x, 3, kernels = "linear", aplha = 1), silent = TRUE)
    tryCatch(scmk(small$x, 3, kernels = "linear", progress = function(...) stop("mine")), error = identity)
    fit
  }
  for (i in 1:200) fit <- once()
  before <- resident()
  for (i in 1:1000) fit <- once()
  expect_identical(fitted(fit), small$truth)
  expect_lt(resident() - before, 4)
})
