/*
 * test_broker_policy.c - every key of a policy: not said, said, and gone beyond.
 *
 * The first tables are what is read; the second are whole questions on a real ledger, with what is
 * charged for each.  The steps of the job are wrapped (tests/meson.build), so that each of them
 * can be made to fail with every status and with words that nobody may hear.
 */
#include "broker/broker.h"
#include "ledger_place.h"
#include <cloister/steward.h>
#include <math.h>

#define SECRET "line 17 has 3.5"

static char text[4000];

/* ---- what is read ------------------------------------------------------------------- */

static clo_status parse(const char *broker, const char *dataset, const char *analysts,
                        clo_policy **out, clo_error *err)
{
    snprintf(text, sizeof text,
             "[broker]\nledger = /l\n%s[dataset people]\ndata = /p\nfamilies = kmeans\n%s%s",
             broker, dataset, analysts);
    return clo_policy_parse(text, strlen(text), out, err);
}

static const char ONE[] = "[analyst alice]\npeople = 1\n";
static const char TWO[] = "[analyst alice]\npeople = 1\n[analyst bob]\npeople = 1\n";

typedef struct reading {
    const char *lines, *analysts;
    double tick, patience;
    uint32_t ticks_at_most, workers, share, waiting;
} reading;

static void keys_of_the_broker(void **state)
{
    static const reading rows[] = {
        { "", ONE, 2, 10, 30, 2, 2, 4 },
        { "", TWO, 2, 10, 30, 2, 1, 4 },
        { "tick = 0.5\n", TWO, 0.5, 10, 30, 2, 1, 4 },
        { "patience = 7\n", TWO, 2, 7, 30, 2, 1, 4 },
        { "ticks-at-most = 3\n", TWO, 2, 10, 3, 2, 1, 4 },
        { "workers = 5\n", TWO, 2, 10, 30, 5, 3, 4 },
        { "workers = 1\n", ONE, 2, 10, 30, 1, 1, 4 },
        { "workers = 5\nshare = 4\n", TWO, 2, 10, 30, 5, 4, 4 },
        { "workers = 5\nshare = 5\n", ONE, 2, 10, 30, 5, 5, 4 },
        { "waiting = 9\n", TWO, 2, 10, 30, 2, 1, 9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clo_policy_facts facts = { .struct_size = sizeof facts };
        clo_policy *policy = NULL;
        clo_error err;
        assert_ok(parse(rows[i].lines, "norm = 1\n", rows[i].analysts, &policy, &err), err);
        assert_ok(clo_policy_describe(policy, &facts, &err), err);
        assert_true(facts.tick == rows[i].tick && facts.patience == rows[i].patience);
        assert_int_equal(facts.ticks_at_most, rows[i].ticks_at_most);
        assert_int_equal(facts.workers, rows[i].workers);
        assert_int_equal(facts.share, rows[i].share);
        assert_int_equal(facts.waiting, rows[i].waiting);
        clo_policy_free(policy);
    }
}

/* Beyond what can be meant, and whatever is said twice: of two lines nobody knows which counts. */
static void what_a_policy_may_not_say(void **state)
{
    static const struct {
        const char *broker, *dataset, *analysts, *words;
    } rows[] = {
        { "tick = 0\n", "norm = 1\n", TWO, "must be a number from" },
        { "tick = nan\n", "norm = 1\n", TWO, "must be a number from" },
        { "patience = 3601\n", "norm = 1\n", TWO, "must be a number from" },
        { "ticks-at-most = 0\n", "norm = 1\n", TWO, "must be a number from" },
        { "ticks-at-most = 1.5\n", "norm = 1\n", TWO, "not a whole number" },
        { "workers = 257\n", "norm = 1\n", TWO, "must be a number from" },
        { "workers = 1\n", "norm = 1\n", TWO, "could block all others" },
        { "share = 2\n", "norm = 1\n", TWO, "'share = 1' or less" },
        { "share = 3\n", "norm = 1\n", ONE, "a share of 3 of 2" },
        { "waiting = 65\n", "norm = 1\n", TWO, "must be a number from" },
        { "ledger = /m\n", "norm = 1\n", TWO, "said twice" },
        { "tick = 1\ntick = 2\n", "norm = 1\n", TWO, "said twice" },
        { "[broker]\n", "norm = 1\n", TWO, "said twice" },
        { "", "", TWO, "needs a public 'norm" },
        { "", "center = 0,0\n", TWO, "needs a public 'norm" },
        { "", "norm = 1\nepsilon-at-most = -1\n", TWO, "must be a number from" },
        { "", "norm = 1\nepsilon-at-most = nan\n", TWO, "must be a number from" },
        { "", "norm = 1\nepsilon-at-most = 1\nepsilon-at-most = 2\n", TWO, "said twice" },
        { "", "norm = 1\ndelta-at-most = 1\ndelta-at-most = 0\n", TWO, "said twice" },
        { "", "norm = 1\npurpose = required\npurpose = optional\n", TWO, "said twice" },
        { "", "norm = 1\ndelta-at-most = 1.1\n", TWO, "must be a number from" },
        { "", "norm = 1\npurpose = maybe\n", TWO, "required or optional" },
        { "", "norm = 1\nmissing = refuse\n", TWO, "must not end a run" },
        { "", "norm = 1\nfamilies = subspace\n", TWO, "said twice" },
        { "", "norm = 1\nnorm = 2\n", TWO, "said twice" },
        { "", "norm = 1\n", "[analyst alice]\npeople = 1:1\n", "a cap must be" },
        { "", "norm = 1\n", "[analyst alice]\npeople = 0\n", "a cap must be" },
        { "", "norm = 1\n", "[analyst alice]\npeople = 1\npeople = 2\n", "said twice" },
        { "", "norm = 1\n", "[analyst a:b]\npeople = 1\n", "must not have a ':'" },
        { "", "norm = 1\n[dataset a@b]\n", TWO, "must not have an '@'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clo_policy *policy = NULL;
        clo_error err;
        assert_fails(parse(rows[i].broker, rows[i].dataset, rows[i].analysts, &policy, &err),
                     CLO_FORMAT, err, rows[i].words);
        assert_null(policy);
    }
}

#define LONG "a-name-of-more-letters-than-anybody-looks-at-"

/* Names that are put together from two stay different, and none is a name that is served: all
 * pairs of what a policy takes, tokens with everything in them. */
static void names_do_not_collide(void **state)
{
    static const char *const parts[] = {
        "a", "b", "a@b", "b@a", "a:b", "@", ":", "a@", "@a", "a:", LONG "1", LONG "2",
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    char accounts[PARTS * PARTS][BROKER_NAME + 1], tokens[PARTS * PARTS][BROKER_NAME + 1];
    size_t account_count = 0, token_count = 0;
    clo_error err;
    for (size_t d = 0; d < PARTS; d++)
        for (size_t a = 0; a < PARTS; a++) {
            clo_policy *policy = NULL;
            char lines[400];
            clo_i_permit permit;
            const clo_setting said[] = { { "dataset", parts[d] },
                                         { "mechanism", "kmeans" },
                                         { "epsilon", "1" },
                                         { "purpose", "p" },
                                         { "token", "t" } };
            snprintf(lines, sizeof lines,
                     "norm = 1\n[dataset %s]\ndata = /d\nfamilies = kmeans\nnorm = 1\n[analyst "
                     "%s]\n%s = 1\n",
                     parts[d], parts[a], parts[d]);
            if (parse("", lines, "", &policy, NULL)) continue;
            assert_ok(clo_i_permit_check(policy, parts[a], said, 5, &permit, &err), err);
            memcpy(accounts[account_count++], permit.account, sizeof permit.account);
            assert_null(clo_i_policy_dataset(policy, permit.account));
            for (size_t t = 0; d == 0 && t < PARTS; t++) {
                const clo_setting with[] = {
                    said[0], said[1], said[2], said[3], { "token", parts[t] }
                };
                assert_ok(clo_i_permit_check(policy, parts[a], with, 5, &permit, &err), err);
                memcpy(tokens[token_count++], permit.token, sizeof permit.token);
            }
            clo_policy_free(policy);
        }
    assert_int_equal(account_count, 7 * 9); /* 7 data sets without '@', 9 users without ':' */
    assert_int_equal(token_count, 9 * PARTS);
    for (size_t i = 0; i < account_count; i++)
        for (size_t j = 0; j < i; j++) assert_string_not_equal(accounts[i], accounts[j]);
    for (size_t i = 0; i < token_count; i++)
        for (size_t j = 0; j < i; j++) assert_string_not_equal(tokens[i], tokens[j]);
}

/* A data set is asked by those analysts alone who have an allowance for it. */
static void an_allowance_is_for_one_data_set(void **state)
{
    static const char lines[] = "norm = 1\n[dataset others]\ndata = /o\nfamilies = kmeans\n"
                                "norm = 1\n[analyst alice]\npeople = 1\n[analyst bob]\n"
                                "others = 1\n[analyst carol]\npeople = 1\nothers = 1\n";
    static const struct {
        const char *analyst;
        bool people, others;
    } rows_of[] = { { "alice", true, false },
                    { "bob", false, true },
                    { "carol", true, true },
                    { "dave", false, false },
                    { "", false, false } };
    clo_policy *policy = NULL;
    clo_error err;
    (void)state;
    assert_ok(parse("", lines, "", &policy, &err), err);
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
        for (int others = 0; others < 2; others++) {
            const clo_setting said[] = { { "dataset", others ? "others" : "people" },
                                         { "mechanism", "kmeans" },
                                         { "epsilon", "1" },
                                         { "purpose", "p" } };
            const bool may = others ? rows_of[i].others : rows_of[i].people;
            clo_i_permit permit;
            assert_int_equal(clo_i_permit_check(policy, rows_of[i].analyst, said, 4, &permit, &err),
                             may ? CLO_OK : CLO_ARGUMENT);
        }
    clo_policy_free(policy);
}

/* Its group counts as much as all others do. */
static void a_policy_that_others_may_write_is_none(void **state)
{
    const place *const p = *state;
    char path[400];
    snprintf(path, sizeof path, "%s/policy", p->folder);
    clo_policy *policy = NULL;
    assert_int_equal(parse("", "norm = 1\n", ONE, &policy, NULL), CLO_OK); /* fills in the text */
    clo_policy_free(policy);
    for (unsigned others = 0; others < 0100; others++) {
        policy = NULL;
        FILE *const file = fopen(path, "w");
        assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
        assert_int_equal(chmod(path, 0600 | others), 0);
        const clo_status status = clo_policy_read(path, &policy, NULL);
        if ((status == CLO_OK) != !(others & 022)) fail_msg("mode 6%02o: %d", others, (int)status);
        clo_policy_free(policy);
        assert_int_equal(unlink(path), 0);
    }
}

/* ---- whole questions ------------------------------------------------------------------- */

typedef struct desk {
    const place *place;
    char data[400];
} desk;

static void write_rows(const desk *d, const char *row, int count)
{
    FILE *const file = fopen(d->data, "w");
    fprintf(file, "x,y\n");
    for (int i = 0; i < count; i++) fprintf(file, row, i % 9, i % 7);
    fclose(file);
}

static clo_ledger *open_ledger(const desk *d, clo_ledger_manner manner)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(d->place->ledger, manner, &ledger, &err), err);
    return ledger;
}

static desk make_desk(const place *p)
{
    desk d = { .place = p };
    clo_error err;
    snprintf(d.data, sizeof d.data, "%s/people.csv", p->folder);
    write_rows(&d, "0.%d,-0.%d\n", 300);
    clo_ledger *const ledger = open_ledger(&d, CLO_LEDGER_CLOSED);
    assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 100, 0.01 }, &err), err);
    assert_ok(clo_ledger_declare(ledger, "people@alice", (clo_loss){ 100, 0.01 }, &err), err);
    clo_ledger_close(ledger);
    return d;
}

