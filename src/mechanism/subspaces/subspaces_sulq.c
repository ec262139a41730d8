/*
 * subspaces_sulq.c - k subspaces by rounds of k-planes on noisy Gram matrices (SuLQ k-planes,
 * wang2015, Algorithm 5), corrected.
 *
 * The paper asks k queries a round with a sensitivity of 2 each; all k matrices of a round are one
 * query of sensitivity sqrt 2, and rounds of Gaussian noise compose exactly (subspaces_sulq.T1).
 * Beyond that, what makes it work is how the budget is laid out.  The noise falls from round to
 * round: early rounds need not be exact, and their noise shakes the clusters out of bad local
 * minima.  Several starts go part of the way, one of them is chosen privately by how well the
 * records lie on it, and the rest of the budget goes into that one.
 *
 * Where there are many columns, part of the budget may first buy the directions in which the
 * records have most energy; all else then looks at them through these, with noise that grows with
 * the directions kept and not with the columns.
 */
#include "mechanism/common/frame.h"
#include "mechanism/subspaces/subspaces_common.h"
#include "mechanism/common/forecast.h"
#include "domain/domain.h"
#include "ask/assign.h"
#include "query/queries.h"
#include "query/choose_flats.h"
#include "query/gaussian_gram.h"
#include "ask/lens.h"
#include <math.h>

enum { CLUSTERS, DIM, FLATS, ROUNDS, RESTARTS, SCHEDULE, ACCOUNTING, REDUCE, SHARE, PARAM_COUNT };
enum { LINEAR, AFFINE };
enum { EVEN, RISING };
enum { EXACT, PAPER };
enum { MOST_ROUNDS = 60, PAPER_ROUNDS = 10, BY_CHOICE = -1, MOST_KEPT = 1024 };
_Static_assert(MOST_ROUNDS + 2 < CLO_MAX_LINES, "a rising schedule has one line per round");

/* Measured on the two settings of wang2015 (bench/bench_wang2015.py): flat optima, all of them. */
static const double RISE = 1.2;          /* of the budget, from each round to the next */
static const double MEMORY = 0.5;        /* how much of earlier rounds a rising schedule keeps */
static const double SEARCH_SHARE = 0.4;  /* of the budget, for the starts before the choice */
static const double CHOICE_SHARE = 0.05; /* and for the choice */
static const double LOST_BELOW = 8;      /* the clarity at which clusters are hardly found */
static const double GUESSED_ROWS_A_CLUSTER = 5000;
/* What rounds that end in a local minimum cost, in the error of random subspaces, for each cluster
 * beyond the first, and at most: no budget buys them out.  Measured without noise to speak of:
 * planted subspaces reach .1 with 5 clusters, .3 with 10, .4 and more with 20; MNIST's digits 0, 1
 * and 7 about .2 with 3 (bench/bench_mnist_subspaces.py). */
static const double STUCK = 0.05, MOST_STUCK = 0.5;

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SUBSPACES_ROW_CLUSTERS(CLO_MAX_CLUSTERS),
    [DIM] = CLO_SUBSPACES_ROW_DIM(4096),
    [FLATS] = CLO_SUBSPACES_ROW_FLATS,
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 0, MOST_ROUNDS, 0, NULL,
                 "passes over the data from each start; they share the budget; 0: chosen from the "
                 "public facts" },
    [RESTARTS] = { "restarts", CLO_PARAM_INT, 0, 32, 0, NULL,
                   "number of starts to choose from privately; 0: chosen from the public facts" },
    [SCHEDULE] = { "schedule", CLO_PARAM_CHOICE, 0, 1, RISING, "even|rising",
                   "rising: each round has less noise than the one before and is averaged with "
                   "it; even: all rounds have the same noise" },
    [ACCOUNTING] = { "accounting", CLO_PARAM_CHOICE, 0, 1, EXACT, "exact|paper",
                     "exact: the smallest noise that is proved; paper: the far larger noise that "
                     "wang2015 states, to compare with" },
    [REDUCE] = { "reduce", CLO_PARAM_INT, BY_CHOICE, MOST_KEPT, 0, NULL,
                 "number of directions to keep before the rounds; 0: all; -1: chosen from the "
                 "public facts" },
    [SHARE] = { "share", CLO_PARAM_REAL, 0.01, 0.95, 0.5, NULL,
                "share of the budget for choosing the directions" },
};

