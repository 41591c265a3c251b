/* Metrics of labels against a known division. */
#include "check.h"

#include <math.h>

static void metrics_by_hand_and_by_name(void)
{
    static const char *fixed[] = {"accuracy", "nmi", "purity", "inverse_purity", "ari"};
    static const int32_t truth[6] = {0, 0, 0, 1, 1, 1};
    static const int32_t renamed[6] = {7, 7, 7, -2, -2, -2};
    static const int32_t half[6] = {0, 0, 1, 1, 2, 2};
    double value = 7;
    size_t i;

    CHECK(scmk_metric_count() >= 5);
    for (i = 0; i < scmk_metric_count(); i++) {
        const char *name, *doc;
        OK(scmk_metric_name(i, &name, &doc));
        OK(scmk_metric_name(i, &name, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0);
        OK(scmk_metric(name, truth, renamed, 6, &value));
        CHECK(fabs(value - 1) < 1e-12);
        OK(scmk_metric(name, truth, half, 6, &value));
        CHECK(value < 1);
    }
    for (i = 0; i < COUNT(fixed); i++)
        OK(scmk_metric(fixed[i], truth, truth, 6, &value));

    /* By hand: classes of 3 and 3 against clusters of 2, 2 and 2. */
    OK(scmk_metric("accuracy", truth, half, 6, &value));
    CHECK(fabs(value - 4.0 / 6) < 1e-12);
    OK(scmk_metric("purity", truth, half, 6, &value));
    CHECK(fabs(value - 5.0 / 6) < 1e-12);
    OK(scmk_metric("inverse_purity", truth, half, 6, &value));
    CHECK(fabs(value - 4.0 / 6) < 1e-12);

    value = 7;
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_metric("acuracy", truth, half, 6, &value));
    MESSAGE(NULL, "'accuracy'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_metric(NULL, truth, half, 6, &value));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_metric("accuracy", NULL, half, 6, &value));
    MESSAGE(NULL, "'truth'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_metric("accuracy", truth, NULL, 6, &value));
    MESSAGE(NULL, "'labels'");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_metric("accuracy", truth, half, 6, NULL));
    STATUS(SCMK_E_TOO_LARGE, scmk_metric("accuracy", truth, half, (size_t)-1, &value));
    STATUS(SCMK_E_DIMENSION, scmk_metric("accuracy", truth, half, 0, &value));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_metric("accuracy", (const int32_t *)(const void *)((const char *)truth + 1), half,
                       5, &value));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_metric_name(scmk_metric_count(), &fixed[0], NULL));
    CHECK(value == 7);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(metrics_by_hand_and_by_name),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