static clo_policy *policy_of(const desk *d, const char *lines)
{
    clo_policy *policy = NULL;
    clo_error err;
    snprintf(text, sizeof text,
             "[broker]\nledger = %s\n[dataset people]\ndata = %s\nfamilies = kmeans\n%s[analyst "
             "alice]\npeople = 100:0.01\n",
             d->place->ledger, d->data, lines);
    assert_ok(clo_policy_parse(text, strlen(text), &policy, &err), err);
    return policy;
}

static bool add_spent(void *user, const clo_account *account)
{
    *(clo_loss *)user = account->spent;
    return true;
}

static clo_loss spent(const desk *d)
{
    clo_loss sum = { 0, 0 };
    clo_error err;
    clo_ledger *const ledger = open_ledger(d, CLO_LEDGER_CLOSED);
    assert_ok(clo_ledger_accounts(ledger, "people", add_spent, &sum, &err), err);
    clo_ledger_close(ledger);
    return sum;
}

/* Settings as "name value name value". */
static clo_answer ask(const clo_policy *policy, const char *said)
{
    clo_setting settings[20] = { { "dataset", "people" }, { "clusters", "2" }, { "yes", "yes" } };
    clo_answer answer = { .struct_size = sizeof answer };
    char words[400], bytes[1000], *at = words;
    size_t length = 0, count = 3;
    clo_error err;
    snprintf(words, sizeof words, "%s", said);
    for (char *name = strtok_r(words, " ", &at); name; name = strtok_r(NULL, " ", &at))
        settings[count++] = (clo_setting){ name, strtok_r(NULL, " ", &at) };
    assert_ok(clo_message_encode(settings, count, bytes, sizeof bytes, &length, &err), err);
    assert_ok(clo_policy_answer(policy, "alice", bytes, length, &answer, &err), err);
    return answer;
}

