/*
 * mechanism.h (internal) - what one row of the table is.
 */
#ifndef CLO_MECHANISM_INTERNAL_H
#define CLO_MECHANISM_INTERNAL_H

#include "base/base.h"
#include "ledger/ledger.h"
#include "ask/query.h"
#include "release/release.h"
#include <cloister/mechanism.h>

/* A plan in the making: the mechanism adds its lines; the accountant prices them. */
typedef struct clo_draft {
    const clo_domain *domain;
    const double *values; /* of the parameters, in the order of the rows */
    clo_loss budget;
    clo_line lines[CLO_MAX_LINES];
    size_t line_count;
    clo_workspace *room; /* it counts: here the plan takes what a run will, with the same functions
                            in the same order; clo_i_X_room takes what clo_i_X does, and gives back
                            what that gives back */
    size_t workspace;    /* bytes beyond what the queries themselves need: the most of it */
} clo_draft;

/* The least and the most of an error. */
typedef struct clo_between {
    double least, most;
} clo_between;

struct clo_mechanism {
    const char *family;
    const char *method;
    const char *summary;
    const char *proof;       /* under proofs/: the claim, and why it holds */
    clo_guarantee guarantee; /* the weakest, over all values of the parameters */
    bool is_research;        /* less accurate than others on nearly all data, or promises less */
    bool is_baseline;        /* there to compare with: chosen only where no other method serves */
    /* That of a plan with these values; NULL: it is always the above. */
    clo_guarantee (*guarantee_of)(const double *values);
    const clo_param *params;
    size_t param_count;
    size_t plan_size;
    /* Public inputs only: it cannot leak, whatever it does. */
    clo_status (*plan)(clo_draft *draft, void *plan, clo_error *err);
    /* Total: every bounded input succeeds, short of memory, entropy or a cancel.  A failure that
     * depends on the data would be a release of its own. */
    clo_status (*run)(const void *plan, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err);
    /* Of a method that asks in blocks: what another rank does with each of its own. */
    clo_block_open *open_blocks;
    /* The error to expect with so many rows, from public numbers; NULL: no prediction, NaN: none
     * with these parameters. */
    double (*predict)(const void *plan, const clo_domain *domain, const clo_line *lines,
                      double rows);
    /* Between which errors it is, where it depends on what nobody stated of the data; NULL: it is
     * that one number. */
    clo_between (*between)(const void *plan, const clo_domain *domain, const clo_line *lines,
                           double rows);
    const char *prediction; /* what that number is */
    bool of_points;         /* and whether it is a distance of points, as a share of the norm */
    /* From which error on noise hides what is looked for; NULL: nobody can say. */
    double (*hidden_from)(const clo_plan *plan);
    /* Whether with these values it presumes of the data what nobody stated; NULL: never.  Then it
     * is for those who name it, and is chosen only where no other method serves. */
    bool (*presumes)(const double *values);
};

struct clo_plan {
    const clo_mechanism *mechanism;
    clo_domain domain; /* its own copy */
    double *values;    /* of the parameters */
    void *state;       /* the mechanism's own, plan_size bytes */
    clo_guarantee guarantee;
    clo_loss budget;
    clo_price price;
    clo_line *lines;
    size_t line_count;
    size_t workspace;
    clo_learning learning; /* where there are steps */
    size_t steps;          /* the first of the lines: what is learnt before the mechanism runs */
    clo_loss rest;         /* the budget that the mechanism's own lines were planned for */
    char reason[240];      /* why this method was chosen; empty: the caller named it */
    uint8_t id[32];        /* a hash of all of the above: a grant is for one plan */
};

/* Good for one run of one plan. */
struct clo_grant {
    uint8_t plan_id[32];
    bool metered, capped;
    _Atomic bool used;
    clo_i_receipt receipt; /* of a metered one */
};

/* Bytes that a run needs with blocks of so many rows; 0: as the queries like.  data NULL: without
 * those that follow the number of rows.  ranks NULL: one process. */
size_t clo_i_plan_workspace(const clo_plan *plan, const clo_bounded *data, const clo_ranks *ranks,
                            int threads, size_t block_rows);

/* Who has the rows: workers who fold alone, workers who solve blocks, too, or ranks. */
typedef enum clo_places { CLO_AT_FOLDERS, CLO_AT_WORKERS, CLO_AT_RANKS } clo_places;
/* Refuses a plan that asks for more of rows in several places than they can give: sums alone; or
 * in blocks, too, but with ranks only where no persons are dealt out. */
CLO_CHECK clo_status clo_i_check_reading(const clo_plan *plan, clo_places places, clo_error *err);
/* Whether these data can be a worker's part for this plan. */
CLO_CHECK clo_status clo_i_check_part(const clo_plan *plan, const clo_bounded *data, int threads,
                                      clo_error *err);

/* The methods of the plan's family that ask for sums alone, as a list for people; "" where there is
 * none. */
void clo_i_name_sums(const clo_plan *plan, char *text, size_t size);

/* Whether a budget is one, and one that these lines may have. */
/* The largest epsilon of a plan with Gaussian noise. */
extern const double clo_i_largest_epsilon;
CLO_CHECK clo_status clo_i_check_budget(clo_loss budget, const clo_line *lines, size_t count,
                                        clo_error *err);
/* What the lines cost.  Pure losses that add up to no more than the epsilon need no delta, and a
 * delta that nothing needs is not charged: the price then has none (accounting.T9). */
CLO_CHECK clo_status clo_i_price_lines(const clo_line *lines, size_t count, clo_loss budget,
                                       clo_price *price, clo_error *err);
/* A plan in two steps, for those who compare many and take one: all but what it costs; and that,
 * without which no plan is handed out.  CLO_INTERNAL where it is more than the budget. */
CLO_CHECK clo_status clo_i_plan_unpriced(const clo_params *params, const clo_domain *domain,
                                         clo_loss budget, clo_guarantee accept, clo_plan **out,
                                         clo_error *err);
CLO_CHECK clo_status clo_i_plan_price(clo_plan *plan, clo_error *err);
/* The hash of all that a plan is. */
void clo_i_plan_identify(clo_plan *plan);
/* The mechanism's own plan once more, for another domain: its state, and its lines, which must be
 * the paid ones but for what people read of them; CLO_UNSUPPORTED where they are not. */
CLO_CHECK clo_status clo_i_plan_again(const clo_plan *plan, const clo_domain *domain, void *state,
                                      clo_line *lines, clo_error *err);

/* What a run learnt, as the plan and the data to go on with. */
typedef struct clo_i_learnt {
    clo_plan plan; /* of the domain that was learnt; domain, state and lines are its own */
    clo_bounded *data;
} clo_i_learnt;

/* Takes the steps of the plan (learn.T1); the release is told of them.  To be freed. */
/* What another rank does when rank 0 looks at the rows from another place. */
CLO_CHECK clo_status clo_i_look_for_rank_0(const clo_plan *plan, const clo_bounded *data,
                                           const uint8_t *bytes, size_t count, clo_bounded *seen,
                                           clo_error *err);
CLO_CHECK clo_status clo_i_learn(const clo_plan *plan, const clo_bounded *data,
                                 clo_context *context, clo_release *release, clo_i_learnt *out,
                                 clo_error *err);
void clo_i_learnt_free(clo_i_learnt *learnt);
CLO_CHECK clo_status clo_i_learn_room(clo_workspace *space, const clo_domain *domain,
                                      clo_error *err);

/* Adds a line to the draft. */
CLO_CHECK clo_status clo_i_draft_add(clo_draft *draft, const clo_line *line, clo_error *err);

#endif
