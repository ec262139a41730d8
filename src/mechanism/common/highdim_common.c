/*
 * highdim_common.c - how a plan of kmeans/highdim or kmedian/highdim is laid out, and how it runs:
 * balcan2017's Algorithm 4, whose body the paper leaves out.
 *
 * The paper's own constants (preset theory) leave nothing to be seen at any size of data that there
 * is; those of the preset practical were chosen on mixtures of Gaussians (bench/bench_highdim.c),
 * from public facts alone.  Trees, swaps and rounds get fixed shares of the budget, in the units in
 * which they add up (zero-concentrated privacy), and one price covers them together.
 */
#include "mechanism/common/highdim_common.h"
#include "mechanism/common/forecast.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include "query/choose_centers.h"
#include "query/gaussian_step.h"
#include "ask/lens.h"
#include "query/partition.h"
#include <math.h>
#include <string.h>

enum { PRACTICAL, THEORY };
enum { BY_PRESET = -1, MOST_POINTS = 4096, MOST_SETS = 1 << 20 };
/* What is left of the cubes of many records, so that every cluster has several candidates: with
 * half as many some clusters of 32 were missed, and twice as many found no more. */
enum { FEWEST_CANDIDATES = 256, CANDIDATES_A_CLUSTER = 16 };

static const double WHOLE_COLS = 12;    /* records of no more columns are looked at as they are */
static const double TREE_SHARE = 0.5;   /* of the budget */
static const double SWAP_SHARE = 0.25;  /* and the rounds have the rest, but for ... */
static const double FINAL_SHARE = 0.05; /* ... the choice among repeats, where there are several */
static const double REACH = 0.75; /* in radii: whatever is farther from a centre is just far */
/* What the last round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.002, UNSETTLED_MEDIAN = 0.005, UNSETTLED_IN_DIRECTIONS = 0.02;
static const double ENOUGH = 3;    /* thresholds of a cube in a cluster that will be found */
static const double FAILURE = 0.1; /* the chance of failure that the paper's constants are for */

