/* memory.c - the one place that asks the system for memory, so that sizes are multiplied with
 * a check, blocks start on a cache line, and a test can make the n-th allocation fail.
 *
 * A failure never says how much was asked for: it may follow the number of rows, which may be a
 * secret.  Who asks for a public size may say so in words of their own. */
#include "base/base.h"
#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ALIGNMENT = 64, LARGE = 1 << 16, PAGE = 1 << 12, HUGE = 1 << 22 };

#ifdef CLO_FAULT_INJECTION
/* The only writable state of the library, and only in the test build. */
static _Atomic uint64_t allocations, failing;
static clo_i_allocation_watch *_Atomic watch;

void clo_i_fail_allocation(uint64_t n)
{
    allocations = 0;
    failing = n;
}

uint64_t clo_i_allocation_count(void)
{
    return allocations;
}

void clo_i_watch_allocations(clo_i_allocation_watch *seen)
{
    watch = seen;
}

static bool allocation_fails(size_t bytes)
{
    const uint64_t number = ++allocations;
    clo_i_allocation_watch *const seen = watch;
    if (seen) seen(bytes);
    return failing && number == failing;
}
#else
static bool allocation_fails(size_t bytes)
{
    (void)bytes;
    return false;
}
#endif

bool clo_i_multiply(size_t a, size_t b, size_t *out)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

bool clo_i_add(size_t a, size_t b, size_t *out)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum)) return false;
    *out = sum;
    return true;
}

/* The pages that are the block's alone. */
typedef struct pages {
    void *first;
    size_t bytes;
} pages;

static pages pages_of(void *block, size_t bytes)
{
    const uintptr_t first = ((uintptr_t)block + PAGE - 1) / PAGE * PAGE;
    const uintptr_t end = ((uintptr_t)block + bytes) / PAGE * PAGE;
    return (pages){ (void *)first, end > first ? end - first : 0 };
}

/* Data are large: the whole pages of a large block are not written to a core, and of a very large
 * one they are huge, which takes a tenth of the time to get them.  Where that cannot be said,
 * nothing is lost but that. */
static void advise(void *block, size_t bytes)
{
    const pages own = pages_of(block, bytes);
    if (bytes >= LARGE) (void)!madvise(own.first, own.bytes, MADV_DONTDUMP);
    if (bytes >= HUGE) (void)!madvise(own.first, own.bytes, MADV_HUGEPAGE);
}

void clo_i_guard(void *pointer, size_t bytes)
{
    (void)!sodium_mlock(pointer, bytes); /* which also keeps it out of cores */
}

clo_status clo_i_check_spare_memory(clo_error *err)
{
    enum { SPARE = 1 << 26 };
    void *const spare = malloc(SPARE);
    if (!spare) return clo_i_fail(err, CLO_MEMORY, "out of memory; nothing was spent");
    free(spare);
    return CLO_OK;
}

/* ---- out of swap --------------------------------------------------------------------------- */

/* Who may lock without a limit could leave the machine without memory: not more than a quarter. */
bool clo_i_may_lock(size_t bytes)
{
    enum { FOR_KEYS = 1 << 16 };
    struct rlimit limit;
    const long all = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t room = all > 0 && page > 0 ? (size_t)all / 4 * (size_t)page : 0;
#ifdef CLO_TAINT
    return false; /* how much there is may be marked as a secret, and locking would tell */
#endif
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
    if (limit.rlim_cur < room) room = (size_t)limit.rlim_cur;
    return room > FOR_KEYS && bytes <= room - FOR_KEYS;
}

bool clo_i_lock(void *block, size_t bytes)
{
    const pages own = pages_of(block, bytes);
    if (!block || bytes < LARGE) return true; /* too little to have pages of its own */
    return mlock(own.first, own.bytes) == 0;
}

/* A block that goes back to the allocator must not stay locked for whoever gets it next. */
static void unlock(void *block)
{
    const size_t bytes = block ? malloc_usable_size(block) : 0;
    const pages own = pages_of(block, bytes);
    if (bytes >= LARGE) (void)!munlock(own.first, own.bytes);
}

static clo_status get_block(size_t count, size_t size, void *out_pointer, size_t *got,
                            clo_error *err)
{
    size_t bytes = 0;
    void *block = NULL;
    if (!clo_i_multiply(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT)
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    /* An empty array still needs an address of its own. */
    bytes = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    if (!allocation_fails(bytes)) block = aligned_alloc(ALIGNMENT, bytes);
    if (!block) return clo_i_fail(err, CLO_MEMORY, "out of memory");
    advise(block, bytes);
    memcpy(out_pointer, &block, sizeof block);
    *got = bytes;
    return CLO_OK;
}

clo_status clo_i_alloc(size_t count, size_t size, void *out_pointer, clo_error *err)
{
    size_t bytes = 0;
    void *block = NULL;
    CLO_TRY(get_block(count, size, &block, &bytes, err));
    memset(block, 0, bytes);
    memcpy(out_pointer, &block, sizeof block);
    return CLO_OK;
}

clo_status clo_i_alloc_unset(size_t count, size_t size, void *out_pointer, clo_error *err)
{
    size_t bytes = 0;
    return get_block(count, size, out_pointer, &bytes, err);
}

clo_status clo_i_resize(void *pointer_to_pointer, size_t old_count, size_t new_count, size_t size,
                        clo_error *err)
{
    void *old_block, *new_block = NULL;
    memcpy(&old_block, pointer_to_pointer, sizeof old_block);
    CLO_TRY(clo_i_alloc(new_count, size, &new_block, err));
    if (old_block)
        memcpy(new_block, old_block, (old_count < new_count ? old_count : new_count) * size);
    clo_i_wipe_free(old_block, old_count * size);
    memcpy(pointer_to_pointer, &new_block, sizeof new_block);
    return CLO_OK;
}

void clo_i_free(void *pointer)
{
    free(pointer);
}

void clo_i_wipe(void *pointer, size_t bytes)
{
    if (pointer) sodium_memzero(pointer, bytes);
}

void clo_i_wipe_free(void *pointer, size_t bytes)
{
    clo_i_wipe(pointer, bytes);
    unlock(pointer);
    free(pointer);
}

clo_status clo_i_copy_text(const char *text, char **out, clo_error *err)
{
    const size_t length = strlen(text);
    char *copy = NULL;
    CLO_TRY(clo_i_alloc(length + 1, 1, &copy, err));
    memcpy(copy, text, length);
    *out = copy;
    return CLO_OK;
}
