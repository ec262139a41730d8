/*
 * gram_short.c - Gram matrices of small integers, in 16 bits: exact, and twice as quick as floats.
 *
 * A processor multiplies pairs of 16-bit integers and adds the two products up in 32 bits in one
 * instruction.  So two rows lie side by side, and a panel of 16 columns is as wide as the widest
 * vector:
 *
 *   panel 0: rows 0, 1 of column 0 | rows 0, 1 of column 1 | ... | rows 2, 3 of column 0 | ...
 *
 * A tile of the matrix stays in registers while all rows of a block go by.  Integers are added
 * exactly in any order, so that every kernel below gives the same matrix, and so does the matrix
 * unit of newer processors (gram_tiles.c).
 */
#include "linalg/gram_tiles.h"
#include <omp.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { PANEL = CLO_SHORT_PANEL, PAIRS = CLO_SHORT_ROWS / 2, WIDEST_TILE = 2 /* panels */ };

/* Of a panel of columns with one or two others behind each other: c is of `width` columns. */
typedef void add_tiles(const int16_t *a, const int16_t *b, size_t pairs, size_t panels, int32_t *c,
                       size_t width);

static void add_plain(const int16_t *a, const int16_t *b, size_t pairs, size_t panels, int32_t *c,
                      size_t width)
{
    for (size_t p = 0; p < panels; p++, b += 2 * PANEL * PAIRS, c += PANEL)
        for (size_t r = 0; r < pairs; r++)
            for (size_t i = 0; i < PANEL; i++) {
                const int32_t x = a[2 * (r * PANEL + i)], y = a[2 * (r * PANEL + i) + 1];
                const int16_t *const pair = b + 2 * r * PANEL;
                for (size_t j = 0; j < PANEL; j++)
                    c[i * width + j] += x * pair[2 * j] + y * pair[2 * j + 1];
            }
}

#if defined(__x86_64__)

/* The pair of rows of one column, as one number of 32 bits. */
static inline int32_t pair_at(const int16_t *a)
{
    int32_t both;
    memcpy(&both, a, sizeof both);
    return both;
}

/* Two products each to 16 sums: in one instruction where the processor has it (VNNI), which the
 * compiler need not be told. */
__attribute__((target("avx512f,avx512bw"), always_inline)) static inline __m512i
add_products(const bool at_once, __m512i sums, __m512i a, __m512i b)
{
    if (!at_once) return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
    return sums;
}

/* Eight columns with one panel or two: 8 or 16 sums of 16 numbers each. */
__attribute__((target("avx512f,avx512bw"), always_inline)) static inline void
add_tile_512(const bool at_once, const int16_t *a, const int16_t *b, size_t pairs,
             const size_t panels, int32_t *c, size_t width)
{
    __m512i sums[8][WIDEST_TILE];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
#pragma GCC unroll 2
        for (size_t p = 0; p < panels; p++) sums[i][p] = _mm512_setzero_si512();
    for (size_t r = 0; r < pairs; r++) {
        __m512i wide[WIDEST_TILE];
#pragma GCC unroll 2
        for (size_t p = 0; p < panels; p++)
            wide[p] = _mm512_load_si512(b + 2 * (p * PAIRS + r) * PANEL);
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++) {
            const __m512i one = _mm512_set1_epi32(pair_at(a + 2 * (r * PANEL + i)));
#pragma GCC unroll 2
            for (size_t p = 0; p < panels; p++)
                sums[i][p] = add_products(at_once, sums[i][p], one, wide[p]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
#pragma GCC unroll 2
        for (size_t p = 0; p < panels; p++) {
            int32_t *const at = c + i * width + p * PANEL;
            _mm512_store_si512(at, _mm512_add_epi32(_mm512_load_si512(at), sums[i][p]));
        }
}

__attribute__((target("avx512f,avx512bw"))) static void
add_512(const int16_t *a, const int16_t *b, size_t pairs, size_t panels, int32_t *c, size_t width)
{
    for (size_t i = 0; i < PANEL; i += 8)
        if (panels == 2)
            add_tile_512(false, a + 2 * i, b, pairs, 2, c + i * width, width);
        else
            add_tile_512(false, a + 2 * i, b, pairs, 1, c + i * width, width);
}

__attribute__((target("avx512f,avx512bw"))) static void
add_dots(const int16_t *a, const int16_t *b, size_t pairs, size_t panels, int32_t *c, size_t width)
{
    for (size_t i = 0; i < PANEL; i += 8)
        if (panels == 2)
            add_tile_512(true, a + 2 * i, b, pairs, 2, c + i * width, width);
        else
            add_tile_512(true, a + 2 * i, b, pairs, 1, c + i * width, width);
}

/* Four columns with one panel: 8 sums of 8 numbers each. */
__attribute__((target("avx2"))) static void add_tile_256(const int16_t *a, const int16_t *b,
                                                         size_t pairs, int32_t *c, size_t width)
{
    __m256i sums[4][2];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) sums[i][0] = sums[i][1] = _mm256_setzero_si256();
    for (size_t r = 0; r < pairs; r++) {
        const __m256i *const wide = (const __m256i *)(const void *)(b + 2 * r * PANEL);
        const __m256i low = _mm256_load_si256(wide), high = _mm256_load_si256(wide + 1);
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            const __m256i one = _mm256_set1_epi32(pair_at(a + 2 * (r * PANEL + i)));
            sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(one, low));
            sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(one, high));
        }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
