/*
 * ensc.c - elastic net subspace clustering, by the oracle guided active set (You, Li, Robinson and
 * Vidal 2016).
 *
 *     min lambda |c|_1 + (1 - lambda)/2 |c|^2 + gamma/2 |x - Xc|^2,   without x itself.
 *
 * The 1-norm connects a row to its own subspace, the square to more of it.  The rows with
 * |gamma x_j'(x - Xc)| <= lambda have no part in the best c; so the problem is solved over a few
 * rows, the rows beyond that bound come in, and when there are none the
 * answer is that of the whole.  The rows of a block do this in step: what is left of all of them
 * meets the data in one matrix product.  Memory follows the codes.
 *
 * The small problem: coordinate descent soon has the signs right, but is slow among rows that are
 * much alike; with the signs given the best values solve a linear system.  So the two alternate.
 */
#include "linalg/lapack.h"
#include "linalg/linalg.h"
#include "solver/affinity/self_expression.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

/* In the order of the rows below. */
enum { CLUSTERS, DIM, FLATS, LAMBDA, GAMMA, TOLERANCE, RESTARTS, PARAM_COUNT };
/* Rows that come in at once, rounds of that; sweeps in one round, and between two systems. */
enum { ENTER = 64, ROUNDS = 1000, SWEEPS = 1000, QUICK = 10 };
/* Beside the diagonal of 1: duplicates keep the system solvable where lambda is 1. */
static const double RIDGE = 1e-12;

static const clo_param params[] = {
    CLO_SOLVER_ROW_CLUSTERS_OR_GAP,
    CLO_SOLVER_ROW_DIM,
    CLO_SOLVER_ROW_FLATS,
    { "lambda", CLO_PARAM_REAL, 0.01, 1, 0.9, NULL,
      "the share of the 1-norm; 1: none of the square" },
    { "gamma", CLO_PARAM_REAL, 1, 1e9, 50, NULL,
      "the weight of the error, in units of the least that is useful" },
    { "tolerance", CLO_PARAM_REAL, 1e-12, 1, 1e-4, NULL,
      "how far from optimal a code may be, relative" },
    CLO_SOLVER_ROW_RESTARTS(10),
};
_Static_assert(sizeof params / sizeof *params == PARAM_COUNT, "a name for each row");

typedef struct net {
    const double *rows; /* count x cols, of length 1 or 0 */
    size_t count, cols;
    clo_ensc_options options;
} net;

/* A code under way over its active set. */
typedef struct active {
    double gamma; /* 0: not known yet */
    bool done;
    size_t count, room;
    uint32_t *columns;
    double *values;
} active;

typedef struct candidate {
    double size;
    uint32_t column;
} candidate;

typedef struct scratch {
    size_t rows, room;    /* room: of the largest active set so far */
    double *rests;        /* rows x cols */
    double *slopes;       /* rows x count, without gamma */
    active *sets;         /* rows */
    double *atoms, *gram; /* room x cols, room x room */
    double *left;         /* room: x_j'(x - Xc) */
    double *system;       /* room x room: of those that are not zero, */
    double *goal;         /* room: its solution, */
    uint32_t *which;      /* room: and who they are */
} scratch;

static void scratch_free(scratch *s)
{
    void *const parts[] = { s->rests, s->slopes, s->atoms, s->gram,
                            s->left,  s->system, s->goal,  s->which };
    for (size_t i = 0; s->sets && i < s->rows; i++) {
        clo_i_free(s->sets[i].columns);
        clo_i_free(s->sets[i].values);
    }
    clo_i_free(s->sets);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) clo_i_free(parts[i]);
}

static clo_status scratch_open(const net *p, const clo_code_block *block, scratch *s,
                               clo_error *err)
{
    *s = (scratch){ .rows = block->rows };
    CLO_TRY(clo_i_alloc(s->rows, sizeof *s->sets, &s->sets, err));
    CLO_TRY(clo_i_alloc(s->rows * p->cols, sizeof *s->rests, &s->rests, err));
    CLO_TRY(clo_i_alloc(s->rows * p->count, sizeof *s->slopes, &s->slopes, err));
    memcpy(s->rests, p->rows + block->first * p->cols, s->rows * p->cols * sizeof *s->rests);
    return CLO_OK;
}

