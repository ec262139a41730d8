/* sweep_data.c - what cloister sweep runs on: a file of the user's, or data that a model makes anew
 * for each seed, as cloister generate would with that seed. */
#include "cli_generate.h"
#include "cli_sweep.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = { "subspaces", "mixture" };

/* The settings of a model that are numbers. */
static const struct {
    const char *name;
    size_t offset;
    bool whole;
    const char *models; /* by their first letters */
} fields[] = {
    { "rows", offsetof(cli_settings, rows), true, "sm" },
    { "cols", offsetof(cli_settings, cols), true, "sm" },
    { "clusters", offsetof(cli_settings, clusters), true, "sm" },
    { "dim", offsetof(cli_settings, dim), true, "s" },
    { "noise", offsetof(cli_settings, noise), false, "sm" },
    { "spread", offsetof(cli_settings, spread), false, "sm" },
    { "inner", offsetof(cli_settings, inner), false, "m" },
    { "decay", offsetof(cli_settings, decay), false, "s" },
    { "shortest", offsetof(cli_settings, shortest), false, "s" },
    { "outliers", offsetof(cli_settings, outliers), false, "sm" },
};

static size_t model_of(const char *word)
{
    size_t model = 0;
    for (; model < 2; model++) {
        const size_t length = strlen(models[model]);
        if (strncmp(word, models[model], length) == 0 && (!word[length] || word[length] == ':'))
            break;
    }
    return model;
}

bool cli_is_model(const char *word)
{
    return model_of(word) < 2;
}

static clo_status take_field(cli_settings *s, const char *name, const char *value, cli_error *err)
{
    const char letter = s->model == CLI_SUBSPACES ? 's' : 'm';
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        void *const place = (char *)s + fields[i].offset;
        uint64_t whole;
        if (strcmp(fields[i].name, name) != 0 || !strchr(fields[i].models, letter)) continue;
        if (!fields[i].whole) return cli_parse_real(name, value, place, err);
        const clo_status status = cli_parse_whole(name, value, 1, UINT32_MAX, &whole, err);
        if (status == CLO_OK) *(size_t *)place = (size_t)whole;
        return status;
    }
    return cli_fail(err, CLO_ARGUMENT, "the model '%s' has no setting '%s'",
                    models[s->model == CLI_SUBSPACES ? 0 : 1], name);
}

static clo_status read_model(const char *word, cli_settings *s, cli_error *err)
{
    char *const copy = cli_copy(word);
    char *rest = strchr(copy, ':'), *pair;
    clo_status status = CLO_OK;
    *s = cli_settings_default(model_of(word) == 0 ? CLI_SUBSPACES : CLI_MIXTURE);
    if (rest) rest++;
    while (status == CLO_OK && rest && (pair = strtok_r(rest, ",", &rest))) {
        char *const equals = strchr(pair, '=');
        if (!equals) {
            status = cli_fail(err, CLO_ARGUMENT, "'%s' of '%s' must be SETTING=VALUE", pair, word);
            break;
        }
        *equals = 0;
        status = take_field(s, pair, equals + 1, err);
    }
    free(copy);
    return status;
}

static clo_status wrap(const cli_settings *s, cli_sample *out, cli_error *err)
{
    const clo_matrix values = { out->records, s->rows, s->cols, s->cols };
    return clo_table_wrap(values, CLO_MISSING_REFUSE, &out->table, &err->error);
}

clo_status cli_sample_generate(const char *word, uint64_t seed, cli_sample *out, cli_error *err)
{
    cli_settings s;
    char text[32];
    uint8_t bytes[32];
    clo_rng *rng = NULL;
    clo_status status = read_model(word, &s, err);
    if (status != CLO_OK) return status;
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    clo_seed_from_text(text, bytes);
    status = clo_rng_new_seeded(bytes, &rng, &err->error);
    if (status == CLO_OK)
        status = cli_generate_dense(&s, rng, &out->records, &out->labels, &out->made, NULL, err);
    clo_rng_free(rng);
    if (status != CLO_OK) return status;
    const bool flats = s.model == CLI_SUBSPACES;
    out->truth = flats ? (clo_matrix){ out->made, s.clusters * s.cols, s.dim, s.dim }
                       : (clo_matrix){ out->made, s.clusters, s.cols, s.cols };
    out->clusters = s.clusters;
    return wrap(&s, out, err);
}

clo_status cli_sample_read(const cli_args *args, const char *path, cli_sample *out, cli_error *err)
{
    const char *const truth = cli_value(args, "truth");
    clo_read_options options;
    clo_status status = cli_read_options(args, &options, err);
    if (status == CLO_OK) status = clo_table_read(path, &options, &out->table, &err->error);
    if (status == CLO_OK && truth) status = clo_matrix_read(truth, &out->truth, &err->error);
    if (status == CLO_OK)
        status = cli_read_labels(args, "labels", clo_table_rows(out->table), &out->labels, err);
    for (size_t i = 0; status == CLO_OK && out->labels && i < clo_table_rows(out->table); i++)
        if (out->labels[i] != CLO_NO_CLUSTER && out->labels[i] >= out->clusters)
            out->clusters = out->labels[i] + (size_t)1;
    return status;
}

void cli_sample_free(cli_sample *sample)
{
    clo_table_free(sample->table);
    if (!sample->made) clo_matrix_free(sample->truth);
    free(sample->records);
    free(sample->made);
    free(sample->labels);
    *sample = (cli_sample){ .table = NULL };
}
