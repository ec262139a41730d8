/*
 * flats_rows.c - the best flat for some rows: the span of the top eigenvectors of their second
 * moment, about their mean where the flat need not go through the origin.
 *
 * Where there are fewer rows than columns the eigenvectors come from the products of the rows with
 * each other, which is the smaller matrix; the memory is then that of the cluster, never the square
 * of the number of columns.
 */
#include "solver/planes/flats.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- rows by cluster ----------------------------------------------------------------------- */

clo_status clo_i_members_new(const uint32_t *labels, size_t count, size_t clusters,
                             clo_members *out, clo_error *err)
{
    clo_members made = { .clusters = clusters };
    if (count > UINT32_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "at most %u rows can be clustered", UINT32_MAX);
    clo_status status = clo_i_alloc(count, sizeof *made.rows, &made.rows, err);
    if (!status) status = clo_i_alloc(clusters + 1, sizeof *made.starts, &made.starts, err);
    if (status) {
        clo_i_members_free(&made);
        return status;
    }
    clo_i_members_sort(&made, labels, count);
    *out = made;
    return CLO_OK;
}

void clo_i_members_sort(clo_members *members, const uint32_t *labels, size_t count)
{
    size_t *const starts = members->starts;
    memset(starts, 0, (members->clusters + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[labels[i] + 1]++;
    for (size_t l = 0; l < members->clusters; l++) starts[l + 1] += starts[l];
    for (size_t i = 0; i < count; i++) members->rows[starts[labels[i]]++] = (uint32_t)i;
    memmove(starts + 1, starts, members->clusters * sizeof *starts);
    starts[0] = 0;
}

void clo_i_members_free(clo_members *members)
{
    clo_i_free(members->rows);
    clo_i_free(members->starts);
    memset(members, 0, sizeof *members);
}

void clo_i_gather(const clo_solver_input *job, const uint32_t *rows, size_t first, size_t count,
                  const double *offset, double *out)
{
    const size_t d = job->cols;
    for (size_t i = 0; i < count; i++) {
        const double *const row = job->rows + (rows ? rows[first + i] : first + i) * d;
        memcpy(out + i * d, row, d * sizeof *out);
        for (size_t c = 0; c < d && offset; c++) out[i * d + c] -= offset[c];
    }
}

void clo_i_furthest(const double *squared, size_t count, size_t wanted, uint32_t *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && wanted > 0; i++) {
        if (kept == wanted && !(squared[i] > squared[rows[kept - 1]])) continue;
        size_t at = kept < wanted ? kept++ : kept - 1;
        for (; at > 0 && squared[i] > squared[rows[at - 1]]; at--) rows[at] = rows[at - 1];
        rows[at] = (uint32_t)i;
    }
}

/* ---- one flat ------------------------------------------------------------------------------ */

clo_status clo_i_flats_new(size_t clusters, size_t cols, bool affine, clo_flat **out,
                           clo_error *err)
{
    clo_flat *made = NULL;
    CLO_TRY(clo_i_alloc(clusters, sizeof *made, &made, err));
    for (size_t l = 0; l < clusters && affine; l++) {
        const clo_status status = clo_i_alloc(cols, sizeof(double), &made[l].offset, err);
        if (status) {
            clo_i_flats_free(made, clusters);
            return status;
        }
    }
    *out = made;
    return CLO_OK;
}

void clo_i_flats_free(clo_flat *flats, size_t clusters)
{
    for (size_t l = 0; flats && l < clusters; l++) {
        clo_i_free(flats[l].directions);
        clo_i_free(flats[l].offset);
    }
    clo_i_free(flats);
}

/* Of a cluster: all its eigenvalues are at hand.  Fewer rows than columns span no more dimensions
 * than there are rows, about their mean one less: the drop to zero there says nothing. */
static clo_dim_choice choose_dim(const double *values, size_t count, size_t rows, size_t cols,
                                 bool affine)
{
    const size_t most = rows > 1 && affine ? rows - 1 : rows;
    clo_eigenvalues of = {
        .values = values, .count = smaller(count, most), .rows = rows, .cols = cols
    };
    for (size_t j = 0; j < count; j++) of.total += fmax(values[j], 0);
    return clo_i_choose_dim(&of);
}

/* What the eigenvectors are made with; size is the smaller of rows and columns. */
typedef struct fit_space {
    size_t size, height; /* height: how many rows the block holds */
    double *block;       /* height x cols */
    double *moment;      /* size x size */
    double *values;      /* size */
    double *vectors;     /* size x size */
    double *eigen;
} fit_space;

static void space_free(fit_space *space)
{
    clo_i_free(space->block);
    clo_i_free(space->moment);
    clo_i_free(space->values);
    clo_i_free(space->vectors);
    clo_i_free(space->eigen);
}

static clo_status space_new(size_t count, size_t cols, size_t dim, fit_space *out, clo_error *err)
{
    fit_space made = { .size = smaller(count, cols) };
    const size_t wanted = dim ? smaller(dim, made.size) : made.size;
    size_t square = 0, cells = 0;
    made.height = count < cols ? count : smaller(count, CLO_FLAT_BLOCK);
    if (!clo_i_multiply(made.size, made.size, &square) ||
        !clo_i_multiply(made.height, cols, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many columns");
    clo_status status = clo_i_alloc(cells, sizeof(double), &made.block, err);
    if (!status) status = clo_i_alloc(square, sizeof(double), &made.moment, err);
    if (!status) status = clo_i_alloc(made.size, sizeof(double), &made.values, err);
    if (!status) status = clo_i_alloc(made.size * wanted, sizeof(double), &made.vectors, err);
    if (!status)
        status =
            clo_i_alloc(clo_i_eigen_scratch(made.size, wanted), sizeof(double), &made.eigen, err);
    if (status)
        space_free(&made);
    else
        *out = made;
    return status;
}

static void mean_of(const clo_solver_input *job, const uint32_t *rows, size_t count, double *mean)
{
    const size_t d = job->cols;
    memset(mean, 0, d * sizeof *mean);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < d; c++) mean[c] += job->rows[rows[i] * d + c];
    for (size_t c = 0; c < d; c++) mean[c] /= (double)count;
}

/* The second moment of the rows, or, of fewer rows than columns, their products. */
static void moment_of(const clo_solver_input *job, const uint32_t *rows, size_t count,
                      const double *mean, fit_space *space)
{
    if (count < job->cols) {
        clo_i_gather(job, rows, 0, count, mean, space->block);
        clo_i_multiply_transposed(space->block, count, space->block, count, job->cols,
                                  space->moment);
        return;
    }
    for (size_t first = 0; first < count; first += space->height) {
        const size_t height = smaller(space->height, count - first);
        clo_i_gather(job, rows, first, height, mean, space->block);
        clo_i_gram_add(space->block, height, job->cols, space->moment);
    }
}

/* basis (cols x dim) from the products' vectors: X'v, whose length is the root of v's eigenvalue.
 * One that is lost in rounding is left out, for the completion to fill. */
static void lift_vectors(const fit_space *space, size_t cols, size_t found, size_t dim,
                         double *basis)
{
    for (size_t j = 0; j < smaller(found, dim); j++) {
        if (!(space->values[j] > 1e-14 * space->values[0])) continue;
        const double scale = 1 / sqrt(space->values[j]);
        for (size_t i = 0; i < space->height; i++) {
            const double weight = space->vectors[i * found + j] * scale;
            for (size_t c = 0; c < cols; c++)
                basis[c * dim + j] += weight * space->block[i * cols + c];
        }
    }
}

/* The basis by columns, then orthonormal to the last bit, then by rows into the flat. */
static clo_status finish_flat(const clo_solver_input *job, size_t count, size_t found, size_t dim,
                              const fit_space *space, clo_flat *flat, clo_error *err)
{
    const size_t d = job->cols;
    double *basis = NULL, *directions = NULL;
    clo_status status = clo_i_alloc(d * dim, sizeof *basis, &basis, err);
    if (!status) status = clo_i_alloc(d * dim, sizeof *directions, &directions, err);
    if (status) goto done;
    if (count < d)
        lift_vectors(space, d, found, dim, basis);
    else
        for (size_t c = 0; c < d; c++)
            memcpy(basis + c * dim, space->vectors + c * found, dim * sizeof *basis);
    status = clo_i_orthonormalize(basis, d, dim, err);
    if (status) goto done;
    for (size_t j = 0; j < dim; j++)
        for (size_t c = 0; c < d; c++) directions[j * d + c] = basis[c * dim + j];
    clo_i_free(flat->directions);
    flat->directions = directions;
    flat->dim = dim;
    directions = NULL;
done:
    clo_i_free(basis);
    clo_i_free(directions);
    return status;
}

clo_status clo_i_fit_rows(const clo_solver_input *job, const uint32_t *rows, size_t count,
                          size_t dim, clo_flat *flat, clo_error *err)
{
    fit_space space = { 0 };
    CLO_TRY(space_new(count, job->cols, dim, &space, err));
    const size_t found = dim ? smaller(dim, space.size) : space.size;
    if (flat->offset) mean_of(job, rows, count, flat->offset);
    const int threads = clo_i_blas_serial_begin();
    moment_of(job, rows, count, flat->offset, &space);
    clo_status status = clo_i_eigen_top(space.moment, space.size, found, space.values,
                                        space.vectors, space.eigen, err);
    clo_dim_choice choice = { .dim = dim, .plain = true };
    if (!status && dim == 0)
        choice = choose_dim(space.values, found, count, job->cols, flat->offset);
    if (!status) status = finish_flat(job, count, found, choice.dim, &space, flat, err);
    flat->plain = choice.plain;
    clo_i_blas_serial_end(threads);
    space_free(&space);
    return status;
}
