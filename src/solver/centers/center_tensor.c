/* center_tensor.c - tensors of moments as matrices, and what a model of k centres leaves of one. */
#include "solver/centers/center_tensor.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

clo_center_shape clo_i_center_shape(int order, size_t cols, size_t clusters)
{
    const size_t pairs = cols * (cols + 1) / 2;
    return (clo_center_shape){ .order = order,
                               .cols = cols,
                               .pairs = pairs,
                               .rows = order == 3 ? cols : pairs,
                               .clusters = clusters };
}

size_t clo_i_center_entries(const clo_center_shape *shape)
{
    const size_t d = shape->cols, three = d * (d + 1) / 2 * (d + 2) / 3;
    return shape->order == 3 ? three : three * (d + 3) / 4;
}

static inline size_t place(size_t d, size_t i, size_t j) /* i <= j */
{
    return i * d - i * (i + 1) / 2 + j;
}

static inline double weight(size_t i, size_t j)
{
    return i == j ? 1 : sqrt(2);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- entries and matrix -------------------------------------------------------------------- */

static void spread_third(const clo_center_shape *s, const double *entry, double unit, double *m)
{
    const size_t d = s->cols, n = s->pairs;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++, entry++) {
                m[k * n + place(d, i, j)] = weight(i, j) * *entry / unit;
                m[j * n + place(d, i, k)] = weight(i, k) * *entry / unit;
                m[i * n + place(d, j, k)] = weight(j, k) * *entry / unit;
            }
}

static void spread_fourth(const clo_center_shape *s, const double *entry, double unit, double *m)
{
    const size_t d = s->cols, n = s->pairs;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, entry++) {
                    const size_t at[3][4] = { { i, j, k, l }, { i, k, j, l }, { i, l, j, k } };
                    for (size_t way = 0; way < 3; way++) {
                        const size_t *const w = at[way];
                        const size_t a = place(d, w[0], w[1]), b = place(d, w[2], w[3]);
                        m[a * n + b] = m[b * n + a] =
                            weight(w[0], w[1]) * weight(w[2], w[3]) * *entry / unit;
                    }
                }
}

void clo_i_center_spread_out(const clo_center_shape *shape, const double *entries, double unit,
                             double *matrix)
{
    (shape->order == 3 ? spread_third : spread_fourth)(shape, entries, unit, matrix);
}

void clo_i_center_gather(const clo_center_shape *shape, const double *matrix, double unit,
                         double *entries)
{
    const size_t d = shape->cols, n = shape->pairs;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++) {
                const double pair = weight(i, j) / unit;
                if (shape->order == 3) *entries++ = matrix[k * n + place(d, i, j)] / pair;
                for (size_t l = k; shape->order == 4 && l < d; l++)
                    *entries++ = matrix[place(d, k, l) * n + place(d, i, j)] / pair / weight(k, l);
            }
}

void clo_i_center_rescale(const clo_center_shape *shape, double factor, double *matrix)
{
    const size_t d = shape->cols, last = d - 1, n = shape->pairs, corner = n - 1;
    for (size_t row = 0; row < shape->rows; row++)
        for (size_t i = 0; i < d; i++)
            matrix[row * n + place(d, i, last)] *= i == last ? factor * factor : factor;
    if (shape->order == 3)
        for (size_t e = 0; e < n; e++) matrix[last * n + e] *= factor;
    for (size_t i = 0; shape->order == 4 && i < d; i++) {
        double *const row = matrix + place(d, i, last) * n;
        const double both = place(d, i, last) == corner ? factor * factor : factor;
        for (size_t e = 0; e < n; e++) row[e] *= both;
    }
}

/* ---- scratch ------------------------------------------------------------------------------- */

size_t clo_i_center_bench_size(const clo_center_shape *s)
{
    return s->rows * s->pairs + s->clusters * (s->pairs + 2 * s->rows) + s->rows +
           s->cols * s->cols + s->cols;
}

