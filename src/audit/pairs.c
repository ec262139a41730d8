/*
 * pairs.c - worlds that are hard on a mechanism: neighbours at the full sensitivity of what it
 * asks.
 *
 * Under replace, `group` records are one thing in world 0 and its opposite in world 1; under
 * add-remove they are there in world 0 and missing in world 1.  The norm is 1 throughout.  For
 * persons of several rows the same shapes serve: all rows of one are the same, and as bad.
 */
#include "audit/audit_internal.h"
#include <math.h>
#include <string.h>

/* `group` copies of one of two records; under add-remove, world 1 has none. */
static size_t either(clo_relation relation, unsigned group, int world, size_t cols,
                     const double *first, const double *second, double *out)
{
    if (relation == CLO_ADD_REMOVE && world == 1) return 0;
    for (size_t i = 0; i < group; i++)
        memcpy(out + i * cols, world ? second : first, cols * sizeof *out);
    return group;
}

static size_t opposite(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 2, (const double[]){ 1, 0 }, (const double[]){ -1, 0 },
                  out);
}

static size_t opposite_in_many(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 13, (const double[13]){ 1 }, (const double[13]){ -1 },
                  out);
}

static size_t ends(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 1, (const double[]){ 1 }, (const double[]){ -1 }, out);
}

static size_t single(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 1, (const double[]){ 0.25 }, (const double[]){ -0.25 },
                  out);
}

static size_t far_out(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 4, (const double[]){ 1e3, 1e3, 1e3, 1e3 },
                  (const double[]){ -1e3, -1e3, -1e3, -1e3 }, out);
}

static size_t far_out_across(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 4, (const double[]){ 1e3, 1e3, 1e3, 1e3 },
                  (const double[]){ 1e3, -1e3, 1e3, -1e3 }, out);
}

/* Two entries, of which the larger counts where one does. */
static size_t two_entries(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 2, (const double[]){ 0.8, 0.6 },
                  (const double[]){ -0.8, -0.6 }, out);
}

/* In a sketch of four coordinates all eight entries are added up in each, with random signs: two
 * records in five come out longer than they are.  The signs are public but other ones in each run,
 * so that a direction shows in the recovery alone, and a record's presence in all asks. */
static size_t colliding(clo_relation relation, unsigned group, int world, double *out)
{
    double here[8], there[8];
    for (size_t j = 0; j < 8; j++) there[j] = -(here[j] = sqrt(1.0 / 8));
    return either(relation, group, world, 8, here, there, out);
}

/* The other records stay at the far end, so that what changes is one cluster's last member. */
static size_t last_member(clo_relation relation, unsigned group, int world, double *out)
{
    const double here[] = { 1, 0 }, there[] = { -1, 0 };
    const size_t rows = either(relation, group, world, 2, here, there, out);
    memcpy(out + 2 * rows, there, sizeof there);
    return rows + 1;
}

/* One member more of a cluster that has one, so that its size is 2 or 1. */
static size_t second_member(clo_relation relation, unsigned group, int world, double *out)
{
    const double here = 1, middle = 0;
    const size_t rows = either(relation, group, world, 1, &here, &middle, out);
    out[rows] = middle;
    return rows + 1;
}

/* Ten times as long as all the others, or as short as they are. */
static size_t longest(clo_relation relation, unsigned group, int world, double *out)
{
    const double far[] = { 1, 0 }, near[] = { 0.1, 0 };
    const size_t rows = either(relation, group, world, 2, far, near, out);
    for (size_t i = 0; i < 20; i++) memcpy(out + 2 * (rows + i), near, sizeof near);
    return rows + 20;
}

/* Enough records on either side that no noisy count comes near 0. */
static size_t two_heaps(clo_relation relation, unsigned group, int world, double *out)
{
    const double here = 0.5, there = -0.5;
    const size_t rows = either(relation, group, world, 1, &here, &there, out);
    for (size_t i = 0; i < 60; i++) out[rows + i] = i % 2 ? here : there;
    return rows + 60;
}

static size_t axes(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 3, (const double[]){ 1, 0, 0 },
                  (const double[]){ 0, 1, 0 }, out);
}

static size_t diagonals(clo_relation relation, unsigned group, int world, double *out)
{
    const double h = sqrt(0.5);
    return either(relation, group, world, 3, (const double[]){ h, h, 0 },
                  (const double[]){ h, -h, 0 }, out);
}

/* Sixty records that say where the line is; one halfway between it and its complement, on one side
 * of it or on the other. */
