/*
 * moment_fit.c - k flats from a tensor of fourth moments, by least squares from many starts.
 *
 * Minimises |M - sum_l sym(S_l x S_l)|^2 over S_l = L_l L_l' + t^2 I, with L_l of `dim` columns.
 * The model's tensor is never formed: <sym(S x S), sym(Q x Q)> = (tr(SQ)^2 + 2 tr(SQSQ)) / 3, every
 * product is one with thin factors, and M acts on symmetric matrices in packed form, with
 * off-diagonals times sqrt 2, as one matrix product for all clusters.
 *
 * Where the noise drowns a direction, least squares would give it any length.  Two terms, weighed
 * by the noise, lean toward flats whose directions and whose sizes are alike; each is the
 * logarithm of an arithmetic mean over a geometric one.  Without noise they vanish.
 */
#include "solver/planes/moment_fit.h"
#include "linalg/linalg.h"
#include "solver/lbfgs.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_STEPS = 400 };
static const double ALIKE_DIRECTIONS = 1000, ALIKE_SIZES = 30;
/* A cluster of normal records about the mean a has 3 sym(S x S) - 2 a^4 for its moments, S its
 * second moments about the origin; with a as a column of the factor this share of a^4 comes off. */
static const double ABOUT_MEAN = 2.0 / 3;

/* What all starts share. */
typedef struct problem {
    size_t d, k, q, packed;
    double *operator;  /* packed x packed: the moments on symmetric matrices, scaled to trace 1 */
    double unit;       /* what they were divided by */
    double lean;       /* twice the variance of the noise, in these units */
    double off;        /* ABOUT_MEAN where the first column of a factor is a mean; else 0 */
    double less, back; /* weights of |C|^2 and tr(C)^2, C the contraction of the residual */
    double *target;    /* the contraction of the moments, scaled; NULL: no such weights */
    double alike;      /* how much the directions of a flat are alike */
} problem;

/* What one start works with. */
typedef struct bench {
    const problem *p;
    double *lifted,
        *images;      /* 2k x packed: S_l, then a_l a_l', and what the operator makes of it */
    double *inner;    /* k x k x q x q: L_l' L_m */
    double *thin;     /* 4 x d x q */
    double *means;    /* 2 x d */
    double *residual; /* d x d: the model's contraction, less the moments' */
    double *small;    /* 3 x q x q */
} bench;

static size_t triangle(size_t d)
{
    return d * (d + 1) / 2;
}

/* ---- small products; all matrices row-major ---------------------------------------------- */

/* c = a' b; a is n x p, b is n x q. */
static void inner_product(const double *a, const double *b, size_t n, size_t p, size_t q, double *c)
{
    memset(c, 0, p * q * sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < p; e++)
            for (size_t f = 0; f < q; f++) c[e * q + f] += a[i * p + e] * b[i * q + f];
}

/* c = a b + factor e; a is n x q, b is q x q, c and e are n x q. */
static void thin_product(const double *a, const double *b, double factor, const double *e, size_t n,
                         size_t q, double *c)
{
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < q; f++) {
            double sum = factor * e[i * q + f];
            for (size_t g = 0; g < q; g++) sum += a[i * q + g] * b[g * q + f];
            c[i * q + f] = sum;
        }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double trace(const double *a, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i * n + i];
    return sum;
}

/* Cholesky in place (lower triangle): the logarithm of the determinant, or -INFINITY. */
static double factorize(double *a, size_t n)
{
    double logarithm = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t e = 0; e < j; e++) sum -= a[i * n + e] * a[j * n + e];
            if (i == j) {
                if (!(sum > 0)) return -INFINITY;
                a[i * n + i] = sqrt(sum);
                logarithm += log(sum);
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
    return logarithm;
}

/* x' := x' (r r')^-1 for one row x. */
static void divide_row(const double *r, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) x[i] -= r[i * n + j] * x[j];
        x[i] /= r[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) x[i] -= r[j * n + i] * x[j];
        x[i] /= r[i * n + i];
    }
}

/* ---- the objective ----------------------------------------------------------------------- */

/* S = L L' + spread I, packed, off-diagonals times sqrt 2. */
static void lift(const double *factor, double spread, size_t d, size_t q, double *packed)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) {
            const double entry = dot(factor + i * q, factor + j * q, q);
            *packed++ = i == j ? entry + spread : sqrt(2) * entry;
        }
}

