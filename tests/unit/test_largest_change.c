/*
 * How far a unit can change what an answer is drawn from, by trying everything small: every query
 * is asked about every record of a grid, by its own code, and the exact numbers that noise is about
 * to be added to, or that a choice is about to be made by, are compared for every pair of
 * neighbours (the T1 of each query).  What is compared is the loss itself, with the laws that are
 * really drawn from, number by number, against the price that the plan states; so a record that
 * counts twice, one that is longer than it may be, a law of too little noise and a price that is
 * too low are all the same fault here.
 *
 * A fine grid has distances of a few steps, where roundings show, with all rows of a unit alike; a
 * coarse one has units of different rows, beside others.  Widths go from one step up.
 *
 * One row for each query of the table, asked for by name: a new query does not compile without.
 */
#include "pipeline.h"
#include "query_kinds.h"
#include "ask/assign.h"
#include "query/gibbs_internal.h"
#include "ask/lens.h"
#include "ask/witness.h"
#include "parallel/parallel.h"
#include <omp.h>

enum { COLS = 3, MOST_NUMBERS = 48, MOST_PARTS = 8, MOST_OF_A_UNIT = 3, MOST_OTHERS = 2 };
static const double STEP = 0x1p-20;
static const double STEPS[] = { 1, 2, 3, 5, 16, 1 << 18 }; /* widths, in steps */
enum { WIDTHS = sizeof STEPS / sizeof *STEPS };

/* ---- what an answer is drawn from ------------------------------------------------------------ */

/* Numbers that are drawn from at once: one answer's sums, or the scores of one choice. */
typedef struct piece {
    clo_exact_kind kind;
    size_t first, count, chosen;
} piece;

typedef struct heard {
    size_t parts, count;
    piece part[MOST_PARTS];
    int64_t numbers[MOST_NUMBERS];
    double rates[MOST_NUMBERS]; /* what a change of 1 is worth, before it is squared if normal */
    bool normal[MOST_NUMBERS];
} heard;

/* Whether the first choices are made, or the last: so both ends of a list are gone through. */
typedef struct listening {
    heard *to;
    bool last;
} listening;

static double rate_of(const clo_law *law)
{
    return law->scale ? 1 / (double)law->scale
                      : (double)law->rate_numerator / (double)law->rate_denominator;
}

static size_t hear(void *user, const clo_exact *exact)
{
    const listening *const l = user;
    heard *const h = l->to;
    const clo_law choice = { 0, exact->line->rate_numerator, exact->line->rate_denominator };
    assert_true(h->parts < MOST_PARTS && h->count + exact->count <= MOST_NUMBERS);
    const size_t chosen = l->last ? exact->count - 1 : 0;
    h->part[h->parts++] = (piece){ exact->kind, h->count, exact->count, chosen };
    for (size_t i = 0; i < exact->count; i++, h->count++) {
        const size_t class = exact->noise && exact->noise->class_of ? exact->noise->class_of[i] : 0;
        const clo_law *const law = exact->noise ? &exact->noise->laws[class] : &choice;
        h->numbers[h->count] = exact->numbers[i];
        h->normal[h->count] = law->scale > 0;
        h->rates[h->count] = exact->kind == CLO_EXACT_WEIGHTS ? 1 : rate_of(law);
    }
    return chosen;
}

/* ---- how much two of them tell apart --------------------------------------------------------- */

typedef struct loss {
    double square, sum; /* of normal noise; of all else */
} loss;

static void add_sums(const heard *a, const heard *b, const piece *p, loss *out)
{
    for (size_t i = p->first; i < p->first + p->count; i++) {
        const double apart = (double)(a->numbers[i] - b->numbers[i]) * a->rates[i];
        assert_true(a->rates[i] == b->rates[i]); /* noise does not follow the data */
        if (a->normal[i])
            out->square += apart * apart;
        else
            out->sum += fabs(apart);
    }
}

/* The logarithm of a weight, up to a constant that a and b need not share. */
static double log_weight(const heard *h, const piece *p, size_t i)
{
    return p->kind == CLO_EXACT_WEIGHTS ? log((double)h->numbers[i])
                                        : (double)h->numbers[i] * h->rates[i];
}

