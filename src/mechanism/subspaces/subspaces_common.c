/*
 * subspaces_common.c - fits of k subspaces: a public start, and rounds of k-planes on noisy Gram
 * matrices (subspaces_sulq.T1).
 *
 * A round asks one query; what it makes of the answer is post-processing, and free.  So a round
 * does not forget what the ones before were told: the noisy matrices are averaged, each by its
 * precision, older ones discounted, for their clusters were others.  A cluster without records has
 * a matrix of noise alone, whose top eigenvectors are a new random start: nothing branches on it.
 *
 * Affine subspaces: through a lens that shows (x, h)/sqrt(1 + h^2) of a record x, one Gram matrix
 * holds the number of records, their sum and their second moments at once, at the same price.
 */
#include "mechanism/subspaces/subspaces_common.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "mechanism/common/split_moments.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"
#include "ask/lens.h"
#include <math.h>
#include <string.h>

static const double HEIGHT = 0.7;       /* of the constant that an affine round appends */
static const double START_RADIUS = 0.5; /* of the points that affine flats start from */

/* ---- a fit's memory ------------------------------------------------------------------------- */

static size_t width_of(size_t cols, bool affine)
{
    return cols + affine;
}

/* Of what a query shows of a record: cols, and a constant where affine. */
static size_t fit_width(const clo_flat_fit *fit)
{
    return width_of(fit->cols, fit->affine);
}

clo_status clo_i_flat_fit_take(clo_workspace *workspace, size_t clusters, size_t cols, size_t dim,
                               bool affine, clo_flat_fit *out, clo_error *err)
{
    const size_t width = width_of(cols, affine);
    clo_flat_fit fit = { .clusters = clusters, .cols = cols, .dim = dim, .affine = affine };
    CLO_TRY(clo_i_take(workspace, clusters * cols * dim, sizeof(double), &fit.bases, err));
    CLO_TRY(clo_i_take(workspace, clusters * cols, sizeof(double), &fit.points, err));
    CLO_TRY(clo_i_take(workspace, clusters * dim, sizeof(double), &fit.energies, err));
    CLO_TRY(clo_i_take(workspace, clusters, sizeof(double), &fit.residuals, err));
    CLO_TRY(clo_i_take(workspace, clusters, sizeof(double), &fit.weights, err));
    CLO_TRY(clo_i_take(workspace, clusters * width * width, sizeof(double), &fit.moments, err));
    *out = fit;
    return CLO_OK;
}

/* ---- a public start -------------------------------------------------------------------------- */

static void draw_points(clo_stream *stream, const clo_flat_fit *fit)
{
    const size_t d = fit->cols;
    for (size_t c = 0; c < fit->clusters; c++) {
        double square = 0, *const point = fit->points + c * d;
        for (size_t j = 0; j < d; j++) {
            point[j] = clo_i_random_normal(stream);
            square += point[j] * point[j];
        }
        const double length = START_RADIUS * clo_i_random_unit(stream) / sqrt(fmax(square, 1e-300));
        for (size_t j = 0; j < d; j++) point[j] *= length;
    }
}

clo_status clo_i_subspaces_start(clo_context *context, clo_flat_fit *fit, clo_error *err)
{
    const size_t k = fit->clusters, d = fit->cols, q = fit->dim;
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t i = 0; i < k * d * q; i++) fit->bases[i] = clo_i_random_normal(stream);
    if (fit->affine) draw_points(stream, fit);
    clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    for (size_t c = 0; c < k && !status; c++)
        status = clo_i_orthonormalize(fit->bases + c * d * q, d, q, err);
    fit->trust = 0;
    return status;
}

/* ---- a round --------------------------------------------------------------------------------- */

clo_status clo_i_subspaces_plan_round(const clo_domain *domain, size_t clusters, size_t frame,
                                      bool affine, double mu, uint64_t times, const char *label,
                                      clo_line *out, clo_error *err)
{
    const bool lens = affine || frame;
    const size_t cols = (frame ? frame : domain->cols) + affine;
    const clo_domain seen = lens ? clo_i_lens_domain(domain, cols) : *domain;
    clo_line line;
    CLO_TRY(clo_i_plan_gaussian_gram(&seen, clusters, mu, times, label, &line, err));
    line.lens = lens;
    if (affine) clo_i_lens_state_noise(&line, HEIGHT, 2);
    *out = line;
    return CLO_OK;
}

