# Writes data/digits.rda from examples/data/digits: the first 200 of its samples, in all six views.
#   Rscript bindings/r/data-raw/digits.R          (from the top of the checkout)
folder <- "examples/data/digits"
rows <- 1:200
read <- function(name) read.csv(file.path(folder, paste0(name, ".csv")), header = FALSE)[rows, ]
views <- c("fou", "fac", "kar", "pix", "zer", "mor")
digits <- list(
  views = sapply(views, simplify = FALSE, function(name) unname(as.matrix(read(name)))),
  digit = factor(read("labels"))
)
digits$views <- lapply(digits$views, `rownames<-`, NULL)
save(digits, file = "bindings/r/data/digits.rda", compress = "xz", version = 2)
