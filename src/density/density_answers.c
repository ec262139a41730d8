/*
 * density_answers.c - what an answer is about, and what each point adds to it: the features of the
 * points, cut and labelled as those of records are by the query that was asked.
 *
 * A look is two answers: one sum, and the number of points in each shell.  All numbers are kept in
 * deviations of their noise, so that a fit need not know what they are.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SUM = CLO_DENSITY_SUM,
    SHELLS = CLO_DENSITY_SHELLS,
    GRAM = CLO_DENSITY_GRAM,
    CELLS = CLO_DENSITY_CELLS
};

/* ---- room ------------------------------------------------------------------------------------ */

size_t clo_i_density_features(int kind, size_t cols)
{
    return kind == SUM      ? cols
           : kind == SHELLS ? 1
           : kind == GRAM   ? cols * (cols + 1) / 2
                            : cols + 2;
}

clo_status clo_i_density_take_answer(clo_workspace *space, clo_density *density, int kind,
                                     size_t groups, clo_error *err)
{
    clo_density_answer *const a = &density->answers[density->answered++];
    const size_t places = kind == CELLS ? groups : 1;
    assert(density->answered <= CLO_DENSITY_ANSWERS);
    a->kind = kind;
    a->groups = a->most = groups;
    a->stride = (clo_i_density_features(kind, density->cols) + 3) / 4 * 4;
    CLO_TRY(clo_i_take(space, places * density->cols, sizeof(double), &a->places, err));
    CLO_TRY(clo_i_take(space, places, sizeof(double), &a->widths, err));
    CLO_TRY(clo_i_take(space, places, sizeof(double), &a->reaches, err));
    CLO_TRY(clo_i_take(space, groups * a->stride, sizeof(double), &a->told, err));
    CLO_TRY(clo_i_take(space, groups * a->stride, sizeof(double), &a->off, err));
    CLO_TRY(clo_i_take(space, density->count, sizeof *a->labels, &a->labels, err));
    return clo_i_take(space, density->count * a->stride, sizeof *a->features, &a->features, err);
}

void clo_i_density_narrow(clo_density *density, size_t cols)
{
    density->cols = cols;
    for (size_t i = 0; i < CLO_DENSITY_ANSWERS; i++) {
        clo_density_answer *const a = &density->answers[i];
        a->stride = (clo_i_density_features(a->kind, cols) + 3) / 4 * 4;
    }
}

clo_status clo_i_density_take_answers(clo_workspace *space, const clo_density_shape *shape,
                                      clo_density *density, clo_error *err)
{
    for (size_t i = 0; i < shape->looks; i++) {
        CLO_TRY(clo_i_density_take_answer(space, density, SUM, 1, err));
        CLO_TRY(clo_i_density_take_answer(space, density, SHELLS, shape->shells, err));
    }
    for (size_t i = 0; i < shape->grams; i++)
        CLO_TRY(clo_i_density_take_answer(space, density, GRAM, 1, err));
    for (size_t i = 0; i < shape->passes; i++)
        CLO_TRY(clo_i_density_take_answer(space, density, CELLS, shape->cells, err));
    for (size_t i = 0; i < shape->rounds; i++)
        CLO_TRY(clo_i_density_take_answer(space, density, CELLS, shape->clusters, err));
    density->answered = 0;
    return CLO_OK;
}

/* ---- features of a point --------------------------------------------------------------------- */

size_t clo_i_density_nearest(const double *point, const double *places, size_t count, size_t cols,
                             double *square)
{
    size_t best = 0;
    *square = INFINITY;
    for (size_t c = 0; c < count; c++, places += cols) {
        double here = 0;
        for (size_t j = 0; j < cols; j++) here += (point[j] - places[j]) * (point[j] - places[j]);
        if (here < *square) {
            *square = here;
            best = c;
        }
    }
    return best;
}

static void differ(const double *point, const double *place, size_t cols, double scale, double *out)
{
    for (size_t j = 0; j < cols; j++) out[j] = (point[j] - place[j]) * scale;
}

/* Each entry off the diagonal stands for two, and has less noise by as much. */
static void multiply_out(const double *cut, size_t cols, double noise, float *out)
{
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++)
            *out++ = (float)(cut[i] * cut[j] * (i == j ? 1 : sqrt(2)) / noise);
}

/* That of a squared distance up to 2^e, and above half of it, is 2 - e: exact, as for records. */
static uint32_t shell_of(double square, size_t shells)
{
    int exponent = 0;
    const bool power = frexp(fmax(square, 0x1p-60), &exponent) == 0.5;
    return (uint32_t)fmin(fmax(2 - (exponent - power), 0), (double)shells - 1);
}

/* What a point of this length adds to the squares and sizes of a cell. */
static void add_length(const clo_density_answer *a, size_t own, double length, float *out)
{
    const double share = fmin(length / a->reaches[own], 1);
    out[0] = (float)(share * share / a->noise[1]);
    out[1] = (float)(1 / a->noise[2]);
}

