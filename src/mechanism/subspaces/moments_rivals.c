/*
 * moments_rivals.c - which of several fits of the tensor to believe.  Post-processing: only answers
 * and public numbers are read here.
 *
 * Where noise is large the fit has several ends that the tensor finds about as likely: in one of
 * them two flats that are near each other are one, and another flat follows the noise.  What a pass
 * answers about the flats of one of them says something of all, for each is a world in which that
 * pass would have answered something else.  So records are drawn from each of these worlds, the
 * pass is imagined on them, and the rivals are weighed by how far from the true answer that is, in
 * deviations of the known noise.  A flat without records, and flats of which each has some of
 * two clusters', are found out so by the first passes.
 */
#include "linalg/linalg.h"
#include "mechanism/subspaces/moments_internal.h"
#include "random/random.h"
#include <math.h>
#include <string.h>

/* Rivals may be less likely than the best by e^-WITHIN; another is taken where it is more likely by
 * e^CLEARLY, for it has to do without the passes so far.  How well a world knows the sizes of its
 * clusters, as a share of them.  Flats whose cosine is above ALIKE are the same. */
static const double WITHIN = 12, CLEARLY = 1, VAGUE = 0.15, ALIKE = 0.985;
/* Records that a world is drawn with, and multiplications that this may take. */
static const double DRAWN = 4000, MOST_WORK = 2e8;

static bool has_rivals(const clo_i_moments_plan *plan)
{
    return plan->sharpen > 1 && !plan->rounds && plan->clusters > 1 && plan->height == 0;
}

bool clo_i_moments_judges(const clo_i_moments_plan *plan, uint64_t pass)
{
    return has_rivals(plan) && 2 * pass < plan->sharpen;
}

clo_status clo_i_moments_take_rivals(const clo_i_moments_plan *plan, clo_workspace *space,
                                     clo_i_moments_rivals *out, clo_error *err)
{
    const size_t thin = has_rivals(plan) ? plan->clusters * plan->seen * plan->rank : 0;
    *out = (clo_i_moments_rivals){ .count = 0 };
    for (size_t i = 0; i < CLO_MOMENTS_RIVALS; i++)
        CLO_TRY(clo_i_take(space, thin, sizeof(double), &out->models[i].factors, err));
    CLO_TRY(clo_i_take(space, thin, sizeof(double), &out->factors, err));
    CLO_TRY(clo_i_take(space, thin, sizeof(double), &out->cross, err));
    CLO_TRY(clo_i_take(space, plan->clusters, sizeof(double), &out->sizes, err));
    return clo_i_take(space, plan->seen + plan->rank, sizeof(double), &out->record, err);
}

static void copy_model(const clo_i_moments_plan *plan, const clo_moment_model *from,
                       clo_moment_model *to)
{
    const size_t thin = plan->clusters * plan->seen * plan->rank;
    memmove(to->factors, from->factors, thin * sizeof *to->factors);
    to->spread = from->spread;
    to->loss = from->loss;
}

/* |a'b|^2 of two factors, in the Frobenius norm: the inner product of a a' and b b'. */
static double common(const double *a, const double *b, size_t c, size_t q)
{
    double sum = 0;
    for (size_t e = 0; e < q; e++)
        for (size_t g = 0; g < q; g++) {
            double inner = 0;
            for (size_t i = 0; i < c; i++) inner += a[i * q + e] * b[i * q + g];
            sum += inner * inner;
        }
    return sum;
}

/* Whether each flat of one has its like in the other: a descent that stopped a little earlier. */
static bool alike(const clo_i_moments_plan *plan, const double *one, const double *other)
{
    const size_t c = plan->seen, q = plan->rank, k = plan->clusters, thin = c * q;
    for (size_t l = 0; l < k; l++) {
        const double *const a = one + l * thin;
        bool found = false;
        for (size_t m = 0; m < k && !found; m++) {
            const double *const b = other + m * thin;
            found = common(a, b, c, q) > ALIKE * sqrt(common(a, a, c, q) * common(b, b, c, q));
        }
        if (!found) return false;
    }
    return true;
}

/* Keeps the first of those that are alike. */
static size_t keep_different(const clo_i_moments_plan *plan, clo_moment_model *models, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        for (size_t j = 0; j < kept && !known; j++)
            known = alike(plan, models[i].factors, models[j].factors);
        if (!known) copy_model(plan, &models[i], &models[kept++]);
    }
    return kept;
}