static size_t beside_a_line(clo_relation relation, unsigned group, int world, double *out)
{
    const double along[] = { 1, 0, 0 };
    const size_t rows = diagonals(relation, group, world, out);
    for (size_t i = 0; i < 60; i++) memcpy(out + 3 * (rows + i), along, sizeof along);
    return rows + 60;
}

/* A hundred records at the ends of a third axis, which say where the mean is and how far it is to
 * the records; one along the first axis, or along the second. */
static size_t axes_about_a_mean(clo_relation relation, unsigned group, int world, double *out)
{
    const size_t rows = axes(relation, group, world, out);
    for (size_t i = 0; i < 100; i++)
        memcpy(out + 3 * (rows + i), (const double[]){ 0, 0, i % 2 ? 1 : -1 }, 3 * sizeof *out);
    return rows + 100;
}

/* Sixty records, most of them in two heaps, which say where the mean is, how far it is to the
 * records and in which direction; one beyond the one heap or beyond the other. */
static size_t beyond_two_heaps(clo_relation relation, unsigned group, int world, double *out)
{
    const double here[] = { 1, 0, 0, 0, 0 }, there[] = { -1, 0, 0, 0, 0 };
    const size_t rows = either(relation, group, world, 5, here, there, out), others = 60 - group;
    for (size_t i = 0; i < others; i++)
        memcpy(out + 5 * (rows + i), (const double[]){ i % 2 ? 0.5 : -0.5, 0, 0, 0, 0 },
               5 * sizeof *out);
    return rows + others;
}

/* Of 121 records 63 or 62 agree: with 63 all points that count lie on the middle one, with 62 the
 * last of them does not. */
static size_t nearly_agreed(clo_relation relation, unsigned group, int world, double *out)
{
    const double most[] = { 1, 0 }, other[] = { 0, 1 };
    const size_t rows = either(relation, group, world, 2, most, other, out);
    for (size_t i = 0; i < 120; i++)
        memcpy(out + 2 * (rows + i), i < 58 ? other : most, sizeof most);
    return rows + 120;
}

/* Records of zeros span nothing, so that their blocks name no cell. */
static size_t alone(clo_relation relation, unsigned group, int world, double *out)
{
    const size_t rows =
        either(relation, group, world, 2, (const double[]){ 1, 0 }, (const double[]){ 0, 0 }, out);
    memset(out + 2 * rows, 0, 2 * 15 * sizeof *out);
    return rows + 15;
}

/* Thirteen blocks, or more, of sixteen agree: below the threshold, where each further one raises
 * the chance of being found by the whole rate of the noise. */
static size_t nearly_enough(clo_relation relation, unsigned group, int world, double *out)
{
    const double most[] = { 1, 0 }, other[] = { 0, 1 };
    const size_t rows = either(relation, group, world, 2, most, other, out);
    memset(out + 2 * rows, 0, 2 * 15 * sizeof *out);
    for (size_t i = 0; i < 13; i++) memcpy(out + 2 * (rows + i), most, sizeof most);
    return rows + 15;
}

/* A block with a long record is in that record's cell, whatever short ones it has.  Some blocks
 * have one along the first axis, and the short ones of the others lie along the second: a fuller
 * cell, but not by so much that the noise never turns it.  The record takes a block from the one to
 * the other, so that both sizes show it (histogram.T1).  At epsilon 2 and delta 1e-6, a threshold
 * of 15. */
static size_t swapped(clo_relation relation, unsigned group, int world, double *out)
{
    const double lengthy[] = { 1, 0 }, brief[] = { 0, .01 };
    const bool even =
        relation == CLO_REPLACE; /* a block a row; otherwise rows fall where they do */
    const size_t few = even ? 15 : 18, others = even ? 18 : 100;
    const size_t rows = either(relation, group, world, 2, lengthy, brief, out);
    for (size_t i = 0; i < few + others - (even ? group : 0); i++)
        memcpy(out + 2 * (rows + i), i < few ? lengthy : brief, sizeof brief);
    return few + others + (even ? 0 : rows);
}

/* All blocks have short records along one axis, and agree; a long one across takes its block away.
 * Sixteen blocks or fifteen at a threshold of 15: whether there is any answer. */
static size_t dissent(clo_relation relation, unsigned group, int world, double *out)
{
    const double brief[] = { .01, 0 };
    const size_t rows = either(relation, group, world, 2, (const double[]){ 0, 1 }, brief, out);
    for (size_t i = 0; i < CLO_AUDIT_ROWS - group; i++)
        memcpy(out + 2 * (rows + i), brief, sizeof brief);
    return rows + CLO_AUDIT_ROWS - group;
}

