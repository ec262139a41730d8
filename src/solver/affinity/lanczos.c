/*
 * lanczos.c - Lanczos iteration with thick restarts (Wu and Simon, SIAM J. Matrix Anal. Appl. 22,
 * 2000).
 *
 * The basis V grows by the product with its last vector, less what lies in V already.  When it is
 * full, the best combinations of its vectors (Ritz vectors: eigenvectors of the small matrix V'AV)
 * are kept, and it grows again from there.  Each new vector is made orthogonal to all, a second
 * time where the first has cancelled much, so V'AV is taken as it is computed: no formula says
 * which of its entries are nought.
 *
 * Two things the products alone do not show.  A start vector within an invariant subspace never
 * leaves it: where nothing is left of a product, a drawn direction goes on.  And of an eigenvalue
 * that comes several times, or of several that lie closer than can be told, one combination is seen
 * as one vector.  Graphs whose clusters hardly touch are such, and are the ones to be cut well.  So
 * what was found is not believed at once: a drawn direction, orthogonal to it, grows for some
 * steps, and the iteration ends if nothing larger than the least of what was found comes up.
 */
#include "solver/affinity/lanczos.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    RESTARTS = 300,
    PASSES = 4,   /* of making orthogonal: two are enough for what is not rounding */
    DOUBTING = 5, /* steps from the drawn direction */
    ROWS = 256,   /* of the basis, turned at once */
    DEAR = 12,    /* rows a cell of V'AV, from which on a look costs little beside the steps */
    STRIDE = 4,   /* steps between two looks, there; elsewhere the full basis alone is looked at */
    NOTICE = 32,  /* products between two signs of progress */
    KEPT_SHARE = 40, /* percent of what is beyond the wanted ones, kept at a restart */
};

static const double ROUNDING = 1e-14; /* of the matrix's scale: what is below is nothing */

/* ---- room ----------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void clo_i_lanczos_free(clo_lanczos *l)
{
    clo_i_free(l->values);
    clo_i_free(l->basis);
    clo_i_free(l->shadow);
    clo_i_free(l->copy);
    clo_i_free(l->rotation);
    clo_i_free(l->along);
    clo_i_free(l->space);
}

/* One pass is not enough: what is left of a vector may be small, and rounding a large part of it.
 * Adds to `along`, where it is wanted, what was taken.  The norm of the rest; 0: it is rounding. */
static double make_orthogonal(clo_lanczos *l, size_t have, double *w, double *along, double least)
{
    const int n = (int)l->count, width = (int)have;
    double norm = cblas_dnrm2(n, w, 1);
    for (int pass = 0; pass < PASSES && norm > least; pass++) {
        const double before = norm;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, width, n, 1.0, l->basis, n, w, 1, 0.0, l->along,
                    1);
        cblas_dgemv(CblasRowMajor, CblasTrans, width, n, -1.0, l->basis, n, l->along, 1, 1.0, w, 1);
        for (size_t i = 0; along && i < have; i++) along[i] += l->along[i];
        norm = cblas_dnrm2(n, w, 1);
        if (norm > least && norm > M_SQRT1_2 * before) return norm;
    }
    return 0;
}

/* A drawn direction becomes the vector after the first `have`. */
static clo_status draw(clo_lanczos *l, size_t have, clo_error *err)
{
    double *const w = l->basis + have * l->count;
    double norm = 0;
    for (int tries = 0; tries < 3 && !(norm > 0); tries++) {
        for (size_t i = 0; i < l->count; i++) w[i] = clo_i_random_unit(l->stream) - 0.5;
        CLO_TRY(clo_i_stream_check(l->stream, err));
        norm =
            have ? make_orthogonal(l, have, w, NULL, ROUNDING) : cblas_dnrm2((int)l->count, w, 1);
    }
    if (!(norm > 0)) return clo_i_fail(err, CLO_INTERNAL, "no direction is left to be drawn");
    cblas_dscal((int)l->count, 1 / norm, w, 1);
    return CLO_OK;
}

