/*
 * What a unit of M rows really does to the answer of each query (bound.T3 and the T1 of each
 * query): the query is asked twice with the same seed, with the unit's rows and without them or
 * with others in their place, so that the noise cancels and the difference is that of the exact
 * integers.  It is no longer than the line's sensitivity, and for the worst rows as long.
 *
 * And the noise of an ask is that of its line alone: data that were bounded for units of another
 * size, or under another relation, get the same answer to the bit.
 *
 * Each query of the table is asked for its section QUERY_REACH in tests/query/NAME.h by name: a new
 * query does not compile without.
 */
#include "pipeline.h"
#include "ask/assign.h"
#include "query/gibbs_internal.h"
#include "line_oracle.h"
#include "query_kinds.h"
#include "parallel/parallel.h"

enum { D = 3, MOST_ROWS = 64, MOST_TOLD = 256, FEW = 6, ROUNDS = D };

typedef struct world {
    double rows[MOST_ROWS * D];
    uint64_t units[MOST_ROWS];
    size_t count;
} world;

typedef struct told {
    double values[MOST_TOLD];
    size_t count;
} told;

static void listen(void *user, const char *query, const double *values, size_t count)
{
    told *const t = user;
    (void)query;
    assert_true(t->count + count <= MOST_TOLD);
    memcpy(t->values + t->count, values, count * sizeof *values);
    t->count += count;
}

/* ---- a line and an ask of each query --------------------------------------------------------- */

typedef struct question {
    clo_context *context;
    const clo_bounded *data;
    clo_error *err;
} question;

static clo_assign two_sides(const question *q, int bits)
{
    static const double sides[2 * D] = { 0.9, 0, 0, -0.9, 0, 0 };
    clo_assign rule;
    assert_ok(clo_i_assign_centers(q->context->workspace, sides, 2, D, bits, &rule, q->err),
              *q->err);
    return rule;
}

static const clo_assign everyone = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };

/* From the difference of two answers to the length that the line's sensitivity bounds. */
typedef double measure(const clo_line *line, const double *difference);

static double squares(const double *difference, size_t count, double unit)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += pow(difference[i] * unit, 2);
    return sum;
}

static double lengths(const double *difference, size_t count, double unit)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += fabs(difference[i] * unit);
    return sum;
}

static double of_two_sums(const clo_line *s, const double *x)
{
    return lengths(x, 2 * D, 0x1p20) + lengths(x + 2 * D, 2, (double)s->count_unit);
}

/* What is asked of each query, the worst rows of a unit, and what they are replaced by. */
typedef struct reach {
    clo_status (*plan)(const clo_domain *domain, clo_line *out, clo_error *err);
    clo_status (*ask)(const question *q);
    const char *held_by; /* instead of the worst rows; NULL: nothing */
    measure *length;
    double least; /* share of the sensitivity that they must reach */
    double old[D];
    bool gone; /* by no row at all, which a unit may have under replace, too */
    double other[D];
    bool rows_only;                      /* it is not for units */
    bool noise_by_sensitivity;           /* which stands for how many blocks may change */
    void (*other_noise)(clo_line *line); /* what it draws by beside scale and rates */
} reach;

#define DIAGONAL 0.57735026918962573
#define QUERY_REACH
#include "every_query.h"
#undef QUERY_REACH

static const reach *const queries[KINDS] = {
#define QUERY(name) [KIND_##name] = &reach_##name,
#include "query/table.def"
#undef QUERY
};

/* ---- asking ---------------------------------------------------------------------------------- */

static clo_domain domain_for(clo_relation relation, uint64_t rows, const char *unit)
{
    clo_domain domain = ball(D, 1, relation);
    domain.rows_per_unit = rows;
    domain.unit = unit;
    return domain;
}

static clo_bounded *bounded_world(const world *w, const clo_domain *domain)
{
    return domain->unit ? bounded_from_units(w->rows, w->units, w->count, domain)
                        : bounded_from(w->rows, w->count, domain);
}

