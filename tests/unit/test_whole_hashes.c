/*
 * test_whole_hashes.c - what is hashed or compared leaves nothing out: each byte, field, row,
 * column and person is changed in turn, and the hash or the comparison must differ each time.  One
 * who adds a field and forgets it, or stops a loop before its end, is told which one here.
 *
 * Elsewhere: plans by unit_plan_identity, pass_hashs of files by unit_pass_hash.
 */
#include "ledger_place.h"
#include "meeting.h"
#include "pipeline.h"
#include "ask/blocks.h"
#include "ask/fold.h"
#include "bound/bound.h"
#include "job/job.h"
#include "query/gaussian_sum.h"
#include "query/queries.h"
#include <sodium.h>
#include <stddef.h>

static const double STEP = 0x1p-29; /* well above one of the grid, far below anything else */

/* ---- hashes of rows (fold.T4) ---------------------------------------------------------------- */

enum { ROWS = 9, MOST_COLS = 5, GROUPS = 2 };
typedef struct row_hashes {
    uint64_t all[CLO_ROW_HASH_NUMBERS];
    clo_row_hash group[GROUPS];
} row_hashes;

static row_hashes hashes_of(const double *values, const uint64_t *units, size_t rows, size_t cols)
{
    static const uint8_t key[CLO_ROW_HASH_KEY_BYTES] = { 5 };
    static const uint32_t block_of[ROWS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    const clo_dealing how = { .count = GROUPS, .groups = GROUPS, .row_hash_key = key };
    clo_domain domain = ball(cols, 1, CLO_REPLACE);
    clo_bounded *data = NULL;
    row_hashes out = { { 0 }, { { { 0 } } } };
    clo_error err;
    domain.unit = "person";
    domain.rows_per_unit = 2;
    clo_table *const table = table_of_persons(values, units, rows, cols);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    assert_ok(clo_i_hash_rows(data, key, 2, out.all, &err), err);
    assert_ok(clo_i_hash_groups(data, &how, block_of, 2, out.group, &err), err);
    clo_bounded_free(data);
    return out;
}

static void a_row_hash_has_every_column_of_every_row(void **state)
{
    (void)state;
    for (size_t cols = 1; cols <= MOST_COLS; cols++) {
        double values[ROWS * MOST_COLS];
        uint64_t units[ROWS];
        for (size_t i = 0; i < ROWS; i++) units[i] = 100 + i;
        for (size_t i = 0; i < ROWS * cols; i++) values[i] = 0.01 * (double)(1 + i % 7);
        const row_hashes before = hashes_of(values, units, ROWS, cols);
        for (size_t i = 0; i < ROWS * cols; i++) {
            values[i] += STEP;
            const row_hashes now = hashes_of(values, units, ROWS, cols);
            values[i] -= STEP;
            assert_true(now.all[1] != before.all[1]);
            for (size_t b = 0; b < GROUPS; b++) /* its own group, and no other */
                assert_true((now.group[b].numbers[1] != before.group[b].numbers[1]) ==
                            (i / cols % GROUPS == b));
        }
        const row_hashes fewer = hashes_of(values, units, ROWS - 1, cols);
        assert_true(fewer.all[0] != before.all[0] && fewer.all[1] != before.all[1]);
    }
}

static void a_row_hash_has_every_person(void **state)
{
    double values[ROWS] = { 0 };
    uint64_t units[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) units[i] = 100 + i;
    const row_hashes before = hashes_of(values, units, ROWS, 1);
    for (size_t i = 0; i < ROWS; i++) {
        units[i] = 7; /* somebody else */
        row_hashes now = hashes_of(values, units, ROWS, 1);
        assert_true(now.all[2] == before.all[2] && now.all[3] != before.all[3]);
        assert_true(now.group[0].numbers[3] != before.group[0].numbers[3]);
        units[i] = 100 + (i + 1) % ROWS; /* one fewer */
        now = hashes_of(values, units, ROWS, 1);
        assert_true(now.all[2] + 1 == before.all[2] && now.all[3] != before.all[3]);
        assert_true(now.group[0].numbers[2] + 1 == before.group[0].numbers[2]);
        units[i] = 100 + i;
    }
}

/* Where each record has a place of its own, one that is null has its place, and no more (bound.T6):
 * so all are counted, and which of them is null is seen. */
static void a_row_hash_has_every_null_record(void **state)
{
    static const uint8_t key[CLO_ROW_HASH_KEY_BYTES] = { 5 };
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    double values[ROWS];
    uint64_t first = 0;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) values[i] = 0.01 * (double)(i + 1);
    for (size_t i = 0; i <= ROWS; i++) {
        const double kept = i < ROWS ? values[i] : 0;
        uint64_t row_hash[CLO_ROW_HASH_NUMBERS];
        if (i < ROWS) values[i] = NAN;
        clo_bounded *const data = bounded_from(values, ROWS, &domain);
        if (i < ROWS) values[i] = kept;
        assert_ok(clo_i_hash_rows(data, key, 1, row_hash, &err), err);
        clo_bounded_free(data);
        if (row_hash[0] != ROWS)
            fail_msg("with record %zu null the row hash counts %zu of %d records", i,
                     (size_t)row_hash[0], ROWS);
        assert_true(i == 0 || row_hash[1] != first);
        first = i ? first : row_hash[1];
    }
}

