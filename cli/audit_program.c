/* audit_program.c - someone else's program, as something that can be audited: two neighbouring CSV
 * files in a folder of their own, a program that reads one and writes numbers, and those numbers.
 *
 * The program runs in a process group of its own and everything is read through poll: Ctrl-C then
 * reaches us, and we end the program, whatever it is doing.  Its standard error is kept in a file:
 * ten thousand runs may warn ten thousand times; only the last line before a failure matters. */
#include "cli.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH_ROOM = 4096, LONGEST_ANSWER = 1 << 20, LONGEST_MESSAGES = 1 << 20, PATIENCE_MS = 100 };

/* A program that runs: its process, and our ends of its standard input and output. */
typedef struct child {
    pid_t id; /* 0: none */
    int to, from;
} child;

struct cli_foreign {
    bool resident;
    char folder[PATH_ROOM];
    char *inputs[2], *output, *messages; /* files */
    char *commands[2]; /* of the two worlds; when resident, the first is for both */
    child child;
    size_t outputs; /* numbers in an answer; 0: not known yet */
    struct sigaction pipe_before;
};

/* ---- paths and files ---------------------------------------------------------- */

static char *in_folder(const cli_foreign *f, const char *name)
{
    const size_t size = strlen(f->folder) + strlen(name) + 2;
    char *const path = cli_alloc(size, 1);
    snprintf(path, size, "%s/%s", f->folder, name);
    return path;
}

static clo_status make_folder(cli_foreign *f, cli_error *err)
{
    const char *const place = getenv("TMPDIR");
    const int length = snprintf(f->folder, sizeof f->folder, "%s/cloister-audit-XXXXXX",
                                place && place[0] ? place : "/tmp");
    if (length < (int)sizeof f->folder && mkdtemp(f->folder)) return CLO_OK;
    f->folder[0] = 0;
    return cli_fail(err, CLO_IO, "no temporary folder can be made in '%s': %s",
                    place && place[0] ? place : "/tmp", strerror(errno));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    (void)remove(path);
    return 0;
}

/* The last record is the one that the worlds differ by; all others are zero. */
static clo_status write_world(const char *path, const cli_foreign_spec *spec, int world,
                              cli_error *err)
{
    const bool absent = spec->relation == CLO_ADD_REMOVE && world == 1;
    FILE *const out = fopen(path, "w");
    for (uint64_t i = absent ? 1 : 0; out && i < spec->rows; i++) {
        const double first = i + 1 < spec->rows || absent ? 0 : world ? -spec->norm : spec->norm;
        fputs(cli_number(first).text, out);
        for (size_t j = 1; j < spec->cols; j++) fputs(",0", out);
        fputc('\n', out);
    }
    const bool written = out && !ferror(out);
    if ((out && fclose(out) != 0) || !written)
        return cli_fail(err, CLO_IO, "'%s' cannot be written: %s", path, strerror(errno));
    return CLO_OK;
}

static clo_status take_own_pair(cli_foreign *f, const cli_foreign_spec *spec, cli_error *err)
{
    const char *const pair = spec->pair;
    const char *const comma = strchr(pair, ',');
    if (!comma || strchr(comma + 1, ','))
        return cli_fail(err, CLO_ARGUMENT, "--pair must name two files: FILE0,FILE1, not '%s'",
                        pair);
    for (int world = 0; world < 2; world++) {
        char *const name = cli_copy(world ? comma + 1 : pair);
        if (world == 0) name[comma - pair] = 0;
        f->inputs[world] = realpath(name, NULL);
        const bool readable = f->inputs[world] && access(f->inputs[world], R_OK) == 0;
        if (!readable) cli_fail(err, CLO_IO, "'%s' cannot be read: %s", name, strerror(errno));
        free(name);
        if (!readable) return CLO_IO;
    }
    const char *const files[2] = { f->inputs[0], f->inputs[1] };
    return cli_check_neighbours(files, &spec->reading, spec->relation, err);
}

