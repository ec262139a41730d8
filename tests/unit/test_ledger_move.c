/*
 * test_ledger_move.c - what a received ledger may find at its new place (ledger.T18): the copy that
 * an interrupted call has put there, which is the same to its last entry, and nothing else; that a
 * code, and a parcel, is used once and as it was made; and that a steward's commands remove no file
 * of somebody who gave it the name of a draft.  That a move is killed or fails anywhere is
 * fault_ledger_points.
 */
#include "ledger_place.h"
#include <cloister/steward.h>
#include <stddef.h>

/* Two configurations: those of the machine that sends and of the one that receives. */
static void on_machine(const place *p, int number)
{
    char config[400];
    snprintf(config, sizeof config, "%s/machine%d", p->folder, number);
    setenv("XDG_CONFIG_HOME", config, 1);
}

typedef void advance(clo_ledger *ledger);

static void declare(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "others", (clo_loss){ 1, 0 }, &err), err);
}

static void lower(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_lower(ledger, "people", (clo_loss){ 2, 0 }, "a test", &err), err);
}

static void charge(clo_ledger *ledger)
{
    charge_times(ledger, 1);
}

static void nothing(clo_ledger *ledger)
{
    (void)ledger;
}

static void an_older_copy_is_not_taken_for_what_was_sent(void **state)
{
    static advance *const later[] = { nothing, declare, lower, charge };
    const place *const p = *state;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        char code[CLO_MOVE_CODE + 1], path[5][400];
        static const char *const names[] = { "l%zu.db", "old%zu.db", "parcel%zu", "new%zu.db",
                                             "free%zu.db" };
        clo_ledger *ledger = NULL;
        clo_error err;
        for (size_t n = 0; n < 5; n++) {
            char name[40];
            snprintf(name, sizeof name, names[n], i);
            snprintf(path[n], sizeof path[n], "%s/%s", p->folder, name);
        }
        on_machine(p, 1);
        assert_ok(clo_ledger_create(path[0], CLO_LEDGER_OPEN, &ledger, &err), err);
        assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 4, 0 }, &err), err);
        charge_times(ledger, 1);
        assert_ok(clo_ledger_backup(ledger, path[1], &err), err);
        assert_ok(clo_ledger_backup(ledger, path[3], &err), err);
        later[i](ledger);
        clo_ledger_close(ledger);
        on_machine(p, 2);
        assert_ok(clo_ledger_move_code(code, &err), err);
        on_machine(p, 1);
        assert_ok(clo_ledger_send(path[0], path[2], code, &err), err);
        on_machine(p, 2);
        if (later[i] == nothing) {
            assert_ok(clo_ledger_receive(path[2], path[3], &err), err);
            continue;
        }
        assert_fails(clo_ledger_receive(path[2], path[3], &err), CLO_LEDGER, err,
                     "there is something at");
        assert_ok(clo_ledger_receive(path[2], path[4], &err), err);
    }
}

/* A ledger with a cap and a charge on machine 1, and a code of machine 2. */
static void begin(const place *p, char path[5][400], char code[CLO_MOVE_CODE + 1])
{
    static const char *const names[] = { "l.db", "parcel", "new.db", "other", "again.db" };
    clo_ledger *ledger = NULL;
    clo_error err;
    for (size_t n = 0; n < 5; n++) snprintf(path[n], 400, "%s/%s", p->folder, names[n]);
    on_machine(p, 1);
    assert_ok(clo_ledger_create(path[0], CLO_LEDGER_OPEN, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 4, 0 }, &err), err);
    charge_times(ledger, 1);
    clo_ledger_close(ledger);
    on_machine(p, 2);
    assert_ok(clo_ledger_move_code(code, &err), err);
    on_machine(p, 1);
}

static void a_code_with_any_other_digit_is_refused(void **state)
{
    const place *const p = *state;
    char code[CLO_MOVE_CODE + 1], path[5][400];
    clo_error err;
    begin(p, path, code);
    for (size_t i = 0; i < CLO_MOVE_CODE; i++)
        for (int other = 0; other < 2; other++) {
            const char right = code[i];
            code[i] = right == '0' ? "1f"[other] : right == '7' ? "6f"[other] : "07"[other];
            assert_fails(clo_ledger_send(path[0], path[1], code, &err), CLO_ARGUMENT, err,
                         "not a code of a machine");
            code[i] = right;
        }
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err);
}