static void see_point(const clo_density_answer *a, const double *point, size_t cols,
                      uint32_t *label, float *out)
{
    double square, cut[CLO_DENSITY_COLUMNS];
    const size_t places = a->kind == CELLS ? a->groups : 1;
    const size_t own = clo_i_density_nearest(point, a->places, places, cols, &square);
    const double length = sqrt(square), width = fmax(length, a->widths[own]);
    *label = (uint32_t)own;
    memset(out, 0, a->stride * sizeof *out);
    if (a->kind == SHELLS) {
        *label = shell_of(square, a->groups);
        out[0] = (float)(1 / a->noise[0]);
        return;
    }
    differ(point, a->places + own * cols, cols, 1 / width, cut);
    if (a->kind == GRAM) {
        multiply_out(cut, cols, a->noise[0], out);
        return;
    }
    for (size_t j = 0; j < cols; j++) out[j] = (float)(cut[j] / a->noise[0]);
    if (a->kind == CELLS) add_length(a, own, length, out + cols);
}

void clo_i_density_see_answer(clo_density *density, clo_density_answer *a)
{
    for (size_t i = 0; density->drawn && i < density->count; i++)
        see_point(a, density->points + i * density->cols, density->cols, &a->labels[i],
                  a->features + i * a->stride);
}

void clo_i_density_see(clo_density *density)
{
    for (size_t a = 0; a < density->answered; a++)
        clo_i_density_see_answer(density, &density->answers[a]);
}

/* ---- telling: on the grid, as it was asked --------------------------------------------------- */

static void round_all(const double *from, size_t count, double least, double *to)
{
    for (size_t i = 0; i < count; i++) {
        const double steps = nearbyint(ldexp(from[i], CLO_DENSITY_BITS));
        to[i] = ldexp(fmax(steps, least), -CLO_DENSITY_BITS);
    }
}

/* In whole steps of a share of the noise's deviation: so an answer can be kept as a whole number,
 * and told again.  What is lost is a thousandth of the noise. */
static double in_steps(double value, double noise)
{
    return ldexp(nearbyint(ldexp(value / noise, CLO_DENSITY_TOLD_BITS)), -CLO_DENSITY_TOLD_BITS);
}

static clo_density_answer *next(clo_density *density, int kind, size_t groups)
{
    clo_density_answer *const a = &density->answers[density->answered++];
    assert(a->kind == kind && groups <= a->most);
    (void)kind;
    a->groups = groups;
    memset(a->told, 0, a->most * a->stride * sizeof *a->told);
    return a;
}

static void about(clo_density_answer *a, const double *center, double width, size_t cols,
                  double noise)
{
    round_all(center, cols, -INFINITY, a->places);
    round_all(&width, 1, 1, a->widths);
    a->reaches[0] = a->widths[0];
    a->noise[0] = noise;
}

void clo_i_density_tell_look(clo_density *density, const clo_look_told *told)
{
    const size_t cols = density->cols;
    clo_density_answer *const sum = next(density, SUM, 1);
    about(sum, told->center, told->width, cols, told->noise);
    for (size_t j = 0; j < cols; j++) sum->told[j] = in_steps(told->sum[j], told->noise);
    clo_i_density_see_answer(density, sum);
    clo_density_answer *const shells = next(density, SHELLS, told->shell_count);
    about(shells, told->center, told->width, cols, told->shell_noise);
    for (size_t j = 0; j < told->shell_count; j++)
        shells->told[j * shells->stride] = in_steps(told->shells[j], told->shell_noise);
    clo_i_density_see_answer(density, shells);
}

void clo_i_density_tell_gram(clo_density *density, const clo_gram_told *told)
{
    const size_t cols = density->cols;
    clo_density_answer *const a = next(density, GRAM, 1);
    double *to = a->told;
    about(a, told->center, told->width, cols, told->noise);
    for (size_t i = 0; i < cols; i++)
        for (size_t j = i; j < cols; j++)
            *to++ = in_steps(told->gram[i * cols + j] * (i == j ? 1 : sqrt(2)), told->noise);
    clo_i_density_see_answer(density, a);
}

static clo_density_answer *tell_cells(clo_density *density, const clo_cells_told *told)
{
    const size_t cols = density->cols, k = told->count;
    clo_density_answer *const a = next(density, CELLS, k);
    a->noise[0] = told->noise;
    a->noise[1] = told->square_noise;
    a->noise[2] = told->size_noise;
    round_all(told->places, k * cols, -INFINITY, a->places);
    round_all(told->widths, k, 1, a->widths);
    round_all(told->reaches, k, 1, a->reaches);
    for (size_t c = 0; c < k; c++) {
        double *const to = a->told + c * a->stride;
        for (size_t j = 0; j < cols; j++) to[j] = in_steps(told->sums[c * cols + j], told->noise);
        to[cols] = in_steps(told->squares[c], told->square_noise);
        to[cols + 1] = in_steps(told->sizes[c], told->size_noise);
    }
    return a;
}

void clo_i_density_tell_cells(clo_density *density, const clo_cells_told *told)
{
    clo_i_density_see_answer(density, tell_cells(density, told));
}

void clo_i_density_tell_labelled(clo_density *density, const clo_cells_told *told,
                                 const uint32_t *labels, const double *squares)
{
    clo_density_answer *const a = tell_cells(density, told);
    const size_t cols = density->cols;
    for (size_t i = 0; i < density->count; i++) {
        const size_t own = a->labels[i] = labels[i];
        const double length = sqrt(squares[i]), width = fmax(length, a->widths[own]);
        float *const out = a->features + i * a->stride;
        double cut[CLO_DENSITY_COLUMNS];
        memset(out, 0, a->stride * sizeof *out);
        differ(density->points + i * cols, a->places + own * cols, cols, 1 / width, cut);
        for (size_t j = 0; j < cols; j++) out[j] = (float)(cut[j] / a->noise[0]);
        add_length(a, own, length, out + cols);
    }
}
