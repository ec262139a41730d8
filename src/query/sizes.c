/* sizes.c - how much scratch one ask of a planned query takes, so that a plan can size the
 * workspace before there are data. */
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
    return add3(add3(pass, clo_i_take_size(threads * k * (d + 1), 8), 0),
                clo_i_take_size(k * (d + 1), 8), clo_i_answer_workspace(k * (d + 1)));
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
    const size_t answer = add3(clo_i_take_size(packed, 8), clo_i_take_size(packed, 1),
                               clo_i_answer_workspace(packed));
    return add3(pass, grams, answer);
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
        return add3(add3(whole, clo_i_take_size(slot->groups * (cols + 1), 8), 0),
                    clo_i_sparse_totals_size(slot, seen, rows, t),
                    clo_i_answer_workspace(slot->groups * (cols + 1)));
    case CLO_QUERY_peel: /* sums, the candidates' scores and their columns, what is told */
        return add3(add3(whole, clo_i_take_size(slot->groups * (cols + 1), 8), 0),
                    clo_i_sparse_totals_size(slot, seen, rows, t),
                    2 * clo_i_take_size(cols, 8) +
                        clo_i_take_size(slot->groups * (slot->rounds + 1), 8));
    case CLO_QUERY_gaussian_gram:
        /* At most `seen` basis vectors a cluster, and a foot. */
        return add3(whole, gram_bytes(slot->groups, seen, rows, t, slot->groups * (seen + 1)), 0);
    case CLO_QUERY_gaussian_moment:
        return add3(whole, clo_i_moment_workspace(seen, rows, t), 0);
    case CLO_QUERY_gaussian_moment3:
        return add3(whole, clo_i_moment3_workspace(seen, rows, t), 0);
    case CLO_QUERY_cell_counts:
        return add3(clo_i_take_size(t * rows * cols, 8), clo_i_take_size(slot->groups, 8),
                    clo_i_answer_workspace(slot->groups));
    case CLO_QUERY_seed:
        return add3(clo_i_take_size(t * rows * cols, 8),
                    clo_i_take_size(t * rows * slot->groups, 8),
                    add3(clo_i_take_size(t * rows, 4), clo_i_take_size(t * slot->groups, 8), 0));
    case CLO_QUERY_quantile:
        return add3(clo_i_take_size(t * (slot->groups + 1), 8), clo_i_take_size(t * rows, 8),
                    clo_i_take_size(t * rows * cols, 8));
    case CLO_QUERY_gibbs: /* its chain is as long as the data, which no plan knows */
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
    case CLO_QUERY_partition: /* whose members are as many as the data have rows */
        return add3(whole, clo_i_take_size(t * rows * seen, 8), clo_i_tree_workspace(slot));
    case CLO_QUERY_gapmax: /* its lattice is as long as the data */
        return add3(clo_i_take_size(t * rows * cols, 8), 2 * clo_i_take_size(cols, 8), 0);
    case CLO_QUERY_histogram:
    case CLO_QUERY_aggregate: /* the rest follows the number of rows, and is allocated apart */
        return add3(whole, clo_i_take_size(t * rows * seen, 8),
                    clo_i_answer_workspace(slot->groups * seen * (slot->dim ? slot->dim : 1)));
    case CLO_QUERY_count:
        return clo_i_answer_workspace(1);
    case CLO_QUERY_choose:
    case CLO_QUERY_KINDS:
        break;
    }
    return 0;
}
