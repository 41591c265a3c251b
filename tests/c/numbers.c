/* Numbers that are none, kernels that are none, and odd ones that are: what is refused with which
 * words, and what must be answered with finite results. */
#include "model.h"

static double bad[N * N];

/* The good kernel but for one entry. */
static double *with(size_t row, size_t col, double value)
{
    memcpy(bad, good, sizeof bad);
    bad[row + col * N] = value;
    return bad;
}

/* The model has one kernel before and after, and works. */
static void refused_kernel(scmk_model *model, const double *kernel, scmk_status expected,
                           const char *part)
{
    STATUS(expected, scmk_add_kernel(model, kernel, N, N));
    MESSAGE(model, part);
    MESSAGE(model, "kernel 1");
    STATUS(expected, scmk_borrow_kernel(model, kernel, N, N));
    MESSAGE(model, part);
    MESSAGE(model, "kernel 1");
    CHECK(info(model, "kernels") == 1);
}

/* In both triangles, on the diagonal and in the corners; features too. */
static void refused_number(double value, const char *word)
{
    static const size_t places[][2] = {{7, 4}, {4, 7}, {5, 5}, {0, 0}, {N - 1, 0}, {0, N - 1},
                                       {N - 1, N - 1}};
    scmk_model *model = good_model();
    size_t i;
    for (i = 0; i < COUNT(places); i++) {
        size_t row = places[i][0], col = places[i][1];
        char text[64];
        snprintf(text, sizeof text, "kernel 1 entry (%d, %d) is %s", (int)row, (int)col, word);
        refused_kernel(model, with(row, col, value), SCMK_E_NOT_FINITE, text);
    }
    for (i = 0; i < N * 2; i += 5) {
        double x[N * 2];
        char text[64];
        memcpy(x, points, sizeof x);
        x[i] = value;
        STATUS(SCMK_E_NOT_FINITE, scmk_add_features(model, x, N, 2, 2, 1, "linear"));
        snprintf(text, sizeof text, "entry (%d, %d) is %s", (int)i / 2, (int)i % 2, word);
        MESSAGE(model, text);
    }
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void nan_in_either_triangle_names_kernel_and_entry(void)
{
    refused_number(NAN, "NaN");
    refused_number(-NAN, "NaN");
}

static void infinity_in_either_triangle_names_kernel_and_entry(void)
{
    refused_number(INFINITY, "inf");
    refused_number(-INFINITY, "-inf");
}

static void na_of_r_names_kernel_and_entry(void)
{
    /* A NaN with the payload 1954, quiet and signalling. */
    static const uint64_t patterns[] = {UINT64_C(0x7ff00000000007a2), UINT64_C(0x7ff80000000007a2)};
    scmk_model *model = good_model();
    size_t i;
    for (i = 0; i < COUNT(patterns); i++) {
        memcpy(bad, good, sizeof bad);
        memcpy(&bad[3 + 8 * N], &patterns[i], sizeof *bad);
        refused_kernel(model, bad, SCMK_E_NOT_FINITE, "kernel 1 entry (3, 8) is NaN");
    }
    CHECK(works(model));
    OK(scmk_destroy(model));
}

/* The shortest of a few calls, so that other programs disturb it less. */
static double seconds_to_add(scmk_model *model, const double *kernel, size_t n,
                             scmk_status expected)
{
    double shortest = INFINITY;
    int k;
    for (k = 0; k < 5; k++) {
        double began = process_clock(), took;
        STATUS(expected, scmk_add_kernel(model, kernel, n, n));
        took = process_clock() - began;
        shortest = took < shortest ? took : shortest;
        OK(scmk_clear_kernels(model));
    }
    return shortest;
}

static void nan_is_refused_as_fast_as_a_good_kernel_is_taken(void)
{
    enum { MANY = 600 };
    static const size_t places[] = {0, 1, MANY, MANY * MANY / 2 + 7, MANY * MANY - 1};
    double *x = malloc(MANY * 2 * sizeof *x);
    double *kernel = malloc(sizeof(double) * MANY * MANY), usual, took;
    int32_t *groups = malloc(MANY * sizeof *groups);
    scmk_model *model = NULL;
    size_t i;
    blobs_points(x, groups, MANY);
    blobs_kernel(x, MANY, 50, kernel, MANY);
    OK(scmk_create(MANY, C, &model));
    usual = seconds_to_add(model, kernel, MANY, SCMK_OK);
    for (i = 0; i < COUNT(places); i++) {
        double value = kernel[places[i]];
        kernel[places[i]] = NAN;
        took = seconds_to_add(model, kernel, MANY, SCMK_E_NOT_FINITE);
        /* Reading it all is a part of taking it, so this leaves much room. */
        check_that(took < 5 * usual, (long)(1e6 * took), "too many microseconds", __FILE__,
                   __LINE__);
        kernel[places[i]] = value;
    }
    OK(scmk_destroy(model));
    free(x), free(kernel), free(groups);
}

static void asymmetry_beyond_1e_8_names_the_entry(void)
{
    scmk_model *model = good_model();
    refused_kernel(model, with(5, 2, 0.75), SCMK_E_ASYMMETRIC, "(5, 2) = 0.75");
    MESSAGE(model, "(2, 5)");
    refused_kernel(model, with(2, 5, -0.75), SCMK_E_ASYMMETRIC, "(2, 5) = -0.75");
    MESSAGE(model, "(5, 2)");
    /* Just beyond; the largest entry is 1. */
    refused_kernel(model, with(9, 1, good[9 + N] + 1.1e-8), SCMK_E_ASYMMETRIC, "(9, 1)");
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void asymmetry_below_1e_8_is_symmetrised(void)
{
    scmk_model *skew = new_model(), *mean = new_model(), *borrowed = new_model();
    double symmetrised[N * N];
    struct bits a, b, c;
    size_t i, j;
    memcpy(bad, good, sizeof bad);
    for (j = 0; j < N; j++)
        for (i = j + 1; i < N; i++)
            bad[i + j * N] += 0.9e-8;
    for (j = 0; j < N; j++)
        for (i = 0; i < N; i++)
            symmetrised[i + j * N] = 0.5 * bad[i + j * N] + 0.5 * bad[j + i * N];
    OK(scmk_add_kernel(skew, bad, N, N));
    OK(scmk_add_kernel(mean, symmetrised, N, N));
    OK(scmk_borrow_kernel(borrowed, bad, N, N));
    CHECK(works(skew) && works(mean) && works(borrowed));
    a = bits_of(skew, N, C);
    b = bits_of(mean, N, C);
    CHECK(same_bits(a, b));
    /* A borrowed one is averaged where it is used, in another order of the same sums. */
    OK(scmk_similarity(borrowed, a.values, N * N));
    OK(scmk_similarity(mean, b.values, N * N));
    for (i = 0; i < N * N; i++)
        CHECK(fabs(a.values[i] - b.values[i]) < 1e-12);
    free(a.values), free(b.values);

    /* What was averaged is the kernel's, not the caller's. */
    c = bits_of(borrowed, N, C);
    CHECK(all_finite(c) && bad[1] != bad[N]);
    free(c.values);
    OK(scmk_destroy(skew));
    OK(scmk_destroy(mean));
    OK(scmk_destroy(borrowed));
}

/* The number in "an eigenvalue at or below ...". */
static double told_eigenvalue(const scmk_model *model)
{
    static const char words[] = "at or below ";
    char text[256] = "";
    const char *found;
    OK(scmk_error_message(model, text, sizeof text, NULL));
    found = strstr(text, words);
    return found ? strtod(found + sizeof words - 1, NULL) : NAN;
}

static void indefinite_kernel_names_its_eigenvalue(void)
{
    enum { MANY = 200 };
    static double large[MANY * MANY];
    scmk_model *model = good_model(), *other = NULL;
    size_t i, j;
    memset(bad, 0, sizeof bad);
    for (i = 0; i < N; i++)
        bad[i * N + i] = i == 4 ? -0.25 : 1;
    refused_kernel(model, bad, SCMK_E_NOT_PSD, "eigenvalue");
    CHECK(fabs(told_eigenvalue(model) + 0.25) < 1e-9);
    /* Two samples more alike than each is to itself: 1 - 2 is an eigenvalue. */
    for (i = 0; i < N; i++)
        bad[i * N + i] = 1;
    bad[3 + 8 * N] = bad[8 + 3 * N] = 2;
    refused_kernel(model, bad, SCMK_E_NOT_PSD, "eigenvalue");
    CHECK(fabs(told_eigenvalue(model) + 1) < 1e-9);
    CHECK(works(model));
    OK(scmk_destroy(model));

    /* A larger one is not decomposed: what is told lies between the smallest eigenvalue and 0. */
    for (j = 0; j < MANY; j++)
        for (i = 0; i < MANY; i++)
            large[i + j * MANY] = (i == j ? 2.0 : 0.0) - 1.0;
    OK(scmk_create(MANY, C, &other));
    STATUS(SCMK_E_NOT_PSD, scmk_add_kernel(other, large, MANY, MANY));
    MESSAGE(other, "kernel 0");
    CHECK(told_eigenvalue(other) < 0 && told_eigenvalue(other) > 2 - MANY - 1e-6);
    for (i = 0; i < MANY; i++)
        large[i * MANY + i] = MANY;
    OK(scmk_add_kernel(other, large, MANY, MANY));
    OK(scmk_fit(other));
    OK(scmk_destroy(other));
}

static void eigenvalue_below_zero_by_rounding_is_taken(void)
{
    scmk_model *model = new_model();
    size_t i;
    /* Rank two, and a shift of all eigenvalues by less than single precision makes. */
    for (i = 0; i < N * N; i++) {
        size_t a = i % N, b = i / N;
        bad[i] = points[2 * a] * points[2 * b] + points[2 * a + 1] * points[2 * b + 1];
        bad[i] -= a == b ? 1e-6 : 0;
    }
    OK(scmk_add_kernel(model, bad, N, N));
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void zero_kernel_is_degenerate(void)
{
    scmk_model *model = good_model();
    memset(bad, 0, sizeof bad);
    refused_kernel(model, bad, SCMK_E_DEGENERATE, "kernel 1 is degenerate");
    bad[7] = -0.0;
    refused_kernel(model, bad, SCMK_E_DEGENERATE, "zero");
    memset(bad, 0, sizeof bad);
    STATUS(SCMK_E_DEGENERATE, scmk_add_features(model, bad, N, 2, 2, 1, "linear"));
    MESSAGE(model, "kernel 1");
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void constant_kernel_is_degenerate(void)
{
    static const double values[] = {1, 3, 0.1, 1e300, 1e-300};
    scmk_model *model = good_model();
    size_t i, k;
    for (k = 0; k < COUNT(values); k++) {
        for (i = 0; i < N * N; i++)
            bad[i] = values[k];
        refused_kernel(model, bad, SCMK_E_DEGENERATE, "kernel 1 is degenerate");
        MESSAGE(model, "constant");
        STATUS(SCMK_E_DEGENERATE,
               scmk_add_features(model, bad, N, 2, 2, 1, "gaussian(t=1)"));
        MESSAGE(model, "kernel 1");
    }
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

/* Weights on their simplex, an objective that is neither negative nor rising. */
static void sound_weights_and_trace(const scmk_model *model, size_t kernels)
{
    double weights[8], trace[128], roots = 0;
    size_t i, length = 0;
    OK(scmk_weights(model, weights, 8));
    for (i = 0; i < kernels; i++) {
        CHECK(weights[i] >= 0);
        roots += sqrt(weights[i]);
    }
    CHECK(fabs(roots - 1) < 1e-12);
    OK(scmk_trace(model, trace, COUNT(trace), &length));
    CHECK(length >= 1);
    for (i = 0; i < length && i < COUNT(trace); i++)
        CHECK(trace[i] >= 0 && (i == 0 || trace[i] <= trace[i - 1]));
}

static void cost_that_rounds_below_zero_is_clamped(void)
{
    static const double alphas[] = {1e-12, 1e-10, 1e-8, 1e-4, 1};
    static const char *const scales[] = {"none", "max", "unit"};
    scmk_model *model = new_model(), *one = NULL;
    double flat[N * N], weights[2];
    size_t i, k;
    set_method(model, "joint");
    /* At a small alpha Z is nearly the identity and reproduces all kernels: every cost is nothing
     * but rounding, of either sign; nearly flat kernels cancel most. */
    for (i = 0; i < N * N; i++)
        flat[i] = 1e6 + good[i];
    OK(scmk_add_kernel(model, good, N, N));
    OK(scmk_add_kernel(model, flat, N, N));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "linear; polynomial(a=1,b=4); gaussian(t=1)"));
    for (i = 0; i < COUNT(alphas); i++) {
        for (k = 0; k < COUNT(scales); k++) {
            struct bits bits;
            OK(scmk_set_real(model, "alpha", alphas[i]));
            OK(scmk_set_text(model, "normalize", scales[k]));
            OK(scmk_fit(model));
            bits = bits_of(model, N, C);
            CHECK(all_finite(bits));
            free(bits.values);
            sound_weights_and_trace(model, 5);
        }
    }
    OK(scmk_destroy(model));

    /* Costs of exactly zero share the weight. */
    OK(scmk_create(1, 1, &one));
    set_method(one, "joint");
    OK(scmk_add_kernel(one, good, 1, 1));
    OK(scmk_add_kernel(one, good, 1, 1));
    OK(scmk_fit(one));
    OK(scmk_weights(one, weights, 2));
    CHECK(weights[0] == 0.25 && weights[1] == 0.25);
    OK(scmk_destroy(one));
}

/* Every method and every normalisation is finite; where the scale is divided out, the groups are
 * found. */
static void finite_whatever_the_scale(scmk_model *model)
{
    static const char *const scales[] = {"none", "max", "unit"};
    size_t i, k;
    for (i = 0; i < COUNT(methods); i++) {
        for (k = 0; k < COUNT(scales); k++) {
            struct bits bits;
            int32_t labels[N];
            set_method(model, methods[i]);
            OK(scmk_set_text(model, "normalize", scales[k]));
            OK(scmk_fit(model));
            bits = bits_of(model, N, C);
            if (!all_finite(bits))
                printf("not finite: %s, %s\n", methods[i], scales[k]);
            CHECK(all_finite(bits));
            free(bits.values);
            OK(scmk_labels(model, labels, N));
            CHECK(k == 0 || memcmp(labels, truth, sizeof truth) == 0);
        }
    }
}

static void scaled_by(double factor)
{
    scmk_model *model = new_model();
    double kernel[N * N], x[N * 2];
    size_t i;
    for (i = 0; i < N * N; i++)
        kernel[i] = good[i] * factor;
    for (i = 0; i < N * 2; i++)
        x[i] = points[i] * factor;
    OK(scmk_add_kernel(model, kernel, N, N));
    OK(scmk_borrow_kernel(model, kernel, N, N));
    finite_whatever_the_scale(model);
    OK(scmk_clear_kernels(model));
    OK(scmk_add_features(model, x, N, 2, 2, 1, "gaussian(t=0.5); gaussian(t=1)"));
    finite_whatever_the_scale(model);
    OK(scmk_add_features(model, x, N, 2, 2, 1, "paper"));
    OK(scmk_set_text(model, "method", "scmk"));
    OK(scmk_fit(model));
    OK(scmk_destroy(model));
}

static void everything_times_1e300_is_finite(void)
{
    scaled_by(1e300);
}

static void everything_times_1e_minus_300_is_finite(void)
{
    scaled_by(1e-300);
}

static void kernels_of_both_scales_together_are_finite(void)
{
    scmk_model *model = new_model();
    double large[N * N], small[N * N];
    size_t i;
    for (i = 0; i < N * N; i++) {
        large[i] = good[i] * 1e300;
        small[i] = good[i] * 1e-300;
    }
    OK(scmk_add_kernel(model, large, N, N));
    OK(scmk_add_kernel(model, small, N, N));
    finite_whatever_the_scale(model);
    OK(scmk_destroy(model));
}

/* A model whose sample i is the point at[i]. */
static void copies_of_points(const size_t *at, const int32_t *expected)
{
    scmk_model *model = new_model();
    double x[N * 2], kernel[N * N];
    size_t i;
    for (i = 0; i < N; i++)
        memcpy(x + 2 * i, points + 2 * at[i], 2 * sizeof *x);
    blobs_kernel(x, N, 50, kernel, N);
    OK(scmk_add_kernel(model, kernel, N, N));
    OK(scmk_add_features(model, x, N, 2, 2, 1, "gaussian(t=0.1); linear"));
    for (i = 0; i < COUNT(methods); i++) {
        int32_t labels[N];
        struct bits bits;
        set_method(model, methods[i]);
        OK(scmk_fit(model));
        bits = bits_of(model, N, C);
        if (!all_finite(bits))
            printf("not finite: %s\n", methods[i]);
        CHECK(all_finite(bits));
        free(bits.values);
        OK(scmk_labels(model, labels, N));
        CHECK(expected == NULL || memcmp(labels, expected, sizeof labels) == 0);
    }
    OK(scmk_destroy(model));
}

static void duplicate_samples_are_ok(void)
{
    static const size_t pairs[N] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
    static const size_t three[N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    /* Fewer distinct samples than clusters. */
    static const size_t two[N] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    copies_of_points(pairs, truth);
    copies_of_points(three, truth);
    copies_of_points(two, NULL);
}

/* The connected parts of a Z. */
static size_t parts_of(const double *z)
{
    size_t part[N], i, j, k, count = 0;
    for (i = 0; i < N; i++)
        part[i] = i;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            if (z[i + j * N] != 0 && part[i] != part[j]) {
                size_t from = part[j], to = part[i];
                for (k = 0; k < N; k++)
                    part[k] = part[k] == from ? to : part[k];
            }
    /* Each part carries the number of one of its samples. */
    for (i = 0; i < N; i++) {
        for (j = 0; j < N && part[j] != i; j++)
            ;
        count += j < N;
    }
    return count;
}

static void more_blocks_than_clusters_are_kept_whole(void)
{
    enum { BLOCK = 2 };
    static const char *const spectral[] = {"sc", "aasc"};
    static const double alphas[] = {1e-5, 0.1, 1, 100}, betas[] = {0, 1e-3, 1, 100};
    scmk_model *model = new_model();
    double z[N * N];
    struct bits bits;
    int32_t labels[N];
    size_t i, k;
    for (i = 0; i < N * N; i++)
        bad[i] = i % N / BLOCK == i / N / BLOCK;
    OK(scmk_add_kernel(model, bad, N, N));
    for (k = 0; k < COUNT(alphas) * COUNT(betas); k++) {
        OK(scmk_set_real(model, "alpha", alphas[k / COUNT(betas)]));
        OK(scmk_set_real(model, "beta", betas[k % COUNT(betas)]));
        OK(scmk_fit(model));
        OK(scmk_labels(model, labels, N));
        for (i = 0; i < N; i++)
            CHECK(labels[i] == labels[i / BLOCK * BLOCK]);
        OK(scmk_similarity(model, z, N * N));
        CHECK(info(model, "components") == (int64_t)parts_of(z));
        bits = bits_of(model, N, C);
        CHECK(all_finite(bits));
        free(bits.values);
    }
    for (k = 0; k < COUNT(methods); k++) {
        set_method(model, methods[k]);
        OK(scmk_fit(model));
        OK(scmk_labels(model, labels, N));
        for (i = 0; i < N; i++)
            CHECK(labels[i] == labels[i / BLOCK * BLOCK]);
    }
    /* Here the kernel itself is the graph. */
    for (k = 0; k < COUNT(spectral); k++) {
        OK(scmk_set_text(model, "method", spectral[k]));
        OK(scmk_fit(model));
        CHECK(info(model, "components") == N / BLOCK);
    }
    OK(scmk_destroy(model));
}

static void identity_kernel_is_finite(void)
{
    static const double alphas[] = {1e-12, 1, 1e12};
    scmk_model *model = new_model();
    size_t i, k;
    memset(bad, 0, sizeof bad);
    for (i = 0; i < N; i++)
        bad[i * N + i] = 1;
    OK(scmk_add_kernel(model, bad, N, N));
    OK(scmk_add_kernel(model, bad, N, N));
    for (i = 0; i < COUNT(methods); i++) {
        for (k = 0; k < COUNT(alphas); k++) {
            struct bits bits;
            set_method(model, methods[i]);
            OK(scmk_set_real(model, "alpha", alphas[k]));
            OK(scmk_fit(model));
            bits = bits_of(model, N, C);
            if (!all_finite(bits))
                printf("not finite: %s\n", methods[i]);
            CHECK(all_finite(bits));
            free(bits.values);
        }
    }
    OK(scmk_destroy(model));
}

/* Every option that is a number, alpha, beta and the tolerances among them. */
static void option_values_out_of_range_are_refused_with_the_range(void)
{
    static const double numbers[] = {NAN, -NAN, INFINITY, -INFINITY, -2, -1e-300, -1e300};
    static const char *const texts[] = {"nan", "NaN", "inf", "-inf", "-2", "many", "", "1e999"};
    scmk_model *model = good_model();
    int seen = 0;
    size_t i, k;
    for (i = 0; i < scmk_option_count(); i++) {
        const char *name;
        int32_t type;
        double min, max, before, after;
        char range[64];
        OK(scmk_option_info(i, &name, &type, NULL, &min, &max, NULL, NULL));
        if (type == SCMK_TYPE_TEXT)
            continue;
        seen += !strcmp(name, "alpha") + !strcmp(name, "beta") + !strcmp(name, "tolerance") +
                !strcmp(name, "kkt_tolerance") + !strcmp(name, "time_limit");
        OK(scmk_get_real(model, name, &before));
        snprintf(range, sizeof range, "number from %g to ", min);
        if (min == 1e-12)
            snprintf(range, sizeof range, "number from 1e-12 to 1e12");
        if (min == 1e-13)
            snprintf(range, sizeof range, "number from 1e-13 to 0.01");
        for (k = 0; k < COUNT(numbers); k++) {
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, name, numbers[k]));
            MESSAGE(model, name);
            /* Which kind of number is said first, where a whole one is wanted. */
            if (type == SCMK_TYPE_REAL)
                MESSAGE(model, range);
        }
        for (k = 0; k < COUNT(texts); k++) {
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, name, texts[k]));
            MESSAGE(model, name);
        }
        STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_int(model, name, -2));
        MESSAGE(model, range);
        OK(scmk_get_real(model, name, &after));
        CHECK(before == after);
        if (max < 9e18) {
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, name, max * 1.5 + 1));
            MESSAGE(model, name);
        }
    }
    CHECK(seen == 5);
    CHECK(works(model));
    OK(scmk_destroy(model));
}

