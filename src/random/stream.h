/*
 * stream.h - the inside of a stream, for the files of this folder alone: the samplers take one
 * word at a time, and a function call for each would be most of their work.
 *
 *   clo_stream (ordinary memory)            stream_pages (a secure stream's: pages of their own)
 *   | kind | failed | pages ------------->  | magic | unread | bits | key | 512 words |
 *
 * A secure stream's pages are wiped by the kernel in a forked child.  Then unread is zero, as it is
 * when a block is used up, so the one test that every draw makes anyway finds both; which of the
 * two it was, the magic word tells.  Whether a stream has failed must outlive a fork and is
 * therefore not kept there.
 */
#ifndef CLO_RANDOM_STREAM_H
#define CLO_RANDOM_STREAM_H

#include "random/random.h"
#include <endian.h>

enum { STREAM_WORDS = 512 }; /* a block of 4096 bytes */

typedef enum stream_kind {
    STREAM_SECURE, /* its key is the next of the generator's, which the operating system keyed */
    STREAM_SEEDED, /* keyed by (seed, ask, index) */
    STREAM_BYTES   /* plays back given bytes */
} stream_kind;

typedef struct stream_pages {
    uint64_t magic;
    uint64_t unread; /* words of the block that no one has had; they are its last ones */
    uint64_t bits;   /* single bits still to be handed out, the next one lowest */
    uint64_t bit_count;
    uint64_t fresh; /* whether the key was drawn, and has made nothing yet */
    uint8_t key[32];
    uint64_t words[STREAM_WORDS];
} stream_pages;

struct stream_store;
struct clo_stream {
    stream_pages *pages;
    struct stream_store *store; /* where the pages of a secure stream may lie */
    const uint8_t *bytes;       /* what is left to be played back */
    size_t byte_count;
    stream_kind kind;
    bool failed;
};

/* The next block, or a new key where the pages were wiped.  False: the stream has failed. */
bool clo_i_stream_refill(clo_stream *stream);
/* Nothing more comes out of this stream; clo_i_stream_check will say so. */
void clo_i_stream_fail(clo_stream *stream);

/* 64 uniform bits; 0 from a failed stream, so that whoever loops must look at stream->failed. */
static inline uint64_t next_word(clo_stream *stream)
{
    stream_pages *const pages = stream->pages;
    if (__builtin_expect(pages->unread == 0, 0) && !clo_i_stream_refill(stream)) return 0;
    uint64_t *const place = &pages->words[STREAM_WORDS - pages->unread--];
    const uint64_t word = *place;
    *place = 0; /* what was handed out cannot be read from here again */
    return le64toh(word);
}

/* ---- numbers of which only the digits that mattered exist ---------------- */

/* A uniform real number in [0, 1) in base 2^64, of which count digits have been drawn.  The others
 * are still free: two such numbers are compared by drawing digits until they differ.  A number that
 * wants more than LAZY_DIGITS fails its stream (chance below 2^-900). */
enum { LAZY_DIGITS = 16 };
typedef struct lazy_uniform {
    unsigned count;
    uint64_t digit[LAZY_DIGITS];
} lazy_uniform;

/* One more digit.  False: the stream has failed. */
bool clo_i_lazy_append(clo_stream *stream, lazy_uniform *number);
/* fresh < other; fresh has no digit yet and gets those that decided. */
bool clo_i_lazy_below(clo_stream *stream, lazy_uniform *fresh, lazy_uniform *other);
/* whole + number < factor exp(-numerator/denominator), by as many digits of both sides as it takes.
 * factor * numerator < 2^64; numerator and denominator < 2^32, their ratio < 2^20.  samplers.L2 */
bool clo_i_lazy_below_exp(clo_stream *stream, lazy_uniform *number, uint64_t whole, uint64_t factor,
                          uint64_t numerator, uint64_t denominator);

/* The number factor exp(-numerator/denominator) - whole in [0, 1), and its first digit, written
 * down so that a comparison with it is nearly always that of two words. */
typedef struct scaled_exp {
    uint64_t digit;
    uint32_t whole, factor, numerator, denominator;
} scaled_exp;

/* True with the probability that the number is. */
bool clo_i_uniform_below_exp(clo_stream *stream, const scaled_exp *bound);

/* ---- what samplers share ------------------------------------------------- */

/* True with probability exp(-1). */
bool clo_i_bernoulli_inverse_e(clo_stream *stream);
/* A discrete Laplace sample before it is fitted into 64 bits.  False: the stream has failed. */
bool clo_i_laplace_draw(clo_stream *stream, uint64_t numerator, uint64_t denominator,
                        clo_u128 *magnitude, bool *negative);

#endif
