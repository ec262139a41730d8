/* assign.T1, assign.T2: a record's cluster is its own affair.  Rows are added, removed, permuted,
 * put beside others in blocks of any size; every other row's label stays, bit for bit. */
#include "pipeline.h"
#include "ask/query.h"
#include "bound/bound.h"
#include "ask/assign.h"
#include <omp.h>

enum { ROWS = 700, COLS = 19, CLUSTERS = 9, DIM = 3 };

/* Records and centres full of near ties: centres in pairs that differ in one last grid step. */
static void fill(double *values, double *centers)
{
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) values[i] = sin((double)(i * i % 7919)) * 0.2;
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < COLS; j++)
            centers[c * COLS + j] =
                sin((double)(c / 2 * 31 + j)) * 0.2 + (c % 2 && j == 0 ? 0x1p-20 : 0);
}

static clo_bounded *bounded(const double *values, size_t rows)
{
    const clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    return bounded_from(values, rows, &domain);
}

static void label(const clo_bounded *data, const clo_assign *rule, size_t block_rows,
                  uint32_t *labels)
{
    clo_error err;
    double *const values = malloc(block_rows * COLS * sizeof *values);
    double *const scores = malloc(block_rows * (clo_i_assign_width(rule) + 1) * sizeof *scores);
    for (size_t b = 0; b < clo_i_block_count(data, block_rows); b++) {
        size_t rows;
        assert_ok(clo_i_block_load(data, b, block_rows, rule->bits, values, &rows, &err), err);
        clo_i_assign_rows(rule, values, rows, scores, labels + b * block_rows);
    }
    free(values);
    free(scores);
}

typedef struct fixture {
    double values[ROWS * COLS];
    clo_workspace *space;
    clo_assign rules[3];
} fixture;

static int make(void **state)
{
    clo_error err;
    static fixture f;
    double centers[CLUSTERS * COLS], bases[CLUSTERS * COLS * DIM];
    fill(f.values, centers);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) bases[i] = cos((double)i * 1.7) / 4;
    assert_ok(clo_workspace_new(1 << 20, &f.space, &err), err);
    assert_ok(clo_i_assign_centers(f.space, centers, CLUSTERS, COLS, 20, &f.rules[0], &err), err);
    assert_ok(clo_i_assign_subspaces(f.space, bases, CLUSTERS, COLS, DIM, 15, &f.rules[1], &err),
              err);
    assert_ok(
        clo_i_assign_flats(f.space, bases, centers, CLUSTERS, COLS, DIM, 15, &f.rules[2], &err),
        err);
    *state = &f;
    return 0;
}

static int unmake(void **state)
{
    clo_workspace_free(((fixture *)*state)->space);
    return 0;
}

static void the_block_size_and_threads_do_not_matter(void **state)
{
    fixture *const f = *state;
    uint32_t expected[ROWS], actual[ROWS];
    clo_bounded *const data = bounded(f->values, ROWS);
    for (int r = 0; r < 3; r++) {
        label(data, &f->rules[r], ROWS, expected);
        for (size_t block = 1; block < ROWS; block = block * 2 + 1) {
            omp_set_num_threads(1 + (int)block % 2);
            label(data, &f->rules[r], block, actual);
            assert_memory_equal(actual, expected, sizeof expected);
        }
    }
    clo_bounded_free(data);
}

static void a_row_more_or_less_moves_no_other(void **state)
{
    fixture *const f = *state;
    uint32_t all[ROWS], fewer[ROWS];
    static double values[ROWS * COLS];
    clo_bounded *const data = bounded(f->values, ROWS);
    for (int r = 0; r < 3; r++) {
        label(data, &f->rules[r], 64, all);
        for (size_t gone = 0; gone < ROWS; gone += 37) {
            memcpy(values, f->values, gone * COLS * sizeof *values);
            memcpy(values + gone * COLS, f->values + (gone + 1) * COLS,
                   (ROWS - 1 - gone) * COLS * sizeof *values);
            clo_bounded *const less = bounded(values, ROWS - 1);
            label(less, &f->rules[r], 64, fewer);
            assert_memory_equal(fewer, all, gone * sizeof *all);
            assert_memory_equal(fewer + gone, all + gone + 1, (ROWS - 1 - gone) * sizeof *all);
            clo_bounded_free(less);
        }
    }
    clo_bounded_free(data);
}

