/*
 * spectral_eigen.c - the leading eigenvectors of a normalised affinity: by LAPACK where the matrix
 * is small, by ARPACK's Lanczos iteration where it is large.
 *
 * ARPACK keeps its state between calls in variables of its own, so that only one iteration may be
 * under way in a process: it runs inside a critical section.  Its start vector is drawn here, and
 * BLAS runs on one thread, so that the answer does not depend on the number of threads.  The part
 * that is worked on is connected, so its largest eigenvalue is simple: what Lanczos cannot see,
 * several eigenvectors to one eigenvalue, is left to the caller, who knows the parts.
 */
#include "solver/affinity/spectral.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    SMALL = 400,   /* LAPACK is the faster one up to here … */
    MODEST = 3000, /* … and to be endured up to here, where ARPACK gives up */
    SWEEPS = 300,  /* restarts of the Lanczos iteration */
};

/* How hard ARPACK tries: how many vectors it keeps, and how exact a Ritz value is to be.  A graph
 * without clear clusters has its eigenvalues close together; there a rough answer is as good as
 * any, and each attempt goes on from where the last one came to. */
typedef struct attempt {
    size_t per_pair, least;
    double precision;
} attempt;

static const attempt attempts[] = { { 2, 20, 1e-9 }, { 4, 80, 1e-7 }, { 4, 80, 1e-2 } };
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

void dsaupd_(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
             const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
             int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t bmat_length, size_t which_length);
