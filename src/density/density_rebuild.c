/*
 * density_rebuild.c - a density made again from the answers that a release holds, and from nothing
 * else: the same steps as in a run, without its questions.
 *
 * The first points are drawn from the finest answer about cells, or, where a Gram matrix was asked
 * for because there were few records, from a normal law of that matrix, and follow each pass over
 * cells.  Then one fit to all answers.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include <math.h>
#include <string.h>

enum { POINTS = 6000, POINTS_A_CELL = 8, STEPS = 24 };
static const double STRENGTH = 3;   /* of the fit, a cell and a row */
static const double ROWS_OFF = 0.1; /* a public number of rows may be off by so much */
/* As in a run: density_steps.c says why. */
static const double MISFIT = 2;
enum { MOST_MOVES = 2 };

/* ---- which answers --------------------------------------------------------------------------- */

static int kind_of(const clo_density_kept *kept)
{
    return clo_i_density_kind(kept->kind);
}

/* The last of those about cells with the most groups; count: there is none. */
static size_t find_finest(const clo_density_kept *kept, size_t count)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++)
        if (kind_of(&kept[i]) == CLO_DENSITY_CELLS &&
            (best == count || kept[i].groups >= kept[best].groups))
            best = i;
    return best;
}

static size_t find_gram(const clo_density_kept *kept, size_t count)
{
    size_t at = 0;
    while (at < count && kind_of(&kept[at]) != CLO_DENSITY_GRAM) at++;
    return at;
}

/* The number of records: each answer about all of them adds up to it, up to its noise. */
static double count_rows(const clo_density_kept *kept, size_t count, size_t cols, double known)
{
    double precision = known > 0 ? 1 / (ROWS_OFF * known * ROWS_OFF * known) : 0;
    double sum = known * precision;
    for (size_t i = 0; i < count; i++) {
        const int kind = kind_of(&kept[i]);
        const bool cells = kind == CLO_DENSITY_CELLS;
        if (!cells && kind != CLO_DENSITY_SHELLS) continue;
        const size_t each = clo_i_density_features(kind, cols), last = each - 1;
        const double noise = kept[i].noise[cells ? 2 : 0];
        const double weight = 1 / ((double)kept[i].groups * noise * noise);
        double rows = 0;
        for (size_t c = 0; c < kept[i].groups; c++)
            rows += ldexp((double)kept[i].answered[c * each + last], -CLO_DENSITY_TOLD_BITS);
        sum += weight * noise * rows;
        precision += weight;
    }
    return precision > 0 ? fmax(sum / precision, 1) : 1;
}

/* ---- points of cells ------------------------------------------------------------------------- */

static const double WEAK = 1.5;        /* deviations of a size that may be noise */
static const double LEAST_SHARE = 0.1; /* of the pooled variance that a cell has at least */
static const double WIDE = 0.15;

typedef struct reading {
    double *means;                               /* cells x cols */
    double *sizes, *shares, *variances, *doubts; /* cells */
    double *matrix, *root;                       /* cols x cols */
    double noise;                                /* in a mean's coordinate, on average */
} reading;

static clo_status take_reading(clo_workspace *space, size_t cells, size_t cols, reading *r,
                               clo_error *err)
{
    double **const narrow[] = { &r->sizes, &r->shares, &r->variances, &r->doubts };
    CLO_TRY(clo_i_take(space, cells * cols, sizeof(double), &r->means, err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, cells, sizeof(double), narrow[i], err));
    CLO_TRY(clo_i_take(space, cols * cols, sizeof(double), &r->matrix, err));
    return clo_i_take(space, cols * cols, sizeof(double), &r->root, err);
}

/* Means, and how many records each cell has: those of no more than noise have none, unless all are
 * such. */
