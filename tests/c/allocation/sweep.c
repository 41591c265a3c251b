/*
 * Fails the k-th allocation of the library, once and from then on, for every k of a whole run:
 * create, options, kernels, fit, results, destroy; and in turn all allocations from some size on.
 * Wide runs have what a caller may make large: samples, kernels, texts, labels, models. Needs shim.c
 * preloaded.
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
extern void shim_arm_from(size_t bytes) __attribute__((weak));
extern long shim_disarm(void) __attribute__((weak));

enum { LARGEST = 2500, KERNELS = 1000, TEXT = 1 << 20, LABELS = 100000, MODELS = 10000 };

/* What a run answers: a sum over all that it was told. */
typedef uint64_t answer;

struct run {
    const char *name;
    void (*go)(const struct run *, answer *);
    const char *method, *labels;
    int n, c, threads, progress;
    /* Whether the library has been used before in the process. */
    int later;
    /* How many allocations are left out between two that are tried, in units of STEP / 97. */
    int sparse;
};

static void fit(const struct run *, answer *);
static void suggestion(const struct run *, answer *);
static void many_samples(const struct run *, answer *);
static void many_kernels(const struct run *, answer *);
static void long_texts(const struct run *, answer *);
static void many_labels(const struct run *, answer *);
static void many_models(const struct run *, answer *);

static const struct run RUNS[] = {
    {"scmk, first use", fit, "scmk", "kmeans", 24, 3, 2, 0, 0, 10},
    {"scmk, later use", fit, "scmk", "kmeans", 24, 3, 2, 0, 1, 10},
    {"scmk, progress", fit, "scmk", "rotation", 24, 3, 1, 1, 1, 10},
    {"scmk, 150 samples", fit, "scmk", "qr", 150, 4, 2, 0, 1, 97},
    {"joint", fit, "joint", "kmeans", 24, 3, 2, 0, 1, 10},
    {"a suggestion", suggestion, "scmk", "kmeans", 24, 3, 2, 0, 1, 97},
    {"scmk, 600 samples", fit, "scmk", "kmeans", 600, 5, 2, 0, 1, 2910},
    {"kkm", fit, "kkm", "kmeans", 60, 3, 2, 0, 1, 10},
    {"sc", fit, "sc", "kmeans", 60, 3, 2, 0, 1, 10},
    {"rkkm", fit, "rkkm", "kmeans", 60, 3, 2, 0, 1, 10},
    {"mkkm", fit, "mkkm", "kmeans", 60, 3, 2, 0, 1, 10},
    {"aasc", fit, "aasc", "kmeans", 60, 3, 2, 0, 1, 10},
    {"rmkkm", fit, "rmkkm", "kmeans", 60, 3, 2, 0, 1, 10},
    {"2500 samples", many_samples, "scmk", "kmeans", 2500, 3, 2, 0, 1, 970},
    {"a thousand kernels", many_kernels, "scmk", "kmeans", 6, 2, 1, 0, 1, 4850},
    {"a megabyte of text", long_texts, "scmk", "kmeans", 6, 2, 1, 0, 1, 1},
    {"100,000 labels", many_labels, "scmk", "kmeans", 6, 2, 1, 0, 1, 1},
    {"10,000 models", many_models, "scmk", "kmeans", 6, 2, 1, 0, 1, 970},
};

static double features[LARGEST * 3], kernel[(size_t)LARGEST * LARGEST];

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

/* Whether memory was lacking on the way. */
static int lacking;

/* Whether the run may go on: what a call answered, and again without failures if it had failed. */
static int survived(scmk_status status)
{
    if (status == SCMK_E_OUT_OF_MEMORY && !lacking) {
        lacking = 1;
        shim_disarm();
        return 0;
    }
    if (status != SCMK_OK) {
        printf("  answered %s (%s)\n", scmk_status_name(status), scmk_last_error());
        exit(3);
    }
    return 1;
}

#define CALL(call)                                                                                 \
    do {                                                                                           \
        if (!survived(call))                                                                       \
            survived(call);                                                                        \
    } while (0)

