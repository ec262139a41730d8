/*
 * schema_encode.c - a record from its cells to coordinates of the ball, and points of the ball back
 * to what a release says (bound.T7).
 *
 * Helmert's columns.  Level l of m is w·H·e_l, where row i of H (i = 1 … m − 1) is 1/√(i(i+1)) for
 * each level below i, −i/√(i(i+1)) for level i, and 0 above.  Its rows are orthonormal and
 * orthogonal to 1, so that |w·H·e_l|² = w²(1 − 1/m) for every level: no column is wasted and no
 * level is longer than another.  Only additions, products, quotients and square roots are used,
 * which every machine rounds alike; so sine and cosine are made of them here.
 */
#include "schema/schema.h"
#include <math.h>
#include <string.h>

size_t clo_i_schema_cells(const clo_schema *schema)
{
    return schema->used_count;
}

const clo_i_field *clo_i_schema_used(const clo_schema *schema, size_t column)
{
    return &schema->fields[schema->used[column]];
}

/* ---- what a cell means ----------------------------------------------------------------------- */

static bool is_of_levels(const clo_i_field *f)
{
    return f->kind == CLO_FIELD_LEVELS || f->kind == CLO_FIELD_RANK;
}

bool clo_i_field_lacks(const clo_i_field *f, double cell)
{
    if (!isfinite(cell)) return true;
    for (size_t i = 0; i < f->gap_count; i++)
        if (cell == f->gap_numbers[i]) return true;
    return false;
}

