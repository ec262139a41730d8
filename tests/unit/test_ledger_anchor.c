/*
 * test_ledger_anchor.c - what the ledger knows from outside of its file: the key of its hashes, and
 * how far it had come (ledger.T8, ledger.T9).
 */
#include "ledger_place.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>

/* ---- the key ---------------------------------------------------------------------- */

static void makes_a_key_for_the_owner_alone(void **state)
{
    const place *p = *state;
    struct stat st;
    clo_ledger_close(open_at(p->ledger));
    assert_int_equal(stat(p->key, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 65);
    in_shell(p, "cp '%s/config/cloister/ledger.key' '%s/kept'");
    clo_ledger_close(open_at(p->ledger)); /* and uses it from then on */
    in_shell(p, "cmp -s '%s/config/cloister/ledger.key' '%s/kept'");
    in_shell(p, "test $(ls '%s/config/cloister' | wc -l) = 2"); /* the key and the anchors */
}

static void refuses_a_loose_or_damaged_key(void **state)
{
    const place *p = *state;
    clo_ledger_close(open_at(p->ledger));
    static const mode_t loose[] = { 0640, 0604, 0620, 0602, 0666 };
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        assert_int_equal(chmod(p->key, loose[i]), 0);
        refuses(p->ledger, "run chmod 600 '");
    }
    assert_int_equal(chmod(p->key, 0600), 0);
    clo_ledger_close(open_at(p->ledger));
    in_shell(p, "echo nonsense > '%s/config/cloister/ledger.key'");
    refuses(p->ledger, "a line of 64 hexadecimal digits");
    in_shell(p, "rm '%s/config/cloister/ledger.key'; mkdir '%s/config/cloister/ledger.key'");
    refuses(p->ledger, "is not an ordinary file");
}

static void wants_a_place_for_the_key(void **state)
{
    const place *p = *state;
    char *const home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    refuses(p->ledger, "set HOME or XDG_CONFIG_HOME");
    setenv("HOME", p->folder, 1);
    clo_ledger_close(open_at(p->ledger));
    in_shell(p, "test -f '%s/.config/cloister/ledger.key'");
    if (home) setenv("HOME", home, 1);
    free(home);
}

/* ledger.T8 */
static void is_shown_without_its_key_but_not_checked_nor_charged(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    in_shell(p, "mv '%s/config/cloister/ledger.key' '%s/key'");
    for (int other = 0; other < 2; other++) {
        if (other) { /* another key is no better than none, and is named */
            char path[400];
            snprintf(path, sizeof path, "%s/other.db", p->folder);
            clo_ledger_close(open_at(path));
        }
        const char *const words = other ? "put the right key there" : "bring the key back";
        refuses(p->ledger, words);
        assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
        assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
        assert_false(facts.has_key || facts.has_anchor);
        assert_int_equal(facts.charges, 2);
        assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, words);
        assert_non_null(strstr(err.message, facts.key_id));
        clo_ledger_close(ledger);
    }
    in_shell(p, "mv '%s/key' '%s/config/cloister/ledger.key'");
    ledger = open_at(p->ledger);
    is_sound(ledger);
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    assert_true(facts.has_key && facts.has_anchor);
    clo_ledger_close(ledger);
}

/* ledger.T8: who can write the file and does not have the key. */
static void notices_entries_that_were_hashed_without_the_key(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    clo_i_head head;
    clo_i_entry entry = { 0 };
    uint8_t hash[LEDGER_HASH];
    char text[900], hex[2 * LEDGER_HASH + 1];
    charge_times(ledger, 1);
    assert_ok(clo_i_ledger_get_head(ledger, &head, &err), err);
    snprintf(text, sizeof text, "SELECT %s FROM charge c JOIN dataset d ON d.id = c.dataset",
             clo_i_ledger_charge_columns(ledger));
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    assert_true(clo_i_sql_row(&sql));
    clo_i_ledger_get_charge(&sql, &entry, hash);
    assert_ok(clo_i_sql_finish(&sql, &err), err);
    clo_ledger_close(ledger);

    /* The charge made cheaper and passed off as one of schema 1, which needs no key; the head is
     * moved along, and the anchor is gone with its folder. */
    entry.format = LEDGER_PLAIN;
    entry.mechanism[0] = 'K';
    clo_i_chain_start(head.identity, "charge", hash);
    clo_i_chain_charge(NULL, &entry, hash);
    for (int i = 0; i < LEDGER_HASH; i++) snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    snprintf(text, sizeof text,
             "DROP TRIGGER charge_is_not_changed; DROP TRIGGER ledger_only_grows;"
             "UPDATE charge SET mechanism = 'Kmeans/lloyd', token = NULL, plan = NULL, "
             "key_id = NULL, format = 1, hash = x'%s';"
             "UPDATE ledger SET charge_hash = x'%s', plain_charges = 1",
             hex, hex);
    tamper(p->ledger, text);
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        if (strcmp(clo_i_ledger_schema[i].name, "charge_is_not_changed") == 0 ||
            strcmp(clo_i_ledger_schema[i].name, "ledger_only_grows") == 0)
            tamper(p->ledger, clo_i_ledger_schema[i].text);
    in_shell(p, "rm -r '%s/config/cloister/anchors'");
    ledger = open_at(p->ledger);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "the seal at its beginning");
    clo_ledger_close(ledger);
}