static clo_status make_worlds(cli_foreign *f, const cli_foreign_spec *spec, cli_error *err)
{
    f->output = in_folder(f, "output");
    f->messages = in_folder(f, "messages");
    if (spec->pair) return take_own_pair(f, spec, err);
    clo_status status = CLO_OK;
    for (int world = 0; world < 2 && status == CLO_OK; world++) {
        f->inputs[world] = in_folder(f, world ? "world1.csv" : "world0.csv");
        status = write_world(f->inputs[world], spec, world, err);
    }
    return status;
}

/* ---- the command ---------------------------------------------------------------- */

static char *filled_in(const char *template, const char *input, const char *output)
{
    cli_bytes text = { NULL, 0, 0 };
    for (const char *c = template; *c;)
        if (strncmp(c, "{input}", 7) == 0) {
            cli_quote(&text, input);
            c += 7;
        } else if (strncmp(c, "{output}", 8) == 0) {
            cli_quote(&text, output);
            c += 8;
        } else {
            cli_bytes_write(&text, c++, 1);
        }
    cli_bytes_write(&text, "", 1);
    return text.data;
}

static clo_status make_commands(cli_foreign *f, const char *template, cli_error *err)
{
    const bool input = strstr(template, "{input}"), output = strstr(template, "{output}");
    if (f->resident && (input || output))
        return cli_fail(err, CLO_ARGUMENT,
                        "with --resident the program reads the names of its files from its "
                        "standard input: leave {input} and {output} out of --command");
    if (!f->resident && (!input || !output))
        return cli_fail(err, CLO_ARGUMENT,
                        "--command must contain {input} and {output}, which stand for the names "
                        "of two files; or pass --resident");
    for (int world = 0; world < 2; world++) {
        if (f->resident && strpbrk(f->inputs[world], "\t\n"))
            return cli_fail(err, CLO_ARGUMENT,
                            "with --resident the names of the files must not contain a tab or a "
                            "line end");
        f->commands[world] = filled_in(template, f->inputs[world], f->output);
    }
    return CLO_OK;
}

/* ---- starting and ending a program ---------------------------------------------- */

