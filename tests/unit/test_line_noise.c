/*
 * test_line_noise.c - the noise that a plan tells people is in the units of their data: in a ball
 * four times as large it is larger by the power of the ball that its query adds up.
 */
#include "every_mechanism.h"
#include "plan/mechanism.h"
#include "query_kinds.h"
#include "ask/assign.h"
#include "ask/query_steps.h"
#include "parallel/parallel.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/look.h"
#include <math.h>

#define QUERY_UNIT
#include "every_query.h"
#undef QUERY_UNIT

static const int units[KINDS] = {
#define QUERY(name) [KIND_##name] = unit_##name,
#include "query/table.def"
#undef QUERY
};

static void noise_is_told_in_the_units_of_the_data(void **state)
{
    static const clo_loss budgets[] = { { 1, 1e-6 }, { 1, 0 } };
    size_t told = 0;
    (void)state;
    for (size_t i = 0; i < 4 * clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i / 4);
        clo_domain small = domain_of(mechanism, i & 1 ? CLO_REPLACE : CLO_ADD_REMOVE, NULL, 1);
        clo_domain large = small;
        clo_plan *plans[2] = { NULL, NULL };
        clo_error err;
        large.norm = 4 * small.norm;
        if (try_plan_of(mechanism, &small, budgets[i / 2 % 2], &plans[0], &err)) continue;
        assert_ok(try_plan_of(mechanism, &large, budgets[i / 2 % 2], &plans[1], &err), err);
        assert_int_equal(plans[0]->line_count, plans[1]->line_count);
        for (size_t l = 0; l < plans[0]->line_count; l++) {
            const clo_line *const a = &plans[0]->lines[l], *const b = &plans[1]->lines[l];
            const int power = units[kind_of(a->query)];
            if (power < 0) {
                assert_true(a->noise == 0 && b->noise == 0);
                continue;
            }
            assert_true(a->noise > 0);
            assert_relatively_close(b->noise, ldexp(a->noise, 2 * power), 1e-12);
            const bool sums = power == 1 && strcmp(clo_i_query_name(a->query), "peel") != 0;
            const double deviation = a->event.kind == CLO_EVENT_PURE ? sqrt(2) : 1;
            if (sums) /* of records, whose grid has 2^bits steps to the edge of the ball */
                assert_relatively_close(
                    a->noise, deviation * ldexp((double)a->scale * small.norm, -a->bits), 1e-9);
            told++;
        }
        clo_plan_free(plans[0]);
        clo_plan_free(plans[1]);
    }
    assert_true(told > 40);
}

/* ---- what is said of an answer's noise ------------------------------------------------------- */

enum { COLS = 4, GROUPS = 3, ASKS = 600 };

/* A line asked about no record at all, so that every number is noise. */
typedef struct noisy {
    clo_line line;
    clo_meter meter;
    clo_context context;
    clo_bounded *nobody;
} noisy;

static void begin(noisy *n, clo_line line, const clo_domain *domain)
{
    static const double none[COLS];
    clo_error err;
    *n = (noisy){ .line = line };
    n->line.event.count = UINT64_MAX;
    n->meter = (clo_meter){ .lines = &n->line, .count = 1 };
    n->context = (clo_context){ .rng = seeded("said"),
                                .comm = clo_i_comm_self(),
                                .threads = 1,
                                .progress_to = 1,
                                .meter = &n->meter };
    assert_ok(clo_workspace_new(1 << 18, &n->context.workspace, &err), err);
    n->nobody = bounded_from(none, 0, domain);
}

static void end(noisy *n)
{
    clo_bounded_free(n->nobody);
    clo_workspace_free(n->context.workspace);
    clo_rng_free(n->context.rng);
}

/* Numbers of one class, over all asks. */
typedef struct class_of_noise {
    double squares;
    size_t count;
} class_of_noise;

static void add(class_of_noise *c, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) c->squares += values[i] * values[i];
    c->count += count;
}

/* Of 600 numbers or more the deviation is right to 20 % but for one in a million. */
static void is_said(const class_of_noise *c, double said, const char *what)
{
    const double found = sqrt(c->squares / (double)c->count);
    assert_true(c->count >= ASKS);
    if (!(fabs(found / said - 1) < 0.2)) fail_msg("%s: %g, and %g is said", what, found, said);
}

