/*
 * serve_loop.c - the broker's one loop: who is connected, who waits, who runs, and when an answer
 * leaves.
 *
 *   READING ──whole message──► WAITING ──a free place──► RUNNING ──its process ended──┐
 *      │ too slow, too long                                                           │
 *      ▼                                                                              ▼
 *   closed  ◄──taken, or too slow──  ANSWERING  ◄──at the next tick──  HOLDING  ◄─────┘
 *
 * Time must tell nothing.  An answer leaves at a whole number of ticks after its run began, and
 * its place is free for the next question at that moment and not before, so that neither who asked
 * nor who waits behind them can see how long a run took, as long as runs end within their tick;
 * one that does not is told to the steward.
 *
 * Nobody can keep the others waiting.  An analyst has so many open questions and no more, and so
 * many of the places for runs, never all of them.  A free place goes to the analyst who was served
 * longest ago.  A run that has not ended after so many ticks is ended.  A user whom the policy does
 * not know has no question: their sockets are closed at once, however many there are.  What is read
 * has a bound and a deadline, and so has what is written.
 */
#include "serve.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum stage { READING, WAITING, RUNNING, HOLDING, ANSWERING, CLOSED } stage;

typedef struct connection {
    int file;
    stage stage;
    size_t analyst;      /* in the service's list */
    double deadline;     /* of READING and ANSWERING */
    double began, ended; /* of the run */
    double due;          /* when the answer leaves */
    bool stopped;        /* the run took as long as a run may, and was ended */
    uint64_t number;     /* of an analyst's questions, the first runs first */
    uint8_t header[CLO_MESSAGE_HEADER];
    char *message;
    size_t have, length; /* bytes of header and message */
    serve_worker worker;
    off_t sent, size; /* of the answer's file */
} connection;

/* One who has asked something. */
typedef struct analyst {
    char name[SERVE_NAME];
    uint64_t turn; /* when a run of theirs began last; 0: never */
    uint32_t runs; /* places that they have now */
} analyst;

typedef struct service {
    const clo_policy *policy;
    clo_policy_facts facts;
    int listener; /* -1: it stops */
    connection *all;
    size_t count, room;
    analyst *analysts; /* as many as the policy names */
    size_t known;
    uint64_t numbers, turns;
    double deaf_until; /* no connection is taken before */
} service;

static volatile sig_atomic_t stopping;

static void stop(int signal_number)
{
    (void)signal_number;
    stopping++;
}

static void wake(int signal_number)
{
    (void)signal_number;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void log_line(const char *who, const char *what)
{
    fprintf(stderr, "%s %s%s%s\n", cli_time((int64_t)time(NULL)).text, who, who[0] ? ": " : "",
            what);
}

/* ---- connections ---------------------------------------------------------------- */

static void drop(connection *c)
{
    if (c->file >= 0) close(c->file);
    if (c->worker.file >= 0) close(c->worker.file);
    free(c->message);
    *c = (connection){ .file = -1, .stage = CLOSED, .worker = { .file = -1 } };
}

/* In a worker: nobody else's socket stays open because a run goes on. */
static void close_all(void *user)
{
    const service *const s = user;
    if (s->listener >= 0) close(s->listener);
    for (size_t i = 0; i < s->count; i++) {
        if (s->all[i].file >= 0) close(s->all[i].file);
        if (s->all[i].worker.file >= 0) close(s->all[i].worker.file);
    }
}

static bool is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == 0;
}

/* The kernel's word: by name, or by number where the policy has that.  A user who is called as
 * another one is numbered is known by their own number alone. */
static bool name_peer(const service *s, int file, char name[SERVE_NAME])
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    char room[4096];
    struct passwd entry, *found = NULL;
    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    if (getpwuid_r(peer.uid, &entry, room, sizeof room, &found) == 0 && found &&
        strlen(found->pw_name) < SERVE_NAME && !is_number(found->pw_name)) {
        snprintf(name, SERVE_NAME, "%s", found->pw_name);
        if (clo_policy_knows(s->policy, name)) return true;
    }
    snprintf(name, SERVE_NAME, "%lu", (unsigned long)peer.uid);
    return clo_policy_knows(s->policy, name);
}

