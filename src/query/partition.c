/*
 * partition.c - a tree of cubes that follows the records (balcan2017, Algorithm 1): a cube that is
 * active is divided into its 2^p halves along every axis, each of which becomes active with a
 * chance that grows with the records inside; the answer is which cubes were (partition.T1).
 *
 * The paper divides no empty cube, and so tells for certain that a record is there.  Here every
 * child of an active cube may become active, empty or not: a few are drawn without a look at the
 * data, uniformly among all of them (phantoms), and noise that never lifts an empty cube decides
 * about the occupied ones.  2^p may be far more than there is memory for: occupied children are
 * found by sorting the records, phantoms are drawn by their number and place.  The number of
 * phantoms is a count of fair bits, so that nothing is rounded: the answer is purely epsilon'-DP a
 * level, to the last bit.
 */
#include "query/partition_internal.h"
#include "query/queries.h"
#include "ask/fold.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "random/random.h"
#include "query/partition.h"
#include "ask/witness.h"
#include <math.h>

static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */

/* The least integer t with exp(-a (t - 1)) <= theta (1 + exp(a)) / (1 + theta), rounded up, where
 * theta = 2^-(cols + CLO_PHANTOM_BITS): partition.T1. */
static double least_threshold(double rate, size_t cols)
{
    const double theta_log = -((double)cols + CLO_PHANTOM_BITS) * log(2);
    const double wanted = log1p(exp(theta_log)) - theta_log - log(1 + exp(rate));
    return fmax(1, ceil((1 + wanted / rate) * (1 + 1e-12) + 1e-9));
}

clo_status clo_i_plan_partition(const clo_domain *domain, const clo_cube_tree *how, double epsilon,
                                const char *label, clo_line *out, clo_error *err)
{
    const uint64_t factor = domain->relation == CLO_REPLACE ? 2 : 1;
    const double parts = epsilon * (double)PARTS;
    if (domain->cols > CLO_PARTITION_COLS)
        return clo_i_fail(err, CLO_ARGUMENT, "a tree of cubes takes at most %d columns, not %zu",
                          (int)CLO_PARTITION_COLS, domain->cols);
    if (how->levels < 1 || how->levels > CLO_PARTITION_LEVELS || how->trees < 1 || how->most < 1)
        return clo_i_fail(err, CLO_ARGUMENT, "a tree of cubes has between 1 and %d levels, not %zu",
                          (int)CLO_PARTITION_LEVELS, how->levels);
    if (!(parts >= 1))
        return clo_i_fail(err, CLO_BUDGET, "so small a budget divides no cube: raise epsilon");
    if (!(epsilon <= 1e6) || domain->rows_per_unit > (uint64_t)1 << 31)
        return clo_i_fail(err, CLO_ARGUMENT, "a tree of cubes needs an epsilon of at most 1e6");
    clo_line line = { .query = &clo_i_query_partition,
                      .label = label,
                      .bits = CLO_PARTITION_BITS,
                      .cols = domain->cols,
                      .groups = how->most,
                      .sensitivity = factor * domain->rows_per_unit,
                      .rate_numerator = (uint64_t)parts,
                      .rate_denominator = factor * domain->rows_per_unit * PARTS };
    const double rate = (double)line.rate_numerator / (double)line.rate_denominator;
    const double threshold = fmax(least_threshold(rate, domain->cols), ceil(how->threshold / rate));
    if (!(threshold <= 0x1p53))
        return clo_i_fail(err, CLO_BUDGET, "so small a budget divides no cube: raise epsilon");
    line.event = (clo_event){ .kind = CLO_EVENT_PURE,
                              .parameter = (double)line.rate_numerator / (double)PARTS,
                              .count = how->trees * how->levels };
    clo_i_partition_set_fields(
        &line, (clo_partition_fields){ .levels = how->levels, .threshold = (uint64_t)threshold });
    line.noise = sqrt(2) / rate;
    *out = line;
    return CLO_OK;
}

/* ---- the chance of a child ------------------------------------------------------------------ */

