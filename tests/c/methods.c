/* Every method behind the same handle: labels, weights, what a method has and what it has not. */
#include "blobs.h"
#include "check.h"

enum { N = 60, KERNELS = 2 };

static double x[N * 2], kernels[KERNELS][N * N];
static int32_t truth[N];

static double sum(const double *values, size_t count)
{
    double total = 0;
    size_t i;
    for (i = 0; i < count; i++)
        total += values[i];
    return total;
}

static int never_rises(const double *trace, size_t len)
{
    size_t i;
    for (i = 1; i < len; i++)
        if (trace[i] > trace[i - 1])
            return 0;
    return len > 0;
}

static void one_method(scmk_model *model, const char *method)
{
    int64_t has_embedding, has_similarity;
    int32_t labels[N];
    double weights[KERNELS], trace[100], embedding[N * BLOBS], accuracy, value;
    double *similarity = malloc(sizeof(double) * N * N);
    int64_t count;
    size_t len = 0;

    OK(scmk_set_text(model, "method", method));
    OK(scmk_fit(model));
    OK(scmk_labels(model, labels, N));
    OK(scmk_metric("accuracy", truth, labels, N, &accuracy));
    CHECK(accuracy == 1.0);
    OK(scmk_weights(model, weights, KERNELS));
    CHECK(weights[0] > 0 && weights[1] > 0);
    CHECK(sum(weights, KERNELS) <= 1 + 1e-12);
    OK(scmk_trace(model, trace, 100, &len));
    CHECK(never_rises(trace, len));
    OK(scmk_info_real(model, "objective", &value));
    CHECK(value == trace[len - 1]);

    OK(scmk_info_int(model, "has_embedding", &has_embedding));
    OK(scmk_info_int(model, "has_similarity", &has_similarity));
    STATUS(has_embedding ? SCMK_OK : SCMK_E_STATE, scmk_embedding(model, embedding, N * BLOBS));
    STATUS(has_embedding ? SCMK_OK : SCMK_E_STATE, scmk_info_int(model, "components", &count));
    STATUS(has_similarity ? SCMK_OK : SCMK_E_STATE, scmk_similarity(model, similarity, N * N));
    STATUS(has_similarity ? SCMK_OK : SCMK_E_STATE, scmk_info_real(model, "kkt_residual", &value));
    if (!has_similarity)
        MESSAGE(model, "has no kkt_residual");
    free(similarity);
}

static void bad_options(scmk_model *model)
{
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "method", "kmeans"));
    MESSAGE(model, "method = 'kmeans' is not allowed: one of scmk, ");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "gamma", 1.0));
    MESSAGE(model, "gamma = 1 is not allowed: a number from 0.01 to 0.99");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "laplacian", "random walk"));
    MESSAGE(model, "one of symmetric, unnormalized");
}

static void warm_start(scmk_model *model)
{
    int32_t labels[N];
    OK(scmk_set_text(model, "method", "scmk"));
    OK(scmk_set_int(model, "warm_start", 1));
    OK(scmk_fit(model));
    OK(scmk_set_real(model, "alpha", 0.5));
    OK(scmk_fit(model));
    OK(scmk_labels(model, labels, N));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);
}

static void every_method_finds_the_groups(void)
{
    scmk_model *model = NULL;
    size_t i;
    blobs_points(x, truth, N);
    blobs_kernel(x, N, 30, kernels[0], N);
    blobs_kernel(x, N, 60, kernels[1], N);
    OK(scmk_create(N, BLOBS, &model));
    OK(scmk_add_kernel(model, kernels[0], N, N));
    OK(scmk_borrow_kernel(model, kernels[1], N, N));
    for (i = 0; i < scmk_method_count(); i++) {
        const char *name;
        OK(scmk_method_name(i, &name, NULL));
        one_method(model, name);
    }
    bad_options(model);
    warm_start(model);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(every_method_finds_the_groups),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
