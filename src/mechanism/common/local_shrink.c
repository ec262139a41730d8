/*
 * local_shrink.c - what noise hides of a matrix of points.
 *
 * Points over the deviations of their noise are a matrix of signal and of white noise of variance
 * 1. Of its singular values, those up to 1 + sqrt(beta) (times the root of the longer side) may be
 * noise alone, and go; the others are too large by what noise adds, and are taken down to the
 * value of least squared error (Gavish and Donoho, 2017).  Unlike a factor a point, that uses what
 * the points have in common: the few directions in which clusters differ.
 */
#include "mechanism/common/local_internal.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

typedef struct scratch {
    double *whitened, *spent; /* count x cols */
    double *values, *left;    /* shorter, count x shorter */
    double *along;            /* cols x shorter */
} scratch;

static size_t shorter_of(size_t count, size_t cols)
{
    return count < cols ? count : cols;
}

static clo_status take_scratch(clo_workspace *space, size_t count, size_t cols, scratch *s,
                               clo_error *err)
{
    const size_t shorter = shorter_of(count, cols);
    CLO_TRY(clo_i_take(space, count * cols, sizeof(double), &s->whitened, err));
    CLO_TRY(clo_i_take(space, count * cols, sizeof(double), &s->spent, err));
    CLO_TRY(clo_i_take(space, shorter, sizeof(double), &s->values, err));
    CLO_TRY(clo_i_take(space, count * shorter, sizeof(double), &s->left, err));
    return clo_i_take(space, cols * shorter, sizeof(double), &s->along, err);
}

clo_status clo_i_local_shrink_room(clo_workspace *space, size_t count, size_t cols, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    scratch unused;
    CLO_TRY(take_scratch(space, count, cols, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* What a singular value of signal and noise is multiplied by. */
static double kept_of(double value, size_t longer, size_t shorter)
{
    const double beta = (double)shorter / (double)longer, z = value / sqrt((double)longer);
    const double inner = z * z - beta - 1;
    if (!(z > 1 + sqrt(beta))) return 0;
    return sqrt(fmax(inner * inner - 4 * beta, 0)) / (z * z);
}

static double deviation_of(double variance)
{
    return sqrt(fmax(variance, 1e-30));
}

/* whitened = left diag(kept) left' whitened */
static void keep(const scratch *s, size_t count, size_t cols)
{
    const size_t shorter = shorter_of(count, cols), longer = count + cols - shorter;
    const int before = clo_i_blas_serial_begin();
    memset(s->along, 0, cols * shorter * sizeof(double));
    clo_i_cross_add(s->whitened, cols, s->left, shorter, count, s->along);
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < shorter; i++)
            s->along[j * shorter + i] *= kept_of(s->values[i], longer, shorter);
    clo_i_multiply_transposed(s->left, count, s->along, cols, shorter, s->whitened);
    clo_i_blas_serial_end(before);
}

clo_status clo_i_local_shrink(clo_workspace *space, size_t room, double *points, size_t count,
                              size_t cols, const double *variances, const double *about,
                              clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    scratch s;
    CLO_TRY(take_scratch(space, room, cols, &s, err));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < cols; j++)
            s.whitened[i * cols + j] =
                (points[i * cols + j] - about[j]) / deviation_of(variances[i]);
    memcpy(s.spent, s.whitened, count * cols * sizeof(double));
    clo_status status = clo_i_thin_svd(s.spent, count, cols, s.values, s.left, err);
    if (status == CLO_INTERNAL) { /* no decomposition: the points stay as they are */
        status = CLO_OK;
    } else if (!status) {
        keep(&s, count, cols);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < cols; j++)
                points[i * cols + j] =
                    about[j] + s.whitened[i * cols + j] * deviation_of(variances[i]);
    }
    clo_i_workspace_release(space, mark);
    return status;
}
