/* What is written for the world: a file is there whole or not at all, and JSON is JSON. */
#include "pipeline.h"
#include "base/base.h"
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

static void what_cannot_be_written_is_said(void **state)
{
    char name[128];
    clo_file *file = NULL;
    clo_error err;
    (void)state;
    snprintf(name, sizeof name, "%s/none/a.json", folder);
    assert_fails(clo_file_open(name, &file, &err), CLO_IO, err, "cannot be written");
    assert_fails(clo_file_open(folder, &file, &err), CLO_IO, err, "cannot be written");
    assert_fails(clo_file_open(NULL, &file, &err), CLO_ARGUMENT, err, "no file is named");
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
        cmocka_unit_test_setup_teardown(long_writes_arrive_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_said, make_folder, remove_folder),
        cmocka_unit_test(json_is_indented_and_escaped),
        cmocka_unit_test(after_a_failure_nothing_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
