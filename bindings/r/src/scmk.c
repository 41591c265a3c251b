/* The bridge between R and libscmk: translates types and errors, computes nothing.
 *
 * A call that the library refuses does not jump out of C: it gives back a value of class
 * scmk_failure, which R code turns into a condition.
 */
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>

#include <limits.h>
#include <math.h>
#include <scmk.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

static SEXP utf8(const char *text)
{
    return Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

static SEXP failure_with(scmk_status status, const char *message)
{
    const char *names[] = {"code", "status", "message", ""};
    SEXP failure = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(failure, 0, Rf_ScalarInteger(status));
    SET_VECTOR_ELT(failure, 1, utf8(scmk_status_name(status)));
    SET_VECTOR_ELT(failure, 2, utf8(message));
    Rf_setAttrib(failure, R_ClassSymbol, Rf_mkString("scmk_failure"));
    UNPROTECT(1);
    return failure;
}

/* The library's own text for what just went wrong. */
static SEXP failure(const scmk_model *model, scmk_status status)
{
    size_t needed = 0;
    /* A handle that is not valid or not free left its text with the thread. */
    if (status == SCMK_E_INVALID_HANDLE || status == SCMK_E_BUSY)
        model = NULL;
    scmk_error_message(model, NULL, 0, &needed);
    char *text = R_alloc(needed + 1, 1);
    text[0] = '\0';
    scmk_error_message(model, text, needed + 1, NULL);
    return failure_with(status, text);
}

static const char *text_of(SEXP string)
{
    return Rf_translateCharUTF8(STRING_ELT(string, 0));
}

/* Whole numbers as R has them: integer, beyond that double. */
static SEXP whole(int64_t value)
{
    if (value > INT_MIN && value <= INT_MAX)
        return Rf_ScalarInteger((int)value);
    return Rf_ScalarReal((double)value);
}

/* ---- the model: an external pointer that keeps borrowed kernels alive ---- */

static void release(SEXP handle)
{
    scmk_model *model = R_ExternalPtrAddr(handle);
    /* Busy: a fit is running further down the stack, and the model lives on. */
    if (model == NULL || scmk_destroy(model) == SCMK_E_BUSY)
        return;
    R_ClearExternalPtr(handle);
    R_SetExternalPtrProtected(handle, R_NilValue);
}

static SEXP r_create(SEXP n_samples, SEXP n_clusters)
{
    scmk_model *model = NULL;
    /* Allocated first: an R error afterwards could lose the model. */
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(handle, release, TRUE);
    scmk_status status =
        scmk_create((size_t)Rf_asReal(n_samples), (size_t)Rf_asReal(n_clusters), &model);
    if (status == SCMK_OK) {
        R_SetExternalPtrAddr(handle, model);
        /* Messages count as R does. */
        status = scmk_set_int(model, "index_base", 1);
    }
    if (status != SCMK_OK)
        handle = failure(NULL, status);
    UNPROTECT(1);
    return handle;
}

static SEXP r_destroy(SEXP handle)
{
    release(handle);
    return R_NilValue;
}

/* A saved session or a parallel worker brings back the pointer without what it pointed to. */
static SEXP lost_model(void)
{
    return failure_with(SCMK_E_INVALID_HANDLE,
                        "the model is of another R session, or was released: build it again");
}

#define MODEL_OR_RETURN(model, handle)                                                             \
    scmk_model *model = R_ExternalPtrAddr(handle);                                                 \
    if (model == NULL)                                                                             \
        return lost_model()

/* ---- calls that take their time: they can be interrupted, and tell how far they are ---- */

struct watch {
    SEXP progress; /* the user's function, or NULL */
    SEXP token;    /* where an R jump that was held up wanted to go */
    jmp_buf back;
    int jumped;
    const char *step;
    double iteration, fraction, objective;
};

static SEXP look_around(void *data)
{
    struct watch *watch = data;
    R_CheckUserInterrupt();
    if (watch->progress == R_NilValue)
        return R_NilValue;
    SEXP step = PROTECT(Rf_mkString(watch->step));
    SEXP iteration = PROTECT(Rf_ScalarReal(watch->iteration));
    SEXP fraction = PROTECT(Rf_ScalarReal(watch->fraction));
    SEXP objective = PROTECT(Rf_ScalarReal(watch->objective));
    SEXP call = PROTECT(Rf_lang5(watch->progress, step, iteration, fraction, objective));
    SEXP answer = Rf_eval(call, R_GlobalEnv);
    UNPROTECT(5);
    return answer;
}

static void hold_up(void *data, Rboolean jump)
{
    struct watch *watch = data;
    if (jump)
        longjmp(watch->back, 1);
}

/* R leaves a function by long jumps: on Ctrl-C, on an error, on a restart. None may cross the
 * frames of the library. So a jump is held up here, the call is stopped, and watched() lets the jump
 * go on to where it was heading: handlers and tracebacks are as if there was no C in between. */
static int32_t on_progress(void *user, const char *step, int64_t iteration, double fraction,
                           double objective)
{
    struct watch *watch = user;
    if (watch->jumped)
        return 1;
    watch->step = step;
    watch->iteration = (double)iteration;
    watch->fraction = fraction;
    watch->objective = isnan(objective) ? NA_REAL : objective;
    if (setjmp(watch->back)) {
        watch->jumped = 1;
        return 1;
    }
    SEXP answer = R_UnwindProtect(look_around, watch, hold_up, watch, watch->token);
    return TYPEOF(answer) == LGLSXP && XLENGTH(answer) == 1 && LOGICAL(answer)[0] == FALSE;
}

typedef scmk_status (*work_fn)(scmk_model *model, void *arguments);

/* Does the work with R's ear on the user. */
static SEXP watched(SEXP handle, SEXP progress, work_fn work, void *arguments)
{
    MODEL_OR_RETURN(model, handle);
    struct watch watch = {.progress = progress, .token = PROTECT(R_MakeUnwindCont())};
    scmk_status status = scmk_set_progress(model, on_progress, &watch);
    if (status == SCMK_OK) {
        status = work(model, arguments);
        scmk_set_progress(model, NULL, NULL);
    }
    if (watch.jumped)
        R_ContinueUnwind(watch.token);
    /* One that came after the last report belongs to this call, not to whatever R does next. */
    R_CheckUserInterrupt();
    UNPROTECT(1);
    return status == SCMK_OK ? R_NilValue : failure(model, status);
}

/* ---- views ---- */

struct view {
    const char *name, *kernels; /* no name: the library has one; no kernels: it is one */
    const double *values;
    size_t rows, columns;
    int copy;
};

static scmk_status add_view(scmk_model *model, void *arguments)
{
    struct view *view = arguments;
    const double *values = view->values;
    scmk_status status = SCMK_OK;
    if (view->name[0] != '\0')
        status = scmk_name_view(model, view->name);
    if (status != SCMK_OK)
        return status;
    if (view->kernels != NULL)
        return scmk_add_features(model, values, view->rows, view->columns, 1, view->rows,
                                 view->kernels);
    if (view->copy)
        return scmk_add_kernel(model, values, view->rows, view->rows);
    return scmk_borrow_kernel(model, values, view->rows, view->rows);
}

/* kernels: the list for features, NULL for a matrix that is a kernel. */
static SEXP r_add_view(SEXP handle, SEXP name, SEXP matrix, SEXP kernels, SEXP copy, SEXP progress)
{
    struct view view = {
        .name = text_of(name),
        .kernels = kernels == R_NilValue ? NULL : text_of(kernels),
        .values = REAL(matrix),
        .rows = (size_t)Rf_nrows(matrix),
        .columns = (size_t)Rf_ncols(matrix),
        .copy = Rf_asLogical(copy),
    };
    if (view.kernels == NULL && !view.copy) {
        /* R copies a shared vector before it changes it, so that the borrowed memory stays as it is,
         * whatever the user does to the variable. Kept first: after the loan nothing may fail. */
        MARK_NOT_MUTABLE(matrix);
        R_SetExternalPtrProtected(handle, Rf_cons(matrix, R_ExternalPtrProtected(handle)));
    }
    return watched(handle, progress, add_view, &view);
}

static SEXP r_set_clusters(SEXP handle, SEXP n_clusters)
{
    MODEL_OR_RETURN(model, handle);
    scmk_status status = scmk_set_clusters(model, (size_t)Rf_asReal(n_clusters));
    return status == SCMK_OK ? R_NilValue : failure(model, status);
}

/* The library's name of every view, or of every kernel. */
static SEXP r_names(SEXP handle, SEXP what)
{
    MODEL_OR_RETURN(model, handle);
    int of_views = CHAR(STRING_ELT(what, 0))[0] == 'v';
    int64_t count = 0;
    scmk_status status = scmk_info_int(model, of_views ? "views" : "kernels", &count);
    if (status != SCMK_OK)
        return failure(model, status);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < (size_t)count; i++) {
        size_t needed = 0;
        char *text = NULL;
        /* First for the length, then for the text. */
        for (int pass = 0; pass < 2 && status == SCMK_OK; pass++) {
            size_t room = needed;
            if (pass == 1)
                text = R_alloc(room, 1);
            status = of_views ? scmk_view_name(model, i, text, room, &needed)
                              : scmk_kernel_name(model, i, NULL, text, room, &needed);
        }
        if (status != SCMK_OK) {
            UNPROTECT(1);
            return failure(model, status);
        }
        SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkCharCE(text, CE_UTF8));
    }
    UNPROTECT(1);
    return names;
}