#define GRID  "mechanism kmeans/grid delta 0 epsilon "
#define LLOYD "mechanism kmeans/lloyd epsilon 0.5 purpose p "

/* What a line of the policy does to a question; charged: epsilon and delta. */
static const struct row {
    const char *lines, *said;
    clo_status status;
    const char *words;
    clo_loss charged;
} rows[] = {
    { "", GRID "0.5 purpose p", CLO_OK, "", { 0.5, 0 } },
    { "epsilon-at-most = 0.5\n", GRID "0.5 purpose p", CLO_OK, "", { 0.5, 0 } },
    { "epsilon-at-most = 0.5\n",
      GRID "0.5000001 purpose p",
      CLO_BUDGET,
      "at most epsilon 0.5",
      { 0, 0 } },
    { "epsilon-at-most = 0.5\n",
      "mechanism kmeans/grid delta 0 purpose p",
      CLO_ARGUMENT,
      "give epsilon",
      { 0, 0 } },
    { "epsilon-at-most = 0.5\n", GRID "nan purpose p", CLO_ARGUMENT, "give epsilon", { 0, 0 } },
    /* A delta that is not said is the preset, which is charged and held to what is allowed. */
    { "", LLOYD, CLO_OK, "", { 0.5, 1e-6 } },
    { "delta-at-most = 1e-6\n", LLOYD, CLO_OK, "", { 0.5, 1e-6 } },
    { "delta-at-most = 1e-7\n", LLOYD, CLO_BUDGET, "would spend 1e-06", { 0, 0 } },
    { "delta-at-most = 0\n", LLOYD, CLO_BUDGET, "would spend 1e-06", { 0, 0 } },
    { "delta-at-most = 1e-7\n", LLOYD "delta 1e-7", CLO_OK, "", { 0.5, 1e-7 } },
    { "delta-at-most = 1e-7\n", LLOYD "delta 1.1e-7", CLO_BUDGET, "at most delta 1e-07", { 0, 0 } },
    { "delta-at-most = 0\n", GRID "0.5 purpose p", CLO_OK, "", { 0.5, 0 } },
    { "delta-at-most = 0\n",
      "mechanism kmeans/grid epsilon 0.5 purpose p",
      CLO_OK,
      "",
      { 0.5, 0 } },
    /* Purposes. */
    { "", GRID "0.5", CLO_ARGUMENT, "give purpose", { 0, 0 } },
    { "purpose = required\n", GRID "0.5", CLO_ARGUMENT, "give purpose", { 0, 0 } },
    { "purpose = optional\n", GRID "0.5", CLO_OK, "", { 0.5, 0 } },
    /* Columns. */
    { "", GRID "0.5 purpose p columns y", CLO_OK, "\"y\"", { 0.5, 0 } },
    { "columns = x\n", GRID "0.5 purpose p", CLO_OK, "\"x\"", { 0.5, 0 } },
    { "columns = x\n",
      GRID "0.5 purpose p columns y",
      CLO_ARGUMENT,
      "set by the steward",
      { 0, 0 } },
    { "columns = x\n",
      GRID "0.5 purpose p columns x",
      CLO_ARGUMENT,
      "set by the steward",
      { 0, 0 } },
    { "columns = x\n",
      GRID "0.5 purpose p columns -y",
      CLO_ARGUMENT,
      "set by the steward",
      { 0, 0 } },
    /* Families. */
    { "",
      "mechanism kmedian/local epsilon 0.5 purpose p",
      CLO_ARGUMENT,
      "you may run: kmeans",
      { 0, 0 } },
    { "", "mechanism kmean epsilon 0.5 purpose p", CLO_ARGUMENT, "you may run: kmeans", { 0, 0 } },
    { "",
      "mechanism kmeanss epsilon 0.5 purpose p",
      CLO_ARGUMENT,
      "you may run: kmeans",
      { 0, 0 } },
    { "", "epsilon 0.5 purpose p", CLO_ARGUMENT, "you may run: kmeans", { 0, 0 } },
    { "",
      "mechanism kmeans epsilon 0.5 purpose p",
      CLO_OK,
      "",
      { 0.5, 1e-6 } }, /* a method with Gaussian noise */
    /* Data sets. */
    { "", GRID "0.5 purpose p seed 1", CLO_ARGUMENT, "set by the steward", { 0, 0 } },
    { "", GRID "0.5 purpose p text-columns refuse", CLO_ARGUMENT, "set by the steward", { 0, 0 } },
    { "", GRID "100.1 purpose p", CLO_BUDGET, "not enough budget is left", { 0, 0 } },
};

