/*
 * lens.c - records seen through a public map: projected, or with a constant appended (lens.T1).
 *
 * A mechanism that has released a frame may ask further queries about the records' coordinates in
 * it; one that looks for centres or affine subspaces appends a constant to each record.  Both are
 * one linear map, on a public integer grid, from the ball into the ball: every product is an exact
 * integer, what it is rounded to is a function of this record and of released values alone, and
 * the norm is checked in integers.  So each query keeps its sensitivity.
 */
#include "ask/lens.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include <math.h>

/* A product of a row of the map and a record is at most 2^22 2^30: exact in a double. */
enum { MAP_BITS = CLO_LENS_MAP_BITS };
static const double MAP_GRID = (double)(1 << MAP_BITS);

clo_glass clo_i_lens_glass(const clo_lens *lens)
{
    if (!lens) return CLO_NO_LENS;
    return lens->places ? CLO_SKETCH : CLO_LENS;
}

void clo_i_lens_state_noise(clo_line *line, double height, int order)
{
    line->noise *= pow(1 + height * height, order / 2.0);
}

clo_domain clo_i_lens_domain(const clo_domain *domain, size_t cols)
{
    clo_domain seen = *domain;
    seen.norm = clo_i_domain_radius(domain);
    seen.cols = cols;
    seen.lower = seen.upper = seen.center = NULL;
    seen.frame = NULL;
    return seen;
}

/* The rows of the map, toward zero onto its grid; a row longer than the grid's unit would leave
 * the integers that a double holds. */
static clo_status round_frame(const double *frame, size_t d, size_t rank, double scale,
                              double *rows, clo_error *err)
{
    for (size_t i = 0; i < rank; i++) {
        unsigned __int128 square = 0;
        for (size_t j = 0; j < d; j++) {
            const double entry = trunc(frame[j * rank + i] * scale * MAP_GRID);
            if (!(fabs(entry) <= MAP_GRID))
                return clo_i_fail(err, CLO_INTERNAL, "the frame of a lens is not orthonormal");
            rows[i * d + j] = entry;
            square += (uint64_t)(entry * entry);
        }
        if (square > (unsigned __int128)1 << (2 * MAP_BITS))
            return clo_i_fail(err, CLO_INTERNAL, "the frame of a lens is not orthonormal");
    }
    return CLO_OK;
}

static clo_status take_rows(clo_workspace *space, size_t d, size_t rank, bool raised, double **rows,
                            clo_error *err)
{
    return clo_i_take(space, (rank + raised) * d, sizeof **rows, rows, err);
}

clo_status clo_i_lens_room(clo_workspace *space, size_t d, size_t rank, double height,
                           clo_error *err)
{
    double *unused;
    return rank ? take_rows(space, d, rank, height > 0, &unused, err) : CLO_OK;
}

clo_status clo_i_lens_make(clo_workspace *workspace, const double *frame, size_t d, size_t rank,
                           double height, clo_lens *out, clo_error *err)
{
    const bool raised = height > 0;
    const size_t cols = (frame ? rank : d) + raised;
    /* Rounding moves the map by at most sqrt(d rank) steps: shrunk by as much, it is still a
     * contraction, and records on the sphere need no correction. */
    const double slack = frame ? sqrt((double)d * (double)rank) / MAP_GRID : 0;
    const double length = sqrt(1 + height * height);
    clo_lens lens = { .from = d,
                      .cols = cols,
                      .scale = (1 - slack) / length,
                      .constant = raised ? height / length : 0 };
    if (d < 1 || cols < 1 || (frame && (rank < 1 || rank > d)) || !(slack < 0.5) ||
        !(height >= 0 && height <= 0x1p20))
        return clo_i_fail(err, CLO_INTERNAL, "a lens from %zu to %zu columns does not exist", d,
                          cols);
    if (frame) {
        double *rows = NULL; /* the row of the constant stays zero */
        CLO_TRY(take_rows(workspace, d, rank, raised, &rows, err));
        CLO_TRY(round_frame(frame, d, rank, lens.scale, rows, err));
        lens.rows = rows;
    } else {
        lens.weight = trunc(lens.scale * MAP_GRID);
        lens.scale = lens.weight / MAP_GRID;
    }
    *out = lens;
    return CLO_OK;
}

/* At most 2^20 squares of at most 2^40 each, exact in 64 bits. */
static inline bool inside_ball(const double *record, size_t cols, int bits)
{
    int64_t total = 0;
    for (size_t j = 0; j < cols; j++) total += (int64_t)record[j] * (int64_t)record[j];
    return total <= (int64_t)1 << (2 * bits);
}

/* The largest entry goes one step toward zero; not the constant, which is inside the ball. */
static inline void take_a_step_in(double *record, size_t cols)
{
    size_t largest = 0;
    for (size_t j = 1; j < cols; j++)
        if (fabs(record[j]) > fabs(record[largest])) largest = j;
    record[largest] -= copysign(1, record[largest]);
}

CLO_WIDE static void to_seen(const clo_lens *lens, const double *values, size_t rows, int bits,
                             double *seen)
{
    const size_t cols = lens->cols, own = cols - (lens->constant > 0);
    const double step = ldexp(1, bits - CLO_GRID_BITS - MAP_BITS);
    const double constant = trunc(ldexp(lens->constant, bits));
    for (size_t i = 0; i < rows; i++) {
        double *const record = seen + i * cols;
        const double *const whole = values + i * lens->from;
        const double *const products = lens->rows ? record : whole;
        const double scale = lens->rows ? step : step * lens->weight; /* a power of two: exact */
#pragma omp simd
        for (size_t j = 0; j < own; j++) record[j] = (double)(int32_t)(products[j] * scale);
        if (own < cols) record[own] = constant;
        if (clo_i_planted(CLO_FAULT_CLIPPING_MISSING)) continue;
        while (!inside_ball(record, cols, bits)) take_a_step_in(record, own); /* lens.T1 */
    }
}

void clo_i_lens_apply(const clo_lens *lens, const double *values, size_t rows, int bits,
                      double *seen)
{
    if (lens->rows) clo_i_multiply_integers(values, rows, lens->rows, lens->cols, lens->from, seen);
    to_seen(lens, values, rows, bits, seen);
}
