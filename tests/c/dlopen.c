/* A host that loads the library, fits and unloads it, again and again: no crash, and memory,
 * threads and descriptors are back in the end.
 *   dlopen [TEST]
 * Run from the root of the checkout. It works on a copy of the library, so that it does not matter
 * whether the program was linked with the library itself. */
#include "blobs.h"
#include "check.h"

#include <dlfcn.h>

enum { N = 60 };

/* An instrumented library of ten times the size takes seconds to load. */
static int cycles = 300, warm_up = 50;

static double points[N * 2], kernel[N * N];
static int32_t truth[N];
static char copy[256];

struct library {
    void *handle;
    scmk_status (*create)(size_t, size_t, scmk_model **);
    scmk_status (*add_kernel)(scmk_model *, const double *, size_t, size_t);
    scmk_status (*set_int)(scmk_model *, const char *, int64_t);
    scmk_status (*fit)(scmk_model *);
    scmk_status (*labels)(const scmk_model *, int32_t *, size_t);
    scmk_status (*destroy)(scmk_model *);
};

/* ISO C knows no conversion from void * to a function, POSIX promises one. */
static void find(struct library *library, const char *name, void *function)
{
    void *found = dlsym(library->handle, name);
    CHECK(found != NULL);
    memcpy(function, &found, sizeof found);
}

static int load(struct library *library)
{
    memset(library, 0, sizeof *library);
    library->handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    CHECK(library->handle != NULL);
    if (!library->handle)
        return 0;
    find(library, "scmk_create", &library->create);
    find(library, "scmk_add_kernel", &library->add_kernel);
    find(library, "scmk_set_int", &library->set_int);
    find(library, "scmk_fit", &library->fit);
    find(library, "scmk_labels", &library->labels);
    find(library, "scmk_destroy", &library->destroy);
    return 1;
}

/* Fits and returns the model. */
static scmk_model *fitted(const struct library *library)
{
    scmk_model *model = NULL;
    int32_t labels[N];
    memset(labels, 0x55, sizeof labels);
    OK(library->create(N, BLOBS, &model));
    OK(library->add_kernel(model, kernel, N, N));
    OK(library->set_int(model, "threads", 2));
    OK(library->fit(model));
    OK(library->labels(model, labels, N));
    CHECK(memcmp(labels, truth, sizeof truth) == 0);
    /* Its text is kept with the thread, which is one more thing to clear away. */
    STATUS(SCMK_E_NULL_ARGUMENT, library->fit(NULL));
    return model;
}

static void *fit_and_destroy(void *argument)
{
    const struct library *library = argument;
    OK(library->destroy(fitted(library)));
    return NULL;
}

static void in_a_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, argument) == 0);
    pthread_join(thread, NULL);
}

/* The file that is mapped under this name, or whether one is. */
static int mapped(const char *name, char *path, size_t capacity)
{
    char line[1024], *start;
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        line[strcspn(line, "\n")] = 0;
        start = strchr(line, '/');
        found = start && strstr(start, name);
        if (found && path)
            snprintf(path, capacity, "%s", start);
    }
    if (maps)
        fclose(maps);
    return found;
}

struct holdings {
    long descriptors, resident;
};

static struct holdings holdings(void)
{
    struct holdings now;
    CHECK(process_threads_ended());
    now.descriptors = process_descriptors();
    now.resident = process_resident();
    return now;
}

/* Each time that it is unloaded the library loses what it keeps in statics, about 20 KB, nearly all
 * of it the register of threads behind rayon's queues: Rust frees no statics. A kernel or a result
 * that stayed would be more, and the library itself 5 MB. */
static void expect_back(struct holdings before)
{
    struct holdings now = holdings();
    long grown = now.resident - before.resident;
    CHECK(now.descriptors == before.descriptors);
    printf("     resident memory %+ld KiB\n", grown / 1024);
    /* An instrumented program holds freed memory back. */
    if (!instrumented())
        check_that(grown < (cycles - warm_up) * 32768L, grown, "resident memory has grown",
                   __FILE__, __LINE__);
}

/* The calling threads end before the library goes: nothing of it is left each time. */
static void load_fit_unload(void)
{
    struct holdings before = holdings();
    struct library library;
    int i;
    for (i = 0; i < cycles && load(&library); i++) {
        in_a_thread(fit_and_destroy, &library);
        CHECK(process_threads_ended());
        CHECK(dlclose(library.handle) == 0);
        CHECK(!mapped(copy, NULL, 0));
        if (i == warm_up)
            before = holdings();
    }
    expect_back(before);
}