/* ---- the anchor --------------------------------------------------------------------- */

/* ledger.T9 */
static void notices_a_restored_old_copy(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/old.db'");
    ledger = open_at(p->ledger);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/new.db'; cp '%s/old.db' '%s/ledger.db'");
    refuses(p->ledger, "is an older copy: it ends at charge 2");
    assert_fails(clo_ledger_open_existing(p->ledger, &ledger, &err), CLO_LEDGER, err, "older copy");
    in_shell(p, "cp '%s/new.db' '%s/ledger.db'"); /* as the sentence says */
    ledger = open_at(p->ledger);
    is_sound(ledger);
    clo_ledger_close(ledger);
    /* Nobody makes an old copy good by removing who knows better. */
    in_shell(p, "cp '%s/old.db' '%s/ledger.db'; rm '%s'/config/cloister/anchors/*");
    refuses(p->ledger, "is missing, so this may be an old copy");
}

/* ledger.T9: also while it is open, and where a cap is what is missing. */
static void notices_a_copy_put_under_an_open_ledger(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt;
    clo_error err;
    charge_times(ledger, 1);
    in_shell(p, "cp '%s/ledger.db' '%s/old.db'");
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 2, 0 }, &err), err);
    in_shell(p, "cat '%s/old.db' > '%s/ledger.db'"); /* the same file, with other contents */
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_LEDGER, err, "older copy");
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err, "older copy");
    clo_ledger_close(ledger);
    refuses(p->ledger, "it ends at charge 1 and declaration 0, but there were 1 and 1");
}

/* ledger.T9 */
static void notices_another_history_of_the_same_length(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/fork.db'; cp -r '%s/config' '%s/kept'");
    ledger = open_at(p->ledger);
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    in_shell(p, "cp -r '%s/config' '%s/right'; rm -r '%s/config'; cp -r '%s/kept' '%s/config'");
    in_shell(p, "mv '%s/ledger.db' '%s/aside.db'; mv '%s/fork.db' '%s/ledger.db'");
    ledger = open_at(p->ledger); /* with the same key, on another machine */
    charge_times(ledger, 3);
    clo_ledger_close(ledger);
    in_shell(p, "rm -r '%s/config'; mv '%s/right' '%s/config'");
    refuses(p->ledger, "its charge 3 differs from that in the anchor");
}

/* ledger.T9: a crash between the commit and the anchor locks nobody out. */
static void takes_a_ledger_that_is_ahead_of_its_anchor(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    in_shell(p, "cp -r '%s/config' '%s/kept'; cp '%s/ledger.db' '%s/old.db'");
    ledger = open_at(p->ledger);
    charge_times(ledger, 3);
    clo_ledger_close(ledger);
    in_shell(p, "rm -r '%s/config'; mv '%s/kept' '%s/config'");
    ledger = open_at(p->ledger);
    is_sound(ledger);
    charge_times(ledger, 1); /* which brings the anchor up */
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/old.db' '%s/ledger.db'");
    refuses(p->ledger, "older copy");
}

/* ledger.T9: one of the two records may be torn, wherever it was cut. */
static void reads_an_anchor_with_a_torn_record(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    char path[PATH_MAX];
    static const char zeros[512];
    charge_times(ledger, 5);
    memcpy(path, ledger->anchor.path, sizeof path);
    clo_ledger_close(ledger);
    in_shell(p, "cp -r '%s/config' '%s/kept'");
    for (int record = 0; record < 2; record++)
        for (int cut = 0; cut < 512; cut += 37) {
            const int file = open(path, O_WRONLY);
            assert_int_equal(pwrite(file, zeros, (size_t)(512 - cut), 512 * record + cut),
                             512 - cut);
            close(file);
            clo_ledger_close(open_at(p->ledger));
            in_shell(p, "rm -r '%s/config'; cp -r '%s/kept' '%s/config'");
        }
    assert_int_equal(truncate(path, 0), 0);
    refuses(p->ledger, "is damaged or belongs to another key");
}

