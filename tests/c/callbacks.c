/* Progress, and all the ways to stop a fit.
 *   callbacks [TEST]; cancel_at_10000_samples_stops_within_2_seconds is run only by name, since it
 *   takes gigabytes. */
#include "meeting.h"

enum { MANY = 150 };

static double many_points[MANY * 2], many_kernel[MANY * MANY];
static int32_t many_groups[MANY];

static scmk_model *many_model(void)
{
    scmk_model *model = NULL;
    blobs_points(many_points, many_groups, MANY);
    blobs_kernel(many_points, MANY, 20, many_kernel, MANY);
    OK(scmk_create(MANY, C, &model));
    OK(scmk_add_kernel(model, many_kernel, MANY, MANY));
    OK(scmk_add_features(model, many_points, MANY, 2, 2, 1, "gaussian(t=1); linear"));
    /* Nothing converges to 0: several iterations, unless something stops them. */
    set_method(model, "joint");
    OK(scmk_set_real(model, "tolerance", 0));
    OK(scmk_set_int(model, "max_iterations", 20));
    return model;
}

/* n points without any groups in ten dimensions: what takes longest. */
static scmk_model *slow_model(size_t n, size_t c)
{
    double *x = malloc(n * 10 * sizeof *x);
    scmk_model *model = NULL;
    uint64_t state = 7;
    size_t i;
    for (i = 0; i < n * 10; i++)
        x[i] = blobs_random(&state);
    OK(scmk_create(n, c, &model));
    OK(scmk_add_features(model, x, n, 10, 10, 1, "gaussian(t=0.1); gaussian(t=1)"));
    set_method(model, "joint");
    OK(scmk_set_real(model, "tolerance", 0));
    OK(scmk_set_int(model, "max_iterations", 100000));
    OK(scmk_set_int(model, "restarts", 100000));
    free(x);
    return model;
}

struct watch {
    pthread_t fitting;
    int64_t stop_after, last_iteration;
    int32_t answer;
    int calls, iterations, other_threads, odd_values;
    double last_objective;
};

static int32_t watching(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    struct watch *watch = user;
    watch->calls++;
    watch->other_threads += !pthread_equal(pthread_self(), watch->fitting);
    watch->odd_values += !(fraction >= 0 && fraction <= 1) || iteration < watch->last_iteration;
    if (strcmp(step, "iteration") == 0) {
        watch->iterations++;
        watch->odd_values += iteration != watch->iterations || isnan(objective);
        watch->last_objective = objective;
    }
    watch->last_iteration = iteration;
    return watch->stop_after > 0 && iteration >= watch->stop_after ? watch->answer : 0;
}

static scmk_status watched_fit(scmk_model *model, struct watch *watch, int64_t stop_after,
                               int32_t answer)
{
    memset(watch, 0, sizeof *watch);
    watch->fitting = pthread_self();
    watch->stop_after = stop_after;
    watch->answer = answer;
    CHECK(scmk_set_progress(model, watching, watch) == SCMK_OK);
    return scmk_fit(model);
}

static void *fit_elsewhere(void *user)
{
    struct watch watch;
    OK(watched_fit(user, &watch, 0, 0));
    CHECK(watch.calls > 0 && watch.other_threads == 0 && watch.odd_values == 0);
    return NULL;
}

static void progress_runs_only_on_the_thread_that_called_fit(void)
{
    scmk_model *model = many_model();
    struct watch watch;
    pthread_t thread;
    double objective = 0;
    size_t i;
    OK(scmk_set_int(model, "threads", 8));
    for (i = 0; i < COUNT(methods); i++) {
        set_method(model, methods[i]);
        OK(watched_fit(model, &watch, 0, 0));
        CHECK(watch.calls >= 1 && watch.other_threads == 0 && watch.odd_values == 0);
        /* The others count restarts. */
        if (strcmp(methods[i], "scmk") == 0 || strcmp(methods[i], "joint") == 0) {
            OK(scmk_info_real(model, "objective", &objective));
            CHECK(watch.iterations == info(model, "iterations"));
            CHECK(watch.last_objective == objective);
        }
        CHECK(pthread_create(&thread, NULL, fit_elsewhere, model) == 0);
        pthread_join(thread, NULL);
    }
    /* Nobody is told any more. */
    OK(scmk_set_progress(model, NULL, NULL));
    watch.calls = 0;
    OK(scmk_fit(model));
    CHECK(watch.calls == 0);
    OK(scmk_destroy(model));
}

static void cancelled(const scmk_model *model)
{
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CANCELLED);
    CHECK(strcmp(scmk_outcome_name(info(model, "outcome")), "cancelled") == 0);
}

