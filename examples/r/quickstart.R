# Clusters 400 handwritten digits that are described in six ways (views), one kernel a view.
#   Rscript quickstart.R [DATA_FOLDER]
library(scmk)

folder <- commandArgs(trailingOnly = TRUE)
if (length(folder) == 0) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  folder <- file.path(dirname(script), "..", "data", "digits")
}
read <- function(name) as.matrix(read.csv(file.path(folder, paste0(name, ".csv")), header = FALSE))

# The columns have units of their own: mean 0 and variance 1. Some never change.
standardised <- function(x) {
  x <- sweep(x, 2, colMeans(x))
  deviation <- sqrt(colMeans(x^2))
  sweep(x, 2, ifelse(deviation > 0, deviation, 1), "/")
}

views <- c("fou", "fac", "kar", "pix", "zer", "mor")
x <- sapply(views, function(view) standardised(read(view)), simplify = FALSE)
truth <- read("labels")[, 1]

# A large alpha: no view takes all the weight.
fit <- scmk(x, k = 10, alpha = 30, kernels = "gaussian(t=0.2)", embedding = "normalized")

quality <- 100 * scmk_metric(truth, fit, c("accuracy", "nmi"))
cat("labels   ", head(fitted(fit), 25), "...\n")
cat("clusters ", paste0(seq_along(fit$size), ":", fit$size), "\n")
cat("weights  ", sprintf("%s:%.4f", names(coef(fit)), coef(fit)), "\n")
cat(sprintf("quality   accuracy %.1f %%, NMI %.1f %%\n", quality["accuracy"], quality["nmi"]))
cat(sprintf("solved    in %.2f s, relative duality gap at most %.1e\n",
            fit$info$seconds, fit$info$kkt_residual))
