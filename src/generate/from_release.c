/*
 * from_release.c - private synthetic data: records with the law that a release describes.
 *
 * It is post-processing: only the release is looked at.  One that holds its answers tells a
 * density, from which records are drawn.  Of all others every family becomes the same model: k
 * clusters with a share each, a point, standard deviations along the columns of a basis, and one
 * for all directions off it.  The model lives in the coordinates of the ball; records go back to
 * the data's own units, and into the public domain, at the end.
 */
#include "generate/density_cloud.h"
#include "generate/generate.h"
#include "linalg/linalg.h"
#include "release/release.h"
#include "parallel/parallel.h"
#include <math.h>
#include <string.h>

enum { USUAL_ROWS = 1000 }; /* only proportions count where the number of rows is not public */

typedef struct model {
    size_t clusters, cols, dim;
    const double *bases;   /* clusters x cols x dim, in the data's own coordinates; NULL: centres */
    const double *offsets; /* clusters x cols; NULL: the origin */
    double *along;         /* clusters x dim: standard deviations along the basis */
    double *off;           /* clusters: and off it */
    bool ellipsoid;        /* records lie on the ellipsoid of those deviations, not about it */
    double noise;
    double spread; /* stated, of centres; below 0: not */
    bool copies;   /* records may be copies of their centres */
    const clo_facts *facts;
    clo_picker picker;
    const clo_cloud *cloud; /* NULL: the release holds no answers, or a spread is stated */
} model;

static bool finite_array(const clo_array *array)
{
    size_t count = 1;
    for (size_t i = 0; i < array->dimensions; i++) count *= array->shape[i];
    for (size_t i = 0; i < count; i++)
        if (!isfinite(array->data[i])) return false;
    return count > 0;
}

/* Finds an array of this shape (0: any); a release that was read may hold anything. */
static clo_status find(const clo_release *release, const char *name, size_t dimensions,
                       const size_t *shape, bool needed, clo_array *out, clo_error *err)
{
    bool fits = true;
    out->data = NULL;
    if (!clo_release_find(release, name, out)) {
        if (!needed) return CLO_OK;
        return clo_i_fail(err, CLO_FORMAT, "the release has no array \"%s\" to draw from", name);
    }
    fits = out->dimensions == dimensions;
    for (size_t i = 0; i < dimensions && fits; i++) fits = !shape[i] || out->shape[i] == shape[i];
    if (!fits || !finite_array(out))
        return clo_i_fail(err, CLO_FORMAT,
                          "the array \"%s\" of the release does not fit its other arrays", name);
    return CLO_OK;
}

/* Noise may have left no weight above 0; then all clusters are as good. */
static clo_status share_out(const double *weights, model *m, clo_error *err)
{
    double all = 0;
    for (size_t c = 0; c < m->clusters && weights; c++) {
        if (weights[c] < 0) return clo_i_fail(err, CLO_FORMAT, "a size in the release is below 0");
        all += weights[c];
    }
    return clo_i_picker_new(all > 0 ? weights : NULL, m->clusters, 0, &m->picker, err);
}

/* ---- families -------------------------------------------------------------------------------- */

static clo_status from_centers(const clo_release *release, model *m, clo_error *err)
{
    clo_array centers, weights, spread;
    CLO_TRY(find(release, "centers", 2, (size_t[]){ 0, m->cols }, true, &centers, err));
    m->clusters = centers.shape[0];
    m->offsets = centers.data;
    CLO_TRY(find(release, "sizes", 1, &m->clusters, false, &weights, err));
    CLO_TRY(find(release, "spread", 1, &m->clusters, false, &spread, err));
    CLO_TRY(clo_i_alloc(m->clusters, sizeof *m->off, &m->off, err));
    for (size_t c = 0; c < m->clusters; c++)
        m->off[c] = m->spread >= 0 ? m->spread : spread.data ? fmax(spread.data[c], 0) : 0;
    if (!m->cloud && !spread.data && m->spread < 0 && !(m->noise > 0) && !m->copies &&
        !clo_i_release_spreads(release, m->off))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this release does not hold the distance of records from their centers: "
                          "give a spread");
    return share_out(weights.data, m, err);
}

/* Energies are sums over a cluster's records: over their number they are variances.  Without a
 * number the total stands for records as long as the norm. */