/* The product of a packed symmetric matrix and an n x q factor, added to out with a weight. */
static void apply_packed(const double *packed, const double *factor, double weight, size_t d,
                         size_t q, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) {
            const double entry = weight * (i == j ? 1 : sqrt(0.5)) * *packed++;
            for (size_t e = 0; e < q; e++) out[i * q + e] += entry * factor[j * q + e];
            if (i != j)
                for (size_t e = 0; e < q; e++) out[j * q + e] += entry * factor[i * q + e];
        }
}

static double packed_trace(const double *packed, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; packed += d - i, i++) sum += *packed;
    return sum;
}

/* What cluster m does to cluster l: adds to out (d x q) a multiple of the gradient of their common
 * term, and gives the term; *pull is how it depends on the spread of l. */
static double interact(const bench *b, const double *factors, double spread, size_t l, size_t m,
                       double *out, double *pull)
{
    const problem *const p = b->p;
    const size_t d = p->d, q = p->q, square = q * q;
    const double *const own = factors + l * d * q, *const other = factors + m * d * q;
    const double *const lm = b->inner + (l * p->k + m) * square, *const ml =
                                                                     b->inner +
                                                                     (m * p->k + l) * square;
    const double *const ll = b->inner + (l * p->k + l) * square, *const mm =
                                                                     b->inner +
                                                                     (m * p->k + m) * square;
    double *const y1 = b->thin, *const y2 = y1 + d * q, *const y3 = y2 + d * q, *const c = b->small;
    const double own_trace = trace(ll, q), other_trace = trace(mm, q), dd = (double)d;
    const double common =
        dot(lm, lm, square) + spread * (own_trace + other_trace) + dd * spread * spread;
    thin_product(other, ml, spread, own, d, q, y1); /* S_m L_l */
    inner_product(own, y1, d, q, q, c);
    thin_product(own, c, spread, y1, d, q, y2); /* S_l S_m L_l */
    inner_product(other, y2, d, q, q, c);
    thin_product(other, c, spread, y2, d, q, y3); /* S_m S_l S_m L_l */
    for (size_t i = 0; i < d * q; i++) out[i] += (common * y1[i] + 2 * y3[i]) / 3;
    /* tr(S_l S_m^2), from the factors */
    thin_product(lm, mm, 2 * spread, lm, q, q, c);
    const double bent = dot(c, lm, square) + spread * spread * own_trace +
                        spread * (dot(mm, mm, square) + 2 * spread * other_trace) +
                        dd * spread * spread * spread;
    *pull += (common * (other_trace + dd * spread) + 2 * bent) / 3;
    return (common * common + 2 * (dot(own, y3, d * q) + spread * bent)) / 3;
}

/* The two leanings; their gradient is added. */
static double lean(const bench *b, const double *factors, double *gradient)
{
    const problem *const p = b->p;
    const size_t d = p->d, k = p->k, q = p->q;
    double total = 0, value = 0;
    for (size_t l = 0; l < k; l++) total += trace(b->inner + (l * k + l) * q * q, q);
    value += ALIKE_SIZES * (double)k * log(total / (double)k);
    for (size_t l = 0; l < k; l++) {
        const double *const own = factors + l * d * q;
        double *const root = b->small, *const row = root + q * q;
        memcpy(root, b->inner + (l * k + l) * q * q, q * q * sizeof *root);
        const double size = trace(root, q), logarithm = factorize(root, q);
        if (isinf(logarithm)) return INFINITY;
        value += p->alike * ((double)q * log(size / (double)q) - logarithm);
        value -= ALIKE_SIZES * log(size);
        const double along =
            ALIKE_DIRECTIONS * (double)q / size + ALIKE_SIZES * ((double)k / total - 1 / size);
        for (size_t i = 0; i < d; i++) {
            memcpy(row, own + i * q, q * sizeof *row);
            divide_row(root, q, row);
            for (size_t e = 0; e < q; e++)
                gradient[l * d * q + i * q + e] +=
                    2 * p->lean * (along * own[i * q + e] - p->alike * row[e]);
        }
    }
    return p->lean * value;
}

/* out += weight * S v, S = L L' + spread I, v and out with strides. */
static void apply_flat(const double *factor, double spread, size_t d, size_t q, const double *v,
                       double weight, double *out)
{
    for (size_t e = 0; e < q; e++) {
        double along = 0;
        for (size_t i = 0; i < d; i++) along += factor[i * q + e] * v[i * q];
        for (size_t i = 0; i < d; i++) out[i * q] += weight * along * factor[i * q + e];
    }
    for (size_t i = 0; i < d; i++) out[i * q] += weight * spread * v[i * q];
}

