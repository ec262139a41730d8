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
/* printf to standard output where a line names a file: what is no UTF-8, or would control the
 * terminal, is a '?'. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Zeroed memory; out of memory ends the command, which has then changed nothing. */
void *cli_alloc(size_t count, size_t size);
char *cli_copy(const char *text);

/* Starts the program once more where another kernel of the BLAS fits this processor better. */
void cli_fit_environment(char **argv); /* and starts the command again, where it has to */
void cli_keep_no_core(void);
void cli_outlive_limits(void);
void cli_keep_memory(void);     /* for what comes after a charge */
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
    const char *preset;   /* the default, or NULL */
    bool rare;            /* shown by --help=all only */
} cli_option;

/* The usual rows: one that takes any text (or is a switch), one of choices, and the end. */
#define CLI_OPTION(name, letter, argument, help)                                                   \
    {                                                                                              \
        name, letter, argument, NULL, help, NULL, false                                            \
    }
#define CLI_CHOICE(name, argument, choices, preset, help)                                          \
    {                                                                                              \
        name, 0, argument, choices, help, preset, false                                            \
    }
/* One that few people need. */
#define CLI_RARE(name, letter, argument, help)                                                     \
    {                                                                                              \
        name, letter, argument, NULL, help, NULL, true                                             \
    }
#define CLI_ROWS_END                                                                               \
    {                                                                                              \
        NULL, 0, NULL, NULL, NULL, NULL, false                                                     \
    }

/* A heading of --help and the options under it. */
typedef struct cli_group {
    const char *title;
    const char *settings;   /* first the settings of a job in this group of theirs; NULL: none */
    const cli_option *rows; /* then the command's own, the last without a name; NULL: none */
} cli_group;
/* Option i of a group; NULL after the last. */
const cli_option *cli_group_option(const cli_group *group, size_t i);

typedef struct cli_args cli_args;

/* A first word that says what a command is to do, with a help text of its own. */
typedef struct cli_verb {
    const char *name, *group; /* the heading that it is listed under */
    const char *usage;        /* what follows the name */
    const char *options;      /* "dataset|json": those that it takes */
    const char *summary, *about, *examples;
} cli_verb;

/* What cmd_NAME.c says of its command; name and summary stand in commands.def. */
typedef struct cli_command {
    const char *usage;              /* lines without "cloister NAME" */
    const char *about;              /* paragraphs, parted by an empty line */
    const char *examples;           /* lines: what it does, then the command, in turn */
    const cli_group *const *groups; /* NULL at the end; NULL: no options but --help */
    const cli_verb *verbs;          /* the last one has no name; NULL: it has none */
    const char *mechanism;          /* its parameters are options too; "*": of all; NULL: of none */
    bool solvers;                   /* the parameters of all solvers are options */
    bool ranks;                     /* several ranks do it together; otherwise rank 0 alone */
    clo_status (*run)(const cli_args *args, cli_error *err);
    void (*remarks)(FILE *out); /* what --help says beyond the rows; NULL: nothing */
} cli_command;

typedef struct cli_entry {
    const char *name;
    const char *group; /* the heading that it is listed under */
    const char *summary;
    const cli_command *command;
} cli_entry;

extern const cli_entry cli_commands[]; /* the last one has no name */
const cli_entry *cli_find_command(const char *name);
clo_status cli_unknown_command(const char *name, cli_error *err);

/* Parses what follows the command's name.  Values are text; who needs a number parses it. */
clo_status cli_parse(const cli_entry *entry, int argc, const char **argv, cli_args **out,
                     cli_error *err);
/* No file that an option reads is written over by another one, and none is written twice. */
clo_status cli_check_overwriting(const cli_args *args, cli_error *err);
void cli_args_free(cli_args *args);
size_t cli_word_count(const cli_args *args);
const char *cli_word(const cli_args *args, size_t i);            /* NULL: not given */
const char *cli_value(const cli_args *args, const char *option); /* NULL: not given */
bool cli_given(const cli_args *args, const char *option);
/* Of an option that is a setting; "yes" for a flag. */
const char *cli_setting_value(const cli_args *args, const clo_setting_info *setting);
/* "--columns -cut" of an error's advice "columns -cut", after the columns that the args choose;
 * empty where there is none. */
void cli_advised_option(const cli_args *args, const char *advice, char *out, size_t size);
/* The settings that a message of the library names get dashes; the hint has one at its end. */
void cli_spell_options(cli_error *err);
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
    bool usual; /* only its family was named, and it is what auto takes for data of a usual size */
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

/* What a help text is about: a command, and of it one mechanism or solver, or one verb. */
typedef struct cli_topic {
    const cli_entry *entry;
    const cli_subject *subject; /* NULL: none */
    const cli_verb *verb;       /* NULL: none */
    bool all;                   /* every option, not only those that most people need */
} cli_topic;

/* The same rows as --help, for one command or for all of them. */
void cli_print_help(FILE *out, const cli_topic *topic);
void cli_print_overview(FILE *out);
const cli_verb *cli_find_verb(const cli_command *command, const char *name); /* NULL: none */
/* help_verbs.c: of a command that has verbs, the list of them, and one of them. */
void cli_print_verbs(FILE *out, const cli_command *command);
void cli_print_verb(FILE *out, const cli_entry *entry, const cli_verb *verb);
/* What the parts of a help text are printed with. */
void cli_help_heading(FILE *out, const char *title);
void cli_help_paragraphs(FILE *out, const char *text);
void cli_help_row(FILE *out, const char *left, const char *help);
void cli_help_option(FILE *out, const cli_option *option, const char *help);
void cli_help_examples(FILE *out, const char *examples, size_t most);
clo_status cli_print_manual(FILE *out, const char *template_path, cli_error *err);
/* "1 to 64, preset 8", or "; must be given" where it is demanded. */
void cli_parameter_range(const clo_param *param, bool demanded, char *text, size_t size);
bool cli_is_demanded(const cli_subject *subject, const clo_param *param); /* a run must say it */

