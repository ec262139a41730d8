/*
 * ssc_newton.c - from the signs of a code to the code.
 *
 * ADMM soon knows about which atoms a code uses and with what sign; to know how much takes it long.
 * But where the signs are given the 1-norm is linear, and the best code solves a small linear
 * system: with K the Gram matrix of those atoms, times lambda,
 *
 *     K c = lambda P'x - signs - nu 1,   nu such that the sum is 1, where it must be.
 *
 * The way there ends where a coefficient comes to 0; that atom leaves, and the rest goes on, as in
 * Lawson and Hanson's method.  Each such move makes the code better, so that, with the atoms whose
 * slope is beyond 1 coming in between, the best of all is reached after finitely many.
 */
#include "solver/affinity/ssc_dictionary.h"
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Beside the Gram matrix's diagonal: duplicates among the atoms keep the system solvable. */
static const double RIDGE = 1e-12;

clo_status clo_i_ssc_guess_new(const clo_ssc_dictionary *p, clo_ssc_guess *out, clo_error *err)
{
    clo_ssc_guess guess = { .room = p->rank + p->rank / 2 + 8 };
    const size_t room = guess.room;
    clo_status status = clo_i_alloc(room, sizeof *guess.columns, &guess.columns, err);
    if (!status) status = clo_i_alloc(room, sizeof *guess.signs, &guess.signs, err);
    if (!status) status = clo_i_alloc(room, sizeof *guess.values, &guess.values, err);
    if (!status) status = clo_i_alloc(p->width, sizeof *guess.slopes, &guess.slopes, err);
    if (!status) status = clo_i_alloc(room, p->rank * sizeof(double), &guess.atoms, err);
    if (!status) status = clo_i_alloc(2 * room, room * sizeof(double), &guess.gram, err);
    if (!status) status = clo_i_alloc(3 * room, sizeof *guess.sides, &guess.sides, err);
    if (status)
        clo_i_ssc_guess_free(&guess);
    else
        *out = guess;
    return status;
}

void clo_i_ssc_guess_free(clo_ssc_guess *guess)
{
    clo_i_free(guess->columns);
    clo_i_free(guess->signs);
    clo_i_free(guess->values);
    clo_i_free(guess->slopes);
    clo_i_free(guess->atoms);
    clo_i_free(guess->gram);
    clo_i_free(guess->sides);
}

void clo_i_ssc_guess_add(clo_ssc_guess *guess, size_t column, double sign, double value)
{
    size_t at = guess->count;
    if (at == guess->room) {
        for (size_t j = at = 0; j < guess->count; j++)
            if (fabs(guess->values[j]) < fabs(guess->values[at])) at = j;
        if (fabs(value) <= fabs(guess->values[at])) return;
    } else
        guess->count++;
    guess->columns[at] = (uint32_t)column;
    guess->signs[at] = sign;
    guess->values[at] = value;
}

/* Adds weight/2 (1'c - 1)^2, which is 0 at the answer: without it one point more than the rank, as
 * an affine code may have, would make the system singular. */
static void weigh_sum(const clo_ssc_dictionary *p, clo_ssc_guess *guess)
{
    const size_t n = guess->count, room = guess->room;
    double weight = 0;
    for (size_t i = 0; i < n; i++) weight = fmax(weight, guess->gram[i * room + i]);
    for (size_t i = 0; i < n; i++) {
        if (guess->columns[i] >= p->points) continue;
        guess->sides[i] += weight;
        for (size_t j = i; j < n; j++)
            if (guess->columns[j] < p->points) guess->gram[i * room + j] += weight;
    }
}

/* The atoms in the eigenvectors' coordinates, each scaled by the root of its strength, so that the
 * Gram matrix is their own; and sides = lambda P'x - signs. */
static void gather(const clo_ssc_dictionary *p, size_t point, clo_ssc_guess *guess)
{
    const int count = (int)guess->count, rank = (int)p->rank, room = (int)guess->room;
    double *const target = guess->slopes;
    for (size_t r = 0; r < p->rank; r++) target[r] = p->roots[r] * p->v[point * p->width + r];
    for (size_t j = 0; j < guess->count; j++) {
        const double *const v = p->v + guess->columns[j] * p->width;
        double *const atom = guess->atoms + j * p->rank;
#pragma omp simd
        for (size_t r = 0; r < p->rank; r++) atom[r] = p->roots[r] * v[r];
        guess->sides[j] = -guess->signs[j];
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, count, rank, 1.0, guess->atoms, rank, target, 1, 1.0,
                guess->sides, 1);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, count, rank, 1.0, guess->atoms, rank, 0.0,
                guess->gram, room);
    for (size_t j = 0; j < guess->count; j++) guess->gram[j * guess->room + j] *= 1 + RIDGE;
    if (p->options->affine) weigh_sum(p, guess);
}

