/* Many threads with many models, and everything that can happen to them mixed: every answer that
 * was completed is the serial one bit for bit, every call answers what it should, and in the end
 * memory, threads and descriptors are back.
 *   load [SECONDS [THREADS [HANDLES]]]     10 s, 8 threads with 4 models each and 4 in common
 *   load mixed_load                       the same, under the name of its only test */
#include "blobs.h"
#include "check.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { N = 75, KERNELS = 3, CLUSTERS = 4, MOST_ITERATIONS = 60, MOST_THREADS = 256 };

/* ---- Problems, and their answers when nothing else runs. */

struct answer {
    int32_t labels[N];
    double weights[KERNELS], objective;
    double trace[MOST_ITERATIONS];
    size_t iterations;
};

static struct problem {
    const char *method, *preset;
    size_t kernels;
    /* Whether a stopped fit leaves a part of the whole one's trace; the others count restarts. */
    int prefix;
    const char *option[3];
    double value[3];
    struct answer answer;
} problems[] = {
    {"scmk", "auto", 3, 1, {0}, {0}, {{0}, {0}, 0, {0}, 0}},
    {"scmk", "joint", 3, 1, {"max_iterations", "tolerance"}, {20, 0}, {{0}, {0}, 0, {0}, 0}},
    {"scmk", "joint", 1, 1, {"alpha", "beta"}, {0.5, 0.01}, {{0}, {0}, 0, {0}, 0}},
    /* Most of its time goes into the labels. */
    {"scmk", "joint", 2, 1, {"max_iterations", "restarts"}, {2, 400}, {{0}, {0}, 0, {0}, 0}},
    {"sc", "auto", 2, 1, {"restarts"}, {50}, {{0}, {0}, 0, {0}, 0}},
    {"aasc", "auto", 3, 1, {"max_iterations"}, {10}, {{0}, {0}, 0, {0}, 0}},
    {"kkm", "auto", 1, 0, {"restarts"}, {20}, {{0}, {0}, 0, {0}, 0}},
    {"rkkm", "auto", 2, 0, {"restarts"}, {10}, {{0}, {0}, 0, {0}, 0}},
    {"mkkm", "auto", 3, 0, {"restarts"}, {5}, {{0}, {0}, 0, {0}, 0}},
    {"rmkkm", "auto", 3, 0, {"restarts", "gamma"}, {5, 0.3}, {{0}, {0}, 0, {0}, 0}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static double points[N * 2], kernels[KERNELS][N * N];

/* Points without clear groups: answers that depend on every bit before them. */
static void make_kernels(void)
{
    static const double width[KERNELS] = {0.1, 1, 10};
    uint64_t state = 5;
    size_t i;
    for (i = 0; i < N * 2; i++)
        points[i] = blobs_random(&state) + (i / 2 % 3 == 0);
    for (i = 0; i < KERNELS; i++)
        blobs_kernel(points, N, width[i], kernels[i], N);
    (void)blobs_points;
}

static scmk_model *new_model(const struct problem *problem, int threads, int borrows)
{
    scmk_model *model = NULL;
    size_t i;
    OK(scmk_create(N, CLUSTERS, &model));
    for (i = 0; i < problem->kernels; i++)
        OK((borrows ? scmk_borrow_kernel : scmk_add_kernel)(model, kernels[i], N, N));
    OK(scmk_set_text(model, "method", problem->method));
    OK(scmk_set_text(model, "preset", problem->preset));
    OK(scmk_set_int(model, "threads", threads));
    for (i = 0; i < 3 && problem->option[i]; i++)
        OK(scmk_set_real(model, problem->option[i], problem->value[i]));
    return model;
}

static void read_answer(scmk_model *model, const struct problem *problem, struct answer *answer)
{
    scmk_status status;
    memset(answer, 0, sizeof *answer);
    OK(scmk_labels(model, answer->labels, N));
    OK(scmk_weights(model, answer->weights, problem->kernels));
    OK(scmk_trace(model, answer->trace, MOST_ITERATIONS, &answer->iterations));
    /* One that was stopped before its first iteration may have none. */
    status = scmk_info_real(model, "objective", &answer->objective);
    CHECK(status == SCMK_OK || (status == SCMK_E_STATE && answer->iterations == 0));
    CHECK(answer->iterations <= MOST_ITERATIONS);
}

static int64_t outcome_of(scmk_model *model)
{
    int64_t outcome = -1;
    OK(scmk_info_int(model, "outcome", &outcome));
    return outcome;
}

static void solve_serially(void)
{
    size_t i;
    for (i = 0; i < PROBLEMS; i++) {
        scmk_model *model = new_model(&problems[i], 1, 0);
        OK(scmk_fit(model));
        CHECK(outcome_of(model) <= SCMK_OUTCOME_ITERATION_LIMIT);
        read_answer(model, &problems[i], &problems[i].answer);
        OK(scmk_destroy(model));
    }
}

static int same_bits(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

/* ---- The mixed load. */

enum what {
    COMPLETED,
    CANCELLED,
    TIMED_OUT,
    STOPPED_BY_CALLBACK,
    ERRORS,
    CANCELS,
    DESTROYED,
    SHARED,
    WHATS
};

static struct {
    pthread_mutex_t lock;
    long count[WHATS];
} done = {PTHREAD_MUTEX_INITIALIZER, {0}};

static void add(enum what what)
{
    pthread_mutex_lock(&done.lock);
    done.count[what]++;
    pthread_mutex_unlock(&done.lock);
}

/* A model of one thread. The others know its handle from the board, and only cancel. */
struct own {
    scmk_model *model;
    const struct problem *problem;
    int fitted;
    /* For the progress function. */
    int64_t stop_after;
    pthread_t thread;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    struct own *own;
    scmk_model **board;
};

static int threads = 8, handles = 4;
static double deadline;
static struct worker workers[MOST_THREADS];
static pthread_mutex_t board_lock = PTHREAD_MUTEX_INITIALIZER;
/* The handles of all models: those of worker t from t * handles on, those in common at the end. */
static scmk_model **board;

static size_t pick(struct worker *worker, size_t count)
{
    return (size_t)(blobs_random(&worker->random) * (double)count);
}

static scmk_model *on_board(size_t place)
{
    scmk_model *model;
    pthread_mutex_lock(&board_lock);
    model = board[place];
    pthread_mutex_unlock(&board_lock);
    return model;
}

static void put_on_board(size_t place, scmk_model *model)
{
    pthread_mutex_lock(&board_lock);
    board[place] = model;
    pthread_mutex_unlock(&board_lock);
}

static void renew(struct worker *worker, size_t k)
{
    struct own *own = &worker->own[k];
    memset(own, 0, sizeof *own);
    own->problem = &problems[pick(worker, PROBLEMS)];
    own->model = new_model(own->problem, 1 + (int)pick(worker, 3), (int)pick(worker, 2));
    own->thread = pthread_self();
    put_on_board((size_t)(worker - workers) * (size_t)handles + k, own->model);
}

static int32_t stops(void *user, const char *step, int64_t iteration, double fraction,
                     double objective)
{
    const struct own *own = user;
    (void)objective;
    CHECK(pthread_equal(own->thread, pthread_self()));
    CHECK(fraction >= 0 && fraction <= 1);
    return strcmp(step, "iteration") == 0 && iteration >= own->stop_after;
}

static void check_whole_answer(struct own *own)
{
    struct answer answer;
    const struct answer *serial = &own->problem->answer;
    read_answer(own->model, own->problem, &answer);
    CHECK(same_bits(answer.labels, serial->labels, sizeof answer.labels));
    CHECK(same_bits(answer.weights, serial->weights, sizeof answer.weights));
    CHECK(same_bits(&answer.objective, &serial->objective, sizeof answer.objective));
    CHECK(same_bits(&answer, serial, sizeof answer));
}

static void check_part_of_answer(struct own *own)
{
    struct answer answer;
    const struct answer *serial = &own->problem->answer;
    size_t i;
    int wrong = 0;
    read_answer(own->model, own->problem, &answer);
    for (i = 0; i < N; i++)
        wrong += answer.labels[i] < 0 || answer.labels[i] >= CLUSTERS;
    CHECK(wrong == 0);
    if (own->problem->prefix) {
        CHECK(answer.iterations <= serial->iterations);
        CHECK(same_bits(answer.trace, serial->trace, answer.iterations * sizeof *answer.trace));
    }
}

static void fit_own(struct worker *worker, struct own *own)
{
    int limited = pick(worker, 4) == 0, watched = pick(worker, 4) == 0;
    /* From before the first iteration to after the last. */
    double limit = 1e-6 * pow(1e5, blobs_random(&worker->random));
    int64_t iterations = -1, outcome;

    if (limited)
        OK(scmk_set_real(own->model, "time_limit", limit));
    own->stop_after = 1 + (int64_t)pick(worker, 6);
    if (watched)
        OK(scmk_set_progress(own->model, stops, own));
    OK(scmk_fit(own->model));
    own->fitted = 1;
    outcome = outcome_of(own->model);
    OK(scmk_info_int(own->model, "iterations", &iterations));
    switch (outcome) {
    case SCMK_OUTCOME_CONVERGED:
    case SCMK_OUTCOME_ITERATION_LIMIT:
        add(COMPLETED);
        check_whole_answer(own);
        break;
    case SCMK_OUTCOME_TIME_LIMIT:
        add(TIMED_OUT);
        CHECK(limited);
        check_part_of_answer(own);
        break;
    case SCMK_OUTCOME_CANCELLED:
        add(watched && iterations == own->stop_after ? STOPPED_BY_CALLBACK : CANCELLED);
        if (watched && own->problem->prefix)
            CHECK(iterations <= own->stop_after);
        check_part_of_answer(own);
        break;
    default:
        CHECK(!"an outcome that exists");
    }
    if (watched)
        OK(scmk_set_progress(own->model, NULL, NULL));
    if (limited) {
        int32_t labels[N];
        OK(scmk_set_real(own->model, "time_limit", 0));
        STATUS(SCMK_E_STATE, scmk_labels(own->model, labels, N));
        own->fitted = 0;
    }
}

static scmk_status bad_kernel(scmk_model *model, size_t row, size_t col, double value, double scale)
{
    double bad[N * N];
    size_t i;
    for (i = 0; i < N * N; i++)
        bad[i] = scale * kernels[1][i];
    bad[row + col * N] = value;
    return scmk_add_kernel(model, bad, N, N);
}

/* The same where others may cancel, which stops it before it has found anything. */
static int answers_or_stops(scmk_status expected, scmk_status answered)
{
    return answered == expected || answered == SCMK_E_STOPPED;
}

/* One fault of the host, and its answer; the model stays as it was. */
static void provoke(struct worker *worker, struct own *own)
{
    scmk_model *model = own->model, *other = NULL;
    int32_t labels[N];
    double values[N];
    size_t i, untouched = 0;
    char text[200] = "";

    memset(labels, 0x55, sizeof labels);
    switch (pick(worker, 14)) {
    case 0:
        CHECK(answers_or_stops(SCMK_E_NOT_FINITE, bad_kernel(model, 3, 7, NAN, 1)));
        break;
    case 1:
        CHECK(answers_or_stops(SCMK_E_ASYMMETRIC, bad_kernel(model, 3, 7, 0.123, 1)));
        break;
    case 2:
        CHECK(answers_or_stops(SCMK_E_NOT_PSD, bad_kernel(model, 5, 5, -10, 1)));
        break;
    case 3:
        CHECK(answers_or_stops(SCMK_E_DEGENERATE, bad_kernel(model, 0, 0, 0, 0)));
        break;
    case 4:
        STATUS(SCMK_E_DIMENSION, scmk_borrow_kernel(model, kernels[0], N - 1, N));
        break;
    case 5:
        STATUS(SCMK_E_NULL_ARGUMENT, scmk_add_kernel(model, NULL, N, N));
        break;
    case 6:
        STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "alhpa", 1));
        break;
    case 7:
        STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "beta", -1));
        break;
    case 8:
        STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "method", "guess"));
        break;
    case 9:
        STATUS(SCMK_E_UNKNOWN_OPTION, scmk_add_features(model, points, N, 2, 2, 1, "cubic"));
        break;
    case 10:
        STATUS(own->fitted ? SCMK_E_DIMENSION : SCMK_E_STATE, scmk_labels(model, labels, N - 1));
        break;
    case 11:
        STATUS(own->fitted ? SCMK_E_DIMENSION : SCMK_E_STATE, scmk_weights(model, values, 0));
        break;
    case 12:
        OK(scmk_set_int(model, "memory_limit", 1));
        STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
        OK(scmk_set_int(model, "memory_limit", 0));
        own->fitted = 0;
        break;
    default:
        STATUS(SCMK_E_DIMENSION, scmk_create(N, N + 1, &other));
        STATUS(SCMK_E_TOO_LARGE, scmk_create((size_t)-1, 2, &other));
        CHECK(other == NULL);
        OK(scmk_create(N, 2, &other));
        STATUS(SCMK_E_STATE, scmk_fit(other));
        OK(scmk_error_message(other, text, sizeof text, NULL));
        CHECK(strstr(text, "no kernel") != NULL);
        OK(scmk_destroy(other));
        STATUS(SCMK_E_INVALID_HANDLE, scmk_fit(other));
        model = NULL;
    }
    add(ERRORS);
    for (i = 0; i < N; i++)
        untouched += labels[i] == 0x55555555;
    CHECK(untouched == N);
    /* With NULL the text of this thread, which no other thread can have changed. */
    OK(scmk_error_message(model, text, sizeof text, NULL));
    CHECK(text[0] != 0);
    if (own->fitted && outcome_of(own->model) <= SCMK_OUTCOME_ITERATION_LIMIT)
        check_whole_answer(own);
}