/* ---- persons of two ranks (fold.T5) ---------------------------------------------------------- */

enum { EACH = 140000 }; /* more persons on two ranks than are compared at once: two ranges */

typedef struct company {
    seat seat;
    clo_table *table;
    clo_persons found;
    clo_status status;
    clo_error err;
} company;

static void *compare_as_rank(void *user)
{
    company *const self = user;
    clo_job *job = NULL;
    self->status = clo_job_new(&job, &self->err);
    if (!self->status) {
        job->options.comm = &self->seat.comm;
        job->table = self->table;
        self->status = clo_i_job_compare_persons(job, self->table, &self->err);
        self->found = job->persons;
    }
    leave_meeting(&self->seat);
    clo_job_free(job);
    return NULL;
}

static void compare_on_two_ranks(company ranks[2], uint64_t *const units[2])
{
    static double values[EACH];
    meeting m = { .size = 0 };
    pthread_t tasks[2];
    open_meeting(&m, 2);
    for (int r = 0; r < 2; r++) {
        ranks[r].table = table_of_persons(values, units[r], EACH, 1);
        take_seat(&ranks[r].seat, &m, r);
        assert_int_equal(pthread_create(&tasks[r], NULL, compare_as_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < 2; r++) assert_int_equal(pthread_join(tasks[r], NULL), 0);
    for (int r = 0; r < 2; r++) clo_table_free(ranks[r].table);
    close_meeting(&m);
}

/* Of data/formats.h, which has a name in common with ask/query.h. */
void clo_i_unit_hash(const uint8_t key[CLO_UNIT_KEY_BYTES], const void *bytes, size_t count,
                     uint8_t out[CLO_PERSON_BYTES]);

/* Of these persons those whose hashes begin and end the lower and the upper half of all. */
static void find_ends(const uint64_t *units, uint64_t ends[4])
{
    static const uint8_t key[CLO_UNIT_KEY_BYTES] = { 7 }; /* as table_of_persons */
    uint8_t best[4][CLO_PERSON_BYTES], hash[CLO_PERSON_BYTES];
    bool any[4] = { false };
    for (size_t i = 0; i < EACH; i++) {
        clo_i_unit_hash(key, &units[i], sizeof units[i], hash);
        for (size_t e = hash[0] < 128 ? 0 : 2, last = e + 1; e <= last; e++) {
            const int order = memcmp(hash, best[e], sizeof hash);
            if (any[e] && (e == last ? order < 0 : order > 0)) continue;
            memcpy(best[e], hash, sizeof hash);
            ends[e] = units[i];
            any[e] = true;
        }
    }
}

static void every_range_of_persons_is_compared(void **state)
{
    static uint64_t own[EACH], other[EACH];
    uint64_t *const units[2] = { own, other }, ends[4] = { 0 };
    company ranks[2];
    (void)state;
    for (size_t i = 0; i < EACH; i++) {
        own[i] = 1 + i;
        other[i] = 1 + EACH + i;
    }
    compare_on_two_ranks(ranks, units);
    for (int r = 0; r < 2; r++) {
        assert_ok(ranks[r].status, ranks[r].err);
        assert_int_equal(ranks[r].found.count, 2 * EACH);
    }
    assert_true(ranks[0].found.sum == ranks[1].found.sum);
    find_ends(own, ends);
    for (size_t e = 0; e < 4; e++) {
        other[EACH - 1] = ends[e];
        compare_on_two_ranks(ranks, units);
        for (int r = 0; r < 2; r++)
            assert_fails(ranks[r].status, CLO_DOMAIN, ranks[r].err, "rows in two parts");
    }
}

/* Each of many persons beside each: the last, too, and hashes that differ in any one byte. */
static void every_person_of_a_list_is_compared(void **state)
{
    enum { COUNT = 40 };
    uint8_t hashes[COUNT + 1][CLO_PERSON_BYTES], shuffled[COUNT + 1][CLO_PERSON_BYTES];
    clo_persons all, found;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) /* all alike but for one byte, or the value of it */
        for (size_t b = 0; b < CLO_PERSON_BYTES; b++)
            hashes[i][b] = (uint8_t)(1 + (b == i % CLO_PERSON_BYTES) * (1 + i));
    memcpy(shuffled, hashes, sizeof shuffled);
    assert_ok(clo_persons_compare(shuffled[0], COUNT, &all, &err), err);
    assert_int_equal(all.count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        memcpy(shuffled, hashes, sizeof shuffled);
        memcpy(shuffled[COUNT], hashes[i], CLO_PERSON_BYTES);
        assert_fails(clo_persons_compare(shuffled[0], COUNT + 1, &found, &err), CLO_DOMAIN, err,
                     "rows in two parts");
        memcpy(shuffled, hashes, sizeof shuffled);
        memset(shuffled[i], 0, CLO_PERSON_BYTES); /* nobody */
        assert_ok(clo_persons_compare(shuffled[0], COUNT, &found, &err), err);
        assert_true(found.count + 1 == all.count && found.sum != all.sum);
    }
}

/* ---- entries of a ledger (ledger.T8) --------------------------------------------------------- */

/* Of one struct: its hash into 32 bytes; before: the hash of the entry before it. */
typedef void hash_it(const void *entry, const uint8_t before[LEDGER_HASH],
                     uint8_t out[LEDGER_HASH]);

static const uint8_t key_bytes[LEDGER_KEY] = { 3, 1, 4 };

static clo_i_key own_key(void)
{
    clo_i_key key = { .known = true };
    memcpy(key.bytes, key_bytes, sizeof key.bytes);
    return key;
}

#define HASHED(name, type, call)                                                                   \
    static void hash_##name(const void *entry, const uint8_t before[LEDGER_HASH],                  \
                            uint8_t out[LEDGER_HASH])                                              \
    {                                                                                              \
        const clo_i_key key = own_key();                                                           \
        const type *const e = entry;                                                               \
        memcpy(out, before, LEDGER_HASH);                                                          \
        call;                                                                                      \
    }