/* The level of a number, by halving. */
static double level_of_number(const clo_i_field *f, double cell)
{
    size_t low = 0, high = f->stated;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const double value = f->numbers[f->by_number[middle]];
        if (value == cell) return f->by_number[middle];
        if (value < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return NAN;
}

/* The number of the level that a cell is, NaN where it is none. */
static double level_of(const clo_i_field *f, double cell)
{
    if (f->numbers) return level_of_number(f, cell);
    const bool is = cell >= 0 && cell < (double)f->levels.count && cell == floor(cell);
    return is ? cell : NAN;
}

bool clo_i_field_excludes(const clo_i_field *f, double cell)
{
    if (clo_i_field_lacks(f, cell)) return false;
    if (is_of_levels(f)) {
        const double level = level_of(f, cell);
        return isnan(level) || level >= (double)f->stated;
    }
    if (f->kind == CLO_FIELD_CYCLIC) return false;
    return cell < f->lower || cell > f->upper;
}

static double gap_means(const clo_i_field *f)
{
    if (f->missing == CLO_CELL_FILL) return f->fill;
    return f->missing == CLO_CELL_LEVEL ? (double)f->gap : NAN;
}

double clo_i_field_means(const clo_i_field *f, double cell)
{
    if (clo_i_field_lacks(f, cell)) return gap_means(f);
    if (is_of_levels(f)) {
        const double level = level_of(f, cell);
        if (!isnan(level)) return level;
        return f->outside == CLO_OUTSIDE_OTHER ? (double)f->other : gap_means(f);
    }
    if (f->kind == CLO_FIELD_CYCLIC) return cell;
    if (f->outside == CLO_OUTSIDE_MISSING && (cell < f->lower || cell > f->upper))
        return gap_means(f);
    return fmin(fmax(cell, f->lower), f->upper);
}

/* A rule "drop" of one column, or a record of which nothing is said. */
bool clo_i_schema_is_null(const clo_schema *schema, const double *cells)
{
    bool says = false;
    for (size_t j = 0; j < schema->used_count; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const bool means = !isnan(clo_i_field_means(f, cells[j]));
        if (!means && f->missing == CLO_CELL_DROP) return true;
        says = says || means;
        if (says && !schema->drops) return false;
    }
    return !says;
}

/* ---- sine and cosine ------------------------------------------------------------------------- */

static const double PI = 3.14159265358979323846;

/* By their series, for |x| up to a sixteenth of the circle: what is left out is below 2^-60. */
static void series(double x, double *cosine, double *sine)
{
    const double y = x * x;
    double c = 0, s = 0;
    for (int i = 9; i > 0; i--) {
        c = (c + 1) * -y / (double)((2 * i) * (2 * i - 1));
        s = (s + 1) * -y / (double)((2 * i) * (2 * i + 1));
    }
    *cosine = 1 + c;
    *sine = x * (1 + s);
}

/* turn: from 0 to below 1. */
static void on_circle(double turn, double *cosine, double *sine)
{
    const double eighths = floor(turn * 8 + 0.5); /* 0 ... 8 */
    const double root = sqrt(0.5);
    const double cosines[] = { 1, root, 0, -root, -1, -root, 0, root, 1 };
    const double sines[] = { 0, root, 1, root, 0, -root, -1, -root, 0 };
    double c, s;
    series((turn - eighths / 8) * 2 * PI, &c, &s);
    const double c0 = cosines[(int)eighths], s0 = sines[(int)eighths];
    *cosine = c0 * c - s0 * s;
    *sine = s0 * c + c0 * s;
}

static double turn_of(const clo_i_field *f, double x)
{
    const double turns = (x - f->lower) / f->period, part = turns - floor(turns);
    return part >= 0 && part < 1 ? part : 0;
}

/* ---- encoding -------------------------------------------------------------------------------- */

static void encode_level(const clo_i_field *f, size_t level, double *out)
{
    const size_t count = f->levels.count - 1;
    for (size_t i = 0; i + 1 < level; i++) out[i] = 0;
    if (level > 0) out[level - 1] = -(double)level * f->tail[level - 1];
    if (level < count) memcpy(out + level, f->tail + level, (count - level) * sizeof *out);
}

/* bound.T7: a function of the schema and of this record. */
void clo_i_schema_encode(const clo_schema *schema, const double *cells, double *coords)
{
    for (size_t j = 0; j < schema->used_count; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const double x = clo_i_field_means(f, cells[j]);
        double *const out = coords + f->coord;
        if (isnan(x)) {
            for (size_t i = 0; i < f->coords; i++) out[i] = 0;
        } else if (f->kind == CLO_FIELD_LEVELS) {
            encode_level(f, (size_t)x, out);
        } else if (f->kind == CLO_FIELD_CYCLIC) {
            on_circle(turn_of(f, x), &out[0], &out[1]);
            out[0] *= f->unit_length;
            out[1] *= f->unit_length;
        } else {
            const double value = f->kind == CLO_FIELD_RANK ? x + 1 : x;
            out[0] = (value - f->middle) / f->half * f->unit_length;
        }
    }
}

void clo_i_schema_expand(const clo_schema *schema, const double *cells, double *outputs)
{
    for (size_t j = 0; j < schema->used_count; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const double x = clo_i_field_means(f, cells[j]);
        double *const out = outputs + f->output;
        if (f->kind == CLO_FIELD_LEVELS) {
            for (size_t i = 0; i < f->outputs; i++) out[i] = isnan(x) ? 1 / (double)f->outputs : 0;
            if (!isnan(x)) out[(size_t)x] = 1;
        } else if (f->kind == CLO_FIELD_CYCLIC) {
            out[0] = out[1] = 0;
            if (!isnan(x)) on_circle(turn_of(f, x), &out[0], &out[1]);
        } else {
            out[0] = isnan(x) ? f->middle : f->kind == CLO_FIELD_RANK ? x + 1 : x;
        }
    }
}

/* ---- decoding -------------------------------------------------------------------------------- */

/* p = 1/m + H'y / w, from the last level down: what lies above is in every level below. */
static void decode_levels(const clo_i_field *f, const double *y, double *out)
{
    const double square = f->unit_length * f->unit_length;
    double above = 0;
    for (size_t l = f->levels.count; l-- > 0;) {
        const double own = l > 0 ? -(double)l * f->tail[l - 1] * y[l - 1] : 0;
        out[l] = 1 / (double)f->levels.count + (own + above) / square;
        if (l > 0) above += f->tail[l - 1] * y[l - 1];
    }
}

void clo_i_schema_decode(const clo_schema *schema, const double *coords, double *outputs)
{
    for (size_t j = 0; j < schema->used_count; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const double *const y = coords + f->coord;
        double *const out = outputs + f->output;
        if (f->kind == CLO_FIELD_LEVELS) {
            decode_levels(f, y, out);
        } else if (f->kind == CLO_FIELD_CYCLIC) {
            out[0] = y[0] / f->unit_length;
            out[1] = y[1] / f->unit_length;
        } else {
            out[0] = f->middle + y[0] / f->unit_length * f->half;
        }
    }
}

/* The nearest point of the simplex: each share is lowered by one number, and none below 0.
 * Newton's steps on a convex function that falls, as in public_fit.T2. */
static void fit_shares(double *shares, size_t count)
{
    double step = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(shares[i])) shares[i] = 0;
        step = fmax(step, shares[i]);
    }
    step -= 1; /* from below: the largest share is then 1 at least */
    for (size_t round = 0; round <= count; round++) {
        double sum = 0, above = 0;
        for (size_t i = 0; i < count; i++)
            if (shares[i] > step) {
                sum += shares[i] - step;
                above++;
            }
        if (!(sum > 1 + 1e-15) || above == 0) break;
        step += (sum - 1) / above;
    }
    for (size_t i = 0; i < count; i++) shares[i] = fmin(fmax(shares[i] - step, 0), 1);
}