static told answer_of(query_kind kind, const clo_line *line, const clo_bounded *data,
                      const char *seed)
{
    clo_meter meter = { .lines = line, .count = 1 };
    told heard = { .count = 0 };
    clo_error err;
    clo_context context = { .rng = seeded(seed),
                            .comm = clo_i_comm_self(),
                            .threads = 1,
                            .progress_to = 1,
                            .answer = listen,
                            .user = &heard,
                            .meter = &meter };
    const question q = { &context, data, &err };
    assert_ok(clo_workspace_new(1 << 22, &context.workspace, &err), err);
    assert_ok(queries[kind]->ask(&q), err);
    clo_workspace_free(context.workspace);
    clo_rng_free(context.rng);
    return heard;
}

static void add_rows(world *w, size_t count, const double row[D], uint64_t unit)
{
    for (size_t i = 0; i < count; i++, w->count++) {
        memcpy(w->rows + w->count * D, row, D * sizeof *row);
        w->units[w->count] = unit;
    }
}

/* A few people of one row each, who are there in every world. */
static void add_others(world *w)
{
    for (size_t i = 0; i < FEW; i++) {
        const double row[D] = { 0.3, 0.1 * (double)(i % 2), 0 };
        add_rows(w, 1, row, 1000 + i);
    }
}

/* ---- how far a unit moves the exact answer --------------------------------------------------- */

static double unit_reach(query_kind kind, clo_relation relation, uint64_t rows,
                         const clo_line *line)
{
    const reach *const c = queries[kind];
    const clo_domain domain = domain_for(relation, rows, "person");
    told answers[2];
    for (int w = 0; w < 2; w++) {
        world here = { .count = 0 };
        add_others(&here);
        if (w == 0) add_rows(&here, rows, c->old, 7);
        if (w == 1 && relation == CLO_REPLACE && !c->gone) add_rows(&here, rows, c->other, 7);
        clo_bounded *const data = bounded_world(&here, &domain);
        answers[w] = answer_of(kind, line, data, "reach");
        clo_bounded_free(data);
    }
    assert_int_equal(answers[0].count, answers[1].count);
    for (size_t i = 0; i < answers[0].count; i++) answers[0].values[i] -= answers[1].values[i];
    return c->length(line, answers[0].values);
}

static void check_reach(query_kind kind, clo_relation relation, uint64_t rows)
{
    const clo_domain domain = domain_for(relation, rows, "person");
    clo_error err;
    clo_line line;
    assert_ok(queries[kind]->plan(&domain, &line, &err), err);
    const double moved = unit_reach(kind, relation, rows, &line);
    const held l = { &line, relation, rows, D, NAN };
    HOLDS(&l, moved <= (double)line.sensitivity + 1e-3);
    HOLDS(&l, moved >= queries[kind]->least * (double)line.sensitivity);
}

static void a_unit_moves_an_answer_as_far_as_its_line_says(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        assert_true((queries[k]->held_by == NULL) == (queries[k]->length != NULL));
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE && !queries[k]->held_by;
             relation++)
            for (uint64_t rows = 1; rows <= 3; rows++)
                check_reach((query_kind)k, (clo_relation)relation, rows);
    }
}

/* gibbs.T1: with every record along the subspace a unit's part of the score is M, at the rate that
 * the chain runs at. */
static void a_unit_moves_the_law_of_a_chain_as_far_as_its_line_says(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++) {
            static const double along[D] = { 1, 0, 0 };
            const clo_domain domain = domain_for((clo_relation)relation, rows, "person");
            world here = { .count = 0 };
            clo_error err;
            clo_line line;
            assert_ok(queries[KIND_gibbs]->plan(&domain, &line, &err), err);
            add_rows(&here, rows, along, 7);
            clo_bounded *const data = bounded_world(&here, &domain);
            clo_context context = {
                .rng = seeded("chain"), .comm = clo_i_comm_self(), .threads = 1, .progress_to = 1
            };
            assert_ok(clo_workspace_new(1 << 20, &context.workspace, &err), err);
            clo_i_gibbs_chain chain = { 0 };
            assert_ok(clo_i_gibbs_new(&context, data, &line, &one_draw, &chain, &err), err);
            double energies[3], score = 0;
            clo_i_gibbs_project(&chain, along, energies);
            for (uint64_t i = 0; i < rows; i++) score += energies[i];
            assert_relatively_close(chain.rate * score * (relation == CLO_REPLACE ? 2 : 1),
                                    line.event.parameter, 1e-9);
            clo_i_gibbs_free(&chain);
            clo_workspace_free(context.workspace);
            clo_rng_free(context.rng);
            clo_bounded_free(data);
        }
}