void dseupd_(const int *rvec, const char *howmny, int *select, double *d, double *z, const int *ldz,
             const double *sigma, const char *bmat, const int *n, const char *which, const int *nev,
             const double *tol, double *resid, const int *ncv, double *v, const int *ldv,
             int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl, int *info,
             size_t howmny_length, size_t bmat_length, size_t which_length);

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
        return clo_i_fail(err, CLO_MEMORY, "so large an affinity does not fit in memory");
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
static void multiply(const matrix *m, const double *x, double *y)
{
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
        return clo_i_fail(err, CLO_MEMORY, "so large an affinity does not fit in memory");
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

/* ---- ARPACK -------------------------------------------------------------------------------- */

typedef struct lanczos {
    int n, nev, ncv, lworkl, products;
    double precision;
    double *resid, *v, *workd, *workl, *found; /* found: nev values */
    int *select;
    int iparam[11], ipntr[11];
} lanczos;

static size_t basis_size(const attempt *a, size_t q)
{
    const size_t asked = a->per_pair * q + 1;
    return asked > a->least ? asked : a->least;
}

/* Room for the greatest attempt. */
static clo_status lanczos_new(size_t n, size_t q, lanczos *l, clo_error *err)
{
    const size_t wanted = basis_size(&attempts[ATTEMPTS - 1], q);
    const size_t ncv = wanted < n ? wanted : n, work = ncv * (ncv + 8);
    size_t cells = 0;
    if (!clo_i_multiply(n, ncv, &cells) || n > INT32_MAX || work > INT32_MAX)
        return clo_i_fail(err, CLO_MEMORY, "so large an affinity does not fit in memory");
    l->n = (int)n;
    l->nev = (int)q;
    l->ncv = (int)ncv;
    l->lworkl = (int)work;
    CLO_TRY(clo_i_alloc(n, sizeof(double), &l->resid, err));
    CLO_TRY(clo_i_alloc(cells, sizeof(double), &l->v, err));
    CLO_TRY(clo_i_alloc(3 * n, sizeof(double), &l->workd, err));
    CLO_TRY(clo_i_alloc(work, sizeof(double), &l->workl, err));
    CLO_TRY(clo_i_alloc(ncv, sizeof(double), &l->found, err));
    return clo_i_alloc(ncv, sizeof(int), &l->select, err);
}

static void lanczos_free(lanczos *l)
{
    clo_i_free(l->resid);
    clo_i_free(l->v);
    clo_i_free(l->workd);
    clo_i_free(l->workl);
    clo_i_free(l->found);
    clo_i_free(l->select);
}

/* The iteration: *found where it has all the pairs, in l->found and l->v, smallest first.  How far
 * it has come nobody knows: progress nears its end as the products go on. */
static clo_status iterate(const clo_job *job, const matrix *m, lanczos *l, bool *found,
                          clo_error *err)
{
    enum { NOTICE = 32 };
    const int with_vectors = 1;
    const double unused = 0;
    int ido = 0, info = 1; /* 1: resid is the start vector */
    l->iparam[0] = 1;      /* exact shifts */
    l->iparam[2] = SWEEPS;
    l->iparam[6] = 1; /* an ordinary eigenproblem */
    for (;;) {
        dsaupd_(&ido, "I", &l->n, "LA", &l->nev, &l->precision, l->resid, &l->ncv, l->v, &l->n,
                l->iparam, l->ipntr, l->workd, l->workl, &l->lworkl, &info, 1, 2);
        if (ido != 1 && ido != -1) break;
        multiply(m, l->workd + l->ipntr[0] - 1, l->workd + l->ipntr[1] - 1);
        l->products++;
        if (l->products % NOTICE == 0)
            CLO_TRY(clo_i_job_progress(job, l->products / (l->products + 10.0 * NOTICE), err));
    }
    if (info != 0 || l->iparam[4] < l->nev) return CLO_OK;
    dseupd_(&with_vectors, "A", l->select, l->found, l->v, &l->n, &unused, "I", &l->n, "LA",
            &l->nev, &l->precision, l->resid, &l->ncv, l->v, &l->n, l->iparam, l->ipntr, l->workd,
            l->workl, &l->lworkl, &info, 1, 1, 2);
    *found = info == 0;
    return CLO_OK;
}

/* The first `last` attempts, until one finds them. */
static clo_status by_arpack(const clo_job *job, const matrix *m, size_t q, size_t last,
                            clo_stream *stream, double *values, double *vectors, bool *found,
                            clo_error *err)
{
    lanczos l = { 0 };
    clo_status status = lanczos_new(m->count, q, &l, err);
    if (!status) {
        for (size_t i = 0; i < m->count; i++) l.resid[i] = clo_i_random_unit(stream) - 0.5;
        status = clo_i_stream_check(stream, err);
    }
    for (size_t a = 0; a < last && !status && !*found; a++) {
        const size_t basis = basis_size(&attempts[a], q);
        l.ncv = (int)(basis < m->count ? basis : m->count);
        l.precision = attempts[a].precision;
        const int before = clo_i_blas_serial_begin();
/* ARPACK keeps state of its own.  The section has no name: a name would be a variable of the
 * library, and nothing within waits for another section. */
#pragma omp critical
        status = iterate(job, m, &l, found, err);
        clo_i_blas_serial_end(before);
    }
    for (size_t j = 0; j < q && !status && *found; j++) {
        values[j] = l.found[q - 1 - j];
        for (size_t i = 0; i < m->count; i++) vectors[i * q + j] = l.v[(q - 1 - j) * m->count + i];
    }
    lanczos_free(&l);
    return status;
}

clo_status clo_i_graph_eigen(const clo_job *job, const clo_graph_part *part, size_t q,
                             clo_eigen_method method, clo_stream *stream, double *values,
                             double *vectors, clo_error *err)
{
    matrix m = { 0 };
    const size_t n = part->count;
    bool arpack = method == CLO_EIGEN_ARPACK, found = false;
    if (method == CLO_EIGEN_AUTO) arpack = n > SMALL && q < n / 4;
    /* Where LAPACK can help, a rough answer is not needed. */
    const size_t last = n <= MODEST ? ATTEMPTS - 1 : ATTEMPTS;
    clo_status status = matrix_new(part, job->threads, &m, err);
    if (!status && arpack)
        status = by_arpack(job, &m, q, last, stream, values, vectors, &found, err);
    if (!status && !found && arpack && n > MODEST)
        status = clo_i_fail(err, CLO_INTERNAL, "the affinity's eigenvectors did not converge");
    if (!status && !found) status = by_lapack(&m, q, values, vectors, err);
    matrix_free(&m);
    return status;
}
