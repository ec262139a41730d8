/* A record with a missing cell counts for nothing, in any method, under either relation and with
 * units; or it takes public values (bound.T6). */
#include "pipeline.h"
#include "bytes_file.h"
#include "bound/bound.h"

enum { ROWS = 90, NULLS = 17, D = 3, MOST = ROWS + NULLS };

static const char *const mechanisms[][2] = {
    { "kmeans/lloyd", "clusters=3 rounds=2 noise=gaussian" },
    { "kmeans/lloyd", "clusters=3 rounds=2 noise=laplace" },
    { "kmeans/local", "clusters=3 cells=9" },
    { "kmeans/highdim", "clusters=2 trees=1 levels=3 swaps=2" },
    { "kmeans/grid", "clusters=2" },
    { "kmeans/sparse", "clusters=2" },
    { "kmedian/highdim", "clusters=2 trees=1 levels=2 swaps=2" },
    { "kmeans/density", "clusters=3 cells=4 rounds=2 points=100" },
    { "kmedian/local", "clusters=3 cells=9" },
    { "kmedian/density", "clusters=3 cells=4 rounds=2 points=100" },
    { "subspace/gaussian", "dim=2" },
    { "subspace/exact", "dim=1 scale=10" },
    { "subspace/bingham", "dim=1" },
    { "subspaces/moments", "clusters=2 dim=1" },
    { "subspaces/moments", "clusters=2 dim=1 sharpen=2" },
    { "subspaces/sulq", "clusters=2 dim=1 rounds=2 restarts=2" },
    { "subspaces/gibbs", "clusters=2 dim=1 sweeps=3" },
    { "bounds/quantile", "" },
    { "bounds/quantile", "of=columns" },
};
/* Which rows share a block is drawn for all rows where their number is public. */
static const char *const divided[][2] = {
    { "kmeans/aggregate", "clusters=2 blocks=5" },
    { "subspace/approx", "dim=1 gamma=0.01" },
    { "subspace/boosted", "dim=1 gamma=0.5 parts=3 blocks=4" },
    { "subspaces/aggregate", "clusters=1 dim=1 blocks=5" },
};

static double value_at(size_t i, size_t j)
{
    return 0.3 * sin((double)(i * D + j) * 0.71) + (i % 2 ? 0.4 : -0.3);
}

/* ROWS records with NULLS null ones among them, or without those. */
static size_t make(double *values, bool with_nulls)
{
    size_t at = 0;
    for (size_t i = 0, record = 0; i < MOST; i++) {
        const bool null = i % 6 == 0 && i / 6 < NULLS;
        for (size_t j = 0; j < D && (!null || with_nulls); j++)
            values[at * D + j] = null ? (j == i % D ? NAN : 0.9) : value_at(record, j);
        record += !null;
        at += !null || with_nulls;
    }
    return at;
}

static text release_of(const char *const mechanism[2], clo_relation relation, bool with_nulls)
{
    double values[MOST * D];
    const clo_domain domain = ball(D, 1.5, relation);
    const size_t rows = make(values, with_nulls);
    const clo_mechanism *const found = clo_mechanism_find(mechanism[0]);
    clo_params *const params = params_for(mechanism[0], mechanism[1]);
    clo_plan *plan = NULL;
    clo_error err;
    const clo_loss budget = { 2, 1e-6 };
    assert_ok(clo_plan_new(params, &domain, budget, clo_mechanism_guarantee(found), &plan, &err),
              err);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    clo_release *const release = run_seeded(plan, data, "null", NULL);
    const text t = json_of(release);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_params_free(params);
    return t;
}

static void assert_same_release(const char *const mechanism[2], clo_relation relation)
{
    const text without = release_of(mechanism, relation, false);
    const text with = release_of(mechanism, relation, true);
    assert_string_equal(with.bytes, without.bytes);
    free(with.bytes);
    free(without.bytes);
}

/* bound.T6: to the last byte the release of the records that count. */
static void null_records_count_for_nothing(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++) {
        assert_same_release(mechanisms[m], CLO_REPLACE);
        assert_same_release(mechanisms[m], CLO_ADD_REMOVE);
    }
    for (size_t m = 0; m < sizeof divided / sizeof *divided; m++)
        assert_same_release(divided[m], CLO_ADD_REMOVE);
}

