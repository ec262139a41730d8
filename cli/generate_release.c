/* generate_release.c - cloister generate --from RELEASE.json: private synthetic data, drawn from
 * what a release says and from nothing else. */
#include "cli_generate.h"
#include <stdlib.h>
#include <string.h>

enum { USUAL_ROWS = 1000 };

/* The options that a release answers itself. */
static clo_status refuse_model_options(const cli_args *args, cli_error *err)
{
    static const char *const options[] = { "cols",  "clusters", "dim",    "noise-of", "inner",
                                           "decay", "shortest", "shares", "outliers", "entries",
                                           "stray", "truth",    "offsets" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (cli_given(args, options[i]))
            return cli_fail(err, CLO_ARGUMENT,
                            "--%s is for a model: with --from only --rows, --spread, --noise and "
                            "--seed can be given",
                            options[i]);
    return CLO_OK;
}

/* A cell in quotes where it would not read back otherwise. */
static void write_cell(clo_writer *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        clo_writer_text(out, text);
        return;
    }
    clo_writer_text(out, "\"");
    for (const char *c = text; *c; c++) {
        const char both[] = { *c, *c == '"' ? '"' : 0, 0 };
        clo_writer_text(out, both);
    }
    clo_writer_text(out, "\"");
}

/* Levels as texts, dates as dates. */
static clo_status write_by_schema(const char *output, const clo_schema *schema,
                                  const double *records, size_t rows, cli_error *err)
{
    enum { LONGEST = 2048 };
    const size_t cols = clo_schema_field_count(schema);
    clo_file *file = NULL;
    clo_field field = { .struct_size = sizeof field };
    char text[LONGEST];
    clo_status status = clo_file_open(output ? output : "-", &file, &err->error);
    if (status != CLO_OK) return status;
    clo_writer out = { .write = clo_file_write, .user = file };
    for (size_t j = 0; clo_schema_field(schema, j, &field); j++) {
        clo_writer_text(&out, j ? "," : "");
        write_cell(&out, field.name);
    }
    clo_writer_text(&out, "\n");
    for (size_t i = 0; i < rows * cols; i++) {
        clo_writer_text(&out, i % cols ? "," : "");
        clo_schema_cell_text(schema, i % cols, records[i], text, sizeof text);
        write_cell(&out, text);
        if (i % cols == cols - 1) clo_writer_text(&out, "\n");
    }
    status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

static clo_status write_records(const cli_args *args, const clo_release *release,
                                const double *records, size_t rows, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    const size_t cols = clo_release_cols(release);
    const clo_schema *const schema = clo_release_schema(release);
    const char *const end = output ? strrchr(output, '.') : NULL;
    if (schema && end && strcmp(end, ".npy") == 0)
        return cli_fail(err, CLO_UNSUPPORTED,
                        "an NPY file cannot hold levels and dates: write a CSV file");
    if (schema) return write_by_schema(output, schema, records, rows, err);
    const char **const names = cli_alloc(cols, sizeof *names);
    char *const text = cli_alloc(cols, 24);
    for (size_t j = 0; j < cols; j++) {
        snprintf(text + 24 * j, 24, "x%zu", j + 1);
        const char *const own = clo_release_column_name(release, j);
        names[j] = own ? own : text + 24 * j;
    }
    const clo_status status = clo_matrix_write(
        output ? output : "-", (clo_matrix){ records, rows, cols, cols }, names, &err->error);
    free(names);
    free(text);
    return status;
}

static clo_status write_labels(const char *path, const uint32_t *labels, size_t rows,
                               cli_error *err)
{
    static const char *const name = "cluster";
    if (!path) return CLO_OK;
    double *const cells = cli_alloc(rows, sizeof *cells);
    for (size_t i = 0; i < rows; i++) cells[i] = labels[i];
    const clo_status status =
        clo_matrix_write(path, (clo_matrix){ cells, rows, 1, 1 }, &name, &err->error);
    free(cells);
    return status;
}

static bool is_of_centers(const clo_release *release)
{
    const char *const family = clo_release_family(release);
    return strcmp(family, "kmeans") == 0 || strcmp(family, "kmedian") == 0;
}

static clo_status draw(const cli_args *args, const clo_release *release, const cli_settings *s,
                       clo_rng *rng, cli_error *err)
{
    size_t cells;
    if (__builtin_mul_overflow(s->rows, clo_release_cols(release), &cells) || cells > SIZE_MAX / 16)
        return cli_fail(err, CLO_MEMORY, "there is not enough memory for so many rows");
    double *const records = cli_alloc(cells, sizeof *records);
    uint32_t *const labels = cli_alloc(s->rows, sizeof *labels);
    clo_draw_options how = clo_draw_options_default();
    how.noise = s->noise;
    how.spread = s->spread;
    clo_status status =
        clo_generate_like(release, s->rows, &how, rng, records, labels, &err->error);
    if (status == CLO_UNSUPPORTED && is_of_centers(release)) cli_hint(err, "--spread 0.1");
    if (status == CLO_OK && !clo_release_is_private(release))
        cli_warn("the release is not private, and neither are rows that are made from it");
    if (status == CLO_OK) status = write_records(args, release, records, s->rows, err);
    if (status == CLO_OK) status = write_labels(cli_value(args, "labels"), labels, s->rows, err);
    free(records);
    free(labels);
    return status;
}

clo_status cli_generate_from_release(const cli_args *args, cli_settings *s, clo_rng *rng,
                                     cli_error *err)
{
    clo_release *release = NULL;
    clo_status status = refuse_model_options(args, err);
    if (status == CLO_OK) status = clo_release_read(cli_value(args, "from"), &release, &err->error);
    if (status == CLO_OK && !cli_given(args, "rows"))
        s->rows = clo_release_rows(release) ? (size_t)clo_release_rows(release) : USUAL_ROWS;
    if (status == CLO_OK) status = draw(args, release, s, rng, err);
    clo_release_free(release);
    return status;
}
