/* choose_centers.h - one of several sets of candidate points, by how near the records are to it. */
#ifndef CLO_QUERY_CHOOSE_CENTERS_H
#define CLO_QUERY_CHOOSE_CENTERS_H

#include "ask/query.h"

/* Which of several candidate points are the best centres, by the exponential mechanism on minus the
 * total of the records' distances, or squared distances, to the nearest centre of a set.
 * choose_centers.T1.  Points are in the unit ball, count x cols; a set is k numbers of points. */
typedef enum clo_center_loss { CLO_LOSS_SQUARED = 1, CLO_LOSS_DISTANCE } clo_center_loss;

typedef struct clo_center_choice {
    size_t candidates; /* points, at most */
    size_t clusters;   /* k */
    size_t sets;       /* 0: the choice is among all swaps of a set */
    clo_center_loss loss;
    double reach; /* distances beyond it, in radii of the ball, count as this; at most 2, the whole
                     ball.  A choice is as sharp as the reach, or its square, is small */
} clo_center_choice;

typedef struct clo_centers_fields {
    size_t clusters, sets;
    uint64_t loss; /* clo_center_loss */
    double reach;
} clo_centers_fields;
CLO_LINE_FIELDS(choose_centers, clo_centers_fields)

typedef struct clo_candidates {
    const double *points;
    size_t count;
} clo_candidates;

CLO_CHECK clo_status clo_i_plan_choose_centers(const clo_domain *domain,
                                               const clo_center_choice *how, double epsilon,
                                               uint64_t times, const char *label, clo_line *out,
                                               clo_error *err);
/* Step by step one of all sets that differ from the one before in at most one place, each record
 * counting as the candidate nearest to it: so many steps, each of them charged, in one pass over
 * the rows.  sets: room for `kept` of k numbers; the first is where it starts, and the last `kept`
 * sets that are passed through go there in turns: that of step s to place s modulo kept. */
CLO_CHECK clo_status clo_i_ask_swaps(clo_context *context, size_t line, const clo_bounded *data,
                                     const clo_candidates *candidates, size_t steps, size_t kept,
                                     size_t *sets, clo_error *err);
/* Of the sets, sets x k. */
CLO_CHECK clo_status clo_i_ask_best_set(clo_context *context, size_t line, const clo_bounded *data,
                                        const clo_candidates *candidates, const size_t *sets,
                                        size_t *chosen, clo_error *err);

#endif
