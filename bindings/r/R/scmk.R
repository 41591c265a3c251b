scmk <- function(x, k = NULL, alpha = NULL, beta = NULL, method = "scmk", kernels = "auto",
                 preset = NULL, seed = NULL, ..., progress = interactive()) {
  call <- match.call()
  options <- check_options(
    c(drop_null(list(preset = preset, method = method, alpha = alpha, beta = beta, seed = seed)),
      list(...)),
    call
  )
  watcher <- watch_with(progress, call)
  on.exit(watcher$close())
  model <- build_model(x, k, kernels, copy = FALSE, options, watcher, call)
  # Gives the kernels' memory back now, however this function is left, and not at some later gc().
  on.exit(.Call(C_destroy, model$handle), add = TRUE)
  run_fit(model, watcher, call)
}

scmk_model <- function(x, k = NULL, kernels = "auto", copy = FALSE, ..., progress = interactive()) {
  call <- sys.call()
  if (!isTRUE(copy) && !isFALSE(copy)) refuse_argument(call, "copy must be TRUE or FALSE")
  options <- check_options(list(...), call)
  watcher <- watch_with(progress, call)
  on.exit(watcher$close())
  model <- build_model(x, k, kernels, copy, options, watcher, call)
  watcher$done(plural(length(.Call(C_names, model$handle, "kernels")), "kernel"))
  model
}

scmk_fit <- function(model, ..., k = NULL, progress = interactive()) {
  call <- match.call()
  check_model(model, call)
  options <- check_options(list(...), call)
  watcher <- watch_with(progress, call)
  on.exit(watcher$close())
  # First: it may be refused, the options have been tried.
  if (!is.null(k)) {
    k <- check_k(k, call)
    checked(.Call(C_set_clusters, model$handle, k), call)
    model$asked$k <- k
  }
  set_options(model$handle, options, call)
  run_fit(model, watcher, call)
}

scmk_result <- function(model) {
  call <- match.call()
  check_model(model, call)
  collect(model, call)
}

print.scmk_model <- function(x, ...) {
  info <- function(name) .Call(C_info, x$handle, name)
  memory <- info("memory_required")
  if (is.numeric(memory)) {
    k <- x$asked$k
    cat(sprintf("scmk model of %.0f samples for %s; views: %s\n", info("samples"),
                if (k == 0) "as many clusters as a fit chooses" else plural(k, "cluster"),
                paste(.Call(C_names, x$handle, "views"), collapse = ", ")))
    cat(sprintf("The kernels it holds take %.1f MB; a fit needs at most %.1f MB more.\n",
                info("memory_kernels") / 1e6, memory / 1e6))
  } else {
    cat("scmk model: ", memory$message, "\n", sep = "")
  }
  invisible(x)
}

check_model <- function(model, call) {
  if (!inherits(model, "scmk_model")) {
    refuse_argument(call, "model must come from scmk_model()")
  }
}

is_count <- function(x) {
  is.numeric(x) && length(x) == 1L && !is.na(x) && x >= 0 && x == floor(x) && x <= 2^53
}

# 0, as NULL, lets a fit choose.
check_k <- function(k, call) {
  if (is.null(k)) return(0)
  if (!is_count(k)) {
    refuse_argument(call, "k must be a whole number, the number of clusters, or NULL to choose it",
                    if (length(k) > 1L) "; to compare several, see ?suggest_clusters")
  }
  as.double(k)
}

drop_null <- function(x) x[!vapply(x, is.null, NA)]

plural <- function(count, noun) paste0(count, " ", noun, if (count != 1) "s")