HASHED(charge, clo_i_entry, clo_i_chain_charge(&key, e, out))
HASHED(declaration, clo_i_declaration, clo_i_chain_declaration(&key, e, out))
HASHED(act, clo_i_act, clo_i_chain_act(&key, e, out))
HASHED(account, clo_i_account, clo_i_chain_account(&key, before, e, out))
#undef HASHED

/* A field of a struct that is hashed; a text is changed in each letter, and made shorter. */
typedef struct field {
    const char *name;
    size_t offset, size;
    bool text, number; /* number: of a set, of which the two lowest bits are tried */
} field;
#define WHOLE(type, member)                                                                        \
    {                                                                                              \
#member, offsetof(type, member), sizeof(((type *)0)->member), false, false                 \
    }
#define LETTERS(type, member)                                                                      \
    {                                                                                              \
#member, offsetof(type, member), sizeof(((type *)0)->member), true, false                  \
    }
#define ONE_OF(type, member)                                                                       \
    {                                                                                              \
#member, offsetof(type, member), 1, false, true                                            \
    }

static void differs(hash_it *hash, const void *entry, const uint8_t *expected, const char *name,
                    size_t byte)
{
    static const uint8_t before[LEDGER_HASH] = { 9 };
    uint8_t now[LEDGER_HASH];
    hash(entry, before, now);
    if (memcmp(now, expected, LEDGER_HASH) != 0) return;
    print_error("byte %zu of '%s' is not hashed\n", byte, name);
    fail();
}

static void every_field_is_hashed(hash_it *hash, void *entry, const field *fields, size_t count)
{
    static const uint8_t before[LEDGER_HASH] = { 9 };
    uint8_t expected[LEDGER_HASH], own[LEDGER_HASH], now[LEDGER_HASH];
    hash(entry, before, expected);
    memcpy(own, before, sizeof own);
    for (size_t b = 0; b < LEDGER_HASH; b++) {
        own[b] ^= 1;
        if (hash != hash_account || b < LEDGER_IDENTITY) {
            hash(entry, own, now);
            assert_memory_not_equal(now, expected, LEDGER_HASH);
        }
        own[b] ^= 1;
    }
    for (size_t f = 0; f < count; f++) {
        uint8_t *const at = (uint8_t *)entry + fields[f].offset;
        const size_t size = fields[f].text ? strlen((char *)at) : fields[f].size;
        assert_true(size > 0);
        for (size_t b = 0; b < size; b++) {
            at[b] ^= 1;
            differs(hash, entry, expected, fields[f].name, b);
            at[b] ^= 1;
        }
        if (!fields[f].text) continue;
        const uint8_t last = at[size - 1];
        at[size - 1] = 0;
        differs(hash, entry, expected, fields[f].name, size);
        at[size - 1] = last;
    }
    hash(entry, before, now);
    assert_memory_equal(now, expected, LEDGER_HASH);
}

