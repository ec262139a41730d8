/*
 * query.h - the metered questions: the only place where noise meets data.
 *
 * A query is one object.  Its plan_* makes, from public facts alone, a line of a plan: its exact
 * integer sensitivity, its noise, its price.  Its ask_* takes the number of a line, charges the
 * meter, and answers with the noise that the line says; a mechanism cannot ask with another noise,
 * or more often than its plan says: that is CLO_INTERNAL, before the data are touched.
 *
 * This header has what all queries share.  Each has a short header of its own, query/NAME.h.
 */
#ifndef CLO_QUERY_H
#define CLO_QUERY_H

#include "base/base.h"
#include "domain/domain.h"
#include "accounting/accounting.h"
#include <cloister/domain.h>
#include <cloister/mechanism.h>
#include <cloister/run.h>
#include <cloister/worker.h>
#include <stddef.h>
#include <string.h>

enum { CLO_MAX_LINES = 64, CLO_MAX_CLUSTERS = 1024, CLO_FIELD_WORDS = 8 };

typedef struct clo_query clo_query;
const char *clo_i_query_name(const clo_query *query);

/* What a line is seen through. */
typedef enum clo_glass { CLO_NO_LENS = 0, CLO_LENS, CLO_SKETCH } clo_glass;

/* One line of a plan: a query, and all that is fixed about its asks.  Everything from `bits` on is
 * what makes the line the one it is: clo_i_line_write writes those bytes as they lie, so that a
 * field that is added there cannot be forgotten in a hash or on the way to a worker. */
typedef struct clo_line {
    const clo_query *query;
    const char *label;
    double noise;         /* standard deviation in the data's own units, for people */
    clo_event event;      /* count: how often it may be asked */
    int32_t bits;         /* of the grid it reads */
    int32_t lens;         /* clo_glass: what it is asked through */
    size_t cols;          /* that it sees: the domain's, or those of a lens */
    size_t groups;        /* clusters of a query; candidates of a choice */
    uint64_t sensitivity; /* exact, in integer units */
    uint64_t scale;       /* of a Gaussian: its standard deviation; of Laplace noise: its scale */
    uint64_t count_unit;  /* what one record adds to a noised count */
    uint64_t rate_numerator, rate_denominator; /* of a choice: weight exp(score * rate) */
    uint64_t fields[CLO_FIELD_WORDS];          /* the query's own: CLO_LINE_FIELDS in its header */
} clo_line;

/* Where its rows may lie: a public fact. */
clo_reading clo_i_line_reading(const clo_line *line);

/* The fields of a line that are one query's own, typed: clo_i_NAME_fields reads and
 * clo_i_NAME_set_fields writes them.  Each has eight bytes, so that there is no padding. */
#define CLO_LINE_FIELDS(name, type)                                                                \
    _Static_assert(sizeof(type) <= CLO_FIELD_WORDS * sizeof(uint64_t), "too many fields");         \
    _Static_assert(sizeof(type) % sizeof(uint64_t) == 0, "fields are whole words");                \
    static inline type clo_i_##name##_fields(const clo_line *line)                                 \
    {                                                                                              \
        type own;                                                                                  \
        memcpy(&own, line->fields, sizeof own);                                                    \
        return own;                                                                                \
    }                                                                                              \
    static inline void clo_i_##name##_set_fields(clo_line *line, type own)                         \
    {                                                                                              \
        memcpy(line->fields, &own, sizeof own);                                                    \
    }

/* The line as bytes: what it asks, and with what noise, whatever units people read it in.  Two
 * lines that ask the same have the same bytes, and a plan's hash is of these. */
enum {
    CLO_LINE_TAIL = sizeof(clo_line) - offsetof(clo_line, bits),
    CLO_LINE_BYTES = 64 + CLO_LINE_TAIL
};
void clo_i_line_write(const clo_line *line, uint8_t bytes[CLO_LINE_BYTES]);
bool clo_i_line_is(const clo_line *line, const void *bytes);

/* What it draws, in words: most queries have the noise that their event is named after. */
const char *clo_i_query_sampler(const clo_line *line, bool exact);

