/* Handles and the order of calls: NULL, destroyed and invented handles, results that are not there
 * yet or no longer, and what many models leave behind. */
#include "model.h"

#include <fcntl.h>
#include <sys/mman.h>

extern char **environ;

static void null_handle_is_a_null_argument(void)
{
    CHECK(all_answer(NULL, SCMK_E_NULL_ARGUMENT));
    MESSAGE(NULL, "'model' is NULL");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_cancel(NULL));
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_create(N, C, NULL));
    MESSAGE(NULL, "'out' is NULL");
}

static void destroy_null_is_ok(void)
{
    OK(scmk_destroy(NULL));
}

static void other_null_arguments_are_named(void)
{
    scmk_model *model = good_model();
    double real = 7;
    int64_t whole = 7;
    size_t count = 7, colptr[N + 1], rows[N * N];
    CHECK(works(model));
#define REFUSED(argument, call) \
    (STATUS(SCMK_E_NULL_ARGUMENT, call), MESSAGE(model, "'" argument "' is NULL"))
    REFUSED("values", scmk_add_kernel(model, NULL, N, N));
    REFUSED("values", scmk_borrow_kernel(model, NULL, N, N));
    REFUSED("x", scmk_add_features(model, NULL, N, 2, 2, 1, "linear"));
    REFUSED("name", scmk_set_real(model, NULL, 1));
    REFUSED("name", scmk_set_int(model, NULL, 1));
    REFUSED("name", scmk_set_text(model, NULL, "1"));
    REFUSED("value", scmk_set_text(model, "labels", NULL));
    REFUSED("name", scmk_get_real(model, NULL, &real));
    REFUSED("name", scmk_get_int(model, NULL, &whole));
    REFUSED("out", scmk_get_real(model, "alpha", NULL));
    REFUSED("out", scmk_get_int(model, "seed", NULL));
    REFUSED("buf", scmk_get_text(model, "alpha", NULL, 3, NULL));
    REFUSED("out", scmk_labels(model, NULL, N));
    REFUSED("out", scmk_weights(model, NULL, 1));
    REFUSED("out", scmk_embedding(model, NULL, N * C));
    REFUSED("out", scmk_similarity(model, NULL, N * N));
    REFUSED("colptr", scmk_similarity_csc(model, NULL, N + 1, rows, &real, N * N));
    REFUSED("rows", scmk_similarity_csc(model, colptr, N + 1, NULL, &real, N * N));
    REFUSED("values", scmk_similarity_csc(model, colptr, N + 1, rows, NULL, N * N));
    REFUSED("out", scmk_trace(model, NULL, 1, &count));
    REFUSED("len", scmk_trace(model, &real, 1, NULL));
    REFUSED("name", scmk_info_real(model, NULL, &real));
    REFUSED("out", scmk_info_real(model, "objective", NULL));
    REFUSED("out", scmk_info_int(model, "iterations", NULL));
    REFUSED("name", scmk_info_text(model, NULL, NULL, 0, &count));
    REFUSED("buf", scmk_info_text(model, "warning", NULL, 3, &count));
    REFUSED("scores", scmk_suggest_clusters(model, 2, 3, NULL, 2));
#undef REFUSED
    CHECK(real == 7 && whole == 7 && count == 7);
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void destroy_twice_is_refused(void)
{
    scmk_model *model = good_model(), *other = good_model();
    OK(scmk_destroy(model));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(model));
    MESSAGE(NULL, "destroyed");
    CHECK(works(other));
    OK(scmk_destroy(other));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(other));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(model));
}

