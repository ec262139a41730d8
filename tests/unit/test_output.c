/* What is written for the world: a file is there whole or not at all, and JSON is JSON. */
#include "pipeline.h"
#include "base/base.h"
#include "base/utf8.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG = 3 << 20 };

static char folder[64], path[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/clo-output-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.json", folder);
    return 0;
}

/* It must be empty by then: nothing is left beside what a test has taken away. */
static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void assert_holds(const char *name, const char *expected)
{
    char bytes[64] = "";
    FILE *const in = fopen(name, "r");
    assert_non_null(in);
    bytes[fread(bytes, 1, sizeof bytes - 1, in)] = 0;
    fclose(in);
    assert_string_equal(bytes, expected);
}

static void write_file(const char *name, const char *bytes)
{
    clo_file *file = NULL;
    clo_error err;
    assert_ok(clo_file_open(name, &file, &err), err);
    assert_true(clo_file_write(file, bytes, strlen(bytes)));
    assert_ok(clo_file_commit(file, &err), err);
    clo_file_close(file);
}

static void a_file_is_seen_once_it_is_committed(void **state)
{
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_file_open(path, &file, &err), err);
    assert_true(clo_file_write(file, "new", 3));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(clo_file_commit(file, &err), err);
    assert_holds(path, "new");
    clo_file_close(file);
    assert_holds(path, "new");
}

static void what_is_not_committed_leaves_the_old_file(void **state)
{
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    write_file(path, "old");
    assert_ok(clo_file_open(path, &file, &err), err);
    assert_true(clo_file_write(file, "new", 3));
    clo_file_close(file);
    assert_holds(path, "old");
    write_file(path, "newer");
    assert_holds(path, "newer");
}

static void a_link_stays_a_link(void **state)
{
    char link_name[96];
    struct stat facts;
    (void)state;
    snprintf(link_name, sizeof link_name, "%s/link", folder);
    write_file(path, "old");
    assert_int_equal(symlink(path, link_name), 0);
    write_file(link_name, "new");
    assert_holds(path, "new");
    assert_int_equal(lstat(link_name, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    unlink(link_name);
}

/* Which leads where they want.  Only the superuser can put one there for somebody else. */
static void the_link_of_another_user_is_not_followed(void **state)
{
    char link_name[96];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    if (geteuid() != 0) skip();
    snprintf(link_name, sizeof link_name, "%s/link", folder);
    write_file(path, "old");
    assert_int_equal(symlink(path, link_name), 0);
    assert_int_equal(lchown(link_name, 12345, 12345), 0);
    assert_fails(clo_file_open(link_name, &file, &err), CLO_IO, err, "belongs to another user");
    assert_null(file);
    assert_holds(path, "old");
    unlink(link_name);
}

/* The folder of the key and the anchors, and whatever lies in it. */
static void nothing_is_written_where_the_key_is(void **state)
{
    static const char *const names[] = { "ledger.key", "new", "anchors/1", "codes/2" };
    char config[160], made[480];
    clo_error err;
    (void)state;
    snprintf(config, sizeof config, "%s/config", folder);
    snprintf(made, sizeof made, "mkdir -p '%s/cloister/anchors' '%s/cloister/codes'", config,
             config);
    assert_int_equal(system(made), 0);
    char *const before = getenv("XDG_CONFIG_HOME") ? strdup(getenv("XDG_CONFIG_HOME")) : NULL;
    setenv("XDG_CONFIG_HOME", config, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        clo_file *file = NULL;
        char name[320];
        snprintf(name, sizeof name, "%s/cloister/%s", config, names[i]);
        assert_fails(clo_file_open(name, &file, &err), CLO_IO, err, "key and the anchors");
        assert_null(file);
    }
    if (before)
        setenv("XDG_CONFIG_HOME", before, 1);
    else
        unsetenv("XDG_CONFIG_HOME");
    free(before);
    snprintf(made, sizeof made, "rm -rf '%s'", config);
    assert_int_equal(system(made), 0);
}

static void long_writes_arrive_whole(void **state)
{
    char *const bytes = malloc(LONG);
    struct stat facts;
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    memset(bytes, 'x', LONG);
    assert_ok(clo_file_open(path, &file, &err), err);
    for (size_t i = 0; i < 1000; i++) assert_true(clo_file_write(file, bytes, 3000));
    assert_true(clo_file_write(file, bytes, LONG));
    assert_ok(clo_file_commit(file, &err), err);
    clo_file_close(file);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 3000000 + LONG);
    free(bytes);
}

/* What a process that was killed has left goes; what somebody has stays. */
static void only_what_nobody_has_is_cleaned_up(void **state)
{
    enum { NOBODY = 999999999 }; /* above the largest number that a process has */
    const long processes[] = { NOBODY, NOBODY, (long)getppid(), NOBODY };
    static const char *const ends[] = { ".cloister-part", ".cloister-part", ".cloister-part",
                                        ".part" };
    char names[4][160], name[128];
    int files[4];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(names[i], sizeof names[i], "%s/.left%d.%ld%s", folder, i, processes[i], ends[i]);
        files[i] = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
        assert_true(files[i] >= 0);
    }
    assert_int_equal(flock(files[1], LOCK_EX), 0);
    snprintf(name, sizeof name, "%s/next.json", folder);
    assert_ok(clo_file_open(name, &file, &err), err);
    clo_file_close(file);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(access(names[i], F_OK), i == 0 ? -1 : 0);
        if (i > 0) assert_int_equal(unlink(names[i]), 0);
        close(files[i]);
    }
}

