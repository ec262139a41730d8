/*
 * subspace_exact.c - the subspace that more than half of the rows lie in, exactly, or none
 * (singhal2021's Algorithm 1, repaired).
 *
 * For data that are integer or rational by nature: counts, codes, quantised readings.  One query is
 * asked (subspace_exact.T1); "there is none" is a normal answer, at the same price, and not one for
 * rows that all lie in the subspace (subspace_exact.T2).  What is released are fractions: the basis
 * in reduced row echelon form, without any error; and the same subspace as an orthonormal basis in
 * floating point.
 */
#include "mechanism/subspace/subspace_units.h"
#include "mechanism/common/forecast.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "query/gapmax.h"
#include <math.h>

enum { DIM, FLATS, SCALE, SEARCH, GAMMA, REACH, PARAM_COUNT };
enum { LINEAR, AFFINE };

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, CLO_GAPMAX_DIM, 2, NULL,
              "dimension of the subspace; of an affine one at most 2" },
    [FLATS] = { "flats", CLO_PARAM_CHOICE, 0, 1, LINEAR, "linear|affine",
                "linear: through the origin; affine: anywhere" },
    [SCALE] = { "scale", CLO_PARAM_REAL, 1e-9, 1e9, 1, NULL,
                "public factor that makes every value an integer; other values are rounded" },
    [SEARCH] = { "search", CLO_PARAM_REAL, 1e-6, 0.5, 0.01, NULL,
                 "share of delta for searching by random rows" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "0: the records are known to lie in the subspace exactly, as multiples of "
                "1/scale, so that auto may choose this method; -1: not stated" },
    [REACH] = { CLO_SUBSPACE_REACH, NULL,
                CLO_REACH_IS "only for the choice of a method; 0: not stated" },
};

typedef struct exact_plan {
    clo_gapmax how;
} exact_plan;

/* What a run works with. */
typedef struct state {
    int64_t *numerators, *denominators; /* of the answer, dim x cols (and one more where affine) */
    double *rows, *part;                /* the same: the answer in floating point; scratch */
    double *basis;                      /* cols x dim */
    double *point;                      /* cols */
} state;

static size_t cells_of(const clo_gapmax *how, size_t cols)
{
    return how->dim * (cols + how->affine);
}

