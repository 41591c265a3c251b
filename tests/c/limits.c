/* Less memory than a fit needs: an address-space limit of the process, and the option
 * memory_limit. */
#include "model.h"

#include <sys/resource.h>

enum { MANY = 800 };

static double *many_points, *many_kernel;
static int32_t *many_groups;

static void make_many(void)
{
    if (many_points)
        return;
    many_points = malloc(MANY * 2 * sizeof *many_points);
    many_kernel = malloc(sizeof(double) * MANY * MANY);
    many_groups = malloc(MANY * sizeof *many_groups);
    blobs_points(many_points, many_groups, MANY);
    blobs_kernel(many_points, MANY, 50, many_kernel, MANY);
}

static scmk_model *many_model(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(MANY, C, &model));
    /* As many stacks on every machine. */
    OK(scmk_set_int(model, "threads", 2));
    return model;
}

static int finds_many_groups(scmk_model *model)
{
    static int32_t labels[MANY];
    return scmk_fit(model) == SCMK_OK && scmk_labels(model, labels, MANY) == SCMK_OK &&
           memcmp(labels, many_groups, sizeof labels) == 0;
}

/* Lets this process have so many bytes more than it has now; a negative number lifts the limit. */
static void allow(long more)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    if (more >= 0) {
        long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
        if (file)
            fclose(file);
        limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)more;
    }
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

/* The number in "... bytes needed". */
static double told_bytes(const scmk_model *model)
{
    static const char words[] = "out of memory: ";
    char text[256] = "", *found, *end;
    double bytes;
    OK(scmk_error_message(model, text, sizeof text, NULL));
    found = strstr(text, words);
    if (!found)
        return -1;
    bytes = strtod(found + sizeof words - 1, &end);
    return strncmp(end, " bytes needed", 13) == 0 ? bytes : -1;
}

/* A call under limits from nothing to more than it needs: OUT_OF_MEMORY with a number, at last OK,
 * nothing in between, and the model as it was. */
static void under_every_limit(scmk_model *model, scmk_status (*call)(scmk_model *))
{
    const double most = 17179869184.0;
    int64_t kernels = info(model, "kernels");
    scmk_status status = SCMK_E_STATE;
    int refused = 0;
    double more;
    for (more = 0; more < most; more = more > 0 ? 1.25 * more : 1e5) {
        allow((long)more);
        status = call(model);
        allow(-1);
        if (status == SCMK_OK)
            break;
        refused++;
        if (status != SCMK_E_OUT_OF_MEMORY)
            printf("%s with %.0f bytes\n", scmk_status_name(status), more);
        STATUS(SCMK_E_OUT_OF_MEMORY, status);
        CHECK(told_bytes(model) > 0);
        CHECK(info(model, "kernels") == kernels);
    }
    CHECK(refused > 0 && status == SCMK_OK);
}

static void in_a_child(void (*work)(void *))
{
    /* Such a tool takes most of the address space for itself. */
    if (instrumented())
        return;
    make_many();
    STATUS(0, process_wait(process_child(work, NULL)));
}

static void limited_fit(void *unused)
{
    scmk_model *model = many_model();
    (void)unused;
    OK(scmk_borrow_kernel(model, many_kernel, MANY, MANY));
    under_every_limit(model, scmk_fit);
    CHECK(finds_many_groups(model));
    OK(scmk_destroy(model));
}

static void address_space_limit_of_a_fit_is_out_of_memory_with_the_bytes(void)
{
    in_a_child(limited_fit);
}

static scmk_status add_copy(scmk_model *model)
{
    return scmk_add_kernel(model, many_kernel, MANY, MANY);
}

static void limited_kernel(void *unused)
{
    scmk_model *model = many_model();
    (void)unused;
    under_every_limit(model, add_copy);
    CHECK(info(model, "kernels") == 1);
    CHECK(finds_many_groups(model));
    OK(scmk_destroy(model));
}

static void address_space_limit_of_a_kernel_is_out_of_memory_with_the_bytes(void)
{
    in_a_child(limited_kernel);
}

static scmk_status add_paper(scmk_model *model)
{
    return scmk_add_features(model, many_points, MANY, 2, 2, 1, "paper");
}

static void limited_features(void *unused)
{
    scmk_model *model = many_model();
    (void)unused;
    under_every_limit(model, add_paper);
    CHECK(info(model, "kernels") == 12);
    CHECK(finds_many_groups(model));
    OK(scmk_destroy(model));
}

static void address_space_limit_of_features_is_out_of_memory_with_the_bytes(void)
{
    in_a_child(limited_features);
}

static void memory_limit_below_the_estimate_is_out_of_memory(void)
{
    scmk_model *model = good_model();
    size_t i;
    for (i = 0; i < COUNT(methods); i++) {
        int64_t needed;
        set_method(model, methods[i]);
        OK(scmk_set_int(model, "memory_limit", 0));
        CHECK(works(model));
        /* Both parts count: the kernels that the library holds, and the fit. */
        CHECK(info(model, "memory_kernels") == N * N * 8);
        needed = info(model, "memory_required") + info(model, "memory_kernels");
        OK(scmk_set_int(model, "memory_limit", 1));
        STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
        CHECK(told_bytes(model) == (double)needed);
        MESSAGE(model, "memory_limit");
        CHECK(results_answer(model, SCMK_E_STATE));
        OK(scmk_set_int(model, "memory_limit", needed - 1));
        STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
        CHECK(told_bytes(model) == (double)needed);
        /* Exactly the estimate is enough. */
        OK(scmk_set_int(model, "memory_limit", needed));
        CHECK(works(model));
    }
    OK(scmk_destroy(model));
}

static int32_t counting(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    (void)step, (void)iteration, (void)fraction, (void)objective;
    ++*(int *)user;
    return 0;
}

static void memory_limit_is_refused_before_any_work(void)
{
    scmk_model *model;
    double began, refusal = INFINITY, fit;
    long resident;
    int calls = 0, k;
    make_many();
    model = many_model();
    OK(scmk_borrow_kernel(model, many_kernel, MANY, MANY));
    OK(scmk_set_progress(model, counting, &calls));
    OK(scmk_set_int(model, "memory_limit", info(model, "memory_required") - 1));
    resident = process_resident();
    for (k = 0; k < 5; k++) {
        double took;
        began = process_clock();
        STATUS(SCMK_E_OUT_OF_MEMORY, scmk_fit(model));
        took = process_clock() - began;
        refusal = took < refusal ? took : refusal;
    }
    CHECK(calls == 0);
    /* The smallest of its matrices has 5 megabytes. */
    CHECK(process_resident() - resident < 1 << 20 || instrumented());
    OK(scmk_set_int(model, "memory_limit", 0));
    began = process_clock();
    CHECK(finds_many_groups(model));
    fit = process_clock() - began;
    CHECK(calls > 0);
    check_that(20 * refusal < fit, (long)(1e6 * refusal), "too many microseconds", __FILE__,
               __LINE__);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(address_space_limit_of_a_fit_is_out_of_memory_with_the_bytes),
        TEST(address_space_limit_of_a_kernel_is_out_of_memory_with_the_bytes),
        TEST(address_space_limit_of_features_is_out_of_memory_with_the_bytes),
        TEST(memory_limit_below_the_estimate_is_out_of_memory),
        TEST(memory_limit_is_refused_before_any_work),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
