/*
 * spectral_eigen.c - the leading eigenvectors of a normalised affinity: by LAPACK where the matrix
 * is small, by a Lanczos iteration where it is large.
 *
 * BLAS runs on one thread, so that the answer does not depend on the number of threads.  The part
 * that is worked on is connected, so its largest eigenvalue is simple: several eigenvectors to that
 * one are left to the caller, who knows the parts.
 */
#include "linalg/linalg.h"
#include "solver/affinity/lanczos.h"
#include "solver/affinity/spectral.h"
#include <cblas.h>
#include <string.h>

enum {
    SMALL = 400,   /* LAPACK is the faster one up to here … */
    MODEST = 3000, /* … and to be endured up to here, where the iteration gives up */
};

/* How hard the iteration tries: how many vectors it keeps, and how exact a Ritz value is to be.  A
 * graph without clear clusters has its eigenvalues close together; there a rough answer is as good
 * as any, and each attempt goes on from where the last one came to. */
typedef struct attempt {
    size_t per_pair, least;
    double precision;
} attempt;

static const attempt attempts[] = { { 2, 20, 1e-9 }, { 4, 80, 1e-7 }, { 4, 80, 1e-2 } };
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

/* ---- the matrix ---------------------------------------------------------------------------- */

/* A part of the affinity, renumbered: either dense (borrowed where the part is everything) or in
 * compressed rows, without the diagonal. */
typedef struct matrix {
    size_t count;
    const double *dense; /* with its diagonal */
    double *owned;       /* dense, where it is a copy */
    size_t *starts;
    uint32_t *columns;
    double *weights;
    double *scale; /* count */
    double *input; /* count: the scaled argument of a product */
    int threads;
} matrix;

static void matrix_free(matrix *m)
{
    clo_i_free(m->owned);
    clo_i_free(m->starts);
    clo_i_free(m->columns);
    clo_i_free(m->weights);
    clo_i_free(m->scale);
    clo_i_free(m->input);
}

static clo_status take_dense(const clo_graph_part *part, matrix *m, clo_error *err)
{
    const size_t n = part->affinity->count;
    size_t cells = 0;
    if (part->count == n) {
        m->dense = part->affinity->dense;
        return CLO_OK;
    }
    if (!clo_i_multiply(part->count, part->count, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so large an affinity");
    CLO_TRY(clo_i_alloc(cells, sizeof *m->owned, &m->owned, err));
    for (size_t i = 0; i < part->count; i++) {
        const double *const row = part->affinity->dense + part->points[i] * n;
        for (size_t j = 0; j < part->count; j++)
            m->owned[i * part->count + j] = row[part->points[j]];
    }
    m->dense = m->owned;
    return CLO_OK;
}

/* A connected part has all the entries of its rows. */
static clo_status take_sparse(const clo_graph_part *part, matrix *m, clo_error *err)
{
    const clo_affinity *const a = part->affinity;
    uint32_t *number = NULL; /* of each point within the part */
    size_t entries = 0;
    for (size_t i = 0; i < part->count; i++)
        entries += a->starts[part->points[i] + 1] - a->starts[part->points[i]];
    clo_status status = clo_i_alloc(a->count, sizeof *number, &number, err);
    if (!status) status = clo_i_alloc(part->count + 1, sizeof *m->starts, &m->starts, err);
    if (!status) status = clo_i_alloc(entries, sizeof *m->columns, &m->columns, err);
    if (!status) status = clo_i_alloc(entries, sizeof *m->weights, &m->weights, err);
    if (!status) {
        size_t made = 0;
        for (size_t i = 0; i < part->count; i++) number[part->points[i]] = (uint32_t)i;
        for (size_t i = 0; i < part->count; i++) {
            const uint32_t point = part->points[i];
            for (size_t at = a->starts[point]; at < a->starts[point + 1]; at++) {
                if (a->columns[at] == point || !(a->weights[at] > 0)) continue;
                m->columns[made] = number[a->columns[at]];
                m->weights[made++] = a->weights[at];
            }
            m->starts[i + 1] = made;
        }
    }
    clo_i_free(number);
    return status;
}

static clo_status matrix_new(const clo_graph_part *part, int threads, matrix *m, clo_error *err)
{
    m->count = part->count;
    m->threads = threads;
    CLO_TRY(part->affinity->dense ? take_dense(part, m, err) : take_sparse(part, m, err));
    CLO_TRY(clo_i_alloc(part->count, sizeof *m->scale, &m->scale, err));
    CLO_TRY(clo_i_alloc(part->count, sizeof *m->input, &m->input, err));
    for (size_t i = 0; i < part->count; i++) m->scale[i] = part->scale[part->points[i]];
    return CLO_OK;
}

/* y = M x. */
static void multiply(const void *made, const double *x, double *y)
{
    const matrix *const m = made;
    const size_t n = m->count;
    for (size_t i = 0; i < n; i++) m->input[i] = m->scale[i] * x[i];
    if (m->dense) {
        cblas_dsymv(CblasRowMajor, CblasUpper, (int)n, 1.0, m->dense, (int)n, m->input, 1, 0.0, y,
                    1);
        for (size_t i = 0; i < n; i++)
            y[i] = m->scale[i] * (y[i] - m->dense[i * n + i] * m->input[i]);
        return;
    }
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t at = m->starts[i]; at < m->starts[i + 1]; at++)
            sum += m->weights[at] * m->input[m->columns[at]];
        y[i] = m->scale[i] * sum;
    }
}

