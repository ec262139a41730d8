/* partition: the law of a level keeps its promise for every set and every count (partition.T1),
 * computed from the planned threshold and rate; cubes lie where the records are; a level is a
 * charge, rows in another order give the same answer, and no level has more cubes than planned
 * (partition.T2). */
#include "pipeline.h"
#include "parallel/parallel.h"
#include "query/partition.h"
#include "query/partition_internal.h"

enum { D = 2, MOST = 60, LEVELS = 3 };

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

static clo_line planned(const clo_domain *domain, size_t levels, size_t most, double epsilon)
{
    const clo_cube_tree how = { .levels = levels, .trees = 2, .most = most };
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_partition(domain, &how, epsilon, "", &line, &err), err);
    return line;
}

static void start(asking *a, clo_line line, const char *seed)
{
    clo_error err;
    *a = (asking){ .line = line };
    a->meter = (clo_meter){ .lines = &a->line, .count = 1 };
    a->context = (clo_context){ .rng = seeded(seed),
                                .comm = clo_i_comm_self(),
                                .threads = 1,
                                .progress_to = 1,
                                .meter = &a->meter };
    assert_ok(clo_workspace_new(1 << 22, &a->context.workspace, &err), err);
}

static void stop(asking *a)
{
    clo_workspace_free(a->context.workspace);
    clo_rng_free(a->context.rng);
}

/* ---- the law ------------------------------------------------------------------------------- */

/* The chance that a child with so many records is lifted. */
static long double lifted(const clo_line *line, int64_t records)
{
    const long double a = (long double)line->rate_numerator / (long double)line->rate_denominator;
    const int64_t threshold = (int64_t)clo_i_partition_fields(line).threshold;
    long double below = 0, all = 1 / -expm1l(-a); /* of the noise from 0 on */
    for (int64_t x = 1 - threshold; x < 0; x++) all += expl(a * (long double)x);
    for (int64_t x = 1 - threshold; x <= records - threshold; x++)
        below += expl(-a * fabsl((long double)x));
    return below / all;
}

static unsigned ones(unsigned set)
{
    return (unsigned)__builtin_popcount(set);
}

/* P[the phantoms are this set] of 4 children. */
static long double phantoms(unsigned set)
{
    static const long double choose[5] = { 1, 4, 6, 4, 1 };
    const long double x = 1.0L / (1 << CLO_PHANTOM_BITS);
    const long double size = powl(x, ones(set)) * (ones(set) < 4 ? 1 - x : 1);
    return size / choose[ones(set)];
}

static long double chance(unsigned active, const long double lift[4])
{
    long double total = 0;
    for (unsigned s = active;; s = (s - 1) & active) {
        long double term = phantoms(s);
        for (unsigned c = 0; c < 4; c++) {
            if (!(active >> c & 1)) term *= 1 - lift[c];
            if ((active & ~s) >> c & 1) term *= lift[c];
        }
        total += term;
        if (s == 0) return total;
    }
}

/* partition.T1: every set of active children, every count of one child, others empty or not. */
static double worst_loss(const clo_line *line, bool *sums_to_one)
{
    const int64_t many = 3 * (int64_t)clo_i_partition_fields(line).threshold;
    long double worst = 0;
    *sums_to_one = true;
    for (int others = 0; others < 3; others++)
        for (int64_t m = 0; m < many; m += m < 4 || labs(m - many / 3) < 4 ? 1 : many / 40 + 1) {
            const long double rest = others ? lifted(line, others == 1 ? 1 : many / 3) : 0;
            const long double before[4] = { lifted(line, m), rest, rest, 0 };
            const long double after[4] = { lifted(line, m + 1), rest, rest, 0 };
            long double all = 0;
            for (unsigned set = 0; set < 16; set++) {
                const long double p = chance(set, before), q = chance(set, after);
                all += p;
                worst = fmaxl(worst, fabsl(logl(p / q)));
            }
            if (fabsl(all - 1) > 1e-15L) *sums_to_one = false;
        }
    return (double)worst;
}

