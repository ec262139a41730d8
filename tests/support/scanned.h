/*
 * scanned.h - files in a folder of the test's own, and jobs on them, held and not: what they
 * release, and what they are refused for.
 */
#ifndef CLO_TEST_SCANNED_H
#define CLO_TEST_SCANNED_H

#include "ledger_place.h"
#include "job_settings.h"
#include <zlib.h>

/* The folder, and in it a ledger that has room on "data". */
static inline int make_scanned(void **state)
{
    clo_ledger *ledger = NULL;
    if (make_place(state)) return -1;
    const place *const p = *state;
    if (clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, NULL)) return -1;
    if (clo_ledger_declare(ledger, "data", (clo_loss){ 100, 0.1 }, NULL)) return -1;
    clo_ledger_close(ledger);
    return 0;
}

static inline const char *at(const place *p, const char *name)
{
    static char paths[8][320];
    static size_t next;
    char *const path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", p->folder, name);
    return path;
}

static inline void write_npy(const char *path, const double *cells, size_t rows, size_t cols,
                             bool fortran)
{
    FILE *const out = fopen(path, "w");
    char header[118];
    assert_non_null(out);
    const int length = snprintf(header, sizeof header,
                                "{'descr': '<f8', 'fortran_order': %s, 'shape': (%zu, %zu), }",
                                fortran ? "True" : "False", rows, cols);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[sizeof header - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, out);
    fwrite(header, 1, sizeof header, out);
    for (size_t e = 0; e < rows * cols; e++) {
        const size_t cell = fortran ? e % rows * cols + e / rows : e;
        fwrite(&cells[cell], sizeof *cells, 1, out);
    }
    assert_int_equal(fclose(out), 0);
}

static inline void write_gzip(const char *from, const char *to)
{
    gzFile out = gzopen(to, "wb");
    FILE *const in = fopen(from, "r");
    char piece[4096];
    size_t count;
    assert_non_null(in);
    while ((count = fread(piece, 1, sizeof piece, in)) > 0)
        assert_int_equal(gzwrite(out, piece, (unsigned)count), count);
    fclose(in);
    assert_int_equal(gzclose(out), Z_OK);
}

static inline clo_job *job_on(const char *data, const char *settings)
{
    clo_error err;
    clo_job *job = NULL;
    assert_ok(clo_job_new(&job, &err), err);
    set(job, "epsilon=1 seed=scan no-ledger=yes");
    set(job, settings);
    assert_ok(clo_job_set(job, "data", data, &err), err);
    return job;
}

static inline char *release_of(const char *data, const char *settings, const char *more)
{
    const clo_release *release;
    clo_job *const job = job_on(data, settings);
    clo_error err;
    size_t length;
    set(job, more);
    assert_ok(clo_job_release(job, &release, &err), err);
    const char *const json = clo_job_json(job, &length);
    char *const copy = strndup(json, length);
    clo_job_free(job);
    return copy;
}

static inline void assert_same_release(const char *one, const char *one_more, const char *other,
                                       const char *other_more, const char *settings)
{
    char *const a = release_of(one, settings, one_more);
    char *const b = release_of(other, settings, other_more);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static inline uint64_t charges_at(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    clo_ledger_close(ledger);
    return facts.charges;
}

static inline clo_job *metered_on(const place *p, const char *data, const char *settings)
{
    clo_error err;
    clo_job *const job = job_on(data, settings);
    assert_ok(clo_job_set(job, "seed", NULL, &err), err);
    assert_ok(clo_job_set(job, "no-ledger", NULL, &err), err);
    assert_ok(clo_job_set(job, "dataset", "data", &err), err);
    assert_ok(clo_job_set(job, "ledger", p->ledger, &err), err);
    assert_ok(clo_job_set(job, "new", "yes", &err), err);
    return job;
}

static inline void assert_refused(const place *p, const char *data, const char *settings,
                                  clo_status status, const char *words)
{
    const clo_release *release = NULL;
    const uint64_t before = charges_at(p);
    clo_job *const job = metered_on(p, data, settings);
    clo_error err;
    assert_fails(clo_job_release(job, &release, &err), status, err, words);
    assert_int_equal(charges_at(p), before);
    clo_job_free(job);
}

#endif
