scmk <- function(x, k, alpha = NULL, beta = NULL, method = "scmk", kernels = "paper",
                 kernel = FALSE, preset = NULL, seed = NULL, ..., progress = interactive()) {
  call <- match.call()
  options <- check_options(
    c(drop_null(list(preset = preset, method = method, alpha = alpha, beta = beta, seed = seed)),
      list(...)),
    call
  )
  progress <- check_progress(progress, call)
  model <- build_model(x, k, kernel, kernels, copy = FALSE, call)
  # Gives the kernels' memory back now, however this function is left, and not at some later gc().
  on.exit(.Call(C_destroy, model$handle))
  run_fit(model, options, progress, call)
  collect(model, call)
}

scmk_model <- function(x, k, kernels = "paper", kernel = FALSE, copy = FALSE) {
  call <- sys.call()
  if (!isTRUE(copy) && !isFALSE(copy)) refuse_argument(call, "copy must be TRUE or FALSE")
  build_model(x, k, kernel, kernels, copy, call)
}

scmk_fit <- function(model, ..., progress = interactive()) {
  call <- match.call()
  check_model(model, call)
  options <- check_options(list(...), call)
  progress <- check_progress(progress, call)
  run_fit(model, options, progress, call)
  collect(model, call)
}

scmk_result <- function(model) {
  call <- match.call()
  check_model(model, call)
  collect(model, call)
}

print.scmk_model <- function(x, ...) {
  cat(sprintf("scmk model of %.0f samples for %.0f clusters; views: %s\n", x$n, x$k,
              paste(x$views, collapse = ", ")))
  memory <- .Call(C_info, x$handle, "memory_required")
  if (is.numeric(memory)) {
    cat(sprintf("A fit needs at most %.1f MB beyond the kernels.\n", memory / 1e6))
  } else {
    cat(memory$message, "\n", sep = "")
  }
  invisible(x)
}

check_model <- function(model, call) {
  if (!inherits(model, "scmk_model")) {
    refuse_argument(call, "model must come from scmk_model()")
  }
}

drop_null <- function(x) x[!vapply(x, is.null, NA)]

# Tries the options on a model of no importance, so that a wrong one is found before the kernels
# are built and leaves the options of a model alone.
check_options <- function(options, call) {
  if (length(options) == 0L) return(options)
  if (is.null(names(options)) || any(names(options) == "")) {
    refuse_argument(call, "options must have names, as in alpha = 1")
  }
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

check_progress <- function(progress, call) {
  if (is.function(progress) || isTRUE(progress)) return(progress)
  if (is.null(progress) || isFALSE(progress)) return(NULL)
  refuse_argument(call, "progress must be TRUE, FALSE or a function(step, iteration, fraction, objective)")
}

# R CMD check wants at most two threads.
is_checked <- function() {
  limit <- tolower(Sys.getenv("_R_CHECK_LIMIT_CORES_", "false"))
  nzchar(limit) && limit != "false"
}

build_model <- function(x, k, kernel, kernels, copy, call) {
  views <- check_views(x, kernel, kernels, call)
  if (!is.numeric(k) || length(k) != 1L || is.na(k) || k < 0 || k != floor(k) || k > 2^53) {
    refuse_argument(call, "k must be a whole number: the number of clusters")
  }
  n <- as.double(nrow(views[[1L]]$x))
  handle <- checked(.Call(C_create, n, as.double(k)), call)
  done <- FALSE
  on.exit(if (!done) .Call(C_destroy, handle))
  if (is_checked()) checked(.Call(C_set, handle, "threads", 2L), call)
  for (view in views) {
    checked(
      if (view$kernel) .Call(C_add_kernel, handle, view$x, copy)
      else .Call(C_add_features, handle, view$x, view$kernels),
      call
    )
  }
  done <- TRUE
  samples <- drop_null(lapply(views, function(view) rownames(view$x)))
  structure(
    class = "scmk_model",
    list(
      handle = handle, n = n, k = as.double(k), views = names(views),
      kernels = unlist(lapply(views, `[[`, "names"), use.names = FALSE),
      samples = if (length(samples)) samples[[1L]]
    )
  )
}

# Every view as list(x = matrix of doubles, kernel = TRUE or FALSE, kernels = kernel list, names).
check_views <- function(x, kernel, kernels, call) {
  single <- is.data.frame(x) || !is.list(x)
  views <- if (single) list(x) else unclass(x)
  if (length(views) == 0L) refuse_argument(call, "x has no view")
  if (!is.logical(kernel) || anyNA(kernel) || !length(kernel) %in% c(1L, length(views))) {
    refuse_argument(call, "kernel must be TRUE or FALSE, or one of them for each view")
  }
  kernel <- rep_len(kernel, length(views))
  given <- names(views)
  if (is.null(given)) given <- character(length(views))
  if (!is.list(kernels)) {
    kernels <- rep(list(kernels), length(views))
  } else if (!is.null(names(kernels)) && all(given %in% names(kernels))) {
    kernels <- kernels[given]
  } else if (length(kernels) != length(views) || !is.null(names(kernels))) {
    refuse_argument(call, "kernels has to be one kernel list, or a list with one for each view")
  }
  names <- ifelse(given == "", paste0(ifelse(kernel, "kernel", "view"), seq_along(views)), given)
  views <- lapply(seq_along(views), function(i) {
    where <- if (single) "x" else sprintf("x[[%d]]", i)
    list <- if (kernel[i]) NULL else check_kernels(kernels[[i]], call)
    list(
      x = as_number_matrix(views[[i]], where, call),
      kernel = kernel[i],
      kernels = list,
      names = kernel_names(if (single && given == "" && !kernel[i]) "" else names[i], list)
    )
  })
  names(views) <- names
  views
}

check_kernels <- function(kernels, call) {
  if (!is.character(kernels) || length(kernels) == 0L || anyNA(kernels)) {
    refuse_argument(call, "kernels must be text, such as \"paper\" or \"gaussian(t=0.1); linear\"")
  }
  paste(kernels, collapse = "; ")
}

# A name for every weight of a view: the view alone where it has one kernel.
kernel_names <- function(view, kernels) {
  if (is.null(kernels)) return(view)
  if (kernels == "paper") {
    kernels <- paste0("paper", 1:12)
  } else {
    kernels <- trimws(strsplit(kernels, ";", fixed = TRUE)[[1L]])
  }
  if (view == "") kernels else if (length(kernels) == 1L) view else paste0(view, ":", kernels)
}

as_number_matrix <- function(x, where, call) {
  if (is.data.frame(x)) {
    other <- !vapply(x, function(column) is.numeric(column) || is.logical(column), NA)
    if (any(other)) {
      refuse_argument(call, where, " has columns that are not numbers: ",
                      paste(names(x)[other], collapse = ", "))
    }
    x <- data.matrix(x)
  } else if (inherits(x, "Matrix")) {
    x <- as.matrix(x)
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x))) {
    refuse_argument(call, where, " must be a numeric matrix or a data frame of numbers")
  }
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

