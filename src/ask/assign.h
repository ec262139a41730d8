/* assign.h - who is in which cluster: a pure function of one record and of released values. */
#ifndef CLO_ASK_ASSIGN_H
#define CLO_ASK_ASSIGN_H

#include "ask/query.h"

typedef enum clo_assign_kind {
    CLO_ASSIGN_ONE = 0,
    CLO_ASSIGN_CENTERS,
    CLO_ASSIGN_SUBSPACES,
    CLO_ASSIGN_FLATS
} clo_assign_kind;

/* A rule on a public integer grid, so that every score is an exact integer (assign.T1). */
typedef struct clo_assign {
    clo_assign_kind kind;
    size_t clusters, cols, dim;
    int bits;              /* of the records it reads */
    const double *points;  /* CENTERS: clusters x cols; SUBSPACES: (clusters * dim) x cols, a basis
                              vector a row; FLATS: the same, and after each basis its foot;
                              integer-valued */
    const double *offsets; /* CENTERS and FLATS: |c|^2, exact integers, one a cluster */
} clo_assign;

/* Rounds centres (unit-ball coordinates, k x d) to the grid; arrays come from the workspace. */
CLO_CHECK clo_status clo_i_assign_centers(clo_workspace *workspace, const double *centers, size_t k,
                                          size_t d, int bits, clo_assign *out, clo_error *err);
/* The same for bases, k x d x q. */
CLO_CHECK clo_status clo_i_assign_subspaces(clo_workspace *workspace, const double *bases, size_t k,
                                            size_t d, size_t q, int bits, clo_assign *out,
                                            clo_error *err);
/* The same for affine subspaces: bases as above, and k x d points that they pass through. */
CLO_CHECK clo_status clo_i_assign_flats(clo_workspace *workspace, const double *bases,
                                        const double *points, size_t k, size_t d, size_t q,
                                        int bits, clo_assign *out, clo_error *err);
CLO_CHECK clo_status clo_i_assign_room(clo_workspace *space, clo_assign_kind kind, size_t k,
                                       size_t d, size_t q,
                                       clo_error *err); /* of any of the three */
/* Whether it is a rule for so many clusters of records of so many columns on this grid. */
bool clo_i_assign_fits(const clo_assign *rule, size_t clusters, size_t cols, int bits);
/* labels[i] for each of the rows; scores is scratch of rows x (points' rows). */
void clo_i_assign_rows(const clo_assign *rule, const double *values, size_t rows, double *scores,
                       uint32_t *labels);
size_t clo_i_assign_width(const clo_assign *rule); /* doubles of scratch a row */
/* The squared distance of each row to the nearest of the rule's subspaces or flats, rounded down to
 * a multiple of 2^-unit_bits of the squared radius and capped at that radius: an integer from 0 to
 * 2^unit_bits (assign.T2). */
void clo_i_assign_distances(const clo_assign *rule, const double *values, size_t rows,
                            int unit_bits, double *scores, uint64_t *distances);

#endif