/* At epsilon 4 and delta 1e-6, where the noise ends at 8, the first line is ahead by 10 or by 8: it
 * is found nearly always, or seldom.  The other record is the only one on a third line. */
static size_t bare_majority(clo_relation relation, unsigned group, int world, double *out)
{
    const double most[] = { 1, 0, 0 }, few[] = { 0, 1, 0 }, other[] = { 0, 0, 1 };
    const size_t rows = either(relation, group, world, 3, most, other, out);
    for (size_t i = 0; i < 22; i++) memcpy(out + 3 * (rows + i), i < 6 ? few : most, sizeof most);
    return rows + 22;
}

/* The same with the worlds exchanged, so that under add-remove, too, there is a record whose line
 * is its own: what no answer may name, however many lines there are to choose from. */
static size_t own_line(clo_relation relation, unsigned group, int world, double *out)
{
    const double most[] = { 1, 0, 0 }, few[] = { 0, 1, 0 }, other[] = { 0, 0, 1 };
    const size_t rows = either(relation, group, world, 3, other, most, out);
    for (size_t i = 0; i < 22; i++) memcpy(out + 3 * (rows + i), i < 6 ? few : most, sizeof most);
    return rows + 22;
}

/* The point (1, t, t^2 modulo 19), of which any three are independent, in the first three columns;
 * lengths are in sixteenths. */
static void place_on_curve(int t, double *row)
{
    const int at = t > 9 ? t - 19 : t, square = t * t % 19;
    row[0] = 1.0 / 16;
    row[1] = at / 16.0;
    row[2] = (square > 9 ? square - 19 : square) / 16.0;
    row[3] = 0;
}

/* With the noise of bare_majority the three columns are ahead by 10 or by 8: 18 or 17 of 23 records
 * in general position, of which any plane holds two. */
static size_t bare_majority_of_a_solid(clo_relation relation, unsigned group, int world,
                                       double *out)
{
    double decides[4];
    place_on_curve(17, decides);
    const size_t rows =
        either(relation, group, world, 4, decides, (const double[]){ 0, 0, 0, 0.5 }, out);
    for (int i = 0; i < 22; i++) {
        double *const row = out + 4 * (rows + (size_t)i);
        place_on_curve(i, row);
        if (i >= 17) row[3] = (i - 16) / 16.0;
    }
    return rows + 22;
}

/* The same for the line through (0, 1/4) along the first axis: 17 or 16 of 22 records. */
static size_t bare_majority_of_a_flat(clo_relation relation, unsigned group, int world, double *out)
{
    const size_t rows = either(relation, group, world, 2, (const double[]){ 0.5, 0.25 },
                               (const double[]){ 0.5, -0.5 }, out);
    for (int i = 0; i < 21; i++) {
        double *const row = out + 2 * (rows + (size_t)i);
        row[0] = (i - 8) / 16.0;
        row[1] = i < 16 ? 0.25 : (15 - i) / 16.0;
    }
    return rows + 21;
}

/* At the angle that moves fourth moments with half of their traces left out the most, in 3 columns:
 * the square of its cosine is 9/28 (gaussian_moment.T3). */
static size_t slanted(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 3, (const double[]){ 1, 0, 0 },
                  (const double[]){ sqrt(9.0 / 28), sqrt(19.0 / 28), 0 }, out);
}

/* All records are 0 but three that sit a little above the first of the thresholds, and `far` that
 * sit above all of them: one less than may be left out.  A record that moves there from 0 lowers
 * the score of the first threshold, which leaves out too many, and raises those of all that are too
 * wide: the whole range of the choice; and as these have nearly all of the weight, the first shows
 * nearly all of it as a loss. */
static size_t nearly_too_wide(clo_relation relation, unsigned group, int world, size_t far,
                              double little, double *out)
{
    const double high = 1, low = 0;
    size_t rows = either(relation, group, world, 1, &high, &low, out);
    for (size_t i = 0; i < 3; i++) out[rows++] = little;
    for (size_t i = group; i < far; i++) out[rows++] = high;
    for (size_t i = far + 3; i < CLO_AUDIT_ROWS; i++) out[rows++] = low;
    return rows;
}

/* A radius that holds 0.855 of 128 records leaves out 18.6. */
static size_t wide_radius(clo_relation relation, unsigned group, int world, double *out)
{
    return nearly_too_wide(relation, group, world, 18, 1.5 * 0x1p-26, out);
}

/* At epsilon 2 an end leaves out 8.97. */
static size_t wide_end(clo_relation relation, unsigned group, int world, double *out)
{
    return nearly_too_wide(relation, group, world, 8, 1.5 * 0x1p-25, out);
}