/* The same for a call that is refused even if there is memory. */
#define REFUSED(code, call)                                                                        \
    do {                                                                                           \
        scmk_status answered = call;                                                               \
        if (answered != (code) && !survived(answered) && (answered = call) != (code))              \
            survived(answered);                                                                    \
    } while (0)

static void add(answer *sum, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *sum = (*sum ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

/* All of a fit. */
static void fit(const struct run *run, answer *sum)
{
    static int32_t labels[LARGEST];
    double weights[3], objective = 0;
    size_t n = (size_t)run->n;
    scmk_model *model = NULL;
    CALL(scmk_create(n, (size_t)run->c, &model));
    CALL(scmk_set_text(model, strcmp(run->method, "joint") ? "method" : "preset", run->method));
    CALL(scmk_set_text(model, "labels", run->labels));
    CALL(scmk_set_int(model, "threads", run->threads));
    CALL(scmk_set_int(model, "restarts", 3));
    CALL(scmk_set_int(model, "max_iterations", 3));
    CALL(scmk_name_view(model, "given"));
    CALL(scmk_add_kernel(model, kernel, n, n));
    CALL(scmk_add_features(model, features, n, 3, 3, 1, "linear; gaussian(t=0.5)"));
    if (run->progress)
        CALL(scmk_set_progress(model, keep_going, NULL));
    CALL(scmk_fit(model));
    CALL(scmk_labels(model, labels, n));
    CALL(scmk_weights(model, weights, 3));
    CALL(scmk_info_real(model, "objective", &objective));
    CALL(scmk_destroy(model));
    add(sum, labels, n * sizeof *labels);
    add(sum, weights, sizeof weights);
    add(sum, &objective, sizeof objective);
}

/* A fit that chooses the number of clusters, and all that is told without labels. */
static void suggestion(const struct run *run, answer *sum)
{
    static const char *const names[] = {"suggested_clusters", "silhouette", "stability"};
    double scores[24] = {0}, value = 0;
    char warning[200] = "";
    size_t n = (size_t)run->n;
    scmk_model *model = NULL;
    CALL(scmk_create(n, 0, &model));
    CALL(scmk_set_int(model, "threads", run->threads));
    CALL(scmk_set_int(model, "subsamples", 2));
    CALL(scmk_add_features(model, features, n, 3, 3, 1, NULL));
    CALL(scmk_add_kernel(model, kernel, n, n));
    CALL(scmk_suggest_clusters(model, 2, 6, scores, n));
    CALL(scmk_fit(model));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        CALL(scmk_info_real(model, names[k], &value));
        add(sum, &value, sizeof value);
    }
    CALL(scmk_info_text(model, "warning", warning, sizeof warning, NULL));
    CALL(scmk_destroy(model));
    add(sum, scores, sizeof scores);
    add(sum, warning, strlen(warning));
}

/* Results of many samples; the fit itself is cut short. */
static void many_samples(const struct run *run, answer *sum)
{
    static int32_t labels[LARGEST];
    static double embedding[LARGEST * 3];
    static size_t starts[LARGEST + 1], rows[2 * LARGEST];
    static double values[2 * LARGEST];
    size_t n = (size_t)run->n;
    int64_t nnz = 0;
    double score = 0, share = 0;
    scmk_model *model = NULL;
    CALL(scmk_create(n, (size_t)run->c, &model));
    CALL(scmk_set_int(model, "threads", run->threads));
    CALL(scmk_borrow_kernel(model, kernel, n, n));
    CALL(scmk_set_real(model, "time_limit", 1e-9));
    CALL(scmk_fit(model));
    CALL(scmk_set_real(model, "time_limit", 1e-9));
    CALL(scmk_labels(model, labels, n));
    CALL(scmk_embedding(model, embedding, n * (size_t)run->c));
    CALL(scmk_info_int(model, "similarity_nnz", &nnz));
    CALL(scmk_similarity_csc(model, starts, n + 1, rows, values, 2 * LARGEST));
    CALL(scmk_view_weights(model, &share, 1));
    CALL(scmk_model_metric(model, "accuracy", labels, NULL, n, &score));
    CALL(scmk_destroy(model));
    add(sum, labels, n * sizeof *labels);
    add(sum, &nnz, sizeof nnz);
    add(sum, rows, (size_t)nnz * sizeof *rows);
    add(sum, &score, sizeof score);
}

static void many_kernels(const struct run *run, answer *sum)
{
    static double weights[3 * KERNELS];
    static char list[8 * KERNELS];
    char name[64] = "";
    size_t n = (size_t)run->n;
    scmk_model *model = NULL;
    CALL(scmk_create(n, (size_t)run->c, &model));
    CALL(scmk_set_int(model, "threads", run->threads));
    CALL(scmk_set_int(model, "max_iterations", 2));
    /* Comparing all pairs of them would take as long for each of a million allocations. */
    CALL(scmk_set_text(model, "preset", "joint"));
    for (int k = 0; k < KERNELS; k++)
        CALL(scmk_add_kernel(model, kernel, n, n));
    list[0] = 0;
    for (int k = 0; k < KERNELS; k++)
        memcpy(list + 7 * k, k ? ";linear" : " linear", 8);
    CALL(scmk_add_features(model, features, n, 3, 3, 1, list));
    CALL(scmk_fit(model));
    CALL(scmk_weights(model, weights, 2 * KERNELS));
    CALL(scmk_view_weights(model, weights, 3 * KERNELS));
    CALL(scmk_kernel_name(model, 2 * KERNELS - 1, NULL, name, sizeof name, NULL));
    CALL(scmk_destroy(model));
    add(sum, weights, sizeof *weights * (KERNELS + 1));
    add(sum, name, strlen(name));
}

static void long_texts(const struct run *run, answer *sum)
{
    static char text[TEXT + 1];
    double value = 0;
    int32_t one = 1;
    size_t n = (size_t)run->n;
    scmk_model *model = NULL;
    CALL(scmk_create(n, (size_t)run->c, &model));
    memset(text, 'x', TEXT);
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, text, 1));
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_get_real(model, text, &value));
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_info_real(model, text, &value));
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_metric(text, &one, &one, 1, &value));
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "method", text));
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "alpha", text));
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_name_view(model, text));
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_add_features(model, features, n, 3, 3, 1, text));
    memset(text, ';', TEXT);
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, features, n, 3, 3, 1, text));
    memset(text, '(', TEXT);
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, features, n, 3, 3, 1, text));
    memset(text, 0xff, TEXT);
    REFUSED(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, text, 1));
    for (size_t at = 0; at + 7 <= TEXT; at += 7)
        memcpy(text + at, "linear;", 7);
    text[TEXT / 7 * 7 - 1] = 0;
    text[TEXT / 7 * 7 - 2] = '!';
    REFUSED(SCMK_E_UNKNOWN_OPTION, scmk_add_features(model, features, n, 3, 3, 1, text));
    int64_t kernels = -1;
    CALL(scmk_info_int(model, "kernels", &kernels));
    CALL(scmk_destroy(model));
    add(sum, &kernels, sizeof kernels);
    memset(text, 0, sizeof text);
}