/* Where the columns are known without the data a plan is refused before they are read, and
 * elsewhere afterwards: the words are the same. */
static void lines_of_a_data_set(void **state)
{
    static const char *const ways[] = { "norm = 2\ncols = 2\n", "norm = 2\n" };
    const desk d = make_desk(*state);
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const struct row *const row = &rows[i / 2];
        char lines[200];
        if (i % 2 == 0 && strstr(row->lines, "columns")) continue; /* cols is then another number */
        snprintf(lines, sizeof lines, "%s%s", ways[i % 2], row->lines);
        clo_policy *const policy = policy_of(&d, lines);
        const clo_loss before = spent(&d);
        clo_answer answer = ask(policy, row->said);
        const clo_loss after = spent(&d);
        if (answer.status != row->status || !strstr(answer.bytes, row->words) ||
            !(fabs(after.epsilon - before.epsilon - row->charged.epsilon) < 1e-9) ||
            !(fabs(after.delta - before.delta - row->charged.delta) < 1e-12))
            fail_msg("%s%s: %d %.300s; spent (%g, %g)", lines, row->said, (int)answer.status,
                     answer.bytes, after.epsilon - before.epsilon, after.delta - before.delta);
        if (strcmp(row->lines, "columns = x\n") == 0 && answer.status == CLO_OK)
            assert_null(strstr(answer.bytes, "\"y\""));
        clo_broker_bytes_free(answer.bytes);
        clo_policy_free(policy);
    }
}