/* ---- the fit ---- */

static scmk_status fit(scmk_model *model, void *arguments)
{
    (void)arguments;
    return scmk_fit(model);
}

static SEXP r_fit(SEXP handle, SEXP progress)
{
    return watched(handle, progress, fit, NULL);
}

struct range {
    size_t from, to, room;
    double *scores;
};

static scmk_status suggest(scmk_model *model, void *arguments)
{
    struct range *range = arguments;
    return scmk_suggest_clusters(model, range->from, range->to, range->scores, range->room);
}

/* The score of each number of clusters in a range. */
static SEXP r_suggest(SEXP handle, SEXP from, SEXP to, SEXP progress)
{
    MODEL_OR_RETURN(model, handle);
    struct range range = {.from = (size_t)Rf_asReal(from), .to = (size_t)Rf_asReal(to)};
    int64_t samples = 0;
    scmk_status status = scmk_info_int(model, "samples", &samples);
    if (status != SCMK_OK)
        return failure(model, status);
    /* The library's own range is within the samples. Any other is refused, and has no need of room. */
    if (range.to == 0)
        range.room = (size_t)samples;
    else if (range.from <= range.to && range.to <= (size_t)samples)
        range.room = range.to - range.from + 1;
    SEXP scores = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)range.room));
    range.scores = REAL(scores);
    SEXP answer = watched(handle, progress, suggest, &range);
    UNPROTECT(1);
    return answer == R_NilValue ? scores : answer;
}