static int one_of(scmk_status got, scmk_status a, scmk_status b, scmk_status c, scmk_status d)
{
    return got == a || got == b || got == c || got == d;
}

/* A model in common: anybody may call anything at any time. */
static void use_common(struct worker *worker)
{
    size_t place = (size_t)threads * (size_t)handles + pick(worker, (size_t)handles);
    scmk_model *model = on_board(place);
    const scmk_status ok = SCMK_OK, busy = SCMK_E_BUSY, gone = SCMK_E_INVALID_HANDLE;
    const scmk_status state = SCMK_E_STATE;
    int32_t labels[N];
    int64_t outcome = 0;
    char text[100];
    scmk_status status;

    add(SHARED);
    switch (pick(worker, 8)) {
    case 0:
    case 1:
        CHECK(one_of(scmk_fit(model), ok, busy, gone, ok));
        break;
    case 2:
        CHECK(one_of(scmk_cancel(model), ok, gone, ok, ok));
        break;
    case 3:
        status = scmk_destroy(model);
        CHECK(one_of(status, ok, busy, gone, ok));
        /* Only one of those who try has destroyed it. */
        if (status == SCMK_OK) {
            CHECK(on_board(place) == model);
            put_on_board(place, new_model(&problems[pick(worker, PROBLEMS)], 2, 1));
        }
        break;
    case 4:
        status = scmk_labels(model, labels, N);
        CHECK(one_of(status, ok, busy, gone, state));
        if (status == SCMK_OK)
            CHECK(labels[0] == 0 && labels[N - 1] >= 0 && labels[N - 1] < CLUSTERS);
        break;
    case 5:
        CHECK(one_of(scmk_set_real(model, "time_limit", 0.001), ok, busy, gone, ok));
        break;
    case 6:
        CHECK(one_of(scmk_info_int(model, "outcome", &outcome), ok, busy, gone, state));
        CHECK(outcome >= 0 && outcome <= SCMK_OUTCOME_CANCELLED);
        break;
    default:
        CHECK(one_of(scmk_error_message(model, text, sizeof text, NULL), ok, gone, ok, ok));
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    size_t own = (size_t)(worker - workers) * (size_t)handles, place, k;
    scmk_status status;
    worker->own = calloc((size_t)handles, sizeof *worker->own);
    for (k = 0; k < (size_t)handles; k++)
        renew(worker, k);
    while (process_clock() < deadline) {
        k = pick(worker, (size_t)handles);
        switch (pick(worker, 10)) {
        default:
            fit_own(worker, &worker->own[k]);
            break;
        case 0:
            provoke(worker, &worker->own[k]);
            break;
        case 1:
        case 2:
            /* Somebody's, who may be fitting it, or destroying it just now. */
            place = pick(worker, (size_t)threads * (size_t)handles);
            status = scmk_cancel(on_board(place));
            CHECK(status == SCMK_OK || status == SCMK_E_INVALID_HANDLE);
            add(CANCELS);
            break;
        case 3:
            OK(scmk_destroy(worker->own[k].model));
            STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(worker->own[k].model));
            add(DESTROYED);
            renew(worker, k);
            break;
        case 4:
            use_common(worker);
        }
    }
    for (k = 0; k < (size_t)handles; k++) {
        OK(scmk_destroy(worker->own[k].model));
        put_on_board(own + k, worker->own[k].model);
    }
    free(worker->own);
    return NULL;
}