clo_status clo_i_moments_fit_rivals(const clo_i_moments_plan *plan, const clo_moment_job *job,
                                    clo_i_moments_rivals *r, clo_i_moments_state *s, clo_error *err)
{
    size_t found = 0;
    if (!has_rivals(plan)) return clo_i_moment_fit(job, &s->model, err);
    CLO_TRY(clo_i_moment_fit_several(job, CLO_MOMENTS_RIVALS, WITHIN, r->models, &found, err));
    r->count = keep_different(plan, r->models, found);
    for (size_t i = 0; i < r->count; i++)
        r->against[i] = (r->models[i].loss - r->models[0].loss) / (2 * job->noise * job->noise);
    copy_model(plan, &r->models[0], &s->model);
    return CLO_OK;
}

/* ---- an imagined pass ------------------------------------------------------------------------ */

/* The part of a factor inside of a flat: what is believed of the cluster's shape, turned to where
 * the passes have turned its flat since. */
static void project(const double *basis, const double *factor, size_t c, size_t q, double *out)
{
    memset(out, 0, c * q * sizeof *out);
    for (size_t e = 0; e < q; e++)
        for (size_t g = 0; g < q; g++) {
            double along = 0;
            for (size_t i = 0; i < c; i++) along += basis[i * q + g] * factor[i * q + e];
            for (size_t i = 0; i < c; i++) out[i * q + e] += along * basis[i * q + g];
        }
}

/* A record of the cluster with this factor, at this root mean square length: coefficients on a
 * sphere, and the spread that is the same in all directions. */
static void draw_record(const double *factor, double spread, double length, size_t c, size_t q,
                        clo_stream *stream, double *record, double *z)
{
    double square = 0, energy = 0;
    for (size_t e = 0; e < q; e++) {
        z[e] = clo_i_random_normal(stream);
        square += z[e] * z[e];
    }
    for (size_t i = 0; i < c * q; i++) energy += factor[i] * factor[i];
    const double unit = length / sqrt(fmax(energy, 1e-300)), grow = sqrt((double)q / square);
    for (size_t i = 0; i < c; i++) {
        double inside = 0;
        for (size_t e = 0; e < q; e++) inside += factor[i * q + e] * z[e];
        record[i] = unit * (grow * inside + sqrt(spread) * clo_i_random_normal(stream));
    }
}

static size_t nearest(const clo_i_moments_plan *plan, const double *bases, const double *record)
{
    const size_t c = plan->seen, q = plan->rank;
    size_t best = 0;
    double most = -1;
    for (size_t l = 0; l < plan->clusters; l++) {
        double energy = 0;
        for (size_t e = 0; e < q; e++) {
            double along = 0;
            for (size_t i = 0; i < c; i++) along += bases[(l * c + i) * q + e] * record[i];
            energy += along * along;
        }
        if (energy > most) {
            most = energy;
            best = l;
        }
    }
    return best;
}

/* What cross_moment makes of a record, without the grid: in widths. */
static void add_imagined(const double *basis, double width, double weight, size_t c, size_t q,
                         double *record, double *y, double *cross)
{
    double inside = 0, outside = 0;
    for (size_t e = 0; e < q; e++) {
        y[e] = 0;
        for (size_t i = 0; i < c; i++) y[e] += basis[i * q + e] * record[i];
        inside += y[e] * y[e];
    }
    for (size_t i = 0; i < c; i++) {
        for (size_t e = 0; e < q; e++) record[i] -= basis[i * q + e] * y[e];
        outside += record[i] * record[i];
    }
    const double scale = weight / fmax(sqrt(inside * outside), width);
    for (size_t e = 0; e < q; e++)
        for (size_t i = 0; i < c; i++) cross[e * c + i] += scale * y[e] * record[i];
}

/* The number of records that a world is drawn with. */
static double drawn_of(const clo_i_moments_plan *plan)
{
    const double work = (double)(plan->clusters * plan->seen * plan->rank);
    return fmin(DRAWN, fmax(floor(MOST_WORK / work), 256));
}

/* What the pass would have answered in the world of r->factors, had it as many records as were
 * counted. */
