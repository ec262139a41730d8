/* cmd_generate.c - cloister generate: synthetic data with a known truth, for trying things out. */
#include "cli.h"
#include <stdlib.h>
#include <string.h>

static const cli_option model_rows[] = {
    CLI_OPTION("rows", 0, "N", "how many rows"),
    CLI_OPTION("cols", 0, "D", "how many columns"),
    CLI_OPTION("clusters", 0, "K", "how many subspaces or centres"),
    CLI_OPTION("dim", 0, "Q", "subspaces: the dimension of each"),
    CLI_OPTION("noise", 0, "S",
               "standard deviation of each coordinate around its subspace or centre"),
    CLI_OPTION("spread", 0, "R", "mixture: the radius of the ball that holds the centres"),
    CLI_OPTION("seed", 0, "TEXT", "make the same data for the same text"),
    CLI_ROWS_END,
};
static const cli_group model_group = { "Model", model_rows };
static const cli_option file_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "where the rows go: CSV, or NPY by its name; by default CSV to stdout"),
    CLI_OPTION("truth", 0, "FILE",
               "where the truth goes: the centres, one a row; or the basis, with several subspaces "
               "stacked"),
    CLI_OPTION("labels", 0, "FILE", "which cluster each row comes from, counted from 0"),
    CLI_ROWS_END,
};
static const cli_group file_group = { "Files", file_rows };

typedef struct shape {
    size_t rows, cols, clusters, dim; /* dim 0: a mixture */
    double noise, spread;
} shape;

typedef struct sample {
    double *records, *truth;
    uint32_t *labels;
} sample;

/* ---- options ---------------------------------------------------------------- */

static clo_status read_size(const cli_args *args, const char *name, uint64_t upper, size_t *out,
                            cli_error *err)
{
    const char *const text = cli_value(args, name);
    char option[32];
    uint64_t value;
    if (!text) return CLO_OK;
    snprintf(option, sizeof option, "--%s", name);
    const clo_status status = cli_parse_whole(option, text, 1, upper, &value, err);
    if (status == CLO_OK) *out = (size_t)value;
    return status;
}

static clo_status read_shape(const cli_args *args, shape *s, cli_error *err)
{
    const char *const noise = cli_value(args, "noise");
    const char *const spread = cli_value(args, "spread");
    clo_status status;
    if ((status = read_size(args, "rows", UINT64_C(1) << 31, &s->rows, err)) ||
        (status = read_size(args, "cols", 1 << 20, &s->cols, err)) ||
        (status = read_size(args, "clusters", 1 << 20, &s->clusters, err)) ||
        (status = read_size(args, "dim", 1 << 20, &s->dim, err)))
        return status;
    if (noise && (!cli_scan_real(noise, strlen(noise), &s->noise) || s->noise < 0))
        return cli_fail(err, CLO_ARGUMENT, "--noise must be a number of at least 0, not '%s'",
                        noise);
    if (spread && (status = cli_parse_positive("--spread", spread, &s->spread, err))) return status;
    return CLO_OK;
}

static clo_status model_named(const char *name, const cli_args *args, shape *out, cli_error *err)
{
    if (strcmp(name, "mixture") == 0) {
        const clo_mixture_model m = clo_mixture_model_default();
        *out = (shape){ m.rows, m.cols, m.clusters, 0, m.noise, m.spread };
        if (cli_given(args, "dim"))
            return cli_fail(err, CLO_ARGUMENT, "--dim belongs to subspaces, not to a mixture");
        return CLO_OK;
    }
    if (strcmp(name, "subspaces") == 0) {
        const clo_subspace_model m = clo_subspace_model_default();
        *out = (shape){ m.rows, m.cols, m.clusters, m.dim, m.noise, 0 };
        if (cli_given(args, "spread"))
            return cli_fail(err, CLO_ARGUMENT, "--spread belongs to a mixture, not to subspaces");
        return CLO_OK;
    }
    const char *const names[] = { "mixture", "subspaces" };
    const char *const meant = cli_nearest(name, names, 2);
    cli_hint(err, "cloister generate --help");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no model '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "the model must be subspaces or mixture, not '%s'", name);
}

static clo_status new_rng(const cli_args *args, clo_rng **out, cli_error *err)
{
    const char *const text = cli_value(args, "seed");
    uint8_t seed[32];
    if (!text) return clo_rng_new(out, &err->error);
    clo_seed_from_text(text, seed);
    return clo_rng_new_seeded(seed, out, &err->error);
}

/* ---- making and writing ------------------------------------------------------ */

