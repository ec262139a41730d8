/*
 * status.h - how a call says that it failed.
 *
 * Every function that can fail returns a clo_status and takes a clo_error
 * last, which may be NULL.  The library prints nothing and keeps no error of
 * its own.
 */
#ifndef CLOISTER_STATUS_H
#define CLOISTER_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CLO_API   __attribute__((visibility("default")))
#define CLO_CHECK __attribute__((warn_unused_result))
#else
#define CLO_API
#define CLO_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One row a status: name, value (never reused), exit code of the command, text.
 * The enum, the texts, the exit codes and the manual are all made from these rows. */
#define CLO_STATUS_LIST(X)                                                                         \
    X(OK, 0, 0, "no error")                                                                        \
    X(ARGUMENT, 1, 2, "an argument is not valid")                                                  \
    X(DOMAIN, 2, 2, "the declared domain is not usable")                                           \
    X(UNSUPPORTED, 3, 2, "this build does not have that feature")                                  \
    X(FORMAT, 4, 3, "the input is not in the format it claims")                                    \
    X(IO, 5, 4, "reading or writing failed")                                                       \
    X(BUDGET, 6, 5, "the budget does not cover this run")                                          \
    X(LEDGER, 7, 6, "the ledger cannot be used")                                                   \
    X(ENTROPY, 8, 7, "the operating system provides no secure randomness")                         \
    X(MEMORY, 9, 8, "out of memory")                                                               \
    X(CANCELLED, 10, 130, "stopped at the caller's request")                                       \
    X(INTERNAL, 11, 70, "a fault in cloister itself")                                              \
    X(SIGNATURE, 12, 9, "a signature, or what it stands for, does not fit")                        \
    X(UNDELIVERED, 13, 10, "a release was paid for and could not be delivered")                    \
    X(BUSY, 14, 11, "the broker does not take this question now; nothing was spent")

typedef enum clo_status {
#define X(name, value, exit_code, text) CLO_##name = value,
    CLO_STATUS_LIST(X)
#undef X
} clo_status;

/* The detail of one failure.  The caller owns it, so threads never overwrite
 * each other's.  It may name files, lines, columns and parameters; it never
 * holds a value that was read from the data.  Frozen. */
typedef struct clo_error {
    clo_status status;
    char message[504];
    char advice[256]; /* a setting that would help, and its value: "columns -cut"; "": none */
} clo_error;

/* From the rows above; texts that nobody frees. */
CLO_API const char *clo_status_text(clo_status status);
CLO_API int clo_status_exit_code(clo_status status); /* what the command ends with */
CLO_API const char *clo_version(void);               /* of the library that runs */

/* ---- a matrix view ------------------------------------------------------- */

/* A borrowed, row-major matrix: element (i, j) is data[i * stride + j].  Owns
 * nothing; passed by value.  Frozen. */
typedef struct clo_matrix {
    const double *data;
    size_t rows;
    size_t cols;
    size_t stride; /* doubles from one row to the next; at least cols */
} clo_matrix;

/* Where bytes go: false when they could not be written. */
typedef bool clo_write(void *user, const char *bytes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
