/*
 * moments_sharpen.c - the last passes of subspaces/moments: cross moments of residuals and
 * coordinates, with noise at the width of the residuals.  Post-processing: only answers and public
 * numbers are read here.
 *
 * With the Gram matrix G of a flat's records and any basis U, G U (U'GU)^-1 = U + C Y^-1 with
 * C = (I - UU') G U and Y = U'GU spans the flat, if its records lie on it.  C is what a pass asks
 * for.  Y follows from the tensor and the size: its errors only stretch a turn, and the next pass
 * takes that back.  The bases are the best guess from all answers so far, so what these say of C at
 * the bases is that it is 0, give or take a noise that is known.  A pass says another value with
 * another noise, and the two are weighed: a Kalman filter.  Each pass tells the width that the next
 * one looks at, so that noise shrinks with the residuals from pass to pass.
 */
#include "linalg/linalg.h"
#include "mechanism/subspaces/moments_internal.h"
#include "random/random.h"
#include <math.h>
#include <string.h>

/* Of the root mean square length of a cross moment, for the next width; how many deviations of its
 * noise are added to the mean square; how much farther than the width squares are told.  Measured:
 * a width that is cut a little costs less than one that is a little wide. */
static const double LOOSE = 0.85, DOUBT = 0.4, FARTHER = 2;

double clo_i_moments_reach(double width)
{
    return fmin(FARTHER * width, CLO_CROSS_WIDEST);
}

double clo_i_moments_next_width(double square, double doubt, double width)
{
    return fmin(fmax(LOOSE * sqrt(fmax(square, 0) + DOUBT * doubt), 0x1p-20), width);
}

size_t clo_i_moments_sharpen_scratch(const clo_i_moments_plan *plan)
{
    const size_t c = plan->seen, q = plan->rank;
    return 2 * c * q + 3 * q * q + q + clo_i_eigen_scratch(q, q);
}

/* ---- the coordinates' energies --------------------------------------------------------------- */

static double trace_of(const double *square, size_t n)
{
    double trace = 0;
    for (size_t i = 0; i < n; i++) trace += square[i * n + i];
    return trace;
}

/* Y, q x q: of the shape of the tensor's term, basis' factor factor' basis.  Of the energy of so
 * many records: the square of it is their number times their fourth moments, where all are of one
 * length. */
static void find_energies(const clo_i_moments_plan *plan, const double *factor, const double *basis,
                          double size, double *out)
{
    const size_t c = plan->seen, q = plan->rank;
    memset(out, 0, q * q * sizeof *out);
    for (size_t g = 0; g < q; g++)
        for (size_t e = 0; e < q; e++)
            for (size_t f = 0; f < q; f++) {
                double left = 0, right = 0;
                for (size_t i = 0; i < c; i++) {
                    left += basis[i * q + e] * factor[i * q + g];
                    right += basis[i * q + f] * factor[i * q + g];
                }
                out[e * q + f] += left * right;
            }
    const double energy = sqrt(fmax(size, 0) * clo_i_moments_contraction(plan, factor));
    const double scale = energy / fmax(trace_of(out, q), 1e-300);
    for (size_t i = 0; i < q * q; i++) out[i] *= scale;
}

/* inverse = Y^-1, with the least values of Y lifted to what a term of the tensor can tell; energies
 * are used up. */
