/*
 * test_whole_anchor.c - what an anchor says is compared whole (ledger.T9, ledger.T17): each byte of
 * its notes, of the ends that they tell of and of the slots of accounts is changed in turn, and
 * each time that must show.  Half of a comparison would pass every test with a real other ledger.
 */
#include "ledger_place.h"
#include <fcntl.h>

enum { SLOT = 1024, SLOTS_AT = 32768, CHARGES = 3 };

typedef struct looked_at {
    clo_ledger *ledger;
    clo_i_head head;
    clo_i_held held;
} looked_at;

/* A ledger with charges and declarations, and its anchor, whose lock is held. */
static looked_at look_at(const place *p)
{
    looked_at l = { .ledger = open_at(p->ledger) };
    bool there = false, readable = false;
    clo_error err;
    assert_ok(clo_ledger_declare(l.ledger, "people", (clo_loss){ 9, 1e-3 }, &err), err);
    assert_ok(clo_ledger_declare(l.ledger, "others", (clo_loss){ 9, 1e-3 }, &err), err);
    charge_times(l.ledger, CHARGES);
    assert_ok(clo_i_ledger_get_head(l.ledger, &l.head, &err), err);
    assert_ok(clo_i_anchor_find(l.ledger, &l.head, &err), err);
    assert_ok(clo_i_anchor_open(l.ledger, &l.held, &there, &readable, &err), err);
    assert_true(there && readable);
    return l;
}

static void leave(looked_at *l)
{
    clo_i_anchor_release(&l->held);
    clo_ledger_close(l->ledger);
}

static const char *identity_of(const looked_at *l)
{
    return strrchr(l->ledger->anchor.path, '/') + 1;
}

/* ---- the ends of the chains ----------------------------------------------------------------- */

static void read_hash(clo_ledger *ledger, const char *table, uint64_t sequence,
                      uint8_t hash[LEDGER_HASH])
{
    char select[100];
    clo_error err;
    snprintf(select, sizeof select, "SELECT hash FROM %s WHERE sequence = ?", table);
    clo_i_sql sql = clo_i_sql_start(ledger, select);
    clo_i_sql_units(&sql, sequence);
    assert_true(clo_i_sql_row(&sql));
    clo_i_sql_get_bytes(&sql, 0, hash, LEDGER_HASH);
    assert_ok(clo_i_sql_finish(&sql, &err), err);
}

static clo_status try_note(looked_at *l, const clo_i_note *note)
{
    clo_error err;
    l->ledger->anchor.mark = (clo_i_mark){ .charges = 0 }; /* as another process would look */
    assert_ok(clo_i_anchor_set(l->ledger, &l->held, note, &err), err);
    return clo_i_anchor_check_head(l->ledger, &l->head, NULL);
}

/* At the end of the ledger, and one entry before it. */
static void every_byte_of_an_end_is_compared(void **state)
{
    looked_at l = look_at(*state);
    for (uint64_t before = 0; before < 2; before++) {
        clo_i_note note = { .number = 7, .mark = clo_i_mark_of(&l.head) };
        note.mark.charges -= before;
        note.mark.declarations -= before;
        read_hash(l.ledger, "charge", note.mark.charges, note.mark.charge_hash);
        read_hash(l.ledger, "declaration", note.mark.declarations, note.mark.declaration_hash);
        assert_int_equal(try_note(&l, &note), CLO_OK);
        for (size_t b = 0; b < 2 * LEDGER_HASH; b++) {
            uint8_t *const hash =
                b < LEDGER_HASH ? note.mark.charge_hash : note.mark.declaration_hash;
            hash[b % LEDGER_HASH] ^= 1;
            if (try_note(&l, &note) != CLO_LEDGER)
                fail_msg("byte %zu, %d before the end, is not compared", b, (int)before);
            hash[b % LEDGER_HASH] ^= 1;
        }
    }
    leave(&l);
}

/* That the anchor is at the end of the ledger lets a charge go without verifying all of it. */
static void every_byte_of_the_end_is_that_of_the_ledger(void **state)
{
    looked_at l = look_at(*state);
    clo_i_mark *const mark = &l.held.note.mark;
    assert_true(clo_i_anchor_is_at(&l.held, &l.head));
    for (size_t b = 0; b < LEDGER_HASH; b++) {
        mark->charge_hash[b] ^= 1;
        assert_false(clo_i_anchor_is_at(&l.held, &l.head));
        mark->charge_hash[b] ^= 1;
        mark->declaration_hash[b] ^= 1;
        assert_false(clo_i_anchor_is_at(&l.held, &l.head));
        mark->declaration_hash[b] ^= 1;
    }
    mark->charges++;
    assert_false(clo_i_anchor_is_at(&l.held, &l.head));
    mark->charges--;
    mark->declarations++;
    assert_false(clo_i_anchor_is_at(&l.held, &l.head));
    leave(&l);
}

