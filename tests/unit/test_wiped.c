/*
 * test_wiped.c - no block that goes back to the allocator holds a record: whole jobs are run, and
 * every block is searched as it is freed, for cells as text, as numbers and on each grid.
 */
#include "bytes_file.h"
#include "job_settings.h"
#include "base/base.h"
#include "bound/bound.h"
#include <malloc.h>
#include <math.h>
#include <stdatomic.h>

enum { ROWS = 600, COLS = 6, PATTERN = 16, PATTERNS = 8 };
#define CELL "0.31415926"
static const double VALUE = 0.31415926;

/* ---- who looks ------------------------------------------------------------------------------- */

static uint8_t patterns[PATTERNS][PATTERN];
static size_t pattern_count;
static atomic_bool watching;
static atomic_size_t looked, found;

static void look(const void *block, size_t bytes)
{
    if (!block || !watching) return;
    looked++;
    for (size_t i = 0; i < pattern_count; i++)
        found += memmem(block, bytes, patterns[i], PATTERN) != NULL;
}

/* Stands before the allocator's own; so the test is of builds without sanitizers. */
void __libc_free(void *block);
void free(void *block)
{
    if (block) look(block, malloc_usable_size(block));
    __libc_free(block);
}

static void add_pattern(const void *piece, size_t bytes)
{
    for (size_t at = 0; at < PATTERN; at++)
        patterns[pattern_count][at] = ((const uint8_t *)piece)[at % bytes];
    pattern_count++;
}

/* All cells are the same, so that several of them in a row are told from anything else. */
static int make_patterns(void **state)
{
    static const int grids[] = { 15, 20, CLO_GRID_BITS };
    const int32_t cell = (int32_t)(VALUE * (1 << CLO_GRID_BITS));
    (void)state;
    add_pattern(CELL "," CELL, PATTERN);
    add_pattern(&VALUE, sizeof VALUE);
    add_pattern(&cell, sizeof cell);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const double step = trunc(ldexp(VALUE, grids[i]));
        add_pattern(&step, sizeof step);
    }
    return 0;
}

static size_t begin(void)
{
    found = looked = 0;
    watching = true;
    return 0;
}

static size_t end(void)
{
    watching = false;
    assert_true(looked > 0);
    return found;
}

/* ---- what is looked at ----------------------------------------------------------------------- */

static bytes_file rows_as_text(void)
{
    static char text[ROWS * COLS * sizeof CELL + 1];
    size_t length = 0;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%c", CELL,
                                   (i + 1) % COLS ? ',' : '\n');
    return bytes_file_open(text, length);
}

static void run(const char *settings, const char *path)
{
    const clo_release *release = NULL;
    clo_job *job = NULL;
    clo_error err;
    assert_ok(clo_job_new(&job, &err), err);
    set(job, settings);
    set(job, "epsilon=1 delta=1e-6 norm=1 no-ledger=yes yes=yes threads=2 accept=asymptotic");
    assert_ok(clo_job_set(job, "data", path, &err), err);
    assert_ok(clo_job_release(job, &release, &err), err);
    clo_job_free(job);
}

static void no_record_is_left_in_a_block_that_is_freed(void **state)
{
    static const char *const runs[] = {
        "mechanism=kmeans/lloyd clusters=2",
        "mechanism=kmeans/local clusters=2",
        "mechanism=kmeans/aggregate clusters=2",
        "mechanism=kmeans/density clusters=2",
        "mechanism=subspace/gaussian dim=2",
        "mechanism=bounds/quantile of=columns",
        "mechanism=kmeans/lloyd clusters=2 memory=256M",
        "mechanism=kmeans/lloyd clusters=2 relation=add-remove cols=6",
        "mechanism=subspaces/gibbs clusters=2 dim=1 sweeps=4",
    };
    const bytes_file file = rows_as_text();
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        begin();
        run(runs[i], file.path);
        if (end()) fail_msg("%s leaves records in what it frees", runs[i]);
    }
    bytes_file_close(file);
}

/* Where the first half of a block stays in the new one, both are wiped. */
static void a_block_is_wiped_wherever_it_is_freed(void **state)
{
    enum { CELLS = 1000 };
    (void)state;
    for (int way = 0; way < 3; way++) {
        int32_t *cells = NULL;
        clo_error err;
        assert_ok(clo_i_alloc(CELLS, sizeof *cells, &cells, &err), err);
        for (size_t i = 0; i < CELLS; i++) cells[i] = (int32_t)(VALUE * (1 << CLO_GRID_BITS));
        begin();
        if (way == 1) assert_ok(clo_i_resize(&cells, CELLS, 2 * CELLS, sizeof *cells, &err), err);
        if (way < 2) clo_i_wipe_free(cells, (way + 1) * CELLS * sizeof *cells);
        if (way == 2) clo_i_free(cells); /* as it must not be: and then it is found */
        assert_int_equal(end(), way == 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_is_left_in_a_block_that_is_freed),
        cmocka_unit_test(a_block_is_wiped_wherever_it_is_freed),
    };
    return cmocka_run_group_tests(tests, make_patterns, NULL);
}
