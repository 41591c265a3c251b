/* Plain defaults: views as they come, no option set, and what the library then tells about its
 * answer: weights, the number of clusters, warnings, measures without labels. */
#include "model.h"

enum { SAMPLES = 120, GROUPS = 4, VIEWS = 3, MEASURES = 8, WORDS = 40, NOISE = 6 };

/* Four groups in measurements and in counts of words, and a view of nothing. */
static double measures[SAMPLES * MEASURES], words[SAMPLES * WORDS], noise[SAMPLES * NOISE];
static int32_t groups[SAMPLES];

/* Nearly normal, of variance 1. */
static double normal(uint64_t *state)
{
    double sum = -6;
    int k;
    for (k = 0; k < 12; k++)
        sum += blobs_random(state);
    return sum;
}

static void make_views(void)
{
    enum { LENGTH = 6, OWN = WORDS / GROUPS };
    uint64_t state = 3;
    size_t i, j;
    for (i = 0; i < SAMPLES; i++) {
        const size_t group = i % GROUPS;
        groups[i] = (int32_t)group;
        for (j = 0; j < MEASURES; j++)
            measures[i * MEASURES + j] = normal(&state) + (j % GROUPS == group ? 6 : 0);
        for (j = 0; j < NOISE; j++)
            noise[i * NOISE + j] = normal(&state);
        for (j = 0; j < LENGTH; j++)
            words[i * WORDS + OWN * group + (size_t)(OWN * blobs_random(&state))]++;
    }
}

/* A model of the first two views, or of all. */
static scmk_model *views_model(size_t clusters, int with_noise, const char *list)
{
    scmk_model *model = NULL;
    OK(scmk_create(SAMPLES, clusters, &model));
    OK(scmk_add_features(model, measures, SAMPLES, MEASURES, MEASURES, 1, list));
    OK(scmk_add_features(model, words, SAMPLES, WORDS, WORDS, 1, list));
    if (with_noise)
        OK(scmk_add_features(model, noise, SAMPLES, NOISE, NOISE, 1, list));
    return model;
}

static int finds_groups(scmk_model *model)
{
    int32_t labels[SAMPLES];
    return scmk_fit(model) == SCMK_OK && scmk_labels(model, labels, SAMPLES) == SCMK_OK &&
           memcmp(labels, groups, sizeof labels) == 0;
}

static double real_info(const scmk_model *model, const char *name)
{
    double value = NAN;
    OK(scmk_info_real(model, name, &value));
    return value;
}

/* The warning has these words in it; none of them: it is empty. */
static int warns(const scmk_model *model, const char *part)
{
    char text[256] = "?";
    int right;
    OK(scmk_info_text(model, "warning", text, sizeof text, NULL));
    right = *part ? strstr(text, part) != NULL : *text == 0;
    if (!right)
        printf("the warning is \"%s\"\n", text);
    return right;
}

static void null_empty_and_auto_lists_give_the_same_bits(void)
{
    static const char *const lists[] = {"auto", NULL, "", " Auto "};
    struct bits first = {NULL, 0};
    size_t i;
    for (i = 0; i < COUNT(lists); i++) {
        scmk_model *model = views_model(GROUPS, 1, lists[i]);
        struct bits other;
        CHECK(finds_groups(model));
        other = bits_of(model, SAMPLES, GROUPS);
        if (i == 0)
            first = other;
        CHECK(same_bits(first, other));
        if (i > 0)
            free(other.values);
        OK(scmk_destroy(model));
    }
    free(first.values);
}

