/*
 * gram_tiles.c - the same Gram matrices with the matrix unit of newer processors (AMX).
 *
 * It multiplies 16 x 32 by 32 x 16 numbers of the format bf16 in one instruction, at eight times
 * the speed of 16-bit integers, and adds up in single precision.  A bf16 has eight bits: integers
 * of magnitude up to 2^8 are exact in it.  Their products over CLO_SHORT_ROWS = 2^8 rows add up to
 * at most 2^24, and integers up to that are exact in single precision: so is every partial sum, in
 * whatever order and association the unit takes (local_gram.T3).  What a block gives then goes on
 * to integers of 32 bits.
 *
 * Of a product A'B the unit wants B with two rows side by side, as blocks lie anyway, and A with
 * the rows of a column behind each other: panels are turned on their way.
 */
#include "linalg/gram_tiles.h"
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PANEL = CLO_SHORT_PANEL, PAIRS = CLO_SHORT_ROWS / 2, LINE = 2 * PANEL, SIDE = 2 };
enum { STEP = 16 /* pairs of rows in a tile */, STEPS = PAIRS / STEP, TILE = STEP * LINE };
_Static_assert(PAIRS % STEP == 0, "whole tiles");
_Static_assert(((uint64_t)CLO_SHORT_ROWS << 16) <= (uint64_t)1 << 24, "single precision");

#define WITH_TILES __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw")))