/* The best code with these signs, whatever signs it has itself; nu where the sum counts.  False:
 * the system cannot be solved. */
static bool solve(const clo_ssc_dictionary *p, const clo_ssc_guess *guess, double *code, double *nu)
{
    const size_t n = guess->count, room = guess->room;
    double *const factor = guess->gram + room * room, *const unit = code + n;
    const int size = (int)n, sides = p->options->affine ? 2 : 1;
    double sum = 0, unit_sum = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(factor + i * n + i, guess->gram + i * room + i, (n - i) * sizeof *factor);
        code[i] = guess->sides[i];
        unit[i] = guess->columns[i] < p->points;
    }
    *nu = 0;
    /* the upper triangle by rows is the lower one by columns */
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', size, factor, size) != 0) return false;
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', size, sides, factor, size, code, size);
    if (!p->options->affine) return true;
    for (size_t i = 0; i < n; i++)
        if (guess->columns[i] < p->points) sum += code[i], unit_sum += unit[i];
    if (!(unit_sum > 0)) return false;
    *nu = (sum - 1) / unit_sum;
    for (size_t i = 0; i < n; i++) code[i] -= *nu * unit[i];
    return true;
}

/* Goes from the values towards the code until one comes to 0, and marks it; true: all the way. */
static bool move(clo_ssc_guess *guess, const double *code)
{
    double share = 1;
    size_t first = guess->count;
    for (size_t j = 0; j < guess->count; j++) {
        if (code[j] * guess->signs[j] > 0) continue;
        const double here = fabs(guess->values[j]), way = here + fabs(code[j]);
        if (first < guess->count && here >= share * way) continue;
        share = way > 0 ? here / way : 0;
        first = j;
    }
    for (size_t j = 0; j < guess->count; j++) {
        guess->values[j] += share * (code[j] - guess->values[j]);
        const bool stays = guess->values[j] * guess->signs[j] > 0 || code[j] * guess->signs[j] > 0;
        if (j == first || !stays) guess->values[j] = guess->signs[j] = 0;
    }
    return first == guess->count;
}

/* Closes the gaps of the atoms that left. */
static void close_up(clo_ssc_guess *guess)
{
    const size_t count = guess->count, room = guess->room;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (guess->signs[i] == 0) continue;
        size_t column = 0;
        for (size_t j = 0; j < count; j++) /* an entry is read before it is overwritten */
            if (guess->signs[j] != 0)
                guess->gram[kept * room + column++] = guess->gram[i * room + j];
        kept++;
    }
    for (size_t i = kept = 0; i < count; i++) {
        if (guess->signs[i] == 0) continue;
        guess->columns[kept] = guess->columns[i];
        guess->sides[kept] = guess->sides[i];
        guess->values[kept] = guess->values[i];
        guess->signs[kept++] = guess->signs[i];
    }
    guess->count = kept;
}

void clo_i_ssc_newton(const clo_ssc_dictionary *p, size_t point, clo_ssc_guess *guess)
{
    const size_t rank = p->rank, width = p->width;
    double *const code = guess->sides + guess->room, nu = 0;
    guess->arrived = false;
    gather(p, point, guess);
    while (!guess->arrived && guess->count > 0 && solve(p, guess, code, &nu)) {
        guess->arrived = move(guess, code);
        if (!guess->arrived) close_up(guess);
    }
    for (size_t r = 0; r < rank; r++) guess->slopes[r] = p->v[point * width + r];
    for (size_t j = 0; j < guess->count; j++)
        cblas_daxpy((int)rank, -guess->values[j], p->v + guess->columns[j] * width, 1,
                    guess->slopes, 1);
    for (size_t r = 0; r < rank; r++) guess->slopes[r] *= p->strengths[r];
    if (p->options->affine) guess->slopes[rank] = -nu;
}