/* ---- what there is, by the names that the library tells ---- */

static const char *const TYPE[] = {"real", "int", "text"};

static SEXP r_options(void)
{
    const char *columns[] = {"name", "type", "default", "min", "max", "choices", "doc", ""};
    size_t count = scmk_option_count();
    SEXP table = PROTECT(Rf_mkNamed(VECSXP, columns));
    for (int column = 0; column < 7; column++) {
        int is_number = column == 3 || column == 4;
        SET_VECTOR_ELT(table, column, Rf_allocVector(is_number ? REALSXP : STRSXP, (R_xlen_t)count));
    }
    for (size_t i = 0; i < count; i++) {
        const char *name, *initial, *choices, *doc;
        int32_t type;
        double min, max;
        scmk_status status =
            scmk_option_info(i, &name, &type, &initial, &min, &max, &choices, &doc);
        if (status != SCMK_OK) {
            UNPROTECT(1);
            return failure(NULL, status);
        }
        const char *texts[] = {name, TYPE[type], initial, NULL, NULL, choices, doc};
        for (int column = 0; column < 7; column++)
            if (texts[column] != NULL)
                SET_STRING_ELT(VECTOR_ELT(table, column), (R_xlen_t)i,
                               Rf_mkCharCE(texts[column], CE_UTF8));
        REAL(VECTOR_ELT(table, 3))[i] = isnan(min) ? NA_REAL : min;
        REAL(VECTOR_ELT(table, 4))[i] = isnan(max) ? NA_REAL : max;
    }
    UNPROTECT(1);
    return table;
}