#define assert_all_hashed(hash, entry, fields)                                                     \
    every_field_is_hashed((hash), (entry), (fields), sizeof(fields) / sizeof *(fields))

static void a_charge_is_hashed_whole(void **state)
{
    static const field plain[] = {
        WHOLE(clo_i_entry, sequence),       WHOLE(clo_i_entry, time),
        LETTERS(clo_i_entry, dataset),      LETTERS(clo_i_entry, mechanism),
        LETTERS(clo_i_entry, relation),     WHOLE(clo_i_entry, asked.epsilon),
        WHOLE(clo_i_entry, asked.delta),    WHOLE(clo_i_entry, cost.epsilon),
        WHOLE(clo_i_entry, cost.delta),     WHOLE(clo_i_entry, cost.rho),
        WHOLE(clo_i_entry, cost.rho_delta), ONE_OF(clo_i_entry, rule),
        WHOLE(clo_i_entry, capacity),
    };
    static const field keyed[] = { LETTERS(clo_i_entry, token), WHOLE(clo_i_entry, plan),
                                   WHOLE(clo_i_entry, key_id), ONE_OF(clo_i_entry, attributed) };
    static const field attributed[] = { LETTERS(clo_i_entry, user), LETTERS(clo_i_entry, host),
                                        LETTERS(clo_i_entry, purpose),
                                        LETTERS(clo_i_entry, program) };
    clo_i_entry e = { .dataset = "people",
                      .mechanism = "kmeans/lloyd",
                      .relation = "replace",
                      .token = "t1",
                      .user = "alice",
                      .host = "h1",
                      .purpose = "why",
                      .program = "cloister" };
    (void)state;
    for (e.format = LEDGER_PLAIN; e.format <= LEDGER_KEYED; e.format++)
        for (int told = 0; told < 2; told++) {
            e.attributed = told;
            assert_all_hashed(hash_charge, &e, plain);
            if (e.format == LEDGER_KEYED) assert_all_hashed(hash_charge, &e, keyed);
            if (told) assert_all_hashed(hash_charge, &e, attributed);
        }
}

static void a_declaration_is_hashed_whole(void **state)
{
    static const field all[] = {
        WHOLE(clo_i_declaration, sequence),    WHOLE(clo_i_declaration, after),
        WHOLE(clo_i_declaration, time),        LETTERS(clo_i_declaration, dataset),
        WHOLE(clo_i_declaration, cap.epsilon), WHOLE(clo_i_declaration, cap.delta),
        WHOLE(clo_i_declaration, cap_epsilon), WHOLE(clo_i_declaration, cap_delta),
    };
    static const field keyed[] = { WHOLE(clo_i_declaration, key_id) };
    clo_i_declaration e = { .dataset = "people" };
    (void)state;
    for (e.format = LEDGER_PLAIN; e.format <= LEDGER_KEYED; e.format++) {
        assert_all_hashed(hash_declaration, &e, all);
        if (e.format == LEDGER_KEYED) assert_all_hashed(hash_declaration, &e, keyed);
    }
}

static void an_act_is_hashed_whole(void **state)
{
    static const field all[] = {
        WHOLE(clo_i_act, sequence), WHOLE(clo_i_act, after),     WHOLE(clo_i_act, time),
        LETTERS(clo_i_act, kind),   LETTERS(clo_i_act, dataset), WHOLE(clo_i_act, charge),
        WHOLE(clo_i_act, key_id),
    };
    static const uint8_t before[LEDGER_HASH] = { 9 };
    uint8_t detail[100] = "0.5\na note", expected[LEDGER_HASH];
    clo_i_act e = { .kind = "lower", .dataset = "people", .detail = detail, .length = 100 };
    (void)state;
    assert_all_hashed(hash_act, &e, all);
    hash_act(&e, before, expected);
    for (size_t b = 0; b < sizeof detail; b++) {
        detail[b] ^= 1;
        differs(hash_act, &e, expected, "detail", b);
        detail[b] ^= 1;
    }
    e.length--; /* a zero less */
    differs(hash_act, &e, expected, "length", 0);
}