static void every_mechanism_is_looked_at(void **state)
{
    (void)state;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i);
        bool listed = false;
        for (size_t m = 0; m < sizeof mechanisms / sizeof *mechanisms; m++)
            listed = listed || clo_mechanism_find(mechanisms[m][0]) == mechanism;
        for (size_t m = 0; m < sizeof divided / sizeof *divided; m++)
            listed = listed || clo_mechanism_find(divided[m][0]) == mechanism;
        if (!listed) print_error("%s is not in the lists\n", clo_mechanism_method(mechanism));
        assert_true(listed);
    }
}

/* ---- blocks ------------------------------------------------------------------------------- */

enum { BLOCKS = 7 };

/* The blocks that a solver was shown, in no particular order: known by their seeds. */
typedef struct shown {
    size_t count;
    uint8_t seeds[BLOCKS][32];
    size_t rows[BLOCKS];
    double values[BLOCKS][MOST * D];
} shown;

static clo_status look(void *user, const clo_block *block, double *bases, clo_error *err)
{
    shown *const s = user;
    (void)err;
    assert_true(s->count < BLOCKS);
    memcpy(s->seeds[s->count], block->seed, sizeof block->seed);
    s->rows[s->count] = block->count;
    memcpy(s->values[s->count++], block->rows, block->count * block->cols * sizeof(double));
    for (size_t j = 0; j < block->cols; j++) bases[j] = j == 0;
    return CLO_OK;
}

static void show_blocks(const double *values, size_t rows, shown *out)
{
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    clo_params *const params =
        params_for("subspaces/aggregate", "clusters=1 dim=1 blocks=7 solver=caller");
    clo_run_options options = clo_run_options_default();
    clo_plan *plan = NULL;
    clo_error err;
    const clo_loss budget = { 2, 1e-6 };
    assert_ok(clo_plan_new(params, &domain, budget, CLO_IDEALIZED, &plan, &err), err);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    *out = (shown){ 0 };
    options.threads = 1;
    options.solve_block = look;
    options.solve_user = out;
    clo_release_free(run_seeded(plan, data, "blocks", &options));
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_params_free(params);
    assert_int_equal(out->count, BLOCKS);
}

/* Under replace the number of rows is public and the division even: a record that becomes null
 * changes its own block and no other, by leaving it (aggregate.T4, histogram.T2, bound.T6). */
static void a_null_record_leaves_its_block_and_changes_no_other(void **state)
{
    static shown before, after;
    double values[MOST * D];
    (void)state;
    const size_t rows = make(values, true);
    show_blocks(values, rows, &before);
    for (size_t i = 0; i < rows; i += 5) {
        const bool was_null = isnan(values[i * D + i % D]);
        const double kept = values[i * D];
        size_t changed = 0;
        values[i * D] = NAN;
        show_blocks(values, rows, &after);
        values[i * D] = kept;
        for (size_t b = 0; b < BLOCKS; b++) {
            assert_memory_equal(before.seeds[b], after.seeds[b], sizeof before.seeds[b]);
            if (before.rows[b] == after.rows[b])
                assert_memory_equal(before.values[b], after.values[b], sizeof before.values[b]);
            else
                assert_int_equal(before.rows[b], after.rows[b] + 1);
            changed += before.rows[b] != after.rows[b];
        }
        assert_int_equal(changed, !was_null);
    }
}

/* ---- what is left of the rows ------------------------------------------------------------- */

