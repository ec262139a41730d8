/*
 * affinity.c - affinities from coefficients: |C| + |C|', in compressed rows.
 *
 * Each point's coefficients are first divided by the largest of them, so that a point which is
 * expressed by many small coefficients counts as much as one with few large ones.
 */
#include "solver/solver.h"
#include <math.h>
#include <string.h>

void clo_i_affinity_free(clo_affinity *affinity)
{
    clo_i_free(affinity->dense);
    clo_i_free(affinity->starts);
    clo_i_free(affinity->columns);
    clo_i_free(affinity->weights);
    memset(affinity, 0, sizeof *affinity);
}

/* What to multiply a row with; 0 where it has no entry. */
static double row_scale(const double *values, size_t count)
{
    double largest = 0;
    for (size_t j = 0; j < count; j++) largest = fmax(largest, fabs(values[j]));
    return largest > 0 ? 1 / largest : 0;
}

/* ---- compressed rows ----------------------------------------------------------------------- */

static clo_status make_rows(size_t count, size_t entries, clo_affinity *out, clo_error *err)
{
    clo_affinity made = { .count = count };
    clo_status status = clo_i_alloc(count + 1, sizeof *made.starts, &made.starts, err);
    if (!status) status = clo_i_alloc(entries, sizeof *made.columns, &made.columns, err);
    if (!status) status = clo_i_alloc(entries, sizeof *made.weights, &made.weights, err);
    if (status)
        clo_i_affinity_free(&made);
    else
        *out = made;
    return status;
}

/* The transpose; its columns increase within a row, whatever the order was before. */
static clo_status transpose(const size_t *starts, const uint32_t *columns, const double *weights,
                            size_t count, clo_affinity *out, clo_error *err)
{
    size_t *next = NULL;
    clo_affinity made = { 0 };
    clo_status status = clo_i_alloc(count + 1, sizeof *next, &next, err);
    if (!status) status = make_rows(count, starts[count], &made, err);
    if (!status) {
        for (size_t at = 0; at < starts[count]; at++) made.starts[columns[at] + 1]++;
        for (size_t i = 0; i < count; i++) made.starts[i + 1] += made.starts[i];
        memcpy(next, made.starts, count * sizeof *next);
        for (size_t i = 0; i < count; i++)
            for (size_t at = starts[i]; at < starts[i + 1]; at++) {
                const size_t place = next[columns[at]]++;
                made.columns[place] = (uint32_t)i;
                made.weights[place] = weights[at];
            }
        *out = made;
    }
    clo_i_free(next);
    return status;
}

/* Adds two rows with increasing columns; how many entries the sum has. */
static size_t add_rows(const clo_affinity *a, const clo_affinity *b, size_t row, uint32_t *columns,
                       double *weights)
{
    size_t i = a->starts[row], j = b->starts[row], made = 0;
    const size_t i_end = a->starts[row + 1], j_end = b->starts[row + 1];
    while (i < i_end || j < j_end) {
        const uint32_t left = i < i_end ? a->columns[i] : UINT32_MAX;
        const uint32_t right = j < j_end ? b->columns[j] : UINT32_MAX;
        const uint32_t column = left < right ? left : right;
        double sum = 0;
        if (i < i_end && left == column) sum += a->weights[i++];
        if (j < j_end && right == column) sum += b->weights[j++];
        if (!(sum > 0)) continue;
        columns[made] = column;
        weights[made++] = sum;
    }
    return made;
}

clo_status clo_i_affinity_symmetric(const size_t *starts, const uint32_t *columns,
                                    const double *weights, size_t count, clo_affinity *out,
                                    clo_error *err)
{
    clo_affinity turned = { 0 }, sorted = { 0 }, made = { 0 };
    size_t entries = 0;
    clo_status status = transpose(starts, columns, weights, count, &turned, err);
    if (!status)
        status = transpose(turned.starts, turned.columns, turned.weights, count, &sorted, err);
    if (!status && !clo_i_multiply(starts[count], 2, &entries))
        status = clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many neighbors");
    if (!status) status = make_rows(count, entries, &made, err);
    if (!status) {
        for (size_t i = 0; i < count; i++)
            made.starts[i + 1] =
                made.starts[i] + add_rows(&sorted, &turned, i, made.columns + made.starts[i],
                                          made.weights + made.starts[i]);
        *out = made;
    }
    clo_i_affinity_free(&turned);
    clo_i_affinity_free(&sorted);
    return status;
}

clo_status clo_i_affinity_from_sparse(const size_t *starts, const uint32_t *columns,
                                      const double *coefficients, size_t count, clo_affinity *out,
                                      clo_error *err)
{
    double *weights = NULL;
    CLO_TRY(clo_i_alloc(starts[count], sizeof *weights, &weights, err));
    for (size_t i = 0; i < count; i++) {
        const double scale = row_scale(coefficients + starts[i], starts[i + 1] - starts[i]);
        for (size_t at = starts[i]; at < starts[i + 1]; at++)
            weights[at] = fabs(coefficients[at]) * scale;
    }
    const clo_status status = clo_i_affinity_symmetric(starts, columns, weights, count, out, err);
    clo_i_free(weights);
    return status;
}
