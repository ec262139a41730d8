/*
 * query.h - the metered questions: the only place where noise meets data.
 *
 * A query has two halves.  plan_*: from public facts alone, the line of a plan (a slot): its exact
 * integer sensitivity, its noise, its price.  ask_*: takes the number of a slot, charges the meter,
 * and answers with the noise that the slot says; a mechanism cannot ask with another noise, or
 * more often than its plan says: that is CLO_INTERNAL, before the data are touched.
 */
#ifndef CLO_QUERY_H
#define CLO_QUERY_H

#include "base/base.h"
#include "domain/domain.h"
#include "privacy/privacy.h"
#include <cloister/domain.h>
#include <cloister/run.h>

enum { CLO_MAX_SLOTS = 64, CLO_MAX_CLUSTERS = 1024 };

typedef enum clo_query_kind {
#define QUERY(name, summary) CLO_QUERY_##name,
#include "query/table.def"
#undef QUERY
    CLO_QUERY_KINDS
} clo_query_kind;

const char *clo_i_query_name(clo_query_kind kind);

/* One line of a plan.  What is added here counts in write_line, too (plan.c). */
typedef struct clo_slot {
    clo_query_kind query;
    const char *label;
    clo_event event;      /* count: how often it may be asked */
    int bits;             /* of the grid it reads */
    size_t cols;          /* that it sees: the domain's, or those of a lens */
    bool lens;            /* whether it is asked through one */
    bool sketch;          /* ... which is a sketch */
    double even;          /* of fourth moments: the share of their traces that is left out */
    double constant;      /* of third moments: every record's last coordinate; 0: none is known */
    size_t groups;        /* clusters of a query; candidates of a choice */
    size_t vectors;       /* rows of a rule, at most, of a choice among flats */
    size_t entries;       /* of a record, that count, where a query reads sparse ones; 0: all */
    size_t rounds;        /* of a peel: entries told of a cluster */
    uint64_t sensitivity; /* exact, in integer units */
    uint64_t scale;       /* of a Gaussian: its standard deviation; of Laplace noise: its scale */
    uint64_t count_unit;  /* what one record adds to a noised count */
    uint64_t rate_weight; /* of a peel: the rate of a value's noise over that of a choice */
    uint64_t rate_numerator, rate_denominator; /* of a choice: weight exp(score * rate) */
    size_t dim, blocks; /* of an aggregate: of each subspace, 0: centres; how many blocks */
    size_t parts;       /* of a histogram: into how many the blocks fall, a cell each */
    size_t width;       /* of a histogram: the integers of a cell */
    size_t side;        /* of counts of cells: how many lie along each column … */
    uint64_t reach;     /* … of a cube of twice this width, in units of the grid of bits */
    uint64_t threshold; /* of a histogram: the least noisy size of a cell that is told of */
    uint64_t floor;     /* of a draw of a seed: what a cell weighs beside its records */
    int grid_bits;      /* of an aggregate: of what is noised */
    double farthest;    /* of a choice of centres: the largest distance told apart, in radii */
    double alpha, beta; /* of an aggregate: how its noise follows the data (aggregate.T3); of a
                           search: beta is the chance that it misses (gapmax.T3) */
    uint64_t quantile_numerator, quantile_denominator;
    double noise; /* standard deviation in the data's own units, for people */
} clo_slot;

typedef struct clo_meter {
    const clo_slot *slots;
    size_t count;
    uint64_t asked[CLO_MAX_SLOTS];
#ifdef CLO_FAULT_INJECTION
    struct clo_watched {
        size_t drawn, noised, told;       /* numbers, of the ask under way: witness.c */
        uint64_t noised_hash, told_hash;  /* of these numbers, in any order */
        bool vast;                        /* some are too large to be read back from a double */
        uint64_t answered[CLO_MAX_SLOTS]; /* how often a line was */
    } watched;
#endif
} clo_meter;