static void unknown_option_names_the_nearest(void)
{
    static const char *const pairs[][2] = {{"aplha", "'alpha'"},
                                           {"Beta", "'beta'"},
                                           {"tolerence", "'tolerance'"},
                                           {"max_iteration", "'max_iterations'"},
                                           {"memorylimit", "'memory_limit'"}};
    scmk_model *model = good_model();
    double real;
    int64_t whole;
    char text[16];
    size_t i, needed;
    prefill(&real, sizeof real);
    prefill(&whole, sizeof whole);
    prefill(text, sizeof text);
    prefill(&needed, sizeof needed);
    for (i = 0; i < COUNT(pairs); i++) {
#define REFUSED(call)                                                                              \
    (STATUS(SCMK_E_UNKNOWN_OPTION, call), MESSAGE(model, pairs[i][0]), MESSAGE(model, pairs[i][1]))
        REFUSED(scmk_set_real(model, pairs[i][0], 1));
        REFUSED(scmk_set_int(model, pairs[i][0], 1));
        REFUSED(scmk_set_text(model, pairs[i][0], "1"));
        REFUSED(scmk_get_real(model, pairs[i][0], &real));
        REFUSED(scmk_get_int(model, pairs[i][0], &whole));
        REFUSED(scmk_get_text(model, pairs[i][0], text, sizeof text, &needed));
#undef REFUSED
    }
    CHECK(works(model));
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_info_real(model, "objektive", &real));
    MESSAGE(model, "'objective'");
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_info_int(model, "iteration", &whole));
    MESSAGE(model, "'iterations'");
    STATUS(SCMK_E_UNKNOWN_OPTION,
           scmk_add_features(model, points, N, 2, 2, 1, "linear; gausian(t=1)"));
    MESSAGE(model, "'gaussian'");
    CHECK(untouched(&real, sizeof real) && untouched(&whole, sizeof whole));
    CHECK(untouched(text, sizeof text) && untouched(&needed, sizeof needed));
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