static clo_status make(const shape *s, clo_rng *rng, sample *out, cli_error *err)
{
    size_t cells, truth;
    if (__builtin_mul_overflow(s->rows, s->cols, &cells) || cells > SIZE_MAX / 16 ||
        __builtin_mul_overflow(s->clusters * s->cols, s->dim ? s->dim : 1, &truth))
        return cli_fail(err, CLO_MEMORY, "so many rows and columns do not fit in memory");
    out->records = cli_alloc(cells, sizeof *out->records);
    out->labels = cli_alloc(s->rows, sizeof *out->labels);
    out->truth = cli_alloc(truth, sizeof *out->truth);
    if (s->dim == 0) {
        clo_mixture_model model = clo_mixture_model_default();
        model.rows = s->rows;
        model.cols = s->cols;
        model.clusters = s->clusters;
        model.noise = s->noise;
        model.spread = s->spread;
        return clo_generate_mixture(&model, rng, out->records, out->labels, out->truth,
                                    &err->error);
    }
    clo_subspace_model model = clo_subspace_model_default();
    model.rows = s->rows;
    model.cols = s->cols;
    model.clusters = s->clusters;
    model.dim = s->dim;
    model.noise = s->noise;
    return clo_generate_subspaces(&model, rng, out->records, out->labels, out->truth, &err->error);
}

static clo_status write_records(const char *path, const shape *s, const sample *made,
                                cli_error *err)
{
    char *const text = cli_alloc(s->cols, 24);
    const char **const names = cli_alloc(s->cols, sizeof *names);
    for (size_t j = 0; j < s->cols; j++) {
        snprintf(text + 24 * j, 24, "x%zu", j + 1);
        names[j] = text + 24 * j;
    }
    const clo_matrix values = { made->records, s->rows, s->cols, s->cols };
    const clo_status status = clo_matrix_write(path, values, names, &err->error);
    free(names);
    free(text);
    return status;
}

static clo_status write_labels(const char *path, const shape *s, const sample *made, cli_error *err)
{
    static const char *const name = "cluster";
    double *const values = cli_alloc(s->rows, sizeof *values);
    for (size_t i = 0; i < s->rows; i++) values[i] = made->labels[i];
    const clo_status status =
        clo_matrix_write(path, (clo_matrix){ values, s->rows, 1, 1 }, &name, &err->error);
    free(values);
    return status;
}

static clo_status write_truth(const char *path, const shape *s, const sample *made, cli_error *err)
{
    const size_t rows = s->dim ? s->clusters * s->cols : s->clusters;
    const size_t cols = s->dim ? s->dim : s->cols;
    return clo_matrix_write(path, (clo_matrix){ made->truth, rows, cols, cols }, NULL, &err->error);
}

static clo_status write_all(const cli_args *args, const shape *s, const sample *made,
                            cli_error *err)
{
    const char *const output = cli_value(args, "output");
    const char *const truth = cli_value(args, "truth");
    const char *const labels = cli_value(args, "labels");
    clo_status status = write_records(output ? output : "-", s, made, err);
    if (status == CLO_OK && truth) status = write_truth(truth, s, made, err);
    if (status == CLO_OK && labels) status = write_labels(labels, s, made, err);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    shape s;
    sample made = { NULL, NULL, NULL };
    clo_rng *rng = NULL;
    clo_status status = cli_check_words(args, 1, 1, "a model: subspaces or mixture", err);
    if (status == CLO_OK) status = model_named(cli_word(args, 0), args, &s, err);
    if (status == CLO_OK) status = read_shape(args, &s, err);
    if (status == CLO_OK) status = new_rng(args, &rng, err);
    if (status == CLO_OK) status = make(&s, rng, &made, err);
    if (status == CLO_OK) status = write_all(args, &s, &made, err);
    clo_rng_free(rng);
    free(made.records);
    free(made.labels);
    free(made.truth);
    return status;
}

static void remarks(FILE *out)
{
    const clo_mixture_model m = clo_mixture_model_default();
    const clo_subspace_model s = clo_subspace_model_default();
    char text[400];
    snprintf(
        text, sizeof text,
        "Where nothing else is said, a mixture has %zu rows, %zu columns, %zu clusters, noise "
        "%s and spread %s; subspaces have %zu rows, %zu columns, %zu clusters of dimension %zu "
        "and noise %s.",
        m.rows, m.cols, m.clusters, cli_number(m.noise).text, cli_number(m.spread).text, s.rows,
        s.cols, s.clusters, s.dim, cli_number(s.noise).text);
    fputc('\n', out);
    cli_wrap(out, 0, 0, text);
}

static const cli_group *const groups[] = { &model_group, &file_group, NULL };

const cli_command cli_generate = {
    .usage = "subspaces|mixture [--rows N] [--cols D] [--clusters K] [option ...]",
    .about =
        "Makes data whose truth is known: 'mixture' draws records around centres that are uniform "
        "in a ball, 'subspaces' draws unit vectors of random subspaces and adds noise.",
    .examples =
        "A sample with three clusters, and where its centres are\n"
        "cloister generate mixture --rows 5000 --cols 4 --clusters 3 --seed demo "
        "-o sample.csv --truth truth.npy\n"
        "One plane in ten dimensions\n"
        "cloister generate subspaces --rows 2000 --cols 10 --clusters 1 --dim 2 -o plane.npy",
    .groups = groups,
    .run = run,
    .remarks = remarks,
};