static double log_total(const heard *h, const piece *p)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = p->first; i < p->first + p->count; i++) most = fmax(most, log_weight(h, p, i));
    for (size_t i = p->first; i < p->first + p->count; i++) sum += exp(log_weight(h, p, i) - most);
    return most + log(sum);
}

/* Of a choice that is priced by its range: from what gains most to what loses most.  Of one that is
 * priced as pure: how far the chance of what was chosen moves. */
static void add_choice(const heard *a, const heard *b, const piece *p, bool pure, loss *out)
{
    double low = INFINITY, high = -INFINITY;
    const size_t one = p->first + p->chosen;
    if (pure) {
        out->sum +=
            fabs(log_weight(a, p, one) - log_total(a, p) - log_weight(b, p, one) + log_total(b, p));
        return;
    }
    for (size_t i = p->first; i < p->first + p->count; i++) {
        if (a->numbers[i] == b->numbers[i] && a->numbers[i] == 0 && p->kind == CLO_EXACT_WEIGHTS)
            continue; /* a cell that is taken */
        const double apart = log_weight(a, p, i) - log_weight(b, p, i);
        low = fmin(low, apart);
        high = fmax(high, apart);
    }
    out->sum += high > low ? high - low : 0;
}

static const int64_t *cube_in(const heard *h, const int64_t *cube)
{
    for (size_t p = 0; p < h->parts; p++) {
        const int64_t *const here = h->numbers + h->part[p].first;
        if (here[0] == cube[0] && here[1] == cube[1]) return here;
    }
    return NULL;
}

/* Cubes without records are not heard of. */
static void add_cubes(const heard *a, const heard *b, bool twice, loss *out)
{
    for (size_t p = 0; p < a->parts; p++) {
        const int64_t *const own = a->numbers + a->part[p].first;
        const int64_t *const other = cube_in(b, own);
        if (other && twice) continue;
        out->sum += fabs((double)(own[2] - (other ? other[2] : 0))) * a->rates[a->part[p].first];
    }
}

static double loss_between(const heard *a, const heard *b, clo_event_kind price)
{
    loss all = { 0, 0 };
    if ((a->parts && a->part[0].kind == CLO_EXACT_RECORDS) ||
        (b->parts && b->part[0].kind == CLO_EXACT_RECORDS)) {
        add_cubes(a, b, false, &all);
        add_cubes(b, a, true, &all);
        return all.sum;
    }
    assert_int_equal(a->parts, b->parts);
    assert_int_equal(a->count, b->count);
    for (size_t p = 0; p < a->parts; p++)
        if (a->part[p].kind == CLO_EXACT_SUMS)
            add_sums(a, b, &a->part[p], &all);
        else
            add_choice(a, b, &a->part[p], price == CLO_EVENT_PURE, &all);
    assert_true(all.square == 0 || all.sum == 0);
    return all.square > 0 ? sqrt(all.square) : all.sum;
}

/* ---- a line and an ask of each query --------------------------------------------------------- */

typedef struct question {
    clo_context *context;
    const clo_bounded *data;
    const clo_domain *domain;
    size_t variant;
    clo_error *err;
} question;

typedef bool make_line(const clo_domain *domain, size_t variant, clo_line *out);
typedef clo_status make_ask(const question *q);

typedef struct probe {
    const char *held_by; /* instead of all of this; NULL: nothing */
    make_line *plan;
    make_ask *ask;
    double least; /* share of the price that the worst pair of all variants must reach */
    bool each;    /* under add-remove, too, no score moves by more than the sensitivity: its T1 */
} probe;

static bool made(clo_status status, const clo_error *err)
{
    if (status) print_error("%s\n", err->message);
    assert_int_equal(status, CLO_OK);
    return true;
}

/* The first in the middle, the second near an end; or the first alone. */
static clo_assign two_centers(const question *q, size_t clusters)
{
    const size_t d = q->domain->cols;
    double points[2 * COLS] = { 0 };
    clo_assign rule;
    points[d] = 0.75;
    assert_ok(clo_i_assign_centers(q->context->workspace, points, clusters, d,
                                   q->context->meter->lines->bits, &rule, q->err),
              *q->err);
    return rule;
}