static void an_account_is_hashed_whole(void **state)
{
    static const field all[] = {
        WHOLE(clo_i_account, id),
        LETTERS(clo_i_account, name),
        LETTERS(clo_i_account, relation),
        ONE_OF(clo_i_account, capped),
        WHOLE(clo_i_account, cap.epsilon),
        WHOLE(clo_i_account, cap.delta),
        WHOLE(clo_i_account, cap_epsilon),
        WHOLE(clo_i_account, cap_delta),
        ONE_OF(clo_i_account, rule),
        WHOLE(clo_i_account, base_epsilon),
        WHOLE(clo_i_account, base_rho),
        WHOLE(clo_i_account, capacity),
        WHOLE(clo_i_account, first.epsilon),
        WHOLE(clo_i_account, first.delta),
        WHOLE(clo_i_account, charges),
        WHOLE(clo_i_account, spent.epsilon),
        WHOLE(clo_i_account, spent.delta),
        WHOLE(clo_i_account, spent.rho),
        WHOLE(clo_i_account, spent.rho_delta),
    };
    clo_i_account e = { .name = "people", .relation = "replace" };
    (void)state;
    assert_all_hashed(hash_account, &e, all);
}

/* ---- contents, results, seals and keys of a ledger ------------------------------------------- */

/* All that is hashed beside entries, in one struct of bytes and whole numbers. */
typedef struct beside {
    uint8_t key[LEDGER_KEY], identity[LEDGER_IDENTITY], hash[LEDGER_HASH], other[LEDGER_HASH];
    uint8_t content[CLO_DIGEST_BYTES];
    uint64_t number, second;
    int64_t time;
    char kind[8], dataset[8], value[8];
} beside;

static void hash_content(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    clo_i_chain_content(&key, e->identity, e->kind, e->number, e->content, out);
}

static void hash_result(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    clo_i_chain_result(&key, e->hash, e->time, e->content, sizeof e->content, out);
}

static void hash_effect(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    clo_i_chain_effect(&key, e->identity, e->number, e->kind, e->dataset, e->value, out);
}

static void hash_policy(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    clo_i_chain_policy(&key, e->identity, e->number, out);
}

static void hash_signing(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    clo_i_chain_signing(&key, e->identity, out);
}

static void hash_start(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    (void)before;
    clo_i_chain_start(e->identity, e->kind, out);
}

static void hash_seal(const void *entry, const uint8_t *before, uint8_t *out)
{
    const beside *const e = entry;
    clo_i_key key = { .known = true };
    clo_i_head head = { .created = e->time,
                        .plain_charges = e->number,
                        .plain_declarations = e->second };
    (void)before;
    memcpy(key.bytes, e->key, sizeof key.bytes);
    memcpy(head.identity, e->identity, sizeof head.identity);
    clo_i_chain_seal(&key, &head, e->hash, e->other, out);
}

/* Every byte of each argument of each hash; none of these has an entry before it. */
static void what_is_hashed_beside_entries_is_hashed_whole(void **state)
{
#define IN(member)   WHOLE(beside, member)
#define TEXT(member) LETTERS(beside, member)
    static const field content[] = { IN(key), IN(identity), IN(number), IN(content), TEXT(kind) };
    static const field result[] = { IN(key), IN(hash), IN(time), IN(content) };
    static const field effect[] = { IN(key),    IN(identity),  IN(number),
                                    TEXT(kind), TEXT(dataset), TEXT(value) };
    static const field policy[] = { IN(key), IN(identity), IN(number) };
    static const field signing[] = { IN(key), IN(identity) };
    static const field start[] = { IN(identity), TEXT(kind) };
    static const field seal[] = { IN(key),  IN(identity), IN(time), IN(number),
                                  IN(hash), IN(second),   IN(other) };
#undef TEXT
#undef IN
    static const struct {
        hash_it *hash;
        const field *fields;
        size_t count;
    } all[] = { { hash_content, content, 5 }, { hash_result, result, 4 },
                { hash_effect, effect, 6 },   { hash_policy, policy, 3 },
                { hash_signing, signing, 2 }, { hash_start, start, 2 },
                { hash_seal, seal, 7 } };
    static const uint8_t before[LEDGER_HASH] = { 9 };
    beside e = { .key = { 1 }, .kind = "content", .dataset = "people", .value = "0.5" };
    (void)state;
    for (size_t h = 0; h < sizeof all / sizeof *all; h++) {
        uint8_t expected[LEDGER_HASH];
        all[h].hash(&e, before, expected);
        for (size_t f = 0; f < all[h].count; f++) {
            const field *const one = &all[h].fields[f];
            uint8_t *const at = (uint8_t *)&e + one->offset;
            for (size_t b = 0; b < (one->text ? strlen((char *)at) : one->size); b++) {
                at[b] ^= 1;
                differs(all[h].hash, &e, expected, one->name, b);
                at[b] ^= 1;
            }
        }
    }
}

