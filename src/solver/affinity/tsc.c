/*
 * tsc.c - thresholding-based subspace clustering (Heckel and Boelcskei): each row is joined with
 * those that it makes the smallest angles with, spectral clustering finds the groups, and each
 * group gets its principal subspace.
 *
 * Products are computed a block of rows at a time, and of each row's only the largest are kept, so
 * that memory grows with rows times neighbours.  Rows that are 0 have no direction: they get
 * no neighbours, and spectral clustering puts them where they do least harm.
 */
#include "solver/solver.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { CLUSTERS, DIM, FLATS, NEIGHBOURS, RESTARTS, PARAM_COUNT };
enum {
    BUCKETS = 1024,
    BLOCK_CELLS = 1 << 20, /* of the products that one thread holds, roughly */
    LEAST_NEIGHBOURS = 3,
};

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    [DIM] = CLO_SOLVER_ROW_DIM,
    [FLATS] = CLO_SOLVER_ROW_FLATS,
    [NEIGHBOURS] = { "neighbors", CLO_PARAM_INT, 0, 1e6, 0, NULL,
                     "how many rows each row is joined with; 0: chosen from the number of rows" },
    [RESTARTS] = CLO_SOLVER_ROW_RESTARTS(10),
};

/* As many as keep a cluster connected, which is a matter of the logarithm, and no more: where two
 * subspaces meet, every further neighbour is more likely to be of the other one. */
static size_t automatic(size_t count, size_t clusters)
{
    const size_t asked = (size_t)ceil(log((double)count)),
                 half = count / (2 * (clusters ? clusters : 2));
    const size_t some = asked < half ? asked : half;
    return some > LEAST_NEIGHBOURS ? some : LEAST_NEIGHBOURS;
}

/* The rows that are not 0, and what is kept of their products. */
typedef struct directions {
    size_t count, cols, kept; /* kept: neighbours of each */
    double *units;            /* count x cols, of length 1 */
    uint32_t *rows;           /* count: which rows they are */
    uint32_t *columns;        /* count x kept */
    double *weights;
} directions;

static void directions_free(directions *x)
{
    clo_i_free(x->units);
    clo_i_free(x->rows);
    clo_i_free(x->columns);
    clo_i_free(x->weights);
}

/* The length of a row; its squares may neither overflow nor vanish. */
static double length_of(const double *row, size_t cols)
{
    double largest = 0, square = 0;
    for (size_t j = 0; j < cols; j++) largest = fmax(largest, fabs(row[j]));
    if (!(largest > 0)) return 0;
    for (size_t j = 0; j < cols; j++) square += row[j] / largest * (row[j] / largest);
    return largest * sqrt(square);
}

static clo_status directions_new(const clo_solver_input *job, size_t neighbours, directions *x,
                                 clo_error *err)
{
    const size_t d = job->cols;
    size_t cells = 0;
    x->cols = d;
    if (!clo_i_multiply(job->count, d, &cells) || job->count >= UINT32_MAX || d > INT32_MAX)
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many rows");
    CLO_TRY(clo_i_alloc(cells, sizeof *x->units, &x->units, err));
    CLO_TRY(clo_i_alloc(job->count, sizeof *x->rows, &x->rows, err));
    for (size_t i = 0; i < job->count; i++) {
        const double length = length_of(job->rows + i * d, d);
        if (!(length > 0)) continue;
        for (size_t j = 0; j < d; j++) x->units[x->count * d + j] = job->rows[i * d + j] / length;
        x->rows[x->count++] = (uint32_t)i;
    }
    const size_t others = x->count > 0 ? x->count - 1 : 0;
    x->kept = neighbours < others ? neighbours : others;
    if (!clo_i_multiply(x->count, x->kept, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many neighbors");
    CLO_TRY(clo_i_alloc(cells, sizeof *x->columns, &x->columns, err));
    return clo_i_alloc(cells, sizeof *x->weights, &x->weights, err);
}

/* ---- the nearest --------------------------------------------------------------------------- */

static size_t bucket_of(double product)
{
    const double at = product * BUCKETS;
    return at < BUCKETS - 1 ? (size_t)at : BUCKETS - 1;
}

/* The value at place `place` in falling order (Hoare's FIND); reorders the values. */
static double select_largest(double *values, size_t count, size_t place)
{
    size_t low = 0, high = count; /* the place is in low … high - 1 */
    while (high - low > 1) {
        const double pivot = values[place];
        size_t i = low, j = high; /* j is one behind */
        do {
            while (values[i] > pivot) i++;
            while (values[j - 1] < pivot) j--;
            if (i + 1 > j) break;
            const double swapped = values[i];
            values[i++] = values[j - 1];
            values[--j] = swapped;
        } while (i < j);
        if (j <= place) low = i;
        if (i > place) high = j;
        if (j <= place && i > place) break; /* between the two all equal the pivot */
    }
    return values[place];
}

/* The kept-th largest product: a count of coarse buckets says in which of them it is, so that only
 * a few are put in order.  above: how many are larger.  members: scratch, count doubles. */
static double threshold(const double *products, size_t count, size_t kept, double *members,
                        size_t *above)
{
    uint32_t sizes[BUCKETS] = { 0 };
    size_t bucket = BUCKETS - 1, found = 0, wanted = kept;
    for (size_t j = 0; j < count; j++) sizes[bucket_of(products[j])]++;
    while (sizes[bucket] < wanted) wanted -= sizes[bucket--];
    for (size_t j = 0; j < count; j++)
        if (bucket_of(products[j]) == bucket) members[found++] = products[j];
    const double least = select_largest(members, found, wanted - 1);
    *above = kept - wanted;
    for (size_t j = 0; j < found; j++) *above += members[j] > least;
    return least;
}

/* Keeps the largest products of one row; of equals those with the lower index. */
static void keep_largest(directions *x, size_t row, double *products, double *members)
{
    size_t above = 0, made = row * x->kept;
    for (size_t j = 0; j < x->count; j++) products[j] = fabs(products[j]);
    products[row] = 0; /* not with itself; what ties with it is at a right angle */
    const double least = threshold(products, x->count, x->kept, members, &above);
    size_t ties = x->kept - above;
    for (size_t j = 0; j < x->count; j++) {
        const bool tie = products[j] == least && ties > 0 && j != row;
        if (!(products[j] > least) && !tie) continue;
        ties -= tie;
        x->columns[made] = (uint32_t)j;
        x->weights[made++] = exp(-2 * acos(fmin(products[j], 1)));
    }
}

/* What one thread needs. */
typedef struct desk {
    double *products; /* rows of a block x count */
    double *members;  /* count */
} desk;

static void block_neighbours(directions *x, size_t first, size_t rows, const desk *at)
{
    const int d = (int)x->cols;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)x->count, d, 1.0,
                x->units + first * x->cols, d, x->units, d, 0.0, at->products, (int)x->count);
    for (size_t i = 0; i < rows; i++)
        keep_largest(x, first + i, at->products + i * x->count, at->members);
}

