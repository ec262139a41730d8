/*
 * ssc_admm.c - sparse subspace clustering's coefficients (Elhamifar and Vidal 2013), by ADMM.
 *
 * For each point x_i, over the dictionary P of all points:
 *
 *     min |c|_1 + lambda/2 |x_i - Pc|^2,   c_i = 0,   and where affine: 1'c = 1.
 *
 * ADMM splits c into a, which takes the square and the sum, and c, which takes the rest.  Written
 * with t = c + u, u the scaled dual: c = soft(t), u = clip(t), so t alone is the state; and with
 * over-relaxation by RELAX one step is
 *
 *     t <- t - RELAX clip(t) + RELAX (a - w),   w = c - u.
 *
 * With the eigenvectors of P'P, P'P = V S V' where V has only as many columns as P has rank,
 * a - w = V h with h = g (v_i - V'w), g = lambda s / (lambda s + rho), v_i row i of V; the sum adds
 * a multiple of 1, which is one further column of V.  V't follows from itself, and V'c is a sparse
 * sum; so a step is one pass over t and one skinny product.  Since V is the same for every rho, a
 * point has a rho of its own, which costs nothing to change, and leaves its block when it is done.
 * All steps of a block are made while it is in the cache: the square matrix is never written.
 *
 * A few steps show which atoms matter.  From there an active set with exact solutions
 * (ssc_newton.c) goes to the best code, and proves that it is by the slopes of all atoms; where it
 * does not arrive, or where long codes would make it slower than ADMM, ADMM goes on until its
 * residuals are small.  What is not done after `iterations` steps is taken as it is.  With a sparse
 * error there is another way (ssc_robust.c).
 */
#include "solver/affinity/ssc_dictionary.h"
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

static const double RELAX = 1.6;
enum { ADMM_FIRST = 20, CHECK_EVERY = 10, LANES = 8 };

/* ---- one block ----------------------------------------------------------------------------- */

/* The points of a block that are not done yet, in the order in which they stand in t. */
typedef struct front {
    const clo_ssc_dictionary *p;
    size_t first, active;
    double *t;              /* rows x atoms */
    double *other;          /* rows x atoms: t a step ago, or slopes */
    double *vt, *vc, *h;    /* rows x width: V't, V'c */
    double *rho;            /* rows */
    size_t *point;          /* rows: counted from first */
    clo_ssc_guess *guesses; /* rows */
    clo_ssc_desk desk;
    size_t rows;
    uint32_t *columns; /* atoms: a code on its way out */
    double *values;
} front;

static void front_free(front *f)
{
    void *const parts[] = { f->t,   f->other, f->vt,      f->vc,      f->h,
                            f->rho, f->point, f->guesses, f->columns, f->values };
    for (size_t i = 0; f->guesses && i < f->rows; i++) clo_i_ssc_guess_free(&f->guesses[i]);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) clo_i_free(parts[i]);
    clo_i_ssc_desk_free(&f->desk);
}

static clo_status front_open(const clo_ssc_dictionary *p, const clo_code_block *block, front *f,
                             clo_error *err)
{
    const size_t rows = block->rows, room = p->rank + p->rank / 2 + 8;
    *f = (front){ .p = p, .first = block->first, .active = rows, .rows = rows };
    CLO_TRY(clo_i_alloc(rows, sizeof *f->guesses, &f->guesses, err));
    CLO_TRY(clo_i_alloc(rows * p->points, sizeof *f->t, &f->t, err));
    CLO_TRY(clo_i_alloc(rows * p->points, sizeof *f->other, &f->other, err));
    CLO_TRY(clo_i_alloc(rows * p->width, sizeof *f->vt, &f->vt, err));
    CLO_TRY(clo_i_alloc(rows * p->width, sizeof *f->vc, &f->vc, err));
    CLO_TRY(clo_i_alloc(rows * p->width, sizeof *f->h, &f->h, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *f->rho, &f->rho, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *f->point, &f->point, err));
    CLO_TRY(clo_i_alloc(p->points, sizeof *f->columns, &f->columns, err));
    CLO_TRY(clo_i_alloc(p->points, sizeof *f->values, &f->values, err));
    for (size_t i = 0; i < rows; i++) {
        CLO_TRY(clo_i_ssc_guess_new(room, p->width, &f->guesses[i], err));
        f->point[i] = i;
        f->rho[i] = p->options->alpha;
    }
    return CLO_OK;
}