/* A fit has joined its threads when it returns. One that still ends would hold the library back. */
static void unload_at_once(void)
{
    struct library library;
    int i, stayed = 0;
    for (i = 0; i < cycles && load(&library); i++) {
        in_a_thread(fit_and_destroy, &library);
        CHECK(dlclose(library.handle) == 0);
        stayed += mapped(copy, NULL, 0);
    }
    check_that(stayed == 0, stayed, "the library stayed", __FILE__, __LINE__);
}

/* The thread lives on and holds something of the library, which therefore may stay. */
static void load_fit_unload_on_one_thread(void)
{
    struct library library;
    struct holdings before = holdings();
    int i;
    for (i = 0; i < cycles && load(&library); i++) {
        fit_and_destroy(&library);
        CHECK(dlclose(library.handle) == 0);
        if (i == warm_up)
            before = holdings();
    }
    expect_back(before);
}

static void *load_fit_unload_here(void *argument)
{
    struct library library;
    (void)argument;
    if (load(&library)) {
        fit_and_destroy(&library);
        /* At once: the library's own threads may not have ended entirely. */
        CHECK(dlclose(library.handle) == 0);
    }
    return NULL;
}

static void load_fit_unload_on_many_threads(void)
{
    pthread_t threads[4];
    struct holdings before = holdings();
    int i, k;
    for (i = 0; i < cycles / 4; i++) {
        for (k = 0; k < 4; k++)
            CHECK(pthread_create(&threads[k], NULL, load_fit_unload_here, NULL) == 0);
        for (k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
        if (i == warm_up / 4)
            before = holdings();
    }
    expect_back(before);
}

struct guest {
    struct library library;
    pthread_barrier_t barrier;
};

static void *fit_and_stay(void *argument)
{
    struct guest *guest = argument;
    fit_and_destroy(&guest->library);
    pthread_barrier_wait(&guest->barrier);
    /* Here the library is closed. */
    pthread_barrier_wait(&guest->barrier);
    return NULL;
}

static void unload_before_the_calling_thread_ends(void)
{
    struct guest guest;
    pthread_t thread;
    int i;
    for (i = 0; i < cycles / 10 && load(&guest.library); i++) {
        pthread_barrier_init(&guest.barrier, NULL, 2);
        CHECK(pthread_create(&thread, NULL, fit_and_stay, &guest) == 0);
        pthread_barrier_wait(&guest.barrier);
        CHECK(dlclose(guest.library.handle) == 0);
        pthread_barrier_wait(&guest.barrier);
        pthread_join(thread, NULL);
        pthread_barrier_destroy(&guest.barrier);
    }
}

static void *fit_and_forget(void *argument)
{
    fitted(argument);
    return NULL;
}

/* A host that forgets its models loses their memory, and nothing else. */
static void unload_with_a_living_model(void)
{
    struct library library;
    int i;
    for (i = 0; i < cycles / 10 && load(&library); i++) {
        in_a_thread(fit_and_forget, &library);
        CHECK(process_threads_ended());
        CHECK(dlclose(library.handle) == 0);
        CHECK(!mapped(copy, NULL, 0));
    }
}

static int copy_library(void)
{
    static const char *const names[] = {"libscmk.so.1", "build/lib/libscmk.so.1"};
    char buffer[1 << 16], path[1024] = "";
    const char *folder = getenv("TMPDIR");
    void *library = NULL;
    size_t i, length;
    FILE *in, *out;
    int file;
    for (i = 0; i < 2 && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    /* The mapped name is that of the file behind all links. */
    if (!library || !mapped("/libscmk", path, sizeof path) || dlclose(library) != 0)
        return 0;
    snprintf(copy, sizeof copy, "%s/scmk-copy-XXXXXX", folder && *folder ? folder : "/tmp");
    in = fopen(path, "rb");
    file = mkstemp(copy);
    out = file < 0 ? NULL : fdopen(file, "wb");
    while (in && out && (length = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, length, out);
    if (in)
        fclose(in);
    return out && fclose(out) == 0 && in;
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(load_fit_unload),
        TEST(unload_at_once),
        TEST(load_fit_unload_on_many_threads),
        TEST(unload_before_the_calling_thread_ends),
        TEST(unload_with_a_living_model),
        /* Last, since the main thread keeps what it has used. */
        TEST(load_fit_unload_on_one_thread),
    };
    int status;
    if (instrumented())
        cycles = 20, warm_up = 10;
    blobs_points(points, truth, N);
    blobs_kernel(points, N, 30, kernel, N);
    if (!copy_library()) {
        fprintf(stderr, "the library is not found, or cannot be copied\n");
        return 1;
    }
    status = run_tests(tests, COUNT(tests), argc, argv);
    remove(copy);
    return status;
}
