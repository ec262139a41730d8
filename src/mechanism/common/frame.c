/* frame.c - which directions to look at: the top eigenvectors of one noisy Gram matrix, which are
 * post-processing of its one ask (gaussian_gram.T1). */
#include "mechanism/common/frame.h"
#include "linalg/linalg.h"
#include "query/assign.h"
#include "query/gaussian_gram.h"

size_t clo_i_frame_scratch(size_t d, size_t rank)
{
    return clo_i_take_size(d * d, sizeof(double)) + clo_i_take_size(rank, sizeof(double)) +
           clo_i_take_size(clo_i_eigen_scratch(d, rank), sizeof(double));
}

clo_status clo_i_find_spectrum(clo_context *context, size_t line, const clo_bounded *data, size_t d,
                               size_t rank, double *frame, double *values, clo_error *err)
{
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    double *gram = NULL, *scratch = NULL;
    clo_status status = clo_i_take(space, d * d, sizeof *gram, &gram, err);
    if (!status) status = clo_i_ask_gaussian_gram(context, line, data, &all, gram, err);
    if (!status)
        status = clo_i_take(space, clo_i_eigen_scratch(d, rank), sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_eigen_top(gram, d, rank, values, frame, scratch, err);
    clo_i_workspace_release(space, mark);
    return status;
}

clo_status clo_i_find_frame(clo_context *context, size_t line, const clo_bounded *data, size_t d,
                            size_t rank, double *frame, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    double *values = NULL;
    clo_status status = clo_i_take(context->workspace, rank, sizeof *values, &values, err);
    if (!status) status = clo_i_find_spectrum(context, line, data, d, rank, frame, values, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
