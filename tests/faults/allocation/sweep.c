/*
 * Fails the k-th allocation of the library, once and from then on, for every k of a whole run:
 * create, options, kernels, fit, results, destroy. Needs shim.c preloaded.
 *
 *   sweep [STEP]     tries about every STEP-th k (1: all)
 *
 * Each k runs in a child of its own, so that an abort is counted and not fatal. A call answers
 * SCMK_OK or SCMK_E_OUT_OF_MEMORY with its outputs untouched; after that nothing fails any more, the
 * call is made again on the same handle, and the answer must be that of a run without failures.
 */
#include <math.h>
#include <scmk.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Absent, and then NULL, unless the shim is preloaded. */
extern void shim_arm(long k, int from_then_on) __attribute__((weak));
extern long shim_disarm(void) __attribute__((weak));

enum { LARGEST = 700 };

struct run {
    const char *name, *method, *labels;
    int n, c, threads, progress;
    /* Whether the library has been used before in the process. */
    int later;
};

static const struct run RUNS[] = {
    {"scmk, first use", "scmk", "kmeans", 24, 3, 2, 0, 0},
    {"scmk, later use", "scmk", "kmeans", 24, 3, 2, 0, 1},
    {"scmk, progress", "scmk", "rotation", 24, 3, 1, 1, 1},
    {"scmk, 150 samples", "scmk", "qr", 150, 4, 2, 0, 1},
    {"scmk, 600 samples", "scmk", "kmeans", 600, 5, 2, 0, 1},
    {"kkm", "kkm", "kmeans", 60, 3, 2, 0, 1},
    {"sc", "sc", "kmeans", 60, 3, 2, 0, 1},
    {"rkkm", "rkkm", "kmeans", 60, 3, 2, 0, 1},
    {"mkkm", "mkkm", "kmeans", 60, 3, 2, 0, 1},
    {"aasc", "aasc", "kmeans", 60, 3, 2, 0, 1},
    {"rmkkm", "rmkkm", "kmeans", 60, 3, 2, 0, 1},
};

/* What a run answers. */
struct answer {
    int32_t labels[LARGEST];
    double weights[3], objective;
};

static double features[LARGEST * 3], kernel[LARGEST * LARGEST];

static void make_input(const struct run *run)
{
    uint32_t state = 12345;
    for (int i = 0; i < run->n; i++)
        for (int k = 0; k < 3; k++) {
            state = state * 1664525u + 1013904223u;
            features[3 * i + k] = 4.0 * (i % run->c == k) + (state >> 8) / 16777216.0;
        }
    for (int j = 0; j < run->n; j++)
        for (int i = 0; i < run->n; i++) {
            double distance = 0;
            for (int k = 0; k < 3; k++)
                distance += pow(features[3 * i + k] - features[3 * j + k], 2);
            kernel[i + (size_t)j * run->n] = exp(-distance / 8);
        }
}

static int keep_going(void *data, const char *step, int64_t iteration, double fraction,
                      double objective)
{
    (void)data, (void)step, (void)iteration, (void)fraction, (void)objective;
    return 0;
}

/* Whether the run may go on: what a call answered, and again without failures if it had failed. */
static int lacking;

static int survived(scmk_status status)
{
    if (status == SCMK_E_OUT_OF_MEMORY && !lacking) {
        lacking = 1;
        shim_disarm();
        return 0;
    }
    if (status != SCMK_OK) {
        char text[300] = "";
        scmk_error_message(NULL, text, sizeof text, NULL);
        printf("  answered %s (%s)\n", scmk_status_name(status), text);
        exit(3);
    }
    return 1;
}

#define CALL(call)                                                                                 \
    do {                                                                                           \
        if (!survived(call))                                                                       \
            survived(call);                                                                        \
    } while (0)

