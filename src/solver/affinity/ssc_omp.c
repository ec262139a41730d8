/*
 * ssc_omp.c - sparse subspace clustering by orthogonal matching pursuit (You, Robinson and Vidal
 * 2016).
 *
 * Each point takes, one after the other, the point that what is left of it points to most, and is
 * fitted anew to all it has taken.  The points of a block do so in step: what is left of all of
 * them meets the data in one matrix product.  The fit grows with its Cholesky factor, a row for
 * each point taken.  Nothing is as large as the square of the points.
 *
 * Where a subspace has many points, the nearest one expresses a point but for noise, and whatever
 * is taken next fits the noise: who is near whom then falls apart into pairs.  So many points are
 * dealt out to groups, and each point is expressed in every group, by itself (after the dropout of
 * Chen, Li and You 2020, but each point is used once).  In a group the nearest point is far
 * enough to leave more than noise, and the codes of all groups together connect a subspace.
 */
#include "linalg/linalg.h"
#include "solver/affinity/self_expression.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

/* In the order of the rows below. */
enum { CLUSTERS, DIM, FLATS, SPARSITY, TOLERANCE, RESTARTS, GROUPS, PARAM_COUNT };
/* USUAL: as in the paper, and beyond it more rows fit noise; PER_DIM: the rows of a group that each
 * subspace should have for each row that expresses one */
enum { MOST_SPARSITY = 1024, USUAL = 5, PER_DIM = 10 };

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "sparsity", CLO_PARAM_INT, 0, MOST_SPARSITY, 0, NULL,
      "the most rows of a group that express a row; 0: the dimension of the subspaces, at most 5" },
    { "tolerance", CLO_PARAM_REAL, 0, 1, 1e-6, NULL,
      "stop when the rest of a row is this share of it" },
    CLO_SOLVER_ROW_RESTARTS(10),
    { "groups", CLO_PARAM_INT, 0, 1e6, 0, NULL,
      "how many groups of rows express each row; 0: chosen from the numbers of rows and clusters" },
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

/* A point that depends on those taken by less than this, squared, brings nothing new. */
static const double INDEPENDENT = 1e-12;

typedef struct pursuit {
    const double *rows; /* count x cols, of length 1 or 0 */
    size_t count, cols;
    clo_omp_options options; /* sparsity below count, groups at least 1 */
    double *atoms;           /* the rows by groups; the rows themselves where there is one */
    uint32_t *numbers;       /* count: which row an atom is */
    uint32_t *places;        /* count: which atom a row is */
    size_t *starts;          /* groups + 1 */
    size_t largest;          /* of the groups */
} pursuit;

/* One group. */
typedef struct group {
    const double *atoms;
    size_t first, count;
} group;

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
    double *numbers;        /* rows x sparsity x (sparsity + 2) */
    chosen *chosen;         /* rows */
    uint32_t *code_columns; /* rows x groups x sparsity: the codes of the groups so far */
    double *code_values;
    size_t *lengths; /* rows */
} scratch;

static void scratch_free(scratch *s)
{
    clo_i_free(s->rests);
    clo_i_free(s->products);
    clo_i_free(s->columns);
    clo_i_free(s->numbers);
    clo_i_free(s->chosen);
    clo_i_free(s->code_columns);
    clo_i_free(s->code_values);
    clo_i_free(s->lengths);
}

static clo_status scratch_open(const pursuit *p, const clo_code_block *block, scratch *s,
                               clo_error *err)
{
    const size_t rows = block->rows, most = p->options.sparsity, each = most * (most + 2);
    *s = (scratch){ .rests = NULL };
    CLO_TRY(clo_i_alloc(rows * p->cols, sizeof *s->rests, &s->rests, err));
    CLO_TRY(clo_i_alloc(rows * p->largest, sizeof *s->products, &s->products, err));
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
    const size_t longest = rows * p->options.groups * most;
    CLO_TRY(clo_i_alloc(longest, sizeof *s->code_columns, &s->code_columns, err));
    CLO_TRY(clo_i_alloc(longest, sizeof *s->code_values, &s->code_values, err));
    return clo_i_alloc(rows, sizeof *s->lengths, &s->lengths, err);
}

static double dot(const pursuit *p, const double *a, const double *b)
{
    return cblas_ddot((int)p->cols, a, 1, b, 1);
}

/* The atom that the rest points to most; count: none. */
static size_t nearest(const pursuit *p, const group *g, size_t point, const chosen *c,
                      double *products)
{
    const size_t own = p->places[point];
    size_t best = g->count;
    double most = 1e-12; /* below, it is rounding */
    if (own >= g->first && own < g->first + g->count) products[own - g->first] = 0;
    for (size_t j = 0; j < c->count; j++) products[c->columns[j]] = 0;
    for (size_t j = 0; j < g->count; j++)
        if (fabs(products[j]) > most) most = fabs(products[j]), best = j;
    return best;
}

