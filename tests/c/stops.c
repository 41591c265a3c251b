/* No call runs where it cannot be stopped: fits of any data, adding kernels, metrics and the copying
 * of large results obey cancel, the progress function, time_limit and memory_limit. */
#include "model.h"

/* Asks the model to stop, again and again, until told that it has. */
struct stopping {
    scmk_model *model;
    pthread_mutex_t lock;
    int done;
};

static void *keep_cancelling(void *argument)
{
    struct stopping *stopping = argument;
    int done = 0;
    while (!done) {
        scmk_cancel(stopping->model);
        process_sleep(0.005);
        pthread_mutex_lock(&stopping->lock);
        done = stopping->done;
        pthread_mutex_unlock(&stopping->lock);
    }
    return NULL;
}

/* Runs a call while another thread cancels. A cancel that is left over stops the fit behind it. */
static scmk_status while_cancelled(scmk_model *model, scmk_status (*call)(scmk_model *))
{
    struct stopping stopping;
    pthread_t thread;
    scmk_status status;
    stopping.model = model;
    stopping.done = 0;
    pthread_mutex_init(&stopping.lock, NULL);
    CHECK(pthread_create(&thread, NULL, keep_cancelling, &stopping) == 0);
    status = call(model);
    pthread_mutex_lock(&stopping.lock);
    stopping.done = 1;
    pthread_mutex_unlock(&stopping.lock);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&stopping.lock);
    return status;
}

/* Samples in the plane that are no clusters: what once led into a loop without an end. */
enum { MANY = 140 };

struct endless {
    double scale, alpha;
    const char *list, *normalize;
};

static void fit_endless(void *argument)
{
    const struct endless *endless = argument;
    static double x[MANY * 2];
    uint32_t state = 1;
    scmk_model *model = NULL;
    size_t i;
    for (i = 0; i < 2 * MANY; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = endless->scale * ((state >> 8) / 16777216.0);
    }
    OK(scmk_create(MANY, 2, &model));
    OK(scmk_add_features(model, x, MANY, 2, 2, 1, endless->list));
    OK(scmk_set_text(model, "normalize", endless->normalize));
    OK(scmk_set_real(model, "alpha", endless->alpha));
    OK(scmk_set_real(model, "time_limit", 0.5));
    OK(scmk_fit(model));
    OK(scmk_set_real(model, "time_limit", 0));
    OK(while_cancelled(model, scmk_fit));
    OK(scmk_destroy(model));
}

static void fit_ends_whatever_the_scale_of_features_and_alpha(void)
{
    static const struct endless cases[] = {
        {1, 1e-12, "linear", "unit"},   {1e7, 1, "linear", "none"},
        {1, 1e-12, "paper", "unit"},    {1, 1e-11, "linear", "max"},
        {1e14, 1, "linear", "none"},    {1e-7, 1e-12, "linear", "none"},
        {1e9, 1e-6, "paper", "none"},   {1e60, 1e-12, "linear", "none"},
        {1e-60, 1e12, "linear; gaussian(t=10)", "none"},
    };
    size_t i;
    for (i = 0; i < COUNT(cases); i++) {
        struct endless one = cases[i];
        /* One that hangs is ended by its alarm. */
        STATUS(0, process_wait(process_child(fit_endless, &one)));
    }
}

/* A view of which even the inner products take a while. */
enum { WIDE_SAMPLES = 1200, WIDE = 12000 };

static double *wide_view(void)
{
    static double *x;
    size_t i;
    uint64_t state = 3;
    if (!x) {
        x = malloc(sizeof *x * WIDE_SAMPLES * WIDE);
        for (i = 0; i < (size_t)WIDE_SAMPLES * WIDE; i++)
            x[i] = blobs_random(&state);
    }
    return x;
}

static scmk_model *wide_model(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(WIDE_SAMPLES, 3, &model));
    OK(scmk_set_int(model, "threads", 1));
    return model;
}

static scmk_status add_wide(scmk_model *model)
{
    return scmk_add_features(model, wide_view(), WIDE_SAMPLES, WIDE, WIDE, 1, "paper");
}

static void adding_features_is_stopped_by_cancel(void)
{
    scmk_model *model = wide_model();
    wide_view();
    STATUS(SCMK_E_STOPPED, while_cancelled(model, add_wide));
    MESSAGE(model, "cancelled");
    CHECK(info(model, "kernels") == 0 && info(model, "views") == 0);
    OK(scmk_add_features(model, wide_view(), WIDE_SAMPLES, 2, WIDE, 1, "linear"));
    OK(scmk_destroy(model));
}

static void adding_features_is_stopped_by_the_time_limit(void)
{
    scmk_model *model = wide_model();
    wide_view();
    OK(scmk_set_real(model, "time_limit", 0.1));
    STATUS(SCMK_E_STOPPED, add_wide(model));
    MESSAGE(model, "time limit");
    CHECK(info(model, "kernels") == 0);
    OK(scmk_destroy(model));
}

struct seen {
    int kernels, others, stop;
};

static int32_t look(void *user, const char *step, int64_t iteration, double fraction,
                    double objective)
{
    struct seen *seen = user;
    (void)iteration, (void)objective;
    CHECK(fraction >= 0 && fraction <= 1);
    seen->kernels += strcmp(step, "kernels") == 0;
    seen->others += strcmp(step, "kernels") != 0;
    return seen->stop;
}

