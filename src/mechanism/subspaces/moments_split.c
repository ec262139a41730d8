/*
 * moments_split.c - what error to expect of subspaces/moments, from public quantities, and how to
 * split the budget so that it is least.
 *
 * First-order perturbation, for k clusters of n/k records each, spread evenly over their flats and
 * out to the norm.  A direction u of a flat is turned toward a direction w outside of it by
 *   a round:     noise / sqrt 2 over the energy n_l / q,
 *   the tensor:  noise over n_l sqrt(12 (q+1)) / (q (q+2)), times a factor for what the clusters'
 *                terms have in common, and a part that comes from having n_l records only,
 *   the frame:   noise / sqrt 2 over the energy n / (k q) of a direction of all records.
 * The constants of the tensor's row were measured on data of such clusters.
 */
#include "mechanism/subspaces/moments_internal.h"
#include <math.h>

enum { FEW_COLUMNS = 12, BINS = 200 };

size_t clo_i_moments_frame(size_t cols, size_t clusters, size_t rank, bool affine)
{
    const size_t needed = clusters * rank, most = CLO_MOMENTS_MOST_SEEN - affine;
    size_t frame = needed + (needed + 7) / 8;
    if (frame > most) frame = most;
    return cols > FEW_COLUMNS && (cols > frame + frame / 4 || cols > most) ? frame : 0;
}

/* The share of the energy that the directions outside of a frame have, where flats are too many for
 * it.  Flats at random: the spectrum of their sum then has the law of Marchenko and Pastur, here by
 * its weight in energy, from the top down. */
static double left_out(const clo_i_moments_plan *plan)
{
    const double needed = (double)(plan->clusters * plan->rank), cols = (double)plan->cols;
    const double ranked = fmin(needed, cols), root = sqrt(ranked / fmax(needed, cols));
    const double low = (1 - root) * (1 - root), high = (1 + root) * (1 + root);
    double energy[BINS], count[BINS], total = 0, energies = 0, kept = 0, inside = 0;
    if (!plan->frame || (double)plan->frame >= ranked) return 0;
    for (int i = 0; i < BINS; i++) {
        const double at = high - (high - low) * (i + 0.5) / BINS;
        energy[i] = sqrt((high - at) * (at - low));
        count[i] = energy[i] / at;
        total += count[i];
        energies += energy[i];
    }
    for (int i = 0; i < BINS && kept < (double)plan->frame / ranked * total; i++) {
        kept += count[i];
        inside += energy[i];
    }
    return 1 - inside / energies;
}

/* How much more noise a flat gets for the company of the others' terms in the tensor, and what its
 * having few records adds.  Measured. */
static const double COMPANY = 1.35, FEW = 0.08;

/* How much of the tensor's error the members that it chose hand on to the rounds: more where the
 * flats crowd, and have records in common. */
static double handed_on(const clo_i_moments_plan *plan)
{
    const double crowd = (double)(plan->clusters * plan->rank) / (double)plan->seen;
    return fmin(0.1 + 0.3 * crowd, 1) * (plan->rounds > 1 ? 0.8 : 1);
}

static double tensor_variance(const clo_i_moments_plan *plan, double members)
{
    const double q = (double)plan->rank,
                 share = 1 - plan->share_frame - plan->share_rounds - plan->share_sharpen;
    const double turn = q * (q + 2) / sqrt(12 * (q + 1)) / members;
    const double noise = plan->unit * plan->unit / share * turn * turn;
    return (plan->clusters > 1 ? COMPANY : 1) * noise + FEW / members;
}

static double round_variance(const clo_i_moments_plan *plan, double members)
{
    const double turn = (double)plan->rank / members;
    const double share = plan->share_rounds / (double)plan->rounds;
    return plan->unit * plan->unit / share / 2 * turn * turn;
}

static double frame_variance(const clo_i_moments_plan *plan, double rows)
{
    const double energy = rows / fmin((double)(plan->clusters * plan->rank), (double)plan->cols);
    return plan->unit * plan->unit / plan->share_frame / 2 / (energy * energy);
}

double clo_i_moments_turned(const clo_i_moments_plan *plan, double rows)
{
    const double members = rows / (double)plan->clusters;
    const double tensor = tensor_variance(plan, members);
    if (!plan->rounds) return tensor;
    const double rounds = round_variance(plan, members) / (double)plan->rounds;
    return 1 / (1 / tensor + 1 / (rounds + handed_on(plan) * tensor));
}

/* The same after the passes of moments_sharpen.c, each of which looks at the width that is left
 * over.  residual: root mean square length of the residuals, as a share of the radius, which a plan
 * can only guess.  What a cut leaves of a turn, and what having few records adds, were measured. */
static const double FEW_LEFT = 1.5;

static double sharpened(const clo_i_moments_plan *plan, double rows, double residual, double turned)
{
    const double members = rows / (double)plan->clusters, q = (double)plan->rank;
    const double share = plan->share_sharpen / (double)plan->sharpen;
    const double told = plan->cross_unit / sqrt(share), squares = plan->square_unit / sqrt(share);
    const double out = (double)plan->seen - q;
    double width = CLO_CROSS_WIDEST, variance = turned;
    for (uint64_t pass = 0; pass < plan->sharpen; pass++) {
        const double turn = told * width / CLO_MOMENTS_CUT * q / members,
                     reach = clo_i_moments_reach(width);
        variance = 1 / (1 / variance + 1 / (turn * turn));
        const double left = out * variance;
        width = clo_i_moments_next_width(residual * residual + left,
                                         squares * reach * reach / members + left, width);
    }
    return variance + FEW_LEFT * residual * residual / fmax(out, 1) * q / members;
}

