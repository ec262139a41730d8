/*
 * ssc_omp.c - sparse subspace clustering by orthogonal matching pursuit (You, Robinson and Vidal
 * 2016).
 *
 * Each point takes, one after the other, the point that what is left of it points to most, and is
 * fitted anew to all it has taken.  The points of a block do so in step: what is left of all of
 * them meets the data in one matrix product.  The fit grows with its Cholesky factor, a row for
 * each point taken.  Nothing is as large as the square of the points.
 */
#include "linalg/linalg.h"
#include "solver/affinity/self_expression.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

/* In the order of the rows below. */
enum { CLUSTERS, DIM, FLATS, SPARSITY, TOLERANCE, RESTARTS, PARAM_COUNT };
enum { MOST_SPARSITY = 1024 };

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "sparsity", CLO_PARAM_INT, 1, MOST_SPARSITY, 5, NULL,
      "the most rows that express a row; about the dimension of the subspaces" },
    { "tolerance", CLO_PARAM_REAL, 0, 1, 1e-6, NULL,
      "a row whose rest is this share of it needs no more" },
    CLO_SOLVER_ROW_RESTARTS(10),
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

/* A point that depends on those taken by less than this, squared, brings nothing new. */
static const double INDEPENDENT = 1e-12;

typedef struct pursuit {
    const double *rows; /* count x cols, of length 1 or 0 */
    size_t count, cols;
    clo_omp_options options; /* sparsity below count */
} pursuit;

typedef struct chosen {
    size_t count;
    bool done;
    uint32_t *columns;      /* sparsity */
    double *factor;         /* sparsity x sparsity, lower */
    double *sides, *values; /* sparsity */
} chosen;

typedef struct scratch {
    double *rests;    /* rows x cols */
    double *products; /* rows x count */
    uint32_t *columns;
    double *numbers; /* rows x sparsity x (sparsity + 2) */
    chosen *chosen;  /* rows */
} scratch;

static void scratch_free(scratch *s)
{
    clo_i_free(s->rests);
    clo_i_free(s->products);
    clo_i_free(s->columns);
    clo_i_free(s->numbers);
    clo_i_free(s->chosen);
}

static clo_status scratch_open(const pursuit *p, const clo_code_block *block, scratch *s,
                               clo_error *err)
{
    const size_t rows = block->rows, most = p->options.sparsity, each = most * (most + 2);
    *s = (scratch){ .rests = NULL };
    CLO_TRY(clo_i_alloc(rows * p->cols, sizeof *s->rests, &s->rests, err));
    CLO_TRY(clo_i_alloc(rows * p->count, sizeof *s->products, &s->products, err));
    CLO_TRY(clo_i_alloc(rows * most, sizeof *s->columns, &s->columns, err));
    CLO_TRY(clo_i_alloc(rows * each, sizeof *s->numbers, &s->numbers, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *s->chosen, &s->chosen, err));
    for (size_t i = 0; i < rows; i++) {
        double *const numbers = s->numbers + i * each;
        s->chosen[i] = (chosen){ .columns = s->columns + i * most,
                                 .factor = numbers,
                                 .sides = numbers + most * most,
                                 .values = numbers + most * (most + 1) };
    }
    memcpy(s->rests, p->rows + block->first * p->cols, rows * p->cols * sizeof *s->rests);
    return CLO_OK;
}

static double dot(const pursuit *p, size_t i, size_t j)
{
    return cblas_ddot((int)p->cols, p->rows + i * p->cols, 1, p->rows + j * p->cols, 1);
}

/* The point that the rest points to most; count: none. */
static size_t nearest(const pursuit *p, size_t point, const chosen *c, double *products)
{
    size_t best = p->count;
    double most = 1e-12; /* below, it is rounding */
    products[point] = 0;
    for (size_t j = 0; j < c->count; j++) products[c->columns[j]] = 0;
    for (size_t j = 0; j < p->count; j++)
        if (fabs(products[j]) > most) most = fabs(products[j]), best = j;
    return best;
}

/* Takes a point in: one more row of the factor.  False: it depends on the others. */
static bool take(const pursuit *p, size_t point, size_t which, chosen *c)
{
    const size_t k = c->count, most = p->options.sparsity;
    double *const row = c->factor + k * most, rest = dot(p, which, which);
    for (size_t j = 0; j < k; j++) row[j] = dot(p, which, c->columns[j]);
    if (k > 0)
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)k, c->factor,
                    (int)most, row, 1);
    for (size_t j = 0; j < k; j++) rest -= row[j] * row[j];
    if (!(rest > INDEPENDENT)) return false;
    row[k] = sqrt(rest);
    c->columns[k] = (uint32_t)which;
    c->sides[k] = dot(p, which, point);
    c->count++;
    return true;
}