typedef struct sulq_plan {
    size_t clusters, dim;
    bool affine;
    size_t restarts, search, finish; /* rounds of each start, and of the chosen one after that */
    bool rising;
    double memory;
    size_t cols;        /* of the records */
    size_t frame, seen; /* directions kept, 0: none; and columns that the rounds see */
    double share;       /* of the budget, for the directions */
} sulq_plan;

/* ---- how much there is to hear --------------------------------------------------------------- */

static double sensitivity(const clo_domain *domain)
{
    const double one = domain->relation == CLO_REPLACE ? sqrt(2) : 1;
    return one * (double)domain->rows_per_unit;
}

/* How far the energy of a cluster's direction stands out of the noise of a matrix, if all of the
 * budget were spent on one: a rule of thumb from public facts, for records near the sphere and
 * clusters of equal size. */
static double clarity(const sulq_plan *plan, const clo_domain *domain, double rows, double mu)
{
    const double signal = rows / ((double)plan->clusters * (double)plan->dim);
    const double noise = sensitivity(domain) / mu * sqrt((double)plan->seen);
    return signal / noise;
}

/* k subspaces span at most k times their dimensions.  Keeping these pays where the noise of a Gram
 * matrix of the share, whose spectrum reaches to sqrt(2 d) of its standard deviation, would hide
 * none of them; records fill half of the ball evenly. */
static size_t what_pays(const sulq_plan *plan, const clo_domain *domain, double mu)
{
    const size_t kept = plan->clusters * (plan->dim + plan->affine);
    const double rows =
        domain->rows ? (double)domain->rows : GUESSED_ROWS_A_CLUSTER * (double)plan->clusters;
    const double edge =
        sensitivity(domain) / (mu * sqrt(plan->share)) * sqrt(2 * (double)plan->cols);
    return plan->cols > 2 * kept && kept <= MOST_KEPT && edge < rows / (4 * (double)kept) ? kept
                                                                                          : 0;
}

static clo_status choose_frame(const clo_draft *draft, double mu, sulq_plan *plan, clo_error *err)
{
    const double wanted = draft->values[REDUCE];
    plan->cols = plan->seen = draft->domain->cols;
    plan->share = draft->values[SHARE];
    if (wanted == 0) return CLO_OK;
    if (draft->values[ACCOUNTING] == PAPER)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "accounting=paper and reduce exclude each other: leave out one of them");
    if (wanted > 0 && (wanted > (double)plan->cols || wanted < (double)plan->dim))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "reduce must keep at least %zu directions and at most the number of "
                          "columns, %zu, not %g",
                          plan->dim, plan->cols, wanted);
    plan->frame = wanted > 0 ? (size_t)wanted : what_pays(plan, draft->domain, mu);
    if (plan->frame) plan->seen = plan->frame;
    return CLO_OK;
}

static size_t good_restarts(const sulq_plan *plan, const clo_domain *domain, double mu)
{
    if (plan->clusters == 1) return 1; /* every start leads to the same end */
    if (domain->rows == 0) return 2;
    const double heard = clarity(plan, domain, (double)domain->rows, mu);
    return heard < 12 ? 1 : heard < 18 ? 2 : heard < 100 ? 4 : 8;
}

