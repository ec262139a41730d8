/*
 * line_oracle.h - what a line of a plan must be, worked out a second time: from the proofs, in
 * integers of 128 bits and in long doubles, without a call into the library.
 *
 * For every query of the table there is a function line_NAME in the section QUERY_ORACLE of
 * tests/query/NAME.h: a query without one does not compile.  It holds a line to what a unit of M
 * rows can do under the relation: how far it moves the answer, by how much noise that is hidden,
 * and what price is stated for it.  It knows the line itself, so that lines of mechanisms can be
 * held to it as well as those of a test.
 */
#ifndef CLO_TEST_LINE_ORACLE_H
#define CLO_TEST_LINE_ORACLE_H

#include "check.h"
#include "ask/query.h"
#include "query/peel.h"
#include "query/queries.h"
#include "query/sparse_sum.h"

typedef unsigned __int128 u128;

typedef struct held {
    const clo_line *line;
    clo_relation relation;
    uint64_t rows; /* of a unit, at most: M */
    size_t cols;   /* of the records */
    double asked;  /* of one ask: mu or epsilon; NAN: not known */
} held;

static inline void hold(const held *l, bool condition, const char *what, const char *file, int at)
{
    if (condition) return;
    print_error("a line of %s, %llu rows a unit, under %s, %zu columns (%s): %s\n",
                clo_i_query_name(l->line->query), (unsigned long long)l->rows,
                clo_relation_name(l->relation), l->cols, l->line->label, what);
    _fail(file, at);
}
#define HOLDS(l, condition) hold((l), (condition), #condition, __FILE__, __LINE__)

static inline bool replaces(const held *l)
{
    return l->relation == CLO_REPLACE;
}

static inline u128 power_of_two(int bits)
{
    return (u128)1 << bits;
}

static inline u128 larger(u128 a, u128 b)
{
    return a > b ? a : b;
}

/* The least integer whose square is at least this, bit by bit. */
static inline uint64_t least_root(u128 square)
{
    uint64_t below = 0; /* the largest integer whose square is less */
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t more = below | (uint64_t)1 << bit;
        if ((u128)more * more < square) below = more;
    }
    return square ? below + 1 : 0;
}

/* --- how far, how much noise, at what price --------------------------------------------------- */

/* One row moves the answer by the root of this square, in the 2-norm; M rows by M times that, and
 * no rounding may make it less, nor more by a whole unit a row. */
static inline void moves(const held *l, u128 square)
{
    const u128 s = l->line->sensitivity, m = l->rows;
    HOLDS(l, s * s >= m * m * square);
    HOLDS(l, s < m || (s - m) * (s - m) < m * m * square);
}

static inline long double ratio_of(const held *l)
{
    return (long double)l->line->sensitivity / (long double)l->line->scale;
}

/* gaussian.T1, and samplers.T2 for Laplace noise: the stated parameter is at least sensitivity over
 * scale, and the scale no larger than what was asked for needs. */
static inline void priced_by_scale(const held *l, clo_event_kind kind)
{
    const clo_event *const event = &l->line->event;
    HOLDS(l, event->kind == kind);
    HOLDS(l, event->delta == 0);
    HOLDS(l, l->line->scale >= 1);
    HOLDS(l, (long double)event->parameter >= ratio_of(l));
    HOLDS(l, (long double)event->parameter <= ratio_of(l) * (1 + 0x1p-49L));
    if (isnan(l->asked)) return;
    HOLDS(l, event->parameter <= l->asked);
    HOLDS(l, (long double)l->line->scale <=
                 (long double)l->line->sensitivity / l->asked * (1 + 0x1p-45L) + 3);
}

/* The exponent of an outcome's chance changes by at most rate times `reach` between neighbours (in
 * L1 for noise; from the outcome that gains most to the one that loses most for a choice): that is
 * the stated epsilon, neither more nor less. */
static inline void priced_by_rate(const held *l, clo_event_kind kind, u128 reach)
{
    const clo_event *const event = &l->line->event;
    const long double rate =
        (long double)l->line->rate_numerator / (long double)l->line->rate_denominator;
    const long double loss = rate * (long double)reach;
    HOLDS(l, event->kind == kind);
    HOLDS(l, loss <= event->parameter * (1 + 0x1p-60L));
    HOLDS(l, loss >= event->parameter * (1 - 0x1p-40L));
    if (isnan(l->asked)) return;
    HOLDS(l, event->parameter <= l->asked);
    HOLDS(l, event->parameter >= l->asked - 0x1p-29);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* A record r in cluster c adds (r, u) to block c, |r| <= R.  One that goes: R^2 + u^2.  Replaced in
 * its cluster, the sizes cancel: (2R)^2; by one of another cluster: both blocks. */
static inline u128 sum_square(const held *l, u128 R, u128 u)
{
    return replaces(l) ? larger(4 * R * R, 2 * (R * R + u * u)) : R * R + u * u;
}

/* An integer vector of s entries inside the ball is no longer in L1 than sqrt(s) R. */
static inline u128 sum_length(const held *l, u128 R, u128 u, u128 entries)
{
    const u128 longest = least_root(entries * R * R + 1) - 1;
    return (replaces(l) ? 2 : 1) * l->rows * (longest + u);
}

static inline void weighs(const held *l, double share)
{
    const double R = ldexp(1, l->line->bits), u = (double)l->line->count_unit;
    HOLDS(l, u > 0 && u <= R);
    HOLDS(l, fabs(u - R * share) <= 1 + 1e-9 * R);
}

static inline size_t entries_of(const held *l)
{
    const size_t entries = l->line->query == &clo_i_query_peel
                               ? clo_i_peel_fields(l->line).entries
                               : clo_i_sparse_sum_fields(l->line).entries;
    return entries && entries < l->cols ? entries : l->cols;
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* Records of 20 bits are lifted by 25: integers of at most this size, an entry off by less than
 * one. */
static inline long double lifted_square(const held *l)
{
    return ldexpl(1, 2 * (2 * l->line->bits - 25));
}

/* Between what a record surely does and that with the most that rounding can add. */
static inline void moves_between(const held *l, long double clean, long double rounding)
{
    const long double s = (long double)l->line->sensitivity, m = (long double)l->rows;
    HOLDS(l, s >= m * clean);
    HOLDS(l, s <= m * (clean * (1 + 1e-6L) + rounding * 1.01L + 2));
}

/* ---- choices --------------------------------------------------------------------------------- */

/* A record adds 0 to W to each cost.  M that come push all costs to one side: a range of M W.
 * Where M are replaced, one cost may gain what another loses. */
static inline void priced_by_costs(const held *l)
{
    const u128 W = l->line->count_unit;
    HOLDS(l, W == 1 << 20 || (W && (W & (W - 1)) == 0 && 2 * W * l->rows > power_of_two(31)));
    priced_by_rate(l, CLO_EVENT_EXPONENTIAL, (replaces(l) ? 2 : 1) * l->rows * W);
}

/* ---- cubes and blocks ------------------------------------------------------------------------ */

/* ---- every query ----------------------------------------------------------------------------- */

#define QUERY_ORACLE
#include "every_query.h"
#undef QUERY_ORACLE

static inline void check_line(const held *l)
{
#define QUERY(name)                                                                                \
    if (l->line->query == &clo_i_query_##name) {                                                   \
        line_##name(l);                                                                            \
        return;                                                                                    \
    }
#include "query/table.def"
#undef QUERY
    fail_msg("%s is no query of the table", clo_i_query_name(l->line->query));
}

#endif
