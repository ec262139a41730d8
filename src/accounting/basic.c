/*
 * basic.c - the losses of pure events add (accounting.T9).  The only method that needs no
 * delta, and often the tightest for one or two events.
 */
#include "accounting/accountant.h"
#include <math.h>

static bool applies(const clo_i_composition *list)
{
    return !list->gaussian;
}

static double epsilon_of(const clo_i_composition *list, mpfr_srcptr delta)
{
    (void)delta;
    return mpfr_get_d(list->epsilon, MPFR_RNDU);
}

static void delta_of(mpfr_ptr out, const clo_i_composition *list, double epsilon)
{
    mpfr_set_ui(out, mpfr_cmp_d(list->epsilon, epsilon) <= 0 ? 0 : 1, MPFR_RNDU);
}

const clo_i_accounting clo_i_basic = {
    .name = "basic",
    .exact = false,
    .applies = applies,
    .epsilon = epsilon_of,
    .delta = delta_of,
};