/* Takes an atom in: one more row of the factor.  False: it depends on the others. */
static bool take(const pursuit *p, const group *g, size_t point, size_t which, chosen *c)
{
    const size_t k = c->count, most = p->options.sparsity, d = p->cols;
    const double *const atom = g->atoms + which * d;
    double *const row = c->factor + k * most, rest = dot(p, atom, atom);
    for (size_t j = 0; j < k; j++) row[j] = dot(p, atom, g->atoms + c->columns[j] * d);
    if (k > 0)
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)k, c->factor,
                    (int)most, row, 1);
    for (size_t j = 0; j < k; j++) rest -= row[j] * row[j];
    if (!(rest > INDEPENDENT)) return false;
    row[k] = sqrt(rest);
    c->columns[k] = (uint32_t)which;
    c->sides[k] = dot(p, atom, p->rows + point * d);
    c->count++;
    return true;
}

/* The best fit to those taken, and what it leaves; its length. */
static double fit(const pursuit *p, const group *g, size_t point, chosen *c, double *rest)
{
    const int k = (int)c->count, most = (int)p->options.sparsity, cols = (int)p->cols;
    memcpy(c->values, c->sides, c->count * sizeof *c->values);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, k, c->factor, most,
                c->values, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, k, c->factor, most, c->values,
                1);
    memcpy(rest, p->rows + point * p->cols, p->cols * sizeof *rest);
    for (size_t j = 0; j < c->count; j++)
        cblas_daxpy(cols, -c->values[j], g->atoms + c->columns[j] * p->cols, 1, rest, 1);
    return cblas_dnrm2(cols, rest, 1);
}

static void advance(const pursuit *p, const group *g, size_t point, chosen *c, double *rest,
                    double *products)
{
    if (c->done) return;
    const size_t which = nearest(p, g, point, c, products);
    c->done = which == g->count || !take(p, g, point, which, c) ||
              fit(p, g, point, c, rest) <= p->options.tolerance || c->count == p->options.sparsity;
}

/* Adds what one group says; of several, each counts the same. */
static void keep(const pursuit *p, const group *g, const chosen *c, size_t i, scratch *s)
{
    const size_t room = p->options.groups * p->options.sparsity;
    double largest = 0;
    for (size_t j = 0; j < c->count; j++) largest = fmax(largest, fabs(c->values[j]));
    const double scale = p->options.groups > 1 && largest > 0 ? 1 / largest : 1;
    for (size_t j = 0; j < c->count; j++) {
        const size_t at = i * room + s->lengths[i]++;
        s->code_columns[at] = p->numbers[g->first + c->columns[j]];
        s->code_values[at] = scale * c->values[j];
    }
}

/* In the order of the columns. */
static clo_status hand_over(uint32_t *columns, double *values, size_t count, size_t row,
                            clo_code_block *block, clo_error *err)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t column = columns[i];
        const double value = values[i];
        size_t at = i;
        for (; at > 0 && columns[at - 1] > column; at--) {
            columns[at] = columns[at - 1];
            values[at] = values[at - 1];
        }
        columns[at] = column;
        values[at] = value;
    }
    return clo_i_code_add(block, row, columns, values, count, err);
}

static void pursue(const pursuit *p, const group *g, const clo_code_block *block, scratch *s)
{
    memcpy(s->rests, p->rows + block->first * p->cols, block->rows * p->cols * sizeof *s->rests);
    for (size_t i = 0; i < block->rows; i++) s->chosen[i].count = 0, s->chosen[i].done = false;
    for (size_t n = 0; n < p->options.sparsity; n++) {
        clo_i_multiply_transposed(s->rests, block->rows, g->atoms, g->count, p->cols, s->products);
        for (size_t i = 0; i < block->rows; i++)
            advance(p, g, block->first + i, &s->chosen[i], s->rests + i * p->cols,
                    s->products + i * g->count);
    }
    for (size_t i = 0; i < block->rows; i++) keep(p, g, &s->chosen[i], i, s);
}