double clo_i_moments_error(const clo_i_moments_plan *plan, double rows, double residual)
{
    const double q = (double)plan->rank;
    double error = clo_i_moments_turned(plan, rows);
    if (plan->sharpen) error = sharpened(plan, rows, residual, error);
    error *= (double)plan->seen - q;
    if (plan->frame)
        error += (double)(plan->cols - plan->frame) * frame_variance(plan, rows) + left_out(plan);
    return fmin(error, 1);
}

double clo_i_moments_worth(const clo_i_moments_plan *plan)
{
    const double members = plan->rows / (double)plan->clusters;
    const double tensor = tensor_variance(plan, members), q = (double)plan->rank;
    const double turn = q / members;
    return plan->round_noise * plan->round_noise / 2 * turn * turn / tensor;
}

/* ---- what to do, and with what share of the budget ----------------------------------------- */

/* The expected squared sine of a direction of a flat of the tensor up to which the fit is all but
 * sure to find all flats, if they are as public numbers say; less where flats crowd.  Measured:
 * from .021 on it loses one now and then, and what it has lost no later pass finds again. */
static const double SURE = 0.017;
enum { PASSES = 6 }; /* more hardly pay: by then residuals are about as small as they get */

static bool tensor_is_sure(const clo_i_moments_plan *plan)
{
    const double q = (double)plan->rank, seen = (double)plan->seen;
    const double crowd = fmax((double)plan->clusters * q / seen, 1);
    const double error = (seen - q) * tensor_variance(plan, plan->rows / (double)plan->clusters);
    return error <= SURE / sqrt(crowd);
}

/* Shares of mu^2: of the frame; of all that comes after the tensor, out of what is left then. */
static void share_out(clo_i_moments_plan *plan, double frame, double refine)
{
    const double rest = refine * (plan->frame ? 1 - frame : 1);
    const double both = (double)(plan->rounds + plan->sharpen);
    plan->share_frame = plan->frame ? frame : 0;
    plan->share_rounds = plan->rounds ? rest * (double)plan->rounds / both : 0;
    plan->share_sharpen = plan->sharpen ? rest * (double)plan->sharpen / both : 0;
}

/* Keeps the best plan in `best`, whose error is *least. */
static void try_plan(const clo_i_moments_plan *plan, double *least, clo_i_moments_plan *best)
{
    /* Rounds must promise a tenth, or they are not worth their passes. */
    const double expected = clo_i_moments_error(plan, plan->rows, CLO_MOMENTS_RESIDUAL);
    const double error = expected * (plan->rounds ? 1.1 : 1);
    if (error < *least) {
        *least = error;
        *best = *plan;
    }
}

/* Half of it for the passes at most: more would gain little, and records that do not fill their
 * flats out to the norm tell the tensor less than a plan can know. */
static const double shares[] = { 0.2, 0.35, 0.5, 0.65 };
enum { SHARES = sizeof shares / sizeof *shares, FOR_FRAME = 3, FOR_PASSES = 3 };

/* Passes alone, with as much as the tensor can spare: false where it can spare nothing. */
static bool choose_passes(clo_i_moments_plan *plan)
{
    clo_i_moments_plan best = *plan, tried = *plan;
    double least = INFINITY;
    tried.sharpen = PASSES;
    for (size_t f = 0; f < (plan->frame ? FOR_FRAME : 1); f++)
        for (size_t s = FOR_PASSES; s-- > 0;) {
            share_out(&tried, shares[f], shares[s]);
            if (!tensor_is_sure(&tried)) continue;
            try_plan(&tried, &least, &best);
            break;
        }
    *plan = best;
    return least < INFINITY;
}

void clo_i_moments_choose(clo_i_moments_plan *plan, const clo_i_moments_asked *asked)
{
    const bool free = asked->rounds < 0 && asked->sharpen < 0 && asked->share == 0;
    if (free && plan->seen > plan->rank && choose_passes(plan)) return;
    clo_i_moments_plan best = *plan, tried = *plan;
    double least = INFINITY;
    const int64_t most = asked->rounds >= 0 ? asked->rounds : asked->sharpen > 0 ? 0 : 2;
    tried.sharpen = asked->sharpen > 0 ? (uint64_t)asked->sharpen : 0;
    for (size_t f = 0; f < (plan->frame ? FOR_FRAME : 1); f++)
        for (int64_t rounds = asked->rounds < 0 ? 0 : most; rounds <= most; rounds++)
            for (size_t s = 0; s < (asked->share > 0 ? 1 : SHARES); s++) {
                tried.rounds = (uint64_t)rounds;
                share_out(&tried, shares[f], asked->share > 0 ? asked->share : shares[s]);
                try_plan(&tried, &least, &best);
            }
    *plan = best;
}