static clo_status take_state(const clo_gapmax *how, clo_workspace *space, size_t d, state *s,
                             clo_error *err)
{
    const size_t cells = cells_of(how, d), q = how->dim - how->affine;
    CLO_TRY(clo_i_take(space, cells, sizeof *s->numerators, &s->numerators, err));
    CLO_TRY(clo_i_take(space, cells, sizeof *s->denominators, &s->denominators, err));
    CLO_TRY(clo_i_take(space, cells, sizeof *s->rows, &s->rows, err));
    CLO_TRY(clo_i_take(space, cells, sizeof *s->part, &s->part, err));
    CLO_TRY(clo_i_take(space, d * q, sizeof *s->basis, &s->basis, err));
    return clo_i_take(space, d, sizeof *s->point, &s->point, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    exact_plan *const plan = plan_state;
    const bool affine = draft->values[FLATS] == AFFINE;
    state unused;
    clo_line line;
    CLO_TRY(clo_i_check_gamma(draft->values[GAMMA], err));
    if (draft->values[GAMMA] > 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "gamma must be 0 for subspace/exact, not %g; if the records only lie "
                          "near a subspace, choose subspace/approx",
                          draft->values[GAMMA]);
    plan->how = (clo_gapmax){ .dim = (size_t)draft->values[DIM] + affine,
                              .affine = affine,
                              .scale = draft->values[SCALE],
                              .share = draft->values[SEARCH] };
    CLO_TRY(clo_i_plan_gapmax(draft->domain, &plan->how, draft->budget, "subspace of most records",
                              &line, err));
    CLO_TRY(take_state(&plan->how, draft->room, draft->domain->cols, &unused, err));
    return clo_i_draft_add(draft, &line, err);
}

/* A flat {x : (scale x, 1) in the span of the rows} as a basis of its directions and the point of
 * it that is nearest to the origin.  All records end in 1, so that some row does not end in 0. */
static clo_status split_flat(const clo_gapmax *how, const double *rows, size_t d, double *basis,
                             double *point, clo_error *err)
{
    const size_t k = how->dim, width = d + 1, q = k - 1;
    size_t through = k - 1, next = 0;
    while (through > 0 && rows[through * width + d] == 0) through--;
    const double *const base = rows + through * width;
    for (size_t i = 0; i < k; i++) {
        const double share = rows[i * width + d] / base[d];
        if (i == through) continue;
        for (size_t j = 0; j < d; j++) basis[j * q + next] = rows[i * width + j] - share * base[j];
        next++;
    }
    CLO_TRY(clo_i_orthonormalize(basis, d, q, err));
    for (size_t j = 0; j < d; j++) point[j] = base[j] / (base[d] * how->scale);
    for (size_t e = 0; e < q; e++) {
        double along = 0;
        for (size_t j = 0; j < d; j++) along += basis[j * q + e] * point[j];
        for (size_t j = 0; j < d; j++) point[j] -= along * basis[j * q + e];
    }
    return CLO_OK;
}

static clo_status put_basis(const clo_gapmax *how, size_t d, const state *s, clo_release *out,
                            clo_error *err)
{
    const size_t q = how->dim - how->affine;
    if (how->affine) {
        CLO_TRY(split_flat(how, s->rows, d, s->basis, s->point, err));
        CLO_TRY(clo_i_release_put(out, "center", s->point, 1, (size_t[]){ d }, err));
    } else {
        for (size_t i = 0; i < q; i++)
            for (size_t j = 0; j < d; j++) s->basis[j * q + i] = s->rows[i * d + j];
        CLO_TRY(clo_i_orthonormalize(s->basis, d, q, err));
    }
    return clo_i_release_put(out, "basis", s->basis, 2, (size_t[]){ d, q }, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const clo_gapmax *const how = &((const exact_plan *)plan_state)->how;
    const size_t d = domain->cols, cells = cells_of(how, d);
    const size_t shape[] = { how->dim, d + how->affine };
    bool found = false;
    state s;
    CLO_TRY(take_state(how, context->workspace, d, &s, err));
    CLO_TRY(clo_i_ask_gapmax(context, 0, data, how, &found, s.numerators, s.denominators, err));
    CLO_TRY(clo_i_release_put(out, "found", &(double){ found }, 1, (size_t[]){ 1 }, err));
    if (!found) return CLO_OK;
    for (size_t i = 0; i < cells; i++)
        s.rows[i] = (double)s.numerators[i] / (double)s.denominators[i];
    CLO_TRY(put_basis(how, d, &s, out, err));
    for (size_t i = 0; i < cells; i++) s.part[i] = (double)s.numerators[i];
    CLO_TRY(clo_i_release_put(out, "numerators", s.part, 2, shape, err));
    for (size_t i = 0; i < cells; i++) s.part[i] = (double)s.denominators[i];
    return clo_i_release_put(out, "denominators", s.part, 2, shape, err);
}

/* P[T > least] for the noise T of gapmax.T2, whose rate is r and whose bound is a. */
static double chance_above(double r, double a, double least)
{
    const double step = -expm1(-r), side = exp(-r) * -expm1(-r * a) / step; /* P[T > 0], unscaled */
    const double from = fmin(fmax(fabs(least) - (least < 0), 0), a);
    const double tail = exp(-r * (from + 1)) * -expm1(-r * (a - from)) / step;
    const double share = tail / (1 + 2 * side);
    return least < 0 ? 1 - share : share;
}

/* Rows in general position are ahead by rows - k (subspace_exact.T2); they are told without an
 * error or, where the noise is against it or the search misses it, not at all, which counts as all
 * there is to lose.  A lattice of less than two steps from end to end holds hardly a record that is
 * not on an axis. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const clo_gapmax *const how = &((const exact_plan *)plan_state)->how;
    const double a = (double)lines[0].scale, q = (double)(how->dim - how->affine);
    const double rate = (double)lines[0].rate_numerator / (double)lines[0].rate_denominator;
    const double all = sqrt(fmin(q, (double)domain->cols - q));
    const double lead = fmin(floor(rows) - (double)how->dim, 2 * a + 1);
    if (lead <= 0 || (!domain->lower && domain->norm * how->scale < 2)) return all;
    return all * fmin(1 - chance_above(rate, a, a - lead) + clo_i_gapmax_fields(&lines[0]).beta, 1);
}

/* That the records are on a lattice, and most of them in one subspace to the last digit. */
static bool presumes(const double *values)
{
    return values[GAMMA] != 0;
}

extern const clo_mechanism clo_i_mechanism_subspace_exact;
const clo_mechanism clo_i_mechanism_subspace_exact = {
    .family = "subspace",
    .method = "exact",
    .summary = "the subspace that most rows lie in exactly, or none; only for integers and "
               "fractions",
    .proof = "proofs/subspace_exact.md",
    .guarantee = CLO_EXACT,
    .is_research = true,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(exact_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace, for rows "
                  "that lie in it exactly and in general position; that none is found counts as a "
                  "right angle",
    .hidden_from = clo_i_frames_hidden_from,
    .presumes = presumes,
};
