/* Progress, cancelling and BUSY, from the callback and from other threads. */
#define _POSIX_C_SOURCE 200809L
#include "blobs.h"
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { N = 150 };

struct watch {
    scmk_model *model;
    pthread_t fitting;
    int64_t stop_after;
    int64_t last_iteration;
    int calls, iterations, other_threads, odd_values, refused, others;
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
    return watch->stop_after > 0 && iteration >= watch->stop_after;
}

/* Tries everything on the model that is being fitted. */
static int32_t meddling(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    struct watch *watch = user;
    scmk_model *model = watch->model;
    int32_t labels[N];
    double value;
    int64_t whole;
    char text[64];
    (void)step, (void)iteration, (void)fraction, (void)objective;
    watch->calls++;
    watch->refused += scmk_fit(model) == SCMK_E_BUSY;
    watch->refused += scmk_destroy(model) == SCMK_E_BUSY;
    watch->refused += scmk_labels(model, labels, N) == SCMK_E_BUSY;
    watch->refused += scmk_clear_kernels(model) == SCMK_E_BUSY;
    watch->refused += scmk_set_real(model, "alpha", 3) == SCMK_E_BUSY;
    watch->refused += scmk_get_real(model, "alpha", &value) == SCMK_E_BUSY;
    watch->refused += scmk_info_int(model, "iterations", &whole) == SCMK_E_BUSY;
    watch->refused += scmk_set_progress(model, NULL, NULL) == SCMK_E_BUSY;
    watch->others += scmk_error_message(model, text, sizeof text, NULL) == SCMK_OK &&
                     strstr(text, "busy") != NULL;
    watch->others += scmk_error_message(NULL, text, sizeof text, NULL) == SCMK_OK &&
                     strstr(text, "busy") != NULL;
    return 0;
}

/* A fit that waits in its callback until the main thread has done its part. */
struct meeting {
    scmk_model *model;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int inside, may_go;
    scmk_status status;
};

static int32_t waiting(void *user, const char *step, int64_t iteration, double fraction,
                       double objective)
{
    struct meeting *meeting = user;
    (void)step, (void)iteration, (void)fraction, (void)objective;
    pthread_mutex_lock(&meeting->lock);
    meeting->inside = 1;
    pthread_cond_broadcast(&meeting->changed);
    while (!meeting->may_go)
        pthread_cond_wait(&meeting->changed, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
    return 0;
}

static void *fitting(void *user)
{
    struct meeting *meeting = user;
    meeting->status = scmk_fit(meeting->model);
    /* A fit that failed before its first callback must not keep the others waiting. */
    pthread_mutex_lock(&meeting->lock);
    meeting->inside = 1;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double points[N * 2], kernel[N * N];
static int32_t truth[N];

static scmk_model *new_model(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(N, BLOBS, &model));
    OK(scmk_add_kernel(model, kernel, N, N));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "gaussian(t=1); linear"));
    /* Nothing converges to 0: many iterations, unless something stops them. */
    OK(scmk_set_real(model, "tolerance", 0));
    OK(scmk_set_int(model, "max_iterations", 20));
    return model;
}

static int64_t outcome(scmk_model *model)
{
    int64_t value = -1;
    OK(scmk_info_int(model, "outcome", &value));
    return value;
}