/* Whether a child that holds so many records, one at least, becomes active: the noise is such that
 * it would never lift an empty one (partition.T1). */
static bool lifted(clo_stream *stream, const clo_line *line, size_t records)
{
    const int64_t threshold = (int64_t)clo_i_partition_fields(line).threshold;
    const uint64_t twice = clo_i_planted(CLO_FAULT_NOISE_HALVED) ? 2 : 1;
    int64_t noise;
    do noise = clo_i_discrete_laplace(stream, line->rate_numerator * twice, line->rate_denominator);
    while (noise < 1 - threshold);
    return (int64_t)records - threshold >= noise;
}

/* How many phantoms: j with chance 2^-(b j) (1 - 2^-b), by fair bits. */
static bool one_more(clo_stream *stream)
{
    return clo_i_random_below(stream, (uint64_t)1 << CLO_PHANTOM_BITS) == 0;
}

static clo_u128 random_child(clo_stream *stream, size_t cols)
{
    const clo_u128 high = (clo_u128)clo_i_random_u64(stream) << 64;
    return (high | clo_i_random_u64(stream)) >> (128 - cols);
}

/* Different children of one cube, in increasing order. */
static clo_status draw_phantoms(clo_stream *stream, size_t cols, clo_cube_list *phantoms,
                                clo_error *err)
{
    const bool few = cols < 20;
    phantoms->count = 0;
    if (clo_i_planted(CLO_FAULT_EMPTY_CUBES_SKIPPED)) return CLO_OK;
    while (one_more(stream) && !(few && phantoms->count >> cols)) {
        size_t at = 0;
        clo_u128 child;
        do {
            CLO_TRY(clo_i_stream_check(stream, err)); /* a failed stream says 0 for ever */
            child = random_child(stream, cols);
            for (at = 0; at < phantoms->count && phantoms->cubes[at].child < child;) at++;
        } while (at < phantoms->count && phantoms->cubes[at].child == child);
        CLO_TRY(clo_i_cube_push(phantoms, (clo_cube){ .child = child }, err));
        for (size_t i = phantoms->count - 1; i > at; i--)
            phantoms->cubes[i] = phantoms->cubes[i - 1];
        phantoms->cubes[at] = (clo_cube){ .child = child };
    }
    return clo_i_stream_check(stream, err);
}

/* The active children of one cube, whose occupied ones stand from *from on. */
static clo_status decide_cube(clo_stream *stream, const clo_line *line, clo_tree *tree,
                              uint32_t parent, size_t *from, clo_error *err)
{
    const clo_cube_list *const phantoms = &tree->phantoms;
    size_t next = 0, records = 0;
    clo_cube found;
    CLO_TRY(draw_phantoms(stream, line->cols, &tree->phantoms, err));
    while (clo_i_tree_next(tree, parent, from, &found, &records)) {
        for (; next < phantoms->count && phantoms->cubes[next].child < found.child; next++)
            CLO_TRY(clo_i_cube_push(
                &tree->active, (clo_cube){ .parent = parent, .child = phantoms->cubes[next].child },
                err));
        const bool drawn = next < phantoms->count && phantoms->cubes[next].child == found.child;
        const int64_t here[] = { parent, (int64_t)found.child, (int64_t)records };
        const clo_exact exact = { CLO_EXACT_RECORDS, line, here, 3, NULL };
        (void)clo_i_witness_exact(&exact, NULL);
        next += drawn;
        if (lifted(stream, line, records) || drawn)
            CLO_TRY(clo_i_cube_push(&tree->active, found, err));
    }
    for (; next < phantoms->count; next++)
        CLO_TRY(clo_i_cube_push(
            &tree->active, (clo_cube){ .parent = parent, .child = phantoms->cubes[next].child },
            err));
    return clo_i_stream_check(stream, err);
}

