/*
 * exact.c - exact draws of whole frames, by rejection from the matrix angular central Gaussian
 * distribution (bingham.T4).
 *
 * Equal weights c give a law of subspaces.  That of a subspace and that of its complement determine
 * each other (tr U'AU + tr V'AV = tr A), so the smaller of the two is drawn: p = min(q, d - q)
 * dimensions.  With energies e and any shift s below them all, X has d x p independent entries
 * N(0, 1/(e_i - s)) in the eigenbasis, and its range is kept with probability
 *
 *   exp(p d/2 - tr H) det(2H/d)^(d/2),   H = Q'(e - s)Q for an orthonormal basis Q of it.
 *
 * That is poor where the p least energies differ by much.  So the lower ones are raised to the
 * highest of the p, by D_i; the range is then kept with probability exp(tr Q'DQ - tr D) times the
 * above, which is near 1 where the p stand apart from the others.
 *
 * A kept subspace is given a uniformly distributed basis: the law is invariant under rotations of
 * the frame within its range.
 */
#include "bingham/bingham.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

typedef struct rejection {
    size_t d, p; /* of the subspace that is drawn */
    bool complement;
    clo_i_envelope envelope; /* without others: it finds the shift */
    double *energies;        /* d */
    double *raised;          /* d: the same, the p least of them made equal */
    double *basis;           /* d x p, in the eigenbasis */
    double *form;            /* p x p */
    double *space;           /* all of it */
    size_t count;
} rejection;

static clo_status check_weights(const clo_bingham *b, clo_error *err)
{
    for (size_t r = 1; r < b->q; r++)
        if (b->weights[r] < b->weights[0] || b->weights[r] > b->weights[0])
            return clo_i_fail(err, CLO_UNSUPPORTED,
                              "an exact draw needs equal weights: use sweeps for others");
    return CLO_OK;
}

/* Energies are monotone: those of a frame's law increase, those of its complement's decrease. */
static void raise_the_least(rejection *r)
{
    const bool falling = r->energies[r->d - 1] < r->energies[0];
    const size_t last = r->p == 0 ? 0 : falling ? r->d - r->p : r->p - 1;
    for (size_t i = 0; i < r->d; i++) r->raised[i] = fmax(r->energies[i], r->energies[last]);
}

static clo_status rejection_new(const clo_bingham *b, rejection *out, clo_error *err)
{
    const size_t d = b->d;
    rejection made = { .d = d, .complement = 2 * b->q > d };
    made.p = made.complement ? d - b->q : b->q;
    made.count = 2 * d + d * made.p + made.p * made.p + clo_i_envelope_scratch(d, 0);
    CLO_TRY(check_weights(b, err));
    CLO_TRY(clo_i_alloc(made.count, sizeof *made.space, &made.space, err));
    made.energies = made.space;
    made.raised = made.energies + d;
    made.basis = made.raised + d;
    made.form = made.basis + d * made.p;
    clo_i_envelope_init(&made.envelope, d, 0, made.form + made.p * made.p);
    for (size_t i = 0; i < d; i++)
        made.energies[i] = (made.complement ? b->weights[0] : -b->weights[0]) * b->values[i];
    raise_the_least(&made);
    clo_i_envelope_fit(&made.envelope, made.raised, NULL, -INFINITY);
    *out = made;
    return CLO_OK;
}

static void rejection_free(rejection *r)
{
    clo_i_wipe_free(r->space, r->count * sizeof *r->space);
}

/* ln det of the p x p positive definite matrix, which is destroyed. */
static double log_determinant(double *a, size_t p)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++) {
        const double pivot = a[j * p + j];
        if (!(pivot > 0)) return -INFINITY;
        sum += log(pivot);
        for (size_t i = j + 1; i < p; i++) {
            const double factor = a[i * p + j] / pivot;
            for (size_t l = j; l < p; l++) a[i * p + l] -= factor * a[j * p + l];
        }
    }
    return sum;
}

/* ln of the probability of keeping the proposal. */
static double log_keep(const rejection *r)
{
    const double half = 0.5 * (double)r->d, p = (double)r->p;
    double trace = 0, bonus = 0;
    for (size_t i = 0; i < r->d; i++) {
        double square = -1;
        for (size_t a = 0; a < r->p; a++) square += r->basis[i * r->p + a] * r->basis[i * r->p + a];
        bonus += (r->raised[i] - r->energies[i]) * fmin(square, 0);
    }
    for (size_t a = 0; a < r->p; a++)
        for (size_t b = 0; b < r->p; b++) {
            double sum = 0;
            for (size_t i = 0; i < r->d; i++)
                sum += r->envelope.gap[i] * r->basis[i * r->p + a] * r->basis[i * r->p + b];
            r->form[a * r->p + b] = sum;
            if (a == b) trace += sum;
        }
    return bonus + p * half - trace + half * (log_determinant(r->form, r->p) - p * log(half));
}

static clo_status propose(const rejection *r, clo_stream *stream, bool *kept, clo_error *err)
{
    for (size_t i = 0; i < r->d; i++)
        for (size_t j = 0; j < r->p; j++)
            r->basis[i * r->p + j] = r->envelope.root[i] * clo_i_random_normal(stream);
    const double u = clo_i_random_unit(stream);
    CLO_TRY(clo_i_stream_check(stream, err));
    CLO_TRY(clo_i_orthonormalize(r->basis, r->d, r->p, err));
    *kept = log(u) <= log_keep(r); /* bingham.T4 */
    return CLO_OK;
}

