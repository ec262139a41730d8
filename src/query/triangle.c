/*
 * triangle.c - noise on symmetric matrices.  The upper triangles are noised, the diagonal with
 * scale s and the rest with ceil(s / sqrt 2): an entry off the diagonal stands for two of the
 * matrix (gaussian_gram.T2).
 */
#include "query/triangle.h"
#include "base/planted.h"
#include "bound/bound.h"

enum { WIDE = 512 };

size_t clo_i_triangle(size_t cols)
{
    return cols * (cols + 1) / 2;
}

/* The least t with 2 t^2 >= s^2. */
static uint64_t off_diagonal_scale(uint64_t scale)
{
    const unsigned __int128 half = ((unsigned __int128)scale * scale + 1) / 2;
    /* The mean of two draws of that scale has a scale that is smaller by sqrt 2 again. */
    if (clo_i_planted(CLO_FAULT_SYMMETRIC_TWICE)) return clo_i_root_up(half / 2);
    return clo_i_root_up(half);
}

enum { ON_DIAGONAL, OFF_DIAGONAL, CLASSES };

static clo_status add_noise(clo_sum *sum, uint8_t *classes, clo_error *err)
{
    const size_t cols = sum->fold.seen;
    const uint64_t scale = sum->line->scale;
    uint8_t *at = classes;
    const clo_noise noise = { .count = sum->fold.entries,
                              .classes = CLASSES,
                              .class_of = classes,
                              .laws = { [ON_DIAGONAL] = clo_i_gaussian_law(scale),
                                        [OFF_DIAGONAL] =
                                            clo_i_gaussian_law(off_diagonal_scale(scale)) } };
    for (size_t c = 0; c < sum->line->groups; c++)
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++) *at++ = i == j ? ON_DIAGONAL : OFF_DIAGONAL;
    return clo_i_answer(sum->context, sum->line, &noise, sum->fold.totals, err);
}

static void unpack(const int64_t *totals, size_t count, size_t cols, double unit, double *matrices)
{
    for (size_t c = 0; c < count; c++) {
        double *const matrix = matrices + c * cols * cols;
        for (size_t i = 0; i < cols; i++)
            for (size_t j = i; j < cols; j++)
                matrix[i * cols + j] = matrix[j * cols + i] = (double)*totals++ / unit;
    }
}

clo_status clo_i_answer_triangles(clo_sum *sum, uint8_t *classes, double unit, double *matrices,
                                  clo_error *err)
{
    const size_t cols = sum->fold.seen, groups = sum->line->groups;
    CLO_TRY(add_noise(sum, classes, err));
    unpack(sum->fold.totals, groups, cols, unit, matrices);
    clo_i_tell_answer(sum->context, sum->line, matrices, groups * cols * cols, unit);
    return CLO_OK;
}

clo_status clo_i_plan_triangles(const clo_domain *domain, uint64_t reach, double mu, uint64_t times,
                                clo_line *line, clo_error *err)
{
    const unsigned __int128 square = (unsigned __int128)reach * reach;
    const uint64_t one = domain->relation == CLO_REPLACE ? clo_i_root_up(2 * square) : reach;
    if (domain->cols > CLO_TRIANGLE_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a Gram matrix takes at most %d columns, not %zu: choose fewer of them",
                          (int)CLO_TRIANGLE_COLS, domain->cols);
    return clo_i_plan_gaussian(one * domain->rows_per_unit, mu, times, line, err);
}

size_t clo_i_triangles_entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)cols, (void)ask;
    return line->groups * clo_i_triangle(line->cols);
}

/* Each entry off the diagonal is told twice. */
clo_numbers clo_i_triangles_numbers(const clo_line *line)
{
    return (clo_numbers){ clo_i_triangles_entries(line, 0, NULL),
                          line->groups * line->cols * line->cols };
}

/* Wide matrices: one accumulator, and the threads inside BLAS; exact either way. */
int clo_i_triangles_threads(const clo_line *line, int threads)
{
    return line->cols >= WIDE ? 1 : threads;
}