static void progress_and_stopping(void)
{
    scmk_model *model = new_model();
    struct watch watch;
    double objective;
    int64_t iterations, all;
    int32_t labels[N];

    memset(&watch, 0, sizeof watch);
    watch.fitting = pthread_self();
    OK(scmk_set_progress(model, watching, &watch));
    OK(scmk_fit(model));
    OK(scmk_info_int(model, "iterations", &all));
    OK(scmk_info_real(model, "objective", &objective));
    CHECK(watch.iterations >= 1 && watch.iterations == all);
    CHECK(watch.last_objective == objective);
    CHECK(watch.other_threads == 0 && watch.odd_values == 0);

    /* Stopped by its answer: exactly that iterate is the result. */
    memset(&watch, 0, sizeof watch);
    watch.fitting = pthread_self();
    watch.stop_after = 1;
    OK(scmk_fit(model));
    CHECK(outcome(model) == SCMK_OUTCOME_CANCELLED);
    OK(scmk_info_int(model, "iterations", &iterations));
    CHECK(iterations == 1 && watch.other_threads == 0);
    OK(scmk_labels(model, labels, N));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);

    /* The next fit is not cancelled, and nobody listens any more. */
    OK(scmk_set_progress(model, NULL, NULL));
    watch.calls = 0;
    OK(scmk_fit(model));
    CHECK(outcome(model) != SCMK_OUTCOME_CANCELLED && watch.calls == 0);
    OK(scmk_info_int(model, "iterations", &iterations));
    CHECK(iterations == all);

    /* Cancelling without a fit is forgotten by the next one. */
    OK(scmk_cancel(model));
    OK(scmk_fit(model));
    CHECK(outcome(model) != SCMK_OUTCOME_CANCELLED);
    OK(scmk_destroy(model));
}

static void busy_in_the_callback(void)
{
    scmk_model *model = new_model();
    struct watch watch;
    double alpha;
    memset(&watch, 0, sizeof watch);
    watch.model = model;
    OK(scmk_set_progress(model, meddling, &watch));
    OK(scmk_fit(model));
    CHECK(watch.calls > 0);
    CHECK(watch.refused == 8 * watch.calls && watch.others == 2 * watch.calls);
    OK(scmk_get_real(model, "alpha", &alpha));
    CHECK(alpha != 3);
    OK(scmk_destroy(model));
}

static void other_threads(void)
{
    scmk_model *model = new_model(), *free_model = new_model();
    struct meeting meeting;
    pthread_t thread;
    double began;
    char text[64];
    int32_t labels[N];

    memset(&meeting, 0, sizeof meeting);
    meeting.model = model;
    pthread_mutex_init(&meeting.lock, NULL);
    pthread_cond_init(&meeting.changed, NULL);
    OK(scmk_set_progress(model, waiting, &meeting));
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, points, 1, 1));
    CHECK(pthread_create(&thread, NULL, fitting, &meeting) == 0);
    pthread_mutex_lock(&meeting.lock);
    while (!meeting.inside)
        pthread_cond_wait(&meeting.changed, &meeting.lock);
    pthread_mutex_unlock(&meeting.lock);

    /* The other thread is in its fit now: refusals come at once. */
    began = seconds();
    STATUS(SCMK_E_BUSY, scmk_fit(model));
    MESSAGE(NULL, "busy");
    MESSAGE(model, "busy");
    STATUS(SCMK_E_BUSY, scmk_destroy(model));
    STATUS(SCMK_E_BUSY, scmk_labels(model, labels, N));
    CHECK(seconds() - began < 0.1);
    /* Another model does not care. */
    OK(scmk_fit(free_model));
    OK(scmk_cancel(model));
    pthread_mutex_lock(&meeting.lock);
    meeting.may_go = 1;
    pthread_cond_broadcast(&meeting.changed);
    pthread_mutex_unlock(&meeting.lock);
    pthread_join(thread, NULL);
    STATUS(SCMK_OK, meeting.status);
    CHECK(outcome(model) == SCMK_OUTCOME_CANCELLED);
    OK(scmk_labels(model, labels, N));

    /* The refusals have not replaced what went wrong before. */
    OK(scmk_error_message(model, text, sizeof text, NULL));
    CHECK(strstr(text, "busy") == NULL && strstr(text, "1 given") != NULL);
    OK(scmk_fit(model));
    CHECK(outcome(model) != SCMK_OUTCOME_CANCELLED);
    OK(scmk_destroy(free_model));
    OK(scmk_destroy(model));
    pthread_cond_destroy(&meeting.changed);
    pthread_mutex_destroy(&meeting.lock);
}

int main(void)
{
    blobs_points(points, truth, N);
    blobs_kernel(points, N, 20, kernel, N);
    progress_and_stopping();
    busy_in_the_callback();
    other_threads();
    return check_result();
}