/* The neighbours of all; the threads share the blocks, and no block depends on another. */
static clo_status find_neighbours(const clo_solver_input *job, directions *x, clo_error *err)
{
    size_t block = BLOCK_CELLS / x->count;
    block = block < 8 ? 8 : block > 256 ? 256 : block;
    const size_t blocks = (x->count + block - 1) / block;
    size_t finished = 0;
    desk *desks = NULL;
    clo_status status = clo_i_alloc((size_t)job->threads, sizeof *desks, &desks, err);
    for (int t = 0; t < job->threads && !status; t++) {
        status = clo_i_alloc(block * x->count, sizeof(double), &desks[t].products, err);
        if (!status) status = clo_i_alloc(x->count, sizeof(double), &desks[t].members, err);
    }
    if (!status) {
#pragma omp parallel num_threads(job->threads)
        {
            const int before = clo_i_blas_serial_begin();
#pragma omp for schedule(dynamic, 1)
            for (size_t b = 0; b < blocks; b++) {
                bool stop;
#pragma omp critical
                {
                    const double done = (double)finished++ / (double)blocks;
                    if (!status) status = clo_i_job_progress(job, done, err);
                    stop = status != CLO_OK;
                }
                const size_t first = b * block, left = x->count - first;
                if (!stop)
                    block_neighbours(x, first, left < block ? left : block,
                                     &desks[omp_get_thread_num()]);
            }
            clo_i_blas_serial_end(before);
        }
    }
    for (int t = 0; desks && t < job->threads; t++) {
        clo_i_free(desks[t].products);
        clo_i_free(desks[t].members);
    }
    clo_i_free(desks);
    return status;
}

/* ---- the affinity -------------------------------------------------------------------------- */

/* By the numbers of the rows themselves, those that are 0 among them. */
static clo_status as_affinity(const directions *x, size_t count, clo_affinity *out, clo_error *err)
{
    size_t *starts = NULL, at = 0;
    CLO_TRY(clo_i_alloc(count + 1, sizeof *starts, &starts, err));
    for (size_t i = 0; i < count; i++) {
        const bool has = at < x->count && x->rows[at] == i;
        starts[i + 1] = starts[i] + (has ? x->kept : 0);
        at += has;
    }
    for (size_t j = 0; j < x->count * x->kept; j++) x->columns[j] = x->rows[x->columns[j]];
    const clo_status status =
        clo_i_affinity_symmetric(starts, x->columns, x->weights, count, out, err);
    clo_i_free(starts);
    return status;
}

static clo_status make_affinity(const clo_solver_input *job, size_t neighbours, clo_affinity *out,
                                clo_error *err)
{
    directions x = { 0 };
    clo_status status = directions_new(job, neighbours, &x, err);
    if (!status && x.kept > 0) status = find_neighbours(job, &x, err);
    if (!status) status = as_affinity(&x, job->count, out, err);
    directions_free(&x);
    return status;
}

clo_status clo_i_tsc_affinity(const clo_solver_input *job, size_t clusters, clo_affinity *out,
                              clo_error *err)
{
    return make_affinity(job, automatic(job->count, clusters), out, err);
}

/* ---- the solver ---------------------------------------------------------------------------- */

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_flat_shape shape = { .clusters = (size_t)values[CLUSTERS],
                                   .dim = (size_t)values[DIM],
                                   .affine = values[FLATS] > 0 };
    size_t neighbours = (size_t)values[NEIGHBOURS];
    clo_affinity affinity = { 0 };
    clo_solver_input part = clo_i_job_part(job, 0, 0.5);
    if (job->count < shape.clusters)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "there are %zu rows, fewer than the %zu clusters to find", job->count,
                          shape.clusters);
    if (neighbours == 0) neighbours = automatic(job->count, shape.clusters);
    CLO_TRY(make_affinity(&part, neighbours, &affinity, err));
    part = clo_i_job_part(job, 0.5, 1);
    const clo_status status =
        clo_i_partition_from_affinity(&part, &affinity, &shape, (size_t)values[RESTARTS], out, err);
    clo_i_affinity_free(&affinity);
    return status;
}

const clo_solver clo_i_solver_tsc = {
    .name = "tsc",
    .summary = "thresholding: joins each row with the rows at the smallest angles to it",
    .params = params,
    .param_count = PARAM_COUNT,
    .solve = solve,
};
