/* A process that ends while a fit runs, or that calls the library while it ends: it ends with the
 * status it was given, and nothing is printed.
 *   exit [TEST]
 * Each way to end is tried in processes of their own, which are this program with --end. */
#include "blobs.h"
#include "check.h"


enum { N = 300, TIMES = 8 };

static double points[N * 2], kernel[N * N];
static int32_t truth[N];
static const char *program;

/* ---- In the process that is to end. Here a failure is printed, which the parent sees. */

static scmk_model *model;
static int given;
static void (*in_callback)(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int fitting;
static pthread_t fitter;

static int32_t progress(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    (void)user, (void)step, (void)iteration, (void)fraction, (void)objective;
    if (in_callback)
        in_callback();
    pthread_mutex_lock(&lock);
    fitting = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void until_it_fits(void)
{
    pthread_mutex_lock(&lock);
    while (!fitting)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static scmk_model *new_model(void)
{
    scmk_model *new = NULL;
    OK(scmk_create(N, BLOBS, &new));
    OK(scmk_add_kernel(new, kernel, N, N));
    OK(scmk_set_int(new, "threads", 2));
    return new;
}

/* A model whose fit ends only when it is stopped. */
static scmk_model *endless(void)
{
    scmk_model *new = new_model();
    OK(scmk_set_text(new, "method", "rkkm"));
    OK(scmk_set_int(new, "restarts", 1000000));
    OK(scmk_set_progress(new, progress, NULL));
    return new;
}

static void *fit(void *argument)
{
    OK(scmk_fit(argument));
    return NULL;
}

static void fit_elsewhere(void)
{
    model = endless();
    CHECK(pthread_create(&fitter, NULL, fit, model) == 0);
    until_it_fits();
}

static void exit_now(void)
{
    exit(given);
}

static void immediate_exit_now(void)
{
    _exit(given);
}

static int end_exit(void)
{
    fit_elsewhere();
    exit(given);
}

static int end_return(void)
{
    fit_elsewhere();
    return given;
}

static int end_at_once(void)
{
    fit_elsewhere();
    _exit(given);
}

static int end_many(void)
{
    pthread_t threads[4];
    int i;
    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, fit, endless()) == 0);
    until_it_fits();
    return given;
}

static int end_in_callback(void)
{
    in_callback = exit_now;
    return scmk_fit(endless()) ? 0 : 0;
}

static int end_at_once_in_callback(void)
{
    in_callback = immediate_exit_now;
    return scmk_fit(endless()) ? 0 : 0;
}

static void *exit_elsewhere(void *argument)
{
    until_it_fits();
    exit(given);
    return argument;
}

static int end_elsewhere(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, exit_elsewhere, NULL) == 0);
    return scmk_fit(endless()) ? 0 : 0;
}

static void *exit_after_main(void *argument)
{
    OK(scmk_fit(argument));
    exit(given);
    return NULL;
}

/* The main thread ends before the others. */
static int end_main_thread(void)
{
    pthread_t thread;
    model = new_model();
    CHECK(pthread_create(&thread, NULL, exit_after_main, model) == 0);
    pthread_exit(NULL);
    return 0;
}

/* A tidy host: stops its fit and clears up when the process ends. */
static void stop_and_destroy(void)
{
    OK(scmk_cancel(model));
    pthread_join(fitter, NULL);
    OK(scmk_destroy(model));
    fflush(stdout);
}

static int end_stopping_in_handler(void)
{
    fit_elsewhere();
    atexit(stop_and_destroy);
    return given;
}

/* What the destructor of a static object in C++ does. */
static void destroy(void)
{
    char text[100];
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "alpha", -1));
    OK(scmk_error_message(model, text, sizeof text, NULL));
    CHECK(strstr(text, "alpha") != NULL);
    OK(scmk_destroy(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(model));
    OK(scmk_error_message(NULL, text, sizeof text, NULL));
    fflush(stdout);
}

static int end_destroying_in_handler(void)
{
    model = new_model();
    OK(scmk_fit(model));
    atexit(destroy);
    return given;
}

static int32_t count(void *user, const char *step, int64_t iteration, double fraction,
                     double objective)
{
    (void)step, (void)iteration, (void)fraction, (void)objective;
    ++*(int *)user;
    return 0;
}

static void fit_late(void)
{
    int32_t labels[N];
    int calls = 0;
    OK(scmk_fit(model));
    OK(scmk_set_progress(model, count, &calls));
    OK(scmk_fit(model));
    CHECK(calls > 0);
    OK(scmk_labels(model, labels, N));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);
    OK(scmk_destroy(model));
    fflush(stdout);
}