/* A ledger that nobody used goes, with its anchor; one that is only read, or was used, stays. */
static void is_discarded_by_who_may_write_and_only_unused(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = NULL;
    clo_error err;
    clo_ledger_close(open_at(p->ledger));
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_int_not_equal(clo_ledger_discard(ledger, &err), CLO_OK);
    clo_ledger_close(ledger);
    assert_int_equal(access(p->ledger, F_OK), 0);
    ledger = open_at(p->ledger);
    assert_ok(clo_ledger_discard(ledger, &err), err);
    assert_int_not_equal(access(p->ledger, F_OK), 0);
    ledger = open_at(p->ledger);
    charge_times(ledger, 1);
    assert_fails(clo_ledger_discard(ledger, &err), CLO_LEDGER, err, "has been used");
    assert_int_equal(charges_of(ledger), 1);
    clo_ledger_close(ledger);
}

/* The anchor counts as it is when a charge is made, not as it was when the ledger was opened. */
static void charges_nothing_on_an_anchor_that_was_damaged_meanwhile(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_receipt receipt;
    clo_error err;
    charge_times(ledger, 2);
    in_shell(p, "cp -r '%s/config' '%s/kept'");
    assert_int_equal(truncate(ledger->anchor.path, 0), 0);
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_LEDGER, err, "is damaged");
    in_shell(p, "rm -r '%s/config'; mv '%s/kept' '%s/config'");
    assert_int_equal(charges_of(ledger), 2);
    charge_times(ledger, 1);
    is_sound(ledger);
    clo_ledger_close(ledger);
}

static void notices_a_ledger_that_was_removed_or_replaced(void **state)
{
    const place *p = *state;
    char other[400];
    clo_ledger *ledger = open_at(p->ledger);
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    in_shell(p, "rm '%s/ledger.db'");
    refuses(p->ledger, "with 2 charges and 0 declarations, and it is gone");
    in_shell(p, "rm -f '%s/ledger.db'");
    snprintf(other, sizeof other, "%s/other.db", p->folder);
    clo_ledger_close(open_at(other)); /* elsewhere one can begin anew */
    in_shell(p, "mv '%s/other.db' '%s/ledger.db'; rm '%s'/config/cloister/anchors/*; true");
    clo_ledger_close(open_at(p->ledger));
}

static void takes_a_ledger_that_was_moved(void **state)
{
    const place *p = *state;
    char other[400];
    clo_ledger *ledger = open_at(p->ledger);
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
    in_shell(p, "mkdir '%s/b'; mv '%s/ledger.db' '%s/b/ledger.db'");
    snprintf(other, sizeof other, "%s/b/ledger.db", p->folder);
    ledger = open_at(other);
    is_sound(ledger);
    clo_ledger_close(ledger);
    /* Its old place is free for who says that a second one is meant. */
    clo_error err;
    assert_fails(clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, &err), CLO_LEDGER, err,
                 "/b/ledger.db now, with its caps");
    const clo_ledger_manner second = (clo_ledger_manner)(CLO_LEDGER_OPEN | CLO_LEDGER_SECOND);
    assert_ok(clo_ledger_create(p->ledger, second, &ledger, &err), err);
    clo_ledger_close(ledger);
    clo_ledger_close(open_at(p->ledger));
}

/* A copy that was used does not make one forget where the ledger was. */
static void misses_a_ledger_that_was_copied_and_removed(void **state)
{
    const place *p = *state;
    char copy[400];
    clo_ledger *ledger = open_at(p->ledger);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/copy.db'");
    snprintf(copy, sizeof copy, "%s/copy.db", p->folder);
    ledger = open_at(copy);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    in_shell(p, "rm '%s/ledger.db'");
    refuses(p->ledger, "/copy.db now, with its caps");
    in_shell(p, "rm -f '%s/ledger.db'; cp '%s/copy.db' '%s/third.db'; rm '%s/copy.db'");
    refuses(copy, "it is gone");
    in_shell(p, "rm -f '%s/copy.db'; mv '%s/third.db' '%s/copy.db'");
    clo_ledger_close(open_at(copy));
    refuses(p->ledger, "/copy.db now, with its caps");
}

/* ---- a new file ------------------------------------------------------------------------- */

/* What another process was quicker to make is left as it is, and no failure; the draft goes in any
 * case, and what could not be put anywhere is said. */