/* A table of text. describe tells what stands in each column of a row. */
static SEXP text_table(const char **columns, size_t count,
                       scmk_status (*describe)(size_t row, const char **texts))
{
    SEXP table = PROTECT(Rf_mkNamed(VECSXP, columns));
    int width = Rf_length(table);
    for (int column = 0; column < width; column++)
        SET_VECTOR_ELT(table, column, Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t i = 0; i < count; i++) {
        const char *texts[3];
        scmk_status status = describe(i, texts);
        if (status != SCMK_OK) {
            UNPROTECT(1);
            return failure(NULL, status);
        }
        for (int column = 0; column < width; column++)
            SET_STRING_ELT(VECTOR_ELT(table, column), (R_xlen_t)i,
                           Rf_mkCharCE(texts[column], CE_UTF8));
    }
    UNPROTECT(1);
    return table;
}

static scmk_status describe_info(size_t row, const char **texts)
{
    int32_t type = SCMK_TYPE_REAL;
    scmk_status status = scmk_info_name(row, &texts[0], &type, &texts[2]);
    texts[1] = TYPE[type];
    return status;
}

static scmk_status describe_metric(size_t row, const char **texts)
{
    return scmk_metric_name(row, &texts[0], &texts[1]);
}

static scmk_status describe_method(size_t row, const char **texts)
{
    return scmk_method_name(row, &texts[0], &texts[1]);
}

static scmk_status describe_kernel(size_t row, const char **texts)
{
    return scmk_kernel_function_name(row, &texts[0], &texts[1], &texts[2]);
}

static scmk_status describe_preparation(size_t row, const char **texts)
{
    return scmk_preparation_name(row, &texts[0], &texts[1]);
}

static SEXP r_infos(void)
{
    const char *columns[] = {"name", "type", "doc", ""};
    return text_table(columns, scmk_info_count(), describe_info);
}

static SEXP r_metrics(void)
{
    const char *columns[] = {"name", "doc", ""};
    return text_table(columns, scmk_metric_count(), describe_metric);
}

static SEXP r_methods(void)
{
    const char *columns[] = {"name", "doc", ""};
    return text_table(columns, scmk_method_count(), describe_method);
}

static SEXP r_kernels(void)
{
    const char *columns[] = {"name", "parameters", "doc", ""};
    return text_table(columns, scmk_kernel_function_count(), describe_kernel);
}

static SEXP r_preparations(void)
{
    const char *columns[] = {"name", "doc", ""};
    return text_table(columns, scmk_preparation_count(), describe_preparation);
}

static SEXP r_set(SEXP handle, SEXP name, SEXP value)
{
    MODEL_OR_RETURN(model, handle);
    const char *option = text_of(name);
    scmk_status status;
    if (TYPEOF(value) == STRSXP)
        status = scmk_set_text(model, option, text_of(value));
    else if (TYPEOF(value) == INTSXP && INTEGER(value)[0] != NA_INTEGER)
        status = scmk_set_int(model, option, INTEGER(value)[0]);
    else
        status = scmk_set_real(model, option, Rf_asReal(value));
    return status == SCMK_OK ? R_NilValue : failure(model, status);
}

/* The value of an option, in the R type of its kind. */
static SEXP r_get(SEXP handle, SEXP name)
{
    MODEL_OR_RETURN(model, handle);
    const char *option = text_of(name);
    double real;
    int64_t integer;
    scmk_status status = scmk_get_int(model, option, &integer);
    /* A double holds whole numbers to 2^53; a larger one stays text, which scmk_set_text takes. */
    if (status == SCMK_OK && integer <= INT64_C(1) << 53)
        return whole(integer);
    if (status != SCMK_OK && scmk_get_real(model, option, &real) == SCMK_OK)
        return Rf_ScalarReal(real);
    char text[256];
    status = scmk_get_text(model, option, text, sizeof text, NULL);
    return status == SCMK_OK ? utf8(text) : failure(model, status);
}