/* G - Q Q'G, or Q Q'G, of a Gaussian G: uniformly distributed in what it is projected to. */
static clo_status random_basis(const clo_bingham *b, const rejection *r, clo_stream *stream,
                               double *frame, clo_error *err)
{
    const size_t d = b->d, q = b->q;
    for (size_t c = 0; c < q; c++) {
        double *const column = b->columns + c * d;
        for (size_t i = 0; i < d; i++) column[i] = clo_i_random_normal(stream);
        for (int again = 0; again < (r->complement ? 2 : 1); again++) { /* twice, for rounding */
            memset(b->energies, 0, d * sizeof *b->energies);
            for (size_t j = 0; j < r->p; j++) {
                double inside = 0;
                for (size_t i = 0; i < d; i++) inside += r->basis[i * r->p + j] * column[i];
                for (size_t i = 0; i < d; i++) b->energies[i] += inside * r->basis[i * r->p + j];
            }
            for (size_t i = 0; i < d; i++)
                column[i] = r->complement ? column[i] - b->energies[i] : b->energies[i];
        }
    }
    for (size_t i = 0; i < d; i++)
        for (size_t c = 0; c < q; c++) {
            double sum = 0;
            for (size_t j = 0; j < d; j++) sum += b->vectors[i * d + j] * b->columns[c * d + j];
            frame[i * q + c] = sum;
        }
    CLO_TRY(clo_i_stream_check(stream, err));
    return clo_i_orthonormalize(frame, d, q, err);
}

static clo_status draw(const clo_bingham *b, const rejection *r, clo_stream *stream, uint64_t most,
                       double *frame, bool *kept, uint64_t *tried, clo_error *err)
{
    *kept = r->p == 0; /* the whole space is its only subspace */
    *tried = 0;
    while (!*kept && *tried < most) {
        CLO_TRY(propose(r, stream, kept, err));
        ++*tried;
    }
    return *kept ? random_basis(b, r, stream, frame, err) : CLO_OK;
}

clo_status clo_i_bingham_try(clo_bingham *bingham, clo_rng *rng, uint64_t most, double *frame,
                             bool *kept, uint64_t *proposals, clo_error *err)
{
    const size_t count = bingham->d * bingham->q;
    const uint64_t ask = clo_i_rng_next_ask(rng);
    rejection r = { 0 };
    double *drawn = NULL;
    uint64_t tried = 0;
    bool any = false;
    clo_stream *stream = NULL;
    CLO_TRY(rejection_new(bingham, &r, err));
    clo_status status = clo_i_alloc(count, sizeof *drawn, &drawn, err);
    if (!status) status = clo_i_stream_open(rng, ask, 0, &stream, err);
    if (!status) status = draw(bingham, &r, stream, most, drawn, &any, &tried, err);
    if (!status) {
        if (any) memcpy(frame, drawn, count * sizeof *drawn);
        *kept = any;
        *proposals = tried;
    }
    clo_i_stream_close(stream);
    clo_i_wipe_free(drawn, count * sizeof *drawn);
    rejection_free(&r);
    return status;
}

clo_status clo_bingham_exact(clo_bingham *bingham, clo_rng *rng, uint64_t most, double *frame,
                             uint64_t *proposals, clo_error *err)
{
    bool kept = false;
    uint64_t tried = 0;
    CLO_TRY(clo_i_bingham_try(bingham, rng, most, frame, &kept, &tried, err));
    if (!kept)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "no proposal was kept in %llu: an exact draw is not practical here, use "
                          "sweeps",
                          (unsigned long long)most);
    if (proposals) *proposals = tried;
    return CLO_OK;
}

/* bingham.T4: Jensen's inequality on the normalising constant. */
clo_status clo_bingham_acceptance(clo_bingham *bingham, double *share, clo_error *err)
{
    rejection r = { 0 };
    CLO_TRY(rejection_new(bingham, &r, err));
    const double d = (double)r.d, p = (double)r.p;
    double logarithm = 0.5 * d * (1 + log(2 / d)), lift = 0;
    for (size_t i = 0; i < r.d; i++) {
        logarithm += 0.5 * log(r.envelope.gap[i]) - r.envelope.gap[i] / d;
        lift += r.raised[i] - r.energies[i];
    }
    *share = exp(fmin(p * logarithm + (p / d - 1) * lift, 0));
    rejection_free(&r);
    return CLO_OK;
}

/* ---- one vector after the other ---------------------------------------------------------- */

/* The vectors in the eigenbasis as rows, into r->basis as columns. */
static bool draw_vectors(clo_bingham *b, const rejection *r, clo_stream *stream, double *rows,
                         double *scratch)
{
    for (size_t j = 0; j < r->p; j++) {
        clo_i_envelope envelope;
        clo_i_envelope_init(&envelope, r->d, j, scratch);
        for (size_t i = 0; i < j; i++) b->normal[i] = rows + i * r->d;
        clo_i_envelope_fit(&envelope, r->energies, b->normal, -INFINITY);
        if (!clo_i_envelope_draw(&envelope, stream, rows + j * r->d)) return false;
        for (size_t i = 0; i < r->d; i++) r->basis[i * r->p + j] = rows[j * r->d + i];
    }
    return true;
}

clo_status clo_i_bingham_sequence(clo_bingham *bingham, clo_stream *stream, double *frame,
                                  clo_error *err)
{
    rejection r = { 0 };
    double *rows = NULL;
    CLO_TRY(rejection_new(bingham, &r, err));
    const size_t vectors = r.d * r.p;
    const size_t count = vectors + clo_i_envelope_scratch(r.d, r.p);
    clo_status status = clo_i_alloc(count, sizeof *rows, &rows, err);
    if (!status && !draw_vectors(bingham, &r, stream, rows, rows + vectors))
        status = clo_i_stream_check(stream, err);
    if (!status) status = random_basis(bingham, &r, stream, frame, err);
    clo_i_wipe_free(rows, count * sizeof *rows);
    rejection_free(&r);
    return status;
}
