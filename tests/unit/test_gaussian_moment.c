/*
 * gaussian_moment: the answer is the tensor of fourth moments and the same on any number of threads
 * and in any blocks; by random search over neighbours, in exact integers, no unit moves it further
 * than planned, and the bound is attained (gaussian_moment.T1).
 */
#include "pipeline.h"
#include "counted.h"
#include "ask/query.h"
#include "bound/bound.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "query/gaussian_moment.h"
#include "query/moment_internal.h"

enum { D = 4, ROWS = 500, SIZE = D * (D + 1) * (D + 2) * (D + 3) / 24 };
typedef unsigned __int128 u128;

static clo_stream *stream_of(clo_rng *rng)
{
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    return stream;
}

static void ask(const clo_bounded *data, const clo_line *line, int threads, size_t block_rows,
                double *moments)
{
    clo_error err;
    clo_rng *const rng = seeded("moment");
    clo_meter meter = { .lines = line, .count = 1 };
    clo_context context = { .rng = rng,
                            .comm = clo_i_comm_self(),
                            .threads = threads,
                            .block_rows = block_rows,
                            .meter = &meter };
    const size_t planned = query_bytes(line, D, NULL, block_rows, threads);
    assert_ok(clo_workspace_new(planned, &context.workspace, &err), err);
    assert_ok(clo_i_ask_gaussian_moment(&context, 0, data, moments, &err), err);
    assert_true(clo_i_workspace_peak(context.workspace) <= planned);
    clo_workspace_free(context.workspace);
    clo_rng_free(rng);
}

static void the_answer_is_the_tensor_of_fourth_moments(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("records");
    clo_stream *const stream = stream_of(rng);
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double values[ROWS * D], moments[SIZE], again[SIZE];
    clo_line line;
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = 0.25 * clo_i_random_normal(stream);
    for (size_t i = 0; i < ROWS; i++) { /* as the bound will do */
        double square = 0;
        for (size_t j = 0; j < D; j++) square += values[i * D + j] * values[i * D + j];
        for (size_t j = 0; j < D; j++) values[i * D + j] /= fmax(1, sqrt(square));
    }
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_ok(clo_i_plan_gaussian_moment(&domain, 30, 1, "", &line, &err), err);
    ask(data, &line, 1, 0, moments);
    ask(data, &line, 3, 0, again);
    assert_memory_equal(moments, again, sizeof again);
    ask(data, &line, 2, 7, again);
    assert_memory_equal(moments, again, sizeof again);
    const double noise = clo_i_moment_noise(&line);
    size_t at = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++)
                for (size_t l = k; l < D; l++, at++) {
                    const double m = clo_i_moment_multiplicity(i, j, k, l);
                    double truth = 0;
                    for (const double *x = values; x < values + ROWS * D; x += D)
                        truth += x[i] * x[j] * x[k] * x[l];
                    assert_true(fabs(moments[at] - truth) < 6 * noise / sqrt(m) + ROWS * 1e-4);
                }
    assert_int_equal(at, clo_i_moment_size(D));
    clo_bounded_free(data);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void entries_are_counted_as_often_as_they_stand(void **state)
{
    unsigned total = 0;
    (void)state;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++)
                for (size_t l = k; l < D; l++) total += clo_i_moment_multiplicity(i, j, k, l);
    assert_int_equal(total, D * D * D * D);
    assert_int_equal(clo_i_moment_multiplicity(0, 0, 1, 1), 6);
    assert_int_equal(clo_i_moment_multiplicity(0, 1, 1, 2), 12);
    assert_int_equal(clo_i_moment_multiplicity(0, 1, 1, 1), 4);
}

/* ---- the sensitivity --------------------------------------------------------------------- */

/* A random record on the grid that the query reads, often on the sphere, often along an axis. */
static void draw_record(clo_stream *stream, int bits, int64_t *r)
{
    double x[D];
    int32_t grid[D];
    const bool axis = clo_i_random_below(stream, 4) == 0;
    const size_t which = clo_i_random_below(stream, D);
    for (size_t j = 0; j < D; j++) x[j] = axis && j != which ? 0 : 3 * clo_i_random_normal(stream);
    clo_i_to_grid(x, D, 1, grid);
    for (size_t j = 0; j < D; j++) r[j] = grid[j] / (1 << (CLO_GRID_BITS - bits));
}

/* Adds 3 times the projection of v (x) v, over the whole array: no symmetry is used here. */
static void add_tensor(const int64_t *r, int64_t sign, int64_t *value)
{
    int64_t v[D][D];
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) v[i][j] = r[i] * r[j] / (1 << 25);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k < D; k++)
                for (size_t l = 0; l < D; l++)
                    value[((i * D + j) * D + k) * D + l] +=
                        sign * (v[i][j] * v[k][l] + v[i][k] * v[j][l] + v[i][l] * v[j][k]);
}