/* The best fit to those taken, and what it leaves; its length. */
static double fit(const pursuit *p, size_t point, chosen *c, double *rest)
{
    const int k = (int)c->count, most = (int)p->options.sparsity, cols = (int)p->cols;
    memcpy(c->values, c->sides, c->count * sizeof *c->values);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, k, c->factor, most,
                c->values, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, k, c->factor, most, c->values,
                1);
    memcpy(rest, p->rows + point * p->cols, p->cols * sizeof *rest);
    for (size_t j = 0; j < c->count; j++)
        cblas_daxpy(cols, -c->values[j], p->rows + c->columns[j] * p->cols, 1, rest, 1);
    return cblas_dnrm2(cols, rest, 1);
}

static void advance(const pursuit *p, size_t point, chosen *c, double *rest, double *products)
{
    if (c->done) return;
    const size_t which = nearest(p, point, c, products);
    c->done = which == p->count || !take(p, point, which, c) ||
              fit(p, point, c, rest) <= p->options.tolerance || c->count == p->options.sparsity;
}

/* In the order of the columns. */
static clo_status hand_over(chosen *c, size_t row, clo_code_block *block, clo_error *err)
{
    for (size_t i = 1; i < c->count; i++) {
        const uint32_t column = c->columns[i];
        const double value = c->values[i];
        size_t at = i;
        for (; at > 0 && c->columns[at - 1] > column; at--) {
            c->columns[at] = c->columns[at - 1];
            c->values[at] = c->values[at - 1];
        }
        c->columns[at] = column;
        c->values[at] = value;
    }
    return clo_i_code_add(block, row, c->columns, c->values, c->count, err);
}

static clo_status encode(const void *context, clo_code_block *block, clo_error *err)
{
    const pursuit *const p = context;
    scratch s;
    clo_status status = scratch_open(p, block, &s, err);
    for (size_t n = 0; !status && n < p->options.sparsity; n++) {
        clo_i_multiply_transposed(s.rests, block->rows, p->rows, p->count, p->cols, s.products);
        for (size_t i = 0; i < block->rows; i++)
            advance(p, block->first + i, &s.chosen[i], s.rests + i * p->cols,
                    s.products + i * p->count);
    }
    for (size_t i = 0; !status && i < block->rows; i++)
        status = hand_over(&s.chosen[i], i, block, err);
    scratch_free(&s);
    return status;
}

clo_omp_options clo_i_ssc_omp_default(void)
{
    return (clo_omp_options){ .sparsity = (size_t)params[SPARSITY].preset,
                              .tolerance = params[TOLERANCE].preset };
}

clo_status clo_i_ssc_omp_codes(const clo_job *job, const clo_omp_options *options, clo_codes *out,
                               clo_error *err)
{
    double *rows = NULL;
    CLO_TRY(clo_i_unit_rows(job, &rows, err));
    pursuit p = { .rows = rows, .count = job->count, .cols = job->cols, .options = *options };
    if (p.options.sparsity >= p.count) p.options.sparsity = p.count > 1 ? p.count - 1 : 1;
    const clo_status status =
        clo_i_encode(job, clo_i_points_at_once(p.count), encode, &p, out, err);
    clo_i_free(rows);
    return status;
}

clo_status clo_i_ssc_omp_affinity(const clo_job *job, size_t sparsity, clo_affinity *out,
                                  clo_error *err)
{
    clo_omp_options options = clo_i_ssc_omp_default();
    clo_codes codes = { .count = 0 };
    options.sparsity = sparsity;
    CLO_TRY(clo_i_ssc_omp_codes(job, &options, &codes, err));
    return clo_i_affinity_from_codes(&codes, out, err);
}

static clo_status solve(const clo_job *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_omp_options options = { .sparsity = (size_t)values[SPARSITY],
                                      .tolerance = values[TOLERANCE] };
    const clo_self_ending ending =
        clo_i_self_ending(values[CLUSTERS], values[DIM], values[FLATS], values[RESTARTS]);
    const clo_job first = clo_i_job_part(job, 0, 0.8);
    clo_codes codes = { .count = 0 };
    CLO_TRY(clo_i_ssc_omp_codes(&first, &options, &codes, err));
    return clo_i_partition_from_codes(job, &codes, &ending, out, err);
}

const clo_solver clo_i_solver_ssc_omp = {
    .name = "ssc-omp",
    .summary = "sparse subspace clustering by orthogonal matching pursuit, for many rows",
    .params = params,
    .param_count = PARAM_COUNT,
    .unequal = true,
    .solve = solve,
};
