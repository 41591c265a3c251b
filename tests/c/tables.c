/* Methods, kernel functions and preparing steps, as the library lists them. */
#include "check.h"

static const double x[12] = {0.0, 0.1, 0.1, 0.0, 0.1, 0.1, 5.0, 5.1, 5.1, 5.0, 5.1, 5.2};

static void methods_are_those_of_the_option(void)
{
    scmk_model *model = NULL;
    size_t i;
    CHECK(scmk_method_count() >= 7);
    OK(scmk_create(6, 2, &model));
    for (i = 0; i < scmk_method_count(); i++) {
        const char *name, *doc;
        OK(scmk_method_name(i, &name, &doc));
        OK(scmk_method_name(i, &name, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0 && strchr(doc, '\n') == NULL);
        CHECK((i == 0) == (strcmp(name, "scmk") == 0));
        OK(scmk_set_text(model, "method", name));
    }
    OK(scmk_destroy(model));
}

static void kernel_functions_are_those_of_a_list(void)
{
    scmk_model *model = NULL;
    size_t i;
    CHECK(scmk_kernel_function_count() >= 3);
    for (i = 0; i < scmk_kernel_function_count(); i++) {
        const char *name, *parameters, *doc;
        char list[100], built[100];
        size_t needed;
        OK(scmk_kernel_function_name(i, &name, &parameters, &doc));
        OK(scmk_kernel_function_name(i, &name, NULL, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0);
        sprintf(list, "%s(%s)", name, parameters);
        OK(scmk_create(6, 2, &model));
        OK(scmk_add_features(model, x, 6, 2, 2, 1, list));
        OK(scmk_kernel_name(model, 0, NULL, built, sizeof built, &needed));
        /* Those without parameters are written without parentheses. */
        CHECK(strcmp(built, strlen(parameters) > 0 ? list : name) == 0);
        OK(scmk_destroy(model));
    }
}

static void preparing_steps_are_those_of_a_list(void)
{
    scmk_model *model = NULL;
    size_t i;
    CHECK(scmk_preparation_count() >= 3);
    for (i = 0; i < scmk_preparation_count(); i++) {
        const char *name, *doc;
        char list[100], built[100];
        size_t needed;
        OK(scmk_preparation_name(i, &name, &doc));
        OK(scmk_preparation_name(i, &name, NULL));
        CHECK(strlen(name) > 0 && strlen(doc) > 0);
        sprintf(list, "%s; gaussian(t=1)", name);
        OK(scmk_create(6, 2, &model));
        OK(scmk_add_features(model, x, 6, 2, 2, 1, list));
        OK(scmk_kernel_name(model, 0, NULL, built, sizeof built, &needed));
        /* One of them chooses among the others. */
        CHECK(strcmp(built, strcmp(name, "auto") == 0 ? "standardize; gaussian(t=1)" : list) == 0);
        sprintf(list, "linear; %s", name);
        STATUS(SCMK_E_INVALID_ARGUMENT, scmk_add_features(model, x, 6, 2, 2, 1, list));
        MESSAGE(model, "before the first kernel");
        OK(scmk_destroy(model));
    }
}

static void negative_counts_are_named(void)
{
    const double counts[6] = {1, 0, 2, -3, 0, 1};
    scmk_model *model = NULL;
    OK(scmk_create(3, 2, &model));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_add_features(model, counts, 3, 2, 2, 1, "tfidf; unit_rows; linear"));
    MESSAGE(model, "features of view 0 entry (1, 1) is -3, and tfidf takes counts");
    OK(scmk_destroy(model));
}

static void wrong_indices_and_pointers_are_refused(void)
{
    const char *name = "as before";
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_method_name(scmk_method_count(), &name, NULL));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_method_name((size_t)-1, &name, NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_method_name(0, NULL, NULL));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_kernel_function_name(scmk_kernel_function_count(), &name, NULL, NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_kernel_function_name(0, NULL, NULL, NULL));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_preparation_name(scmk_preparation_count(), &name, NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_preparation_name(0, NULL, NULL));
    CHECK(strcmp(name, "as before") == 0);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(methods_are_those_of_the_option),
        TEST(kernel_functions_are_those_of_a_list),
        TEST(preparing_steps_are_those_of_a_list),
        TEST(negative_counts_are_named),
        TEST(wrong_indices_and_pointers_are_refused),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
