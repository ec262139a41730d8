/*
 * bench_chain.c - the Gibbs sampler of wang2015, Eq. (10), watched while it runs: test statistic,
 * cost and d_W over the sweeps, and how far chains from different starts agree at the end.
 *
 * A chain as the paper draws it in its Figure 3, but for the corrected weight of the second step
 * (subspaces_gibbs.md) and a uniform start: labels given the subspaces, subspaces given the labels,
 * one sweep of columns each.  No warm-up: what subspaces/gibbs does against chains that are stuck
 * is left out, since that they are is what is looked at.  What is printed is a function of the data
 * and is in no release.
 *
 *   bench_chain EPSILON TRIALS SWEEPS SEED        one line a look: trial,sweep,statistic,cost,d_W
 *                                                 at the end: rhat, gap and sd of the cost
 */
#include "bench.h"
#include "chains.h"
#include "bingham/bingham.h"
#include "measure/measure.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1000, COLS = 10, CLUSTERS = 3, DIM = 3, FRAMES = CLUSTERS * COLS * DIM };

typedef struct chain {
    double rows[ROWS * COLS], truth[FRAMES], frames[FRAMES], sums[FRAMES];
    double rate; /* of a record in the exponent: epsilon / 2 */
    clo_rng *rng;
    clo_stream *stream;
} chain;

static void make_data(chain *c, int seed)
{
    clo_subspace_model model = clo_subspace_model_default();
    clo_rng *const rng = seeded_rng("", seed);
    clo_error err;
    model.rows = ROWS;
    model.cols = COLS;
    model.clusters = CLUSTERS;
    model.dim = DIM;
    model.noise = 0.1;
    must(clo_generate_subspaces(&model, rng, c->rows, NULL, c->truth, &err), &err);
    clo_rng_free(rng);
    for (size_t i = 0; i < ROWS; i++) {
        double *const x = c->rows + i * COLS, square = 0;
        for (size_t j = 0; j < COLS; j++) square += x[j] * x[j];
        for (size_t j = 0; j < COLS && square > 1; j++) x[j] /= sqrt(square);
    }
}

static double energy(const double *x, const double *frame)
{
    double sum = 0;
    for (size_t r = 0; r < DIM; r++) {
        double along = 0;
        for (size_t j = 0; j < COLS; j++) along += x[j] * frame[j * DIM + r];
        sum += along * along;
    }
    return sum;
}

/* P[l] proportional to exp(rate |U_l' x|^2). */
static size_t draw_label(chain *c, const double *x)
{
    double weights[CLUSTERS], all = 0, most = -INFINITY;
    for (size_t l = 0; l < CLUSTERS; l++) {
        weights[l] = c->rate * energy(x, c->frames + l * COLS * DIM);
        most = fmax(most, weights[l]);
    }
    for (size_t l = 0; l < CLUSTERS; l++) all += weights[l] = exp(weights[l] - most);
    double left = all * clo_i_random_unit(c->stream);
    for (size_t l = 0; l + 1 < CLUSTERS; l++)
        if ((left -= weights[l]) < 0) return l;
    return CLUSTERS - 1;
}

static void sweep(chain *c)
{
    static double grams[CLUSTERS][COLS * COLS];
    double weights[DIM];
    clo_error err;
    memset(grams, 0, sizeof grams);
    for (size_t i = 0; i < ROWS; i++) {
        const double *const x = c->rows + i * COLS;
        double *const gram = grams[draw_label(c, x)];
        for (size_t a = 0; a < COLS; a++)
            for (size_t b = 0; b <= a; b++) gram[a * COLS + b] += x[a] * x[b];
    }
    for (size_t r = 0; r < DIM; r++) weights[r] = c->rate;
    for (size_t l = 0; l < CLUSTERS; l++) {
        clo_bingham *law = NULL;
        must(clo_bingham_new((clo_matrix){ grams[l], COLS, COLS, COLS }, weights, DIM, &law, &err),
             &err);
        must(clo_bingham_sweep(law, c->rng, 1, c->frames + l * COLS * DIM, &err), &err);
        clo_bingham_free(law);
    }
    for (size_t i = 0; i < FRAMES; i++) c->sums[i] += c->frames[i];
}

static double cost_now(const chain *c)
{
    const clo_flats flats = { CLUSTERS, COLS, DIM, NULL, c->frames };
    double cost;
    clo_error err;
    must(clo_i_flat_cost(&flats, c->rows, ROWS, &cost, &err), &err);
    return cost;
}

static void look(const chain *c, int trial, int done)
{
    double mean[FRAMES], distance;
    clo_error err;
    for (size_t i = 0; i < FRAMES; i++) mean[i] = c->sums[i] / done;
    must(clo_i_subspaces_distance(c->frames, c->truth, CLUSTERS, COLS, DIM, &distance, &err), &err);
    printf("%d,%d,%.6g,%.6g,%.6g\n", trial, done, mean_basis_norm(mean, CLUSTERS, COLS, DIM),
           cost_now(c), distance);
}

/* One chain; costs: of the last half of its sweeps. */
static void run_trial(chain *c, int trial, int sweeps, int seed, double *costs)
{
    clo_error err;
    int next = 1;
    c->rng = seeded_rng("chain", 1000 * seed + trial);
    must(clo_i_stream_open(c->rng, clo_i_rng_next_ask(c->rng), 0, &c->stream, &err), &err);
    for (size_t l = 0; l < CLUSTERS; l++)
        must(clo_bingham_uniform(COLS, DIM, c->rng, c->frames + l * COLS * DIM, &err), &err);
    memset(c->sums, 0, sizeof c->sums);
    for (int done = 1; done <= sweeps; done++) {
        sweep(c);
        if (done > sweeps / 2) costs[done - sweeps / 2 - 1] = cost_now(c);
        if (done != next && done != sweeps) continue;
        look(c, trial, done);
        next = done == next ? (3 * next + 1) / 2 : next;
    }
    clo_i_stream_close(c->stream);
    clo_rng_free(c->rng);
}

int main(int argc, char **argv)
{
    static chain c;
    if (argc != 5 || atoi(argv[2]) < 2 || atoi(argv[3]) < 8) {
        fprintf(stderr, "usage: bench_chain EPSILON TRIALS SWEEPS SEED\n");
        return 2;
    }
    const int trials = atoi(argv[2]), sweeps = atoi(argv[3]), seed = atoi(argv[4]);
    const size_t kept = (size_t)(sweeps - sweeps / 2);
    double *const costs = calloc((size_t)trials * kept, sizeof *costs);
    if (!costs) return 1;
    c.rate = atof(argv[1]) / 2;
    make_data(&c, seed);
    chain_comparison told;
    clo_error err;
    for (int trial = 0; trial < trials; trial++)
        run_trial(&c, trial, sweeps, seed, costs + (size_t)trial * kept);
    must(compare_chains(costs, (size_t)trials, kept, &told, &err), &err);
    printf("rhat,%.6g\ngap,%.6g\nsd,%.6g\n", told.rhat, told.gap, told.sd);
    free(costs);
    return 0;
}