run_fit <- function(model, options, progress, call) {
  set_options(model$handle, options, call)
  if (isTRUE(progress)) {
    bar <- progress_bar(model)
    on.exit(bar$close())
    progress <- bar$show
  }
  checked(.Call(C_fit, model$handle, progress), call)
}

# How many iterations a fit takes is not known beforehand: the bar is full when it ends.
progress_bar <- function(model) {
  value <- function(name) checked(.Call(C_get, model$handle, name), NULL)
  counted <- if (endsWith(value("method"), "kkm")) "restarts" else "max_iterations"
  limit <- value(counted)
  bar <- txtProgressBar(max = limit, style = 3L, file = stderr())
  list(
    show = function(step, iteration, fraction, objective) {
      setTxtProgressBar(bar, min(iteration, limit))
      TRUE
    },
    close = function() {
      setTxtProgressBar(bar, limit)
      close(bar)
    }
  )
}

# All results of the last fit, as an object of class scmk.
collect <- function(model, call) {
  absent <- character()
  result <- function(what) {
    value <- .Call(C_result, model$handle, what, model$n, model$k)
    # Of the results, only these depend on the method.
    if (what %in% c("similarity", "embedding") && inherits(value, "scmk_failure") &&
        value$status == "SCMK_E_STATE") {
      absent[[what]] <<- value$message
      return(NULL)
    }
    checked(value, call)
  }
  cluster <- result("labels")
  names(cluster) <- model$samples
  weights <- result("weights")
  names(weights) <- if (length(weights) == length(model$kernels)) model$kernels
    else paste0("kernel", seq_along(weights))
  embedding <- result("embedding")
  if (!is.null(embedding)) rownames(embedding) <- model$samples
  similarity <- result("similarity")
  if (!is.null(similarity)) {
    similarity <- new("dgCMatrix",
      p = similarity$p, i = similarity$i, x = similarity$x, Dim = as.integer(c(model$n, model$n)),
      Dimnames = list(model$samples, model$samples)
    )
  } else if (!"similarity" %in% names(absent)) {
    absent[["similarity"]] <- "the similarity has more entries than a dgCMatrix can hold"
  }
  info <- sapply(scmk_infos()$name, simplify = FALSE, function(name) {
    value <- .Call(C_info, model$handle, name)
    if (inherits(value, "scmk_failure")) NA else value
  })
  options <- sapply(scmk_options()$name, simplify = FALSE, function(name) {
    checked(.Call(C_get, model$handle, name), call)
  })
  structure(
    class = "scmk",
    list(
      cluster = cluster, size = tabulate(cluster, model$k), weights = weights,
      embedding = embedding, similarity = similarity, trace = result("trace"),
      outcome = .Call(C_outcome, info$outcome), info = info, options = options,
      absent = absent, call = call
    )
  )
}
