/* frame.c - which directions to look at: the top eigenvectors of one noisy Gram matrix, which are
 * post-processing of its one ask (gaussian_gram.T1). */
#include "mechanism/common/frame.h"
#include "linalg/linalg.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"

typedef struct scratch {
    double *gram;   /* d x d */
    double *values; /* rank */
    double *eigen;
} scratch;

static clo_status take_scratch(clo_workspace *space, size_t d, size_t rank, scratch *out,
                               clo_error *err)
{
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &out->gram, err));
    CLO_TRY(clo_i_take(space, rank, sizeof(double), &out->values, err));
    return clo_i_take(space, clo_i_eigen_scratch(d, rank), sizeof(double), &out->eigen, err);
}

clo_status clo_i_find_frame_room(clo_workspace *space, size_t d, size_t rank, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    scratch unused;
    CLO_TRY(take_scratch(space, d, rank, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_find_frame(clo_context *context, size_t line, const clo_bounded *data, size_t d,
                            size_t rank, double *frame, clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    const size_t mark = clo_i_workspace_mark(context->workspace);
    scratch s = { 0 };
    clo_status status = take_scratch(context->workspace, d, rank, &s, err);
    if (!status) status = clo_i_ask_gaussian_gram(context, line, data, &all, s.gram, err);
    if (!status) status = clo_i_eigen_top(s.gram, d, rank, s.values, frame, s.eigen, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
