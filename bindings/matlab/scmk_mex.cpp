/* What MATLAB and Octave call: translates their arrays into the calls of scmk.h and back.
 *
 *   [value, problem] = scmk_mex(command, ...)
 *
 *   'version'                                        text
 *   'options', 'infos', 'metrics', 'methods', 'kernels', 'preparations'
 *                                                    struct array
 *   'metric', name, truth, labels, report            number; truth and labels are int32
 *   'fit', clusters, views, names, lists, steps, report
 *                                                    cell array with a struct for each step
 *   'suggest', range, views, names, lists, steps, report
 *                                                    struct; range is the first and the last number
 *                                                    of clusters, or [0 0]; there is one step
 *
 * The problem is [] or what went wrong, for the caller to raise. Raising it here would leave this
 * file by a jump, with a model alive, and Octave would put the name of this file before the text.
 *
 * Only the documented C interface of MEX files is used. This is C++ for one reason: in Octave,
 * Ctrl-C is a C++ exception. It comes out of mexCallMATLABWithTrap, which traps errors only, and
 * it must not pass through the frames of the library.
 */
#include <scmk.h>

#include <exception>
#include <new>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mex.h"

/* The library writes the indices of a sparse matrix straight into the host's array. */
static_assert(sizeof(mwIndex) == sizeof(size_t), "a 64-bit MATLAB or Octave is needed");

/* The list of kernels that says: these are kernels already. */
static const char precomputed[] = "precomputed";

/* A model, from its creation to its end. A longjmp may pass (the host does that when its memory
 * runs out), so nothing here relies on destructors. */
struct fit {
    scmk_model *model;
    const mxArray *report;        /* the handle that is told about progress */
    mxArray *error;               /* of that handle */
    std::exception_ptr interrupt; /* Ctrl-C during that handle */
    fit *outer;
};

/* Innermost first: a progress handle may itself call scmk. */
static fit *fits = NULL;

/* ---------------------------------------------------------------- problems */

static mxArray *problem(const char *identifier, const char *message)
{
    const char *fields[] = {"identifier", "message"};
    mxArray *made = mxCreateStructMatrix(1, 1, 2, fields);
    mxSetField(made, 0, "identifier", mxCreateString(identifier));
    mxSetField(made, 0, "message", mxCreateString(message));
    return made;
}

/* SCMK_E_NOT_FINITE becomes scmk:NotFinite, with the library's own words. */
static mxArray *refusal(const scmk_model *model, scmk_status status)
{
    char identifier[64] = "scmk:";
    size_t length = strlen(identifier), needed = 0;
    const char *name = scmk_status_name(status);
    if (strncmp(name, "SCMK_E_", 7) == 0)
        name += 7;
    for (bool starts = true; *name != '\0' && length + 1 < sizeof identifier; name++) {
        if (*name != '_')
            identifier[length++] = starts || *name < 'A' || *name > 'Z'
                ? *name : (char)(*name - 'A' + 'a');
        starts = *name == '_';
    }
    identifier[length] = '\0';

    scmk_error_message(model, NULL, 0, &needed);
    char *message = (char *)mxCalloc(needed + 1, 1);
    scmk_error_message(model, message, needed + 1, NULL);
    return problem(identifier, message);
}

/* For what has no words of the library: values that its types cannot even hold. */
static mxArray *invalid(const char *message)
{
    return problem("scmk:InvalidArgument", message);
}

#define TRY(model, call)                              \
    do {                                              \
        scmk_status tried = (call);                   \
        if (tried != SCMK_OK)                         \
            return refusal((model), tried);           \
    } while (0)

/* ---------------------------------------------------------------- values */

/* A double, as hosts count; but int64 where a double would lose digits. */
static mxArray *whole(int64_t value)
{
    const int64_t exact = INT64_C(1) << 53;
    if (value >= -exact && value <= exact)
        return mxCreateDoubleScalar((double)value);
    mxArray *made = mxCreateNumericMatrix(1, 1, mxINT64_CLASS, mxREAL);
    *(int64_t *)mxGetData(made) = value;
    return made;
}

static mxArray *column(size_t length, double **values)
{
    mxArray *made = mxCreateDoubleMatrix(length, 1, mxREAL);
    *values = mxGetPr(made);
    return made;
}

static void add_field(mxArray *to, const char *name, mxArray *value)
{
    if (mxGetFieldNumber(to, name) < 0)
        mxAddField(to, name);
    mxSetField(to, 0, name, value);
}