static void no_level_tells_more_than_it_is_priced_for(void **state)
{
    static const double epsilons[] = { 0.05, 0.3, 1, 3 };
    bool right;
    (void)state;
    for (size_t e = 0; e < 4; e++) {
        const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
        clo_line line = planned(&domain, 1, MOST, epsilons[e]);
        const double loss = worst_loss(&line, &right);
        assert_true(right);
        assert_true(loss <= epsilons[e] * (1 + 1e-9));
        assert_true(loss > 0.99 * epsilons[e]); /* and nothing is given away */
        change_fields(partition, &line,
                      threshold -= 1 + clo_i_partition_fields(&line).threshold /
                                           10); /* planted: cubes divided too readily */
        if (clo_i_partition_fields(&line).threshold > 1)
            assert_true(worst_loss(&line, &right) > epsilons[e]);
    }
}

static void replacing_and_units_cost_their_number_of_records(void **state)
{
    clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_line line = planned(&domain, LEVELS, MOST, 1);
    (void)state;
    assert_int_equal(line.rate_denominator, line.rate_numerator);
    assert_int_equal(line.event.kind, CLO_EVENT_PURE);
    assert_int_equal(line.event.count, 2 * LEVELS);
    domain.relation = CLO_REPLACE;
    domain.rows_per_unit = 3;
    domain.unit = "person";
    line = planned(&domain, LEVELS, MOST, 1);
    assert_int_equal(line.rate_denominator, 6 * line.rate_numerator);
}

/* ---- trees --------------------------------------------------------------------------------- */

static void fill(double *values, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        values[i * D] = i % 3 ? 0.5 : -0.7;
        values[i * D + 1] = i % 3 ? 0.25 + 1e-3 * (double)(i % 7) : 0.1;
    }
}

static size_t grow(const double *values, size_t rows, clo_line line, const char *seed,
                   size_t block_rows, double *centers)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    clo_error err;
    clo_cubes cubes = { .centers = centers };
    asking a;
    start(&a, line, seed);
    a.context.block_rows = block_rows;
    assert_ok(clo_i_ask_partition(&a.context, 0, data, &cubes, &err), err);
    assert_int_equal(a.meter.asked[0], LEVELS);
    stop(&a);
    clo_bounded_free(data);
    return cubes.count;
}

static bool holds(const double *center, double half, double x, double y)
{
    return fabs(center[0] - x) <= half && fabs(center[1] - y) <= half;
}

static void cubes_close_in_on_the_records(void **state)
{
    enum { ROWS = 3000 };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line line = planned(&domain, LEVELS, MOST, 1);
    double centers[MOST * D];
    (void)state;
    fill(values, ROWS);
    for (int run = 0; run < 20; run++) {
        char seed[16];
        snprintf(seed, sizeof seed, "cubes %d", run);
        const size_t count = grow(values, ROWS, line, seed, 0, centers);
        size_t left = 0, right = 0;
        for (size_t i = 0; i < count; i++) {
            left += holds(centers + i * D, 0.25, -0.7, 0.1);
            right += holds(centers + i * D, 0.25, 0.5, 0.253);
        }
        assert_true(count >= 3 && count <= MOST);
        assert_true(left >= 1 && right >= 1); /* the last level's cube, of edge 1/2, or a larger
                                                 one around the same middle */
    }
}