static void read_means(const clo_density_answer *a, size_t cols, reading *r)
{
    const double weak = WEAK * a->noise[2];
    double total = 0;
    bool any = false;
    r->noise = 0;
    for (size_t c = 0; c < a->groups; c++) {
        r->sizes[c] = a->told[c * a->stride + cols + 1] * a->noise[2];
        any = any || r->sizes[c] > weak;
    }
    for (size_t c = 0; c < a->groups; c++) {
        const double counted = fmax(r->sizes[c], weak),
                     scale = a->widths[c] * a->noise[0] / counted;
        for (size_t j = 0; j < cols; j++)
            r->means[c * cols + j] = a->places[c * cols + j] + scale * a->told[c * a->stride + j];
        r->shares[c] = !any || r->sizes[c] > weak ? counted : 0;
        r->noise += r->shares[c] * scale * scale;
        total += r->shares[c];
    }
    r->noise /= total;
}

/* The mean squared distance of a cell's records to its mean, less what noise adds. */
static double variance_of(const clo_density_answer *a, size_t cols, const reading *r, size_t c)
{
    const double n = fmax(r->sizes[c], WEAK * a->noise[2]);
    const double reach = a->reaches[c] * a->reaches[c], width = a->widths[c] * a->noise[0] / n;
    double square = -(double)cols;
    for (size_t j = 0; j < cols; j++)
        square += a->told[c * a->stride + j] * a->told[c * a->stride + j];
    return reach * a->told[c * a->stride + cols] * a->noise[1] / n - width * width * square;
}

/* Each shrunk to the pooled one as far as its known noise asks. */
static void read_variances(const clo_density_answer *a, size_t cols, double least, reading *r)
{
    double pooled = 0, doubt = 0, apart = 0, total = 0;
    for (size_t c = 0; c < a->groups; c++) {
        const double weight = fmax(r->sizes[c], 1), reach = a->reaches[c] * a->reaches[c];
        const double noise = reach * a->noise[1] / fmax(r->sizes[c], WEAK * a->noise[2]);
        r->variances[c] = variance_of(a, cols, r, c);
        r->doubts[c] = noise * noise;
        pooled += weight * r->variances[c];
        doubt += weight * weight * r->doubts[c];
        total += weight;
    }
    pooled = fmax(fmax(pooled, sqrt(doubt)) / total, least);
    for (size_t c = 0; c < a->groups; c++) {
        const double off = r->variances[c] - pooled;
        apart += fmax(r->sizes[c], 1) * (off * off - r->doubts[c]);
    }
    apart = fmax(apart / total, 0);
    for (size_t c = 0; c < a->groups; c++) {
        const double trust = apart / (apart + r->doubts[c] + 1e-300);
        const double own = pooled + trust * (r->variances[c] - pooled);
        r->variances[c] = sqrt(fmax(own, LEAST_SHARE * pooled)); /* from here on a deviation */
    }
}

/* The width of the last look; 0: there was none. */
static double radius_of_looks(const clo_density *density)
{
    double width = 0;
    for (size_t a = 0; a < density->answered; a++)
        if (density->answers[a].kind == CLO_DENSITY_SUM) width = density->answers[a].widths[0];
    return width;
}

