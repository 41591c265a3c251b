# What a fit answers to R's usual questions.

setOldClass("scmk")
setAs("scmk", "dgCMatrix", function(from) similarity_of(from, sys.call()))

similarity_of <- function(fit, call) {
  if (is.null(fit$similarity)) {
    refuse(fit$absent[["similarity"]], "SCMK_E_STATE", call, -11L)
  }
  fit$similarity
}

fitted.scmk <- function(object, ...) object$cluster

coef.scmk <- function(object, ...) object$weights

as.matrix.scmk <- function(x, ...) as.matrix(similarity_of(x, sys.call()))

print.scmk <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  show_call(x$call)
  show_fit(x, digits)
  cat("\nCluster sizes:\n")
  print(stats::setNames(x$size, seq_along(x$size)))
  if (length(x$weights) <= 20L) {
    show_weights("Weights of the kernels", x$weights, digits)
  } else {
    show_weights("Largest weights of the kernels (coef() has all)",
                 sort(x$weights, decreasing = TRUE)[1:12], digits)
  }
  show_views(x, digits)
  invisible(x)
}

summary.scmk <- function(object, ...) {
  structure(
    class = "summary.scmk",
    c(unclass(object)[c("call", "outcome", "cluster", "size", "chosen", "view_weights", "info",
                        "options", "absent")],
      list(
        weights = sort(object$weights, decreasing = TRUE),
        neighbours = if (!is.null(object$similarity)) summary(diff(object$similarity@p))
      ))
  )
}

print.summary.scmk <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  show_call(x$call)
  show_fit(x, digits)
  cat("\nCluster sizes:\n")
  print(stats::setNames(x$size, seq_along(x$size)))
  show_weights("Weights of the kernels, largest first", x$weights, digits)
  show_views(x, digits)
  if (!is.null(x$neighbours)) {
    cat("\nNeighbours of a sample in the similarity graph:\n")
    print(x$neighbours, digits = digits)
  }
  cat("\nAbout the fit (see scmk_infos()):\n")
  # The warning stands above.
  known <- x$info[!vapply(x$info, is.na, NA) & names(x$info) != "warning"]
  cat(sprintf("  %-20s %s\n", names(known), vapply(known, format, "", digits = digits)), sep = "")
  initial <- scmk_options()
  value <- vapply(x$options[initial$name], as.character, "")
  # Not the user's doing: messages count as R does.
  value[["index_base"]] <- initial$default[initial$name == "index_base"]
  # Numbers are compared as numbers: the library may write 1e-5 where R writes 1e-05.
  same <- value == initial$default
  number <- initial$type != "text"
  same[number] <- as.numeric(value[number]) == as.numeric(initial$default[number])
  if (!all(same)) {
    cat("\nOptions that are not at their defaults:\n")
    cat(sprintf("  %-20s %s\n", initial$name[!same], value[!same]), sep = "")
  }
  invisible(x)
}

show_call <- function(call) {
  # A call made by do.call() may hold all of the data.
  lines <- deparse(call, nlines = 4L)
  if (length(lines) > 3L) lines <- c(lines[1:3], "...")
  cat("Call: ", paste(lines, collapse = "\n"), "\n\n", sep = "")
}

# A line for each: names of kernels are long.
show_weights <- function(title, weights, digits) {
  cat("\n", title, ":\n", sep = "")
  cat(sprintf("  %s  %s\n", format(names(weights)), format(weights, digits = digits)), sep = "")
}

# Shares are read beside each other: the same decimals for all.
show_views <- function(x, digits) {
  if (length(x$view_weights) > 1L) {
    show_weights("Share of each view", round(x$view_weights, digits), digits)
  }
}

show_fit <- function(x, digits) {
  cat(plural(length(x$cluster), "sample"), " in ", plural(length(x$size), "cluster"),
      if (x$chosen) " (number chosen)", " by method ", x$options$method, ", ",
      plural(length(x$weights), "kernel"), "\n", sep = "")
  cat(sprintf("%s: iterations %s, objective %s, %s s\n", x$outcome, x$info$iterations,
              format(x$info$objective, digits = digits), format(x$info$seconds, digits = 2L)))
  worth <- c(
    if (!is.na(x$info$silhouette)) paste("silhouette", format(x$info$silhouette, digits = 2L)),
    if (x$chosen && !is.na(x$info$suggested_confidence)) {
      paste("confidence in the number of clusters",
            format(x$info$suggested_confidence, digits = 2L))
    }
  )
  if (length(worth)) cat(paste(worth, collapse = ", "), "\n", sep = "")
  if (nzchar(x$info$warning)) cat(strwrap(paste("Warning:", x$info$warning), exdent = 2L), sep = "\n")
}