/* A run has succeeded: the test build sees to it that all that was asked was told (answer.T1). */
void clo_i_meter_finish(const clo_meter *meter);

/* A public map that a query's records are seen through (lens.c). */
typedef struct clo_lens {
    size_t from, cols;      /* of the records, and of what is seen of them */
    const double *rows;     /* of a frame: cols x from, integer-valued; NULL: the record itself */
    double weight;          /* without a frame: what it is multiplied by, on the same grid */
    double scale;           /* a record x is seen as scale * frame' x ... */
    double constant;        /* ... and, last, this constant; 0: none */
    const uint32_t *places; /* of a sketch (sketch.c): where each column goes; NULL: it is none */
} clo_lens;

/* What a running mechanism may use, and nothing else: no files, no clock, no ledger, no noise
 * of its own. */
typedef struct clo_context {
    clo_rng *rng;
    clo_workspace *workspace;
    const clo_comm *comm;
    int threads;
    size_t block_rows; /* 0: as the query likes */
    bool (*progress)(void *user, double done);
    void (*answer)(void *user, const char *query, const double *values, size_t count);
    void *user;
    double progress_from, progress_to; /* what share of the run is under way */
    clo_meter *meter;
    clo_block_solve *solve_block; /* the caller's own solver of a block; NULL: none */
    void *solve_user;
    const clo_lens *lens; /* what the next asks look through; NULL: at the records themselves */
} clo_context;

/* Whether these data were bounded to this domain: what a plan and its data must agree on. */
bool clo_i_data_fit(const clo_bounded *data, const clo_domain *domain);

/* Bytes of workspace that one ask of this line takes. */
size_t clo_i_query_workspace(const clo_slot *slot, size_t cols, size_t block_rows, int threads);

/* ---- what is seen of a record: a pure function of it and of released values -------------- */

/* A lens with an orthonormal frame (d x rank, a column a direction, released or public; NULL: all
 * coordinates), and with a constant appended where height > 0: what is seen of x is
 * (frame' x, height) / sqrt(1 + height^2), inside the unit ball (lens.T1).  To ask through it, plan
 * the query for clo_i_lens_domain, set the slot's `lens`, and let context->lens point to it. */
CLO_CHECK clo_status clo_i_lens_make(clo_workspace *workspace, const double *frame, size_t d,
                                     size_t rank, double height, clo_lens *out, clo_error *err);
size_t clo_i_lens_take_size(size_t d, size_t rank, double height); /* with a frame */
/* The domain as it is seen: the unit ball's radius stays that of the data. */
clo_domain clo_i_lens_domain(const clo_domain *domain, size_t cols);
/* Records on the full grid (CLO_GRID_BITS) to what is seen of them on the grid of `bits`. */
void clo_i_lens_apply(const clo_lens *lens, const double *values, size_t rows, int bits,
                      double *seen);

/* A lens that is a public random sketch of `cols` coordinates (sketch.T1): what is seen of a record
 * is about as long as the record, and costs a few additions an entry, so that sparse records are
 * never written out.  cols: a multiple of CLO_SKETCH_COPIES, CLO_SKETCH_COLS at most.  The same on
 * all ranks.  To ask through it, set the slot's `lens` and `sketch`. */
enum { CLO_SKETCH_COPIES = 4, CLO_SKETCH_COLS = 1024 };
CLO_CHECK clo_status clo_i_sketch_make(clo_context *context, size_t from, size_t cols,
                                       clo_lens *out, clo_error *err);
size_t clo_i_sketch_take_size(size_t from);

/* The records about another centre (shift, in ball coordinates; NULL: the same) within another
 * radius, those of the domain, by released values alone; to be freed (bound.T5). */
CLO_CHECK clo_status clo_i_recenter(const clo_bounded *data, const clo_domain *domain,
                                    const double *shift, clo_bounded **out, clo_error *err);

/* Whether these records may be moved to any centre: sparse ones are written out in full for it.
 * Told by public facts alone, so that nobody's presence decides. */