/* The system keeps the unit's registers for those programs alone that have asked. */
bool clo_i_tiles_allowed(void)
{
    enum { TILES = 1 << 24, OF_BF16 = 1 << 22, ASK_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx512bw") || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        !(d & TILES) || !(d & OF_BF16))
        return false;
    return syscall(SYS_arch_prctl, ASK_PERMISSION, TILE_DATA) == 0;
}

/* ---- into the format ----------------------------------------------------------------------- */

/* Of pairs of 16-bit integers, as floats, the upper halves. */
WITH_TILES static inline __m512i to_bf16(__m512i pairs)
{
    const __m512i even = _mm512_srai_epi32(_mm512_slli_epi32(pairs, 16), 16);
    const __m512i odd = _mm512_srai_epi32(pairs, 16);
    const __m512i low = _mm512_castps_si512(_mm512_cvtepi32_ps(even));
    const __m512i high = _mm512_castps_si512(_mm512_cvtepi32_ps(odd));
    return _mm512_mask_mov_epi16(_mm512_srli_epi32(low, 16), 0xAAAAAAAA, high);
}

WITH_TILES void clo_i_tiles_convert(int16_t *a, size_t pairs, size_t panels)
{
    const size_t whole = (pairs + STEP - 1) / STEP * STEP;
    for (size_t p = 0; p < panels; p++, a += PAIRS * LINE) {
        for (size_t r = 0; r < pairs; r++)
            _mm512_store_si512(a + r * LINE, to_bf16(_mm512_load_si512(a + r * LINE)));
        for (size_t r = pairs; r < whole; r++)
            _mm512_store_si512(a + r * LINE, _mm512_setzero_si512());
    }
}

/* Sixteen lines of sixteen pairs, turned: in fours, and then the fours. */
WITH_TILES static void turn_tile(const int16_t *from, int16_t *to)
{
    __m512i x[STEP], y[STEP];
#pragma GCC unroll 16
    for (size_t i = 0; i < STEP; i++) x[i] = _mm512_load_si512(from + i * LINE);
#pragma GCC unroll 4
    for (size_t i = 0; i < STEP; i += 4) {
        const __m512i a = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        const __m512i b = _mm512_unpackhi_epi32(x[i], x[i + 1]);
        const __m512i c = _mm512_unpacklo_epi32(x[i + 2], x[i + 3]);
        const __m512i d = _mm512_unpackhi_epi32(x[i + 2], x[i + 3]);
        y[i] = _mm512_unpacklo_epi64(a, c);
        y[i + 1] = _mm512_unpackhi_epi64(a, c);
        y[i + 2] = _mm512_unpacklo_epi64(b, d);
        y[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) { /* columns i, i + 4, i + 8, i + 12 */
        const __m512i a = _mm512_shuffle_i32x4(y[i], y[i + 4], 0x88);
        const __m512i b = _mm512_shuffle_i32x4(y[i], y[i + 4], 0xDD);
        const __m512i c = _mm512_shuffle_i32x4(y[i + 8], y[i + 12], 0x88);
        const __m512i d = _mm512_shuffle_i32x4(y[i + 8], y[i + 12], 0xDD);
        _mm512_store_si512(to + i * LINE, _mm512_shuffle_i32x4(a, c, 0x88));
        _mm512_store_si512(to + (i + 4) * LINE, _mm512_shuffle_i32x4(b, d, 0x88));
        _mm512_store_si512(to + (i + 8) * LINE, _mm512_shuffle_i32x4(a, c, 0xDD));
        _mm512_store_si512(to + (i + 12) * LINE, _mm512_shuffle_i32x4(b, d, 0xDD));
    }
}

/* ---- products ------------------------------------------------------------------------------ */

typedef struct room { /* of one thread; 64-byte aligned */
    int16_t turned[SIDE * STEPS * TILE];
    float sums[SIDE * SIDE][PANEL * PANEL];
} room;

/* All tiles are whole: 16 lines of 64 bytes. */
typedef struct shapes {
    uint8_t palette, start, unused[14];
    uint16_t bytes[16];
    uint8_t lines[16];
} shapes;
static const shapes WHOLE = { .palette = 1,
                              .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
                              .lines = { 16, 16, 16, 16, 16, 16, 16, 16 } };

WITH_TILES static void move_on(const float *sums, int32_t *c, size_t width)
{
    for (size_t i = 0; i < PANEL; i++, c += width) {
        const __m512i more = _mm512_cvtps_epi32(_mm512_load_ps(sums + i * PANEL));
        _mm512_store_si512(c, _mm512_add_epi32(_mm512_load_si512(c), more));
    }
}

/* What the unit reads and writes, the compiler does not see. */
#define SEE(memory) __asm__ volatile("" : : "r"(memory) : "memory")

/* Panels that were turned, high of them, with wide others: tiles 0 to 3 hold the sums. */
WITH_TILES __attribute__((always_inline)) static inline void
add_square(room *r, const size_t high, const int16_t *b, const size_t wide, size_t steps)
{
    const int16_t *const a = r->turned, *const below = a + STEPS * TILE;
    const int16_t *const next = b + PAIRS * LINE;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    SEE(a);
    for (size_t s = 0; s < steps; s++) {
        _tile_loadd(4, a + s * TILE, 64);
        _tile_loadd(6, b + s * TILE, 64);
        _tile_dpbf16ps(0, 4, 6);
        if (wide == 2) {
            _tile_loadd(7, next + s * TILE, 64);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (high == 2) {
            _tile_loadd(5, below + s * TILE, 64);
            _tile_dpbf16ps(2, 5, 6);
            if (wide == 2) _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, r->sums[0], 64);
    if (wide == 2) _tile_stored(1, r->sums[1], 64);
    if (high == 2) _tile_stored(2, r->sums[2], 64);
    if (high == 2 && wide == 2) _tile_stored(3, r->sums[3], 64);
    SEE(r);
}

WITH_TILES static void add_squares(room *r, size_t high, const int16_t *b, size_t wide,
                                   size_t steps, int32_t *c, size_t width)
{
    if (high == 2 && wide == 2)
        add_square(r, 2, b, 2, steps);
    else if (high == 2)
        add_square(r, 2, b, 1, steps);
    else if (wide == 2)
        add_square(r, 1, b, 2, steps);
    else
        add_square(r, 1, b, 1, steps);
    for (size_t i = 0; i < high; i++)
        for (size_t j = 0; j < wide; j++)
            move_on(r->sums[SIDE * i + j], c + i * PANEL * width + j * PANEL, width);
}

WITH_TILES void clo_i_tiles_add(const int16_t *a, size_t pairs, size_t first, size_t panels,
                                int32_t *c)
{
    _Alignas(64) room r;
    const size_t steps = (pairs + STEP - 1) / STEP, width = panels * PANEL;
    const size_t high = panels - first < SIDE ? panels - first : SIDE;
    for (size_t i = 0; i < high; i++)
        for (size_t s = 0; s < steps; s++)
            turn_tile(a + ((first + i) * STEPS + s) * TILE, r.turned + (i * STEPS + s) * TILE);
    _tile_loadconfig(&WHOLE);
    for (size_t j = first; j < panels; j += SIDE)
        add_squares(&r, high, a + j * PAIRS * LINE, panels - j < SIDE ? panels - j : SIDE, steps,
                    c + first * PANEL * width + j * PANEL, width);
    _tile_release();
    clo_i_wipe(&r, sizeof r);
}

#else

bool clo_i_tiles_allowed(void)
{
    return false;
}

void clo_i_tiles_convert(int16_t *a, size_t pairs, size_t panels)
{
    (void)a, (void)pairs, (void)panels;
}

void clo_i_tiles_add(const int16_t *a, size_t pairs, size_t first, size_t panels, int32_t *c)
{
    (void)a, (void)pairs, (void)first, (void)panels, (void)c;
}

#endif
