/*
 * ssc_robust.c - sparse subspace clustering's coefficients where rows have wrong entries: Elhamifar
 * and Vidal's model with a sparse error,
 *
 *     min |c|_1 + w |e|_1 + lambda/2 |x - Xc - e|^2,   c_i = 0,   and where affine: 1'c = 1.
 *
 * For a given c the best e is known, entry by entry, and what then remains of the last two terms is
 * Huber's function of x - Xc: a square up to the knee w/lambda, straight beyond.  So e needs no
 * variables.  As in the paper, and other than without the error, rows keep their lengths: what
 * counts as a wrong entry is the same in all of them, and a dark picture is not blown up until its
 * grain counts as much as another one's face.
 *
 * A code has few points, though its error may have many entries.  So the few are looked for: on the
 * points at hand, steps of the kind of Newton's, each of which solves a small quadratic problem
 * with signs (ssc_newton.c); then the slopes of all points, a product for the whole block, say who
 * else should come in.  In a step an entry beyond the knee counts with the share
 * `damping * knee / |rest|`: at 1 that is a quadratic above the function, so that each step makes
 * the code better; at 0 it is Newton's own.  The damping falls as long as steps are good, and a
 * step that goes too far is cut short where the cost is least.
 */
#include "linalg/linalg.h"
#include "solver/affinity/ssc_dictionary.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

enum { STEPS_A_ROUND = 60 };
static const double ROUNDING = 1e-12; /* of a cost: near the end it tells steps apart no more */

typedef struct robust {
    const clo_ssc_options *options;
    size_t points, cols;
    double *rows; /* points x cols */
    double lambda, knee;
} robust;

/* The points of a block, and the desk that they share. */
typedef struct front {
    const robust *p;
    size_t first, rows;
    clo_ssc_guess *guesses; /* rows */
    size_t *steps;          /* rows: made so far */
    bool *done;             /* rows */
    double *rests;          /* rows x cols: x - Xc */
    double *pulls;          /* rows x cols: the slope of Huber's function there, times -1 */
    double *slopes;         /* rows x points */
    double *sums;           /* rows: nu */
    clo_ssc_guess before;   /* a code, before a step that may have to be taken back */
    double *trial;          /* cols: the rest after it */
    double *shares;         /* cols: how much each entry counts, its root */
    uint32_t *columns;      /* of a code on its way out */
    double *values;
    clo_ssc_desk desk;
} front;

static void front_free(front *f)
{
    void *const parts[] = { f->guesses, f->steps, f->done,   f->rests,   f->pulls, f->slopes,
                            f->sums,    f->trial, f->shares, f->columns, f->values };
    for (size_t i = 0; f->guesses && i < f->rows; i++) clo_i_ssc_guess_free(&f->guesses[i]);
    clo_i_ssc_guess_free(&f->before);
    clo_i_ssc_desk_free(&f->desk);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) clo_i_free(parts[i]);
}

static clo_status front_open(const robust *p, const clo_code_block *block, front *f, clo_error *err)
{
    const size_t rows = block->rows, least = p->points < p->cols ? p->points : p->cols;
    const size_t room = least + least / 2 + 8;
    *f = (front){ .p = p, .first = block->first, .rows = rows };
    CLO_TRY(clo_i_alloc(rows, sizeof *f->guesses, &f->guesses, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *f->steps, &f->steps, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *f->done, &f->done, err));
    CLO_TRY(clo_i_alloc(rows * p->cols, sizeof *f->rests, &f->rests, err));
    CLO_TRY(clo_i_alloc(rows * p->cols, sizeof *f->pulls, &f->pulls, err));
    CLO_TRY(clo_i_alloc(rows * p->points, sizeof *f->slopes, &f->slopes, err));
    CLO_TRY(clo_i_alloc(rows, sizeof *f->sums, &f->sums, err));
    CLO_TRY(clo_i_alloc(p->cols, sizeof *f->trial, &f->trial, err));
    CLO_TRY(clo_i_alloc(p->cols, sizeof *f->shares, &f->shares, err));
    CLO_TRY(clo_i_alloc(room, sizeof *f->columns, &f->columns, err));
    CLO_TRY(clo_i_alloc(room, sizeof *f->values, &f->values, err));
    CLO_TRY(clo_i_ssc_guess_new(room, 0, &f->before, err));
    for (size_t i = 0; i < rows; i++) CLO_TRY(clo_i_ssc_guess_new(room, 0, &f->guesses[i], err));
    return CLO_OK;
}

