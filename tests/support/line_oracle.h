/*
 * line_oracle.h - what a line of a plan must be, worked out a second time: from the proofs, in
 * integers of 128 bits and in long doubles, without a call into the library.
 *
 * For every query of the table there is a function line_NAME, which the dispatch at the end asks
 * for by name: a query without one does not compile.  It holds a line to what a unit of M rows can
 * do under the relation: how far it moves the answer, by how much noise that is hidden, and what
 * price is stated for it.  It knows the line itself, so that lines of mechanisms can be held to it
 * as well as those of a test.
 */
#ifndef CLO_TEST_LINE_ORACLE_H
#define CLO_TEST_LINE_ORACLE_H

#include "check.h"
#include "query/query.h"
#include "query/aggregate.h"
#include "query/cell_counts.h"
#include "query/gapmax.h"
#include "query/gaussian_moment.h"
#include "query/cross_moment.h"
#include "query/local_sum.h"
#include "query/gaussian_moment3.h"
#include "query/histogram.h"
#include "query/partition.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "query/seed.h"
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

static inline void line_gaussian_sum(const held *l)
{
    weighs(l, replaces(l) ? 1 : sqrt(0.5 / sqrt((double)l->line->cols)));
    moves(l, sum_square(l, power_of_two(l->line->bits), l->line->count_unit));
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

static inline void line_laplace_sum(const held *l)
{
    weighs(l, cbrt(0.25 / sqrt((double)l->line->cols)));
    HOLDS(l, l->line->sensitivity ==
                 sum_length(l, power_of_two(l->line->bits), l->line->count_unit, l->line->cols));
    priced_by_scale(l, CLO_EVENT_PURE);
}

static inline size_t entries_of(const held *l)
{
    const size_t entries = l->line->query == &clo_i_query_peel
                               ? clo_i_peel_part(l->line).entries
                               : clo_i_sparse_sum_part(l->line).entries;
    return entries && entries < l->cols ? entries : l->cols;
}

static inline void line_sparse_sum(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    HOLDS(l, u > 0 && u <= R);
    if (l->line->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, l->line->sensitivity == sum_length(l, R, u, entries_of(l)));
        priced_by_scale(l, CLO_EVENT_PURE);
    } else {
        moves(l, sum_square(l, R, u));
        priced_by_scale(l, CLO_EVENT_GAUSSIAN);
    }
}

/* (1 + w) |x|_1 + T |x|_inf + w u is largest where one entry is as large, beside s - 1 equal ones,
 * as Cauchy and Schwarz say; and M rows come or go, or both. */
static inline void line_peel(const held *l)
{
    const clo_line *const s = l->line;
    const u128 R = power_of_two(s->bits), T = clo_i_peel_part(s).rounds,
               w = clo_i_peel_part(s).weight;
    const u128 first = T + 1 + w, others = (u128)(entries_of(l) - 1) * (1 + w) * (1 + w);
    const u128 one = least_root((first * first + others) * R * R) + w * s->count_unit;
    HOLDS(l, clo_i_peel_part(s).rounds >= 1 && clo_i_peel_part(s).rounds <= l->cols);
    HOLDS(l, w >= 1);
    HOLDS(l, s->count_unit == R);
    HOLDS(l, s->sensitivity == (replaces(l) ? 2 : 1) * l->rows * one);
    priced_by_rate(l, CLO_EVENT_PURE, s->sensitivity);
    /* What is told of the noise of a value: its rate is w times that of a choice. */
    const long double scale = (long double)s->rate_denominator / (long double)s->rate_numerator;
    HOLDS(l, fabsl((long double)s->scale - scale / (long double)w) <= 1 + 1e-12L * scale);
}

/* (v, t, u) with |v| <= R and 0 <= t <= u.  In one cluster sizes cancel and t does not; in two,
 * nothing does. */