/* In a container the next process often has the number of the one that was killed. */
static void what_a_process_of_the_same_number_has_left_is_in_nobodys_way(void **state)
{
    char name[128], left[2][160], bytes[8] = "";
    int files[2];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    snprintf(name, sizeof name, "%s/again.json", folder);
    for (int locked = 0; locked < 2; locked++) { /* locked: as where nothing can be locked */
        snprintf(left[locked], sizeof *left, "%s/.again.json%s.%ld.cloister-part", folder,
                 locked ? ".1" : "", (long)getpid());
        files[locked] = open(left[locked], O_RDWR | O_CREAT | O_EXCL, 0600);
        assert_true(files[locked] >= 0);
        if (locked) assert_int_equal(flock(files[locked], LOCK_EX), 0);
    }
    assert_ok(clo_file_open(name, &file, &err), err);
    assert_int_not_equal(access(left[0], F_OK), 0);
    assert_int_equal(link(left[1], left[0]), 0); /* while the file was open */
    assert_true(clo_file_write(file, "right", 5));
    assert_ok(clo_file_commit(file, &err), err);
    clo_file_close(file);
    FILE *const read = fopen(name, "rb");
    assert_non_null(read);
    assert_int_equal(fread(bytes, 1, sizeof bytes, read), 5);
    assert_string_equal(bytes, "right");
    fclose(read);
    assert_int_equal(unlink(name), 0);
    for (int i = 0; i < 2; i++) {
        close(files[i]);
        assert_int_equal(unlink(left[i]), 0);
    }
}

/* Of a run that takes long. */
static void a_ledger_that_was_made_meanwhile_stays(void **state)
{
    char header[100] = "SQLite format 3", name[400], found[100];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    memcpy(header + 68, "CLOL", 4);
    snprintf(name, sizeof name, "%s/made.db", folder);
    assert_ok(clo_file_open(name, &file, &err), err);
    assert_true(clo_file_write(file, "release", 7));
    FILE *ledger = fopen(name, "wb");
    assert_non_null(ledger);
    assert_int_equal(fwrite(header, 1, sizeof header, ledger), sizeof header);
    fclose(ledger);
    assert_fails(clo_file_commit(file, &err), CLO_IO, err, "it is a ledger");
    clo_file_close(file);
    ledger = fopen(name, "rb");
    assert_int_equal(fread(found, 1, sizeof found, ledger), sizeof found);
    fclose(ledger);
    assert_memory_equal(found, header, sizeof header);
    assert_int_equal(unlink(name), 0);
}

static void names_that_lead_to_a_ledger_or_nowhere_are_refused_before_a_byte(void **state)
{
    static const char *const ends[] = { "",           "-journal",          "-wal",
                                        "-shm",       ".rekeying",         ".rekeying-journal",
                                        ".restoring", ".restoring-journal" };
    char header[100] = "SQLite format 3", name[400];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    memcpy(header + 68, "CLOL", 4);
    snprintf(name, sizeof name, "%s/l.db", folder);
    FILE *const ledger = fopen(name, "wb");
    assert_non_null(ledger);
    assert_int_equal(fwrite(header, 1, sizeof header, ledger), sizeof header);
    fclose(ledger);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s/l.db%s", folder, ends[i]);
        assert_fails(clo_file_open(name, &file, &err), CLO_IO, err, "ledger");
    }
    assert_fails(clo_file_open("", &file, &err), CLO_ARGUMENT, err, "no file was given");
    snprintf(name, sizeof name, "%s/%0256d", folder, 0);
    assert_fails(clo_file_open(name, &file, &err), CLO_IO, err, "too long");
    snprintf(name, sizeof name, "%s/l.db", folder);
    assert_int_equal(unlink(name), 0);
}