static void any_call_after_destroy_is_refused(void)
{
    scmk_model *model = good_model(), *reused;
    char text[16];
    CHECK(works(model));
    OK(scmk_destroy(model));
    CHECK(all_answer(model, SCMK_E_INVALID_HANDLE));
    MESSAGE(NULL, "destroyed");
    STATUS(SCMK_E_INVALID_HANDLE, scmk_cancel(model));
    prefill(text, sizeof text);
    STATUS(SCMK_E_INVALID_HANDLE, scmk_error_message(model, text, sizeof text, NULL));
    CHECK(untouched(text, sizeof text));

    /* Its place may be used again: the old handle is not the new one. */
    reused = good_model();
    CHECK(reused != model);
    CHECK(all_answer(model, SCMK_E_INVALID_HANDLE));
    STATUS(SCMK_E_INVALID_HANDLE, scmk_destroy(model));
    CHECK(works(reused));
    OK(scmk_destroy(reused));
}

static void handles_are_never_issued_twice(void)
{
    enum { ROUNDS = 500, ALIVE = 8 };
    static scmk_model *seen[ROUNDS * ALIVE];
    size_t i, k;
    int wrong = 0;
    for (i = 0; i < ROUNDS; i++) {
        scmk_model **alive = seen + i * ALIVE;
        for (k = 0; k < ALIVE; k++)
            wrong += scmk_create(N, C, &alive[k]) != SCMK_OK;
        for (k = 0; k < ALIVE; k++)
            wrong += scmk_destroy(alive[k]) != SCMK_OK;
    }
    for (i = 0; i < COUNT(seen); i++) {
        wrong += scmk_destroy(seen[i]) != SCMK_E_INVALID_HANDLE;
        for (k = 0; k < i; k++)
            wrong += seen[i] == seen[k];
    }
    CHECK(wrong == 0);
}

/* Whether every function that takes a model refuses this one. */
static int refused_everywhere(scmk_model *model)
{
    char text[16];
    prefill(text, sizeof text);
    return all_answer(model, SCMK_E_INVALID_HANDLE) &&
           scmk_destroy(model) == SCMK_E_INVALID_HANDLE &&
           scmk_cancel(model) == SCMK_E_INVALID_HANDLE &&
           scmk_error_message(model, text, sizeof text, NULL) == SCMK_E_INVALID_HANDLE &&
           untouched(text, sizeof text);
}

static void random_pointers_are_refused(void)
{
    scmk_model *model = good_model();
    uint64_t state = 1;
    size_t i;
    int wrong = 0;
    for (i = 0; i < 8 * sizeof(void *); i++) {
        uintptr_t bit = (uintptr_t)1 << i;
        wrong += !refused_everywhere((scmk_model *)bit);
        wrong += !refused_everywhere((scmk_model *)~bit);
        /* As near to a living handle as can be. */
        wrong += !refused_everywhere((scmk_model *)((uintptr_t)model ^ bit));
    }
    wrong += !refused_everywhere((scmk_model *)UINTPTR_MAX);
    for (i = 0; i < 2000; i++) {
        uintptr_t high = (uintptr_t)(blobs_random(&state) * 4294967296.0);
        uintptr_t low = (uintptr_t)(blobs_random(&state) * 4294967296.0);
        scmk_model *random = (scmk_model *)(high << 4 * sizeof high ^ low);
        wrong += random != NULL && random != model && !refused_everywhere(random);
    }
    CHECK(wrong == 0);
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void unreadable_memory_is_never_dereferenced(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
    int zero = open("/dev/zero", O_RDWR);
    char *memory = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE, zero, 0);
    int wrong = 0;
    CHECK(memory != MAP_FAILED);
    if (memory != MAP_FAILED) {
        for (i = 0; i < 2 * page; i += i < 16 ? 1 : page / 8 + 1)
            wrong += !refused_everywhere((scmk_model *)(void *)(memory + i));
        munmap(memory, 2 * page);
        wrong += !refused_everywhere((scmk_model *)(void *)memory);
        wrong += !refused_everywhere((scmk_model *)(void *)(memory + page + 1));
    }
    CHECK(wrong == 0);
    close(zero);
}