/* ---- one point ------------------------------------------------------------------------------- */

static const double *row_of(const front *f, size_t i)
{
    return f->p->rows + (f->first + i) * f->p->cols;
}

static void take_rest(const front *f, size_t i, double *rest)
{
    const clo_ssc_guess *const guess = &f->guesses[i];
    const size_t d = f->p->cols;
    memcpy(rest, row_of(f, i), d * sizeof *rest);
    for (size_t j = 0; j < guess->count; j++)
        cblas_daxpy((int)d, -guess->values[j], f->p->rows + guess->columns[j] * d, 1, rest, 1);
}

/* What is to be made small. */
static double cost_of(const robust *p, const clo_ssc_guess *guess, const double *rest)
{
    double sum = 0, code = 0;
    for (size_t k = 0; k < p->cols; k++) {
        const double size = fabs(rest[k]), near = size < p->knee ? size : p->knee;
        sum += near * (size - near / 2);
    }
    for (size_t j = 0; j < guess->count; j++) code += fabs(guess->values[j]);
    return code + p->lambda * sum;
}

static void set_pulls(const robust *p, const double *rest, double *pulls)
{
    for (size_t k = 0; k < p->cols; k++)
        pulls[k] = p->lambda * fmax(fmin(rest[k], p->knee), -p->knee);
}

static void set_shares(const front *f, const double *rest, double damping)
{
    const double knee = f->p->knee, root = sqrt(f->p->lambda);
    for (size_t k = 0; k < f->p->cols; k++) {
        const double size = fabs(rest[k]);
        f->shares[k] = root * (size <= knee ? 1 : sqrt(damping * knee / size));
    }
}

/* The system of a step, on the desk: gram = lambda A'DA, sides = gram c + A'pulls - signs. */
static void gather(front *f, size_t i)
{
    const clo_ssc_guess *const guess = &f->guesses[i];
    const size_t d = f->p->cols, n = guess->count, room = f->desk.room;
    const double *const pulls = f->pulls + i * d;
    double *const gram = f->desk.gram, *const sides = f->desk.sides;
    for (size_t j = 0; j < n; j++) {
        const double *const row = f->p->rows + guess->columns[j] * d;
        double *const atom = f->desk.atoms + j * d;
#pragma omp simd
        for (size_t k = 0; k < d; k++) atom[k] = f->shares[k] * row[k];
        sides[j] = cblas_ddot((int)d, row, 1, pulls, 1) - guess->signs[j];
    }
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, (int)n, (int)d, 1.0, f->desk.atoms, (int)d,
                0.0, gram, (int)room);
    for (size_t j = 0; j < n; j++)
        for (size_t l = 0; l < n; l++)
            sides[j] += gram[j < l ? j * room + l : l * room + j] * guess->values[l];
    /* where all entries are beyond the knee nothing is left: the whole row, a little */
    for (size_t j = 0; j < n; j++) {
        const double *const row = f->p->rows + guess->columns[j] * d;
        const double ridge = 1e-10 * f->p->lambda * cblas_ddot((int)d, row, 1, row, 1);
        gram[j * room + j] += ridge;
        sides[j] += ridge * guess->values[j];
    }
}

static void copy_code(const clo_ssc_guess *from, clo_ssc_guess *to)
{
    to->count = from->count;
    memcpy(to->columns, from->columns, from->count * sizeof *to->columns);
    memcpy(to->signs, from->signs, from->count * sizeof *to->signs);
    memcpy(to->values, from->values, from->count * sizeof *to->values);
}

/* How far the slopes of the points at hand are from their signs; nu: of the sum. */
static double unrest(const front *f, size_t i, double *nu)
{
    const clo_ssc_guess *const guess = &f->guesses[i];
    const size_t d = f->p->cols;
    double most = 0, sum = 0, *const off = f->desk.sides;
    for (size_t j = 0; j < guess->count; j++) {
        const double *const row = f->p->rows + guess->columns[j] * d;
        off[j] = cblas_ddot((int)d, row, 1, f->pulls + i * d, 1) - guess->signs[j];
        sum += off[j];
    }
    *nu = f->p->options->affine && guess->count > 0 ? sum / (double)guess->count : 0;
    for (size_t j = 0; j < guess->count; j++) most = fmax(most, fabs(off[j] - *nu));
    return most;
}