const clo_param clo_i_highdim_params[CLO_HIGHDIM_PARAMS] = {
    [CLO_HIGHDIM_CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [CLO_HIGHDIM_PRESET] = { "preset", CLO_PARAM_CHOICE, 0, 1, PRACTICAL, "practical|theory",
                             "theory: the constants of the paper (balcan2017), which need far "
                             "more data than anybody has" },
    [CLO_HIGHDIM_DIRECTIONS] = { "directions", CLO_PARAM_INT, BY_PRESET, CLO_PARTITION_COLS,
                                 BY_PRESET, NULL,
                                 "number of random directions to look for centers in; 0: all "
                                 "columns; -1: as preset says" },
    [CLO_HIGHDIM_TREES] = { "trees", CLO_PARAM_INT, 0, 1e6, 0, NULL,
                            "number of randomly placed trees of cubes that give candidates; 0: as "
                            "preset says" },
    [CLO_HIGHDIM_LEVELS] = { "levels", CLO_PARAM_INT, 0, CLO_PARTITION_LEVELS, 0, NULL,
                             "how often cubes are halved; 0: as preset says" },
    [CLO_HIGHDIM_SWAPS] = { "swaps", CLO_PARAM_INT, 0, 1e7, 0, NULL,
                            "steps that choose centers among the candidates; 0: as preset says" },
    [CLO_HIGHDIM_ROUNDS] = { "rounds", CLO_PARAM_INT, BY_PRESET, 100, BY_PRESET, NULL,
                             "passes that refine the centers; -1: as preset says, none without a "
                             "delta" },
};

/* ---- the shape ------------------------------------------------------------------------------ */

/* wanted: how many directions, below 0: by the rule. */
static void shape_practical(clo_highdim *plan, double rows, double wanted)
{
    const double few = fmax(2, round(log(rows) / 2)), d = (double)plan->cols;
    plan->project = d <= WHOLE_COLS || few >= d ? 0 : (size_t)few;
    if (wanted >= 0) plan->project = (size_t)wanted;
    const double spread = plan->project ? d / (double)plan->project : 1;
    plan->repeats = 1;
    plan->trees = 3;
    /* In few directions of many a record is short: a cube as small as it is one level deeper for
     * each factor 2, and what is far is nearer. */
    plan->levels = 5 + (size_t)round(log2(spread) / 2);
    plan->reach = REACH / sqrt(spread);
    plan->swaps = plan->clusters + (plan->clusters + 3) / 4;
    plan->rounds = 3;
}

static void shape_theory(clo_highdim *plan, double rows)
{
    const double k = (double)plan->clusters, sure = log(rows / FAILURE);
    const double directions = fmin(ceil(8 * log(rows)), CLO_PARTITION_COLS);
    plan->project = directions >= (double)plan->cols ? 0 : (size_t)directions;
    plan->repeats = (size_t)ceil(log(1 / FAILURE));
    plan->trees = (size_t)ceil(27 * k * sure);
    plan->levels = (size_t)fmin(ceil(log2(4 * rows)), CLO_PARTITION_LEVELS);
    plan->swaps = (size_t)ceil(100 * k * sure);
    plan->threshold = 20 * sure;
    plan->reach = 2;
    plan->rounds = 1;
    plan->visited = plan->swaps;
    if (plan->visited > MOST_SETS / plan->clusters) plan->visited = MOST_SETS / plan->clusters;
    if (plan->visited > 1 << 16) plan->visited = 1 << 16;
}

static clo_status choose_shape(const clo_draft *draft, clo_highdim *plan, clo_error *err)
{
    const double *const values = draft->values;
    const double rows = clo_i_guessed_rows(draft->domain, plan->clusters);
    plan->theory = values[CLO_HIGHDIM_PRESET] == THEORY;
    if (plan->theory)
        shape_theory(plan, rows);
    else
        shape_practical(plan, rows, values[CLO_HIGHDIM_DIRECTIONS]);
    if (values[CLO_HIGHDIM_DIRECTIONS] >= 0) plan->project = (size_t)values[CLO_HIGHDIM_DIRECTIONS];
    if (values[CLO_HIGHDIM_TREES] > 0) plan->trees = (size_t)values[CLO_HIGHDIM_TREES];
    if (values[CLO_HIGHDIM_LEVELS] > 0) plan->levels = (size_t)values[CLO_HIGHDIM_LEVELS];
    if (values[CLO_HIGHDIM_SWAPS] > 0) plan->swaps = (size_t)values[CLO_HIGHDIM_SWAPS];
    if (draft->budget.delta == 0) plan->rounds = 0; /* they have Gaussian noise */
    if (values[CLO_HIGHDIM_ROUNDS] >= 0) plan->rounds = (size_t)values[CLO_HIGHDIM_ROUNDS];
    if (plan->project > plan->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "directions must be at most the number of columns, %zu, not %zu",
                          plan->cols, plan->project);
    if (plan->visited > plan->swaps) plan->visited = plan->swaps;
    if (plan->visited < 2) plan->visited = 0;
    if (plan->repeats > 1 && !plan->project) plan->repeats = 1; /* there are no other directions */
    plan->seen = plan->project ? plan->project : plan->cols;
    if (plan->seen > CLO_PARTITION_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "cubes have at most %d columns, not %zu: set directions to fewer",
                          (int)CLO_PARTITION_COLS, plan->seen);
    plan->most = MOST_POINTS;
    if (plan->most > ((size_t)1 << 21) / plan->clusters)
        plan->most = ((size_t)1 << 21) / plan->clusters;
    if (plan->most < 4 * plan->clusters) plan->most = 4 * plan->clusters;
    if (plan->most < plan->trees * plan->levels) plan->most = plan->trees * plan->levels;
    plan->few = plan->theory ? plan->most : CANDIDATES_A_CLUSTER * plan->clusters;
    if (plan->few < FEWEST_CANDIDATES) plan->few = FEWEST_CANDIDATES;
    if (plan->few > plan->most) plan->few = plan->most;
    return CLO_OK;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* In zero-concentrated privacy `times` events of kind pure cost epsilon^2 / 2 each, choices
 * epsilon^2 / 8, Gaussian ones mu^2 / 2: the parameters at which they come to `share`. */
static clo_event event_of(clo_event_kind kind, double share, size_t times)
{
    const double factor = kind == CLO_EVENT_EXPONENTIAL ? 8 : 2;
    return (clo_event){ .kind = kind,
                        .parameter = sqrt(factor * share / (double)times),
                        .count = times };
}

enum { TREE, SWAP, VISITED, ROUND, FINAL, LINES };

static void share_out(const clo_highdim *plan, clo_event *events)
{
    const size_t repeats = plan->repeats, steps = plan->swaps + (plan->visited > 1);
    const double final = repeats > 1 ? FINAL_SHARE : 0;
    const double rounds = plan->rounds ? 1 - TREE_SHARE - SWAP_SHARE - final : 0;
    const double rest = (1 - final - rounds) / (TREE_SHARE + SWAP_SHARE);
    const double swap = rest * SWAP_SHARE / (double)steps;
    events[TREE] =
        event_of(CLO_EVENT_PURE, rest * TREE_SHARE, repeats * plan->trees * plan->levels);
    events[SWAP] =
        event_of(CLO_EVENT_EXPONENTIAL, swap * (double)plan->swaps, repeats * plan->swaps);
    events[VISITED] = event_of(CLO_EVENT_EXPONENTIAL, swap, repeats);
    events[ROUND] = event_of(CLO_EVENT_GAUSSIAN, rounds, repeats * plan->rounds);
    events[FINAL] = event_of(CLO_EVENT_EXPONENTIAL, final, 1);
    if (plan->visited < 2) events[VISITED].count = 0;
    if (plan->rounds == 0) events[ROUND].count = 0;
    if (repeats < 2) events[FINAL].count = 0;
}

static clo_status calibrate(clo_event *events, clo_loss budget, clo_error *err)
{
    clo_event asked[LINES];
    size_t count = 0;
    double factor;
    for (size_t i = 0; i < LINES; i++)
        if (events[i].count) asked[count++] = events[i];
    CLO_TRY(clo_calibrate(asked, count, budget, &factor, err));
    for (size_t i = 0; i < LINES; i++) events[i].parameter *= factor;
    return CLO_OK;
}

static clo_status add_choice(clo_draft *draft, const clo_highdim *plan, const clo_domain *domain,
                             size_t candidates, size_t sets, double reach, const clo_event *event,
                             const char *label, size_t *place, clo_error *err)
{
    const clo_center_choice how = { candidates, plan->clusters, sets, plan->loss, reach };
    clo_line line;
    *place = draft->line_count;
    if (event->count == 0) return CLO_OK;
    CLO_TRY(
        clo_i_plan_choose_centers(domain, &how, event->parameter, event->count, label, &line, err));
    line.lens = domain != draft->domain;
    return clo_i_draft_add(draft, &line, err);
}

static clo_status add_search(clo_draft *draft, const clo_event *events, clo_highdim *plan,
                             clo_error *err)
{
    const clo_domain projected = clo_i_lens_domain(draft->domain, plan->seen);
    const clo_domain *const seen = plan->project ? &projected : draft->domain;
    const clo_cube_tree tree = { .levels = plan->levels,
                                 .trees = plan->repeats * plan->trees,
                                 .most = plan->most / plan->trees,
                                 .threshold = plan->threshold };
    clo_line line;
    CLO_TRY(clo_i_plan_partition(seen, &tree, events[TREE].parameter,
                                 "which cubes hold many records, one query per level", &line, err));
    line.lens = plan->project > 0;
    plan->tree_line = draft->line_count;
    CLO_TRY(clo_i_draft_add(draft, &line, err));
    CLO_TRY(add_choice(draft, plan, seen, plan->few + plan->clusters, 0, plan->reach, &events[SWAP],
                       "which center to swap for that of which cube, one query per step",
                       &plan->swap_line, err));
    return add_choice(draft, plan, seen, plan->few + plan->clusters, plan->visited, plan->reach,
                      &events[VISITED], "which set of centers is best", &plan->visited_line, err);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* What a run keeps. */
typedef struct state {
    double *centers; /* repeats x clusters x cols */
    double *sizes;   /* repeats x clusters */
    size_t *sets;    /* repeats x clusters, where there are several to choose from */
} state;

static clo_status take_state(const clo_highdim *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t count = plan->repeats * plan->clusters;
    CLO_TRY(clo_i_take(space, count * plan->cols, sizeof *s->centers, &s->centers, err));
    CLO_TRY(clo_i_take(space, count, sizeof *s->sizes, &s->sizes, err));
    return clo_i_take(space, plan->repeats > 1 ? count : 0, sizeof *s->sets, &s->sets, err);
}

/* The directions (cols x project) of a search, and what it finds in them. */
static clo_status take_frame(const clo_highdim *plan, clo_workspace *space, double **frame,
                             double **seen, clo_error *err)
{
    const size_t p = plan->project;
    CLO_TRY(clo_i_take(space, plan->cols * p, sizeof **frame, frame, err));
    return clo_i_take(space, plan->clusters * p, sizeof **seen, seen, err);
}

static clo_status count_run(const clo_highdim *plan, clo_workspace *room, clo_error *err)
{
    double *frame, *seen;
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    const size_t mark = clo_i_workspace_mark(room);
    if (plan->project) CLO_TRY(take_frame(plan, room, &frame, &seen, err));
    CLO_TRY(clo_i_lens_room(room, plan->cols, plan->project, 0, err));
    CLO_TRY(clo_i_highdim_search_room(plan, room, err));
    clo_i_workspace_release(room, mark);
    return plan->rounds ? clo_i_highdim_refine_room(plan, room, err) : CLO_OK;
}

/* ---- the whole plan ------------------------------------------------------------------------- */

clo_status clo_i_highdim_plan(clo_draft *draft, clo_center_loss loss, clo_highdim *out,
                              clo_error *err)
{
    clo_highdim plan = { .loss = loss,
                         .clusters = (size_t)draft->values[CLO_HIGHDIM_CLUSTERS],
                         .cols = draft->domain->cols };
    clo_event events[LINES];
    CLO_TRY(choose_shape(draft, &plan, err));
    if (draft->budget.delta == 0 && plan.rounds > 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the rounds of highdim need a delta above 0: give one, or set rounds "
                          "to 0");
    share_out(&plan, events);
    CLO_TRY(calibrate(events, draft->budget, err));
    CLO_TRY(add_search(draft, events, &plan, err));
    plan.round_line = draft->line_count;
    if (plan.rounds) {
        clo_line line;
        CLO_TRY(clo_i_plan_gaussian_step(
            draft->domain, plan.clusters, events[ROUND].parameter, events[ROUND].count,
            "where the records pull the centers, one query per round", &line, err));
        CLO_TRY(clo_i_draft_add(draft, &line, err));
    }
    CLO_TRY(add_choice(draft, &plan, draft->domain, plan.repeats * plan.clusters, plan.repeats, 2,
                       &events[FINAL], "which of the repeats is best", &plan.final_line, err));
    *out = plan;
    return count_run(&plan, draft->room, err);
}

/* A cluster that is not several times as large as the threshold of a cube leaves no cube behind:
 * the share by which it falls short stands for the chance that its centre is anywhere. */
double clo_i_highdim_predict(const void *plan_state, const clo_domain *domain,
                             const clo_line *lines, double rows)
{
    const clo_highdim *const plan = plan_state;
    const clo_line *const line = &lines[plan->round_line];
    const double root = sqrt((double)plan->cols), size = rows / (double)plan->clusters;
    const double enough =
        ENOUGH * (double)clo_i_partition_fields(&lines[plan->tree_line]).threshold;
    const double missed = size < enough ? 1 - size / enough : 0;
    const double noise = plan->rounds ? clo_i_highdim_width(plan) * root *
                                            ldexp((double)line->scale, -line->bits) / size
                                      : ldexp(root, 1 - (int)plan->levels); /* half a cube */
    (void)domain;
    const double median = plan->project ? UNSETTLED_IN_DIRECTIONS : UNSETTLED_MEDIAN;
    return clo_i_center_forecast(noise + missed, plan->clusters,
                                 plan->loss == CLO_LOSS_DISTANCE ? median : UNSETTLED);
}

/* ---- the run -------------------------------------------------------------------------------- */

/* Public directions, the same on all ranks. */
static clo_status draw_frame(clo_context *context, size_t d, size_t p, double *frame,
                             clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t e = 0; e < d * p; e++) frame[e] = clo_i_random_normal(stream);
    clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    if (!status) status = clo_i_orthonormalize(frame, d, p, err);
    return status;
}

/* In public directions, and back.  In the directions' coordinates a record is nearest to the same
 * centre as in all of them: what is left out of them is the same for all. */
static clo_status search_in_frame(const clo_highdim *plan, clo_context *context,
                                  const clo_bounded *data, double *centers, clo_error *err)
{
    const size_t d = plan->cols, p = plan->project, k = plan->clusters;
    double *frame = NULL, *seen = NULL;
    clo_lens lens;
    CLO_TRY(take_frame(plan, context->workspace, &frame, &seen, err));
    CLO_TRY(draw_frame(context, d, p, frame, err));
    CLO_TRY(clo_i_lens_make(context->workspace, frame, d, p, 0, &lens, err));
    context->lens = &lens;
    const clo_status status = clo_i_highdim_search(plan, context, data, seen, err);
    context->lens = NULL;
    for (size_t c = 0; c < k && !status; c++)
        clo_i_unfold_point(frame, d, p, lens.scale, seen + c * p, centers + c * d);
    return status;
}

static clo_status repeat(const clo_highdim *plan, clo_context *context, const clo_bounded *data,
                         double *centers, double *sizes, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_status status = plan->project ? search_in_frame(plan, context, data, centers, err)
                                      : clo_i_highdim_search(plan, context, data, centers, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status && plan->rounds)
        status = clo_i_highdim_refine(plan, context, data, centers, sizes, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status choose_repeat(const clo_highdim *plan, clo_context *context,
                                const clo_bounded *data, const state *s, size_t *chosen,
                                clo_error *err)
{
    const size_t count = plan->repeats * plan->clusters;
    const clo_candidates candidates = { .points = s->centers, .count = count };
    *chosen = 0;
    if (plan->repeats < 2) return CLO_OK;
    for (size_t i = 0; i < count; i++) s->sets[i] = i;
    return clo_i_ask_best_set(context, plan->final_line, data, &candidates, s->sets, chosen, err);
}

clo_status clo_i_highdim_run(const void *plan_state, const clo_domain *domain,
                             const clo_bounded *data, clo_context *context, clo_release *out,
                             clo_error *err)
{
    const clo_highdim *const plan = plan_state;
    const size_t k = plan->clusters, d = plan->cols, repeats = plan->repeats;
    clo_i_center_noise noise = { 0 }; /* of candidates, which are chosen */
    state s;
    size_t chosen = 0;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    for (size_t r = 0; r < repeats; r++) {
        context->progress_from = (double)r / (double)repeats;
        context->progress_to = (double)(r + 1) / (double)repeats;
        CLO_TRY(repeat(plan, context, data, s.centers + r * k * d, s.sizes + r * k, err));
    }
    CLO_TRY(choose_repeat(plan, context, data, &s, &chosen, err));
    if (plan->rounds) {
        noise = clo_i_noise_of_sums(&context->meter->lines[plan->round_line]);
        noise.sum *= clo_i_highdim_width(plan);
    }
    return clo_i_release_centers(domain, noise, k, s.centers + chosen * k * d,
                                 plan->rounds ? s.sizes + chosen * k : NULL, out, err);
}
