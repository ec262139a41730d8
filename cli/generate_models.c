/* generate_models.c - from the settings of cloister generate to data, and to files. */
#include "cli_generate.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- settings ------------------------------------------------------------------------------- */

cli_settings cli_settings_default(cli_model model)
{
    const clo_subspace_model s = clo_subspace_model_default();
    const clo_mixture_model m = clo_mixture_model_default();
    const clo_sparse_model p = clo_sparse_model_default();
    cli_settings out = { .model = model, .decay = s.decay, .shortest = s.shortest };
    out.rows = model == CLI_SUBSPACES ? s.rows : model == CLI_MIXTURE ? m.rows : p.rows;
    out.cols = model == CLI_SUBSPACES ? s.cols : model == CLI_MIXTURE ? m.cols : p.cols;
    out.clusters = model == CLI_SUBSPACES ? s.clusters
                   : model == CLI_MIXTURE ? m.clusters
                                          : p.clusters;
    out.noise = model == CLI_SUBSPACES ? s.noise : model == CLI_MIXTURE ? m.noise : p.noise;
    out.spread = model == CLI_SUBSPACES ? s.spread : model == CLI_MIXTURE ? m.spread : p.spread;
    out.dim = model == CLI_SUBSPACES ? s.dim : 0;
    out.entries = p.entries;
    return out;
}

/* A basis of fewer columns than the others ends in columns of zeros. */
static size_t own_dim(const cli_settings *s, size_t cluster)
{
    size_t dim = s->dim;
    for (; dim > 1; dim--)
        for (size_t c = 0; c < s->cols; c++)
            if (s->from.data[(cluster * s->cols + c) * s->dim + dim - 1] != 0) return dim;
    return dim;
}