clo_status clo_i_subspaces_rule(clo_workspace *workspace, const clo_flat_fit *fit, int bits,
                                clo_assign *out, clo_error *err)
{
    const size_t k = fit->clusters, d = fit->cols, q = fit->dim;
    if (!fit->affine) return clo_i_assign_subspaces(workspace, fit->bases, k, d, q, bits, out, err);
    return clo_i_assign_flats(workspace, fit->bases, fit->points, k, d, q, bits, out, err);
}

clo_status clo_i_subspaces_rule_room(clo_workspace *space, const clo_flat_fit *fit, clo_error *err)
{
    return clo_i_assign_room(space, fit->affine ? CLO_ASSIGN_FLATS : CLO_ASSIGN_SUBSPACES,
                             fit->clusters, fit->cols, fit->dim, err);
}

/* Flats with the constant beside them, as the lens shows it. */
static clo_status take_raised(clo_workspace *space, const clo_flat_fit *fit, double **bases,
                              double **points, clo_error *err)
{
    const size_t cells = fit->clusters * (fit->cols + 1);
    CLO_TRY(clo_i_take(space, cells * fit->dim, sizeof **bases, bases, err));
    return clo_i_take(space, cells, sizeof **points, points, err);
}

/* The rule for what the lens shows: the flats shrink with the records, and the constant plays no
 * part. */
static clo_status rule_behind_lens(clo_workspace *workspace, const clo_flat_fit *fit,
                                   const clo_lens *lens, int bits, clo_assign *out, clo_error *err)
{
    const size_t k = fit->clusters, d = fit->cols, q = fit->dim, width = d + 1;
    double *bases = NULL, *points = NULL;
    CLO_TRY(take_raised(workspace, fit, &bases, &points, err));
    for (size_t c = 0; c < k; c++) {
        memcpy(bases + c * width * q, fit->bases + c * d * q, d * q * sizeof *bases);
        for (size_t j = 0; j < d; j++) points[c * width + j] = fit->points[c * d + j] * lens->scale;
    }
    return clo_i_assign_flats(workspace, bases, points, k, width, q, bits, out, err);
}

static void average_in(const double *fresh, double precision, double memory, clo_flat_fit *fit)
{
    const size_t width = fit_width(fit), count = fit->clusters * width * width;
    fit->trust = memory * fit->trust + precision;
    const double step = precision / fit->trust;
    for (size_t i = 0; i < count; i++) fit->moments[i] += step * (fresh[i] - fit->moments[i]);
}

static clo_status take_scatter(clo_workspace *space, const clo_flat_fit *fit, double **scatter,
                               double **scratch, clo_error *err)
{
    const size_t d = fit->cols;
    CLO_TRY(clo_i_take(space, d * d, sizeof **scatter, scatter, err));
    return clo_i_take(space, clo_i_eigen_scratch(d, fit->dim), sizeof **scratch, scratch, err);
}

/* Lets the fit follow its moments. */
static clo_status follow(clo_workspace *workspace, const clo_lens *lens, clo_flat_fit *fit,
                         clo_error *err)
{
    const size_t d = fit->cols, q = fit->dim, width = fit_width(fit);
    const double noise = 1 / sqrt(fit->trust);
    double *scatter = NULL, *scratch = NULL;
    CLO_TRY(take_scatter(workspace, fit, &scatter, &scratch, err));
    for (size_t c = 0; c < fit->clusters; c++) {
        const double *const moments = fit->moments + c * width * width;
        double *const energies = fit->energies + c * q;
        double trace = 0, count = 0;
        if (fit->affine)
            count = clo_i_split_moments(moments, lens, noise, d, fit->points + c * d, scatter);
        for (size_t i = 0; !fit->affine && i < d * d; i++)
            scatter[i] = lens ? moments[i] / (lens->scale * lens->scale) : moments[i];
        for (size_t j = 0; j < d; j++) trace += scatter[j * d + j];
        CLO_TRY(clo_i_eigen_top(scatter, d, q, energies, fit->bases + c * d * q, scratch, err));
        fit->residuals[c] = trace;
        for (size_t i = 0; i < q; i++) fit->residuals[c] -= energies[i];
        fit->weights[c] = fit->affine ? count : trace;
    }
    return CLO_OK;
}