/* What message and policy decide is decided before the data are opened: here there are none. */
static void what_is_refused_is_refused_first(void **state)
{
    const desk d = make_desk(*state);
    unlink(d.data);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char lines[200];
        if (rows[i].status != CLO_ARGUMENT && !strstr(rows[i].words, "at most ")) continue;
        if (strstr(rows[i].words, "would spend")) continue; /* the plan says that */
        snprintf(lines, sizeof lines, "norm = 2\n%s", rows[i].lines);
        clo_policy *const policy = policy_of(&d, lines);
        clo_answer answer = ask(policy, rows[i].said);
        if (answer.status != rows[i].status || !strstr(answer.bytes, rows[i].words))
            fail_msg("%s%s: %d %.300s", lines, rows[i].said, (int)answer.status, answer.bytes);
        clo_broker_bytes_free(answer.bytes);
        clo_policy_free(policy);
    }
}

/* Every setting that a policy takes reaches the run: with a value that is none, nothing is
 * released and nothing charged. */
static void every_setting_of_the_stewards_counts(void **state)
{
    const desk d = make_desk(*state);
    const clo_setting_info *row;
    int taken = 0;
    for (size_t i = 0; (row = clo_job_setting(i)); i++) {
        const char *const name = row->name;
        const bool is_norm = strcmp(name, "norm") == 0, is_data = strcmp(name, "data") == 0;
        char lines[200];
        clo_policy *policy = NULL;
        snprintf(lines, sizeof lines, "%s%s = /no such thing\n", is_norm ? "" : "norm = 2\n", name);
        if (strcmp(name, "dataset") == 0 || (!is_data && parse("", lines, ONE, &policy, NULL)))
            continue;
        clo_policy_free(policy);
        policy = policy_of(&d, is_data ? "norm = 2\n" : lines);
        if (is_data) {
            char *const file = strstr(text, d.data);
            memcpy(file, "/no", 3);
            clo_policy_free(policy);
            clo_error err;
            assert_ok(clo_policy_parse(text, strlen(text), &policy, &err), err);
        }
        clo_answer answer = ask(policy, GRID "0.5 purpose p");
        if (answer.status == CLO_OK) fail_msg("%s is not heeded", name);
        assert_null(strstr(answer.bytes, "/no")); /* no place of the steward's is named */
        assert_true(spent(&d).epsilon == 0);
        clo_broker_bytes_free(answer.bytes);
        clo_policy_free(policy);
        taken++;
    }
    assert_int_equal(taken, 22);
}

/* A column of text, numbers of people's writing, records that are all missing: none ends a run. */
static void text_ends_no_run(void **state)
{
    static const char *const kinds[] = { "abc%d,def%d\n", "\"1,%d\",\"2,%d\"\n", "%d%%,%d%%\n",
                                         ",\n" };
    const desk d = make_desk(*state);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        write_rows(&d, kinds[i], 300);
        clo_policy *const policy = policy_of(&d, "norm = 2\n");
        clo_answer answer = ask(policy, GRID "0.5 purpose p");
        assert_int_equal(answer.status, CLO_OK);
        clo_broker_bytes_free(answer.bytes);
        clo_policy_free(policy);
    }
}

/* ---- a permit, to the last bit ---------------------------------------------------------- */

