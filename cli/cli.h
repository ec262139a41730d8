/*
 * cli.h - what the files of the command share.
 *
 * The command is an ordinary user of the library: it includes <cloister/...>, popt and libc and
 * nothing else, so that whatever it can do, another program can do as well.
 *
 * Two channels.  stdout carries the result and nothing else; stderr speaks to the operator.
 */
#ifndef CLI_H
#define CLI_H

#include <cloister/cloister.h>
#include <stdio.h>

/* ---- failing ------------------------------------------------------------- */

/* A failure of the library or of the command, and what the user might try next. */
typedef struct cli_error {
    clo_error error;
    char hint[2048]; /* printed on a second line after "try: "; empty: none */
    int verdict;     /* the exit code of a command that did its work and has to say no; 0: none */
} cli_error;

/* Fills err and returns status: one sentence, lower case, no full stop. */
clo_status cli_fail(cli_error *err, clo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_hint(cli_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_print_error(const cli_error *err);

/* Zeroed memory; out of memory ends the command, which has then changed nothing. */
void *cli_alloc(size_t count, size_t size);
char *cli_copy(const char *text);

/* Starts the program once more where another kernel of the BLAS fits this processor better. */
void cli_fit_environment(char **argv); /* and starts the command again, where it has to */
void cli_keep_no_core(void);
void cli_write_for_owner(void); /* files that are made from here on are 0600 */

/* Finds the command and runs it.  And the code that the process ends with. */
clo_status cli_dispatch(int argc, const char **argv, cli_error *err);
int cli_exit_code(clo_status status, const cli_error *err);

/* ---- ranks ----------------------------------------------------------------- */

/* Hands over to cloister-mpi where a launcher has started several of us; does not return then. */
clo_status cli_start_ranks(char **argv, cli_error *err);
void cli_set_comm(const clo_comm *comm); /* of cloister-mpi, before anything else */
const clo_comm *cli_comm(void);          /* NULL: there is one process */
bool cli_leads(void);                    /* whether this is rank 0, who speaks */

/* ---- options: one row says everything about one -------------------------- */

typedef struct cli_option {
    const char *name;     /* "epsilon" */
    char letter;          /* 'o', or 0 */
    const char *argument; /* "E"; NULL: a switch */
    const char *choices;  /* "replace|add-remove", or NULL: any text */
    const char *help;     /* no capital, no full stop */
    const char *preset;   /* which choice it is where none is made, or NULL */
} cli_option;

/* The usual rows: one that takes any text (or is a switch), one of choices, and the end. */
#define CLI_OPTION(name, letter, argument, help)                                                   \
    {                                                                                              \
        name, letter, argument, NULL, help, NULL                                                   \
    }
#define CLI_CHOICE(name, argument, choices, preset, help)                                          \
    {                                                                                              \
        name, 0, argument, choices, help, preset                                                   \
    }
#define CLI_ROWS_END                                                                               \
    {                                                                                              \
        NULL, 0, NULL, NULL, NULL, NULL                                                            \
    }

/* A heading of --help and the rows under it; the last row has no name. */
typedef struct cli_group {
    const char *title;
    const cli_option *rows;
} cli_group;

typedef struct cli_args cli_args;

/* What cmd_NAME.c says of its command; name and summary stand in commands.def. */
typedef struct cli_command {
    const char *usage;              /* lines without "cloister NAME" */
    const char *about;              /* paragraphs, parted by an empty line */
    const char *examples;           /* lines: what it does, then the command, in turn */
    const cli_group *const *groups; /* NULL at the end; NULL: no options but --help */
    const char *mechanism;          /* its parameters are options too; "*": of all; NULL: of none */
    bool solvers;                   /* the parameters of all solvers are options */
    bool ranks;                     /* several ranks do it together; otherwise rank 0 alone */
    clo_status (*run)(const cli_args *args, cli_error *err);
    void (*remarks)(FILE *out); /* what --help says beyond the rows; NULL: nothing */
} cli_command;

typedef struct cli_entry {
    const char *name;
    const char *summary;
    const cli_command *command;
} cli_entry;

extern const cli_entry cli_commands[]; /* the last one has no name */
const cli_entry *cli_find_command(const char *name);
clo_status cli_unknown_command(const char *name, cli_error *err);

/* Parses what follows the command's name.  Values are text; who needs a number parses it. */
clo_status cli_parse(const cli_entry *entry, int argc, const char **argv, cli_args **out,
                     cli_error *err);
void cli_args_free(cli_args *args);
size_t cli_word_count(const cli_args *args);
const char *cli_word(const cli_args *args, size_t i);            /* NULL: not given */
const char *cli_value(const cli_args *args, const char *option); /* NULL: not given */
bool cli_given(const cli_args *args, const char *option);
/* "--columns -cut" of a message that ends with "(columns -cut)", after the columns that the args
 * choose; empty where it does not. */
void cli_option_in(const cli_args *args, const char *message, char *out, size_t size);
const cli_entry *cli_args_entry(const cli_args *args);
/* CLO_ARGUMENT where there are more words than most, or fewer than least; needed says what then
 * is missing: "a mechanism and a file". */
clo_status cli_check_words(const cli_args *args, size_t least, size_t most, const char *needed,
                           cli_error *err);
/* "(replace or add-remove, preset replace)"; empty without choices. */
void cli_option_range(const cli_option *option, char *text, size_t size);

/* What has parameters: a mechanism or a solver. */
typedef struct cli_subject {
    char name[128];
    const clo_param *rows;
    size_t count;
    const clo_mechanism *mechanism; /* one of these two */
    const clo_solver *solver;
} cli_subject;

cli_subject cli_subject_of_mechanism(const clo_mechanism *mechanism);
cli_subject cli_subject_of_solver(const clo_solver *solver);
/* Those that a command can name. */
size_t cli_subject_count(const cli_command *command);
cli_subject cli_subject_at(const cli_command *command, size_t i);
bool cli_subject_named(const cli_command *command, const char *word, cli_subject *out);

/* The parameters that are options of a command, each name once. */
size_t cli_parameters(const cli_command *command, const clo_param **rows, size_t room);
enum { CLI_MAX_PARAMETERS = 256 };

/* The same rows as --help, for one command or for all of them. */
void cli_print_help(FILE *out, const cli_entry *entry, const cli_subject *subject);
void cli_print_overview(FILE *out);
clo_status cli_print_manual(FILE *out, const char *template_path, cli_error *err);
/* "1 to 64, preset 8", or "; must be given" where it is demanded. */
void cli_parameter_range(const clo_param *param, bool demanded, char *text, size_t size);
bool cli_is_demanded(const cli_subject *subject, const clo_param *param); /* a run must say it */

/* The row with "Show this text": the last group of every command. */
extern const cli_group cli_help_group;

/* ---- options that mean the same everywhere ------------------------------- */

extern const cli_group cli_privacy_group;   /* epsilon, delta, relation, accept */
extern const cli_group cli_domain_group;    /* norm, bounds, center, rows, rows-per-unit */
extern const cli_group cli_record_group;    /* unit, missing */
extern const cli_group cli_comparing_group; /* the same, of what compares rows with a result */
extern const cli_group cli_reading_group;   /* columns, header, delimiter, format, cols */
extern const cli_group cli_ledger_group;    /* ledger, dataset, no-ledger */
extern const cli_group cli_running_group;   /* threads, seed, dry-run, yes, quiet */

/* The mechanism that the words "FAMILY[/METHOD]" and --method name. */
clo_status cli_mechanism(const char *name, const char *method, const clo_mechanism **out,
                         cli_error *err);
clo_status cli_solver(const char *name, const clo_solver **out, cli_error *err);
void cli_mechanism_name(const clo_mechanism *mechanism, char *text, size_t size);
/* Its parameters as given; an option that belongs to another one is an error. */
clo_status cli_params(const cli_args *args, const cli_subject *subject, clo_params **out,
                      cli_error *err);
/* Epsilon is asked for; delta < 0 in the result: not given. */
clo_status cli_budget(const cli_args *args, clo_loss *out, cli_error *err);
clo_status cli_read_options(const cli_args *args, clo_read_options *out, cli_error *err);
/* The same for what compares rows with a result, which need not take every column: text is refused
 * where it is used. */
clo_status cli_comparing_options(const cli_args *args, clo_read_options *out, cli_error *err);
/* The file of an option, one column of whole numbers, one for each row of the data; *out untouched
 * where the option is not given. */
clo_status cli_read_labels(const cli_args *args, const char *option, size_t rows, uint32_t **out,
                           cli_error *err);
/* Says on stderr how many rows have a missing cell, and what became of them; 0: nothing. */
void cli_say_left_out(size_t rows, const char *what);

/* --project FILE, as a row of a command's options. */
#define CLI_PROJECT_OPTION                                                                         \
    CLI_OPTION("project", 0, "FILE",                                                               \
               "look at the records in the coordinates of a subspace that was released before: "   \
               "the JSON of a run of the family subspace; --norm then counts there")
extern const cli_group cli_learning_group; /* norm-at-most, norm-quantile, share-... */

/* ---- a job: from options to a release ------------------------------------ */

/* A text that grows. */
typedef struct cli_bytes {
    char *data;
    size_t length, room;
} cli_bytes;

/* A bar on stderr, on a terminal, once half a second has gone by; and where Ctrl-C becomes an
 * orderly stop instead of a death in mid-run. */
typedef struct cli_progress {
    const char *what;
    bool wanted, shown;
    int percent;
    double started;
} cli_progress;

/* The library's job and what the command says about it.  The library keeps the order of the steps;
 * it holds the address of this one from cli_job_open on. */
typedef struct cli_job {
    const cli_args *args;
    const char *path;  /* of the first file; NULL: a plan, which has no data */
    size_t word, more; /* which word it is, and how many files follow it */
    bool quiet;
    clo_job *job;
    cli_progress progress;
} cli_job;

/* All options that are settings of a job, by their names.  name: "FAMILY[/METHOD]"; word: the first
 * that is a file, and all after it are; CLI_NO_FILES: a plan. */
enum { CLI_NO_FILES = -1, CLI_MOST_FILES = 100000 };
clo_status cli_job_open(cli_job *job, const cli_args *args, const char *name, int word,
                        cli_error *err);
clo_status cli_job_set(cli_job *job, const char *name, const char *value, cli_error *err);
clo_status cli_job_plan(cli_job *job, const clo_plan **out, cli_error *err);
clo_status cli_job_check(cli_job *job, cli_error *err);
/* What a run would spend, where --dry-run asks for that: then all is done. */
clo_status cli_job_dry_run(cli_job *job, cli_error *err);
/* What a rank other than 0 does of a run, or of a dry run: its part of every step, in silence. */
clo_status cli_job_serve(cli_job *job, cli_error *err);
/* All steps, with what there is to say about them; *found: an earlier run had the release. */
clo_status cli_job_release(cli_job *job, bool *found, cli_error *err);
/* After a release was made and could not be written: where it is, and how to get it. */
clo_status cli_job_undelivered(const cli_job *job, clo_status status, cli_error *err);
void cli_job_sum_up(const cli_job *job, const char *written_to);
void cli_job_close(cli_job *job);

/* The same through a broker: the options that are settings are sent, the release comes back. */
clo_status cli_run_via(const cli_args *args, cli_error *err);

/* ---- plans --------------------------------------------------------------- */

/* A prediction, where there is one; meaning NULL: none. */
typedef struct cli_prediction {
    double rows, error;
    const char *meaning;
} cli_prediction;

cli_prediction cli_predict(const clo_plan *plan); /* with the rows of its domain */
/* The error to expect of a run, in one line; empty where there is no such number. */
void cli_expect_text(const clo_job *job, const clo_plan *plan, char *text, size_t size);
/* A sentence on whether the rows can tell a norm or bounds that are learnt, or how many that takes
 * where their number is not public; "" where nothing is learnt. */
void cli_told_text(const clo_plan *plan, char *text, size_t size);
/* What to expect of the plan; nothing where there is no prediction. */
void cli_outlook_text(FILE *out, const clo_job *job, const clo_plan *plan);
void cli_plan_text(FILE *out, const clo_job *job, const clo_plan *plan);
/* The two questions about many plans: how much of one setting an error needs, and a table. */
clo_status cli_plan_target(cli_job *job, const char *text, cli_error *err);
clo_status cli_plan_curve(cli_job *job, cli_error *err);
/* What other ways of adding up would charge for the same noise, and how much noise is saved. */
clo_status cli_explain_text(FILE *out, const clo_plan *plan, cli_error *err);
/* Begins a plan's object with its members, so that more may follow. */
clo_writer cli_plan_json(FILE *out, const clo_plan *plan);

/* ---- numbers and words ---------------------------------------------------- */

typedef struct cli_text {
    char text[40];
} cli_text;

/* Strict and the same in every locale: nothing before, nothing after, no "inf", no "nan". */
clo_status cli_parse_real(const char *what, const char *text, double *out, cli_error *err);
clo_status cli_parse_positive(const char *what, const char *text, double *out, cli_error *err);
/* A whole number in lower ... upper; "1e6" is one. */
clo_status cli_parse_whole(const char *what, const char *text, uint64_t lower, uint64_t upper,
                           uint64_t *out, cli_error *err);
/* "1,2.5,3"; the caller frees the numbers. */
clo_status cli_parse_list(const char *what, const char *text, double **out, size_t *out_count,
                          cli_error *err);
bool cli_scan_real(const char *text, size_t length, double *out);
cli_text cli_number(double value); /* the shortest text that reads back the same */
cli_text cli_rounded(double value, int digits);
cli_text cli_time(int64_t seconds); /* 2024-05-01T12:00:00Z; "-" for 0 */
/* The candidate that was probably meant, or NULL. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);
bool cli_in_choices(const char *choices, const char *word);
/* "replace|add-remove" as "replace or add-remove". */
void cli_say_choices(const char *choices, char *text, size_t size);

/* ---- output --------------------------------------------------------------- */

/* CLO_ARGUMENT where the output would take the place of the data or of the ledger. */
clo_status cli_check_output(const char *output, const cli_job *job, cli_error *err);

/* CLO_ARGUMENT where --output is a release that was paid for, and nobody said --overwrite. */
clo_status cli_keep_release(const cli_args *args, cli_error *err);
bool cli_stream_write(void *stream, const char *bytes, size_t count); /* a clo_write on a FILE */
bool cli_bytes_write(void *text, const char *bytes, size_t count);    /* and on cli_bytes */
void cli_quote(cli_bytes *to, const char *text); /* as one word of the shell, whatever is in it */
bool cli_same_file(const char *a, const char *b);
clo_status cli_flush(FILE *out, cli_error *err);

/* One object on a stream: its members are written with clo_json_*. */
clo_writer cli_json_begin(FILE *out);
void cli_json_end(clo_writer *json);
void cli_json_loss(clo_writer *json, const char *key, clo_loss loss);
clo_status cli_explain_json(clo_writer *json, const clo_plan *plan, cli_error *err);

/* ---- what a file holds ------------------------------------------------------ */

clo_column cli_column_at(const clo_inspection *found, size_t j);
/* What somebody does next, on stdout. */
void cli_inspect_hints(const cli_args *args, const clo_inspection *found);

/* ---- terminal ------------------------------------------------------------- */

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_YELLOW } cli_style;

/* The codes that start and end a style; empty unless the stream is a terminal that takes them. */
const char *cli_style_on(FILE *stream, cli_style style);
const char *cli_style_off(FILE *stream);
int cli_width(FILE *stream);
/* How a release is shown as text: with bars at a terminal, plain to a file or a pipe. */
clo_report_format cli_text_format(FILE *stream);
bool cli_is_terminal(FILE *stream);
bool cli_takes_unicode(void); /* by LC_ALL, LC_CTYPE or LANG */
/* Words of text from column `at` on, further lines from column `indent`; ends the line. */
void cli_wrap(FILE *out, int at, int indent, const char *text);
/* A remark for the operator, on stderr. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether a line on standard error can be drawn again: a terminal, and not a dumb one. */
bool cli_can_redraw(void);
/* True where a person sits at stdin and stderr and said yes. */
bool cli_can_ask(void);
bool cli_ask(const char *question);

/* what: "running", "reading" */
void cli_progress_start(cli_progress *progress, const char *what, bool quiet);
/* From here to its end a stop is heard within a second, whatever is under way: for commands that
 * spend nothing. */
void cli_progress_hurry(void);
bool cli_progress_step(void *progress, double done);
void cli_progress_hide(
    cli_progress *progress); /* makes room for a line; the next step draws again */
void cli_progress_end(cli_progress *progress);
int cli_interrupted(void); /* the signal that came since the start; 0: none */

/* ---- someone else's program, to be audited --------------------------------- */

enum { CLI_FOREIGN_OUTPUTS = 256 };

typedef struct cli_foreign_spec {
    const char *command; /* for /bin/sh, with {input} and {output} unless resident */
    bool resident;       /* started once, and told of each pair of files on its standard input */
    const char *pair;    /* "FILE0,FILE1": the user's own worlds; NULL: those made of the rest */
    clo_read_options reading; /* of the user's own worlds */
    clo_relation relation;
    uint64_t rows;
    size_t cols;
    double norm;
} cli_foreign_spec;

typedef struct cli_foreign cli_foreign;
/* CLO_ARGUMENT where the two files are not neighbours under the relation. */
clo_status cli_check_neighbours(const char *const files[2], const clo_read_options *reading,
                                clo_relation relation, cli_error *err);
/* Makes the worlds in a temporary folder, or checks the user's own, and runs the program once in
 * each. */
clo_status cli_foreign_open(const cli_foreign_spec *spec, cli_foreign **out, cli_error *err);
size_t cli_foreign_outputs(const cli_foreign *foreign); /* numbers in an answer */
clo_status cli_foreign_draw(cli_foreign *foreign, int world, double *outputs, cli_error *err);
void cli_foreign_close(cli_foreign *foreign); /* ends the program and removes the folder */

#endif
