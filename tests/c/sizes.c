/* Sizes, strides, pointers and buffers that do not fit, the smallest and largest that do, and how
 * long the caller's memory is looked at. */
#include "model.h"

#include <fcntl.h>
#include <sys/mman.h>

#define HUGE_SIZE ((size_t)-1)
/* The first n of which n * n doubles are more than a pointer can span. */
#define TOO_MANY ((size_t)1 << (sizeof(size_t) * 4 - 2))

/* An address that is off by one byte. */
static void *odd(void *pointer)
{
    return (char *)pointer + 1;
}

/* Memory that the test can take away. */
static void *mapped(size_t bytes)
{
    int zero = open("/dev/zero", O_RDWR);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    close(zero);
    if (memory == MAP_FAILED)
        exit(2);
    return memory;
}

static void refused_create(size_t n, size_t c, scmk_status expected, const char *part)
{
    scmk_model *model;
    prefill(&model, sizeof model);
    STATUS(expected, scmk_create(n, c, &model));
    CHECK(untouched(&model, sizeof model));
    MESSAGE(NULL, part);
}

static void zero_samples_are_refused(void)
{
    scmk_model *model = good_model();
    refused_create(0, 1, SCMK_E_DIMENSION, "n_samples: 0 given");
    refused_create(0, 0, SCMK_E_DIMENSION, "n_samples: 0 given");
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, 0, 0));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, 0, 2, 2, 1, "linear"));
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, N, 0, 2, 1, "linear"));
    MESSAGE(model, "n_features of view 1: 0 given");
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void more_clusters_than_samples_are_refused(void)
{
    refused_create(5, 6, SCMK_E_DIMENSION,
                   "n_clusters: 6 given, from 1 to n_samples = 5 expected, or 0 to choose");
    refused_create(1, HUGE_SIZE, SCMK_E_DIMENSION, "n_samples = 1");
}

/* Fits n samples with every method. */
static void every_method(size_t n, size_t c, const double *kernel, size_t leading_dim,
                         int (*right)(const int32_t *labels, size_t n))
{
    scmk_model *model = NULL;
    size_t i;
    OK(scmk_create(n, c, &model));
    OK(scmk_add_kernel(model, kernel, n, leading_dim));
    OK(scmk_add_kernel(model, kernel, n, leading_dim));
    for (i = 0; i < COUNT(methods); i++) {
        int32_t labels[N + 1];
        struct bits bits;
        prefill(labels, sizeof labels);
        set_method(model, methods[i]);
        OK(scmk_fit(model));
        OK(scmk_labels(model, labels, n));
        if (!right(labels, n))
            printf("labels of %s\n", methods[i]);
        CHECK(right(labels, n));
        CHECK(untouched(labels + n, sizeof *labels));
        bits = bits_of(model, n, c);
        if (!all_finite(bits))
            printf("result of %s\n", methods[i]);
        CHECK(all_finite(bits));
        free(bits.values);
    }
    OK(scmk_destroy(model));
}

static int all_zero(const int32_t *labels, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (labels[i] != 0)
            return 0;
    return 1;
}

/* Numbered by first occurrence, distinct labels are 0, 1, 2 and so on. */
static int all_distinct(const int32_t *labels, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (labels[i] != (int32_t)i)
            return 0;
    return 1;
}

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void one_sample_is_ok(void)
{
    every_method(1, 1, identity, 1, all_zero);
}

static void one_cluster_has_all_labels_0(void)
{
    every_method(3, 1, identity, 3, all_zero);
    every_method(N, 1, good, N, all_zero);
}

static void as_many_clusters_as_samples_are_all_distinct(void)
{
    every_method(3, 3, identity, 3, all_distinct);
    every_method(N, N, good, N, all_distinct);
    every_method(2, 2, good, N, all_distinct);
}