static void kernel_names_tell_what_was_prepared(void)
{
    static double weighed[SAMPLES * WORDS];
    static const struct {
        const double *x;
        size_t features;
        const char *list, *name;
    } cases[] = {
        {measures, MEASURES, NULL, "standardize; gaussian(t=25,neighbors=7)"},
        {words, WORDS, "auto", "tfidf; unit_rows; gaussian(t=25,neighbors=7)"},
        {weighed, WORDS, "", "unit_rows; gaussian(t=25,neighbors=7)"},
        {measures, MEASURES, "auto; linear", "standardize; linear"},
        {words, WORDS, "linear", "linear"},
    };
    size_t i;
    for (i = 0; i < COUNT(weighed); i++)
        weighed[i] = words[i] / sqrt(1.0 + (double)(i / WORDS));
    for (i = 0; i < COUNT(cases); i++) {
        scmk_model *model = NULL;
        char name[64] = "";
        OK(scmk_create(SAMPLES, GROUPS, &model));
        OK(scmk_add_features(model, cases[i].x, SAMPLES, cases[i].features, cases[i].features, 1,
                             cases[i].list));
        CHECK(info(model, "kernels") == 1);
        OK(scmk_kernel_name(model, 0, NULL, name, sizeof name, NULL));
        if (strcmp(name, cases[i].name) != 0)
            printf("\"%s\" instead of \"%s\"\n", name, cases[i].name);
        CHECK(strcmp(name, cases[i].name) == 0);
        OK(scmk_destroy(model));
    }
}

static void view_of_noise_has_weight_0_and_weights_sum_to_1(void)
{
    scmk_model *model = views_model(GROUPS, 1, NULL);
    double weights[VIEWS], shares[VIEWS];
    CHECK(finds_groups(model));
    OK(scmk_weights(model, weights, VIEWS));
    CHECK(weights[0] > 0 && weights[1] > 0 && weights[2] == 0);
    CHECK(fabs(weights[0] + weights[1] - 1) < 1e-12);
    OK(scmk_view_weights(model, shares, VIEWS));
    CHECK(shares[2] == 0 && fabs(shares[0] - weights[0]) < 1e-12);
    CHECK(warns(model, ""));
    OK(scmk_destroy(model));
}

static void answer_depends_neither_on_units_nor_on_the_order_of_features(void)
{
    static const double units[] = {1, 1e6, 1e-6};
    double expected[VIEWS], found[VIEWS];
    scmk_model *model = views_model(GROUPS, 1, NULL);
    size_t unit, shift, i, j;
    CHECK(finds_groups(model));
    OK(scmk_weights(model, expected, VIEWS));
    OK(scmk_destroy(model));
    for (unit = 0; unit < COUNT(units); unit++)
        for (shift = 0; shift < 2; shift++) {
            static double a[SAMPLES * MEASURES], b[SAMPLES * WORDS];
            for (i = 0; i < SAMPLES; i++) {
                /* Measurements have a unit each, counts one for all. */
                for (j = 0; j < MEASURES; j++)
                    a[i * MEASURES + j] = units[(unit + j) % COUNT(units)] *
                                          measures[i * MEASURES + (j + 3 * shift) % MEASURES];
                for (j = 0; j < WORDS; j++)
                    b[i * WORDS + j] = units[unit] * words[i * WORDS + (j + 7 * shift) % WORDS];
            }
            OK(scmk_create(SAMPLES, GROUPS, &model));
            OK(scmk_add_features(model, a, SAMPLES, MEASURES, MEASURES, 1, NULL));
            OK(scmk_add_features(model, b, SAMPLES, WORDS, WORDS, 1, NULL));
            OK(scmk_add_features(model, noise, SAMPLES, NOISE, NOISE, 1, NULL));
            CHECK(finds_groups(model));
            OK(scmk_weights(model, found, VIEWS));
            for (i = 0; i < VIEWS; i++)
                CHECK(fabs(found[i] - expected[i]) < 1e-6);
            OK(scmk_destroy(model));
        }
}

