/*
 * center_split.c - what error to expect of kmeans/moments, from public quantities, and how to split
 * the budget so that it is least.
 *
 * First-order perturbation, for k clusters of n/k records each, about centres of usual length.  A
 * coordinate of a centre is moved by
 *   a round:     noise over n/k,
 *   the tensor:  noise over (n/k) sqrt(p) |a|^(p-1), a the centre with its constant, times a factor
 *                for what the clusters' terms have in common,
 *   the frame:   the centre's length times noise / sqrt 2 over the energy of a direction.
 * The constants of the tensor's row were measured on data of such clusters.
 */
#include "mechanism/kmeans/center_moments.h"
#include "mechanism/common/centers_common.h"
#include "query/gaussian_moment3.h"
#include <math.h>

enum { FEW_COLUMNS = 24, MOST_FOR_FOURTH = 32, MOST_KEPT = 64, MOST_ROUNDS = 4 };
/* The square of a centre's usual length. */
static const double USUAL = 0.4;
/* How much more noise a centre gets for the company of the others' terms. Measured. */
static const double COMPANY = 4;
/* How far clusters that are not round mislead the tensor, squared; each of Lloyd's rounds leaves
 * this share of it, and of the tensor's own error.  Measured. */
static const double MISLED = 0.0002, LEFT = 0.45;
/* Of the tensor's error, what the members that it chose hand on to a round. Measured. */
static const double HANDED_ON = 0.05;
/* Where the tensor's squared error comes near to this, centres are missed now and then. */
static const double MISSES = 0.05;
/* What a round loses of its part in the average of all. Measured. */
static const double EACH = 0.25;
/* What the sizes cost that are asked for beside the sums. */
static const double SIZES_TOO = 1.25;
/* A centre counts as found where its error in the tensor is below this share of its length. */
static const double FOUND = 0.5;
/* Entries that a variable of the fit needs. */
static const double ENOUGH = 1.25;

size_t clo_i_center_frame(size_t cols, size_t clusters)
{
    const size_t frame = 2 * clusters < MOST_KEPT ? 2 * clusters : MOST_KEPT;
    if (cols < CLO_MOMENT3_COLS && 2 * clusters > MOST_KEPT) return 0;
    return cols > FEW_COLUMNS && cols > frame + frame / 4 ? frame : 0;
}

/* How many entries there are for each variable of the fit. */
static double entries_a_variable(int order, size_t own, size_t clusters)
{
    const double d = (double)own + 1, three = d * (d + 1) * (d + 2) / 6;
    const double entries = order == 3 ? three : three * (d + 3) / 4;
    return entries / ((double)clusters * d + 1);
}

int clo_i_center_order(size_t own, size_t clusters)
{
    return own < MOST_FOR_FOURTH && entries_a_variable(3, own, clusters) < ENOUGH ? 4 : 3;
}

double clo_i_center_height(int order)
{
    return order == 3 ? 0.5 : 0.7;
}

size_t clo_i_center_starts(const clo_i_center_plan *plan)
{
    const double d = (double)plan->own + 1, pairs = d * (d + 1) / 2;
    const double work = (double)plan->clusters * pairs * (plan->order == 3 ? d : pairs);
    return (size_t)fmin(fmax(2e6 / work, work < 1e7 ? 2 : 1), 8);
}

static double tensor_variance(const clo_i_center_plan *plan, double members)
{
    const double p = plan->order, high = plan->height * plan->height;
    const double area = (USUAL + high) / (1 + high); /* |a|^2 */
    const double turn = sqrt((1 + high) / p) / pow(area, (p - 1) / 2) / members;
    const double share = 1 - plan->share_frame - plan->share_rounds;
    return (plan->clusters > 1 ? COMPANY : 1) * plan->unit * plan->unit / share * turn * turn;
}

static double frame_variance(const clo_i_center_plan *plan, double rows)
{
    const double energy = USUAL * rows / fmin((double)plan->clusters, (double)plan->cols);
    return USUAL * plan->unit * plan->unit / plan->share_frame / 2 / (energy * energy);
}

/* Whether there are enough entries for the variables, and centres stand out of the noise. */
static bool can_tell_apart(const clo_i_center_plan *plan, double tensor)
{
    const double spare = entries_a_variable(plan->order, plan->own, plan->clusters);
    return spare >= ENOUGH && (double)plan->own * tensor < FOUND * FOUND * USUAL;
}

static double left_after(uint64_t rounds)
{
    return pow(LEFT, (double)rounds);
}

double clo_i_center_error(const clo_i_center_plan *plan, double rows)
{
    const double members = rows / (double)plan->clusters, own = (double)plan->own;
    const double tensor = tensor_variance(plan, members);
    double error = tensor;
    if (!can_tell_apart(plan, tensor)) return INFINITY;
    if (plan->rounds) {
        const double each = plan->unit * plan->unit / plan->share_rounds; /* all together */
        const double rounds =
            SIZES_TOO * each * (1 + EACH * (double)plan->rounds) / (members * members);
        error = 1 / (1 / tensor + 1 / rounds) + HANDED_ON * left_after(plan->rounds) * tensor;
    }
    error = own * error + own * tensor * fmin(own * tensor / MISSES, 1);
    if (plan->frame) error += (double)(plan->cols - plan->frame) * frame_variance(plan, rows);
    return error;
}

static void try_shares(clo_i_center_plan *plan, double frame, double rounds, uint64_t count,
                       double *least, clo_i_center_plan *best)
{
    plan->share_frame = plan->frame ? frame : 0;
    plan->share_rounds = count ? rounds : 0;
    plan->rounds = count;
    /* What is not noise is no part of a prediction, but of the choice. */
    const double misled = plan->clusters > 1 ? MISLED * left_after(count) : 0;
    const double error = clo_i_center_error(plan, plan->rows) + misled;
    if (error < *least) {
        *least = error;
        *best = *plan;
    }
}

void clo_i_center_choose(clo_i_center_plan *plan, bool choose_rounds, bool choose_share)
{
    static const double shares[] = { 0.2, 0.35, 0.5, 0.6, 0.7 };
    enum { SHARES = sizeof shares / sizeof *shares };
    const uint64_t asked = plan->rounds;
    const double share = plan->share_rounds;
    double least = INFINITY;
    plan->share_frame = plan->frame ? 0.35 : 0;
    plan->rounds = choose_rounds ? 2 : asked;
    plan->share_rounds = plan->rounds ? (choose_share ? 0.4 : share) * (1 - plan->share_frame) : 0;
    clo_i_center_plan best = *plan; /* where nothing can be told apart */
    for (size_t f = 0; f < (plan->frame ? SHARES - 1 : 1); f++)
        for (uint64_t count = 0; count <= (choose_rounds ? MOST_ROUNDS : 0); count++)
            for (size_t s = 0; s < SHARES; s++) {
                const uint64_t rounds = choose_rounds ? count : asked;
                const double part =
                    (choose_share ? shares[s] : share) * (plan->frame ? 1 - shares[f] : 1);
                try_shares(plan, shares[f], part, rounds, &least, &best);
            }
    *plan = best;
}