static inline void line_gaussian_step(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 gone = R * R + 2 * u * u;
    HOLDS(l, 4 * u == R);
    moves(l, replaces(l) ? larger(4 * R * R + u * u, 2 * gone) : gone);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

/* (v, q, u) with |v| <= R and 0 <= q <= Q.  In one cluster sizes cancel and squares need not; in
 * two, nothing does.  In the 1-norm |v| is up to sqrt(d) R, and a replaced record at its worst in
 * two clusters. */
static inline void line_local_sum(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 q = clo_i_local_sum_part(l->line).square_unit, gone = R * R + q * q + u * u;
    HOLDS(l, u == (replaces(l) ? R / 8 * 7 : R * 2 / 5));
    HOLDS(l, q == (replaces(l) ? R / 2 : R / 4));
    if (l->line->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, l->line->sensitivity == sum_length(l, R, u + q, l->line->cols));
        priced_by_scale(l, CLO_EVENT_PURE);
        return;
    }
    moves(l, replaces(l) ? larger(4 * R * R + q * q, 2 * gone) : gone);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

/* (V, t, u) with |V| <= R in the Frobenius norm and 0 <= t <= Q: at the same coordinates the
 * residual may be turned round, which leaves the length and the size. */
static inline void line_cross_moment(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 q = clo_i_cross_moment_part(l->line).square_unit, gone = R * R + q * q + u * u;
    HOLDS(l, u == (replaces(l) ? R / 8 * 7 : R * 2 / 5));
    HOLDS(l, q == (replaces(l) ? R / 2 : R / 4));
    HOLDS(l, clo_i_cross_moment_part(l->line).dim >= 1);
    HOLDS(l, clo_i_cross_moment_part(l->line).dim <= l->line->cols);
    moves(l, replaces(l) ? larger(4 * R * R + q * q, 2 * gone) : gone);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

static inline void line_count(const held *l)
{
    HOLDS(l, l->line->count_unit == 1 << 20);
    HOLDS(l, l->line->sensitivity == l->rows * l->line->count_unit);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

/* M rows leave one cell, and under replace M come to another. */
static inline void line_cell_counts(const held *l)
{
    const clo_line *const s = l->line;
    size_t cells = 1;
    for (size_t j = 0; j < s->cols; j++) cells *= clo_i_cell_counts_part(s).side;
    HOLDS(l, s->groups == cells);
    if (s->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, s->count_unit == 1);
        HOLDS(l, s->sensitivity == (replaces(l) ? 2 : 1) * l->rows);
        priced_by_rate(l, CLO_EVENT_PURE, s->sensitivity);
    } else {
        const u128 u = s->count_unit;
        HOLDS(l, u == 1 << 20);
        moves(l, (replaces(l) ? 2 : 1) * u * u);
        priced_by_scale(l, CLO_EVENT_GAUSSIAN);
    }
}

/* ---- tensors --------------------------------------------------------------------------------- */

/* |rr'| = |r|^2; two such matrices are at an angle of 90 degrees at most. */
static inline void line_gaussian_gram(const held *l)
{
    const u128 R = power_of_two(l->line->bits);
    moves(l, (replaces(l) ? 2 : 1) * R * R * R * R);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

/* The same of differences on a grid of 8 bits, which is not the one that it reads. */
static inline void line_local_gram(const held *l)
{
    const u128 R = power_of_two(8);
    HOLDS(l, l->line->bits == 20 && l->line->groups == 1);
    moves(l, (replaces(l) ? 2 : 1) * R * R * R * R);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

enum { ORACLE_COLS = 8 };

/* Records of 20 bits are lifted by 25: integers of at most this size, an entry off by less than
 * one. */
static inline long double lifted_square(const held *l)
{
    return ldexpl(1, 2 * (2 * l->line->bits - 25));
}

/* tr(vu)^2 + 2 tr(vuvu), thirds, for v = xx' - t I and u = yy' - t I with x and y of length 1 at
 * this angle: the product of the two symmetrised squares, by multiplying the matrices out. */
static inline long double even_product(size_t d, long double t, long double angle)
{
    const long double x[2] = { 1, 0 }, y[2] = { cosl(angle), sinl(angle) };
    long double vu[ORACLE_COLS][ORACLE_COLS] = { { 0 } }, trace = 0, square = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++) {
                const long double xi = i < 2 ? x[i] : 0, xk = k < 2 ? x[k] : 0;
                const long double yk = k < 2 ? y[k] : 0, yj = j < 2 ? y[j] : 0;
                vu[i][j] += (xi * xk - (i == k ? t : 0)) * (yk * yj - (k == j ? t : 0));
            }
    for (size_t i = 0; i < d; i++) {
        trace += vu[i][i];
        for (size_t k = 0; k < d; k++) square += vu[i][k] * vu[k][i];
    }
    return (trace * trace + 2 * square) / 3;
}

/* The square of how far two records at this angle are apart, the lengths tried. */
static inline long double even_apart(size_t d, long double t, long double own, long double angle)
{
    enum { LENGTHS = 3 };
    const long double both = even_product(d, t, angle);
    long double most = own;
    for (int i = 0; i < LENGTHS * LENGTHS; i++) {
        const long double p = (long double)(i / LENGTHS) / (LENGTHS - 1);
        const long double q = (long double)(i % LENGTHS) / (LENGTHS - 1);
        most = fmaxl(most, (p * p + q * q) * own - 2 * p * q * both);
    }
    return most;
}

/* How far a record of length 1 at most moves the tensor: angles are tried, and then those about the
 * best. */
static inline long double even_reach(size_t d, long double t, bool replace)
{
    enum { ANGLES = 60 };
    const long double own = even_product(d, t, 0);
    long double most = own, from = 0, step = acosl(0) / ANGLES;
    for (int pass = 0; replace && pass < 3; pass++) {
        long double best = from;
        for (int a = 0; a <= ANGLES; a++) {
            const long double apart = even_apart(d, t, own, from + step * a);
            if (apart > most) best = from + step * a;
            most = fmaxl(most, apart);
        }
        from = best - step;
        step *= 2.0L / ANGLES;
    }
    return sqrtl(most);
}

/* Between what a record surely does and that with the most that rounding can add. */
static inline void moves_between(const held *l, long double clean, long double rounding)
{
    const long double s = (long double)l->line->sensitivity, m = (long double)l->rows;
    HOLDS(l, s >= m * clean);
    HOLDS(l, s <= m * (clean * (1 + 1e-6L) + rounding * 1.01L + 2));
}

static inline void line_gaussian_moment(const held *l)
{
    const size_t d = l->line->cols;
    const long double square = lifted_square(l), factor = replaces(l) ? 2 : 1;
    const long double off = 2 * sqrtl(square) * (long double)d + (long double)(d * d);
    const long double plain = sqrtl(factor),
                      t = 3 * clo_i_gaussian_moment_part(l->line).even / ((long double)d + 4);
    const bool even = clo_i_gaussian_moment_part(l->line).even > 0;
    if (!even)
        HOLDS(l,
              (u128)l->line->sensitivity * l->line->sensitivity >=
                  (u128)l->rows * l->rows * (replaces(l) ? 18 : 9) * (u128)square * (u128)square);
    if (even && d == 1) { /* no two records are at an angle, of which the plan makes no use */
        HOLDS(l, (long double)l->line->sensitivity >=
                     3 * square * (long double)l->rows * even_reach(1, t, false));
        HOLDS(l, (long double)l->line->sensitivity <=
                     3 * (plain * square + 2 * off) * (long double)l->rows);
    } else if (d <= ORACLE_COLS) {
        moves_between(l, 3 * square * (even ? even_reach(d, t, replaces(l)) : plain),
                      3 * factor * off);
    }
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

/* |xxx - yyy|^2 for records of length 1 at most whose last coordinate is c: by trying lengths; at
 * any two lengths those are farthest apart whose other coordinates are opposite. */
static inline long double third_reach(long double c)
{
    enum { LENGTHS = 40 };
    long double most = 0;
    for (int i = 0; i <= LENGTHS; i++)
        for (int j = i; j <= LENGTHS; j++) {
            const long double a = c * c + (1 - c * c) * i / LENGTHS;
            const long double b = c * c + (1 - c * c) * j / LENGTHS;
            const long double inner = c * c - sqrtl(a - c * c) * sqrtl(b - c * c);
            most = fmaxl(most, a * a * a + b * b * b - 2 * inner * inner * inner);
        }
    return sqrtl(most);
}

static inline void line_gaussian_moment3(const held *l)
{
    const long double d = (long double)l->line->cols, square = lifted_square(l);
    const long double c =
        truncl(ldexpl(clo_i_gaussian_moment3_part(l->line).constant, l->line->bits)) * 0x1p-20L;
    const long double off = sqrtl(square) * (d + sqrtl(d));
    if (!replaces(l))
        moves(l, 9 * (u128)square * (u128)square);
    else if (c == 0)
        moves(l, 36 * (u128)square * (u128)square);
    else {
        moves_between(l, 3 * square * fminl(third_reach(c), 2), 6 * off);
        HOLDS(l, (long double)l->line->sensitivity <= 6 * square * (long double)l->rows);
    }
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
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

static inline void line_choose_flats(const held *l)
{
    priced_by_costs(l);
}

static inline void line_choose_centers(const held *l)
{
    priced_by_costs(l);
}

/* Whatever is counted, and what should be left out, moves by a record at most; a record counts that
 * many units. */
static inline void line_quantile(const held *l)
{
    const uint64_t one = clo_i_quantile_part(l->line).ends * CLO_QUANTILE_PARTS;
    HOLDS(l, l->line->sensitivity == l->rows * one);
    priced_by_rate(l, CLO_EVENT_EXPONENTIAL, 2 * (u128)l->rows * one);
}

/* A record's part of the score lies between 0 and 1. */
static inline void line_gibbs(const held *l)
{
    HOLDS(l, l->line->sensitivity == l->rows);
    priced_by_rate(l, CLO_EVENT_EXPONENTIAL, (replaces(l) ? 2 : 1) * (u128)l->rows);
}

/* Two open cells without another record: a unit at full weight makes one 1 + U/F as likely. */
static inline void line_seed(const held *l)
{
    const clo_line *const s = l->line;
    const long double U = (long double)(l->rows * s->count_unit),
                      F = (long double)clo_i_seed_part(s).floor;
    HOLDS(l, s->event.kind == (replaces(l) ? CLO_EVENT_PURE : CLO_EVENT_EXPONENTIAL));
    HOLDS(l, s->count_unit == 1 << 20);
    HOLDS(l, s->sensitivity == l->rows * s->count_unit);
    HOLDS(l, clo_i_seed_part(s).floor >= 1);
    HOLDS(l, (long double)s->event.parameter >= log1pl(U / F));
    HOLDS(l, (long double)s->event.parameter <= log1pl(U / F) * (1 + 0x1p-46L));
    if (isnan(l->asked)) return;
    HOLDS(l, s->event.parameter <= l->asked);
    HOLDS(l, clo_i_seed_part(s).floor == 1 || log1pl(U / (F - 1)) * (1 + 0x1p-46L) > l->asked);
}

/* ---- cubes and blocks ------------------------------------------------------------------------ */

/* Rows come or go one by one, each at the rate a; an empty child is as likely as a phantom allows:
 * y <= theta (1 + e^a - y) with y = e^-(a (tau - 1)). */
static inline bool tau_is_enough(long double a, long double tau, size_t cols)
{
    const long double theta = ldexpl(1, -(int)cols - 3), y = expl(-a * (tau - 1));
    return y <= theta * (1 + expl(a) - y);
}

static inline void line_partition(const held *l)
{
    const clo_line *const s = l->line;
    const long double a = (long double)s->rate_numerator / (long double)s->rate_denominator;
    const uint64_t moved = (replaces(l) ? 2 : 1) * l->rows;
    HOLDS(l, s->sensitivity == moved);
    HOLDS(l, clo_i_partition_part(s).threshold >= 1);
    HOLDS(l, tau_is_enough(a, (long double)clo_i_partition_part(s).threshold, s->cols));
    HOLDS(l, s->event.count % clo_i_partition_part(s).levels == 0); /* a charge a level */
    priced_by_rate(l, CLO_EVENT_PURE, moved);
}

static inline long double normal_below(long double z)
{
    return erfcl(-z / sqrtl(2)) / 2;
}

/* As many solutions change as a unit has rows.  They are averaged where enough agree; where there
 * are too few, the noise is that of the whole space, at a scale which is no secret. */
static inline void line_aggregate(const held *l)
{
    const clo_line *const s = l->line;
    const double m = (double)clo_i_aggregate_part(s).blocks, changed = (double)l->rows,
                 middle = ceil((m + changed) / 2) + 1;
    const double epsilon = s->event.parameter;
    HOLDS(l, s->event.kind == CLO_EVENT_APPROXIMATE);
    HOLDS(l, s->sensitivity == l->rows);
    HOLDS(l, clo_i_aggregate_part(s).alpha > 0 && clo_i_aggregate_part(s).beta >= 0);
    if (clo_i_aggregate_part(s).beta > 0) {
        HOLDS(l, middle <= m && middle >= 2 * changed);
        HOLDS(l, (1 + changed / middle) / (1 - changed / (2 * middle)) <=
                     exp(clo_i_aggregate_part(s).beta / 2));
    } else {
        const long double a = clo_i_aggregate_part(s).alpha, e = epsilon;
        HOLDS(l, normal_below(a / 2 - e / a) - expl(e) * normal_below(-a / 2 - e / a) <=
                     s->event.delta * (1 + 1e-6L));
    }
}

/* The most that cells which vanish, `left` blocks in all with each cell at most `largest`, add to
 * the chance that one is told: by trying all ways to divide them. */
static inline long double vanishing(uint64_t left, uint64_t largest, long double a, long double tau)
{
    long double worst = 0;
    for (uint64_t size = 1; size <= largest && size <= left; size++)
        worst = fmaxl(worst, expl(-a * (tau - (long double)size)) / (1 + expl(-a)) +
                                 vanishing(left - size, size, a, tau));
    return worst;
}

/* A block that a row leaves or enters takes 1 from one cell and gives it to another, under both
 * relations. */
static inline void line_histogram(const held *l)
{
    const clo_line *const s = l->line;
    const long double a = (long double)s->rate_numerator / (long double)s->rate_denominator;
    const long double spared = fminl(s->event.delta, -expm1l(-a)),
                      tau = (long double)clo_i_histogram_part(s).threshold;
    HOLDS(l, s->sensitivity == 2 * l->rows);
    HOLDS(l, clo_i_histogram_part(s).blocks % clo_i_histogram_part(s).parts == 0);
    HOLDS(l, clo_i_histogram_part(s).threshold > l->rows);
    HOLDS(l, vanishing(l->rows, l->rows, a, tau) <= spared);
    HOLDS(l, vanishing(l->rows, l->rows, a, tau - 1) > spared * (1 - 1e-6L));
    priced_by_rate(l, CLO_EVENT_APPROXIMATE, 2 * (u128)l->rows);
}

/* P[T > A - 2] for noise of e^-(a |x|) on |x| <= A. */
static inline long double beyond(long double a, uint64_t A)
{
    long double all = 1;
    for (uint64_t x = 1; x <= A; x++) all += 2 * expl(-a * (long double)x);
    return (expl(-a * (long double)A) + expl(-a * ((long double)A - 1))) / all;
}

/* Proved for a row alone; a score moves by 2 under both relations. */
static inline void line_gapmax(const held *l)
{
    const clo_line *const s = l->line;
    const long double e = s->event.parameter,
                      missed = (1 + expl(e)) * (long double)clo_i_gapmax_part(s).beta;
    HOLDS(l, l->rows == 1);
    HOLDS(l, s->sensitivity == 2);
    priced_by_rate(l, CLO_EVENT_APPROXIMATE, 2);
    HOLDS(l, missed > 0 && missed + beyond(e / 2, s->scale) <= s->event.delta * (1 + 1e-8L));
    HOLDS(l, missed + beyond(e / 2, s->scale - 1) > s->event.delta * (1 - 1e-6L));
    HOLDS(l, (long double)s->groups >= powl(4, (long double)clo_i_gapmax_part(s).dim) *
                                           logl(2 / clo_i_gapmax_part(s).beta) * (1 - 1e-12L));
}

/* ---- every query ----------------------------------------------------------------------------- */

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