static void a_parcel_goes_to_the_machine_that_it_was_begun_for(void **state)
{
    const place *const p = *state;
    char code[CLO_MOVE_CODE + 1], another[CLO_MOVE_CODE + 1], path[5][400];
    clo_error err;
    begin(p, path, code);
    on_machine(p, 3);
    assert_ok(clo_ledger_move_code(another, &err), err);
    on_machine(p, 1);
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err);
    assert_fails(clo_ledger_send(path[0], path[1], another, &err), CLO_LEDGER, err,
                 "moved with another code");
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err); /* only the word was lost */
}

/* The mark has the key that this draft alone was sealed with: every byte of it tells whether the
 * folder that is there is the one that was begun. */
static void only_the_folder_of_the_mark_is_finished(void **state)
{
    const place *const p = *state;
    char code[CLO_MOVE_CODE + 1], path[5][400], file[420];
    uint8_t bytes[sizeof(clo_i_sealed_key)];
    const size_t first = offsetof(clo_i_sealed_key, once);
    clo_error err;
    begin(p, path, code);
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err);
    snprintf(file, sizeof file, "%s/key", path[1]);
    for (size_t i = 0; i <= sizeof((clo_i_sealed_key *)0)->once; i++) {
        FILE *const key = fopen(file, "r+b");
        assert_non_null(key);
        assert_int_equal(fread(bytes, 1, sizeof bytes, key), sizeof bytes);
        const bool whole = i == sizeof((clo_i_sealed_key *)0)->once;
        if (!whole) bytes[first + i] ^= 1;
        rewind(key);
        assert_int_equal(fwrite(bytes, 1, sizeof bytes, key), sizeof bytes);
        fclose(key);
        const clo_status status = clo_ledger_send(path[0], path[1], code, &err);
        if (whole) {
            assert_ok(status, err);
            break;
        }
        assert_fails(status, CLO_LEDGER, err, "was moved to another machine");
        FILE *const back = fopen(file, "r+b");
        bytes[first + i] ^= 1;
        assert_int_equal(fwrite(bytes, 1, sizeof bytes, back), sizeof bytes);
        fclose(back);
    }
}

/* Not even where somebody has kept a copy of the code: the ledger was here, and went on. */
static void a_parcel_is_received_once(void **state)
{
    const place *const p = *state;
    char code[CLO_MOVE_CODE + 1], back[CLO_MOVE_CODE + 1], path[5][400];
    clo_error err;
    begin(p, path, code);
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err);
    in_shell(p, "cp -r '%s/machine2/cloister/codes' '%s/codes' && cp -r '%s/parcel' '%s/kept'");
    on_machine(p, 2);
    assert_ok(clo_ledger_receive(path[1], path[2], &err), err);
    in_shell(p, "test -z \"$(ls '%s/machine2/cloister/codes')\"");
    assert_fails(clo_ledger_receive(path[1], path[4], &err), CLO_LEDGER, err, "already unpacked");
    in_shell(p, "cp '%s/codes/'* '%s/machine2/cloister/codes/'");
    assert_fails(clo_ledger_receive(path[1], path[4], &err), CLO_LEDGER, err,
                 "already has the ledger");
    on_machine(p, 3);
    assert_ok(clo_ledger_move_code(back, &err), err);
    on_machine(p, 2);
    assert_ok(clo_ledger_send(path[2], path[3], back, &err), err);
    assert_fails(clo_ledger_receive(path[1], path[4], &err), CLO_LEDGER, err, "moved on");
    on_machine(p, 3);
    assert_ok(clo_ledger_receive(path[3], path[4], &err), err);
}

static void a_parcel_that_was_changed_is_not_received(void **state)
{
    const place *const p = *state;
    char code[CLO_MOVE_CODE + 1], path[5][400], file[420];
    clo_error err;
    begin(p, path, code);
    assert_ok(clo_ledger_send(path[0], path[1], code, &err), err);
    snprintf(file, sizeof file, "%s/ledger.db", path[1]);
    tamper(file, "DROP TRIGGER charge_is_next");
    on_machine(p, 2);
    assert_fails(clo_ledger_receive(path[1], path[2], &err), CLO_LEDGER, err, "was changed");
    assert_int_equal(access(path[2], F_OK), -1);
}