/* gaussian_moment.T1 */
static void no_neighbour_moves_the_tensor_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("sensitivity");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++) {
            clo_domain domain = ball(D, 1, (clo_relation)relation);
            clo_line line;
            double farthest = 0;
            domain.rows_per_unit = rows;
            domain.unit = "person";
            assert_ok(clo_i_plan_gaussian_moment(&domain, 1, 1, "", &line, &err), err);
            for (int trial = 0; trial < 5000; trial++) {
                int64_t value[D * D * D * D] = { 0 }, r[D], first[D];
                const size_t in = clo_i_random_below(stream, rows + 1);
                const size_t out =
                    relation == CLO_REPLACE ? clo_i_random_below(stream, rows + 1) : 0;
                const bool repeat = clo_i_random_bit(stream);
                for (size_t i = 0; i < in + out; i++) {
                    draw_record(stream, line.bits, r);
                    if (repeat && i != 0 && i != in) memcpy(r, first, sizeof r);
                    memcpy(first, r, sizeof r);
                    add_tensor(r, i < in ? 1 : -1, value);
                }
                u128 square = 0;
                for (size_t e = 0; e < D * D * D * D; e++)
                    square += (u128)((__int128)value[e] * value[e]);
                assert_true(square <= (u128)line.sensitivity * line.sensitivity);
                farthest = fmax(farthest, sqrt((double)square) / (double)line.sensitivity);
            }
            assert_true(farthest > 0.95); /* the bound is attained */
        }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* The lift with a share of the traces left out, over the whole array. */
static void add_even(const int64_t *r, double taken, int64_t sign, int64_t *value)
{
    int64_t v[D][D];
    double square = 0;
    for (size_t i = 0; i < D; i++) square += (double)(r[i] * r[i]);
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            v[i][j] = (int64_t)(ldexp((double)(r[i] * r[j]), -25) -
                                (i == j ? taken * ldexp(square, -25) : 0));
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k < D; k++)
                for (size_t l = 0; l < D; l++)
                    value[((i * D + j) * D + k) * D + l] +=
                        sign * (v[i][j] * v[k][l] + v[i][k] * v[j][l] + v[i][l] * v[j][k]);
}

/* gaussian_moment.T3 */
static void fewer_traces_move_it_less_and_no_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("even");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (double share = 0.1; share < 0.65; share += 0.25) {
            const clo_domain domain = ball(D, 1, (clo_relation)relation);
            const double taken = clo_i_moment_even(D, share).taken;
            clo_line line, whole;
            double farthest = 0;
            assert_ok(clo_i_plan_even_moment(&domain, share, 1, 1, "", &line, &err), err);
            assert_ok(clo_i_plan_gaussian_moment(&domain, 1, 1, "", &whole, &err), err);
            assert_true(line.sensitivity < whole.sensitivity);
            for (int trial = 0; trial < 4000; trial++) {
                int64_t value[D * D * D * D] = { 0 }, r[D];
                u128 square = 0;
                for (int side = 0; side < (relation == CLO_REPLACE ? 2 : 1); side++) {
                    draw_record(stream, line.bits, r);
                    add_even(r, taken, side ? -1 : 1, value);
                }
                for (size_t e = 0; e < D * D * D * D; e++)
                    square += (u128)((__int128)value[e] * value[e]);
                assert_true(square <= (u128)line.sensitivity * line.sensitivity);
                farthest = fmax(farthest, sqrt((double)square) / (double)line.sensitivity);
            }
            assert_true(farthest > 0.97);
        }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* What is left out comes back: the answer is the tensor of moments all the same. */
static void traces_come_back(void **state)
{
    clo_error err;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    double values[ROWS * D], whole[SIZE], even[SIZE];
    clo_line lines[2];
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = 0.4 * sin((double)(i * i % 997));
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    assert_ok(clo_i_plan_gaussian_moment(&domain, 30, 1, "", &lines[0], &err), err);
    assert_ok(clo_i_plan_even_moment(&domain, 0.5, 30, 1, "", &lines[1], &err), err);
    ask(data, &lines[0], 1, 0, whole);
    ask(data, &lines[1], 1, 0, even);
    for (size_t i = 0; i < SIZE; i++) assert_true(fabs(whole[i] - even[i]) < 0.6);
    assert_true(whole[0] > 3); /* and there was something to see */
    clo_bounded_free(data);
}

static void too_many_columns_are_refused(void **state)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(65, 1, CLO_REPLACE);
    (void)state;
    assert_fails(clo_i_plan_gaussian_moment(&domain, 1, 1, "", &line, &err), CLO_ARGUMENT, err,
                 "at most 64 columns");
}

/* gaussian_moment.T2: the mean of the m entries of a class has the noise of the plan, or more, and
 * not a step more than that. */
static void the_scale_of_a_class_is_rounded_up(void **state)
{
    static const unsigned sizes[] = { 1, 2, 3, 4, 6, 12, 24 };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t scale = 1; scale < UINT64_C(1) << 44; scale += 1 + scale / 97) {
            const u128 m = sizes[i], own = clo_i_moment_class_scale(scale, sizes[i]);
            assert_true(m * own * own >= (u128)scale * scale);
            assert_true(m * (own - 1) * (own - 1) < (u128)scale * scale);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_of_a_class_is_rounded_up),
        cmocka_unit_test(the_answer_is_the_tensor_of_fourth_moments),
        cmocka_unit_test(entries_are_counted_as_often_as_they_stand),
        cmocka_unit_test(no_neighbour_moves_the_tensor_further_than_planned),
        cmocka_unit_test(fewer_traces_move_it_less_and_no_further_than_planned),
        cmocka_unit_test(traces_come_back),
        cmocka_unit_test(too_many_columns_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