static void fill_deviations(model *m, const double *energies, const double *residuals,
                            const double *weights, bool sizes)
{
    const size_t q = m->dim, rest = m->cols - q;
    double all = 0, energy = 0;
    for (size_t c = 0; c < m->clusters; c++) {
        all += weights ? weights[c] : 1;
        for (size_t i = 0; i < q; i++) energy += fmax(energies[c * q + i], 0);
        if (residuals) energy += fmax(residuals[c], 0);
    }
    const double rows = m->facts->rows > 0 ? (double)m->facts->rows : USUAL_ROWS;
    const double unit = sizes || m->facts->rows > 0
                            ? 1
                            : m->facts->norm * m->facts->norm * rows / fmax(energy, 1e-300);
    for (size_t c = 0; c < m->clusters; c++) {
        const double share = all > 0 ? (weights ? weights[c] : 1) / all : 1 / (double)m->clusters;
        const double count = fmax(sizes ? weights[c] : rows * share, 1);
        for (size_t i = 0; i < q; i++)
            m->along[c * q + i] = sqrt(fmax(energies[c * q + i], 0) * unit / count);
        if (residuals && rest > 0)
            m->off[c] = sqrt(fmax(residuals[c], 0) * unit / count / (double)rest);
    }
}

/* Where a release tells no energies, records of the public norm fill each subspace evenly, as in
 * wang2015's model; how far they reach in an affine one nobody can say. */
static clo_status fill_evenly(model *m, clo_error *err)
{
    if (!m->ellipsoid || !(m->facts->norm > 0))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this release does not hold the spread of its records: use one with "
                          "\"energies\", such as one of subspaces/sulq");
    for (size_t i = 0; i < m->clusters * m->dim; i++)
        m->along[i] = m->facts->norm / sqrt((double)m->dim);
    return CLO_OK;
}

static clo_status from_flats(const clo_release *release, model *m, clo_error *err)
{
    clo_array bases, offsets, weights, energies, residuals;
    CLO_TRY(find(release, "bases", 3, (size_t[]){ 0, m->cols, 0 }, true, &bases, err));
    const size_t k = bases.shape[0], q = bases.shape[2];
    if (q > m->cols) return clo_i_fail(err, CLO_FORMAT, "the bases of the release are too wide");
    m->clusters = k;
    m->dim = q;
    m->bases = bases.data;
    CLO_TRY(find(release, "offsets", 2, (size_t[]){ k, m->cols }, false, &offsets, err));
    CLO_TRY(find(release, "sizes", 1, &k, false, &weights, err));
    CLO_TRY(find(release, "energies", 2, (size_t[]){ k, q }, false, &energies, err));
    CLO_TRY(find(release, "residuals", 1, &k, false, &residuals, err));
    m->offsets = offsets.data;
    /* A linear release has offsets only where the public domain has a centre. */
    m->ellipsoid = !offsets.data || m->facts->center || m->facts->lower;
    for (size_t i = 0; i < m->facts->parameter_count; i++)
        if (strcmp(m->facts->parameter_names[i], "flats") == 0)
            m->ellipsoid = strcmp(m->facts->parameter_values[i], "\"affine\"") != 0;
    CLO_TRY(clo_i_alloc(k * q, sizeof *m->along, &m->along, err));
    CLO_TRY(clo_i_alloc(k, sizeof *m->off, &m->off, err));
    CLO_TRY(share_out(weights.data, m, err));
    if (!energies.data) return fill_evenly(m, err);
    if (!weights.data && !m->ellipsoid)
        return clo_i_fail(err, CLO_FORMAT, "the release has no array \"sizes\" to draw from");
    fill_deviations(m, energies.data, residuals.data, weights.data, !m->ellipsoid);
    return CLO_OK;
}

static clo_status from_subspace(const clo_release *release, model *m, clo_error *err)
{
    clo_array basis, center, energy;
    CLO_TRY(find(release, "basis", 2, (size_t[]){ m->cols, 0 }, true, &basis, err));
    m->dim = basis.shape[1];
    if (m->dim > m->cols) return clo_i_fail(err, CLO_FORMAT, "the basis is too wide");
    CLO_TRY(find(release, "center", 1, &m->cols, false, &center, err));
    CLO_TRY(find(release, "energy", 1, &m->dim, true, &energy, err));
    m->clusters = 1;
    m->bases = basis.data;
    m->offsets = center.data;
    m->ellipsoid = true;
    CLO_TRY(clo_i_alloc(m->dim, sizeof *m->along, &m->along, err));
    CLO_TRY(clo_i_alloc(1, sizeof *m->off, &m->off, err));
    CLO_TRY(share_out(NULL, m, err));
    fill_deviations(m, energy.data, NULL, NULL, false);
    return CLO_OK;
}