/* ---- the bytes of the file ------------------------------------------------------------------ */

static void flip(int file, off_t at)
{
    char byte;
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

/* In both records.  Reading one that fits nothing takes 20 ms: of the rest of a record, which the
 * check is of, some bytes are enough. */
static void every_byte_of_a_note_counts(void **state)
{
    looked_at l = look_at(*state);
    const int file = l.held.file;
    char record[ANCHOR_RECORD + 1] = "";
    clo_i_note note = l.held.note;
    clo_error err;
    assert_ok(clo_i_anchor_set(l.ledger, &l.held, &note, &err), err);
    assert_int_equal(pread(file, record, ANCHOR_RECORD, 0), ANCHOR_RECORD);
    const size_t check = (size_t)(strstr(record, "check ") - record);
    for (size_t b = 0; b < ANCHOR_RECORD; b += b >= check && b < check + 72 ? 1 : 9) {
        flip(file, (off_t)b);
        flip(file, (off_t)(ANCHOR_RECORD + b));
        if (clo_i_anchor_read(&l.ledger->key, identity_of(&l), file, &note))
            fail_msg("byte %zu of a note does not count", b);
        flip(file, (off_t)b);
        flip(file, (off_t)(ANCHOR_RECORD + b));
    }
    assert_true(clo_i_anchor_read(&l.ledger->key, identity_of(&l), file, &note));
    leave(&l);
}

static bool read_slot(const looked_at *l, int64_t id, clo_i_slot *slot)
{
    uint64_t acknowledged;
    return clo_i_slot_read(&l->ledger->key, identity_of(l), l->held.file, id, UINT64_MAX, slot,
                           &acknowledged);
}

static void every_byte_of_a_slot_counts(void **state)
{
    looked_at l = look_at(*state);
    clo_i_slot slot;
    assert_true(read_slot(&l, 1, &slot));
    assert_true(clo_i_slot_write(l.ledger, l.held.file, &slot, true));
    for (off_t b = 0; b < SLOT; b++) {
        flip(l.held.file, SLOTS_AT + b);
        flip(l.held.file, SLOTS_AT + SLOT + b);
        clo_i_slot now;
        if (read_slot(&l, 1, &now)) fail_msg("byte %d of a slot does not count", (int)b);
        flip(l.held.file, SLOTS_AT + b);
        flip(l.held.file, SLOTS_AT + SLOT + b);
    }
    assert_true(read_slot(&l, 1, &slot));
    leave(&l);
}

static void a_slot_in_the_place_of_another_data_set_is_none(void **state)
{
    looked_at l = look_at(*state);
    char bytes[2 * SLOT];
    clo_i_slot slot;
    assert_true(read_slot(&l, 2, &slot));
    assert_int_equal(slot.account.id, 2);
    assert_int_equal(pread(l.held.file, bytes, sizeof bytes, SLOTS_AT + 2 * SLOT), sizeof bytes);
    assert_int_equal(pwrite(l.held.file, bytes, sizeof bytes, SLOTS_AT), sizeof bytes);
    assert_false(read_slot(&l, 1, &slot));
    leave(&l);
}

/* Of the two that an account has; an act, which narrows it, changes no number of charges. */
static void the_later_of_two_slots_is_read(void **state)
{
    looked_at l = look_at(*state);
    clo_i_slot first, slot;
    assert_true(read_slot(&l, 1, &first));
    for (uint64_t charges = 4; charges < 6; charges++)
        for (uint64_t terms = 0; terms < 2; terms++) {
            slot = first;
            slot.account.charges = charges;
            slot.terms = 1 - terms;
            assert_true(clo_i_slot_write(l.ledger, l.held.file, &slot, true));
            slot.terms = terms; /* one of them */
            assert_true(clo_i_slot_write(l.ledger, l.held.file, &slot, false));
            assert_true(read_slot(&l, 1, &slot));
            assert_int_equal(slot.terms, 1);
            slot.account.charges++; /* the other one, with fewer terms */
            slot.terms = 0;
            assert_true(clo_i_slot_write(l.ledger, l.held.file, &slot, false));
            assert_true(read_slot(&l, 1, &slot));
            assert_int_equal(slot.account.charges, charges + 1);
        }
    leave(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(every_byte_of_an_end_is_compared),
        IN_PLACE(every_byte_of_the_end_is_that_of_the_ledger),
        IN_PLACE(every_byte_of_a_note_counts),
        IN_PLACE(every_byte_of_a_slot_counts),
        IN_PLACE(a_slot_in_the_place_of_another_data_set_is_none),
        IN_PLACE(the_later_of_two_slots_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