/* An info in the R type of its kind: the library refuses to read it as any other. */
static SEXP r_info(SEXP handle, SEXP name)
{
    MODEL_OR_RETURN(model, handle);
    const char *info = text_of(name);
    int64_t integer;
    double real;
    scmk_status status = scmk_info_int(model, info, &integer);
    if (status == SCMK_OK)
        return whole(integer);
    if (status == SCMK_E_INVALID_ARGUMENT) {
        status = scmk_info_real(model, info, &real);
        if (status == SCMK_OK)
            return Rf_ScalarReal(real);
    }
    if (status == SCMK_E_INVALID_ARGUMENT) {
        size_t needed = 0;
        status = scmk_info_text(model, info, NULL, 0, &needed);
        if (status == SCMK_OK) {
            char *text = R_alloc(needed, 1);
            status = scmk_info_text(model, info, text, needed, NULL);
            if (status == SCMK_OK)
                return utf8(text);
        }
    }
    return failure(model, status);
}

struct comparison {
    const char *metric;
    const int *truth, *labels;
    size_t n;
    double value;
};

static scmk_status compare(scmk_model *model, void *arguments)
{
    struct comparison *it = arguments;
    return scmk_model_metric(model, it->metric, it->truth, it->labels, it->n, &it->value);
}

/* By way of a model of no importance, so that it can be interrupted. */
static SEXP r_metric(SEXP handle, SEXP name, SEXP truth, SEXP labels)
{
    struct comparison it = {.metric = text_of(name), .truth = INTEGER(truth),
                            .labels = INTEGER(labels), .n = (size_t)XLENGTH(truth)};
    SEXP answer = watched(handle, R_NilValue, compare, &it);
    return answer == R_NilValue ? Rf_ScalarReal(it.value) : answer;
}

/* ---- results ---- */

/* One number for each of what the info counts: kernels or views. */
static SEXP weights_of(const scmk_model *model, const char *info,
                       scmk_status (*read)(const scmk_model *, double *, size_t),
                       scmk_status *status)
{
    int64_t count = 0;
    *status = scmk_info_int(model, info, &count);
    if (*status != SCMK_OK)
        return R_NilValue;
    SEXP weights = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count));
    *status = read(model, REAL(weights), (size_t)count);
    UNPROTECT(1);
    return weights;
}

static SEXP labels_of(const scmk_model *model, size_t n, scmk_status *status)
{
    SEXP labels = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)n));
    *status = scmk_labels(model, INTEGER(labels), n);
    if (*status == SCMK_OK)
        for (size_t i = 0; i < n; i++)
            INTEGER(labels)[i]++; /* R counts from 1 */
    UNPROTECT(1);
    return labels;
}

static SEXP embedding_of(const scmk_model *model, size_t n,
                         scmk_status (*read)(const scmk_model *, double *, size_t),
                         scmk_status *status)
{
    int64_t k = 0;
    *status = scmk_info_int(model, "clusters", &k);
    if (*status != SCMK_OK)
        return R_NilValue;
    SEXP embedding = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)k));
    *status = read(model, REAL(embedding), n * (size_t)k);
    UNPROTECT(1);
    return embedding;
}

/* What the last step for the similarity was given. */
static SEXP certified_of(const scmk_model *model, size_t n, scmk_status *status)
{
    const char *names[] = {"weights", "embedding", ""};
    SEXP certified = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(certified, 0, weights_of(model, "kernels", scmk_certified_weights, status));
    if (*status == SCMK_OK)
        SET_VECTOR_ELT(certified, 1, embedding_of(model, n, scmk_certified_embedding, status));
    UNPROTECT(1);
    return certified;
}

