/*
 * test_flow_sizes.c - a run over rows that are not held asks the system, once it was paid for, for
 * memory of the same sizes and as often, whatever the number of rows of its array (meter.T2): where
 * that is hidden, no lack of memory tells of it.
 */
#include "watched_sizes.h"
#include <cloister/cloister.h>
#include <stdlib.h>
#include <unistd.h>

enum { COLS = 256 };

static void write_array(const char *path, size_t rows)
{
    static const double row[COLS] = { 0.25, -0.5 };
    FILE *const out = fopen(path, "w");
    char header[118];
    assert_non_null(out);
    memset(header, ' ', sizeof header);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f8', 'fortran_order': False, 'shape': (%06zu, %d), }",
                                rows, (int)COLS);
    header[length] = ' ';
    header[sizeof header - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, out);
    fwrite(header, 1, sizeof header, out);
    for (size_t i = 0; i < rows; i++) fwrite(row, sizeof row, 1, out);
    assert_int_equal(fclose(out), 0);
}

static void watch_run(const char *path, size_t rows, const char *unit, const char *cache,
                      sizes *out)
{
    static const char *const settings[] = {
        "mechanism", "kmeans/lloyd", "clusters", "2",         "norm", "1",        "epsilon",
        "1",         "rounds",       "2",        "no-ledger", "yes",  "relation", "add-remove",
        "memory",    "64M",          "threads",  "2",         "yes",  "yes"
    };
    clo_job *job = NULL;
    clo_error err;
    bool found;
    write_array(path, rows);
    assert_ok(clo_job_new(&job, &err), err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i += 2)
        assert_ok(clo_job_set(job, settings[i], settings[i + 1], &err), err);
    assert_ok(clo_job_set(job, "data", path, &err), err);
    assert_ok(clo_job_set(job, "unit", unit, &err), err);
    assert_ok(clo_job_set(job, "cache", cache, &err), err);
    assert_ok(clo_job_set(job, "rows-per-unit", unit ? "2" : NULL, &err), err);
    assert_ok(clo_job_prepare(job, &err), err);
    assert_ok(clo_job_fetch(job, &found, &err), err);
    assert_ok(clo_job_spend(job, &err), err);
    watch_into(out, NULL);
    const clo_status status = clo_job_run(job, &err);
    stop_watching();
    assert_ok(status, err);
    assert_true(out->count > 0);
    clo_job_free(job);
}

static void assert_same_memory(const char *unit, const char *cache)
{
    static const size_t lengths[] = { 0, 1, 2000, 9000 }; /* the last in more than one part */
    static sizes first, other;
    char path[] = "/tmp/cloister-flow-XXXXXX";
    close(mkstemp(path));
    watch_run(path, 200, unit, cache, &first);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        watch_run(path, lengths[i], unit, cache, &other);
        assert_true(same_sizes(&other, &first));
    }
    unlink(path);
}

static void an_array_of_any_length_asks_for_the_same_memory(void **state)
{
    (void)state;
    assert_same_memory(NULL, NULL);
    assert_same_memory("1", NULL); /* persons: what was chosen is kept by then (flow.T3) */
    assert_same_memory(NULL, ".");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_of_any_length_asks_for_the_same_memory),
    };
    return cmocka_run_group_tests_name("flow sizes", tests, NULL, NULL);
}