/* Their place in the list.  There is one for each name of the policy. */
static size_t find_analyst(service *s, const char *name)
{
    for (size_t i = 0; i < s->known; i++)
        if (strcmp(s->analysts[i].name, name) == 0) return i;
    snprintf(s->analysts[s->known].name, SERVE_NAME, "%s", name);
    return s->known++;
}

static size_t open_questions(const service *s, size_t of)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->all[i].stage != CLOSED && s->all[i].analyst == of;
    return count;
}

/* A sentence for somebody who gets no more than that; whether they read it is their matter. */
static void turn_away(int file, clo_status status, const char *sentence)
{
    uint8_t bytes[CLO_MESSAGE_HEADER + 4 + 200];
    const size_t length = strlen(sentence) < 200 ? strlen(sentence) : 200;
    clo_message_begin(bytes, (uint32_t)length + 4);
    for (int i = 0; i < 4; i++)
        bytes[CLO_MESSAGE_HEADER + i] = (uint8_t)((uint32_t)status >> (24 - 8 * i));
    memcpy(bytes + CLO_MESSAGE_HEADER + 4, sentence, length);
    (void)!send(file, bytes, CLO_MESSAGE_HEADER + 4 + length, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(file);
}

static connection *free_place(service *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].stage == CLOSED) return &s->all[i];
    return s->count < s->room ? &s->all[s->count++] : NULL;
}

static void welcome(service *s, int file)
{
    char name[SERVE_NAME];
    if (!name_peer(s, file, name)) {
        turn_away(file, CLO_ARGUMENT,
                  "you are not an analyst in the policy of this broker: ask "
                  "its steward");
        return;
    }
    const size_t who = find_analyst(s, name);
    connection *const c = open_questions(s, who) < s->facts.waiting ? free_place(s) : NULL;
    if (!c) {
        turn_away(file, CLO_BUSY,
                  "you have as many open requests as you may: wait until one is "
                  "answered");
        return;
    }
    *c = (connection){ .file = file,
                       .stage = READING,
                       .analyst = who,
                       .deadline = now() + s->facts.patience,
                       .number = s->numbers++,
                       .worker = { .file = -1 } };
}

static void accept_some(service *s)
{
    for (int i = 0; i < 256; i++) {
        const int file = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (file >= 0) {
            welcome(s, file);
            continue;
        }
        /* Where the machine has no file left, who knocks would be heard without end. */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) s->deaf_until = now() + 0.1;
        return;
    }
}

/* ---- reading ---------------------------------------------------------------------- */

/* An answer without a run: the message's form is wrong, or there is no place for it. */
static void refuse(const service *s, connection *c, clo_status status, const char *sentence)
{
    log_line(s->analysts[c->analyst].name, sentence);
    turn_away(c->file, status, sentence);
    c->file = -1;
    drop(c);
}

static void read_some(const service *s, connection *c)
{
    while (c->stage == READING) {
        const bool head = c->have < CLO_MESSAGE_HEADER;
        char *const to =
            head ? (char *)c->header + c->have : c->message + c->have - CLO_MESSAGE_HEADER;
        const size_t wanted =
            (head ? CLO_MESSAGE_HEADER : CLO_MESSAGE_HEADER + c->length) - c->have;
        const ssize_t got = recv(c->file, to, wanted, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) {
            drop(c);
            return;
        }
        c->have += (size_t)got;
        if (head && c->have == CLO_MESSAGE_HEADER) {
            uint32_t length = 0;
            if (clo_message_length(c->header, CLO_MESSAGE_BYTES, &length, NULL) != CLO_OK ||
                length == 0) {
                refuse(s, c, CLO_FORMAT, "the message is malformed or too long");
                return;
            }
            c->length = length;
            c->message = malloc(length);
            if (!c->message) {
                refuse(s, c, CLO_BUSY, "the broker is busy: try again later");
                return;
            }
        }
        if (c->have >= CLO_MESSAGE_HEADER && c->have == CLO_MESSAGE_HEADER + c->length)
            c->stage = WAITING;
    }
}

