/*
 * assign.c - which cluster a record belongs to (assign.T1).
 *
 * "One record sits in one cluster" is what the sensitivities stand on.  It holds only if a
 * record's assignment depends on that record and on released values alone, to the last bit: so
 * centres and bases are rounded to a public grid, every score is an exact integer below 2^53 (or
 * is squared in 128 bits), and ties go to the smaller index.  A floating-point product would let
 * one record move another one's near tie.
 */
#include "ask/assign.h"
#include "linalg/linalg.h"
#include <math.h>

typedef unsigned __int128 u128;

/* offsets: NULL for subspaces, which have none. */
static clo_status take_rule(clo_workspace *space, clo_assign_kind kind, size_t k, size_t d,
                            size_t q, double **points, double **offsets, clo_error *err)
{
    const size_t each = kind == CLO_ASSIGN_CENTERS ? 1 : q + (kind == CLO_ASSIGN_FLATS);
    CLO_TRY(clo_i_take(space, k * each * d, sizeof **points, points, err));
    if (kind == CLO_ASSIGN_SUBSPACES) return CLO_OK;
    return clo_i_take(space, k, sizeof **offsets, offsets, err);
}

clo_status clo_i_assign_room(clo_workspace *space, clo_assign_kind kind, size_t k, size_t d,
                             size_t q, clo_error *err)
{
    double *points, *offsets;
    return take_rule(space, kind, k, d, q, &points, &offsets, err);
}

clo_status clo_i_assign_centers(clo_workspace *workspace, const double *centers, size_t k, size_t d,
                                int bits, clo_assign *out, clo_error *err)
{
    const double grid = (double)((uint64_t)1 << bits);
    double *points = NULL, *offsets = NULL;
    CLO_TRY(take_rule(workspace, CLO_ASSIGN_CENTERS, k, d, 0, &points, &offsets, err));
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
            return clo_i_fail(err, CLO_INTERNAL, "a center lies outside the ball");
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

/* Basis vectors, one a row: of each cluster q rows of `stride`. */
static clo_status round_bases(const double *bases, size_t k, size_t d, size_t q, size_t stride,
                              int bits, double *points, clo_error *err)
{
    const double grid = (double)((uint64_t)1 << bits);
    if (bits > 20 || d > 4096) /* r.u <= 2^bits 2^bits sqrt(d) stays far below 2^53 */
        return clo_i_fail(err, CLO_INTERNAL, "a grid of %d bits is too fine for %zu columns", bits,
                          d);
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < d; j++) {
                const double entry = bases[(c * d + j) * q + i];
                points[(c * stride + i) * d + j] = nearbyint(fmin(fmax(entry, -1), 1) * grid);
            }
    return CLO_OK;
}

clo_status clo_i_assign_subspaces(clo_workspace *workspace, const double *bases, size_t k, size_t d,
                                  size_t q, int bits, clo_assign *out, clo_error *err)
{
    double *points = NULL;
    CLO_TRY(take_rule(workspace, CLO_ASSIGN_SUBSPACES, k, d, q, &points, NULL, err));
    CLO_TRY(round_bases(bases, k, d, q, q, bits, points, err));
    *out = (clo_assign){ .kind = CLO_ASSIGN_SUBSPACES,
                         .clusters = k,
                         .cols = d,
                         .dim = q,
                         .bits = bits,
                         .points = points };
    return CLO_OK;
}

/* The foot of a flat is its point nearest to the origin: c = p - U U'p. */
static void find_foot(const double *basis, const double *point, size_t d, size_t q, double *foot)
{
    for (size_t j = 0; j < d; j++) foot[j] = point[j];
    for (size_t i = 0; i < q; i++) {
        double dot = 0;
        for (size_t j = 0; j < d; j++) dot += basis[j * q + i] * point[j];
        for (size_t j = 0; j < d; j++) foot[j] -= dot * basis[j * q + i];
    }
}

clo_status clo_i_assign_flats(clo_workspace *workspace, const double *bases, const double *points,
                              size_t k, size_t d, size_t q, int bits, clo_assign *out,
                              clo_error *err)
{
    const double grid = (double)((uint64_t)1 << bits);
    double *rows = NULL, *squares = NULL;
    CLO_TRY(take_rule(workspace, CLO_ASSIGN_FLATS, k, d, q, &rows, &squares, err));
    CLO_TRY(round_bases(bases, k, d, q, q + 1, bits, rows, err));
    for (size_t c = 0; c < k; c++) {
        double *const foot = rows + (c * (q + 1) + q) * d;
        u128 square = 0;
        find_foot(bases + c * d * q, points + c * d, d, q, foot);
        for (size_t j = 0; j < d; j++) {
            foot[j] = nearbyint(fmin(fmax(foot[j], -1), 1) * grid);
            square += (u128)((__int128)foot[j] * (__int128)foot[j]);
        }
        squares[c] = (double)(uint64_t)square; /* at most 2^40 4096: exact */
    }
    *out = (clo_assign){ .kind = CLO_ASSIGN_FLATS,
                         .clusters = k,
                         .cols = d,
                         .dim = q,
                         .bits = bits,
                         .points = rows,
                         .offsets = squares };
    return CLO_OK;
}

size_t clo_i_assign_width(const clo_assign *rule)
{
    if (!rule || rule->kind == CLO_ASSIGN_ONE) return 0;
    if (rule->kind == CLO_ASSIGN_CENTERS) return rule->clusters;
    return rule->clusters * (rule->dim + (rule->kind == CLO_ASSIGN_FLATS));
}