static void imagine_pass(const clo_i_moments_plan *plan, double spread, double records,
                         const double *widths, const clo_i_moments_state *s, clo_stream *stream,
                         clo_i_moments_rivals *r)
{
    const size_t c = plan->seen, q = plan->rank, k = plan->clusters, thin = c * q;
    const double drawn = drawn_of(plan), weight = records / drawn;
    double *const z = r->record + c, all = 0;
    memset(r->cross, 0, k * thin * sizeof *r->cross);
    memset(r->sizes, 0, k * sizeof *r->sizes);
    for (size_t l = 0; l < k; l++) all += clo_i_moments_contraction(plan, r->factors + l * thin);
    const double length = fmin(pow(all / records, 0.25), 1);
    for (size_t l = 0; l < k; l++) {
        const double *const factor = r->factors + l * thin;
        const double own = drawn * clo_i_moments_contraction(plan, factor) / fmax(all, 1e-300);
        for (double i = 0; i + 0.5 < own; i++) {
            draw_record(factor, spread, length, c, q, stream, r->record, z);
            const size_t at = nearest(plan, s->bases, r->record);
            add_imagined(s->bases + at * thin, widths[at], weight, c, q, r->record, z,
                         r->cross + at * thin);
            r->sizes[at] += weight;
        }
    }
}

/* Minus the logarithm of the density of the answer, up to a constant of all rivals. */
static double misfit(const clo_i_moments_plan *plan, double records, const double *widths,
                     const clo_i_moments_state *s, const clo_i_moments_rivals *r)
{
    const size_t thin = plan->seen * plan->rank, k = plan->clusters;
    const double drawn = drawn_of(plan), vague = VAGUE * records / (double)k;
    double sum = 0;
    for (size_t l = 0; l < k; l++) {
        const double size = s->sizes[l] - r->sizes[l], width = widths[l];
        const double chance = records / drawn * fmax(r->sizes[l], 1); /* of the draws */
        sum += size * size / (plan->size_noise * plan->size_noise + vague * vague + chance) / 2;
        const double entry = plan->cross_noise * plan->cross_noise +
                             s->variance[l] / (width * width) + chance / (double)thin;
        for (size_t i = l * thin; i < (l + 1) * thin; i++) {
            const double off = s->cross[i] - r->cross[i];
            sum += off * off / entry / 2;
        }
    }
    return sum;
}

/* ---- judging --------------------------------------------------------------------------------- */

static clo_status change_to(const clo_i_moments_plan *plan, size_t rival, uint64_t first,
                            clo_i_moments_rivals *r, clo_i_moments_state *s, clo_error *err)
{
    r->chosen = rival;
    copy_model(plan, &r->models[rival], &s->model);
    CLO_TRY(clo_i_moments_bases(plan, 0, &s->model, s->sums, s->scratch, s->bases, err));
    clo_i_moments_start_passes(plan, first, s);
    return CLO_OK;
}

clo_status clo_i_moments_judge(const clo_i_moments_plan *plan, uint64_t pass, clo_rng *rng,
                               clo_i_moments_rivals *r, clo_i_moments_state *s, bool *changed,
                               clo_error *err)
{
    const size_t k = plan->clusters, thin = plan->seen * plan->rank;
    const double *const widths = s->widths + pass * k;
    double records = 0;
    size_t best = r->chosen;
    clo_stream *stream = NULL;
    if (r->count < 2) return CLO_OK;
    CLO_TRY(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, err));
    for (size_t l = 0; l < k; l++) records += s->sizes[l];
    for (size_t i = 0; i < r->count; i++) {
        const clo_moment_model *const model = &r->models[i];
        memcpy(r->factors, model->factors, k * thin * sizeof *r->factors);
        for (size_t l = 0; l < k && i == r->chosen; l++)
            project(s->bases + l * thin, model->factors + l * thin, plan->seen, plan->rank,
                    r->factors + l * thin);
        imagine_pass(plan, model->spread, fmax(records, 1), widths, s, stream, r);
        r->against[i] += misfit(plan, fmax(records, 1), widths, s, r);
        if (r->against[i] < r->against[best]) best = i;
    }
    clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    *changed = !status && best != r->chosen && r->against[best] + CLEARLY < r->against[r->chosen];
    if (*changed) status = change_to(plan, best, pass + 1, r, s, err);
    return status;
}