/* Cancels whatever is being fitted, now and then: some fits must end by themselves. */
static void *cancel_all(void *argument)
{
    const double pause = getenv("SCMK_INSTRUMENTED") ? 0.5 : 0.02;
    size_t place;
    (void)argument;
    while (process_clock() < deadline) {
        for (place = 0; place < (size_t)threads * (size_t)handles; place++) {
            scmk_status status = scmk_cancel(on_board(place));
            CHECK(status == SCMK_OK || status == SCMK_E_INVALID_HANDLE);
            add(CANCELS);
        }
        process_sleep(pause);
    }
    return NULL;
}

static void print_counts(const char *lead)
{
    pthread_mutex_lock(&done.lock);
    printf("     %s%ld fits completed, %ld cancelled, %ld timed out, %ld stopped by their progress "
           "function,\n     %ld errors provoked, %ld cancels, %ld models renewed, %ld calls on "
           "models in common\n",
           lead, done.count[COMPLETED], done.count[CANCELLED], done.count[TIMED_OUT],
           done.count[STOPPED_BY_CALLBACK], done.count[ERRORS], done.count[CANCELS],
           done.count[DESTROYED], done.count[SHARED]);
    pthread_mutex_unlock(&done.lock);
    fflush(stdout);
}

static void run_for(double seconds)
{
    const double began = process_clock();
    const size_t common = (size_t)threads * (size_t)handles;
    double shown = began;
    pthread_t canceller;
    char lead[32];
    size_t k;
    int t;

    deadline = began + seconds;
    board = calloc(common + (size_t)handles, sizeof *board);
    /* A handle of its own for each place, so that none is NULL before its worker has started. */
    for (k = 0; k < common + (size_t)handles; k++)
        board[k] = new_model(&problems[k % PROBLEMS], 2, 1);
    for (k = 0; k < common; k++)
        OK(scmk_destroy(board[k]));
    for (t = 0; t < threads; t++) {
        workers[t].random = (uint64_t)t + 1;
        CHECK(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0);
    }
    CHECK(pthread_create(&canceller, NULL, cancel_all, NULL) == 0);
    while (process_clock() < deadline) {
        process_sleep(0.05);
        if (seconds > 20 && process_clock() - shown >= 5) {
            shown = process_clock();
            snprintf(lead, sizeof lead, "%3.0f s, %ld MiB: ", shown - began,
                     process_resident() >> 20);
            print_counts(lead);
        }
    }
    for (t = 0; t < threads; t++)
        pthread_join(workers[t].thread, NULL);
    pthread_join(canceller, NULL);
    for (k = common; k < common + (size_t)handles; k++)
        OK(scmk_destroy(board[k]));
    free(board);
}