static clo_status choose_shape(const clo_draft *draft, sulq_plan *plan, clo_error *err)
{
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    const bool paper = draft->values[ACCOUNTING] == PAPER;
    size_t rounds = (size_t)draft->values[ROUNDS];
    double mu;
    plan->clusters = (size_t)draft->values[CLUSTERS];
    plan->dim = (size_t)draft->values[DIM];
    plan->affine = draft->values[FLATS] == AFFINE;
    plan->restarts = (size_t)draft->values[RESTARTS];
    plan->rising = draft->values[SCHEDULE] == RISING && !paper;
    plan->memory = plan->rising ? MEMORY : 0;
    if (plan->dim > draft->domain->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu",
                          draft->domain->cols, plan->dim);
    if (paper && plan->restarts > 1)
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "accounting=paper and restarts exclude each other: leave out one of them");
    CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    CLO_TRY(choose_frame(draft, mu, plan, err));
    if (plan->frame) mu *= sqrt(1 - plan->share);
    if (plan->restarts == 0) plan->restarts = paper ? 1 : good_restarts(plan, draft->domain, mu);
    if (rounds == 0) rounds = paper ? PAPER_ROUNDS : plan->restarts == 1 ? 24 : 16;
    if (plan->clusters == 1 && draft->values[ROUNDS] == 0 && !paper) rounds = 1;
    plan->search = plan->restarts > 1 ? rounds - rounds / 4 : 0;
    plan->finish = rounds - plan->search;
    return CLO_OK;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* The share of its stage that round t has. */
static double share_of(const sulq_plan *plan, size_t t, size_t rounds)
{
    double all = 0;
    if (!plan->rising) return 1 / (double)rounds;
    for (size_t i = 0; i < rounds; i++) all += pow(RISE, (double)i);
    return pow(RISE, (double)t) / all;
}

/* Lines of one stage: one where all rounds are alike, otherwise one a round. */
static size_t lines_of(const sulq_plan *plan, size_t rounds)
{
    return plan->rising || rounds == 0 ? rounds : 1;
}

/* What a stage of `rounds`, asked by each of `starts`, with `share` of the budget, comes to: the
 * squares of the parameters, times their counts, add up to that share. */
static size_t add_events(const sulq_plan *plan, size_t rounds, size_t starts, double share,
                         clo_event *events)
{
    const size_t lines = lines_of(plan, rounds);
    for (size_t t = 0; t < lines; t++)
        events[t] =
            (clo_event){ .kind = CLO_EVENT_GAUSSIAN,
                         .parameter = sqrt(share * share_of(plan, t, rounds) / (double)starts),
                         .count = starts * (lines == 1 ? rounds : 1) };
    return lines;
}

static clo_status add_rounds(clo_draft *draft, const sulq_plan *plan, const clo_event *events,
                             size_t count, double factor, const char *label, clo_error *err)
{
    for (size_t i = 0; i < count; i++) {
        clo_line line;
        CLO_TRY(clo_i_subspaces_plan_round(draft->domain, plan->clusters, plan->frame, plan->affine,
                                           events[i].parameter * factor, events[i].count, label,
                                           &line, err));
        CLO_TRY(clo_i_draft_add(draft, &line, err));
    }
    return CLO_OK;
}

/* Of the rounds: the line before it, if any, is that of the directions. */
static size_t first_line(const sulq_plan *plan)
{
    return plan->frame > 0;
}

static size_t vectors(const sulq_plan *plan)
{
    return plan->clusters * (plan->dim + plan->affine);
}

static clo_status add_frame(clo_draft *draft, const sulq_plan *plan, double mu, clo_error *err)
{
    clo_line line;
    if (!plan->frame) return CLO_OK;
    CLO_TRY(clo_i_plan_gaussian_gram(
        draft->domain, 1, mu, 1, "Gram matrix of the records, to choose directions", &line, err));
    return clo_i_draft_add(draft, &line, err);
}

static clo_status add_choice(clo_draft *draft, const sulq_plan *plan, double epsilon,
                             clo_error *err)
{
    const clo_domain seen = clo_i_lens_domain(draft->domain, plan->seen);
    clo_line choice;
    CLO_TRY(clo_i_plan_choose_flats(plan->frame ? &seen : draft->domain, plan->restarts,
                                    vectors(plan), epsilon, 1, "which start went best", &choice,
                                    err));
    choice.lens = plan->frame > 0;
    return clo_i_draft_add(draft, &choice, err);
}