static clo_status invert(double *energies, size_t q, double *scratch, double *inverse,
                         clo_error *err)
{
    double *const vectors = scratch, *const values = vectors + q * q;
    const double least = fmax(0.1 * trace_of(energies, q) / (double)q, 1e-9);
    CLO_TRY(clo_i_eigen_top(energies, q, q, values, vectors, values + q, err));
    for (size_t e = 0; e < q; e++)
        for (size_t f = 0; f < q; f++) {
            inverse[e * q + f] = 0;
            for (size_t g = 0; g < q; g++)
                inverse[e * q + f] +=
                    vectors[e * q + g] * vectors[f * q + g] / fmax(values[g], least);
        }
    return CLO_OK;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* What is known of an entry of C before the first pass: its variance, at the flats' shares of the
 * rows. */
static double first_variance(const clo_i_moments_plan *plan)
{
    const double energy = plan->rows / (double)plan->clusters / (double)plan->rank;
    return clo_i_moments_turned(plan, plan->rows) * energy * energy;
}

/* Of the two signs of each basis vector the one with a positive largest entry: what is asked then
 * does not hang on which of them an eigensolver came up with. */
static void settle_signs(double *basis, size_t c, size_t q)
{
    for (size_t e = 0; e < q; e++) {
        double largest = 0;
        for (size_t i = 0; i < c; i++)
            if (fabs(basis[i * q + e]) > fabs(largest)) largest = basis[i * q + e];
        for (size_t i = 0; i < c && largest < 0; i++) basis[i * q + e] *= -1;
    }
}

void clo_i_moments_start_passes(const clo_i_moments_plan *plan, uint64_t first,
                                clo_i_moments_state *s)
{
    const size_t thin = plan->seen * plan->rank, k = plan->clusters;
    s->first = first;
    for (size_t l = 0; l < k; l++) {
        settle_signs(s->bases + l * thin, plan->seen, plan->rank);
        s->variance[l] = first_variance(plan);
        s->widths[first * k + l] = CLO_CROSS_WIDEST;
        s->counts[l] = 0;
    }
}

/* How much of what a pass says is to be believed. */
static double gain_of(const clo_i_moments_plan *plan, double variance, double width)
{
    const double noise = plan->cross_noise * width;
    return variance / (variance + noise * noise);
}

/* basis <- orth(basis + E), E = C inverse; cross: q x c, C' and noise inside of the flat, which is
 * taken away.  Tells what E explains of the residuals' energy: tr E Y E' = tr E C'. */
static clo_status turn_basis(const double *cross, const double *inverse, size_t c, size_t q,
                             double *scratch, double *basis, double *explained, clo_error *err)
{
    double *const outside = scratch, *const turn = outside + c * q;
    for (size_t i = 0; i < c; i++)
        for (size_t e = 0; e < q; e++) outside[i * q + e] = cross[e * c + i];
    for (size_t e = 0; e < q; e++)
        for (size_t f = 0; f < q; f++) {
            double along = 0;
            for (size_t i = 0; i < c; i++) along += basis[i * q + f] * outside[i * q + e];
            for (size_t i = 0; i < c; i++) outside[i * q + e] -= along * basis[i * q + f];
        }
    *explained = 0;
    for (size_t i = 0; i < c; i++)
        for (size_t e = 0; e < q; e++) {
            turn[i * q + e] = 0;
            for (size_t f = 0; f < q; f++)
                turn[i * q + e] += outside[i * q + f] * inverse[f * q + e];
            *explained += turn[i * q + e] * outside[i * q + e];
        }
    for (size_t i = 0; i < c * q; i++) basis[i] += turn[i];
    return clo_i_orthonormalize(basis, c, q, err);
}

static clo_status turn_flat(const clo_i_moments_plan *plan, uint64_t pass, size_t l,
                            clo_i_moments_state *s, clo_error *err)
{
    const size_t c = plan->seen, q = plan->rank, k = plan->clusters;
    double *const inverse = s->scratch, *const energies = inverse + q * q,
                  *const rest = energies + q * q;
    double *const cross = s->cross + l * c * q, *const basis = s->bases + l * c * q, explained = 0;
    const double width = s->widths[pass * k + l], reach = clo_i_moments_reach(width);
    const double gain = gain_of(plan, s->variance[l], width), size = fmax(s->sizes[l], 1);
    find_energies(plan, s->model.factors + l * c * q, basis, size, energies);
    CLO_TRY(invert(energies, q, rest, inverse, err));
    for (size_t i = 0; i < c * q; i++) cross[i] *= gain * width;
    CLO_TRY(turn_basis(cross, inverse, c, q, rest, basis, &explained, err));
    s->variance[l] *= 1 - CLO_MOMENTS_CUT * gain;
    s->counts[l] += s->sizes[l];
    const double still = s->variance[l] * (double)(c - q) * trace_of(inverse, q);
    const double left = fmax(s->squares[l] * reach * reach - explained, 0);
    s->widths[(pass + 1) * k + l] = clo_i_moments_next_width(
        left / size, (plan->square_noise * reach * reach + still) / size, width);
    return CLO_OK;
}

clo_status clo_i_moments_turn(const clo_i_moments_plan *plan, uint64_t pass,
                              clo_i_moments_state *state, clo_error *err)
{
    for (size_t l = 0; l < plan->clusters; l++) CLO_TRY(turn_flat(plan, pass, l, state, err));
    return CLO_OK;
}

/* ---- doubt ----------------------------------------------------------------------------------- */

/* What a pass would say at an imagined basis, were the released flat the true one, with its energy
 * in all directions alike: y'y = 1; cross: q x c. */
static void imagine_answer(const double *truth, const double *basis, double noise, size_t c,
                           size_t q, clo_stream *stream, double *cross)
{
    for (size_t e = 0; e < q; e++)
        for (size_t i = 0; i < c; i++) cross[e * c + i] = noise * clo_i_random_normal(stream);
    for (size_t e = 0; e < q; e++)
        for (size_t f = 0; f < q; f++) {
            double along = 0;
            for (size_t i = 0; i < c; i++) along += truth[i * q + f] * basis[i * q + e];
            along *= CLO_MOMENTS_CUT;
            for (size_t i = 0; i < c; i++) cross[e * c + i] += along * truth[i * q + f];
        }
}

clo_status clo_i_moments_imagine(const clo_i_moments_plan *plan, const clo_i_moments_state *s,
                                 size_t l, clo_stream *stream, double *basis, clo_error *err)
{
    const size_t c = plan->seen, q = plan->rank, k = plan->clusters;
    double *const one = s->scratch, *const energies = one + q * q, *const rest = energies + q * q;
    double *const cross = s->cross + l * c * q, variance = first_variance(plan), explained;
    const double size = fmax(s->counts[l] / (double)(plan->sharpen - s->first), 1);
    find_energies(plan, s->model.factors + l * c * q, s->bases + l * c * q, size, energies);
    const double energy = fmax(trace_of(energies, q) / (double)q, 1);
    for (uint64_t pass = s->first; pass < plan->sharpen; pass++) {
        const double width = s->widths[pass * k + l], gain = gain_of(plan, variance, width);
        const double noise = plan->cross_noise * width;
        imagine_answer(s->bases + l * c * q, basis, noise / energy, c, q, stream, cross);
        for (size_t i = 0; i < q * q; i++) one[i] = i % (q + 1) == 0 ? gain : 0;
        CLO_TRY(turn_basis(cross, one, c, q, rest, basis, &explained, err));
        variance *= 1 - CLO_MOMENTS_CUT * gain;
    }
    /* What the records' own residuals would turn, had there been others: of all passes the same. */
    const double residual = s->widths[plan->sharpen * k + l] / LOOSE;
    const double own = residual / sqrt((double)(c > q ? c - q : 1) * energy);
    for (size_t i = 0; i < c * q; i++) basis[i] += own * clo_i_random_normal(stream);
    return clo_i_orthonormalize(basis, c, q, err);
}