static double column_product(const double *a, const double *b, size_t d, size_t q)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += a[i * q] * b[i * q];
    return sum;
}

/* What the mean of cluster m, taken off, does beside the flat of cluster l and beside its mean; the
 * gradients go to both. */
static double take_off(const bench *b, const double *factors, double spread, size_t l, size_t m,
                       double *gradient, double *pull)
{
    const problem *const p = b->p;
    const size_t d = p->d, q = p->q, thin = d * q;
    const double *const own = factors + l * thin, *const mean = factors + m * thin;
    double along = 0, length = 0;
    double *const to_flat = gradient + l * thin, *const to_mean = gradient + m * thin;
    for (size_t e = 0; e < q; e++) {
        const double part = column_product(own + e, mean, d, q);
        along += part * part;
    }
    length = column_product(mean, mean, d, q);
    along += spread * length; /* a' S a */
    for (size_t e = 0; e < q; e++) {
        const double part = column_product(own + e, mean, d, q);
        for (size_t i = 0; i < d; i++) to_flat[i * q + e] -= p->off * along * part * mean[i * q];
    }
    apply_flat(own, spread, d, q, mean, -p->off * along, to_mean);
    *pull -= p->off * along * length;
    const double common = column_product(own, mean, d, q), cube = common * common * common;
    for (size_t i = 0; i < d; i++) to_mean[i * q] += p->off * p->off * cube * own[i * q];
    return -2 * p->off * along * along + p->off * p->off * cube * common;
}

static double take_means_off(const bench *b, const double *x, double spread, double *gradient,
                             double *pull)
{
    const problem *const p = b->p;
    const size_t d = p->d, k = p->k, q = p->q;
    double value = 0, *const mean = b->means, *const product = mean + d;
    for (size_t l = 0; l < k; l++) {
        const double *const lifted = b->lifted + (k + l) * p->packed;
        const double *const image = b->images + (k + l) * p->packed;
        value += 2 * p->off * dot(lifted, image, p->packed);
        for (size_t i = 0; i < d; i++) mean[i] = x[(l * d + i) * q];
        memset(product, 0, d * sizeof *product);
        apply_packed(image, mean, p->off, d, 1, product);
        for (size_t i = 0; i < d; i++) gradient[(l * d + i) * q] += product[i];
        for (size_t m = 0; m < k; m++) value += take_off(b, x, spread, l, m, gradient, pull);
    }
    return value;
}

/* C = sum_l (tr(S_l) S_l + 2 S_l^2) / 3 - target, the contraction of model and moments. */
static void contract(const bench *b, const double *x, double spread)
{
    const problem *const p = b->p;
    const size_t d = p->d, k = p->k, q = p->q;
    double *const c = b->residual, *const bent = b->thin;
    for (size_t i = 0; i < d * d; i++) c[i] = -p->target[i];
    for (size_t l = 0; l < k; l++) {
        const double *const own = x + l * d * q, *const ll = b->inner + (l * k + l) * q * q;
        const double size = trace(ll, q) + (double)d * spread;
        /* S^2 = L (L'L + 2 spread) L' + spread^2 I */
        thin_product(own, ll, size / 2 + 2 * spread, own, d, q, bent);
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < d; j++)
                c[i * d + j] += 2.0 / 3 * dot(bent + i * q, own + j * q, q);
            c[i * d + i] += (size * spread + 2 * spread * spread) / 3;
        }
    }
}

/* What the weights of the parts with traces do to one cluster's factor: adds to g (d x q), and
 * gives what its spread feels. */
