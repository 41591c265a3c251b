# How many clusters there are.

suggest_clusters <- function(x, from = NULL, to = NULL, kernels = "auto", ...,
                             progress = interactive()) {
  call <- match.call()
  is_model <- inherits(x, "scmk_model")
  if (is_model && !missing(kernels)) {
    refuse_argument(call, "a model has its kernels already: leave out kernels")
  }
  # The library has a range of its own, which it is asked for by 0.
  if (is.null(from) && is.null(to)) {
    from <- to <- 0
  } else if (!is_count(from) || !is_count(to) || from < 1 || to < 1) {
    refuse_argument(call, "from and to must be whole numbers from 1: numbers of clusters")
  }
  options <- check_options(list(...), call)
  watcher <- watch_with(progress, call)
  on.exit(watcher$close())
  if (is_model) {
    model <- x
    set_options(model$handle, options, call)
  } else {
    model <- build_model(x, NULL, kernels, copy = FALSE, options, watcher, call)
    on.exit(.Call(C_destroy, model$handle), add = TRUE)
  }
  info <- function(name) checked(.Call(C_info, model$handle, name), call)
  scores <- checked(
    .Call(C_suggest, model$handle, as.double(from), as.double(to), watcher$progress), call
  )
  tried <- seq(info("suggested_from"), length.out = info("suggested_to") - info("suggested_from") + 1L)
  best <- info("suggested_clusters")
  runner_up <- info("suggested_next")
  watcher$done(if (best > 1) plural(best, "cluster") else "no clusters")
  structure(
    class = "scmk_suggestion",
    list(
      best = best, runner_up = if (runner_up > 0) runner_up else NA_integer_,
      confidence = info("suggested_confidence"),
      scores = data.frame(k = tried, score = scores[seq_along(tried)]), call = call
    )
  )
}

print.scmk_suggestion <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  show_call(x$call)
  tried <- paste(range(x$scores$k), collapse = " to ")
  if (x$best == 1) {
    cat(strwrap(paste("The samples do not fall into clusters: no number from", tried,
                      "divides them better than chance would.")), sep = "\n")
  } else {
    cat("Suggested number of clusters: ", x$best, ", of ", tried, "\n", sep = "")
  }
  cat("Confidence, from 0 to 1: ", format(x$confidence, digits = 2L), "\n", sep = "")
  if (!is.na(x$runner_up)) cat("To look at next: ", x$runner_up, "\n", sep = "")
  highest <- x$scores[order(-x$scores$score), ]
  most <- min(6L, nrow(highest))
  cat("\n", if (most < nrow(highest)) "Highest scores:\n" else "Scores:\n", sep = "")
  print(highest[seq_len(most), ], digits = digits, row.names = FALSE)
  invisible(x)
}

plot.scmk_suggestion <- function(x, main = "Number of clusters", xlab = "clusters",
                                 ylab = "score", type = "o", pch = 20L, col = "grey40", ...) {
  k <- x$scores$k
  plot(k, x$scores$score, main = main, xlab = xlab, ylab = ylab, type = type, pch = pch, col = col,
       xaxt = "n", ...)
  ticks <- pretty(k)
  axis(1L, at = ticks[ticks == floor(ticks)])
  best <- match(x$best, k)
  if (!is.na(best)) abline(v = x$best, lty = 3L, col = "firebrick")
  marked <- x$scores[c(best, match(x$runner_up, k)), ]
  points(marked$k, marked$score, pch = c(19L, 21L), bg = "white", col = "firebrick", cex = 1.5)
  mtext(paste0(
    if (x$best == 1) "no clusters" else paste(x$best, "suggested"),
    if (!is.na(x$runner_up)) paste0(", ", x$runner_up, " to look at next"),
    "; confidence ", format(x$confidence, digits = 2L)
  ), line = 0.3, cex = 0.9)
  invisible(x)
}