static void second_kernel_of_another_size_names_both_sizes(void)
{
    scmk_model *model = good_model();
    static const size_t sizes[] = {N - 1, N + 1, 1};
    size_t i;
    for (i = 0; i < COUNT(sizes); i++) {
        char text[32];
        snprintf(text, sizeof text, "%d given", (int)sizes[i]);
        STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, sizes[i], N + 1));
        MESSAGE(model, text);
        MESSAGE(model, "12");
        STATUS(SCMK_E_DIMENSION, scmk_borrow_kernel(model, good, sizes[i], N + 1));
        MESSAGE(model, text);
        MESSAGE(model, "12");
        STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, sizes[i], 2, 2, 1, "linear"));
        MESSAGE(model, text);
        MESSAGE(model, "12");
    }
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void more_than_can_be_addressed_is_too_large(void)
{
    static const size_t sizes[] = {TOO_MANY, TOO_MANY + 1, HUGE_SIZE / 8, HUGE_SIZE / 2, HUGE_SIZE};
    scmk_model *model = good_model(), *large = NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
    /* A slice of these many doubles would be a lie, and a look at the first one a crash. */
    double *unreadable = mapped(page);
    CHECK(mprotect(unreadable, page, PROT_NONE) == 0);
    for (i = 0; i < COUNT(sizes); i++) {
        size_t n = sizes[i];
        refused_create(n, 2, SCMK_E_TOO_LARGE, "too large");
        STATUS(SCMK_E_TOO_LARGE, scmk_add_kernel(model, unreadable, n, n));
        MESSAGE(model, "too large");
        STATUS(SCMK_E_TOO_LARGE, scmk_borrow_kernel(model, unreadable, n, N));
        if (n > HUGE_SIZE / 16 / N) {
            STATUS(SCMK_E_TOO_LARGE,
                   scmk_add_features(model, unreadable, N, n, n, 1, "linear"));
            MESSAGE(model, "too large");
        }
        STATUS(SCMK_E_TOO_LARGE, scmk_add_features(model, unreadable, n, n, 1, n, "linear"));
    }
    /* One sample less can be addressed: only the kernel of it could not be had. */
    OK(scmk_create(TOO_MANY - 1, 2, &large));
    STATUS(SCMK_E_TOO_LARGE, scmk_add_kernel(large, unreadable, TOO_MANY, TOO_MANY));
    STATUS(SCMK_E_STATE, scmk_fit(large));
    OK(scmk_destroy(large));
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
    munmap(unreadable, page);
}