static clo_bounded *bounded_with(const double *values, size_t rows, const clo_domain *domain,
                                 clo_missing missing)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    assert_ok(clo_table_wrap((clo_matrix){ values, rows, domain->cols, domain->cols }, missing,
                             &table, &err),
              err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

static void rows_remember_their_places_where_their_number_is_public(void **state)
{
    const double values[] = { NAN, 0.1, INFINITY, 0.2, 0.3, NAN };
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    (void)state;
    clo_bounded *data = bounded_with(values, 6, &domain, CLO_MISSING_NULL);
    assert_int_equal(clo_i_bounded_rows(data), 3);
    assert_int_equal(clo_i_bounded_slots(data), 6);
    assert_int_equal(clo_i_bounded_slot(data, 0), 1);
    assert_int_equal(clo_i_bounded_slot(data, 1), 3);
    assert_int_equal(clo_i_bounded_slot(data, 2), 4);
    clo_bounded_free(data);
    domain.relation = CLO_ADD_REMOVE;
    data = bounded_with(values, 6, &domain, CLO_MISSING_NULL);
    assert_int_equal(clo_i_bounded_slots(data), 3);
    assert_int_equal(clo_i_bounded_slot(data, 2), 2);
    clo_bounded_free(data);
}

static void nothing_but_null_records_is_no_record(void **state)
{
    const double values[] = { NAN, NAN };
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    (void)state;
    clo_bounded *const data = bounded_with(values, 2, &domain, CLO_MISSING_NULL);
    assert_int_equal(clo_i_bounded_rows(data), 0);
    assert_int_equal(clo_i_bounded_slots(data), 2);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=2", &domain, 1, 1e-6);
    clo_release_free(run_seeded(plan, data, "none", NULL));
    clo_plan_free(plan);
    clo_bounded_free(data);
}

static void a_filled_cell_takes_the_middle_of_the_domain(void **state)
{
    const double lower[2] = { 0, -10 }, upper[2] = { 100, 30 }, center[2] = { 5, 7 };
    const double values[] = { NAN, 30, 100, NAN };
    double grid[4], twin[4];
    size_t rows;
    clo_error err;
    clo_domain domain = ball(2, 0, CLO_REPLACE);
    (void)state;
    for (int round = 0; round < 3; round++) {
        const double a[] = { 50, 5, 0 }, b[] = { 10, 7, 0 };
        domain.norm = round ? 200 : 0;
        domain.lower = round ? NULL : lower;
        domain.upper = round ? NULL : upper;
        domain.center = round == 1 ? center : NULL;
        const double filled[] = { a[round], 30, 100, b[round] };
        clo_bounded *const data = bounded_with(values, 2, &domain, CLO_MISSING_FILL);
        clo_bounded *const same = bounded_with(filled, 2, &domain, CLO_MISSING_NULL);
        assert_ok(clo_i_block_load(data, 0, 2, CLO_GRID_BITS, grid, &rows, &err), err);
        assert_int_equal(rows, 2);
        assert_ok(clo_i_block_load(same, 0, 2, CLO_GRID_BITS, twin, &rows, &err), err);
        assert_memory_equal(grid, twin, sizeof grid);
        clo_bounded_free(same);
        clo_bounded_free(data);
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

static clo_bounded *bounded_text(const char *content, clo_read_options options,
                                 const clo_domain *domain)
{
    const bytes_file file = bytes_file_open(content, strlen(content));
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    assert_ok(clo_table_read(file.path, &options, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    bytes_file_close(file);
    return data;
}

static void a_cell_is_filled_with_what_was_told(void **state)
{
    clo_read_options options = clo_read_options_default();
    const clo_domain domain = ball(2, 8, CLO_REPLACE);
    double grid[4];
    size_t rows;
    clo_error err;
    (void)state;
    options.format = "csv";
    options.missing = CLO_MISSING_FILL;
    options.fill = "height=2";
    options.columns = "age,height";
    clo_bounded *const data = bounded_text("height,age\n,1\n3,?\n", options, &domain);
    assert_ok(clo_i_block_load(data, 0, 2, CLO_GRID_BITS, grid, &rows, &err), err);
    const double unit = ldexp(1, CLO_GRID_BITS - 3);
    assert_true(grid[0] == unit && grid[1] == 2 * unit && grid[2] == 0 && grid[3] == 3 * unit);
    clo_bounded_free(data);
}

static void a_fill_that_makes_no_sense_is_refused(void **state)
{
    static const struct {
        const char *fill, *says;
    } cases[] = { { "age", "fill must be" },    { "age=x", "fill must be" },
                  { "=1", "no column" },        { "age=1,", "fill must be" },
                  { "sex=1", "no column" },     { "name=1", "does not use" },
                  { "age=inf", "fill must be" } };
    const bytes_file file = bytes_file_open("name,age\n1,2\n", 13);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    (void)state;
    options.format = "csv";
    options.columns = "age";
    options.missing = CLO_MISSING_FILL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.fill = cases[i].fill;
        assert_fails(clo_table_read(file.path, &options, &table, &err), CLO_ARGUMENT, err,
                     cases[i].says);
    }
    options.fill = "age=1";
    options.missing = CLO_MISSING_NULL;
    assert_fails(clo_table_read(file.path, &options, &table, &err), CLO_ARGUMENT, err,
                 "(missing fill)");
    assert_null(table);
    bytes_file_close(file);
}

/* A unit's null records take no place among the rows that are kept of it. */
static void null_records_take_no_rows_place(void **state)
{
    clo_read_options options = clo_read_options_default();
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    double grid[8];
    size_t rows;
    clo_error err;
    (void)state;
    options.format = "csv";
    options.unit = domain.unit = "who";
    domain.rows_per_unit = 2;
    clo_bounded *const data = bounded_text("who,x\nann,NA\nann,\nann,0.5\nbob,NA\nann,nan\n"
                                           "ann,0.25\n,0.75\n",
                                           options, &domain);
    assert_ok(clo_i_block_load(data, 0, 8, CLO_GRID_BITS, grid, &rows, &err), err);
    assert_int_equal(rows, 2); /* of bob there is nothing */
    assert_true(grid[0] + grid[1] == ldexp(0.75, CLO_GRID_BITS));
    clo_bounded_free(data);
}

static void sparse_null_records_go_too(void **state)
{
    clo_read_options options = clo_read_options_default();
    const clo_domain domain = ball(3, 8, CLO_REPLACE);
    double grid[9];
    size_t rows;
    clo_error err;
    (void)state;
    options.format = "libsvm";
    options.cols = 3;
    clo_bounded *const data =
        bounded_text("1 1:x\n1 2:1 3:2\n1 1:1 9:4\n1\n1 3:4\n1 2:nan\n", options, &domain);
    assert_true(clo_i_bounded_is_sparse(data));
    assert_ok(clo_i_block_load(data, 0, 9, CLO_GRID_BITS, grid, &rows, &err), err);
    const double unit = ldexp(1, CLO_GRID_BITS - 3);
    const double expected[] = { 0, unit, 2 * unit, 0, 0, 0, 0, 0, 4 * unit };
    assert_int_equal(rows, 3);
    assert_memory_equal(grid, expected, sizeof grid);
    assert_int_equal(clo_i_bounded_slot(data, 2), 4);
    clo_bounded_free(data);
    options.missing = CLO_MISSING_FILL;
    const bytes_file file = bytes_file_open("1 1:x\n", 6);
    clo_table *table = NULL;
    assert_fails(clo_table_read(file.path, &options, &table, &err), CLO_ARGUMENT, err,
                 "no missing cells to fill");
    bytes_file_close(file);
}

/* One label for each row that there was: a null record's, too. */
static void labels_are_as_many_as_rows(void **state)
{
    double values[MOST * D];
    clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    clo_params *const params =
        params_for("subspaces/gibbs", "clusters=2 dim=1 labels=yes sweeps=3");
    const clo_loss budget = { 2, 0 };
    clo_plan *plan = NULL;
    clo_array labels;
    clo_error err;
    (void)state;
    domain.rows = make(values, true);
    assert_ok(clo_plan_new(params, &domain, budget, CLO_ASYMPTOTIC, &plan, &err), err);
    clo_bounded *const data = bounded_from(values, (size_t)domain.rows, &domain);
    clo_release *const release = run_seeded(plan, data, "labels", NULL);
    assert_true(clo_release_find(release, "labels", &labels));
    assert_int_equal(labels.shape[0], MOST);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_records_count_for_nothing),
        cmocka_unit_test(every_mechanism_is_looked_at),
        cmocka_unit_test(a_null_record_leaves_its_block_and_changes_no_other),
        cmocka_unit_test(rows_remember_their_places_where_their_number_is_public),
        cmocka_unit_test(nothing_but_null_records_is_no_record),
        cmocka_unit_test(a_filled_cell_takes_the_middle_of_the_domain),
        cmocka_unit_test(a_cell_is_filled_with_what_was_told),
        cmocka_unit_test(a_fill_that_makes_no_sense_is_refused),
        cmocka_unit_test(null_records_take_no_rows_place),
        cmocka_unit_test(sparse_null_records_go_too),
        cmocka_unit_test(labels_are_as_many_as_rows),
    };
    return cmocka_run_group_tests_name("null records", tests, NULL, NULL);
}