/* One of several ranks, by its number, and how many rows all of them have together, at most. */
typedef struct clo_ranks {
    size_t rank, size;
    uint64_t rows;
} clo_ranks;

/* Takes what one ask of this line takes, over records of so many columns: whatever the data, and,
 * where they are given, what follows how many rows there are, which may be a secret.  A run has
 * both before it asks anything, so that no lack of memory tells of it afterwards (meter.T2).
 * ranks: NULL for one process. */
CLO_CHECK clo_status clo_i_query_room(clo_workspace *space, const clo_line *line, size_t cols,
                                      const clo_bounded *data, const clo_ranks *ranks,
                                      size_t block_rows, int threads, clo_error *err);

typedef struct clo_meter {
    const clo_line *lines;
    size_t count;
    size_t first; /* the place of these lines among those of the plan */
    uint64_t asked[CLO_MAX_LINES];
#ifdef CLO_FAULT_INJECTION
    struct clo_watched {
        size_t drawn, noised, told;       /* numbers, of the ask under way: witness.c */
        uint64_t noised_hash, told_hash;  /* of these numbers, in any order */
        bool vast;                        /* some are too large to be read back from a double */
        uint64_t answered[CLO_MAX_LINES]; /* how often a line was */
    } watched;
#endif
} clo_meter;

/* A run has succeeded: the test build sees to it that all that was asked was told (answer.T1). */
void clo_i_meter_finish(const clo_meter *meter);

/* Writes the cell of a block of that part, as a function of the block's rows alone; a failure other
 * than CLO_MEMORY and CLO_CANCELLED says that the block has none.  Called from several threads. */
typedef clo_status clo_block_locate(void *user, size_t part, const clo_block *block, int64_t *place,
                                    clo_error *err);

/* What another rank than the first does with each of its blocks: one of both, as its ask wants. */
typedef struct clo_block_work {
    clo_block_solve *solve;
    clo_block_locate *locate;
    void *user;
} clo_block_work;

/* ---- blocks that workers solve (fold.T7) --------------------------------------------------- */

enum { CLO_ROW_HASH_KEY_BYTES = 16, CLO_ROW_HASH_NUMBERS = 4 };

/* What a driver hands out: the ask, the seeds of the blocks, and the block of each slot. */
typedef struct clo_handed {
    const uint8_t *ask, *seeds;
    size_t ask_bytes, seed_bytes;
    const uint32_t *block_of;
    uint64_t slots;
} clo_handed;

/* Who has it done. */
typedef struct clo_elsewhere {
    void *user;
    clo_status (*count)(void *user, uint64_t *slots, clo_error *err);
    clo_status (*solve)(void *user, const clo_handed *handed, int64_t *results, size_t count,
                        clo_error *err);
} clo_elsewhere;

/* How a part deals its rows: to the groups first, first + 1, … of so many. */
typedef struct clo_dealing {
    const uint32_t *block_of;
    size_t slots;
    size_t first, count, groups;
    const uint8_t *row_hash_key;
} clo_dealing;

/* The packets of one group, from all parts in their order, and what is made of them. */
typedef struct clo_packets {
    size_t group, groups;
    const clo_packet *packets;
    size_t count;
    const uint8_t *seeds;
    size_t seed_bytes;
    int64_t *totals; /* added to */
    size_t entries;
    uint64_t row_hash[CLO_ROW_HASH_NUMBERS];
} clo_packets;

struct clo_context;
/* Makes it of the mechanism's own plan, for records of so many columns, and of the words that rank
 * 0 told with its ask; CLO_FORMAT where these are not of the kind that its own run would tell
 * (fold.T6).  What it takes is of the workspace, and lives as long as the ask. */
typedef clo_status clo_block_open(const void *plan, size_t cols, struct clo_context *context,
                                  const uint64_t *words, size_t count, clo_block_work *out,
                                  clo_error *err);

/* What a running mechanism may use, and nothing else: no files, no clock, no ledger, no noise
 * of its own. */