static clo_status plan_exact(clo_draft *draft, const sulq_plan *plan, clo_error *err)
{
    clo_event events[CLO_MAX_LINES];
    const bool several = plan->restarts > 1;
    const double rest = plan->frame ? 1 - plan->share : 1;
    const double finish = several ? 1 - SEARCH_SHARE - CHOICE_SHARE : 1;
    const size_t first = first_line(plan);
    size_t count = first;
    double factor;
    events[0] =
        (clo_event){ .kind = CLO_EVENT_GAUSSIAN, .parameter = sqrt(plan->share), .count = 1 };
    if (several) {
        count +=
            add_events(plan, plan->search, plan->restarts, rest * SEARCH_SHARE, events + count);
        /* rho: epsilon^2/8 of a choice against mu^2/2 of a Gaussian query. */
        events[count++] = (clo_event){ .kind = CLO_EVENT_EXPONENTIAL,
                                       .parameter = 2 * sqrt(rest * CHOICE_SHARE),
                                       .count = 1 };
    }
    const size_t before = count;
    count += add_events(plan, plan->finish, 1, rest * finish, events + count);
    CLO_TRY(clo_calibrate(events, count, draft->budget, &factor, err));
    CLO_TRY(add_frame(draft, plan, events[0].parameter * factor, err));
    if (several) {
        CLO_TRY(add_rounds(draft, plan, events + first, before - 1 - first, factor,
                           "Gram matrices of the clusters, for each start", err));
        CLO_TRY(add_choice(draft, plan, events[before - 1].parameter * factor, err));
    }
    return add_rounds(draft, plan, events + before, count - before, factor,
                      "Gram matrices of the clusters, one query per round", err);
}

/* What N asks of this epsilon come to by the composition that the paper uses. */
static double advanced(double epsilon, double asks, double slack)
{
    return sqrt(2 * asks * log(1 / slack)) * epsilon + asks * epsilon * expm1(epsilon);
}

/* wang2015, Propositions E.1 and E.2: k T asks of one matrix each, of sensitivity 2 (1 for
 * add-remove), by the classic Gaussian mechanism and advanced composition.  A noise level to
 * reproduce, not a claim: what the plan costs is priced as of any other (subspaces_sulq.T2). */
static clo_status plan_paper(clo_draft *draft, const sulq_plan *plan, clo_error *err)
{
    const double asks = (double)(plan->clusters * plan->finish);
    const double delta = draft->budget.delta / (asks + 1);
    const double one = draft->domain->relation == CLO_REPLACE ? 2 : 1;
    double low = 0, high = draft->budget.epsilon;
    if (!(delta > 0))
        return clo_i_fail(err, CLO_ARGUMENT, "accounting=paper needs a delta above 0");
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        *(advanced(middle, asks, delta) > draft->budget.epsilon ? &high : &low) = middle;
    }
    const double deviation =
        one * (double)draft->domain->rows_per_unit * sqrt(2 * log(1.25 / delta)) / low;
    const clo_event rounds = { .kind = CLO_EVENT_GAUSSIAN,
                               .parameter = sensitivity(draft->domain) / deviation,
                               .count = plan->finish };
    return add_rounds(draft, plan, &rounds, 1, 1,
                      "Gram matrices of the clusters, with the paper's noise", err);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* What a run works with. */
typedef struct state {
    double *frame;      /* cols x frame: the directions to look in; NULL: all */
    clo_flat_fit *fits; /* one a start */
    clo_flat_fit fit;   /* what each of them is at the beginning */
} state;

static clo_status take_state(const sulq_plan *plan, clo_workspace *space, state *s, clo_error *err)
{
    const size_t starts = plan->restarts;
    s->frame = NULL;
    if (plan->frame)
        CLO_TRY(clo_i_take(space, plan->cols * plan->frame, sizeof *s->frame, &s->frame, err));
    CLO_TRY(clo_i_take(space, starts, sizeof *s->fits, &s->fits, err));
    for (size_t i = 0; i < starts; i++) {
        CLO_TRY(clo_i_flat_fit_take(space, plan->clusters, plan->seen, plan->dim, plan->affine,
                                    &s->fit, err));
        s->fit.frame = s->frame;
        s->fit.whole = plan->frame ? plan->cols : 0;
        if (s->fits) s->fits[i] = s->fit; /* not where the plan counts */
    }
    return CLO_OK;
}

