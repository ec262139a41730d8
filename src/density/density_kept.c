/*
 * density_kept.c - what a density was told, as whole numbers: places and widths are on a grid, and
 * so are answers.  A release holds them, and the same density can be told them again.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include <math.h>
#include <string.h>

static const char *const names[] = { [CLO_DENSITY_SUM] = "sum",
                                     [CLO_DENSITY_SHELLS] = "shells",
                                     [CLO_DENSITY_GRAM] = "gram",
                                     [CLO_DENSITY_CELLS] = "cells" };
enum { KINDS = sizeof names / sizeof *names };
/* Places within four radii, and answers that a double holds exactly. */
static const int64_t FARTHEST = (int64_t)4 << CLO_DENSITY_BITS, LARGEST = (int64_t)1 << 52;
enum { MOST_GROUPS = 4096 }; /* four times what a run may ask about */

int clo_i_density_kind(const char *name)
{
    for (int kind = 0; kind < KINDS; kind++)
        if (strcmp(names[kind], name) == 0) return kind;
    return -1;
}

/* Numbers that say what was asked: of each place its coordinates, its width, and of cells how far
 * squares reach. */
static size_t asked_of_a_place(int kind, size_t cols)
{
    return cols + (kind == CLO_DENSITY_CELLS ? 2 : 1);
}

static size_t places_of(int kind, size_t groups)
{
    return kind == CLO_DENSITY_CELLS ? groups : 1;
}

static size_t noises_of(int kind)
{
    return kind == CLO_DENSITY_CELLS ? 3 : 1;
}

clo_density_kept clo_i_density_kept(const clo_density *density, size_t at)
{
    const clo_density_answer *const a = &density->answers[at];
    const size_t cols = density->cols;
    clo_density_kept kept = { .kind = names[a->kind],
                              .groups = a->groups,
                              .noise_count = noises_of(a->kind),
                              .asked_count =
                                  places_of(a->kind, a->groups) * asked_of_a_place(a->kind, cols),
                              .answered_count = a->groups * clo_i_density_features(a->kind, cols) };
    memcpy(kept.noise, a->noise, sizeof kept.noise);
    return kept;
}

static int64_t steps(double value, int bits)
{
    return (int64_t)nearbyint(ldexp(value, bits));
}

void clo_i_density_keep(const clo_density *density, size_t at, int64_t *asked, int64_t *answered)
{
    const clo_density_answer *const a = &density->answers[at];
    const size_t cols = density->cols, features = clo_i_density_features(a->kind, cols);
    for (size_t c = 0; c < places_of(a->kind, a->groups); c++) {
        for (size_t j = 0; j < cols; j++)
            *asked++ = steps(a->places[c * cols + j], CLO_DENSITY_BITS);
        *asked++ = steps(a->widths[c], CLO_DENSITY_BITS);
        if (a->kind == CLO_DENSITY_CELLS) *asked++ = steps(a->reaches[c], CLO_DENSITY_BITS);
    }
    for (size_t c = 0; c < a->groups; c++)
        for (size_t j = 0; j < features; j++)
            *answered++ = steps(a->told[c * a->stride + j], CLO_DENSITY_TOLD_BITS);
}

static bool within(const int64_t *numbers, size_t count, int64_t most)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] > most || numbers[i] < -most) return false;
    return true;
}

/* Widths and reaches stand behind the coordinates of each place. */
static bool has_widths(const clo_density_kept *kept, int kind, size_t cols)
{
    const size_t each = asked_of_a_place(kind, cols);
    for (size_t i = 0; i < kept->asked_count; i++)
        if (i % each >= cols && kept->asked[i] < 1) return false;
    return true;
}

bool clo_i_density_kept_fits(const clo_density_kept *kept, size_t cols)
{
    const int kind = clo_i_density_kind(kept->kind);
    if (kind < 0 || cols < 1 || cols > CLO_DENSITY_COLUMNS || kept->groups < 1 ||
        kept->groups > MOST_GROUPS || kept->noise_count != noises_of(kind))
        return false;
    if (kind != CLO_DENSITY_SHELLS && kind != CLO_DENSITY_CELLS && kept->groups != 1) return false;
    for (size_t i = 0; i < kept->noise_count; i++)
        if (!(kept->noise[i] > 1e-12 && kept->noise[i] < 1e12)) return false;
    return kept->asked_count == places_of(kind, kept->groups) * asked_of_a_place(kind, cols) &&
           kept->answered_count == kept->groups * clo_i_density_features(kind, cols) &&
           within(kept->asked, kept->asked_count, FARTHEST) &&
           within(kept->answered, kept->answered_count, LARGEST) && has_widths(kept, kind, cols);
}

void clo_i_density_retell(clo_density *density, const clo_density_kept *kept)
{
    clo_density_answer *const a = &density->answers[density->answered++];
    const size_t cols = density->cols, features = clo_i_density_features(a->kind, cols);
    const int64_t *asked = kept->asked, *answered = kept->answered;
    memcpy(a->noise, kept->noise, sizeof a->noise);
    for (size_t c = 0; c < places_of(a->kind, a->groups); c++) {
        for (size_t j = 0; j < cols; j++)
            a->places[c * cols + j] = ldexp((double)*asked++, -CLO_DENSITY_BITS);
        a->widths[c] = a->reaches[c] = ldexp((double)*asked++, -CLO_DENSITY_BITS);
        if (a->kind == CLO_DENSITY_CELLS)
            a->reaches[c] = ldexp((double)*asked++, -CLO_DENSITY_BITS);
    }
    for (size_t c = 0; c < a->groups; c++)
        for (size_t j = 0; j < features; j++)
            a->told[c * a->stride + j] = ldexp((double)*answered++, -CLO_DENSITY_TOLD_BITS);
    clo_i_density_see_answer(density, a);
}
