/*
 * aggregate: the noise has the scale that the smooth bound and alpha give (aggregate.T3,
 * aggregate.T4).  All blocks agree on one line of the plane; what is released is then the direction
 * of a normal vector about it, whose law is known.  All agree on one centre of a line: it comes
 * with rounded Gaussian noise of that scale (aggregate.T5).  Controls: noise 5 % low, and 10 %.
 */
#include "asking.h"
#include "ask/query_steps.h"
#include "query/aggregate.h"

enum { ASKS = 100000, CENTERS = 40000, BLOCKS = 9, NODES = 4000 };

static double cumulated[NODES + 1]; /* of the angle, from -pi/2 to pi/2 */

static clo_status first_axis(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)user;
    (void)block;
    (void)err;
    bases[0] = 1;
    bases[1] = 0;
    return CLO_OK;
}

/* The angle of N((1, 0), scale^2 I) as an axis: by the density of the projected normal law. */
static void fill_law(double scale)
{
    const double pi = acos(-1), step = pi / NODES;
    cumulated[0] = 0;
    for (int i = 0; i < NODES; i++) {
        const double angle = -pi / 2 + (i + .5) * step, mean = cos(angle) / scale;
        const double front = exp(-.5 / (scale * scale)) / (2 * pi);
        const double tail = .5 * erfc(-mean / sqrt(2));
        const double bulge = mean * sqrt(2 * pi) * exp(mean * mean / 2);
        /* Both directions of the axis. */
        const double density = front * (2 + bulge * tail - bulge * (1 - tail));
        cumulated[i + 1] = cumulated[i] + density * step;
    }
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Whether the angles follow the law, by the inequality of Dvoretzky, Kiefer and Wolfowitz. */
static bool follows(double *angles, double alpha)
{
    const double pi = acos(-1), allowed = sqrt(log(2 / alpha) / (2 * ASKS));
    double worst = 0;
    qsort(angles, ASKS, sizeof *angles, compare);
    for (size_t i = 0; i < ASKS; i++) {
        const double place = (angles[i] + pi / 2) / pi * NODES;
        const size_t node = place < NODES ? (size_t)place : NODES - 1;
        const double there =
            cumulated[node] + (place - (double)node) * (cumulated[node + 1] - cumulated[node]);
        worst = fmax(worst, fmax(there - (double)i / ASKS, (double)(i + 1) / ASKS - there));
    }
    return worst <= allowed;
}

static void draw_angles(clo_line line, clo_rng *rng, double *angles)
{
    const double rows[] = { 1, 0 };
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(rows, 1, &domain);
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    for (size_t t = 0; t < ASKS; t++) {
        double basis[2];
        assert_ok(clo_i_ask_aggregate(&a.context, 0, data, first_axis, NULL, basis, &err), err);
        angles[t] = atan(basis[1] / basis[0]);
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_follows_the_smooth_bound(void **state)
{
    static double angles[ASKS];
    const double alpha = stat_alpha(STAT_aggregate_law, 2);
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_line line;
    clo_error err;
    (void)state;
    assert_ok(clo_i_plan_aggregate(&domain, 1, 1, BLOCKS, (clo_loss){ 12, 1e-5 }, "", &line, &err),
              err);
    change_fields(aggregate, &line,
                  beta = 1.5); /* so that nine blocks are enough to average over */
    /* t_0 = 6; the first t beyond 9 blocks is 10 = t_0 + 4, after three steps. */
    const double bound = 2 * sqrt(2) * exp(-clo_i_aggregate_fields(&line).beta * 3 / 2);
    change_fields(aggregate, &line, alpha = bound / .5);
    fill_law(.5);
    assert_close(cumulated[NODES], 1, 1e-6);
    clo_rng *const rng = stat_rng();
    draw_angles(line, rng, angles);
    assert_true(follows(angles, alpha));
    change_fields(aggregate, &line, alpha /= .95);
    draw_angles(line, rng, angles);
    assert_false(follows(angles, alpha));
    clo_rng_free(rng);
}

static clo_status origin(void *user, const clo_block *block, double *centers, clo_error *err)
{
    (void)user;
    (void)block;
    (void)err;
    centers[0] = 0;
    return CLO_OK;
}

static void draw_centers(clo_line line, clo_rng *rng, int64_t *drawn)
{
    const double row = 1;
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(&row, 1, &domain);
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    for (size_t t = 0; t < CENTERS; t++) {
        double center;
        assert_ok(clo_i_ask_aggregate(&a.context, 0, data, origin, NULL, &center, &err), err);
        drawn[t] = llround(ldexp(center, (int)clo_i_aggregate_fields(&line).grid_bits));
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void the_noise_of_a_centre_follows_the_smooth_bound(void **state)
{
    static int64_t drawn[CENTERS];
    const double alpha = stat_alpha(STAT_aggregate_law, 2), sd = .05;
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_line line;
    clo_error err;
    (void)state;
    assert_ok(
        clo_i_plan_aggregate_centers(&domain, 1, BLOCKS, (clo_loss){ 12, 1e-5 }, "", &line, &err),
        err);
    change_fields(aggregate, &line, beta = 1.5);
    change_fields(aggregate, &line,
                  alpha = 2 * 2 * exp(-clo_i_aggregate_fields(&line).beta * 3 / 2) /
                          sd); /* as above, with the diameter 2 */
    const double scale = ldexp(sd, (int)clo_i_aggregate_fields(&line).grid_bits) + 0x1p24;
    clo_rng *const rng = stat_rng();
    draw_centers(line, rng, drawn);
    assert_true(stat_follows(drawn, CENTERS, stat_rounded_gaussian, &scale, alpha));
    change_fields(aggregate, &line, alpha /= .9);
    draw_centers(line, rng, drawn);
    assert_false(stat_follows(drawn, CENTERS, stat_rounded_gaussian, &scale, alpha));
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noise_follows_the_smooth_bound),
        cmocka_unit_test(the_noise_of_a_centre_follows_the_smooth_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