void clo_i_schema_fit(const clo_schema *schema, double *outputs)
{
    for (size_t j = 0; j < schema->used_count; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        double *const out = outputs + f->output;
        if (f->kind == CLO_FIELD_LEVELS) {
            fit_shares(out, f->outputs);
        } else if (f->kind == CLO_FIELD_CYCLIC) {
            const double length = sqrt(out[0] * out[0] + out[1] * out[1]);
            for (int i = 0; i < 2 && length > 1; i++) out[i] /= length;
        } else {
            out[0] = fmin(fmax(out[0], f->lower), f->upper);
        }
    }
}

/* ---- what outputs are ------------------------------------------------------------------------ */

const clo_i_field *clo_i_schema_of_output(const clo_schema *schema, size_t output, size_t *place)
{
    size_t low = 0, high = schema->used_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (clo_i_schema_used(schema, middle)->output <= output)
            low = middle;
        else
            high = middle;
    }
    const clo_i_field *const f = clo_i_schema_used(schema, low);
    if (place) *place = output - f->output;
    return f;
}

double clo_i_schema_unit(const clo_schema *schema, size_t output)
{
    const clo_i_field *const f = clo_i_schema_of_output(schema, output, NULL);
    const bool own = f->kind == CLO_FIELD_LEVELS || f->kind == CLO_FIELD_CYCLIC;
    return (own ? 1 : f->half) / f->unit_length;
}

double clo_i_schema_spread(const clo_schema *schema, size_t output)
{
    const clo_i_field *const f = clo_i_schema_of_output(schema, output, NULL);
    const double unit = clo_i_schema_unit(schema, output);
    return f->kind == CLO_FIELD_LEVELS ? unit * sqrt(1 - 1 / (double)f->outputs) : unit;
}

double clo_i_schema_middle(const clo_schema *schema, size_t output)
{
    const clo_i_field *const f = clo_i_schema_of_output(schema, output, NULL);
    if (f->kind == CLO_FIELD_LEVELS) return 1 / (double)f->outputs;
    return f->kind == CLO_FIELD_CYCLIC ? 0 : f->middle;
}

/* With the digits that a millionth of the column's range has: noise leaves fewer. */
static double in_digits(const clo_schema *schema, size_t output, double value)
{
    size_t place;
    const clo_i_field *const f = clo_i_schema_of_output(schema, output, &place);
    const bool share = f->kind == CLO_FIELD_LEVELS || f->kind == CLO_FIELD_CYCLIC;
    const double range = share ? 1 : f->upper - f->lower;
    const double step = pow(10, floor(log10(range)) - 6), steps = round(value / step);
    return step < 1 ? steps / round(1 / step) : steps * step;
}

void clo_i_schema_point(const clo_schema *schema, const double *coords, double *outputs)
{
    clo_i_schema_decode(schema, coords, outputs);
    clo_i_schema_fit(schema, outputs);
    for (size_t j = 0; j < schema->outputs; j++) outputs[j] = in_digits(schema, j, outputs[j]);
}
