# Clusters 400 handwritten digits that are described in six ways (views), with plain defaults.
#   Rscript quickstart.R [DATA_FOLDER]
library(scmk)

folder <- commandArgs(trailingOnly = TRUE)
if (length(folder) == 0) {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  folder <- file.path(dirname(script), "..", "data", "digits")
}
read <- function(name) as.matrix(read.csv(file.path(folder, paste0(name, ".csv")), header = FALSE))

views <- c("fou", "fac", "kar", "pix", "zer", "mor")
x <- sapply(views, read, simplify = FALSE)

fit <- scmk(x, k = 10)

# The true digits, to judge the answer: nothing above has seen them.
quality <- 100 * scmk_metric(read("labels")[, 1], fit, c("accuracy", "nmi"))
cat("labels   ", head(fitted(fit), 25), "...\n")
cat("clusters ", paste0(seq_along(fit$size), ":", fit$size), "\n")
cat("weights  ", sprintf("%s:%.4f", names(fit$view_weights), fit$view_weights), "\n")
cat(sprintf("quality   accuracy %.1f %%, NMI %.1f %%\n", quality["accuracy"], quality["nmi"]))
cat(sprintf("solved    in %.2f s, relative duality gap at most %.1e\n",
            fit$info$seconds, fit$info$kkt_residual))
