/*
 * check.h - the checks that cmocka does not have.  Every test program includes this one instead of
 * cmocka.h: it brings the headers that cmocka wants in the order in which it wants them.
 *
 * cmocka's assert_float_equal casts to float, so that a wrong tenth digit passes; these compare
 * doubles.
 */
#ifndef CLO_TEST_CHECK_H
#define CLO_TEST_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <cloister/status.h>

/* |actual - expected| <= tolerance; a NaN is close to nothing. */
#define assert_close(actual, expected, tolerance)                                                  \
    check_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
/* The same, relative to expected. */
#define assert_relatively_close(actual, expected, tolerance)                                       \
    check_close((actual), (expected), (tolerance)*fabs((double)(expected)), #actual, __FILE__,     \
                __LINE__)
/* Bit for bit, so that -0 is not 0 and a NaN equals itself. */
#define assert_same_doubles(actual, expected, count)                                               \
    check_same_doubles((actual), (expected), (count), #actual, __FILE__, __LINE__)
/* A call succeeds; where it does not, its message is shown.  err: the clo_error it was given. */
#define assert_ok(call, err) check_status((call), CLO_OK, &(err), #call, __FILE__, __LINE__)
/* A call fails with this status, and its message holds this text (NULL: any message). */
#define assert_fails(call, expected, err, text)                                                    \
    check_failure((call), (expected), &(err), (text), #call, __FILE__, __LINE__)

static inline void check_close(double actual, double expected, double tolerance, const char *what,
                               const char *file, int line)
{
    if (fabs(actual - expected) <= tolerance) return;
    print_error("%s is %.17g, not %.17g within %.3g\n", what, actual, expected, tolerance);
    _fail(file, line);
}

static inline void check_same_doubles(const double *actual, const double *expected, size_t count,
                                      const char *what, const char *file, int line)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&actual[i], &expected[i], sizeof *actual) == 0) continue;
        print_error("%s[%zu] is %.17g, not %.17g\n", what, i, actual[i], expected[i]);
        _fail(file, line);
    }
}

static inline void check_status(clo_status status, clo_status expected, const clo_error *err,
                                const char *what, const char *file, int line)
{
    if (status == expected) return;
    print_error("%s gave \"%s\" (%s), not \"%s\"\n", what, clo_status_text(status),
                status ? err->message : "", clo_status_text(expected));
    _fail(file, line);
}

static inline void check_failure(clo_status status, clo_status expected, const clo_error *err,
                                 const char *text, const char *what, const char *file, int line)
{
    check_status(status, expected, err, what, file, line);
    if (err->status == expected && (!text || strstr(err->message, text))) return;
    print_error("%s says \"%s\", without \"%s\"\n", what, err->message, text ? text : "");
    _fail(file, line);
}

/* Changes one of a line's own fields: change_fields(aggregate, &line, beta = 1.5). */
#define change_fields(name, line, change)                                                          \
    do {                                                                                           \
        __typeof__(clo_i_##name##_fields(line)) own = clo_i_##name##_fields(line);                 \
        own.change;                                                                                \
        clo_i_##name##_set_fields(line, own);                                                      \
    } while (0)

#endif
