/* What every test of the C interface uses: checks that go on after a failure, tests by name, what a
 * process holds, children that must end. Only MESSAGE calls the library, so that a test may load it
 * late. Functions are inline so that none has to be used. */
#ifndef CHECK_H
#define CHECK_H

#include <dirent.h>
#include <pthread.h>
#include <scmk.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that takes longer hangs; a sanitizer or valgrind on a busy machine may need a while. */
enum { PATIENCE = 240 };

static pthread_mutex_t failures_lock = PTHREAD_MUTEX_INITIALIZER;
static int failures;

static inline void check_that(int truth, long got, const char *what, const char *file, int line)
{
    if (truth)
        return;
    pthread_mutex_lock(&failures_lock);
    /* A fault that comes with every fit would fill the screen. */
    if (++failures <= 20)
        printf("%s:%d: %s (%ld)\n", file, line, what, got);
    pthread_mutex_unlock(&failures_lock);
}

#define CHECK(truth) check_that((truth) != 0, 0, #truth, __FILE__, __LINE__)
/* The call answers this status. */
#define STATUS(expected, call) check_status((call), (expected), #call, __FILE__, __LINE__)
#define OK(call) STATUS(SCMK_OK, call)

static inline void check_status(long got, long expected, const char *what, const char *file,
                                int line)
{
    check_that(got == expected, got, what, file, line);
}

/* The model's message (or, for NULL, the thread's) has this text in it. */
#define MESSAGE(model, part) check_message((model), (part), __FILE__, __LINE__)

static inline void check_message(const scmk_model *model, const char *part, const char *file,
                                 int line)
{
    char text[512] = "";
    scmk_status status = scmk_error_message(model, text, sizeof text, NULL);
    int found = status == SCMK_OK && strstr(text, part) != NULL;
    if (!found)
        printf("message is \"%s\", without \"%s\"\n", text, part);
    check_that(found, status, "message", file, line);
}

/* Whether a tool watches that keeps freed memory and makes everything slow: see tools/test-c. */
static inline int instrumented(void)
{
    return getenv("SCMK_INSTRUMENTED") != NULL;
}

static inline double process_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void process_sleep(double seconds)
{
    struct timespec time;
    time.tv_sec = (time_t)seconds;
    time.tv_nsec = (long)(1e9 * (seconds - (double)time.tv_sec));
    nanosleep(&time, NULL);
}

static inline long process_entries(const char *path)
{
    long count = 0;
    struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    while ((entry = readdir(folder)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* Each of these is -1 where there is no /proc, and a comparison with itself then holds. */
static inline long process_threads(void)
{
    return process_entries("/proc/self/task");
}

static inline long process_descriptors(void)
{
    return process_entries("/proc/self/fd");
}

static inline long process_resident(void)
{
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return -1;
    if (fscanf(file, "%ld %ld", &size, &resident) != 2)
        resident = -1;
    fclose(file);
    return resident < 0 ? -1 : resident * sysconf(_SC_PAGESIZE);
}

/* How many threads there were before the first test. */
static long process_first_threads;

/* Whether only those are left: the kernel shows a thread for a moment after its end. */
static inline int process_threads_ended(void)
{
    double until = process_clock() + 10;
    while (process_threads() > process_first_threads && process_clock() < until)
        process_sleep(0.002);
    return process_threads() == process_first_threads;
}

/* Waits for a child; its exit status, or 1000 + the signal that ended it. */
static inline int process_wait(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Forks a child that runs work and ends with 0 if it met its expectations. One that hangs is ended
 * by SIGALRM. */
static inline pid_t process_child(void (*work)(void *), void *argument)
{
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        failures = 0;
        process_first_threads = process_threads();
        work(argument);
        fflush(stdout);
        _exit(failures != 0);
    }
    return child;
}

struct test {
    const char *name;
    void (*run)(void);
};

#define TEST(name) {#name, name}
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Runs all tests, the one that is named on the command line, or all but the one named after a dash;
 * the answer is the program's exit status. */
static inline int run_tests(const struct test *tests, size_t count, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    size_t i;
    int failed = 0, found = 0;
    process_first_threads = process_threads();
    for (i = 0; i < count; i++) {
        if (name && (*name == '-' ? strcmp(name + 1, tests[i].name) == 0
                                  : strcmp(name, tests[i].name) != 0))
            continue;
        found = 1;
        failures = 0;
        tests[i].run();
        printf("%s %s\n", failures ? "FAILED" : "ok  ", tests[i].name);
        fflush(stdout);
        failed += failures != 0;
    }
    if (!found)
        fprintf(stderr, "no test is named %s\n", name ? name : "");
    return failed || !found;
}

#endif
