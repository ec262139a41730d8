/*
 * gaussian_moment3: the answer is the tensor of third moments and the same on any number of threads
 * and in any blocks; by random search over neighbours, in exact integers, no unit moves it further
 * than planned, with a constant or without, and the bound is attained (gaussian_moment3.T1).
 */
#include "pipeline.h"
#include "counted.h"
#include "ask/query.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "query/gaussian_moment3.h"
#include "ask/lens.h"

enum { D = 4, ROWS = 500, SIZE = D * (D + 1) * (D + 2) / 6, CUBE = D * D * D };
typedef unsigned __int128 u128;

static clo_stream *stream_of(clo_rng *rng)
{
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    return stream;
}

static clo_status ask(const clo_bounded *data, const clo_line *line, const clo_lens *lens,
                      int threads, size_t block_rows, double *moments, clo_error *err)
{
    clo_rng *const rng = seeded("moment");
    clo_meter meter = { .lines = line, .count = 1 };
    clo_context context = { .rng = rng,
                            .comm = clo_i_comm_self(),
                            .threads = threads,
                            .block_rows = block_rows,
                            .meter = &meter,
                            .lens = lens };
    const size_t planned = query_bytes(line, D, NULL, block_rows, threads);
    assert_ok(clo_workspace_new(planned, &context.workspace, err), *err);
    const clo_status status = clo_i_ask_gaussian_moment3(&context, 0, data, moments, err);
    assert_true(clo_i_workspace_peak(context.workspace) <= planned);
    clo_workspace_free(context.workspace);
    clo_rng_free(rng);
    return status;
}

static void the_answer_is_the_tensor_of_third_moments(void **state)
{
    clo_error err;
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double values[ROWS * D], moments[SIZE], again[SIZE];
    clo_line line;
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = 0.45 * sin((double)(i * i % 997));
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_ok(clo_i_plan_gaussian_moment3(&domain, 0, 30, 1, "", &line, &err), err);
    assert_ok(ask(data, &line, NULL, 1, 0, moments, &err), err);
    assert_ok(ask(data, &line, NULL, 3, 0, again, &err), err);
    assert_memory_equal(moments, again, sizeof again);
    assert_ok(ask(data, &line, NULL, 2, 7, again, &err), err);
    assert_memory_equal(moments, again, sizeof again);
    const double noise = clo_i_moment3_noise(&line);
    double largest = 0;
    size_t at = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++, at++) {
                const double m = clo_i_moment3_multiplicity(i, j, k);
                double truth = 0;
                for (const double *x = values; x < values + ROWS * D; x += D)
                    truth += x[i] * x[j] * x[k];
                assert_true(fabs(moments[at] - truth) < 6 * noise / sqrt(m) + ROWS * 1e-4);
                largest = fmax(largest, fabs(truth));
            }
    assert_int_equal(at, clo_i_moment3_size(D));
    assert_true(largest > 1); /* there was something to see */
    clo_bounded_free(data);
}

static void entries_are_counted_as_often_as_they_stand(void **state)
{
    unsigned total = 0;
    (void)state;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++) total += clo_i_moment3_multiplicity(i, j, k);
    assert_int_equal(total, CUBE);
    assert_int_equal(clo_i_moment3_multiplicity(0, 1, 1), 3);
}

/* ---- the sensitivity --------------------------------------------------------------------- */

/* A random record on the grid that the query reads, often on the sphere, often along an axis; with
 * a last coordinate that is given, where it is. */
static void draw_record(clo_stream *stream, int bits, int64_t constant, int64_t *r)
{
    double x[D];
    int32_t grid[D];
    const size_t own = constant ? D - 1 : D;
    const bool axis = clo_i_random_below(stream, 2) == 0;
    const size_t which = clo_i_random_below(stream, own);
    const double room = sqrt(1 - ldexp((double)(constant * constant), -2 * bits));
    for (size_t j = 0; j < own; j++)
        x[j] = axis && j != which ? 0 : 3 * clo_i_random_normal(stream);
    clo_i_to_grid(x, own, 1, grid);
    for (size_t j = 0; j < own; j++)
        r[j] = (int64_t)(room * (grid[j] / (1 << (CLO_GRID_BITS - bits))));
    if (constant) r[D - 1] = constant;
}

/* Adds 3 times the projection of v (x) u, over the whole array: no symmetry is used here. */
static void add_tensor(const int64_t *r, int64_t sign, int64_t *value)
{
    int64_t v[D][D], u[D];
    for (size_t i = 0; i < D; i++) u[i] = r[i] / (1 << 5);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) v[i][j] = r[i] * r[j] / (1 << 25);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k < D; k++)
                value[(i * D + j) * D + k] +=
                    sign * (v[i][j] * u[k] + v[i][k] * u[j] + v[j][k] * u[i]);
}

