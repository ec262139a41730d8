/*
 * pass_hash.c - a keyed hash of a string of bytes, by which a pass over files is known again.
 *
 *   a file's bytes ──► blocks ──NH, twice──► four words a block ──┐
 *                                    how many bytes it has ────────┴──Poly1305──► pass hash
 *
 * Poly1305 alone would take as long as all else that a pass does to a row.  NH is a product of two
 * words for every two words that are read, which compilers and processors do well as it stands, and
 * it leaves a word of 128; two of them with keys that overlap are twice as hard to deceive.  It is
 * a function of the bytes and of the key alone, whatever the pieces and the threads they come by.
 * flow.T2 has the proof.  Nothing of it ever leaves the process, so that words may be in the order
 * of the machine.
 */
#include "data/pass_hash.h"
#include "base/base.h"
#include "base/key.h"
#include <string.h>

typedef unsigned __int128 u128;

enum {
    BLOCK_WORDS = CLO_PASS_HASH_BLOCK / sizeof(uint64_t),
    SUM_WORDS = CLO_PASS_HASH_SUM / sizeof(uint64_t)
};
_Static_assert(BLOCK_WORDS % 2 == 0, "words come in pairs");
_Static_assert(SUM_WORDS == 4, "two sums of 128 bits");

/* flow.T2: the second sum has the key of the first, a pair further on. */
void clo_i_pass_hash_sums(const clo_i_pass_hash_key *key, const void *bytes, size_t blocks,
                          void *sums)
{
    const uint64_t *const k = key->words;
    const uint8_t *from = bytes;
    uint8_t *to = sums;
    for (size_t b = 0; b < blocks; b++, from += CLO_PASS_HASH_BLOCK, to += CLO_PASS_HASH_SUM) {
        u128 one = 0, two = 0;
        for (size_t i = 0; i < BLOCK_WORDS; i += 2) {
            uint64_t m[2];
            memcpy(m, from + i * sizeof *m, sizeof m);
            one += (u128)(m[0] + k[i]) * (m[1] + k[i + 1]);
            two += (u128)(m[0] + k[i + 2]) * (m[1] + k[i + 3]);
        }
        const uint64_t sum[SUM_WORDS] = { (uint64_t)one, (uint64_t)(one >> 64), (uint64_t)two,
                                          (uint64_t)(two >> 64) };
        memcpy(to, sum, sizeof sum);
    }
}

clo_status clo_i_pass_hash_draw_key(clo_i_pass_hash_key *key, clo_error *err)
{
    if (clo_i_key_draw(CLO_KEY_PASS_HASH, key, sizeof *key)) return CLO_OK;
    return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
}

void clo_i_pass_hash_begin(clo_i_pass_hash *pass_hash, const clo_i_pass_hash_key *key)
{
    pass_hash->key = key;
    pass_hash->bytes = pass_hash->held = 0;
    (void)crypto_onetimeauth_init(&pass_hash->state, key->last);
}

static void put_sums(clo_i_pass_hash *pass_hash, const void *sums, size_t blocks)
{
    (void)crypto_onetimeauth_update(&pass_hash->state, sums, blocks * CLO_PASS_HASH_SUM);
}

void clo_i_pass_hash_add_sums(clo_i_pass_hash *pass_hash, const void *sums, size_t blocks)
{
    pass_hash->bytes += blocks * CLO_PASS_HASH_BLOCK;
    put_sums(pass_hash, sums, blocks);
}

static void end_block(clo_i_pass_hash *pass_hash)
{
    uint8_t sums[CLO_PASS_HASH_SUM];
    clo_i_pass_hash_sums(pass_hash->key, pass_hash->block, 1, sums);
    put_sums(pass_hash, sums, 1);
    clo_i_wipe(sums, sizeof sums);
    pass_hash->held = 0;
}

size_t clo_i_pass_hash_gap(const clo_i_pass_hash *pass_hash)
{
    return pass_hash->held ? CLO_PASS_HASH_BLOCK - pass_hash->held : 0;
}

void clo_i_pass_hash_add(clo_i_pass_hash *pass_hash, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    pass_hash->bytes += count;
    while (count > 0) {
        const size_t left = CLO_PASS_HASH_BLOCK - pass_hash->held;
        const size_t here = count < left ? count : left;
        memcpy(pass_hash->block + pass_hash->held, from, here);
        pass_hash->held += here;
        from += here;
        count -= here;
        if (pass_hash->held == CLO_PASS_HASH_BLOCK) end_block(pass_hash);
    }
}

/* The last block is filled up with zeros; how long the file is says which of them were. */
void clo_i_pass_hash_end_file(clo_i_pass_hash *pass_hash)
{
    if (pass_hash->held) {
        memset(pass_hash->block + pass_hash->held, 0, CLO_PASS_HASH_BLOCK - pass_hash->held);
        end_block(pass_hash);
    }
    (void)crypto_onetimeauth_update(&pass_hash->state, (const uint8_t *)&pass_hash->bytes,
                                    sizeof pass_hash->bytes);
    pass_hash->bytes = 0;
}

void clo_i_pass_hash_end(clo_i_pass_hash *pass_hash, uint8_t out[CLO_PASS_HASH_BYTES])
{
    (void)crypto_onetimeauth_final(&pass_hash->state, out);
    clo_i_wipe(pass_hash, sizeof *pass_hash);
}
