/*
 * person_rows.c - one person, at most M rows: which of them stay (bound.T3).
 *
 * Every row that names somebody is a candidate: the hash of its person, a hash of its bounded
 * content, and its number.  Sorted, the candidates of a person lie together, and the first M of
 * them stay: a rule that looks at this person alone, and not at the order of the file.  Rows that
 * name nobody are none: taken together they would be one unit of many people.
 *
 * Rows that are not held go by in passes.  When there is no room for another candidate, those that
 * cannot stay go; where too many are left, the persons with the larger hashes go altogether, and
 * have a pass of their own later (flow.T3).  How many passes that takes follows the data; what
 * comes of them does not depend on it.
 */
#include "bound/bounded.h"
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
    uint8_t unit[CLO_UNIT_BYTES];
    uint8_t content[16];
    uint32_t row; /* there are at most 2^31 */
} candidate;

static const uint32_t NO_ROW = UINT32_MAX; /* of a null record: there is this person, and no more */

static int by_unit_then_content(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const int order = memcmp(x->unit, y->unit, sizeof x->unit + sizeof x->content);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static bool same_unit(const candidate *a, const candidate *b)
{
    return memcmp(a->unit, b->unit, sizeof a->unit) == 0;
}

static void content_hash(const clo_bounded *data, size_t row, uint8_t out[16])
{
    crypto_generichash_state state;
    size_t first, count;
    clo_i_row_range(data, row, &first, &count);
    crypto_generichash_init(&state, NULL, 0, 16);
    if (data->sparse)
        crypto_generichash_update(&state, (const uint8_t *)(data->columns + first),
                                  count * sizeof *data->columns);
    crypto_generichash_update(&state, (const uint8_t *)(data->cells + first),
                              count * sizeof *data->cells);
    crypto_generichash_final(&state, out, 16);
}

/* A null record is nothing's: it takes no other row's place (bound.T6), and sorts last. */
static candidate make_candidate(const clo_bounded *data, size_t place, const uint8_t *unit,
                                bool null, size_t row)
{
    candidate t = { .row = null ? NO_ROW : (uint32_t)row };
    memcpy(t.unit, unit, sizeof t.unit);
    if (null)
        memset(t.content, 0xff, sizeof t.content);
    else
        content_hash(data, place, t.content);
    return t;
}

/* Of candidates in any order those that stay, sorted: of each person the first M, or one that is no
 * row's; how many there are. */
static size_t keep_first(candidate *candidates, size_t count, uint64_t most)
{
    uint64_t of_this_unit = 0;
    size_t kept = 0;
    if (count > 0) qsort(candidates, count, sizeof *candidates, by_unit_then_content);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !same_unit(&candidates[i], &candidates[kept - 1])) of_this_unit = 0;
        if (of_this_unit > 0 && candidates[i].row == NO_ROW) continue;
        if (of_this_unit++ < most) candidates[kept++] = candidates[i];
    }
    return kept;
}

/* Of sorted candidates, what clo_persons_compare says of the same table. */
static void count_persons(const candidate *candidates, size_t count, clo_persons *all)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        if (i && same_unit(&candidates[i], &candidates[i - 1])) continue;
        memcpy(&word, candidates[i].unit, sizeof word);
        all->count++;
        all->sum += word;
    }
}

static bool is_nobody(const uint8_t *unit)
{
    return sodium_is_zero(unit, CLO_UNIT_BYTES);
}

/* ---- rows in memory ---------------------------------------------------------------------- */

clo_status clo_i_limit_units(clo_bounded *data, const clo_table *table, const uint8_t *nulls,
                             clo_error *err)
{
    const size_t rows = data->rows;
    candidate *candidates = NULL;
    uint8_t *gone = NULL;
    size_t count = 0;
    CLO_TRY(clo_i_alloc(rows, sizeof *candidates, &candidates, err));
    clo_status status = clo_i_alloc(rows, 1, &gone, err);
    for (size_t i = 0; i < rows && !status; i++) {
        const uint8_t *const unit = clo_i_table_unit(table, i);
        gone[i] = true;
        if (!is_nobody(unit)) candidates[count++] = make_candidate(data, i, unit, nulls[i], i);
    }
    const size_t kept = keep_first(candidates, count, data->domain.rows_per_unit);
    count_persons(candidates, kept, &data->persons);
    for (size_t i = 0; i < kept; i++)
        if (candidates[i].row != NO_ROW) gone[candidates[i].row] = false;
    if (!status) clo_i_close_up(data, gone);
    clo_i_wipe_free(gone, gone ? rows : 0);
    clo_i_wipe_free(candidates, rows * sizeof *candidates);
    return status;
}

