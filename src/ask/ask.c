/*
 * ask.c - one ask of a sum as bytes, for whoever holds rows and does not plan.
 *
 * Words of eight bytes, so that arrays can be read where they lie.  The reader trusts nothing: the
 * line must be one of its own plan, byte for byte, and every array is held to the range that the
 * arithmetic of a fold stands on (fold.T2, assign.T1, lens.T1, sketch.T1).
 */
#include "ask/fold.h"
#include "bound/bound.h"
#include "ask/assign.h"
#include "ask/lens.h"
#include <math.h>

static const uint64_t MAGIC = 0x31306b7361206f6c; /* "lo ask01" */
enum { LENS_NONE, LENS_FRAME, LENS_WEIGHT, LENS_SKETCH, MOST_RULES = 1 << 16 };
enum { MAP_BITS = CLO_LENS_MAP_BITS, CENTER_BITS = 23, FLAT_BITS = 20, FLAT_COLS = 4096 };

/* ---- writing ------------------------------------------------------------------------------- */

typedef struct writer {
    uint8_t *bytes; /* NULL: the length is counted */
    size_t length;
} writer;

static void put(writer *w, const void *from, size_t bytes)
{
    const size_t padded = (bytes + 7) / 8 * 8;
    if (w->bytes && bytes) memcpy(w->bytes + w->length, from, bytes);
    w->length += padded;
}

static void put_word(writer *w, uint64_t word)
{
    put(w, &word, sizeof word);
}

static void put_real(writer *w, double value)
{
    put(w, &value, sizeof value);
}

static void put_lens(writer *w, const clo_lens *lens)
{
    if (!lens) {
        put_word(w, LENS_NONE);
        return;
    }
    put_word(w, lens->places ? LENS_SKETCH : lens->rows ? LENS_FRAME : LENS_WEIGHT);
    put_word(w, lens->from);
    put_word(w, lens->cols);
    put_real(w, lens->weight);
    put_real(w, lens->scale);
    put_real(w, lens->constant);
    if (lens->places)
        put(w, lens->places, lens->from * CLO_SKETCH_COPIES * sizeof *lens->places);
    else if (lens->rows)
        put(w, lens->rows, lens->cols * lens->from * sizeof *lens->rows);
}

/* Rows of points of a rule: those that its scores are products with. */
static void put_rule(writer *w, const clo_assign *rule)
{
    put_word(w, (uint64_t)rule->kind);
    put_word(w, rule->clusters);
    put_word(w, rule->cols);
    put_word(w, rule->dim);
    put_word(w, (uint64_t)rule->bits);
    put(w, rule->points, clo_i_assign_width(rule) * rule->cols * sizeof *rule->points);
    if (rule->kind == CLO_ASSIGN_CENTERS || rule->kind == CLO_ASSIGN_FLATS)
        put(w, rule->offsets, rule->clusters * sizeof *rule->offsets);
}

static void write_ask(writer *w, const clo_ask *ask, size_t number, size_t entries)
{
    uint8_t line[CLO_LINE_BYTES];
    clo_i_line_write(ask->line, line);
    put_word(w, MAGIC);
    put_word(w, entries);
    put_word(w, number);
    put(w, line, sizeof line);
    put_lens(w, ask->lens);
    put_word(w, ask->rule_count);
    for (size_t i = 0; i < ask->rule_count; i++) put_rule(w, &ask->rules[i]);
    put_word(w, ask->word_count);
    put(w, ask->words, ask->word_count * sizeof *ask->words);
}

clo_status clo_i_ask_encode(const clo_ask *ask, size_t number, size_t entries, uint8_t **bytes,
                            size_t *count, clo_error *err)
{
    writer w = { .bytes = NULL };
    uint8_t *made = NULL;
    write_ask(&w, ask, number, entries);
    *count = w.length;
    CLO_TRY(clo_i_alloc(w.length, 1, &made, err));
    w = (writer){ .bytes = made };
    write_ask(&w, ask, number, entries);
    *bytes = made;
    return CLO_OK;
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *bytes;
    size_t left;
    bool bad;
} reader;