plot.scmk <- function(x, which = c("similarity", "weights", "objective", "embedding"),
                      ask = length(which) > 1L && dev.interactive(), ...) {
  call <- sys.call()
  # One iteration is no path.
  if (missing(which)) {
    which <- setdiff(which, c(names(x$absent), if (length(x$trace) < 2L) "objective"))
  }
  which <- match.arg(which, several.ok = TRUE)
  lost <- intersect(which, names(x$absent))
  if (length(lost)) refuse(x$absent[[lost[1L]]], "SCMK_E_STATE", call, -11L)
  if (ask) {
    before <- devAskNewPage(TRUE)
    on.exit(devAskNewPage(before))
  }
  for (one in which) {
    switch(one,
      similarity = plot_similarity(x, ...),
      weights = plot_weights(x, ...),
      objective = plot_objective(x, ...),
      embedding = plot_embedding(x, ...)
    )
  }
  invisible(x)
}

plot_similarity <- function(x, main = "Similarity, ordered by cluster", xlab = "", ylab = "",
                            col = hcl.colors(64L, "Blues 3", rev = TRUE), ...) {
  before <- par(pty = "s")
  on.exit(par(before))
  n <- length(x$cluster)
  order <- order(x$cluster)
  z <- as.matrix(x$similarity)[order, order]
  # The root, cut at a high quantile, keeps many small entries visible beside few large ones.
  z <- sqrt(z + t(z))
  limit <- stats::quantile(z[z > 0], 0.99)
  image(seq_len(n), seq_len(n), pmin(z, limit), col = col, main = main, xlab = xlab, ylab = ylab,
        ylim = c(n + 0.5, 0.5), xaxt = "n", yaxt = "n",
        useRaster = TRUE, ...)
  ends <- cumsum(x$size)
  abline(h = ends[-length(ends)] + 0.5, v = ends[-length(ends)] + 0.5, col = "grey50", lwd = 0.5)
  axis(2L, at = ends - x$size / 2, labels = seq_along(ends), las = 1L, tick = FALSE)
}

plot_weights <- function(x, main = "Weights of the kernels", xlab = "", ylab = "", las = 1L,
                         col = "steelblue", border = NA, cex.names = NULL, ...) {
  # axis() leaves out names that would touch: as small as it takes to have them all.
  if (is.null(cex.names)) {
    height <- length(x$weights) * (strheight("M", "inches") + strwidth("m", "inches"))
    cex.names <- max(0.2, min(1, par("pin")[2L] / height))
  }
  # Long kernel names need room on the left, but half of the picture is for the bars.
  margins <- par("mai")
  room <- max(strwidth(names(x$weights), "inches", cex = cex.names)) + 0.4
  margins[2L] <- min(room, par("fin")[1L] / 2)
  before <- par(mai = margins)
  on.exit(par(before))
  barplot(rev(x$weights), horiz = TRUE, main = main, xlab = xlab, ylab = ylab, las = las,
          col = col, border = border, cex.names = cex.names, ...)
}

# The first iteration may be close to the last: the values themselves would all have one label.
plot_objective <- function(x, main = "Objective", xlab = "iteration", type = "b", pch = 20L,
                           ylab = paste("above", format(x$info$objective)), ...) {
  plot(seq_along(x$trace), x$trace - x$info$objective, main = main, xlab = xlab, ylab = ylab,
       type = type, pch = pch, ...)
}

# An embedding is known up to a rotation, so that its own axes mean nothing.
plot_embedding <- function(x, main = "Embedding", xlab = "principal component 1",
                           ylab = "principal component 2", pch = 20L,
                           col = hcl.colors(length(x$size), "Dark 3")[x$cluster], ...) {
  if (ncol(x$embedding) < 2L) {
    plot(seq_along(x$cluster), x$embedding, main = main, xlab = "sample", ylab = "", pch = pch,
         col = col, ...)
  } else {
    plot(prcomp(x$embedding, rank. = 2L)$x, main = main, xlab = xlab, ylab = ylab, pch = pch,
         col = col, ...)
  }
}