/* ---- LAPACK -------------------------------------------------------------------------------- */

static void write_out(const matrix *m, double *full)
{
    const size_t n = m->count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; m->dense && j < n; j++)
            full[i * n + j] = i == j ? 0 : m->scale[i] * m->dense[i * n + j] * m->scale[j];
        for (size_t at = m->dense ? 0 : m->starts[i]; !m->dense && at < m->starts[i + 1]; at++)
            full[i * n + m->columns[at]] = m->scale[i] * m->weights[at] * m->scale[m->columns[at]];
    }
}

static clo_status by_lapack(const matrix *m, size_t q, double *values, double *vectors,
                            clo_error *err)
{
    const size_t n = m->count;
    double *full = NULL, *scratch = NULL;
    size_t cells = 0;
    if (!clo_i_multiply(n, n, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so large an affinity");
    clo_status status = clo_i_alloc(cells, sizeof *full, &full, err);
    if (!status) status = clo_i_alloc(clo_i_eigen_scratch(n, q), sizeof *scratch, &scratch, err);
    if (!status) {
        write_out(m, full);
        status = clo_i_eigen_top(full, n, q, values, vectors, scratch, err);
    }
    clo_i_free(full);
    clo_i_free(scratch);
    return status;
}

/* ---- Lanczos ------------------------------------------------------------------------------- */

static size_t basis_size(const attempt *a, size_t q, size_t n)
{
    const size_t asked = a->per_pair * q + 1, wanted = asked > a->least ? asked : a->least;
    return wanted < n ? wanted : n;
}

/* The first `last` attempts, until one finds them. */
static clo_status by_lanczos(const clo_solver_input *job, const matrix *m, size_t q, size_t last,
                             clo_stream *stream, double *values, double *vectors, bool *found,
                             clo_error *err)
{
    const size_t n = m->count;
    clo_lanczos l = { .count = n,
                      .wanted = q,
                      .room = basis_size(&attempts[ATTEMPTS - 1], q, n),
                      .multiply = multiply,
                      .matrix = m,
                      .stream = stream,
                      .job = job };
    const int before = clo_i_blas_serial_begin();
    clo_status status = clo_i_lanczos_new(&l, err);
    for (size_t a = 0; a < last && !status && !*found; a++)
        status = clo_i_lanczos_run(&l, basis_size(&attempts[a], q, n), attempts[a].precision, found,
                                   err);
    clo_i_blas_serial_end(before);
    for (size_t j = 0; j < q && !status && *found; j++) {
        values[j] = l.values[j];
        for (size_t i = 0; i < n; i++) vectors[i * q + j] = l.basis[j * n + i];
    }
    clo_i_lanczos_free(&l);
    return status;
}

clo_status clo_i_graph_eigen(const clo_solver_input *job, const clo_graph_part *part, size_t q,
                             clo_eigen_method method, clo_stream *stream, double *values,
                             double *vectors, clo_error *err)
{
    matrix m = { 0 };
    const size_t n = part->count;
    bool lanczos = method == CLO_EIGEN_LANCZOS, found = false;
    if (method == CLO_EIGEN_AUTO) lanczos = n > SMALL && q < n / 4;
    /* Where LAPACK can help, a rough answer is not needed. */
    const size_t last = n <= MODEST ? ATTEMPTS - 1 : ATTEMPTS;
    clo_status status = matrix_new(part, job->threads, &m, err);
    if (!status && lanczos)
        status = by_lanczos(job, &m, q, last, stream, values, vectors, &found, err);
    if (!status && !found && lanczos && n > MODEST)
        status = clo_i_fail(err, CLO_INTERNAL, "the affinity's eigenvectors did not converge");
    if (!status && !found) status = by_lapack(&m, q, values, vectors, err);
    matrix_free(&m);
    return status;
}