/* What is no name, list or number at all. */
static void malformed_texts_are_refused(void)
{
    static const char *const lists[] = {"; ;", ";", "gaussian(t=-1)", "gaussian(t=nan)",
                                        "gaussian(t", "polynomial(b=0.5)", "linear(a=1)", "\xff"};
    scmk_model *model = good_model();
    size_t i;
    for (i = 0; i < COUNT(lists); i++)
        CHECK(scmk_add_features(model, points, N, 2, 2, 1, lists[i]) == SCMK_E_INVALID_ARGUMENT ||
              scmk_add_features(model, points, N, 2, 2, 1, lists[i]) == SCMK_E_UNKNOWN_OPTION);
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_real(model, "al\xff", 1));
    MESSAGE(model, "UTF-8");
    STATUS(SCMK_E_INVALID_ARGUMENT, scmk_set_text(model, "labels", "\xc3("));
    MESSAGE(model, "UTF-8");
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_set_real(model, "", 1));
    CHECK(info(model, "kernels") == 1 && works(model));
    OK(scmk_destroy(model));
}

static void iteration_cap_is_an_outcome_with_labels(void)
{
    scmk_model *model = good_model();
    size_t i;
    OK(scmk_add_features(model, points, N, 2, 2, 1, "gaussian(t=0.1); linear"));
    OK(scmk_set_real(model, "tolerance", 0));
    OK(scmk_set_int(model, "max_iterations", 1));
    for (i = 0; i < COUNT(methods); i++) {
        struct bits bits;
        int64_t outcome;
        set_method(model, methods[i]);
        CHECK(works(model));
        outcome = info(model, "outcome");
        if (strcmp(methods[i], "joint") == 0) {
            CHECK(outcome == SCMK_OUTCOME_ITERATION_LIMIT);
            CHECK(strcmp(scmk_outcome_name(outcome), "iteration limit") == 0);
        }
        /* The others may have settled in one iteration. */
        CHECK(outcome == SCMK_OUTCOME_ITERATION_LIMIT || outcome == SCMK_OUTCOME_CONVERGED);
        CHECK(info(model, "iterations") == 1);
        bits = bits_of(model, N, C);
        CHECK(all_finite(bits));
        free(bits.values);
    }
    OK(scmk_destroy(model));
}