/* The row with "Show this text": the last group of every command. */
extern const cli_group cli_help_group;

/* ---- options that mean the same everywhere ------------------------------- */

extern const cli_group cli_method_group;    /* method, project */
extern const cli_group cli_repeating_group; /* token */
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
/* As plans and releases call it, "subspaces/moments"; and as people are shown to type it,
 * "subspace-clusters/moments". */
void cli_mechanism_name(const clo_mechanism *mechanism, char *text, size_t size);
void cli_mechanism_typed(const clo_mechanism *mechanism, char *text, size_t size);
/* Its parameters as given; an option that belongs to another one is an error. */
clo_status cli_params(const cli_args *args, const cli_subject *subject, clo_params **out,
                      cli_error *err);
/* Epsilon is asked for; delta < 0 in the result: not given. */
clo_status cli_budget(const cli_args *args, clo_loss *out, cli_error *err);
clo_status cli_read_options(const cli_args *args, clo_read_options *out, cli_error *err);
/* The same for what compares rows with a result, which need not take every column: text is refused
 * where it is used. */
clo_status cli_comparing_options(const cli_args *args, clo_read_options *out, cli_error *err);
/* Rows are read with the schema that the release was made with, if there is one (NULL: no release).
 */
void cli_read_with(const clo_release *release, clo_read_options *options);
/* The file of an option, one column of whole numbers, one for each row of the data; *out untouched
 * where the option is not given. */
clo_status cli_read_labels(const cli_args *args, const char *option, size_t rows, uint32_t **out,
                           cli_error *err);
/* Says on stderr how many rows have a missing cell, and what became of them; 0: nothing. */
void cli_say_left_out(size_t rows, const char *what);

extern const cli_group cli_learning_group; /* norm-at-most, norm-quantile, share-... */

/* ---- a job: from options to a release ------------------------------------ */

/* A text that grows. */
typedef struct cli_bytes {
    char *data;
    size_t length, room;
} cli_bytes;

/* A bar on stderr, on a terminal, once half a second has gone by. */
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
    clo_file *file; /* that its release is for; NULL: none */
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
/* Before the release is written to `output` (NULL: standard output), and when it is there: until
 * then, signals are held where the writing ends by itself. */
void cli_job_deliver(const cli_job *job, const char *output);
void cli_job_delivered(void);
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
/* Columns of a schema that a run uses. */
size_t cli_used_columns(const clo_schema *schema);
/* The error to expect of a run, in one line; empty where there is no such number. */
void cli_expect_text(const clo_job *job, const clo_plan *plan, char *text, size_t size);
/* A sentence on whether the rows can tell a norm or bounds that are learnt, or how many that takes
 * where their number is not public; "" where nothing is learnt. */
void cli_told_text(const clo_plan *plan, char *text, size_t size);
/* What to expect of the plan; nothing where there is no prediction. */
void cli_outlook_text(FILE *out, const clo_job *job, const clo_plan *plan);
void cli_plan_text(FILE *out, const clo_job *job, const clo_plan *plan);
/* What a run takes beside its rows, by its plan alone, where that is much; false: it is not. */
bool cli_memory_text(const clo_plan *plan, int threads, char *text, size_t size);
/* The two questions about many plans: how much of one setting an error needs, and a table. */
clo_status cli_plan_target(cli_job *job, const char *text, cli_error *err);
clo_status cli_plan_curve(cli_job *job, cli_error *err);
/* What other ways of adding up would charge for the same noise, and how much noise is saved. */
clo_status cli_accountants_text(FILE *out, const clo_plan *plan, cli_error *err);
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

/* CLO_SIGNATURE where the release was changed after it was signed. */
clo_status cli_check_seal(const clo_release *release, const char *path, cli_error *err);
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
clo_status cli_accountants_json(clo_writer *json, const clo_plan *plan, cli_error *err);

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
/* Without control characters, and as UTF-8, whatever bytes it quotes. */
void cli_print_visible(FILE *out, const char *text);
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether a line on standard error can be drawn again: a terminal, and not a dumb one. */
bool cli_can_redraw(void);
/* True where a person sits at stdin and stderr and said yes. */
bool cli_can_ask(void);
bool cli_ask(const char *question);

/* what: "running", "reading".  Between the start and the end, signals are caught (stop.c). */
void cli_progress_start(cli_progress *progress, const char *what, bool quiet);
bool cli_progress_step(void *progress, double done);
void cli_progress_hide(
    cli_progress *progress); /* makes room for a line; the next step draws again */
void cli_progress_end(cli_progress *progress);

/* ---- how a command is stopped (stop.c) -------------------------------------- */

/* Signals that would end the process set a flag from now on; `interrupts`: they also end a call of
 * the system that waits for input. */
void cli_stop_catch(bool interrupts);
/* What is said where the process ends because what is under way does not read the flag within a
 * second.  Until this is called, it is waited for. */
void cli_stop_words(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From a charge on there is something to lose: signals set the flag and no more, until they may end
 * the process again. */
void cli_stop_hold(void);
void cli_stop_release(void);
bool cli_stop_forgive(void); /* takes the flag back, and says whether it was set */
void cli_stop_usual(void);   /* unless they are held */
int cli_interrupted(void);   /* the signal that came since they are caught; 0: none */

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