static void messages_are_utf8_without_controls(void **state)
{
    clo_error err;
    (void)state;
    assert_int_equal(clo_i_fail(&err, CLO_IO, "a%s", "\xff\xc2\x9b\x1b\n\xc3\xa9\xed\xa0\x80\x7f"),
                     CLO_IO);
    assert_string_equal(err.message, "a?????\xc3\xa9????");
    char many[4 * sizeof err.message];
    memset(many, 'x', sizeof many);
    for (size_t i = 1; i + 2 < sizeof many; i += 2) memcpy(many + i, "\xc3\xa9", 2);
    many[sizeof many - 1] = 0;
    for (int cut = 0; cut < 2; cut++) {
        (void)!clo_i_fail(&err, CLO_IO, "%s", many + cut);
        for (const char *c = err.message; *c; c += clo_i_utf8_length(c))
            assert_true(clo_i_utf8_length(c) > 0);
    }
}

static void what_cannot_be_written_is_said(void **state)
{
    char name[128];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    snprintf(name, sizeof name, "%s/none/a.json", folder);
    assert_fails(clo_file_open(name, &file, &err), CLO_IO, err, "cannot be written");
    assert_fails(clo_file_open(folder, &file, &err), CLO_IO, err, "cannot be written");
    assert_fails(clo_file_open(NULL, &file, &err), CLO_ARGUMENT, err, "no file was given");
    assert_ok(clo_file_open("/dev/full", &file, &err), err);
    assert_true(clo_file_write(file, "lost", 4));
    assert_fails(clo_file_commit(file, &err), CLO_IO, err, "/dev/full cannot be written");
    clo_file_close(file);
    clo_file_close(NULL);
}

static void json_is_indented_and_escaped(void **state)
{
    text out = { NULL, 0 };
    clo_writer json = { .write = append_text, .user = &out };
    (void)state;
    clo_json_open(&json, NULL, '{');
    clo_json_text(&json, "text", "a\"b\\c\n\x7f");
    clo_json_text(&json, "nothing", NULL);
    clo_json_number(&json, "tenth", 0.1);
    clo_json_number(&json, "zero", -0.0);
    clo_json_number(&json, "nan", NAN);
    clo_json_count(&json, "count", UINT64_MAX);
    clo_json_open(&json, "none", '[');
    clo_json_close(&json, ']');
    clo_json_open(&json, "some", '[');
    clo_json_bool(&json, NULL, true);
    clo_json_bool(&json, NULL, false);
    clo_json_close(&json, ']');
    clo_json_close(&json, '}');
    assert_false(json.failed);
    assert_string_equal(out.bytes, "{\n  \"text\": \"a\\\"b\\\\c\\u000a\\u007f\",\n"
                                   "  \"nothing\": null,\n  \"tenth\": 0.1,\n  \"zero\": 0,\n"
                                   "  \"nan\": null,\n  \"count\": 18446744073709551615,\n"
                                   "  \"none\": [],\n  \"some\": [\n    true,\n    false\n  ]\n}");
    free(out.bytes);
}

static bool refuse(void *user, const char *bytes, size_t count)
{
    (void)bytes, (void)count;
    ++*(int *)user;
    return false;
}

static void after_a_failure_nothing_is_written(void **state)
{
    int calls = 0;
    clo_writer writer = { .write = refuse, .user = &calls };
    (void)state;
    clo_writer_text(&writer, "a");
    clo_i_writer_format(&writer, "%d", 1);
    clo_json_text(&writer, "key", "value");
    assert_true(writer.failed);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_seen_once_it_is_committed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_not_committed_leaves_the_old_file, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_link_stays_a_link, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(nothing_is_written_where_the_key_is, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_link_of_another_user_is_not_followed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(long_writes_arrive_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(only_what_nobody_has_is_cleaned_up, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(
            what_a_process_of_the_same_number_has_left_is_in_nobodys_way, make_folder,
            remove_folder),
        cmocka_unit_test_setup_teardown(a_ledger_that_was_made_meanwhile_stays, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(
            names_that_lead_to_a_ledger_or_nowhere_are_refused_before_a_byte, make_folder,
            remove_folder),
        cmocka_unit_test(messages_are_utf8_without_controls),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_said, make_folder, remove_folder),
        cmocka_unit_test(json_is_indented_and_escaped),
        cmocka_unit_test(after_a_failure_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
