/*
 * noisy_form.h - one way to ask a query so that its noise can be seen: what the truth is, which of
 * its numbers belong together, and which scale the plan gave them.
 */
#ifndef CLO_TEST_NOISY_FORM_H
#define CLO_TEST_NOISY_FORM_H

#include "asking.h"
#include "noise_sample.h"
#include "ask/assign.h"
#include "ask/lens.h"

enum { MOST_CLASSES = 5, CLUSTERS = 3 }; /* at least, where there are any */

typedef struct noisy noisy;

enum {
    LAPLACE = 1, /* Laplace noise; otherwise it is normal */
    COARSE = 2,  /* small integers, or drawn: equal numbers are no copies */
    SINGLY = 4,  /* a number, or one of each cluster, an ask */
    LENS = 8     /* through a lens, of one column more; there are no records */
};

/* One way to ask a query. */
typedef struct noisy_form {
    const char *name;
    void (*prepare)(noisy *n);               /* all but data, rule and context */
    void (*ask)(noisy *n, double *residual); /* one answer less the truth, in integer units */
    int traits;
    size_t asks, clusters, cols; /* 0: as prepare likes */
    const char *held_by;         /* instead of all of this */
} noisy_form;

struct noisy {
    const noisy_form *form;
    clo_domain domain;
    clo_line line;
    size_t number; /* of the plan: 0, unless a test has a longer one */
    size_t numbers, asks;
    double scales[MOST_CLASSES];
    uint8_t *class_of;
    uint16_t *cluster_of;
    double *truth;   /* numbers */
    double *records; /* rows x domain.cols */
    size_t rows;
    double *centers; /* of the line's clusters; NULL: there is one */
    asking a;
    clo_bounded *data;
    clo_assign rule;
    clo_lens lens;
    double *sums, *sizes; /* scratch of an answer */
    clo_stream *jitter;
};

/* Budgets so small that noise is about 2^46 wide: equal draws are then copies. */
static const double WIDE = 0x1p46;

static inline void noisy_room(noisy *n, size_t numbers, size_t asks, size_t rows)
{
    n->numbers = numbers;
    n->asks = asks;
    n->rows = rows;
    n->class_of = calloc(numbers, sizeof *n->class_of);
    n->cluster_of = calloc(numbers, sizeof *n->cluster_of);
    n->truth = calloc(numbers, sizeof *n->truth);
    n->records = calloc(rows * n->domain.cols + 1, sizeof *n->records);
    n->sums = calloc(2 * numbers, sizeof *n->sums);
    n->sizes = calloc(2 * numbers, sizeof *n->sizes);
}

/* Rows of an answer: `width` numbers a cluster, the last `sizes` of them of another class. */
static inline void noisy_by_cluster(noisy *n, size_t width, size_t sizes)
{
    for (size_t i = 0; i < n->numbers; i++) {
        n->cluster_of[i] = (uint16_t)(i / width);
        n->class_of[i] = i % width >= width - sizes;
    }
}

/* Centres at half of the radius on the first axes; record i is at that of cluster i % CLUSTERS, and
 * a little off it in the last column.  Further centres are where no record is. */
static inline void noisy_clusters(noisy *n, double off)
{
    const size_t d = n->domain.cols;
    n->centers = calloc(n->line.groups * d, sizeof *n->centers);
    for (size_t c = 0; c < CLUSTERS; c++) n->centers[c * d + c] = 0.5;
    for (size_t c = CLUSTERS; c < n->line.groups; c++) n->centers[c * d] = -0.5;
    for (size_t i = 0; i < n->rows; i++) {
        n->records[i * d + i % CLUSTERS] = 0.5;
        n->records[i * d + d - 1] = off;
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Of the records those with number % shares == share; through a lens, none. */
static inline void noisy_bound(noisy *n, size_t share, size_t shares)
{
    const size_t d = n->domain.cols;
    const clo_domain wider = ball(d + 1, 1, n->domain.relation);
    double *const records = calloc(n->rows * d + 1, sizeof *records);
    size_t own = 0;
    for (size_t r = share; r < n->rows; r += shares)
        memcpy(records + own++ * d, n->records + r * d, d * sizeof *records);
    n->data = n->form->traits & LENS ? bounded_from(records, 0, &wider)
                                     : bounded_from(records, own, &n->domain);
    free(records);
}

/* All columns but the last. */
static inline void noisy_look(noisy *n)
{
    const size_t d = n->domain.cols;
    double *const frame = calloc((d + 1) * d, sizeof *frame);
    clo_error err;
    for (size_t j = 0; j < d; j++) frame[j * d + j] = 1;
    assert_ok(clo_i_lens_make(n->a.context.workspace, frame, d + 1, d, 0, &n->lens, &err), err);
    free(frame);
    n->a.context.lens = &n->lens;
    n->a.line.lens = true;
    memset(n->truth, 0, n->numbers * sizeof *n->truth);
}

static inline void noisy_open(noisy *n, const noisy_form *form, clo_rng *rng, size_t share,
                              size_t shares)
{
    clo_error err;
    *n = (noisy){ .form = form };
    form->prepare(n);
    noisy_bound(n, share, shares);
    start_asking(&n->a, n->line, rng);
    n->a.context.block_rows = 64;
    n->rule = (clo_assign){ .kind = CLO_ASSIGN_ONE, .clusters = 1, .cols = n->domain.cols };
    if (n->centers)
        assert_ok(clo_i_assign_centers(n->a.context.workspace, n->centers, n->line.groups,
                                       n->domain.cols, n->line.bits, &n->rule, &err),
                  err);
    if (form->traits & LENS) noisy_look(n);
    n->jitter = stat_stream(UINT64_MAX, 0);
}

static inline void noisy_close(noisy *n)
{
    stat_close(n->jitter);
    stop_asking(&n->a);
    clo_bounded_free(n->data);
    free(n->class_of);
    free(n->cluster_of);
    free(n->truth);
    free(n->records);
    free(n->centers);
    free(n->sums);
    free(n->sizes);
}

/* So many asks, each number over its planned scale; the values are to be freed before n is. */
static inline noise_sample noisy_sample(noisy *n, size_t asks)
{
    noise_sample s = { .asks = asks,
                       .numbers = n->numbers,
                       .laplace = n->form->traits & LAPLACE,
                       .class_of = n->class_of,
                       .cluster_of = n->cluster_of };
    double narrowest = INFINITY;
    for (size_t c = 0; c < MOST_CLASSES; c++)
        if (n->scales[c] > 0) narrowest = fmin(narrowest, n->scales[c]);
    s.grain = n->form->traits & COARSE ? 0 : 1 / narrowest;
    assert_true(s.grain < 0x1p-30);
    s.values = calloc(sample_size(&s), sizeof *s.values);
    for (size_t a = 0; a < asks; a++) {
        double *const values = s.values + a * s.numbers;
        n->form->ask(n, values);
        for (size_t i = 0; i < s.numbers; i++) values[i] /= n->scales[n->class_of[i]];
    }
    return s;
}

#endif
