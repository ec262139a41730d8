/*
 * schema_cell.c - cells of text under a schema: lists of levels in a hash table, missing values,
 * dates.  A cell is compared byte for byte with a public list; nothing of it is kept but the number
 * of its level.
 */
#include "schema/schema.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------- */

void clo_i_list_clear(clo_i_list *list)
{
    for (size_t i = 0; i < list->count; i++) clo_i_free(list->texts[i]);
    clo_i_free(list->texts);
    *list = (clo_i_list){ .count = 0 };
}

clo_status clo_i_list_add(clo_i_list *list, const char *text, clo_error *err)
{
    const size_t count = list->count;
    if ((count & (count - 1)) == 0) /* full at every power of two */
        CLO_TRY(clo_i_resize(&list->texts, count, count ? 2 * count : 1, sizeof *list->texts, err));
    CLO_TRY(clo_i_copy_text(text, &list->texts[count], err));
    list->count++;
    return CLO_OK;
}

/* ---- the table of texts ---------------------------------------------------------------------- */

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = CLO_TEXT_HASH;
    for (size_t i = 0; i < length; i++) hash = clo_i_text_hash_step(hash, (unsigned char)text[i]);
    return hash;
}

/* The low bits of the hash know the last bytes only in part: the high ones are mixed in. */
static size_t slot_of(const clo_i_texts *texts, uint64_t hash)
{
    return (size_t)(hash ^ hash >> 29) & (texts->slots - 1);
}

bool clo_i_texts_find(const clo_i_texts *texts, const char *text, size_t length, uint64_t hash,
                      double *code)
{
    if (texts->slots == 0) return false;
    for (size_t i = slot_of(texts, hash);; i = (i + 1) & (texts->slots - 1)) {
        const struct clo_i_text *const entry = &texts->table[i];
        if (!entry->text) return false;
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->text, text, length) == 0) {
            *code = entry->code;
            return true;
        }
    }
}

/* False where it is there already, and then what it is. */
static bool put(clo_i_texts *texts, const char *text, double code, double *there)
{
    const size_t length = strlen(text);
    const uint64_t hash = hash_of(text, length);
    if (clo_i_texts_find(texts, text, length, hash, there)) return false;
    size_t i = slot_of(texts, hash);
    while (texts->table[i].text) i = (i + 1) & (texts->slots - 1);
    texts->table[i] =
        (struct clo_i_text){ .text = text, .length = (uint32_t)length, .hash = hash, .code = code };
    texts->count++;
    return true;
}

static clo_status put_levels(clo_i_field *f, const char *where, clo_error *err)
{
    double unused;
    for (size_t i = 0; i < f->stated; i++)
        if (!put(&f->texts, f->levels.texts[i], (double)i, &unused))
            return clo_i_fail(err, CLO_FORMAT, "%s: the level \"%.60s\" is in the list twice",
                              where, f->levels.texts[i]);
    return CLO_OK;
}

/* A text that is given twice for the same is none the worse; one that means two things is refused.
 */
static clo_status put_all(clo_i_field *f, const clo_i_list *list, double code, const char *where,
                          clo_error *err)
{
    double there = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (put(&f->texts, list->texts[i], code, &there)) continue;
        if (there == code || (isnan(there) && isnan(code))) continue;
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%.60s\" cannot mean two things, a value and %s",
                          where, list->texts[i], isnan(code) ? "a missing cell" : "another one");
    }
    return CLO_OK;
}

static size_t power_above(size_t count)
{
    size_t slots = 4;
    while (slots < 2 * count) slots *= 2;
    return slots;
}

/* The missing values that are numbers, as numbers: -99 in a column of numbers. */
static clo_status find_gap_numbers(clo_i_field *f, clo_error *err)
{
    CLO_TRY(clo_i_alloc(f->gaps.count, sizeof *f->gap_numbers, &f->gap_numbers, err));
    for (size_t i = 0; i < f->gaps.count; i++) {
        double value;
        const char *const text = f->gaps.texts[i], *const end = clo_i_parse_double(text, &value);
        if (end && end > text && !*end && isfinite(value)) f->gap_numbers[f->gap_count++] = value;
    }
    return CLO_OK;
}

/* Shell's way, as nothing else is needed. */
static void sort_numbers(clo_i_field *f)
{
    for (size_t step = f->stated / 2; step > 0; step /= 2)
        for (size_t i = step; i < f->stated; i++) {
            const uint32_t moved = f->by_number[i];
            size_t j = i;
            for (; j >= step && f->numbers[f->by_number[j - step]] > f->numbers[moved]; j -= step)
                f->by_number[j] = f->by_number[j - step];
            f->by_number[j] = moved;
        }
}

