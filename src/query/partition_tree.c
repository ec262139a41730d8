/*
 * partition_tree.c - where the records lie in a tree of cubes: exact integers throughout.
 *
 * On the grid of 20 bits with R = 2^20 the first cube is v + [-2R, 2R)^p with a public v in
 * (-R, R]^p, and holds every record; a cube of level l has edges of 4R / 2^l.  In which child a
 * record lies is one bit of each of its coordinates.  The members of a level are sorted by cube and
 * child, so that noise is drawn in an order that is a function of the sets alone: neither the order
 * of the rows nor the number of threads shows.
 */
#include "query/partition_internal.h"
#include "bound/bound.h"
#include "random/random.h"
#include "query/partition.h"
#include <math.h>
#include <string.h>

enum { R = 1 << CLO_PARTITION_BITS, SPAN_BITS = CLO_PARTITION_SPAN_BITS, DIGIT_BITS = 11 };
static const uint32_t NOWHERE = UINT32_MAX;

size_t clo_i_tree_cubes(const clo_line *line)
{
    const size_t share = line->groups / clo_i_partition_fields(line).levels;
    return share < 1 ? 1 : share;
}

clo_status clo_i_tree_lay_out(const clo_line *line, clo_workspace *space, clo_tree *tree,
                              clo_error *err)
{
    const size_t most = clo_i_tree_cubes(line), words = 1 + most * line->cols;
    *tree = (clo_tree){ .cols = line->cols, .most = most };
    CLO_TRY(clo_i_take(space, most * line->cols, sizeof(int32_t), &tree->corners, err));
    CLO_TRY(clo_i_take(space, most * line->cols, sizeof(int32_t), &tree->below, err));
    return clo_i_take(space, clo_i_tree_is_counted(line) ? words : 0, sizeof *tree->words,
                      &tree->words, err);
}

/* One more than there are rows, so that none at all have a place, too. */
clo_status clo_i_tree_lay_out_rows(size_t rows, clo_workspace *space, clo_tree *tree,
                                   clo_error *err)
{
    CLO_TRY(clo_i_take(space, rows + 1, sizeof *tree->home, &tree->home, err));
    CLO_TRY(clo_i_take(space, rows + 1, sizeof *tree->members, &tree->members, err));
    return clo_i_take(space, rows + 1, sizeof *tree->sorted, &tree->sorted, err);
}

clo_status clo_i_tree_take(clo_context *context, const clo_line *line, const clo_bounded *data,
                           clo_tree *tree, clo_error *err)
{
    clo_workspace *const space = context->workspace;
    const size_t rows = clo_i_bounded_rows(data);
    CLO_TRY(clo_i_tree_lay_out(line, space, tree, err));
    if (clo_i_tree_is_counted(line)) return CLO_OK;
    tree->rows = rows;
    CLO_TRY(clo_i_take(space, clo_i_pass_scratch(context, data, context->threads), sizeof(double),
                       &tree->scratch, err));
    return clo_i_tree_lay_out_rows(rows, space, tree, err);
}

void clo_i_tree_free(clo_tree *tree)
{
    clo_i_wipe_free(tree->active.cubes, tree->active.room * sizeof(clo_cube));
    clo_i_wipe_free(tree->phantoms.cubes, tree->phantoms.room * sizeof(clo_cube));
}

clo_status clo_i_cube_push(clo_cube_list *list, clo_cube cube, clo_error *err)
{
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        CLO_TRY(clo_i_resize(&list->cubes, list->room, room, sizeof *list->cubes, err));
        list->room = room;
    }
    list->cubes[list->count++] = cube;
    return CLO_OK;
}

clo_status clo_i_tree_plant(clo_context *context, clo_tree *tree, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t j = 0; j < tree->cols; j++)
        tree->corners[j] = 1 - 3 * R + (int32_t)clo_i_random_below(stream, 2 * R);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    tree->count = 1;
    if (tree->rows) memset(tree->home, 0, tree->rows * sizeof *tree->home);
    return status;
}

/* ---- who lies where ------------------------------------------------------------------------- */

typedef struct work {
    clo_tree *tree;
    size_t block_rows;
    int shift; /* the bit that tells the halves of a cube's edge apart */
} work;

static clo_status place_block(void *user, int thread, size_t block, const double *values,
                              size_t rows)
{
    const work *const w = user;
    const clo_tree *const tree = w->tree;
    (void)thread;
    for (size_t i = 0; i < rows; i++) {
        const size_t row = block * w->block_rows + i;
        const uint32_t home = tree->home[row];
        clo_child child = 0;
        if (home != NOWHERE) {
            const int32_t *const corner = tree->corners + (size_t)home * tree->cols;
            const double *const record = values + i * tree->cols;
            for (size_t j = 0; j < tree->cols; j++)
                child = child << 1 | (((int32_t)record[j] - corner[j]) >> w->shift & 1);
        }
        tree->members[row] = (clo_member){ .child = child, .row = row, .parent = home };
    }
    return CLO_OK;
}

