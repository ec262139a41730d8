/*
 * cut_release.c - a release with another number of centres, read from the answers of one that is
 * there already (kmeans_density.T2).
 *
 * It starts as a copy of that release, by its JSON, so that it has the same facts and answers; its
 * arrays are new, and it names the one that it comes from by digest and charge.
 */
#include "cut/cut.h"
#include "release/public_fit.h"
#include <cloister/cut.h>
#include <cloister/output.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STARTS = 8, MOST_TO_CHOOSE = 64 };

void clo_cut_options_init(clo_cut_options *options, size_t size)
{
    clo_i_give_presets(options, size, &(clo_cut_options){ .clusters_at_most = 20 },
                       sizeof *options);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static clo_status check_range(const char *what, size_t value, size_t most, clo_error *err)
{
    if (value >= 1 && value <= most) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "%s must be between 1 and %zu, not %zu: this release was asked about half as "
                      "many cells, and does not show more clusters",
                      what, most, value);
}

static clo_status check(const clo_release *release, clo_cut_options *o, clo_error *err)
{
    const size_t most = clo_release_most_clusters(release);
    if (o->clusters) {
        if (o->explain > 0 || o->smallest > 0)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "%s chooses the number of clusters, which is given: leave one out",
                              o->explain > 0 ? "explain" : "smallest");
        return check_range("clusters", o->clusters, most, err);
    }
    if (!(o->explain >= 0 && o->explain < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "explain must be between 0 and 1, not %g", o->explain);
    if (!(o->smallest >= 0 && isfinite(o->smallest)))
        return clo_i_fail(err, CLO_ARGUMENT, "smallest must be a number of at least 0, not %g",
                          o->smallest);
    if (o->clusters_at_most < 1 || o->clusters_at_most > MOST_TO_CHOOSE)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters_at_most must be between 1 and %d, not %zu",
                          (int)MOST_TO_CHOOSE, o->clusters_at_most);
    if (o->clusters_at_most > most) o->clusters_at_most = most;
    return CLO_OK;
}

/* ---- centres of the density ------------------------------------------------------------------ */

static bool is_median(const clo_release *release)
{
    return strcmp(release->facts.family, "kmedian") == 0;
}

typedef struct found {
    clo_density_chosen chosen;
    double *doubts;
    size_t most;
} found;

static clo_status find_centers(clo_cut_density *open, bool median, const clo_cut_options *o,
                               found *f, clo_error *err)
{
    clo_density *const density = &open->density;
    const clo_density_choice choice = { o->clusters_at_most, o->explain, o->smallest };
    const clo_density_solver how = { open->rng, 1, STARTS, median };
    f->most = o->clusters ? o->clusters : o->clusters_at_most;
    const size_t room = f->most + CLO_DENSITY_BEYOND;
    clo_density_chosen *const c = &f->chosen;
    CLO_TRY(clo_i_take(open->space, room * density->cols, sizeof(double), &c->centers, err));
    CLO_TRY(clo_i_take(open->space, room, sizeof(double), &c->sizes, err));
    CLO_TRY(clo_i_take(open->space, room, sizeof(double), &c->squares, err));
    CLO_TRY(clo_i_take(open->space, room, sizeof(double), &c->curve, err));
    CLO_TRY(clo_i_take(open->space, room, sizeof(double), &f->doubts, err));
    c->clusters = o->clusters;
    if (o->clusters)
        CLO_TRY(clo_i_density_centers(density, &how, o->clusters, c->centers, c->sizes, c->squares,
                                      err));
    else
        CLO_TRY(clo_i_density_number(density, &how, &choice, c, err));
    return clo_i_density_doubt(density, open->space, &how, c->clusters, c->centers, f->doubts, err);
}

/* ---- the release ----------------------------------------------------------------------------- */

static clo_status copy_release(const clo_release *release, clo_release **out, clo_error *err)
{
    clo_i_growing json = { NULL, 0, 0 };
    clo_status status = clo_report(release, CLO_JSON, clo_i_growing_write, &json, err);
    if (!status) status = clo_release_parse(json.bytes, json.length, out, err);
    clo_i_free(json.bytes);
    return status;
}

/* What is cut from a cut comes from the release that this was cut from. */
static clo_status say_origin(const clo_release *from, clo_release *out, clo_error *err)
{
    clo_i_derived origin = { .there = true, .how = "cut", .charge = from->certified.charge };
    if (from->derived.there) return CLO_OK;
    CLO_TRY(clo_release_digest(from, origin.release, err));
    memcpy(origin.ledger, from->certified.ledger, sizeof origin.ledger);
    out->derived = origin;
    return CLO_OK;
}

static clo_status set_number(clo_release *out, const char *name, double value, clo_error *err)
{
    char text[CLO_NUMBER_SIZE];
    clo_number_text(value, text);
    return clo_i_release_set_parameter(out, name, text, err);
}

static clo_status set_parameters(const clo_cut_options *o, clo_release *out, clo_error *err)
{
    const bool given = o->clusters > 0;
    CLO_TRY(set_number(out, "clusters", (double)(given ? o->clusters : o->clusters_at_most), err));
    CLO_TRY(clo_i_release_set_parameter(out, "choose", given ? "\"given\"" : "\"elbow\"", err));
    CLO_TRY(set_number(out, "explain", o->explain, err));
    return set_number(out, "smallest", o->smallest, err);
}