static void a_permutation_takes_the_labels_along(void **state)
{
    fixture *const f = *state;
    uint32_t all[ROWS], permuted[ROWS];
    static double values[ROWS * COLS];
    for (size_t i = 0; i < ROWS; i++)
        memcpy(values + i * COLS, f->values + i * 331 % ROWS * COLS, COLS * sizeof *values);
    clo_bounded *const data = bounded(f->values, ROWS), *const other = bounded(values, ROWS);
    for (int r = 0; r < 3; r++) {
        label(data, &f->rules[r], 64, all);
        label(other, &f->rules[r], 64, permuted);
        for (size_t i = 0; i < ROWS; i++) assert_int_equal(permuted[i], all[i * 331 % ROWS]);
    }
    clo_bounded_free(data);
    clo_bounded_free(other);
}

static __int128 dot(const double *a, const double *b)
{
    __int128 total = 0;
    for (size_t j = 0; j < COLS; j++) total += (__int128)(int64_t)a[j] * (int64_t)b[j];
    return total;
}

/* The score of one cluster, by its definition. */
static __int128 twin_score(const clo_assign *rule, const double *record, size_t c)
{
    const size_t vectors = clo_i_assign_width(rule) / CLUSTERS;
    const double *const points = rule->points + c * vectors * COLS;
    __int128 total = 0;
    if (rule->kind == CLO_ASSIGN_CENTERS) return 2 * dot(points, record) - dot(points, points);
    for (size_t e = 0; e < DIM; e++) {
        const __int128 along = dot(points + e * COLS, record);
        total += along * along;
    }
    if (rule->kind == CLO_ASSIGN_FLATS) {
        const double *const foot = points + (size_t)DIM * COLS;
        total += (2 * dot(foot, record) - dot(foot, foot)) * ((int64_t)1 << (2 * rule->bits));
    }
    return total;
}

/* Against a twin in 128-bit integers; ties go to the smaller index. */
static void labels_are_those_of_an_integer_twin(void **state)
{
    fixture *const f = *state;
    uint32_t labels[ROWS];
    double values[64 * COLS], scores[64 * CLUSTERS * (DIM + 1)];
    uint64_t distances[64];
    clo_error err;
    size_t rows, seen[CLUSTERS] = { 0 };
    clo_bounded *const data = bounded(f->values, ROWS);
    for (int r = 0; r < 3; r++) {
        const clo_assign *const rule = &f->rules[r];
        label(data, rule, 64, labels);
        assert_ok(clo_i_block_load(data, 3, 64, rule->bits, values, &rows, &err), err);
        if (r > 0) clo_i_assign_distances(rule, values, rows, 20, scores, distances);
        for (size_t i = 0; i < rows; i++) {
            const double *const record = values + i * COLS;
            __int128 best = 0;
            uint32_t twin = 0;
            for (uint32_t c = 0; c < CLUSTERS; c++) {
                const __int128 score = twin_score(rule, record, c);
                if (c == 0 || score > best) {
                    best = score;
                    twin = c;
                }
            }
            assert_int_equal(labels[3 * 64 + i], twin);
            seen[twin]++;
            if (r == 0) continue;
            __int128 far = dot(record, record) * ((int64_t)1 << (2 * rule->bits)) - best;
            if (far < 0) far = 0;
            assert_true((__int128)distances[i] == far >> (4 * rule->bits - 20));
        }
    }
    assert_true(seen[0] + seen[1] > 0 && seen[2] + seen[3] > 0);
    clo_bounded_free(data);
}

/* Of two clusters that are the same a record is in the first, whatever kind they are of. */
static void of_equally_near_clusters_the_first_is_taken(void **state)
{
    fixture *const f = *state;
    clo_bounded *const data = bounded(f->values, ROWS);
    for (int r = 0; r < 3; r++) {
        clo_assign twins = f->rules[r];
        uint32_t labels[ROWS];
        size_t firsts = 0;
        const size_t each = clo_i_assign_width(&twins) / CLUSTERS * COLS;
        double points[CLUSTERS * (DIM + 1) * COLS], offsets[CLUSTERS];
        for (size_t c = 0; c < CLUSTERS; c++) { /* 0 0 2 2 ... */
            memcpy(points + c * each, twins.points + c / 2 * 2 * each, each * sizeof *points);
            if (twins.offsets) offsets[c] = twins.offsets[c / 2 * 2];
        }
        twins.points = points;
        twins.offsets = twins.offsets ? offsets : NULL;
        label(data, &twins, 64, labels);
        for (size_t i = 0; i < ROWS; i++) {
            assert_int_equal(labels[i] % 2, 0);
            firsts += labels[i] > 0;
        }
        assert_true(firsts > 0);
    }
    clo_bounded_free(data);
}

