/* progress.c - how far a run is, and how it is stopped.
 *
 * Ctrl-C sets a flag that the next step of the run reads: the library then wipes and frees what it
 * holds, the unfinished output is dropped, and the command says that the budget is spent.  A second
 * Ctrl-C ends the process at once.  Where nothing can be spent a step that does not end within a
 * second is not waited for: a large matrix is taken apart in one call, which hears nothing. */
#include "cli.h"
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted, impatient;

static void on_interrupt(int signal_number)
{
    interrupted = signal_number;
    if (impatient) alarm(1);
}

/* The signal again, which by now does what it does to every process. */
static void on_alarm(int signal_number)
{
    (void)signal_number;
    raise(interrupted);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A command that was started to ignore the signal (by nohup, say) goes on ignoring it. */
static void catch_signal(int number, void (*handler)(int))
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = (int)SA_RESETHAND | SA_RESTART;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void cli_progress_start(cli_progress *progress, const char *what, bool quiet)
{
    catch_signal(SIGINT, on_interrupt);
    catch_signal(SIGTERM, on_interrupt);
    catch_signal(SIGHUP, on_interrupt); /* the terminal is gone: stop in order */
    *progress = (cli_progress){
        .what = what, .wanted = !quiet && cli_can_redraw(), .percent = -1, .started = seconds_now()
    };
}

void cli_progress_hurry(void)
{
    impatient = 1;
    catch_signal(SIGALRM, on_alarm);
}

static void draw(cli_progress *progress, double done, double elapsed)
{
    enum { BAR = 24 };
    const int filled = (int)(done * BAR);
    const double left = done > 0 ? elapsed * (1 - done) / done : 0;
    fprintf(stderr, "\r\033[K%s %3d%% [", progress->what, progress->percent);
    for (int i = 0; i < BAR; i++) fputc(i < filled ? '#' : '-', stderr);
    fprintf(stderr, "] about %.0f s left", left);
    fflush(stderr);
    progress->shown = true;
}

bool cli_progress_step(void *user, double done)
{
    cli_progress *const progress = user;
    const double share = done < 0 ? 0 : done > 1 ? 1 : done;
    const double elapsed = seconds_now() - progress->started;
    const int percent = (int)(100 * share);
    /* Of a pipe nobody knows how much is left. */
    if (progress->wanted && done >= 0 && elapsed >= 0.5 && percent != progress->percent) {
        progress->percent = percent;
        draw(progress, share, elapsed);
    }
    return !interrupted;
}

void cli_progress_hide(cli_progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
    progress->percent = -1;
}

int cli_interrupted(void)
{
    return interrupted;
}

void cli_progress_end(cli_progress *progress)
{
    cli_progress_hide(progress);
    catch_signal(SIGINT, SIG_DFL);
    catch_signal(SIGTERM, SIG_DFL);
    catch_signal(SIGHUP, SIG_DFL);
    impatient = 0;
    alarm(0);
}