/* At epsilon 1, 101 records are one too few to tell a radius, for sure. */
static size_t nearly_too_few(clo_relation relation, unsigned group, int world, double *out)
{
    const double low = 0, high = 1;
    const size_t rows = either(relation, group, world, 1, &low, &high, out);
    for (size_t i = 0; i < 101; i++) out[rows + i] = low;
    return rows + 101;
}

/* An exponential mechanism shows its whole range only where the worlds are not mirror images: with
 * as many more records along the first axis, the two worlds of replace are a strong preference for
 * it and none at all. */
static size_t tilted(clo_relation relation, unsigned group, int world, double *out)
{
    const double here[] = { 1, 0 }, there[] = { 0, 1 };
    const size_t rows = either(relation, group, world, 2, here, there, out);
    if (relation == CLO_ADD_REMOVE) return rows;
    for (size_t i = 0; i < group; i++) memcpy(out + 2 * (rows + i), here, sizeof here);
    return rows + group;
}

/* ---- null records (bound.T6) ----------------------------------------------------------------- */

/* A record, or one with a missing cell in its place: under either relation the row is there. */
static size_t or_null(unsigned group, int world, size_t cols, const double *record, double *out)
{
    for (size_t i = 0; i < group; i++) {
        memcpy(out + i * cols, record, cols * sizeof *out);
        if (world == 1) out[i * cols + (i + 1) % cols] = NAN;
    }
    return group;
}

static size_t null_in_a_plane(clo_relation relation, unsigned group, int world, double *out)
{
    (void)relation;
    return or_null(group, world, 2, (const double[]){ 1, 0 }, out);
}

static size_t null_in_space(clo_relation relation, unsigned group, int world, double *out)
{
    (void)relation;
    return or_null(group, world, 3, (const double[]){ 1, 0, 0 }, out);
}

/* The sixteen blocks of dissent: the long record that takes one away is there or null. */
static size_t null_dissent(clo_relation relation, unsigned group, int world, double *out)
{
    const size_t rows = dissent(CLO_REPLACE, group, 0, out);
    (void)relation;
    for (size_t i = 0; i < group && world == 1; i++) out[2 * i] = NAN;
    return rows;
}

/* ---- records under a schema (bound.T7) ------------------------------------------------------- */

/* A level of the category, or another one. */
static size_t level_flipped(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 1, (const double[]){ 0 }, (const double[]){ 2 }, out);
}

/* A level, or a text that is in no list: under either relation the record is there. */
static size_t level_or_outside(clo_relation relation, unsigned group, int world, double *out)
{
    (void)relation;
    for (size_t i = 0; i < group; i++) out[i] = world ? -1 : 0;
    for (size_t i = 0; i < 20; i++) out[group + i] = (double)(i % 3);
    return group + 20;
}

/* The places of all rows, of those that have gone too. */
enum {
#define PAIR(family, method, name, ...)      PLACE_##family##_##method##_##name,
#define UNIT_PAIR(family, method, name, ...) PLACE_##family##_##method##_##name,
#define RETIRED_PAIR(family, method, name)   PLACE_##family##_##method##_##name,
#define NO_UNIT_PAIR(family, method, why)
#include "audit/pairs.def"
#undef RETIRED_PAIR
#undef UNIT_PAIR
#undef PAIR
};

static const clo_i_pair table[] = {
#define PAIR(family, method, name, settings, cols, categorical, twice, rows, what, ...)            \
    { PLACE_##family##_##method##_##name,                                                          \
      #family,                                                                                     \
      #method,                                                                                     \
      #name,                                                                                       \
      what,                                                                                        \
      settings,                                                                                    \
      cols,                                                                                        \
      categorical,                                                                                 \
      twice,                                                                                       \
      0,                                                                                           \
      rows },
#define UNIT_PAIR(family, method, name, settings, cols, categorical, per_unit, rows, what, ...)    \
    { PLACE_##family##_##method##_##name,                                                          \
      #family,                                                                                     \
      #method,                                                                                     \
      #name,                                                                                       \
      what,                                                                                        \
      settings,                                                                                    \
      cols,                                                                                        \
      categorical,                                                                                 \
      false,                                                                                       \
      per_unit,                                                                                    \
      rows },
#define RETIRED_PAIR(family, method, name)
#include "audit/pairs.def"
#undef NO_UNIT_PAIR
#undef RETIRED_PAIR
#undef UNIT_PAIR
#undef PAIR
};

size_t clo_i_pair_count(void)
{
    return sizeof table / sizeof *table;
}

const clo_i_pair *clo_i_pair_at(size_t i)
{
    return &table[i];
}