static void similarity_is_certified(void)
{
    scmk_model *model = views_model(GROUPS, 1, NULL);
    double weights[VIEWS], certified[VIEWS], pull[SAMPLES * GROUPS];
    size_t i;
    CHECK(finds_groups(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CONVERGED);
    CHECK(real_info(model, "kkt_residual") >= 0 && real_info(model, "kkt_residual") <= 1e-9);
    CHECK(real_info(model, "beta_used") == 0 && real_info(model, "alpha_used") == 1);
    /* Weights come before Z, and nothing pulls at it: what it is certified for is the answer. */
    OK(scmk_weights(model, weights, VIEWS));
    OK(scmk_certified_weights(model, certified, VIEWS));
    CHECK(memcmp(weights, certified, sizeof weights) == 0);
    prefill(pull, sizeof pull);
    OK(scmk_certified_embedding(model, pull, COUNT(pull)));
    for (i = 0; i < COUNT(pull); i++)
        CHECK(pull[i] == 0);
    OK(scmk_destroy(model));
}

static void measures_without_labels_are_told(void)
{
    scmk_model *model = views_model(GROUPS, 0, NULL);
    double value;
    CHECK(finds_groups(model));
    CHECK(real_info(model, "silhouette") > 0.3 && real_info(model, "silhouette") <= 1);
    CHECK(real_info(model, "eigengap") > 0);
    CHECK(info(model, "smallest_cluster") == SAMPLES / GROUPS);
    CHECK(info(model, "largest_cluster") == SAMPLES / GROUPS);
    /* What nobody asked for is not there, */
    STATUS(SCMK_E_STATE, scmk_info_real(model, "stability", &value));
    STATUS(SCMK_E_STATE, scmk_info_real(model, "suggested_confidence", &value));
    MESSAGE(model, "no suggestion");
    /* nor what the answer does not have. */
    OK(scmk_set_clusters(model, 1));
    OK(scmk_fit(model));
    STATUS(SCMK_E_STATE, scmk_info_real(model, "silhouette", &value));
    OK(scmk_set_clusters(model, GROUPS));
    OK(scmk_set_text(model, "method", "kkm"));
    CHECK(finds_groups(model));
    CHECK(real_info(model, "silhouette") > 0.3);
    STATUS(SCMK_E_STATE, scmk_info_real(model, "eigengap", &value));
    OK(scmk_destroy(model));
}

static void subsamples_tell_how_stable_the_answer_is(void)
{
    scmk_model *model = views_model(GROUPS, 0, NULL), *vague = NULL;
    double firm, loose;
    OK(scmk_set_int(model, "subsamples", 5));
    CHECK(finds_groups(model));
    firm = real_info(model, "stability");
    CHECK(firm > 0.95 && firm <= 1);
    OK(scmk_create(SAMPLES, GROUPS, &vague));
    OK(scmk_add_features(vague, noise, SAMPLES, NOISE, NOISE, 1, NULL));
    OK(scmk_set_int(vague, "subsamples", 5));
    OK(scmk_fit(vague));
    loose = real_info(vague, "stability");
    CHECK(loose >= -1 && loose < firm);
    OK(scmk_destroy(model));
    OK(scmk_destroy(vague));
}

/* Forty samples in one place and four far away, each on its own. */
static void collapse_is_warned_of(void)
{
    enum { PLACE = 40, ALL = 44 };
    double x[ALL * 2];
    scmk_model *model = NULL;
    uint64_t state = 5;
    size_t i;
    for (i = 0; i < 2 * ALL; i++) {
        size_t sample = i / 2;
        x[i] = 0.01 * normal(&state);
        if (sample >= PLACE)
            x[i] += 100.0 * (double)(sample - PLACE + 1) * (i % 2 == 0 && sample % 2 ? -1 : 1);
    }
    OK(scmk_create(ALL, 5, &model));
    OK(scmk_add_features(model, x, ALL, 2, 2, 1, "gaussian(t=1)"));
    OK(scmk_set_text(model, "preset", "joint"));
    OK(scmk_fit(model));
    CHECK(warns(model, "of 5 clusters are single samples"));
    CHECK(info(model, "smallest_cluster") == 1 && info(model, "largest_cluster") >= PLACE - 1);
    OK(scmk_destroy(model));
}

static void views_that_do_not_agree_are_warned_of(void)
{
    enum { HALF = NOISE / 2 };
    scmk_model *model = NULL;
    double weights[2];
    OK(scmk_create(SAMPLES, GROUPS, &model));
    OK(scmk_add_features(model, noise, SAMPLES, HALF, NOISE, 1, NULL));
    OK(scmk_add_features(model, noise + HALF, SAMPLES, HALF, NOISE, 1, NULL));
    OK(scmk_fit(model));
    CHECK(warns(model, "no view or kernel confirms another"));
    OK(scmk_weights(model, weights, 2));
    CHECK(weights[0] == 0.5 && weights[1] == 0.5);
    OK(scmk_destroy(model));
}

static void adapted_beta_divides_the_graph_into_as_many_parts_as_clusters(void)
{
    static double x[SAMPLES * 2];
    static int32_t blobs[SAMPLES];
    scmk_model *model = NULL;
    size_t clusters;
    blobs_points(x, blobs, SAMPLES);
    OK(scmk_create(SAMPLES, BLOBS, &model));
    OK(scmk_add_features(model, x, SAMPLES, 2, 2, 1, NULL));
    OK(scmk_fit(model));
    CHECK(info(model, "components") < BLOBS);
    OK(scmk_set_int(model, "adapt_beta", 1));
    for (clusters = 2; clusters <= BLOBS; clusters++) {
        double accuracy = 0;
        OK(scmk_set_clusters(model, clusters));
        OK(scmk_fit(model));
        CHECK(info(model, "components") == (int64_t)clusters && warns(model, ""));
        CHECK(info(model, "smallest_cluster") >= 2 && real_info(model, "beta_used") > 0);
        OK(scmk_model_metric(model, "purity", blobs, NULL, SAMPLES, &accuracy));
        CHECK(clusters < BLOBS || accuracy == 1);
    }
    OK(scmk_destroy(model));

    /* Twelve samples are never eight parts of two or more. */
    model = good_model();
    OK(scmk_set_clusters(model, 8));
    OK(scmk_set_int(model, "adapt_beta", 1));
    OK(scmk_fit(model));
    CHECK(warns(model, "no beta was found that divides the graph into 8 parts"));
    OK(scmk_destroy(model));
}

static void number_of_clusters_is_chosen_and_told(void)
{
    scmk_model *model = views_model(0, 1, NULL);
    double embedding[SAMPLES * GROUPS];
    int32_t labels[SAMPLES];
    size_t i;
    CHECK(info(model, "clusters") == 0);
    for (i = 0; i < COUNT(methods); i++) {
        set_method(model, methods[i]);
        CHECK(info(model, "clusters") == 0);
        OK(scmk_fit(model));
        CHECK(info(model, "clusters") == GROUPS);
        CHECK(info(model, "suggested_clusters") == GROUPS);
        CHECK(real_info(model, "suggested_confidence") >= 0);
        CHECK(real_info(model, "suggested_confidence") <= 1);
    }
    set_method(model, "scmk");
    CHECK(finds_groups(model));
    OK(scmk_embedding(model, embedding, COUNT(embedding)));
    STATUS(SCMK_E_DIMENSION, scmk_embedding(model, embedding, COUNT(embedding) - 1));
    /* The same as if the number had been given, */
    OK(scmk_set_clusters(model, GROUPS));
    STATUS(SCMK_E_STATE, scmk_labels(model, labels, SAMPLES));
    CHECK(finds_groups(model));
    /* and to be chosen again. */
    OK(scmk_set_clusters(model, 0));
    CHECK(info(model, "clusters") == 0);
    STATUS(SCMK_E_DIMENSION, scmk_set_clusters(model, SAMPLES + 1));
    MESSAGE(model, "n_clusters: 121 given, from 1 to n_samples = 120 expected, or 0 to choose");
    OK(scmk_destroy(model));
}

static void number_of_clusters_of_few_samples_is_one_that_they_can_have(void)
{
    size_t n, i;
    for (n = 1; n <= N; n++) {
        scmk_model *model = NULL;
        int32_t labels[N];
        int64_t clusters;
        OK(scmk_create(n, 0, &model));
        OK(scmk_add_kernel(model, good, n, N));
        OK(scmk_fit(model));
        clusters = info(model, "clusters");
        CHECK(clusters >= 1 && clusters <= (int64_t)n);
        OK(scmk_labels(model, labels, n));
        for (i = 0; i < n; i++)
            CHECK(labels[i] >= 0 && labels[i] < clusters);
        OK(scmk_suggest_clusters(model, 0, 0, NULL, 0));
        CHECK(info(model, "suggested_clusters") >= 1);
        CHECK(info(model, "suggested_clusters") <= (int64_t)n);
        OK(scmk_suggest_clusters(model, 1, n, NULL, 0));
        CHECK(info(model, "suggested_clusters") >= 1);
        CHECK(info(model, "suggested_clusters") <= (int64_t)n);
        OK(scmk_destroy(model));
    }
}

static void suggestion_scores_every_number_of_its_range(void)
{
    enum { FROM = 2, TO = 9, COUNTED = TO - FROM + 1 };
    scmk_model *model = views_model(7, 1, NULL);
    double scores[COUNTED + 1];
    struct bits before, after;
    size_t i;
    OK(scmk_fit(model));
    before = bits_of(model, SAMPLES, 7);
    prefill(scores, sizeof scores);
    OK(scmk_suggest_clusters(model, FROM, TO, scores, COUNTED + 1));
    CHECK(untouched(scores + COUNTED, sizeof *scores));
    for (i = 0; i < COUNTED; i++)
        CHECK(isfinite(scores[i]) && (i == GROUPS - FROM || scores[i] < scores[GROUPS - FROM]));
    CHECK(info(model, "suggested_clusters") == GROUPS);
    CHECK(info(model, "suggested_next") != GROUPS && info(model, "suggested_next") <= TO);
    CHECK(real_info(model, "suggested_confidence") > 0.5);
    CHECK(real_info(model, "suggested_confidence") <= 1);
    /* The model is as it was, with its result. */
    CHECK(info(model, "clusters") == 7);
    after = bits_of(model, SAMPLES, 7);
    CHECK(same_bits(before, after));
    free(before.values), free(after.values);
    /* The library's own range, and another one that leaves the best out. */
    OK(scmk_suggest_clusters(model, 0, 0, NULL, 0));
    CHECK(info(model, "suggested_clusters") == GROUPS);
    OK(scmk_suggest_clusters(model, 5, 6, scores, 2));
    CHECK(info(model, "suggested_clusters") == 5 || info(model, "suggested_clusters") == 6);
    OK(scmk_destroy(model));
}

static void samples_without_clusters_are_told(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(SAMPLES, 0, &model));
    OK(scmk_add_features(model, noise, SAMPLES, NOISE, NOISE, 1, NULL));
    OK(scmk_suggest_clusters(model, 0, 0, NULL, 0));
    CHECK(info(model, "suggested_clusters") == 1);
    OK(scmk_destroy(model));
}