static int end_fitting_in_handler(void)
{
    model = new_model();
    OK(scmk_fit(model));
    atexit(fit_late);
    return given;
}

static pthread_key_t key;

static void destroy_late(void *argument)
{
    model = argument;
    destroy();
}

static void *use_and_end(void *argument)
{
    (void)argument;
    model = new_model();
    OK(scmk_fit(model));
    CHECK(pthread_setspecific(key, model) == 0);
    return NULL;
}

static int end_thread_with_model(void)
{
    pthread_t thread;
    CHECK(pthread_key_create(&key, destroy_late) == 0);
    CHECK(pthread_create(&thread, NULL, use_and_end, NULL) == 0);
    pthread_join(thread, NULL);
    return given;
}

static const struct way {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"exit", end_exit},
    {"return", end_return},
    {"at_once", end_at_once},
    {"many", end_many},
    {"in_callback", end_in_callback},
    {"at_once_in_callback", end_at_once_in_callback},
    {"elsewhere", end_elsewhere},
    {"main_thread", end_main_thread},
    {"stopping_in_handler", end_stopping_in_handler},
    {"destroying_in_handler", end_destroying_in_handler},
    {"fitting_in_handler", end_fitting_in_handler},
    {"thread_with_model", end_thread_with_model},
};

static int end(const char *way, const char *status)
{
    size_t i;
    given = atoi(status);
    for (i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(way, ways[i].name) == 0)
            return ways[i].run();
    fprintf(stderr, "no way to end is named %s\n", way);
    return 1;
}

/* ---- In the process that tests. */

/* Runs this program with --end; its status and all it prints, on stdout or stderr. */
static int ended(const char *way, int status, char *output, size_t capacity)
{
    char text[16], rest[256];
    size_t length = 0;
    ssize_t got;
    int ends[2];
    pid_t child;
    snprintf(text, sizeof text, "%d", status);
    if (pipe(ends) != 0)
        return -1;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        alarm(PATIENCE);
        execl(program, program, "--end", way, text, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((got = read(ends[0], output + length, capacity - 1 - length)) > 0)
        length += (size_t)got;
    /* A child that has more to say must not fail for want of a reader. */
    while (read(ends[0], rest, sizeof rest) > 0)
        ;
    close(ends[0]);
    output[length] = 0;
    return process_wait(child);
}

static void ends_well(const char *way)
{
    static const int statuses[] = {0, 1, 3, 42};
    char output[400];
    int i, status;
    for (i = 0; i < TIMES; i++) {
        status = ended(way, statuses[i % 4], output, sizeof output);
        STATUS(statuses[i % 4], status);
        CHECK(output[0] == 0);
        if (output[0] || status != statuses[i % 4]) {
            printf("%s\n", output);
            return;
        }
    }
}

static void exit_while_another_thread_fits(void) { ends_well("exit"); }
static void return_from_main_while_another_thread_fits(void) { ends_well("return"); }
static void immediate_exit_while_another_thread_fits(void) { ends_well("at_once"); }
static void return_from_main_while_many_threads_fit(void) { ends_well("many"); }
static void exit_in_a_progress_function(void) { ends_well("in_callback"); }
static void immediate_exit_in_a_progress_function(void) { ends_well("at_once_in_callback"); }
static void exit_elsewhere_while_main_fits(void) { ends_well("elsewhere"); }
static void main_thread_ends_first(void) { ends_well("main_thread"); }
static void stop_the_fit_in_an_exit_handler(void) { ends_well("stopping_in_handler"); }
static void destroy_in_an_exit_handler(void) { ends_well("destroying_in_handler"); }
static void fit_in_an_exit_handler(void) { ends_well("fitting_in_handler"); }
static void destroy_when_a_thread_ends(void) { ends_well("thread_with_model"); }

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(exit_while_another_thread_fits),
        TEST(return_from_main_while_another_thread_fits),
        TEST(immediate_exit_while_another_thread_fits),
        TEST(return_from_main_while_many_threads_fit),
        TEST(exit_in_a_progress_function),
        TEST(immediate_exit_in_a_progress_function),
        TEST(exit_elsewhere_while_main_fits),
        TEST(main_thread_ends_first),
        TEST(stop_the_fit_in_an_exit_handler),
        TEST(destroy_in_an_exit_handler),
        TEST(fit_in_an_exit_handler),
        TEST(destroy_when_a_thread_ends),
    };
    program = argv[0];
    blobs_points(points, truth, N);
    blobs_kernel(points, N, 30, kernel, N);
    if (argc == 4 && strcmp(argv[1], "--end") == 0)
        return end(argv[2], argv[3]);
    return run_tests(tests, COUNT(tests), argc, argv);
}