/* ---- who comes in -------------------------------------------------------------------------- */

/* Whether a comes in before b. */
static bool before(candidate a, candidate b)
{
    return a.size != b.size ? a.size > b.size : a.column < b.column;
}

/* The best ENTER of many, without sorting the others: a heap with the last of them on top. */
static size_t offer(candidate *heap, size_t count, candidate next)
{
    size_t at = count < ENTER ? count : 0;
    if (count == ENTER && !before(next, heap[0])) return count;
    if (count < ENTER) {
        for (; at > 0 && before(heap[(at - 1) / 2], next); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = next;
        return count + 1;
    }
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(heap[child], heap[child + 1])) child++;
        if (!before(next, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = next;
    return count;
}

static clo_status add(active *set, const candidate *who, size_t count, clo_error *err)
{
    if (set->count + count > set->room) {
        const size_t room = 2 * (set->count + count);
        CLO_TRY(clo_i_resize(&set->columns, set->room, room, sizeof *set->columns, err));
        CLO_TRY(clo_i_resize(&set->values, set->room, room, sizeof *set->values, err));
        set->room = room;
    }
    for (size_t j = 0; j < count; j++) {
        set->columns[set->count] = who[j].column;
        set->values[set->count++] = 0;
    }
    return CLO_OK;
}

/* Takes those in that are furthest beyond the bound; where there are none the code is done. */
static clo_status take_in(const net *p, size_t point, double *slopes, active *set, clo_error *err)
{
    const double lambda = p->options.mixing;
    candidate beyond[ENTER];
    size_t count = 0;
    slopes[point] = 0;
    for (size_t j = 0; j < set->count; j++) slopes[set->columns[j]] = 0;
    if (set->gamma == 0) {
        double most = 0;
        for (size_t j = 0; j < p->count; j++) most = fmax(most, fabs(slopes[j]));
        set->gamma = most > 0 ? p->options.gamma * lambda / most : 1;
    }
    const double bound = lambda * (1 + p->options.tolerance) / set->gamma;
    for (size_t j = 0; j < p->count; j++)
        if (fabs(slopes[j]) > bound)
            count = offer(beyond, count, (candidate){ fabs(slopes[j]), (uint32_t)j });
    set->done = count == 0;
    return add(set, beyond, count, err);
}

/* ---- the small problem --------------------------------------------------------------------- */

static clo_status make_room(const net *p, scratch *s, size_t room, clo_error *err)
{
    if (room <= s->room) return CLO_OK;
    clo_i_free(s->atoms);
    clo_i_free(s->gram);
    clo_i_free(s->left);
    clo_i_free(s->system);
    clo_i_free(s->goal);
    clo_i_free(s->which);
    s->atoms = s->gram = s->left = s->system = s->goal = NULL;
    s->which = NULL;
    s->room = 2 * room;
    CLO_TRY(clo_i_alloc(s->room, s->room * sizeof(double), &s->system, err));
    CLO_TRY(clo_i_alloc(s->room, sizeof *s->goal, &s->goal, err));
    CLO_TRY(clo_i_alloc(s->room, sizeof *s->which, &s->which, err));
    CLO_TRY(clo_i_alloc(s->room, p->cols * sizeof(double), &s->atoms, err));
    CLO_TRY(clo_i_alloc(s->room, s->room * sizeof(double), &s->gram, err));
    return clo_i_alloc(s->room, sizeof *s->left, &s->left, err);
}

/* The Gram matrix of the active set, and left = X'(x - Xc) for the values there are. */
static void gather(const net *p, size_t point, const active *set, const scratch *s)
{
    const size_t d = p->cols, n = set->count;
    for (size_t j = 0; j < n; j++)
        memcpy(s->atoms + j * d, p->rows + set->columns[j] * d, d * sizeof *s->atoms);
    clo_i_multiply_transposed(s->atoms, n, s->atoms, n, d, s->gram);
    clo_i_multiply_transposed(p->rows + point * d, 1, s->atoms, n, d, s->left);
    for (size_t j = 0; j < n; j++)
        if (set->values[j] != 0)
            cblas_daxpy((int)n, -set->values[j], s->gram + j * n, 1, s->left, 1);
}

/* One sweep; the largest distance of a slope from where it should be, in units of lambda.  Quick:
 * only over what is not zero. */
static double sweep(const net *p, const active *set, const scratch *s, bool quick)
{
    const double lambda = p->options.mixing, gamma = set->gamma;
    const size_t n = set->count;
    double furthest = 0;
    for (size_t j = 0; j < n; j++) {
        const double old = set->values[j], curve = gamma * s->gram[j * n + j] + 1 - lambda;
        if (quick && old == 0) continue;
        const double pull = gamma * (s->left[j] + s->gram[j * n + j] * old);
        const double size = fabs(pull) - lambda;
        const double value = size > 0 ? copysign(size, pull) / curve : 0;
        if (value == old) continue;
        furthest = fmax(furthest, fabs(value - old) * curve / lambda);
        set->values[j] = value;
        cblas_daxpy((int)n, old - value, s->gram + j * n, 1, s->left, 1);
    }
    return furthest;
}

/* The best values for the signs that the values have, whatever signs they have themselves, in goal;
 * how many are not zero.  0 also where there is no unique answer. */
static size_t solve_signs(const net *p, const active *set, const scratch *s)
{
    const double lambda = p->options.mixing, gamma = set->gamma;
    const size_t n = set->count;
    size_t m = 0;
    for (size_t j = 0; j < n; j++)
        if (set->values[j] != 0) s->which[m++] = (uint32_t)j;
    for (size_t a = 0; a < m; a++) {
        const double *const gram = s->gram + s->which[a] * n;
        const double value = set->values[s->which[a]];
        for (size_t b = 0; b < m; b++) s->system[a * m + b] = gamma * gram[s->which[b]];
        s->system[a * m + a] += 1 - lambda + gamma * RIDGE;
        /* from where it is: the step is what the slopes ask for */
        s->goal[a] = gamma * s->left[s->which[a]] - (1 - lambda) * value - copysign(lambda, value);
    }
    const int size = (int)m, sides = 1;
    int info = 0;
    if (m > 0) dposv_("L", &size, &sides, s->system, &size, s->goal, &size, &info, 1);
    return info == 0 ? m : 0;
}

/* Goes to the best values for these signs, or to where the first of them comes to 0; true: all the
 * way. */
static bool move(const active *set, const scratch *s, size_t m)
{
    const size_t n = set->count;
    double share = 1;
    size_t first = m;
    for (size_t a = 0; a < m; a++) {
        const double value = set->values[s->which[a]];
        if ((value + share * s->goal[a]) * value > 0) continue;
        share = -value / s->goal[a];
        first = a;
    }
    for (size_t a = 0; a < m; a++) {
        const double old = set->values[s->which[a]], value = old + share * s->goal[a];
        set->values[s->which[a]] = a == first || value * old <= 0 ? 0 : value;
        cblas_daxpy((int)n, old - set->values[s->which[a]], s->gram + s->which[a] * n, 1, s->left,
                    1);
    }
    return first == m;
}

/* The best values over the active set; then only what is not zero stays, and the rest is what it
 * leaves. */
static clo_status reduce(const net *p, size_t point, scratch *s, active *set, double *rest,
                         clo_error *err)
{
    const double enough = p->options.tolerance / 2;
    size_t kept = 0;
    CLO_TRY(make_room(p, s, set->count, err));
    gather(p, point, set, s);
    for (size_t n = 0; n < SWEEPS && sweep(p, set, s, false) > enough; n++) {
        for (size_t quick = 0; quick < QUICK && sweep(p, set, s, true) > enough; quick++) {
        }
        for (size_t m = 1; m > 0;) {
            m = solve_signs(p, set, s);
            if (m > 0 && move(set, s, m)) break;
        }
    }
    memcpy(rest, p->rows + point * p->cols, p->cols * sizeof *rest);
    for (size_t j = 0; j < set->count; j++) {
        if (set->values[j] == 0) continue;
        cblas_daxpy((int)p->cols, -set->values[j], s->atoms + j * p->cols, 1, rest, 1);
        set->columns[kept] = set->columns[j];
        set->values[kept++] = set->values[j];
    }
    set->count = kept;
    return CLO_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static clo_status hand_over(const active *set, size_t row, clo_code_block *block, clo_error *err)
{
    for (size_t i = 1; i < set->count; i++) { /* by insertion: it is short, and nearly in order */
        const uint32_t column = set->columns[i];
        const double value = set->values[i];
        size_t at = i;
        for (; at > 0 && set->columns[at - 1] > column; at--) {
            set->columns[at] = set->columns[at - 1];
            set->values[at] = set->values[at - 1];
        }
        set->columns[at] = column;
        set->values[at] = value;
    }
    return clo_i_code_add(block, row, set->columns, set->values, set->count, err);
}

/* One round of the whole block; how many rows are still under way. */
static clo_status round_of(const net *p, const clo_code_block *block, scratch *s, size_t *open,
                           clo_error *err)
{
    *open = 0;
    clo_i_multiply_transposed(s->rests, block->rows, p->rows, p->count, p->cols, s->slopes);
    for (size_t i = 0; i < block->rows; i++) {
        active *const set = &s->sets[i];
        const size_t point = block->first + i;
        if (set->done) continue;
        CLO_TRY(take_in(p, point, s->slopes + i * p->count, set, err));
        if (set->done) continue;
        CLO_TRY(reduce(p, point, s, set, s->rests + i * p->cols, err));
        ++*open;
    }
    return CLO_OK;
}

static clo_status encode(const void *context, clo_code_block *block, clo_error *err)
{
    const net *const p = context;
    size_t open = 1;
    scratch s;
    clo_status status = scratch_open(p, block, &s, err);
    for (size_t n = 0; !status && open > 0 && n < ROUNDS; n++)
        status = round_of(p, block, &s, &open, err);
    for (size_t i = 0; !status && i < block->rows; i++)
        status = hand_over(&s.sets[i], i, block, err);
    scratch_free(&s);
    return status;
}

clo_status clo_i_ensc_codes(const clo_solver_input *job, const clo_ensc_options *options,
                            clo_codes *out, clo_error *err)
{
    double *rows = NULL;
    CLO_TRY(clo_i_unit_rows(job, &rows, err));
    const net p = { .rows = rows, .count = job->count, .cols = job->cols, .options = *options };
    const clo_status status =
        clo_i_encode(job, clo_i_points_at_once(p.count), encode, &p, out, err);
    clo_i_free(rows);
    return status;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_ensc_options options = { .mixing = values[LAMBDA],
                                       .gamma = values[GAMMA],
                                       .tolerance = values[TOLERANCE] };
    const clo_self_ending ending =
        clo_i_self_ending(values[CLUSTERS], values[DIM], values[FLATS], values[RESTARTS]);
    const clo_solver_input first = clo_i_job_part(job, 0, 0.8);
    clo_codes codes = { .count = 0 };
    CLO_TRY(clo_i_ensc_codes(&first, &options, &codes, err));
    return clo_i_partition_from_codes(job, &codes, &ending, out, err);
}

const clo_solver clo_i_solver_ensc = {
    .name = "ensc",
    .summary = "elastic net subspace clustering with an active set, for many rows",
    .params = params,
    .param_count = PARAM_COUNT,
    .unequal = true,
    .solve = solve,
};