/* Makes the calls of a run. Returns 0, or 1 if memory was lacking on the way. */
static int go_through(const struct run *run, struct answer *answer)
{
    lacking = 0;
    size_t n = (size_t)run->n;
    scmk_model *model = NULL;
    CALL(scmk_create(n, (size_t)run->c, &model));
    CALL(scmk_set_text(model, "method", run->method));
    CALL(scmk_set_text(model, "labels", run->labels));
    CALL(scmk_set_int(model, "threads", run->threads));
    CALL(scmk_set_int(model, "restarts", 3));
    CALL(scmk_set_int(model, "max_iterations", 3));
    CALL(scmk_add_kernel(model, kernel, n, n));
    CALL(scmk_add_features(model, features, n, 3, 3, 1, "linear; gaussian(t=0.5)"));
    if (run->progress)
        CALL(scmk_set_progress(model, keep_going, NULL));
    CALL(scmk_fit(model));
    CALL(scmk_labels(model, answer->labels, n));
    CALL(scmk_weights(model, answer->weights, 3));
    CALL(scmk_info_real(model, "objective", &answer->objective));
    CALL(scmk_destroy(model));
    return lacking;
}

/* The k-th allocation fails in a child. Returns its exit status, or minus a signal. */
static int attempt(const struct run *run, const struct answer *expected, long k, int onwards)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        static struct answer answer;
        alarm(60);
        shim_arm(k, onwards);
        int lacked = go_through(run, &answer);
        shim_disarm();
        /* A handle that was kept is no memory that the failure has cost: everything works again. */
        if (memcmp(&answer, expected, sizeof answer) != 0) {
            printf("  another answer\n");
            exit(4);
        }
        _exit(lacked);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* How many allocations a run makes, in a child so that the parent has not used the library. */
static long count(const struct run *run, struct answer *answer)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(2);
    fflush(stdout);
    if (fork() == 0) {
        static struct answer found;
        shim_arm(0, 0);
        go_through(run, &found);
        long calls = shim_disarm();
        if (write(ends[1], &calls, sizeof calls) < 0 || write(ends[1], &found, sizeof found) < 0)
            _exit(2);
        _exit(0);
    }
    close(ends[1]);
    long calls = 0;
    char *into = (char *)answer;
    size_t have = 0;
    if (read(ends[0], &calls, sizeof calls) != (ssize_t)sizeof calls)
        exit(2);
    for (ssize_t got = 1; have < sizeof *answer && got > 0; have += (size_t)got)
        got = read(ends[0], into + have, sizeof *answer - have);
    close(ends[0]);
    wait(NULL);
    return calls;
}

int main(int argc, char **argv)
{
    long step = argc > 1 ? atol(argv[1]) : 1;
    if (!shim_arm || step < 1) {
        fprintf(stderr, "usage: LD_PRELOAD=shim.so sweep [STEP]\n");
        return 2;
    }
    long points = 0, lacked = 0, failed = 0;
    for (size_t r = 0; r < sizeof RUNS / sizeof *RUNS; r++) {
        const struct run *run = &RUNS[r];
        static struct answer expected;
        make_input(run);
        time_t started = time(NULL);
        if (run->later)
            go_through(run, &expected);
        long calls = count(run, &expected);
        long own_points = 0, own_lacked = 0, own_failed = 0;
        /* Small runs are tried more closely, the largest one less. */
        long stride = run->n < 100 ? (step + 9) / 10 : run->n < 500 || step == 1 ? step : 30 * step;
        for (int onwards = 0; onwards < 2; onwards++)
            for (long k = 1; k <= calls + 5; k += stride) {
                int outcome = attempt(run, &expected, k, onwards);
                own_points++;
                own_lacked += outcome == 1;
                if (outcome != 0 && outcome != 1) {
                    own_failed++;
                    printf("FAILED %s: allocation %ld of %ld%s: %s %d\n", run->name, k, calls,
                           onwards ? " and all that follow" : "",
                           outcome < 0 ? "killed by signal" : "exit status", abs(outcome));
                }
            }
        printf("%-20s %5ld allocations: %5ld failures tried, %5ld answered OUT_OF_MEMORY, %ld not "
               "survived (%ld s)\n",
               run->name, calls, own_points, own_lacked, own_failed, (long)(time(NULL) - started));
        points += own_points;
        lacked += own_lacked;
        failed += own_failed;
    }
    printf("%ld failure points, %ld answered OUT_OF_MEMORY, %ld correct all the same, %ld not "
           "survived\n",
           points, lacked, points - lacked - failed, failed);
    return failed != 0;
}