/* assign.T2: a line and a plane whose distances are known. */
static void distances_are_squared_and_capped(void **state)
{
    clo_error err;
    clo_workspace *space = NULL;
    clo_assign rule;
    const double basis[] = { 1, 0, 0 }, point[] = { 0.7, 0.5, 0 }, far[] = { 0, -1, 0 };
    const double one = 1 << 15, values[] = { 0, one / 2, one / 4, 0, one, 0 };
    double scores[4];
    uint64_t found[2];
    (void)state;
    assert_ok(clo_workspace_new(4096, &space, &err), err);
    assert_ok(clo_i_assign_flats(space, basis, point, 1, 3, 1, 15, &rule, &err), err);
    clo_i_assign_distances(&rule, values, 2, 20, scores, found);
    assert_int_equal(found[0], (1 << 20) / 16);
    assert_int_equal(found[1], (1 << 20) / 4);
    assert_ok(clo_i_assign_flats(space, basis, far, 1, 3, 1, 15, &rule, &err), err);
    clo_i_assign_distances(&rule, values, 2, 20, scores, found);
    assert_int_equal(found[1], 1 << 20); /* 4, but for the cap */
    assert_ok(clo_i_assign_subspaces(space, basis, 1, 3, 1, 15, &rule, &err), err);
    clo_i_assign_distances(&rule, values, 2, 20, scores, found);
    assert_int_equal(found[0], (1 << 20) / 16 * 5);
    clo_workspace_free(space);
}

static void scores_have_a_width_for_each_rule(void **state)
{
    clo_assign rule = { .kind = CLO_ASSIGN_ONE, .clusters = 5, .dim = 2 };
    (void)state;
    assert_int_equal(clo_i_assign_width(NULL), 0);
    assert_int_equal(clo_i_assign_width(&rule), 0);
    rule.kind = CLO_ASSIGN_CENTERS;
    assert_int_equal(clo_i_assign_width(&rule), 5);
    rule.kind = CLO_ASSIGN_FLATS;
    assert_int_equal(clo_i_assign_width(&rule), 15);
}

/* Of rows that are looked at together, and of those that are left over. */
static void equal_centres_share_by_index(void **state)
{
    enum { MANY = 70 };
    clo_error err;
    clo_workspace *space = NULL;
    clo_assign rule;
    const double centers[] = { -0.5, 0.25, 0.25, -0.5 };
    double values[MANY], scores[4 * MANY];
    uint32_t labels[MANY];
    (void)state;
    for (int i = 0; i < MANY; i++) values[i] = i % 3 == 0 ? -300000 - i : 100 + i;
    assert_ok(clo_workspace_new(4096, &space, &err), err);
    assert_ok(clo_i_assign_centers(space, centers, 4, 1, 20, &rule, &err), err);
    clo_i_assign_rows(&rule, values, MANY, scores, labels);
    for (int i = 0; i < MANY; i++) assert_int_equal(labels[i], i % 3 == 0 ? 0 : 1);
    clo_workspace_free(space);
}

/* Many of them, which are compared several at a time: the first of the nearest, wherever it is. */
static void of_many_centres_the_first_of_the_nearest_is_taken(void **state)
{
    enum { MOST = 70 };
    clo_error err;
    const double value = 1 << 19;
    (void)state;
    for (size_t k = 2; k <= MOST; k++)
        for (size_t first = 0; first < k; first++) {
            clo_workspace *space = NULL;
            double centers[MOST], scores[MOST];
            uint32_t label = MOST;
            clo_assign rule;
            for (size_t c = 0; c < k; c++)
                centers[c] = c == first || (c > first && c % 5 == 0) ? 0.5 : 0.25;
            assert_ok(clo_workspace_new(4096, &space, &err), err);
            assert_ok(clo_i_assign_centers(space, centers, k, 1, 20, &rule, &err), err);
            clo_i_assign_rows(&rule, &value, 1, scores, &label);
            assert_int_equal(label, first);
            clo_workspace_free(space);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_size_and_threads_do_not_matter),
        cmocka_unit_test(a_row_more_or_less_moves_no_other),
        cmocka_unit_test(a_permutation_takes_the_labels_along),
        cmocka_unit_test(labels_are_those_of_an_integer_twin),
        cmocka_unit_test(of_equally_near_clusters_the_first_is_taken),
        cmocka_unit_test(distances_are_squared_and_capped),
        cmocka_unit_test(scores_have_a_width_for_each_rule),
        cmocka_unit_test(equal_centres_share_by_index),
        cmocka_unit_test(of_many_centres_the_first_of_the_nearest_is_taken),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