static double clip(double t, double bound)
{
    const double low = t < bound ? t : bound;
    return low > -bound ? low : -bound;
}

/* t <- t - factor u for one row, and vc = V'c of the old t.  The point itself has c = 0, u = t. */
static void shrink(const front *f, size_t i, double factor)
{
    enum { RUN = 64 };
    const size_t atoms = f->p->points, width = f->p->width, self = f->first + f->point[i];
    double *const t = f->t + i * atoms, *const vc = f->vc + i * width;
    const double bound = 1 / f->rho[i], own = t[self];
    t[self] = 0;
    memset(vc, 0, width * sizeof *vc);
    for (size_t from = 0; from < atoms; from += RUN) {
        const size_t run = atoms - from < RUN ? atoms - from : RUN;
        double c[RUN], mass = 0;
#pragma omp simd reduction(max : mass)
        for (size_t j = 0; j < run; j++) {
            const double u = clip(t[from + j], bound);
            c[j] = t[from + j] - u;
            t[from + j] -= factor * u;
            mass = fabs(c[j]) > mass ? fabs(c[j]) : mass;
        }
        for (size_t j = 0; mass > 0 && j < run; j++) {
            if (c[j] == 0) continue;
            const double *const v = f->p->v + (from + j) * width;
#pragma omp simd
            for (size_t r = 0; r < width; r++) vc[r] += c[j] * v[r];
        }
    }
    t[self] = own - factor * own;
}

/* h of a - w = V h, times RELAX, and V't one step on. */
static void step_coordinates(const front *f, size_t i)
{
    const clo_ssc_dictionary *const p = f->p;
    const size_t rank = p->rank, width = p->width;
    const double *const v = p->v + (f->first + f->point[i]) * width, *const vc = f->vc + i * width;
    double *const vt = f->vt + i * width, *const h = f->h + i * width;
    double sum = 0, room = (double)p->points, shift = 0;
    for (size_t r = 0; r < rank; r++) {
        const double g = p->strengths[r] / (p->strengths[r] + f->rho[i]);
        h[r] = g * (v[r] - (2 * vc[r] - vt[r]));
        sum += p->ones[r] * h[r];
        room -= g * p->ones[r] * p->ones[r];
    }
    if (p->options->affine) {
        const double over = 2 * vc[rank] - vt[rank] + sum - 1;
        shift = over / fmax(room, DBL_EPSILON * (double)p->points);
        sum = 0;
        for (size_t r = 0; r < rank; r++) {
            h[r] += shift * p->ones[r] * p->strengths[r] / (p->strengths[r] + f->rho[i]);
            sum += p->ones[r] * h[r];
        }
        h[rank] = -shift;
        vt[rank] += RELAX * (vc[rank] - vt[rank] + sum - shift * (double)p->points);
    }
    for (size_t r = 0; r < rank; r++) vt[r] += RELAX * (vc[r] - vt[r] + h[r] - shift * p->ones[r]);
    for (size_t r = 0; r < width; r++) h[r] *= RELAX;
}

static void step(const front *f)
{
    const int atoms = (int)f->p->points, width = (int)f->p->width;
    for (size_t i = 0; i < f->active; i++) {
        shrink(f, i, RELAX);
        step_coordinates(f, i);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)f->active, atoms, width, 1.0, f->h,
                width, f->p->v, width, 1.0, f->t, atoms);
}

/* How far one row moved in its last step, relative to where it is. */
typedef struct motion {
    double primal, dual;
} motion;

static double total(const double lanes[LANES])
{
    double sum = 0;
    for (size_t l = 0; l < LANES; l++) sum += lanes[l];
    return sum;
}