/* ---- rows that go by (flow.T3) ----------------------------------------------------------- */

struct clo_i_chooser {
    candidate *candidates;
    size_t room, count, rows;
    uint64_t most; /* rows of a person */
    /* Whose rows this pass looks at. */
    uint8_t from[CLO_UNIT_BYTES], to[CLO_UNIT_BYTES];
    bool to_the_end; /* there is no `to` */
    size_t row;      /* that comes next */
    uint8_t *bits;
    size_t kept;
    clo_persons persons;
};

enum { LEAST_CANDIDATES = 1 << 14, PERSONS_AT_ONCE = 4 };

/* Four persons with as many rows as may stay: then one of them at least is through in a pass. */
uint64_t clo_i_chooser_least(uint64_t rows_per_unit)
{
    const uint64_t most = rows_per_unit < NO_ROW ? rows_per_unit : NO_ROW;
    const uint64_t candidates = PERSONS_AT_ONCE * (most + 1);
    return (candidates > LEAST_CANDIDATES ? candidates : LEAST_CANDIDATES) * sizeof(candidate);
}

clo_status clo_i_chooser_new(uint64_t bytes, size_t rows, uint64_t rows_per_unit, uint8_t *bits,
                             clo_i_chooser **out, clo_error *err)
{
    const uint64_t room = bytes / sizeof(candidate);
    clo_i_chooser *chooser = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *chooser, &chooser, err));
    *chooser = (clo_i_chooser){ .room = room < rows ? (size_t)room : rows,
                                .rows = rows,
                                .most = rows_per_unit,
                                .to_the_end = true,
                                .bits = bits };
    const clo_status status =
        clo_i_alloc(chooser->room, sizeof *chooser->candidates, &chooser->candidates, err);
    if (status)
        clo_i_chooser_free(chooser);
    else
        *out = chooser;
    return status;
}

void clo_i_chooser_free(clo_i_chooser *chooser)
{
    if (!chooser) return;
    clo_i_wipe_free(chooser->candidates,
                    chooser->candidates ? chooser->room * sizeof *chooser->candidates : 0);
    clo_i_wipe_free(chooser, sizeof *chooser);
}

static bool is_looked_at(const clo_i_chooser *chooser, const uint8_t *unit)
{
    if (is_nobody(unit) || memcmp(unit, chooser->from, CLO_UNIT_BYTES) < 0) return false;
    return chooser->to_the_end || memcmp(unit, chooser->to, CLO_UNIT_BYTES) < 0;
}

/* Persons from the one in the middle on go: they are for another pass.  Nobody has more than a
 * quarter of the candidates, so that somebody is left. */
static void narrow(clo_i_chooser *chooser)
{
    size_t end = chooser->room / 2;
    memcpy(chooser->to, chooser->candidates[end].unit, sizeof chooser->to);
    chooser->to_the_end = false;
    while (end > 0 && same_unit(&chooser->candidates[end - 1], &chooser->candidates[end])) end--;
    chooser->count = end;
}

static void make_room(clo_i_chooser *chooser)
{
    chooser->count = keep_first(chooser->candidates, chooser->count, chooser->most);
    if (chooser->count > chooser->room - chooser->room / 4) narrow(chooser);
}

void clo_i_chooser_look(clo_i_chooser *chooser, const clo_bounded *part, const clo_table *table,
                        size_t first, const uint8_t *nulls)
{
    /* More rows than there were: the pass will fail. */
    for (size_t i = 0; i < part->rows && chooser->row < chooser->rows; i++, chooser->row++) {
        const uint8_t *const unit = clo_i_table_unit(table, first + i);
        if (!is_looked_at(chooser, unit)) continue;
        if (chooser->count == chooser->room) make_room(chooser);
        if (!is_looked_at(chooser, unit)) continue;
        chooser->candidates[chooser->count++] =
            make_candidate(part, i, unit, nulls[i], chooser->row);
    }
}

bool clo_i_chooser_end(clo_i_chooser *chooser)
{
    const size_t count = keep_first(chooser->candidates, chooser->count, chooser->most);
    count_persons(chooser->candidates, count, &chooser->persons);
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = chooser->candidates[i].row;
        if (row == NO_ROW) continue;
        chooser->bits[row / 8] |= (uint8_t)(1 << row % 8);
        chooser->kept++;
    }
    memcpy(chooser->from, chooser->to, sizeof chooser->from);
    chooser->count = chooser->row = 0;
    const bool done = chooser->to_the_end;
    chooser->to_the_end = true;
    return done;
}

size_t clo_i_chooser_kept(const clo_i_chooser *chooser, clo_persons *persons)
{
    *persons = chooser->persons;
    return chooser->kept;
}