/* How often a cube of few records is active, beside the law; thresholds so low that it happens. */
static void a_child_is_lifted_with_the_chance_that_is_proved(void **state)
{
    enum { RUNS = 1500 };
    static double values[4 * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_line line = planned(&domain, 1, MOST, 0.5);
    double centers[MOST * D];
    (void)state;
    for (size_t i = 0; i < 4 * D; i++) values[i] = i % D ? 0.25 : 0.5;
    for (uint64_t threshold = 2; threshold <= 4; threshold += 2)
        for (size_t records = 1; records <= 4; records++) {
            size_t divided = 0;
            change_fields(partition, &line, threshold = threshold);
            for (int run = 0; run < RUNS; run++) {
                char seed[32];
                snprintf(seed, sizeof seed, "lifted %d", run);
                asking a;
                clo_error err;
                clo_cubes cubes = { .centers = centers };
                clo_bounded *const data = bounded_from(values, records, &domain);
                start(&a, line, seed);
                assert_ok(clo_i_ask_partition(&a.context, 0, data, &cubes, &err), err);
                stop(&a);
                clo_bounded_free(data);
                divided += cubes.count > 0;
            }
            /* Or a phantom is there, wherever. */
            const double rest = (1 - ldexp(1, -CLO_PHANTOM_BITS));
            const double chance = 1 - (1 - (double)lifted(&line, (int64_t)records)) * rest;
            assert_close((double)divided / RUNS, chance,
                         5 * sqrt(chance * (1 - chance) / RUNS) + 0.001);
        }
}

static void rows_in_another_order_and_other_blocks_give_the_same_cubes(void **state)
{
    enum { ROWS = 600 };
    static double values[ROWS * D], turned[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line line = planned(&domain, LEVELS, MOST, 1);
    double centers[MOST * D], again[MOST * D];
    (void)state;
    fill(values, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(turned + i * D, values + i * 277 % ROWS * D, D * sizeof *values);
    const size_t count = grow(values, ROWS, line, "order", 0, centers);
    assert_int_equal(grow(turned, ROWS, line, "order", 17, again), count);
    assert_same_doubles(again, centers, count * D);
}

/* partition.T3: with room for so many cubes that a table of their children would be too large,
 * records are sorted. */
static void trees_that_count_and_that_sort_are_the_same(void **state)
{
    enum { ROWS = 2000, FEW = 1000 * LEVELS, MANY = LEVELS << 20 };
    static double values[ROWS * D], counted[FEW * D], sorted[FEW * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line sum = planned(&domain, LEVELS, FEW, 2),
                   whole = planned(&domain, LEVELS, MANY, 2);
    size_t cubes = 0;
    (void)state;
    assert_int_equal(clo_i_line_reading(&sum), CLO_READING_SUM);
    assert_int_equal(clo_i_line_reading(&whole), CLO_READING_WHOLE);
    for (size_t i = 0; i < ROWS; i++) {
        values[i * D] = cos((double)i) * 0.9 * (double)(i % 5) / 4;
        values[i * D + 1] = sin((double)i) * 0.9 * (double)(i % 7) / 6;
    }
    for (int run = 0; run < 20; run++) {
        char seed[16];
        snprintf(seed, sizeof seed, "both %d", run);
        const size_t count = grow(values, ROWS, sum, seed, 0, counted);
        assert_int_equal(grow(values, ROWS, whole, seed, 0, sorted), count);
        assert_same_doubles(counted, sorted, count * D);
        cubes += count;
    }
    assert_true(cubes > 20 * 20); /* of several levels, some of them next to one another */
}

static void no_level_has_more_cubes_than_planned(void **state)
{
    enum { ROWS = 4000, FEW = 3 * LEVELS };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line line = planned(&domain, LEVELS, FEW, 10);
    double centers[FEW * D];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        values[i * D] = cos((double)i) * 0.9;
        values[i * D + 1] = sin((double)i) * 0.9;
    }
    assert_int_equal(grow(values, ROWS, line, "cap", 0, centers), FEW);
}

/* Which of more active cubes than are kept go on is a function of the cubes (partition.T2): the
 * same ones with other numbers of records in each are kept alike. Without noise, every cube that
 * holds a record is active. */
static void how_many_records_a_cube_holds_does_not_decide_whether_it_is_kept(void **state)
{
    enum { PLACES = 24, HEAVY = 40, FEW = 2 * LEVELS, ROWS = PLACES * (HEAVY + 1) };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_line line = planned(&domain, LEVELS, FEW, 1);
    double centers[FEW * D], first[FEW * D];
    size_t kept = 0;
    (void)state;
    line.rate_numerator = 64; /* e^-64: never another noise than 0 */
    line.rate_denominator = 1;
    change_fields(partition, &line, threshold = 1);
    for (size_t heavy = 0; heavy < PLACES; heavy++) {
        size_t rows = 0;
        for (size_t place = 0; place < PLACES; place++)
            for (size_t i = 0; i < (place == heavy ? HEAVY : 1); i++, rows++) {
                values[rows * D] = cos((double)place) * 0.9;
                values[rows * D + 1] = sin((double)place) * 0.9;
            }
        const size_t count = grow(values, rows, line, "heavy", 0, centers);
        if (heavy == 0) {
            memcpy(first, centers, sizeof first);
            kept = count;
        }
        assert_int_equal(count, kept);
        assert_same_doubles(centers, first, count * D);
    }
    assert_int_equal(kept, FEW);
}

/* Without records a level answers its phantoms: j of the children with chance 8^-j 7/8, no child
 * twice, each set of so many as likely as any other (partition.T1). */
static void phantoms_are_different_children_of_any_place(void **state)
{
    enum { RUNS = 3000, CHILDREN = 1 << D };
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line line = planned(&domain, 1, MOST, 1);
    clo_bounded *const data = bounded_from(NULL, 0, &domain);
    size_t with[CHILDREN + 1] = { 0 }, pairs = 0;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        char seed[24];
        double centers[MOST * D];
        clo_cubes cubes = { .centers = centers };
        clo_error err;
        asking a;
        snprintf(seed, sizeof seed, "phantoms %d", run);
        start(&a, line, seed);
        assert_ok(clo_i_ask_partition(&a.context, 0, data, &cubes, &err), err);
        stop(&a);
        assert_true(cubes.count <= CHILDREN);
        with[cubes.count]++;
        for (size_t i = 1; i < cubes.count; i++) { /* in order, so that equal ones are neighbours */
            const double *const c = centers + i * D;
            const double x = fabs(c[0] - c[-2]), y = fabs(c[1] - c[-1]);
            assert_true(x > 0.1 || y > 0.1);
            assert_true((x < 1e-9 || x > 0.1) && (y < 1e-9 || y > 0.1) && x < 4 && y < 4);
            pairs += x > 0.1 && y > 0.1; /* across the cube: of six pairs two */
        }
    }
    const double expected[] = { RUNS * 7 / 8., RUNS * 7 / 64., RUNS * 7 / 512. };
    for (size_t j = 0; j < 3; j++)
        assert_true(fabs((double)with[j] - expected[j]) < 6 * sqrt(expected[j]));
    assert_true(pairs >= 2 && with[2] > pairs);
    clo_bounded_free(data);
}

static void no_records_and_as_many_columns_as_there_may_be_have_an_answer(void **state)
{
    enum { WIDE = CLO_PARTITION_COLS, TALL = 400 };
    static double values[TALL * WIDE], centers[MOST * WIDE];
    const clo_domain domain = ball(WIDE, 1, CLO_REPLACE);
    const clo_line line = planned(&domain, LEVELS, MOST, 4);
    clo_error err;
    (void)state;
    for (size_t rows = 0; rows <= TALL; rows += TALL) {
        clo_bounded *const data = bounded_from(values, rows, &domain);
        clo_cubes cubes = { .centers = centers };
        asking a;
        start(&a, line, "wide");
        assert_ok(clo_i_ask_partition(&a.context, 0, data, &cubes, &err), err);
        if (rows) assert_true(cubes.count >= LEVELS); /* all records in one place */
        stop(&a);
        clo_bounded_free(data);
    }
}

static void refuses_what_cannot_be_planned(void **state)
{
    clo_domain domain = ball(CLO_PARTITION_COLS + 1, 1, CLO_REPLACE);
    clo_cube_tree how = { .levels = 1, .trees = 1, .most = 1 };
    clo_error err;
    clo_line line;
    (void)state;
    assert_fails(clo_i_plan_partition(&domain, &how, 1, "", &line, &err), CLO_ARGUMENT, err,
                 "124 columns");
    domain.cols = 2;
    assert_fails(clo_i_plan_partition(&domain, &how, 0, "", &line, &err), CLO_BUDGET, err, NULL);
    how.levels = CLO_PARTITION_LEVELS + 1;
    assert_fails(clo_i_plan_partition(&domain, &how, 1, "", &line, &err), CLO_ARGUMENT, err,
                 "levels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_level_tells_more_than_it_is_priced_for),
        cmocka_unit_test(replacing_and_units_cost_their_number_of_records),
        cmocka_unit_test(cubes_close_in_on_the_records),
        cmocka_unit_test(a_child_is_lifted_with_the_chance_that_is_proved),
        cmocka_unit_test(rows_in_another_order_and_other_blocks_give_the_same_cubes),
        cmocka_unit_test(trees_that_count_and_that_sort_are_the_same),
        cmocka_unit_test(no_level_has_more_cubes_than_planned),
        cmocka_unit_test(how_many_records_a_cube_holds_does_not_decide_whether_it_is_kept),
        cmocka_unit_test(phantoms_are_different_children_of_any_place),
        cmocka_unit_test(no_records_and_as_many_columns_as_there_may_be_have_an_answer),
        cmocka_unit_test(refuses_what_cannot_be_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
