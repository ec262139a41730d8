/* cmd_audit.c - cloister audit: try to refute a privacy claim, of a mechanism or of somebody else's
 * program.
 *
 * A refuted claim is an answer and not a failure: the table is printed, and the exit code is 1, so
 * that a script can tell "the claim does not hold" from "the audit did not work". */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { EXIT_REFUTED = 1, LEAST_TRIALS = 100, MECHANISM_TRIALS = 100000, PROGRAM_TRIALS = 10000 };

static const cli_option claim_rows[] = {
    CLI_OPTION("epsilon", 0, "E", "the epsilon that is claimed; must be given"),
    CLI_OPTION("delta", 0, "D",
               "the delta that is claimed; by default 1e-6, and 0 for the family bounds and for a "
               "program"),
    CLI_CHOICE("relation", "R", "replace|add-remove|both", "replace",
               "what is hidden: the values of a record, or also whether it is there"),
    CLI_OPTION("pair", 0, "P",
               "for a method: use only the pair of this name; for a program: two files of yours, "
               "FILE0,FILE1, which must differ by one record (with --unit by one person)"),
    CLI_CHOICE("group", "G", "1|2|4|all", "1",
               "for a method: how many records change together; the claim grows with their number"),
    CLI_ROWS_END,
};
static const cli_group claim_group = { "Claim", NULL, claim_rows };

static const cli_option effort_rows[] = {
    CLI_OPTION("trials", 0, "N",
               "how often to run on each of the two data sets; by default 1e5, and 1e4 for a "
               "program"),
    CLI_OPTION("seconds", 0, "S",
               "about how many seconds a pair may take; then it ends with fewer trials"),
    CLI_OPTION("alpha", 0, "A",
               "the probability that the audit refutes a claim that is true; by default 1e-6"),
    CLI_OPTION("seed", 0, "TEXT",
               "for a method: repeat an audit; by default the seed is random, and shown"),
    CLI_OPTION("threads", 0, "N",
               "for a method: how many threads to use; the result is the same with any number"),
    CLI_ROWS_END,
};
static const cli_group effort_group = { "Effort", NULL, effort_rows };

static const cli_option program_rows[] = {
    CLI_OPTION("command", 0, "TEXT",
               "audit this program; /bin/sh runs it, and {input} and {output} stand for the names "
               "of two files"),
    CLI_OPTION("resident", 0, NULL,
               "start the program only once: for each run it reads a line with the two names and "
               "a tab between, and writes a line when its output is complete"),
    CLI_OPTION("cols", 0, "D", "how many columns the input has"),
    CLI_OPTION("rows", 0, "N", "how many rows the input has; by default 4"),
    CLI_OPTION("norm", 0, "R", "the distance of the changing record from the origin; by default 1"),
    CLI_OPTION("unit", 0, "COLUMN",
               "with --pair: the column that names the person of a row; the files then differ by "
               "one person"),
    CLI_CHOICE("header", "WORD", "yes|no|auto", "auto",
               "with --pair: whether the first line of the files holds names"),
    CLI_OPTION("delimiter", 0, "C",
               "with --pair: what separates the cells of the files: one character, or 'tab'"),
    CLI_ROWS_END,
};
static const cli_group program_group = { "Someone else's program", NULL, program_rows };

