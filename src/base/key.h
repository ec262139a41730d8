/*
 * key.h - the one place where keys are made, and all else that must be drawn from the operating
 * system: there is no other call of getrandom in the library.
 *
 * A key is drawn for one use.  Whoever is about to use it for the first time takes it, with the
 * size that it is used in; whoever uses it again knows it.  In the test build
 * (-Dfault_injection=true) a key that was not drawn here, was drawn shorter than it is used, was
 * drawn for something else, or is taken a second time, ends the process with a sentence.
 * Everywhere else taking and knowing are nothing at all.
 */
#ifndef CLO_KEY_H
#define CLO_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row a use: name, what it is for. */
#define CLO_KEY_LIST(X)                                                                            \
    X(STREAM, "a stream of noise")                                                                 \
    X(CACHE, "a cache of bounded rows")                                                            \
    X(ROW_HASH, "the row hash of one run")                                                         \
    X(PASS_HASH, "the pass hash of a scan")                                                        \
    X(PERSONS, "the hashes of persons")                                                            \
    X(ROWS, "the hashes of rows")                                                                  \
    X(LEDGER, "a ledger")                                                                          \
    X(IDENTITY, "the identity of a ledger")                                                        \
    X(TOKEN, "a token")                                                                            \
    X(CODE, "the code of a move")                                                                  \
    X(PARCEL, "a parcel")

typedef enum clo_key_use {
#define X(name, what) CLO_KEY_##name,
    CLO_KEY_LIST(X)
#undef X
        CLO_KEY_USES
} clo_key_use;

/* Fills so many bytes; false where the operating system gives none. */
__attribute__((warn_unused_result)) bool clo_i_key_draw(clo_key_use use, void *key, size_t count);

#ifdef CLO_FAULT_INJECTION
/* A generator has drawn it from a stream of its own, which the operating system keyed. */
void clo_i_key_made(clo_key_use use, const void *key, size_t count);
void clo_i_key_take(clo_key_use use, const void *key, size_t count);
void clo_i_key_know(const void *key, size_t count);
/* It was drawn by another process, which sent it, or by the caller. */
void clo_i_key_told(const void *key, size_t count);
/* A pad goes on these numbers: on any others it would be no pad. */
void clo_i_key_pad(const void *key, size_t bytes, const int64_t *values, size_t count);
#else
static inline void clo_i_key_made(clo_key_use use, const void *key, size_t count)
{
    (void)use, (void)key, (void)count;
}
static inline void clo_i_key_take(clo_key_use use, const void *key, size_t count)
{
    (void)use, (void)key, (void)count;
}
static inline void clo_i_key_know(const void *key, size_t count)
{
    (void)key, (void)count;
}
static inline void clo_i_key_told(const void *key, size_t count)
{
    (void)key, (void)count;
}
static inline void clo_i_key_pad(const void *key, size_t bytes, const int64_t *values, size_t count)
{
    (void)key, (void)bytes, (void)values, (void)count;
}
#endif

/* For the fault tests alone: the n-th request for the operating system's bytes from now on fails
 * (1: the next one); 0 switches it off.  Compiled in only with -Dfault_injection=true. */
void clo_i_fail_entropy(uint64_t n);

#endif
