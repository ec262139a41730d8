/*
 * gapmax_field.c - integers modulo p = 2^61 - 1: rank and span without a tolerance.
 *
 * With tolerances nearly equal subspaces would count as several, and the proof that at most one
 * scores would not hold.  Over a field a span has one reduced row echelon form, which is its name;
 * and as long as all minors of the records are smaller than p, it is the one over the rationals
 * (gapmax.T4).
 */
#include "query/gapmax_internal.h"

uint64_t clo_i_field_multiply(uint64_t a, uint64_t b)
{
    const clo_u128 product = (clo_u128)a * b;
    const uint64_t folded = (uint64_t)(product & CLO_PRIME) + (uint64_t)(product >> 61);
    return folded >= CLO_PRIME ? folded - CLO_PRIME : folded;
}

static uint64_t subtract(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + CLO_PRIME - b;
}

uint64_t clo_i_field_inverse(uint64_t a)
{
    uint64_t result = 1;
    for (uint64_t exponent = CLO_PRIME - 2; exponent; exponent >>= 1) { /* Fermat */
        if (exponent & 1) result = clo_i_field_multiply(result, a);
        a = clo_i_field_multiply(a, a);
    }
    return result;
}

uint64_t clo_i_field_from(int64_t value)
{
    return value < 0 ? CLO_PRIME - (uint64_t)-value : (uint64_t)value;
}

static int64_t signed_of(uint64_t residue)
{
    return residue > CLO_PRIME / 2 ? -(int64_t)(CLO_PRIME - residue) : (int64_t)residue;
}

static void swap_rows(uint64_t *a, uint64_t *b, size_t cols)
{
    for (size_t j = 0; j < cols; j++) {
        const uint64_t held = a[j];
        a[j] = b[j];
        b[j] = held;
    }
}

/* row -= factor * pivot */
static void clear_row(uint64_t *row, const uint64_t *pivot, uint64_t factor, size_t cols)
{
    for (size_t j = 0; j < cols; j++)
        row[j] = subtract(row[j], clo_i_field_multiply(factor, pivot[j]));
}

size_t clo_i_field_reduce(uint64_t *matrix, size_t rows, size_t cols, size_t *pivots)
{
    size_t rank = 0;
    for (size_t c = 0; c < cols && rank < rows; c++) {
        size_t found = rank;
        while (found < rows && matrix[found * cols + c] == 0) found++;
        if (found == rows) continue;
        uint64_t *const pivot = matrix + rank * cols;
        if (found != rank) swap_rows(pivot, matrix + found * cols, cols);
        const uint64_t inverse = clo_i_field_inverse(pivot[c]);
        for (size_t j = 0; j < cols; j++) pivot[j] = clo_i_field_multiply(pivot[j], inverse);
        for (size_t i = 0; i < rows; i++)
            if (i != rank) clear_row(matrix + i * cols, pivot, matrix[i * cols + c], cols);
        pivots[rank++] = c;
    }
    return rank;
}

/* Whether what the record has at the pivots gives all of it. */
static bool lies_in(const clo_span *span, const uint64_t *record)
{
    bool zero = true;
    for (size_t i = 0; i < span->dim; i++) zero &= record[span->pivots[i]] == 0;
    if (zero) return false;
    for (size_t j = 0; j < span->cols; j++) {
        clo_u128 sum = 0; /* of at most three products below 2^122 */
        for (size_t i = 0; i < span->dim; i++)
            sum += (clo_u128)record[span->pivots[i]] * span->rows[i * span->cols + j];
        sum = (sum & CLO_PRIME) + (sum >> 61);
        const uint64_t folded = (uint64_t)(sum & CLO_PRIME) + (uint64_t)(sum >> 61);
        if ((folded >= CLO_PRIME ? folded - CLO_PRIME : folded) != record[j]) return false;
    }
    return true;
}

size_t clo_i_span_members(const clo_lattice *lattice, const clo_span *span, size_t misses,
                          int32_t *coordinates)
{
    size_t members = 0;
    for (size_t i = 0; i < lattice->count; i++) {
        const uint64_t *const record = lattice->records + i * lattice->cols;
        if (lies_in(span, record)) {
            for (size_t e = 0; e < span->dim; e++)
                coordinates[members * span->dim + e] = (int32_t)signed_of(record[span->pivots[e]]);
            members++;
        } else if (i + 1 - members > misses) {
            return 0;
        }
    }
    return members;
}

/* Half of the extended Euclidean algorithm: the first remainder that is small enough is the
 * numerator, and its cofactor the denominator (gapmax.T4). */
void clo_i_field_fraction(uint64_t residue, int64_t *numerator, int64_t *denominator)
{
    const int64_t most = (int64_t)1 << 30;
    int64_t r0 = (int64_t)CLO_PRIME, r1 = (int64_t)residue, t0 = 0, t1 = 1;
    while (r1 >= most) {
        const int64_t quotient = r0 / r1, r2 = r0 - quotient * r1, t2 = t0 - quotient * t1;
        r0 = r1;
        r1 = r2;
        t0 = t1;
        t1 = t2;
    }
    *numerator = t1 < 0 ? -r1 : r1;
    *denominator = t1 < 0 ? -t1 : t1;
}