static void changes_discard_a_suggestion(void)
{
    scmk_model *model = views_model(GROUPS, 0, NULL);
    int64_t whole;
    OK(scmk_suggest_clusters(model, 2, 3, NULL, 0));
    CHECK(info(model, "suggested_clusters") >= 2 && info(model, "suggested_clusters") <= 3);
    /* The number of clusters is no change of what it rests on. */
    OK(scmk_set_clusters(model, 2));
    CHECK(info(model, "suggested_clusters") <= 3);
    OK(scmk_set_real(model, "alpha", 2));
    STATUS(SCMK_E_STATE, scmk_info_int(model, "suggested_clusters", &whole));
    OK(scmk_suggest_clusters(model, 2, 3, NULL, 0));
    OK(scmk_add_features(model, noise, SAMPLES, NOISE, NOISE, 1, NULL));
    STATUS(SCMK_E_STATE, scmk_info_int(model, "suggested_clusters", &whole));
    OK(scmk_destroy(model));
}

static void last_suggestion_is_told_be_it_of_a_fit(void)
{
    scmk_model *model = views_model(0, 0, NULL);
    OK(scmk_suggest_clusters(model, 8, 9, NULL, 0));
    CHECK(info(model, "suggested_clusters") >= 8);
    OK(scmk_fit(model));
    CHECK(info(model, "suggested_clusters") == info(model, "clusters"));
    OK(scmk_suggest_clusters(model, 8, 9, NULL, 0));
    CHECK(info(model, "suggested_clusters") >= 8);
    OK(scmk_destroy(model));
}

