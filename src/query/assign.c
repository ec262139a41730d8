/*
 * assign.c - which cluster a record belongs to (assign.T1).
 *
 * "One record sits in one cluster" is what the sensitivities stand on.  It holds only if a
 * record's assignment depends on that record and on released values alone, to the last bit: so
 * centres and bases are rounded to a public grid, every score is an exact integer below 2^53 (or
 * is squared in 128 bits), and ties go to the smaller index.  A floating-point product would let
 * one record move another one's near tie.
 */
#include "query/parts.h"
#include "linalg/linalg.h"
#include <math.h>

typedef unsigned __int128 u128;

clo_status clo_i_assign_centers(clo_workspace *workspace, const double *centers, size_t k, size_t d,
                                int bits, clo_assign *out, clo_error *err)
{
    const double grid = (double)((uint64_t)1 << bits);
    double *points = NULL, *offsets = NULL;
    CLO_TRY(clo_i_take(workspace, k * d, sizeof *points, &points, err));
    CLO_TRY(clo_i_take(workspace, k, sizeof *offsets, &offsets, err));
    for (size_t c = 0; c < k; c++) {
        u128 square = 0;
        for (size_t j = 0; j < d; j++) {
            const double rounded = nearbyint(fmin(fmax(centers[c * d + j], -1), 1) * grid);
            const int64_t integer = (int64_t)rounded;
            points[c * d + j] = rounded;
            square += (u128)((uint64_t)(integer * integer));
        }
        /* |2 r.c - |c|^2| < 2^53 needs |c| a little above the ball at most. */
        if (square > (u128)1 << 50 || 2 * bits + 4 > 50)
            return clo_i_fail(err, CLO_INTERNAL, "a centre lies outside the ball");
        offsets[c] = (double)(uint64_t)square;
    }
    *out = (clo_assign){ .kind = CLO_ASSIGN_CENTERS,
                         .clusters = k,
                         .cols = d,
                         .bits = bits,
                         .points = points,
                         .offsets = offsets };
    return CLO_OK;
}

clo_status clo_i_assign_subspaces(clo_workspace *workspace, const double *bases, size_t k, size_t d,
                                  size_t q, int bits, clo_assign *out, clo_error *err)
{
    const double grid = (double)((uint64_t)1 << bits);
    double *points = NULL;
    if (bits > 20 || d > 4096) /* r.u <= 2^bits 2^bits sqrt(d) stays far below 2^53 */
        return clo_i_fail(err, CLO_INTERNAL, "a grid of %d bits is too fine for %zu columns", bits,
                          d);
    CLO_TRY(clo_i_take(workspace, k * q * d, sizeof *points, &points, err));
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < d; j++) {
                const double entry = bases[(c * d + j) * q + i];
                points[(c * q + i) * d + j] = nearbyint(fmin(fmax(entry, -1), 1) * grid);
            }
    *out = (clo_assign){ .kind = CLO_ASSIGN_SUBSPACES,
                         .clusters = k,
                         .cols = d,
                         .dim = q,
                         .bits = bits,
                         .points = points };
    return CLO_OK;
}

size_t clo_i_assign_width(const clo_assign *rule)
{
    if (!rule || rule->kind == CLO_ASSIGN_ONE) return 0;
    return rule->clusters * (rule->kind == CLO_ASSIGN_SUBSPACES ? rule->dim : 1);
}

/* Nearest centre: the largest 2 r.c - |c|^2. */
static void nearest_centers(const clo_assign *rule, size_t rows, const double *scores,
                            uint32_t *labels)
{
    const size_t k = rule->clusters;
    for (size_t i = 0; i < rows; i++) {
        const double *const dots = scores + i * k;
        double best = 2 * dots[0] - rule->offsets[0];
        uint32_t label = 0;
        for (size_t c = 1; c < k; c++) {
            const double score = 2 * dots[c] - rule->offsets[c];
            if (score > best) {
                best = score;
                label = (uint32_t)c;
            }
        }
        labels[i] = label;
    }
}

/* Nearest subspace: the longest projection. */
static void nearest_subspaces(const clo_assign *rule, size_t rows, const double *scores,
                              uint32_t *labels)
{
    const size_t k = rule->clusters, q = rule->dim;
    for (size_t i = 0; i < rows; i++) {
        u128 best = 0;
        uint32_t label = 0;
        for (size_t c = 0; c < k; c++) {
            u128 square = 0;
            for (size_t e = 0; e < q; e++) {
                const int64_t dot = (int64_t)scores[(i * k + c) * q + e];
                square += (u128)((__int128)dot * dot);
            }
            if (square > best) {
                best = square;
                label = (uint32_t)c;
            }
        }
        labels[i] = label;
    }
}

void clo_i_assign_rows(const clo_assign *rule, const double *values, size_t rows, double *scores,
                       uint32_t *labels)
{
    if (clo_i_assign_width(rule) == 0) {
        for (size_t i = 0; i < rows; i++) labels[i] = 0;
        return;
    }
    clo_i_multiply_transposed(values, rows, rule->points, clo_i_assign_width(rule), rule->cols,
                              scores);
    if (rule->kind == CLO_ASSIGN_CENTERS)
        nearest_centers(rule, rows, scores, labels);
    else
        nearest_subspaces(rule, rows, scores, labels);
}