static void freed_and_foreign_addresses_are_refused(void)
{
    scmk_model *model = good_model();
    unsigned char local[64], before[64];
    void *freed = malloc(64), *kept = malloc(1 << 20);
    /* Volatile, so that the compiler does not know it for an address that was freed. */
    volatile uintptr_t address = (uintptr_t)freed;
    prefill(local, sizeof local);
    prefill(kept, 1 << 20);
    memcpy(before, local, sizeof local);
    free(freed);
    CHECK(refused_everywhere((scmk_model *)address));
    CHECK(refused_everywhere((scmk_model *)(void *)local));
    CHECK(refused_everywhere((scmk_model *)kept));
    CHECK(refused_everywhere((scmk_model *)(void *)&model));
    CHECK(memcmp(local, before, sizeof local) == 0 && untouched(kept, 1 << 20));
    free(kept);
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void fit_without_a_kernel_is_refused(void)
{
    scmk_model *model = new_model();
    STATUS(SCMK_E_STATE, scmk_fit(model));
    MESSAGE(model, "no kernel");
    OK(scmk_add_kernel(model, good, N, N));
    CHECK(works(model));
    OK(scmk_clear_kernels(model));
    STATUS(SCMK_E_STATE, scmk_fit(model));
    MESSAGE(model, "no kernel");
    OK(scmk_add_kernel(model, good, N, N));
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void results_before_a_fit_are_refused(void)
{
    static const char *const before[] = {"samples",        "clusters",       "kernels",
                                         "views",          "memory_kernels", "memory_required",
                                         "rescaled_kernels"};
    scmk_model *model = good_model();
    size_t i, k;
    CHECK(results_answer(model, SCMK_E_STATE));
    MESSAGE(model, "no result");
    for (i = 0; i < scmk_info_count(); i++) {
        const char *name;
        double real;
        int64_t whole;
        int known, is_text;
        int32_t type;
        size_t needed;
        prefill(&needed, sizeof needed);
        prefill(&real, sizeof real);
        prefill(&whole, sizeof whole);
        OK(scmk_info_name(i, &name, &type, NULL));
        is_text = type == SCMK_TYPE_TEXT;
        known = 0;
        for (k = 0; k < COUNT(before); k++)
            known |= strcmp(name, before[k]) == 0;
        STATUS(known     ? SCMK_OK
               : is_text ? SCMK_E_INVALID_ARGUMENT
                         : SCMK_E_STATE,
               scmk_info_real(model, name, &real));
        CHECK(known != untouched(&real, sizeof real));
        CHECK((scmk_info_int(model, name, &whole) == SCMK_OK) == known);
        CHECK(known != untouched(&whole, sizeof whole));
        STATUS(known ? SCMK_OK : SCMK_E_STATE, scmk_info_text(model, name, NULL, 0, &needed));
        CHECK(known != untouched(&needed, sizeof needed));
    }
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void changed_kernel_discards_the_result(void)
{
    scmk_model *model = good_model();
    CHECK(works(model));
    OK(scmk_add_kernel(model, good, N, N));
    CHECK(results_answer(model, SCMK_E_STATE));
    MESSAGE(model, "no result");
    CHECK(works(model));
    OK(scmk_borrow_kernel(model, good, N, N));
    CHECK(results_answer(model, SCMK_E_STATE));
    CHECK(works(model));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "gaussian(t=1)"));
    CHECK(results_answer(model, SCMK_E_STATE));
    CHECK(works(model));
    OK(scmk_clear_kernels(model));
    CHECK(results_answer(model, SCMK_E_STATE));
    OK(scmk_destroy(model));
}

/* Another value of an option, as text. */
static void other_value(size_t option, char *text, size_t cap)
{
    const char *value, *choices;
    double min, max;
    int32_t type;
    const char *name;
    OK(scmk_option_info(option, &name, &type, &value, &min, &max, &choices, NULL));
    if (type == SCMK_TYPE_TEXT) {
        size_t length = strlen(value);
        /* The first of the choices, or else the second. */
        if (strncmp(choices, value, length) == 0 && choices[length] == ',')
            choices += length + 1;
        snprintf(text, cap, "%.*s", (int)strcspn(choices, ","), choices);
    } else if (type == SCMK_TYPE_INT) {
        double number = strtod(value, NULL);
        snprintf(text, cap, "%.0f", number < max ? number + 1 : number - 1);
    } else {
        snprintf(text, cap, "%.17g", 0.5 * strtod(value, NULL) + 0.5 * (min > 0 ? min : max));
    }
}

static void changed_option_discards_the_result(void)
{
    scmk_model *model = good_model();
    size_t i;
    int warm;
    for (warm = 0; warm <= 1; warm++) {
        OK(scmk_set_int(model, "warm_start", warm));
        for (i = 0; i < scmk_option_count(); i++) {
            const char *name;
            char before[64], other[64];
            OK(scmk_option_info(i, &name, NULL, NULL, NULL, NULL, NULL, NULL));
            OK(scmk_get_text(model, name, before, sizeof before, NULL));
            CHECK(works(model));
            /* The same value is no change. */
            OK(scmk_set_text(model, name, before));
            CHECK(info(model, "outcome") == SCMK_OUTCOME_CONVERGED);
            other_value(i, other, sizeof other);
            if (strcmp(name, "warm_start") == 0)
                snprintf(other, sizeof other, "%d", !warm);
            CHECK(strcmp(before, other) != 0);
            OK(scmk_set_text(model, name, other));
            CHECK(results_answer(model, SCMK_E_STATE));
            MESSAGE(model, "no result");
            OK(scmk_set_text(model, name, before));
            CHECK(works(model));
        }
    }
    OK(scmk_destroy(model));
}

static void refused_change_keeps_the_result(void)
{
    scmk_model *model = good_model();
    double bad[N * N];
    struct bits before, after;
    memcpy(bad, good, sizeof bad);
    bad[5] = NAN;
    CHECK(works(model));
    before = bits_of(model, N, C);
    STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, bad, N, N));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "alpha", -1));
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "delta", 1));
    after = bits_of(model, N, C);
    CHECK(same_bits(before, after));
    free(before.values), free(after.values);
    OK(scmk_destroy(model));
}

