/*
 * evaluate.c - how good a release or a solution is on the operator's own rows. What comes out is a
 * plain function of the data, without noise: for the operator, never for the world, and nothing
 * here can write into a release.
 *
 * The result and the truth both are flats (evaluate_targets.c), on the scale of the result
 * (scale.h), and the table is read once, in blocks, for both.
 */
#include "not_private/evaluate.h"
#include "not_private/scale.h"
#include "parallel/parallel.h"
#include <cloister/assign.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

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

/* How far the rows are spread, in one pass: about the first of them, so that a mean far from the
 * origin costs no digits. */
typedef struct spread {
    double *first, *sums; /* cols */
    double square;        /* summed, about the first */
    double origin;        /* summed, about the origin */
    size_t rows, cols;
} spread;

static void add_to_spread(const clo_i_pass *pass, const double *squared, spread *s)
{
    double square = 0, origin = 0;
    for (size_t i = 0; i < pass->count; i++) {
        const double *const row = pass->rows + i * s->cols;
        if (isnan(squared[i])) continue;
        if (s->rows++ == 0) memcpy(s->first, row, s->cols * sizeof *row);
        for (size_t c = 0; c < s->cols; c++) {
            const double off = row[c] - s->first[c];
            s->sums[c] += off;
            square += off * off;
            origin += row[c] * row[c];
        }
    }
    s->square += square;
    s->origin += origin;
}

/* What the flats leave of it, less than all of it where they are any good. */
static double captured(const clo_target *t, const spread *s)
{
    double about = s->origin;
    if (t->flats.dim == 0 || t->by_distance || s->rows == 0) return NAN;
    if (t->flats.offsets) {
        about = s->square;
        for (size_t c = 0; c < s->cols; c++) about -= s->sums[c] * s->sums[c] / (double)s->rows;
    }
    return about > 0 ? 1 - t->sum / about : NAN;
}

/* Room for a block: distances on the scale and in the data's units, and who is nearest. */
typedef struct room {
    double *squared, *raw;
    uint32_t *nearest;
} room;

static double sum_of(const clo_target *t, const double *squared, size_t count, size_t *counted)
{
    double sum = 0;
    *counted = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(squared[i])) continue;
        sum += t->by_distance ? sqrt(squared[i]) : squared[i];
        ++*counted;
    }
    return sum;
}

static clo_status add_block(const clo_i_pass *pass, clo_target *t, room *r, size_t *counted,
                            clo_error *err)
{
    CLO_TRY(clo_i_pass_nearest(pass, t, r->squared, r->nearest, err));
    const double sum = sum_of(t, r->squared, pass->count, counted);
    t->sum += sum; /* a sum of sums keeps digits that one long sum would lose */
    if (!pass->scale->half) {
        t->raw_sum += sum;
        return CLO_OK;
    }
    CLO_TRY(clo_i_pass_raw(pass, t, r->nearest, r->raw, err));
    t->raw_sum += sum_of(t, r->raw, pass->count, counted);
    return CLO_OK;
}

/* Adds the distances, or their squares, up in both targets; counted: the rows that count.  nearest,
 * if not NULL: the result's flat nearest to each row, CLO_NO_CLUSTER for a row that is left out. */