typedef struct clo_context {
    clo_rng *rng;
    clo_workspace *workspace;
    const clo_comm *comm; /* the ranks that fold; this one asks */
    int threads;
    size_t block_rows; /* 0: as the query likes */
    bool (*progress)(void *user, double done);
    void (*answer)(void *user, const char *query, const double *values, size_t count);
    void *user;
    double progress_from, progress_to; /* what share of the run is under way */
    clo_meter *meter;
    clo_block_solve *solve_block; /* the caller's own solver of a block; NULL: none */
    void *solve_user;
    const struct clo_lens *lens; /* what the next asks look through; NULL: at the records */
    struct clo_kept *kept;       /* what the last lens has shown; NULL: nothing is kept */
    uint64_t all_rows;           /* of all ranks together, at most; 0 of one process */
    clo_block_open *open_blocks; /* of another rank than the first, and the plan it is given */
    const void *plan;
    const clo_elsewhere *elsewhere; /* of a driver whose workers solve blocks; NULL: it has none */
    clo_packets *packets;           /* of a worker who solves some; NULL: it does not */
} clo_context;

/* Says what share of the step under way is done; CLO_CANCELLED where the caller wants no more.  To
 * be called by one thread, at least once a second, by whatever takes long. */
CLO_CHECK clo_status clo_i_tell_progress(const clo_context *context, double share, clo_error *err);

/* Whether these data were bounded to this domain: what a plan and its data must agree on. */
bool clo_i_data_fit(const clo_bounded *data, const clo_domain *domain);

/* Whether the rows are not held, but read again for every ask: then a plan is of sums alone. */
bool clo_i_data_is_streamed(const clo_bounded *data);
/* CLO_MEMORY where a run with so large a workspace would take more than such data may. */
CLO_CHECK clo_status clo_i_data_check_memory(const clo_bounded *data, size_t workspace, int threads,
                                             clo_error *err);

/* ---- ranks ------------------------------------------------------------------------------- */

/* The same without ranks: folds the rows into totals that are all 0, for bytes that somebody
 * sent. */
CLO_CHECK clo_status clo_i_fold_bytes(clo_context *context, const clo_bounded *data,
                                      const uint8_t *bytes, size_t count, int64_t *totals,
                                      size_t entries, clo_error *err);
/* What clo_i_ask_entries says, for folders that know no asks. */
size_t clo_i_asked_numbers(const uint8_t *bytes, size_t count);
/* How many rows there are (slots, where their number is public), and a keyed hash of them that
 * knows no order: the sum over the rows, so that parts can be added up; then the same of persons
 * (clo_persons), 0 without units.  row_hash.c. */
CLO_CHECK clo_status clo_i_hash_rows(const clo_bounded *data, const uint8_t *key, int threads,
                                     uint64_t row_hash[CLO_ROW_HASH_NUMBERS], clo_error *err);
/* How many rows there are, null ones among them where their number is public, or else a secret. */
size_t clo_i_row_slots(const clo_bounded *data);
/* Whether there are none, not even null ones: so it is with the driver of workers. */
bool clo_i_has_no_rows(const clo_bounded *data);
/* Of blocks, for bytes that somebody sent: deals rows out, and solves what was dealt.  seen: the
 * rows as they are looked at. */
CLO_CHECK clo_status clo_i_deal_bytes(clo_context *context, const clo_bounded *seen,
                                      const clo_bounded *rows, const uint8_t *bytes, size_t count,
                                      const clo_dealing *how, clo_packet *out, clo_error *err);
CLO_CHECK clo_status clo_i_solve_bytes(clo_context *context, const clo_bounded *data,
                                       const uint8_t *bytes, size_t count, clo_error *err);
/* Wipes them; NULL words are allowed. */
void clo_i_packets_free(clo_packet *packets, size_t count);
/* Another rank's part in one ask: reads the bytes that rank 0 sent, holds them to its own meter,
 * folds its own rows and adds them to rank 0's.  context: with a lens of NULL; data NULL: it has
 * none to fold, and says so. */
CLO_CHECK clo_status clo_i_fold_for_rank_0(clo_context *context, const clo_bounded *data,
                                           const uint8_t *bytes, size_t count, clo_error *err);

#endif