static void fit_twice_gives_identical_bits(void)
{
    enum { MANY = 90 };
    static double x[MANY * 2], kernel[MANY * MANY];
    static int32_t groups[MANY];
    scmk_model *model = NULL;
    size_t i;
    blobs_points(x, groups, MANY);
    blobs_kernel(x, MANY, 5, kernel, MANY);
    /* More clusters than groups, so that nothing is obvious. */
    OK(scmk_create(MANY, 5, &model));
    OK(scmk_add_kernel(model, kernel, MANY, MANY));
    OK(scmk_add_features(model, x, MANY, 2, 2, 1, "gaussian(t=0.1); linear"));
    for (i = 0; i < COUNT(methods); i++) {
        struct bits first, second;
        set_method(model, methods[i]);
        OK(scmk_fit(model));
        first = bits_of(model, MANY, 5);
        OK(scmk_fit(model));
        second = bits_of(model, MANY, 5);
        CHECK(same_bits(first, second));
        free(first.values), free(second.values);
    }
    OK(scmk_destroy(model));
}

static void create_fit_and_destroy(size_t times)
{
    enum { FEW = 6 };
    double x[FEW * 2], kernel[FEW * FEW];
    int32_t groups[FEW], labels[FEW];
    size_t i;
    blobs_points(x, groups, FEW);
    blobs_kernel(x, FEW, 50, kernel, FEW);
    for (i = 0; i < times; i++) {
        scmk_model *model = NULL;
        OK(scmk_create(FEW, C, &model));
        OK(scmk_add_kernel(model, kernel, FEW, FEW));
        OK(scmk_fit(model));
        OK(scmk_labels(model, labels, FEW));
        CHECK(memcmp(labels, groups, sizeof groups) == 0);
        OK(scmk_destroy(model));
    }
}

