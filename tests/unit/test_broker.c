/*
 * test_broker.c - what an analyst may ask through a broker, and what they are told.
 *
 * The heart of it: the answer to one message is the same, byte for byte and code for code, for two
 * data sets that differ in ways that no noise hides (a broken file and another broken file, a token
 * on changed data), and nothing that is the steward's can be said by an analyst.
 */
#include "broker/broker.h"
#include "ledger_place.h"
#include <cloister/steward.h>

static const char GOOD[] = "[broker]\nledger = /l.db\n[dataset people]\ndata = /p.csv\nfamilies = "
                           "kmeans\nnorm = 1\n[analyst alice]\npeople = 1:1e-6\n";

static clo_policy *parse(const char *text)
{
    clo_policy *policy = NULL;
    clo_error err;
    assert_ok(clo_policy_parse(text, strlen(text), &policy, &err), err);
    return policy;
}

static void wrong(const char *text, const char *words)
{
    clo_policy *policy = NULL;
    clo_error err;
    assert_fails(clo_policy_parse(text, strlen(text), &policy, &err), CLO_FORMAT, err, words);
    assert_null(policy);
}

/* ---- messages --------------------------------------------------------------------- */

/* As many settings as there is room for, and not one more: it would be written beside. */
static void a_message_has_at_most_so_many_settings(void **state)
{
    enum { MOST = CLO_MESSAGE_SETTINGS };
    static const clo_setting untouched = { "untouched", "" };
    char bytes[(MOST + 2) * 8], *to = bytes;
    (void)state;
    for (size_t n = 1; n <= MOST + 2; n++) {
        clo_setting read[MOST + 2];
        size_t count = 0;
        clo_error err;
        to += sprintf(to, "n%zu", n) + 1;
        to += sprintf(to, "v") + 1;
        for (size_t i = 0; i < MOST + 2; i++) read[i] = untouched;
        const clo_status status =
            clo_message_decode(bytes, (size_t)(to - bytes), read, &count, &err);
        assert_int_equal(status, n <= MOST ? CLO_OK : CLO_FORMAT);
        if (!status) assert_int_equal(count, n);
        for (size_t i = MOST; i < MOST + 2; i++) assert_ptr_equal(read[i].name, untouched.name);
    }
}

static void messages_go_there_and_back(void **state)
{
    const clo_setting settings[] = { { "dataset", "people" }, { "purpose", "J\xc3\xa4nner" } };
    clo_setting read[CLO_MESSAGE_SETTINGS];
    char bytes[200];
    uint8_t header[CLO_MESSAGE_HEADER];
    uint32_t said = 0;
    size_t length = 0, count = 0;
    clo_error err;
    assert_ok(clo_message_encode(settings, 2, bytes, sizeof bytes, &length, &err), err);
    assert_ok(clo_message_decode(bytes, length, read, &count, &err), err);
    assert_int_equal(count, 2);
    assert_string_equal(read[1].value, "J\xc3\xa4nner");
    clo_message_begin(header, 70000);
    assert_fails(clo_message_length(header, CLO_MESSAGE_BYTES, &said, &err), CLO_FORMAT, err,
                 "at most");
    assert_ok(clo_message_length(header, CLO_ANSWER_BYTES, &said, &err), err);
    assert_int_equal(said, 70000);
    header[0] = 'X';
    assert_fails(clo_message_length(header, CLO_ANSWER_BYTES, &said, &err), CLO_FORMAT, err, NULL);
    assert_fails(clo_message_decode(bytes, length - 1, read, &count, &err), CLO_FORMAT, err,
                 "incomplete");
    assert_fails(clo_message_decode("a\0", 2, read, &count, &err), CLO_FORMAT, err, "no value");
    assert_fails(clo_message_decode("a\0b\0a\0c", 8, read, &count, &err), CLO_FORMAT, err, "twice");
    assert_fails(clo_message_decode("a\0\n", 4, read, &count, &err), CLO_FORMAT, err, "malformed");
}

/* Of two the broker would take one, and the analyst means the other: wherever they stand. */
static void a_setting_is_given_once(void **state)
{
    enum { MOST = 7 };
    (void)state;
    for (size_t first = 0; first < MOST; first++)
        for (size_t second = first + 1; second < MOST; second++) {
            char bytes[MOST * 8], *to = bytes;
            clo_setting settings[MOST], read[CLO_MESSAGE_SETTINGS];
            char names[MOST][4];
            size_t count = 0, length = 0;
            clo_error err;
            for (size_t i = 0; i < MOST; i++) {
                snprintf(names[i], sizeof names[i], "n%zu", i == second ? first : i);
                settings[i] = (clo_setting){ names[i], "v" };
                to += sprintf(to, "%s", names[i]) + 1;
                to += sprintf(to, "v") + 1;
            }
            assert_fails(clo_message_decode(bytes, (size_t)(to - bytes), read, &count, &err),
                         CLO_FORMAT, err, "given twice");
            assert_fails(clo_message_encode(settings, MOST, bytes, sizeof bytes, &length, &err),
                         CLO_ARGUMENT, err, "given once");
        }
}