/* Each setting that a question must have: left out, empty, and said. */
static void what_must_be_said_is_said(void **state)
{
    static const clo_setting said[] = { { "dataset", "people" },
                                        { "mechanism", "kmeans/grid" },
                                        { "epsilon", "0.5" },
                                        { "purpose", "p" } };
    enum { SAID = sizeof said / sizeof *said };
    clo_policy *policy = NULL;
    clo_i_permit permit;
    clo_error err;
    (void)state;
    assert_ok(parse("", "norm = 1\npurpose = required\n", ONE, &policy, &err), err);
    assert_ok(clo_i_permit_check(policy, "alice", said, SAID, &permit, &err), err);
    for (size_t i = 0; i < SAID; i++)
        for (int empty = 0; empty < 2; empty++) {
            clo_setting now[SAID];
            memcpy(now, said, sizeof now);
            now[i] = empty ? (clo_setting){ said[i].name, "" } : said[(i + 1) % SAID];
            if (clo_i_permit_check(policy, "alice", now, SAID, &permit, &err) != CLO_ARGUMENT)
                fail_msg("%s may be %s", said[i].name, empty ? "empty" : "left out");
        }
    clo_policy_free(policy);
}

/* What is asked and what a plan spends: as much as is allowed, and the next number above. */
/* Of all families, asked for by their names or by a method's, those alone that the policy names:
 * one is the beginning of another (subspace, subspaces). */
static void a_family_is_allowed_by_its_whole_name(void **state)
{
    size_t allowed = 0, refused = 0;
    (void)state;
    for (size_t a = 0; a < clo_mechanism_count(); a++)
        for (size_t b = 0; b < clo_mechanism_count(); b++)
            for (int how = 0; how < 2; how++) {
                const clo_mechanism *const served_one = clo_mechanism_at(a);
                const clo_mechanism *const asked_one = clo_mechanism_at(b);
                char families[80], mechanism[160];
                clo_i_served served = {
                    .name = "people", .families = families, .epsilon_at_most = 1, .delta_at_most = 1
                };
                clo_i_allowance allowance = { .analyst = "alice", .dataset = "people" };
                clo_policy policy = { .served = &served,
                                      .served_count = 1,
                                      .allowances = &allowance,
                                      .allowance_count = 1 };
                clo_i_permit permit;
                clo_error err;
                snprintf(families, sizeof families, "%s%s", how ? "bounds, " : "",
                         clo_mechanism_family(served_one));
                snprintf(mechanism, sizeof mechanism, how ? "%s/%s" : "%s",
                         clo_mechanism_family(asked_one), clo_mechanism_method(asked_one));
                const clo_setting said[] = { { "dataset", "people" },
                                             { "mechanism", mechanism },
                                             { "epsilon", "0.5" } };
                const char *const family = clo_mechanism_family(asked_one);
                const bool may = strcmp(family, clo_mechanism_family(served_one)) == 0 ||
                                 (how && strcmp(family, "bounds") == 0);
                const clo_status status =
                    clo_i_permit_check(&policy, "alice", said, 3, &permit, &err);
                if ((status == CLO_OK) != may)
                    fail_msg("%s where one may run %s", mechanism, families);
                *(may ? &allowed : &refused) += 1;
            }
    assert_true(allowed > 20 && refused > 20);
}

static void at_most_is_at_most(void **state)
{
    const clo_loss budget = { 0.3, 1e-6 };
    clo_domain domain = clo_domain_default();
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    domain.cols = 2;
    domain.norm = 1;
    assert_ok(clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, &err), err);
    assert_ok(clo_plan_new(params, &domain, budget, CLO_EXACT, &plan, &err), err);
    for (int i = 0; i < 4; i++) {
        char families[] = "kmeans", others[] = "kmedian", epsilon[40], delta[40];
        clo_i_served served = { .name = "people",
                                .families = i == 3 ? others : families,
                                .epsilon_at_most = budget.epsilon,
                                .delta_at_most = budget.delta };
        const clo_i_allowance allowance = { .analyst = "alice", .dataset = "people" };
        clo_policy policy = { .served = &served,
                              .served_count = 1,
                              .allowances = (clo_i_allowance *)&allowance,
                              .allowance_count = 1 };
        clo_i_permit permit = { .served = &served };
        if (i == 1) served.epsilon_at_most = nextafter(budget.epsilon, 0);
        if (i == 2) served.delta_at_most = nextafter(budget.delta, 0);
        const clo_status status = clo_i_permit_check_plan(&permit, plan, &err);
        if ((status == CLO_OK) != (i == 0))
            fail_msg("a plan of epsilon 0.3, delta 1e-6 and kmeans where %s is allowed: %d",
                     i == 3 ? "kmedian"
                     : i    ? "a little less"
                            : "that",
                     (int)status);
        snprintf(epsilon, sizeof epsilon, "%.17g", budget.epsilon);
        snprintf(delta, sizeof delta, "%.17g", budget.delta);
        const clo_setting said[] = { { "dataset", "people" },
                                     { "mechanism", "kmeans" },
                                     { "epsilon", epsilon },
                                     { "delta", delta } };
        assert_int_equal(clo_i_permit_check(&policy, "alice", said, 4, &permit, &err) == CLO_OK,
                         i == 0);
    }
    clo_plan_free(plan);
    clo_params_free(params);
}