/* Stable, by one digit of the number that `child` or `parent` is. */
static void sort_by_digit(clo_tree *tree, bool by_parent, size_t shift)
{
    size_t places[1 << DIGIT_BITS] = { 0 }, next = 0;
    const clo_member *const from = tree->members;
    clo_member *const to = tree->sorted;
#define DIGIT(m)                                                                                   \
    ((size_t)((by_parent ? (m)->parent : (m)->child) >> shift) & (((size_t)1 << DIGIT_BITS) - 1))
    for (size_t i = 0; i < tree->alive; i++) places[DIGIT(&from[i])]++;
    for (size_t digit = 0; digit < ((size_t)1 << DIGIT_BITS); digit++) {
        const size_t here = places[digit];
        places[digit] = next;
        next += here;
    }
    for (size_t i = 0; i < tree->alive; i++) to[places[DIGIT(&from[i])]++] = from[i];
#undef DIGIT
    tree->sorted = tree->members;
    tree->members = to;
}

/* By parent, then by child: digit by digit from the lowest on, in time that is linear in rows. */
static void sort_members(clo_tree *tree)
{
    for (size_t shift = 0; shift < tree->cols; shift += DIGIT_BITS)
        sort_by_digit(tree, false, shift);
    for (size_t shift = 0; (tree->count - 1) >> shift; shift += DIGIT_BITS)
        sort_by_digit(tree, true, shift);
}

clo_status clo_i_tree_sort(clo_context *context, const clo_bounded *data, clo_tree *tree,
                           size_t level, clo_error *err)
{
    work w = { .tree = tree,
               .block_rows = clo_i_pass_block_rows(context, data),
               .shift = SPAN_BITS - (int)level };
    CLO_TRY(clo_i_pass(context, data, CLO_PARTITION_BITS, context->threads, tree->scratch,
                       place_block, &w, err));
    tree->alive = 0;
    for (size_t row = 0; row < tree->rows; row++)
        if (tree->members[row].parent != NOWHERE) tree->members[tree->alive++] = tree->members[row];
    sort_members(tree);
    return CLO_OK;
}

static bool next_counted(const clo_tree *tree, uint32_t parent, size_t *from, clo_cube *child,
                         size_t *records)
{
    const size_t first = (size_t)parent << tree->cols, end = first + ((size_t)1 << tree->cols);
    while (*from < end && tree->counts[*from] <= 0) ++*from;
    if (*from == end) return false;
    *child = (clo_cube){ .parent = parent, .child = *from - first };
    *records = (size_t)tree->counts[(*from)++];
    return true;
}

bool clo_i_tree_next(const clo_tree *tree, uint32_t parent, size_t *from, clo_cube *child,
                     size_t *records)
{
    const clo_member *const members = tree->members;
    if (tree->counts) return next_counted(tree, parent, from, child, records);
    if (*from == tree->alive || members[*from].parent != parent) return false;
    *child = (clo_cube){ .parent = parent, .child = members[*from].child, .first = *from };
    while (*from < tree->alive && members[*from].parent == parent &&
           members[*from].child == child->child)
        ++*from;
    child->end = *from;
    *records = child->end - child->first;
    return true;
}

/* ---- the next level ------------------------------------------------------------------------- */

/* Of more cubes than are kept, those at even distances in their order, which runs through space: a
 * function of the released ones alone. */
static void thin_out(clo_tree *tree)
{
    clo_cube_list *const list = &tree->active;
    if (list->count <= tree->most) return;
    for (size_t i = 0; i < tree->most; i++)
        list->cubes[i] = list->cubes[(size_t)((unsigned __int128)i * list->count / tree->most)];
    list->count = tree->most;
}

void clo_i_tree_descend(clo_tree *tree, size_t level, clo_cubes *out)
{
    const size_t cols = tree->cols;
    const int32_t edge = (int32_t)1 << (SPAN_BITS - (int)level);
    CLO_I_DECLASSIFY(&tree->active.count, sizeof tree->active.count);
    thin_out(tree);
    for (size_t row = 0; row < tree->rows; row++) tree->home[row] = NOWHERE;
    for (size_t i = 0; i < tree->active.count; i++) {
        clo_cube *const cube = &tree->active.cubes[i];
        int32_t *const corner = tree->below + i * cols;
        double *const center = out->centers + (out->count + i) * cols;
        CLO_I_DECLASSIFY(&cube->child, sizeof cube->child);
        CLO_I_DECLASSIFY(&cube->parent, sizeof cube->parent);
        for (size_t j = 0; j < cols; j++) {
            const int32_t half = (int32_t)(cube->child >> (cols - 1 - j) & 1);
            corner[j] = tree->corners[(size_t)cube->parent * cols + j] + half * edge;
            center[j] = (corner[j] + 0.5 * edge) / R;
        }
        for (size_t m = cube->first; m < cube->end; m++)
            tree->home[tree->members[m].row] = (uint32_t)i;
    }
    out->count += tree->active.count;
    tree->count = tree->active.count;
    int32_t *const corners = tree->corners;
    tree->corners = tree->below;
    tree->below = corners;
}
