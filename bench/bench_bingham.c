/*
 * bench_bingham.c - Gibbs sweeps of the matrix Bingham distribution a CPU second, and where they
 * lead: the mean of tr U'AU over its largest value.
 *
 * A is the Gram matrix of n unit vectors near a random q-dimensional subspace (noise .05 a
 * coordinate before they are taken to length 1), the density exp((epsilon/2) tr U'AU): what the
 * exponential mechanism for one subspace draws from.  The frame is started uniformly; an eighth of
 * the sweeps is left out of the mean.
 *
 *   bench_bingham [seconds a cell, preset 1]
 */
#include "bench.h"
#include <cloister/cloister.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t count)
{
    double *const made = calloc(count, sizeof *made);
    if (!made) exit(1);
    return made;
}

/* n unit vectors near a subspace, and their Gram matrix. */
static void make_gram(clo_rng *rng, size_t n, size_t d, size_t q, double *gram)
{
    clo_subspace_model model = clo_subspace_model_default();
    double *const x = room(n * d);
    clo_error err;
    model.rows = n;
    model.cols = d;
    model.clusters = 1;
    model.dim = q;
    model.noise = 0.05;
    must(clo_generate_subspaces(&model, rng, x, NULL, NULL, &err), &err);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) square += x[i * d + j] * x[i * d + j];
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) gram[a * d + b] += x[i * d + a] * x[i * d + b] / square;
    }
    free(x);
}

static double energy(const double *gram, size_t d, size_t q, const double *u)
{
    double sum = 0;
    for (size_t r = 0; r < q; r++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) sum += gram[a * d + b] * u[a * q + r] * u[b * q + r];
    return sum;
}

static clo_bingham *law(const double *gram, size_t d, size_t q, double weight)
{
    const clo_matrix a = { gram, d, d, d };
    double *const weights = room(q);
    clo_bingham *made = NULL;
    clo_error err;
    for (size_t r = 0; r < q; r++) weights[r] = weight;
    must(clo_bingham_new(a, weights, q, &made, &err), &err);
    free(weights);
    return made;
}

/* The largest tr U'AU: what a very concentrated law comes to. */
static double best(const double *gram, size_t d, size_t q, clo_rng *rng)
{
    double trace = 0;
    for (size_t i = 0; i < d; i++) trace += gram[i * d + i];
    /* As narrow as a law may be: a draw is then within some 1e-5 of the best frame. */
    clo_bingham *const b = law(gram, d, q, 5e7 / trace);
    double *const u = room(d * q);
    clo_error err;
    must(clo_bingham_uniform(d, q, rng, u, &err), &err);
    must(clo_bingham_sweep(b, rng, 50, u, &err), &err);
    const double found = energy(gram, d, q, u);
    clo_bingham_free(b);
    free(u);
    return found;
}

static void measure(clo_rng *rng, size_t d, size_t q, size_t n, double epsilon, double seconds)
{
    enum { CHUNK = 10, START = 400 };
    double *const gram = room(d * d), *const u = room(d * q);
    double sum = 0, square = 0, spent = 0;
    uint64_t sweeps = 0, counted = 0;
    clo_error err;
    make_gram(rng, n, d, q, gram);
    const double top = best(gram, d, q, rng);
    clo_bingham *const b = law(gram, d, q, epsilon / 2);
    must(clo_bingham_uniform(d, q, rng, u, &err), &err);
    must(clo_bingham_sweep(b, rng, START, u, &err), &err);
    while (spent < seconds) {
        const double before = process_seconds();
        must(clo_bingham_sweep(b, rng, CHUNK, u, &err), &err);
        spent += process_seconds() - before;
        sweeps += CHUNK;
        const double share = energy(gram, d, q, u) / top;
        sum += share;
        square += share * share;
        counted++;
    }
    const double mean = sum / (double)counted;
    const double sd = sqrt(fmax(square / (double)counted - mean * mean, 0));
    printf("%4zu %3zu %5zu %8g %12.0f %9.4f %8.4f\n", d, q, n, epsilon, (double)sweeps / spent,
           mean, sd);
    fflush(stdout);
    clo_bingham_free(b);
    free(gram);
    free(u);
}

int main(int argc, char **argv)
{
    static const size_t shapes[][3] = { { 10, 3, 333 }, { 50, 9, 320 }, { 200, 5, 1000 } };
    static const double epsilons[] = { 0.1, 1, 10, 100 };
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    uint8_t seed[32];
    clo_rng *rng = NULL;
    clo_error err;
    clo_seed_from_text("bench", seed);
    must(clo_rng_new_seeded(seed, &rng, &err), &err);
    printf("   d   q     n  epsilon  sweeps/CPUs   mean/best    sd\n");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
            measure(rng, shapes[s][0], shapes[s][1], shapes[s][2], epsilons[e], seconds);
    clo_rng_free(rng);
    return 0;
}