static double weigh_cluster(const bench *b, const double *own, const double *ll, double spread,
                            double whole, double *g)
{
    const problem *const p = b->p;
    const size_t d = p->d, q = p->q;
    const double n = (double)d, size = trace(ll, q) + n * spread;
    double *const image = b->thin, *const bent = image + d * q, *const flat = bent + d * q;
    memset(image, 0, d * q * sizeof *image);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t e = 0; e < q; e++)
                image[i * q + e] += b->residual[i * d + j] * own[j * q + e];
    const double common = dot(image, own, d * q) + spread * whole; /* <C, S> */
    /* (C S + S C) L = C L (L'L + 2 spread) + L (L' C L), and S L */
    inner_product(own, image, d, q, q, b->small);
    thin_product(image, ll, 2 * spread, image, d, q, flat);
    thin_product(own, b->small, 1, flat, d, q, bent);
    thin_product(own, ll, spread, own, d, q, flat);
    for (size_t i = 0; i < d * q; i++)
        g[i] += (-p->less * (common * own[i] + size * image[i] + 2 * bent[i]) +
                 p->back * whole * (2 * size * own[i] + 4 * flat[i])) /
                6;
    return (-p->less * ((n + 4) * common + size * whole) + p->back * whole * (2 * n + 4) * size) /
           6;
}

/* -less |C|^2 + back tr(C)^2: parts that are less certain count less. */
static double weigh_traces(const bench *b, const double *x, double spread, double *gradient,
                           double *pull)
{
    const problem *const p = b->p;
    const size_t d = p->d, k = p->k, q = p->q;
    contract(b, x, spread);
    const double whole = trace(b->residual, d);
    for (size_t l = 0; l < k; l++)
        *pull += weigh_cluster(b, x + l * d * q, b->inner + (l * k + l) * q * q, spread, whole,
                               gradient + l * d * q);
    return -p->less * dot(b->residual, b->residual, d * d) + p->back * whole * whole;
}

/* L_l' L_m, or its transpose where that is known already. */
static void meet(const bench *b, const double *x, size_t l, size_t m)
{
    const size_t k = b->p->k, q = b->p->q, thin = b->p->d * q;
    double *const lm = b->inner + (l * k + m) * q * q;
    const double *const ml = b->inner + (m * k + l) * q * q;
    if (m >= l) {
        inner_product(x + l * thin, x + m * thin, b->p->d, q, q, lm);
        return;
    }
    for (size_t e = 0; e < q; e++)
        for (size_t f = 0; f < q; f++) lm[e * q + f] = ml[f * q + e];
}

/* |M - model|^2 less |M|^2, and the leanings; x is k factors and then the root of the spread. */
static double objective(void *user, const double *x, double *gradient)
{
    const bench *const b = user;
    const problem *const p = b->p;
    const size_t d = p->d, k = p->k, q = p->q, thin = d * q;
    const double root = x[k * thin], spread = root * root;
    double value = 0, pull = 0, images = 0;
    for (size_t l = 0; l < k; l++) {
        lift(x + l * thin, spread, d, q, b->lifted + l * p->packed);
        for (size_t m = 0; m < k; m++) meet(b, x, l, m);
    }
    for (size_t l = 0; l < k && p->off > 0; l++) {
        for (size_t i = 0; i < d; i++) b->means[i] = x[l * thin + i * q];
        lift(b->means, 0, d, 1, b->lifted + (k + l) * p->packed);
    }
    clo_i_multiply_symmetric(b->lifted, p->off > 0 ? 2 * k : k, p->operator, p->packed, b->images);
    memset(gradient, 0, (k * thin + 1) * sizeof *gradient);
    for (size_t l = 0; l < k; l++) {
        const double *const image = b->images + l * p->packed;
        double *const g = gradient + l * thin;
        for (size_t m = 0; m < k; m++) value += interact(b, x, spread, l, m, g, &pull);
        value -= 2 * dot(b->lifted + l * p->packed, image, p->packed);
        images += packed_trace(image, d);
        apply_packed(image, x + l * thin, -1, d, q, g);
    }
    if (p->off > 0) value += take_means_off(b, x, spread, gradient, &pull);
    if (p->target) value += weigh_traces(b, x, spread, gradient, &pull);
    for (size_t i = 0; i < k * thin; i++) gradient[i] *= 8;
    gradient[k * thin] = 8 * root * (pull - images);
    return value + lean(b, x, gradient);
}

/* ---- the problem and its starts ---------------------------------------------------------- */

/* The packed operator of the tensor, and its scale: no smaller than the noise, so that a tensor of
 * nothing but noise is one, too. */
