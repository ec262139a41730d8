/*
 * Sparse records: a row reads the same dense or sparse, a sketch stays inside the ball and knows
 * one record alone (sketch.T1), and of a record its largest entries count (sparse_sum.T1).
 */
#include "pipeline.h"
#include "bytes_file.h"
#include "bound/bound.h"
#include "ask/fold.h"
#include "query/queries.h"
#include "ask/query_steps.h"
#include "parallel/parallel.h"
#include "ask/assign.h"
#include "ask/lens.h"
#include "query/peel.h"
#include "query/sparse_sum.h"

enum { ROWS = 60, COLS = 40, BITS = 20 };

/* Rows of a few entries, some of them long; the first has all its entries equal. */
static void fill(double *values)
{
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++) {
            const double x = sin((double)(i * COLS + j) * 12.9898);
            values[i * COLS + j] = i == 0 ? 1 : fabs(x) > 0.8 ? x * (double)(i % 3 + 1) / 4 : 0;
        }
}

static clo_bounded *sparse_from(const double *values, const clo_domain *domain)
{
    static char bytes[ROWS * COLS * 32];
    size_t length = 0;
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        bytes[length++] = '1';
        for (size_t j = 0; j < COLS; j++)
            if (values[i * COLS + j] != 0)
                length +=
                    (size_t)sprintf(bytes + length, " %zu:%.17g", j + 1, values[i * COLS + j]);
        bytes[length++] = '\n';
    }
    clo_read_options options = clo_read_options_default();
    options.format = "libsvm";
    options.cols = COLS;
    const bytes_file file = bytes_file_open(bytes, length);
    assert_ok(clo_table_read(file.path, &options, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    bytes_file_close(file);
    return data;
}

typedef struct both {
    double values[ROWS * COLS];
    clo_domain domain;
    clo_bounded *dense, *sparse;
    clo_rng *rng;
    clo_context context;
} both;

static int set_up(void **state)
{
    clo_error err;
    both *const b = calloc(1, sizeof *b);
    fill(b->values);
    b->domain = ball(COLS, 1, CLO_REPLACE);
    b->dense = bounded_from(b->values, ROWS, &b->domain);
    b->sparse = sparse_from(b->values, &b->domain);
    b->rng = seeded("sketch");
    b->context =
        (clo_context){ .rng = b->rng, .comm = clo_i_comm_self(), .threads = 2, .progress_to = 1 };
    assert_ok(clo_workspace_new(1 << 22, &b->context.workspace, &err), err);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    both *const b = *state;
    clo_bounded_free(b->dense);
    clo_bounded_free(b->sparse);
    clo_rng_free(b->rng);
    clo_workspace_free(b->context.workspace);
    free(b);
    return 0;
}

static void a_row_holds_the_entries_that_a_block_does(void **state)
{
    const both *const b = *state;
    double block[ROWS * COLS], again[ROWS * COLS];
    size_t rows = 0;
    clo_error err;
    assert_ok(clo_i_block_load(b->dense, 0, ROWS, BITS, block, &rows, &err), err);
    assert_ok(clo_i_block_load(b->sparse, 0, ROWS, BITS, again, &rows, &err), err);
    assert_same_doubles(again, block, ROWS * COLS);
    for (size_t i = 0; i < ROWS; i++) {
        double seen[COLS] = { 0 };
        const clo_row row = clo_i_bounded_row(b->sparse, i), whole = clo_i_bounded_row(b->dense, i);
        assert_true(row.count <= COLS && whole.count == COLS && !whole.columns);
        for (size_t e = 0; e < row.count; e++)
            seen[row.columns[e]] = row.cells[e] / (1 << (CLO_GRID_BITS - BITS));
        assert_same_doubles(seen, block + i * COLS, COLS);
    }
}

/* sketch.T1, against the definition, with products that collide in nearly every coordinate. */
static void a_sketch_is_its_definition_drawn_back_onto_the_ball(void **state)
{
    both *const b = *state;
    clo_error err;
    clo_lens lens;
    size_t longer = 0;
    for (size_t cols = 4; cols <= 16; cols += 4) {
        static double seen[ROWS * 16], again[ROWS * 16];
        assert_ok(clo_i_sketch_make(&b->context, COLS, cols, &lens, &err), err);
        clo_i_sketch_rows(&lens, b->sparse, 0, ROWS, BITS, seen);
        clo_i_sketch_rows(&lens, b->dense, 0, ROWS, BITS, again);
        assert_same_doubles(seen, again, ROWS * cols);
        clo_i_sketch_rows(&lens, b->sparse, 7, 3, BITS, again); /* wherever the row lies */
        assert_same_doubles(again, seen + 7 * cols, 3 * cols);
        for (size_t i = 0; i < ROWS; i++) {
            const clo_row row = clo_i_bounded_row(b->dense, i);
            double exact[16] = { 0 }, square = 0, length = 0;
            for (size_t j = 0; j < COLS; j++)
                for (size_t copy = 0; copy < 4; copy++) {
                    const uint32_t place = lens.places[4 * j + copy];
                    assert_true(place / 2 / (cols / 4) == copy);
                    exact[place / 2] += ldexp(place % 2 ? -row.cells[j] : row.cells[j], -11);
                }
            for (size_t j = 0; j < cols; j++) length += exact[j] * exact[j];
            for (size_t j = 0; j < cols; j++) square += seen[i * cols + j] * seen[i * cols + j];
            const double factor = fmin(1, ldexp(1, BITS) / sqrt(length));
            assert_true(square <= ldexp(1, 2 * BITS)); /* sketch.T1 */
            longer += factor < 1;
            for (size_t j = 0; j < cols; j++)
                assert_true(fabs(seen[i * cols + j] - factor * exact[j]) < 3);
        }
    }
    assert_true(longer > 10); /* the second step is not idle */
}

static void a_sketch_that_does_not_exist_is_refused(void **state)
{
    both *const b = *state;
    clo_lens lens;
    assert_int_equal(clo_i_sketch_make(&b->context, COLS, 6, &lens, NULL), CLO_INTERNAL);
    assert_int_equal(clo_i_sketch_make(&b->context, COLS, 2048, &lens, NULL), CLO_INTERNAL);
}

/* ---- the cut ------------------------------------------------------------------------------- */

static void totals_of(both *b, const clo_bounded *data, size_t entries, uint64_t *totals)
{
    const clo_assign one = { .kind = CLO_ASSIGN_ONE, .clusters = 1, .cols = COLS };
    clo_line line = {
        .query = &clo_i_query_sparse_sum, .bits = BITS, .cols = COLS, .groups = 1, .count_unit = 5
    };
    const clo_ask ask = { .line = &line, .rules = &one, .rule_count = 1 };
    clo_error err;
    clo_i_sparse_sum_set_fields(&line, (clo_sparse_fields){ .entries = entries });
    memset(totals, 0, (COLS + 1) * sizeof *totals);
    assert_ok(clo_i_fold(&b->context, &ask, data, (int64_t *)totals, &err), err);
}

/* The entries of one record that count: by sorting, as nobody would in a pass. */
static void cut_by_sorting(const double *row, size_t entries, bool *kept)
{
    memset(kept, 0, COLS * sizeof *kept);
    for (size_t n = 0; n < entries; n++) {
        size_t best = SIZE_MAX;
        for (size_t j = 0; j < COLS; j++)
            if (!kept[j] && (best == SIZE_MAX || fabs(row[j]) > fabs(row[best]))) best = j;
        if (best != SIZE_MAX) kept[best] = true;
    }
}

/* sparse_sum.T1 */
static void the_largest_entries_count_and_ties_go_to_lower_columns(void **state)
{
    both *const b = *state;
    for (size_t entries = 0; entries <= COLS; entries += entries < 4 ? 1 : 9) {
        uint64_t dense[COLS + 1], sparse[COLS + 1], expected[COLS + 1] = { 0 };
        totals_of(b, b->dense, entries, dense);
        totals_of(b, b->sparse, entries, sparse);
        for (size_t i = 0; i < ROWS; i++) {
            const clo_row row = clo_i_bounded_row(b->dense, i);
            double magnitudes[COLS];
            bool kept[COLS];
            for (size_t j = 0; j < COLS; j++) magnitudes[j] = abs(row.cells[j]);
            cut_by_sorting(magnitudes, entries ? entries : COLS, kept);
            for (size_t j = 0; j < COLS; j++)
                if (kept[j])
                    expected[j] +=
                        (uint64_t)(int64_t)(row.cells[j] / (1 << (CLO_GRID_BITS - BITS)));
            expected[COLS] += 5;
        }
        assert_memory_equal(dense, expected, sizeof expected);
        assert_memory_equal(sparse, expected, sizeof expected);
    }
}

/* ---- sensitivities ------------------------------------------------------------------------- */

static uint64_t planned(clo_relation relation, uint64_t rows, clo_event_kind kind, size_t entries,
                        uint64_t *unit)
{
    clo_domain domain = ball(COLS, 1, relation);
    clo_error err;
    clo_line line;
    domain.unit = rows > 1 ? "person" : NULL;
    domain.rows_per_unit = rows;
    assert_ok(clo_i_plan_sparse_sum(&domain, COLS, 3, entries, kind, 0.5, "", &line, &err), err);
    *unit = line.count_unit;
    return line.sensitivity;
}

static void sensitivities_are_those_of_the_proofs(void **state)
{
    const double R = 1 << BITS;
    uint64_t u;
    (void)state;
    double s = (double)planned(CLO_ADD_REMOVE, 1, CLO_EVENT_PURE, 9, &u);
    assert_true(s == 3 * R + (double)u);
    s = (double)planned(CLO_REPLACE, 1, CLO_EVENT_PURE, 9, &u);
    assert_true(s == 2 * (3 * R + (double)u));
    s = (double)planned(CLO_REPLACE, 4, CLO_EVENT_PURE, 100, &u); /* more than there are columns */
    assert_true(s == 8 * (floor(sqrt(COLS) * R) + (double)u));
    s = (double)planned(CLO_ADD_REMOVE, 1, CLO_EVENT_GAUSSIAN, 0, &u);
    assert_true(s == ceil(hypot(R, (double)u)));
    s = (double)planned(CLO_REPLACE, 2, CLO_EVENT_GAUSSIAN, 9, &u);
    assert_true(u == (uint64_t)R && s == 4 * R);
}

/* peel.T1: two entries, three rounds, and a rate of the values once that of the choices. */
static void a_peel_is_planned_for_all_its_rounds(void **state)
{
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE), apart = ball(COLS, 1, CLO_ADD_REMOVE);
    const double R = 1 << BITS;
    clo_domain several = ball(COLS, 1, CLO_REPLACE);
    clo_error err;
    clo_line replace, remove, all;
    (void)state;
    assert_ok(clo_i_plan_peel(&domain, COLS, 3, 2, 3, 1, "", &replace, &err), err);
    assert_ok(clo_i_plan_peel(&apart, COLS, 3, 2, 3, 1, "", &remove, &err), err);
    assert_int_equal(clo_i_peel_fields(&remove).weight, 1);
    assert_true((double)remove.sensitivity == ceil(sqrt(25 + 4) * R) + R);
    assert_int_equal(replace.sensitivity, 2 * remove.sensitivity);
    assert_ok(clo_i_plan_peel(&domain, COLS, 3, 0, 1000, 1, "", &all, &err), err);
    assert_int_equal(clo_i_peel_fields(&all).rounds, COLS); /* no more rounds than columns */
    assert_int_equal(clo_i_plan_peel(&domain, COLS, 3, 2, 3, 1e-12, "", &all, NULL), CLO_BUDGET);
    assert_int_equal(clo_i_plan_peel(&domain, COLS, 3, 2, 0, 1, "", &all, NULL), CLO_ARGUMENT);
    /* The least rate there is draws what fits into 64 bits for a row, and not for four. */
    assert_ok(clo_i_plan_peel(&domain, COLS, 3, 2, 3, 0x1p-30, "", &all, &err), err);
    several.unit = "whose";
    several.rows_per_unit = 4;
    assert_fails(clo_i_plan_peel(&several, COLS, 3, 2, 3, 0x1p-30, "", &all, &err), CLO_BUDGET, err,
                 "noise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_holds_the_entries_that_a_block_does),
        cmocka_unit_test(a_sketch_is_its_definition_drawn_back_onto_the_ball),
        cmocka_unit_test(a_sketch_that_does_not_exist_is_refused),
        cmocka_unit_test(the_largest_entries_count_and_ties_go_to_lower_columns),
        cmocka_unit_test(sensitivities_are_those_of_the_proofs),
        cmocka_unit_test(a_peel_is_planned_for_all_its_rounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