/* ---- tokens: what a stored release is known by (ledger.T10, ledger.T12) ---------------------- */

static clo_status try_fetch(clo_ledger *ledger, const char *dataset, const uint8_t *plan,
                            const uint8_t *content, clo_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    const clo_status status =
        clo_i_ledger_fetch(ledger, dataset, plan, "t", content, &bytes, &length, err);
    if (!status) assert_memory_equal(bytes, "released", 8);
    clo_i_free(bytes);
    return status;
}

static void a_token_is_for_one_plan_and_one_content(void **state)
{
    const place *p = *state;
    uint8_t plan[LEDGER_PLAN] = { 1 }, content[CLO_DIGEST_BYTES] = { 2 };
    char dataset[] = "people";
    const clo_i_charge charge = { .dataset = dataset,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.5, 0 },
                                  .rho = UINT64_C(1) << 45,
                                  .token = "t",
                                  .plan = plan,
                                  .content = content };
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt;
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
    assert_ok(clo_i_ledger_store(ledger, &receipt, "released", 8, &err), err);
    assert_ok(try_fetch(ledger, dataset, plan, content, &err), err);
    for (size_t b = 0; b < sizeof plan; b++) {
        plan[b] ^= 1;
        assert_fails(try_fetch(ledger, dataset, plan, content, &err), CLO_ARGUMENT, err,
                     "other settings");
        plan[b] ^= 1;
    }
    for (size_t b = 0; b < sizeof content; b++) {
        content[b] ^= 1;
        assert_fails(try_fetch(ledger, dataset, plan, content, &err), CLO_ARGUMENT, err,
                     "other data");
        content[b] ^= 1;
    }
    for (size_t b = 0; dataset[b]; b++) {
        dataset[b] ^= 1;
        assert_fails(try_fetch(ledger, dataset, plan, content, &err), CLO_ARGUMENT, err,
                     "the data set");
        dataset[b] ^= 1;
    }
    assert_ok(try_fetch(ledger, dataset, plan, content, &err), err);
    clo_ledger_close(ledger);
}

/* Changes one byte of what is stored in that row, whatever the triggers say; the same again changes
 * it back. */
static void flip_stored(clo_ledger *ledger, const char *table, size_t byte)
{
    uint8_t hash[LEDGER_HASH];
    char query[100];
    clo_error err;
    snprintf(query, sizeof query, "SELECT hash FROM %s WHERE sequence = 1", table);
    clo_i_sql sql = clo_i_sql_start(ledger, query);
    assert_true(clo_i_sql_row(&sql));
    clo_i_sql_get_bytes(&sql, 0, hash, LEDGER_HASH);
    assert_ok(clo_i_sql_finish(&sql, &err), err);
    hash[byte] ^= 1;
    snprintf(query, sizeof query, "UPDATE %s SET hash = ? WHERE sequence = 1", table);
    sql = clo_i_sql_start(ledger, query);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    assert_ok(clo_i_sql_finish(&sql, &err), err);
}

/* What is stored is compared whole, too: a result's hash, and that of a content. */
static void every_byte_of_a_stored_hash_is_compared(void **state)
{
    const place *p = *state;
    const uint8_t plan[LEDGER_PLAN] = { 1 }, content[CLO_DIGEST_BYTES] = { 2 };
    const clo_i_charge charge = { .dataset = "people",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.5, 0 },
                                  .rho = UINT64_C(1) << 45,
                                  .token = "t",
                                  .plan = plan,
                                  .content = content };
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt;
    char name[LEDGER_TEXT + 1];
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
    assert_ok(clo_i_ledger_store(ledger, &receipt, "released", 8, &err), err);
    assert_ok(clo_i_sql_do(ledger, "DROP TRIGGER result_is_not_changed", &err), err);
    assert_ok(clo_i_sql_do(ledger, "DROP TRIGGER content_is_not_changed", &err), err);
    for (size_t b = 0; b < LEDGER_HASH; b++) {
        flip_stored(ledger, "result", b);
        assert_fails(try_fetch(ledger, "people", plan, content, &err), CLO_LEDGER, err,
                     "was changed");
        flip_stored(ledger, "result", b);
        flip_stored(ledger, "content", b);
        assert_fails(try_fetch(ledger, "people", plan, content, &err), CLO_ARGUMENT, err,
                     "other data");
        assert_ok(clo_ledger_known_as(ledger, "new", content, name, sizeof name, &err), err);
        assert_string_equal(name, "");
        flip_stored(ledger, "content", b);
    }
    assert_ok(try_fetch(ledger, "people", plan, content, &err), err);
    assert_ok(clo_ledger_known_as(ledger, "new", content, name, sizeof name, &err), err);
    assert_string_equal(name, "people");
    clo_ledger_close(ledger);
}