/* In lanes, so that the sums are the same whether or not the compiler uses vectors. */
static motion measure(const front *f, size_t i)
{
    const size_t atoms = f->p->points, self = f->first + f->point[i];
    double *const t = f->t + i * atoms, *const before = f->other + i * atoms;
    const double bound = 1 / f->rho[i], own = t[self], own_before = before[self];
    double primal[LANES] = { 0 }, dual[LANES] = { 0 }, codes[LANES] = { 0 }, duals[LANES] = { 0 };
    t[self] = before[self] = 0;
    for (size_t from = 0; from < atoms; from += LANES) {
        const size_t lanes = atoms - from < LANES ? atoms - from : LANES;
#pragma omp simd
        for (size_t l = 0; l < lanes; l++) {
            const double u = clip(t[from + l], bound), c = t[from + l] - u;
            const double u_before = clip(before[from + l], bound);
            const double moved = c - (before[from + l] - u_before);
            const double apart = u - u_before + (1 - RELAX) * moved;
            primal[l] += apart * apart, dual[l] += moved * moved;
            codes[l] += c * c, duals[l] += u * u;
        }
    }
    t[self] = own, before[self] = own_before;
    const double apart = total(primal) + (own - own_before) * (own - own_before);
    return (motion){ .primal = sqrt(apart) / RELAX / sqrt(total(codes)),
                     .dual = sqrt(total(dual)) / sqrt(total(duals) + own * own) };
}

/* Brings the two residuals nearer to each other. */
static void adapt(const front *f, size_t i, motion m)
{
    const double ratio = isfinite(m.primal) && m.dual > 0 ? m.primal / m.dual : 16;
    const double change = fmin(fmax(sqrt(ratio), 0.25), 4);
    if (change > 0.7 && change < 1.4) return;
    const size_t width = f->p->width;
    double *const vt = f->vt + i * width, *const vc = f->vc + i * width;
    shrink(f, i, 1 - 1 / change);
    for (size_t r = 0; r < width; r++) vt[r] = vc[r] + (vt[r] - vc[r]) / change;
    f->rho[i] *= change;
}

/* ---- handing over ---------------------------------------------------------------------------- */

/* Hands a code over, and closes the gap: the last active row takes the place of row i. */
static clo_status finish(front *f, size_t i, size_t count, clo_code_block *block, clo_error *err)
{
    const size_t atoms = f->p->points, width = f->p->width, last = --f->active;
    CLO_TRY(clo_i_code_add(block, f->point[i], f->columns, f->values, count, err));
    if (i == last) return CLO_OK;
    const clo_ssc_guess guess = f->guesses[i];
    memcpy(f->t + i * atoms, f->t + last * atoms, atoms * sizeof *f->t);
    memcpy(f->other + i * atoms, f->other + last * atoms, atoms * sizeof *f->t);
    memcpy(f->vt + i * width, f->vt + last * width, width * sizeof *f->vt);
    f->rho[i] = f->rho[last];
    f->point[i] = f->point[last];
    f->guesses[i] = f->guesses[last];
    f->guesses[last] = guess; /* its memory is given back with the rest */
    return CLO_OK;
}

/* The code as ADMM has it. */
static clo_status finish_admm(front *f, size_t i, clo_code_block *block, clo_error *err)
{
    const double *const t = f->t + i * f->p->points, bound = 1 / f->rho[i];
    size_t count = 0;
    for (size_t j = 0; j < f->p->points; j++) {
        if (fabs(t[j]) <= bound || j == f->first + f->point[i]) continue;
        f->columns[count] = (uint32_t)j;
        f->values[count++] = t[j] - clip(t[j], bound);
    }
    return finish(f, i, count, block, err);
}

/* The code as Newton has it. */
static clo_status finish_newton(front *f, size_t i, clo_code_block *block, clo_error *err)
{
    const size_t count = clo_i_ssc_guess_sorted(&f->guesses[i], f->columns, f->values);
    return finish(f, i, count, block, err);
}

/* After a step that was watched: hands over what is done, and gives the rest a better rho. */
static clo_status review(front *f, bool adapting, bool end, clo_code_block *block, clo_error *err)
{
    const double tolerance = f->p->options->tolerance;
    for (size_t i = f->active; i-- > 0;) {
        const motion m = measure(f, i);
        const bool still = isnan(m.dual); /* t is 0 and stays: a row of zeros */
        if (end || still || (m.primal <= tolerance && m.dual <= tolerance))
            CLO_TRY(finish_admm(f, i, block, err));
        else if (adapting)
            adapt(f, i, m);
    }
    return CLO_OK;
}

/* ---- Newton's part ------------------------------------------------------------------------- */

/* The atoms that ADMM uses now. */
static void guess_from_admm(const front *f, size_t i)
{
    const double *const t = f->t + i * f->p->points, bound = 1 / f->rho[i];
    const size_t self = f->first + f->point[i];
    f->guesses[i].count = 0;
    for (size_t j = 0; j < f->p->points; j++)
        if (fabs(t[j]) > bound && j != self)
            clo_i_ssc_guess_add(&f->guesses[i], j, copysign(1, t[j]), t[j] - clip(t[j], bound));
}

