/*
 * pad.c - vectors of integers under a one-time pad: what carries and stores them sees noise that is
 * uniform, and the one who has the key takes it off again (pad.T1).
 */
#include "parallel/parallel.h"
#include "base/key.h"
#include <cloister/worker.h>
#include <sodium.h>

enum { PIECE = 512, BLOCK_BYTES = 64 }; /* numbers at a time; bytes of a block of ChaCha20 */

_Static_assert((int)CLO_PAD_BYTES == (int)crypto_stream_chacha20_KEYBYTES, "a key of ChaCha20");

/* Numbers from `first` on, which is a multiple of PIECE. */
static void make_pad(const uint8_t *key, size_t first, uint64_t pad[PIECE])
{
    static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES]; /* the key is for one vector */
    for (size_t i = 0; i < PIECE; i++) pad[i] = 0;
    (void)crypto_stream_chacha20_xor_ic((uint8_t *)pad, (const uint8_t *)pad, PIECE * sizeof *pad,
                                        nonce, first * sizeof *pad / BLOCK_BYTES, key);
}

static void apply(const uint8_t *key, int64_t *values, size_t count, bool take_off)
{
    uint64_t pad[PIECE];
    for (size_t first = 0; first < count; first += PIECE) {
        const size_t here = count - first < PIECE ? count - first : PIECE;
        make_pad(key, first, pad);
        for (size_t i = 0; i < here; i++) {
            const uint64_t value = (uint64_t)values[first + i];
            values[first + i] = (int64_t)(take_off ? value - pad[i] : value + pad[i]);
        }
    }
    clo_i_wipe(pad, sizeof pad);
}

void clo_pad_add(const uint8_t key[CLO_PAD_BYTES], int64_t *values, size_t count)
{
    clo_i_key_pad(key, CLO_PAD_BYTES, values, count);
    apply(key, values, count, false);
}

void clo_pad_remove(const uint8_t key[CLO_PAD_BYTES], int64_t *values, size_t count)
{
    apply(key, values, count, true);
}