static clo_status index_numbers(clo_i_field *f, const char *where, clo_error *err)
{
    CLO_TRY(clo_i_alloc(f->stated, sizeof *f->by_number, &f->by_number, err));
    for (size_t i = 0; i < f->stated; i++) f->by_number[i] = (uint32_t)i;
    sort_numbers(f);
    for (size_t i = 1; i < f->stated; i++)
        if (f->numbers[f->by_number[i]] == f->numbers[f->by_number[i - 1]])
            return clo_i_fail(err, CLO_FORMAT, "%s: the level \"%.60s\" is in the list twice",
                              where, f->levels.texts[f->by_number[i]]);
    return CLO_OK;
}

clo_status clo_i_field_index(clo_i_field *f, const char *where, clo_error *err)
{
    const bool numeric = f->type == CLO_TYPE_NUMBER || f->type == CLO_TYPE_INTEGER;
    if (numeric) CLO_TRY(find_gap_numbers(f, err));
    if (f->numbers) return index_numbers(f, where, err);
    if (numeric) return CLO_OK;
    f->texts.slots = power_above(f->stated + f->gaps.count + f->yes.count + f->no.count);
    CLO_TRY(clo_i_alloc(f->texts.slots, sizeof *f->texts.table, &f->texts.table, err));
    if (f->type == CLO_TYPE_STRING) CLO_TRY(put_levels(f, where, err));
    CLO_TRY(put_all(f, &f->no, 0, where, err));
    CLO_TRY(put_all(f, &f->yes, 1, where, err));
    return put_all(f, &f->gaps, NAN, where, err);
}

/* ---- a cell ---------------------------------------------------------------------------------- */

bool clo_i_field_is_coded(const clo_i_field *f)
{
    return f->type != CLO_TYPE_NUMBER && f->type != CLO_TYPE_INTEGER;
}

/* One more text of a draft, from whatever thread; where memory is short, the list is. */
static void collect(clo_i_list *list, const char *text, size_t length)
{
    char copy[CLO_SCHEMA_TEXT_BYTES + 1];
    if (length >= sizeof copy) return;
    memcpy(copy, text, length);
    copy[length] = 0;
#pragma omp critical
    {
        bool there = list->count >= CLO_SCHEMA_MOST_COLLECTED;
        for (size_t i = 0; i < list->count && !there; i++)
            there = strcmp(list->texts[i], copy) == 0;
        if (!there) (void)!clo_i_list_add(list, copy, NULL);
    }
}

double clo_i_field_cell(const clo_i_field *f, const char *text, size_t length)
{
    double code;
    if (clo_i_texts_find(&f->texts, text, length, hash_of(text, length), &code)) return code;
    if (f->type == CLO_TYPE_DATE) return clo_i_date_cell(text, length, f->format);
    if (f->type == CLO_TYPE_DATETIME) return clo_i_datetime_cell(text, length, f->format, f->zone);
    if (f->collects) collect(f->collects, text, length);
    return CLO_OUTSIDE;
}

/* ---- as text again --------------------------------------------------------------------------- */

void clo_schema_cell_text(const clo_schema *schema, size_t i, double cell, char *text, size_t size)
{
    char number[CLO_NUMBER_SIZE], moment[40];
    text[0] = 0;
    if (i >= schema->count || isnan(cell)) return;
    const clo_i_field *const f = &schema->fields[i];
    const char *shown = number;
    clo_number_text(cell, number);
    if (f->type == CLO_TYPE_DATE) {
        clo_i_date_text(cell, moment);
        shown = moment;
    } else if (f->type == CLO_TYPE_DATETIME) {
        clo_i_datetime_text(cell, moment);
        shown = moment;
    } else if (f->type == CLO_TYPE_BOOLEAN && (cell == 0 || cell == 1)) {
        const clo_i_list *const list = cell == 0 ? &f->no : &f->yes;
        shown = list->count ? list->texts[0] : f->levels.texts[cell == 0 ? 0 : 1];
    } else if (f->levels.count && !f->numbers) {
        const bool is = cell >= 0 && cell < (double)f->levels.count && !(cell == (double)f->gap);
        shown = is ? f->levels.texts[(size_t)cell] : "";
    }
    snprintf(text, size, "%s", shown);
}

/* "2019-03-01", "37 %": what people would write. */
bool clo_i_schema_output_text(const clo_schema *schema, size_t output, double value, char *text,
                              size_t size)
{
    char moment[40];
    const clo_i_field *const f = clo_i_schema_of_output(schema, output, NULL);
    if (!isfinite(value)) return false;
    if (f->kind == CLO_FIELD_DATE) {
        clo_i_date_text(value, moment);
        snprintf(text, size, "%s", moment);
    } else if (f->kind == CLO_FIELD_DATETIME) {
        clo_i_datetime_text(value, moment);
        snprintf(text, size, "%s", moment);
    } else if (f->kind == CLO_FIELD_LEVELS) {
        snprintf(text, size, "%.*f %%", value < 0.0995 && value > 0 ? 1 : 0, 100 * value);
    } else {
        return false;
    }
    return true;
}
