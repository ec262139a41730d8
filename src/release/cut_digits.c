/*
 * cut_digits.c - the digits that noise leaves to a released number.
 *
 * What stands further back than two digits below the first digit of the noise is noise, which
 * nobody can read, and rounding errors, which differ from one BLAS to the next.  Cutting adds at
 * most a ten-thousandth to the noise's variance.
 */
#include "release/release.h"
#include <math.h>

static const double DIGITS_BELOW = 2;
static const double LARGEST_WHOLE = 9007199254740992.; /* 2^53 */

double clo_i_cut_digits(double value, double deviation, double center)
{
    if (!(deviation > 0) || !isfinite(deviation) || !isfinite(value)) return value;
    const double digits = DIGITS_BELOW - floor(log10(deviation));
    const double power = pow(10, fabs(digits));
    const double steps = round(digits > 0 ? value * power : value / power);
    if (!(fabs(steps) < LARGEST_WHOLE) || fabs(digits) > 22) return value;
    for (int back = 0; back < 2; back++) {
        const double at = steps + (back == 0 ? 0 : value > center ? -1 : 1);
        const double cut = digits > 0 ? at / power : at * power;
        if (fabs(cut - center) <= fabs(value - center)) return cut + 0.; /* no -0 */
    }
    return center;
}