/* A result is stored by who has the receipt, all of it. */
static void a_result_is_stored_by_the_whole_receipt(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt = charge_with(ledger, "t", NULL);
    uint8_t *const parts[] = { receipt.identity, receipt.hash };
    const size_t sizes[] = { sizeof receipt.identity, sizeof receipt.hash };
    clo_error err;
    for (size_t part = 0; part < 2; part++)
        for (size_t b = 0; b < sizes[part]; b++) {
            parts[part][b] ^= 1;
            assert_fails(clo_i_ledger_store(ledger, &receipt, "x", 1, &err), CLO_ARGUMENT, err,
                         "the ledger that was charged");
            parts[part][b] ^= 1;
        }
    assert_ok(clo_i_ledger_store(ledger, &receipt, "x", 1, &err), err);
    clo_ledger_close(ledger);
}

/* ---- lines and asks as bytes (fold.T2) ------------------------------------------------------- */

static clo_line a_line(const clo_domain *domain)
{
    clo_line line;
    clo_error err;
    assert_ok(clo_i_plan_gaussian_sum(domain, 2, 1, 1, "", &line, &err), err);
    return line;
}

static void every_byte_of_a_line_is_written_and_compared(void **state)
{
    const clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_line line = a_line(&domain);
    const struct {
        void *at;
        size_t size;
    } parts[] = { { &line.event.kind, sizeof line.event.kind },
                  { &line.event.parameter, sizeof line.event.parameter },
                  { &line.event.delta, sizeof line.event.delta },
                  { &line.event.count, sizeof line.event.count },
                  { (uint8_t *)&line + offsetof(clo_line, bits),
                    sizeof line - offsetof(clo_line, bits) } };
    uint8_t before[CLO_LINE_BYTES], now[CLO_LINE_BYTES];
    (void)state;
    clo_i_line_write(&line, before);
    assert_true(clo_i_line_is(&line, before));
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t b = 0; b < parts[p].size; b++) {
            ((uint8_t *)parts[p].at)[b] ^= 1;
            clo_i_line_write(&line, now);
            assert_false(clo_i_line_is(&line, before));
            ((uint8_t *)parts[p].at)[b] ^= 1;
            assert_memory_not_equal(now, before, sizeof now);
        }
    line.query = &clo_i_query_look;
    clo_i_line_write(&line, now);
    assert_memory_not_equal(now, before, sizeof now);
}

/* The bytes of an ask about two centres and two words, through a lens. */
typedef struct asked {
    clo_line line;
    clo_lens lens;
    clo_assign rules[2];
    uint64_t words[2];
    double rows[2 * 3], points[2][2 * 2], offsets[2][2];
    size_t number, entries;
} asked;

static uint8_t *bytes_of(const asked *a, size_t *count)
{
    const clo_ask ask = { .line = &a->line,
                          .lens = &a->lens,
                          .rules = a->rules,
                          .rule_count = 2,
                          .words = a->words,
                          .word_count = 2 };
    uint8_t *bytes = NULL;
    clo_error err;
    assert_ok(clo_i_ask_encode(&ask, a->number, a->entries, &bytes, count, &err), err);
    return bytes;
}

static void every_part_of_an_ask_is_written(void **state)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    asked a = { .line = a_line(&domain), .number = 1, .entries = 6 };
    (void)state;
    a.lens = (clo_lens){ .from = 3, .cols = 2, .rows = a.rows, .weight = 1, .scale = 1 };
    for (size_t r = 0; r < 2; r++)
        a.rules[r] = (clo_assign){ .kind = CLO_ASSIGN_CENTERS,
                                   .clusters = 2,
                                   .cols = 2,
                                   .bits = 20,
                                   .points = a.points[r],
                                   .offsets = a.offsets[r] };
    const struct {
        void *at;
        size_t size;
    } parts[] = { { a.words, sizeof a.words },
                  { a.rows, sizeof a.rows },
                  { a.points, sizeof a.points },
                  { a.offsets, sizeof a.offsets },
                  { &a.number, sizeof a.number },
                  { &a.entries, sizeof a.entries },
                  { &a.lens.weight, sizeof a.lens.weight },
                  { &a.lens.scale, sizeof a.lens.scale },
                  { &a.lens.constant, sizeof a.lens.constant },
                  { &a.rules[0].dim, sizeof a.rules[0].dim },
                  { &a.rules[1].dim, sizeof a.rules[1].dim },
                  { &a.rules[0].bits, sizeof a.rules[0].bits },
                  { &a.rules[1].bits, sizeof a.rules[1].bits },
                  { &a.line.scale, sizeof a.line.scale } };
    size_t count = 0, again = 0;
    uint8_t *const before = bytes_of(&a, &count);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (size_t b = 0; b < parts[p].size; b++) {
            ((uint8_t *)parts[p].at)[b] ^= 1;
            uint8_t *const now = bytes_of(&a, &again);
            ((uint8_t *)parts[p].at)[b] ^= 1;
            assert_int_equal(count, again);
            if (memcmp(now, before, count) == 0) fail_msg("part %zu, byte %zu", p, b);
            clo_i_free(now);
        }
    clo_i_free(before);
}

