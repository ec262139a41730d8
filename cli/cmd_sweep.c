/* cmd_sweep.c - cloister sweep: many runs for an experiment, each measured, as rows of a CSV file.
 *
 * Seeds are outermost, so that a data set is made, and solved without privacy, once.  A row that is
 * in the file is not run again.  Everything here is seeded and measured without noise: nothing of
 * it is private, and no ledger is asked. */
#include "cli_sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char notice[] = "not private: seeded runs, measured without noise; for experiments "
                             "only";
static const char header[] = "data,method,settings,epsilon,seed,taken,delta,cost,reference,ratio,"
                             "distance,angle,captured,accuracy,nmi,ari,seconds,problem";
enum { KEY_FIELDS = 5 };

static const cli_option sweep_rows[] = {
    CLI_OPTION("epsilon", 0, "LIST",
               "the epsilons to try: 0.1,0.3,1; must be given, unless all methods are solvers"),
    CLI_OPTION("seeds", 0, "LIST",
               "the seeds: 1-10, or 1,5,9; a model makes other data for each; by default 1"),
    CLI_OPTION("set", 0, "SETTING=V,...",
               "settings of every method: clusters=3,dim=2; clusters=2|4|8 tries each value"),
    CLI_OPTION("reference", 0, "SOLVER",
               "the ordinary solver that costs are divided by, SOLVER[:SETTING=V,...]; 'none': no "
               "ratio; by default kmeans, kmedian, auto or pca, by the family"),
    CLI_OPTION("truth", 0, "FILE", "for a file: the true centers or bases, as for 'evaluate'"),
    CLI_OPTION("labels", 0, "FILE", "for a file: the true cluster of each row, counted from 0"),
    CLI_OPTION("part", 0, "I/N",
               "only every N-th row, from the I-th on, to share the work among "
               "several commands"),
    CLI_OPTION("output", 'o', "FILE",
               "write the rows to this file; rows that it already has are not run again; by "
               "default standard output"),
    CLI_ROWS_END,
};
static const cli_group sweep_group = { "Experiment", NULL, sweep_rows };
static const cli_option job_rows[] = {
    CLI_OPTION("delta", 0, "D", "as for run"),
    CLI_CHOICE("relation", "R", "replace|add-remove", "replace", "as for run"),
    CLI_CHOICE("accept", "G", "exact|idealized|asymptotic", NULL,
               "the weakest guarantee to accept; by default exact for a family, and that of the "
               "method if you name one"),
    CLI_OPTION("norm", 0, "R", "a public radius, as for run"),
    CLI_OPTION("bounds", 0, "LO,HI", "public bounds of every column, as for run"),
    CLI_OPTION("center", 0, "V1,V2,...", "a public point, as for run"),
    CLI_OPTION("threads", 0, "N", "how many threads to use; by default one"),
    CLI_OPTION("quiet", 'q', NULL, "print errors and warnings only"),
    CLI_ROWS_END,
};
static const cli_group job_group = { "Every run", NULL, job_rows };
/* Those that are settings of a job, and part of what a row is known by. */
static const char *const job_settings[] = { "delta", "relation", "norm", "bounds", "center" };
enum { JOB_SETTINGS = sizeof job_settings / sizeof *job_settings };

/* A non-private cost of the data at hand, and what it belongs to. */
typedef struct known_cost {
    char *key;
    double cost;
} known_cost;

typedef struct sweep {
    const cli_args *args;
    const char *data;
    cli_ways ways;
    double *epsilons;
    size_t epsilon_count;
    uint64_t *seeds;
    size_t seed_count, part, parts;
    cli_rows *rows;
    cli_sample sample;
    known_cost *known;
    size_t known_count, added, problems, number;
} sweep;

/* What one row holds beside its key. */
typedef struct result {
    char taken[128], problem[512];
    double delta, reference, seconds;
    clo_evaluation measured;
} result;

