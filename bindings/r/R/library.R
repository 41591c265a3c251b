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
  as.data.frame(checked(columns, sys.call(-1L)), stringsAsFactors = FALSE)
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

scmk_methods <- function() {
  options <- scmk_options()
  trimws(strsplit(options$choices[options$name == "method"], ",", fixed = TRUE)[[1L]])
}

scmk_infos <- function() table_of(.Call(C_infos))

scmk_metrics <- function() table_of(.Call(C_metrics))

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
