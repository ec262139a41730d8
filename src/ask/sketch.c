/*
 * sketch.c - sparse records seen through a public random sketch (sketch.T1).
 *
 * Each column is added, with a random sign, to one coordinate of each of four parts: so a record's
 * entries cost four additions each, whatever the number of columns, and lengths and distances stay
 * about as they are.  That random matrix is no contraction: a record whose entries fall on each
 * other's places can come out longer than it was.  So what is seen is drawn back onto the ball, in
 * integers, record by record; an orthonormal frame would need no such thing, and would leave next
 * to nothing of a record in so many columns.
 */
#include "ask/lens.h"
#include "ask/query_steps.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "random/random.h"
#include <string.h>

/* Four parts of one coordinate each, every one divided by 2: the length is kept on average. */
enum { COPIES = CLO_SKETCH_COPIES, HALF_BITS = 1 };

static clo_status take_places(clo_workspace *space, size_t from, uint32_t **places, clo_error *err)
{
    return clo_i_take(space, from * COPIES, sizeof **places, places, err);
}

clo_status clo_i_sketch_room(clo_workspace *space, size_t from, clo_error *err)
{
    uint32_t *unused;
    return take_places(space, from, &unused, err);
}

/* A place: the coordinate, times two, and a one for the sign. */
static clo_status draw_places(clo_context *context, size_t from, size_t cols, uint32_t *places,
                              clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    const uint64_t part = cols / COPIES;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t j = 0; j < from; j++)
        for (size_t copy = 0; copy < COPIES; copy++)
            places[j * COPIES + copy] =
                (uint32_t)(2 * part * copy + clo_i_random_below(stream, 2 * part));
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

clo_status clo_i_sketch_make(clo_context *context, size_t from, size_t cols, clo_lens *out,
                             clo_error *err)
{
    uint32_t *places = NULL;
    if (from < 1 || cols < COPIES || cols > CLO_SKETCH_COLS || cols % COPIES)
        return clo_i_fail(err, CLO_INTERNAL, "a sketch of %zu columns in %zu does not exist", from,
                          cols);
    CLO_TRY(take_places(context->workspace, from, &places, err));
    CLO_TRY(draw_places(context, from, cols, places, err));
    *out = (clo_lens){ .from = from, .cols = cols, .scale = 1, .places = places };
    return CLO_OK;
}

/* At most 2^24 entries of a record of length 2^30 add up to 2^42 in a coordinate. */
static void add_entries(const clo_lens *lens, clo_row row, int64_t *sums)
{
    for (size_t e = 0; e < row.count; e++) {
        const uint32_t *const at = lens->places + COPIES * (row.columns ? row.columns[e] : e);
        for (size_t copy = 0; copy < COPIES; copy++)
            sums[at[copy] >> 1] += at[copy] & 1 ? -(int64_t)row.cells[e] : row.cells[e];
    }
}

/* What is longer than the ball's radius is shortened to it: each coordinate times the radius over
 * the length rounded up, toward zero. */
static void draw_back(int64_t *sums, size_t cols, int bits)
{
    const int64_t radius = (int64_t)1 << bits;
    unsigned __int128 square = 0;
    for (size_t j = 0; j < cols; j++) square += (unsigned __int128)((__int128)sums[j] * sums[j]);
    if (square <= (unsigned __int128)radius * (unsigned __int128)radius) return;
    const int64_t length = (int64_t)clo_i_root_up(square);
    for (size_t j = 0; j < cols; j++) sums[j] = sums[j] * radius / length;
}

void clo_i_sketch_rows(const clo_lens *lens, const clo_bounded *data, size_t first, size_t rows,
                       int bits, double *seen)
{
    const int64_t step = (int64_t)1 << (CLO_GRID_BITS - bits + HALF_BITS);
    for (size_t i = 0; i < rows; i++) {
        int64_t sums[CLO_SKETCH_COLS];
        memset(sums, 0, lens->cols * sizeof *sums);
        add_entries(lens, clo_i_bounded_row(data, first + i), sums);
        for (size_t j = 0; j < lens->cols; j++) sums[j] /= step;
        if (!clo_i_planted(CLO_FAULT_CLIPPING_MISSING)) draw_back(sums, lens->cols, bits);
        for (size_t j = 0; j < lens->cols; j++) seen[i * lens->cols + j] = (double)sums[j];
    }
}