static clo_status encode(const void *context, clo_code_block *block, clo_error *err)
{
    const pursuit *const p = context;
    const size_t room = p->options.groups * p->options.sparsity;
    scratch s;
    clo_status status = scratch_open(p, block, &s, err);
    for (size_t g = 0; g < p->options.groups && !status; g++) {
        const size_t first = p->starts[g], count = p->starts[g + 1] - first;
        const group at = { .atoms = p->atoms + first * p->cols, .first = first, .count = count };
        if (count > 0) pursue(p, &at, block, &s);
        status = clo_i_code_pause(block, err);
    }
    for (size_t i = 0; !status && i < block->rows; i++)
        status = hand_over(s.code_columns + i * room, s.code_values + i * room, s.lengths[i], i,
                           block, err);
    scratch_free(&s);
    return status;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Which group a row is in: its number, well mixed, so that an order of the rows makes no groups. */
static size_t group_of(size_t row, size_t groups)
{
    const uint64_t mixed = ((uint64_t)row + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)((mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> 32) % groups;
}

/* Deals the rows out: by counting, so that within a group they keep their order. */
static clo_status deal(pursuit *p, clo_error *err)
{
    const size_t n = p->count, d = p->cols, groups = p->options.groups;
    CLO_TRY(clo_i_alloc(groups + 1, sizeof *p->starts, &p->starts, err));
    CLO_TRY(clo_i_alloc(n, sizeof *p->numbers, &p->numbers, err));
    CLO_TRY(clo_i_alloc(n, sizeof *p->places, &p->places, err));
    CLO_TRY(clo_i_alloc(n, d * sizeof *p->atoms, &p->atoms, err));
    for (size_t i = 0; i < n; i++) p->starts[group_of(i, groups) + 1]++;
    for (size_t g = 0; g < groups; g++) {
        p->largest = p->starts[g + 1] > p->largest ? p->starts[g + 1] : p->largest;
        p->starts[g + 1] += p->starts[g];
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = p->starts[group_of(i, groups)]++;
        p->numbers[at] = (uint32_t)i;
        p->places[i] = (uint32_t)at;
        memcpy(p->atoms + at * d, p->rows + i * d, d * sizeof *p->atoms);
    }
    memmove(p->starts + 1, p->starts, groups * sizeof *p->starts);
    p->starts[0] = 0;
    return CLO_OK;
}

clo_omp_options clo_i_ssc_omp_default(void)
{
    return (clo_omp_options){ .sparsity = USUAL, .tolerance = params[TOLERANCE].preset };
}

clo_omp_options clo_i_ssc_omp_for(const clo_solver_input *job, size_t clusters, size_t dim)
{
    clo_omp_options options = clo_i_ssc_omp_default();
    if (dim > 0 && dim < USUAL) options.sparsity = dim;
    const size_t most = clusters ? clusters : CLO_SPECTRAL_MOST;
    options.groups = job->count / most / options.sparsity / PER_DIM;
    return options;
}

clo_status clo_i_ssc_omp_codes(const clo_solver_input *job, const clo_omp_options *options,
                               clo_codes *out, clo_error *err)
{
    double *rows = NULL;
    CLO_TRY(clo_i_unit_rows(job, &rows, err));
    pursuit p = { .rows = rows, .count = job->count, .cols = job->cols, .options = *options };
    if (p.options.groups < 1) p.options.groups = 1;
    if (p.options.groups > p.count) p.options.groups = p.count;
    if (p.options.sparsity >= p.count) p.options.sparsity = p.count > 1 ? p.count - 1 : 1;
    clo_status status = job->count > UINT32_MAX ? CLO_OK : deal(&p, err);
    if (!status) status = clo_i_encode(job, clo_i_points_at_once(p.largest), encode, &p, out, err);
    clo_i_free(p.starts);
    clo_i_free(p.numbers);
    clo_i_free(p.places);
    clo_i_free(p.atoms);
    clo_i_free(rows);
    return status;
}

clo_status clo_i_ssc_omp_affinity(const clo_solver_input *job, size_t clusters, size_t dim,
                                  clo_affinity *out, clo_error *err)
{
    const clo_omp_options options = clo_i_ssc_omp_for(job, clusters, dim);
    clo_codes codes = { .count = 0 };
    CLO_TRY(clo_i_ssc_omp_codes(job, &options, &codes, err));
    return clo_i_affinity_from_codes(&codes, out, err);
}

/* The widest that is looked for; 0 where that is open.  An affine flat has one dimension more. */
static size_t widest(const clo_solver_input *job, const double *values)
{
    size_t dim = (size_t)values[DIM];
    for (size_t l = 0; job->dims && l < (size_t)values[CLUSTERS]; l++)
        dim = job->dims[l] > dim ? job->dims[l] : dim;
    return dim && values[FLATS] > 0 ? dim + 1 : dim;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    clo_omp_options options = clo_i_ssc_omp_for(job, (size_t)values[CLUSTERS], widest(job, values));
    if (values[SPARSITY] > 0) options.sparsity = (size_t)values[SPARSITY];
    if (values[GROUPS] > 0) options.groups = (size_t)values[GROUPS];
    options.tolerance = values[TOLERANCE];
    const clo_self_ending ending =
        clo_i_self_ending(values[CLUSTERS], values[DIM], values[FLATS], values[RESTARTS]);
    const clo_solver_input first = clo_i_job_part(job, 0, 0.8);
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