static void a_draft_replaces_nothing_and_is_gone(void **state)
{
    const place *p = *state;
    char draft[300], path[300], nowhere[300];
    snprintf(draft, sizeof draft, "%s/draft", p->folder);
    snprintf(path, sizeof path, "%s/file", p->folder);
    snprintf(nowhere, sizeof nowhere, "%s/no/file", p->folder);
    in_shell(p, "echo new > '%s/draft'");
    assert_true(clo_i_ledger_put_in_place(draft, path));
    in_shell(p, "test ! -e '%s/draft' && grep -q new '%s/file'");
    in_shell(p, "echo late > '%s/draft'");
    assert_true(clo_i_ledger_put_in_place(draft, path));
    in_shell(p, "test ! -e '%s/draft' && grep -q new '%s/file'");
    in_shell(p, "echo lost > '%s/draft'");
    assert_false(clo_i_ledger_put_in_place(draft, nowhere));
    in_shell(p, "test ! -e '%s/draft'");
}

/* ---- an anchor of the first format ----------------------------------------------------- */

static void write_first_format(clo_ledger *ledger, const clo_i_head *head)
{
    char record[513], identity[33], charge[65], declaration[65], check[65];
    uint8_t hash[LEDGER_HASH];
    sodium_bin2hex(identity, sizeof identity, head->identity, LEDGER_IDENTITY);
    sodium_bin2hex(charge, sizeof charge, head->charge_hash, LEDGER_HASH);
    sodium_bin2hex(declaration, sizeof declaration, head->declaration_hash, LEDGER_HASH);
    memset(record, '\n', sizeof record);
    int length = sprintf(record,
                         "cloister anchor 1\nledger %s\ncharges %020llu %s\n"
                         "declarations %020llu %s\n",
                         identity, (unsigned long long)head->charges, charge,
                         (unsigned long long)head->declarations, declaration);
    crypto_generichash(hash, sizeof hash, (const uint8_t *)record, (size_t)length,
                       ledger->key.bytes, LEDGER_KEY);
    sodium_bin2hex(check, sizeof check, hash, sizeof hash);
    length += sprintf(record + length, "check %s\n", check);
    record[length] = '\n';
    const int file = open(ledger->anchor.path, O_WRONLY | O_TRUNC);
    for (int i = 0; i < 2; i++) assert_int_equal(write(file, record, 512), 512);
    assert_true(write(file, ledger->resolved, strlen(ledger->resolved)) > 0);
    close(file);
}

/* ledger.T9 */
static void takes_an_anchor_of_the_first_format(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_i_head head;
    clo_error err;
    charge_times(ledger, 1);
    in_shell(p, "cp '%s/ledger.db' '%s/old.db'");
    charge_times(ledger, 2);
    assert_ok(clo_i_ledger_get_head(ledger, &head, &err), err);
    write_first_format(ledger, &head);
    clo_ledger_close(ledger);
    in_shell(p, "cp '%s/ledger.db' '%s/new.db'; cp '%s/old.db' '%s/ledger.db'");
    refuses(p->ledger, "it ends at charge 1 and declaration 0, but there were 3 and 0");
    in_shell(p, "cp '%s/new.db' '%s/ledger.db'");
    ledger = open_at(p->ledger);
    charge_times(ledger, 2);
    is_sound(ledger);
    clo_ledger_close(ledger);
    in_shell(p, "! grep -q 'anchor 1' '%s'/config/cloister/anchors/*"); /* both are new by now */
    in_shell(p, "cp '%s/new.db' '%s/ledger.db'");
    refuses(p->ledger, "it ends at charge 3 and declaration 0, but there were 5 and 0");
}

static void says_that_the_anchor_cannot_be_written(void **state)
{
    const place *p = *state;
    clo_ledger_close(open_at(p->ledger));
    in_shell(p, "rm -r '%s/config/cloister/anchors'; touch '%s/config/cloister/anchors'");
    refuses(p->ledger, "anchors/");
}

/* ledger.T9: a charge that the anchor cannot learn of is not made. */
/* A cap alone is a past, too: without its anchor nobody knows what was charged against it. */
static void misses_the_anchor_of_a_cap_that_nothing_was_charged_against(void **state)
{
    const place *p = *state;
    clo_error err;
    clo_ledger *ledger = open_at(p->ledger);
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 1, 0 }, &err), err);
    clo_ledger_close(ledger);
    in_shell(p, "rm '%s/config/cloister/anchors/'*");
    refuses(p->ledger, "is missing, so this may be");
}

/* ---- what is on the disk when --------------------------------------------------------------- */

