/* signal.c - signal and noise in the spectrum of a noisy Gram matrix. */
#include "mechanism/subspace/signal.h"
#include <math.h>

/* What rounding to integers may add, a column (subspace_gaussian.T2). */
static const double ROUNDED = 0x1p-27;

/* subspace_gaussian.T2: the largest eigenvalue of the noise has a mean of at most noise sqrt(2 d),
 * and is above it by noise s with a probability of at most exp(-s^2 / 2). */
double clo_i_signal_edge(double noise, size_t cols)
{
    const double d = (double)cols;
    return noise * (sqrt(2 * d) + sqrt(-2 * log(CLO_SIGNAL_DOUBT))) + ROUNDED * d;
}

/* A direction of the noisy matrix is chosen for its eigenvalue, noise included.  For a matrix of
 * any spectrum plus a Gaussian one of variance v off the diagonal, the energy along such a
 * direction is its eigenvalue less 2 v sum_j 1 / (l_i - l_j), over all others (Bun, Allez, Bouchaud
 * and Potters 2016): half of that is how far the noise pushed the eigenvalue, and half how far the
 * direction turned.  Neighbours closer than the noise of one entry say nothing. */
double clo_i_signal_energy(const double *eigenvalues, size_t cols, double noise, size_t i)
{
    const double variance = noise * noise / 2;
    double push = 0;
    for (size_t j = 0; j < cols; j++) {
        const double apart = eigenvalues[i] - eigenvalues[j];
        if (j != i) push += apart / (apart * apart + variance);
    }
    return fmax(eigenvalues[i] - 2 * variance * push, 0);
}