static clo_status decide_level(clo_context *context, const clo_line *line, clo_tree *tree,
                               clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    size_t from = 0;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    clo_status status = CLO_OK;
    tree->active.count = 0;
    for (size_t cube = 0; cube < tree->count && !status; cube++)
        status = decide_cube(stream, line, tree, (uint32_t)cube, &from, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* partition.T3: as a sum. */
static clo_status decide_by_counts(clo_context *context, size_t number, const clo_bounded *data,
                                   clo_tree *tree, size_t level, clo_error *err)
{
    const clo_ask told = clo_i_tree_ask(tree, level);
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_partition, data, &told, &sum, err));
    clo_status status = clo_i_sum_fold(&sum, err);
    tree->counts = sum.fold.totals;
    if (!status) status = decide_level(context, sum.line, tree, err);
    tree->counts = NULL;
    clo_i_sum_end(&sum);
    return status;
}

static clo_status decide_by_sorting(clo_context *context, size_t number, const clo_bounded *data,
                                    clo_tree *tree, size_t level, clo_error *err)
{
    const clo_line *line;
    CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_partition, &line, err));
    CLO_TRY(clo_i_tree_sort(context, data, tree, level, err));
    return decide_level(context, line, tree, err);
}

/* One charge a level, before its rows are read, also where there are no cubes left: partition.T2 */
static clo_status grow(clo_context *context, size_t number, const clo_bounded *data, clo_tree *tree,
                       clo_cubes *out, clo_error *err)
{
    const clo_line *line = &context->meter->lines[number];
    const size_t levels = clo_i_partition_fields(line).levels;
    const bool counted = clo_i_tree_is_counted(line);
    double active[CLO_PARTITION_LEVELS] = { 0 };
    CLO_TRY(clo_i_tree_plant(context, tree, err));
    out->count = 0;
    for (size_t level = 1; level <= levels; level++) {
        if (tree->count == 0) {
            CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_partition, &line, err));
            continue;
        }
        CLO_TRY((counted ? decide_by_counts : decide_by_sorting)(context, number, data, tree, level,
                                                                 err));
        clo_i_tree_descend(tree, level, out);
        active[level - 1] = (double)tree->count;
    }
    /* An answer is as long as there are cubes; who listens is told how many each level has. */
    clo_i_tell_answer(context, line, active, levels, 0);
    return CLO_OK;
}

clo_status clo_i_ask_partition(clo_context *context, size_t number, const clo_bounded *data,
                               clo_cubes *out, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const clo_meter *const meter = context->meter;
    clo_tree tree = { .cols = 0 };
    if (number >= meter->count || meter->lines[number].query != &clo_i_query_partition)
        return clo_i_fail(err, CLO_INTERNAL, "the cubes are not those of the plan");
    clo_status status = clo_i_tree_take(context, &meter->lines[number], data, &tree, err);
    if (!status) status = grow(context, number, data, &tree, out, err);
    clo_i_tree_free(&tree);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* What lasts for a whole tree, in a run that counts: its levels are asks of their own. */
static clo_status lay_out_told(const clo_line *line, clo_workspace *space, clo_error *err)
{
    clo_tree unused;
    return clo_i_tree_is_counted(line) ? clo_i_tree_lay_out(line, space, &unused, err) : CLO_OK;
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    clo_tree unused; /* whose members are as many as the data have rows */
    if (clo_i_tree_is_counted(fold->line)) return clo_i_partition_lay_out_counts(fold, space, err);
    return clo_i_tree_lay_out(fold->line, space, &unused, err);
}

static clo_status lay_out_rows(const clo_line *line, size_t rows, clo_workspace *space,
                               clo_error *err)
{
    clo_tree unused;
    return clo_i_tree_is_counted(line) ? CLO_OK
                                       : clo_i_tree_lay_out_rows(rows, space, &unused, err);
}

const clo_query clo_i_query_partition = {
    .name = "partition",
    .reading = CLO_READING_WHOLE,
    .reading_of = clo_i_partition_reading,
    .numbers = clo_i_numbers_drawn,
    .lay_out = lay_out,
    .lay_out_rows = lay_out_rows,
    .sum = {
        .lay_out_told = lay_out_told,
        .check = clo_i_partition_check,
        .entries = clo_i_partition_entries,
        .add = clo_i_partition_count_block,
        .gather = clo_i_partition_gather,
    },
};