# Tries the options on a model of no importance, so that a wrong one is found before the kernels
# are built and leaves the options of a model alone.
check_options <- function(options, call) {
  if (length(options) == 0L) return(options)
  if (is.null(names(options)) || any(names(options) == "")) {
    refuse_argument(call, "options must have names, as in alpha = 1")
  }
  if ("kernel" %in% names(options)) refuse_argument(call, SPELLING)
  # A preset sets other options; what is given beside it is meant to stay.
  options <- options[order(names(options) != "preset")]
  for (name in names(options)) {
    value <- options[[name]]
    if (is.factor(value)) value <- as.character(value)
    if (is.logical(value)) value <- as.integer(value)
    if (!(is.numeric(value) || is.character(value)) || length(value) != 1L ||
        (is.character(value) && is.na(value))) {
      refuse_argument(call, "option ", name, " must be a single number, text or TRUE or FALSE")
    }
    options[[name]] <- value
  }
  trial <- checked(.Call(C_create, 1, 1), call)
  on.exit(.Call(C_destroy, trial))
  set_options(trial, options, call)
  options
}

set_options <- function(handle, options, call) {
  for (i in seq_along(options)) {
    checked(.Call(C_set, handle, names(options)[i], options[[i]]), call)
  }
}

# R CMD check wants at most two threads.
is_checked <- function() {
  limit <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_", "false"))
  nzchar(limit) && limit != "false"
}

build_model <- function(x, k, kernels, copy, options, watcher, call) {
  views <- check_views(x, kernels, call)
  k <- check_k(k, call)
  handle <- checked(.Call(C_create, as.double(nrow(views[[1L]]$x)), k), call)
  done <- FALSE
  on.exit(if (!done) .Call(C_destroy, handle))
  if (is_checked()) checked(.Call(C_set, handle, "threads", 2L), call)
  # Before the kernels are built, so that memory_limit and time_limit hold for that too.
  set_options(handle, options, call)
  for (i in seq_along(views)) {
    view <- views[[i]]
    watcher$view(i, length(views))
    checked(
      .Call(C_add_view, handle, view$name, view$x, view$kernels, copy, watcher$progress),
      call
    )
  }
  done <- TRUE
  # asked is shared by all copies of the model, as what is behind the handle is.
  asked <- new.env(parent = emptyenv())
  asked$k <- k
  structure(class = "scmk_model",
            list(handle = handle, samples = samples_of(views), asked = asked))
}

# Every view as list(name, label for messages, x = matrix of doubles, kernels = its kernel list, or
# NULL if it is a kernel itself). What has no name is named by the library.
check_views <- function(x, kernels, call) {
  single <- is.data.frame(x) || !is.list(x)
  views <- if (single) list(x) else unclass(x)
  if (length(views) == 0L) refuse_argument(call, "x has no view")
  given <- names(views)
  if (is.null(given)) given <- character(length(views))
  given[is.na(given)] <- ""
  if (!is.list(kernels)) {
    kernels <- rep(list(kernels), length(views))
  } else if (!is.null(names(kernels)) && all(given %in% names(kernels))) {
    kernels <- kernels[given]
  } else if (length(kernels) != length(views) || !is.null(names(kernels))) {
    refuse_argument(call, "kernels has to be one kernel list, or a list with one for each view")
  }
  views <- lapply(seq_along(views), function(i) {
    label <- if (given[i] != "") sprintf("view '%s'", given[i])
      else if (single) "x" else sprintf("view %d", i)
    view <- as_number_matrix(views[[i]], label, call)
    list_of_view <- check_kernels(kernels[[i]], call)
    check_square(view, is.null(list_of_view), label, call)
    list(name = given[i], label = label, x = view, kernels = list_of_view)
  })
  check_samples(views, call)
  views
}

SPELLING <- "kernel matrices are given with kernels = \"precomputed\", and not with kernel = TRUE"

# The kernel list of a view, NULL for a kernel matrix.
check_kernels <- function(kernels, call) {
  # R takes kernel = TRUE for a short form of kernels = TRUE.
  if (is.logical(kernels)) refuse_argument(call, SPELLING)
  if (!is.character(kernels) || length(kernels) == 0L || anyNA(kernels)) {
    refuse_argument(call, "kernels must be text, such as \"auto\", \"gaussian(t=0.1); linear\" or ",
                    "\"precomputed\"")
  }
  if (identical(unname(kernels), "precomputed")) return(NULL)
  if ("precomputed" %in% kernels) {
    refuse_argument(call, "\"precomputed\" stands alone; views that differ have a list, ",
                    "as in kernels = list(\"precomputed\", \"linear\")")
  }
  paste(kernels, collapse = "; ")
}

