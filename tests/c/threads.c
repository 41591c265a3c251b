/* Several threads: on one handle, each on its own, and inside of the library. */
#include "meeting.h"

enum { MANY = 120, CLUSTERS = 5 };

static double many_points[MANY * 2], many_kernel[MANY * MANY];
static int32_t many_groups[MANY];

/* More clusters than groups and a tolerance that nothing reaches: work for some iterations. */
static scmk_model *many_model(double width)
{
    scmk_model *model = NULL;
    blobs_points(many_points, many_groups, MANY);
    blobs_kernel(many_points, MANY, 20, many_kernel, MANY);
    OK(scmk_create(MANY, CLUSTERS, &model));
    OK(scmk_add_kernel(model, many_kernel, MANY, MANY));
    blobs_kernel(many_points, MANY, width, many_kernel, MANY);
    OK(scmk_add_kernel(model, many_kernel, MANY, MANY));
    OK(scmk_add_features(model, many_points, MANY, 2, 2, 1, "gaussian(t=0.1); linear"));
    set_method(model, "joint");
    OK(scmk_set_real(model, "tolerance", 0));
    OK(scmk_set_int(model, "max_iterations", 10));
    return model;
}

/* The first fit stands still meanwhile: an answer that waited for it would never come. */
static void second_thread_gets_busy_at_once(void)
{
    scmk_model *model = many_model(5), *free_model = good_model();
    struct meeting meeting;
    meet(&meeting, model, 1);
    CHECK(all_answer(model, SCMK_E_BUSY));
    MESSAGE(NULL, "busy");
    MESSAGE(model, "busy");
    STATUS(SCMK_E_BUSY, scmk_destroy(model));
    MESSAGE(NULL, "busy");
    /* Another model does not care. */
    CHECK(works(free_model));
    OK(part(&meeting));
    OK(scmk_set_progress(model, NULL, NULL));
    OK(scmk_fit(model));
    OK(scmk_destroy(model));
    OK(scmk_destroy(free_model));
}

static void first_thread_is_unaffected_by_the_second(void)
{
    scmk_model *model = many_model(5);
    struct meeting meeting;
    struct bits expected, found;
    double alpha = 0;
    int64_t seed = -1;
    int k, wrong = 0;
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, 1, 1));
    OK(scmk_fit(model));
    expected = bits_of(model, MANY, CLUSTERS);
    meet(&meeting, model, 1);
    for (k = 0; k < 1000; k++)
        wrong += !all_answer(model, SCMK_E_BUSY) || scmk_destroy(model) != SCMK_E_BUSY;
    OK(part(&meeting));
    CHECK(wrong == 0);
    found = bits_of(model, MANY, CLUSTERS);
    CHECK(same_bits(expected, found));
    free(expected.values), free(found.values);
    /* Nothing was set or removed, and what went wrong before is still told. */
    OK(scmk_get_real(model, "alpha", &alpha));
    OK(scmk_get_int(model, "seed", &seed));
    CHECK(alpha == 1 && seed == 0 && info(model, "kernels") == 4);
    MESSAGE(model, "1 given");
    OK(scmk_destroy(model));
}

/* Fits again and again, while others ask in the middle of the work. */
struct disturbance {
    scmk_model *model;
    pthread_mutex_t lock;
    int stop, busy, wrong;
};

static int stopped(struct disturbance *disturbance)
{
    int stop;
    pthread_mutex_lock(&disturbance->lock);
    stop = disturbance->stop;
    pthread_mutex_unlock(&disturbance->lock);
    return stop;
}

static void *reading(void *user)
{
    struct disturbance *disturbance = user;
    double alpha;
    int busy = 0, wrong = 0;
    while (!stopped(disturbance)) {
        scmk_status status = scmk_get_real(disturbance->model, "alpha", &alpha);
        busy += status == SCMK_E_BUSY;
        wrong += status != SCMK_E_BUSY && (status != SCMK_OK || alpha != 1);
    }
    pthread_mutex_lock(&disturbance->lock);
    disturbance->busy += busy;
    disturbance->wrong += wrong;
    pthread_mutex_unlock(&disturbance->lock);
    return NULL;
}

static void second_thread_may_ask_at_any_moment(void)
{
    scmk_model *model = many_model(5);
    struct disturbance disturbance;
    struct bits expected;
    pthread_t threads[2];
    int k, fits = 0, wrong = 0;
    OK(scmk_fit(model));
    expected = bits_of(model, MANY, CLUSTERS);
    memset(&disturbance, 0, sizeof disturbance);
    disturbance.model = model;
    pthread_mutex_init(&disturbance.lock, NULL);
    for (k = 0; k < 2; k++)
        CHECK(pthread_create(&threads[k], NULL, reading, &disturbance) == 0);
    while (fits < 5) {
        scmk_status status = scmk_fit(model);
        /* It may be this one that comes second. */
        fits += status == SCMK_OK;
        wrong += status != SCMK_OK && status != SCMK_E_BUSY;
    }
    pthread_mutex_lock(&disturbance.lock);
    disturbance.stop = 1;
    pthread_mutex_unlock(&disturbance.lock);
    for (k = 0; k < 2; k++)
        pthread_join(threads[k], NULL);
    CHECK(wrong == 0 && disturbance.wrong == 0 && disturbance.busy > 0);
    {
        struct bits found = bits_of(model, MANY, CLUSTERS);
        CHECK(same_bits(expected, found));
        free(found.values);
    }
    free(expected.values);
    pthread_mutex_destroy(&disturbance.lock);
    OK(scmk_destroy(model));
}

