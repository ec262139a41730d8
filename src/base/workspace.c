/*
 * workspace.c - the arena that holds all scratch of a run.
 *
 *   first chunk, of the planned size            further chunks, if the plan was too small
 *   |taken|taken|...........| spare |   ---->   |taken|....|
 *         ^ mark                    ^ top
 *
 * A mark is the number of bytes taken so far over all chunks; releasing to it wipes what was
 * taken since.  A chunk that a release empties is kept: the next pass needs it again.
 *
 * What lies at the end of a chunk and is only spared from making it again gives way to a take that
 * needs its room: so it costs no memory where a run takes as much before or after.
 *
 * A workspace that counts gives nothing: it has no chunks, takes are NULL, and its peak is what the
 * same takes would need.  So one function lays a step out, for the plan and for the run.
 */
#include "base/base.h"
#include <cloister/run.h>
#include <string.h>

enum { ALIGNMENT = 64, SMALLEST_CHUNK = 1 << 16 };

typedef struct chunk {
    struct chunk *next;
    uint8_t *bytes;
    size_t size;
    size_t start; /* the mark at which this chunk begins */
    size_t used;
    size_t spare; /* bytes at its end */
} chunk;

struct clo_workspace {
    chunk *first; /* NULL: it counts */
    chunk *current;
    size_t counted;
    size_t peak;
#ifdef CLO_FAULT_INJECTION
    clo_i_take_watch *watch;
    void *watch_user;
    bool asking;
    size_t ask; /* the mark of the ask under way */
#endif
};

#ifdef CLO_FAULT_INJECTION
void clo_i_watch_takes(clo_workspace *workspace, clo_i_take_watch *watch, void *user)
{
    workspace->watch = watch;
    workspace->watch_user = user;
}

static void tell_take(const clo_workspace *workspace, size_t at, size_t bytes)
{
    if (workspace->watch)
        workspace->watch(workspace->watch_user, at, bytes,
                         workspace->asking ? workspace->ask : SIZE_MAX);
}

/* A query may ask another's sum: the first to begin is the one that a mechanism asked. */
size_t clo_i_workspace_begin_ask(clo_workspace *workspace)
{
    const size_t mark = clo_i_workspace_mark(workspace);
    if (!workspace->asking) workspace->ask = mark;
    workspace->asking = true;
    return mark;
}

static void end_asks(clo_workspace *workspace, size_t mark)
{
    if (mark <= workspace->ask) workspace->asking = false;
}
#else
static void tell_take(const clo_workspace *workspace, size_t at, size_t bytes)
{
    (void)workspace, (void)at, (void)bytes;
}

size_t clo_i_workspace_begin_ask(clo_workspace *workspace)
{
    return clo_i_workspace_mark(workspace);
}

static void end_asks(clo_workspace *workspace, size_t mark)
{
    (void)workspace, (void)mark;
}
#endif

