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
#include "linalg/lapack.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

/* Beside the Gram matrix's diagonal: duplicates among the atoms keep the system solvable. */
static const double RIDGE = 1e-12;

clo_status clo_i_ssc_guess_new(size_t room, size_t width, clo_ssc_guess *out, clo_error *err)
{
    clo_ssc_guess guess = { .room = room };
    clo_status status = clo_i_alloc(room, sizeof *guess.columns, &guess.columns, err);
    if (!status) status = clo_i_alloc(room, sizeof *guess.signs, &guess.signs, err);
    if (!status) status = clo_i_alloc(room, sizeof *guess.values, &guess.values, err);
    if (!status) status = clo_i_alloc(width, sizeof *guess.slopes, &guess.slopes, err);
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
}

void clo_i_ssc_desk_free(clo_ssc_desk *desk)
{
    clo_i_free(desk->atoms);
    clo_i_free(desk->gram);
    clo_i_free(desk->sides);
    memset(desk, 0, sizeof *desk);
}

clo_status clo_i_ssc_desk_reserve(size_t count, size_t length, clo_ssc_desk *desk, clo_error *err)
{
    if (count <= desk->room) return CLO_OK;
    const size_t room = 2 * count; /* so that it is seldom made */
    clo_ssc_desk made = { .room = room };
    clo_status status = clo_i_alloc(2 * room, room * sizeof(double), &made.gram, err);
    if (!status) status = clo_i_alloc(3 * room, sizeof *made.sides, &made.sides, err);
    if (!status) status = clo_i_alloc(room, length * sizeof(double), &made.atoms, err);
    clo_i_ssc_desk_free(status ? &made : desk);
    if (!status) *desk = made;
    return status;
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

/* By insertion: it is short. */
size_t clo_i_ssc_guess_sorted(const clo_ssc_guess *guess, uint32_t *columns, double *values)
{
    size_t count = 0;
    for (size_t j = 0; j < guess->count; j++) {
        if (guess->values[j] == 0) continue;
        size_t at = count++;
        for (; at > 0 && columns[at - 1] > guess->columns[j]; at--) {
            columns[at] = columns[at - 1];
            values[at] = values[at - 1];
        }
        columns[at] = guess->columns[j];
        values[at] = guess->values[j];
    }
    return count;
}

/* Adds weight/2 (1'c - 1)^2, which is 0 at the answer: without it one point more than the rank, as
 * an affine code may have, would make the system singular. */
static void weigh_sum(const clo_ssc_guess *guess, clo_ssc_desk *desk)
{
    const size_t n = guess->count, room = desk->room;
    double weight = 0;
    for (size_t i = 0; i < n; i++) weight = fmax(weight, desk->gram[i * room + i]);
    for (size_t i = 0; i < n; i++) {
        desk->sides[i] += weight;
        for (size_t j = i; j < n; j++) desk->gram[i * room + j] += weight;
    }
}

/* The Gram matrix from that of the dictionary. */
static void gather_products(const clo_ssc_dictionary *p, size_t point, const clo_ssc_guess *guess,
                            clo_ssc_desk *desk)
{
    const double *const target = p->gram + point * p->points;
    for (size_t i = 0; i < guess->count; i++) {
        const double *const from = p->gram + guess->columns[i] * p->points;
        double *const to = desk->gram + i * desk->room;
        for (size_t j = i; j < guess->count; j++) to[j] = from[guess->columns[j]];
        desk->sides[i] = target[guess->columns[i]] - guess->signs[i];
    }
}

/* The same from the atoms in the eigenvectors' coordinates, each scaled by the root of its
 * strength, so that the Gram matrix is their own. */
static void gather_atoms(const clo_ssc_dictionary *p, size_t point, const clo_ssc_guess *guess,
                         clo_ssc_desk *desk)
{
    const int count = (int)guess->count, rank = (int)p->rank, room = (int)desk->room;
    double *const target = guess->slopes;
    for (size_t r = 0; r < p->rank; r++) target[r] = p->roots[r] * p->v[point * p->width + r];
    for (size_t j = 0; j < guess->count; j++) {
        const double *const v = p->v + guess->columns[j] * p->width;
        double *const atom = desk->atoms + j * p->rank;
#pragma omp simd
        for (size_t r = 0; r < p->rank; r++) atom[r] = p->roots[r] * v[r];
        desk->sides[j] = -guess->signs[j];
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, count, rank, 1.0, desk->atoms, rank, target, 1, 1.0,
                desk->sides, 1);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, count, rank, 1.0, desk->atoms, rank, 0.0,
                desk->gram, room);
}

