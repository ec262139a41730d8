/*
 * pairs.c - worlds that are hard on a mechanism: neighbours at the full sensitivity of what it
 * asks.
 *
 * Under replace, `group` records are one thing in world 0 and its opposite in world 1; under
 * add-remove they are there in world 0 and missing in world 1.  The norm is 1 throughout.
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

/* The other records stay at the far end, so that what changes is one cluster's last member. */
static size_t last_member(clo_relation relation, unsigned group, int world, double *out)
{
    const double here[] = { 1, 0 }, there[] = { -1, 0 };
    const size_t rows = either(relation, group, world, 2, here, there, out);
    memcpy(out + 2 * rows, there, sizeof there);
    return rows + 1;
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

/* At epsilon 4 and delta 1e-6, where the noise ends at 8, the first line is ahead by 10 or by 8: it
 * is found nearly always, or seldom.  The other record is the only one on a third line. */
static size_t bare_majority(clo_relation relation, unsigned group, int world, double *out)
{
    const double most[] = { 1, 0, 0 }, few[] = { 0, 1, 0 }, other[] = { 0, 0, 1 };
    const size_t rows = either(relation, group, world, 3, most, other, out);
    for (size_t i = 0; i < 22; i++) memcpy(out + 3 * (rows + i), i < 6 ? few : most, sizeof most);
    return rows + 22;
}

/* At the angle that moves fourth moments with half of their traces left out the most, in 3 columns:
 * the square of its cosine is 9/28 (gaussian_moment.T3). */
static size_t slanted(clo_relation relation, unsigned group, int world, double *out)
{
    return either(relation, group, world, 3, (const double[]){ 1, 0, 0 },
                  (const double[]){ sqrt(9.0 / 28), sqrt(19.0 / 28), 0 }, out);
}

/* Twice as many records as move sit above the first of the thresholds.  A record that moves from
 * below all thresholds to above them raises the score of the first and lowers that of the others:
 * the whole range of the choice; and as the handicap leaves the others little weight, they show
 * nearly all of it as a loss. */
static size_t around_the_median(clo_relation relation, unsigned group, int world, double *out)
{
    const double low = 0, high = 1;
    const size_t moving = either(relation, group, world, 1, &low, &high, out);
    for (size_t i = 0; i < 2 * (size_t)group; i++) out[moving + i] = 1.5 * 0x1p-26;
    return moving + 2 * (size_t)group;
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

static const clo_i_pair table[] = {
#define PAIR(family, method, name, settings, cols, categorical, twice, rows, what)                 \
    { #family, #method, #name, what, settings, cols, categorical, twice, rows },
#include "audit/pairs.def"
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