bool clo_i_assign_fits(const clo_assign *rule, size_t clusters, size_t cols, int bits)
{
    if (rule->kind == CLO_ASSIGN_ONE) return rule->clusters == 1 && clusters == 1;
    return rule->clusters == clusters && rule->cols == cols && rule->bits == bits;
}

/* Nearest centre: the first with the largest 2 r.c - |c|^2. */
static void nearest_centers_of_rows(const clo_assign *rule, size_t rows, const double *scores,
                                    uint32_t *labels)
{
    const size_t k = rule->clusters;
    for (size_t i = 0; i < rows; i++, scores += k) {
        double best = 2 * scores[0] - rule->offsets[0];
        labels[i] = 0;
        for (size_t c = 1; c < k; c++) {
            const double score = 2 * scores[c] - rule->offsets[c];
            labels[i] = score > best ? (uint32_t)c : labels[i];
            best = score > best ? score : best;
        }
    }
}

/* The same of TOGETHER rows at once, centre after centre: no step waits for the one before it, and
 * none has to be guessed. */
enum { TOGETHER = 32 };
CLO_WIDE static void nearest_centers_together(const clo_assign *rule, const double *scores,
                                              uint32_t labels[TOGETHER])
{
    const size_t k = rule->clusters;
    double best[TOGETHER], place[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++) {
        best[i] = 2 * scores[i * k] - rule->offsets[0];
        place[i] = 0;
    }
    for (size_t c = 1; c < k; c++) {
        const double offset = rule->offsets[c], here = (double)c;
#pragma omp simd
        for (size_t i = 0; i < TOGETHER; i++) {
            const double score = 2 * scores[i * k + c] - offset;
            place[i] = score > best[i] ? here : place[i];
            best[i] = score > best[i] ? score : best[i];
        }
    }
    for (size_t i = 0; i < TOGETHER; i++) labels[i] = (uint32_t)place[i];
}

/* Rows side by side lie k scores apart, which the widest vectors alone collect faster than scores
 * are compared one by one. */
static bool has_widest_vectors(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

static void nearest_centers(const clo_assign *rule, size_t rows, const double *scores,
                            uint32_t *labels)
{
    size_t i = 0;
    if (has_widest_vectors())
        for (; i + TOGETHER <= rows; i += TOGETHER)
            nearest_centers_together(rule, scores + i * rule->clusters, labels + i);
    nearest_centers_of_rows(rule, rows - i, scores + i * rule->clusters, labels + i);
}

/* How near the record is to flat c, in units of 2^-(4 bits) of the squared radius: |U'r|^2 for a
 * subspace, |U'r|^2 + 2 c.r - |c|^2 for a flat with foot c.  The squared distance is |r|^2 less
 * that. */
static __int128 nearness(const clo_assign *rule, const double *dots, size_t c)
{
    const size_t q = rule->dim, stride = q + (rule->kind == CLO_ASSIGN_FLATS);
    __int128 total = 0;
    for (size_t e = 0; e < q; e++) {
        const int64_t dot = (int64_t)dots[c * stride + e];
        total += (__int128)dot * dot;
    }
    if (rule->kind == CLO_ASSIGN_FLATS) {
        const int64_t along = 2 * (int64_t)dots[c * stride + q] - (int64_t)rule->offsets[c];
        total += (__int128)along * ((int64_t)1 << (2 * rule->bits));
    }
    return total;
}

static uint32_t nearest_flat(const clo_assign *rule, const double *dots, __int128 *best)
{
    uint32_t label = 0;
    *best = nearness(rule, dots, 0);
    for (size_t c = 1; c < rule->clusters; c++) {
        const __int128 here = nearness(rule, dots, c);
        if (here > *best) {
            *best = here;
            label = (uint32_t)c;
        }
    }
    return label;
}

static void nearest_flats(const clo_assign *rule, size_t rows, const double *scores,
                          uint32_t *labels)
{
    const size_t width = clo_i_assign_width(rule);
    __int128 best;
    for (size_t i = 0; i < rows; i++) labels[i] = nearest_flat(rule, scores + i * width, &best);
}

void clo_i_assign_distances(const clo_assign *rule, const double *values, size_t rows,
                            int unit_bits, double *scores, uint64_t *distances)
{
    const size_t width = clo_i_assign_width(rule), d = rule->cols;
    const __int128 radius = (__int128)1 << (4 * rule->bits);
    clo_i_multiply_integers(values, rows, rule->points, width, d, scores);
    for (size_t i = 0; i < rows; i++) {
        __int128 square = 0, best;
        for (size_t j = 0; j < d; j++) {
            const int64_t r = (int64_t)values[i * d + j];
            square += (__int128)r * r;
        }
        (void)nearest_flat(rule, scores + i * width, &best);
        __int128 distance = square * ((int64_t)1 << (2 * rule->bits)) - best;
        if (distance < 0) distance = 0; /* the grid's bases are not quite orthonormal */
        if (distance > radius) distance = radius;
        distances[i] = (uint64_t)(distance >> (4 * rule->bits - unit_bits));
    }
}

void clo_i_assign_rows(const clo_assign *rule, const double *values, size_t rows, double *scores,
                       uint32_t *labels)
{
    if (clo_i_assign_width(rule) == 0 ||
        (rule->kind == CLO_ASSIGN_CENTERS && rule->clusters == 1)) {
        for (size_t i = 0; i < rows; i++) labels[i] = 0;
        return;
    }
    clo_i_multiply_integers(values, rows, rule->points, clo_i_assign_width(rule), rule->cols,
                            scores);
    if (rule->kind == CLO_ASSIGN_CENTERS)
        nearest_centers(rule, rows, scores, labels);
    else
        nearest_flats(rule, rows, scores, labels);
}