/* One a start, to choose by. */
static clo_status take_rules(clo_workspace *space, size_t starts, clo_assign **rules,
                             clo_error *err)
{
    return clo_i_take(space, starts, sizeof **rules, rules, err);
}

static clo_status count_choice(const sulq_plan *plan, const clo_flat_fit *fit, clo_workspace *room,
                               clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(room);
    clo_assign *rules;
    CLO_TRY(take_rules(room, plan->restarts, &rules, err));
    for (size_t i = 0; i < plan->restarts; i++) CLO_TRY(clo_i_subspaces_rule_room(room, fit, err));
    CLO_TRY(clo_i_lens_room(room, plan->cols, plan->frame, 0, err));
    clo_i_workspace_release(room, mark);
    return CLO_OK;
}

static clo_status count_run(const sulq_plan *plan, clo_workspace *room, clo_error *err)
{
    state s;
    CLO_TRY(take_state(plan, room, &s, err));
    if (plan->frame) CLO_TRY(clo_i_find_frame_room(room, plan->cols, plan->frame, err));
    CLO_TRY(clo_i_subspaces_round_room(room, &s.fit, err));
    if (plan->restarts > 1) CLO_TRY(count_choice(plan, &s.fit, room, err));
    if (plan->frame) CLO_TRY(clo_i_subspaces_unfold_room(room, &s.fit, err));
    return clo_i_subspaces_release_room(room, plan->cols, plan->dim, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    sulq_plan *const plan = plan_state;
    CLO_TRY(choose_shape(draft, plan, err));
    CLO_TRY(draft->values[ACCOUNTING] == PAPER ? plan_paper(draft, plan, err)
                                               : plan_exact(draft, plan, err));
    return count_run(plan, draft->room, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

static clo_status go(clo_context *context, const clo_bounded *data, const sulq_plan *plan,
                     size_t rounds, size_t first_line, double from, double to, clo_flat_fit *fit,
                     clo_error *err)
{
    for (size_t t = 0; t < rounds; t++) {
        context->progress_from = from + (to - from) * (double)t / (double)rounds;
        context->progress_to = from + (to - from) * (double)(t + 1) / (double)rounds;
        CLO_TRY(clo_i_subspaces_round(context, first_line + (plan->rising ? t : 0), data,
                                      plan->memory, fit, err));
    }
    return CLO_OK;
}

/* Through the frame, if any, records shrink by what its rounding takes, which no choice minds. */
static clo_status choose(clo_context *context, const clo_bounded *data, size_t line,
                         const clo_flat_fit *fits, size_t count, size_t *chosen, clo_error *err)
{
    const int bits = context->meter->lines[line].bits;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_assign *rules = NULL;
    clo_lens lens;
    clo_status status = take_rules(context->workspace, count, &rules, err);
    for (size_t i = 0; i < count && !status; i++)
        status = clo_i_subspaces_rule(context->workspace, &fits[i], bits, &rules[i], err);
    if (!status && fits->frame)
        status = clo_i_lens_make(context->workspace, fits->frame, fits->whole, fits->cols, 0, &lens,
                                 err);
    if (!status) {
        context->lens = fits->frame ? &lens : NULL;
        status = clo_i_ask_choose_flats(context, line, data, rules, chosen, err);
        context->lens = NULL;
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status release(clo_context *context, const clo_domain *domain, double noise,
                          clo_flat_fit *fit, clo_release *out, clo_error *err)
{
    clo_flat_fit whole = *fit;
    if (fit->frame) CLO_TRY(clo_i_subspaces_unfold(context->workspace, fit, &whole, err));
    return clo_i_subspaces_release(context, domain, noise, &whole, out, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const sulq_plan *const plan = plan_state;
    const size_t starts = plan->restarts, first = first_line(plan);
    const size_t choice = first + lines_of(plan, plan->search);
    const double rounds = (double)(starts * plan->search + plan->finish);
    const double searched = (double)(starts * plan->search) / rounds;
    size_t chosen = 0;
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    if (plan->frame)
        CLO_TRY(clo_i_find_frame(context, 0, data, plan->cols, plan->frame, s.frame, err));
    for (size_t i = 0; i < starts; i++) {
        CLO_TRY(clo_i_subspaces_start(context, &s.fits[i], err));
        CLO_TRY(go(context, data, plan, plan->search, first, searched * (double)i / (double)starts,
                   searched * (double)(i + 1) / (double)starts, &s.fits[i], err));
    }
    if (starts > 1) CLO_TRY(choose(context, data, choice, s.fits, starts, &chosen, err));
    CLO_TRY(go(context, data, plan, plan->finish, starts > 1 ? choice + 1 : first, searched, 1,
               &s.fits[chosen], err));
    /* The last rounds are averaged. */
    const clo_line *const last = &context->meter->lines[context->meter->count - 1];
    const double noise = ldexp((double)last->scale, -2 * last->bits) / sqrt((double)plan->finish);
    return release(context, domain, noise, &s.fits[chosen], out, err);
}

/* What the directions miss: noisy entries between one that is kept and the others, over its energy
 * among all records; the k q of them that the subspaces span. */
static double missed(const sulq_plan *plan, const clo_line *lines, double rows)
{
    const double directions = (double)(plan->clusters * plan->dim);
    const double noise = ldexp((double)lines[0].scale, -2 * lines[0].bits) / sqrt(2);
    const double tilt = noise * directions / rows;
    return plan->frame ? directions * (double)(plan->cols - plan->frame) * tilt * tilt : 0;
}

/* First-order perturbation, as for one subspace, by the noise of what the last rounds average.
 * Where the clusters hardly stand out of the noise they are not found, either: the further factor
 * was measured (bench/bench_wang2015.py); they may be found wrong at any budget; and no error is
 * worse than that of random subspaces. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const sulq_plan *const plan = plan_state;
    const double k = (double)plan->clusters, q = (double)plan->dim, d = (double)plan->seen;
    const double all = (double)plan->cols, worst = sqrt(k * q * (all - q) / all);
    const size_t finishing = lines_of(plan, plan->finish);
    const size_t first =
        first_line(plan) + (plan->restarts > 1 ? lines_of(plan, plan->search) + 1 : 0);
    double trust = 0, square = 0;
    for (size_t i = first_line(plan); i < first + finishing; i++)
        if (lines[i].query == &clo_i_query_gaussian_gram)
            square +=
                lines[i].event.parameter * lines[i].event.parameter * (double)lines[i].event.count;
    for (size_t t = 0; t < plan->finish; t++) {
        const clo_line *const line = &lines[first + (plan->rising ? t : 0)];
        const double deviation = ldexp((double)line->scale, -2 * line->bits);
        trust = plan->memory * trust + 1 / (deviation * deviation);
    }
    const double lost = k > 1 ? LOST_BELOW / clarity(plan, domain, rows, sqrt(square)) : 0;
    const double error = sqrt(k) * sqrt(q * (d - q) / 2 / trust) * q * k / rows * (1 + lost * lost);
    const double stuck = worst * fmin(STUCK * (k - 1), MOST_STUCK);
    return fmin(sqrt(error * error + missed(plan, lines, rows) + stuck * stuck), worst);
}

extern const clo_mechanism clo_i_mechanism_subspaces_sulq;
const clo_mechanism clo_i_mechanism_subspaces_sulq = {
    .family = "subspaces",
    .method = "sulq",
    .summary = "k subspaces, by k-planes on noisy Gram matrices",
    .proof = "proofs/subspaces_sulq.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(sulq_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "distance d_W between the released and the true subspaces, for clusters of equal "
                  "size whose rows fill them evenly out to the norm, with what local minima cost",
    .hidden_from = clo_i_frames_hidden_from,
};