/* --- noise is a matter of the line ------------------------------------------------------------ */

/* Of a choice, one answer says little: the answers of many seeds. */
enum { SEEDS = 24 };

static void answers_of(query_kind kind, const clo_line *line, const clo_domain *domain,
                       told out[SEEDS])
{
    world here = { .count = 0 };
    add_others(&here);
    clo_bounded *const data = bounded_world(&here, domain);
    for (int s = 0; s < SEEDS; s++) {
        char seed[32];
        snprintf(seed, sizeof seed, "line %d", s);
        out[s] = answer_of(kind, line, data, seed);
        assert_true(out[s].count > 0);
    }
    clo_bounded_free(data);
}

static bool same_answers(const told a[SEEDS], const told b[SEEDS])
{
    for (int s = 0; s < SEEDS; s++)
        if (a[s].count != b[s].count ||
            memcmp(a[s].values, b[s].values, a[s].count * sizeof *a[s].values) != 0)
            return false;
    return true;
}

static clo_domain widest_domain(size_t kind, clo_relation relation)
{
    const bool rows_only = queries[kind]->rows_only;
    return domain_for(relation, rows_only ? 1 : 3, rows_only ? NULL : "person");
}

/* Units of a row each, or of three, no units at all, and the other relation. */
static void an_ask_takes_its_noise_from_its_line_alone(void **state)
{
    static told first[SEEDS], again[SEEDS];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_domain planned = widest_domain(k, CLO_ADD_REMOVE);
        const clo_domain others[] = { domain_for(CLO_ADD_REMOVE, 1, planned.unit),
                                      domain_for(CLO_ADD_REMOVE, 1, NULL),
                                      widest_domain(k, CLO_REPLACE) };
        clo_error err;
        clo_line line;
        assert_ok(queries[k]->plan(&planned, &line, &err), err);
        answers_of((query_kind)k, &line, &planned, first);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            answers_of((query_kind)k, &line, &others[i], again);
            if (!same_answers(first, again))
                fail_msg("%s", clo_i_query_name(query_of((query_kind)k)));
        }
    }
}

/* ... and of the line from its scale, rates, threshold and floor, whose laws are tested for units
 * of one row: sensitivity and price are for the plan. An aggregate's noise follows how many blocks
 * may change (tests/unit/test_blocks.c). */
static void an_ask_does_not_look_at_sensitivity_and_price(void **state)
{
    static told first[SEEDS], again[SEEDS];
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        const clo_domain domain = widest_domain(k, CLO_ADD_REMOVE);
        clo_error err;
        clo_line line;
        assert_ok(queries[k]->plan(&domain, &line, &err), err);
        answers_of((query_kind)k, &line, &domain, first);
        for (uint64_t s = 1; s <= 5; s += 4) {
            line.event.parameter *= 3;
            line.event.delta /= 3;
            line.noise *= 3;
            if (!queries[k]->noise_by_sensitivity)
                line.sensitivity = s == 1 ? 1 : s * line.sensitivity + 2;
            answers_of((query_kind)k, &line, &domain, again);
            if (!same_answers(first, again))
                fail_msg("%s", clo_i_query_name(query_of((query_kind)k)));
        }
        line.scale *= 3; /* the control: what it does look at */
        line.rate_numerator *= 3;
        if (queries[k]->other_noise) queries[k]->other_noise(&line);
        answers_of((query_kind)k, &line, &domain, again);
        if (same_answers(first, again))
            fail_msg("%s: no other noise", clo_i_query_name(query_of((query_kind)k)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unit_moves_an_answer_as_far_as_its_line_says),
        cmocka_unit_test(a_unit_moves_the_law_of_a_chain_as_far_as_its_line_says),
        cmocka_unit_test(an_ask_takes_its_noise_from_its_line_alone),
        cmocka_unit_test(an_ask_does_not_look_at_sensitivity_and_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