static char done[64];
static size_t done_count, failing;

static ssize_t note_write(int file, const void *bytes, size_t count, off_t at)
{
    if (count == ANCHOR_RECORD) done[done_count++ % sizeof done] = 'W';
    if (failing && count == ANCHOR_RECORD && --failing == 0) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(file, bytes, count, at);
}

static int note_sync(int file)
{
    done[done_count++ % sizeof done] = 'S';
    return fdatasync(file);
}

static const char *what_is_done(void)
{
    done[done_count % sizeof done] = 0;
    done_count = 0;
    return done;
}

/* Of the two records one is on the disk at any time.  So the older one is not written over before
 * the newer one is there, also where another process has written it; and a disk without room is
 * found out before anything is recorded. */
static void a_record_is_on_the_disk_before_the_other_is_written(void **state)
{
    const place *p = *state;
    clo_error err;
    clo_ledger *const ledger = open_at(p->ledger), *const other = open_at(p->ledger);
    clo_i_receipt receipt;
    charge_times(ledger, 1);
    clo_i_anchor_pwrite = note_write;
    clo_i_anchor_fdatasync = note_sync;
    done_count = 0;
    charge_times(ledger, 1);
    assert_string_equal(what_is_done(), "WWS"); /* its own note was synced by the charge before */
    charge_times(other, 1);
    assert_string_equal(what_is_done(), "SWWS"); /* that of another handle may not be */
    clo_i_held held = { .file = -1 };
    clo_i_head head;
    bool there = false, readable = false;
    assert_ok(clo_i_ledger_get_head(other, &head, &err), err);
    assert_ok(clo_i_anchor_open(other, &held, &there, &readable, &err), err);
    clo_i_note note = held.note;
    note.number++;
    assert_ok(clo_i_anchor_set(other, &held, &note, &err), err);
    clo_i_anchor_release(&held);
    assert_string_equal(what_is_done(), "SWSWS");
    const uint64_t charges = charges_of(other);
    failing = 1;
    assert_fails(try_charge(other, NULL, NULL, &receipt, &err), CLO_LEDGER, err,
                 "nothing was recorded");
    clo_i_anchor_pwrite = pwrite;
    clo_i_anchor_fdatasync = fdatasync;
    assert_int_equal(charges_of(other), charges);
    clo_ledger_close(other);
    clo_ledger_close(ledger);
}

static void charges_nothing_while_somebody_holds_the_anchor(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    const int file = open(ledger->anchor.path, O_RDONLY);
    clo_i_receipt receipt;
    clo_error err;
    ledger->patience_ms = 100;
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_LEDGER, err,
                 "for more than 0.1 seconds, so nothing was");
    assert_fails(clo_ledger_declare(ledger, "d", (clo_loss){ 2, 0 }, &err), CLO_LEDGER, err,
                 "another process has used");
    is_sound(ledger); /* reading waits for nobody */
    close(file);
    charge_times(ledger, 1);
    assert_int_equal(charges_of(ledger), 1);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_draft_replaces_nothing_and_is_gone),
        IN_PLACE(makes_a_key_for_the_owner_alone),
        IN_PLACE(refuses_a_loose_or_damaged_key),
        IN_PLACE(wants_a_place_for_the_key),
        IN_PLACE(is_shown_without_its_key_but_not_checked_nor_charged),
        IN_PLACE(notices_entries_that_were_hashed_without_the_key),
        IN_PLACE(notices_a_restored_old_copy),
        IN_PLACE(notices_a_copy_put_under_an_open_ledger),
        IN_PLACE(notices_another_history_of_the_same_length),
        IN_PLACE(takes_a_ledger_that_is_ahead_of_its_anchor),
        IN_PLACE(reads_an_anchor_with_a_torn_record),
        IN_PLACE(is_discarded_by_who_may_write_and_only_unused),
        IN_PLACE(charges_nothing_on_an_anchor_that_was_damaged_meanwhile),
        IN_PLACE(notices_a_ledger_that_was_removed_or_replaced),
        IN_PLACE(takes_a_ledger_that_was_moved),
        IN_PLACE(misses_a_ledger_that_was_copied_and_removed),
        IN_PLACE(takes_an_anchor_of_the_first_format),
        IN_PLACE(says_that_the_anchor_cannot_be_written),
        IN_PLACE(misses_the_anchor_of_a_cap_that_nothing_was_charged_against),
        IN_PLACE(a_record_is_on_the_disk_before_the_other_is_written),
        IN_PLACE(charges_nothing_while_somebody_holds_the_anchor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
