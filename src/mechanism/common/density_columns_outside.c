/*
 * density_columns_outside.c - where clusters are outside of the density's frame, by one regression
 * over all rounds.
 *
 * Each round has told the mean of each of its clusters, in all columns.  The clusters of today are
 * others: which records a cluster of a round and one of today have in common is read from the
 * density, so that a round's mean is a mixture of today's means, and the weights of the mixture are
 * known.  Least squares over all rounds then use every answer, and a record that was cut counts as
 * much as the cut has left of it.
 *
 * What is found is as noisy as its equations say.  What all clusters have in common is brought
 * nearer to the start's centre (James and Stein); in what they differ the singular values are
 * shrunk, as in local_shrink.c, after the noise was made white by the root of the precisions.
 */
#include "mechanism/common/density_columns.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

static const double LEAST_SHARE = 1e-6; /* of the records, in a cluster */
static const double RIDGE = 1e-5;       /* of the mean precision */

static size_t shorter_of(size_t clusters, size_t cols)
{
    return clusters < cols ? clusters : cols;
}

clo_status clo_i_columns_take_equations(const clo_density_plan *plan, clo_workspace *space,
                                        clo_columns_equations *e, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols, least = shorter_of(k, d);
    double **const square[] = { &e->matrix, &e->root, &e->overlap };
    double **const wide[] = { &e->right, &e->apart, &e->spent };
    double **const narrow[] = { &e->counted, &e->shares, &e->solved, &e->doubts };
    for (size_t i = 0; i < sizeof square / sizeof *square; i++)
        CLO_TRY(clo_i_take(space, k * k, sizeof(double), square[i], err));
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        CLO_TRY(clo_i_take(space, k * d, sizeof(double), wide[i], err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, k, sizeof(double), narrow[i], err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &e->common, err));
    CLO_TRY(clo_i_take(space, least, sizeof(double), &e->values, err));
    return clo_i_take(space, k * least, sizeof(double), &e->left, err);
}

/* ---- equations ------------------------------------------------------------------------------- */

static void share_records(const double *weights, const clo_columns *c, double *shares)
{
    double total = 0;
    for (size_t j = 0; j < c->clusters; j++) shares[j] = 0;
    for (size_t i = 0; i < c->points; i++) {
        shares[c->labels[i]] += weights[i];
        total += weights[i];
    }
    for (size_t j = 0; j < c->clusters; j++)
        shares[j] = fmax(shares[j] / fmax(total, 1e-300), LEAST_SHARE);
}

/* That the mean of all is where the start has found it, which is 0 here. */
static void begin(const clo_columns *c, clo_columns_equations *e)
{
    const size_t k = c->clusters;
    const double doubt = c->start.center_doubt;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            e->matrix[i * k + j] = doubt > 0 ? e->shares[i] * e->shares[j] / doubt : 0;
    memset(e->right, 0, k * c->cols * sizeof *e->right);
}

/* What of each cluster of a round is in each one of today, in records that count in its mean. */
static void overlap(const double *weights, const clo_columns *c, const clo_columns_round *r,
                    clo_columns_equations *e)
{
    const size_t k = c->clusters;
    memset(e->overlap, 0, k * k * sizeof *e->overlap);
    for (size_t j = 0; j < k; j++) e->counted[j] = 0;
    for (size_t i = 0; i < c->points; i++) {
        const double counts = weights[i] * r->uncut[i];
        e->overlap[r->labels[i] * k + c->labels[i]] += counts;
        e->counted[r->labels[i]] += counts;
    }
    for (size_t j = 0; j < k; j++) e->counted[j] = fmax(e->counted[j], r->least);
    for (size_t i = 0; i < k * k; i++) e->overlap[i] /= e->counted[i / k];
}