static void ten_thousand_models_leave_nothing_behind(void)
{
    long resident, descriptors, grown;
    /* The system keeps some memory for the next threads: that is there after a few. */
    create_fit_and_destroy(instrumented() ? 10 : 1000);
    CHECK(process_threads_ended());
    resident = process_resident();
    descriptors = process_descriptors();
    create_fit_and_destroy(instrumented() ? 100 : 10000);
    CHECK(process_threads_ended());
    CHECK(process_descriptors() == descriptors);
    grown = process_resident() - resident;
    /* Less than 64 bytes for each model, with room for the allocator's moods. */
    check_that(grown < 640000 || instrumented(), grown, "resident memory has grown", __FILE__,
               __LINE__);
}

static void host_process_is_left_alone(void)
{
    enum { SIGNALS = 65 };
    static struct sigaction before[SIGNALS], after[SIGNALS];
    char **environment = environ;
    size_t entries = 0, i;
    int wrong = 0, number, kept_out, kept_err;
    FILE *printed = tmpfile();
    scmk_model *model;
    char *copies[512];

    for (number = 1; number < SIGNALS; number++)
        (void)sigaction(number, NULL, &before[number]);
    while (environ[entries] && entries < COUNT(copies)) {
        copies[entries] = strdup(environ[entries]);
        entries++;
    }
    fflush(stdout);
    kept_out = dup(1), kept_err = dup(2);
    CHECK(printed != NULL && dup2(fileno(printed), 1) == 1 && dup2(fileno(printed), 2) == 2);

    model = good_model();
    wrong += !works(model);
    wrong += scmk_set_real(model, "alpha", NAN) != SCMK_E_INVALID_ARGUMENT;
    wrong += scmk_add_kernel(model, good, N - 1, N) != SCMK_E_DIMENSION;
    wrong += scmk_destroy(model) != SCMK_OK;
    wrong += scmk_fit(model) != SCMK_E_INVALID_HANDLE;

    fflush(stdout);
    (void)(dup2(kept_out, 1) + dup2(kept_err, 2));
    close(kept_out), close(kept_err);
    CHECK(wrong == 0);
    CHECK(lseek(fileno(printed), 0, SEEK_END) == 0);
    fclose(printed);
    for (number = 1; number < SIGNALS; number++) {
        (void)sigaction(number, NULL, &after[number]);
        wrong += before[number].sa_handler != after[number].sa_handler ||
                 before[number].sa_flags != after[number].sa_flags;
    }
    CHECK(wrong == 0);
    CHECK(environ == environment);
    for (i = 0; i < entries; i++) {
        wrong += environ[i] == NULL || strcmp(environ[i], copies[i]) != 0;
        free(copies[i]);
    }
    CHECK(wrong == 0 && (entries == COUNT(copies) || environ[entries] == NULL));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(null_handle_is_a_null_argument),
        TEST(destroy_null_is_ok),
        TEST(other_null_arguments_are_named),
        TEST(destroy_twice_is_refused),
        TEST(any_call_after_destroy_is_refused),
        TEST(handles_are_never_issued_twice),
        TEST(random_pointers_are_refused),
        TEST(unreadable_memory_is_never_dereferenced),
        TEST(freed_and_foreign_addresses_are_refused),
        TEST(fit_without_a_kernel_is_refused),
        TEST(results_before_a_fit_are_refused),
        TEST(changed_kernel_discards_the_result),
        TEST(changed_option_discards_the_result),
        TEST(refused_change_keeps_the_result),
        TEST(fit_twice_gives_identical_bits),
        TEST(ten_thousand_models_leave_nothing_behind),
        TEST(host_process_is_left_alone),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