static const clo_assign everyone = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };

enum { CANDIDATES = 3 };

#define PROBE(name, least, each)                                                                   \
    static const probe probe_##name = { NULL, change_line_##name, change_ask_##name, least, each }
#define QUERY_CHANGE
#include "every_query.h"
#undef QUERY_CHANGE
#undef PROBE

static const probe *const probes[KINDS] = {
#define QUERY(name) [KIND_##name] = &probe_##name,
#include "query/table.def"
#undef QUERY
};

/* ---- records, units and worlds --------------------------------------------------------------- */

typedef struct record {
    double x[COLS];
} record;

typedef struct world {
    size_t others, rows;
    record row[MOST_OTHERS + MOST_OF_A_UNIT]; /* the others' first */
} world;

typedef struct list {
    size_t count, room;
    record *records;
} list;

static void push(list *l, const double *x, size_t cols)
{
    double square = 0;
    for (size_t j = 0; j < cols; j++) square += x[j] * x[j];
    if (square > 1 + 1e-9) return;
    if (l->count == l->room) {
        l->room = 2 * l->room + 64;
        l->records = realloc(l->records, l->room * sizeof *l->records);
        assert_non_null(l->records);
    }
    memset(&l->records[l->count], 0, sizeof *l->records);
    memcpy(l->records[l->count++].x, x, cols * sizeof *x);
}

/* All points of the ball whose coordinates are among these. */
static list grid_of(const double *axis, size_t places, size_t cols)
{
    list l = { 0 };
    size_t all = 1;
    for (size_t j = 0; j < cols; j++) all *= places;
    for (size_t i = 0; i < all; i++) {
        double x[COLS] = { 0 };
        size_t rest = i;
        for (size_t j = 0; j < cols; j++, rest /= places) x[j] = axis[rest % places];
        push(&l, x, cols);
    }
    return l;
}

#define S *0x1p-20
static const double fine1[] = { 0,    1 S,   2 S,    3 S,   4 S,  5 S,   6 S,     7 S,
                                15 S, 16 S,  17 S,   63 S,  64 S, 65 S,  0.124,   0.125,
                                0.25, 0.5,   0.7071, 0.75,  1,    -1 S,  -2 S,    -3 S,
                                -5 S, -16 S, -17 S,  -0.25, -0.5, -0.75, -0.7071, -1 };
static const double fine2[] = { 0,   1 S, 2 S,     3 S,     5 S, 11 S, 12 S, 13 S, 16 S, 0.25, 0.5,
                                0.6, 0.8, 0.70710, -0.7071, 1,   -1,   -1 S, -2 S, -7 S, -16 S };
static const double fine3[] = { 0, 1 S, 2 S, 3 S, 9 S, 10 S, 16 S, 0.5, 0.57735, -0.57735, 1, -1 };
#undef S
static const double coarse1[] = { -1, -0.5, 0, 0x1p-19, 0.5, 1 };
static const double coarse2[] = { -0.7071, 0, 0x1p-19, 0.7071 };
static const double coarse3[] = { -0.577, 0.577 };

static list fine_grid(size_t cols)
{
    if (cols == 1) return grid_of(fine1, sizeof fine1 / sizeof *fine1, 1);
    if (cols == 2) return grid_of(fine2, sizeof fine2 / sizeof *fine2, 2);
    return grid_of(fine3, sizeof fine3 / sizeof *fine3, 3);
}

static list coarse_grid(size_t cols)
{
    if (cols == 1) return grid_of(coarse1, sizeof coarse1 / sizeof *coarse1, 1);
    if (cols == 2) return grid_of(coarse2, sizeof coarse2 / sizeof *coarse2, 2);
    return grid_of(coarse3, sizeof coarse3 / sizeof *coarse3, 3);
}

/* ---- one search ------------------------------------------------------------------------------ */

typedef struct search {
    query_kind kind;
    size_t variant;
    clo_domain domain;
    clo_line line;
    bool last; /* of every choice, the last candidate */
    clo_workspace *space;
    double worst; /* share of the price, of all pairs so far */
} search;

