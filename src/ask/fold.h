/*
 * fold.h - a query that adds up: ask, fold, answer.  For the files of this folder only.
 *
 * An ask is public: a line, a lens, rules, a few words.  A fold is a pure function of an ask and of
 * bounded rows, into integers that are added modulo 2^64: by threads, by ranks, by other machines,
 * in any order.  Noise is added once, by the one who asks (clo_i_answer).
 */
#ifndef CLO_ASK_FOLD_H
#define CLO_ASK_FOLD_H

#include "ask/assign.h"
#include "ask/lens.h"
#include "ask/query_steps.h"

/* One ask of a line, without its noise: all that whoever holds rows must be told. */
typedef struct clo_ask {
    const clo_line *line;
    const clo_lens *lens;    /* NULL: the records themselves are read */
    const clo_assign *rules; /* as many as the query takes */
    size_t rule_count;
    const uint64_t *words; /* what else it is told: each query says what its words mean */
    size_t word_count;
} clo_ask;

/* One pass over rows under way, and the room that it takes. */
enum { CLO_FOLD_WORK = 256 };
typedef struct clo_fold {
    const clo_line *line;
    const clo_ask *ask;      /* NULL while room is only counted */
    const clo_bounded *data; /* NULL then, too */
    size_t cols, seen;       /* of the records, and of what the query sees of them */
    size_t block_rows;
    int threads;
    size_t entries;
    int64_t *totals; /* entries; the fold adds to what is there */
    double *scratch; /* of the pass */
    union {
        max_align_t align;
        unsigned char bytes[CLO_FOLD_WORK]; /* of the query's own: CLO_FOLD_WORK_OF */
    } work;
} clo_fold;

#define CLO_FOLD_WORK_OF(type)                                                                     \
    _Static_assert(sizeof(type) <= CLO_FOLD_WORK, "too large a struct of work");                   \
    static inline type *work_of(clo_fold *fold)                                                    \
    {                                                                                              \
        return (type *)(void *)fold->work.bytes;                                                   \
    }

/* How many numbers of a line's answer are noised, and how many are told.  Of answers that are drawn
 * instead, by an exponential mechanism or a threshold, nothing is noised: { 0, 0 }. */
typedef struct clo_numbers {
    size_t noised, told;
} clo_numbers;
#define CLO_AS_TOLD SIZE_MAX /* as many as are told, however many that is */
clo_numbers clo_i_numbers_drawn(const clo_line *line);

/* What a query is: what all of them have, and how it reads the rows, which is one of the two
 * below.  A query that must have all rows in one process has neither. */
struct clo_query {
    const char *name;
    clo_reading reading;                             /* of any of its lines, at most ... */
    clo_reading (*reading_of)(const clo_line *line); /* ... and of one; NULL: the same */
    const char *sampler; /* what it draws; NULL: what its event is named after */
    clo_numbers (*numbers)(const clo_line *line); /* what the test build holds it to (answer.T1) */
    bool symmetric; /* a matrix, each number of which is noised once and told in two places */
    /* Takes the room of one ask, beyond totals and scratch, by the line and the sizes in the fold
     * alone: of a workspace that may only count (clo_i_workspace_counting). */
    clo_status (*lay_out)(clo_fold *fold, clo_workspace *space, clo_error *err);
    /* Takes what follows the number of rows, which may be a secret: a run has it, too, before it
     * asks anything (meter.T2).  NULL: nothing does. */
    clo_status (*lay_out_rows)(const clo_line *line, size_t rows, clo_workspace *space,
                               clo_error *err);

    struct {
        /* Refuses an ask that is not one of this line; after it the fold never reads out of bounds,
         * whatever the bytes were that the ask was made from. */
        clo_status (*check)(const clo_ask *ask, size_t cols, clo_error *err);
        /* Numbers of its sum; ask NULL: at most. */
        size_t (*entries)(const clo_line *line, size_t cols, const clo_ask *ask);
        int (*bits)(const clo_ask *ask); /* of the grid it reads; 0: none; NULL: that of its line */
        /* Takes what its ask_* takes of the workspace for rules and words, before it begins. */
        clo_status (*lay_out_told)(const clo_line *line, clo_workspace *space, clo_error *err);
        int (*threads)(const clo_line *line, int threads); /* NULL: all of them */
        clo_visit *add;                                    /* user: the clo_fold */
        void (*gather)(clo_fold *fold); /* moves what the threads have summed into the totals */
    } sum;

    struct {
        size_t (*count)(const clo_line *line); /* how many there are; the engine takes their room */
        /* Another rank's part in one ask, which takes part in all of its sums whatever happens. */
        clo_status (*help)(clo_context *context, const struct clo_ask *ask, const clo_bounded *data,
                           clo_error *err);
    } blocks;
};

/* ---- one ask, from its charge to its answer ------------------------------------------------- */

typedef struct clo_sum {
    clo_context *context;
    const clo_line *line;
    clo_ask ask;
    clo_fold fold;
    size_t mark;
} clo_sum;

/* Charges the line and takes the room.  told: rules and words; its line and lens are filled in.
 * Where it fails there is nothing to end. */
CLO_CHECK clo_status clo_i_sum_begin(clo_context *context, size_t number, const clo_query *query,
                                     const clo_bounded *data, const clo_ask *told, clo_sum *out,
                                     clo_error *err);
/* Adds the rows of all ranks to the totals. */
CLO_CHECK clo_status clo_i_sum_fold(clo_sum *sum, clo_error *err);
void clo_i_sum_end(clo_sum *sum);

/* ---- the same as bytes ---------------------------------------------------------------------- */

/* Bytes that say the ask; number: of its line in the plan.  To be freed with clo_i_free. */
CLO_CHECK clo_status clo_i_ask_encode(const clo_ask *ask, size_t number, size_t entries,
                                      uint8_t **bytes, size_t *count, clo_error *err);
/* How many numbers the sum has that these bytes ask for, also where they ask nothing that could be
 * answered: who cannot fold still has to take part in the sum.  0: they are no ask at all. */
size_t clo_i_ask_entries(const uint8_t *bytes, size_t count);
/* An ask out of bytes, which it points into: 8-byte aligned, and alive as long as it is used. */
typedef struct clo_decoded {
    clo_ask ask;
    clo_lens lens;
    clo_assign *rules;
} clo_decoded;
/* Whatever the bytes are: an ask of one of the meter's lines that clo_query.check would still have
 * to accept, or CLO_FORMAT.  Everything in it is in range: rules and lens are on their grids. */
CLO_CHECK clo_status clo_i_ask_decode(const clo_meter *meter, size_t cols, const uint8_t *bytes,
                                      size_t count, clo_decoded *out, size_t *number,
                                      clo_error *err);
void clo_i_decoded_free(clo_decoded *decoded);

/* fold.T1: folds the rows into the totals, which must have room for clo_i_fold_entries numbers. */
size_t clo_i_fold_entries(const clo_ask *ask, size_t cols);
CLO_CHECK clo_status clo_i_fold(clo_context *context, const clo_ask *ask, const clo_bounded *data,
                                int64_t *totals, clo_error *err);

#endif
