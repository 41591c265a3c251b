/* What the tests of bad input, limits and threads share: a small model that is known to work, the
 * call of everything at once, and all that a fit left in one piece. */
#ifndef MODEL_H
#define MODEL_H

#include "blobs.h"
#include "check.h"

enum { N = 12, C = BLOBS };

/* Every method, and with scmk also its preset joint, which takes several iterations. */
static const char *const methods[] = {"scmk", "joint", "kkm",  "sc",
                                      "rkkm", "mkkm",  "aasc", "rmkkm"};

/* Sets one of these; alpha, normalize and the like are set after it. */
static inline void set_method(scmk_model *model, const char *name)
{
    int joint = strcmp(name, "joint") == 0;
    OK(scmk_set_text(model, "method", joint ? "scmk" : name));
    OK(scmk_set_text(model, "preset", joint ? "joint" : "auto"));
}

/* What an output is filled with that must not be written to. */
enum { SENTINEL = 0x55 };

static inline void prefill(void *buffer, size_t bytes)
{
    memset(buffer, SENTINEL, bytes);
}

static inline int untouched(const void *buffer, size_t bytes)
{
    const unsigned char *byte = buffer;
    size_t i;
    for (i = 0; i < bytes; i++)
        if (byte[i] != SENTINEL)
            return 0;
    return 1;
}

/* Three groups of four samples; a good kernel of them. */
static double points[N * 2], good[N * N];
static int32_t truth[N];

static inline void make_samples(void)
{
    blobs_points(points, truth, N);
    blobs_kernel(points, N, 50, good, N);
}

static inline scmk_model *new_model(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(N, C, &model));
    return model;
}

/* A model with the good kernel. */
static inline scmk_model *good_model(void)
{
    scmk_model *model = new_model();
    OK(scmk_add_kernel(model, good, N, N));
    return model;
}

/* Whether it still finds the groups: asked after each refusal. */
static inline int works(scmk_model *model)
{
    int32_t labels[N];
    return scmk_fit(model) == SCMK_OK && scmk_labels(model, labels, N) == SCMK_OK &&
           memcmp(labels, truth, sizeof truth) == 0;
}

static inline int64_t info(const scmk_model *model, const char *name)
{
    int64_t value = -1;
    OK(scmk_info_int(model, name, &value));
    return value;
}

/* Whether each result function, with arguments that are right for N samples, answers this status
 * and writes nothing. */
static inline int results_answer(const scmk_model *model, scmk_status expected)
{
    struct {
        int32_t labels[N];
        double values[N * N];
        size_t colptr[N + 1], rows[N * N], len;
        int64_t whole;
        char text[16];
    } out;
    scmk_status got[9];
    size_t i, count = 0;
    int wrong = 0;
    prefill(&out, sizeof out);
    got[count++] = scmk_labels(model, out.labels, N);
    got[count++] = scmk_weights(model, out.values, N);
    got[count++] = scmk_embedding(model, out.values, N * N);
    got[count++] = scmk_similarity(model, out.values, N * N);
    got[count++] = scmk_similarity_csc(model, out.colptr, N + 1, out.rows, out.values, N * N);
    got[count++] = scmk_trace(model, out.values, N, &out.len);
    got[count++] = scmk_info_real(model, "objective", out.values);
    got[count++] = scmk_info_int(model, "iterations", &out.whole);
    got[count++] = scmk_info_text(model, "warning", out.text, sizeof out.text, &out.len);
    for (i = 0; i < count; i++) {
        if (got[i] != expected) {
            printf("result function %d answers %s\n", (int)i, scmk_status_name(got[i]));
            wrong++;
        }
    }
    /* Not the padding of the structure, but what the functions know of. */
    return !wrong && untouched(out.labels, sizeof out.labels) &&
           untouched(out.values, sizeof out.values) && untouched(out.colptr, sizeof out.colptr) &&
           untouched(out.rows, sizeof out.rows) && untouched(&out.len, sizeof out.len) &&
           untouched(&out.whole, sizeof out.whole) && untouched(out.text, sizeof out.text);
}

/* The same for every other function that takes a model, but for destroy, cancel and
 * error_message, to which not all cases apply. */
static inline int all_answer(scmk_model *model, scmk_status expected)
{
    struct {
        double real, scores[2];
        int64_t whole;
        size_t needed;
        char text[16];
    } out;
    scmk_status got[14];
    size_t i, count = 0;
    int wrong = 0;
    prefill(&out, sizeof out);
    got[count++] = scmk_add_kernel(model, good, N, N);
    got[count++] = scmk_borrow_kernel(model, good, N, N);
    got[count++] = scmk_add_features(model, points, N, 2, 2, 1, "linear");
    got[count++] = scmk_clear_kernels(model);
    got[count++] = scmk_set_clusters(model, 2);
    got[count++] = scmk_set_real(model, "alpha", 0.5);
    got[count++] = scmk_set_int(model, "seed", 3);
    got[count++] = scmk_set_text(model, "labels", "qr");
    got[count++] = scmk_get_real(model, "alpha", &out.real);
    got[count++] = scmk_get_int(model, "seed", &out.whole);
    got[count++] = scmk_get_text(model, "labels", out.text, sizeof out.text, &out.needed);
    got[count++] = scmk_set_progress(model, NULL, NULL);
    got[count++] = scmk_fit(model);
    got[count++] = scmk_suggest_clusters(model, 2, 3, out.scores, 2);
    for (i = 0; i < count; i++) {
        if (got[i] != expected) {
            printf("function %d answers %s\n", (int)i, scmk_status_name(got[i]));
            wrong++;
        }
    }
    return !wrong && untouched(&out, sizeof out) && results_answer(model, expected);
}

/* All that a fit left but its times; what the method does not have is left out. */
struct bits {
    double *values;
    size_t count;
};

static inline struct bits bits_of(const scmk_model *model, size_t n, size_t c)
{
    static const char *const infos[] = {"objective", "kkt_residual", "embedding_residual",
                                        "components", "similarity_nnz", "outcome"};
    size_t kernels = (size_t)info(model, "kernels"), length = 0, i;
    int32_t *labels = malloc(n * sizeof *labels);
    struct bits bits;
    double *next;
    OK(scmk_trace(model, NULL, 0, &length));
    next = bits.values = calloc(n + kernels + n * c + n * n + length + COUNT(infos),
                                sizeof *bits.values);
    OK(scmk_labels(model, labels, n));
    for (i = 0; i < n; i++)
        *next++ = labels[i];
    OK(scmk_weights(model, next, kernels));
    next += kernels;
    if (scmk_embedding(model, next, n * c) == SCMK_OK)
        next += n * c;
    if (scmk_similarity(model, next, n * n) == SCMK_OK)
        next += n * n;
    OK(scmk_trace(model, next, length, &length));
    next += length;
    for (i = 0; i < COUNT(infos); i++)
        if (scmk_info_real(model, infos[i], next) == SCMK_OK)
            next++;
    bits.count = (size_t)(next - bits.values);
    free(labels);
    return bits;
}

static inline int same_bits(struct bits a, struct bits b)
{
    return a.count == b.count && memcmp(a.values, b.values, a.count * sizeof *a.values) == 0;
}

static inline int all_finite(struct bits bits)
{
    size_t i;
    for (i = 0; i < bits.count; i++)
        if (!isfinite(bits.values[i]))
            return 0;
    return 1;
}

#endif
