/* progress.c - how far a run is: a bar on a terminal.  stop.c says how it is stopped. */
#include "cli.h"
#include <time.h>

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_start(cli_progress *progress, const char *what, bool quiet)
{
    cli_stop_catch(false);
    *progress = (cli_progress){
        .what = what, .wanted = !quiet && cli_can_redraw(), .percent = -1, .started = seconds_now()
    };
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
    return !cli_interrupted();
}

void cli_progress_hide(cli_progress *progress)
{
    if (progress->shown) fputs("\r\033[K", stderr);
    progress->shown = false;
    progress->percent = -1;
}

void cli_progress_end(cli_progress *progress)
{
    cli_progress_hide(progress);
    cli_stop_usual();
}
