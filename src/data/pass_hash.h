/*
 * pass_hash.h - a keyed hash of the bytes of files, by which a pass over them is known again.  For
 * the files of this folder only.
 */
#ifndef CLO_PASS_HASH_H
#define CLO_PASS_HASH_H

#include "base/base.h"
#include <sodium.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLO_PASS_HASH_BLOCK = 4096, /* bytes that become CLO_PASS_HASH_SUM of them */
    CLO_PASS_HASH_SUM = 32,
    CLO_PASS_HASH_BYTES = crypto_onetimeauth_BYTES
};

/* Uniform bytes, all of them. */
typedef struct clo_i_pass_hash_key {
    uint64_t words[CLO_PASS_HASH_BLOCK / sizeof(uint64_t) + 2];
    uint8_t last[crypto_onetimeauth_KEYBYTES];
} clo_i_pass_hash_key;

/* All bytes that a pass over files has read, under a key of its own: two passes over the same bytes
 * have the same pass hash, and over others almost surely not (flow.T2). */
typedef struct clo_i_pass_hash {
    const clo_i_pass_hash_key *key; /* which must outlive it */
    crypto_onetimeauth_state state;
    uint64_t bytes; /* so far, of the file that is read */
    size_t held;    /* of a block that is not full yet */
    uint8_t block[CLO_PASS_HASH_BLOCK];
} clo_i_pass_hash;

CLO_CHECK clo_status clo_i_pass_hash_draw_key(clo_i_pass_hash_key *key, clo_error *err);
void clo_i_pass_hash_begin(clo_i_pass_hash *pass_hash, const clo_i_pass_hash_key *key);
void clo_i_pass_hash_add(clo_i_pass_hash *pass_hash, const void *bytes, size_t count);
/* A file ends here, and what is added from now on is of the next one.  Each must end so. */
void clo_i_pass_hash_end_file(clo_i_pass_hash *pass_hash);
void clo_i_pass_hash_end(clo_i_pass_hash *pass_hash, uint8_t out[CLO_PASS_HASH_BYTES]); /* wipes */

/* The same by several threads: what whole blocks come to, CLO_PASS_HASH_SUM bytes each, which is
 * then added in their order where no block is half full. */
void clo_i_pass_hash_sums(const clo_i_pass_hash_key *key, const void *bytes, size_t blocks,
                          void *sums);
void clo_i_pass_hash_add_sums(clo_i_pass_hash *pass_hash, const void *sums, size_t blocks);
/* How many bytes are missing of the block that is half full; 0: none is. */
size_t clo_i_pass_hash_gap(const clo_i_pass_hash *pass_hash);

#endif