/* Takes the atoms in whose slope is furthest beyond 1, four and an eighth of those that are in at
 * most; false: there is none, and the code is the best. */
static bool take_in(const front *f, size_t i)
{
    const size_t enter = 4 + f->guesses[i].count / 8;
    const size_t atoms = f->p->points, self = f->first + f->point[i];
    double *const slopes = f->other + i * atoms;
    clo_ssc_guess *const guess = &f->guesses[i];
    size_t entered = 0;
    slopes[self] = 0;
    for (size_t j = 0; j < guess->count; j++) slopes[guess->columns[j]] = 0;
    for (; entered < enter && guess->count < guess->room; entered++) {
        double most = 1 + f->p->options->tolerance;
        size_t which = atoms;
        for (size_t j = 0; j < atoms; j++)
            if (fabs(slopes[j]) > most) most = fabs(slopes[j]), which = j;
        if (which == atoms) break;
        clo_i_ssc_guess_add(guess, which, copysign(1, slopes[which]), 0);
        slopes[which] = 0;
    }
    return entered > 0;
}

/* How much Newton's part may take, in multiplications: as much as ADMM's steps would, all of them.
 */
static double newton_budget(const front *f)
{
    const clo_ssc_dictionary *const p = f->p;
    return (double)f->rows * (double)p->points * (double)p->width * (double)p->options->iterations;
}

/* From the atoms that ADMM has come to, to the best codes.  What has not arrived after so many
 * rounds (dependent atoms can make it turn in a circle) is left to ADMM. */
static clo_status newton(front *f, clo_code_block *block, clo_error *err)
{
    const int atoms = (int)f->p->points, width = (int)f->p->width;
    const size_t rounds = 3 * f->p->rank + 20;
    const double most = newton_budget(f);
    double work = 0;
    for (size_t i = 0; i < f->active; i++) guess_from_admm(f, i);
    for (size_t n = 0; n < rounds && f->active > 0 && work < most; n++) {
        for (size_t i = 0; i < f->active; i++) {
            clo_ssc_guess *const guess = &f->guesses[i];
            CLO_TRY(clo_i_code_pause(block, err));
            CLO_TRY(clo_i_ssc_newton(f->p, f->first + f->point[i], guess, &f->desk, &work, err));
            memcpy(f->h + i * f->p->width, guess->slopes, f->p->width * sizeof *f->h);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)f->active, atoms, width, 1.0,
                    f->h, width, f->p->v, width, 0.0, f->other, atoms);
        for (size_t i = f->active; i-- > 0;)
            if (!take_in(f, i) && f->guesses[i].arrived) CLO_TRY(finish_newton(f, i, block, err));
    }
    return CLO_OK;
}

static clo_status encode(const void *context, clo_code_block *block, clo_error *err)
{
    const clo_ssc_dictionary *const p = context;
    const size_t most = p->options->iterations;
    front f;
    if (p->rank == 0) return CLO_OK;
    clo_status status = front_open(p, block, &f, err);
    for (size_t n = 1; !status && f.active > 0; n++) {
        const bool watched = n % CHECK_EVERY == 0 || n >= most;
        if (watched) status = clo_i_code_pause(block, err);
        if (status) break;
        if (watched) memcpy(f.other, f.t, f.active * p->points * sizeof *f.t);
        step(&f);
        /* ADMM is sure to converge once rho stays */
        if (watched) status = review(&f, n < most / 2, n >= most, block, err);
        if (n == ADMM_FIRST && !status) status = newton(&f, block, err);
    }
    front_free(&f);
    return status;
}

clo_status clo_i_ssc_codes(const clo_solver_input *job, const clo_ssc_options *options,
                           clo_codes *out, clo_error *err)
{
    clo_ssc_dictionary p;
    if (options->outliers > 0) return clo_i_ssc_robust_codes(job, options, out, err);
    CLO_TRY(clo_i_ssc_dictionary_new(job, options, &p, err));
    const clo_status status =
        clo_i_encode(job, clo_i_points_at_once(p.points), encode, &p, out, err);
    clo_i_ssc_dictionary_free(&p);
    return status;
}