/* The equation of a round's cluster: the mixture of today's means is what was answered. */
static void add_cluster(const clo_columns *c, const clo_columns_round *r, size_t own,
                        clo_columns_equations *e)
{
    const size_t k = c->clusters, d = c->cols;
    const double *const mixture = e->overlap + own * k;
    const double *const place = r->places + own * d, *const sum = r->sums + own * d;
    const double step = r->widths[own] / e->counted[own], deviation = step * r->noise;
    const double precision = 1 / (deviation * deviation);
    double whole = 0;
    for (size_t j = 0; j < k; j++) whole += mixture[j];
    for (size_t i = 0; i < k; i++) {
        const double weight = precision * mixture[i];
        if (!(mixture[i] > 0)) continue;
        for (size_t j = 0; j < k; j++) e->matrix[i * k + j] += weight * mixture[j];
        double *const right = e->right + i * d;
        for (size_t j = 0; j < d; j++) right[j] += weight * (whole * place[j] + step * sum[j]);
    }
}

/* ---- a root, and what is solved with it ------------------------------------------------------ */

/* matrix = root root', root lower.  The ridge makes it positive whatever was answered. */
static void find_root(size_t k, clo_columns_equations *e)
{
    double trace = 0;
    for (size_t i = 0; i < k; i++) trace += e->matrix[i * k + i];
    const double ridge = fmax(RIDGE * trace / (double)k, 1e-300);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double left = e->matrix[i * k + j] + (i == j ? ridge : 0);
            for (size_t l = 0; l < j; l++) left -= e->root[i * k + l] * e->root[j * k + l];
            e->root[i * k + j] = i == j ? sqrt(fmax(left, ridge)) : left / e->root[j * k + j];
        }
}

/* Rows of so many numbers, in place: the root's inverse times them, */
static void solve_down(const double *root, size_t k, size_t cols, double *rows)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t l = 0; l < i; l++)
            for (size_t j = 0; j < cols; j++)
                rows[i * cols + j] -= root[i * k + l] * rows[l * cols + j];
        for (size_t j = 0; j < cols; j++) rows[i * cols + j] /= root[i * k + i];
    }
}

/* and that of its transpose. */
static void solve_up(const double *root, size_t k, size_t cols, double *rows)
{
    for (size_t i = k; i-- > 0;) {
        for (size_t l = i + 1; l < k; l++)
            for (size_t j = 0; j < cols; j++)
                rows[i * cols + j] -= root[l * k + i] * rows[l * cols + j];
        for (size_t j = 0; j < cols; j++) rows[i * cols + j] /= root[i * k + i];
    }
}

static double squares_of(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += x[i] * x[i];
    return sum;
}

/* The variance of a coordinate of each mean. */
static void find_doubts(size_t k, clo_columns_equations *e)
{
    for (size_t own = 0; own < k; own++) {
        memset(e->solved, 0, k * sizeof *e->solved);
        e->solved[own] = 1;
        solve_down(e->root, k, 1, e->solved);
        e->doubts[own] = squares_of(e->solved, k);
    }
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* The mean of all, as far as noise lets one trust it, and the variance of a coordinate of it. */
static void find_common(const clo_columns *c, clo_columns_equations *e)
{
    const size_t k = c->clusters, d = c->cols;
    memset(e->common, 0, d * sizeof *e->common);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < d; j++) e->common[j] += e->shares[i] * e->right[i * d + j];
    memcpy(e->solved, e->shares, k * sizeof *e->solved);
    solve_down(e->root, k, 1, e->solved);
}

static double trust_of_common(const clo_columns *c, const clo_columns_equations *e)
{
    const double doubt = squares_of(e->solved, c->clusters);
    const double free = fmax((double)(c->cols - c->directions) - 2, 0);
    return fmax(0, 1 - free * doubt / fmax(squares_of(e->common, c->cols), 1e-300));
}

/* What a singular value of signal and noise is multiplied by (local_shrink.c). */
static double kept_of(double value, size_t longer, size_t shorter)
{
    const double beta = (double)shorter / (double)longer, z = value / sqrt((double)longer);
    const double inner = z * z - beta - 1;
    if (!(z > 1 + sqrt(beta))) return 0;
    return sqrt(fmax(inner * inner - 4 * beta, 0)) / (z * z);
}