static int spawn(cli_foreign *f, const char *command, int in, int out)
{
    char shell[] = "sh", option[] = "-c";
    char *const words[] = { shell, option, (char *)command, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    if (in >= 0)
        posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, f->messages,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int failure = posix_spawn(&f->child.id, "/bin/sh", &files, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failure) f->child.id = 0;
    return failure;
}

static clo_status start(cli_foreign *f, const char *command, cli_error *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    int failure = 0;
    if (pipe2(out, O_CLOEXEC) != 0 || (f->resident && pipe2(in, O_CLOEXEC) != 0)) failure = errno;
    if (!failure) failure = spawn(f, command, in[0], out[1]);
    if (in[0] >= 0) close(in[0]);
    if (out[1] >= 0) close(out[1]);
    f->child.to = in[1];
    f->child.from = out[0];
    if (failure) return cli_fail(err, CLO_IO, "/bin/sh cannot be started: %s", strerror(failure));
    return CLO_OK;
}

/* Whether it ends by itself soon: one that sees the end of its input should. */
static bool ends_soon(pid_t id, int *status)
{
    const struct timespec pause = { .tv_sec = 0, .tv_nsec = 10000000 };
    for (int i = 0; i < 100 && !cli_interrupted(); i++) {
        if (waitpid(id, status, WNOHANG) == id) return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

/* Closes our ends and waits; with little patience, a program that goes on is ended with all that it
 * has started. */
static int finish(child *c, bool impatient)
{
    int status = 0;
    if (c->to >= 0) close(c->to);
    if (c->from >= 0) close(c->from);
    if (c->id > 0 && !(impatient && ends_soon(c->id, &status))) {
        if (impatient) kill(-c->id, SIGKILL);
        while (waitpid(c->id, &status, 0) < 0 && errno == EINTR) {
        }
    }
    *c = (child){ 0, -1, -1 };
    return status;
}

/* ---- what a program says --------------------------------------------------------- */

/* The last line that it wrote to standard error, or an empty text. */
static void last_message(const cli_foreign *f, char *text, size_t size)
{
    char line[400];
    FILE *const in = fopen(f->messages, "r");
    text[0] = 0;
    while (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[strspn(line, " \t")]) snprintf(text, size, ": %.280s", line);
    }
    if (in) fclose(in);
}

static clo_status fail_by_status(const cli_foreign *f, int status, cli_error *err)
{
    char message[300];
    last_message(f, message, sizeof message);
    if (WIFSIGNALED(status))
        return cli_fail(err, CLO_IO, "the program was ended by signal %d%s", WTERMSIG(status),
                        message);
    return cli_fail(err, CLO_IO, "the program failed with exit code %d%s", WEXITSTATUS(status),
                    message);
}

static clo_status stopped(cli_error *err)
{
    return cli_fail(err, CLO_CANCELLED, "the audit was stopped");
}

/* Reads what the program says until the end of a line (kept in `line`), or until it has no more to
 * say.  *ended: it will say no more. */
static clo_status listen_to(cli_foreign *f, bool to_the_end, char *line, size_t size, bool *ended,
                            cli_error *err)
{
    size_t used = 0;
    *ended = false;
    for (;;) {
        struct pollfd watched = { .fd = f->child.from, .events = POLLIN };
        char bytes[512];
        const int ready = poll(&watched, 1, PATIENCE_MS);
        if (cli_interrupted()) return stopped(err);
        if (ready <= 0) {
            /* It may be gone and have left somebody behind who holds the pipe. */
            siginfo_t info = { .si_pid = 0 };
            const int known = waitid(P_PID, (id_t)f->child.id, &info, WEXITED | WNOHANG | WNOWAIT);
            if (known == 0 && info.si_pid != 0) *ended = true;
            if (*ended) return CLO_OK;
            continue;
        }
        const ssize_t got = read(f->child.from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            *ended = true;
            return CLO_OK;
        }
        for (ssize_t i = 0; i < got && !to_the_end; i++) {
            if (bytes[i] == '\n') {
                line[used] = 0;
                return CLO_OK;
            }
            if (used + 1 < size) line[used++] = bytes[i];
        }
    }
}

/* ---- answers ----------------------------------------------------------------------- */

/* A word is a number where all of it is one; "null" is how some writers of JSON say NaN. */
static bool number_in(const char *word, double *out)
{
    char *end;
    if (strcmp(word, "null") == 0) word = "nan";
    *out = strtod(word, &end);
    return end != word && *end == 0;
}

static bool is_of_a_word(int c)
{
    return isalnum(c) || c == '.' || c == '+' || c == '-' || c == '_';
}

/* Every number of the text; how many there are, of which `room` are kept. */
static size_t numbers_in(FILE *in, double *values, size_t room)
{
    char word[64];
    size_t length = 0, count = 0;
    for (int c = 0; c != EOF;) {
        double value;
        c = fgetc(in);
        if (c != EOF && is_of_a_word(c)) {
            if (length < sizeof word) word[length++] = (char)c;
            continue;
        }
        if (length > 0 && length < sizeof word) {
            word[length] = 0;
            if (number_in(word, &value)) {
                if (count < room) values[count] = value;
                count++;
            }
        }
        length = 0;
    }
    return count;
}

static clo_status read_answer(cli_foreign *f, double *values, cli_error *err)
{
    struct stat info;
    FILE *const in = fopen(f->output, "r");
    if (!in)
        return cli_fail(err, CLO_FORMAT,
                        "the program ended without an error but wrote no "
                        "output file");
    if (fstat(fileno(in), &info) == 0 && info.st_size > LONGEST_ANSWER) {
        fclose(in);
        return cli_fail(err, CLO_FORMAT, "the program wrote more than %d bytes of output",
                        (int)LONGEST_ANSWER);
    }
    const size_t count = numbers_in(in, values, CLI_FOREIGN_OUTPUTS);
    fclose(in);
    if (count == 0)
        return cli_fail(err, CLO_FORMAT,
                        "the output of the program has no number in "
                        "it");
    if (count > CLI_FOREIGN_OUTPUTS)
        return cli_fail(err, CLO_FORMAT,
                        "the output of the program has %zu numbers, and an audit takes at most "
                        "%d: write fewer, or their sum",
                        count, (int)CLI_FOREIGN_OUTPUTS);
    if (f->outputs && count != f->outputs)
        return cli_fail(err, CLO_FORMAT,
                        "the output of the program has %zu numbers, and its first output had %zu: "
                        "every run must write the same number of them",
                        count, f->outputs);
    f->outputs = count;
    return CLO_OK;
}

static clo_status run_once(cli_foreign *f, int world, cli_error *err)
{
    bool ended;
    (void)unlink(f->messages);
    clo_status status = start(f, f->commands[world], err);
    if (status == CLO_OK) status = listen_to(f, true, NULL, 0, &ended, err);
    const int end = finish(&f->child, status != CLO_OK);
    if (status == CLO_OK && end != 0) status = fail_by_status(f, end, err);
    return status;
}

static bool tell(const cli_foreign *f, const char *text)
{
    size_t length = strlen(text);
    while (length > 0) {
        const ssize_t sent = write(f->child.to, text, length);
        if (sent < 0 && errno != EINTR) return false;
        if (sent < 0) continue;
        text += sent;
        length -= (size_t)sent;
    }
    return true;
}

static void forget_old_messages(const cli_foreign *f)
{
    struct stat info;
    if (stat(f->messages, &info) == 0 && info.st_size > LONGEST_MESSAGES)
        (void)!truncate(f->messages, 0);
}

static clo_status ask_resident(cli_foreign *f, int world, cli_error *err)
{
    char said[200] = "";
    bool ended = false;
    clo_status status = CLO_OK;
    if (f->child.id == 0) status = start(f, f->commands[0], err);
    if (status != CLO_OK) return status;
    forget_old_messages(f);
    const bool told =
        tell(f, f->inputs[world]) && tell(f, "\t") && tell(f, f->output) && tell(f, "\n");
    if (told) status = listen_to(f, false, said, sizeof said, &ended, err);
    if (status != CLO_OK) return status;
    if (!told || ended) {
        const int end = finish(&f->child, false);
        if (end != 0) return fail_by_status(f, end, err);
        return cli_fail(err, CLO_IO,
                        "the program ended before it answered: with --resident it "
                        "must read one line per run and answer each");
    }
    if (strncmp(said, "error", 5) == 0)
        return cli_fail(err, CLO_IO, "the resident program says: %s", said);
    return CLO_OK;
}

clo_status cli_foreign_draw(cli_foreign *f, int world, double *outputs, cli_error *err)
{
    if (cli_interrupted()) return stopped(err);
    (void)unlink(f->output); /* so that no run is credited with the answer of another */
    const clo_status status = f->resident ? ask_resident(f, world, err) : run_once(f, world, err);
    return status == CLO_OK ? read_answer(f, outputs, err) : status;
}

/* ---- from beginning to end --------------------------------------------------------- */

clo_status cli_foreign_open(const cli_foreign_spec *spec, cli_foreign **out, cli_error *err)
{
    double values[CLI_FOREIGN_OUTPUTS];
    struct sigaction ignore;
    cli_foreign *const f = cli_alloc(1, sizeof *f);
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &f->pipe_before); /* a program may end before it is asked */
    f->resident = spec->resident;
    f->child = (child){ 0, -1, -1 };
    clo_status status = make_folder(f, err);
    if (status == CLO_OK) status = make_worlds(f, spec, err);
    if (status == CLO_OK) status = make_commands(f, spec->command, err);
    if (status == CLO_OK) status = cli_foreign_draw(f, 0, values, err);
    if (status == CLO_OK) status = cli_foreign_draw(f, 1, values, err);
    if (status != CLO_OK) {
        cli_foreign_close(f);
        return status;
    }
    *out = f;
    return CLO_OK;
}

size_t cli_foreign_outputs(const cli_foreign *foreign)
{
    return foreign->outputs;
}

void cli_foreign_close(cli_foreign *f)
{
    if (!f) return;
    finish(&f->child, true);
    if (f->folder[0]) nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    sigaction(SIGPIPE, &f->pipe_before, NULL);
    for (int world = 0; world < 2; world++) {
        free(f->inputs[world]);
        free(f->commands[world]);
    }
    free(f->output);
    free(f->messages);
    free(f);
}