static void nonzero_return_keeps_the_last_complete_iterate(void)
{
    static const int32_t answers_to_stop[] = {1, -1, 256, INT32_MIN, INT32_MAX};
    scmk_model *model = many_model();
    double *expected = malloc(sizeof(double) * MANY * MANY);
    double *found = malloc(sizeof(double) * MANY * MANY);
    struct watch watch;
    size_t i;
    for (i = 0; i < COUNT(answers_to_stop); i++) {
        int64_t stop_after = 1 + (int64_t)i % 3;
        int32_t labels[MANY];
        double weights[2][3], objective[2];
        /* What a fit of so many iterations finds, */
        OK(scmk_set_progress(model, NULL, NULL));
        OK(scmk_set_int(model, "max_iterations", stop_after));
        OK(scmk_fit(model));
        CHECK(info(model, "outcome") == SCMK_OUTCOME_ITERATION_LIMIT);
        OK(scmk_similarity(model, expected, MANY * MANY));
        OK(scmk_weights(model, weights[0], 3));
        OK(scmk_info_real(model, "objective", &objective[0]));
        /* one that is stopped there has found too. */
        OK(scmk_set_int(model, "max_iterations", 20));
        OK(watched_fit(model, &watch, stop_after, answers_to_stop[i]));
        cancelled(model);
        CHECK(info(model, "iterations") == stop_after && watch.iterations == stop_after);
        OK(scmk_similarity(model, found, MANY * MANY));
        OK(scmk_weights(model, weights[1], 3));
        OK(scmk_info_real(model, "objective", &objective[1]));
        CHECK(memcmp(expected, found, sizeof(double) * MANY * MANY) == 0);
        CHECK(memcmp(weights[0], weights[1], sizeof weights[0]) == 0);
        CHECK(objective[0] == objective[1]);
        OK(scmk_labels(model, labels, MANY));
        CHECK(memcmp(labels, many_groups, sizeof labels) == 0);
    }
    free(expected), free(found);
    OK(scmk_destroy(model));
}

static int32_t stopping(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    (void)user, (void)step, (void)iteration, (void)fraction, (void)objective;
    return 1;
}

/* The first report of a long fit comes before its first iteration is complete. */
static void nonzero_return_before_an_iteration_leaves_labels_to_read(void)
{
    scmk_model *model = slow_model(700, 10);
    int32_t labels[700];
    size_t i;
    prefill(labels, sizeof labels);
    OK(scmk_set_progress(model, stopping, NULL));
    OK(scmk_fit(model));
    cancelled(model);
    OK(scmk_labels(model, labels, 700));
    for (i = 0; i < 700; i++)
        CHECK(labels[i] >= 0 && labels[i] < 10);
    OK(scmk_destroy(model));
}

static void fit_after_a_cancelled_one_works(void)
{
    scmk_model *model = many_model();
    struct watch watch;
    size_t i;
    for (i = 0; i < COUNT(methods); i++) {
        struct bits expected, found;
        set_method(model, methods[i]);
        OK(scmk_set_progress(model, NULL, NULL));
        OK(scmk_fit(model));
        CHECK(info(model, "outcome") != SCMK_OUTCOME_CANCELLED);
        expected = bits_of(model, MANY, C);
        OK(watched_fit(model, &watch, 1, 1));
        CHECK(watch.calls >= 1);
        OK(scmk_set_progress(model, NULL, NULL));
        OK(scmk_fit(model));
        found = bits_of(model, MANY, C);
        CHECK(same_bits(expected, found));
        free(expected.values), free(found.values);
    }
    OK(scmk_destroy(model));
}

static void cancel_before_a_fit_stops_that_fit_and_no_other(void)
{
    scmk_model *model = good_model();
    OK(scmk_cancel(model));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CANCELLED);
    CHECK(info(model, "iterations") == 0);
    CHECK(works(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CONVERGED);
    OK(scmk_cancel(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CONVERGED);
    OK(scmk_destroy(model));
}

/* Other calls leave it to the fit it is meant for. */
static void cancel_waits_for_the_fit_through_other_calls(void)
{
    scmk_model *model = good_model();
    double similarity[N * N], share;
    CHECK(works(model));
    OK(scmk_cancel(model));
    OK(scmk_similarity(model, similarity, N * N));
    OK(scmk_view_weights(model, &share, 1));
    OK(scmk_add_kernel(model, good, N, N));
    OK(scmk_set_clusters(model, 2));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CANCELLED);
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CONVERGED);
    OK(scmk_destroy(model));
}