static clo_status new_chunk(size_t bytes, size_t start, chunk **out, clo_error *err)
{
    chunk *made = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    const clo_status status = clo_i_alloc(bytes, 1, &made->bytes, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    made->size = bytes;
    made->start = start;
    if (clo_i_may_lock(bytes)) (void)!clo_i_lock(made->bytes, bytes); /* exact sums lie there */
    *out = made;
    return CLO_OK;
}

static void give_way(chunk *c)
{
    clo_i_wipe(c->bytes + c->size - c->spare, c->spare);
    c->spare = 0;
}

clo_status clo_workspace_new(size_t bytes, clo_workspace **out, clo_error *err)
{
    clo_workspace *made = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    const clo_status status = new_chunk(bytes, 0, &made->first, err);
    if (status) {
        clo_i_free(made);
        return status;
    }
    made->current = made->first;
    *out = made;
    return CLO_OK;
}

clo_status clo_i_workspace_counting(clo_workspace **out, clo_error *err)
{
    return clo_i_alloc(1, sizeof **out, out, err);
}

void clo_workspace_free(clo_workspace *workspace)
{
    if (!workspace) return;
    for (chunk *c = workspace->first, *next; c; c = next) {
        next = c->next;
        give_way(c);
        clo_i_wipe_free(c->bytes, c->used);
        clo_i_free(c);
    }
    clo_i_free(workspace);
}

/* What a take counts for; SIZE_MAX: it is too large. */
static size_t take_size(size_t count, size_t size)
{
    size_t bytes;
    if (!clo_i_multiply(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT) return SIZE_MAX;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static clo_status count_take(clo_workspace *workspace, size_t bytes, void *out_pointer,
                             clo_error *err)
{
    void *const nothing = NULL;
    tell_take(workspace, workspace->counted, bytes);
    if (!clo_i_add(workspace->counted, bytes, &workspace->counted))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    if (workspace->counted > workspace->peak) workspace->peak = workspace->counted;
    memcpy(out_pointer, &nothing, sizeof nothing);
    return CLO_OK;
}

/* Makes the chunk behind this one one of at least so many bytes; those behind are empty. */
static clo_status make_next(chunk *c, size_t bytes, clo_error *err)
{
    while (c->next && c->next->size < bytes) { /* kept, but too small now */
        chunk *const rest = c->next->next;
        clo_i_free(c->next->bytes);
        clo_i_free(c->next);
        c->next = rest;
    }
    if (c->next) return CLO_OK;
    return new_chunk(bytes > SMALLEST_CHUNK ? bytes : SMALLEST_CHUNK, 0, &c->next, err);
}

clo_status clo_i_workspace_reserve(clo_workspace *workspace, size_t bytes, clo_error *err)
{
    chunk *const c = workspace->current;
    return bytes <= c->size - c->used ? CLO_OK : make_next(c, bytes, err);
}

clo_status clo_i_take(clo_workspace *workspace, size_t count, size_t size, void *out_pointer,
                      clo_error *err)
{
    const size_t bytes = take_size(count, size);
    chunk *c = workspace->current;
    if (bytes == SIZE_MAX)
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    if (!workspace->first) return count_take(workspace, bytes, out_pointer, err);
    if (bytes > c->size - c->used) {
        CLO_TRY(make_next(c, bytes, err));
        c->next->start = c->start + c->used;
        c = workspace->current = c->next;
    }
    if (bytes > c->size - c->used - c->spare) give_way(c);
    void *const taken = c->bytes + c->used;
    tell_take(workspace, c->start + c->used, bytes);
    c->used += bytes;
    if (c->start + c->used > workspace->peak) workspace->peak = c->start + c->used;
    memcpy(out_pointer, &taken, sizeof taken);
    return CLO_OK;
}

void *clo_i_spare(clo_workspace *workspace, size_t bytes)
{
    chunk *const c = workspace->current;
    clo_i_spare_end(workspace);
    const size_t whole = c->size / ALIGNMENT * ALIGNMENT;
    const size_t first = bytes <= whole ? (whole - bytes) / ALIGNMENT * ALIGNMENT : 0;
    if (bytes > whole || first < c->used) return NULL;
    c->spare = c->size - first;
    return c->bytes + first;
}

bool clo_i_spare_is_there(const clo_workspace *workspace, const void *spare)
{
    for (const chunk *c = workspace->first; c; c = c->next)
        if (c->spare) return spare == c->bytes + c->size - c->spare;
    return false;
}

void clo_i_spare_end(clo_workspace *workspace)
{
    for (chunk *c = workspace->first; c; c = c->next) give_way(c);
}

size_t clo_i_workspace_mark(const clo_workspace *workspace)
{
    if (!workspace->first) return workspace->counted;
    return workspace->current->start + workspace->current->used;
}

void clo_i_workspace_release(clo_workspace *workspace, size_t mark)
{
    end_asks(workspace, mark);
    if (!workspace->first) workspace->counted = mark;
    for (chunk *c = workspace->first; c; c = c->next) {
        const size_t keep = mark > c->start ? mark - c->start : 0;
        if (keep <= c->used) {
            clo_i_wipe(c->bytes + keep, c->used - keep);
            c->used = keep;
            workspace->current = c;
            for (chunk *empty = c->next; empty; empty = empty->next) {
                clo_i_wipe(empty->bytes, empty->used);
                give_way(empty); /* it may go, where a larger one is needed */
                empty->used = 0;
            }
            return;
        }
    }
}

size_t clo_i_workspace_peak(const clo_workspace *workspace)
{
    return workspace->peak;
}