static void ask_world(search *s, const world *w, heard *out)
{
    double values[(MOST_OTHERS + MOST_OF_A_UNIT) * COLS];
    uint64_t units[MOST_OTHERS + MOST_OF_A_UNIT];
    const size_t rows = w->others + w->rows, d = s->domain.cols;
    clo_meter meter = { .lines = &s->line, .count = 1 };
    clo_error err;
    clo_context context = { .rng = seeded("largest change"),
                            .workspace = s->space,
                            .comm = clo_i_comm_self(),
                            .threads = 1,
                            .progress_to = 1,
                            .meter = &meter };
    for (size_t i = 0; i < rows; i++) {
        memcpy(values + i * d, w->row[i].x, d * sizeof *values);
        units[i] = i < w->others ? 100 + i : 7;
    }
    clo_bounded *const data = s->domain.unit ? bounded_from_units(values, units, rows, &s->domain)
                                             : bounded_from(values, rows, &s->domain);
    const question q = { &context, data, &s->domain, s->variant, &err };
    const size_t mark = clo_i_workspace_mark(s->space);
    listening l = { out, s->last };
    *out = (heard){ 0 };
    clo_i_witness_listen(hear, &l);
    assert_ok(probes[s->kind]->ask(&q), err);
    clo_i_witness_listen(NULL, NULL);
    clo_i_workspace_release(s->space, mark);
    clo_bounded_free(data);
    clo_rng_free(context.rng);
}

static void print_unit(const char *what, const world *w, size_t cols)
{
    print_error("  %s:", what);
    for (size_t i = w->others; i < w->others + w->rows; i++) {
        for (size_t j = 0; j < cols; j++) print_error("%s%.17g", j ? ", " : " (", w->row[i].x[j]);
        print_error(")");
    }
    print_error("%s\n", w->rows ? "" : " no rows");
}

/* By how much the score moves that moves most, in sensitivities.  The loss sees a choice by its
 * range: scores that all move one way by twice what they may lose no more than they should. */
static double farthest_score(const search *s, const heard *a, const heard *b)
{
    double most = 0;
    for (size_t p = 0; p < a->parts; p++)
        for (size_t i = a->part[p].first;
             a->part[p].kind == CLO_EXACT_SCORES && i < a->part[p].first + a->part[p].count; i++)
            most = fmax(most, fabs((double)(a->numbers[i] - b->numbers[i])));
    return most / (double)s->line.sensitivity;
}

static void judge(search *s, const world *one, const heard *a, const world *other, const heard *b)
{
    const clo_event *const price = &s->line.event;
    const double lost = loss_between(a, b, price->kind), share = lost / price->parameter;
    const double moved = farthest_score(s, a, b);
    const bool each = probes[s->kind]->each || s->domain.relation == CLO_REPLACE;
    if (share > s->worst) s->worst = share;
    if (share <= 1 + 1e-9 && moved <= (each ? 1 : 2)) return;
    print_error("%s, variant %zu, %zu columns, %s, %llu rows a unit%s: a unit loses %.12g, and the "
                "plan says %.12g, beside %zu others; a score moves by %g sensitivities\n",
                clo_i_query_name(s->line.query), s->variant, s->domain.cols,
                clo_relation_name(s->domain.relation), (unsigned long long)s->domain.rows_per_unit,
                s->domain.unit ? "" : ", no units", lost, price->parameter, one->others, moved);
    print_unit("a unit of", one, s->domain.cols);
    print_unit("against", other, s->domain.cols);
    fail();
}

/* A world, and how far it is from the one without the unit. */
typedef struct far {
    size_t world;
    double lost;
} far;

static int farthest_first(const void *a, const void *b)
{
    const double x = ((const far *)a)->lost, y = ((const far *)b)->lost;
    return (x < y) - (x > y);
}

/* Of the worlds those that are neighbours; the first has no unit.  A loss is a distance: two worlds
 * are no farther apart than both are from the first one, and what is thus sure to be no worse than
 * what was found already is passed over. */
