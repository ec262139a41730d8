/* partition.h - what tests of every query know of it (query_kinds.h). */
#include "query/partition_internal.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

enum { CORNER_RECORDS = 15, SURE_RECORDS = 200, CORNERS = 3 };

/* Four corners: one with so many records that it is always active, so that where the cube lies is
 * known; the three others with a few each. */
static inline void prepare_partition(noisy *n)
{
    const clo_cube_tree how = { .levels = 1, .trees = 1, .most = 4 };
    clo_error err;
    n->domain = ball(2, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_partition(&n->domain, &how, 0.2, "", &n->line, &err), err);
    noisy_room(n, CORNERS * 1024, n->form->asks, SURE_RECORDS + CORNERS * CORNER_RECORDS);
    for (size_t r = 0; r < n->rows; r++) {
        const size_t corner = r < SURE_RECORDS ? CORNERS : r % CORNERS;
        n->records[2 * r] = corner & 1 ? 0.7 : -0.7;
        n->records[2 * r + 1] = corner & 2 ? 0.7 : -0.7;
    }
    for (size_t i = 0; i < n->numbers; i++) n->cluster_of[i] = (uint16_t)(i % CORNERS);
    n->scales[0] = 1;
}

/* partition.T1, and a phantom among four children: by the number of phantoms, j of them with chance
 * 8^-j 7/8 for j below 4. */
static inline double chance_of_corner(const clo_line *line)
{
    const double rate = (double)line->rate_numerator / (double)line->rate_denominator;
    const int64_t threshold = (int64_t)clo_i_partition_fields(line).threshold;
    double all = 1 / -expm1(-rate), below = 0, phantom = 0;
    for (int64_t x = 1 - threshold; x < 0; x++) all += exp(rate * (double)x);
    for (int64_t x = 1 - threshold; x <= CORNER_RECORDS - threshold; x++)
        below += exp(-rate * fabs((double)x));
    for (int j = 1; j < 4; j++) phantom += pow(8, -j) * 7 / 8 * j / 4;
    phantom += pow(8, -4);
    return 1 - (1 - below / all) * (1 - phantom);
}

/* One tree whose cube is halved between the corners, along both axes; its active corners. */
static inline void grow_tree(noisy *n, bool active[CORNERS + 1])
{
    double centers[8];
    bool apart = false;
    while (!apart) {
        clo_cubes cubes = { .centers = centers };
        double low[2] = { INFINITY, INFINITY };
        clo_error err;
        assert_ok(clo_i_ask_partition(&n->a.context, n->number, n->data, &cubes, &err), err);
        memset(active, 0, (CORNERS + 1) * sizeof *active);
        /* The corner at (.7, .7) is always there; a child runs from its centre - 1 to + 1. */
        for (size_t c = 0; c < cubes.count; c++)
            if (fabs(centers[2 * c] - .7) <= 1 && fabs(centers[2 * c + 1] - .7) <= 1)
                low[0] = centers[2 * c] - 1, low[1] = centers[2 * c + 1] - 1;
        assert_true(isfinite(low[0]));
        apart = fabs(low[0]) < .69 && fabs(low[1]) < .69;
        for (size_t c = 0; c < cubes.count && apart; c++)
            active[(centers[2 * c] > low[0]) + 2 * (centers[2 * c + 1] > low[1])] = true;
    }
}

static inline void ask_partition(noisy *n, double *residual)
{
    const double chance = chance_of_corner(&n->line);
    for (size_t i = 0; i < n->numbers; i += CORNERS) {
        bool active[CORNERS + 1];
        grow_tree(n, active);
        for (size_t c = 0; c < CORNERS; c++)
            residual[i + c] =
                active[c] ? laplace_within(n, 1 - chance, 1) : laplace_within(n, 0, 1 - chance);
    }
}