/* The upper triangle of the system's matrix, and sides = lambda P'x - signs. */
static void gather(const clo_ssc_dictionary *p, size_t point, const clo_ssc_guess *guess,
                   clo_ssc_desk *desk)
{
    if (p->gram)
        gather_products(p, point, guess, desk);
    else
        gather_atoms(p, point, guess, desk);
    for (size_t j = 0; j < guess->count; j++) desk->gram[j * desk->room + j] *= 1 + RIDGE;
}

/* The best code with these signs, whatever signs it has itself; nu where the sum counts.  False:
 * the system cannot be solved. */
static bool solve(bool affine, const clo_ssc_guess *guess, const clo_ssc_desk *desk, double *code,
                  double *nu)
{
    const size_t n = guess->count, room = desk->room;
    double *const factor = desk->gram + room * room, *const unit = code + n;
    const int size = (int)n, sides = affine ? 2 : 1;
    int info = 0;
    double sum = 0, unit_sum = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(factor + i * n + i, desk->gram + i * room + i, (n - i) * sizeof *factor);
        code[i] = desk->sides[i];
        unit[i] = 1;
    }
    *nu = 0;
    /* the upper triangle by rows is the lower one by columns */
    dpotrf_("L", &size, factor, &size, &info, 1);
    if (info != 0) return false;
    dpotrs_("L", &size, &sides, factor, &size, code, &size, &info, 1);
    if (!affine) return true;
    for (size_t i = 0; i < n; i++) sum += code[i], unit_sum += unit[i];
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
static void close_up(clo_ssc_guess *guess, const clo_ssc_desk *desk)
{
    const size_t count = guess->count, room = desk->room;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (guess->signs[i] == 0) continue;
        size_t column = 0;
        for (size_t j = 0; j < count; j++) /* an entry is read before it is overwritten */
            if (guess->signs[j] != 0) desk->gram[kept * room + column++] = desk->gram[i * room + j];
        kept++;
    }
    for (size_t i = kept = 0; i < count; i++) {
        if (guess->signs[i] == 0) continue;
        guess->columns[kept] = guess->columns[i];
        desk->sides[kept] = desk->sides[i];
        guess->values[kept] = guess->values[i];
        guess->signs[kept++] = guess->signs[i];
    }
    guess->count = kept;
}

static void set_slopes(const clo_ssc_dictionary *p, size_t point, double nu, clo_ssc_guess *guess)
{
    const size_t rank = p->rank, width = p->width;
    for (size_t r = 0; r < rank; r++) guess->slopes[r] = p->v[point * width + r];
    for (size_t j = 0; j < guess->count; j++)
        cblas_daxpy((int)rank, -guess->values[j], p->v + guess->columns[j] * width, 1,
                    guess->slopes, 1);
    for (size_t r = 0; r < rank; r++) guess->slopes[r] *= p->strengths[r];
    if (p->options->affine) guess->slopes[rank] = -nu;
}

double clo_i_ssc_settle(bool affine, clo_ssc_guess *guess, clo_ssc_desk *desk, double *nu)
{
    double *const code = desk->sides + desk->room, work = 0;
    guess->arrived = false;
    *nu = 0;
    if (affine) weigh_sum(guess, desk);
    while (!guess->arrived && guess->count > 0 && solve(affine, guess, desk, code, nu)) {
        const double count = (double)guess->count;
        work += count * count * (1 + count / 6);
        guess->arrived = move(guess, code);
        if (!guess->arrived) close_up(guess, desk);
    }
    return work;
}

clo_status clo_i_ssc_newton(const clo_ssc_dictionary *p, size_t point, clo_ssc_guess *guess,
                            clo_ssc_desk *desk, double *work, clo_error *err)
{
    const double count = (double)guess->count, rank = (double)p->rank;
    double nu = 0;
    CLO_TRY(clo_i_ssc_desk_reserve(guess->count + 1, p->gram ? 0 : p->rank, desk, err));
    gather(p, point, guess, desk);
    *work += count * count * (p->gram ? 1 : rank) + count * rank;
    *work += clo_i_ssc_settle(p->options->affine, guess, desk, &nu);
    set_slopes(p, point, nu, guess);
    return CLO_OK;
}
