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
 * Nobody can keep the others waiting.  An analyst has so many open questions and no more, and whom
 * the policy does not know has none: their sockets are closed at once, however many there are.
 *  What is read has a bound and a deadline, and so has what is written.
 */
#include "serve.h"
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
    char analyst[SERVE_NAME];
    double deadline;     /* of READING and ANSWERING */
    double began, ended; /* of the run */
    double due;          /* when the answer leaves */
    uint64_t number;     /* who came first runs first */
    uint8_t header[CLO_MESSAGE_HEADER];
    char *message;
    size_t have, length; /* bytes of header and message */
    serve_worker worker;
    off_t sent, size; /* of the answer's file */
} connection;

typedef struct service {
    const clo_policy *policy;
    clo_policy_facts facts;
    int listener; /* -1: it stops */
    connection *all;
    size_t count, room;
    uint64_t numbers;
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

/* The kernel's word: by name, or by number where the policy has that. */
static bool name_peer(const service *s, int file, char name[SERVE_NAME])
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    char room[4096];
    struct passwd entry, *found = NULL;
    if (getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    if (getpwuid_r(peer.uid, &entry, room, sizeof room, &found) == 0 && found) {
        snprintf(name, SERVE_NAME, "%s", found->pw_name);
        if (clo_policy_knows(s->policy, name)) return true;
    }
    snprintf(name, SERVE_NAME, "%lu", (unsigned long)peer.uid);
    return clo_policy_knows(s->policy, name);
}

static size_t open_questions(const service *s, const char *analyst)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->all[i].stage != CLOSED && strcmp(s->all[i].analyst, analyst) == 0;
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
        turn_away(file, CLO_ARGUMENT, "the policy of this broker does not know you");
        return;
    }
    connection *const c = open_questions(s, name) < s->facts.waiting ? free_place(s) : NULL;
    if (!c) {
        turn_away(file, CLO_CANCELLED, "you have as many questions open as you may: wait for them");
        return;
    }
    *c = (connection){ .file = file,
                       .stage = READING,
                       .deadline = now() + s->facts.patience,
                       .number = s->numbers++,
                       .worker = { .file = -1 } };
    memcpy(c->analyst, name, sizeof name);
}

static void accept_some(service *s)
{
    for (int i = 0; i < 256; i++) {
        const int file = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (file < 0) return;
        welcome(s, file);
    }
}

/* ---- reading ---------------------------------------------------------------------- */

/* An answer without a run: what is wrong with the message's form alone. */
static void refuse(connection *c, const char *sentence)
{
    log_line(c->analyst, sentence);
    turn_away(c->file, CLO_FORMAT, sentence);
    c->file = -1;
    drop(c);
}

static void read_some(connection *c)
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
                refuse(c, "this is no message, or a longer one than is taken");
                return;
            }
            c->length = length;
            c->message = malloc(length);
            if (!c->message) {
                refuse(c, "the broker has no room now");
                return;
            }
        }
        if (c->have >= CLO_MESSAGE_HEADER && c->have == CLO_MESSAGE_HEADER + c->length)
            c->stage = WAITING;
    }
}

/* ---- running ------------------------------------------------------------------------ */

static size_t busy(const service *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->all[i].stage == RUNNING || s->all[i].stage == HOLDING;
    return count;
}

static connection *first_waiting(service *s)
{
    connection *first = NULL;
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].stage == WAITING && (!first || s->all[i].number < first->number))
            first = &s->all[i];
    return first;
}

static void start_runs(service *s)
{
    connection *c;
    while (busy(s) < s->facts.workers && (c = first_waiting(s))) {
        cli_error err = { .hint = "" };
        c->began = now();
        if (serve_worker_start(s->policy, c->analyst, c->message, c->length, close_all, s,
                               &c->worker, &err) != CLO_OK) {
            refuse(c, "the broker has no room now");
            continue;
        }
        c->stage = RUNNING;
    }
}

/* Who died before the answer was whole has one sentence in its place. */
static void check_answer(connection *c, int code)
{
    static const char failed[] = "the run failed, and what it spent, if anything, stays spent; the "
                                 "steward's log says why";
    struct stat facts = { .st_size = 0 };
    char log[SERVE_LOG] = "";
    const bool whole = WIFEXITED(code) && WEXITSTATUS(code) == 0 &&
                       fstat(c->worker.file, &facts) == 0 && facts.st_size >= SERVE_LOG + 4;
    if (!whole) {
        const uint8_t status[4] = { 0, 0, 0, CLO_INTERNAL };
        snprintf(log, sizeof log, "the run of %s died (%s %d)", c->analyst,
                 WIFSIGNALED(code) ? "signal" : "exit",
                 WIFSIGNALED(code) ? WTERMSIG(code) : WEXITSTATUS(code));
        (void)!ftruncate(c->worker.file, 0);
        (void)!pwrite(c->worker.file, log, sizeof log, 0);
        (void)!pwrite(c->worker.file, status, sizeof status, SERVE_LOG);
        (void)!pwrite(c->worker.file, failed, sizeof failed - 1, SERVE_LOG + 4);
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
             took > s->facts.tick ? " (longer than a tick: the analyst may see that)" : "");
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
            check_answer(c, code);
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

static void keep_time(service *s)
{
    const double time = now();
    for (size_t i = 0; i < s->count; i++) {
        connection *const c = &s->all[i];
        if (c->stage == HOLDING && time >= c->due) begin_answer(s, c);
        if (c->stage == READING && time >= c->deadline) refuse(c, "the message came too slowly");
        if (c->stage == ANSWERING && time >= c->deadline) drop(c);
        if (c->stage == WAITING && s->listener < 0) refuse(c, "the broker is about to stop");
    }
}

static double next_event(const service *s)
{
    double next = now() + 60;
    for (size_t i = 0; i < s->count; i++) {
        const connection *const c = &s->all[i];
        if (c->stage == HOLDING) next = fmin(next, c->due);
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
    files[0] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
    for (size_t i = 0; i < s->count; i++) {
        const connection *const c = &s->all[i];
        files[1 + i] = (struct pollfd){
            .fd = c->stage == READING || c->stage == ANSWERING ? c->file : -1,
            .events = c->stage == READING ? POLLIN : POLLOUT,
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
            read_some(c);
        else if (c->stage == ANSWERING)
            write_some(c);
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

clo_status serve_loop(const clo_policy *policy, const char *path, int listener, cli_error *err)
{
    service s = { .policy = policy,
                  .facts = { .struct_size = sizeof s.facts },
                  .listener = listener };
    clo_status status = clo_policy_describe(policy, &s.facts, &err->error);
    if (status != CLO_OK) return status;
    s.room = s.facts.analysts * s.facts.waiting;
    s.all = calloc(s.room, sizeof *s.all);
    struct pollfd *const files = calloc(s.room + 1, sizeof *files);
    if (!s.all || !files) {
        free(s.all);
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
    for (size_t i = 0; i < s.count; i++) drop(&s.all[i]);
    free(s.all);
    free(files);
    return CLO_OK;
}
