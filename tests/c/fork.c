/* A process that forks: before, after and during a fit of another thread. The child fits, with the
 * parent's answer bit for bit, and the parent does not notice.
 *   fork [TEST] */
#include "blobs.h"
#include "check.h"


enum { N = 120, KERNELS = 2 };

static double points[N * 2], kernel[N * N];
static int32_t truth[N];

struct answer {
    int32_t labels[N];
    double weights[KERNELS], objective;
};

static scmk_model *new_model(void)
{
    scmk_model *model = NULL;
    OK(scmk_create(N, BLOBS, &model));
    OK(scmk_add_kernel(model, kernel, N, N));
    OK(scmk_add_features(model, points, N, 2, 2, 1, "linear"));
    OK(scmk_set_int(model, "threads", 2));
    return model;
}

static struct answer answer_of(scmk_model *model)
{
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    OK(scmk_labels(model, answer.labels, N));
    OK(scmk_weights(model, answer.weights, KERNELS));
    OK(scmk_info_real(model, "objective", &answer.objective));
    return answer;
}

static struct answer fitted(scmk_model *model)
{
    OK(scmk_fit(model));
    return answer_of(model);
}

static int same(struct answer a, struct answer b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* What the parent knows when it forks. */
struct parent {
    scmk_model *model;
    struct answer answer;
    int busy;
};

/* A model of the child's own, and the parent's unless that was in use. */
static void fits(void *argument)
{
    struct parent *parent = argument;
    scmk_model *model = new_model();
    char text[100] = "";
    CHECK(same(fitted(model), parent->answer));
    OK(scmk_destroy(model));
    CHECK(process_threads_ended());
    if (parent->busy) {
        /* The thread that used it does not exist here: it stays as it is, and nothing waits. */
        STATUS(SCMK_E_BUSY, scmk_fit(parent->model));
        STATUS(SCMK_E_BUSY, scmk_destroy(parent->model));
        OK(scmk_error_message(parent->model, text, sizeof text, NULL));
        CHECK(strstr(text, "busy") != NULL);
        OK(scmk_cancel(parent->model));
    } else {
        CHECK(same(answer_of(parent->model), parent->answer));
        CHECK(same(fitted(parent->model), parent->answer));
        OK(scmk_destroy(parent->model));
    }
}

static void fits_and_forks(void *argument)
{
    fits(argument);
    ((struct parent *)argument)->model = new_model();
    fitted(((struct parent *)argument)->model);
    STATUS(0, process_wait(process_child(fits, argument)));
}

static void fit_in_the_child_before_any_call(void)
{
    /* The parent of this test has made no call yet when it is the first, or named. */
    scmk_model *model;
    struct parent parent;
    int ends[2];
    pid_t child;
    ssize_t length;
    CHECK(pipe(ends) == 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        failures = 0;
        model = new_model();
        parent.answer = fitted(model);
        OK(scmk_destroy(model));
        length = write(ends[1], &parent.answer, sizeof parent.answer);
        CHECK(length == (ssize_t)sizeof parent.answer);
        _exit(failures != 0);
    }
    close(ends[1]);
    length = read(ends[0], &parent.answer, sizeof parent.answer);
    CHECK(length == (ssize_t)sizeof parent.answer);
    close(ends[0]);
    STATUS(0, process_wait(child));
    model = new_model();
    CHECK(same(fitted(model), parent.answer));
    CHECK(memcmp(parent.answer.labels, truth, sizeof truth) == 0);
    OK(scmk_destroy(model));
}

static void fit_in_the_child_after_a_fit(void)
{
    struct parent parent;
    int i;
    parent.model = new_model();
    parent.busy = 0;
    parent.answer = fitted(parent.model);
    CHECK(memcmp(parent.answer.labels, truth, sizeof truth) == 0);
    for (i = 0; i < 10; i++) {
        STATUS(0, process_wait(process_child(fits, &parent)));
        CHECK(same(answer_of(parent.model), parent.answer));
        CHECK(same(fitted(parent.model), parent.answer));
    }
    STATUS(0, process_wait(process_child(fits_and_forks, &parent)));
    CHECK(same(answer_of(parent.model), parent.answer));
    OK(scmk_destroy(parent.model));
}

/* As parallel::mclapply does: several children at once, and the parent fits beside them. */
static void fit_in_several_children_at_once(void)
{
    struct parent parent;
    pid_t children[4];
    int i, k;
    parent.model = new_model();
    parent.busy = 0;
    parent.answer = fitted(parent.model);
    for (i = 0; i < 3; i++) {
        for (k = 0; k < 4; k++)
            children[k] = process_child(fits, &parent);
        CHECK(same(fitted(parent.model), parent.answer));
        for (k = 0; k < 4; k++)
            STATUS(0, process_wait(children[k]));
    }
    OK(scmk_destroy(parent.model));
}

/* A fit whose progress function tells that it runs, and may wait for somebody in there. */
struct fit {
    scmk_model *model;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int inside, may_go, stop;
    scmk_status status;
    pthread_t thread;
};

static int32_t meets(void *user, const char *step, int64_t iteration, double fraction,
                     double objective)
{
    struct fit *fit = user;
    int stop;
    (void)step, (void)iteration, (void)fraction, (void)objective;
    pthread_mutex_lock(&fit->lock);
    fit->inside = 1;
    pthread_cond_broadcast(&fit->changed);
    while (!fit->may_go)
        pthread_cond_wait(&fit->changed, &fit->lock);
    stop = fit->stop;
    pthread_mutex_unlock(&fit->lock);
    return stop;
}

static void *fitting(void *argument)
{
    struct fit *fit = argument;
    fit->status = scmk_fit(fit->model);
    /* A fit that failed early must not keep the main thread waiting. */
    pthread_mutex_lock(&fit->lock);
    fit->inside = 1;
    pthread_cond_broadcast(&fit->changed);
    pthread_mutex_unlock(&fit->lock);
    return NULL;
}

/* Returns when the other thread is in its fit. */
static void start(struct fit *fit, scmk_model *model, int waits)
{
    memset(fit, 0, sizeof *fit);
    fit->model = model;
    fit->may_go = !waits;
    pthread_mutex_init(&fit->lock, NULL);
    pthread_cond_init(&fit->changed, NULL);
    OK(scmk_set_progress(model, meets, fit));
    CHECK(pthread_create(&fit->thread, NULL, fitting, fit) == 0);
    pthread_mutex_lock(&fit->lock);
    while (!fit->inside)
        pthread_cond_wait(&fit->changed, &fit->lock);
    pthread_mutex_unlock(&fit->lock);
}

static void finish(struct fit *fit)
{
    pthread_mutex_lock(&fit->lock);
    fit->may_go = 1;
    pthread_cond_broadcast(&fit->changed);
    pthread_mutex_unlock(&fit->lock);
    pthread_join(fit->thread, NULL);
    OK(fit->status);
    OK(scmk_set_progress(fit->model, NULL, NULL));
    pthread_mutex_destroy(&fit->lock);
    pthread_cond_destroy(&fit->changed);
}

static void fit_in_the_child_during_a_fit(void)
{
    struct parent parent;
    struct fit fit;
    parent.model = new_model();
    parent.answer = fitted(parent.model);
    parent.busy = 1;
    start(&fit, parent.model, 1);
    STATUS(0, process_wait(process_child(fits, &parent)));
    finish(&fit);
    CHECK(same(answer_of(parent.model), parent.answer));
    CHECK(same(fitted(parent.model), parent.answer));
    OK(scmk_destroy(parent.model));
}

/* The fit is not held up but at work, with its threads anywhere in it. */
static void fit_in_the_child_while_threads_work(void)
{
    enum { LARGE = 700, FORKS = 25 };
    double *x = malloc(sizeof(double) * LARGE * 2);
    int32_t *labels = malloc(sizeof(int32_t) * LARGE);
    struct parent parent;
    struct fit fit;
    scmk_model *large = NULL;
    int64_t outcome = -1;
    int i;

    blobs_points(x, labels, LARGE);
    parent.model = new_model();
    parent.answer = fitted(parent.model);
    parent.busy = 0;
    OK(scmk_create(LARGE, BLOBS, &large));
    OK(scmk_add_features(large, x, LARGE, 2, 2, 1, "paper"));
    /* So many starts that it ends only when it is told to. */
    OK(scmk_set_text(large, "method", "rkkm"));
    OK(scmk_set_int(large, "restarts", 1000000));
    OK(scmk_set_int(large, "threads", 2));
    start(&fit, large, 0);
    for (i = 0; i < FORKS; i++) {
        process_sleep(0.003 * i);
        STATUS(0, process_wait(process_child(fits, &parent)));
    }
    CHECK(same(fitted(parent.model), parent.answer));
    OK(scmk_cancel(large));
    finish(&fit);
    OK(scmk_info_int(large, "outcome", &outcome));
    CHECK(outcome == SCMK_OUTCOME_CANCELLED);
    OK(scmk_labels(large, labels, LARGE));
    OK(scmk_destroy(large));
    OK(scmk_destroy(parent.model));
    free(x);
    free(labels);
}

static struct parent *in_callback;
static int callback_children;

static int32_t forks(void *user, const char *step, int64_t iteration, double fraction,
                     double objective)
{
    (void)user, (void)iteration, (void)fraction, (void)objective;
    if (strcmp(step, "iteration") == 0 && callback_children < 3) {
        callback_children++;
        STATUS(0, process_wait(process_child(fits, in_callback)));
    }
    return 0;
}

static void fork_in_a_progress_function(void)
{
    struct parent parent;
    parent.model = new_model();
    parent.answer = fitted(parent.model);
    parent.busy = 1;
    in_callback = &parent;
    OK(scmk_set_progress(parent.model, forks, NULL));
    CHECK(same(fitted(parent.model), parent.answer));
    CHECK(callback_children > 0);
    OK(scmk_destroy(parent.model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(fit_in_the_child_before_any_call),
        TEST(fit_in_the_child_after_a_fit),
        TEST(fit_in_several_children_at_once),
        TEST(fit_in_the_child_during_a_fit),
        TEST(fit_in_the_child_while_threads_work),
        TEST(fork_in_a_progress_function),
    };
    blobs_points(points, truth, N);
    blobs_kernel(points, N, 30, kernel, N);
    return run_tests(tests, COUNT(tests), argc, argv);
}