static const char *type_name(int32_t type)
{
    return type == SCMK_TYPE_REAL ? "real" : type == SCMK_TYPE_INT ? "int" : "text";
}

/* Pages of real doubles, stored in full: anything else would have to be converted, and a kernel
 * rounded to single is another kernel. The user is told how, and decides. */
static mxArray *check_matrix(const mxArray *given, const char *called)
{
    const char *kind = given == NULL ? "double" : mxGetClassName(given);
    char what[96], text[400];
    const char *instead = "a matrix of double is expected";
    if (given != NULL && mxIsSparse(given)) {
        snprintf(what, sizeof what, "a sparse matrix");
        instead = "a full one is expected: use full()";
    } else if (given != NULL && mxIsDouble(given) && mxIsComplex(given)) {
        snprintf(what, sizeof what, "a complex matrix");
        instead = "a real one is expected: use real() or abs()";
    } else if (given != NULL && mxIsDouble(given)) {
        if (mxGetNumberOfDimensions(given) <= 3)
            return NULL;
        snprintf(what, sizeof what, "an array of %d dimensions",
                 (int)mxGetNumberOfDimensions(given));
        instead = "two or three are expected";
    } else {
        snprintf(what, sizeof what, "class %s", kind);
        if (given != NULL && (mxIsNumeric(given) || mxIsLogical(given)))
            instead = "double is expected: use double()";
        else if (strcmp(kind, "table") == 0)
            instead = "a matrix of double is expected: use table2array()";
    }
    snprintf(text, sizeof text, "%s: %s is given, %s", called, what, instead);
    return invalid(text);
}

static size_t pages(const mxArray *given)
{
    return mxGetNumberOfDimensions(given) == 3 ? (size_t)mxGetDimensions(given)[2] : 1;
}

/* ---------------------------------------------------------------- tables of the library */