CLO_CHECK clo_status clo_i_recenter_check(const clo_bounded *data, clo_error *err);

/* ---- who is in which cluster: a pure function of one record and of released values ------ */

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
size_t clo_i_assign_take_size(size_t k, size_t d, size_t q, bool affine); /* of the last two */
/* labels[i] for each of the rows; scores is scratch of rows x (points' rows). */
void clo_i_assign_rows(const clo_assign *rule, const double *values, size_t rows, double *scores,
                       uint32_t *labels);
size_t clo_i_assign_width(const clo_assign *rule); /* doubles of scratch a row */
/* The squared distance of each row to the nearest of the rule's subspaces or flats, rounded down to
 * a multiple of 2^-unit_bits of the squared radius and capped at that radius: an integer from 0 to
 * 2^unit_bits (assign.T2). */
void clo_i_assign_distances(const clo_assign *rule, const double *values, size_t rows,
                            int unit_bits, double *scores, uint64_t *distances);

/* ---- the queries ----------------------------------------------------------------------- */

/* For each cluster the sum of its records and their number, all in one Gaussian query.
 * gaussian_sum.T1.  Answers: sums k x d in unit-ball coordinates, counts k in records. */
CLO_CHECK clo_status clo_i_plan_gaussian_sum(const clo_domain *domain, size_t clusters, double mu,
                                             uint64_t times, const char *label, clo_slot *out,
                                             clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_sum(clo_context *context, size_t slot,
                                            const clo_bounded *data, const clo_assign *rule,
                                            double *sums, double *counts, clo_error *err);

/* The same with discrete Laplace noise, and without a delta.  laplace_sum.T1.  epsilon: of one
 * ask. */
CLO_CHECK clo_status clo_i_plan_laplace_sum(const clo_domain *domain, size_t clusters,
                                            double epsilon, uint64_t times, const char *label,
                                            clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_laplace_sum(clo_context *context, size_t slot,
                                           const clo_bounded *data, const clo_assign *rule,
                                           double *sums, double *counts, clo_error *err);

/* Either of the two.  clo_i_plan_cluster_sum: by the kind of one ask's event (CLO_EVENT_GAUSSIAN
 * with mu, CLO_EVENT_PURE with epsilon).  clo_i_plan_cluster_sum_within: `times` asks spend this
 * budget, and CLO_SUM_AUTO takes what errs less: Laplace noise where there is no delta, and where
 * delta is tiny or there are very few columns. */
typedef enum clo_sum_noise { CLO_SUM_AUTO, CLO_SUM_GAUSSIAN, CLO_SUM_LAPLACE } clo_sum_noise;
CLO_CHECK clo_status clo_i_plan_cluster_sum(const clo_domain *domain, size_t clusters,
                                            clo_event_kind kind, double parameter, uint64_t times,
                                            const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_plan_cluster_sum_within(const clo_domain *domain, size_t clusters,
                                                   clo_sum_noise noise, clo_loss budget,
                                                   uint64_t times, const char *label, clo_slot *out,
                                                   clo_error *err);
CLO_CHECK clo_status clo_i_ask_cluster_sum(clo_context *context, size_t slot,
                                           const clo_bounded *data, const clo_assign *rule,
                                           double *sums, double *counts, clo_error *err);
/* Standard deviation of a noisy coordinate of a sum, in unit-ball coordinates, and of a noisy size,
 * in records: of a line of either kind. */
double clo_i_slot_deviation(const clo_slot *slot);
double clo_i_slot_count_deviation(const clo_slot *slot);

/* For each cluster the sum of (x - c) / max(|x - c|, width) over its records, of width / max(|x -
 * c|, width), and their number, all in one Gaussian query: what a step toward the cluster's median
 * takes.  gaussian_step.T1.  rule: centres c; width: in radii of the ball, from 2^-16 to 2. */
typedef struct clo_steps {
    double *pulls;             /* clusters x cols */
    double *stiffness, *sizes; /* clusters */
} clo_steps;

CLO_CHECK clo_status clo_i_plan_gaussian_step(const clo_domain *domain, size_t clusters, double mu,
                                              uint64_t times, const char *label, clo_slot *out,
                                              clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_step(clo_context *context, size_t slot,
                                             const clo_bounded *data, const clo_assign *rule,
                                             double width, clo_steps *out, clo_error *err);

/* For each cluster the Gram matrix of its records, all in one Gaussian query.
 * gaussian_gram.T1.  Answers: k symmetric d x d matrices, in squared unit-ball coordinates. */
CLO_CHECK clo_status clo_i_plan_gaussian_gram(const clo_domain *domain, size_t clusters, double mu,
                                              uint64_t times, const char *label, clo_slot *out,
                                              clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_gram(clo_context *context, size_t slot,
                                             const clo_bounded *data, const clo_assign *rule,
                                             double *grams, clo_error *err);

/* For each cluster the sum of its records over all columns and their number, the records read as
 * sparse rows.  The rule looks through the slot's lens, and the sums do not (sparse_sum.T1).  Of a
 * record the `entries` of largest magnitude count, all where that is 0.  kind, parameter:
 * CLO_EVENT_GAUSSIAN and mu, or CLO_EVENT_PURE and epsilon, of the one ask.  seen: columns that the
 * rule looks at.  Answers: sums k x d in unit-ball coordinates, counts k in records. */
CLO_CHECK clo_status clo_i_plan_sparse_sum(const clo_domain *domain, size_t seen, size_t clusters,
                                           size_t entries, clo_event_kind kind, double parameter,
                                           const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_sparse_sum(clo_context *context, size_t slot,
                                          const clo_bounded *data, const clo_assign *rule,
                                          double *sums, double *counts, clo_error *err);

/* For each cluster `rounds` columns, one after the other by the exponential mechanism on the
 * magnitudes of its records' sum, each with its noisy value, and the noisy number of records:
 * balcan2017's Algorithm 5 with the constants that it needs (peel.T1).  Answers: columns and values
 * k x slot->rounds in the order of choice, counts k. */
CLO_CHECK clo_status clo_i_plan_peel(const clo_domain *domain, size_t seen, size_t clusters,
                                     size_t entries, size_t rounds, double epsilon,
                                     const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_peel(clo_context *context, size_t slot, const clo_bounded *data,
                                    const clo_assign *rule, size_t *columns, double *values,
                                    double *counts, clo_error *err);

/* Of a line of either kind: what noise alone exceeds about once in so many numbers, in unit-ball
 * coordinates; and the standard deviation of a noisy count, in records. */
double clo_i_sparse_edge(const clo_slot *slot, double numbers);
double clo_i_sparse_count_deviation(const clo_slot *slot);

/* k subspaces of the records of each of `blocks` random disjoint blocks, by whatever solver,
 * brought together by the sample-and-aggregate framework: one of them, plus noise that follows how
 * far they differ (aggregate.T4).  Answers: k x cols x dim, a basis of each that is a function of
 * its range alone, in an order that is a function of the set alone. */
CLO_CHECK clo_status clo_i_plan_aggregate(const clo_domain *domain, size_t clusters, size_t dim,
                                          size_t blocks, clo_loss loss, const char *label,
                                          clo_slot *out, clo_error *err);

/* The same for k centres, points of the unit ball: clusters x cols (aggregate.T5). */
CLO_CHECK clo_status clo_i_plan_aggregate_centers(const clo_domain *domain, size_t clusters,
                                                  size_t blocks, clo_loss loss, const char *label,
                                                  clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_aggregate(clo_context *context, size_t slot, const clo_bounded *data,
                                         clo_block_solve *solve, void *user, double *answer,
                                         clo_error *err);

/* The cell of a partition that most of `blocks` random disjoint blocks of the records name, if
 * enough do: by noise on the sizes of those cells and a threshold (histogram.T1).  A cell is
 * `width` integers.  That none is found is a normal answer.  The same for each of several disjoint
 * `parts` of the records, at the price of one (histogram.T3). */
typedef struct clo_cell {
    bool found;
    int64_t size;   /* how many blocks name it, with noise; 0 where none is found */
    int64_t *place; /* width, the caller's; zeros where none is found */
} clo_cell;

/* Writes the cell of a block of that part, as a function of the block's rows alone; a failure other
 * than CLO_MEMORY and CLO_CANCELLED says that the block has none.  Called from several threads. */
typedef clo_status clo_block_locate(void *user, size_t part, const clo_block *block, int64_t *place,
                                    clo_error *err);
/* blocks: of one part. */
CLO_CHECK clo_status clo_i_plan_histogram(const clo_domain *domain, size_t width, size_t parts,
                                          size_t blocks, clo_loss loss, const char *label,
                                          clo_slot *out, clo_error *err);
/* out: one for each part. */
CLO_CHECK clo_status clo_i_ask_histogram(clo_context *context, size_t slot, const clo_bounded *data,
                                         clo_block_locate *locate, void *user, clo_cell *out,
                                         clo_error *err);

/* The tensor of fourth moments, the sums of x_i x_j x_k x_l over all records, as one Gaussian
 * query. gaussian_moment.T1.  Answers: its clo_i_moment_size(cols) different entries, those with
 * i <= j <= k <= l, l fastest, in unit-ball coordinates to the fourth. */
CLO_CHECK clo_status clo_i_plan_gaussian_moment(const clo_domain *domain, double mu, uint64_t times,
                                                const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_moment(clo_context *context, size_t slot,
                                               const clo_bounded *data, double *moments,
                                               clo_error *err);
size_t clo_i_moment_size(size_t cols);
/* How often the entry i <= j <= k <= l stands in the tensor: 1, 4, 6, 12 or 24. */
unsigned clo_i_moment_multiplicity(size_t i, size_t j, size_t k, size_t l);
/* The noise of an entry, times the root of its multiplicity. */
double clo_i_moment_noise(const clo_slot *slot);

/* The same with a share of the traces left out, which lowers the sensitivity: a tensor's part
 * sym(I x X), X traceless, is answered with noise 1/second times as large as the part without
 * traces, and its multiple of sym(I x I) with noise 1/none times as large.  gaussian_moment.T3 */
typedef struct clo_moment_even {
    double taken, second, none;
} clo_moment_even;
CLO_CHECK clo_status clo_i_plan_even_moment(const clo_domain *domain, double share, double mu,
                                            uint64_t times, const char *label, clo_slot *out,
                                            clo_error *err);
clo_moment_even clo_i_moment_even(size_t cols, double share);
/* Puts the traces back, each part divided by its factor.  square: cols x cols of scratch. */
void clo_i_moment_restore(const clo_moment_even *even, size_t cols, double *square,
                          double *moments);
/* The sums over k of the entries ijkk: cols x cols. */
void clo_i_moment_contract(const double *moments, size_t cols, double *out);

/* The tensor of third moments, the sums of x_i x_j x_k over all records, as one Gaussian query.
 * gaussian_moment3.T1.  height > 0: it will be asked through a lens with a constant of this height,
 * which lowers the sensitivity where records are replaced.  Answers: its clo_i_moment3_size(cols)
 * different entries, those with i <= j <= k, k fastest, in unit-ball coordinates to the third. */
CLO_CHECK clo_status clo_i_plan_gaussian_moment3(const clo_domain *domain, double height, double mu,
                                                 uint64_t times, const char *label, clo_slot *out,
                                                 clo_error *err);
CLO_CHECK clo_status clo_i_ask_gaussian_moment3(clo_context *context, size_t slot,
                                                const clo_bounded *data, double *moments,
                                                clo_error *err);
enum { CLO_MOMENT3_COLS = 128 }; /* at most */
size_t clo_i_moment3_size(size_t cols);
/* How often the entry i <= j <= k stands in the tensor: 1, 3 or 6. */
unsigned clo_i_moment3_multiplicity(size_t i, size_t j, size_t k);
/* The noise of an entry, times the root of its multiplicity. */
double clo_i_moment3_noise(const clo_slot *slot);

/* How many records there are, with Gaussian noise. count.T1 */
CLO_CHECK clo_status clo_i_plan_count(const clo_domain *domain, double mu, uint64_t times,
                                      const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_count(clo_context *context, size_t slot, const clo_bounded *data,
                                     double *count, clo_error *err);

/* How many records lie in each cell of a public grid, side cells along each column of a cube that
 * holds the ball, or the box inside of it: all cells, also the empty ones.  cell_counts.T1.  kind
 * CLO_EVENT_PURE: discrete Laplace noise at that epsilon; CLO_EVENT_GAUSSIAN: Gaussian noise at
 * that mu.  Answers: slot->groups numbers, the last column's place fastest. */
enum { CLO_MAX_CELLS = 1 << 22 };
CLO_CHECK clo_status clo_i_plan_cell_counts(const clo_domain *domain, size_t side,
                                            clo_event_kind kind, double parameter, uint64_t times,
                                            const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_cell_counts(clo_context *context, size_t slot,
                                           const clo_bounded *data, double *counts, clo_error *err);
/* side to the power of cols; SIZE_MAX where that is above CLO_MAX_CELLS. */
size_t clo_i_grid_cells(size_t side, size_t cols);
/* The middle of a cell, in unit-ball coordinates. */
void clo_i_cell_center(const clo_slot *slot, size_t cell, double *center);

/* The exponential mechanism over `candidates` integer scores (higher is better), drawn exactly.
 * choose.T1.  record_sensitivity: the most by which one record changes any score, under the
 * domain's relation. */
CLO_CHECK clo_status clo_i_plan_choose(const clo_domain *domain, size_t candidates,
                                       uint64_t record_sensitivity, double epsilon, uint64_t times,
                                       const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_choose(clo_context *context, size_t slot, const int64_t *scores,
                                      size_t *chosen, clo_error *err);

/* One of `cells` cells, in proportion to a floor and the squared distances of its records to the
 * nearest seed: the step of k-means++, made private.  seed.T1.  The cells are those of a rule of
 * centres on the slot's grid; seeds: a rule of at most `seeds` centres, NULL before the first;
 * taken: a cell each, those that are drawn no more, fewer than `seeds`. */
CLO_CHECK clo_status clo_i_plan_seed(const clo_domain *domain, size_t cells, size_t seeds,
                                     double epsilon, uint64_t times, const char *label,
                                     clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_seed(clo_context *context, size_t slot, const clo_bounded *data,
                                    const clo_assign *cells, const clo_assign *seeds,
                                    const bool *taken, size_t *chosen, clo_error *err);

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

/* epsilon: of one level of one tree. */
CLO_CHECK clo_status clo_i_plan_partition(const clo_domain *domain, const clo_cube_tree *how,
                                          double epsilon, const char *label, clo_slot *out,
                                          clo_error *err);
CLO_CHECK clo_status clo_i_ask_partition(clo_context *context, size_t slot, const clo_bounded *data,
                                         clo_cubes *out, clo_error *err);

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

typedef struct clo_candidates {
    const double *points;
    size_t count;
} clo_candidates;

CLO_CHECK clo_status clo_i_plan_choose_centers(const clo_domain *domain,
                                               const clo_center_choice *how, double epsilon,
                                               uint64_t times, const char *label, clo_slot *out,
                                               clo_error *err);
/* Of all sets that differ from `set` in at most one place: changes that place of it. */
CLO_CHECK clo_status clo_i_ask_best_swap(clo_context *context, size_t slot, const clo_bounded *data,
                                         const clo_candidates *candidates, size_t *set,
                                         clo_error *err);
/* Of the sets, sets x k. */
CLO_CHECK clo_status clo_i_ask_best_set(clo_context *context, size_t slot, const clo_bounded *data,
                                        const clo_candidates *candidates, const size_t *sets,
                                        size_t *chosen, clo_error *err);

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

/* How often such a chain charges its slot, for records of so many columns. */
uint64_t clo_i_gibbs_charges(const clo_gibbs *how, size_t cols);
/* epsilon: of one charge; times: clo_i_gibbs_charges. */
CLO_CHECK clo_status clo_i_plan_gibbs(const clo_domain *domain, const clo_gibbs *how,
                                      double epsilon, uint64_t times, const char *label,
                                      clo_slot *out, clo_error *err);
/* bases: clusters x cols x dim; labels: one a record, where they are asked for. */
CLO_CHECK clo_status clo_i_ask_gibbs(clo_context *context, size_t slot, const clo_bounded *data,
                                     const clo_gibbs *how, double *bases, double *labels,
                                     clo_error *err);

/* One of `candidates` sets of subspaces or flats, each of at most `vectors` rows
 * (clo_i_assign_width), by the exponential mechanism on minus the total of the records' squared
 * distances to the nearest of a set. choose_flats.T1. */
CLO_CHECK clo_status clo_i_plan_choose_flats(const clo_domain *domain, size_t candidates,
                                             size_t vectors, double epsilon, uint64_t times,
                                             const char *label, clo_slot *out, clo_error *err);
CLO_CHECK clo_status clo_i_ask_choose_flats(clo_context *context, size_t slot,
                                            const clo_bounded *data, const clo_assign *candidates,
                                            size_t *chosen, clo_error *err);

/* The subspace that more than half of the records lie in, exactly, or nothing.  gapmax.T2.  Records
 * are rounded to multiples of 1/scale in each column, in the data's own units; one that is then
 * longer than the domain allows, or zero, lies in no subspace. */
enum { CLO_GAPMAX_DIM = 3, CLO_GAPMAX_COLS = 1024 };

typedef struct clo_gapmax {
    size_t dim;   /* of a linear subspace of what is seen: with affine, one more than the flat's */
    bool affine;  /* a constant 1 / scale is appended to each record */
    double scale; /* public: column values times this are integers */
    double share; /* of delta that pays for the search (gapmax.T3) */
} clo_gapmax;

CLO_CHECK clo_status clo_i_plan_gapmax(const clo_domain *domain, const clo_gapmax *how,
                                       clo_loss loss, const char *label, clo_slot *out,
                                       clo_error *err);
/* found: whether there is an answer; numerators, denominators: dim x (cols + affine), the reduced
 * row echelon form of the subspace; untouched where there is none. */
CLO_CHECK clo_status clo_i_ask_gapmax(clo_context *context, size_t slot, const clo_bounded *data,
                                      const clo_gapmax *how, bool *found, int64_t *numerators,
                                      int64_t *denominators, clo_error *err);

/* The quantile numerator/denominator of the record norms (column SIZE_MAX) or of one column, by
 * choosing among increasing public thresholds, of squared norms or of column values on the full
 * grid of bound.h. quantile.T1.  handicaps are public and taken off the scores; they decide among
 * thresholds that the data hold for equal.  The answer is the index of a threshold. */
CLO_CHECK clo_status clo_i_plan_quantile(const clo_domain *domain, size_t candidates,
                                         uint64_t numerator, uint64_t denominator, double epsilon,
                                         uint64_t times, const char *label, clo_slot *out,
                                         clo_error *err);
CLO_CHECK clo_status clo_i_ask_quantile(clo_context *context, size_t slot, const clo_bounded *data,
                                        size_t column, const int64_t *thresholds,
                                        const int64_t *handicaps, size_t *chosen, clo_error *err);

#endif
