/*
 * malloc and its kin, of which one call may fail: preloaded before a program that uses libscmk.so.
 *
 * Only calls that libscmk.so makes itself are counted and fail. Those of the C library on its behalf
 * (registering the destructor of a thread's variable, which glibc treats as fatal) do not: nobody
 * could survive them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static uintptr_t library_start, library_end;
static atomic_long calls, failing;
static atomic_size_t least;
static atomic_int onwards, armed;

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "libscmk"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            library_start = info->dlpi_addr + part->p_vaddr;
            library_end = library_start + part->p_memsz;
        }
    }
    return 1;
}

/* From now on the k-th call (from 1) fails, or it and all that follow. k = 0: none, only counted. */
void shim_arm(long k, int from_then_on)
{
    if (!library_start)
        dl_iterate_phdr(find_library, NULL);
    atomic_store(&calls, 0);
    atomic_store(&failing, k);
    atomic_store(&onwards, from_then_on);
    atomic_store(&least, 0);
    atomic_store(&armed, 1);
}

/* From now on all calls fail that ask for so many bytes or more. */
void shim_arm_from(size_t bytes)
{
    shim_arm(1, 1);
    atomic_store(&least, bytes);
}

/* Nothing fails any more. Returns the calls since shim_arm. */
long shim_disarm(void)
{
    atomic_store(&armed, 0);
    return atomic_load(&calls);
}

static int fails(void *caller, size_t bytes)
{
    uintptr_t from = (uintptr_t)caller;
    if (!atomic_load(&armed) || from < library_start || from >= library_end)
        return 0;
    if (bytes < atomic_load(&least))
        return 0;
    long call = atomic_fetch_add(&calls, 1) + 1, k = atomic_load(&failing);
    return k > 0 && (call == k || (call > k && atomic_load(&onwards)));
}

#define FAILS(bytes) fails(__builtin_return_address(0), bytes)

void *malloc(size_t size)
{
    if (FAILS(size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (FAILS(count * size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (FAILS(size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(block, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (FAILS(size))
        return ENOMEM;
    void *block = __libc_memalign(alignment, size);
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (FAILS(size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_memalign(alignment, size);
}
