/*
 * evaluate.c - how good a release or a solution is on the operator's own rows. What comes out is a
 * plain function of the data, without noise: for the operator, never for the world, and nothing
 * here can write into a release.
 *
 * The result and the truth both are flats (evaluate_targets.c), and the table is read once, in
 * blocks, for both.
 */
#include "operate/evaluate.h"
#include "data/data.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { BLOCK_ROWS = 4096, BLOCK_DOUBLES = 1 << 22 };

void clo_evaluate_options_init(clo_evaluate_options *options, size_t size)
{
    clo_i_give_presets(options, size, &(clo_evaluate_options){ 0 }, sizeof *options);
}

bool clo_is_solution(const char *path)
{
    if (!path || strcmp(path, "-") == 0) return false; /* what is read here would be gone */
    json_t *const root = json_load_file(path, 0, NULL);
    const char *const schema = json_string_value(json_object_get(root, "schema"));
    const bool is = schema && strncmp(schema, "cloister.solution/", 18) == 0;
    json_decref(root);
    return is;
}

/* ---- the pass over the rows ---------------------------------------------- */

/* A block of the table: `rows` is where it is written out, NULL where that is not needed. */
typedef struct block {
    const clo_table *table;
    size_t first, count;
    const double *rows;
} block;

static clo_status add_block(clo_target *t, const block *b, double *squared, uint32_t *nearest,
                            size_t *counted, clo_error *err)
{
    const size_t count = b->count;
    double sum = 0;
    if (b->rows)
        CLO_TRY(clo_i_flat_distances(&t->flats, b->rows, count, squared, nearest, err));
    else
        CLO_TRY(clo_i_sparse_distances(&t->flats, b->table, NULL, b->first, count, squared, nearest,
                                       err));
    *counted = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(squared[i])) {
            if (nearest) nearest[i] = UINT32_MAX;
            continue;
        }
        sum += t->by_distance ? sqrt(squared[i]) : squared[i];
        ++*counted;
    }
    t->sum += sum; /* a sum of sums keeps digits that one long sum would lose */
    return CLO_OK;
}

/* Adds the distances, or their squares, up in both targets; counted: the rows without a bad cell.
 * nearest, if not NULL: the result's flat nearest to each row, UINT32_MAX for a row that is left
 * out. */
static clo_status pass(const clo_table *table, clo_target targets[2], uint32_t *nearest,
                       size_t *counted, clo_error *err)
{
    const bool sparse = clo_i_is_sparse_work(&targets[0].flats, table);
    const size_t cols = sparse ? 0 : clo_table_cols(table), rows = clo_table_rows(table);
    const size_t fit = BLOCK_DOUBLES / (cols + 1);
    const size_t most = fit < 1 ? 1 : fit < BLOCK_ROWS ? fit : BLOCK_ROWS;
    double *room = NULL; /* for the rows of a block, and a distance for each */
    clo_status status = clo_i_alloc(most * (cols + 1), sizeof *room, &room, err);
    *counted = 0;
    for (size_t first = 0; first < rows && status == CLO_OK; first += most) {
        const size_t count = rows - first < most ? rows - first : most;
        const block b = { table, first, count, sparse ? NULL : room };
        size_t here = 0;
        if (!sparse) clo_i_table_rows(table, first, count, room);
        for (size_t t = 0; t < 2 && targets[t].flats.count > 0 && status == CLO_OK; t++)
            status = add_block(&targets[t], &b, room + most * cols,
                               nearest && t == 0 ? nearest + first : NULL, &here, err);
        clo_i_table_forget(table, first, count);
        *counted += here;
    }
    clo_i_wipe_free(room, most * (cols + 1) * sizeof *room);
    return status;
}

/* labels: where rows were put, if not in the nearest; a row with a bad cell stays left out. */
static clo_status score_labels(const clo_evaluate_options *options, const uint32_t *labels,
                               uint32_t *nearest, size_t rows, size_t clusters,
                               clo_evaluation *result, clo_error *err)
{
    const size_t true_clusters = options->truth_clusters ? options->truth_clusters : clusters;
    size_t found_clusters = clusters;
    clo_label_scores scores;
    for (size_t i = 0; labels && i < rows; i++) {
        if (nearest[i] == UINT32_MAX) continue;
        if (labels[i] >= clusters)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "the cluster of each row must be below %zu, as many as there are",
                              clusters);
        nearest[i] = labels[i];
    }
    CLO_TRY(clo_i_label_scores(nearest, found_clusters, options->truth_labels, true_clusters, rows,
                               &scores, err));
    if (scores.counted == 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "no row has a true label below %zu: there is nothing to compare the "
                          "clusters with",
                          true_clusters);
    result->accuracy = scores.accuracy;
    result->nmi = scores.nmi;
    result->ari = scores.ari;
    return CLO_OK;
}

