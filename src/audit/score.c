/*
 * score.c - from an answer to one number that tells two worlds apart.
 *
 * Numbers: the linear discriminant, with the full covariance of the answer and, beside each number,
 * whether it is exactly zero or none.  It is the matched filter where the noise is Gaussian; and it
 * finds what it is not told of: a number without noise, noise that was used twice, noise that was
 * left out. A choice: the logarithm of how much oftener it was seen in one world than in the other.
 *
 * Whatever is learnt, the bound that follows is valid (audit.T2): learning and counting use other
 * runs.
 */
#include "audit/audit_internal.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum { CATEGORIES = 4096, BATCH = 256 };
static const double RIDGE = 1e-7;

struct clo_i_score {
    size_t outputs, features;
    bool categorical;
    double *seen; /* categorical: 2 x CATEGORIES */
    double count[2];
    double *sums;     /* 2 x features */
    double *products; /* features x features, of both worlds, about `origin` */
    double *origin;   /* the first answer: keeps the products accurate */
    double *batch;    /* BATCH x features */
    double *weights;  /* features, or CATEGORIES */
};

clo_status clo_i_score_new(size_t outputs, bool categorical, clo_i_score **out, clo_error *err)
{
    clo_i_score *s = NULL;
    clo_status status;
    CLO_TRY(clo_i_alloc(1, sizeof *s, &s, err));
    s->outputs = outputs;
    s->categorical = categorical;
    s->features = 2 * outputs;
    const size_t p = s->features, weights = categorical ? CATEGORIES : p;
    if ((status = clo_i_alloc(categorical ? 2 * CATEGORIES : 1, sizeof(double), &s->seen, err)) ||
        (status = clo_i_alloc(2 * p, sizeof(double), &s->sums, err)) ||
        (status = clo_i_alloc(p * p, sizeof(double), &s->products, err)) ||
        (status = clo_i_alloc(p, sizeof(double), &s->origin, err)) ||
        (status = clo_i_alloc(BATCH * p, sizeof(double), &s->batch, err)) ||
        (status = clo_i_alloc(weights, sizeof(double), &s->weights, err))) {
        clo_i_score_free(s);
        return status;
    }
    *out = s;
    return CLO_OK;
}

void clo_i_score_free(clo_i_score *score)
{
    if (!score) return;
    double *const parts[] = { score->seen,   score->sums,  score->products,
                              score->origin, score->batch, score->weights };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) clo_i_free(parts[i]);
    clo_i_free(score);
}

static size_t category(double answer)
{
    return answer >= 0 && answer < CATEGORIES ? (size_t)answer : CATEGORIES - 1;
}

/* What is special about a number: exactly zero, or none. */
static double mark_of(double answer)
{
    return !isfinite(answer) ? -1 : answer == 0 ? 1 : 0;
}

static void features_of(const clo_i_score *s, const double *answer, double *out)
{
    for (size_t i = 0; i < s->outputs; i++) {
        out[i] = isfinite(answer[i]) ? answer[i] : 0;
        out[s->outputs + i] = mark_of(answer[i]);
    }
}

static void learn_numbers(clo_i_score *s, int world, const double *answers, size_t count)
{
    const size_t p = s->features;
    for (size_t first = 0; first < count; first += BATCH) {
        const size_t rows = count - first < BATCH ? count - first : BATCH;
        for (size_t i = 0; i < rows; i++) {
            double *const row = s->batch + i * p;
            features_of(s, answers + (first + i) * s->outputs, row);
            if (s->count[0] + s->count[1] == 0) memcpy(s->origin, row, p * sizeof *row);
            for (size_t j = 0; j < p; j++) {
                row[j] -= s->origin[j];
                s->sums[(size_t)world * p + j] += row[j];
            }
            s->count[world]++;
        }
        const int before = clo_i_blas_serial_begin();
        clo_i_gram_add(s->batch, rows, p, s->products);
        clo_i_blas_serial_end(before);
    }
}

void clo_i_score_learn(clo_i_score *score, int world, const double *answers, size_t count)
{
    if (!score->categorical) {
        learn_numbers(score, world, answers, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        score->seen[(size_t)world * CATEGORIES + category(answers[i * score->outputs])]++;
}

/* The covariance within the worlds, upper triangle, in place of the products. */
static void center(clo_i_score *s)
{
    const size_t p = s->features;
    const double all = s->count[0] + s->count[1];
    for (size_t i = 0; i < p; i++)
        for (size_t j = i; j < p; j++) {
            double value = s->products[i * p + j];
            for (size_t w = 0; w < 2; w++)
                value -= s->sums[w * p + i] * s->sums[w * p + j] / s->count[w];
            s->products[i * p + j] = value / all;
        }
}

static clo_status settle_numbers(clo_i_score *s, clo_error *err)
{
    const size_t p = s->features;
    double *const scale = s->batch, *const matrix = s->products; /* both are done with learning */
    center(s);
    for (size_t j = 0; j < p; j++) {
        const double shift = s->sums[j] / s->count[0] - s->sums[p + j] / s->count[1];
        const double spread = sqrt(fmax(matrix[j * p + j], 0));
        /* Without noise, any shift tells the worlds apart; without shift too, it says nothing. */
        scale[j] = spread > 1e-9 * fabs(shift) ? spread : fabs(shift) * 1e-6;
        s->weights[j] = scale[j] > 0 ? shift / scale[j] : 0;
    }
    for (size_t i = 0; i < p; i++)
        for (size_t j = i; j < p; j++) {
            const double both = scale[i] * scale[j];
            double value = both > 0 ? matrix[i * p + j] / both : 0;
            if (i == j) value = fmax(value, both > 0 ? 0 : 1) + RIDGE;
            matrix[i * p + j] = matrix[j * p + i] = value;
        }
    CLO_TRY(clo_i_solve_positive(matrix, p, s->weights, err));
    for (size_t j = 0; j < p; j++) s->weights[j] = scale[j] > 0 ? s->weights[j] / scale[j] : 0;
    return CLO_OK;
}

clo_status clo_i_score_settle(clo_i_score *score, clo_error *err)
{
    if (!score->categorical) return settle_numbers(score, err);
    for (size_t i = 0; i < CATEGORIES; i++)
        score->weights[i] = log((score->seen[i] + 0.5) / (score->seen[CATEGORIES + i] + 0.5));
    return CLO_OK;
}

double clo_i_score_of(const clo_i_score *score, const double *answer)
{
    double total = 0;
    if (score->categorical) return score->weights[category(answer[0])];
    for (size_t i = 0; i < score->outputs; i++) {
        const double x = isfinite(answer[i]) ? answer[i] : 0;
        total += score->weights[i] * (x - score->origin[i]);
        total += score->weights[score->outputs + i] *
                 (mark_of(answer[i]) - score->origin[score->outputs + i]);
    }
    return total;
}
