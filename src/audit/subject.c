/*
 * subject.c - the audit of one pair of worlds, in three parts that use different runs (audit.T2):
 * learn a score, choose a threshold, count.  Only the count enters the bound.
 */
#include "audit/audit_internal.h"
#include "parallel/parallel.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 2048, MOST_LEARNING = 100000, LEAST_TRIALS = 100, THRESHOLDS = 200 };

void clo_audit_options_init(clo_audit_options *options, size_t size)
{
    const clo_audit_options presets = { .trials = 100000, .alpha = 1e-6, .group = 1 };
    clo_i_give_presets(options, size, &presets, sizeof presets);
}

void clo_audit_subject_init(clo_audit_subject *subject, size_t size)
{
    clo_i_give_presets(subject, size, &(clo_audit_subject){ 0 }, sizeof *subject);
}

typedef struct audit {
    const clo_audit_subject *subject;
    const clo_audit_options *options;
    clo_i_score *score;
    double *answers;   /* CHUNK x outputs */
    double *scores[2]; /* of the runs that choose the threshold */
    uint64_t learning; /* runs a world for each of the first two parts */
    double threshold;
    bool above; /* the event is {score > threshold} in world 0, or {<=} in world 1 */
    double started;
} audit;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs first … first+count-1 of a world, in parallel where the subject allows it. */
static clo_status draw_chunk(audit *a, int world, uint64_t first, size_t count, clo_error *err)
{
    const clo_audit_subject *const subject = a->subject;
    const int threads = subject->parallel ? clo_i_threads(a->options->threads) : 1;
    clo_error detail = { .status = CLO_OK };
    _Atomic int failure = CLO_OK;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (size_t i = 0; i < count; i++) {
        clo_error mine;
        if (atomic_load(&failure)) continue;
        const clo_status status = subject->draw(subject->user, world, first + i,
                                                a->answers + i * subject->outputs, &mine);
        int none = CLO_OK;
        if (status && atomic_compare_exchange_strong(&failure, &none, (int)status)) detail = mine;
    }
    const clo_status status = (clo_status)atomic_load(&failure);
    return status ? clo_i_fail(err, status, "%s", detail.message) : CLO_OK;
}

static clo_status tell_progress(const audit *a, uint64_t done, clo_error *err)
{
    const double share = (double)done / (double)a->options->trials;
    if (!a->options->progress || a->options->progress(a->options->user, fmin(share, 1)))
        return CLO_OK;
    return clo_i_fail(err, CLO_CANCELLED, "the audit was stopped on request");
}

static clo_status learn(audit *a, clo_error *err)
{
    for (uint64_t first = 0; first < a->learning; first += CHUNK) {
        const size_t count = a->learning - first < CHUNK ? a->learning - first : CHUNK;
        for (int world = 0; world < 2; world++) {
            CLO_TRY(draw_chunk(a, world, first, count, err));
            clo_i_score_learn(a->score, world, a->answers, count);
        }
        CLO_TRY(tell_progress(a, first, err));
    }
    return clo_i_score_settle(a->score, err);
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static uint64_t count_above(const double *sorted, uint64_t count, double threshold)
{
    uint64_t low = 0, high = count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (sorted[middle] > threshold)
            high = middle;
        else
            low = middle + 1;
    }
    return count - low;
}

/* About what as many runs as these would show for an event that had these shares among them: a
 * normal margin is good enough to choose by, and keeps away from tails that were seen too seldom to
 * be known. */
static double promise(const audit *a, double p, double q)
{
    const double z = -clo_i_normal_quantile(a->options->alpha / 2);
    const double trials = (double)a->learning, least = z * z / trials;
    const double sure = p - z * sqrt(fmax(p * (1 - p), least / 4) / trials) - least / 4;
    const double seldom = q + z * sqrt(fmax(q * (1 - q), least / 4) / trials) + least / 4;
    if (sure <= 0 || seldom >= 1) return 0;
    return clo_i_shown_loss(a->subject->unit, a->subject->delta, sure, seldom);
}

static clo_status choose_threshold(audit *a, clo_error *err)
{
    const uint64_t n = a->learning;
    double best = -1;
    for (uint64_t first = 0; first < n; first += CHUNK) {
        const size_t count = n - first < CHUNK ? n - first : CHUNK;
        for (int world = 0; world < 2; world++) {
            CLO_TRY(draw_chunk(a, world, n + first, count, err));
            for (size_t i = 0; i < count; i++)
                a->scores[world][first + i] =
                    clo_i_score_of(a->score, a->answers + i * a->subject->outputs);
        }
        CLO_TRY(tell_progress(a, n + first, err));
    }
    for (int world = 0; world < 2; world++) qsort(a->scores[world], n, sizeof(double), ascending);
    for (int candidate = 0; candidate < 2 * THRESHOLDS; candidate++) {
        const double *const from = a->scores[candidate % 2];
        const double t = from[(uint64_t)(candidate / 2) * (n - 1) / (THRESHOLDS - 1)];
        const double p = (double)count_above(a->scores[0], n, t) / (double)n;
        const double q = (double)count_above(a->scores[1], n, t) / (double)n;
        for (int above = 0; above < 2; above++) {
            /* Where the runs are too few to promise anything, the larger gap is the better bet. */
            const double shown =
                (above ? promise(a, p, q) : promise(a, 1 - q, 1 - p)) + 1e-6 * (p - q);
            if (shown > best) {
                best = shown;
                a->threshold = t;
                a->above = above;
            }
        }
    }
    return CLO_OK;
}