# A kernel is square, and what is square and symmetric is seldom meant as features.
check_square <- function(x, kernel, label, call) {
  square <- nrow(x) == ncol(x)
  if (kernel && !square) {
    refuse(sprintf("%s must be square, as a kernel matrix: %d rows and %d columns given",
                   label, nrow(x), ncol(x)), "SCMK_E_DIMENSION", call, -5L)
  }
  if (!kernel && square && nrow(x) > 1L && isSymmetric(unname(x))) {
    warning(warningCondition(class = "scmk_warning", call = call, message = paste(
      label, "is taken as features, but square and symmetric as a kernel matrix would be:",
      "if it is one, say kernels = \"precomputed\""
    )))
  }
}

# Row names say which sample is which: where views have them, row by row the same.
check_samples <- function(views, call) {
  named <- which(!vapply(views, function(view) is.null(rownames(view$x)), NA))
  for (i in named) {
    first <- views[[named[1L]]]
    view <- views[[i]]
    expected <- rownames(first$x)
    names <- rownames(view$x)
    # Another number of rows is the library's to refuse.
    if (length(names) != length(expected) || identical(names, expected)) next
    if (setequal(names, expected)) {
      here <- sprintf("rownames(%s)", where(first$name, named[1L]))
      refuse_argument(
        call, view$label, " has the samples of ", first$label, " in another order: reorder it by ",
        where(view$name, i), "[", here, ", ", if (is.null(view$kernels)) here, "]"
      )
    }
    row <- which(names != expected)[1L]
    refuse_argument(
      call, view$label, " has other samples than ", first$label, ": row ", row, " is '", names[row],
      "' and not '", expected[row], "'; give all views the same row names, or none"
    )
  }
}

# The view as the user would write it.
where <- function(name, i) if (name == "") sprintf("x[[%d]]", i) else sprintf("x[[\"%s\"]]", name)

samples_of <- function(views) {
  named <- drop_null(lapply(views, function(view) rownames(view$x)))
  if (length(named)) named[[1L]]
}

