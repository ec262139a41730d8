/* made_release.h - releases for tests of what happens to a release afterwards, as a file would tell
 * them. */
#ifndef CLO_TEST_MADE_RELEASE_H
#define CLO_TEST_MADE_RELEASE_H

#include "check.h"
#include "release/release.h"
#include <string.h>

/* A release of this family about so many columns in the ball of this radius, without arrays. */
static inline clo_release *made_release(const char *family, size_t cols, double norm, uint64_t rows)
{
    clo_error err;
    clo_release *release = NULL;
    assert_ok(clo_i_release_new(&release, &err), err);
    assert_ok(clo_i_copy_text(family, &release->facts.family, &err), err);
    release->facts.cols = cols;
    release->facts.norm = norm;
    release->facts.rows = rows;
    return release;
}

static inline void put(clo_release *release, const char *name, const double *data,
                       size_t dimensions, size_t a, size_t b, size_t c)
{
    clo_error err;
    assert_ok(clo_i_release_put(release, name, data, dimensions, (size_t[]){ a, b, c }, &err), err);
}

static inline void put_bounds(clo_release *release, const double *lower, const double *upper)
{
    clo_error err;
    clo_facts *const facts = &release->facts;
    assert_ok(clo_i_alloc(facts->cols, sizeof(double), &facts->lower, &err), err);
    assert_ok(clo_i_alloc(facts->cols, sizeof(double), &facts->upper, &err), err);
    memcpy(facts->lower, lower, facts->cols * sizeof *lower);
    memcpy(facts->upper, upper, facts->cols * sizeof *upper);
}

#endif
