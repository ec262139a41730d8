/* gibbs.h - subspaces by the exponential mechanism, drawn by a Markov chain. */
#ifndef CLO_QUERY_GIBBS_H
#define CLO_QUERY_GIBBS_H

#include "ask/query.h"

/* k subspaces by the exponential mechanism over frames, drawn by a Markov chain.  gibbs.T1 */
enum { CLO_GIBBS_BITS = 15 };

typedef enum clo_gibbs_score {
    CLO_GIBBS_SUM, /* squared projections onto subspaces that labels choose: wang2015, Eq. 10 */
    CLO_GIBBS_MIN  /* squared projections onto the nearest subspaces */
} clo_gibbs_score;

/* Where a record belongs while the steps go on. */
typedef enum clo_gibbs_assign {
    CLO_GIBBS_COOLING, /* at random, by a public temperature that falls from sweep to sweep */
    CLO_GIBBS_NEAREST, /* the nearest subspace */
    CLO_GIBBS_RANDOM   /* at random, at the rate of the frames: as in the limit */
} clo_gibbs_assign;

typedef struct clo_gibbs {
    size_t clusters, dim; /* of linear subspaces of what is seen */
    clo_gibbs_score score;
    uint64_t sweeps;
    bool steps;   /* every draw is charged (gibbs.T2); otherwise the limit alone is claimed */
    bool columns; /* steps: each column given the others, dim charges a sweep; otherwise frames
                          from nothing, min(dim, cols - dim) */
    bool whole;   /* steps: frames from nothing, each in one draw, one charge a sweep: by rejection,
                          which takes as long as it takes */
    clo_gibbs_assign assign; /* steps */
    bool labels;             /* release them; with steps, one more charge */
    clo_block_solve *start; /* makes the frames to start from, which are not private; NULL: they are
                               uniform */
    void *start_user;
} clo_gibbs;

/* How often such a chain charges its line, for records of so many columns. */
uint64_t clo_i_gibbs_charges(const clo_gibbs *how, size_t cols);
/* epsilon: of one charge; times: clo_i_gibbs_charges. */
CLO_CHECK clo_status clo_i_plan_gibbs(const clo_domain *domain, const clo_gibbs *how,
                                      double epsilon, uint64_t times, const char *label,
                                      clo_line *out, clo_error *err);
/* bases: clusters x cols x dim; labels: one a record, where they are asked for. */
CLO_CHECK clo_status clo_i_ask_gibbs(clo_context *context, size_t line, const clo_bounded *data,
                                     const clo_gibbs *how, double *bases, double *labels,
                                     clo_error *err);

#endif