static void compare(search *s, const world *worlds, const heard *answers, size_t count)
{
    const bool replace = s->domain.relation == CLO_REPLACE;
    const clo_event *const price = &s->line.event;
    far *const order = calloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        order[i] = (far){ i, loss_between(&answers[i], &answers[0], price->kind) };
        if (i && (!replace || s->domain.unit))
            judge(s, &worlds[i], &answers[i], &worlds[0], &answers[0]);
    }
    qsort(order + 1, count - 1, sizeof *order, farthest_first);
    for (size_t i = 1; replace && i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const size_t one = order[i].world, other = order[j].world;
            if (!probes[s->kind]->each && /* which is no matter of losses */
                order[i].lost + order[j].lost <= s->worst * price->parameter)
                break;
            judge(s, &worlds[one], &answers[one], &worlds[other], &answers[other]);
        }
    free(order);
}

static void ask_and_compare(search *s, const world *worlds, size_t count)
{
    heard *const answers = calloc(count, sizeof *answers);
    assert_non_null(answers);
    for (size_t i = 0; i < count; i++) ask_world(s, &worlds[i], &answers[i]);
    compare(s, worlds, answers, count);
    free(answers);
}

/* All rows of a unit alike, on the fine grid, and nobody else. */
static void search_fine(search *s)
{
    const list grid = fine_grid(s->domain.cols);
    world *const worlds = calloc(grid.count + 1, sizeof *worlds);
    for (size_t i = 0; i < grid.count; i++) {
        worlds[i + 1].rows = s->domain.rows_per_unit;
        for (size_t r = 0; r < worlds[i + 1].rows; r++) worlds[i + 1].row[r] = grid.records[i];
    }
    ask_and_compare(s, worlds, grid.count + 1);
    free(worlds);
    free(grid.records);
}

/* All units of up to M rows of these, in one order. */
static size_t fill_units(const list *grid, size_t first, size_t left, world now, world *out)
{
    size_t count = 1;
    *out = now;
    if (left == 0) return count;
    for (size_t i = first; i < grid->count; i++) {
        world next = now;
        next.row[next.others + next.rows++] = grid->records[i];
        count += fill_units(grid, i, left - 1, next, out + count);
    }
    return count;
}

/* Units of different rows, beside up to two others at both ends; or, where each score is looked at,
 * in the middle, too. */
static void search_coarse(search *s)
{
    enum { MOST_WORLDS = 1024 };
    const list grid = coarse_grid(s->domain.cols);
    world *const worlds = calloc(MOST_WORLDS, sizeof *worlds);
    for (size_t way = 0; way <= MOST_OTHERS * (probes[s->kind]->each ? 2 : 1); way++) {
        const bool middle = way > MOST_OTHERS;
        const size_t others = middle ? way - MOST_OTHERS : way;
        world first = { .others = others };
        for (size_t i = 0; i < others && !middle; i++)
            first.row[i] = grid.records[i ? grid.count - 1 : 0];
        const size_t count = fill_units(&grid, 0, s->domain.rows_per_unit, first, worlds);
        assert_true(count < MOST_WORLDS);
        ask_and_compare(s, worlds, count);
    }
    free(worlds);
    free(grid.records);
}