/* A value is one line that a steward's terminal shows as it is. */
static void a_value_has_no_control_character(void **state)
{
    (void)state;
    for (int byte = 1; byte < 0xc0; byte++) {
        char bytes[] = "a\0v?w", two[] = "a\0v\xc2?w"; /* a character of one byte, and of two */
        clo_setting read[CLO_MESSAGE_SETTINGS];
        size_t count = 0;
        clo_error err;
        bytes[3] = (char)byte;
        assert_int_equal(clo_message_decode(bytes, sizeof bytes, read, &count, &err) == CLO_OK,
                         byte >= 0x20 && byte < 0x7f);
        two[4] = (char)byte;
        assert_int_equal(clo_message_decode(two, sizeof two, read, &count, &err) == CLO_OK,
                         byte >= 0xa0);
    }
}

/* ---- policies --------------------------------------------------------------------- */

static void a_policy_is_read_strictly(void **state)
{
    clo_policy_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    clo_policy *policy = parse(GOOD);
    assert_ok(clo_policy_describe(policy, &facts, &err), err);
    assert_int_equal(facts.datasets, 1);
    assert_int_equal(facts.analysts, 1);
    assert_true(clo_policy_knows(policy, "alice"));
    assert_false(clo_policy_knows(policy, "Alice"));
    clo_policy_free(policy);
    wrong("ledger = /l.db\n", "before the first heading");
    wrong("[broker]\nledger = l.db\n", "must begin with /");
    wrong("[broker]\ntick = 0\n", "must be a number from");
    wrong("[broker]\nspeed = 1\n", "[broker] has no setting 'speed'");
    wrong("[dataset d]\nmissing = refuse\n", "must not end a run");
    wrong("[dataset d]\nledger = /l\n", "[dataset] has no setting");
    wrong("[dataset d]\n[dataset d]\n", "said twice");
    wrong("[analyst]\n", "a heading must be");
    wrong("[analyst a]\nd = 1:2\n", "a cap must be");
    wrong("[broker]\nledger = /l\n[dataset d]\ndata = /d\nfamilies = kmeans\n[analyst a]\nd = 1\n",
          "needs a public 'norm");
    wrong("[broker]\nledger = /l\n[dataset d]\ndata = /d\nfamilies = kmeans\nnorm = 1\n[analyst "
          "a]\ne = 1\n",
          "names 'e', but there is no such");
}

static clo_status permitted(const clo_policy *policy, const char *name, const char *value,
                            clo_error *err)
{
    clo_i_permit permit;
    const clo_setting settings[] = { { "dataset", "people" },
                                     { "mechanism", "kmeans/lloyd" },
                                     { "epsilon", "0.5" },
                                     { "purpose", "test" },
                                     { name, value } };
    return clo_i_permit_check(policy, "alice", settings, 5, &permit, err);
}

/* Of every setting there is, now and later, an analyst may say those that are listed. */
static void what_is_the_stewards_cannot_be_said(void **state)
{
    clo_policy *const policy = parse(GOOD);
    clo_error err;
    const clo_setting_info *row;
    int analysts = 0, stewards = 0;
    for (size_t i = 0; (row = clo_job_setting(i)); i++) {
        const char *const name = row->name;
        if (clo_i_permit_may_say(name)) {
            analysts++;
            continue;
        }
        assert_fails(permitted(policy, name, "1", &err), CLO_ARGUMENT, err, "set by the steward");
        stewards++;
    }
    assert_int_equal(analysts, 10);
    assert_in_range(stewards, 25, 100);
    for (const char *const *never = (const char *const[]){ "seed", "no-ledger", "ledger", "data",
                                                           "project", "new", "accept", NULL };
         *never; never++)
        assert_false(clo_i_permit_may_say(*never));
    assert_ok(permitted(policy, "clusters", "3", &err), err);
    clo_policy_free(policy);
}

/* ---- answers ---------------------------------------------------------------------- */

typedef struct desk {
    char data[400];
    clo_policy *policy;
} desk;

static void write_data(const desk *d, const char *more)
{
    FILE *const file = fopen(d->data, "w");
    fprintf(file, "x,y\n");
    for (int i = 0; i < 300; i++) fprintf(file, "0.%d,-0.%d\n", i % 9, i % 7);
    fprintf(file, "%s", more);
    fclose(file);
}

static void open_desk(const place *p, const char *more, desk *d)
{
    char text[2000];
    clo_ledger *ledger = NULL;
    clo_error err;
    snprintf(d->data, sizeof d->data, "%s/people.csv", p->folder);
    snprintf(text, sizeof text,
             "[broker]\nledger = %s\n[dataset people]\ndata = %s\nfamilies = kmeans\nnorm = 2\n"
             "%s[analyst alice]\npeople = 1\n[analyst bob]\npeople = 0.5\n",
             p->ledger, d->data, more);
    d->policy = parse(text);
    write_data(d, "");
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_CLOSED, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 1.25, 0 }, &err), err);
    clo_ledger_close(ledger);
    assert_ok(clo_policy_prepare(d->policy, &err), err);
}