/* ---- running ------------------------------------------------------------------------ */

/* How many places are taken, and by whom. */
static size_t count_runs(service *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->known; i++) s->analysts[i].runs = 0;
    for (size_t i = 0; i < s->count; i++) {
        const connection *const c = &s->all[i];
        if (c->stage != RUNNING && c->stage != HOLDING) continue;
        s->analysts[c->analyst].runs++;
        count++;
    }
    return count;
}

static bool goes_before(const service *s, const connection *a, const connection *b)
{
    const uint64_t one = s->analysts[a->analyst].turn, other = s->analysts[b->analyst].turn;
    return one != other ? one < other : a->number < b->number;
}

/* Round robin: of those who wait and have less than their share, who was served longest ago. */
static connection *next_in_turn(service *s)
{
    connection *next = NULL;
    for (size_t i = 0; i < s->count; i++) {
        connection *const c = &s->all[i];
        if (c->stage == WAITING && s->analysts[c->analyst].runs < s->facts.share &&
            (!next || goes_before(s, c, next)))
            next = c;
    }
    return next;
}

static void start_runs(service *s)
{
    connection *c;
    while (count_runs(s) < s->facts.workers && (c = next_in_turn(s))) {
        analyst *const who = &s->analysts[c->analyst];
        cli_error err = { .hint = "" };
        who->turn = ++s->turns;
        c->began = now();
        if (serve_worker_start(s->policy, who->name, c->message, c->length, close_all, s,
                               &c->worker, &err) != CLO_OK) {
            refuse(s, c, CLO_BUSY, "the broker is busy: try again later");
            continue;
        }
        c->stage = RUNNING;
    }
}

static double longest_run(const service *s)
{
    return s->facts.tick * s->facts.ticks_at_most;
}

/* The log of a run that left no answer, and the sentence in its place. */
static void explain(const service *s, const connection *c, int code, char log[SERVE_LOG],
                    char sentence[200])
{
    const char *const name = s->analysts[c->analyst].name;
    if (c->stopped) {
        snprintf(log, SERVE_LOG, "the run of %s was ended after %u ticks", name,
                 s->facts.ticks_at_most);
        snprintf(sentence, 200,
                 "the run failed: it took longer than this broker's limit of %s s, and its charge "
                 "stays",
                 cli_number(longest_run(s)).text);
        return;
    }
    snprintf(log, SERVE_LOG, "the run of %s died (%s %d)", name,
             WIFSIGNALED(code) ? "signal" : "exit",
             WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code));
    snprintf(sentence, 200,
             "the run failed, and its charge, if any, stays; the steward's log has the cause");
}

/* Who died before the answer was whole has one sentence in its place. */
static void check_answer(const service *s, connection *c, int code)
{
    struct stat facts = { .st_size = 0 };
    char log[SERVE_LOG] = "", failed[200];
    const bool whole = WIFEXITED(code) && WEXITSTATUS(code) == 0 &&
                       fstat(c->worker.file, &facts) == 0 && facts.st_size >= SERVE_LOG + 4;
    if (!whole) {
        const uint8_t status[4] = { 0, 0, 0, CLO_INTERNAL };
        explain(s, c, code, log, failed);
        (void)!ftruncate(c->worker.file, 0);
        (void)!pwrite(c->worker.file, log, sizeof log, 0);
        (void)!pwrite(c->worker.file, status, sizeof status, SERVE_LOG);
        (void)!pwrite(c->worker.file, failed, strlen(failed), SERVE_LOG + 4);
        (void)!fstat(c->worker.file, &facts);
    }
    c->size = facts.st_size;
    c->sent = SERVE_LOG;
}