static void *asking(void *user)
{
    struct disturbance *disturbance = user;
    char text[64];
    int wrong = 0;
    while (!stopped(disturbance)) {
        wrong += scmk_error_message(disturbance->model, text, sizeof text, NULL) != SCMK_OK;
        wrong += scmk_cancel(disturbance->model) != SCMK_OK;
    }
    pthread_mutex_lock(&disturbance->lock);
    disturbance->wrong += wrong;
    pthread_mutex_unlock(&disturbance->lock);
    return NULL;
}

/* Any thread may call error_message and cancel at any time: neither is a second call. */
static void message_and_cancel_make_no_one_busy(void)
{
    scmk_model *model = good_model();
    struct disturbance disturbance;
    pthread_t thread;
    double alpha, until = process_clock() + 2;
    int refused = 0;
    memset(&disturbance, 0, sizeof disturbance);
    disturbance.model = model;
    pthread_mutex_init(&disturbance.lock, NULL);
    CHECK(pthread_create(&thread, NULL, asking, &disturbance) == 0);
    while (process_clock() < until)
        refused += scmk_get_real(model, "alpha", &alpha) != SCMK_OK;
    pthread_mutex_lock(&disturbance.lock);
    disturbance.stop = 1;
    pthread_mutex_unlock(&disturbance.lock);
    pthread_join(thread, NULL);
    check_that(refused == 0, refused, "calls refused", __FILE__, __LINE__);
    CHECK(disturbance.wrong == 0);
    /* The last cancel waits for a fit. */
    OK(scmk_fit(model));
    CHECK(works(model));
    pthread_mutex_destroy(&disturbance.lock);
    OK(scmk_destroy(model));
}

enum { HANDLES = 16 };

struct job {
    scmk_model *model;
    pthread_barrier_t *start;
    scmk_status status;
};

static void *run_job(void *user)
{
    struct job *job = user;
    pthread_barrier_wait(job->start);
    job->status = scmk_fit(job->model);
    return NULL;
}

static void sixteen_threads_have_the_bits_of_a_serial_run(void)
{
    struct bits serial[HANDLES];
    struct job jobs[HANDLES];
    pthread_t threads[HANDLES];
    pthread_barrier_t start;
    size_t i;
    pthread_barrier_init(&start, NULL, HANDLES);
    for (i = 0; i < HANDLES; i++) {
        /* All different, and all methods among them. */
        jobs[i].model = many_model(5.0 + (double)i);
        jobs[i].start = &start;
        set_method(jobs[i].model, methods[i % COUNT(methods)]);
        OK(scmk_set_int(jobs[i].model, "seed", (int64_t)i));
        OK(scmk_fit(jobs[i].model));
        serial[i] = bits_of(jobs[i].model, MANY, CLUSTERS);
        CHECK(i == 0 || !same_bits(serial[i], serial[0]));
    }
    for (i = 0; i < HANDLES; i++)
        CHECK(pthread_create(&threads[i], NULL, run_job, &jobs[i]) == 0);
    for (i = 0; i < HANDLES; i++) {
        struct bits parallel;
        pthread_join(threads[i], NULL);
        OK(jobs[i].status);
        parallel = bits_of(jobs[i].model, MANY, CLUSTERS);
        CHECK(same_bits(serial[i], parallel));
        free(serial[i].values), free(parallel.values);
        OK(scmk_destroy(jobs[i].model));
    }
    pthread_barrier_destroy(&start);
}

static void one_two_and_eight_workers_give_identical_bits(void)
{
    static const int64_t counts[] = {2, 8, 3, 1};
    scmk_model *model = many_model(5);
    size_t i, k;
    for (i = 0; i < COUNT(methods); i++) {
        struct bits first;
        set_method(model, methods[i]);
        OK(scmk_set_int(model, "threads", 1));
        OK(scmk_fit(model));
        CHECK(info(model, "threads") == 1);
        first = bits_of(model, MANY, CLUSTERS);
        for (k = 0; k < COUNT(counts); k++) {
            struct bits other;
            OK(scmk_set_int(model, "threads", counts[k]));
            OK(scmk_fit(model));
            CHECK(info(model, "threads") == counts[k]);
            other = bits_of(model, MANY, CLUSTERS);
            if (!same_bits(first, other))
                printf("%s with %d threads\n", methods[i], (int)counts[k]);
            CHECK(same_bits(first, other));
            free(other.values);
        }
        free(first.values);
    }
    OK(scmk_destroy(model));
}