static void adding_features_tells_how_far_it_is(void)
{
    scmk_model *model = wide_model();
    struct seen seen = {0, 0, 0};
    wide_view();
    OK(scmk_set_progress(model, look, &seen));
    OK(add_wide(model));
    CHECK(seen.kernels > 0 && seen.others == 0);
    seen.stop = 1;
    STATUS(SCMK_E_STOPPED, add_wide(model));
    CHECK(info(model, "kernels") == 12);
    OK(scmk_destroy(model));
}

/* What takes less than a tenth of a second: a limit is meant for what takes long. */
static void short_calls_are_not_stopped_by_the_clock(void)
{
    scmk_model *model = new_model();
    double similarity[N * N], value;
    OK(scmk_set_real(model, "time_limit", 1e-9));
    OK(scmk_add_kernel(model, good, N, N));
    OK(scmk_borrow_kernel(model, good, N, N));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "linear"));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_TIME_LIMIT);
    OK(scmk_similarity(model, similarity, N * N));
    OK(scmk_model_metric(model, "nmi", truth, NULL, N, &value));
    OK(scmk_destroy(model));
}

static void memory_limit_counts_the_kernels_that_the_library_holds(void)
{
    scmk_model *model = new_model();
    const int64_t kernel = N * N * 8;
    CHECK(info(model, "memory_kernels") == 0);
    OK(scmk_set_int(model, "memory_limit", kernel));
    OK(scmk_add_kernel(model, good, N, N));
    CHECK(info(model, "memory_kernels") == kernel);
    STATUS(SCMK_E_OUT_OF_MEMORY, scmk_add_kernel(model, good, N, N));
    MESSAGE(model, "memory_limit");
    STATUS(SCMK_E_OUT_OF_MEMORY, scmk_add_features(model, points, N, 2, 2, 1, "paper"));
    /* A borrowed one is the caller's. */
    OK(scmk_borrow_kernel(model, good, N, N));
    CHECK(info(model, "memory_kernels") == kernel && info(model, "kernels") == 2);
    STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
    OK(scmk_set_int(model, "memory_limit", kernel + info(model, "memory_required")));
    CHECK(works(model));
    OK(scmk_destroy(model));
}

enum { LABELS = 4000000 };
static int32_t *many_labels, *many_classes;

static scmk_status compare_many(scmk_model *model)
{
    double value;
    return scmk_model_metric(model, "accuracy", many_classes, many_labels, LABELS, &value);
}

static void metric_of_a_model_is_stopped_by_cancel(void)
{
    scmk_model *model = good_model();
    size_t i;
    uint64_t state = 5;
    many_labels = malloc(sizeof *many_labels * LABELS);
    many_classes = malloc(sizeof *many_classes * LABELS);
    for (i = 0; i < LABELS; i++) {
        many_labels[i] = (int32_t)(200000 * blobs_random(&state));
        many_classes[i] = (int32_t)(200000 * blobs_random(&state));
    }
    STATUS(SCMK_E_STOPPED, while_cancelled(model, compare_many));
    OK(scmk_set_real(model, "time_limit", 0.1));
    STATUS(SCMK_E_STOPPED, compare_many(model));
    free(many_labels), free(many_classes);
    OK(scmk_destroy(model));
}

enum { COPIED = 3000 };
static double *large;

static scmk_status copy_similarity(scmk_model *model)
{
    scmk_status status = SCMK_OK;
    int k;
    /* So often that a cancel meets one of them. */
    for (k = 0; k < 100 && status == SCMK_OK; k++)
        status = scmk_similarity(model, large, (size_t)COPIED * COPIED);
    return status;
}

static void copying_a_large_similarity_is_stopped_by_cancel(void)
{
    double *x = malloc(sizeof *x * COPIED * 2);
    int32_t *labels = malloc(sizeof *labels * COPIED);
    scmk_model *model = NULL;
    large = malloc(sizeof *large * COPIED * COPIED);
    blobs_points(x, labels, COPIED);
    OK(scmk_create(COPIED, 3, &model));
    OK(scmk_add_features(model, x, COPIED, 2, 2, 1, "linear"));
    OK(scmk_set_real(model, "time_limit", 1e-9));
    OK(scmk_fit(model));
    STATUS(SCMK_E_STOPPED, while_cancelled(model, copy_similarity));
    OK(scmk_destroy(model));
    free(large), free(labels), free(x);
}

/* Each worker sets memory aside; there are no more of them than there is work for. */
static void thousand_threads_for_a_few_samples_are_fine(void)
{
    scmk_model *model = good_model();
    OK(scmk_set_int(model, "threads", 1024));
    CHECK(works(model));
    CHECK(info(model, "threads") >= 1 && info(model, "threads") < 1024);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(fit_ends_whatever_the_scale_of_features_and_alpha),
        TEST(adding_features_is_stopped_by_cancel),
        TEST(adding_features_is_stopped_by_the_time_limit),
        TEST(adding_features_tells_how_far_it_is),
        TEST(short_calls_are_not_stopped_by_the_clock),
        TEST(memory_limit_counts_the_kernels_that_the_library_holds),
        TEST(metric_of_a_model_is_stopped_by_cancel),
        TEST(copying_a_large_similarity_is_stopped_by_cancel),
        TEST(thousand_threads_for_a_few_samples_are_fine),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
