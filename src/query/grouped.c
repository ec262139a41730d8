/* grouped.c - sums of so many numbers a cluster: adding up, noise, telling (grouped.h). */
#include "query/grouped.h"
#include "base/planted.h"
#include <math.h>

void clo_i_gather_groups(clo_fold *fold, const double *sums)
{
    const size_t each = fold->entries / fold->line->groups;
    for (size_t e = 0; e < (size_t)fold->threads * fold->entries; e++) {
        const uint64_t weight = e % each == each - 1 ? fold->line->count_unit : 1;
        int64_t *const total = &fold->totals[e % fold->entries];
        *total = (int64_t)((uint64_t)*total + (uint64_t)(int64_t)sums[e] * weight);
    }
}

clo_numbers clo_i_numbers_added(const clo_line *line)
{
    const size_t all = line->query->sum.entries(line, 0, NULL);
    return (clo_numbers){ all, all };
}

/* That of the line, but for a planted fault. */
static clo_law law_of(const clo_line *line)
{
    const uint64_t asks = clo_i_planted(CLO_FAULT_SPLIT_IGNORED) ? line->event.count : 1;
    if (line->event.kind == CLO_EVENT_PURE) return clo_i_laplace_law(1, line->scale / asks);
    if (asks == 1) return clo_i_gaussian_law(line->scale);
    return clo_i_gaussian_law((uint64_t)((double)line->scale / sqrt((double)asks)));
}

/* Where others follow those of the groups, there is no telling. */
static size_t numbers_of_group(const clo_sum *sum)
{
    const size_t all = sum->fold.entries, groups = sum->line->groups;
    return all % groups ? 0 : all / groups;
}

clo_status clo_i_sum_answer(clo_context *context, size_t number, const clo_query *query,
                            const clo_bounded *data, const clo_ask *told, clo_sum *out,
                            clo_error *err)
{
    CLO_TRY(clo_i_sum_begin(context, number, query, data, told, out, err));
    const clo_noise noise = { .count = out->fold.entries,
                              .laws = { law_of(out->line) },
                              .group = numbers_of_group(out) };
    clo_status status = clo_i_sum_fold(out, err);
    if (!status) status = clo_i_answer(context, out->line, &noise, out->fold.totals, err);
    if (status) clo_i_sum_end(out);
    return status;
}

static void tell(const clo_sum *sum, const clo_share *share, size_t groups)
{
    clo_i_tell_answer(sum->context, sum->line, share->to, groups * share->count, share->unit);
}

void clo_i_sum_tell(clo_sum *sum, const clo_share *shares, size_t count, const clo_share *pooled)
{
    const size_t groups = sum->line->groups;
    const int64_t *total = sum->fold.totals;
    for (size_t c = 0; c < groups; c++)
        for (const clo_share *share = shares; share < shares + count; share++)
            for (size_t i = 0; i < share->count; i++)
                share->to[c * share->count + i] = (double)*total++ / share->unit;
    for (size_t i = 0; pooled && i < pooled->count; i++)
        pooled->to[i] = (double)*total++ / pooled->unit;
    for (size_t s = 0; s < count; s++) tell(sum, &shares[s], groups);
    if (pooled) tell(sum, pooled, 1);
    clo_i_sum_end(sum);
}

/* ---- views ---------------------------------------------------------------------------------- */

static clo_status take_words(size_t clusters, clo_workspace *space, uint64_t **words,
                             clo_error *err)
{
    return clo_i_take(space, 2 * clusters, sizeof **words, words, err);
}

clo_status clo_i_views_lay_out(const clo_line *line, clo_workspace *space, clo_error *err)
{
    uint64_t *unused;
    return take_words(line->groups, space, &unused, err);
}

static uint64_t to_grid(double radii, int bits, uint64_t widest)
{
    return (uint64_t)fmin(fmax(nearbyint(ldexp(radii, bits)), 1), (double)widest);
}

static clo_status tell_views(clo_workspace *space, const clo_viewer *viewer,
                             const clo_cluster_view *views, size_t clusters, uint64_t **words,
                             clo_error *err)
{
    CLO_TRY(take_words(clusters, space, words, err));
    for (size_t c = 0; c < clusters; c++) {
        (*words)[c] = to_grid(views[c].width, viewer->bits, viewer->widest);
        (*words)[clusters + c] = to_grid(views[c].reach, viewer->bits, viewer->widest);
    }
    return CLO_OK;
}

clo_status clo_i_ask_views(clo_context *context, size_t number, const clo_viewer *viewer,
                           const clo_bounded *data, const clo_assign *rule,
                           const clo_cluster_view *views, clo_view_sums out,
                           const clo_share *pooled, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace), k = rule->clusters;
    uint64_t *words = NULL;
    clo_sum sum;
    CLO_TRY(tell_views(context->workspace, viewer, views, k, &words, err));
    const clo_ask told = { .rules = rule, .rule_count = 1, .words = words, .word_count = 2 * k };
    const clo_status status =
        clo_i_sum_answer(context, number, viewer->query, data, &told, &sum, err);
    if (!status) {
        const size_t more = pooled ? pooled->count : 0;
        const clo_share shares[] = {
            { out.sums, (sum.fold.entries - more) / k - 2, ldexp(1, viewer->bits) },
            { out.squares, 1, (double)viewer->square_unit(sum.line) },
            { out.sizes, 1, (double)sum.line->count_unit },
        };
        clo_i_sum_tell(&sum, shares, 3, pooled);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

bool clo_i_views_fit(const clo_ask *ask, uint64_t widest)
{
    if (ask->word_count != 2 * ask->line->groups) return false;
    for (size_t i = 0; i < ask->word_count; i++)
        if (ask->words[i] < 1 || ask->words[i] > widest) return false;
    return true;
}