static clo_status draw_cells(clo_density *density, clo_workspace *space, clo_stream *stream,
                             double rows, clo_error *err)
{
    const clo_density_answer *const a = &density->answers[density->answered - 1];
    const size_t cols = density->cols, mark = clo_i_workspace_mark(space);
    const double radius = radius_of_looks(density);
    reading r;
    CLO_TRY(take_reading(space, a->groups, cols, &r, err));
    read_means(a, cols, &r);
    read_variances(a, cols, 1e-4 * radius * radius, &r);
    clo_i_density_covariance(r.means, r.shares, a->groups, cols, r.matrix);
    CLO_TRY(clo_i_density_root(space, r.matrix, cols, clo_i_density_shape_of_cells, &r.noise,
                               r.root, err));
    clo_i_density_draw(density, stream,
                       &(clo_density_cells){ .count = a->groups,
                                             .places = r.means,
                                             .shares = r.shares,
                                             .deviations = r.variances,
                                             .root = r.root,
                                             .wide = WIDE },
                       rows);
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* ---- points of a Gram matrix ----------------------------------------------------------------- */

static const double GRAM_WIDTH = 1.5, TAIL = 0.3;
static const double LEAST_TRACE = 0.2;

static clo_status draw_normal(clo_density *density, clo_workspace *space, clo_stream *stream,
                              double rows, clo_error *err)
{
    const clo_density_answer *const a = &density->answers[density->answered - 1];
    const size_t cols = density->cols, mark = clo_i_workspace_mark(space);
    const double radius = a->widths[0] / GRAM_WIDTH, scale = a->widths[0] * a->widths[0] / rows;
    const double *told = a->told;
    clo_density_edge e = { a->noise[0] * sqrt(2 * (double)cols) * scale,
                           LEAST_TRACE * radius * radius };
    double *matrix, *root;
    CLO_TRY(clo_i_take(space, cols * cols, sizeof(double), &matrix, err));
    CLO_TRY(clo_i_take(space, cols * cols, sizeof(double), &root, err));
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++)
            matrix[i * cols + j] = matrix[j * cols + i] =
                *told++ * a->noise[0] * scale / (i == j ? 1 : sqrt(2));
    CLO_TRY(clo_i_density_root(space, matrix, cols, clo_i_density_shape_of_gram, &e, root, err));
    clo_i_density_draw_normal(density, stream, a->places, root, TAIL, false, rows);
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* ---- all answers ----------------------------------------------------------------------------- */

static clo_status take_all(clo_workspace *space, const clo_density_kept *kept, size_t count,
                           size_t cols, clo_density *density, clo_error *err)
{
    const size_t least = POINTS_A_CELL * kept[find_finest(kept, count)].groups;
    CLO_TRY(clo_i_density_take_points(space, least > POINTS ? least : POINTS, cols, density, err));
    for (size_t i = 0; i < count; i++)
        CLO_TRY(clo_i_density_take_answer(space, density, kind_of(&kept[i]), kept[i].groups, err));
    density->answered = 0;
    return CLO_OK;
}

/* Told one answer about cells: points follow a pass, and a round that no weights explain. */
static clo_status hear(clo_density *density, clo_workspace *space, clo_stream *stream,
                       const clo_density_kept *kept, bool pass, double rows, clo_error *err)
{
    int moves = pass ? MOST_MOVES : 0;
    clo_i_density_retell(density, kept);
    if (pass) CLO_TRY(clo_i_density_follow(density, space, stream, rows, err));
    clo_i_density_fit(density, STEPS);
    for (; moves < MOST_MOVES && clo_i_density_misfit(density) > MISFIT; moves++) {
        CLO_TRY(clo_i_density_follow(density, space, stream, rows, err));
        clo_i_density_fit(density, STEPS);
    }
    return CLO_OK;
}

static clo_status rebuild(clo_density *density, clo_workspace *space, clo_stream *stream,
                          const clo_density_kept *kept, size_t count, double rows, clo_error *err)
{
    const size_t finest = find_finest(kept, count), gram = find_gram(kept, count);
    const bool normal = gram < finest;
    const size_t first = normal ? gram : finest;
    density->strength = STRENGTH * (double)kept[finest].groups / rows;
    for (size_t i = 0; i <= first; i++) clo_i_density_retell(density, &kept[i]);
    CLO_TRY((normal ? draw_normal : draw_cells)(density, space, stream, rows, err));
    clo_i_density_fit(density, 2 * STEPS);
    for (size_t i = first + 1; i < count; i++)
        CLO_TRY(hear(density, space, stream, &kept[i], normal && i <= finest, rows, err));
    clo_i_density_fit(density, 2 * STEPS);
    return CLO_OK;
}

clo_status clo_i_density_rebuild(clo_workspace *space, clo_rng *rng, const clo_density_kept *kept,
                                 size_t count, size_t cols, double rows, clo_density *out,
                                 clo_error *err)
{
    clo_stream *stream = NULL;
    if (count < 1 || count > CLO_DENSITY_ANSWERS || find_finest(kept, count) == count)
        return clo_i_fail(err, CLO_FORMAT, "its answers are about no cells");
    CLO_TRY(take_all(space, kept, count, cols, out, err));
    CLO_TRY(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, err));
    clo_status status =
        rebuild(out, space, stream, kept, count, count_rows(kept, count, cols, rows), err);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}