/* The answer of a round. */
static clo_status take_fresh(clo_workspace *space, const clo_flat_fit *fit, double **fresh,
                             clo_error *err)
{
    const size_t width = fit_width(fit);
    return clo_i_take(space, fit->clusters * width * width, sizeof **fresh, fresh, err);
}

clo_status clo_i_subspaces_round_room(clo_workspace *space, const clo_flat_fit *fit, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space), k = fit->clusters;
    double *fresh, *bases, *points, *scatter, *scratch;
    CLO_TRY(take_fresh(space, fit, &fresh, err));
    if (fit->whole)
        CLO_TRY(clo_i_lens_room(space, fit->whole, fit->cols, fit->affine ? HEIGHT : 0, err));
    if (fit->affine) {
        CLO_TRY(take_raised(space, fit, &bases, &points, err));
        CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_FLATS, k, fit->cols + 1, fit->dim, err));
    } else {
        CLO_TRY(clo_i_subspaces_rule_room(space, fit, err));
    }
    CLO_TRY(take_scatter(space, fit, &scatter, &scratch, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_subspaces_round(clo_context *context, size_t number, const clo_bounded *data,
                                 double memory, clo_flat_fit *fit, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const double deviation = ldexp((double)line->scale, -2 * line->bits);
    clo_workspace *const space = context->workspace;
    const size_t mark = clo_i_workspace_mark(space);
    const bool through = fit->affine || fit->frame;
    double *fresh = NULL;
    clo_lens lens;
    clo_assign rule;
    clo_status status = take_fresh(space, fit, &fresh, err);
    if (!status && through)
        status = clo_i_lens_make(space, fit->frame, fit->frame ? fit->whole : fit->cols,
                                 fit->frame ? fit->cols : 0, fit->affine ? HEIGHT : 0, &lens, err);
    if (!status)
        status = fit->affine ? rule_behind_lens(space, fit, &lens, line->bits, &rule, err)
                             : clo_i_subspaces_rule(space, fit, line->bits, &rule, err);
    if (!status) {
        context->lens = through ? &lens : NULL;
        status = clo_i_ask_gaussian_gram(context, number, data, &rule, fresh, err);
        context->lens = NULL;
    }
    if (!status) {
        average_in(fresh, 1 / (deviation * deviation), memory, fit);
        status = follow(space, through ? &lens : NULL, fit, err);
    }
    clo_i_workspace_release(space, mark);
    return status;
}

/* ---- from a frame to all columns ------------------------------------------------------------- */

/* whole = frame times seen, a matrix of `count` columns. */
static void unfold(const clo_flat_fit *fit, const double *seen, size_t count, double *whole)
{
    for (size_t j = 0; j < fit->whole; j++)
        for (size_t e = 0; e < count; e++) {
            double sum = 0;
            for (size_t i = 0; i < fit->cols; i++)
                sum += fit->frame[j * fit->cols + i] * seen[i * count + e];
            whole[j * count + e] = sum;
        }
}

static clo_status take_whole(clo_workspace *space, clo_flat_fit *fit, clo_error *err)
{
    const size_t cells = fit->clusters * fit->whole;
    CLO_TRY(clo_i_take(space, cells * fit->dim, sizeof *fit->bases, &fit->bases, err));
    return clo_i_take(space, cells, sizeof *fit->points, &fit->points, err);
}

clo_status clo_i_subspaces_unfold_room(clo_workspace *space, const clo_flat_fit *seen,
                                       clo_error *err)
{
    clo_flat_fit whole = *seen;
    return take_whole(space, &whole, err);
}

clo_status clo_i_subspaces_unfold(clo_workspace *workspace, const clo_flat_fit *seen,
                                  clo_flat_fit *out, clo_error *err)
{
    const size_t k = seen->clusters, q = seen->dim, d = seen->whole;
    clo_flat_fit fit = *seen;
    CLO_TRY(take_whole(workspace, &fit, err));
    for (size_t c = 0; c < k; c++) {
        unfold(seen, seen->bases + c * seen->cols * q, q, fit.bases + c * d * q);
        unfold(seen, seen->points + c * seen->cols, 1, fit.points + c * d);
    }
    fit.cols = d;
    fit.frame = NULL;
    *out = fit;
    return CLO_OK;
}
