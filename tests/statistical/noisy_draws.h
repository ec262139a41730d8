/*
 * noisy_draws.h - answers that are drawn, such as a choice, turned into numbers of the unit Laplace
 * law by the law that they should have, with a random point inside of each step: so independence is
 * checked there as elsewhere.
 */
#ifndef CLO_TEST_NOISY_DRAWS_H
#define CLO_TEST_NOISY_DRAWS_H

#include "noisy_sums.h"
#include "ask/assign.h"

/* A number of the unit Laplace law that is below zero in a share of one half, and so on. */
static inline double laplace_at(double share)
{
    return share < 0.5 ? log(2 * share) : -log(2 * (1 - share));
}

/* A random point of the step from `from` to `to`. */
static inline double laplace_within(noisy *n, double from, double to)
{
    const double inside = ((double)(clo_i_random_u64(n->jitter) >> 12) + 0.5) * 0x1p-52;
    return laplace_at(from + (to - from) * inside);
}

static inline double laplace_of_choice(noisy *n, size_t chosen, size_t candidates)
{
    return laplace_within(n, (double)chosen / (double)candidates,
                          (double)(chosen + 1) / (double)candidates);
}

enum { CHOICES = 4096 + 137, CANDIDATES = 64 };

/* No record says anything: every candidate is as good. */
static inline void prepare_choices(noisy *n)
{
    n->domain = ball(2, 1, CLO_ADD_REMOVE);
    noisy_room(n, CHOICES, n->form->asks, 0);
    n->scales[0] = 1;
}

#endif