/* The farthest that a random change of one unit moves the tensor, over the plan's sensitivity. */
static double farthest_move(clo_stream *stream, const clo_line *line, clo_relation relation,
                            uint64_t rows)
{
    const int64_t constant =
        (int64_t)ldexp(clo_i_gaussian_moment3_fields(line).constant, line->bits);
    double farthest = 0;
    for (int trial = 0; trial < 4000; trial++) {
        int64_t value[CUBE] = { 0 }, r[D], first[D] = { 0 };
        const size_t in = clo_i_random_below(stream, rows + 1);
        const size_t out = relation == CLO_REPLACE ? clo_i_random_below(stream, rows + 1) : 0;
        const bool repeat = clo_i_random_bit(stream);
        for (size_t i = 0; i < in + out; i++) {
            draw_record(stream, line->bits, constant, r);
            if (repeat && i != 0 && i != in) memcpy(r, first, sizeof r);
            memcpy(first, r, sizeof r);
            add_tensor(r, i < in ? 1 : -1, value);
        }
        u128 square = 0;
        for (size_t e = 0; e < CUBE; e++) square += (u128)((__int128)value[e] * value[e]);
        assert_true(square <= (u128)line->sensitivity * line->sensitivity);
        farthest = fmax(farthest, sqrt((double)square) / (double)line->sensitivity);
    }
    return farthest;
}

/* gaussian_moment3.T1 */
static void no_neighbour_moves_the_tensor_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("sensitivity");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++)
            for (double height = 0; height < 1.1; height += 0.35) {
                clo_domain domain = ball(D, 1, (clo_relation)relation);
                clo_line line;
                domain.rows_per_unit = rows;
                domain.unit = "person";
                assert_ok(clo_i_plan_gaussian_moment3(&domain, height, 1, 1, "", &line, &err), err);
                /* attained, but for the slack of a constant's rounding */
                assert_true(farthest_move(stream, &line, (clo_relation)relation, rows) > 0.95);
            }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void a_constant_lowers_what_a_replaced_record_can_do(void **state)
{
    clo_error err;
    clo_line without, with, higher;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    assert_ok(clo_i_plan_gaussian_moment3(&domain, 0, 1, 1, "", &without, &err), err);
    assert_ok(clo_i_plan_gaussian_moment3(&domain, 0.5, 1, 1, "", &with, &err), err);
    assert_ok(clo_i_plan_gaussian_moment3(&domain, 1, 1, 1, "", &higher, &err), err);
    assert_int_equal(without.sensitivity, (uint64_t)6 << 30);
    assert_true(with.sensitivity < without.sensitivity);
    assert_true(higher.sensitivity < with.sensitivity);
}

/* The plan counted on a constant: without that lens nothing is looked at. */
static void another_lens_than_the_planned_one_is_refused(void **state)
{
    clo_error err;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    double values[D] = { 0 }, moments[SIZE] = { 7 };
    clo_line line;
    (void)state;
    clo_bounded *const data = bounded_from(values, 1, &domain);
    assert_ok(clo_i_plan_gaussian_moment3(&domain, 0.5, 1, 1, "", &line, &err), err);
    assert_fails(ask(data, &line, NULL, 1, 0, moments, &err), CLO_INTERNAL, err,
                 "not those of the plan");
    for (int i = 0; i < 3; i++) { /* that of another height, and the planned one */
        static const double heights[] = { 0.499, 0.75, 0.5 };
        const clo_domain seen = ball(D - 1, 1, CLO_REPLACE);
        double rows[D - 1] = { 0 };
        clo_bounded *const raised = bounded_from(rows, 1, &seen);
        clo_lens lens;
        assert_ok(clo_i_lens_make(NULL, NULL, D - 1, D - 1, heights[i], &lens, &err), err);
        line.lens = CLO_LENS;
        const clo_status status = ask(raised, &line, &lens, 1, 0, moments, &err);
        assert_int_equal(status, i < 2 ? CLO_INTERNAL : CLO_OK);
        assert_true((moments[0] == 7) == (i < 2));
        clo_bounded_free(raised);
    }
    clo_bounded_free(data);
}

static void too_many_columns_are_refused(void **state)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(129, 1, CLO_REPLACE);
    (void)state;
    assert_fails(clo_i_plan_gaussian_moment3(&domain, 0, 1, 1, "", &line, &err), CLO_ARGUMENT, err,
                 "at most 128 columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answer_is_the_tensor_of_third_moments),
        cmocka_unit_test(entries_are_counted_as_often_as_they_stand),
        cmocka_unit_test(no_neighbour_moves_the_tensor_further_than_planned),
        cmocka_unit_test(a_constant_lowers_what_a_replaced_record_can_do),
        cmocka_unit_test(another_lens_than_the_planned_one_is_refused),
        cmocka_unit_test(too_many_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