static void ranges_that_cannot_be_are_refused(void)
{
    scmk_model *model = good_model(), *empty = new_model();
    double scores[4];
    int64_t whole;
    prefill(scores, sizeof scores);
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, 5, 3, scores, 4));
    MESSAGE(model, "from: 5 given, from 1 to 'to' = 3 expected");
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, 0, 3, scores, 4));
    MESSAGE(model, "from: 0 given");
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, 2, 0, scores, 4));
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, N, N + 1, scores, 4));
    MESSAGE(model, "to: 13 given, at most n_samples = 12 expected");
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, 1, (size_t)-1, NULL, 0));
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, (size_t)-1, (size_t)-1, scores, 4));
    STATUS(SCMK_E_DIMENSION, scmk_suggest_clusters(model, 2, 6, scores, 4));
    MESSAGE(model, "4 given, at least 5 needed");
    STATUS(SCMK_E_NULL_ARGUMENT, scmk_suggest_clusters(model, 2, 3, NULL, 2));
    STATUS(SCMK_E_INVALID_ARGUMENT,
           scmk_suggest_clusters(model, 2, 3, (double *)(void *)((char *)scores + 1), 2));
    STATUS(SCMK_E_STATE, scmk_suggest_clusters(empty, 2, 3, scores, 4));
    MESSAGE(empty, "no kernel");
    CHECK(untouched(scores, sizeof scores));
    STATUS(SCMK_E_STATE, scmk_info_int(model, "suggested_clusters", &whole));
    CHECK(works(model));
    OK(scmk_destroy(model));
    OK(scmk_destroy(empty));
}