/* count things of that size; NULL, and all that follows is bad, where there are not so many. */
static const void *get(reader *r, size_t count, size_t size)
{
    size_t bytes = 0;
    const uint8_t *const at = r->bytes;
    if (r->bad || !clo_i_multiply(count, size, &bytes) || bytes > r->left) {
        r->bad = true;
        return NULL;
    }
    bytes = (bytes + 7) / 8 * 8;
    if (bytes > r->left) bytes = r->left;
    r->bytes += bytes;
    r->left -= bytes;
    return at;
}

static uint64_t get_word(reader *r)
{
    uint64_t word = 0;
    const void *const at = get(r, 1, sizeof word);
    if (at) memcpy(&word, at, sizeof word);
    return word;
}

static double get_real(reader *r)
{
    double value = 0;
    const void *const at = get(r, 1, sizeof value);
    if (at) memcpy(&value, at, sizeof value);
    return value;
}

static bool whole(double value, double most)
{
    return fabs(value) <= most && value == rint(value);
}

/* Each row no longer than the map's unit, and all of them nearly orthogonal: a contraction. */
static bool is_frame(const double *rows, size_t count, size_t from)
{
    const double unit = ldexp(1, 2 * MAP_BITS);
    for (size_t i = 0; i < count; i++) {
        double beside = 0;
        for (size_t e = 0; e < from; e++)
            if (!whole(rows[i * from + e], ldexp(1, MAP_BITS))) return false;
        for (size_t j = 0; j < count; j++) {
            double dot = 0;
            for (size_t e = 0; e < from; e++) dot += rows[i * from + e] * rows[j * from + e];
            beside += j == i ? 0 : fabs(dot);
            if (j == i && dot > unit) return false;
        }
        if (!(beside <= 0.01 * unit)) return false;
    }
    return true;
}

static bool is_sketch(const uint32_t *places, size_t from, size_t cols)
{
    for (size_t i = 0; i < from * CLO_SKETCH_COPIES; i++)
        if (places[i] >= 2 * cols) return false;
    return cols >= CLO_SKETCH_COPIES && cols <= CLO_SKETCH_COLS && cols % CLO_SKETCH_COPIES == 0;
}

static void get_lens(reader *r, const clo_line *line, size_t cols, clo_decoded *out)
{
    const uint64_t kind = get_word(r);
    if (kind == LENS_NONE) {
        r->bad |= line->lens != CLO_NO_LENS;
        return;
    }
    clo_lens lens = { .from = (size_t)get_word(r), .cols = (size_t)get_word(r) };
    lens.weight = get_real(r);
    lens.scale = get_real(r);
    lens.constant = get_real(r);
    if (lens.from != cols || lens.cols != line->cols || lens.cols < 1 || line->bits > 20 ||
        !(lens.constant >= 0 && lens.constant <= 1) || !(lens.scale > 0 && lens.scale <= 1) ||
        (line->lens == CLO_SKETCH) != (kind == LENS_SKETCH) || line->lens == CLO_NO_LENS)
        r->bad = true;
    const size_t own = lens.cols - (lens.constant > 0);
    if (kind == LENS_SKETCH) {
        lens.places = get(r, cols, CLO_SKETCH_COPIES * sizeof *lens.places);
        r->bad |= !lens.places || !is_sketch(lens.places, cols, lens.cols);
    } else if (kind == LENS_FRAME) {
        lens.rows = r->bad ? NULL : get(r, lens.cols, cols * sizeof *lens.rows);
        r->bad |= !lens.rows || !is_frame(lens.rows, lens.cols, cols);
    } else {
        r->bad |= kind != LENS_WEIGHT || own != cols ||
                  !(lens.weight >= 0 && whole(lens.weight, ldexp(1, MAP_BITS)));
    }
    out->lens = lens;
    out->ask.lens = &out->lens;
}

static bool on_grid(const double *points, size_t count, int bits)
{
    for (size_t i = 0; i < count; i++)
        if (!whole(points[i], ldexp(1, bits))) return false;
    return true;
}

/* What a centre's or a foot's offset must be: its squared length, exact below 2^53. */
static bool offsets_fit(const clo_assign *rule)
{
    const size_t rows = clo_i_assign_width(rule) / rule->clusters;
    for (size_t c = 0; c < rule->clusters; c++) {
        const double *const point = rule->points + ((c + 1) * rows - 1) * rule->cols;
        double square = 0;
        for (size_t j = 0; j < rule->cols; j++) square += point[j] * point[j];
        if (!(square <= 0x1p52) || rule->offsets[c] != square) return false;
    }
    return true;
}

