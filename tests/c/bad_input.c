/* Bad input gets its code and its message, touches no output, and the model works afterwards. */
#include "blobs.h"
#include "check.h"

#include <stdlib.h>

enum { N = 12, C = 3 };
#define HUGE_SIZE ((size_t)-1)

static double good[N * N], bad[N * N], points[N * 2];
static int32_t truth[N];

static double *with(size_t row, size_t col, double value)
{
    memcpy(bad, good, sizeof bad);
    bad[row + col * N] = value;
    return bad;
}

/* A fresh answer of a model with one good kernel, to compare with after each refusal. */
static int works(scmk_model *model)
{
    int32_t labels[N];
    return scmk_fit(model) == SCMK_OK && scmk_labels(model, labels, N) == SCMK_OK &&
           memcmp(labels, truth, sizeof truth) == 0;
}

static void sizes_of_a_model(void)
{
    scmk_model *model = (scmk_model *)(void *)good;
    STATUS(SCMK_E_DIMENSION, scmk_create(0, 1, &model));
    MESSAGE(NULL, "n_samples");
    STATUS(SCMK_E_DIMENSION, scmk_create(5, 0, &model));
    MESSAGE(NULL, "n_clusters");
    STATUS(SCMK_E_DIMENSION, scmk_create(5, 6, &model));
    MESSAGE(NULL, "n_samples = 5");
    STATUS(SCMK_E_TOO_LARGE, scmk_create(HUGE_SIZE, 2, &model));
    STATUS(SCMK_E_TOO_LARGE, scmk_create((size_t)1 << (sizeof(size_t) * 4), 2, &model));
    CHECK(model == (scmk_model *)(void *)good);
}

static void numbers(scmk_model *model)
{
    size_t i;
    STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, with(7, 4, NAN), N, N));
    MESSAGE(model, "kernel 1 entry (7, 4) is NaN");
    STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, with(4, 7, NAN), N, N));
    STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, with(0, 0, INFINITY), N, N));
    MESSAGE(model, "inf");
    STATUS(SCMK_E_NOT_FINITE, scmk_borrow_kernel(model, with(N - 1, 0, -INFINITY), N, N));
    MESSAGE(model, "-inf");
    STATUS(SCMK_E_ASYMMETRIC, scmk_add_kernel(model, with(5, 2, 0.75), N, N));
    MESSAGE(model, "kernel 1");
    MESSAGE(model, "0.75");
    STATUS(SCMK_E_ASYMMETRIC, scmk_borrow_kernel(model, with(2, 5, -0.75), N, N));
    memset(bad, 0, sizeof bad);
    STATUS(SCMK_E_DEGENERATE, scmk_add_kernel(model, bad, N, N));
    MESSAGE(model, "kernel 1");
    for (i = 0; i < N * N; i++)
        bad[i] = 3;
    STATUS(SCMK_E_DEGENERATE, scmk_add_kernel(model, bad, N, N));
    memset(bad, 0, sizeof bad);
    for (i = 0; i < N; i++)
        bad[i * N + i] = i % 2 ? -1 : 1;
    STATUS(SCMK_E_NOT_PSD, scmk_add_kernel(model, bad, N, N));
    MESSAGE(model, "eigenvalue");
    CHECK(works(model));
}

static void sizes_of_a_kernel(scmk_model *model)
{
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_add_kernel(model, NULL, N, N));
    MESSAGE(model, "'values'");
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, N - 1, N));
    MESSAGE(model, "11");
    MESSAGE(model, "12");
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, 0, 0));
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, N, N - 1));
    MESSAGE(model, "leading_dim");
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, N, HUGE_SIZE));
    STATUS(SCMK_E_DIMENSION, scmk_borrow_kernel(model, good, N, HUGE_SIZE / 64));
    STATUS(SCMK_E_TOO_LARGE, scmk_add_kernel(model, good, HUGE_SIZE, HUGE_SIZE));
    STATUS(SCMK_E_TOO_LARGE,
           scmk_add_kernel(model, good, (size_t)1 << (sizeof(size_t) * 4), N));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_add_kernel(model, (const double *)(const void *)((const char *)good + 1), N, N));
    MESSAGE(model, "multiple of 8");
    CHECK(works(model));
}