static void fill_operator(const clo_moment_job *job, problem *p)
{
    const size_t d = p->d, n = p->packed;
    const double *entry = job->moments;
    double *const matrix = p->operator, sum = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, entry++) {
                    const size_t at[3][4] = { { i, j, k, l }, { i, k, j, l }, { i, l, j, k } };
                    for (size_t way = 0; way < 3; way++) {
                        const size_t *const w = at[way];
                        const size_t a = w[0] * d - w[0] * (w[0] + 1) / 2 + w[1];
                        const size_t c = w[2] * d - w[2] * (w[2] + 1) / 2 + w[3];
                        const double weight =
                            (w[0] == w[1] ? 1 : sqrt(2)) * (w[2] == w[3] ? 1 : sqrt(2));
                        matrix[a * n + c] = matrix[c * n + a] = weight * *entry;
                    }
                }
    for (size_t a = 0; a < n; a++) sum += matrix[a * n + a];
    p->unit = fmax(fmax(sum, job->noise), 1e-300);
    for (size_t e = 0; e < n * n; e++) matrix[e] /= p->unit;
    p->lean = 2 * (job->noise / p->unit) * (job->noise / p->unit);
}

static size_t variables(const problem *p)
{
    return p->k * p->d * p->q + 1;
}

/* Doubles that one start needs: its variables, the bench, the descent. */
static size_t start_room(const problem *p)
{
    const size_t thin = p->d * p->q, square = p->q * p->q;
    return variables(p) + 4 * p->k * p->packed + p->k * p->k * square + 4 * thin + 3 * square +
           2 * p->d + p->d * p->d + clo_i_descend_scratch(variables(p));
}

static double descend(const problem *p, double *room)
{
    const size_t thin = p->d * p->q, square = p->q * p->q;
    bench b = { .p = p, .lifted = room + variables(p) };
    b.images = b.lifted + 2 * p->k * p->packed;
    b.inner = b.images + 2 * p->k * p->packed;
    b.thin = b.inner + p->k * p->k * square;
    b.small = b.thin + 4 * thin;
    b.means = b.small + 3 * square;
    b.residual = b.means + 2 * p->d;
    /* Far below the noise there is nothing to be won. */
    const double tolerance = fmax(1e-3 * p->lean, 1e-13);
    return clo_i_descend(objective, &b, variables(p), room,
                         (clo_i_descent){ .most_steps = MOST_STEPS, .tolerance = tolerance },
                         b.residual + p->d * p->d);
}

static clo_status draw_start(const clo_moment_job *job, const problem *p, size_t start, double *x)
{
    clo_stream *stream = NULL;
    /* tr sym(S x S) = (tr(S)^2 + 2 tr(S^2)) / 3 is to be 1/k for each cluster. */
    const double size = 1 / sqrt(sqrt((double)p->k) * (double)(p->d * p->q));
    CLO_TRY(clo_i_stream_open(job->rng, job->ask, start, &stream, NULL));
    for (size_t i = 0; i < variables(p) - 1; i++) x[i] = size * clo_i_random_normal(stream);
    x[variables(p) - 1] = size / 4;
    const clo_status status = clo_i_stream_check(stream, NULL);
    clo_i_stream_close(stream);
    return status;
}

static clo_status prepare(const clo_moment_job *job, problem *p, clo_error *err)
{
    *p = (problem){ .d = job->cols,
                    .k = job->clusters,
                    .q = job->dim,
                    .packed = triangle(job->cols),
                    .off = job->means ? ABOUT_MEAN : 0,
                    .alike = job->means ? ALIKE_SIZES : ALIKE_DIRECTIONS };
    CLO_TRY(clo_i_alloc(p->packed * p->packed, sizeof *p->operator, & p->operator, err));
    fill_operator(job, p);
    if (!job->contraction) return CLO_OK;
    const double d = (double)p->d, second = 1 - job->second * job->second;
    p->less = second * 6 / (d + 4);
    p->back = p->less / d - (1 - job->none * job->none) * 3 / (d * (d + 2));
    const clo_status status = clo_i_alloc(p->d * p->d, sizeof *p->target, &p->target, err);
    if (status)
        clo_i_free(p->operator);
    else
        for (size_t i = 0; i < p->d * p->d; i++) p->target[i] = job->contraction[i] / p->unit;
    return status;
}

static void put(const problem *p, const double *x, double loss, clo_moment_model *out)
{
    const double root = sqrt(sqrt(p->unit)); /* S x S is of the tensor's size */
    const size_t count = variables(p) - 1;
    for (size_t i = 0; i < count; i++) out->factors[i] = root * x[i];
    out->spread = root * root * x[count] * x[count];
    out->loss = loss * p->unit * p->unit;
}