static void log_run(const service *s, const connection *c)
{
    char text[SERVE_LOG] = "", line[SERVE_LOG + 100];
    const double took = c->ended - c->began;
    (void)!pread(c->worker.file, text, sizeof text - 1, 0);
    snprintf(line, sizeof line, "%s; took %.3f s, answered after %.3f s%s", text, took,
             c->due - c->began,
             took > s->facts.tick ? " (longer than a tick, which the analyst may notice)" : "");
    log_line("", line);
}

static void reap(service *s)
{
    int code;
    for (pid_t child; (child = waitpid(-1, &code, WNOHANG)) > 0;)
        for (size_t i = 0; i < s->count; i++) {
            connection *const c = &s->all[i];
            if (c->stage != RUNNING || c->worker.process != child) continue;
            c->ended = now();
            c->due =
                c->began + s->facts.tick * fmax(1, ceil((c->ended - c->began) / s->facts.tick));
            c->stage = HOLDING;
            check_answer(s, c, code);
            log_run(s, c);
        }
}

/* ---- answering ------------------------------------------------------------------------ */

static void write_some(connection *c)
{
    while (c->sent < c->size) {
        const ssize_t done =
            sendfile(c->file, c->worker.file, &c->sent, (size_t)(c->size - c->sent));
        if (done < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (done <= 0) break;
    }
    drop(c);
}

static void begin_answer(const service *s, connection *c)
{
    uint8_t header[CLO_MESSAGE_HEADER];
    clo_message_begin(header, (uint32_t)(c->size - c->sent));
    c->stage = ANSWERING;
    c->deadline = now() + s->facts.patience;
    if (send(c->file, header, sizeof header, MSG_NOSIGNAL) != (ssize_t)sizeof header)
        drop(c);
    else
        write_some(c);
}

/* ---- the loop -------------------------------------------------------------------------- */

/* A run that takes too long is ended.  Its answer leaves at the next tick, and that it was ended
 * tells no more than that tick. */
static void stop_late(const service *s, connection *c, double time)
{
    if (c->stage != RUNNING || c->stopped || time < c->began + longest_run(s)) return;
    c->stopped = true;
    kill(c->worker.process, SIGKILL); /* not reaped: it is still ours */
}

static void keep_time(service *s)
{
    const double time = now();
    for (size_t i = 0; i < s->count; i++) {
        connection *const c = &s->all[i];
        stop_late(s, c, time);
        if (c->stage == HOLDING && time >= c->due) begin_answer(s, c);
        if (c->stage == READING && time >= c->deadline)
            refuse(s, c, CLO_FORMAT, "the message came too slowly");
        if (c->stage == ANSWERING && time >= c->deadline) drop(c);
        if (c->stage == WAITING && s->listener < 0)
            refuse(s, c, CLO_BUSY, "the broker is about to stop");
    }
}

static double next_event(const service *s)
{
    double next = now() + 60;
    if (s->deaf_until > now()) next = s->deaf_until;
    for (size_t i = 0; i < s->count; i++) {
        const connection *const c = &s->all[i];
        if (c->stage == HOLDING) next = fmin(next, c->due);
        if (c->stage == RUNNING && !c->stopped) next = fmin(next, c->began + longest_run(s));
        if (c->stage == READING || c->stage == ANSWERING) next = fmin(next, c->deadline);
    }
    return next;
}

static void wait_for_something(const service *s, struct pollfd *files)
{
    const double left = fmax(0, next_event(s) - now());
    const struct timespec timeout = { .tv_sec = (time_t)left,
                                      .tv_nsec = (long)((left - floor(left)) * 1e9) };
    sigset_t none;
    sigemptyset(&none);
    files[0] = (struct pollfd){ .fd = now() < s->deaf_until ? -1 : s->listener, .events = POLLIN };
    for (size_t i = 0; i < s->count; i++) {
        const connection *const c = &s->all[i];
        files[1 + i] = (struct pollfd){
            .fd =
                c->stage == READING || c->stage == WAITING || c->stage == ANSWERING ? c->file : -1,
            .events = c->stage == READING     ? POLLIN
                      : c->stage == ANSWERING ? POLLOUT
                                              : 0,
        };
    }
    if (ppoll(files, 1 + s->count, &timeout, &none) < 0)
        for (size_t i = 0; i <= s->count; i++) files[i].revents = 0;
}

static void handle(service *s, const struct pollfd *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        connection *const c = &s->all[i];
        if (!files[1 + i].revents) continue;
        if (c->stage == READING)
            read_some(s, c);
        else if (c->stage == ANSWERING)
            write_some(c);
        else if (c->stage == WAITING) { /* hung up before the run began: nothing is spent */
            log_line(s->analysts[c->analyst].name, "left before the run began");
            drop(c);
        }
    }
    if (s->listener >= 0 && files[0].revents) accept_some(s);
}

