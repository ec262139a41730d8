/*
 * partition_internal.h - the tree of partition.c while it grows: which cubes are active, and which
 * records lie in which of their children: sorted (partition_tree.c), or counted as a sum
 * (partition_counts.c).
 */
#ifndef CLO_PARTITION_INTERNAL_H
#define CLO_PARTITION_INTERNAL_H

#include "query/partition.h"
#include "ask/fold.h"

typedef unsigned __int128 clo_child; /* which half along each axis, the first axis highest */

enum {
    CLO_PARTITION_BITS = 20,
    CLO_PARTITION_SPAN_BITS = CLO_PARTITION_BITS + 2, /* of the first cube's edge */
    CLO_PHANTOM_BITS = 3
};

/* A record in the child of an active cube. */
typedef struct clo_member {
    clo_child child;
    size_t row;
    uint32_t parent;
} clo_member;

/* An active child of the active cube `parent`, and where its members stand. */
typedef struct clo_cube {
    clo_child child;
    size_t first, end;
    uint32_t parent;
} clo_cube;

typedef struct clo_cube_list {
    clo_cube *cubes;
    size_t count, room;
} clo_cube_list;

typedef struct clo_tree {
    size_t cols, rows, alive;
    size_t most;            /* cubes of a level that are divided further, and told of */
    size_t count;           /* of the level's active cubes ... */
    int32_t *corners;       /* ... their lower corners: most x cols, on the grid */
    int32_t *below;         /* the next level's */
    uint64_t *words;        /* where children are counted: a level's ask ... */
    const int64_t *counts;  /* ... and its sum: count x 2^cols; NULL: records are sorted */
    uint32_t *home;         /* rows: the active cube of each record; UINT32_MAX: none */
    clo_member *members;    /* alive of them, by parent and child */
    clo_member *sorted;     /* as many: where they are sorted to */
    clo_cube_list active;   /* the next level */
    clo_cube_list phantoms; /* of one cube */
    double *scratch;        /* of a pass */
} clo_tree;

/* Cubes of a level, at most, and whether their children are few enough for a table of all. */
size_t clo_i_tree_cubes(const clo_line *line);
bool clo_i_tree_is_counted(const clo_line *line);
/* The part of its room that follows the line alone. */
CLO_CHECK clo_status clo_i_tree_lay_out(const clo_line *line, clo_workspace *space, clo_tree *tree,
                                        clo_error *err);
/* Room for a tree, from the workspace but for the lists of cubes, which are as long as the answer;
 * whatever comes of it, to be freed. */
CLO_CHECK clo_status clo_i_tree_take(clo_context *context, const clo_line *line,
                                     const clo_bounded *data, clo_tree *tree, clo_error *err);
/* The part of it that follows the number of rows. */
CLO_CHECK clo_status clo_i_tree_lay_out_rows(size_t rows, clo_workspace *space, clo_tree *tree,
                                             clo_error *err);
void clo_i_tree_free(clo_tree *tree);
/* The cube that holds all records, at a random public place, and nothing else. */
CLO_CHECK clo_status clo_i_tree_plant(clo_context *context, clo_tree *tree, clo_error *err);
/* Finds the members of the children that the active cubes have on this level. */
CLO_CHECK clo_status clo_i_tree_sort(clo_context *context, const clo_bounded *data, clo_tree *tree,
                                     size_t level, clo_error *err);
/* Makes tree->active, which is a released value, the level's cubes, and tells their centres. */
void clo_i_tree_descend(clo_tree *tree, size_t level, clo_cubes *out);
/* The next child of an active cube that holds records, in increasing order, and how many; false:
 * there is none.  *from: 0 before the first cube of a level, then as it was left. */
bool clo_i_tree_next(const clo_tree *tree, uint32_t parent, size_t *from, clo_cube *child,
                     size_t *records);
CLO_CHECK clo_status clo_i_cube_push(clo_cube_list *list, clo_cube cube, clo_error *err);

/* ---- counted: partition_counts.c ------------------------------------------------------------- */

/* Asks how many records each child of the level's cubes has; in the tree's words. */
clo_ask clo_i_tree_ask(const clo_tree *tree, size_t level);
/* Members of the query. */
clo_reading clo_i_partition_reading(const clo_line *line);
size_t clo_i_partition_entries(const clo_line *line, size_t cols, const clo_ask *ask);
CLO_CHECK clo_status clo_i_partition_check(const clo_ask *ask, size_t cols, clo_error *err);
CLO_CHECK clo_status clo_i_partition_lay_out_counts(clo_fold *fold, clo_workspace *space,
                                                    clo_error *err);
clo_visit clo_i_partition_count_block;
void clo_i_partition_gather(clo_fold *fold);

#endif
