/*
 * test_gibbs_labels.c - the nearest cluster of a record is the one of the most energy, among all of
 * them; of equal ones the first (gibbs.T2: a label is a function of its record and the frames).
 * Labels at random are drawn at the rate of the frames, sweep by sweep, and at that of a charge
 * where they are released (gibbs.T1, gibbs.T2).
 */
#include "pipeline.h"
#include "query/gibbs_internal.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>

enum { RECORDS = 40, MOST = 6 };

static void the_nearest_of_all_clusters_is_taken(void **state)
{
    double energies[MOST * RECORDS];
    uint32_t labels[RECORDS];
    (void)state;
    for (size_t k = 1; k <= MOST; k++) {
        clo_i_gibbs_chain chain = { .n = RECORDS, .k = k, .energies = energies, .labels = labels };
        for (size_t i = 0; i < RECORDS; i++)
            for (size_t l = 0; l < k; l++)
                energies[l * RECORDS + i] = i / k % 2 && l > 0 ? 1 : l == i % k ? 1 : 0.5;
        clo_i_gibbs_nearest_labels(&chain);
        for (size_t i = 0; i < RECORDS; i++) {
            size_t first = 0;
            while (energies[first * RECORDS + i] < 1 && first + 1 < k) first++;
            assert_int_equal(labels[i], energies[first * RECORDS + i] < 1 ? 0 : first);
        }
    }
}

/* ---- at which rate --------------------------------------------------------------------------- */

enum { ROWS = 200, COLS = 3, CLUSTERS = 3, DIM = 1, SWEEPS = 16 };

typedef struct chain {
    clo_line line;
    clo_meter meter;
    clo_context context;
    clo_i_gibbs_chain c;
    uint64_t sweeps; /* after which it is stopped */
} chain;

static bool goes_on(void *user, double share)
{
    const chain *const own = user;
    return own->sweeps == SWEEPS || share * SWEEPS + 1.5 < (double)own->sweeps;
}

/* Rows between the subspaces, so that their labels are in doubt at every rate. */
static clo_bounded *rows_between(void)
{
    double values[ROWS * COLS];
    clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    domain.rows = ROWS;
    for (size_t e = 0; e < ROWS * COLS; e++) values[e] = sin(1.7 * (double)e + 0.3) * 0.55;
    return bounded_from(values, ROWS, &domain);
}

static clo_line planned(const clo_gibbs *how, double epsilon)
{
    clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    clo_line line;
    clo_error err;
    domain.rows = ROWS;
    assert_ok(
        clo_i_plan_gibbs(&domain, how, epsilon, clo_i_gibbs_charges(how, COLS), "", &line, &err),
        err);
    return line;
}

static void begin(chain *own, const clo_gibbs *how, double epsilon, uint64_t sweeps)
{
    clo_error err;
    *own = (chain){ .line = planned(how, epsilon), .sweeps = sweeps };
    own->meter = (clo_meter){ .lines = &own->line, .count = 1 };
    own->context = (clo_context){ .rng = seeded("labels"),
                                  .comm = clo_i_comm_self(),
                                  .threads = 1,
                                  .progress_to = 1,
                                  .user = own,
                                  .meter = &own->meter };
    assert_ok(clo_workspace_new(1 << 20, &own->context.workspace, &err), err);
}

/* The chain of this seed after so many sweeps. */
static void run_chain(chain *own, const clo_gibbs *how, const clo_bounded *data, double epsilon,
                      uint64_t sweeps)
{
    clo_error err;
    begin(own, how, epsilon, sweeps);
    assert_ok(clo_i_gibbs_new(&own->context, data, &own->line, how, &own->c, &err), err);
    assert_ok(clo_i_gibbs_start(how, &own->c, &err), err);
    if (sweeps == 0) return;
    if (how->steps) {
        const clo_line *line;
        assert_ok(clo_i_meter_charge(&own->context, 0, own->line.query, &line, &err), err);
        assert_ok(clo_i_gibbs_steps(&own->context, 0, how, &own->c, &err), err);
    } else {
        own->context.progress = goes_on;
        const clo_status status = clo_i_gibbs_sum(&own->context, how, &own->c, &err);
        assert_int_equal(status, sweeps < SWEEPS ? CLO_CANCELLED : CLO_OK);
    }
}

static void end(chain *own)
{
    clo_i_gibbs_free(&own->c);
    clo_workspace_free(own->context.workspace);
    clo_rng_free(own->context.rng);
}

/* The labels that come next, by the formula: P[l] is proportional to exp(rate |U_l' x|^2). */
static void draw_next(chain *own, double rate, uint32_t labels[ROWS])
{
    clo_i_gibbs_chain *const c = &own->c;
    clo_i_gibbs_project_all(c);
    for (size_t i = 0; i < ROWS; i++) {
        double weights[CLUSTERS], sum = 0, largest = 0;
        size_t label = 0;
        for (size_t l = 0; l < CLUSTERS; l++) largest = fmax(largest, c->energies[l * ROWS + i]);
        for (size_t l = 0; l < CLUSTERS; l++)
            sum += weights[l] = exp(rate * (c->energies[l * ROWS + i] - largest));
        double left = sum * clo_i_random_unit(c->stream);
        while (label + 1 < CLUSTERS && (left -= weights[label]) > 0) label++;
        labels[i] = (uint32_t)label;
    }
}

static size_t differing(const uint32_t *one, const uint32_t *other)
{
    size_t count = 0;
    for (size_t i = 0; i < ROWS; i++) count += one[i] != other[i];
    return count;
}