static void a_look_says_what_its_noise_is(void **state)
{
    static const double center[COLS];
    const clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    class_of_noise sums = { 0, 0 }, shells = { 0, 0 };
    clo_line line;
    clo_error err;
    noisy n;
    (void)state;
    assert_ok(clo_i_plan_look(&domain, 0.5, 1, "", &line, &err), err);
    begin(&n, line, &domain);
    for (int i = 0; i < ASKS; i++) {
        double sum[COLS], shell[CLO_LOOK_SHELLS];
        assert_ok(clo_i_ask_look(&n.context, 0, n.nobody, center, 0.5, sum, shell, &err), err);
        add(&sums, sum, COLS);
        add(&shells, shell, CLO_LOOK_SHELLS);
    }
    is_said(&sums, clo_i_look_deviation(&line), "sums of a look");
    is_said(&sums, line.noise, "sums of a look, in the plan");
    is_said(&shells, clo_i_look_shell_deviation(&line), "shells of a look");
    end(&n);
}

static void local_sums_say_what_their_noise_is(void **state)
{
    static const double centers[GROUPS * COLS] = { 0.5, 0, 0, 0, -0.5, 0, 0, 0, 0, 0.5 };
    static const clo_local_view views[GROUPS] = { { 0.3, 0.6 }, { 0.3, 0.6 }, { 0.3, 0.6 } };
    (void)state;
    for (int i = 0; i < 8; i++) {
        const bool pure = i & 1, shells = i & 2;
        const clo_domain domain = ball(COLS, 1, i & 4 ? CLO_REPLACE : CLO_ADD_REMOVE);
        class_of_noise classes[4] = { { 0, 0 } };
        clo_line line;
        clo_error err;
        noisy n;
        if (pure && shells) continue;
        assert_ok(shells ? clo_i_plan_local_shells(&domain, GROUPS, 0.5, 1, "", &line, &err)
                         : clo_i_plan_local_sum(&domain, GROUPS,
                                                pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, 0.5, 1,
                                                "", &line, &err),
                  err);
        begin(&n, line, &domain);
        for (int ask = 0; ask < ASKS; ask++) {
            const size_t mark = clo_i_workspace_mark(n.context.workspace);
            double sums[GROUPS * COLS], squares[GROUPS], sizes[GROUPS], shell[CLO_LOCAL_SHELLS];
            clo_local_sums out = { sums, squares, sizes };
            clo_assign rule;
            assert_ok(clo_i_assign_centers(n.context.workspace, centers, GROUPS, COLS, line.bits,
                                           &rule, &err),
                      err);
            assert_ok(shells
                          ? clo_i_ask_local_shells(&n.context, 0, n.nobody, &rule, views, &out,
                                                   shell, &err)
                          : clo_i_ask_local_sum(&n.context, 0, n.nobody, &rule, views, &out, &err),
                      err);
            clo_i_workspace_release(n.context.workspace, mark);
            add(&classes[0], sums, GROUPS * COLS);
            add(&classes[1], squares, GROUPS);
            add(&classes[2], sizes, GROUPS);
            if (shells) add(&classes[3], shell, CLO_LOCAL_SHELLS);
        }
        is_said(&classes[0], clo_i_local_deviation(&line), "local sums");
        is_said(&classes[0], line.noise, "local sums, in the plan");
        is_said(&classes[1], clo_i_local_square_deviation(&line), "squares");
        is_said(&classes[2], clo_i_local_size_deviation(&line), "sizes");
        if (shells) is_said(&classes[3], clo_i_local_shell_deviation(&line), "shells of lengths");
        end(&n);
    }
}

/* On the diagonal; an entry off it has less by a root of two (gaussian_gram.T2). */
static void a_local_gram_says_what_its_noise_is(void **state)
{
    static const double center[COLS];
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    class_of_noise diagonal[COLS] = { { 0, 0 } }, off = { 0, 0 };
    clo_line line;
    clo_error err;
    noisy n;
    (void)state;
    assert_ok(clo_i_plan_local_gram(&domain, 0.5, 1, "", &line, &err), err);
    begin(&n, line, &domain);
    for (int ask = 0; ask < ASKS; ask++) {
        double gram[COLS * COLS];
        assert_ok(clo_i_ask_local_gram(&n.context, 0, n.nobody, center, 0.5, gram, &err), err);
        for (size_t i = 0; i < COLS; i++) {
            add(&diagonal[i], gram + i * COLS + i, 1);
            for (size_t j = 0; j < i; j++) {
                assert_true(gram[i * COLS + j] == gram[j * COLS + i]);
                add(&off, gram + i * COLS + j, 1);
            }
        }
    }
    for (size_t i = 0; i < COLS; i++)
        is_said(&diagonal[i], clo_i_local_gram_deviation(&line), "the diagonal of a local Gram");
    is_said(&off, clo_i_local_gram_deviation(&line) / sqrt(2), "a local Gram off its diagonal");
    end(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_told_in_the_units_of_the_data),
        cmocka_unit_test(a_look_says_what_its_noise_is),
        cmocka_unit_test(local_sums_say_what_their_noise_is),
        cmocka_unit_test(a_local_gram_says_what_its_noise_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
