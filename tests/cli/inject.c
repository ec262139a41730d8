/*
 * inject.c - runs a command and, at its n-th system call, sends it a signal or makes the call fail.
 *
 *   inject REPORT SECONDS N WHAT COMMAND [WORD ...]
 *
 * WHAT is the number of a signal, or minus that of an error; N 0 only counts.  The report is one
 * line: how many calls there were, the number of the n-th, how the command ended (its exit code, or
 * minus the signal), and whether it was killed because it took longer than SECONDS.
 *
 * strace does the same, a hundred times slower where every call of a command has its turn.  Threads
 * are followed, other processes are not.  Ends with 77 where the processor is another one.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void)
{
    return 77;
}
#else

enum { MOST_THREADS = 256 };

typedef struct thread {
    pid_t id;
    bool inside; /* of a call */
    bool fails;  /* and the call is to fail */
    struct user_regs_struct before;
} thread;

static thread threads[MOST_THREADS];
static size_t thread_count;
static long calls, chosen, number = -1;
static int what;
static pid_t first;
static volatile sig_atomic_t late;

static void on_alarm(int unused)
{
    (void)unused;
    late = 1;
    kill(first, SIGKILL);
}

static thread *find(pid_t id)
{
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i].id == id) return &threads[i];
    if (thread_count == MOST_THREADS) exit(2);
    threads[thread_count] = (thread){ .id = id };
    return &threads[thread_count++];
}

/* The registers that the kernel leaves as they are stay so.  brk knows no error: where it fails it
 * says where the end still is, as it does when it is asked for 0. */
static void enter(thread *t, struct user_regs_struct *registers)
{
    calls++;
    if (calls != chosen) return;
    number = (long)registers->orig_rax;
    if (what > 0) {
        kill(first, what);
        return;
    }
    t->before = *registers;
    if (number == SYS_brk)
        registers->rdi = 0;
    else
        registers->orig_rax = (unsigned long long)-1; /* no such call: the kernel does nothing */
    t->fails = ptrace(PTRACE_SETREGS, t->id, NULL, registers) == 0;
}

static void at_call(thread *t)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, t->id, NULL, &registers) != 0) return;
    t->inside = !t->inside;
    if (t->inside) {
        enter(t, &registers);
    } else if (t->fails) {
        registers.rdi = t->before.rdi;
        if (number != SYS_brk) registers.rax = (unsigned long long)what; /* minus the error */
        ptrace(PTRACE_SETREGS, t->id, NULL, &registers);
        t->fails = false;
    }
}

/* The signal that goes on to the thread. */
static int at_stop(pid_t id, int status)
{
    const int stopped = WSTOPSIG(status);
    thread *const t = find(id);
    if (stopped == (SIGTRAP | 0x80)) {
        at_call(t);
        return 0;
    }
    if (status >> 16 || stopped == SIGTRAP) return 0; /* a new thread, or another program */
    return stopped == SIGSTOP ? 0 : stopped;
}

static int follow(void)
{
    int status;
    for (;;) {
        const pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) continue;
        if (id < 0) return -SIGKILL;
        if (WIFSTOPPED(status)) {
            ptrace(PTRACE_SYSCALL, id, NULL, at_stop(id, status));
            continue;
        }
        if (id == first) return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 6) return 2;
    chosen = strtol(argv[3], NULL, 10);
    what = (int)strtol(argv[4], NULL, 10);
    FILE *const report = fopen(argv[1], "w");
    if (!report) return 2;
    first = fork();
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[5], argv + 5);
        _exit(127);
    }
    if (first < 0 || waitpid(first, &status, 0) != first) return 2;
    ptrace(PTRACE_SETOPTIONS, first, NULL,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    signal(SIGALRM, on_alarm);
    alarm((unsigned)strtol(argv[2], NULL, 10));
    ptrace(PTRACE_SYSCALL, first, NULL, 0);
    const int end = follow();
    fprintf(report, "%ld %ld %d %d\n", calls, number, end, (int)late);
    return fclose(report) == 0 ? 0 : 2;
}
#endif