static double rate_of(const clo_line *line)
{
    return (double)line->rate_numerator / (double)line->rate_denominator;
}

/* In every sweep of a chain that warms up, the frames' law and the labels have one rate. */
static void labels_of_a_sweep_have_the_rate_of_its_frames(void **state)
{
    const clo_gibbs how = { .clusters = CLUSTERS, .dim = DIM, .sweeps = SWEEPS };
    clo_bounded *const data = rows_between();
    (void)state;
    for (uint64_t sweep = 0; sweep < SWEEPS; sweep++) {
        uint32_t next[ROWS], other[ROWS];
        chain before, doubled, after;
        run_chain(&before, &how, data, 40, sweep);
        run_chain(&doubled, &how, data, 40, sweep);
        run_chain(&after, &how, data, 40, sweep + 1);
        const double rate = rate_of(&before.line) * clo_i_gibbs_heat(&how, sweep);
        draw_next(&before, rate, next);
        draw_next(&doubled, 2 * rate, other);
        assert_int_equal(differing(next, after.c.labels), 0);
        if (rate > 1) assert_true(differing(next, other) > 0); /* another rate is seen */
        if (sweep + 1 < SWEEPS)
            assert_true(after.c.bingham->weights[0] == rate && after.c.rate == rate);
        end(&before);
        end(&doubled);
        end(&after);
    }
    clo_bounded_free(data);
}

/* Step by step labels cost nothing where frames are drawn from nothing; which rate they have is
 * the rule's: that of the frames, or one that follows from the sweep alone. */
static void labels_of_a_step_have_the_rate_of_its_rule(void **state)
{
    static const clo_gibbs_assign rules[] = { CLO_GIBBS_RANDOM, CLO_GIBBS_COOLING };
    clo_bounded *const data = rows_between();
    (void)state;
    for (size_t r = 0; r < 2; r++)
        for (uint64_t sweeps = 0; sweeps < 5; sweeps++) {
            clo_gibbs how = { .clusters = CLUSTERS, .dim = DIM, .steps = true, .assign = rules[r] };
            uint32_t next[ROWS];
            chain before, after;
            how.sweeps = sweeps + 1;
            run_chain(&after, &how, data, 20, sweeps + 1);
            how.sweeps = sweeps ? sweeps : 1;
            run_chain(&before, &how, data, 20, sweeps);
            const double turn = (double)(sweeps + 1);
            draw_next(&before, rules[r] == CLO_GIBBS_RANDOM ? rate_of(&after.line) : turn * turn,
                      next);
            assert_int_equal(differing(next, after.c.labels), 0);
            end(&before);
            end(&after);
        }
    clo_bounded_free(data);
}

/* What is released at the end is one draw more, at the rate that it is charged at. */
static void released_labels_have_the_rate_of_a_charge(void **state)
{
    clo_bounded *const data = rows_between();
    (void)state;
    for (int steps = 0; steps < 2; steps++) {
        const clo_gibbs how = { .clusters = CLUSTERS,
                                .dim = DIM,
                                .sweeps = 3,
                                .steps = steps,
                                .assign = CLO_GIBBS_RANDOM,
                                .labels = true };
        double bases[CLUSTERS * COLS * DIM], labels[ROWS];
        uint32_t next[ROWS], given[ROWS];
        clo_error err;
        chain own, asked;
        run_chain(&own, &how, data, 30, SWEEPS);
        draw_next(&own, rate_of(&own.line), next);
        begin(&asked, &how, 30, 0);
        assert_ok(clo_i_ask_gibbs(&asked.context, 0, data, &how, bases, labels, &err), err);
        for (size_t i = 0; i < ROWS; i++) given[i] = (uint32_t)labels[i];
        assert_int_equal(differing(next, given), 0);
        assert_int_equal(asked.meter.asked[0], clo_i_gibbs_charges(&how, COLS));
        assert_int_equal(clo_i_gibbs_charges(&how, COLS), steps ? 3 * 1 + 1 : 1);
        end(&own);
        end(&asked);
    }
    clo_bounded_free(data);
}

/* Of each way how many vectors of a sweep are drawn, and so charged: never fewer. */
static void every_draw_is_charged(void **state)
{
    (void)state;
    for (size_t cols = 1; cols <= 7; cols++)
        for (size_t dim = 1; dim <= cols; dim++)
            for (int labels = 0; labels < 2; labels++) {
                clo_gibbs how = { .clusters = 2, .dim = dim, .sweeps = 5, .labels = labels };
                const size_t rest = cols - dim, least = rest < dim ? rest : dim;
                assert_int_equal(clo_i_gibbs_charges(&how, cols), 1);
                how.steps = true;
                assert_int_equal(clo_i_gibbs_charges(&how, cols),
                                 5 * (least ? least : 1) + (size_t)labels);
                how.columns = true;
                assert_int_equal(clo_i_gibbs_charges(&how, cols), 5 * dim + (size_t)labels);
                how.columns = false;
                how.whole = true;
                assert_int_equal(clo_i_gibbs_charges(&how, cols), 5 + (size_t)labels);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_of_all_clusters_is_taken),
        cmocka_unit_test(labels_of_a_sweep_have_the_rate_of_its_frames),
        cmocka_unit_test(labels_of_a_step_have_the_rate_of_its_rule),
        cmocka_unit_test(released_labels_have_the_rate_of_a_charge),
        cmocka_unit_test(every_draw_is_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
