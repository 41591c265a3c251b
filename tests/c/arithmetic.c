/* The host's floating-point environment: whatever it is, the library gives the same bits, and it is
 * as before when a call returns. */
#define _GNU_SOURCE
#include "model.h"

#include <fenv.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

static void nothing(void)
{
}

static void upward(void)
{
    fesetround(FE_UPWARD);
}

static void downward(void)
{
    fesetround(FE_DOWNWARD);
}

static void toward_zero(void)
{
    fesetround(FE_TOWARDZERO);
}

#ifdef __GLIBC__
static void trap_all(void)
{
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
}
#endif

#ifdef __SSE__
static void flush_to_zero(void)
{
    /* Results and operands that are too small to be normal. */
    _mm_setcsr(_mm_getcsr() | 0x8040);
}
#endif

static void (*const environments[])(void) = {
    nothing, upward, downward, toward_zero,
#ifdef __GLIBC__
    trap_all,
#endif
#ifdef __SSE__
    flush_to_zero,
#endif
};

/* What of the environment can be seen. */
struct state {
    int rounding, flags, traps;
    unsigned control;
};

static struct state state_now(void)
{
    struct state state = {0, 0, 0, 0};
    state.rounding = fegetround();
    state.flags = fetestexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
    state.traps = fegetexcept();
#endif
#ifdef __SSE__
    state.control = _mm_getcsr();
#endif
    return state;
}

static int same_state(struct state a, struct state b)
{
    return a.rounding == b.rounding && a.flags == b.flags && a.traps == b.traps &&
           a.control == b.control;
}

struct meeting {
    struct state expected;
    int calls, others;
};

static int32_t look(void *user, const char *step, int64_t iteration, double fraction,
                    double objective)
{
    struct meeting *meeting = user;
    (void)step, (void)iteration, (void)fraction, (void)objective;
    meeting->calls++;
    meeting->others += !same_state(state_now(), meeting->expected);
    return 0;
}

/* All that a host may do, in an environment; the bits of the results. */
static struct bits go_through(const char *method, void (*set)(void), struct meeting *meeting)
{
    static double faint[N * N];
    scmk_model *model = NULL;
    double metric = 0;
    struct state before;
    struct bits bits;
    scmk_status got[8];
    size_t i, count = 0;
    for (i = 0; i < N * N; i++)
        faint[i] = 1e-300 * good[i];
    set();
    before = meeting->expected = state_now();
    got[count++] = scmk_create(N, C, &model);
    set_method(model, method);
    got[count++] = scmk_set_text(model, "alpha", "0.3");
    got[count++] = scmk_add_kernel(model, faint, N, N);
    got[count++] = scmk_add_features(model, points, N, 2, 2, 1, "gaussian(t=0.01); polynomial");
    got[count++] = scmk_set_progress(model, look, meeting);
    got[count++] = scmk_fit(model);
    got[count++] = scmk_model_metric(model, "nmi", truth, NULL, N, &metric);
    meeting->others += !same_state(state_now(), before);
    fesetenv(FE_DFL_ENV);
    for (i = 0; i < count; i++)
        OK(got[i]);
    bits = bits_of(model, N, C);
    OK(scmk_destroy(model));
    return bits;
}

static void any_environment_of_the_host_gives_the_same_bits(void)
{
    size_t m, e;
    for (m = 0; m < COUNT(methods); m++) {
        struct meeting meeting = {{0, 0, 0, 0}, 0, 0};
        struct bits expected = go_through(methods[m], nothing, &meeting);
        for (e = 1; e < COUNT(environments); e++) {
            struct bits found = go_through(methods[m], environments[e], &meeting);
            CHECK(same_bits(expected, found));
            free(found.values);
        }
        free(expected.values);
    }
}

static void environment_of_the_host_is_as_before_and_in_its_callbacks(void)
{
    size_t m, e;
    for (m = 0; m < COUNT(methods); m++)
        for (e = 0; e < COUNT(environments); e++) {
            struct meeting meeting = {{0, 0, 0, 0}, 0, 0};
            struct bits found = go_through(methods[m], environments[e], &meeting);
            CHECK(meeting.calls > 0 && meeting.others == 0);
            free(found.values);
        }
}

/* Flags that the host has raised stay, and none are added, also by calls that fail. */
static void exception_flags_of_the_host_stay_as_they_are(void)
{
    scmk_model *model = good_model();
    double bad[N * N], value;
    int flags;
    memcpy(bad, good, sizeof bad);
    bad[5] = NAN;
    for (flags = 0; flags < 2; flags++) {
        const int raised = flags ? FE_DIVBYZERO | FE_OVERFLOW : 0;
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(raised);
        STATUS(SCMK_E_NOT_FINITE, scmk_add_kernel(model, bad, N, N));
        CHECK(fetestexcept(FE_ALL_EXCEPT) == raised || flags);
        CHECK(works(model));
        OK(scmk_info_real(model, "objective", &value));
        CHECK((fetestexcept(FE_ALL_EXCEPT) & (FE_DIVBYZERO | FE_OVERFLOW)) == raised);
    }
    feclearexcept(FE_ALL_EXCEPT);
    OK(scmk_destroy(model));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(any_environment_of_the_host_gives_the_same_bits),
        TEST(environment_of_the_host_is_as_before_and_in_its_callbacks),
        TEST(exception_flags_of_the_host_stay_as_they_are),
    };
    make_samples();
    return run_tests(tests, COUNT(tests), argc, argv);
}