enum { BACKUP, REKEY, RESTORE };

static clo_status make_draft(int verb, char path[3][400], clo_error *err)
{
    clo_restoration how = clo_restoration_default();
    clo_ledger *ledger = NULL;
    if (verb == REKEY) return clo_ledger_rekey(path[0], "a year has gone by", err);
    how.backup = path[1];
    how.ledger = path[2];
    how.note = "the disk is gone";
    if (verb == RESTORE) return clo_ledger_restore(&how, NULL, NULL, err);
    clo_status status = clo_ledger_open(path[0], &ledger, err);
    if (!status) status = clo_ledger_backup(ledger, path[2], err);
    clo_ledger_close(ledger);
    return status;
}

static void no_file_of_somebody_goes_for_a_draft(void **state)
{
    static const struct {
        const char *content;
        size_t length;
        bool ours;
    } found[] = { { "{}", 2, false },                          /* a release */
                  { "SQLite formatted, and more", 26, false }, /* a text */
                  { "", 0, true },                             /* one that was only begun */
                  { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18, true } }; /* without a first page */
    static const char *const ends[] = { ".draft", ".rekeying", ".restoring" };
    const place *const p = *state;
    on_machine(p, 1);
    for (int verb = BACKUP; verb <= RESTORE; verb++)
        for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
            char path[3][400], draft[420], content[40] = "";
            clo_ledger *ledger = NULL;
            clo_error err;
            for (int n = 0; n < 3; n++)
                snprintf(path[n], sizeof path[n], "%s/%d-%zu-%d.db", p->folder, verb, i, n);
            assert_ok(clo_ledger_create(path[0], CLO_LEDGER_OPEN, &ledger, &err), err);
            assert_ok(clo_ledger_backup(ledger, path[1], &err), err);
            clo_ledger_close(ledger);
            if (verb == RESTORE) unlink(path[0]);
            snprintf(draft, sizeof draft, "%s%s", path[verb == REKEY ? 0 : 2], ends[verb]);
            FILE *file = fopen(draft, "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(found[i].content, 1, found[i].length, file), found[i].length);
            fclose(file);
            if (found[i].ours) {
                assert_ok(make_draft(verb, path, &err), err);
                assert_int_not_equal(access(draft, F_OK), 0);
                continue;
            }
            assert_fails(make_draft(verb, path, &err), CLO_LEDGER, err, "File exists");
            file = fopen(draft, "rb");
            assert_non_null(file);
            assert_int_equal(fread(content, 1, sizeof content, file), found[i].length);
            fclose(file);
            assert_string_equal(content, found[i].content);
        }
}

/* What an interrupted restoration has left may be the ledger itself. */
static void a_restoration_that_is_refused_leaves_the_draft_of_another(void **state)
{
    const place *const p = *state;
    char path[3][400], draft[420];
    clo_ledger *ledger = NULL;
    clo_error err;
    on_machine(p, 1);
    for (int n = 0; n < 3; n++) snprintf(path[n], sizeof path[n], "%s/left%d.db", p->folder, n);
    snprintf(draft, sizeof draft, "%s.restoring", path[2]);
    assert_ok(clo_ledger_create(path[0], CLO_LEDGER_OPEN, &ledger, &err), err);
    assert_ok(clo_ledger_backup(ledger, path[1], &err), err);
    assert_ok(clo_ledger_backup(ledger, path[2], &err), err);
    assert_ok(clo_ledger_backup(ledger, draft, &err), err);
    clo_ledger_close(ledger);
    assert_fails(make_draft(RESTORE, path, &err), CLO_LEDGER, err, "there is a file at");
    assert_int_equal(access(draft, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(an_older_copy_is_not_taken_for_what_was_sent),
        IN_PLACE(a_code_with_any_other_digit_is_refused),
        IN_PLACE(a_parcel_goes_to_the_machine_that_it_was_begun_for),
        IN_PLACE(only_the_folder_of_the_mark_is_finished),
        IN_PLACE(a_parcel_is_received_once),
        IN_PLACE(a_parcel_that_was_changed_is_not_received),
        IN_PLACE(no_file_of_somebody_goes_for_a_draft),
        IN_PLACE(a_restoration_that_is_refused_leaves_the_draft_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