static void get_rule(reader *r, clo_assign *rule)
{
    const uint64_t kind = get_word(r), clusters = get_word(r), cols = get_word(r);
    const uint64_t dim = get_word(r), bits = get_word(r);
    const bool flats = kind == CLO_ASSIGN_SUBSPACES || kind == CLO_ASSIGN_FLATS;
    if (kind > CLO_ASSIGN_FLATS || clusters < 1 || clusters > MOST_RULES || cols > UINT32_MAX ||
        dim > cols || (flats && (dim < 1 || cols > FLAT_COLS || bits > FLAT_BITS)) ||
        bits > CENTER_BITS || (kind != CLO_ASSIGN_ONE && cols < 1))
        r->bad = true;
    if (r->bad) return;
    *rule = (clo_assign){ .kind = (clo_assign_kind)kind,
                          .clusters = (size_t)clusters,
                          .cols = (size_t)cols,
                          .dim = (size_t)dim,
                          .bits = (int)bits };
    if (kind == CLO_ASSIGN_ONE) return;
    rule->points = get(r, clo_i_assign_width(rule), rule->cols * sizeof *rule->points);
    if (rule->points)
        r->bad |= !on_grid(rule->points, clo_i_assign_width(rule) * rule->cols, rule->bits);
    if (kind != CLO_ASSIGN_SUBSPACES) {
        rule->offsets = get(r, rule->clusters, sizeof *rule->offsets);
        if (rule->offsets) r->bad |= r->bad || !offsets_fit(rule);
    }
}

static const clo_line *get_line(reader *r, const clo_meter *meter, size_t *number)
{
    const uint64_t place = get_word(r);
    const void *const told = get(r, CLO_LINE_BYTES, 1);
    if (!told || place < meter->first || place - meter->first >= meter->count) {
        r->bad = true;
        return NULL;
    }
    *number = (size_t)(place - meter->first);
    r->bad |= !clo_i_line_is(&meter->lines[*number], told);
    return &meter->lines[*number];
}

static clo_status get_rules(reader *r, clo_decoded *out, clo_error *err)
{
    const uint64_t count = get_word(r);
    if (r->bad || count > MOST_RULES || count > r->left / 8) {
        r->bad = true;
        return CLO_OK;
    }
    CLO_TRY(clo_i_alloc((size_t)count, sizeof *out->rules, &out->rules, err));
    for (uint64_t i = 0; i < count; i++) get_rule(r, &out->rules[i]);
    out->ask.rules = out->rules;
    out->ask.rule_count = (size_t)count;
    return CLO_OK;
}

clo_status clo_i_ask_decode(const clo_meter *meter, size_t cols, const uint8_t *bytes, size_t count,
                            clo_decoded *out, size_t *number, clo_error *err)
{
    reader r = { .bytes = bytes, .left = count };
    *out = (clo_decoded){ .rules = NULL };
    r.bad |= get_word(&r) != MAGIC;
    (void)get_word(&r); /* clo_i_ask_entries */
    out->ask.line = get_line(&r, meter, number);
    if (!r.bad) get_lens(&r, out->ask.line, cols, out);
    CLO_TRY(get_rules(&r, out, err));
    out->ask.word_count = (size_t)get_word(&r);
    out->ask.words = get(&r, out->ask.word_count, sizeof *out->ask.words);
    if (!r.bad && r.left == 0) return CLO_OK;
    clo_i_decoded_free(out);
    return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
}

size_t clo_i_ask_entries(const uint8_t *bytes, size_t count)
{
    reader r = { .bytes = bytes, .left = count };
    const bool ask = get_word(&r) == MAGIC;
    const uint64_t entries = get_word(&r);
    return ask && !r.bad && entries < SIZE_MAX / sizeof entries ? (size_t)entries : 0;
}

void clo_i_decoded_free(clo_decoded *decoded)
{
    clo_i_free(decoded->rules);
    decoded->rules = NULL;
}