clo_status cli_settings_take_truth(const cli_args *args, cli_settings *s, cli_error *err)
{
    const char *const path = cli_value(args, "from");
    if (!path) return CLO_OK;
    const clo_status status = clo_matrix_read(path, &s->from, &err->error);
    if (status != CLO_OK) return status;
    const clo_matrix from = s->from;
    const bool subspaces = s->model == CLI_SUBSPACES;
    size_t clusters = from.rows, cols = from.cols;
    if (subspaces) { /* stacked: one of the two numbers tells the other */
        clusters = cli_given(args, "clusters") ? s->clusters : from.rows / s->cols;
        cols = clusters > 0 ? from.rows / clusters : 0;
    }
    const bool agrees = (!cli_given(args, "clusters") || clusters == s->clusters) &&
                        (!cli_given(args, "cols") || cols == s->cols) &&
                        (!cli_given(args, "dim") || from.cols == s->dim) &&
                        (!subspaces || (clusters * cols == from.rows && from.cols <= cols));
    if (!agrees || clusters < 1)
        return cli_fail(err, CLO_ARGUMENT,
                        "%s has %zu rows and %zu columns, which does not fit --cols, --clusters "
                        "and --dim",
                        path, from.rows, from.cols);
    s->clusters = clusters;
    s->cols = cols;
    if (!subspaces || s->dims) return CLO_OK;
    s->dim = from.cols;
    s->dims = cli_alloc(clusters, sizeof *s->dims);
    for (size_t k = 0; k < clusters; k++) s->dims[k] = own_dim(s, k);
    return CLO_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static clo_status write_records(const char *path, const cli_settings *s, const double *records,
                                cli_error *err)
{
    char *const text = cli_alloc(s->cols, 24);
    const char **const names = cli_alloc(s->cols, sizeof *names);
    for (size_t j = 0; j < s->cols; j++) {
        snprintf(text + 24 * j, 24, "x%zu", j + 1);
        names[j] = text + 24 * j;
    }
    const clo_matrix values = { records, s->rows, s->cols, s->cols };
    const clo_status status = clo_matrix_write(path, values, names, &err->error);
    free(names);
    free(text);
    return status;
}

static clo_status write_labels(const cli_args *args, const cli_settings *s, const uint32_t *labels,
                               cli_error *err)
{
    static const char *const name = "cluster";
    const char *const path = cli_value(args, "labels");
    if (!path) return CLO_OK;
    double *const values = cli_alloc(s->rows, sizeof *values);
    for (size_t i = 0; i < s->rows; i++) values[i] = labels[i];
    const clo_status status =
        clo_matrix_write(path, (clo_matrix){ values, s->rows, 1, 1 }, &name, &err->error);
    free(values);
    return status;
}

static clo_status write_matrix(const char *path, const double *data, size_t rows, size_t cols,
                               cli_error *err)
{
    if (!path) return CLO_OK;
    return clo_matrix_write(path, (clo_matrix){ data, rows, cols, cols }, NULL, &err->error);
}

static const char *output_of(const cli_args *args)
{
    const char *const output = cli_value(args, "output");
    return output ? output : "-";
}

/* ---- dense models --------------------------------------------------------------------------- */

static clo_status draw_subspaces(const cli_settings *s, clo_rng *rng, double *records,
                                 uint32_t *labels, double *bases, double *offsets, cli_error *err)
{
    clo_subspace_model model = clo_subspace_model_default();
    model.rows = s->rows;
    model.cols = s->cols;
    model.clusters = s->clusters;
    model.dim = s->dim;
    model.noise = s->noise;
    model.noise_whole = s->noise_whole;
    model.decay = s->decay;
    model.shortest = s->shortest;
    model.spread = s->spread;
    model.outliers = s->outliers;
    model.shares = s->shares;
    model.dims = s->dims;
    model.given = s->from.data;
    return clo_generate_flats(&model, rng, records, labels, bases, offsets, &err->error);
}

static clo_status draw_mixture(const cli_settings *s, clo_rng *rng, double *records,
                               uint32_t *labels, double *centers, cli_error *err)
{
    clo_mixture_model model = clo_mixture_model_default();
    model.rows = s->rows;
    model.cols = s->cols;
    model.clusters = s->clusters;
    model.noise = s->noise;
    model.spread = s->spread;
    model.inner = s->inner;
    model.outliers = s->outliers;
    model.shares = s->shares;
    model.given = s->from.data;
    return clo_generate_mixture(&model, rng, records, labels, centers, &err->error);
}

clo_status cli_generate_dense(const cli_settings *s, clo_rng *rng, double **records,
                              uint32_t **labels, double **truth, double **offsets, cli_error *err)
{
    const bool flats = s->model == CLI_SUBSPACES;
    size_t cells, numbers;
    if (__builtin_mul_overflow(s->rows, s->cols, &cells) || cells > SIZE_MAX / 16 ||
        __builtin_mul_overflow(s->clusters * s->cols, flats ? s->dim : 1, &numbers))
        return cli_fail(err, CLO_MEMORY, "there is not enough memory for so many rows and columns");
    *records = cli_alloc(cells, sizeof **records);
    *labels = cli_alloc(s->rows, sizeof **labels);
    *truth = cli_alloc(numbers, sizeof **truth);
    double *const points = flats ? cli_alloc(s->clusters * s->cols, sizeof *points) : NULL;
    const clo_status status = flats ? draw_subspaces(s, rng, *records, *labels, *truth, points, err)
                                    : draw_mixture(s, rng, *records, *labels, *truth, err);
    if (offsets)
        *offsets = points;
    else
        free(points);
    return status;
}

static clo_status make_dense(const cli_args *args, const cli_settings *s, clo_rng *rng,
                             cli_error *err)
{
    const bool flats = s->model == CLI_SUBSPACES;
    double *records = NULL, *truth = NULL, *offsets = NULL;
    uint32_t *labels = NULL;
    clo_status status = cli_generate_dense(s, rng, &records, &labels, &truth, &offsets, err);
    if (status == CLO_OK) status = write_records(output_of(args), s, records, err);
    if (status == CLO_OK)
        status = write_matrix(cli_value(args, "truth"), truth,
                              flats ? s->clusters * s->cols : s->clusters, flats ? s->dim : s->cols,
                              err);
    if (status == CLO_OK)
        status = write_matrix(cli_value(args, "offsets"), offsets, s->clusters, s->cols, err);
    if (status == CLO_OK) status = write_labels(args, s, labels, err);
    free(records);
    free(labels);
    free(truth);
    free(offsets);
    return status;
}

/* ---- sparse --------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), wanted = strlen(suffix);
    return length >= wanted && strcasecmp(path + length - wanted, suffix) == 0;
}

static bool is_libsvm(const char *path)
{
    return ends_in(path, ".svm") || ends_in(path, ".libsvm") || ends_in(path, ".svmlight");
}

static clo_sparse_rows sparse_rows(size_t rows, size_t cols, size_t width)
{
    return (clo_sparse_rows){ cli_alloc(rows * width, sizeof(uint32_t)),
                              cli_alloc(rows * width, sizeof(double)), rows, cols, width };
}

/* The few centres, and they alone, may be written out as a dense matrix. */
static clo_status write_centers(const char *path, const clo_sparse_rows *centers, cli_error *err)
{
    size_t cells;
    if (!path) return CLO_OK;
    if (is_libsvm(path)) return clo_sparse_write(path, centers, NULL, &err->error);
    if (__builtin_mul_overflow(centers->rows, centers->cols, &cells) || cells > SIZE_MAX / 16)
        return cli_fail(err, CLO_MEMORY, "there is not enough memory for so many centers");
    double *const dense = cli_alloc(cells, sizeof *dense);
    for (size_t i = 0; i < centers->rows * centers->width; i++)
        dense[i / centers->width * centers->cols + centers->columns[i]] = centers->values[i];
    const clo_status status = write_matrix(path, dense, centers->rows, centers->cols, err);
    free(dense);
    return status;
}

static clo_status make_sparse(const cli_args *args, const cli_settings *s, clo_rng *rng,
                              cli_error *err)
{
    const char *const output = output_of(args);
    clo_sparse_model model = clo_sparse_model_default();
    if (ends_in(output, ".csv") || ends_in(output, ".npy"))
        return cli_fail(err, CLO_ARGUMENT,
                        "sparse rows are written as LIBSVM: name the file .svm or .libsvm, not "
                        "'%s'",
                        output);
    model.rows = s->rows;
    model.cols = s->cols;
    model.clusters = s->clusters;
    model.entries = s->entries;
    model.stray = s->stray;
    model.noise = s->noise;
    model.spread = s->spread;
    model.outliers = s->outliers;
    model.shares = s->shares;
    clo_sparse_rows records = sparse_rows(s->rows, s->cols, s->entries + s->stray);
    clo_sparse_rows centers = sparse_rows(s->clusters, s->cols, s->entries);
    uint32_t *const labels = cli_alloc(s->rows, sizeof *labels);
    clo_status status = clo_generate_sparse(&model, rng, &records, labels, &centers, &err->error);
    if (status == CLO_OK) status = clo_sparse_write(output, &records, labels, &err->error);
    if (status == CLO_OK) status = write_centers(cli_value(args, "truth"), &centers, err);
    if (status == CLO_OK) status = write_labels(args, s, labels, err);
    free(records.columns);
    free(records.values);
    free(centers.columns);
    free(centers.values);
    free(labels);
    return status;
}

clo_status cli_generate_and_write(const cli_args *args, const cli_settings *s, clo_rng *rng,
                                  cli_error *err)
{
    return s->model == CLI_SPARSE ? make_sparse(args, s, rng, err) : make_dense(args, s, rng, err);
}