clo_status clo_i_lanczos_new(clo_lanczos *l, clo_error *err)
{
    const size_t n = l->count, room = l->room;
    size_t cells = 0, small = 0;
    if (!clo_i_multiply(n, room + 1, &cells) || !clo_i_multiply(room, room, &small) ||
        n > INT32_MAX)
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so large a matrix");
    const size_t eigen = clo_i_eigen_scratch(room, room), turn = ROWS * room;
    CLO_TRY(clo_i_alloc(room, sizeof(double), &l->values, err));
    CLO_TRY(clo_i_alloc(cells, sizeof(double), &l->basis, err));
    CLO_TRY(clo_i_alloc(small, sizeof(double), &l->shadow, err));
    CLO_TRY(clo_i_alloc(small, sizeof(double), &l->copy, err));
    CLO_TRY(clo_i_alloc(small, sizeof(double), &l->rotation, err));
    CLO_TRY(clo_i_alloc(room, sizeof(double), &l->along, err));
    CLO_TRY(clo_i_alloc(eigen > turn ? eigen : turn, sizeof(double), &l->space, err));
    return draw(l, 0, err);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* The basis grows to `size` vectors, and the one that comes next is in its place.  How far the
 * whole has come nobody knows: progress nears its end as the products go on. */
static clo_status grow(clo_lanczos *l, size_t size, clo_error *err)
{
    const size_t n = l->count;
    for (size_t j = l->have; j < size; j++) {
        double *const w = l->basis + (j + 1) * n, *const along = l->shadow + j * l->room;
        l->multiply(l->matrix, l->basis + j * n, w);
        if (++l->products % NOTICE == 0)
            CLO_TRY(clo_i_job_progress(l->job, l->products / (l->products + 10.0 * NOTICE), err));
        l->scale = fmax(l->scale, cblas_dnrm2((int)n, w, 1));
        memset(along, 0, l->room * sizeof *along);
        l->residual = make_orthogonal(l, j + 1, w, along, ROUNDING * l->scale);
        for (size_t i = 0; i < j; i++) l->shadow[i * l->room + j] = along[i];
        if (l->residual > 0)
            cblas_dscal((int)n, 1 / l->residual, w, 1);
        else if (j + 1 < n)
            CLO_TRY(draw(l, j + 1, err));
        l->have = j + 1;
    }
    return CLO_OK;
}

/* The `keep` largest values of V'AV, and their vectors as the columns of the rotation. */
static clo_status look(clo_lanczos *l, size_t keep, clo_error *err)
{
    for (size_t i = 0; i < l->have; i++)
        memcpy(l->copy + i * l->have, l->shadow + i * l->room, l->have * sizeof *l->copy);
    return clo_i_eigen_top(l->copy, l->have, keep, l->values, l->rotation, l->space, err);
}

/* Whether the wanted pairs are exact enough: A v - value v is the residual's direction, times the
 * last entry of the pair's column. */
static bool all_exact(const clo_lanczos *l, size_t keep, double precision)
{
    const double *const last = l->rotation + (l->have - 1) * keep;
    const double tiny = pow(DBL_EPSILON, 2.0 / 3) * l->scale;
    for (size_t j = 0; j < l->wanted; j++)
        if (l->residual * fabs(last[j]) > precision * fmax(fabs(l->values[j]), tiny)) return false;
    return true;
}

/* The first `keep` of the `columns` Ritz vectors become the basis; the next one follows them. */
static void turn(clo_lanczos *l, size_t columns, size_t keep)
{
    const size_t n = l->count;
    for (size_t row = 0; row < n; row += ROWS) {
        const size_t rows = smaller(ROWS, n - row);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)keep, (int)rows, (int)l->have,
                    1.0, l->rotation, (int)columns, l->basis + row, (int)n, 0.0, l->space,
                    (int)rows);
        for (size_t j = 0; j < keep; j++)
            memcpy(l->basis + j * n + row, l->space + j * rows, rows * sizeof *l->space);
    }
    memmove(l->basis + keep * n, l->basis + l->have * n, n * sizeof *l->basis);
    memset(l->shadow, 0, l->room * l->room * sizeof *l->shadow);
    for (size_t j = 0; j < keep; j++) l->shadow[j * l->room + j] = l->values[j];
    l->have = keep;
}

/* Grows, and looks what there is: `columns` Ritz vectors, all exact or not. */
static clo_status grow_and_look(clo_lanczos *l, size_t size, double precision, size_t *columns,
                                bool *exact, clo_error *err)
{
    CLO_TRY(grow(l, size, err));
    *columns = l->wanted + (size - l->wanted) * KEPT_SHARE / 100;
    CLO_TRY(look(l, *columns, err));
    *exact = size == l->count || all_exact(l, *columns, precision);
    return CLO_OK;
}

clo_status clo_i_lanczos_run(clo_lanczos *l, size_t size, double precision, bool *found,
                             clo_error *err)
{
    const size_t q = l->wanted;
    bool doubted = false;
    double least = 0; /* of what was found */
    *found = false;
    for (int restart = 0; restart <= RESTARTS && !*found; restart++) {
        const size_t full = doubted ? smaller(size, q + DOUBTING) : size;
        const size_t stride = !doubted && l->count / DEAR > size * size ? STRIDE : full;
        size_t columns = 0;
        bool exact = false;
        while (!exact && l->have < full) {
            const size_t from = l->have > q ? l->have : q;
            CLO_TRY(
                grow_and_look(l, smaller(full, from + stride), precision, &columns, &exact, err));
        }
        const double step = precision * fmax(fabs(l->values[q - 1]), ROUNDING * l->scale);
        const bool settled = doubted && l->values[q - 1] <= least + step;
        *found = exact && (l->have == l->count || settled);
        doubted = exact;
        least = l->values[q - 1];
        turn(l, columns, exact ? q : columns);
        if (exact && !*found) CLO_TRY(draw(l, q, err));
    }
    return CLO_OK;
}
