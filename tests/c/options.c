/* Options by name: enumerated, set, read back, refused outside of their bounds. */
#include "check.h"

#include <math.h>

static void every_option(scmk_model *model)
{
    size_t i;
    CHECK(scmk_option_count() > 10);
    for (i = 0; i < scmk_option_count(); i++) {
        const char *name, *initial, *choices, *doc;
        int32_t type;
        double min, max, value;
        int64_t whole;
        char text[64], again[64];

        OK(scmk_option_info(i, &name, &type, &initial, &min, &max, &choices, &doc));
        OK(scmk_option_info(i, &name, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0 && strlen(initial) > 0);
        OK(scmk_get_text(model, name, text, sizeof text, NULL));
        CHECK(strcmp(text, initial) == 0);
        OK(scmk_set_text(model, name, text));
        OK(scmk_get_text(model, name, again, sizeof again, NULL));
        CHECK(strcmp(text, again) == 0);

        if (type == SCMK_TYPE_TEXT) {
            CHECK(strlen(choices) > 0 && isnan(min) && isnan(max));
            CHECK(strstr(choices, initial) != NULL);
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_get_real(model, name, &value));
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, name, 1));
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, name, "no such choice"));
            MESSAGE(model, name);
            continue;
        }
        CHECK(type == SCMK_TYPE_REAL || type == SCMK_TYPE_INT);
        CHECK(choices[0] == '\0' && min < max);
        OK(scmk_get_real(model, name, &value));
        CHECK(value >= min && value <= max);
        OK(scmk_set_real(model, name, min));
        STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, name, min - 1));
        MESSAGE(model, name);
        OK(scmk_get_real(model, name, &value));
        CHECK(value == min);
        if (type == SCMK_TYPE_INT) {
            OK(scmk_set_int(model, name, (int64_t)min));
            OK(scmk_get_int(model, name, &whole));
            CHECK((double)whole == min);
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, name, min + 0.5));
        } else {
            OK(scmk_set_real(model, name, max));
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_get_int(model, name, &whole));
        }
        OK(scmk_set_text(model, name, initial));
    }
}

static void every_info(void)
{
    size_t i;
    CHECK(scmk_info_count() > 10);
    for (i = 0; i < scmk_info_count(); i++) {
        const char *name, *doc;
        int32_t type;
        OK(scmk_info_name(i, &name, &type, &doc));
        OK(scmk_info_name(i, &name, NULL, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0);
        CHECK(type == SCMK_TYPE_REAL || type == SCMK_TYPE_INT || type == SCMK_TYPE_TEXT);
    }
}

static void options_and_infos_by_name(void)
{
    static const char *fixed[] = {"method", "alpha", "beta", "learn_weights", "normalize",
                                  "max_iterations", "tolerance", "kkt_tolerance", "labels",
                                  "embedding", "restarts", "seed", "threads", "time_limit",
                                  "memory_limit"};
    scmk_model *model;
    const char *name = "untouched", *doc;
    char text[64];
    size_t needed, i;

    OK(scmk_create(4, 2, &model));
    every_option(model);
    every_info();

    /* The names that programs rely on. */
    for (i = 0; i < COUNT(fixed); i++)
        OK(scmk_get_text(model, fixed[i], text, sizeof text, NULL));

    /* Rows that are not there. */
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_option_info(scmk_option_count(), &name, NULL, NULL, NULL, NULL, NULL, NULL));
    MESSAGE(NULL, "index");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_info_name((size_t)-1, &name, NULL, &doc));
    CHECK(strcmp(name, "untouched") == 0);
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_option_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_info_name(0, NULL, NULL, NULL));

    /* Text in a buffer of any size. */
    OK(scmk_set_text(model, "labels", "rotation"));
    OK(scmk_get_text(model, "labels", NULL, 0, &needed));
    CHECK(needed == sizeof "rotation");
    OK(scmk_get_text(model, "labels", text, 4, &needed));
    CHECK(strcmp(text, "rot") == 0 && needed == sizeof "rotation");
    OK(scmk_get_text(model, "labels", text, needed, NULL));
    CHECK(strcmp(text, "rotation") == 0);

    CHECK(strcmp(scmk_outcome_name(SCMK_OUTCOME_CONVERGED), "converged") == 0);
    CHECK(strcmp(scmk_outcome_name(SCMK_OUTCOME_ITERATION_LIMIT), "iteration limit") == 0);
    CHECK(strcmp(scmk_outcome_name(SCMK_OUTCOME_TIME_LIMIT), "time limit") == 0);
    CHECK(strcmp(scmk_outcome_name(SCMK_OUTCOME_CANCELLED), "cancelled") == 0);
    CHECK(strcmp(scmk_outcome_name(-1), "unknown") == 0);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(options_and_infos_by_name),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