static clo_status read_model(const clo_release *release, model *m, clo_error *err)
{
    static const struct {
        const char *name;
        clo_status (*read)(const clo_release *release, model *m, clo_error *err);
    } families[] = { { "kmeans", from_centers },
                     { "kmedian", from_centers },
                     { "subspace", from_subspace },
                     { "subspaces", from_flats } };
    const char *const name = clo_release_family(release);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (!name || strcmp(families[i].name, name) != 0) continue;
        if (m->spread >= 0 && families[i].read != from_centers)
            return clo_i_fail(
                err, CLO_ARGUMENT,
                "a spread is only for centers: leave it out for a release of the family \"%s\"",
                name);
        return families[i].read(release, m, err);
    }
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "no rows can be made from a release of the family \"%s\": use one of "
                      "kmeans, kmedian, subspace or subspaces",
                      name ? name : "");
}

/* ---- records --------------------------------------------------------------------------------- */

static double half_width(const clo_facts *facts, size_t j)
{
    return clo_i_facts_unit(facts, j);
}

static double middle(const clo_facts *facts, size_t j)
{
    return clo_i_facts_middle(facts, j);
}

/* What a record of the data went through, too: columns into their bounds, all into the ball. */
static void bring_into_domain(const clo_facts *facts, double *record)
{
    double square = 0;
    for (size_t j = 0; j < facts->cols; j++) {
        if (facts->lower) record[j] = fmin(fmax(record[j], facts->lower[j]), facts->upper[j]);
        const double from = (record[j] - middle(facts, j)) / half_width(facts, j);
        square += from * from;
    }
    if (!(facts->norm > 0) || square <= facts->norm * facts->norm) return;
    const double factor = facts->norm / sqrt(square);
    for (size_t j = 0; j < facts->cols; j++)
        record[j] = middle(facts, j) + factor * (record[j] - middle(facts, j));
}

/* scratch: dim + cols numbers. */
static void draw_record(const model *m, clo_stream *stream, size_t c, double *scratch,
                        double *record)
{
    const size_t d = m->cols, q = m->dim;
    const double *const basis = m->bases ? m->bases + c * d * q : NULL;
    double *const y = scratch, *const g = scratch + q;
    for (size_t j = 0; j < d; j++) {
        record[j] = m->offsets ? m->offsets[c * d + j] : 0;
        g[j] =
            m->off[c] > 0 ? m->off[c] * clo_i_random_normal(stream) * half_width(m->facts, j) : 0;
    }
    if (m->ellipsoid) {
        clo_i_draw_direction(stream, y, q);
        for (size_t i = 0; i < q; i++) y[i] *= sqrt((double)q) * m->along[c * q + i];
    } else {
        for (size_t i = 0; i < q; i++) y[i] = m->along[c * q + i] * clo_i_random_normal(stream);
    }
    for (size_t i = 0; i < q; i++) {
        double inside = 0; /* what of g lies in the flat is not off it */
        for (size_t j = 0; j < d; j++) inside += basis[j * q + i] * g[j];
        for (size_t j = 0; j < d; j++) record[j] += basis[j * q + i] * (y[i] - inside);
    }
    for (size_t j = 0; j < d; j++) {
        record[j] += g[j];
        if (m->noise > 0) record[j] += m->noise * clo_i_random_normal(stream);
    }
    bring_into_domain(m->facts, record);
}

/* ---- records under a schema ------------------------------------------------------------------ */

static double draw_level(const double *shares, size_t count, clo_stream *stream)
{
    double left = clo_i_random_unit(stream);
    size_t l = 0;
    for (; l + 1 < count && left >= shares[l]; l++) left -= shares[l];
    while (l > 0 && !(shares[l] > 0)) l--; /* what rounding has left behind the last share */
    return (double)l;
}

/* A direction, as far from the mean one as its length says. */
static double draw_turn(const clo_i_field *f, const double *point, clo_stream *stream)
{
    const double length = fmin(sqrt(point[0] * point[0] + point[1] * point[1]), 1);
    const double turn = atan2(point[1], point[0]) / (2 * acos(-1));
    const double off = sqrt(-2 * log(fmax(length, 0.05))) / (2 * acos(-1));
    const double at = turn + off * clo_i_random_normal(stream), part = at - floor(at);
    return f->lower + part * f->period;
}