/* Of the whitened differences those that stand out of noise: left diag(kept) left' of them, and
 * their directions to the basis. */
static void keep(clo_columns *c, const clo_columns_equations *e)
{
    const size_t k = c->clusters, d = c->cols, least = shorter_of(k, d), most = k + d - least;
    double *const kept = e->spent;
    memset(kept, 0, k * d * sizeof *kept);
    c->extra = 0;
    for (size_t v = 0; v < least; v++) {
        const double factor = kept_of(e->values[v], most, least);
        double *const along = c->basis + c->extra * d;
        if (!(factor > 0)) break; /* they are in descending order */
        memset(along, 0, d * sizeof *along);
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < d; j++) along[j] += e->left[i * least + v] * e->apart[i * d + j];
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < d; j++)
                kept[i * d + j] += factor * e->left[i * least + v] * along[j];
        for (size_t j = 0; j < d; j++) along[j] /= e->values[v];
        c->extra++;
    }
    memcpy(e->apart, kept, k * d * sizeof *kept);
}

/* What the means differ by; without a decomposition, as it was found. */
static clo_status shrink(clo_columns *c, clo_columns_equations *e, clo_error *err)
{
    const size_t k = c->clusters, d = c->cols;
    for (size_t i = 0; i < k * d; i++) e->apart[i] = e->right[i] - e->common[i % d];
    c->extra = 0;
    if (k == 1) return CLO_OK;
    for (size_t i = 0; i < k; i++) { /* root' apart: a row needs those from its own on */
        for (size_t j = 0; j < d; j++) e->apart[i * d + j] *= e->root[i * k + i];
        for (size_t l = i + 1; l < k; l++)
            for (size_t j = 0; j < d; j++)
                e->apart[i * d + j] += e->root[l * k + i] * (e->right[l * d + j] - e->common[j]);
    }
    memcpy(e->spent, e->apart, k * d * sizeof *e->spent);
    const clo_status status = clo_i_thin_svd(e->spent, k, d, e->values, e->left, err);
    if (status && status != CLO_INTERNAL) return status;
    if (status)
        memset(e->apart, 0, k * d * sizeof *e->apart);
    else
        keep(c, e);
    solve_up(e->root, k, d, e->apart);
    return CLO_OK;
}

/* The direction of what all have in common is one of the basis, too. */
static void add_common(clo_columns *c, const double *common)
{
    const size_t d = c->cols;
    double *const own = c->basis + c->extra * d;
    memcpy(own, common, d * sizeof *own);
    for (size_t v = 0; v < c->extra; v++) {
        const double *const other = c->basis + v * d;
        double along = 0;
        for (size_t j = 0; j < d; j++) along += own[j] * other[j];
        for (size_t j = 0; j < d; j++) own[j] -= along * other[j];
    }
    const double length = sqrt(squares_of(own, d));
    if (!(length > 1e-9 * sqrt(squares_of(common, d)))) return;
    for (size_t j = 0; j < d; j++) own[j] /= length;
    c->extra++;
}

clo_status clo_i_columns_find_means(const double *weights, clo_columns *c, clo_error *err)
{
    const size_t k = c->clusters, d = c->cols;
    clo_columns_equations *const e = &c->equations;
    share_records(weights, c, e->shares);
    begin(c, e);
    for (size_t r = 0; r < c->rounds; r++) {
        overlap(weights, c, &c->round[r], e);
        for (size_t j = 0; j < k; j++) add_cluster(c, &c->round[r], j, e);
    }
    find_root(k, e);
    solve_down(e->root, k, d, e->right);
    solve_up(e->root, k, d, e->right);
    find_doubts(k, e);
    find_common(c, e);
    const double trust = trust_of_common(c, e);
    CLO_TRY(shrink(c, e, err));
    for (size_t j = 0; j < d; j++) e->common[j] *= trust;
    if (trust > 0) add_common(c, e->common);
    for (size_t i = 0; i < k * d; i++) c->means[i] = e->common[i % d] + e->apart[i];
    return CLO_OK;
}
