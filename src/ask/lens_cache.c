/*
 * lens_cache.c - what a lens has shown of the records, kept from one ask to the next (lens.T2).
 *
 * A mechanism that has found a frame asks several times what is seen through it, and the product
 * with the frame is most of what such an ask costs.  What is seen of a record is a function of the
 * record and of the lens alone: so it is kept, four bytes a number, and read again as long as the
 * lens is the same.  Lenses are told apart by what they hold, not by where they lie.
 */
#include "ask/lens_cache.h"
#include "bound/bound.h"
#include "ask/fold.h"
#include <string.h>

/* Whether it pays, by public numbers: of a frame of few directions that is looked through again. */
static bool pays(const clo_line *line, size_t from)
{
    return line->lens == CLO_LENS && line->event.count > 1 && 2 * line->cols <= from;
}

/* Bytes for the map and the cells behind it; SIZE_MAX: they are too many. */
static size_t room_of(const clo_kept *kept)
{
    size_t map, cells, both;
    const bool fits = clo_i_multiply(kept->map_room, sizeof *kept->map, &map) &&
                      clo_i_multiply(kept->room, sizeof *kept->cells, &cells) &&
                      clo_i_add(map, cells, &both);
    return fits ? both : SIZE_MAX;
}

clo_status clo_i_kept_take(clo_workspace *space, const clo_line *lines, size_t count,
                           const clo_bounded *data, clo_kept *out, clo_error *err)
{
    const size_t from = clo_i_bounded_domain(data)->cols, rows = clo_i_bounded_slots(data);
    clo_kept kept = { .data = data, .space = space };
    size_t cols = 0;
    for (size_t i = 0; i < count; i++)
        if (pays(&lines[i], from) && lines[i].cols > cols) cols = lines[i].cols;
    if (clo_i_bounded_is_streamed(data)) cols = 0;
    if (!clo_i_multiply(rows, cols, &kept.room))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    kept.map_room = cols * from;
    if (room_of(&kept) == SIZE_MAX)
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    *out = kept;
    return CLO_OK;
}

clo_status clo_i_kept_room(clo_workspace *space, const clo_kept *kept, const clo_line *line,
                           clo_error *err)
{
    char *unused;
    return line->lens == CLO_LENS ? clo_i_take(space, room_of(kept), 1, &unused, err) : CLO_OK;
}

void clo_i_kept_end(clo_kept *kept)
{
    if (kept->map) clo_i_spare_end(kept->space);
    kept->map = NULL;
}

/* Whether there is room, and if it has given way meanwhile, another one. */
static bool find_room(clo_kept *kept)
{
    if (kept->map && clo_i_spare_is_there(kept->space, kept->map)) return true;
    kept->whole = false;
    kept->map = clo_i_spare(kept->space, room_of(kept));
    kept->cells = kept->map ? (int32_t *)(kept->map + kept->map_room) : NULL;
    return kept->map;
}

static bool is_same(const clo_kept *kept, const clo_lens *lens, int bits)
{
    return kept->whole && kept->from == lens->from && kept->cols == lens->cols &&
           kept->bits == bits && kept->constant == lens->constant &&
           memcmp(kept->map, lens->rows, lens->from * lens->cols * sizeof *kept->map) == 0;
}

clo_keeping clo_i_kept_begin(clo_kept *kept, const clo_lens *lens, const clo_bounded *data,
                             int bits)
{
    if (!kept || data != kept->data || !lens || !lens->rows || lens->places)
        return CLO_KEEP_NOTHING;
    const size_t map = lens->from * lens->cols;
    if (map > kept->map_room || clo_i_bounded_rows(data) * lens->cols > kept->room)
        return CLO_KEEP_NOTHING;
    if (!find_room(kept)) return CLO_KEEP_NOTHING;
    if (is_same(kept, lens, bits)) return CLO_KEEP_READ;
    memcpy(kept->map, lens->rows, map * sizeof *kept->map);
    kept->from = lens->from;
    kept->cols = lens->cols;
    kept->constant = lens->constant;
    kept->bits = bits;
    kept->whole = false;
    return CLO_KEEP_FILL;
}

void clo_i_kept_fill(clo_kept *kept, size_t first, size_t rows, const double *seen)
{
    int32_t *const cells = kept->cells + first * kept->cols;
    for (size_t e = 0; e < rows * kept->cols; e++) cells[e] = (int32_t)seen[e];
}

void clo_i_kept_read(const clo_kept *kept, size_t first, size_t rows, double *seen)
{
    const int32_t *const cells = kept->cells + first * kept->cols;
    for (size_t e = 0; e < rows * kept->cols; e++) seen[e] = cells[e];
}
