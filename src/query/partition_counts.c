/*
 * partition_counts.c - how many records lie in each child of a level's active cubes: a sum, where a
 * table of all children is small enough (partition.T3).
 *
 * A level's active cubes are public, as they were released.  In which of them a record lies, and in
 * which child, follows from that record and from the cubes' corners alone; so rows need not be held
 * and may lie anywhere.  The cubes of a level are alike and at distances of whole edges: a record's
 * place is counted in edges from the first of them, and looked up.
 */
#include "query/partition_internal.h"
#include "ask/fold.h"
#include "bound/bound.h"
#include <string.h>

/* Children of all cubes of a level, at most.  Numbers of eight bytes, twice; with more, a level is
 * sorted in one process. */
enum { MOST_CHILDREN = 1 << 21, FARTHEST = 4 << CLO_PARTITION_BITS };

bool clo_i_tree_is_counted(const clo_line *line)
{
    return line->cols < 21 && clo_i_tree_cubes(line) << line->cols <= MOST_CHILDREN;
}

clo_reading clo_i_partition_reading(const clo_line *line)
{
    return clo_i_tree_is_counted(line) ? CLO_READING_SUM : CLO_READING_WHOLE;
}

/* ---- the ask: a level, and the corners of its cubes ------------------------------------------ */

static size_t cubes_of(const clo_ask *ask)
{
    return ask->word_count ? (ask->word_count - 1) / ask->line->cols : 0;
}

size_t clo_i_partition_entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols;
    if (!clo_i_tree_is_counted(line)) return 0;
    return (ask ? cubes_of(ask) : clo_i_tree_cubes(line)) << line->cols;
}

/* log2 of the edge of the cubes that a level divides. */
static int edge_bits(uint64_t level)
{
    return CLO_PARTITION_SPAN_BITS - (int)(level - 1);
}

static bool corners_fit(const clo_ask *ask)
{
    const size_t cols = ask->line->cols, count = cubes_of(ask);
    const uint64_t *const first = ask->words + 1;
    const int64_t within = ((int64_t)1 << edge_bits(ask->words[0])) - 1;
    for (size_t e = 0; e < count * cols; e++) {
        const int64_t place = (int64_t)first[e];
        if (place < -FARTHEST || place > FARTHEST) return false;
        if ((place - (int64_t)first[e % cols]) & within) return false;
    }
    return true;
}

clo_status clo_i_partition_check(const clo_ask *ask, size_t cols, clo_error *err)
{
    const clo_line *const line = ask->line;
    const size_t count = cubes_of(ask);
    (void)cols;
    if (clo_i_tree_is_counted(line) && ask->rule_count == 0 && count >= 1 &&
        count <= clo_i_tree_cubes(line) && ask->word_count == 1 + count * line->cols &&
        ask->words[0] >= 1 && ask->words[0] <= clo_i_partition_fields(line).levels &&
        corners_fit(ask))
        return CLO_OK;
    return clo_i_fail(err, CLO_INTERNAL, "the cubes are not those of the plan");
}

clo_ask clo_i_tree_ask(const clo_tree *tree, size_t level)
{
    tree->words[0] = level;
    for (size_t e = 0; e < tree->count * tree->cols; e++)
        tree->words[1 + e] = (uint64_t)(int64_t)tree->corners[e];
    return (clo_ask){ .words = tree->words, .word_count = 1 + tree->count * tree->cols };
}

/* ---- the fold -------------------------------------------------------------------------------- */

typedef struct work {
    int64_t *counts;  /* a child each, of all threads */
    int32_t *corners; /* cubes x cols */
    uint32_t *slots;  /* a table of cubes by their place: the number of one, and one more */
    size_t mask;      /* slots, less one: a power of 2 */
    int edge;         /* log2 */
} work;
CLO_FOLD_WORK_OF(work)

static size_t slots_for(size_t cubes)
{
    size_t slots = 2;
    while (slots < 2 * cubes) slots *= 2;
    return slots;
}

/* In edges from the first cube. */
static int32_t place_of(const work *w, size_t j, int32_t x)
{
    return (x - w->corners[j]) >> w->edge;
}

static size_t hash_more(size_t hash, int32_t place)
{
    hash = (hash ^ (uint32_t)place) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void insert(work *w, size_t cube, size_t cols)
{
    size_t slot = 0;
    for (size_t j = 0; j < cols; j++)
        slot = hash_more(slot, place_of(w, j, w->corners[cube * cols + j]));
    while (w->slots[slot & w->mask]) slot++;
    w->slots[slot & w->mask] = (uint32_t)cube + 1;
}

clo_status clo_i_partition_lay_out_counts(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    const size_t cols = fold->line->cols;
    const size_t cubes = fold->ask ? cubes_of(fold->ask) : clo_i_tree_cubes(fold->line);
    work *const w = work_of(fold);
    CLO_TRY(clo_i_take(space, cubes << cols, sizeof *w->counts, &w->counts, err));
    CLO_TRY(clo_i_take(space, cubes * cols, sizeof *w->corners, &w->corners, err));
    CLO_TRY(clo_i_take(space, slots_for(cubes), sizeof *w->slots, &w->slots, err));
    if (!fold->ask) return CLO_OK;
    w->mask = slots_for(cubes) - 1;
    w->edge = edge_bits(fold->ask->words[0]);
    for (size_t e = 0; e < cubes * cols; e++)
        w->corners[e] = (int32_t)(int64_t)fold->ask->words[1 + e];
    for (size_t cube = 0; cube < cubes; cube++) insert(w, cube, cols);
    return CLO_OK;
}

/* The cube that a record lies in; UINT32_MAX: none that is active. */
static uint32_t cube_of(const work *w, size_t cols, const double *record)
{
    size_t slot = 0;
    for (size_t j = 0; j < cols; j++) slot = hash_more(slot, place_of(w, j, (int32_t)record[j]));
    for (uint32_t at; (at = w->slots[slot & w->mask]) != 0; slot++) {
        const int32_t *const corner = w->corners + (size_t)(at - 1) * cols;
        size_t j = 0;
        while (j < cols && ((int32_t)record[j] - corner[j]) >> w->edge == 0) j++;
        if (j == cols) return at - 1;
    }
    return UINT32_MAX;
}

/* Adding integers one by one gives the same sums in any order. */
clo_status clo_i_partition_count_block(void *user, int thread, size_t block, const double *values,
                                       size_t rows)
{
    clo_fold *const fold = user;
    const work *const w = work_of(fold);
    const size_t cols = fold->line->cols;
    (void)thread, (void)block;
    for (size_t i = 0; i < rows; i++) {
        const double *const record = values + i * cols;
        const uint32_t cube = cube_of(w, cols, record);
        if (cube == UINT32_MAX) continue;
        const int32_t *const corner = w->corners + (size_t)cube * cols;
        size_t child = 0;
        for (size_t j = 0; j < cols; j++)
            child = child << 1 | (size_t)(((int32_t)record[j] - corner[j]) >> (w->edge - 1) & 1);
        int64_t *const count = &w->counts[((size_t)cube << cols) + child];
#pragma omp atomic
        ++*count;
    }
    return CLO_OK;
}

void clo_i_partition_gather(clo_fold *fold)
{
    const int64_t *const counts = work_of(fold)->counts;
    for (size_t c = 0; c < fold->entries; c++)
        fold->totals[c] = (int64_t)((uint64_t)fold->totals[c] + (uint64_t)counts[c]);
}