static void many_labels(const struct run *run, answer *sum)
{
    static int32_t truth[LABELS], labels[LABELS];
    static const char *const NAMES[] = {"accuracy", "nmi", "nmi_arithmetic",
                                        "purity",   "ari", "inverse_purity"};
    (void)run;
    for (int kinds = 100; kinds <= LABELS; kinds *= 1000) {
        for (int i = 0; i < LABELS; i++) {
            truth[i] = i % kinds;
            /* Far apart, so that no table of them can be made. */
            labels[i] = (int32_t)((uint32_t)(i % (kinds - 1)) * 40503u);
        }
        for (size_t m = 0; m < sizeof NAMES / sizeof *NAMES; m++) {
            double value = -1;
            CALL(scmk_metric(NAMES[m], truth, labels, LABELS, &value));
            add(sum, &value, sizeof value);
        }
    }
}

static void many_models(const struct run *run, answer *sum)
{
    static scmk_model *models[MODELS];
    int made = 0;
    for (int k = 0; k < MODELS; k++) {
        CALL(scmk_create((size_t)run->n, (size_t)run->c, &models[k]));
        made += models[k] != NULL;
    }
    for (int k = 0; k < MODELS; k++)
        CALL(scmk_destroy(models[k]));
    add(sum, &made, sizeof made);
}

