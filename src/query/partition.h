/* partition.h - a tree of cubes that hold many records, by noise on how many. */
#ifndef CLO_QUERY_PARTITION_H
#define CLO_QUERY_PARTITION_H

#include "ask/query.h"

/* Cubes that hold many records, on several levels: each level halves the active cubes of the one
 * before along every axis and finds, with noise, which of the parts are active in turn.  The first
 * cube holds the ball, at a random public place.  partition.T1, partition.T2 */
enum { CLO_PARTITION_COLS = 124, CLO_PARTITION_LEVELS = 20 };

typedef struct clo_cube_tree {
    size_t levels;
    uint64_t trees;   /* how often it is asked */
    size_t most;      /* centres of an answer: of each level an equal share at most */
    double threshold; /* of records in a cube, in scales of the noise; 0: the least */
} clo_cube_tree;

typedef struct clo_cubes {
    double *centers; /* most x cols, in unit-ball coordinates; outside of the ball, too */
    size_t count;
} clo_cubes;

typedef struct clo_partition_fields {
    size_t levels;
    uint64_t threshold; /* of records in a cube */
} clo_partition_fields;
CLO_LINE_FIELDS(partition, clo_partition_fields)

/* epsilon: of one level of one tree. */
CLO_CHECK clo_status clo_i_plan_partition(const clo_domain *domain, const clo_cube_tree *how,
                                          double epsilon, const char *label, clo_line *out,
                                          clo_error *err);
CLO_CHECK clo_status clo_i_ask_partition(clo_context *context, size_t line, const clo_bounded *data,
                                         clo_cubes *out, clo_error *err);

#endif