/* The parts of a dgCMatrix. */
static SEXP similarity_of(const scmk_model *model, size_t n, scmk_status *status)
{
    const char *names[] = {"p", "i", "x", ""};
    int64_t nnz = 0;
    size_t *wide_p = (size_t *)R_alloc(n + 1, sizeof *wide_p);
    *status = scmk_info_int(model, "similarity_nnz", &nnz);
    if (*status != SCMK_OK) {
        /* Refused as well, in words about the similarity and not about the info. */
        double value;
        size_t row;
        *status = scmk_similarity_csc(model, wide_p, n + 1, &row, &value, 0);
        return R_NilValue;
    }
    if (nnz > INT_MAX) /* more than a dgCMatrix can count */
        return R_NilValue;
    SEXP parts = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP p = Rf_allocVector(INTSXP, (R_xlen_t)n + 1);
    SET_VECTOR_ELT(parts, 0, p);
    SEXP rows = Rf_allocVector(INTSXP, (R_xlen_t)nnz);
    SET_VECTOR_ELT(parts, 1, rows);
    SEXP values = Rf_allocVector(REALSXP, (R_xlen_t)nnz);
    SET_VECTOR_ELT(parts, 2, values);
    size_t *wide_rows = (size_t *)R_alloc((size_t)nnz + 1, sizeof *wide_rows);
    *status = scmk_similarity_csc(model, wide_p, n + 1, wide_rows, REAL(values), (size_t)nnz);
    if (*status == SCMK_OK) {
        for (size_t j = 0; j <= n; j++)
            INTEGER(p)[j] = (int)wide_p[j];
        for (int64_t k = 0; k < nnz; k++)
            INTEGER(rows)[k] = (int)wide_rows[k];
    }
    UNPROTECT(1);
    return parts;
}

static SEXP trace_of(const scmk_model *model, scmk_status *status)
{
    size_t length = 0;
    *status = scmk_trace(model, NULL, 0, &length);
    if (*status != SCMK_OK)
        return R_NilValue;
    SEXP trace = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)length));
    *status = scmk_trace(model, REAL(trace), length, &length);
    UNPROTECT(1);
    return trace;
}

/* One result by name. */
static SEXP r_result(SEXP handle, SEXP what)
{
    MODEL_OR_RETURN(model, handle);
    const char *name = CHAR(STRING_ELT(what, 0));
    int64_t samples = 0;
    scmk_status status = scmk_info_int(model, "samples", &samples);
    if (status != SCMK_OK)
        return failure(model, status);
    size_t n = (size_t)samples;
    SEXP result;
    switch (name[0]) {
    case 'l': result = labels_of(model, n, &status); break;
    case 'w': result = weights_of(model, "kernels", scmk_weights, &status); break;
    case 'v': result = weights_of(model, "views", scmk_view_weights, &status); break;
    case 'e': result = embedding_of(model, n, scmk_embedding, &status); break;
    case 'c': result = certified_of(model, n, &status); break;
    case 's': result = similarity_of(model, n, &status); break;
    default: result = trace_of(model, &status); break;
    }
    PROTECT(result);
    if (status != SCMK_OK)
        result = failure(model, status);
    UNPROTECT(1);
    return result;
}

static SEXP r_outcome(SEXP outcome)
{
    return utf8(scmk_outcome_name((int64_t)Rf_asReal(outcome)));
}

static SEXP r_version(void)
{
    return utf8(scmk_version());
}

#define ROUTINE(name, arguments) {"C_" #name, (DL_FUNC)&r_##name, arguments}
static const R_CallMethodDef ROUTINES[] = {
    ROUTINE(create, 2), ROUTINE(destroy, 1), ROUTINE(add_view, 6), ROUTINE(set_clusters, 2),
    ROUTINE(names, 2),  ROUTINE(options, 0), ROUTINE(infos, 0),    ROUTINE(metrics, 0),
    ROUTINE(methods, 0), ROUTINE(kernels, 0), ROUTINE(preparations, 0),
    ROUTINE(set, 3),    ROUTINE(get, 2),     ROUTINE(info, 2),     ROUTINE(metric, 4),
    ROUTINE(fit, 2),    ROUTINE(suggest, 4), ROUTINE(result, 2),   ROUTINE(outcome, 1),
    ROUTINE(version, 0),
    {NULL, NULL, 0},
};

void R_init_scmk(DllInfo *dll)
{
    /* The same interface, or nothing: a later libscmk.so.N may have changed its calls. */
    if (scmk_abi_version() != SCMK_ABI_VERSION)
        Rf_error("libscmk has the binary interface %u, this package was built for %u",
                 (unsigned)scmk_abi_version(), (unsigned)SCMK_ABI_VERSION);
    R_registerRoutines(dll, NULL, ROUTINES, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
