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
#include "mechanism/subspaces/moments_parts.h"
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
    const double q = (double)plan->rank, share = 1 - plan->share_frame - plan->share_rounds;
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

double clo_i_moments_error(const clo_i_moments_plan *plan, double rows)
{
    const double members = rows / (double)plan->clusters, q = (double)plan->rank;
    const double tensor = tensor_variance(plan, members);
    double error = tensor;
    if (plan->rounds) {
        const double rounds = round_variance(plan, members) / (double)plan->rounds;
        error = 1 / (1 / tensor + 1 / (rounds + handed_on(plan) * tensor));
    }
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

static void try_shares(clo_i_moments_plan *plan, double frame, double rounds, uint64_t count,
                       double *least, clo_i_moments_plan *best)
{
    plan->share_frame = plan->frame ? frame : 0;
    plan->share_rounds = count ? rounds : 0;
    plan->rounds = count;
    /* Rounds must promise a tenth, or they are not worth their passes. */
    const double error = clo_i_moments_error(plan, plan->rows) * (count ? 1.1 : 1);
    if (error < *least) {
        *least = error;
        *best = *plan;
    }
}

void clo_i_moments_choose(clo_i_moments_plan *plan, bool choose_rounds, bool choose_share)
{
    static const double shares[] = { 0.2, 0.35, 0.5, 0.65 };
    enum { SHARES = sizeof shares / sizeof *shares };
    const uint64_t asked = plan->rounds;
    const double share = plan->share_rounds;
    clo_i_moments_plan best = *plan;
    double least = INFINITY;
    for (size_t f = 0; f < (plan->frame ? SHARES - 1 : 1); f++)
        for (uint64_t count = 0; count <= (choose_rounds ? 2 : 0); count++)
            for (size_t s = 0; s < SHARES; s++) {
                const uint64_t rounds = choose_rounds ? count : asked;
                const double part =
                    (choose_share ? shares[s] : share) * (plan->frame ? 1 - shares[f] : 1);
                try_shares(plan, shares[f], part, rounds, &least, &best);
            }
    *plan = best;
}
