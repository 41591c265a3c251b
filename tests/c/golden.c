/* The golden problems and bad inputs that every language has (tests/golden/README.md).
 * Run from the root of the checkout. */
#include "../../examples/c/csv.h"
#include "check.h"

#include <math.h>

enum { LINE = 1024 };
static const char *const ROOT = "tests/golden";

/* The fields of a line, quotes taken off, the line cut up in place; returns their number. */
static int fields(char *line, char **field, int most)
{
    int count = 0;
    char *in = line;
    while (count < most) {
        int quoted = *in == '"';
        char *out = field[count++] = in;
        in += quoted;
        while (*in && *in != '\n' && (quoted || *in != ',')) {
            if (quoted && *in == '"' && *++in != '"')
                break;
            *out++ = *in++;
        }
        if (*in != ',') {
            *out = 0;
            break;
        }
        in++;
        *out = 0;
    }
    return count;
}

/* NULL when there is no such file. */
static FILE *opened(const char *folder, const char *name)
{
    char path[2 * LINE];
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    return fopen(path, "r");
}

static int exists(const char *folder, const char *name)
{
    FILE *file = opened(folder, name);
    if (file)
        fclose(file);
    return file != NULL;
}

static int close_to(double ours, double golden)
{
    return fabs(ours - golden) <= 1e-10 * fmax(1, fabs(golden));
}

static void set_option(scmk_model *model, const char *name, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (*value && *end == 0)
        OK(scmk_set_real(model, name, number));
    else
        OK(scmk_set_text(model, name, value));
}

static void one_problem(const char *folder)
{
    csv_table labels = csv_read(folder, "labels"), weights = csv_read(folder, "weights");
    csv_table objective = csv_read(folder, "objective");
    size_t n = labels.rows, i;
    int32_t *found = malloc(n * sizeof *found);
    double *w = malloc(weights.rows * sizeof *w), value = 0;
    char line[LINE], name[32], list[LINE] = "", *field[2];
    scmk_model *model = NULL;
    FILE *options = opened(folder, "problem");
    int k;

    while (options && fgets(line, sizeof line, options) && fields(line, field, 2) == 2) {
        if (strcmp(field[0], "clusters") == 0)
            OK(scmk_create(n, (size_t)atol(field[1]), &model));
        else if (strcmp(field[0], "kernels") == 0)
            snprintf(list, sizeof list, "%s", field[1]);
        else
            set_option(model, field[0], field[1]);
    }
    CHECK(options != NULL && model != NULL);
    if (options)
        fclose(options);
    for (k = 1; k < 10; k++) {
        csv_table x;
        snprintf(name, sizeof name, "%s%d", *list ? "features" : "kernel", k);
        if (!exists(folder, name))
            break;
        x = csv_read(folder, name);
        if (*list)
            OK(scmk_add_features(model, x.values, x.rows, x.cols, x.cols, 1, list));
        else
            OK(scmk_add_kernel(model, x.values, x.rows, x.cols));
        free(x.values);
    }
    OK(scmk_fit(model));
    OK(scmk_labels(model, found, n));
    for (i = 0; i < n; i++)
        CHECK(found[i] == (int32_t)labels.values[i]);
    OK(scmk_weights(model, w, weights.rows));
    for (i = 0; i < weights.rows; i++)
        CHECK(close_to(w[i], weights.values[i]));
    OK(scmk_info_real(model, "objective", &value));
    CHECK(close_to(value, objective.values[0]));
    if (exists(folder, "similarity")) {
        csv_table golden = csv_read(folder, "similarity");
        double *z = malloc(n * n * sizeof *z);
        int same = 1;
        OK(scmk_similarity(model, z, n * n));
        for (i = 0; i < n * n; i++)
            same &= close_to(z[i], golden.values[i % n * n + i / n]);
        CHECK(same);
        free(z);
        free(golden.values);
    }
    OK(scmk_destroy(model));
    free(found), free(w), free(labels.values), free(weights.values), free(objective.values);
}

static void one_bad_input(char **field)
{
    const char *kind = field[2], *argument = field[3], *value = field[4];
    csv_table kernel = csv_read("tests/golden/one_kernel", "kernel1");
    csv_table view = csv_read("tests/golden/features", "features1");
    size_t n = kernel.rows, row = 0, col = 0;
    scmk_model *model = NULL;
    scmk_status status = SCMK_OK;
    int32_t labels[2] = {0, 1};
    double out;

    if (strcmp(kind, "entry") == 0 || strcmp(kind, "feature") == 0) {
        char *end;
        row = strtoul(argument, &end, 10);
        col = strtoul(end, NULL, 10);
    }
    if (strcmp(kind, "clusters") != 0)
        OK(scmk_create(n, 3, &model));
    if (strcmp(kind, "entry") == 0) {
        kernel.values[row + col * n] = strtod(value, NULL);
        status = scmk_add_kernel(model, kernel.values, n, n);
    } else if (strcmp(kind, "feature") == 0) {
        view.values[row * view.cols + col] = strtod(value, NULL);
        status = scmk_add_features(model, view.values, n, view.cols, view.cols, 1, "linear");
    } else if (strcmp(kind, "clusters") == 0) {
        status = scmk_create(n, strtoul(value, NULL, 10), &model);
    } else if (strcmp(kind, "option") == 0) {
        status = scmk_set_text(model, argument, value);
    } else if (strcmp(kind, "kernels") == 0) {
        status = scmk_add_features(model, view.values, n, view.cols, view.cols, 1, value);
    } else if (strcmp(kind, "metric") == 0) {
        status = scmk_metric(value, labels, labels, 2, &out);
    } else {
        CHECK(!"a known kind");
    }
    CHECK(strcmp(scmk_status_name(status), field[1]) == 0);
    MESSAGE(strcmp(kind, "metric") == 0 ? NULL : model, field[5]);
    OK(scmk_destroy(model));
    free(kernel.values), free(view.values);
}

static void golden_problems_have_their_answers(void)
{
    char path[LINE];
    int problems = 0;
    struct dirent *entry;
    DIR *root = opendir(ROOT);

    while (root && (entry = readdir(root)) != NULL) {
        if (strchr(entry->d_name, '.'))
            continue;
        snprintf(path, sizeof path, "%s/%s", ROOT, entry->d_name);
        one_problem(path);
        printf("%s\n", entry->d_name);
        problems++;
    }
    if (root)
        closedir(root);
    CHECK(problems >= 10);
}

static void bad_inputs_have_their_messages(void)
{
    char line[LINE], *field[6];
    int inputs = 0;
    FILE *bad = opened(ROOT, "bad_inputs");

    while (bad && fgets(line, sizeof line, bad) && fields(line, field, 6) == 6) {
        if (strcmp(field[0], "name") == 0)
            continue;
        one_bad_input(field);
        printf("%s\n", field[0]);
        inputs++;
    }
    if (bad)
        fclose(bad);
    CHECK(inputs >= 15);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(golden_problems_have_their_answers),
        TEST(bad_inputs_have_their_messages),
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