/* Kernels too, at a size where every part of them is divided among the workers. */
static void kernels_of_any_number_of_workers_give_identical_bits(void)
{
    enum { LARGE = 400 };
    double *x = malloc(LARGE * 2 * sizeof *x);
    int32_t *groups = malloc(LARGE * sizeof *groups);
    struct bits first = {NULL, 0};
    int64_t threads;
    blobs_points(x, groups, LARGE);
    for (threads = 1; threads <= 8; threads *= 2) {
        scmk_model *model = NULL;
        struct bits other;
        OK(scmk_create(LARGE, C, &model));
        OK(scmk_set_int(model, "threads", threads));
        OK(scmk_set_int(model, "max_iterations", 2));
        OK(scmk_add_features(model, x, LARGE, 2, 2, 1, "gaussian(t=0.1); polynomial(a=1,b=2)"));
        OK(scmk_fit(model));
        other = bits_of(model, LARGE, C);
        if (!first.values)
            first = other;
        CHECK(same_bits(first, other));
        if (first.values != other.values)
            free(other.values);
        OK(scmk_destroy(model));
    }
    free(first.values), free(x), free(groups);
}

/* Those of a pool for all would stay for ever, and a forked child would wait for them in vain. */
static void no_worker_outlives_a_call(void)
{
    enum { LARGE = 600 };
    double *x = malloc(LARGE * 2 * sizeof *x), *kernel = malloc(sizeof(double) * LARGE * LARGE);
    int32_t *groups = malloc(LARGE * sizeof *groups), *labels = malloc(LARGE * sizeof *labels);
    scmk_model *model = NULL;
    double value;
    size_t i;
    blobs_points(x, groups, LARGE);
    blobs_kernel(x, LARGE, 50, kernel, LARGE);
    OK(scmk_create(LARGE, C, &model));
    CHECK(process_threads() == process_first_threads);
    OK(scmk_add_kernel(model, kernel, LARGE, LARGE));
    CHECK(process_threads_ended());
    OK(scmk_borrow_kernel(model, kernel, LARGE, LARGE));
    CHECK(process_threads_ended());
    OK(scmk_add_features(model, x, LARGE, 2, 2, 1, "gaussian(t=0.1); linear"));
    CHECK(process_threads_ended());
    OK(scmk_set_int(model, "max_iterations", 3));
    OK(scmk_set_int(model, "restarts", 2));
    for (i = 0; i < COUNT(methods); i++) {
        set_method(model, methods[i]);
        OK(scmk_fit(model));
        CHECK(process_threads_ended());
    }
    OK(scmk_labels(model, labels, LARGE));
    for (i = 0; i < scmk_metric_count(); i++) {
        const char *name;
        OK(scmk_metric_name(i, &name, NULL));
        OK(scmk_metric(name, groups, labels, LARGE, &value));
        CHECK(process_threads() == process_first_threads);
    }
    /* Nor one of a call that failed. */
    kernel[7] = NAN;
    STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, kernel, LARGE, LARGE));
    CHECK(process_threads_ended());
    OK(scmk_destroy(model));
    free(x), free(kernel), free(groups), free(labels);
}

/* Threads of this process whose name does not begin with the library's; -1 without /proc. */
static long foreign_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    long count = 0;
    if (!folder)
        return -1;
    while ((entry = readdir(folder)) != NULL) {
        char path[300], name[32] = "";
        FILE *file;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "r");
        if (!file)
            continue;
        if (fgets(name, sizeof name, file))
            count += strncmp(name, "scmk-", 5) != 0;
        fclose(file);
    }
    closedir(folder);
    return count;
}

static void workers_of_a_fit_are_as_many_as_asked_for(void)
{
    scmk_model *model = many_model(5);
    struct meeting meeting;
    double until = process_clock() + 10;
    OK(scmk_set_int(model, "threads", 3));
    meet(&meeting, model, 1);
    /* The test's own: this one and the one that fits. A new thread has no name for a moment. */
    while (foreign_threads() > process_first_threads + 1 && process_clock() < until)
        process_sleep(0.002);
    CHECK(process_first_threads < 0 || foreign_threads() == process_first_threads + 1);
    CHECK(process_first_threads < 0 || process_threads() == process_first_threads + 1 + 3);
    OK(part(&meeting));
    CHECK(process_threads_ended());
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(second_thread_gets_busy_at_once),
        TEST(first_thread_is_unaffected_by_the_second),
        TEST(second_thread_may_ask_at_any_moment),
        TEST(message_and_cancel_make_no_one_busy),
        TEST(sixteen_threads_have_the_bits_of_a_serial_run),
        TEST(one_two_and_eight_workers_give_identical_bits),
        TEST(kernels_of_any_number_of_workers_give_identical_bits),
        TEST(no_worker_outlives_a_call),
        TEST(workers_of_a_fit_are_as_many_as_asked_for),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