/* ---- a release's signature (ledger.T14) ------------------------------------------------------ */

static void every_byte_of_a_signed_text_counts(void **state)
{
    static const char first[] = "{\n  \"values\": [1, 2],\n", rest[] = "  \"epsilon\": 1\n}\n";
    uint8_t key[CLO_PUBLIC_KEY_BYTES], secret[crypto_sign_SECRETKEYBYTES];
    const uint8_t seed[crypto_sign_SEEDBYTES] = { 6 };
    uint8_t signature[CLO_SIGNATURE_BYTES];
    char whole[512], hex[2 * CLO_SIGNATURE_BYTES + 1];
    clo_error err;
    (void)state;
    assert_int_equal(crypto_sign_seed_keypair(key, secret, seed), 0);
    const size_t bare = (size_t)snprintf(whole, sizeof whole, "%s%s", first, rest);
    assert_int_equal(crypto_sign_detached(signature, NULL, (uint8_t *)whole, bare, secret), 0);
    sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
    const size_t length =
        (size_t)snprintf(whole, sizeof whole, "%s    \"signature\": \"%s\",\n%s", first, hex, rest);
    assert_ok(clo_signed_check(whole, length, key, &err), err);
    for (size_t b = 0; b < length; b++)
        for (int bit = 0; bit < 8; bit++) {
            whole[b] = (char)(whole[b] ^ 1 << bit);
            assert_int_equal(clo_signed_check(whole, length, key, &err), CLO_SIGNATURE);
            whole[b] = (char)(whole[b] ^ 1 << bit);
        }
    assert_int_equal(clo_signed_check(whole, length - 1, key, &err), CLO_SIGNATURE);
    for (size_t b = 0; b < sizeof key; b++) {
        key[b] ^= 1;
        assert_int_equal(clo_signed_check(whole, length, key, &err), CLO_SIGNATURE);
        key[b] ^= 1;
    }
    assert_ok(clo_signed_check(whole, length, key, &err), err);
    /* Of two lines like the signature's neither counts, though the rest of the bytes are signed
     * with the one. */
    char twice[1024];
    const size_t signed_before = length;
    assert_int_equal(crypto_sign_detached(signature, NULL, (uint8_t *)whole, length, secret), 0);
    sodium_bin2hex(hex, sizeof hex, signature, sizeof signature);
    for (int before = 0; before < 2; before++) {
        const size_t at = before ? sizeof first - 1 : signed_before - (sizeof rest - 1);
        const size_t both =
            (size_t)snprintf(twice, sizeof twice, "%.*s    \"signature\": \"%s\",\n%s", (int)at,
                             whole, hex, whole + at);
        assert_int_equal(clo_signed_check(twice, both, key, &err), CLO_SIGNATURE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_hash_has_every_column_of_every_row),
        cmocka_unit_test(a_row_hash_has_every_person),
        cmocka_unit_test(a_row_hash_has_every_null_record),
        cmocka_unit_test(every_range_of_persons_is_compared),
        cmocka_unit_test(every_person_of_a_list_is_compared),
        cmocka_unit_test(a_charge_is_hashed_whole),
        cmocka_unit_test(a_declaration_is_hashed_whole),
        cmocka_unit_test(an_act_is_hashed_whole),
        cmocka_unit_test(an_account_is_hashed_whole),
        cmocka_unit_test(what_is_hashed_beside_entries_is_hashed_whole),
        IN_PLACE(a_token_is_for_one_plan_and_one_content),
        IN_PLACE(every_byte_of_a_stored_hash_is_compared),
        IN_PLACE(a_result_is_stored_by_the_whole_receipt),
        cmocka_unit_test(every_byte_of_a_line_is_written_and_compared),
        cmocka_unit_test(every_part_of_an_ask_is_written),
        cmocka_unit_test(every_byte_of_a_signed_text_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
