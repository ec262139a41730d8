/*
 * gibbs: one line in the plane has its law at the rate of the relation (gibbs.T1, gibbs.T2), and
 * two lines have the laws of both scores (gibbs.T3), which no order of the labels prefers.
 *
 * Power.  20,000 draws leave a radius of .023 around a law, 4,000 one of .05; a rate twice too
 * large (the paper's B = epsilon I) moves them by .1 and more.
 */
#include "asking.h"
#include "base/planted.h"
#include "query/gibbs.h"

enum { ONE = 20000, TWO = 4000, CELLS = 512, GRID = 360 };
static const double PI = 3.14159265358979323846;

static int64_t sample[ONE];
static long double below[CELLS + 1];

static long double law(int64_t cell, const void *unused)
{
    (void)unused;
    return cell < 0 ? 0 : cell >= CELLS ? 1 : below[cell + 1];
}

static void normalize(void)
{
    for (size_t i = 0; i < CELLS; i++) below[i + 1] += below[i];
    for (size_t i = 1; i <= CELLS; i++) below[i] /= below[CELLS];
}

/* ---- one line ---------------------------------------------------------------------------- */

/* The angle from the record, density exp(rate cos^2), folded into a right angle. */
static void tabulate_one(double rate)
{
    below[0] = 0;
    for (size_t i = 0; i < CELLS; i++) {
        const double t = PI / 2 * ((double)i + 0.5) / CELLS;
        below[i + 1] = expl(rate * cos(t) * cos(t));
    }
    normalize();
}

static bool one_line_follows(clo_relation relation, const clo_gibbs *how, double alpha,
                             clo_rng *rng)
{
    const clo_domain domain = ball(2, 1, relation);
    clo_bounded *const data = bounded_from((const double[]){ 1, 0 }, 1, &domain);
    clo_error err;
    clo_line line;
    asking a;
    assert_ok(clo_i_plan_gibbs(&domain, how, 4, clo_i_gibbs_charges(how, 2), "", &line, &err), err);
    assert_true(line.event.parameter == 4);
    start_asking(&a, line, rng);
    for (size_t i = 0; i < ONE; i++) {
        double u[2];
        assert_ok(clo_i_ask_gibbs(&a.context, 0, data, how, u, NULL, &err), err);
        const double angle = atan2(fabs(u[1]), fabs(u[0]));
        sample[i] = (int64_t)fmin(floor(angle / (PI / 2) * CELLS), CELLS - 1);
    }
    stop_asking(&a);
    clo_bounded_free(data);
    return stat_follows(sample, ONE, law, NULL, alpha);
}

/* epsilon 4: the exponent is 2 cos^2 where a record is replaced, 4 cos^2 where it comes or goes. */
static void one_line_has_the_rate_of_its_relation(void **state)
{
    const double alpha = stat_alpha(STAT_gibbs_one, 3);
    const clo_gibbs limit = { .clusters = 1, .dim = 1, .sweeps = 1 };
    const clo_gibbs steps = { .clusters = 1, .dim = 1, .sweeps = 1, .steps = true };
    clo_rng *const rng = stat_rng();
    (void)state;
    tabulate_one(2);
    assert_true(one_line_follows(CLO_REPLACE, &limit, alpha, rng));
    assert_true(one_line_follows(CLO_REPLACE, &steps, alpha, rng));
#ifdef CLO_FAULT_INJECTION
    clo_i_plant(CLO_FAULT_FACTOR_TWO_MISSING); /* planted: B = epsilon I */
    assert_false(one_line_follows(CLO_REPLACE, &limit, alpha, rng));
    assert_false(one_line_follows(CLO_REPLACE, &steps, alpha, rng));
    clo_i_plant(CLO_FAULT_NONE);
#endif
    tabulate_one(4);
    assert_true(one_line_follows(CLO_ADD_REMOVE, &limit, alpha, rng));
    clo_rng_free(rng);
}

/* ---- two lines --------------------------------------------------------------------------- */

static const double records[3][2] = { { 1, 0 }, { 0.6, 0.8 }, { 0, 1 } };

static double fit(double angle, const double *x)
{
    const double along = cos(angle) * x[0] + sin(angle) * x[1];
    return along * along;
}

/* The angle between the lines, folded, by the midpoint rule over both. */
static void tabulate_two(clo_gibbs_score score, double rate)
{
    memset(below, 0, sizeof below);
    for (size_t i = 0; i < GRID; i++)
        for (size_t j = 0; j < GRID; j++) {
            const double s = PI * ((double)i + 0.5) / GRID, t = PI * ((double)j + 0.25) / GRID;
            double weight = 1;
            for (size_t r = 0; r < 3; r++) {
                const double a = fit(s, records[r]), b = fit(t, records[r]);
                weight *=
                    score == CLO_GIBBS_MIN ? exp(rate * fmax(a, b)) : exp(rate * a) + exp(rate * b);
            }
            const double between = acos(fmin(fabs(cos(s - t)), 1));
            below[(size_t)fmin(between / (PI / 2) * CELLS, CELLS - 1) + 1] += weight;
        }
    normalize();
}

static bool two_lines_follow(const clo_gibbs *how, double alpha, clo_rng *rng, uint64_t *first)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records[0], 3, &domain);
    clo_error err;
    clo_line line;
    asking a;
    assert_ok(clo_i_plan_gibbs(&domain, how, 12, 1, "", &line, &err), err);
    start_asking(&a, line, rng);
    for (size_t i = 0; i < TWO; i++) {
        double u[4];
        assert_ok(clo_i_ask_gibbs(&a.context, 0, data, how, u, NULL, &err), err);
        const double cosine = fabs(u[0] * u[2] + u[1] * u[3]);
        const double between = acos(fmin(cosine, 1));
        sample[i] = (int64_t)fmin(floor(between / (PI / 2) * CELLS), CELLS - 1);
        *first += fabs(u[0]) > fabs(u[2]);
    }
    stop_asking(&a);
    clo_bounded_free(data);
    return stat_follows(sample, TWO, law, NULL, alpha);
}

static void two_lines_have_the_law_of_the_score(void **state)
{
    const double alpha = stat_alpha(STAT_gibbs_two, 4);
    const clo_gibbs sum = { .clusters = 2, .dim = 1, .sweeps = 40 };
    const clo_gibbs min = { .clusters = 2, .dim = 1, .sweeps = 160, .score = CLO_GIBBS_MIN };
    clo_rng *const rng = stat_rng();
    uint64_t first = 0, unused = 0;
    (void)state;
    tabulate_two(CLO_GIBBS_SUM, 6);
    assert_true(two_lines_follow(&sum, alpha, rng, &first));
    assert_true(stat_is_probable(first, TWO, 0.5, alpha));     /* no label is before another */
    assert_false(two_lines_follow(&min, alpha, rng, &unused)); /* they are different laws */
    tabulate_two(CLO_GIBBS_MIN, 6);
    first = 0;
    assert_true(two_lines_follow(&min, alpha, rng, &first));
    assert_true(stat_is_probable(first, TWO, 0.5, alpha));
#ifdef CLO_FAULT_INJECTION
    clo_i_plant(CLO_FAULT_FACTOR_TWO_MISSING);
    assert_false(two_lines_follow(&min, alpha, rng, &unused));
    tabulate_two(CLO_GIBBS_SUM, 6);
    assert_false(two_lines_follow(&sum, alpha, rng, &unused));
    clo_i_plant(CLO_FAULT_NONE);
#endif
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_has_the_rate_of_its_relation),
        cmocka_unit_test(two_lines_have_the_law_of_the_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