static clo_status add_rows(clo_i_pass *pass, clo_target targets[2], uint32_t *nearest, spread *s,
                           size_t *counted, clo_error *err)
{
    room r = { .squared = NULL };
    clo_status status = clo_i_alloc(2 * pass->most, sizeof *r.squared, &r.squared, err);
    if (!status) status = clo_i_alloc(pass->most, sizeof *r.nearest, &r.nearest, err);
    r.raw = r.squared ? r.squared + pass->most : NULL;
    *counted = 0;
    while (!status && clo_i_pass_next(pass)) {
        size_t here = 0;
        if (targets[1].flats.count > 0) status = add_block(pass, &targets[1], &r, &here, err);
        if (!status) status = add_block(pass, &targets[0], &r, &here, err);
        if (!status && s->first) add_to_spread(pass, r.squared, s);
        for (size_t i = 0; nearest && i < pass->count; i++) nearest[pass->first + i] = r.nearest[i];
        *counted += here;
    }
    clo_i_wipe_free(r.squared, r.squared ? 2 * pass->most * sizeof *r.squared : 0);
    clo_i_wipe_free(r.nearest, r.nearest ? pass->most * sizeof *r.nearest : 0);
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
        if (nearest[i] == CLO_NO_CLUSTER) continue;
        if (labels[i] == CLO_NO_CLUSTER) {
            nearest[i] = CLO_NO_CLUSTER;
            continue;
        }
        if (labels[i] >= clusters)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "the cluster of each row must be a number below %zu, or -1",
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

/* Puts the truth beside the result, in both units, and says how far they are apart. */
static clo_status take_truth(const clo_evaluate_options *options, const clo_i_scale *scale,
                             clo_target targets[2], clo_evaluation *result, clo_error *err)
{
    double unused = NAN;
    if (options->truth.rows == 0) return CLO_OK;
    CLO_TRY(clo_i_target_of_truth(&targets[0], options->truth, options->truth_offsets, &targets[1],
                                  err));
    CLO_TRY(clo_i_target_to_scale(&targets[1], scale, err));
    CLO_TRY(clo_i_flats_apart(&targets[0].flats, &targets[1].flats, &result->distance,
                              &result->largest_angle, err));
    return clo_i_flats_apart(&targets[0].raw, &targets[1].raw, &result->raw_distance, &unused, err);
}

static void take_costs(const clo_target targets[2], size_t counted, clo_evaluation *result)
{
    result->cost = targets[0].sum / (double)counted;
    result->raw_cost = targets[0].raw_sum / (double)counted;
    result->by_distance = targets[0].by_distance;
    if (targets[1].flats.count == 0) return;
    result->truth_cost = targets[1].sum / (double)counted;
    result->raw_truth_cost = targets[1].raw_sum / (double)counted;
}

static clo_status measure(const clo_table *table, const clo_evaluate_options *options,
                          const uint32_t *labels, clo_i_scale *scale, clo_target targets[2],
                          clo_evaluation *result, clo_error *err)
{
    const size_t rows = clo_table_rows(table);
    clo_i_pass pass = { .room = NULL };
    spread spread_of = { .cols = scale->cols };
    uint32_t *nearest = NULL;
    size_t counted = 0;
    CLO_TRY(take_truth(options, scale, targets, result, err));
    if (options->truth_labels) CLO_TRY(clo_i_alloc(rows, sizeof *nearest, &nearest, err));
    clo_status status = clo_i_pass_new(table, scale, &targets[0], &pass, err);
    if (status == CLO_OK && targets[0].flats.dim > 0 && !pass.sparse)
        status = clo_i_alloc(2 * scale->cols, sizeof(double), &spread_of.first, err);
    spread_of.sums = spread_of.first ? spread_of.first + scale->cols : NULL;
    if (status == CLO_OK) status = add_rows(&pass, targets, nearest, &spread_of, &counted, err);
    if (status == CLO_OK) result->captured = captured(&targets[0], &spread_of);
    clo_i_wipe_free(spread_of.first, spread_of.first ? 2 * scale->cols * sizeof(double) : 0);
    if (status == CLO_OK && counted == 0)
        status = clo_i_fail(err, CLO_ARGUMENT,
                            "every row has a missing cell: there is nothing to evaluate");
    if (status == CLO_OK && nearest)
        status = score_labels(options, labels, nearest, rows, targets[0].flats.count, result, err);
    clo_i_pass_clear(&pass);
    clo_i_wipe_free(nearest, rows * sizeof *nearest);
    if (status != CLO_OK) return status;
    take_costs(targets, counted, result);
    if (scale->schema) /* shares, days and years have no unit together */
        result->raw_cost = result->raw_truth_cost = result->raw_distance = NAN;
    result->scaled = scale->half != NULL;
    result->rows = counted;
    result->rows_left_out = rows - counted;
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
                              .largest_angle = NAN,
                              .raw_cost = NAN,
                              .raw_truth_cost = NAN,
                              .raw_distance = NAN,
                              .captured = NAN };
    clo_evaluate_options full = clo_evaluate_options_default();
    clo_target targets[2] = { { .sum = 0 }, { .sum = 0 } };
    clo_i_scale scale = { 0 };
    CLO_TRY(clo_i_check_result("clo_evaluation", out, err));
    CLO_TRY(clo_i_take_options("clo_evaluate_options", options, &full, sizeof full, err));
    CLO_TRY(check_matrix(full.truth, "the truth", err));
    CLO_TRY(check_matrix(full.truth_offsets, "the true offsets", err));
    const uint32_t *labels = full.labels;
    if (!labels && solution && clo_solution_rows(solution) == clo_table_rows(table))
        labels = clo_solution_labels(solution);
    CLO_TRY(clo_i_threads_fit(err));
    clo_status status = release ? clo_i_target_of_release(release, &targets[0], err)
                                : clo_i_target_of_solution(solution, &targets[0], err);
    clo_i_columns_known known =
        release ? clo_i_columns_of_release(release) : clo_i_columns_of_solution(solution);
    if (status == CLO_OK) status = clo_i_known_fits(&known, &targets[0], err);
    if (status == CLO_OK) status = clo_i_scale_fit(&known, table, &scale, err);
    if (status == CLO_OK) status = clo_i_target_to_scale(&targets[0], &scale, err);
    if (status == CLO_OK) status = measure(table, &full, labels, &scale, targets, &result, err);
    if (status == CLO_OK) clo_i_give_result(out, &result, sizeof result);
    for (size_t t = 0; t < 2; t++) clo_i_target_free(&targets[t]);
    clo_i_scale_clear(&scale);
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