static bool keep_going(void *user, double done)
{
    (void)user, (void)done;
    return !cli_interrupted();
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- one row -------------------------------------------------------------------------------- */

static void nothing_measured(clo_evaluation *m)
{
    *m = (clo_evaluation){ .struct_size = sizeof *m };
    m->cost = m->distance = m->largest_angle = m->captured = NAN;
    m->accuracy = m->nmi = m->ari = NAN;
}

/* Another number of clusters than the truth has is measured without it. */
static clo_status evaluate(const cli_sample *sample, const clo_release *made,
                           const clo_solution *found, clo_evaluation *out, cli_error *err)
{
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_status status = CLO_ARGUMENT;
    options.truth_labels = sample->labels;
    options.truth_clusters = sample->labels ? sample->clusters : 0;
    for (int with = 1; with >= 0 && status == CLO_ARGUMENT; with--) {
        options.truth = with ? sample->truth : (clo_matrix){ NULL, 0, 0, 0 };
        status = made ? clo_evaluate_release(made, sample->table, &options, out, &err->error)
                      : clo_evaluate_solution(found, sample->table, &options, out, &err->error);
    }
    return status;
}

static clo_status set_job(const sweep *s, const cli_way *way, double epsilon, const char *seed,
                          clo_job *job, cli_error *err)
{
    const char *const accept = cli_value(s->args, "accept");
    const char *const threads = cli_value(s->args, "threads");
    clo_run_options options = clo_run_options_default();
    clo_error *const e = &err->error;
    clo_status status;
    options.progress = keep_going;
    options.threads = 1;
    clo_job_spell(job, "--");
    if ((status = clo_job_set_run_options(job, &options, e)) ||
        (status = clo_job_set(job, "mechanism", way->name, e)) ||
        (status = clo_job_set(job, "no-ledger", "yes", e)) ||
        (status = clo_job_set(job, "yes", "yes", e)) ||
        (status = clo_job_set(job, "threads", threads ? threads : "1", e)) ||
        (status = clo_job_set(job, "seed", seed, e)) ||
        (status = clo_job_set(job, "epsilon", cli_number(epsilon).text, e)) ||
        (status = clo_job_set(job, "accept",
                              accept                   ? accept
                              : strchr(way->name, '/') ? "asymptotic"
                                                       : "exact",
                              e)))
        return status;
    for (size_t i = 0; i < JOB_SETTINGS; i++) {
        const char *const value = cli_value(s->args, job_settings[i]);
        if (value && (status = clo_job_set(job, job_settings[i], value, e))) return status;
    }
    for (size_t i = 0; i < way->count; i++)
        if ((status = clo_job_set(job, way->settings[i].name, way->settings[i].value, e)))
            return status;
    return CLO_OK;
}

static clo_status release(const sweep *s, const cli_way *way, double epsilon, const char *seed,
                          result *out, cli_error *err)
{
    const clo_release *made = NULL;
    clo_job *job = NULL;
    clo_status status = clo_job_new(&job, &err->error);
    if (status == CLO_OK) status = set_job(s, way, epsilon, seed, job, err);
    if (status == CLO_OK) status = clo_job_set_table(job, s->sample.table, &err->error);
    const double before = processor_seconds();
    if (status == CLO_OK) status = clo_job_release(job, &made, &err->error);
    out->seconds = processor_seconds() - before;
    if (status == CLO_OK) {
        snprintf(out->taken, sizeof out->taken, "%s/%s", clo_release_family(made),
                 clo_release_method(made));
        out->delta = clo_release_loss(made).delta;
        status = evaluate(&s->sample, made, NULL, &out->measured, err);
    }
    clo_job_free(job);
    return status;
}

static clo_status solver_params(const clo_solver *solver, const cli_pair *settings, size_t count,
                                clo_params **out, cli_error *err)
{
    clo_status status = clo_solver_params_new(solver, out, &err->error);
    for (size_t i = 0; i < count && status == CLO_OK; i++)
        status = clo_params_set_text(*out, settings[i].name, settings[i].value, &err->error);
    return status;
}

static clo_status solve(const sweep *s, const cli_way *way, const char *seed, result *out,
                        cli_error *err)
{
    const char *const bounds = cli_value(s->args, "bounds");
    const size_t cols = clo_table_cols(s->sample.table);
    clo_solve_options how = clo_solve_options_default();
    double *const sides = cli_alloc(2 * cols, sizeof *sides);
    clo_params *params = NULL;
    clo_solution *found = NULL;
    uint8_t bytes[32];
    clo_seed_from_text(seed, bytes);
    clo_status status = solver_params(way->solver, way->settings, way->count, &params, err);
    if (status == CLO_OK) status = clo_rng_new_seeded(bytes, &how.rng, &err->error);
    if (status == CLO_OK && bounds) {
        status = clo_bounds_read(bounds, s->sample.table, sides, sides + cols, &err->error);
        how.lower = sides;
        how.upper = sides + cols;
    }
    how.threads = 1;
    how.progress = keep_going;
    const double before = processor_seconds();
    if (status == CLO_OK) status = clo_solve(params, s->sample.table, &how, &found, &err->error);
    out->seconds = processor_seconds() - before;
    if (status == CLO_OK) status = evaluate(&s->sample, NULL, found, &out->measured, err);
    snprintf(out->taken, sizeof out->taken, "%s", way->name);
    clo_solution_free(found);
    clo_params_free(params);
    clo_rng_free(how.rng);
    free(sides);
    return status;
}

/* ---- without privacy ------------------------------------------------------------------------ */

/* The solver that a way is compared with, as a word; empty: none. */
static void reference_word(const sweep *s, const cli_way *way, char *word, size_t size)
{
    static const char *const families[][2] = { { "kmeans", "kmeans" },
                                               { "kmedian", "kmedian" },
                                               { "subspaces", "auto" },
                                               { "subspace", "pca" } };
    static const char *const shared[] = { "clusters", "dim", "flats" };
    const char *const given = cli_value(s->args, "reference");
    const size_t family = strcspn(way->name, "/");
    const char *name = given;
    word[0] = 0;
    for (size_t i = 0; !given && i < 4; i++)
        if (strlen(families[i][0]) == family && strncmp(families[i][0], way->name, family) == 0)
            name = families[i][1];
    if (!name || strcmp(name, "none") == 0) return;
    size_t length = (size_t)snprintf(word, size, "solve/%s", name);
    const size_t plain = strcspn(name, ":");
    char solver[64];
    snprintf(solver, sizeof solver, "%.*s", (int)plain, name);
    const clo_solver *const found = clo_solver_find(solver);
    size_t count = 0;
    const clo_param *const rows = found ? clo_solver_params(found, &count) : NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *const value = cli_way_setting(way, shared[i]);
        bool takes = false;
        for (size_t j = 0; j < count; j++) takes = takes || strcmp(rows[j].name, shared[i]) == 0;
        if (value && takes && length < size)
            length += (size_t)snprintf(word + length, size - length, "%c%s=%s",
                                       strchr(word, ':') ? ',' : ':', shared[i], value);
    }
}