/* How the cost grows along the way from one rest to another, at the share t of it; codes: what the
 * code's own part grows by. */
static double growth(const robust *p, const double *from, const double *to, double codes, double t)
{
    double sum = 0;
    for (size_t k = 0; k < p->cols; k++) {
        const double way = to[k] - from[k], at = from[k] + t * way;
        sum += fmax(fmin(at, p->knee), -p->knee) * way;
    }
    return codes + p->lambda * sum;
}

/* The share of the way after which the cost grows. */
static double best_share(const robust *p, const double *from, const double *to, double codes)
{
    enum { HALVINGS = 24 };
    double low = 0, high = 1;
    for (int n = 0; n < HALVINGS; n++) {
        const double middle = (low + high) / 2;
        if (growth(p, from, to, codes, middle) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double length_of(const clo_ssc_guess *guess)
{
    double sum = 0;
    for (size_t j = 0; j < guess->count; j++) sum += fabs(guess->values[j]);
    return sum;
}

/* A step that goes too far ends earlier, where what left the code on the way is still in it: those
 * of the code stand in the order in which they stood before. */
static double shorten(front *f, size_t i)
{
    clo_ssc_guess *const guess = &f->guesses[i], *const before = &f->before;
    double *const rest = f->rests + i * f->p->cols;
    const double share = best_share(f->p, rest, f->trial, length_of(guess) - length_of(before));
    for (size_t j = 0, at = 0; j < before->count; j++) {
        const bool stays = at < guess->count && guess->columns[at] == before->columns[j];
        const double to = stays ? guess->values[at++] : 0;
        before->values[j] += share * (to - before->values[j]);
    }
    copy_code(before, guess);
    take_rest(f, i, f->trial);
    return share;
}

/* The best code with the points at hand, less those that come to 0.  It has not arrived where that
 * takes more than a round's steps. */
static clo_status settle(front *f, size_t i, clo_error *err)
{
    const robust *const p = f->p;
    clo_ssc_guess *const guess = &f->guesses[i];
    double *const rest = f->rests + i * p->cols, *const pulls = f->pulls + i * p->cols;
    double damping = 1, nu = 0, cost = cost_of(p, guess, rest);
    bool arrived = guess->count == 0;
    CLO_TRY(clo_i_ssc_desk_reserve(guess->count + 1, p->cols, &f->desk, err));
    for (size_t n = 0; n < STEPS_A_ROUND && !arrived; n++, f->steps[i]++) {
        copy_code(guess, &f->before);
        set_shares(f, rest, damping);
        gather(f, i);
        (void)clo_i_ssc_settle(p->options->affine, guess, &f->desk, &nu);
        take_rest(f, i, f->trial);
        const bool far = !(cost_of(p, guess, f->trial) <= cost * (1 + ROUNDING));
        const double share = far ? shorten(f, i) : 1;
        const double after = cost_of(p, guess, f->trial);
        damping = !far ? damping / 8 : fmin(fmax(8 * damping, 1e-4), 1);
        memcpy(rest, f->trial, p->cols * sizeof *rest);
        set_pulls(p, rest, pulls);
        arrived = guess->count == 0 || unrest(f, i, &nu) <= p->options->tolerance / 2 ||
                  (share < ROUNDING && damping >= 1); /* as good as rounding lets it be */
        cost = after;
    }
    (void)unrest(f, i, &f->sums[i]);
    guess->arrived = arrived;
    return CLO_OK;
}

/* ---- a block --------------------------------------------------------------------------------- */

/* Before the first round; where affine, with all of the weight on the nearest point. */
static void begin(front *f)
{
    const robust *const p = f->p;
    const size_t n = p->points, d = p->cols;
    for (size_t i = 0; i < f->rows; i++) {
        const double *const row = row_of(f, i);
        size_t nearest = n;
        double least = INFINITY;
        for (size_t j = 0; j < n && p->options->affine; j++) {
            double square = 0;
            for (size_t k = 0; k < d; k++)
                square += (row[k] - p->rows[j * d + k]) * (row[k] - p->rows[j * d + k]);
            if (j != f->first + i && square < least) least = square, nearest = j;
        }
        if (nearest < n) clo_i_ssc_guess_add(&f->guesses[i], nearest, 1, 1);
        take_rest(f, i, f->rests + i * d);
        set_pulls(p, f->rests + i * d, f->pulls + i * d);
    }
}

/* Takes the points in whose slope is furthest beyond 1; false: there is none. */
static bool take_in(front *f, size_t i)
{
    const size_t n = f->p->points;
    double *const slopes = f->slopes + i * n;
    clo_ssc_guess *const guess = &f->guesses[i];
    const size_t enter = 4 + guess->count / 8;
    size_t entered = 0;
    for (size_t j = 0; j < n; j++) slopes[j] -= f->sums[i];
    slopes[f->first + i] = 0;
    for (size_t j = 0; j < guess->count; j++) slopes[guess->columns[j]] = 0;
    for (; entered < enter && guess->count < guess->room; entered++) {
        double most = 1 + f->p->options->tolerance;
        size_t which = n;
        for (size_t j = 0; j < n; j++)
            if (fabs(slopes[j]) > most) most = fabs(slopes[j]), which = j;
        if (which == n) break;
        clo_i_ssc_guess_add(guess, which, copysign(1, slopes[which]), 0);
        slopes[which] = 0;
    }
    return entered > 0;
}

static clo_status hand_over(front *f, size_t i, clo_code_block *block, clo_error *err)
{
    const size_t count = clo_i_ssc_guess_sorted(&f->guesses[i], f->columns, f->values);
    f->done[i] = true;
    return clo_i_code_add(block, i, f->columns, f->values, count, err);
}

/* Slopes of all, who comes in, and the best with those; *open: how many are not done. */
static clo_status round_of(front *f, clo_code_block *block, size_t *open, clo_error *err)
{
    const robust *const p = f->p;
    clo_i_multiply_transposed(f->pulls, f->rows, p->rows, p->points, p->cols, f->slopes);
    *open = 0;
    for (size_t i = 0; i < f->rows; i++) {
        if (f->done[i]) continue;
        CLO_TRY(clo_i_code_pause(block, err));
        const bool more = take_in(f, i);
        if ((!more && f->guesses[i].arrived) || f->guesses[i].count == 0 ||
            f->steps[i] >= p->options->iterations) {
            CLO_TRY(hand_over(f, i, block, err));
            continue;
        }
        f->steps[i]++; /* so that rounds end, too */
        CLO_TRY(settle(f, i, err));
        ++*open;
    }
    return CLO_OK;
}

static clo_status encode(const void *context, clo_code_block *block, clo_error *err)
{
    const robust *const p = context;
    size_t open = block->rows;
    front f;
    if (!isfinite(p->lambda)) return CLO_OK;
    clo_status status = front_open(p, block, &f, err);
    if (!status) begin(&f);
    while (!status && open > 0) status = round_of(&f, block, &open, err);
    front_free(&f);
    return status;
}

/* lambda = alpha / the least correlation, w = outliers / the largest 1-norm of a point. */
static clo_status weigh(robust *p, clo_error *err)
{
    double least = 0, largest = 0;
    CLO_TRY(clo_i_least_correlation(p->rows, p->points, p->cols, &least, err));
    for (size_t i = 0; i < p->points; i++)
        largest = fmax(largest, cblas_dasum((int)p->cols, p->rows + i * p->cols, 1));
    p->lambda = isfinite(least) ? p->options->alpha / least : INFINITY;
    p->knee = p->options->outliers / largest / p->lambda;
    return CLO_OK;
}

clo_status clo_i_ssc_robust_codes(const clo_solver_input *job, const clo_ssc_options *options,
                                  clo_codes *out, clo_error *err)
{
    robust p = { .options = options, .points = job->count, .cols = job->cols };
    CLO_TRY(clo_i_even_rows(job, &p.rows, err));
    const int before = clo_i_blas_serial_begin();
    clo_status status = weigh(&p, err);
    clo_i_blas_serial_end(before);
    if (!status) status = clo_i_encode(job, clo_i_points_at_once(p.points), encode, &p, out, err);
    clo_i_free(p.rows);
    return status;
}