static const cli_option output_rows[] = {
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_OPTION("quiet", 'q', NULL, "print only the result"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", NULL, output_rows };

/* ---- what is asked for -------------------------------------------------------- */

typedef struct finding {
    clo_relation relation;
    clo_audit_finding found;
} finding;

typedef struct audit {
    const clo_mechanism *mechanism; /* NULL: a program */
    cli_foreign_spec program;
    char name[128]; /* of the mechanism */
    char seed[256];
    clo_loss budget;
    bool replace, add_remove, json;
    uint64_t trials;
    double seconds, alpha;
    clo_audit_options options;
    cli_progress progress;
    double parts_done, parts; /* of the relations, for the progress */
    cli_foreign *foreign;
    uint64_t runs; /* of the program, so far */
    finding *findings;
    size_t count, room;
} audit;

static const char *relation_name(clo_relation relation)
{
    return relation == CLO_REPLACE ? "replace" : "add-remove";
}

static const char *unit_name(clo_audit_unit unit)
{
    return unit == CLO_AUDIT_MU ? "mu" : "epsilon";
}

static clo_status refuse(const cli_args *args, const char *const *names, const char *with,
                         cli_error *err)
{
    for (; *names; names++)
        if (cli_given(args, *names))
            return cli_fail(err, CLO_ARGUMENT, "--%s has no meaning %s", *names, with);
    return CLO_OK;
}

static clo_status read_program(const cli_args *args, audit *a, cli_error *err)
{
    static const char *const not_of_a_program[] = { "group", "seed", "threads", NULL };
    static const char *const not_of_own_files[] = { "cols", "rows", "norm", NULL };
    static const char *const of_own_files[] = { "unit", "header", "delimiter", NULL };
    const char *const relation = cli_value(args, "relation");
    const char *const cols = cli_value(args, "cols"), *const rows = cli_value(args, "rows");
    const char *const norm = cli_value(args, "norm");
    uint64_t width = 0;
    cli_foreign_spec *const p = &a->program;
    *p = (cli_foreign_spec){ .command = cli_value(args, "command"),
                             .resident = cli_given(args, "resident"),
                             .pair = cli_value(args, "pair"),
                             .rows = 4,
                             .norm = 1 };
    clo_status status = refuse(args, not_of_a_program, "beside --command", err);
    if (status == CLO_OK && p->pair) status = refuse(args, not_of_own_files, "beside --pair", err);
    if (status == CLO_OK && !p->pair) status = refuse(args, of_own_files, "without --pair", err);
    if (status == CLO_OK && p->pair && relation && strcmp(relation, "both") == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "--pair needs one relation: pass --relation replace or --relation "
                        "add-remove");
    if (status == CLO_OK && p->pair) status = cli_read_options(args, &p->reading, err);
    if (status == CLO_OK && !p->pair && !cols) {
        cli_hint(err, "--cols 2");
        return cli_fail(err, CLO_ARGUMENT, "--cols must be given, or two files with --pair");
    }
    if (status == CLO_OK && cols) status = cli_parse_whole("--cols", cols, 1, 1 << 20, &width, err);
    if (status == CLO_OK && rows)
        status = cli_parse_whole("--rows", rows, 2, 1 << 20, &p->rows, err);
    if (status == CLO_OK && norm) status = cli_parse_positive("--norm", norm, &p->norm, err);
    p->cols = (size_t)width;
    return status;
}

static clo_status read_mechanism(const cli_args *args, audit *a, cli_error *err)
{
    static const char *const not_of_a_mechanism[] = { "resident", "cols",   "rows",      "norm",
                                                      "unit",     "header", "delimiter", NULL };
    clo_status status = cli_mechanism(cli_word(args, 0), NULL, &a->mechanism, err);
    if (status == CLO_OK)
        status = refuse(args, not_of_a_mechanism,
                        "without --command: a method is audited on built-in data", err);
    if (status == CLO_OK) cli_mechanism_name(a->mechanism, a->name, sizeof a->name);
    return status;
}

static clo_status read_claim(const cli_args *args, audit *a, cli_error *err)
{
    const char *const relation = cli_value(args, "relation");
    const clo_status status = cli_budget(args, &a->budget, err);
    const bool approximate = a->mechanism && strcmp(clo_mechanism_family(a->mechanism), "bounds");
    if (a->budget.delta < 0) a->budget.delta = approximate ? clo_default_delta(0) : 0;
    a->replace = !relation || strcmp(relation, "add-remove") != 0;
    a->add_remove = relation && strcmp(relation, "replace") != 0;
    a->parts = a->replace + a->add_remove;
    return status;
}

static clo_status read_seed(const cli_args *args, audit *a, cli_error *err)
{
    const char *const given = cli_value(args, "seed");
    uint8_t random[16];
    if (given && strlen(given) >= sizeof a->seed)
        return cli_fail(err, CLO_ARGUMENT, "--seed must have less than %zu characters",
                        sizeof a->seed);
    snprintf(a->seed, sizeof a->seed, "%s", given ? given : "");
    if (!given && getrandom(random, sizeof random, 0) != sizeof random)
        return cli_fail(err, CLO_ENTROPY,
                        "the operating system gave no seed: give one with --seed");
    for (size_t i = 0; i < sizeof random && !given; i++)
        snprintf(a->seed + 2 * i, 3, "%02x", random[i]);
    clo_seed_from_text(a->seed, a->options.seed);
    return CLO_OK;
}

static clo_status read_effort(const cli_args *args, audit *a, cli_error *err)
{
    const char *const trials = cli_value(args, "trials"), *const group = cli_value(args, "group");
    const char *const seconds = cli_value(args, "seconds"), *const alpha = cli_value(args, "alpha");
    const char *const threads = cli_value(args, "threads");
    uint64_t thread_count = 0;
    clo_status status = CLO_OK;
    a->options = clo_audit_options_default();
    a->trials = a->mechanism ? MECHANISM_TRIALS : PROGRAM_TRIALS;
    a->alpha = a->options.alpha;
    if (trials)
        status = cli_parse_whole("--trials", trials, LEAST_TRIALS, UINT64_C(1000000000000),
                                 &a->trials, err);
    if (status == CLO_OK && seconds)
        status = cli_parse_positive("--seconds", seconds, &a->seconds, err);
    if (status == CLO_OK && alpha) status = cli_parse_positive("--alpha", alpha, &a->alpha, err);
    if (status == CLO_OK && a->alpha >= 1)
        status = cli_fail(err, CLO_ARGUMENT, "--alpha must be less than 1, not %s", alpha);
    if (status == CLO_OK && threads)
        status = cli_parse_whole("--threads", threads, 1, 4096, &thread_count, err);
    if (status == CLO_OK) status = read_seed(args, a, err);
    a->options.trials = a->trials;
    a->options.seconds = a->seconds;
    a->options.alpha = a->alpha / a->parts; /* Bonferroni over the relations */
    a->options.threads = (int)thread_count;
    if (a->mechanism) a->options.pair = cli_value(args, "pair");
    if (group) a->options.group = strcmp(group, "all") == 0 ? 0 : (unsigned)atoi(group);
    return status;
}

static clo_status read_all(const cli_args *args, audit *a, cli_error *err)
{
    const bool program = cli_given(args, "command");
    clo_status status = cli_check_words(args, program ? 0 : 1, program ? 0 : 1,
                                        "a mechanism, or a program by --command", err);
    if (status == CLO_OK)
        status = program ? read_program(args, a, err) : read_mechanism(args, a, err);
    if (status == CLO_OK) status = read_claim(args, a, err);
    if (status == CLO_OK) status = read_effort(args, a, err);
    a->json = cli_given(args, "json");
    return status;
}

/* ---- the table ------------------------------------------------------------------ */

static void print_heading(const audit *a, clo_relation relation)
{
    const bool own = a->program.pair;
    printf("%s%s%s claims epsilon %s, delta %s%s%s\n\n", cli_style_on(stdout, CLI_BOLD),
           a->mechanism ? a->name : "the program", cli_style_off(stdout),
           cli_number(a->budget.epsilon).text, cli_number(a->budget.delta).text,
           own ? " between two files under " : " under ", relation_name(relation));
    printf("%-10s %5s  %-7s %8s  %8s  %-11s %8s  %7s\n", "pair", "group", "unit", "claim",
           "evidence", "verdict", "trials", "seconds");
}

static void print_finding(const clo_audit_finding *f)
{
    char verdict[64];
    snprintf(verdict, sizeof verdict, "%s%-11s%s", f->refuted ? cli_style_on(stdout, CLI_RED) : "",
             f->refuted ? "REFUTED" : "not refuted", f->refuted ? cli_style_off(stdout) : "");
    printf("%-10s %5u  %-7s %8s  %8s  %s %8s  %7.1f\n", f->pair, f->group, unit_name(f->unit),
           cli_rounded(f->claim, 4).text, cli_rounded(f->evidence, 4).text, verdict,
           cli_number((double)f->trials).text, f->seconds);
    fflush(stdout);
}

static bool keep(audit *a, clo_relation relation, const clo_audit_finding *found)
{
    if (a->count == a->room) {
        const size_t room = 2 * a->room + 16;
        finding *const more = cli_alloc(room, sizeof *more);
        if (a->count) memcpy(more, a->findings, a->count * sizeof *more);
        free(a->findings);
        a->findings = more;
        a->room = room;
    }
    const bool first = a->count == 0 || a->findings[a->count - 1].relation != relation;
    a->findings[a->count++] = (finding){ relation, *found };
    if (a->json) return true;
    cli_progress_hide(&a->progress);
    if (first && a->count > 1) putchar('\n');
    if (first) print_heading(a, relation);
    print_finding(found);
    return true;
}

static double share_shown(const clo_audit_finding *f)
{
    return f->claim > 0 ? f->evidence / f->claim : f->evidence > 0 ? INFINITY : 0;
}

static const clo_audit_finding *strongest(const audit *a, size_t *refuted)
{
    const clo_audit_finding *best = NULL;
    *refuted = 0;
    for (size_t i = 0; i < a->count; i++) {
        const clo_audit_finding *const f = &a->findings[i].found;
        *refuted += f->refuted;
        if (!best || share_shown(f) > share_shown(best)) best = f;
    }
    return best;
}

static void print_conclusion(const audit *a)
{
    size_t refuted;
    char text[700], proof[200] = "";
    const clo_audit_finding *const f = strongest(a, &refuted);
    if (!f) return;
    if (a->mechanism)
        snprintf(proof, sizeof proof, " (that is in %s)", clo_mechanism_proof(a->mechanism));
    if (refuted)
        snprintf(
            text, sizeof text,
            "REFUTED: the pair '%s' shows a loss of at least %s %s, but %s is claimed (%zu of %zu "
            "claims refuted). If the claims were true, such evidence would have a probability of "
            "at most %s.",
            f->pair, unit_name(f->unit), cli_rounded(f->evidence, 4).text,
            cli_rounded(f->claim, 4).text, refuted, a->count, cli_number(a->alpha).text);
    else
        snprintf(text, sizeof text,
                 "No claim was refuted. The pair '%s' gives the strongest evidence: a loss of at "
                 "least %s %s, where %s is claimed, with confidence 1 - %s. This is not a "
                 "proof%s: another pair or more trials may show more.",
                 f->pair, unit_name(f->unit), cli_rounded(f->evidence, 4).text,
                 cli_rounded(f->claim, 4).text, cli_number(a->alpha).text, proof);
    putchar('\n');
    cli_wrap(stdout, 0, 0, text);
}

static void print_json(const audit *a)
{
    size_t refuted;
    clo_writer json = cli_json_begin(stdout);
    strongest(a, &refuted);
    clo_json_text(&json, "schema", "cloister.audit/1");
    clo_json_text(&json, "mechanism", a->mechanism ? a->name : NULL);
    clo_json_text(&json, "command", a->program.command);
    cli_json_loss(&json, "claim", a->budget);
    clo_json_number(&json, "alpha", a->alpha);
    clo_json_text(&json, "seed", a->mechanism ? a->seed : NULL);
    clo_json_bool(&json, "refuted", refuted > 0);
    clo_json_open(&json, "findings", '[');
    for (size_t i = 0; i < a->count; i++) {
        const clo_audit_finding *const f = &a->findings[i].found;
        clo_json_open(&json, NULL, '{');
        clo_json_text(&json, "relation", relation_name(a->findings[i].relation));
        clo_json_text(&json, "pair", f->pair);
        clo_json_text(&json, "what", f->what);
        clo_json_count(&json, "group", f->group);
        clo_json_text(&json, "unit", unit_name(f->unit));
        clo_json_number(&json, "claim", f->claim);
        clo_json_number(&json, "delta", f->delta);
        clo_json_number(&json, "evidence", f->evidence);
        clo_json_bool(&json, "refuted", f->refuted);
        clo_json_count(&json, "trials", f->trials);
        clo_json_number(&json, "seconds", f->seconds);
        clo_json_close(&json, '}');
    }
    clo_json_close(&json, ']');
    cli_json_end(&json);
}

/* ---- a mechanism ------------------------------------------------------------------ */

static bool step(void *user, double done)
{
    audit *const a = user;
    return cli_progress_step(&a->progress, (a->parts_done + done) / a->parts);
}

static bool visit_replace(void *user, const clo_audit_finding *found)
{
    return keep(user, CLO_REPLACE, found);
}

static bool visit_add_remove(void *user, const clo_audit_finding *found)
{
    return keep(user, CLO_ADD_REMOVE, found);
}

static clo_status audit_mechanism(audit *a, clo_relation relation, cli_error *err)
{
    a->options.progress = step;
    a->options.user = a;
    return clo_audit(a->mechanism, relation, a->budget, &a->options,
                     relation == CLO_REPLACE ? visit_replace : visit_add_remove, a, &err->error);
}

/* ---- a program --------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Progress is shown run by run here: a chunk of the library's may take minutes. */
static clo_status draw(void *user, int world, uint64_t trial, double *outputs, clo_error *err)
{
    audit *const a = user;
    cli_error mine = { .hint = "" };
    (void)trial;
    const clo_status status = cli_foreign_draw(a->foreign, world, outputs, &mine);
    if (status != CLO_OK) *err = mine.error;
    if (status == CLO_OK) step(a, (double)++a->runs / (2 * (double)a->options.trials));
    return status;
}

/* As many runs as the time allows, told from some runs that are not counted: how many there are
 * must not depend on what the counted ones answer. */
static clo_status fit_to_time(audit *a, cli_error *err)
{
    enum { LEAST_RUNS = 4, MOST_RUNS = 200 };
    double answer[CLI_FOREIGN_OUTPUTS], elapsed = 0;
    const double started = seconds_now();
    int runs = 0;
    a->options.trials = a->trials;
    if (!(a->seconds > 0)) return CLO_OK;
    while (runs < LEAST_RUNS || (runs < MOST_RUNS && elapsed < 0.05 * a->seconds)) {
        const clo_status status = cli_foreign_draw(a->foreign, runs++ % 2, answer, err);
        if (status != CLO_OK) return status;
        elapsed = seconds_now() - started;
    }
    const double possible = (a->seconds - elapsed) / (2 * elapsed / runs);
    if (possible < (double)a->trials) a->options.trials = possible > 0 ? (uint64_t)possible : 0;
    if (a->options.trials < LEAST_TRIALS) a->options.trials = LEAST_TRIALS;
    a->options.seconds = 0;
    return CLO_OK;
}

static clo_status audit_program(audit *a, clo_relation relation, cli_error *err)
{
    clo_audit_finding found = { .struct_size = sizeof found };
    a->program.relation = relation;
    a->runs = 0;
    clo_status status = cli_foreign_open(&a->program, &a->foreign, err);
    if (status == CLO_OK) status = fit_to_time(a, err);
    if (status == CLO_OK) {
        const bool own = a->program.pair, replace = relation == CLO_REPLACE;
        const clo_audit_subject subject = {
            .struct_size = sizeof subject,
            .pair = own       ? "files"
                    : replace ? "opposite"
                              : "absent",
            .what = own       ? "two files"
                    : replace ? "a record at one end of the ball, or at the opposite one"
                              : "a record at one end of the ball, or none",
            .outputs = cli_foreign_outputs(a->foreign),
            .unit = CLO_AUDIT_EPSILON,
            .claim = a->budget.epsilon,
            .delta = a->budget.delta,
            .draw = draw,
            .user = a,
        };
        status = clo_audit_subject_run(&subject, &a->options, &found, &err->error);
    }
    cli_foreign_close(a->foreign);
    a->foreign = NULL;
    if (status == CLO_OK) keep(a, relation, &found);
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

static clo_status audit_relation(audit *a, clo_relation relation, cli_error *err)
{
    const clo_status status =
        a->mechanism ? audit_mechanism(a, relation, err) : audit_program(a, relation, err);
    a->parts_done++;
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    audit a = { .mechanism = NULL };
    size_t refuted = 0;
    const bool quiet = cli_given(args, "quiet");
    clo_status status = read_all(args, &a, err);
    if (status != CLO_OK) return status;
    if (a.mechanism && !quiet && !cli_given(args, "seed"))
        cli_note("seed %s: --seed %s repeats this audit", a.seed, a.seed);
    cli_progress_start(&a.progress, "running", quiet);
    if (a.mechanism) cli_stop_words("the audit was stopped"); /* a program is ended in order */
    if (a.replace) status = audit_relation(&a, CLO_REPLACE, err);
    if (status == CLO_OK && a.add_remove) status = audit_relation(&a, CLO_ADD_REMOVE, err);
    cli_progress_end(&a.progress);
    if (status == CLO_OK) {
        if (a.json)
            print_json(&a);
        else
            print_conclusion(&a);
        strongest(&a, &refuted);
    }
    if (refuted) err->verdict = EXIT_REFUTED;
    free(a.findings);
    return status;
}

static const cli_group *const groups[] = { &claim_group, &effort_group, &program_group,
                                           &output_group, NULL };

const cli_command cli_audit = {
    .usage = "FAMILY[/METHOD] --epsilon E [--trials N] [option ...]\n"
             "--command TEXT --epsilon E (--cols D | --pair F0,F1) [option ...]",
    .about =
        "Tries to refute a privacy claim.  It runs a method or a program many times on two data "
        "sets that differ in one record, and looks for an event that is frequent on one and rare "
        "on the other.  It prints two losses of privacy: the one that is claimed, and the one "
        "that the evidence proves.  An audit can refute a claim, with a stated probability of "
        "being wrong.  It cannot prove one.\n\n"
        "For a method, the audit has pairs of data sets that are hard for it, and needs no data of "
        "yours.  It looks at every noisy answer of the runs.  If all noise is Gaussian, the "
        "claim is stated as mu, otherwise as epsilon and delta.\n\n"
        "A program gets a CSV file without a header.  All rows are zero except one, which is "
        "(R,0,...,0) in one data set and (-R,0,...,0) in the other.  With add-remove, only one of "
        "the two has that row.  Every number in the file that the program writes is part of its "
        "answer.  "
        "All runs must write the same number of them, at most 512.\n\n"
        "Two files of yours (--pair) must be neighbors.  With replace they have the same number "
        "of records and differ in one; with add-remove one file has one more.  The order of the "
        "records does not matter.  Other files are refused before the first run, with exit code "
        "2.\n\n"
        "The exit code is 0 if no claim was refuted, and 1 if one was.",
    .examples =
        "Is private PCA as private as it claims?\n"
        "cloister audit subspace/gaussian --epsilon 1 --trials 1e6\n"
        "All groups of records, both relations, for a script\n"
        "cloister audit kmeans --epsilon 1 --group all --relation both --json\n"
        "The program that you use today\n"
        "cloister audit --command './mean.py {input} {output}' --epsilon 1 --cols 2 --trials "
        "2000\n"
        "One that answers many times, on two files of yours\n"
        "cloister audit --command 'python3 mean.py' --resident --pair with.csv,without.csv "
        "--epsilon 1 --trials 1e5",
    .groups = groups,
    .run = run,
};