static clo_status reference(sweep *s, const cli_way *way, uint64_t seed, double *out,
                            cli_error *err)
{
    char word[512], text[32];
    cli_ways one = { NULL, 0, 0 };
    result found = { .delta = NAN };
    *out = NAN;
    if (way->solver) return CLO_OK;
    reference_word(s, way, word, sizeof word);
    if (!word[0]) return CLO_OK;
    for (size_t i = 0; i < s->known_count; i++)
        if (strcmp(s->known[i].key, word) == 0) {
            *out = s->known[i].cost;
            return CLO_OK;
        }
    nothing_measured(&found.measured);
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    clo_status status = cli_ways_add(&one, word, NULL, err);
    if (status == CLO_OK) status = solve(s, &one.at[0], text, &found, err);
    cli_ways_free(&one);
    if (status == CLO_CANCELLED || status == CLO_MEMORY) return status;
    *out = found.measured.cost; /* not a number where the solver could not */
    known_cost *const grown = cli_alloc(s->known_count + 1, sizeof *grown);
    if (s->known_count) memcpy(grown, s->known, s->known_count * sizeof *grown);
    free(s->known);
    s->known = grown;
    s->known[s->known_count++] = (known_cost){ cli_copy(word), *out };
    return CLO_OK;
}

static void forget_costs(sweep *s)
{
    for (size_t i = 0; i < s->known_count; i++) free(s->known[i].key);
    free(s->known);
    s->known = NULL;
    s->known_count = 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The first fields of a row, which tell it from all others. */
static cli_bytes row_key(const sweep *s, const cli_way *way, double epsilon, uint64_t seed)
{
    cli_bytes line = { NULL, 0, 0 }, settings = { NULL, 0, 0 };
    char text[32];
    for (size_t i = 0; i < way->count; i++) {
        const cli_pair *const p = &way->settings[i];
        if (settings.length) cli_bytes_write(&settings, " ", 1);
        cli_bytes_write(&settings, p->name, strlen(p->name));
        cli_bytes_write(&settings, "=", 1);
        cli_bytes_write(&settings, p->value, strlen(p->value));
    }
    for (size_t i = 0; i < JOB_SETTINGS && !way->solver; i++) {
        const char *const value = cli_value(s->args, job_settings[i]);
        if (!value || cli_way_setting(way, job_settings[i])) continue;
        if (settings.length) cli_bytes_write(&settings, " ", 1);
        cli_bytes_write(&settings, job_settings[i], strlen(job_settings[i]));
        cli_bytes_write(&settings, "=", 1);
        cli_bytes_write(&settings, value, strlen(value));
    }
    cli_bytes_write(&settings, "", 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    cli_csv_field(&line, s->data);
    cli_csv_field(&line, way->name);
    cli_csv_field(&line, settings.data);
    cli_csv_number(&line, epsilon);
    cli_csv_field(&line, text);
    free(settings.data);
    return line;
}

static void add_measures(cli_bytes *line, const result *r)
{
    const clo_evaluation *const m = &r->measured;
    cli_csv_field(line, r->taken);
    cli_csv_number(line, r->delta);
    cli_csv_number(line, m->cost);
    cli_csv_number(line, r->reference);
    cli_csv_number(line, r->reference > 0 ? m->cost / r->reference : NAN);
    cli_csv_number(line, m->distance);
    cli_csv_number(line, m->largest_angle);
    cli_csv_number(line, m->captured);
    cli_csv_number(line, m->accuracy);
    cli_csv_number(line, m->nmi);
    cli_csv_number(line, m->ari);
    cli_csv_field(line, cli_rounded(r->seconds, 4).text);
    cli_csv_field(line, r->problem);
}

static clo_status measure_row(sweep *s, const cli_way *way, double epsilon, uint64_t seed,
                              cli_error *err)
{
    result r = { .delta = NAN };
    cli_bytes line = row_key(s, way, epsilon, seed), text = { NULL, 0, 0 };
    char number[64];
    nothing_measured(&r.measured);
    /* The noise of no two rows is the same, nor that of the data. */
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    cli_bytes_write(&text, line.data, line.length);
    cli_bytes_write(&text, "", 1);
    clo_status status = reference(s, way, seed, &r.reference, err);
    if (status == CLO_OK)
        status = way->solver ? solve(s, way, number, &r, err)
                             : release(s, way, epsilon, text.data, &r, err);
    if (status != CLO_OK && status != CLO_CANCELLED && status != CLO_MEMORY) {
        snprintf(r.problem, sizeof r.problem, "%s", err->error.message);
        s->problems++;
        status = CLO_OK;
    }
    if (status == CLO_OK) {
        add_measures(&line, &r);
        status = cli_rows_append(s->rows, &line, err);
    }
    if (status == CLO_OK) s->added++;
    free(line.data);
    free(text.data);
    return status;
}

/* Whether it is ours to run: in our part, and not there yet. */
static bool is_due(sweep *s, const cli_way *way, double epsilon, uint64_t seed)
{
    if (s->number++ % s->parts != s->part) return false;
    cli_bytes key = row_key(s, way, epsilon, seed);
    cli_bytes_write(&key, "", 1);
    const bool there = cli_rows_has(s->rows, key.data);
    free(key.data);
    return !there;
}

static clo_status prepare_sample(sweep *s, uint64_t seed, cli_error *err)
{
    if (s->sample.table) return CLO_OK;
    return cli_is_model(s->data) ? cli_sample_generate(s->data, seed, &s->sample, err)
                                 : cli_sample_read(s->args, s->data, &s->sample, err);
}

static clo_status run_seed(sweep *s, uint64_t seed, cli_error *err)
{
    clo_status status = CLO_OK;
    for (size_t w = 0; w < s->ways.count; w++) {
        const cli_way *const way = &s->ways.at[w];
        const size_t losses = way->solver ? 1 : s->epsilon_count;
        for (size_t e = 0; e < losses && status == CLO_OK; e++) {
            const double epsilon = way->solver ? NAN : s->epsilons[e];
            if (cli_interrupted()) return CLO_CANCELLED;
            if (!is_due(s, way, epsilon, seed)) continue;
            status = prepare_sample(s, seed, err);
            if (status == CLO_OK) status = measure_row(s, way, epsilon, seed, err);
        }
    }
    if (cli_is_model(s->data)) {
        cli_sample_free(&s->sample);
        forget_costs(s);
    }
    return status;
}

static clo_status run_all(sweep *s, cli_error *err)
{
    clo_status status = CLO_OK;
    cli_progress progress;
    cli_progress_start(&progress, "running", cli_given(s->args, "quiet"));
    cli_stop_words("stopped: the same command goes on from there");
    for (size_t i = 0; i < s->seed_count && status == CLO_OK; i++) {
        cli_progress_step(&progress, (double)i / (double)s->seed_count);
        status = run_seed(s, s->seeds[i], err);
    }
    cli_progress_end(&progress);
    if (status == CLO_CANCELLED)
        return cli_fail(err, status, "stopped after %zu rows: the same command goes on from there",
                        s->added);
    return status;
}

/* ---- before the first run ------------------------------------------------------------------- */

static clo_status read_part(sweep *s, cli_error *err)
{
    const char *const text = cli_value(s->args, "part");
    unsigned long part, parts;
    char end;
    s->part = 0;
    s->parts = 1;
    if (!text) return CLO_OK;
    if (sscanf(text, "%lu/%lu%c", &part, &parts, &end) != 2 || part < 1 || part > parts ||
        parts > 1000)
        return cli_fail(err, CLO_ARGUMENT,
                        "--part must be I/N with I from 1 to N, as in 2/4, not "
                        "'%s'",
                        text);
    s->part = part - 1;
    s->parts = parts;
    return CLO_OK;
}

/* A slip in a setting must not wait for its turn. */
static clo_status check_way(const sweep *s, const cli_way *way, cli_error *err)
{
    clo_job *job = NULL;
    clo_params *params = NULL;
    clo_status status;
    if (way->solver) {
        status = solver_params(way->solver, way->settings, way->count, &params, err);
        clo_params_free(params);
        return status;
    }
    if (s->epsilon_count == 0)
        return cli_fail(err, CLO_ARGUMENT, "give --epsilon: the epsilons to try, as in 0.1,1,10");
    status = clo_job_new(&job, &err->error);
    for (size_t e = 0; e < s->epsilon_count && status == CLO_OK; e++) {
        status = set_job(s, way, s->epsilons[e], "0", job, err);
        if (status == CLO_OK) status = clo_job_set(job, "data", "-", &err->error);
        if (status == CLO_OK) status = clo_job_check(job, &err->error);
        clo_job_free(job);
        job = NULL;
        if (status == CLO_OK) status = clo_job_new(&job, &err->error);
    }
    clo_job_free(job);
    return status;
}

static clo_status check_reference(const sweep *s, cli_error *err)
{
    const char *const given = cli_value(s->args, "reference");
    char word[512];
    cli_ways one = { NULL, 0, 0 };
    if (!given || strcmp(given, "none") == 0) return CLO_OK;
    snprintf(word, sizeof word, "solve/%s", given);
    clo_status status = cli_ways_add(&one, word, NULL, err);
    if (status == CLO_OK && one.count > 1)
        status = cli_fail(err, CLO_ARGUMENT, "--reference must be one solver, not several");
    if (status == CLO_OK) status = check_way(s, &one.at[0], err);
    cli_ways_free(&one);
    return status;
}

static clo_status read_options(sweep *s, cli_error *err)
{
    const cli_args *const args = s->args;
    const char *const epsilon = cli_value(args, "epsilon"), *const seeds = cli_value(args, "seeds");
    clo_status status = cli_check_words(args, 2, SIZE_MAX, "data and at least one method", err);
    if (status != CLO_OK) return status;
    s->data = cli_word(args, 0);
    if (cli_is_model(s->data) && (cli_given(args, "truth") || cli_given(args, "labels")))
        return cli_fail(err, CLO_ARGUMENT,
                        "leave out --truth and --labels: they are for a file, and a model has its "
                        "own");
    if (epsilon)
        status = cli_parse_list("--epsilon", epsilon, &s->epsilons, &s->epsilon_count, err);
    if (status == CLO_OK)
        status = cli_seeds_parse(seeds ? seeds : "1", &s->seeds, &s->seed_count, err);
    if (status == CLO_OK) status = read_part(s, err);
    for (size_t i = 1; i < cli_word_count(args) && status == CLO_OK; i++)
        status = cli_ways_add(&s->ways, cli_word(args, i), cli_value(args, "set"), err);
    for (size_t i = 0; i < s->ways.count && status == CLO_OK; i++)
        status = check_way(s, &s->ways.at[i], err);
    return status == CLO_OK ? check_reference(s, err) : status;
}

static void sum_up(const sweep *s)
{
    if (cli_given(s->args, "quiet")) return;
    cli_note("%zu row%s added, %zu there before", s->added, s->added == 1 ? "" : "s",
             cli_rows_before(s->rows));
    if (s->problems)
        cli_note("%zu of them could not be measured: see the column 'problem'", s->problems);
}

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_write_for_owner();
    const char *const output = cli_value(args, "output");
    sweep s = { .args = args };
    clo_status status = read_options(&s, err);
    /* Data that cannot be read, or made, end it before a row is written. */
    if (status == CLO_OK) status = prepare_sample(&s, s.seeds[0], err);
    if (status == CLO_OK)
        status = cli_rows_open(output ? output : "-", header, KEY_FIELDS, &s.rows, err);
    if (status == CLO_OK) {
        cli_warn("%s", notice);
        status = run_all(&s, err);
    }
    if (status == CLO_OK) sum_up(&s);
    cli_rows_close(s.rows);
    cli_sample_free(&s.sample);
    forget_costs(&s);
    cli_ways_free(&s.ways);
    free(s.epsilons);
    free(s.seeds);
    return status;
}

static const cli_group *const groups[] = { &sweep_group, &job_group, &cli_reading_group, NULL };

const cli_command cli_sweep = {
    .usage = "DATA METHOD[:SETTING=VALUE,...] ... --epsilon LIST [--seeds LIST] [option ...]",
    .about =
        "Runs every method at every epsilon with every seed, and writes one CSV row per run.  A "
        "row has what 'evaluate' measures, the cost as a multiple of that of an ordinary solver, "
        "and the processor time.  It is for experiments on data that may be seen: the runs are "
        "seeded and measured without noise, so NOTHING of it is private, and no ledger is "
        "charged.\n\n"
        "DATA is a file, or a model that makes other data for each seed, as 'generate --seed' "
        "does: subspaces:rows=1000,cols=10,noise=0.1.  METHOD is a family, FAMILY/METHOD, or "
        "solve/SOLVER for an ordinary solver.  Settings come after a colon, and rounds=10|50 "
        "tries both values.\n\n"
        "Data, method, settings, epsilon and seed identify a row.  A row that is in the file is "
        "not run again, so a sweep that was stopped goes on where it was.  A run that is not "
        "possible is also a row, with the reason in the column 'problem'.",
    .examples =
        "Two methods, ten data sets, four epsilons\n"
        "cloister sweep subspaces:rows=1000,cols=10 subspace-clusters/sulq "
        "subspace-clusters/moments --set "
        "clusters=3,dim=3 --epsilon 0.1,1,3,10 --seeds 1-10 --norm 1 -o rows.csv\n"
        "How many rounds?\n"
        "cloister sweep mixture:cols=8 'kmeans/lloyd:rounds=3|5|10' --set clusters=5 --epsilon 1 "
        "--norm 1 --seeds 1-20 -o rounds.csv\n"
        "Your own file, with and without privacy\n"
        "cloister sweep sample.csv kmeans solve/kmeans --set 'clusters=2|4|8' --epsilon 0.5,1 "
        "--bounds 0,1 --labels labels.csv -o rows.csv",
    .groups = groups,
    .run = run,
};