as_number_matrix <- function(x, label, call) {
  if (is.data.frame(x)) {
    other <- !vapply(x, function(column) is.numeric(column) || is.logical(column), NA)
    if (any(other)) {
      kinds <- vapply(x[other], function(column) class(column)[1L], "")
      refuse_argument(call, label, " has columns that are not numbers: ",
                      paste0(names(kinds), " (", kinds, ")", collapse = ", "),
                      "; leave them out, or make numbers of them")
    }
    x <- data.matrix(x)
  } else if (inherits(x, "Matrix")) {
    x <- as.matrix(x)
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    kind <- if (is.matrix(x)) paste(typeof(x), "matrix") else class(x)[1L]
    refuse_argument(call, label, " must be a numeric matrix or a data frame of numbers, a row for ",
                    "each sample; it is of class ", kind)
  }
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

# Fits, and gives all results.
run_fit <- function(model, watcher, call) {
  checked(.Call(C_fit, model$handle, watcher$progress), call)
  info <- function(name) .Call(C_info, model$handle, name)
  objective <- info("objective")
  watcher$done(paste0(
    .Call(C_outcome, checked(info("outcome"), call)), ": ",
    plural(checked(info("iterations"), call), "iteration"),
    # Stopped early there may be none.
    if (is.numeric(objective)) paste(", objective", format(objective))
  ))
  fit <- collect(model, call)
  # Last: an error that is made of the warning, by options(warn = 2), finds the model complete.
  if (nzchar(fit$info$warning)) {
    warning(warningCondition(fit$info$warning, class = "scmk_warning", call = call))
  }
  fit
}

# What is called on the way: progress is the function for the library, or NULL; the others are told
# what begins and what has ended. close() comes however the call is left.
watch_with <- function(progress, call) {
  if (isTRUE(progress)) return(progress_line())
  if (!is.function(progress) && !is.null(progress) && !isFALSE(progress)) {
    refuse_argument(call, "progress must be TRUE, FALSE or a function(step, iteration, fraction, objective)")
  }
  nothing <- function(...) NULL
  list(progress = if (is.function(progress)) progress, view = nothing, done = nothing,
       close = nothing)
}

# A line that is written again and again. No bar: how many iterations a fit takes nobody knows.
progress_line <- function() {
  task <- ""
  drawn <- 0L
  last <- -Inf
  draw <- function(text) {
    text <- substr(text, 1L, getOption("width") - 1L)
    cat("\r", text, strrep(" ", max(0L, drawn - nchar(text))), sep = "", file = stderr())
    drawn <<- nchar(text)
    last <<- proc.time()[["elapsed"]]
  }
  list(
    view = function(i, count) {
      task <<- if (count > 1L) sprintf("kernels of view %d of %d", i, count) else "kernels"
    },
    progress = function(step, iteration, fraction, objective) {
      percent <- sprintf("%.0f %%", 100 * fraction)
      if (step == "kernels") {
        text <- paste(task, percent)
      } else {
        # Iterations of some methods, restarts of others.
        reached <- if (iteration > 0) {
          paste0(iteration, " complete",
                 if (!is.na(objective)) paste(", objective", format(objective)))
        }
        text <- paste(c(reached, if (step != "iteration") paste(step, percent)), collapse = "; ")
      }
      # A console is slow: some ten lines a second are enough.
      if (proc.time()[["elapsed"]] - last >= 0.1) draw(text)
      TRUE
    },
    done = draw,
    # Stopped by Ctrl-C or an error, the line stays as it was then.
    close = function() if (drawn > 0L) cat("\n", file = stderr())
  )
}

# All results of the last fit, as an object of class scmk.
collect <- function(model, call) {
  read <- function(what) .Call(C_result, model$handle, what)
  result <- function(what) checked(read(what), call)
  named <- function(what, by) {
    stats::setNames(result(what), checked(.Call(C_names, model$handle, by), call))
  }
  cluster <- result("labels")
  names(cluster) <- model$samples
  info <- sapply(scmk_infos()$name, simplify = FALSE, function(name) {
    value <- .Call(C_info, model$handle, name)
    if (inherits(value, "scmk_failure")) NA else value
  })
  # What is not there is NULL; why, the library says.
  absent <- character()
  embedding <- similarity <- NULL
  if (info$has_embedding) {
    embedding <- result("embedding")
    rownames(embedding) <- model$samples
  } else {
    absent[["embedding"]] <- read("embedding")$message
  }
  if (info$has_similarity) {
    parts <- result("similarity")
    if (is.null(parts)) {
      absent[["similarity"]] <- "the similarity has more entries than a dgCMatrix can hold"
    } else {
      similarity <- new("dgCMatrix",
        p = parts$p, i = parts$i, x = parts$x, Dim = rep(info$samples, 2L),
        Dimnames = list(model$samples, model$samples)
      )
    }
  } else {
    absent[["similarity"]] <- read("similarity")$message
  }
  certified <- read("certified")
  if (inherits(certified, "scmk_failure")) {
    absent[["certified"]] <- certified$message
    certified <- NULL
  } else {
    names(certified$weights) <- checked(.Call(C_names, model$handle, "kernels"), call)
    rownames(certified$embedding) <- model$samples
  }
  options <- sapply(scmk_options()$name, simplify = FALSE, function(name) {
    checked(.Call(C_get, model$handle, name), call)
  })
  structure(
    class = "scmk",
    list(
      cluster = cluster, size = tabulate(cluster, info$clusters), chosen = model$asked$k == 0,
      weights = named("weights", "kernels"),
      view_weights = named("view_weights", "views"), embedding = embedding,
      similarity = similarity, certified = certified, trace = result("trace"),
      outcome = .Call(C_outcome, info$outcome), info = info, options = options,
      absent = absent, call = call
    )
  )
}