/* ---- caps of a policy, and those that were declared --------------------------------------- */

static bool take_account(void *user, const clo_account *account)
{
    *(clo_account *)user = *account;
    return true;
}

/* What is left to alice: the cap, or what it was lowered to. */
static clo_loss allowed(const desk *d)
{
    clo_account account;
    clo_error err;
    clo_ledger *const ledger = open_ledger(d, CLO_LEDGER_CLOSED);
    assert_ok(clo_ledger_accounts(ledger, "people@alice", take_account, &account, &err), err);
    clo_ledger_close(ledger);
    return account.lowered ? account.limit : account.cap;
}

/* Of both numbers of a cap: less than was declared, or lowered to, is lowered; more is refused, and
 * changes nothing. */
static void a_cap_of_the_policy_never_grows(void **state)
{
    static const double LESS = 0.5, SAME = 1, MORE = 1.5;
    const double ways[] = { LESS, SAME, MORE };
    const desk d = make_desk(*state); /* 100 and 0.01 */
    clo_loss now = { 100, 0.01 };
    clo_error err;
    for (int lowered = 0; lowered < 2; lowered++) {
        for (int way = 8; way >= 0; way--) { /* the least last */
            const clo_loss said = { now.epsilon * ways[way / 3], now.delta * ways[way % 3] };
            const bool grows = said.epsilon > now.epsilon || said.delta > now.delta;
            char lines[1000];
            clo_policy *policy = NULL;
            snprintf(lines, sizeof lines,
                     "[broker]\nledger = %s\n[dataset people]\ndata = %s\nfamilies = kmeans\n"
                     "norm = 1\n[analyst alice]\npeople = %.17g:%.17g\n",
                     d.place->ledger, d.data, said.epsilon, said.delta);
            assert_ok(clo_policy_parse(lines, strlen(lines), &policy, &err), err);
            const clo_status status = clo_policy_prepare(policy, &err);
            clo_policy_free(policy);
            if (grows)
                assert_fails(status, CLO_LEDGER, err, "a cap cannot be raised");
            else
                assert_ok(status, err);
            if (!grows) now = said;
            const clo_loss left = allowed(&d);
            assert_true(left.epsilon == now.epsilon && left.delta == now.delta);
        }
    }
}

/* ---- which ledger -------------------------------------------------------------------- */

static void an_open_ledger_is_not_served(void **state)
{
    const place *const p = *state;
    desk d = { .place = p };
    clo_error err;
    snprintf(d.data, sizeof d.data, "%s/people.csv", p->folder);
    write_rows(&d, "0.%d,-0.%d\n", 300);
    clo_ledger *const ledger = open_ledger(&d, CLO_LEDGER_OPEN);
    assert_ok(clo_ledger_declare(ledger, "people", (clo_loss){ 1, 0 }, &err), err);
    clo_ledger_close(ledger);
    clo_policy *const policy = policy_of(&d, "norm = 2\n");
    assert_fails(clo_policy_prepare(policy, &err), CLO_LEDGER, err, "needs a closed one");
    clo_policy_free(policy);
}

/* A cap on the account of an analyst is no cap on the data. */
static void a_data_set_without_a_cap_is_not_served(void **state)
{
    const desk d = make_desk(*state);
    char lines[900];
    clo_error err;
    snprintf(lines, sizeof lines,
             "norm = 2\n[dataset others]\ndata = %s\nfamilies = kmeans\n"
             "norm = 2\n",
             d.data);
    clo_policy *const policy = policy_of(&d, lines);
    assert_fails(clo_policy_prepare(policy, &err), CLO_ARGUMENT, err, "no data set 'others'");
    clo_policy_free(policy);
}