static bool is_idle(const service *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].stage != CLOSED && s->all[i].stage != READING) return false;
    return true;
}

/* Signals are blocked but while the loop waits: none comes between a look and a wait. */
static void catch_signals(void)
{
    sigset_t caught;
    struct sigaction action = { .sa_handler = stop };
    sigemptyset(&caught);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    action.sa_handler = wake;
    sigaction(SIGCHLD, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigaddset(&caught, SIGTERM);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGHUP);
    sigaddset(&caught, SIGCHLD);
    sigprocmask(SIG_BLOCK, &caught, NULL);
}

/* A socket for each question that may be open, and a file for its answer. */
static clo_status raise_files(const service *s, cli_error *err)
{
    const rlim_t needed = 2 * s->room + 32;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return CLO_OK;
    if (limit.rlim_max < needed)
        return cli_fail(err, CLO_ARGUMENT,
                        "%zu analysts with %u open requests each need %lu open files, and this "
                        "process may have %lu: lower 'waiting' in the policy, or raise the limit "
                        "(ulimit -n, LimitNOFILE)",
                        s->facts.analysts, s->facts.waiting, (unsigned long)needed,
                        (unsigned long)limit.rlim_max);
    limit.rlim_cur = needed;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0
               ? CLO_OK
               : cli_fail(err, CLO_IO, "the limit of open files cannot be raised: %m");
}

static void free_service(service *s)
{
    for (size_t i = 0; i < s->count; i++) drop(&s->all[i]);
    free(s->all);
    free(s->analysts);
}

clo_status serve_loop(const clo_policy *policy, const char *path, int listener, cli_error *err)
{
    service s = { .policy = policy,
                  .facts = { .struct_size = sizeof s.facts },
                  .listener = listener };
    clo_status status = clo_policy_describe(policy, &s.facts, &err->error);
    if (status != CLO_OK) return status;
    s.room = s.facts.analysts * s.facts.waiting;
    if ((status = raise_files(&s, err)) != CLO_OK) return status;
    s.all = calloc(s.room, sizeof *s.all);
    s.analysts = calloc(s.facts.analysts, sizeof *s.analysts);
    struct pollfd *const files = calloc(s.room + 1, sizeof *files);
    if (!s.all || !s.analysts || !files) {
        free_service(&s);
        free(files);
        return cli_fail(err, CLO_MEMORY, "out of memory for %zu connections", s.room);
    }
    catch_signals();
    fprintf(stderr, "%s serves %s\n", cli_time((int64_t)time(NULL)).text, path);
    while (stopping < 2 && !(stopping && is_idle(&s))) {
        const size_t count = s.count;
        wait_for_something(&s, files);
        if (stopping && s.listener >= 0) {
            close(s.listener);
            s.listener = -1;
            log_line("", "stops when its runs have ended");
            continue;
        }
        handle(&s, files, count);
        reap(&s);
        keep_time(&s);
        if (s.listener >= 0) start_runs(&s);
    }
    free_service(&s);
    free(files);
    return CLO_OK;
}