/* So many samples that a suggestion takes a while. */
enum { MANY = 1500, WIDE = 20 };

static scmk_model *slow_model(void)
{
    static double x[MANY * WIDE];
    scmk_model *model = NULL;
    uint64_t state = 7;
    size_t i;
    for (i = 0; i < COUNT(x); i++)
        x[i] = normal(&state);
    OK(scmk_create(MANY, 3, &model));
    OK(scmk_set_int(model, "threads", 1));
    OK(scmk_add_features(model, x, MANY, WIDE / 2, WIDE, 1, NULL));
    OK(scmk_add_features(model, x + WIDE / 2, MANY, WIDE / 2, WIDE, 1, NULL));
    return model;
}

struct watch {
    scmk_model *model;
    int calls, cancels;
    int32_t answer;
};

static int32_t watching(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    struct watch *watch = user;
    (void)iteration, (void)objective;
    CHECK(*step != 0 && fraction >= 0 && fraction <= 1);
    watch->calls++;
    if (watch->cancels)
        OK(scmk_cancel(watch->model));
    return watch->answer;
}

static void stopped_suggestion_leaves_what_was_there(void)
{
    scmk_model *model = slow_model();
    struct watch watch = {NULL, 0, 0, 0};
    static int32_t before[MANY], after[MANY];
    double scores[3];
    int64_t suggested;
    watch.model = model;
    OK(scmk_fit(model));
    OK(scmk_labels(model, before, MANY));
    OK(scmk_set_progress(model, watching, &watch));
    OK(scmk_suggest_clusters(model, 5, 6, NULL, 0));
    CHECK(watch.calls > 0);
    suggested = info(model, "suggested_clusters");
    prefill(scores, sizeof scores);

    watch.answer = 1;
    STATUS(SCMK_E_STOPPED, scmk_suggest_clusters(model, 2, 4, scores, 3));
    MESSAGE(model, "cancelled");
    watch.answer = 0;
    watch.cancels = 1;
    STATUS(SCMK_E_STOPPED, scmk_suggest_clusters(model, 2, 4, scores, 3));
    watch.cancels = 0;
    CHECK(untouched(scores, sizeof scores) && info(model, "suggested_clusters") == suggested);
    OK(scmk_labels(model, after, MANY));
    CHECK(memcmp(before, after, sizeof before) == 0);

    /* A cancel is used up by the call that it stops, */
    OK(scmk_suggest_clusters(model, 2, 4, scores, 3));
    /* and one that came before waits for the fit that it is meant for. */
    OK(scmk_cancel(model));
    OK(scmk_suggest_clusters(model, 2, 4, scores, 3));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CANCELLED);

    OK(scmk_set_progress(model, NULL, NULL));
    OK(scmk_set_real(model, "time_limit", 0.1));
    STATUS(SCMK_E_STOPPED, scmk_suggest_clusters(model, 2, 4, scores, 3));
    MESSAGE(model, "time limit");
    OK(scmk_destroy(model));
}