/* What an analyst asks is no sentence of the steward's log: who asked what, and how it ended. */
static void what_is_asked_is_in_the_log_only_where_it_is_a_name(void **state)
{
    static const char *const asked[] = { "kmeans/grid:forged", "kmeans/grid(forged)", "FORGED",
                                         "kmeans/f\xc3\xb6rged" };
    const desk d = make_desk(*state);
    clo_policy *const policy = policy_of(&d, "norm = 2\n");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char said[200];
        snprintf(said, sizeof said, "mechanism %s delta 0 epsilon 0.5 purpose p", asked[i]);
        clo_answer answer = ask(policy, said);
        assert_true(answer.status != CLO_OK);
        /* Only within the quotes of what is said of it. */
        if (strncmp(answer.log, "alice asked ? on ", 17) != 0)
            fail_msg("the log has '%s'", answer.log);
        clo_broker_bytes_free(answer.bytes);
    }
    clo_policy_free(policy);
}

/* ---- how a step ends -------------------------------------------------------------------- */

typedef enum step { NONE, PREPARE, FETCH, SPEND, RUN, STORE, STEPS } step;

static step failing;
static clo_status as;

#define WRAP(number, name, parameters, arguments)                                                  \
    clo_status __real_##name parameters;                                                           \
    clo_status __wrap_##name parameters;                                                           \
    clo_status __wrap_##name parameters                                                            \
    {                                                                                              \
        if (failing != (number)) return __real_##name arguments;                                   \
        return clo_i_fail(err, as, SECRET);                                                        \
    }
WRAP(PREPARE, clo_job_prepare, (clo_job * job, clo_error *err), (job, err))
WRAP(FETCH, clo_job_fetch, (clo_job * job, bool *found, clo_error *err), (job, found, err))
WRAP(SPEND, clo_job_spend, (clo_job * job, clo_error *err), (job, err))
WRAP(RUN, clo_job_run, (clo_job * job, clo_error *err), (job, err))
WRAP(STORE, clo_job_store, (clo_job * job, clo_error *err), (job, err))

/* Whatever a step fails of, its code and its sentence are the same, but for the words of a cap,
 * which are made of the books; the steward's log has the cause. */
static void no_cause_is_told(void **state)
{
    static const clo_status codes[STEPS] = { CLO_OK,     CLO_FORMAT,   CLO_ARGUMENT,
                                             CLO_LEDGER, CLO_INTERNAL, CLO_INTERNAL };
    static const char *const words[STEPS] = { "",
                                              "could not be prepared",
                                              "the token cannot be used",
                                              "could not be charged now",
                                              "failed after the charge",
                                              "failed after the charge" };
    const desk d = make_desk(*state);
    clo_policy *const policy = policy_of(&d, "norm = 2\ncols = 2\n");
    for (failing = PREPARE; failing < STEPS; failing++) {
        char first[300] = "";
        for (as = CLO_ARGUMENT; as <= CLO_BUSY; as++) {
            const clo_loss before = spent(&d);
            clo_answer answer = ask(policy, GRID "0.5 purpose p");
            assert_non_null(strstr(answer.log, SECRET));
            assert_true((spent(&d).epsilon > before.epsilon) == (failing >= RUN));
            if (failing == SPEND && as == CLO_BUDGET) {
                assert_int_equal(answer.status, CLO_BUDGET);
                assert_string_equal(answer.bytes, SECRET);
            } else {
                if (!first[0]) snprintf(first, sizeof first, "%s", answer.bytes);
                assert_int_equal(answer.status, codes[failing]);
                assert_string_equal(answer.bytes, first);
                assert_non_null(strstr(answer.bytes, words[failing]));
            }
            clo_broker_bytes_free(answer.bytes);
        }
    }
    failing = NONE;
    clo_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_the_broker),
        cmocka_unit_test(what_a_policy_may_not_say),
        cmocka_unit_test(names_do_not_collide),
        cmocka_unit_test(an_allowance_is_for_one_data_set),
        cmocka_unit_test_setup_teardown(a_policy_that_others_may_write_is_none, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(a_data_set_without_a_cap_is_not_served, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(what_is_asked_is_in_the_log_only_where_it_is_a_name,
                                        make_place, remove_place),
        cmocka_unit_test(what_must_be_said_is_said),
        cmocka_unit_test(at_most_is_at_most),
        cmocka_unit_test(a_family_is_allowed_by_its_whole_name),
        cmocka_unit_test_setup_teardown(a_cap_of_the_policy_never_grows, make_place, remove_place),
        cmocka_unit_test_setup_teardown(lines_of_a_data_set, make_place, remove_place),
        cmocka_unit_test_setup_teardown(what_is_refused_is_refused_first, make_place, remove_place),
        cmocka_unit_test_setup_teardown(every_setting_of_the_stewards_counts, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(text_ends_no_run, make_place, remove_place),
        cmocka_unit_test_setup_teardown(an_open_ledger_is_not_served, make_place, remove_place),
        cmocka_unit_test_setup_teardown(no_cause_is_told, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