/* The count: hits of the event in the world where it should be frequent, and in the other. */
static clo_status count(audit *a, uint64_t hits[2], uint64_t *trials, clo_error *err)
{
    const uint64_t begin = 2 * a->learning;
    for (uint64_t first = begin; first < a->options->trials; first += CHUNK) {
        const uint64_t rest = a->options->trials - first;
        const size_t size = rest < CHUNK ? rest : CHUNK;
        for (int world = 0; world < 2; world++) {
            CLO_TRY(draw_chunk(a, world, first, size, err));
            for (size_t i = 0; i < size; i++) {
                const double s = clo_i_score_of(a->score, a->answers + i * a->subject->outputs);
                hits[world] += (s > a->threshold) == a->above;
            }
        }
        *trials = first + size - begin;
        CLO_TRY(tell_progress(a, first, err));
        if (a->options->seconds > 0 && now() - a->started > a->options->seconds) break;
    }
    return CLO_OK;
}

static void conclude(const audit *a, const uint64_t hits[2], uint64_t trials,
                     clo_audit_finding *out)
{
    const clo_audit_subject *const s = a->subject;
    const int often = a->above ? 0 : 1; /* the world in which the event is frequent */
    const double half = a->options->alpha / 2;
    const double p = clo_i_probability_at_least(hits[often], trials, half);
    const double q = clo_i_probability_at_most(hits[1 - often], trials, half);
    clo_audit_finding found = { .pair = s->pair,
                                .what = s->what,
                                .group = 1,
                                .unit = s->unit,
                                .claim = s->claim,
                                .delta = s->delta,
                                .evidence = clo_i_shown_loss(s->unit, s->delta, p, q),
                                .confidence = 1 - a->options->alpha,
                                .trials = trials + 2 * a->learning,
                                .seconds = now() - a->started };
    found.refuted = found.evidence > s->claim;
    clo_i_give_result(out, &found, sizeof found);
}

static clo_status check(const clo_audit_subject *s, const clo_audit_options *o, clo_error *err)
{
    if (s->outputs < 1 || s->outputs > CLO_AUDIT_OUTPUTS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "an answer must have between 1 and %d numbers, not %zu",
                          (int)CLO_AUDIT_OUTPUTS, s->outputs);
    if (o->trials < LEAST_TRIALS || o->trials > (uint64_t)1 << 40)
        return clo_i_fail(err, CLO_ARGUMENT, "trials must be at least %d, not %llu",
                          (int)LEAST_TRIALS, (unsigned long long)o->trials);
    if (!(o->alpha > 0 && o->alpha < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "alpha must lie between 0 and 1, not %g", o->alpha);
    if (!(s->claim >= 0))
        return clo_i_fail(err, CLO_ARGUMENT, "a claim must not be negative, not %g", s->claim);
    return CLO_OK;
}

clo_status clo_audit_subject_run(const clo_audit_subject *given_subject,
                                 const clo_audit_options *given, clo_audit_finding *out,
                                 clo_error *err)
{
    clo_audit_subject whole = { 0 }, *const subject = &whole;
    clo_audit_options options = clo_audit_options_default();
    uint64_t hits[2] = { 0, 0 }, trials = 0;
    clo_status status;
    CLO_TRY(clo_i_check_result("clo_audit_finding", out, err));
    CLO_TRY(clo_i_take_options("clo_audit_subject", given_subject, &whole, sizeof whole, err));
    CLO_TRY(clo_i_take_options("clo_audit_options", given, &options, sizeof options, err));
    CLO_TRY(check(subject, &options, err));
    CLO_TRY(clo_i_threads_fit(err));
    audit a = { .subject = subject, .options = &options, .started = now() };
    a.learning = options.trials / 8 < MOST_LEARNING ? options.trials / 8 : MOST_LEARNING;
    if ((status = clo_i_score_new(subject->outputs, subject->categorical, &a.score, err)))
        goto done;
    if ((status = clo_i_alloc(CHUNK * subject->outputs, sizeof(double), &a.answers, err)))
        goto done;
    if ((status = clo_i_alloc(a.learning, sizeof(double), &a.scores[0], err))) goto done;
    if ((status = clo_i_alloc(a.learning, sizeof(double), &a.scores[1], err))) goto done;
    if ((status = learn(&a, err))) goto done;
    if ((status = choose_threshold(&a, err))) goto done;
    if ((status = count(&a, hits, &trials, err))) goto done;
    conclude(&a, hits, trials, out);
done:
    clo_i_score_free(a.score);
    clo_i_free(a.answers);
    clo_i_free(a.scores[0]);
    clo_i_free(a.scores[1]);
    return status;
}
