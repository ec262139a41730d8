/*
 * coordinates.c - the coordinates of a public subspace, and what is known of where they come from.
 */
#include "domain/domain.h"
#include <math.h>
#include <string.h>

/* How far two columns of a frame may be from orthonormal: what a release that was written and read
 * again keeps by far. */
static const double TOLERANCE = 1e-6;

static clo_status check(clo_matrix basis, const double *origin, clo_error *err)
{
    if (!basis.data || basis.cols < 1 || basis.rows < basis.cols || basis.stride < basis.cols ||
        basis.rows > CLO_MOST_COLUMNS)
        return clo_i_fail(err, CLO_DOMAIN, "a frame of %zu rows cannot have %zu columns",
                          basis.rows, basis.cols);
    for (size_t j = 0; origin && j < basis.rows; j++)
        if (!isfinite(origin[j]))
            return clo_i_fail(err, CLO_DOMAIN, "entry %zu of the origin is not finite", j + 1);
    return CLO_OK;
}

static bool is_orthonormal(const double *basis, size_t d, size_t r)
{
    for (size_t a = 0; a < r; a++)
        for (size_t b = a; b < r; b++) {
            double product = a == b ? -1 : 0;
            for (size_t j = 0; j < d; j++) product += basis[j * r + a] * basis[j * r + b];
            if (!(fabs(product) <= TOLERANCE)) return false;
        }
    return true;
}

static clo_status fill(clo_frame *frame, clo_matrix basis, const double *origin, clo_error *err)
{
    const size_t d = basis.rows, r = basis.cols;
    frame->rows = d;
    frame->cols = r;
    CLO_TRY(clo_i_alloc(d * r, sizeof *frame->basis, &frame->basis, err));
    for (size_t j = 0; j < d; j++)
        memcpy(frame->basis + j * r, basis.data + j * basis.stride, r * sizeof *frame->basis);
    if (!origin) return CLO_OK;
    CLO_TRY(clo_i_alloc(d, sizeof *frame->origin, &frame->origin, err));
    memcpy(frame->origin, origin, d * sizeof *origin);
    return CLO_OK;
}

clo_status clo_frame_new(clo_matrix basis, const double *origin, clo_frame **out, clo_error *err)
{
    clo_frame *frame = NULL;
    CLO_TRY(check(basis, origin, err));
    CLO_TRY(clo_i_alloc(1, sizeof *frame, &frame, err));
    clo_status status = fill(frame, basis, origin, err);
    if (!status && !is_orthonormal(frame->basis, basis.rows, basis.cols))
        status = clo_i_fail(err, CLO_DOMAIN, "the columns of the frame are not orthonormal");
    if (status)
        clo_frame_free(frame);
    else
        *out = frame;
    return status;
}

clo_status clo_i_frame_copy(const clo_frame *from, const clo_frame **out, clo_error *err)
{
    const clo_matrix basis = { from->basis, from->rows, from->cols, from->cols };
    clo_frame *copy = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *copy, &copy, err));
    *copy = *from;
    copy->basis = copy->origin = NULL;
    copy->unit = NULL;
    clo_status status = fill(copy, basis, from->origin, err);
    if (!status && from->unit) status = clo_i_copy_text(from->unit, &copy->unit, err);
    if (status)
        clo_frame_free(copy);
    else
        *out = copy;
    return status;
}

void clo_frame_free(clo_frame *frame)
{
    if (!frame) return;
    clo_i_free(frame->basis);
    clo_i_free(frame->origin);
    clo_i_free(frame->unit);
    clo_i_free(frame);
}

size_t clo_frame_rows(const clo_frame *frame)
{
    return frame->rows;
}

size_t clo_frame_cols(const clo_frame *frame)
{
    return frame->cols;
}

const double *clo_frame_basis(const clo_frame *frame)
{
    return frame->basis;
}

const double *clo_frame_origin(const clo_frame *frame)
{
    return frame->origin;
}

const char *clo_frame_digest(const clo_frame *frame)
{
    return frame->digest;
}

clo_guarantee clo_frame_guarantee(const clo_frame *frame)
{
    return frame->guarantee;
}
