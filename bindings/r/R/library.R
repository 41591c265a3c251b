# What the library knows by name, and how its refusals become R errors.

# Raises an error of class scmk_error; status and code are those of the C interface.
refuse <- function(message, status, call, code = NULL) {
  stop(structure(
    class = c("scmk_error", "error", "condition"),
    list(message = message, call = call, status = status, code = code)
  ))
}

# For arguments that R itself can judge.
refuse_argument <- function(call, ...) {
  refuse(paste0(...), "SCMK_E_INVALID_ARGUMENT", call, -3L)
}

# The value of a .Call, or the error it reports.
checked <- function(value, call) {
  if (inherits(value, "scmk_failure")) {
    refuse(value$message, value$status, call, value$code)
  }
  value
}

table_of <- function(columns) {
  table <- as.data.frame(checked(columns, sys.call(-1L)), stringsAsFactors = FALSE)
  structure(table, class = c("scmk_table", "data.frame"))
}

scmk_options <- function(model = NULL) {
  table <- table_of(.Call(C_options))
  if (!is.null(model)) {
    check_model(model, sys.call())
    table$value <- vapply(table$name, FUN.VALUE = "", function(name) {
      as.character(checked(.Call(C_get, model$handle, name), sys.call()))
    })
  }
  table
}

scmk_methods <- function() table_of(.Call(C_methods))

scmk_kernels <- function() table_of(.Call(C_kernels))

scmk_preparations <- function() table_of(.Call(C_preparations))

scmk_infos <- function() table_of(.Call(C_infos))

scmk_metrics <- function() table_of(.Call(C_metrics))

# The documentation is longer than a line: beside the other columns it is broken, or below them.
print.scmk_table <- function(x, ...) {
  others <- setdiff(names(x), "doc")
  if (!"doc" %in% names(x) || length(others) == 0L || nrow(x) == 0L) {
    return(NextMethod(right = FALSE))
  }
  lines <- do.call(paste, lapply(others, function(name) {
    text <- vapply(x[[name]], format, "", digits = 3L)
    format(c(name, ifelse(is.na(x[[name]]), "", text)))
  }))
  width <- getOption("width")
  beside <- nchar(lines[1L]) <= width / 2
  indent <- strrep(" ", if (beside) nchar(lines[1L]) + 1L else 4L)
  cat(trimws(paste(lines[1L], if (beside) "doc"), "right"), "\n", sep = "")
  for (i in seq_len(nrow(x))) {
    doc <- paste0(indent, strwrap(x$doc[i], max(20, width - nchar(indent))))
    line <- lines[i + 1L]
    if (beside) substr(doc[1L], 1L, nchar(line)) <- line else doc <- c(trimws(line, "right"), doc)
    cat(doc, sep = "\n")
  }
  invisible(x)
}

# What the help pages take from the library, as Rd.
rd_text <- function(text) gsub("([\\\\%{}])", "\\\\\\1", text)

rd_of_option <- function(option, column) {
  known <- scmk_options()
  rd_text(known[[column]][known$name == option])
}

rd_doc <- function(option) paste0(rd_of_option(option, "doc"), ".")

rd_default <- function(option) {
  sprintf("\\code{NULL} is the library's default, \\code{%s}.", rd_of_option(option, "default"))
}

rd_items <- function(names, docs) {
  items <- sprintf("\\item{\\code{%s}}{%s.}", rd_text(names), rd_text(docs))
  paste0("\\describe{", paste(items, collapse = "\n"), "}")
}

rd_methods <- function() {
  known <- scmk_methods()
  rd_items(known$name, known$doc)
}

rd_kernels <- function() {
  known <- scmk_kernels()
  parameters <- ifelse(known$parameters == "", "", sprintf("(%s)", known$parameters))
  rd_items(paste0(known$name, parameters), known$doc)
}

rd_preparations <- function() {
  known <- scmk_preparations()
  rd_items(known$name, known$doc)
}

scmk_version <- function() .Call(C_version)

scmk_metric <- function(truth, labels, metric = NULL) {
  call <- sys.call()
  truth <- as_labels(truth, "truth", call)
  labels <- as_labels(labels, "labels", call)
  if (length(truth) != length(labels)) {
    refuse(
      sprintf("truth has %d samples, labels has %d", length(truth), length(labels)),
      "SCMK_E_DIMENSION", call, -5L
    )
  }
  if (is.null(metric)) metric <- scmk_metrics()$name
  if (!is.character(metric) || anyNA(metric)) {
    refuse_argument(call, "metric must be names of metrics, see scmk_metrics()")
  }
  # Of no importance but for this: what has a model can be interrupted.
  model <- checked(.Call(C_create, 1, 1), call)
  on.exit(.Call(C_destroy, model))
  vapply(metric, FUN.VALUE = 0, function(name) {
    checked(.Call(C_metric, model, name, truth, labels), call)
  })
}

# Any vector that tells samples apart, as whole numbers.
as_labels <- function(x, argument, call) {
  if (inherits(x, "scmk")) x <- x$cluster
  if (!is.atomic(x) || is.null(x) || anyNA(x)) {
    refuse_argument(call, argument, " must be a vector or factor without missing values")
  }
  match(x, unique(x))
}