/* Makes the calls of a run. Returns 0, or 1 if memory was lacking on the way. */
static int go_through(const struct run *run, answer *sum)
{
    lacking = 0;
    *sum = 14695981039346656037u;
    run->go(run, sum);
    return lacking;
}

/* How allocations fail: the k-th, it and all that follow, or all of so many bytes and more. */
enum how { ONCE, ONWARDS, FROM_SIZE };

/* They fail in a child. Returns its exit status, or minus a signal. */
static int attempt(const struct run *run, answer expected, long k, enum how how)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        answer found;
        alarm(120);
        if (how == FROM_SIZE)
            shim_arm_from((size_t)k);
        else
            shim_arm(k, how == ONWARDS);
        int lacked = go_through(run, &found);
        shim_disarm();
        /* A handle that was kept is no memory that the failure has cost: everything works again. */
        if (found != expected) {
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
static long count(const struct run *run, answer *found)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(2);
    fflush(stdout);
    if (fork() == 0) {
        shim_arm(0, 0);
        go_through(run, found);
        long calls = shim_disarm();
        if (write(ends[1], &calls, sizeof calls) < 0 || write(ends[1], found, sizeof *found) < 0)
            _exit(2);
        _exit(0);
    }
    close(ends[1]);
    long calls = 0;
    if (read(ends[0], &calls, sizeof calls) != (ssize_t)sizeof calls ||
        read(ends[0], found, sizeof *found) != (ssize_t)sizeof *found)
        exit(2);
    close(ends[0]);
    wait(NULL);
    return calls;
}

int main(int argc, char **argv)
{
    static const long SIZES[] = {1, 100, 1000, 4096, 16385, 65536, 1 << 20};
    long step = argc > 1 ? atol(argv[1]) : 1;
    if (!shim_arm || step < 1) {
        fprintf(stderr, "usage: LD_PRELOAD=shim.so sweep [STEP]\n");
        return 2;
    }
    long points = 0, lacked = 0, failed = 0;
    for (size_t r = 0; r < sizeof RUNS / sizeof *RUNS; r++) {
        const struct run *run = &RUNS[r];
        answer expected;
        make_input(run);
        time_t started = time(NULL);
        if (run->later)
            go_through(run, &expected);
        long calls = count(run, &expected);
        long own_points = 0, own_lacked = 0, own_failed = 0;
        /* Small runs are tried more closely, long ones less. */
        long stride = step == 1 && run->go == fit ? 1 : (step * run->sparse + 96) / 97;
        for (enum how how = ONCE; how <= FROM_SIZE; how++)
            for (long at = 0, k; at < (how == FROM_SIZE ? 7 : (calls + 5 + stride - 1) / stride);
                 at++) {
                k = how == FROM_SIZE ? SIZES[at] : 1 + at * stride;
                int outcome = attempt(run, expected, k, how);
                own_points++;
                own_lacked += outcome == 1;
                if (outcome != 0 && outcome != 1) {
                    own_failed++;
                    printf("FAILED %s: %s %ld of %ld%s: %s %d\n", run->name,
                           how == FROM_SIZE ? "bytes from" : "allocation", k, calls,
                           how == ONWARDS ? " and all that follow" : "",
                           outcome < 0 ? "killed by signal" : "exit status", abs(outcome));
                }
            }
        printf("%-20s %6ld allocations: %5ld failures tried, %5ld answered OUT_OF_MEMORY, %ld not "
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