/* ---- evaluating ---------------------------------------------------------- */

static clo_status check_matrix(clo_matrix matrix, const char *what, clo_error *err)
{
    if (matrix.rows > 0 && (!matrix.data || matrix.stride < matrix.cols))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s must have data, and a stride of at least its columns", what);
    return CLO_OK;
}

static clo_status measure(const clo_table *table, const clo_evaluate_options *options,
                          const uint32_t *labels, clo_target targets[2], clo_evaluation *result,
                          clo_error *err)
{
    const clo_flats *const found = &targets[0].flats;
    const size_t rows = clo_table_rows(table);
    uint32_t *nearest = NULL;
    size_t counted = 0;
    if (clo_table_cols(table) != found->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the %s is about %zu columns, and the table has %zu: choose the columns "
                          "it was made from",
                          targets[0].what, found->cols, clo_table_cols(table));
    if (options->truth.rows > 0) {
        CLO_TRY(clo_i_target_of_truth(&targets[0], options->truth, options->truth_offsets,
                                      &targets[1], err));
        CLO_TRY(clo_i_targets_apart(&targets[0], &targets[1], result, err));
    }
    if (options->truth_labels) CLO_TRY(clo_i_alloc(rows, sizeof *nearest, &nearest, err));
    clo_status status = pass(table, targets, nearest, &counted, err);
    if (status == CLO_OK && counted == 0)
        status = clo_i_fail(err, CLO_ARGUMENT,
                            "the table has no row without a bad cell: there is nothing to evaluate "
                            "on");
    if (status == CLO_OK && nearest)
        status = score_labels(options, labels, nearest, rows, found->count, result, err);
    clo_i_wipe_free(nearest, rows * sizeof *nearest);
    if (status != CLO_OK) return status;
    result->cost = targets[0].sum / (double)counted;
    result->by_distance = targets[0].by_distance;
    if (options->truth.rows > 0) result->truth_cost = targets[1].sum / (double)counted;
    return CLO_OK;
}

/* One of release and solution is NULL. */
static clo_status evaluate(const clo_release *release, const clo_solution *solution,
                           const clo_table *table, const clo_evaluate_options *options,
                           clo_evaluation *out, clo_error *err)
{
    clo_evaluation result = { .cost = NAN,
                              .truth_cost = NAN,
                              .distance = NAN,
                              .accuracy = NAN,
                              .nmi = NAN,
                              .ari = NAN,
                              .largest_angle = NAN };
    clo_evaluate_options full = clo_evaluate_options_default();
    clo_target targets[2] = { { .sum = 0 }, { .sum = 0 } };
    CLO_TRY(clo_i_check_result("clo_evaluation", out, err));
    CLO_TRY(clo_i_take_options("clo_evaluate_options", options, &full, sizeof full, err));
    CLO_TRY(check_matrix(full.truth, "the truth", err));
    CLO_TRY(check_matrix(full.truth_offsets, "the true offsets", err));
    const uint32_t *labels = full.labels;
    if (!labels && solution && clo_solution_rows(solution) == clo_table_rows(table))
        labels = clo_solution_labels(solution);
    clo_status status = release ? clo_i_target_of_release(release, &targets[0], err)
                                : clo_i_target_of_solution(solution, &targets[0], err);
    if (status == CLO_OK) status = measure(table, &full, labels, targets, &result, err);
    if (status == CLO_OK) clo_i_give_result(out, &result, sizeof result);
    for (size_t t = 0; t < 2; t++) clo_i_target_free(&targets[t]);
    return status;
}

clo_status clo_evaluate_release(const clo_release *release, const clo_table *table,
                                const clo_evaluate_options *options, clo_evaluation *out,
                                clo_error *err)
{
    if (!release || !table || !out)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a release, a table and a place for the result must be given");
    return evaluate(release, NULL, table, options, out, err);
}

clo_status clo_evaluate_solution(const clo_solution *solution, const clo_table *table,
                                 const clo_evaluate_options *options, clo_evaluation *out,
                                 clo_error *err)
{
    if (!solution || !table || !out)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a solution, a table and a place for the result must be given");
    return evaluate(NULL, solution, table, options, out, err);
}

clo_status clo_evaluate(const clo_release *release, const clo_table *table, clo_matrix truth,
                        clo_evaluation *out, clo_error *err)
{
    clo_evaluate_options options = clo_evaluate_options_default();
    options.truth = truth;
    return clo_evaluate_release(release, table, &options, out, err);
}
