/* Whatever a run does, it asks its caller soon whether to go on: the longest stretch between two
 * questions, in seconds of the processor and not of the clock, is a small part of a run that takes
 * long in one step.  Each of these runs once went on for most of its time without asking. */
#include "job_settings.h"
#include <cloister/data.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 100000 };

/* On any machine, and under any load: of what the run takes there, and never less than a share of
 * a second. */
static const double LARGEST_SHARE = 0.2, SHORT_ENOUGH = 0.1;

typedef struct watch {
    double last, longest;
} watch;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool look(void *user, double done)
{
    watch *const w = user;
    const double now = seconds();
    (void)done;
    w->longest = fmax(w->longest, now - w->last);
    w->last = now;
    return true;
}

static clo_table *some_rows(double *values)
{
    clo_table *table = NULL;
    clo_error err;
    srand(1);
    for (size_t i = 0; i < (size_t)2 * ROWS; i++) values[i] = rand() / (RAND_MAX + 1.0);
    assert_ok(clo_table_wrap((clo_matrix){ values, ROWS, 2, 2 }, CLO_MISSING_NULL, &table, &err),
              err);
    return table;
}

static void asks_soon(const char *settings)
{
    double *const values = malloc(sizeof *values * 2 * ROWS);
    assert_non_null(values);
    clo_table *const table = some_rows(values);
    clo_run_options options = clo_run_options_default();
    const clo_release *release = NULL;
    clo_job *job = NULL;
    clo_error err;
    assert_ok(clo_job_new(&job, &err), err);
    const double start = seconds();
    watch w = { start, 0 };
    options.progress = look;
    options.user = &w;
    options.threads = 1;
    assert_ok(clo_job_set_run_options(job, &options, &err), err);
    assert_ok(clo_job_set_table(job, table, &err), err);
    set(job, "no-ledger=yes yes=yes epsilon=1 norm=2 threads=1");
    set(job, settings);
    assert_ok(clo_job_release(job, &release, &err), err);
    look(&w, 1);
    const double all = w.last - start;
    if (w.longest > fmax(LARGEST_SHARE * all, SHORT_ENOUGH))
        fail_msg("%s: for %.2f of %.2f seconds nobody was asked", settings, w.longest, all);
    clo_job_free(job);
    clo_table_free(table);
    free(values);
}

static void while_it_looks_for_the_bend_of_a_curve(void **state)
{
    (void)state;
    asks_soon("mechanism=kmeans/local clusters=96 cells=512 choose=elbow");
}

static void while_it_solves_the_cells(void **state)
{
    (void)state;
    asks_soon("mechanism=kmeans/local clusters=256 cells=1024");
    asks_soon("mechanism=kmedian/local clusters=256 cells=1024");
}

static void while_it_swaps_centres(void **state)
{
    (void)state;
    asks_soon("mechanism=kmeans/highdim clusters=512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_it_looks_for_the_bend_of_a_curve),
        cmocka_unit_test(while_it_solves_the_cells),
        cmocka_unit_test(while_it_swaps_centres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