static void leading_dimension_below_n_is_refused(void)
{
    scmk_model *model = good_model();
    STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, N, N - 1));
    MESSAGE(model, "leading_dim");
    MESSAGE(model, "11 given, at least n = 12");
    STATUS(SCMK_E_DIMENSION, scmk_borrow_kernel(model, good, N, 0));
    MESSAGE(model, "0 given, at least n = 12");
    /* Of features, a stride of 0 would make all of them the same. */
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, N, 2, 0, 1, "linear"));
    MESSAGE(model, "sample_stride: 0 given");
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, N, 2, 2, 0, "linear"));
    MESSAGE(model, "feature_stride: 0 given");
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void leading_dimension_that_overflows_is_refused(void)
{
    scmk_model *model = good_model();
    static const size_t dims[] = {HUGE_SIZE, HUGE_SIZE / 2, HUGE_SIZE / 8, HUGE_SIZE / 64};
    size_t i;
    for (i = 0; i < COUNT(dims); i++) {
        STATUS(SCMK_E_DIMENSION, scmk_add_kernel(model, good, N, dims[i]));
        MESSAGE(model, "leading_dim");
        STATUS(SCMK_E_DIMENSION, scmk_borrow_kernel(model, good, N, dims[i]));
        MESSAGE(model, "leading_dim");
        STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, N, 2, dims[i], 1, "linear"));
        MESSAGE(model, "sample_stride");
    }
    STATUS(SCMK_E_DIMENSION, scmk_add_features(model, points, N, 2, 2, HUGE_SIZE, "linear"));
    MESSAGE(model, "feature_stride");
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void misaligned_pointer_is_refused(void)
{
    scmk_model *model = good_model(), *handles[2];
    struct {
        int32_t labels[N + 1];
        double values[N * N + 1], real[2];
        size_t colptr[N + 2], rows[N * N + 1], count[2];
        int64_t whole[2];
        char text[16];
    } out;
    CHECK(works(model));
    prefill(&out, sizeof out);
    prefill(handles, sizeof handles);
#define REFUSED(multiple, call)                                                                    \
    (STATUS(SCMK_E_INVALID_ARGUMENT, call), MESSAGE(model, "multiple of " multiple))
    REFUSED("8", scmk_add_kernel(model, odd(good), N, N));
    REFUSED("8", scmk_borrow_kernel(model, odd(good), N, N));
    REFUSED("8", scmk_add_features(model, odd(points), N, 2, 2, 1, "linear"));
    REFUSED("4", scmk_labels(model, odd(out.labels), N));
    REFUSED("8", scmk_weights(model, odd(out.values), 1));
    REFUSED("8", scmk_embedding(model, odd(out.values), N * C));
    REFUSED("8", scmk_similarity(model, odd(out.values), N * N));
    REFUSED("8", scmk_similarity_csc(model, odd(out.colptr), N + 1, out.rows, out.values, N * N));
    REFUSED("8", scmk_similarity_csc(model, out.colptr, N + 1, odd(out.rows), out.values, N * N));
    REFUSED("8", scmk_similarity_csc(model, out.colptr, N + 1, out.rows, odd(out.values), N * N));
    REFUSED("8", scmk_trace(model, odd(out.values), N, out.count));
    REFUSED("8", scmk_trace(model, out.values, N, odd(out.count)));
    REFUSED("8", scmk_info_real(model, "objective", odd(out.real)));
    REFUSED("8", scmk_info_int(model, "iterations", odd(out.whole)));
    REFUSED("8", scmk_get_real(model, "alpha", odd(out.real)));
    REFUSED("8", scmk_get_int(model, "seed", odd(out.whole)));
    REFUSED("8", scmk_get_text(model, "alpha", out.text, sizeof out.text, odd(out.count)));
#undef REFUSED
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_error_message(model, out.text, sizeof out.text, odd(out.count)));
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_create(N, C, odd(handles)));
    MESSAGE(NULL, "out");
    CHECK(untouched(handles, sizeof handles));
    CHECK(untouched(out.labels, sizeof out.labels) && untouched(out.values, sizeof out.values));
    CHECK(untouched(out.colptr, sizeof out.colptr) && untouched(out.rows, sizeof out.rows));
    CHECK(untouched(out.count, sizeof out.count) && untouched(out.real, sizeof out.real));
    CHECK(untouched(out.whole, sizeof out.whole) && untouched(out.text, sizeof out.text));
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void short_label_buffer_names_both_lengths(void)
{
    scmk_model *model = good_model();
    int32_t labels[N + 2];
    CHECK(works(model));
    prefill(labels, sizeof labels);
    STATUS(SCMK_E_DIMENSION, scmk_labels(model, labels, N - 1));
    MESSAGE(model, "11 given, at least 12 needed");
    STATUS(SCMK_E_DIMENSION, scmk_labels(model, labels, 0));
    MESSAGE(model, "0 given, at least 12 needed");
    CHECK(untouched(labels, sizeof labels));
    /* A longer one is allowed, and what lies beyond the result stays. */
    OK(scmk_labels(model, labels, N + 2));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);
    CHECK(untouched(labels + N, 2 * sizeof *labels));
    OK(scmk_destroy(model));
}