static void cancel_from_another_thread_keeps_a_result(void)
{
    scmk_model *model = many_model();
    size_t i;
    for (i = 0; i < COUNT(methods); i++) {
        struct meeting meeting;
        struct bits bits;
        set_method(model, methods[i]);
        meet(&meeting, model, 1);
        OK(scmk_cancel(model));
        OK(part(&meeting));
        cancelled(model);
        bits = bits_of(model, MANY, C);
        CHECK(info(model, "iterations") == 0 || all_finite(bits));
        free(bits.values);
        OK(scmk_set_progress(model, NULL, NULL));
        OK(scmk_fit(model));
        CHECK(info(model, "outcome") != SCMK_OUTCOME_CANCELLED);
    }
    OK(scmk_destroy(model));
}

/* Cancels a fit that has run for some time; at most so many seconds may pass until it is over. */
static void cancelled_within(scmk_model *model, const char *method, double after, double most)
{
    struct meeting meeting;
    double asked, took;
    set_method(model, method);
    meet(&meeting, model, 0);
    process_sleep(after);
    asked = process_clock();
    OK(scmk_cancel(model));
    OK(part(&meeting));
    took = meeting.ended - asked;
    printf("%s, cancelled after %.3f s: over %.3f s later\n", method, after, took > 0 ? took : 0);
    check_that(took < most || instrumented(), (long)(1e3 * took), "too many milliseconds",
               __FILE__, __LINE__);
}

/* Four times what is promised, since other programs may be running. */
enum { PROMISE_FACTOR = 4 };

static void cancel_at_1000_samples_stops_within_half_a_second(void)
{
    static const double moments[] = {0, 0.3};
    scmk_model *model = slow_model(1000, 10);
    size_t i, k;
    for (i = 0; i < COUNT(methods); i++)
        for (k = 0; k < COUNT(moments); k++)
            cancelled_within(model, methods[i], moments[k], 0.5 * PROMISE_FACTOR);
    OK(scmk_destroy(model));
}

/* Where c is above a tenth of n, the eigenvectors come from a dense decomposition. */
static void cancel_with_many_clusters_stops_within_half_a_second(void)
{
    static const double moments[] = {0, 0.3, 0.6};
    scmk_model *model = slow_model(1000, 150);
    size_t k;
    for (k = 0; k < COUNT(moments); k++) {
        cancelled_within(model, "scmk", moments[k], 0.5 * PROMISE_FACTOR);
        cancelled_within(model, "joint", moments[k], 0.5 * PROMISE_FACTOR);
        cancelled_within(model, "sc", moments[k], 0.5 * PROMISE_FACTOR);
    }
    OK(scmk_destroy(model));
}

static void cancel_at_10000_samples_stops_within_2_seconds(void)
{
    static const double moments[] = {0, 2, 10};
    scmk_model *model = slow_model(10000, 10);
    size_t i, k;
    /* The others are like the third or the fourth. */
    for (i = 0; i < 4; i++)
        for (k = 0; k < COUNT(moments); k++)
            cancelled_within(model, methods[i], moments[k], 2.0 * PROMISE_FACTOR);
    OK(scmk_destroy(model));
}

static int32_t stopping_at_labels(void *user, const char *step, int64_t iteration,
                                  double fraction, double objective)
{
    (void)iteration, (void)fraction, (void)objective;
    if (strcmp(step, "labels") != 0)
        return 0;
    ++*(int *)user;
    return 1;
}

/* Many restarts of k-means: the labels are those of the best until then. */
static void stop_while_labels_are_read_is_an_outcome(void)
{
    static const char *const spectral[] = {"scmk", "joint", "sc", "aasc"};
    enum { SAMPLES = 200, CLUSTERS = 20 };
    scmk_model *model = slow_model(SAMPLES, CLUSTERS);
    int32_t labels[SAMPLES];
    size_t i;
    OK(scmk_set_int(model, "restarts", 1000000));
    OK(scmk_set_int(model, "max_iterations", 1));
    for (i = 0; i < COUNT(spectral); i++) {
        int stopped = 0;
        set_method(model, spectral[i]);
        OK(scmk_set_progress(model, stopping_at_labels, &stopped));
        OK(scmk_fit(model));
        CHECK(stopped >= 1);
        cancelled(model);
        OK(scmk_labels(model, labels, SAMPLES));
        OK(scmk_set_progress(model, NULL, NULL));
        OK(scmk_set_real(model, "time_limit", 0.5));
        OK(scmk_fit(model));
        CHECK(info(model, "outcome") == SCMK_OUTCOME_TIME_LIMIT);
        OK(scmk_labels(model, labels, SAMPLES));
        OK(scmk_set_real(model, "time_limit", 0));
    }
    OK(scmk_destroy(model));
}

struct meddler {
    scmk_model *model, *other;
    int calls, wrong;
};