clo_center_bench clo_i_center_bench(const clo_center_shape *s, double *room)
{
    clo_center_bench b = { .residual = room };
    b.lifted = b.residual + s->rows * s->pairs;
    b.right = b.lifted + s->clusters * s->pairs;
    b.images = b.right + s->clusters * s->rows;
    b.trace = b.images + s->clusters * s->rows;
    b.square = b.trace + s->rows;
    b.mean = b.square + s->cols * s->cols;
    return b;
}

/* ---- the residual -------------------------------------------------------------------------- */

/* zz', packed. */
static void lift(const double *z, size_t d, double *packed)
{
    for (size_t i = 0; i < d; i++) {
        const double own = sqrt(2) * z[i];
        packed[0] = z[i] * z[i];
        for (size_t j = i + 1; j < d; j++) packed[j - i] = own * z[j];
        packed += d - i;
    }
}

/* Takes 3 t sym(m x P) off: entry ijk has m_k P_ij + m_i P_jk + m_j P_ik. */
static void take_third(const clo_center_shape *s, double t, clo_center_bench *b)
{
    const size_t d = s->cols, own = d - 1, n = s->pairs;
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < own; i++) b->residual[k * n + place(d, i, i)] -= t * b->mean[k];
    for (size_t k = 0; k < own; k++)
        for (size_t i = 0; i < d; i++) {
            const size_t at = i < k ? place(d, i, k) : place(d, k, i);
            b->residual[k * n + at] -= (i == k ? 2 : sqrt(2)) * t * b->mean[i];
        }
}

/* Takes 6 sym(tP x N) + 3 W sym(tP x tP) = 6 sym(tP x G) off, G = N + W t P / 2: the pairings of ij
 * and kl, and twice the two others. */
static void take_fourth(const clo_center_shape *s, double t, double total, clo_center_bench *b)
{
    const size_t d = s->cols, own = d - 1, n = s->pairs;
    double *const g = b->square;
    for (size_t i = 0; i < own; i++) g[i * d + i] += total * t / 2;
#define P(a, c) ((a) == (c) && (a) < own ? t : 0)
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) {
            double *const row = b->residual + place(d, i, j) * n;
            const double first = weight(i, j);
            for (size_t k = 0; k < d; k++)
                for (size_t l = k; l < d; l++)
                    row[place(d, k, l)] -=
                        first * weight(k, l) *
                        (P(i, j) * g[k * d + l] + P(k, l) * g[i * d + j] + P(i, k) * g[j * d + l] +
                         P(j, l) * g[i * d + k] + P(i, l) * g[j * d + k] + P(j, k) * g[i * d + l]);
        }
#undef P
    for (size_t i = 0; i < own; i++) g[i * d + i] -= total * t / 2;
}

void clo_i_center_residual(const clo_center_shape *s, const double *target, clo_center_point point,
                           clo_center_bench *b)
{
    const size_t d = s->cols, k = s->clusters, n = s->pairs;
    double total = 0;
    memcpy(b->residual, target, s->rows * n * sizeof *target);
    memset(b->mean, 0, d * sizeof *b->mean);
    memset(b->square, 0, d * d * sizeof *b->square);
    for (size_t l = 0; l < k; l++) {
        const double *const z = point.z + l * d, w = point.weights[l];
        const double *const source = s->order == 3 ? z : b->lifted + l * n;
        lift(z, d, b->lifted + l * n);
        for (size_t e = 0; e < s->rows; e++) b->right[l * s->rows + e] = -w * source[e];
        total += w;
        for (size_t i = 0; i < d; i++) {
            b->mean[i] += w * z[i];
            for (size_t j = 0; s->order == 4 && j < d; j++) b->square[i * d + j] += w * z[i] * z[j];
        }
    }
    clo_i_cross_add(b->right, s->rows, b->lifted, n, k, b->residual);
    if (s->order == 3)
        take_third(s, point.variance, b);
    else
        take_fourth(s, point.variance, total, b);
}