/* Of a number: with this deviation, within its bounds, whole where the column is. */
static double draw_number(const clo_i_field *f, double mean, double deviation, clo_stream *stream)
{
    const double x = mean + (deviation > 0 ? deviation * clo_i_random_normal(stream) : 0);
    const bool whole = f->kind == CLO_FIELD_RANK || f->kind == CLO_FIELD_DATE ||
                       f->kind == CLO_FIELD_DATETIME || f->type == CLO_TYPE_INTEGER;
    return fmin(fmax(whole ? round(x) : x, f->lower), f->upper);
}

/* A point of the release's columns becomes a record: a level by its share, a number about it.
 * spread: of each coordinate, in the ball's. */
static void draw_cells(const model *m, clo_stream *stream, const double *point, double spread,
                       double *cells)
{
    const clo_schema *const schema = m->facts->schema;
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const double *const own = point + f->output;
        const double off = spread * f->half / f->unit_length;
        double cell;
        if (f->kind == CLO_FIELD_LEVELS)
            cell = draw_level(own, f->outputs, stream);
        else if (f->kind == CLO_FIELD_CYCLIC)
            cell = draw_turn(f, own, stream);
        else
            cell = draw_number(f, own[0], hypot(off, m->noise), stream);
        if (f->kind == CLO_FIELD_CYCLIC && f->type == CLO_TYPE_INTEGER) cell = floor(cell);
        if (f->kind == CLO_FIELD_RANK) cell -= 1;
        /* Levels that are numbers are told by these; a rule's own level is a missing cell. */
        if (f->numbers) cell = cell < (double)f->stated ? f->numbers[(size_t)cell] : NAN;
        cells[j] = cell;
    }
}

/* What the shares of a centre say of the distances of its records, which is not its numbers'. */
static double spread_of_numbers(const model *m, size_t c)
{
    const clo_schema *const schema = m->facts->schema;
    const double coords = (double)clo_schema_coordinates(schema);
    double square = m->off[c] * m->off[c] * coords, numbers = 0;
    if (m->spread >= 0) return m->spread;
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const double *const own = m->offsets + c * m->cols + f->output;
        double same = 0;
        for (size_t l = 0; l < f->outputs; l++) same += own[l] * own[l];
        if (f->kind == CLO_FIELD_LEVELS || f->kind == CLO_FIELD_CYCLIC)
            square -= f->unit_length * f->unit_length * fmax(1 - same, 0);
        else
            numbers++;
    }
    return numbers > 0 && square > 0 ? sqrt(square / numbers) : 0;
}

/* room: for a point of the ball, and one of the release's columns. */
static size_t draw_record_by_schema(const model *m, clo_stream *stream, double *room, double *cells)
{
    const clo_schema *const schema = m->facts->schema;
    double *const point = room + clo_schema_coordinates(schema);
    double least = INFINITY;
    size_t nearest = 0;
    if (!m->cloud) {
        const size_t c = clo_i_pick(&m->picker, stream);
        memcpy(point, m->offsets + c * m->cols, m->cols * sizeof *point);
        clo_i_schema_fit(schema, point);
        draw_cells(m, stream, point, spread_of_numbers(m, c), cells);
        return c;
    }
    clo_i_cloud_draw(m->cloud, stream, room);
    clo_i_schema_decode(schema, room, point);
    clo_i_schema_fit(schema, point);
    draw_cells(m, stream, point, 0, cells);
    clo_i_schema_expand(schema, cells, point);
    for (size_t c = 0; c < m->clusters; c++) {
        double square = 0;
        for (size_t j = 0; j < m->cols; j++) {
            const double off = (point[j] - m->offsets[c * m->cols + j]) / half_width(m->facts, j);
            square += off * off;
        }
        if (square < least) nearest = c;
        least = fmin(least, square);
    }
    return nearest;
}

