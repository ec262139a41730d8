/*
 * The sensitivity of choose_flats.T1 by random search, in exact integers: whatever rows of a unit
 * come and go, the costs of all candidates change within a range of twice the planned sensitivity
 * (which under add-remove lies on one side of zero); and the worst case is attained.
 */
#include "pipeline.h"
#include "ask/query.h"
#include "bound/bound.h"
#include "random/random.h"
#include "ask/assign.h"
#include "query/choose_flats.h"

enum { D = 3, CANDIDATES = 6, K = 2, BITS = 15 };

typedef struct search {
    clo_stream *stream;
    clo_assign rules[CANDIDATES];
    int unit_bits;
} search;

/* Often a candidate has only lines along axes, where the extremes are. */
static void draw_candidates(search *s, clo_workspace *space, bool affine)
{
    clo_error err;
    for (size_t i = 0; i < CANDIDATES; i++) {
        double bases[K * D] = { 0 }, points[K * D] = { 0 };
        const bool plain = i < 2;
        for (size_t c = 0; c < K; c++) {
            double square = 0, *const basis = bases + c * D;
            for (size_t j = 0; j < D; j++) {
                basis[j] = plain ? j == i : clo_i_random_normal(s->stream);
                square += basis[j] * basis[j];
                points[c * D + j] = plain ? 0 : 2 * clo_i_random_unit(s->stream) - 1;
            }
            for (size_t j = 0; j < D; j++) basis[j] /= sqrt(square);
        }
        if (affine)
            assert_ok(clo_i_assign_flats(space, bases, points, K, D, 1, BITS, &s->rules[i], &err),
                      err);
        else
            assert_ok(clo_i_assign_subspaces(space, bases, K, D, 1, BITS, &s->rules[i], &err), err);
    }
}

/* Of an extreme change, records come along the first axis and go along the second. */
static void add_record(const search *s, int64_t sign, bool extreme, int64_t *costs)
{
    double x[D], record[D], scores[K * 2];
    int32_t grid[D];
    uint64_t distance;
    const bool axis = extreme || clo_i_random_bit(s->stream);
    const size_t which = extreme ? sign < 0 : clo_i_random_below(s->stream, 2);
    for (size_t j = 0; j < D; j++)
        x[j] = axis ? 2 * (j == which) : 2 * clo_i_random_normal(s->stream);
    clo_i_to_grid(x, D, 1, grid);
    for (size_t j = 0; j < D; j++) record[j] = grid[j] / (1 << (CLO_GRID_BITS - BITS));
    for (size_t i = 0; i < CANDIDATES; i++) {
        clo_i_assign_distances(&s->rules[i], record, 1, s->unit_bits, scores, &distance);
        costs[i] += sign * (int64_t)distance;
    }
}

static double search_relation(search *s, clo_relation relation, uint64_t rows, const clo_line *line)
{
    int64_t widest = 0;
    for (int trial = 0; trial < 3000; trial++) {
        int64_t costs[CANDIDATES] = { 0 };
        const bool extreme = trial % 4 == 0;
        const uint64_t in = clo_i_random_below(s->stream, rows + 1);
        const uint64_t out = relation == CLO_REPLACE ? clo_i_random_below(s->stream, rows + 1) : 0;
        for (uint64_t i = 0; i < in; i++) add_record(s, 1, extreme, costs);
        for (uint64_t i = 0; i < out; i++) add_record(s, -1, extreme, costs);
        int64_t low = costs[0], high = costs[0];
        for (size_t i = 1; i < CANDIDATES; i++) {
            if (costs[i] < low) low = costs[i];
            if (costs[i] > high) high = costs[i];
        }
        if (relation == CLO_ADD_REMOVE) assert_true(low >= 0);
        assert_true(high - low <= 2 * (int64_t)line->sensitivity);
        if (high - low > widest) widest = high - low;
    }
    return (double)widest / (2 * (double)line->sensitivity);
}

/* choose_flats.T1, assign.T2 */
static void no_unit_changes_the_costs_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("choose flats");
    search s = { .unit_bits = 20 };
    (void)state;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &s.stream, &err), err);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++)
            for (int affine = 0; affine < 2; affine++) {
                clo_workspace *space = NULL;
                clo_domain domain = ball(D, 1, (clo_relation)relation);
                clo_line line;
                domain.rows_per_unit = rows;
                domain.unit = "person";
                assert_ok(
                    clo_i_plan_choose_flats(&domain, CANDIDATES, K * 2, 1, 1, "", &line, &err),
                    err);
                assert_int_equal(line.count_unit, 1 << 20);
                assert_ok(clo_workspace_new(1 << 16, &space, &err), err);
                draw_candidates(&s, space, affine);
                assert_true(search_relation(&s, (clo_relation)relation, rows, &line) > 0.99);
                clo_workspace_free(space);
            }
    clo_i_stream_close(s.stream);
    clo_rng_free(rng);
}

static void units_of_many_rows_get_a_coarser_unit(void **state)
{
    clo_error err;
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_line line;
    (void)state;
    domain.rows_per_unit = 1 << 20;
    domain.unit = "person";
    assert_ok(clo_i_plan_choose_flats(&domain, 2, 1, 1, 1, "", &line, &err), err);
    assert_int_equal(line.count_unit, 1 << 11);
    assert_int_equal(line.sensitivity, UINT64_C(1) << 31);
    assert_int_equal(clo_i_plan_choose_flats(&domain, 0, 1, 1, 1, "", &line, &err), CLO_ARGUMENT);
    assert_int_equal(clo_i_plan_choose_flats(&domain, 2, 1, 0, 1, "", &line, &err), CLO_BUDGET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_unit_changes_the_costs_further_than_planned),
        cmocka_unit_test(units_of_many_rows_get_a_coarser_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
