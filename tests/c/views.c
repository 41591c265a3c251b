/* Views and kernels by name, their weights, another number of clusters, what a result has, and the
 * last error of a thread. */
#include "blobs.h"
#include "check.h"

enum { N = 12 };

static int is_named(scmk_model *model, size_t kernel, const char *expected)
{
    char name[64] = "";
    OK(scmk_kernel_name(model, kernel, NULL, name, sizeof name, NULL));
    if (strcmp(name, expected) != 0)
        printf("kernel %d is called %s\n", (int)kernel, name);
    return strcmp(name, expected) == 0;
}

static int64_t info(scmk_model *model, const char *name)
{
    int64_t value = -1;
    OK(scmk_info_int(model, name, &value));
    return value;
}

static void views_and_kernels_have_names_and_weights(void)
{
    double x[2 * N], kernel[N * N], weights[5], shares[3], embedding[N * 4], value, sum;
    int32_t truth[N], labels[N];
    scmk_model *model = NULL, *other = NULL;
    char name[64], longer[300];
    size_t view = 9, needed = 0, i;

    blobs_points(x, truth, N);
    blobs_kernel(x, N, 50, kernel, N);
    OK(scmk_create(N, 3, &model));
    CHECK(info(model, "samples") == N && info(model, "clusters") == 3);

    /* One view without a name: what a kernel was built by is enough. */
    OK(scmk_add_features(model, x, N, 2, 2, 1, "gaussian(t=0.1); linear"));
    CHECK(is_named(model, 0, "gaussian(t=0.1)") && is_named(model, 1, "linear"));

    /* Several, one of them with a name, one a kernel. */
    OK(scmk_name_view(model, "shape"));
    OK(scmk_add_features(model, x, N, 2, 2, 1, "linear; polynomial"));
    OK(scmk_add_kernel(model, kernel, N, N));
    CHECK(info(model, "views") == 3 && info(model, "kernels") == 5);
    CHECK(is_named(model, 0, "view 0: gaussian(t=0.1)"));
    CHECK(is_named(model, 3, "shape: polynomial(a=1,b=2)"));
    CHECK(is_named(model, 4, "kernel 4"));
    OK(scmk_kernel_name(model, 3, &view, name, 6, &needed));
    CHECK(view == 1 && strcmp(name, "shape") == 0 && needed == 27);
    OK(scmk_view_name(model, 1, name, sizeof name, NULL));
    CHECK(strcmp(name, "shape") == 0);
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_view_name(model, 3, name, sizeof name, NULL));
    MESSAGE(model, "there are 3");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_kernel_name(model, 5, NULL, name, sizeof name, NULL));

    /* A name waits through a failure, is told by it, and can be taken back. */
    OK(scmk_name_view(model, "colour"));
    x[5] = NAN;
    STATUS(SCMK_E_NOT_FINITE, scmk_add_features(model, x, N, 2, 2, 1, "linear"));
    MESSAGE(model, "features of view 'colour' entry (2, 1) is NaN");
    OK(scmk_set_int(model, "index_base", 1));
    STATUS(SCMK_E_NOT_FINITE, scmk_add_features(model, x, N, 2, 2, 1, "linear"));
    MESSAGE(model, "features of view 'colour' entry (3, 2) is NaN");
    kernel[1] = 0.5;
    STATUS(SCMK_E_ASYMMETRIC, scmk_add_kernel(model, kernel, N, N));
    MESSAGE(model, "kernel 6 of view 'colour' is not symmetric: entries (2, 1)");
    OK(scmk_name_view(model, NULL));
    STATUS(SCMK_E_NOT_FINITE, scmk_add_features(model, x, N, 2, 2, 1, "linear"));
    MESSAGE(model, "features of view 4 entry (3, 2)");
    OK(scmk_set_int(model, "index_base", 0));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, x, N - 1, 2, 2, 1, "linear"));
    MESSAGE(model, "n_samples of view 3: 11 given, the model has 12");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_name_view(model, longer));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_name_view(model, ""));
    CHECK(info(model, "views") == 3);

    /* The shares of the views are their parts of the sum of all weights. */
    STATUS(SCMK_E_STATE, scmk_view_weights(model, shares, 3));
    OK(scmk_fit(model));
    CHECK(info(model, "has_similarity") == 1 && info(model, "has_embedding") == 1);
    OK(scmk_weights(model, weights, 5));
    OK(scmk_view_weights(model, shares, 3));
    for (i = 0, sum = 0; i < 5; i++)
        sum += weights[i];
    CHECK(fabs(shares[0] - (weights[0] + weights[1]) / sum) < 1e-12);
    CHECK(fabs(shares[2] - weights[4] / sum) < 1e-12);
    CHECK(fabs(shares[0] + shares[1] + shares[2] - 1) < 1e-12);
    STATUS(SCMK_E_DIMENSION, scmk_view_weights(model, shares, 2));

    /* What the certificate holds for. */
    OK(scmk_certified_weights(model, weights, 5));
    OK(scmk_certified_embedding(model, embedding, N * 3));
    STATUS(SCMK_E_DIMENSION, scmk_certified_weights(model, weights, 4));
    OK(scmk_info_real(model, "alpha_used", &value));
    CHECK(value == 1);
    CHECK(info(model, "rescaled_kernels") == 0);
    OK(scmk_model_metric(model, "accuracy", truth, NULL, N, &value));
    CHECK(value == 1);

    /* Another number of clusters keeps the kernels and discards the result. */
    OK(scmk_set_clusters(model, 3));
    OK(scmk_labels(model, labels, N));
    OK(scmk_set_clusters(model, 4));
    STATUS(SCMK_E_STATE, scmk_labels(model, labels, N));
    CHECK(info(model, "kernels") == 5 && info(model, "clusters") == 4);
    STATUS(SCMK_E_DIMENSION, scmk_set_clusters(model, N + 1));
    OK(scmk_fit(model));
    OK(scmk_embedding(model, embedding, N * 4));

    /* A method that has neither. */
    OK(scmk_set_text(model, "method", "kkm"));
    OK(scmk_fit(model));
    CHECK(info(model, "has_similarity") == 0 && info(model, "has_embedding") == 0);
    STATUS(SCMK_E_STATE, scmk_certified_weights(model, weights, 5));
    MESSAGE(model, "method kkm has no certified weights");

    /* The last failure of this thread, whatever it was of. */
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "k", 4));
    CHECK(strstr(scmk_last_error(), "the number of clusters") != NULL);
    STATUS(SCMK_E_DIMENSION, scmk_create(0, 1, &other));
    CHECK(strstr(scmk_last_error(), "n_samples: 0 given") != NULL);
    MESSAGE(NULL, "n_samples: 0 given");
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_add_features(model, x, N, 2, 2, 1, "rbf"));
    CHECK(strcmp(scmk_last_error(), "unknown kernel 'rbf': here it is called 'gaussian'") == 0);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(views_and_kernels_have_names_and_weights),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