static void infos_are_read_as_text(void)
{
    scmk_model *model = views_model(GROUPS, 1, NULL);
    double real;
    int64_t whole;
    char text[256], again[256];
    size_t needed = 0, length, i;
    OK(scmk_set_int(model, "subsamples", 2));
    CHECK(finds_groups(model));
    OK(scmk_suggest_clusters(model, 2, 5, NULL, 0));
    for (i = 0; i < scmk_info_count(); i++) {
        const char *name;
        int32_t type;
        OK(scmk_info_name(i, &name, &type, NULL));
        OK(scmk_info_text(model, name, text, sizeof text, &needed));
        CHECK(needed == strlen(text) + 1);
        /* A buffer of any size; what does not fit is cut. */
        OK(scmk_info_text(model, name, NULL, 0, &needed));
        CHECK(needed == strlen(text) + 1);
        for (length = 1; length <= needed; length++) {
            prefill(again, sizeof again);
            OK(scmk_info_text(model, name, again, length, NULL));
            CHECK(memcmp(again, text, length - 1) == 0 && again[length - 1] == 0);
            CHECK(untouched(again + length, sizeof again - length));
        }
        if (type == SCMK_TYPE_TEXT) {
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_info_real(model, name, &real));
            MESSAGE(model, "this info is a text, not a number");
            STATUS(SCMK_E_INVALID_ARGUMENT, scmk_info_int(model, name, &whole));
            continue;
        }
        /* A number has all its digits. */
        CHECK(strtod(text, NULL) == real_info(model, name));
        STATUS(type == SCMK_TYPE_INT ? SCMK_OK : SCMK_E_INVALID_ARGUMENT,
               scmk_info_int(model, name, &whole));
    }
    prefill(again, sizeof again);
    prefill(&needed, sizeof needed);
    STATUS(SCMK_E_UNKNOWN_OPTION, scmk_info_text(model, "warnings", again, sizeof again, &needed));
    MESSAGE(model, "'warning'");
    CHECK(untouched(again, sizeof again) && untouched(&needed, sizeof needed));
    OK(scmk_destroy(model));
}

static int32_t stopping(void *user, const char *step, int64_t iteration, double fraction,
                        double objective)
{
    (void)user, (void)step, (void)fraction, (void)objective;
    return iteration > 0;
}

/* The only iteration is complete when it is told of: what is stopped there has its labels, or says
 * that it has none. */
static void fit_stopped_at_its_only_iteration_has_labels_or_none(void)
{
    scmk_model *model = views_model(GROUPS, 1, NULL);
    int32_t labels[SAMPLES];
    OK(scmk_set_progress(model, stopping, NULL));
    OK(scmk_fit(model));
    CHECK(info(model, "outcome") == SCMK_OUTCOME_CANCELLED);
    OK(scmk_labels(model, labels, SAMPLES));
    CHECK(info(model, "iterations") == 0 || memcmp(labels, groups, sizeof labels) == 0);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(null_empty_and_auto_lists_give_the_same_bits),
        TEST(kernel_names_tell_what_was_prepared),
        TEST(view_of_noise_has_weight_0_and_weights_sum_to_1),
        TEST(answer_depends_neither_on_units_nor_on_the_order_of_features),
        TEST(similarity_is_certified),
        TEST(measures_without_labels_are_told),
        TEST(subsamples_tell_how_stable_the_answer_is),
        TEST(collapse_is_warned_of),
        TEST(views_that_do_not_agree_are_warned_of),
        TEST(adapted_beta_divides_the_graph_into_as_many_parts_as_clusters),
        TEST(number_of_clusters_is_chosen_and_told),
        TEST(number_of_clusters_of_few_samples_is_one_that_they_can_have),
        TEST(suggestion_scores_every_number_of_its_range),
        TEST(samples_without_clusters_are_told),
        TEST(changes_discard_a_suggestion),
        TEST(last_suggestion_is_told_be_it_of_a_fit),
        TEST(ranges_that_cannot_be_are_refused),
        TEST(stopped_suggestion_leaves_what_was_there),
        TEST(infos_are_read_as_text),
        TEST(fit_stopped_at_its_only_iteration_has_labels_or_none),
    };
    make_samples();
    make_views();
    return run_tests(tests, COUNT(tests), argc, argv);
}