/* Of the size of a group, in the answer that was given last. */
static double noise_of_sizes(const clo_release *release)
{
    return release->answers[release->answer_count - 1].noise[2];
}

/* Under a schema as numbers and shares (bound.T7). */
static clo_status put_centers(const clo_domain *domain, size_t k, const double *centers,
                              clo_release *out, clo_error *err)
{
    const clo_schema *const schema = domain->schema;
    const size_t d = domain->cols;
    double *points = NULL;
    if (!schema) return clo_i_release_put(out, "centers", centers, 2, (size_t[]){ k, d }, err);
    const size_t cols = clo_schema_outputs(schema);
    CLO_TRY(clo_i_alloc(k * cols, sizeof *points, &points, err));
    for (size_t i = 0; i < k; i++) clo_i_schema_point(schema, centers + i * d, points + i * cols);
    const clo_status status =
        clo_i_release_put(out, "centers", points, 2, (size_t[]){ k, cols }, err);
    clo_i_free(points);
    return status;
}

/* With the digits that noise leaves, as a run's centres have (public_fit.T3). */
static clo_status put_arrays(const clo_domain *domain, found *f, clo_release *out, clo_error *err)
{
    clo_density_chosen *const c = &f->chosen;
    const size_t k = c->clusters, d = domain->cols;
    const double elbow = (double)c->elbow, radius = clo_i_domain_radius(domain);
    for (size_t i = 0; i < k; i++) {
        clo_i_domain_unmap_point(domain, c->centers + i * d);
        clo_i_fit_point(domain, c->centers + i * d);
        clo_i_cut_point(domain, f->doubts[i] / sqrt((double)d), c->centers + i * d);
        f->doubts[i] = clo_i_cut_digits(f->doubts[i] * radius, f->doubts[i] * radius, 0);
    }
    clo_i_fit_sizes(domain, k, c->sizes);
    for (size_t i = 0; i < k; i++)
        c->sizes[i] = clo_i_cut_digits(c->sizes[i], noise_of_sizes(out), 0);
    CLO_TRY(put_centers(domain, k, c->centers, out, err));
    CLO_TRY(clo_i_release_put(out, "sizes", c->sizes, 1, &k, err));
    CLO_TRY(clo_i_release_put(out, "uncertainty", f->doubts, 1, &k, err));
    if (!c->elbow) return CLO_OK;
    CLO_TRY(clo_i_release_put(out, "curve", c->curve, 1, (size_t[]){ f->most + CLO_DENSITY_BEYOND },
                              err));
    return clo_i_release_put(out, "elbow", &elbow, 1, (size_t[]){ 1 }, err);
}

/* What was learnt before the answers were asked for, without which they cannot be read. */
static clo_status keep_learnt(const clo_release *from, clo_release *out, clo_error *err)
{
    static const char *const names[] = { "learnt_norm", "learnt_center" };
    clo_array array;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (clo_release_find(from, names[i], &array))
            CLO_TRY(
                clo_i_release_put(out, array.name, array.data, array.dimensions, array.shape, err));
    return CLO_OK;
}

/* Before what the release says of itself stands that this one costs nothing more. */
static clo_status set_statement(const clo_release *from, clo_release *out, clo_error *err)
{
    char text[1000], *copy = NULL;
    if (from->derived.there || !from->facts.is_private) return CLO_OK;
    snprintf(
        text, sizeof text,
        "It was read from the answers of the release %.16s..., which spends no further budget.  "
        "For both together: %.700s",
        out->derived.release, from->facts.statement);
    CLO_TRY(clo_i_copy_text(text, &copy, err));
    clo_i_free(out->facts.statement);
    out->facts.statement = copy;
    return CLO_OK;
}

static clo_status fill(const clo_release *from, const clo_cut_options *o, found *f,
                       clo_release *out, clo_error *err)
{
    const clo_domain domain = clo_i_cut_domain(from);
    CLO_TRY(say_origin(from, out, err));
    CLO_TRY(set_statement(from, out, err));
    CLO_TRY(set_parameters(o, out, err));
    clo_i_release_drop_arrays(out);
    memset(&out->certified, 0, sizeof out->certified);
    CLO_TRY(keep_learnt(from, out, err));
    return put_arrays(&domain, f, out, err);
}

clo_status clo_release_cut(const clo_release *release, const clo_cut_options *given,
                           clo_release **out, clo_error *err)
{
    clo_cut_options options = clo_cut_options_default();
    clo_cut_density open;
    clo_release *made = NULL;
    found f = { .most = 0 };
    CLO_TRY(clo_i_take_options("clo_cut_options", given, &options, sizeof options, err));
    CLO_TRY(clo_i_cut_check(release, err));
    CLO_TRY(check(release, &options, err));
    clo_status status = clo_i_cut_open(release, &open, err);
    if (!status) status = find_centers(&open, is_median(release), &options, &f, err);
    if (!status) status = copy_release(release, &made, err);
    if (!status) status = fill(release, &options, &f, made, err);
    clo_i_cut_close(&open);
    if (status)
        clo_release_free(made);
    else
        *out = made;
    return status;
}