static void other_short_buffers_name_both_lengths(void)
{
    scmk_model *model = good_model();
    double values[N * N];
    size_t colptr[N + 2], rows[N * N], nnz, length = 0;
    char text[64];
    CHECK(works(model));
    nnz = (size_t)info(model, "similarity_nnz");
    prefill(values, sizeof values);
    prefill(colptr, sizeof colptr);
    prefill(rows, sizeof rows);
    STATUS(SCMK_E_DIMENSION, scmk_weights(model, values, 0));
    MESSAGE(model, "0 given, at least 1 needed");
    STATUS(SCMK_E_DIMENSION, scmk_embedding(model, values, N * C - 1));
    MESSAGE(model, "35 given, at least 36 needed");
    STATUS(SCMK_E_DIMENSION, scmk_similarity(model, values, N * N - 1));
    MESSAGE(model, "143 given, at least 144 needed");
    STATUS(SCMK_E_DIMENSION, scmk_similarity_csc(model, colptr, N, rows, values, nnz));
    MESSAGE(model, "12 given");
    MESSAGE(model, "13");
    STATUS(SCMK_E_DIMENSION, scmk_similarity_csc(model, colptr, N + 2, rows, values, nnz));
    MESSAGE(model, "14 given");
    STATUS(SCMK_E_DIMENSION, scmk_similarity_csc(model, colptr, N + 1, rows, values, nnz - 1));
    snprintf(text, sizeof text, "%d given, at least %d needed", (int)nnz - 1, (int)nnz);
    MESSAGE(model, text);
    CHECK(untouched(values, sizeof values) && untouched(colptr, sizeof colptr));
    CHECK(untouched(rows, sizeof rows));
    /* The trace and texts are cut instead, and tell how long they are. */
    OK(scmk_trace(model, values, 0, &length));
    CHECK(length == (size_t)info(model, "iterations") && untouched(values, sizeof values));
    OK(scmk_weights(model, values, N * N));
    CHECK(values[0] == 1 && untouched(values + 1, sizeof values - sizeof *values));
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void kernel_overwritten_after_add_has_no_effect(void)
{
    scmk_model *model = new_model(), *other = good_model();
    double kernel[N * N], x[N * 2];
    struct bits expected, found;
    memcpy(kernel, good, sizeof kernel);
    memcpy(x, points, sizeof x);
    OK(scmk_add_kernel(model, kernel, N, N));
    OK(scmk_add_features(model, x, N, 2, 2, 1, "gaussian(t=1)"));
    OK(scmk_add_features(other, points, N, 2, 2, 1, "gaussian(t=1)"));
    memset(kernel, 0xff, sizeof kernel);
    memset(x, 0xff, sizeof x);
    CHECK(works(model) && works(other));
    found = bits_of(model, N, C);
    expected = bits_of(other, N, C);
    CHECK(same_bits(found, expected));
    free(found.values), free(expected.values);
    OK(scmk_destroy(model));
    OK(scmk_destroy(other));
}

static void kernel_freed_after_add_has_no_effect(void)
{
    scmk_model *model = new_model();
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (sizeof good + page - 1) / page * page;
    double *kernel = mapped(bytes);
    memcpy(kernel, good, sizeof good);
    OK(scmk_add_kernel(model, kernel, N, N));
    /* The next look at it would be a crash. */
    munmap(kernel, bytes);
    CHECK(works(model));
    OK(scmk_set_text(model, "normalize", "max"));
    CHECK(works(model));
    OK(scmk_destroy(model));
}

/* While it is borrowed it is the caller's to keep, as the header says; here: until when. */
static void borrowed_kernel_is_free_after_clear_destroy_and_refusal(void)
{
    scmk_model *model = good_model(), *second = new_model();
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (sizeof good + page - 1) / page * page;
    double *kernel = mapped(bytes);
    struct bits expected, found;

    CHECK(works(model));
    expected = bits_of(model, N, C);
    memcpy(kernel, good, sizeof good);
    OK(scmk_borrow_kernel(second, kernel, N, N));
    CHECK(works(second));
    found = bits_of(second, N, C);
    CHECK(same_bits(expected, found));
    free(expected.values), free(found.values);

    OK(scmk_clear_kernels(second));
    CHECK(mprotect(kernel, bytes, PROT_NONE) == 0);
    OK(scmk_add_kernel(second, good, N, N));
    CHECK(works(second));

    CHECK(mprotect(kernel, bytes, PROT_READ | PROT_WRITE) == 0);
    kernel[3] = NAN;
    STATUS(SCMK_E_NOT_FINITE, scmk_borrow_kernel(second, kernel, N, N));
    CHECK(mprotect(kernel, bytes, PROT_NONE) == 0);
    CHECK(works(second));

    CHECK(mprotect(kernel, bytes, PROT_READ | PROT_WRITE) == 0);
    kernel[3] = good[3];
    OK(scmk_borrow_kernel(second, kernel, N, N));
    CHECK(works(second));
    /* Not even destroy looks at it. */
    CHECK(mprotect(kernel, bytes, PROT_NONE) == 0);
    OK(scmk_destroy(second));
    munmap(kernel, bytes);
    CHECK(works(model));
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(zero_samples_are_refused),
        TEST(more_clusters_than_samples_are_refused),
        TEST(one_sample_is_ok),
        TEST(one_cluster_has_all_labels_0),
        TEST(as_many_clusters_as_samples_are_all_distinct),
        TEST(second_kernel_of_another_size_names_both_sizes),
        TEST(more_than_can_be_addressed_is_too_large),
        TEST(leading_dimension_below_n_is_refused),
        TEST(leading_dimension_that_overflows_is_refused),
        TEST(misaligned_pointer_is_refused),
        TEST(short_label_buffer_names_both_lengths),
        TEST(other_short_buffers_name_both_lengths),
        TEST(kernel_overwritten_after_add_has_no_effect),
        TEST(kernel_freed_after_add_has_no_effect),
        TEST(borrowed_kernel_is_free_after_clear_destroy_and_refusal),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
