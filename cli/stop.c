/*
 * stop.c - how a command is stopped by a signal.
 *
 * A signal sets a flag, and the next step of what is under way reads it: the library then wipes and
 * frees what it holds, and the command says what was spent.  Not every step ends soon - a pipe that
 * says nothing, a large matrix that is taken apart in one call - so that a second later, or at the
 * second signal, the process ends from within the handler, with words that were prepared.  Ending
 * there loses nothing: what is not charged costs nothing, and a run that is stopped while it asks
 * has no release.
 *
 * From a charge's COMMIT on there is something to lose.  Then signals are held: they set the flag
 * and nothing else, until the release is stored and its file is in place.
 */
#include "cli.h"
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 1 };

/* Those that end a process which does not catch them, whoever sends them; but for what a fault of
 * the program raises, for SIGALRM, which has a handler of its own, and for SIGPIPE. */
static bool is_a_stop(int number)
{
    static const int others[] = { SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU,   SIGUSR1,
                                  SIGUSR2, SIGPROF, SIGVTALRM, SIGPOLL, SIGSTKFLT, SIGPWR };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (number == others[i]) return true;
    return number >= SIGRTMIN && number <= SIGRTMAX;
}

enum { AS_USUAL, MAY_END, HELD, ENDING };
static atomic_int stage;
static volatile sig_atomic_t interrupted;
static char last_words[1024];
static volatile sig_atomic_t last_length; /* 0: it is waited for */

/* Several threads may hear signals, and this one may be about to hold them: one of both wins. */
static void end_now(void)
{
    int expected = MAY_END;
    if (!atomic_compare_exchange_strong(&stage, &expected, ENDING)) return;
    (void)!write(STDERR_FILENO, last_words, (size_t)last_length);
    _exit(128 + interrupted);
}

static void on_stop(int number)
{
    const bool again = interrupted != 0;
    interrupted = number;
    if (atomic_load(&stage) != MAY_END) return;
    if (again)
        end_now();
    else if (last_length > 0)
        alarm(PATIENCE_SECONDS);
}

static void on_alarm(int number)
{
    if (interrupted)
        end_now();
    else
        on_stop(number); /* somebody else's: a stop as any other */
}

/* A command that was started to ignore the signal (by nohup, say) goes on ignoring it, and one that
 * is another library's (MPI's) stays that. */
static void catch_signal(int number, void (*handler)(int), int flags)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (sigaction(number, NULL, &before) == 0 &&
        (before.sa_handler == SIG_DFL || before.sa_handler == on_stop))
        sigaction(number, &action, NULL);
}

static void catch_stops(void (*handler)(int), int flags)
{
    for (int number = 1; number <= SIGRTMAX; number++)
        if (is_a_stop(number)) catch_signal(number, handler, flags);
}

static void move_on(int to)
{
    if (atomic_exchange(&stage, to) == ENDING)
        for (;;) pause(); /* another thread is about to end the process */
}

void cli_stop_catch(bool interrupts)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    catch_stops(on_stop, interrupts ? 0 : SA_RESTART);
    if (atomic_load(&stage) != HELD) move_on(MAY_END);
}

void cli_stop_words(const char *format, ...)
{
    va_list list;
    last_length = 0;
    if (cli_comm()) return; /* ranks end together, by their comm */
    int length =
        snprintf(last_words, sizeof last_words, "%scloister: ", cli_can_redraw() ? "\r\033[K" : "");
    va_start(list, format);
    length += vsnprintf(last_words + length, sizeof last_words - (size_t)length - 1, format, list);
    va_end(list);
    if (length > (int)sizeof last_words - 2) length = (int)sizeof last_words - 2;
    last_words[length] = '\n';
    last_length = length + 1;
}

void cli_stop_hold(void)
{
    move_on(HELD);
    alarm(0);
    catch_stops(on_stop, SA_RESTART);
}

void cli_stop_release(void)
{
    if (atomic_load(&stage) == HELD) move_on(MAY_END);
    if (interrupted && last_length > 0) alarm(PATIENCE_SECONDS);
}

bool cli_stop_forgive(void)
{
    const bool was = interrupted != 0;
    alarm(0); /* what the forgiven stop has set */
    interrupted = 0;
    return was;
}

void cli_stop_usual(void)
{
    if (atomic_load(&stage) == HELD) return;
    move_on(AS_USUAL);
    alarm(0);
    catch_stops(SIG_DFL, 0);
    last_length = 0;
}

int cli_interrupted(void)
{
    return interrupted;
}