static mxArray *options(mxArray **made)
{
    const char *fields[] = {"name", "type", "default", "min", "max", "choices", "doc"};
    size_t count = scmk_option_count();
    *made = mxCreateStructMatrix(count, 1, 7, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *standard, *choices, *doc;
        int32_t type;
        double min, max;
        TRY(NULL, scmk_option_info(i, &name, &type, &standard, &min, &max, &choices, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "type", mxCreateString(type_name(type)));
        mxSetField(*made, i, "default", mxCreateString(standard));
        mxSetField(*made, i, "min", mxCreateDoubleScalar(min));
        mxSetField(*made, i, "max", mxCreateDoubleScalar(max));
        mxSetField(*made, i, "choices", mxCreateString(choices));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

static mxArray *infos(mxArray **made)
{
    const char *fields[] = {"name", "type", "doc"};
    size_t count = scmk_info_count();
    *made = mxCreateStructMatrix(count, 1, 3, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *doc;
        int32_t type;
        TRY(NULL, scmk_info_name(i, &name, &type, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "type", mxCreateString(type_name(type)));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

static mxArray *metrics(mxArray **made)
{
    const char *fields[] = {"name", "doc"};
    size_t count = scmk_metric_count();
    *made = mxCreateStructMatrix(count, 1, 2, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *doc;
        TRY(NULL, scmk_metric_name(i, &name, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

static mxArray *methods(mxArray **made)
{
    const char *fields[] = {"name", "doc"};
    size_t count = scmk_method_count();
    *made = mxCreateStructMatrix(count, 1, 2, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *doc;
        TRY(NULL, scmk_method_name(i, &name, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

static mxArray *kernel_functions(mxArray **made)
{
    const char *fields[] = {"name", "parameters", "doc"};
    size_t count = scmk_kernel_function_count();
    *made = mxCreateStructMatrix(count, 1, 3, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *parameters, *doc;
        TRY(NULL, scmk_kernel_function_name(i, &name, &parameters, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "parameters", mxCreateString(parameters));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

static mxArray *preparations(mxArray **made)
{
    const char *fields[] = {"name", "doc"};
    size_t count = scmk_preparation_count();
    *made = mxCreateStructMatrix(count, 1, 2, fields);
    for (size_t i = 0; i < count; i++) {
        const char *name, *doc;
        TRY(NULL, scmk_preparation_name(i, &name, &doc));
        mxSetField(*made, i, "name", mxCreateString(name));
        mxSetField(*made, i, "doc", mxCreateString(doc));
    }
    return NULL;
}

/* ---------------------------------------------------------------- a fit: input */

/* What a message calls a view before the library knows it. */
static const char *call_view(const mxArray *names, size_t view, char *text, size_t length)
{
    const mxArray *given = mxGetCell(names, view);
    char name[64] = "";
    if (given != NULL && !mxIsEmpty(given)) {
        mxGetString(given, name, sizeof name);
        snprintf(text, length, "view '%s'", name);
    } else if (mxGetNumberOfElements(names) > 1) {
        snprintf(text, length, "view %.0f", view + 1.0);
    } else {
        snprintf(text, length, "data");
    }
    return text;
}

/* One view, or with a third dimension as many as there are pages. */
static mxArray *add_view(scmk_model *model, const mxArray *given, const char *called,
                         const mxArray *named, const mxArray *list)
{
    char text[400];
    mxArray *wrong = check_matrix(given, called);
    if (wrong != NULL)
        return wrong;
    /* Cut short it is still longer than the library allows, which says so. */
    char name[300] = "";
    if (named != NULL)
        mxGetString(named, name, sizeof name);
    if (list == NULL || !mxIsChar(list))
        return invalid("kernels: text is expected, a list of kernels or 'precomputed'");
    const char *kernels = mxArrayToString(list);
    const bool ready = strcmp(kernels, precomputed) == 0;
    size_t n = mxGetM(given), width = (size_t)mxGetDimensions(given)[1], count = pages(given);
    if (ready && width != n) {
        snprintf(text, sizeof text,
                 "%s: %.0f rows and %.0f columns are given, a kernel matrix is square", called,
                 (double)n, (double)width);
        return problem("scmk:Dimension", text);
    }
    for (size_t page = 0; page < count; page++) {
        const double *values = mxGetPr(given) + page * n * width;
        if (name[0] != '\0' && count > 1) {
            snprintf(text, sizeof text, "%s(%.0f)", name, page + 1.0);
            TRY(model, scmk_name_view(model, text));
        } else if (name[0] != '\0') {
            TRY(model, scmk_name_view(model, name));
        }
        /* The host keeps the arguments as they are until this call of the MEX file ends, and the
         * model does not live longer: no need for a copy of a kernel. */
        if (ready)
            TRY(model, scmk_borrow_kernel(model, values, n, n));
        else
            TRY(model, scmk_add_features(model, values, n, width, 1, n, kernels));
    }
    return NULL;
}

static mxArray *not_a_value(const char *name, const mxArray *value)
{
    char text[300];
    if (value == NULL || mxIsEmpty(value))
        snprintf(text, sizeof text, "%.64s: an empty value is given, one real number or text is expected",
                 name);
    else
        snprintf(text, sizeof text,
                 "%.64s: %.0f-by-%.0f of class %s%.64s is given, one real number or text is expected",
                 name, (double)mxGetM(value), (double)mxGetN(value),
                 mxIsComplex(value) ? "complex " : mxIsSparse(value) ? "sparse " : "",
                 mxGetClassName(value));
    return invalid(text);
}

static mxArray *set_option(scmk_model *model, const mxArray *named, const mxArray *value)
{
    if (named == NULL || !mxIsChar(named))
        return invalid("the name of an option is expected as text");
    const char *name = mxArrayToString(named);
    if (value != NULL && mxIsChar(value)) {
        TRY(model, scmk_set_text(model, name, mxArrayToString(value)));
    } else if (value == NULL || mxGetNumberOfElements(value) != 1 || mxIsComplex(value) ||
               mxIsSparse(value)) {
        return not_a_value(name, value);
    } else if (mxIsLogical(value)) {
        TRY(model, scmk_set_int(model, name, mxIsLogicalScalarTrue(value) ? 1 : 0));
    } else if (mxIsInt64(value)) {
        TRY(model, scmk_set_int(model, name, *(const int64_t *)mxGetData(value)));
    } else if (mxIsDouble(value)) {
        TRY(model, scmk_set_real(model, name, mxGetScalar(value)));
    } else {
        return not_a_value(name, value);
    }
    return NULL;
}

/* ---------------------------------------------------------------- a fit: progress */

/* Tells the host's handle, which answers whether to stop, and an error it has caught. Without a
 * handle of the user it is called all the same: only while the host's own code runs does the
 * host notice Ctrl-C. */
static int32_t progress(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    struct fit *fit = (struct fit *)user;
    try {
        const char *fields[] = {"step", "iteration", "fraction", "objective"};
        mxArray *event = mxCreateStructMatrix(1, 1, 4, fields);
        mxArray *given[] = {const_cast<mxArray *>(fit->report), event};
        mxArray *answer[] = {NULL, NULL};
        mxSetField(event, 0, "step", mxCreateString(step));
        mxSetField(event, 0, "iteration", mxCreateDoubleScalar((double)iteration));
        mxSetField(event, 0, "fraction", mxCreateDoubleScalar(fraction));
        mxSetField(event, 0, "objective", mxCreateDoubleScalar(objective));
        mxArray *trapped = mexCallMATLABWithTrap(2, answer, 2, given, "feval");
        mxDestroyArray(event);
        if (trapped != NULL) {
            fit->error = trapped;
            return 1;
        }
        bool stop = mxIsLogicalScalarTrue(answer[0]);
        mxDestroyArray(answer[0]);
        if (mxIsDouble(answer[1]))
            mxDestroyArray(answer[1]);
        else
            fit->error = answer[1];
        return stop || fit->error != NULL;
    } catch (...) {
        fit->interrupt = std::current_exception();
        return 1;
    }
}

/* ---------------------------------------------------------------- a fit: results */

/* Numbers and names of the kernels, or of the views. */
static mxArray *shares(const scmk_model *model, bool views, mxArray **values, mxArray **names)
{
    int64_t count = 0;
    double *out;
    TRY(model, scmk_info_int(model, views ? "views" : "kernels", &count));
    size_t length = (size_t)count;
    *values = column(length, &out);
    *names = mxCreateCellMatrix(length, 1);
    TRY(model, views ? scmk_view_weights(model, out, length) : scmk_weights(model, out, length));
    for (size_t i = 0; i < length; i++) {
        size_t needed = 0;
        TRY(model, views ? scmk_view_name(model, i, NULL, 0, &needed)
                         : scmk_kernel_name(model, i, NULL, NULL, 0, &needed));
        char *text = (char *)mxCalloc(needed + 1, 1);
        TRY(model, views ? scmk_view_name(model, i, text, needed + 1, NULL)
                         : scmk_kernel_name(model, i, NULL, text, needed + 1, NULL));
        mxSetCell(*names, i, mxCreateString(text));
        mxFree(text);
    }
    return NULL;
}

static mxArray *option_values(const scmk_model *model, mxArray *made)
{
    for (size_t i = 0; i < scmk_option_count(); i++) {
        const char *name;
        int32_t type;
        mxArray *value;
        TRY(NULL, scmk_option_info(i, &name, &type, NULL, NULL, NULL, NULL, NULL));
        if (type == SCMK_TYPE_REAL) {
            double real;
            TRY(model, scmk_get_real(model, name, &real));
            value = mxCreateDoubleScalar(real);
        } else if (type == SCMK_TYPE_INT) {
            int64_t number;
            TRY(model, scmk_get_int(model, name, &number));
            value = whole(number);
        } else {
            char text[256];
            TRY(model, scmk_get_text(model, name, text, sizeof text, NULL));
            value = mxCreateString(text);
        }
        add_field(made, name, value);
    }
    return NULL;
}

/* Infos about what the fit does not have are left out. */
static mxArray *info_values(const scmk_model *model, int64_t iterations, mxArray *made)
{
    for (size_t i = 0; i < scmk_info_count(); i++) {
        const char *name;
        int32_t type;
        double real = 0;
        int64_t number = 0;
        size_t needed = 0;
        TRY(NULL, scmk_info_name(i, &name, &type, NULL));
        /* That of the start is no result. */
        if (iterations == 0 && strcmp(name, "objective") == 0)
            continue;
        scmk_status status = type == SCMK_TYPE_REAL ? scmk_info_real(model, name, &real)
            : type == SCMK_TYPE_INT ? scmk_info_int(model, name, &number)
                                    : scmk_info_text(model, name, NULL, 0, &needed);
        if (status == SCMK_E_STATE)
            continue;
        TRY(model, status);
        if (type == SCMK_TYPE_TEXT) {
            char *text = (char *)mxCalloc(needed + 1, 1);
            TRY(model, scmk_info_text(model, name, text, needed + 1, NULL));
            add_field(made, name, mxCreateString(text));
            mxFree(text);
        } else {
            add_field(made, name, type == SCMK_TYPE_INT ? whole(number) : mxCreateDoubleScalar(real));
        }
    }
    return NULL;
}

/* What the last step for the similarity was given, if there was one. */
static mxArray *certified(const scmk_model *model, size_t n, size_t clusters, mxArray *result)
{
    const char *fields[] = {"weights", "embedding"};
    int64_t count = 0;
    double *out;
    TRY(model, scmk_info_int(model, "kernels", &count));
    mxArray *weights = column((size_t)count, &out);
    scmk_status status = scmk_certified_weights(model, out, (size_t)count);
    if (status == SCMK_E_STATE)
        return NULL;
    TRY(model, status);
    mxArray *embedding = mxCreateDoubleMatrix(n, clusters, mxREAL);
    TRY(model, scmk_certified_embedding(model, mxGetPr(embedding), n * clusters));
    mxArray *made = mxCreateStructMatrix(1, 1, 2, fields);
    mxSetField(made, 0, "weights", weights);
    mxSetField(made, 0, "embedding", embedding);
    mxSetField(result, 0, "certified", made);
    return NULL;
}

/* Results that the fit does not have are []. */
static mxArray *collect(const scmk_model *model, size_t n, mxArray **made)
{
    const char *fields[] = {"labels", "clusters", "weights", "kernels", "view_weights", "views",
                            "similarity", "embedding", "trace", "objective", "info", "outcome",
                            "method", "options", "certified"};
    mxArray *result = mxCreateStructMatrix(1, 1, sizeof fields / sizeof *fields, fields);
    mxArray *value = NULL, *names = NULL, *wrong;
    int64_t has_similarity, has_embedding, iterations, found;
    double *out;
    *made = result;
    TRY(model, scmk_info_int(model, "has_similarity", &has_similarity));
    TRY(model, scmk_info_int(model, "has_embedding", &has_embedding));
    TRY(model, scmk_info_int(model, "iterations", &iterations));
    /* Not always the number that was asked for: that may be 0. */
    TRY(model, scmk_info_int(model, "clusters", &found));
    const size_t clusters = (size_t)found;

    int32_t *labels = (int32_t *)mxMalloc(n * sizeof *labels);
    TRY(model, scmk_labels(model, labels, n));
    value = column(n, &out);
    for (size_t i = 0; i < n; i++)
        out[i] = labels[i] + 1.0;
    mxFree(labels);
    mxSetField(result, 0, "labels", value);
    mxSetField(result, 0, "clusters", mxCreateDoubleScalar((double)clusters));

    if ((wrong = shares(model, false, &value, &names)) != NULL)
        return wrong;
    mxSetField(result, 0, "weights", value);
    mxSetField(result, 0, "kernels", names);
    if ((wrong = shares(model, true, &value, &names)) != NULL)
        return wrong;
    mxSetField(result, 0, "view_weights", value);
    mxSetField(result, 0, "views", names);

    if (has_similarity) {
        int64_t nonzeros;
        TRY(model, scmk_info_int(model, "similarity_nnz", &nonzeros));
        value = mxCreateSparse(n, n, nonzeros > 0 ? (size_t)nonzeros : 1, mxREAL);
        TRY(model, scmk_similarity_csc(model, (size_t *)mxGetJc(value), n + 1,
                                       (size_t *)mxGetIr(value), mxGetPr(value),
                                       (size_t)nonzeros));
        mxSetField(result, 0, "similarity", value);
    }
    if (has_embedding) {
        value = mxCreateDoubleMatrix(n, clusters, mxREAL);
        TRY(model, scmk_embedding(model, mxGetPr(value), n * clusters));
        mxSetField(result, 0, "embedding", value);
    }

    if ((wrong = certified(model, n, clusters, result)) != NULL)
        return wrong;

    size_t length = 0;
    TRY(model, scmk_trace(model, NULL, 0, &length));
    value = column(length, &out);
    if (length > 0)
        TRY(model, scmk_trace(model, out, length, &length));
    mxSetField(result, 0, "trace", value);

    double objective = mxGetNaN();
    if (iterations > 0)
        TRY(model, scmk_info_real(model, "objective", &objective));
    mxSetField(result, 0, "objective", mxCreateDoubleScalar(objective));

    value = mxCreateStructMatrix(1, 1, 0, NULL);
    if ((wrong = info_values(model, iterations, value)) != NULL)
        return wrong;
    mxSetField(result, 0, "info", value);

    int64_t outcome;
    TRY(model, scmk_info_int(model, "outcome", &outcome));
    mxSetField(result, 0, "outcome", mxCreateString(scmk_outcome_name(outcome)));

    char method[256];
    TRY(model, scmk_get_text(model, "method", method, sizeof method, NULL));
    mxSetField(result, 0, "method", mxCreateString(method));

    value = mxCreateStructMatrix(1, 1, 0, NULL);
    if ((wrong = option_values(model, value)) != NULL)
        return wrong;
    mxSetField(result, 0, "options", value);

    /* Fields that were not set are NULL, which not every host takes for []. */
    for (int i = 0; i < mxGetNumberOfFields(result); i++)
        if (mxGetFieldByNumber(result, 0, i) == NULL)
            mxSetFieldByNumber(result, 0, i, mxCreateDoubleMatrix(0, 0, mxREAL));
    return NULL;
}

/* ---------------------------------------------------------------- a fit */

/* Sets the number of clusters and the options of a step. */
static mxArray *begin_step(scmk_model *model, double clusters, const mxArray *step)
{
    mxArray *wrong;
    TRY(model, scmk_set_clusters(model, (size_t)clusters));
    if (step == NULL || !mxIsCell(step) || mxGetNumberOfElements(step) % 2 != 0)
        return invalid("options are expected as pairs of a name and a value");
    for (size_t i = 0; i < mxGetNumberOfElements(step); i += 2)
        if ((wrong = set_option(model, mxGetCell(step, i), mxGetCell(step, i + 1))) != NULL)
            return wrong;
    return NULL;
}

static mxArray *check_numbers(const mxArray *given, size_t count, const char *called)
{
    char text[128];
    if (given == NULL || !mxIsDouble(given) || mxIsComplex(given) || mxIsSparse(given) ||
        mxGetNumberOfElements(given) != count || count == 0) {
        snprintf(text, sizeof text, "%s: whole numbers of clusters are expected, or [] to choose",
                 called);
        return invalid(text);
    }
    for (size_t i = 0; i < count; i++) {
        double number = mxGetPr(given)[i];
        if (!(number >= 0 && number <= 9007199254740992.0 && number == (double)(size_t)number)) {
            snprintf(text, sizeof text,
                     "%s = %g is not allowed: a whole number of clusters, or 0 to choose", called,
                     number);
            return invalid(text);
        }
    }
    return NULL;
}

/* A model with kernels and the options of the first step. */
static mxArray *build(fit *fit, const double *clusters, const mxArray *const given[], size_t *n)
{
    const mxArray *views = given[1], *names = given[2], *lists = given[3], *steps = given[4];
    mxArray *wrong;
    if (!mxIsCell(views) || !mxIsCell(names) || !mxIsCell(lists) || !mxIsCell(steps) ||
        mxGetNumberOfElements(names) != mxGetNumberOfElements(views) ||
        mxGetNumberOfElements(lists) != mxGetNumberOfElements(views))
        return invalid("views, names, lists and steps are expected to be cell arrays");
    size_t count = mxGetNumberOfElements(views);

    char called[96];
    if (count > 0 &&
        (wrong = check_matrix(mxGetCell(views, 0), call_view(names, 0, called, sizeof called))) != NULL)
        return wrong;
    *n = count > 0 ? mxGetM(mxGetCell(views, 0)) : 0;
    TRY(NULL, scmk_create(*n, (size_t)clusters[0], &fit->model));
    TRY(fit->model, scmk_set_int(fit->model, "index_base", 1));
    TRY(fit->model, scmk_set_progress(fit->model, progress, fit));
    /* All steps once, last first: a wrong option is told before the kernels are built, and they
     * are built with the options of the first step, such as its time_limit. */
    for (size_t i = mxGetNumberOfElements(steps); i-- > 0;)
        if ((wrong = begin_step(fit->model, clusters[i], mxGetCell(steps, i))) != NULL)
            return wrong;
    for (size_t i = 0; i < count; i++)
        if ((wrong = add_view(fit->model, mxGetCell(views, i),
                              call_view(names, i, called, sizeof called), mxGetCell(names, i),
                              mxGetCell(lists, i))) != NULL)
            return wrong;
    return NULL;
}

/* Each step sets the number of clusters and options and fits again, with the same kernels: the
 * path along which warm_start goes. */
static mxArray *fit_steps(fit *fit, const mxArray *const given[], mxArray **made)
{
    const mxArray *steps = given[4];
    size_t n = 0, fits_asked = mxGetNumberOfElements(steps);
    mxArray *wrong = check_numbers(given[0], fits_asked, "k");
    if (wrong != NULL)
        return wrong;
    const double *clusters = mxGetPr(given[0]);
    if ((wrong = build(fit, clusters, given, &n)) != NULL)
        return wrong;

    *made = mxCreateCellMatrix(1, fits_asked);
    for (size_t i = 0; i < fits_asked; i++) {
        if ((wrong = begin_step(fit->model, clusters[i], mxGetCell(steps, i))) != NULL)
            return wrong;
        TRY(fit->model, scmk_fit(fit->model));
        if (fit->error != NULL || fit->interrupt != NULL)
            return NULL;
        /* A handle that has stopped the fit would go on and stop the copy of its result. */
        mxArray *result;
        TRY(fit->model, scmk_set_progress(fit->model, NULL, NULL));
        if ((wrong = collect(fit->model, n, &result)) != NULL)
            return wrong;
        TRY(fit->model, scmk_set_progress(fit->model, progress, fit));
        mxSetCell(*made, i, result);
        int64_t outcome;
        TRY(fit->model, scmk_info_int(fit->model, "outcome", &outcome));
        if (outcome == SCMK_OUTCOME_CANCELLED)
            break;
    }
    return NULL;
}

/* ---------------------------------------------------------------- a suggestion */

static mxArray *suggest(fit *fit, const mxArray *const given[], mxArray **made)
{
    const char *fields[] = {"clusters", "next", "confidence", "numbers", "scores"};
    const double choose = 0;
    int64_t best, next;
    double confidence, *numbers, *scores;
    size_t n = 0;
    mxArray *wrong = check_numbers(given[0], 2, "range");
    if (wrong != NULL)
        return wrong;
    if (mxGetNumberOfElements(given[4]) != 1)
        return invalid("one step is expected");
    if ((wrong = build(fit, &choose, given, &n)) != NULL)
        return wrong;
    size_t from = (size_t)mxGetPr(given[0])[0], to = (size_t)mxGetPr(given[0])[1];
    /* The library's own range, asked for by 0, is within the samples. What is no range it refuses in its own
       words, which need no room for scores. */
    const size_t room = to == 0 ? n : from <= to && to <= n ? to - from + 1 : 0;
    double *all;
    column(room, &all);
    TRY(fit->model, scmk_suggest_clusters(fit->model, from, to, all, room));
    int64_t first, last;
    TRY(fit->model, scmk_info_int(fit->model, "suggested_from", &first));
    TRY(fit->model, scmk_info_int(fit->model, "suggested_to", &last));
    const size_t length = (size_t)(last + 1 - first);
    mxArray *range = column(length, &numbers), *scored = column(length, &scores);
    for (size_t i = 0; i < length; i++)
        scores[i] = all[i];
    TRY(fit->model, scmk_info_int(fit->model, "suggested_clusters", &best));
    TRY(fit->model, scmk_info_int(fit->model, "suggested_next", &next));
    TRY(fit->model, scmk_info_real(fit->model, "suggested_confidence", &confidence));
    for (size_t i = 0; i < length; i++)
        numbers[i] = (double)(first + (int64_t)i);
    *made = mxCreateStructMatrix(1, 1, sizeof fields / sizeof *fields, fields);
    mxSetField(*made, 0, "clusters", whole(best));
    mxSetField(*made, 0, "next",
               next == 0 ? mxCreateDoubleMatrix(0, 0, mxREAL) : whole(next));
    mxSetField(*made, 0, "confidence", mxCreateDoubleScalar(confidence));
    mxSetField(*made, 0, "numbers", range);
    mxSetField(*made, 0, "scores", scored);
    return NULL;
}

/* ---------------------------------------------------------------- a metric */

/* On a model that is there only for its progress, without which Ctrl-C would not be noticed. */
static mxArray *metric(fit *fit, const mxArray *const given[], mxArray **made)
{
    const mxArray *truth = given[1], *labels = given[2];
    double value;
    if (!mxIsChar(given[0]) || !mxIsInt32(truth) || !mxIsInt32(labels) || mxIsComplex(truth) ||
        mxIsComplex(labels))
        return invalid("a metric takes a name and two vectors of int32");
    size_t n = mxGetNumberOfElements(truth);
    if (mxGetNumberOfElements(labels) != n) {
        char text[96];
        snprintf(text, sizeof text, "truth has %.0f elements and labels %.0f: as many are expected",
                 (double)n, (double)mxGetNumberOfElements(labels));
        return problem("scmk:Dimension", text);
    }
    TRY(NULL, scmk_create(1, 1, &fit->model));
    TRY(fit->model, scmk_set_int(fit->model, "index_base", 1));
    TRY(fit->model, scmk_set_progress(fit->model, progress, fit));
    TRY(fit->model, scmk_model_metric(fit->model, mxArrayToString(given[0]),
                                      (const int32_t *)mxGetData(truth),
                                      (const int32_t *)mxGetData(labels), n, &value));
    *made = mxCreateDoubleScalar(value);
    return NULL;
}

/* ---------------------------------------------------------------- models and commands */

/* Ends what a jump of the host has left behind. A model that is busy belongs to a fit outside of
 * this one, whose progress handle has called us: the library refuses to destroy it. */
static void sweep(bool unlock)
{
    for (fit **at = &fits; *at != NULL;) {
        fit *ended = *at;
        if (scmk_destroy(ended->model) == SCMK_E_BUSY) {
            at = &ended->outer;
            continue;
        }
        *at = ended->outer;
        delete ended;
        if (unlock)
            mexUnlock();
    }
}

static void at_exit(void)
{
    sweep(false);
}

/* Runs what needs a model, whose progress the handle report is told. */
static mxArray *with_model(mxArray *(*run)(fit *, const mxArray *const[], mxArray **),
                           const mxArray *const given[], const mxArray *report, mxArray **made)
{
    sweep(true);
    fit *begun = new (std::nothrow) fit();
    if (begun == NULL)
        return problem("scmk:OutOfMemory", "no memory for a model");
    begun->report = report;
    begun->outer = fits;
    fits = begun;
    mexLock();
    mexAtExit(at_exit);
    mxArray *wrong = run(begun, given, made);
    /* An error of the handle has stopped the library, and is the one to be told. */
    if (begun->error != NULL)
        wrong = begun->error;
    std::exception_ptr interrupt = begun->interrupt;
    sweep(true);
    /* The model is gone: now Ctrl-C may go where the host wants it. */
    if (interrupt != NULL)
        std::rethrow_exception(interrupt);
    return wrong;
}

void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])
{
    char command[16] = "";
    mxArray *value = NULL, *wrong = NULL;
    if (nlhs != 2 || nrhs < 1 || mxGetString(prhs[0], command, sizeof command) != 0)
        mexErrMsgIdAndTxt("scmk:InvalidArgument", "this is a part of scmk: see help scmk");
    if (scmk_abi_version() != SCMK_ABI_VERSION)
        wrong = problem("scmk:AbiMismatch", "the library is of another kind: run scmk_build");
    else if (strcmp(command, "version") == 0)
        value = mxCreateString(scmk_version());
    else if (strcmp(command, "options") == 0)
        wrong = options(&value);
    else if (strcmp(command, "infos") == 0)
        wrong = infos(&value);
    else if (strcmp(command, "metrics") == 0)
        wrong = metrics(&value);
    else if (strcmp(command, "methods") == 0)
        wrong = methods(&value);
    else if (strcmp(command, "kernels") == 0)
        wrong = kernel_functions(&value);
    else if (strcmp(command, "preparations") == 0)
        wrong = preparations(&value);
    else if (strcmp(command, "metric") == 0 && nrhs == 5)
        wrong = with_model(metric, prhs + 1, prhs[4], &value);
    else if (strcmp(command, "fit") == 0 && nrhs == 7)
        wrong = with_model(fit_steps, prhs + 1, prhs[6], &value);
    else if (strcmp(command, "suggest") == 0 && nrhs == 7)
        wrong = with_model(suggest, prhs + 1, prhs[6], &value);
    else
        wrong = invalid("no such command of scmk_mex");
    plhs[0] = value != NULL ? value : mxCreateDoubleMatrix(0, 0, mxREAL);
    plhs[1] = wrong != NULL ? wrong : mxCreateDoubleMatrix(0, 0, mxREAL);
}
