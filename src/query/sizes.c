/* sizes.c - how much scratch one ask of a planned query takes, so that a plan can size the
 * workspace before there are data; and how much more it takes for so many rows, so that a run has
 * all of it before it asks (meter.T2). */
#include "query/parts.h"
#include "bound/bound.h"

static size_t add3(size_t a, size_t b, size_t c)
{
    size_t sum;
    return clo_i_add(a, b, &sum) && clo_i_add(sum, c, &sum) ? sum : SIZE_MAX;
}

static size_t sum_bytes(size_t k, size_t d, size_t rows, size_t threads)
{
    const size_t pass =
        add3(clo_i_take_size(threads * rows * d, 8), clo_i_take_size(threads * rows * k, 8),
             clo_i_take_size(threads * rows, 4));
    return add3(pass, clo_i_take_size(threads * k * (d + 1), 8), clo_i_take_size(k * (d + 1), 8));
}

static size_t gram_bytes(size_t k, size_t d, size_t rows, size_t threads, size_t width)
{
    const size_t several = k > 1, packed = k * (d * (d + 1) / 2);
    const size_t pass = add3(clo_i_take_size(threads * rows * d, 8),
                             clo_i_take_size(several * threads * rows * width, 8),
                             clo_i_take_size(several * threads * rows, 4));
    const size_t grams =
        add3(clo_i_take_size(several * threads * rows * d, 8),
             clo_i_take_size(threads * k * d * d, 8), clo_i_take_size(threads, sizeof(size_t)));
    const size_t noise = add3(clo_i_take_size(packed, 8), clo_i_take_size(k * d, 8),
                              clo_i_take_size(packed - k * d, 8));
    return add3(pass, grams, noise);
}

size_t clo_i_query_workspace(const clo_slot *slot, size_t cols, size_t block_rows, int threads)
{
    const size_t seen = slot->cols ? slot->cols : cols, t = (size_t)threads;
    const size_t rows = clo_i_block_rows(slot->sketch ? seen : cols, block_rows);
    /* Through a lens, the pass holds the records beside what is seen of them; not through a
     * sketch, which reads them where they lie. */
    const size_t whole = slot->lens && !slot->sketch ? clo_i_take_size(t * rows * cols, 8) : 0;
    switch (slot->query) {
    case CLO_QUERY_gaussian_sum:
    case CLO_QUERY_laplace_sum:
        return add3(whole, sum_bytes(slot->groups, seen, rows, t), 0);
    case CLO_QUERY_sparse_sum:
        return add3(whole, clo_i_take_size(slot->groups * (cols + 1), 8),
                    clo_i_sparse_totals_size(slot, seen, rows, t));
    case CLO_QUERY_peel: /* sums, the candidates' scores and their columns */
        return add3(add3(whole, clo_i_take_size(slot->groups * (cols + 1), 8), 0),
                    clo_i_sparse_totals_size(slot, seen, rows, t), 2 * clo_i_take_size(cols, 8));
    case CLO_QUERY_gaussian_gram:
        /* At most `seen` basis vectors a cluster, and a foot. */
        return add3(whole, gram_bytes(slot->groups, seen, rows, t, slot->groups * (seen + 1)), 0);
    case CLO_QUERY_gaussian_moment:
        return add3(whole, clo_i_moment_workspace(seen, rows, t), 0);
    case CLO_QUERY_gaussian_moment3:
        return add3(whole, clo_i_moment3_workspace(seen, rows, t), 0);
    case CLO_QUERY_cell_counts:
        return add3(clo_i_take_size(t * rows * cols, 8), clo_i_take_size(slot->groups, 8),
                    clo_i_take_size(slot->groups, 8));
    case CLO_QUERY_seed:
        return add3(clo_i_take_size(t * rows * cols, 8),
                    clo_i_take_size(t * rows * slot->groups, 8),
                    add3(clo_i_take_size(t * rows, 4), clo_i_take_size(t * slot->groups, 8), 0));
    case CLO_QUERY_quantile:
        return add3(clo_i_take_size(t * (slot->groups + 1), 8), clo_i_take_size(t * rows, 8),
                    clo_i_take_size(t * rows * cols, 8));
    case CLO_QUERY_gibbs:
        return add3(whole, clo_i_take_size(rows * seen, 8), 0);
    case CLO_QUERY_choose_flats:
        return add3(clo_i_take_size(t * slot->groups, 8),
                    clo_i_take_size(t * rows * slot->vectors, 8),
                    add3(clo_i_take_size(t * rows, 8), clo_i_take_size(t * rows * seen, 8), whole));
    case CLO_QUERY_gaussian_step:
        return add3(whole, clo_i_take_size(t * rows * seen, 8),
                    clo_i_step_workspace(slot, rows, t));
    case CLO_QUERY_choose_centers:
        return add3(whole, clo_i_take_size(t * rows * seen, 8),
                    clo_i_choose_centers_workspace(slot, t));
    case CLO_QUERY_partition:
        return add3(whole, clo_i_take_size(t * rows * seen, 8), clo_i_tree_workspace(slot));
    case CLO_QUERY_gapmax:
        return add3(clo_i_take_size(t * rows * cols, 8), 2 * clo_i_take_size(cols, 8), 0);
    case CLO_QUERY_histogram:
    case CLO_QUERY_aggregate:
        return add3(whole, clo_i_take_size(t * rows * seen, 8), 0);
    case CLO_QUERY_count:
    case CLO_QUERY_choose:
    case CLO_QUERY_KINDS:
        break;
    }
    return 0;
}

size_t clo_i_query_rows_workspace(const clo_slot *slot, const clo_bounded *data)
{
    const size_t rows = clo_i_bounded_rows(data);
    switch (slot->query) {
    case CLO_QUERY_gibbs:
        return clo_i_gibbs_rows_workspace(slot, rows);
    case CLO_QUERY_partition:
        return clo_i_tree_rows_workspace(rows);
    case CLO_QUERY_gapmax:
        return clo_i_gapmax_rows_workspace(slot, rows);
    case CLO_QUERY_histogram:
    case CLO_QUERY_aggregate:
        return clo_i_division_workspace(slot, rows);
    default: /* pass over the rows block by block */
        return 0;
    }
}