/* ---- the loss ------------------------------------------------------------------------------ */

/* The residual's trace over P: a vector, or a packed matrix. */
static void trace_over(const clo_center_shape *s, clo_center_bench *b)
{
    const size_t d = s->cols, n = s->pairs;
    for (size_t e = 0; e < s->rows; e++) {
        b->trace[e] = 0;
        for (size_t i = 0; i + 1 < d; i++) b->trace[e] += b->residual[e * n + place(d, i, i)];
    }
}

/* out += factor times a packed symmetric matrix, at z. */
static void apply_packed(const double *packed, const double *z, double factor, size_t d,
                         double *out)
{
    for (size_t i = 0; i < d; i++) {
        out[i] += factor * packed[0] * z[i];
        for (size_t j = i + 1; j < d; j++) {
            const double entry = factor * sqrt(0.5) * packed[j - i];
            out[i] += entry * z[j];
            out[j] += entry * z[i];
        }
        packed += d - i;
    }
}

static void slope_third(const clo_center_shape *s, clo_center_point p, const clo_center_bench *b,
                        double *by_z, double *by_weight, double *by_variance)
{
    const size_t d = s->cols;
    for (size_t l = 0; l < s->clusters; l++) {
        const double *const z = p.z + l * d, *const image = b->images + l * d;
        for (size_t i = 0; i < d; i++)
            by_z[l * d + i] = -3 * p.weights[l] * (image[i] + p.variance * b->trace[i]);
        by_weight[l] = -dot(image, z, d) - 3 * p.variance * dot(b->trace, z, d);
    }
    *by_variance = -3 * dot(b->trace, b->mean, d);
}

static void slope_fourth(const clo_center_shape *s, clo_center_point p, const clo_center_bench *b,
                         double *by_z, double *by_weight, double *by_variance)
{
    const size_t d = s->cols, n = s->pairs;
    const double t = p.variance;
    double corner = 0;
    *by_variance = 0;
    for (size_t i = 0; i + 1 < d; i++) corner += b->trace[place(d, i, i)];
    for (size_t l = 0; l < s->clusters; l++) {
        const double *const z = p.z + l * d, *const lifted = b->lifted + l * n, w = p.weights[l];
        const double along = dot(b->trace, lifted, n);
        memset(by_z + l * d, 0, d * sizeof *by_z);
        apply_packed(b->images + l * n, z, -4 * w, d, by_z + l * d);
        apply_packed(b->trace, z, -12 * w * t, d, by_z + l * d);
        by_weight[l] = -dot(b->images + l * n, lifted, n) - 6 * t * along - 3 * t * t * corner;
        *by_variance -= w * (6 * along + 6 * t * corner);
    }
}

double clo_i_center_loss(const clo_center_shape *s, const double *target, clo_center_point point,
                         clo_center_bench *b, double *by_z, double *by_weight, double *by_variance)
{
    clo_i_center_residual(s, target, point, b);
    clo_i_multiply_transposed(b->lifted, s->clusters, b->residual, s->rows, s->pairs, b->images);
    trace_over(s, b);
    (s->order == 3 ? slope_third : slope_fourth)(s, point, b, by_z, by_weight, by_variance);
    return dot(b->residual, b->residual, s->rows * s->pairs) / 2;
}

void clo_i_center_apply(const clo_center_shape *s, const double *tensor, const double *z,
                        size_t count, double *lifted, double *products, double *images)
{
    const size_t d = s->cols, n = s->pairs;
    for (size_t l = 0; l < count; l++) lift(z + l * d, d, lifted + l * n);
    clo_i_multiply_transposed(lifted, count, tensor, s->rows, n, products);
    if (s->order == 3) {
        memcpy(images, products, count * d * sizeof *images);
        return;
    }
    memset(images, 0, count * d * sizeof *images);
    for (size_t l = 0; l < count; l++)
        apply_packed(products + l * n, z + l * d, 1, d, images + l * d);
}