static const noisy_form forms_partition[] = {
    { "corners", prepare_partition, ask_partition, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* Rows come or go one by one, each at the rate a; an empty child is as likely as a phantom allows:
 * y <= theta (1 + e^a - y) with y = e^-(a (tau - 1)). */
static inline bool tau_is_enough(long double a, long double tau, size_t cols)
{
    const long double theta = ldexpl(1, -(int)cols - 3), y = expl(-a * (tau - 1));
    return y <= theta * (1 + expl(a) - y);
}

static inline void line_partition(const held *l)
{
    const clo_line *const s = l->line;
    const long double a = (long double)s->rate_numerator / (long double)s->rate_denominator;
    const uint64_t moved = (replaces(l) ? 2 : 1) * l->rows;
    HOLDS(l, s->sensitivity == moved);
    HOLDS(l, clo_i_partition_fields(s).threshold >= 1);
    HOLDS(l, tau_is_enough(a, (long double)clo_i_partition_fields(s).threshold, s->cols));
    HOLDS(l, s->event.count % clo_i_partition_fields(s).levels == 0); /* a charge a level */
    priced_by_rate(l, CLO_EVENT_PURE, moved);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_partition(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const clo_cube_tree how = {
        .levels = 1 + variant % 2, .trees = TIMES, .most = 9, .threshold = variant / 2 % 2 ? 8 : 0
    };
    clo_error err;
    if (variant >= 12) return false;
    *asked = epsilons[variant / 4];
    made(clo_i_plan_partition(domain, &how, *asked, "", out, &err), &err);
    assert_int_equal(out->event.count, TIMES * how.levels);
    out->event.count /= how.levels; /* as the others are checked */
    change_fields(partition, out, levels = 1);
    const uint64_t tau = clo_i_partition_fields(out).threshold;
    /* The least threshold, but where a higher one is asked for. */
    const long double a = (long double)out->rate_numerator / (long double)out->rate_denominator;
    assert_true((double)tau >= how.threshold / (double)a);
    assert_true(how.threshold > 0 || tau == 1 ||
                !tau_is_enough(a, (long double)tau - 1, out->cols));
    return true;
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_partition(const clo_domain *domain, clo_line *out, clo_error *err)
{
    const clo_cube_tree how = { .levels = 2, .trees = 1, .most = 8 };
    return clo_i_plan_partition(domain, &how, 1, "", out, err);
}

static clo_status reach_ask_partition(const question *q)
{
    double centers[8 * D];
    clo_cubes cubes = { .centers = centers };
    const clo_status status = clo_i_ask_partition(q->context, 0, q->data, &cubes, q->err);
    listen(q->context->user, "", centers, cubes.count * D);
    return status;
}

static const reach reach_partition = {
    .plan = reach_line_partition,
    .ask = reach_ask_partition,
    .held_by = "cubes are drawn with their counts: test_largest_change.c",
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* Of one level, whose cubes a seed fixes.  Children are counted; or, with so many cubes that a
 * table of all children would be too large, records are sorted. */
static bool change_line_partition(const clo_domain *domain, size_t v, clo_line *out)
{
    const clo_cube_tree how = { .levels = 1,
                                .trees = 1,
                                .most = v ? ((size_t)1 << (21 - domain->cols)) + 1 : 8 };
    clo_error err;
    return v < 2 && made(clo_i_plan_partition(domain, &how, 1, "", out, &err), &err);
}

static clo_status change_ask_partition(const question *q)
{
    double centers[8 * COLS];
    clo_cubes cubes = { .centers = centers };
    assert_true(clo_i_tree_is_counted(q->context->meter->lines) == (q->variant == 0));
    return clo_i_ask_partition(q->context, 0, q->data, &cubes, q->err);
}

PROBE(partition, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_partition(sum_asks *a)
{
    const clo_cube_tree tree = { .levels = 2, .trees = 1, .most = 8 };
    ADD(clo_i_plan_partition(&a->domain, &tree, 1, "", &line, &err), 0, NULL, 0, a->cubes, 9);
    ADD(clo_i_plan_partition(&a->through, &tree, 1, "", &line, &err), CLO_LENS, NULL, 0,
        a->seen_cubes, 5);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_partition = 0 };

#endif