static clo_answer ask(const desk *d, const char *analyst, const char *epsilon, const char *token,
                      const char *columns)
{
    const clo_setting settings[] = { { "dataset", "people" }, { "mechanism", "kmeans/grid" },
                                     { "clusters", "2" },     { "epsilon", epsilon },
                                     { "delta", "0" },        { "purpose", "test" },
                                     { "yes", "yes" },        { "token", token },
                                     { "columns", columns } };
    clo_answer answer = { .struct_size = sizeof answer };
    char bytes[1000];
    size_t length = 0;
    clo_error err;
    assert_ok(clo_message_encode(settings, columns ? 9 : 8, bytes, sizeof bytes, &length, &err),
              err);
    assert_ok(clo_policy_answer(d->policy, analyst, bytes, length, &answer, &err), err);
    return answer;
}

static void ends_with(const desk *d, const char *analyst, const char *epsilon, const char *token,
                      clo_status status, const char *words)
{
    clo_answer answer = ask(d, analyst, epsilon, token, NULL);
    assert_int_equal(answer.status, status);
    assert_non_null(strstr(answer.bytes, words));
    clo_broker_bytes_free(answer.bytes);
}

/* ledger.T16: an analyst's own cap and the data set's, whichever is reached first. */
static void charges_the_analyst_and_the_data_set(void **state)
{
    desk d;
    open_desk(*state, "", &d);
    ends_with(&d, "bob", "0.5", "1", CLO_OK, "\"certificate\"");
    ends_with(&d, "bob", "0.25", "2", CLO_BUDGET, "left on 'people@bob'");
    ends_with(&d, "alice", "0.75", "1", CLO_OK,
              "\"certificate\""); /* the same token, another user */
    ends_with(&d, "alice", "0.25", "2", CLO_BUDGET, "left on 'people'");
    ends_with(&d, "alice", "0.75", "1", CLO_OK, "\"certificate\""); /* fetched, for nothing */
    ends_with(&d, "mallory", "0.1", "1", CLO_ARGUMENT, "no data set 'people' that you may run on");
    clo_policy_free(d.policy);
}

/* Whatever a record, a line or a changed byte says, these words and codes are the same. */
static void tells_nothing_of_the_data(void **state)
{
    static const char *const broken[] = { "1,2,3\n", "\"open\n", "1\n2\n3,4,5\n" };
    char first[600] = "";
    desk d;
    open_desk(*state, "", &d);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        write_data(&d, broken[i]);
        clo_answer answer = ask(&d, "alice", "0.25", "t", NULL);
        assert_int_equal(answer.status, CLO_FORMAT);
        if (i == 0) snprintf(first, sizeof first, "%s", answer.bytes);
        assert_string_equal(answer.bytes, first);
        assert_null(strstr(answer.bytes, "line"));
        assert_non_null(strstr(answer.log, "people.csv")); /* the steward knows */
        clo_broker_bytes_free(answer.bytes);
    }
    /* Text, missing cells, another number of records: a release as any other. */
    write_data(&d, "abc,\n,\nNA,NA\n1e9,-1e9\n");
    ends_with(&d, "alice", "0.25", "t", CLO_OK, "\"certificate\"");
    write_data(&d, "0.5,0.5\n"); /* the token's data were changed */
    ends_with(&d, "alice", "0.25", "t", CLO_ARGUMENT, "the token cannot be used for this run");
    clo_policy_free(d.policy);
}

/* A release names no place of the steward's. */
static void a_release_holds_no_path(void **state)
{
    const place *const p = *state;
    desk d;
    char more[400];
    snprintf(more, sizeof more, "bounds = %s/bounds.csv\n", p->folder);
    in_shell(p, "printf 'x,-1,1\\ny,-1,1\\n' > '%s/bounds.csv'");
    open_desk(p, more, &d);
    clo_answer answer = ask(&d, "alice", "0.25", "t", "x");
    assert_int_equal(answer.status, CLO_OK);
    assert_null(strstr(answer.bytes, p->folder));
    assert_null(strstr(answer.bytes, "people.csv"));
    clo_broker_bytes_free(answer.bytes);
    clo_policy_free(d.policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_there_and_back),
        cmocka_unit_test(a_setting_is_given_once),
        cmocka_unit_test(a_value_has_no_control_character),
        cmocka_unit_test(a_message_has_at_most_so_many_settings),
        cmocka_unit_test(a_policy_is_read_strictly),
        cmocka_unit_test(what_is_the_stewards_cannot_be_said),
        cmocka_unit_test_setup_teardown(charges_the_analyst_and_the_data_set, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(tells_nothing_of_the_data, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_release_holds_no_path, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