/* Tries everything on the model that is being fitted, and uses another one. */
static int32_t meddling(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    struct meddler *meddler = user;
    char text[64];
    (void)step, (void)iteration, (void)fraction, (void)objective;
    meddler->calls++;
    meddler->wrong += scmk_fit(meddler->model) != SCMK_E_BUSY;
    meddler->wrong += scmk_destroy(meddler->model) != SCMK_E_BUSY;
    meddler->wrong += !all_answer(meddler->model, SCMK_E_BUSY);
    meddler->wrong += scmk_error_message(meddler->model, text, sizeof text, NULL) != SCMK_OK ||
                      strstr(text, "busy") == NULL;
    meddler->wrong += scmk_error_message(NULL, text, sizeof text, NULL) != SCMK_OK ||
                      strstr(text, "busy") == NULL;
    meddler->wrong += !works(meddler->other);
    return 0;
}

static void fit_or_destroy_in_a_callback_gets_busy(void)
{
    scmk_model *model = many_model();
    struct meddler meddler;
    struct bits expected, found;
    double alpha = 0;
    memset(&meddler, 0, sizeof meddler);
    meddler.model = model;
    meddler.other = good_model();
    OK(scmk_fit(model));
    expected = bits_of(model, MANY, C);
    OK(scmk_set_progress(model, meddling, &meddler));
    OK(scmk_fit(model));
    CHECK(meddler.calls > 0 && meddler.wrong == 0);
    found = bits_of(model, MANY, C);
    CHECK(same_bits(expected, found));
    free(expected.values), free(found.values);
    OK(scmk_get_real(model, "alpha", &alpha));
    CHECK(alpha == 1);
    OK(scmk_destroy(meddler.other));
    OK(scmk_destroy(model));
}

static int32_t cancelling(void *user, const char *step, int64_t iteration, double fraction,
                          double objective)
{
    (void)step, (void)fraction, (void)objective;
    if (iteration >= 1)
        OK(scmk_cancel(user));
    return 0;
}

static void cancel_in_a_callback_stops_the_fit(void)
{
    scmk_model *model = many_model();
    OK(scmk_set_progress(model, cancelling, model));
    OK(scmk_fit(model));
    cancelled(model);
    CHECK(info(model, "iterations") == 1);
    OK(scmk_destroy(model));
}

static void time_limit_of_a_millisecond_is_an_outcome(void)
{
    enum { SAMPLES = 600 };
    scmk_model *model = slow_model(SAMPLES, 10);
    size_t i;
    for (i = 0; i < COUNT(methods); i++) {
        int32_t labels[SAMPLES];
        set_method(model, methods[i]);
        OK(scmk_set_real(model, "time_limit", 0.001));
        OK(scmk_fit(model));
        if (info(model, "outcome") != SCMK_OUTCOME_TIME_LIMIT)
            printf("outcome of %s\n", methods[i]);
        CHECK(info(model, "outcome") == SCMK_OUTCOME_TIME_LIMIT);
        CHECK(strcmp(scmk_outcome_name(info(model, "outcome")), "time limit") == 0);
        prefill(labels, sizeof labels);
        OK(scmk_labels(model, labels, SAMPLES));
        CHECK(labels[0] == 0 && labels[SAMPLES - 1] >= 0 && labels[SAMPLES - 1] < 10);
    }
    OK(scmk_destroy(model));
}

static void fit_after_a_time_limit_works(void)
{
    scmk_model *model = many_model();
    int32_t labels[MANY];
    OK(scmk_set_real(model, "time_limit", 1e-9));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_TIME_LIMIT);
    OK(scmk_set_real(model, "time_limit", 0));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") != SCMK_OUTCOME_TIME_LIMIT);
    OK(scmk_labels(model, labels, MANY));
    CHECK(memcmp(labels, many_groups, sizeof labels) == 0);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(progress_runs_only_on_the_thread_that_called_fit),
        TEST(nonzero_return_keeps_the_last_complete_iterate),
        TEST(nonzero_return_before_an_iteration_leaves_labels_to_read),
        TEST(fit_after_a_cancelled_one_works),
        TEST(cancel_before_a_fit_stops_that_fit_and_no_other),
        TEST(cancel_waits_for_the_fit_through_other_calls),
        TEST(cancel_from_another_thread_keeps_a_result),
        TEST(cancel_at_1000_samples_stops_within_half_a_second),
        TEST(cancel_with_many_clusters_stops_within_half_a_second),
        TEST(stop_while_labels_are_read_is_an_outcome),
        TEST(fit_or_destroy_in_a_callback_gets_busy),
        TEST(cancel_in_a_callback_stops_the_fit),
        TEST(time_limit_of_a_millisecond_is_an_outcome),
        TEST(fit_after_a_time_limit_works),
    };
    static const struct test large[] = {TEST(cancel_at_10000_samples_stops_within_2_seconds)};
    make_samples();
    if (argc > 1 && strcmp(argv[1], large[0].name) == 0)
        return run_tests(large, COUNT(large), argc, argv);
    return run_tests(tests, COUNT(tests), argc, argv);
}
