/*
 * serve_worker.c - one process a question.
 *
 * The broker itself never opens the data or the ledger.  A child does, for one question, and its
 * death, whatever it dies of, is one answer that says that the run failed.  What it leaves is a
 * file in memory that nobody else has a name for.
 */
#include "serve.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool put(int file, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        const ssize_t done = write(file, at, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        count -= (size_t)done;
    }
    return true;
}

/* Where memory runs out, the system ends a run, and never the broker. */
static void go_first(void)
{
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, "1000", 4);
    close(file);
}

static void be_a_child(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGTERM, SIG_IGN); /* the broker ends when its runs have; a charge is not thrown away */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* and dies with it, if that is killed */
    if (getppid() != parent) _exit(1);
    go_first();
}

static int answer(const clo_policy *policy, const char *analyst, const char *message, size_t length,
                  int file)
{
    clo_answer given = { .struct_size = sizeof given };
    char log[SERVE_LOG] = "";
    uint8_t code[4];
    if (clo_policy_answer(policy, analyst, message, length, &given, NULL) != CLO_OK) return 1;
    snprintf(log, sizeof log, "%s", given.log);
    for (int i = 0; i < 4; i++) code[i] = (uint8_t)((uint32_t)given.status >> (24 - 8 * i));
    const bool right = put(file, log, sizeof log) && put(file, code, sizeof code) &&
                       put(file, given.bytes, given.length);
    clo_broker_bytes_free(given.bytes);
    return right ? 0 : 1;
}

clo_status serve_worker_start(const clo_policy *policy, const char *analyst, const char *message,
                              size_t length, void (*close_others)(void *user), void *user,
                              serve_worker *out, cli_error *err)
{
    const pid_t parent = getpid();
    const int file = memfd_create("answer", MFD_CLOEXEC);
    if (file < 0) return cli_fail(err, CLO_MEMORY, "no memory for an answer: %m");
    const pid_t child = fork();
    if (child == 0) {
        be_a_child(parent);
        close_others(user);
        _exit(answer(policy, analyst, message, length, file));
    }
    if (child < 0) {
        close(file);
        return cli_fail(err, CLO_MEMORY, "no process for a run: %m");
    }
    *out = (serve_worker){ .process = child, .file = file };
    return CLO_OK;
}

clo_status serve_prepare(const clo_policy *policy, cli_error *err)
{
    int ends[2], code = 0;
    struct {
        clo_status status;
        char message[sizeof err->error.message];
    } said = { .status = CLO_INTERNAL, .message = "the policy could not be applied" };
    if (pipe(ends) != 0) return cli_fail(err, CLO_IO, "no pipe: %m");
    const pid_t child = fork();
    if (child == 0) {
        cli_error own = { .hint = "" };
        said.status = clo_policy_prepare(policy, &own.error);
        memcpy(said.message, own.error.message, sizeof said.message);
        _exit(put(ends[1], &said, sizeof said) ? 0 : 1);
    }
    close(ends[1]);
    const bool right = child > 0 && read(ends[0], &said, sizeof said) == sizeof said;
    close(ends[0]);
    if (child > 0) waitpid(child, &code, 0);
    if (right && said.status == CLO_OK) return CLO_OK;
    return cli_fail(err, said.status, "%s", said.message);
}