static clo_status draw_block_by_schema(const model *m, double *records, uint32_t *labels,
                                       clo_stream *stream, size_t first, size_t end, clo_error *err)
{
    const clo_schema *const schema = m->facts->schema;
    const size_t cells = clo_i_schema_cells(schema);
    double *room = NULL;
    CLO_TRY(clo_i_alloc(m->cols + clo_schema_coordinates(schema), sizeof *room, &room, err));
    for (size_t i = first; i < end; i++) {
        const size_t c = draw_record_by_schema(m, stream, room, records + i * cells);
        if (labels) labels[i] = (uint32_t)c;
    }
    clo_i_free(room);
    return CLO_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* From the density: the cluster is the nearest centre. */
static size_t draw_from_cloud(const model *m, clo_stream *stream, double *record)
{
    double least = INFINITY;
    size_t nearest = 0;
    clo_i_cloud_draw(m->cloud, stream, record);
    for (size_t j = 0; j < m->cols && m->noise > 0; j++)
        record[j] += m->noise * clo_i_random_normal(stream);
    bring_into_domain(m->facts, record);
    for (size_t c = 0; c < m->clusters; c++) {
        double square = 0;
        for (size_t j = 0; j < m->cols; j++) {
            const double off = (record[j] - m->offsets[c * m->cols + j]) / half_width(m->facts, j);
            square += off * off;
        }
        if (square >= least) continue;
        least = square;
        nearest = c;
    }
    return nearest;
}

typedef struct target {
    const model *m;
    double *records;
    uint32_t *labels;
} target;

static clo_status draw_block(const void *context, clo_stream *stream, size_t first, size_t end,
                             clo_error *err)
{
    const target *const t = context;
    const size_t d = t->m->cols;
    double *scratch = NULL;
    if (t->m->facts->schema)
        return draw_block_by_schema(t->m, t->records, t->labels, stream, first, end, err);
    CLO_TRY(clo_i_alloc(t->m->dim + d, sizeof *scratch, &scratch, err));
    for (size_t i = first; i < end; i++) {
        double *const record = t->records + i * d;
        const size_t c =
            t->m->cloud ? draw_from_cloud(t->m, stream, record) : clo_i_pick(&t->m->picker, stream);
        if (!t->m->cloud) draw_record(t->m, stream, c, scratch, record);
        if (t->labels) t->labels[i] = (uint32_t)c;
    }
    clo_i_free(scratch);
    return CLO_OK;
}

static clo_status generate(const clo_release *release, size_t rows, model *m, clo_rng *rng,
                           double *records, uint32_t *labels, clo_error *err)
{
    if (!release || !rng || !records)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a release, a random generator and memory for the records must be given");
    CLO_TRY(clo_i_check_count("rows", rows, 1, SIZE_MAX / CLO_GENERATE_BLOCK, err));
    CLO_TRY(clo_i_check_length("noise", m->noise, err));
    CLO_TRY(clo_i_threads_fit(err));
    m->cols = clo_release_cols(release);
    m->facts = &release->facts;
    const target t = { m, records, labels };
    clo_cloud cloud = { .points = NULL };
    clo_status status = CLO_OK;
    if (m->spread < 0 && release->answer_count) {
        status = clo_i_cloud_open(release, &cloud, err);
        m->cloud = &cloud;
    }
    if (!status) status = read_model(release, m, err);
    if (!status)
        status = clo_i_draw_blocks(rows, rng, clo_i_rng_next_ask(rng), draw_block, &t, err);
    clo_i_picker_free(&m->picker);
    clo_i_free(m->along);
    clo_i_free(m->off);
    clo_i_cloud_close(&cloud);
    return status;
}

clo_status clo_generate_from_release(const clo_release *release, size_t rows, double noise,
                                     clo_rng *rng, double *records, uint32_t *labels,
                                     clo_error *err)
{
    model m = { .noise = noise, .spread = -1, .copies = true };
    return generate(release, rows, &m, rng, records, labels, err);
}

void clo_draw_options_init(clo_draw_options *options, size_t size)
{
    clo_i_give_presets(options, size, &(clo_draw_options){ .spread = -1 }, sizeof *options);
}

clo_status clo_generate_like(const clo_release *release, size_t rows,
                             const clo_draw_options *options, clo_rng *rng, double *records,
                             uint32_t *labels, clo_error *err)
{
    clo_draw_options how = clo_draw_options_default();
    CLO_TRY(clo_i_take_options("clo_draw_options", options, &how, sizeof how, err));
    if (!(how.spread < 0)) CLO_TRY(clo_i_check_length("spread", how.spread, err));
    model m = { .noise = how.noise, .spread = how.spread };
    return generate(release, rows, &m, rng, records, labels, err);
}
