/* What MATLAB and Octave call: translates their arrays into the calls of scmk.h and back.
 *
 *   [value, problem] = scmk_mex(command, ...)
 *
 *   'version'                                        text
 *   'options', 'infos', 'metrics'                    struct array
 *   'metric', name, truth, labels                    number; truth and labels are int32
 *   'fit', clusters, kernels, views, lists, steps, report
 *                                                    cell array with a struct for each step
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

/* Pages of real doubles, stored in full. */
static mxArray *check_matrix(const mxArray *given)
{
    if (given != NULL && mxIsNumeric(given) && !mxIsDouble(given)) {
        char text[128];
        snprintf(text, sizeof text, "a matrix of class %s is given, double is expected: use double()",
                 mxGetClassName(given));
        return invalid(text);
    }
    if (given == NULL || !mxIsDouble(given))
        return invalid("a matrix of numbers is expected");
    if (mxIsSparse(given))
        return invalid("a sparse matrix is given, a full one is expected: use full()");
    if (mxIsComplex(given))
        return invalid("a complex matrix is given, a real one is expected");
    if (mxGetNumberOfDimensions(given) > 3)
        return invalid("an array of more than three dimensions is given");
    return NULL;
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

static mxArray *metric(const mxArray *const given[], mxArray **made)
{
    const mxArray *truth = given[1], *labels = given[2];
    double value;
    if (!mxIsChar(given[0]) || !mxIsInt32(truth) || !mxIsInt32(labels) || mxIsComplex(truth) ||
        mxIsComplex(labels))
        return invalid("a metric takes a name and two vectors of int32");
    if (mxGetNumberOfElements(truth) != mxGetNumberOfElements(labels))
        return problem("scmk:Dimension", "truth and labels differ in length");
    TRY(NULL, scmk_metric(mxArrayToString(given[0]), (const int32_t *)mxGetData(truth),
                          (const int32_t *)mxGetData(labels), mxGetNumberOfElements(truth),
                          &value));
    *made = mxCreateDoubleScalar(value);
    return NULL;
}

/* ---------------------------------------------------------------- a fit: input */

static mxArray *add_kernels(scmk_model *model, const mxArray *given)
{
    mxArray *wrong = check_matrix(given);
    if (wrong != NULL)
        return wrong;
    size_t n = mxGetM(given);
    if ((size_t)mxGetDimensions(given)[1] != n)
        return problem("scmk:Dimension",
                       "a kernel is not square (for features, add 'features', true)");
    /* The host keeps the arguments as they are until this call of the MEX file ends, and the
     * model does not live longer: no need for a copy. */
    for (size_t page = 0; page < pages(given); page++)
        TRY(model, scmk_borrow_kernel(model, mxGetPr(given) + page * n * n, n, n));
    return NULL;
}

static mxArray *add_views(scmk_model *model, const mxArray *given, const mxArray *list)
{
    mxArray *wrong = check_matrix(given);
    if (wrong != NULL)
        return wrong;
    if (list == NULL || !mxIsChar(list))
        return invalid("kernels: a list of kernels as text is expected");
    const char *kernels = mxArrayToString(list);
    size_t n = mxGetM(given), features = (size_t)mxGetDimensions(given)[1];
    for (size_t page = 0; page < pages(given); page++)
        TRY(model, scmk_add_features(model, mxGetPr(given) + page * n * features, n, features, 1,
                                     n, kernels));
    return NULL;
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
        return invalid("the value of an option is expected to be one real number, or text");
    } else if (mxIsLogical(value)) {
        TRY(model, scmk_set_int(model, name, mxIsLogicalScalarTrue(value) ? 1 : 0));
    } else if (mxIsInt64(value)) {
        TRY(model, scmk_set_int(model, name, *(const int64_t *)mxGetData(value)));
    } else if (mxIsDouble(value)) {
        TRY(model, scmk_set_real(model, name, mxGetScalar(value)));
    } else {
        return invalid("the value of an option is expected to be one real number, or text");
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

static mxArray *weights(const scmk_model *model, mxArray **made)
{
    int64_t kernels = 0;
    double *out;
    TRY(model, scmk_info_int(model, "kernels", &kernels));
    *made = column((size_t)kernels, &out);
    TRY(model, scmk_weights(model, out, (size_t)kernels));
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

/* Infos that the method does not have are left out. */
static mxArray *info_values(const scmk_model *model, mxArray *made)
{
    for (size_t i = 0; i < scmk_info_count(); i++) {
        const char *name;
        int32_t type;
        double real = 0;
        int64_t number = 0;
        TRY(NULL, scmk_info_name(i, &name, &type, NULL));
        scmk_status status = type == SCMK_TYPE_INT ? scmk_info_int(model, name, &number)
                                                   : scmk_info_real(model, name, &real);
        if (status == SCMK_E_STATE)
            continue;
        TRY(model, status);
        add_field(made, name, type == SCMK_TYPE_INT ? whole(number) : mxCreateDoubleScalar(real));
    }
    return NULL;
}

/* Results that the method does not have are []. */
static mxArray *collect(const scmk_model *model, size_t n, size_t clusters, mxArray **made)
{
    const char *fields[] = {"labels", "weights", "similarity", "embedding", "trace", "objective",
                            "info", "outcome", "method", "options"};
    mxArray *result = mxCreateStructMatrix(1, 1, 10, fields), *value = NULL, *wrong;
    double *out;
    *made = result;

    int32_t *labels = (int32_t *)mxMalloc(n * sizeof *labels);
    TRY(model, scmk_labels(model, labels, n));
    value = column(n, &out);
    for (size_t i = 0; i < n; i++)
        out[i] = labels[i] + 1.0;
    mxFree(labels);
    mxSetField(result, 0, "labels", value);

    if ((wrong = weights(model, &value)) != NULL)
        return wrong;
    mxSetField(result, 0, "weights", value);

    int64_t nonzeros;
    scmk_status status = scmk_info_int(model, "similarity_nnz", &nonzeros);
    if (status == SCMK_E_STATE) {
        value = mxCreateDoubleMatrix(0, 0, mxREAL);
    } else {
        TRY(model, status);
        value = mxCreateSparse(n, n, nonzeros > 0 ? (size_t)nonzeros : 1, mxREAL);
        TRY(model, scmk_similarity_csc(model, (size_t *)mxGetJc(value), n + 1,
                                       (size_t *)mxGetIr(value), mxGetPr(value),
                                       (size_t)nonzeros));
    }
    mxSetField(result, 0, "similarity", value);

    value = mxCreateDoubleMatrix(n, clusters, mxREAL);
    status = scmk_embedding(model, mxGetPr(value), n * clusters);
    if (status == SCMK_E_STATE)
        value = mxCreateDoubleMatrix(0, 0, mxREAL);
    else
        TRY(model, status);
    mxSetField(result, 0, "embedding", value);

    size_t length = 0;
    TRY(model, scmk_trace(model, NULL, 0, &length));
    value = column(length, &out);
    if (length > 0)
        TRY(model, scmk_trace(model, out, length, &length));
    mxSetField(result, 0, "trace", value);

    double objective;
    TRY(model, scmk_info_real(model, "objective", &objective));
    mxSetField(result, 0, "objective", mxCreateDoubleScalar(objective));

    value = mxCreateStructMatrix(1, 1, 0, NULL);
    if ((wrong = info_values(model, value)) != NULL)
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
    return NULL;
}

/* ---------------------------------------------------------------- a fit */

/* Each step sets options and fits again: the path along which warm_start goes. */
static mxArray *fit_steps(fit *fit, const mxArray *const given[], mxArray **made)
{
    const mxArray *kernels = given[1], *views = given[2], *lists = given[3], *steps = given[4];
    mxArray *wrong;
    if (!mxIsDouble(given[0]) || mxGetNumberOfElements(given[0]) != 1 || mxIsComplex(given[0]))
        return invalid("the number of clusters is expected to be one whole number");
    double clusters = mxGetScalar(given[0]);
    if (!(clusters >= 0 && clusters <= 9007199254740992.0 && clusters == (double)(size_t)clusters))
        return invalid("the number of clusters is expected to be one whole number, not negative");
    if (!mxIsCell(kernels) || !mxIsCell(views) || !mxIsCell(lists) || !mxIsCell(steps) ||
        mxGetNumberOfElements(lists) != mxGetNumberOfElements(views))
        return invalid("kernels, views, lists and steps are expected to be cell arrays");

    size_t count = mxGetNumberOfElements(kernels), extra = mxGetNumberOfElements(views);
    const mxArray *first = count > 0 ? mxGetCell(kernels, 0) : extra > 0 ? mxGetCell(views, 0) : NULL;
    if (first != NULL && (wrong = check_matrix(first)) != NULL)
        return wrong;
    size_t n = first == NULL ? 0 : mxGetM(first);
    TRY(NULL, scmk_create(n, (size_t)clusters, &fit->model));
    for (size_t i = 0; i < count; i++)
        if ((wrong = add_kernels(fit->model, mxGetCell(kernels, i))) != NULL)
            return wrong;
    for (size_t i = 0; i < extra; i++)
        if ((wrong = add_views(fit->model, mxGetCell(views, i), mxGetCell(lists, i))) != NULL)
            return wrong;
    TRY(fit->model, scmk_set_progress(fit->model, progress, fit));

    *made = mxCreateCellMatrix(1, mxGetNumberOfElements(steps));
    for (size_t i = 0; i < mxGetNumberOfElements(steps); i++) {
        const mxArray *step = mxGetCell(steps, i);
        if (step == NULL || !mxIsCell(step) || mxGetNumberOfElements(step) % 2 != 0)
            return invalid("a name and a value are expected for each option");
        for (size_t j = 0; j < mxGetNumberOfElements(step); j += 2)
            if ((wrong = set_option(fit->model, mxGetCell(step, j), mxGetCell(step, j + 1))) != NULL)
                return wrong;
        TRY(fit->model, scmk_fit(fit->model));
        if (fit->error != NULL || fit->interrupt != NULL)
            return fit->error;
        mxArray *result;
        if ((wrong = collect(fit->model, n, (size_t)clusters, &result)) != NULL)
            return wrong;
        mxSetCell(*made, i, result);
        int64_t outcome;
        TRY(fit->model, scmk_info_int(fit->model, "outcome", &outcome));
        if (outcome == SCMK_OUTCOME_CANCELLED)
            break;
    }
    return NULL;
}

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

static mxArray *fit_command(const mxArray *const given[], mxArray **made)
{
    sweep(true);
    fit *begun = new (std::nothrow) fit();
    if (begun == NULL)
        return problem("scmk:OutOfMemory", "no memory for a fit");
    begun->report = given[5];
    begun->outer = fits;
    fits = begun;
    mexLock();
    mexAtExit(at_exit);
    mxArray *wrong = fit_steps(begun, given, made);
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
    else if (strcmp(command, "metric") == 0 && nrhs == 4)
        wrong = metric(prhs + 1, &value);
    else if (strcmp(command, "fit") == 0 && nrhs == 7)
        wrong = fit_command(prhs + 1, &value);
    else
        wrong = invalid("no such command of scmk_mex");
    plhs[0] = value != NULL ? value : mxCreateDoubleMatrix(0, 0, mxREAL);
    plhs[1] = wrong != NULL ? wrong : mxCreateDoubleMatrix(0, 0, mxREAL);
}