static void entries_near_the_largest_number_are_refused_or_finite(void)
{
    static const char *const scales[] = {"none", "max", "unit"};
    double huge[N * N];
    size_t i, m, s;
    for (i = 0; i < N * N; i++)
        huge[i] = 1.7e308 * good[i];
    for (m = 0; m < COUNT(methods); m++)
        for (s = 0; s < COUNT(scales); s++) {
            scmk_model *model = new_model();
            scmk_status status;
            OK(scmk_add_kernel(model, huge, N, N));
            set_method(model, methods[m]);
            OK(scmk_set_text(model, "normalize", scales[s]));
            status = scmk_fit(model);
            if (s == 0) {
                STATUS(SCMK_E_INVALID_ARGUMENT, status);
                MESSAGE(model, "beyond the range of numbers");
            } else {
                struct bits bits;
                OK(status);
                bits = bits_of(model, N, C);
                CHECK(all_finite(bits));
                free(bits.values);
            }
            OK(scmk_destroy(model));
        }
}

/* Kernels whose samples have nothing in common, or less: they say nothing about the graph. */
static void affinities_without_an_edge_have_no_weight(void)
{
    static const char *const laplacians[] = {"symmetric", "unnormalized"};
    double apart[N * N], weights[2];
    size_t i, l;
    for (i = 0; i < N * N; i++)
        apart[i] = i % (N + 1) == 0 ? 1.0 : -0.05;
    for (l = 0; l < COUNT(laplacians); l++) {
        scmk_model *model = good_model();
        struct bits bits;
        OK(scmk_add_kernel(model, apart, N, N));
        OK(scmk_set_text(model, "method", "aasc"));
        OK(scmk_set_text(model, "laplacian", laplacians[l]));
        OK(scmk_fit(model));
        bits = bits_of(model, N, C);
        CHECK(all_finite(bits));
        free(bits.values);
        OK(scmk_weights(model, weights, 2));
        CHECK(fabs(weights[0] + weights[1] - 1) < 1e-12);
        OK(scmk_destroy(model));
    }
}

