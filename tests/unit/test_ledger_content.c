/*
 * test_ledger_content.c - data that were charged under another name are known again, by who has the
 * key; to others what is kept says nothing, not even that two charges were for the same data
 * (ledger.T12).
 */
#include "ledger_place.h"

static const uint8_t people[CLO_DIGEST_BYTES] = "a digest of the people",
                     others[CLO_DIGEST_BYTES] = "a digest of others";

static void charge_for(clo_ledger *ledger, const char *dataset, const uint8_t *content)
{
    const clo_i_charge charge = { .dataset = dataset,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.5, 0 },
                                  .rho = UINT64_C(1) << 45,
                                  .content = content };
    clo_i_receipt receipt;
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
}

static void is_known_as(clo_ledger *ledger, const char *dataset, const uint8_t *content,
                        const char *name)
{
    char found[201] = "x";
    clo_error err;
    assert_ok(clo_ledger_known_as(ledger, dataset, content, found, sizeof found, &err), err);
    assert_string_equal(found, name);
}

static void knows_data_by_their_other_name(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    is_known_as(ledger, "s.csv", people, "");
    charge_for(ledger, "people", people);
    charge_for(ledger, "s.csv", others);
    charge_for(ledger, "s.csv", NULL); /* of data in memory nothing is known */
    is_known_as(ledger, "s.csv", people, "people");
    is_known_as(ledger, "new", people, "people");
    is_known_as(ledger, "people", people, "");
    is_known_as(ledger, "new", others, "s.csv");
    is_known_as(ledger, "new", NULL, "");
    charge_for(ledger, "crowd", people);
    is_known_as(ledger, "new", people, "crowd"); /* the latest */
    charge_for(ledger, "s.csv", people);
    is_known_as(ledger, "s.csv", people, ""); /* it was meant so once, and then again */
    is_sound(ledger);
    clo_ledger_close(ledger);
    ledger = open_at(p->ledger);
    is_known_as(ledger, "new", others, "s.csv");
    clo_ledger_close(ledger);
}

/* ledger.T12: nothing in the file that the digest alone could be compared with, and equal data
 * leave unequal rows. */
static void keeps_what_only_the_key_can_compare(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    int64_t rows = 0, kinds = 0;
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    for (int i = 0; i < 50; i++) charge_for(ledger, i % 2 ? "people" : "crowd", people);
    assert_ok(clo_i_sql_number(ledger, "SELECT count(*) FROM content", &rows, &err), err);
    assert_ok(clo_i_sql_number(ledger, "SELECT count(DISTINCT hash) FROM content", &kinds, &err),
              err);
    assert_true(rows == 50 && kinds == 50);
    clo_ledger_close(ledger);
    FILE *const file = fopen(p->ledger, "rb");
    assert_non_null(file);
    bytes = malloc(1 << 20);
    length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    assert_true(length > 4096 && length < 1 << 20);
    assert_null(memmem(bytes, length, people, sizeof people));
    free(bytes);
}

/* The same data in two ledgers of one user cannot be told by comparing the files either. */
static void differs_from_ledger_to_ledger(void **state)
{
    const clo_i_key key = { .known = true, .bytes = { 7 } };
    const uint8_t one[LEDGER_IDENTITY] = { 1 }, two[LEDGER_IDENTITY] = { 2 };
    uint8_t a[LEDGER_HASH], b[LEDGER_HASH], c[LEDGER_HASH], d[LEDGER_HASH];
    (void)state;
    clo_i_chain_content(&key, one, "content", 1, people, a);
    clo_i_chain_content(&key, two, "content", 1, people, b);
    clo_i_chain_content(&key, one, "content", 2, people, c);
    clo_i_chain_content(&key, one, "content", 1, people, d);
    assert_memory_not_equal(a, b, LEDGER_HASH);
    assert_memory_not_equal(a, c, LEDGER_HASH);
    assert_memory_equal(a, d, LEDGER_HASH);
}

static void says_nothing_without_the_key(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    charge_for(ledger, "people", people);
    clo_ledger_close(ledger);
    in_shell(p, "mv '%s/config' '%s/elsewhere'");
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    is_known_as(ledger, "new", people, "");
    clo_ledger_close(ledger);
}

/* The innermost folder decides; where two data sets were given one and the same, each is at home in
 * it, whichever was declared last. */
static void two_data_sets_of_one_folder_are_both_at_home(void **state)
{
    static const struct {
        const char *dataset, *path, *other;
    } asked[] = {
        { "first", "/data/a.csv", "" },          { "second", "/data/a.csv", "" },
        { "stranger", "/data/a.csv", "second" }, { "first", "/data/in/a.csv", "inner" },
        { "inner", "/data/in/a.csv", "" },       { "inner", "/data/a.csv", "second" },
        { "first", "/database/a.csv", "" },
    };
    const place *p = *state;
    const clo_loss cap = { 1, 0 };
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    assert_ok(clo_ledger_declare_data(ledger, "first", cap, NULL, "/data", false, &err), err);
    assert_ok(clo_ledger_declare_data(ledger, "inner", cap, NULL, "/data/in", true, &err), err);
    assert_ok(clo_ledger_declare_data(ledger, "second", cap, NULL, "/data", true, &err), err);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char name[201] = "x";
        assert_ok(
            clo_ledger_known_at(ledger, asked[i].dataset, asked[i].path, name, sizeof name, &err),
            err);
        assert_string_equal(name, asked[i].other);
    }
    clo_ledger_close(ledger);
}

/* A charge that the cap refuses leaves nothing behind. */
static void a_refused_charge_leaves_no_row(void **state)
{
    const place *p = *state;
    clo_ledger *ledger = open_at(p->ledger);
    clo_error err;
    clo_i_receipt receipt;
    int64_t rows = -1;
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = UINT64_C(1) << 47,
                                  .content = people };
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 0.5, 0 }, &err), err);
    assert_fails(clo_i_ledger_charge(ledger, &charge, &receipt, &err), CLO_BUDGET, err,
                 "not enough budget is left");
    assert_ok(clo_i_sql_number(ledger, "SELECT count(*) FROM content", &rows, &err), err);
    assert_int_equal(rows, 0);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(knows_data_by_their_other_name),
        IN_PLACE(keeps_what_only_the_key_can_compare),
        cmocka_unit_test(differs_from_ledger_to_ledger),
        IN_PLACE(says_nothing_without_the_key),
        IN_PLACE(two_data_sets_of_one_folder_are_both_at_home),
        IN_PLACE(a_refused_charge_leaves_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
