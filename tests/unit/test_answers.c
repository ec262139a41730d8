/* The noisy answers in the JSON of a release: every whole number comes back, the same numbers are
 * the same bytes, and a text that is shortened, padded or longer than it must be is refused. */
#include "pipeline.h"
#include "release/release.h"

static clo_release *simple(void)
{
    clo_domain domain = ball(2, 1, CLO_REPLACE);
    static const double values[8] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.1, 0 };
    domain.rows = 4;
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=1", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, 4, &domain);
    clo_release *const release = run_seeded(plan, data, "answers", NULL);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return release;
}

enum { MANY = 2000 };

static void every_number_comes_back(void **state)
{
    static int64_t asked[MANY], answered[130];
    clo_release *const release = simple();
    clo_release *read = NULL;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        asked[i] = (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15u) >> (i % 64);
    for (size_t i = 0; i < 64; i++) {
        answered[2 * i] = (int64_t)((uint64_t)1 << i); /* the last is the least of all numbers */
        answered[2 * i + 1] = -(int64_t)(((uint64_t)1 << i) - 1);
    }
    answered[128] = INT64_MAX;
    /* Of each length, so that every number of bytes is left over at the end. */
    for (size_t count = 0; count < 10; count++) {
        const clo_i_kept_answer answer = { .kind = "cells",
                                           .cols = 2,
                                           .groups = 3,
                                           .noise = { 1.5, 0.25, 3 },
                                           .noise_count = 3,
                                           .asked = asked,
                                           .answered = answered,
                                           .asked_count = count < 9 ? count : MANY,
                                           .answered_count = count < 9 ? count : 130 };
        assert_ok(clo_i_release_put_answer(release, &answer, &err), err);
    }
    const text once = json_of(release);
    assert_ok(clo_release_parse(once.bytes, once.length, &read, &err), err);
    assert_int_equal(read->answer_count, 10);
    const clo_i_kept_answer *const last = &read->answers[9];
    assert_string_equal(last->kind, "cells");
    assert_true(last->cols == 2 && last->groups == 3 && last->noise_count == 3);
    assert_true(last->noise[1] == 0.25);
    assert_int_equal(last->asked_count, MANY);
    assert_memory_equal(last->asked, asked, sizeof asked);
    assert_memory_equal(last->answered, answered, sizeof answered);
    const text twice = json_of(read);
    assert_string_equal(once.bytes, twice.bytes);
    free(once.bytes);
    free(twice.bytes);
    clo_release_free(read);
    clo_release_free(release);
}

/* The release with this member behind its values. */
static clo_status parse_with(const char *member, clo_error *err)
{
    clo_release *const release = simple();
    clo_release *read = NULL;
    const text t = json_of(release);
    char *const whole = malloc(t.length + strlen(member) + 8);
    assert_non_null(whole);
    memcpy(whole, t.bytes, t.length);
    while (whole[t.length - 1] != '}' || 0) break;
    const size_t end = (size_t)(strrchr(t.bytes, '}') - t.bytes);
    sprintf(whole + end, ", %s}", member);
    const clo_status status = clo_release_parse(whole, strlen(whole), &read, err);
    clo_release_free(read);
    clo_release_free(release);
    free(whole);
    free(t.bytes);
    return status;
}

#define ANSWER(more)                                                                               \
    "\"answers\": [{\"kind\": \"sum\", \"cols\": 2, \"groups\": 1, \"noise\": [1], " more "}]"

static void refuses_what_is_not_written_as_it_must_be(void **state)
{
    static const char shortened[] = "this is not a cloister release: an answer was shortened or is "
                                    "not written as it must be";
    clo_error err;
    (void)state;
    assert_ok(parse_with(ANSWER("\"asked\": \"AAA=\", \"answered\": \"gAE=\""), &err), err);
    static const char *const bad[] = {
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"gA==\""), /* the last byte says: one more */
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"gAA=\""), /* a byte more than 0 needs */
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"gAE\""),  /* no padding */
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"gAF=\""), /* bits behind the end */
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"gA E=\""),
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"/////////////w==\""), /* ten bytes, and more */
        ANSWER("\"asked\": \"AAA=\", \"answered\": \"////////////Ag==\""), /* beyond 64 bits */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(parse_with(bad[i], &err), CLO_FORMAT, err, shortened);
    assert_fails(parse_with(ANSWER("\"asked\": \"AAA=\""), &err), CLO_FORMAT, err,
                 "this is not a cloister release: an answer has no text where its numbers are");
    assert_fails(parse_with("\"answers\": []", &err), CLO_FORMAT, err,
                 "this is not a cloister release: \"answers\" is not a list of answers");
    assert_fails(parse_with("\"answers\": [{\"kind\": \"a kind that is too long\"}]", &err),
                 CLO_FORMAT, err,
                 "this is not a cloister release: an answer does not say what kind it is");
    assert_fails(parse_with("\"answers\": [{\"kind\": \"sum\", \"cols\": 0, \"groups\": 1}]", &err),
                 CLO_FORMAT, err,
                 "this is not a cloister release: an answer does not say how many columns or "
                 "groups it has");
    assert_fails(parse_with("\"answers\": [{\"kind\": \"sum\", \"cols\": 2, \"groups\": 1, "
                            "\"noise\": [0]}]",
                            &err),
                 CLO_FORMAT, err,
                 "this is not a cloister release: the \"noise\" of an answer is not above 0");
    assert_fails(parse_with("\"answers\": [{\"kind\": \"sum\", \"cols\": 2, \"groups\": 1, "
                            "\"noise\": []}]",
                            &err),
                 CLO_FORMAT, err,
                 "this is not a cloister release: the \"noise\" of an answer is no list of one to "
                 "three numbers");
}

static void refuses_an_origin_that_is_none(void **state)
{
    clo_error err;
    (void)state;
    assert_ok(
        parse_with("\"derived\": {\"how\": \"cut\", \"release\": \"ab\", \"epsilon\": 0}", &err),
        err);
    assert_fails(parse_with("\"derived\": {\"how\": \"cut\", \"epsilon\": 0}", &err), CLO_FORMAT,
                 err,
                 "this is not a cloister release: \"derived\" does not say from which release it "
                 "is, and how");
    assert_fails(
        parse_with("\"derived\": {\"how\": \"cut\", \"release\": \"ab\", \"epsilon\": 1}", &err),
        CLO_FORMAT, err,
        "this is not a cloister release: what is \"derived\" from a release costs nothing "
        "more");
    assert_fails(parse_with("\"derived\": {\"how\": \"cut\", \"release\": \"ab\", \"epsilon\": 0, "
                            "\"ledger\": \"cd\"}",
                            &err),
                 CLO_FORMAT, err,
                 "this is not a cloister release: \"derived\" names no charge of a ledger");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(refuses_what_is_not_written_as_it_must_be),
        cmocka_unit_test(refuses_an_origin_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