static void alpha_below_rounding_is_told(void)
{
    scmk_model *model = good_model();
    double used, huge[N * N];
    size_t i;
    CHECK(works(model));
    OK(scmk_info_real(model, "alpha_used", &used));
    CHECK(used == 1);
    for (i = 0; i < N * N; i++)
        huge[i] = 1e20 * good[i];
    OK(scmk_clear_kernels(model));
    OK(scmk_add_kernel(model, huge, N, N));
    OK(scmk_set_text(model, "normalize", "none"));
    OK(scmk_fit(model));
    OK(scmk_info_real(model, "alpha_used", &used));
    CHECK(used > 1e5 && used < 1e9);
    OK(scmk_destroy(model));
}

static void features_of_extreme_size_are_told(void)
{
    static const double sizes[] = {1, 1e28, 1e40, 1e-40};
    double scaled[2 * N];
    size_t i, s;
    for (s = 0; s < COUNT(sizes); s++) {
        scmk_model *model = new_model();
        const int extreme = s >= 2;
        for (i = 0; i < 2 * N; i++)
            scaled[i] = sizes[s] * points[i];
        OK(scmk_add_features(model, scaled, N, 2, 2, 1, "linear; gaussian; polynomial(a=0,b=2)"));
        CHECK(info(model, "rescaled_kernels") == extreme);
        CHECK(works(model));
        OK(scmk_destroy(model));
    }
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(nan_in_either_triangle_names_kernel_and_entry),
        TEST(infinity_in_either_triangle_names_kernel_and_entry),
        TEST(na_of_r_names_kernel_and_entry),
        TEST(nan_is_refused_as_fast_as_a_good_kernel_is_taken),
        TEST(asymmetry_beyond_1e_8_names_the_entry),
        TEST(asymmetry_below_1e_8_is_symmetrised),
        TEST(indefinite_kernel_names_its_eigenvalue),
        TEST(eigenvalue_below_zero_by_rounding_is_taken),
        TEST(zero_kernel_is_degenerate),
        TEST(constant_kernel_is_degenerate),
        TEST(cost_that_rounds_below_zero_is_clamped),
        TEST(everything_times_1e300_is_finite),
        TEST(everything_times_1e_minus_300_is_finite),
        TEST(kernels_of_both_scales_together_are_finite),
        TEST(duplicate_samples_are_ok),
        TEST(more_blocks_than_clusters_are_kept_whole),
        TEST(identity_kernel_is_finite),
        TEST(option_values_out_of_range_are_refused_with_the_range),
        TEST(unknown_option_names_the_nearest),
        TEST(malformed_texts_are_refused),
        TEST(iteration_cap_is_an_outcome_with_labels),
        TEST(entries_near_the_largest_number_are_refused_or_finite),
        TEST(affinities_without_an_edge_have_no_weight),
        TEST(alpha_below_rounding_is_told),
        TEST(features_of_extreme_size_are_told),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