static double search_query(query_kind kind, size_t *variants)
{
    search s = { .kind = kind };
    clo_error err;
    assert_ok(clo_workspace_new(32 << 20, &s.space, &err), err);
    for (size_t cols = 1; cols <= COLS; cols++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (uint64_t rows = 0; rows <= MOST_OF_A_UNIT; rows++) /* 0: no units */
                for (s.variant = 0;; s.variant++) {
                    s.domain = ball(cols, 1, (clo_relation)relation);
                    s.domain.rows_per_unit = rows ? rows : 1;
                    s.domain.unit = rows ? "person" : NULL;
                    if (!probes[kind]->plan(&s.domain, s.variant, &s.line)) break;
                    s.line.event.count = UINT32_MAX;
                    for (int last = 0; last < 2; last++) {
                        s.last = last;
                        if (last && s.line.event.kind != CLO_EVENT_PURE) continue;
                        if (rows == 0 || (rows == 2 && cols < COLS)) search_fine(&s);
                        search_coarse(&s);
                    }
                    ++*variants;
                }
    clo_workspace_free(s.space);
    return s.worst;
}

static void no_unit_changes_what_is_drawn_from_by_more_than_the_plan_says(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        size_t variants = 0;
        assert_true((probes[k]->held_by == NULL) == (probes[k]->plan != NULL));
        if (probes[k]->held_by) continue;
        const double worst = search_query((query_kind)k, &variants);
        print_message("# %s: %zu lines, the worst pair loses %.4f of its price\n",
                      clo_i_query_name(query_of((query_kind)k)), variants, worst);
        assert_true(worst >= probes[k]->least); /* or the search looked at nothing */
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* What each block was shown, as a sum over its rows; blocks are known by their seeds. */
enum { BLOCKS = 12, MANY = 20 };
typedef struct shown {
    size_t count;
    uint8_t seed[BLOCKS][32];
    double sums[BLOCKS];
} shown;

static void show(shown *s, const clo_block *block)
{
    assert_true(s->count < BLOCKS);
    memcpy(s->seed[s->count], block->seed, sizeof s->seed[0]);
    for (size_t i = 0; i < (size_t)block->count * block->cols; i++)
        s->sums[s->count] += block->rows[i] * (double)(1 + i % block->cols);
    s->count++;
}

static clo_status solve_shown(void *user, const clo_block *block, double *center, clo_error *err)
{
    show(user, block);
    memset(center, 0, block->cols * sizeof *center);
    return CLO_OK;
}

static clo_status locate_shown(void *user, size_t number, const clo_block *block, int64_t *place,
                               clo_error *err)
{
    show(user, block);
    *place = 0;
    return CLO_OK;
}

static void show_blocks(bool histogram, const clo_line *line, const clo_bounded *data, shown *out)
{
    clo_line own = *line;
    clo_meter meter = { .lines = &own, .count = 1 };
    clo_error err;
    clo_context context = { .rng = seeded("blocks"),
                            .comm = clo_i_comm_self(),
                            .threads = 1,
                            .progress_to = 1,
                            .meter = &meter };
    double center[2];
    int64_t place;
    clo_cell cell = { .place = &place };
    *out = (shown){ 0 };
    assert_ok(clo_workspace_new(1 << 20, &context.workspace, &err), err);
    assert_ok(histogram
                  ? clo_i_ask_histogram(&context, 0, data, locate_shown, out, NULL, 0, &cell, &err)
                  : clo_i_ask_aggregate(&context, 0, data, solve_shown, out, center, &err),
              err);
    clo_workspace_free(context.workspace);
    clo_rng_free(context.rng);
}

/* The same draws deal as many rows out alike (under replace): only what a unit has is another. */
static size_t blocks_changed(bool histogram, const clo_line *line, const clo_domain *domain)
{
    static shown one, other;
    double values[2 * MANY];
    uint64_t units[MANY];
    for (size_t i = 0; i < MANY; i++) {
        units[i] = 7 + (i >= domain->rows_per_unit) * i;
        values[2 * i] = 0.01 * (double)(i + 1);
        values[2 * i + 1] = 0.5;
    }
    for (size_t side = 0; side < 2; side++) {
        clo_bounded *const data = domain->unit ? bounded_from_units(values, units, MANY, domain)
                                               : bounded_from(values, MANY, domain);
        show_blocks(histogram, line, data, side ? &other : &one);
        clo_bounded_free(data);
        for (size_t i = 0; i < domain->rows_per_unit; i++) values[2 * i + 1] = -0.5;
    }
    size_t changed = 0;
    assert_int_equal(one.count, other.count);
    assert_int_equal(one.count, BLOCKS);
    for (size_t b = 0; b < BLOCKS; b++) {
        assert_memory_equal(one.seed[b], other.seed[b], sizeof one.seed[b]);
        changed += one.sums[b] != other.sums[b];
    }
    return changed;
}

static void no_unit_is_in_more_blocks_than_it_has_rows(void **state)
{
    (void)state;
    for (uint64_t rows = 1; rows <= MOST_OF_A_UNIT; rows++)
        for (int histogram = 0; histogram < 2; histogram++) {
            clo_domain domain = ball(2, 1, CLO_REPLACE);
            clo_line line;
            clo_error err;
            domain.rows_per_unit = rows;
            domain.unit = rows > 1 ? "person" : NULL;
            if (histogram) {
                assert_ok(clo_i_plan_histogram(&domain, 1, 1, BLOCKS, (clo_loss){ 8, 0.01 }, "",
                                               &line, &err),
                          err);
            } else {
                assert_ok(clo_i_plan_aggregate_centers(&domain, 1, 200, (clo_loss){ 8, 1e-6 }, "",
                                                       &line, &err),
                          err);
                assert_int_equal(line.sensitivity, rows);
                clo_aggregate_fields own = clo_i_aggregate_fields(&line);
                own.blocks = BLOCKS;
                clo_i_aggregate_set_fields(&line, own);
            }
            const size_t changed = blocks_changed(histogram, &line, &domain);
            assert_true(changed >= 1 && changed <= rows);
        }
}

/* ---- energies -------------------------------------------------------------------------------- */

enum { FRAMES = 5 };
static const double frames[FRAMES][COLS] = {
    { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0.6, 0.8, 0 }, { 0.6, -0.8, 0 }
};

static double fill_energies(const clo_domain *domain, const record *x, double energies[FRAMES],
                            double *price)
{
    static const clo_gibbs how = { .clusters = 1, .dim = 1, .sweeps = 1, .steps = true };
    clo_gibbs one = how;
    clo_line line;
    clo_error err;
    clo_i_gibbs_chain chain = { 0 };
    clo_context context = {
        .rng = seeded("chain"), .comm = clo_i_comm_self(), .threads = 1, .progress_to = 1
    };
    assert_ok(clo_i_plan_gibbs(domain, &one, 1, clo_i_gibbs_charges(&one, COLS), "", &line, &err),
              err);
    clo_bounded *const data = bounded_from(x->x, 1, domain);
    assert_ok(clo_workspace_new(1 << 18, &context.workspace, &err), err);
    assert_ok(clo_i_gibbs_new(&context, data, &line, &one, &chain, &err), err);
    for (size_t f = 0; f < FRAMES; f++) clo_i_gibbs_project(&chain, frames[f], &energies[f]);
    const double rate = chain.rate;
    *price = line.event.parameter;
    clo_i_gibbs_free(&chain);
    clo_workspace_free(context.workspace);
    clo_rng_free(context.rng);
    clo_bounded_free(data);
    return rate;
}

/* gibbs.T1: the law of a frame is exp(rate times the energy of all records in it). */
static void no_record_changes_the_law_of_a_chain_by_more_than_the_plan_says(void **state)
{
    const list grid = coarse_grid(2);
    (void)state;
    assert_true(grid.count <= 64);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(COLS, 1, (clo_relation)relation);
        double energies[64 + 2][FRAMES], rate = 0, price = 0, worst = 0;
        const record ends[2] = { { { 1, 0, 0 } }, { { 0, 1, 0 } } };
        memset(energies, 0, sizeof energies);
        for (size_t i = 0; i < grid.count + 2; i++)
            rate = fill_energies(&domain, i < 2 ? &ends[i] : &grid.records[i - 2], energies[i],
                                 &price);
        for (size_t i = 0; i < grid.count + 2; i++)
            for (size_t j = 0; j < (relation == CLO_REPLACE ? grid.count + 2 : 1); j++) {
                double low = INFINITY, high = -INFINITY;
                for (size_t f = 0; f < FRAMES; f++) {
                    const double less = relation == CLO_REPLACE ? energies[j][f] : 0;
                    low = fmin(low, energies[i][f] - less);
                    high = fmax(high, energies[i][f] - less);
                }
                worst = fmax(worst, rate * (high - low));
            }
        assert_true(worst <= price * (1 + 1e-9));
        assert_true(worst >= 0.999 * price);
    }
    free(grid.records);
}

int main(void)
{
    omp_set_num_threads(1); /* what is asked here is small, and idle threads would spin */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_unit_changes_what_is_drawn_from_by_more_than_the_plan_says),
        cmocka_unit_test(no_unit_is_in_more_blocks_than_it_has_rows),
        cmocka_unit_test(no_record_changes_the_law_of_a_chain_by_more_than_the_plan_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