static void features(scmk_model *model)
{
    double x[N * 2];
    memcpy(x, points, sizeof x);
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_add_features(model, NULL, N, 2, 2, 1, "linear"));
    MESSAGE(model, "'x'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_add_features(model, x, N, 2, 2, 1, NULL));
    MESSAGE(model, "'kernels'");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, x, N, 2, 2, 1, "line\xff"));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N - 1, 2, 2, 1, "linear"));
    MESSAGE(model, "11");
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N, 0, 2, 1, "linear"));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N, 2, 0, 1, "linear"));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N, 2, HUGE_SIZE, 1, "linear"));
    MESSAGE(model, "sample_stride");
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N, 2, 2, HUGE_SIZE, "linear"));
    MESSAGE(model, "feature_stride");
    STATUS(SCMK_E_TOO_LARGE, scmk_add_features(model, x, N, HUGE_SIZE, 2, 1, "linear"));
    STATUS(SCMK_E_TOO_LARGE, scmk_add_features(model, x, HUGE_SIZE, 2, 2, 1, "linear"));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_add_features(model, (const double *)(const void *)((const char *)x + 4), N, 2,
                             2, 1, "linear"));
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_add_features(model, x, N, 2, 2, 1, "gausian(t=1)"));
    MESSAGE(model, "gaussian");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, x, N, 2, 2, 1, "gaussian(t=-1)"));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, x, N, 2, 2, 1, ""));
    x[5] = NAN;
    STATUS(SCMK_E_NOT_FINITE, scmk_add_features(model, x, N, 2, 2, 1, "linear"));
    MESSAGE(model, "(2, 1)");
    CHECK(works(model));
}

static void outputs(scmk_model *model)
{
    int32_t labels[N];
    double values[N * N], trace = 7;
    size_t colptr[N + 2], rows[N * N], len = 7;
    int64_t nnz, whole = 7;
    size_t i;
    int touched = 0;

    CHECK(works(model));
    memset(labels, 0x55, sizeof labels);
    memset(values, 0x55, sizeof values);
    memset(colptr, 0x55, sizeof colptr);
    memset(rows, 0x55, sizeof rows);
    STATUS(SCMK_E_DIMENSION, scmk_labels(model, labels, N - 1));
    MESSAGE(model, "11 given, at least 12");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_labels(model, NULL, N));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_labels(model, (int32_t *)(void *)((char *)labels + 1), N));
    STATUS(SCMK_E_DIMENSION, scmk_weights(model, values, 0));
    STATUS(SCMK_E_DIMENSION, scmk_embedding(model, values, N * C - 1));
    STATUS(SCMK_E_DIMENSION, scmk_similarity(model, values, N * N - 1));
    OK(scmk_info_int(model, "similarity_nnz", &nnz));
    STATUS(SCMK_E_DIMENSION,
           scmk_similarity_csc(model, colptr, N, rows, values, (size_t)nnz));
    STATUS(SCMK_E_DIMENSION,
           scmk_similarity_csc(model, colptr, N + 2, rows, values, (size_t)nnz));
    STATUS(SCMK_E_DIMENSION,
           scmk_similarity_csc(model, colptr, N + 1, rows, values, (size_t)nnz - 1));
    STATUS(SCMK_E_NULL_ARGUMENT,
           scmk_similarity_csc(model, colptr, N + 1, NULL, values, (size_t)nnz));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_trace(model, NULL, 1, &len));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_trace(model, &trace, 1, NULL));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_info_int(model, "objective", &whole));
    CHECK(len == 7 && trace == 7 && whole == 7);
    for (i = 0; i < N; i++)
        touched += labels[i] != 0x55555555;
    for (i = 0; i < N * N; i++)
        touched += memcmp(&values[i], labels, 4) != 0 || memcmp(&rows[i], labels, 4) != 0;
    for (i = 0; i < N + 2; i++)
        touched += memcmp(&colptr[i], labels, 4) != 0;
    CHECK(touched == 0);

    /* A longer buffer is allowed; what lies beyond the result stays. */
    OK(scmk_weights(model, values, N * N));
    CHECK(values[0] == 1 && memcmp(&values[1], labels, 4) == 0);
    CHECK(works(model));
}

int main(void)
{
    scmk_model *model;
    size_t length;
    char text[8];

    blobs_points(points, truth, N);
    blobs_kernel(points, N, 50, good, N);
    sizes_of_a_model();
    OK(scmk_create(N, C, &model));
    OK(scmk_add_kernel(model, good, N, N));
    CHECK(works(model));
    numbers(model);
    sizes_of_a_kernel(model);
    features(model);
    outputs(model);

    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "alpha", NAN));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "beta", -1));
    MESSAGE(model, "beta = -1");
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "delta", 1));
    OK(scmk_error_message(model, text, sizeof text, &length));
    CHECK(strlen(text) == sizeof text - 1 && length > sizeof text);
    CHECK(works(model));

    /* A fit that may not have the memory it needs. */
    OK(scmk_set_int(model, "memory_limit", 1));
    STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
    MESSAGE(model, "bytes");
    OK(scmk_set_int(model, "memory_limit", 0));
    CHECK(works(model));
    OK(scmk_destroy(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_fit(model));
    return check_result();
}