/* The start with the least loss above a bound; SIZE_MAX: there is none. */
static size_t least_above(const double *losses, size_t starts, double bound)
{
    size_t best = SIZE_MAX;
    for (size_t start = 0; start < starts; start++)
        if (losses[start] > bound && (best == SIZE_MAX || losses[start] < losses[best]))
            best = start;
    return best;
}

/* Starts that ended in the same place have losses that differ by less than this, in the noise's
 * own units: the descent stops at a thousandth. */
static const double SAME = 0.02;

static size_t put_several(const problem *p, const double *rooms, const double *losses,
                          size_t starts, size_t most, double within, clo_moment_model *out)
{
    const size_t best = least_above(losses, starts, -INFINITY);
    size_t found = 0;
    /* Where no loss is a number, as of moments that are none, any start is as good. */
    for (size_t start = best == SIZE_MAX ? 0 : best; start != SIZE_MAX && found < most;) {
        if (found && losses[start] > losses[best] + within * p->lean) break;
        put(p, rooms + start * start_room(p), losses[start], &out[found++]);
        start = least_above(losses, starts, losses[start] + SAME * p->lean);
    }
    return found;
}

clo_status clo_i_moment_fit(const clo_moment_job *job, clo_moment_model *out, clo_error *err)
{
    size_t found;
    return clo_i_moment_fit_several(job, 1, 0, out, &found, err);
}

clo_status clo_i_moment_fit_several(const clo_moment_job *job, size_t most, double within,
                                    clo_moment_model *out, size_t *found, clo_error *err)
{
    problem p;
    double *rooms = NULL, *losses = NULL;
    _Atomic int failure = CLO_OK;
    CLO_TRY(prepare(job, &p, err));
    const size_t room = start_room(&p);
    clo_status status = clo_i_alloc(job->starts * room, sizeof *rooms, &rooms, err);
    if (!status) status = clo_i_alloc(job->starts, sizeof *losses, &losses, err);
    if (status) goto done;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (size_t start = 0; start < job->starts; start++) {
        const int before = clo_i_blas_serial_begin();
        const clo_status mine = draw_start(job, &p, start, rooms + start * room);
        if (mine)
            atomic_store(&failure, (int)mine);
        else
            losses[start] = descend(&p, rooms + start * room);
        clo_i_blas_serial_end(before);
    }
    status = (clo_status)atomic_load(&failure);
    if (status) {
        status = clo_i_fail(err, status, "the random starts of the fit could not be drawn");
        goto done;
    }
    *found = put_several(&p, rooms, losses, job->starts, most, within, out);
done:
    clo_i_free(p.operator);
    clo_i_free(p.target);
    clo_i_free(rooms);
    clo_i_free(losses);
    return status;
}

clo_status clo_i_moment_refit(const clo_moment_job *job, clo_moment_model *model, clo_error *err)
{
    problem p;
    double *room = NULL;
    CLO_TRY(prepare(job, &p, err));
    const clo_status status = clo_i_alloc(start_room(&p), sizeof *room, &room, err);
    if (!status) {
        const double root = sqrt(sqrt(p.unit));
        const size_t count = variables(&p) - 1;
        const int before = clo_i_blas_serial_begin();
        for (size_t i = 0; i < count; i++) room[i] = model->factors[i] / root;
        room[count] = sqrt(model->spread) / root;
        put(&p, room, descend(&p, room), model);
        clo_i_blas_serial_end(before);
    }
    clo_i_free(p.operator);
    clo_i_free(p.target);
    clo_i_free(room);
    return status;
}

void clo_i_moment_of_model(const clo_moment_model *model, size_t cols, size_t clusters, size_t dim,
                           bool means, double *moments)
{
    const double off = means ? ABOUT_MEAN : 0;
    memset(moments, 0, triangle(cols) * (cols + 2) / 3 * (cols + 3) / 4 * sizeof *moments);
    for (size_t c = 0; c < clusters; c++) {
        const double *const f = model->factors + c * cols * dim;
        double *at = moments;
#define S(a, b) (dot(f + (a)*dim, f + (b)*dim, dim) + ((a) == (b) ? model->spread : 0))
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++)
                for (size_t k = j; k < cols; k++)
                    for (size_t l = k; l < cols; l++)
                        *at++ += (S(i, j) * S(k, l) + S(i, k) * S(j, l) + S(i, l) * S(j, k)) / 3 -
                                 off * f[i * dim] * f[j * dim] * f[k * dim] * f[l * dim];
#undef S
    }
}
