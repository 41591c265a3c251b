/* What a user does: features or kernels in, labels, weights and the similarity graph out. */
#include "blobs.h"
#include "check.h"

#include <stdlib.h>

enum { N = 90, KERNELS = 3, LEADING = N + 5 };

static const double width[KERNELS] = {5, 50, 500};
static double points[N * 2], kernels[KERNELS][LEADING * N];
static int32_t truth[N];

struct result {
    int32_t labels[N];
    double weights[KERNELS], embedding[N * BLOBS], similarity[N * N], objective;
};

static void read_result(scmk_model *model, struct result *result)
{
    memset(result, 0, sizeof *result);
    OK(scmk_labels(model, result->labels, N));
    OK(scmk_weights(model, result->weights, KERNELS));
    OK(scmk_embedding(model, result->embedding, N * BLOBS));
    OK(scmk_similarity(model, result->similarity, N * N));
    OK(scmk_info_real(model, "objective", &result->objective));
}

static int same_bits(const struct result *a, const struct result *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static scmk_model *from_kernels(scmk_status (*add)(scmk_model *, const double *, size_t, size_t))
{
    scmk_model *model = NULL;
    int i;
    OK(scmk_create(N, BLOBS, &model));
    OK(scmk_set_text(model, "preset", "joint"));
    for (i = 0; i < KERNELS; i++)
        OK(add(model, kernels[i], N, LEADING));
    return model;
}

static void weights_graph_and_trace(scmk_model *model, const struct result *result)
{
    double roots = 0, *trace, gap;
    double *values;
    size_t *colptr, *rows, i, j, k, length = 0, first = 0;
    int64_t nnz, iterations, components, threads;
    int wrong = 0;

    for (i = 0; i < KERNELS; i++) {
        wrong += !(result->weights[i] >= 0);
        roots += sqrt(result->weights[i]);
    }
    CHECK(wrong == 0 && fabs(roots - 1) < 1e-12);

    for (j = 0; j < N; j++) {
        double sum = 0;
        for (i = 0; i < N; i++) {
            wrong += !(result->similarity[i + j * N] >= 0);
            sum += result->similarity[i + j * N];
        }
        wrong += fabs(sum - 1) > 1e-9;
    }
    CHECK(wrong == 0);

    OK(scmk_info_int(model, "similarity_nnz", &nnz));
    OK(scmk_info_int(model, "iterations", &iterations));
    OK(scmk_info_int(model, "components", &components));
    OK(scmk_info_int(model, "threads", &threads));
    OK(scmk_info_real(model, "kkt_residual", &gap));
    CHECK(nnz >= N && nnz <= (int64_t)N * N);
    CHECK(iterations >= 1 && components >= 1 && threads >= 1);
    CHECK(gap >= 0 && gap <= 1e-9);

    colptr = malloc((N + 1) * sizeof *colptr);
    rows = malloc((size_t)nnz * sizeof *rows);
    values = malloc((size_t)nnz * sizeof *values);
    OK(scmk_similarity_csc(model, colptr, N + 1, rows, values, (size_t)nnz));
    CHECK(colptr[0] == 0 && colptr[N] == (size_t)nnz);
    k = 0;
    for (j = 0; j < N; j++) {
        CHECK(colptr[j] == k);
        for (i = 0; i < N; i++) {
            double dense = result->similarity[i + j * N];
            if (dense == 0)
                continue;
            wrong += k >= colptr[j + 1] || rows[k] != i || values[k] != dense;
            k++;
        }
    }
    CHECK(wrong == 0 && k == (size_t)nnz);

    OK(scmk_trace(model, NULL, 0, &length));
    CHECK(length == (size_t)iterations);
    trace = malloc((length + 1) * sizeof *trace);
    trace[length] = -7;
    OK(scmk_trace(model, trace, length + 1, &length));
    for (i = 1; i < length; i++)
        wrong += trace[i] > trace[i - 1] + 1e-12 * fabs(trace[i - 1]);
    CHECK(wrong == 0 && trace[length] == -7 && trace[length - 1] == result->objective);
    trace[0] = -7;
    OK(scmk_trace(model, trace, 1, &first));
    CHECK(first == length && trace[0] != -7);

    free(colptr);
    free(rows);
    free(values);
    free(trace);
}

static void copied_and_borrowed_kernels_give_one_answer(void)
{
    static struct result first, other;
    scmk_model *model = from_kernels(scmk_add_kernel), *borrowed;
    double accuracy;
    int64_t outcome;

    OK(scmk_fit(model));
    read_result(model, &first);
    CHECK(memcmp(first.labels, truth, sizeof truth) == 0);
    OK(scmk_metric("accuracy", truth, first.labels, N, &accuracy));
    CHECK(accuracy == 1);
    OK(scmk_info_int(model, "outcome", &outcome));
    CHECK(outcome == SCMK_OUTCOME_CONVERGED);
    weights_graph_and_trace(model, &first);
    OK(scmk_destroy(model));

    borrowed = from_kernels(scmk_borrow_kernel);
    OK(scmk_fit(borrowed));
    read_result(borrowed, &other);
    CHECK(same_bits(&first, &other));
    OK(scmk_destroy(borrowed));
}

/* Samples as rows, then as columns; the same kernels, the same bits. */
static void features_by_row_and_by_column_give_one_answer(void)
{
    static struct result first, other;
    scmk_model *model = from_kernels(scmk_add_kernel);
    double by_column[N * 2];
    size_t i;

    for (i = 0; i < N; i++) {
        by_column[i] = points[2 * i];
        by_column[N + i] = points[2 * i + 1];
    }
    OK(scmk_clear_kernels(model));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "gaussian(t=0.1); linear"));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "polynomial(a=1,b=2)"));
    OK(scmk_fit(model));
    read_result(model, &first);
    CHECK(memcmp(first.labels, truth, sizeof truth) == 0);
    OK(scmk_clear_kernels(model));
    OK(scmk_add_features(model, by_column, N, 2, 1, N,
                         "gaussian(t=0.1); linear; polynomial(a=1,b=2)"));
    OK(scmk_fit(model));
    read_result(model, &other);
    CHECK(same_bits(&first, &other));
    OK(scmk_destroy(model));
}

static void twelve_kernels_of_the_paper_find_the_groups(void)
{
    scmk_model *model = NULL;
    int32_t labels[N];
    OK(scmk_create(N, BLOBS, &model));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "paper"));
    OK(scmk_fit(model));
    OK(scmk_labels(model, labels, N));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(copied_and_borrowed_kernels_give_one_answer),
        TEST(features_by_row_and_by_column_give_one_answer),
        TEST(twelve_kernels_of_the_paper_find_the_groups),
    };
    size_t i;
    blobs_points(points, truth, N);
    for (i = 0; i < KERNELS; i++)
        blobs_kernel(points, N, width[i], kernels[i], LEADING);
    return run_tests(tests, COUNT(tests), argc, argv);
}