#pragma GCC unroll 2
        for (size_t h = 0; h < 2; h++) {
            __m256i *const at = (__m256i *)(void *)(c + i * width + 8 * h);
            _mm256_store_si256(at, _mm256_add_epi32(_mm256_load_si256(at), sums[i][h]));
        }
}

__attribute__((target("avx2"))) static void
add_256(const int16_t *a, const int16_t *b, size_t pairs, size_t panels, int32_t *c, size_t width)
{
    for (size_t p = 0; p < panels; p++)
        for (size_t i = 0; i < PANEL; i += 4)
            add_tile_256(a + 2 * i, b + 2 * p * PAIRS * PANEL, pairs, c + i * width + p * PANEL,
                         width);
}

#endif

static add_tiles *kernel_of(clo_short_kernel kernel)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool widest = __builtin_cpu_supports("avx512bw"), wide = __builtin_cpu_supports("avx2");
    const bool dots = widest && __builtin_cpu_supports("avx512vnni");
    if (dots && kernel >= CLO_SHORT_DOTS) return add_dots;
    if (widest && kernel >= CLO_SHORT_512) return add_512;
    if (wide && kernel >= CLO_SHORT_256) return add_256;
#endif
    (void)kernel;
    return add_plain;
}

size_t clo_i_short_width(size_t cols)
{
    return (cols + PANEL - 1) / PANEL * PANEL;
}

/* Columns behind the last hold nothing, and stay so. */
CLO_WIDE void clo_i_short_pair(const int16_t *even, const int16_t *odd, size_t pair, size_t cols,
                               int16_t *a)
{
    for (size_t j = 0; j < cols; j += PANEL) {
        int16_t *const panel = a + 2 * PANEL * (j / PANEL * PAIRS + pair);
        const size_t count = cols - j < PANEL ? cols - j : PANEL;
        for (size_t i = 0; i < count; i++) {
            panel[2 * i] = even[j + i];
            panel[2 * i + 1] = odd[j + i];
        }
    }
}

clo_short_kernel clo_i_short_best(void)
{
    return clo_i_tiles_allowed() ? CLO_SHORT_TILES : CLO_SHORT_DOTS;
}

/* A group of panels with all before it. */
static void add_group(add_tiles *add, const int16_t *a, size_t pairs, size_t first, size_t here,
                      int32_t *c, size_t width)
{
    for (size_t i = 0; i < first + here; i++)
        add(a + 2 * i * PAIRS * PANEL, a + 2 * first * PAIRS * PANEL, pairs, here,
            c + i * PANEL * width + first * PANEL, width);
}

void clo_i_gram_short_add(int16_t *a, size_t pairs, size_t cols, int threads,
                          clo_short_kernel kernel, int32_t *c)
{
    add_tiles *const add = kernel_of(kernel);
    const bool tiles = kernel == CLO_SHORT_TILES;
    const size_t width = clo_i_short_width(cols), panels = width / PANEL;
    const size_t groups = (panels + WIDEST_TILE - 1) / WIDEST_TILE;
    if (tiles) clo_i_tiles_convert(a, pairs, panels);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (size_t g = 0; g < groups; g++) { /* the longest first */
        const size_t j = (tiles ? g : groups - 1 - g) * WIDEST_TILE;
        if (tiles)
            clo_i_tiles_add(a, pairs, j, panels, c);
        else
            add_group(add, a, pairs, j, panels - j < WIDEST_TILE ? panels - j : WIDEST_TILE, c,
                      width);
    }
}