static long resident_now(void)
{
#ifdef __GLIBC__
    /* What is free goes back to the system, or it would count. */
    malloc_trim(0);
#endif
    return process_resident();
}

static double seconds = 10;

static void mixed_load(void)
{
    long descriptors = process_descriptors(), before, after;
    /* Longer than this a run does not get without a hang. */
    alarm((unsigned)(4 * seconds) + PATIENCE);
    solve_serially();
    run_for(fmin(20, fmax(1, seconds / 4)));
    CHECK(process_threads_ended());
    before = resident_now();
    memset(done.count, 0, sizeof done.count);
    run_for(seconds);
    CHECK(process_threads_ended());
    CHECK(process_descriptors() == descriptors);
    after = resident_now();
    print_counts("");
    printf("     resident memory %ld KiB after the warm-up, %ld KiB in the end\n", before / 1024,
           after / 1024);
    /* An instrumented program holds freed memory back, and is slow. */
    if (!getenv("SCMK_INSTRUMENTED")) {
        check_that(after - before < 8 << 20, after - before, "resident memory has grown", __FILE__,
                   __LINE__);
        CHECK(done.count[COMPLETED] > 0 && done.count[CANCELLED] > 0);
        CHECK(done.count[TIMED_OUT] > 0 && done.count[ERRORS] > 0 && done.count[DESTROYED] > 0);
    }
    alarm(0);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {TEST(mixed_load)};
    make_kernels();
    if (argc > 1 && strspn(argv[1], "0123456789.") == strlen(argv[1])) {
        seconds = atof(argv[1]);
        threads = argc > 2 ? atoi(argv[2]) : threads;
        handles = argc > 3 ? atoi(argv[3]) : handles;
        if (threads < 1 || threads > MOST_THREADS || handles < 1 || handles > 1000) {
            fprintf(stderr, "threads are from 1 to %d, handles from 1 to 1000\n", MOST_THREADS);
            return 1;
        }
        argc = 1;
    }
    return run_tests(tests, COUNT(tests), argc, argv);
}
