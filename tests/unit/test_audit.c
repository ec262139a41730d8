/* The audit's parts: bounds against known values (audit.T1), a score that finds what it is not told
 * of, and an audit that refutes what is false, not what is true (audit.T2), for groups, too
 * (audit.T3). */
#include "pipeline.h"
#include "audit/audit_internal.h"
#include "random/random.h"

/* From scipy.stats.beta.ppf, 12 digits. */
static void bounds_are_clopper_and_pearsons(void **state)
{
    (void)state;
    assert_relatively_close(clo_i_probability_at_least(5, 10, 0.025), 0.187086028447, 1e-8);
    assert_relatively_close(clo_i_probability_at_most(5, 10, 0.025), 0.812913971553, 1e-8);
    assert_true(clo_i_probability_at_least(0, 10, 0.01) == 0);
    assert_true(clo_i_probability_at_most(10, 10, 0.01) == 1);
    /* no hit of n: 1 - alpha^(1/n); all of n: alpha^(1/n) */
    assert_relatively_close(clo_i_probability_at_most(0, 1000000, 1e-6), -expm1(log(1e-6) / 1e6),
                            1e-6);
    assert_relatively_close(clo_i_probability_at_least(1000, 1000, 1e-6), pow(1e-6, 1e-3), 1e-8);
    /* a large sample is nearly normal */
    const double half = 4.7534 * sqrt(0.25 / 1e6);
    assert_close(clo_i_probability_at_least(500000, 1000000, 1e-6), 0.5 - half, 1e-5);
    assert_close(clo_i_probability_at_most(500000, 1000000, 1e-6), 0.5 + half, 1e-5);
}

static void losses_follow_from_probabilities(void **state)
{
    (void)state;
    assert_close(clo_i_normal_quantile(0.975), 1.959963984540054, 1e-12);
    assert_close(clo_i_normal_quantile(1e-20), -9.262340089798408, 1e-9);
    assert_close(clo_i_shown_loss(CLO_AUDIT_MU, 0, 0.84134474606854293, 0.15865525393145707), 2,
                 1e-9); /* audit.T1 */
    assert_close(clo_i_shown_loss(CLO_AUDIT_EPSILON, 0.1, 0.5, 0.1), log(4), 1e-12);
    assert_true(clo_i_shown_loss(CLO_AUDIT_EPSILON, 0.6, 0.5, 0.1) == 0);
    assert_true(clo_i_shown_loss(CLO_AUDIT_MU, 0, 0.1, 0.5) == 0);
}

/* ---- subjects with a known loss -------------------------------------------------------------- */

typedef enum toy_kind { HONEST, LEAKING, REPEATING, SILENT } toy_kind;

typedef struct toy {
    toy_kind kind;
    double shift;
} toy;

/* Three numbers: a shifted normal, one that is not shifted, and what the kind says. */
static clo_status draw_toy(void *user, int world, uint64_t trial, double *out, clo_error *err)
{
    const toy *const t = user;
    uint8_t seed[32];
    char name[64];
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    snprintf(name, sizeof name, "%d %llu", world, (unsigned long long)trial);
    clo_seed_from_text(name, seed);
    CLO_TRY(clo_rng_new_seeded(seed, &rng, err));
    CLO_TRY(clo_i_stream_open(rng, 0, 0, &stream, err));
    const double shift = world == 0 ? t->shift : 0;
    out[0] = clo_i_random_normal(stream) + shift;
    out[1] = clo_i_random_normal(stream);
    out[2] = clo_i_random_normal(stream);
    if (t->kind == LEAKING) out[2] = world == 0 ? 5 : 4;
    if (t->kind == REPEATING) out[2] = out[0] - shift; /* the same noise again */
    if (t->kind == SILENT && world == 1) out[1] = 0;   /* noise that was left out */
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return CLO_OK;
}

static clo_audit_finding audit_toy(toy_kind kind, double shift, double claim, int threads)
{
    toy t = { kind, shift };
    clo_error err;
    clo_audit_finding finding = { .struct_size = sizeof finding };
    clo_audit_options options = clo_audit_options_default();
    const clo_audit_subject subject = { .struct_size = sizeof subject,
                                        .pair = "toy",
                                        .what = "toy",
                                        .outputs = 3,
                                        .parallel = true,
                                        .unit = CLO_AUDIT_MU,
                                        .claim = claim,
                                        .draw = draw_toy,
                                        .user = &t };
    options.trials = 20000;
    options.threads = threads;
    assert_ok(clo_audit_subject_run(&subject, &options, &finding, &err), err);
    return finding;
}

static void a_true_claim_stands_and_the_evidence_comes_near(void **state)
{
    (void)state;
    const clo_audit_finding finding = audit_toy(HONEST, 2, 2, 2);
    assert_false(finding.refuted);
    assert_true(finding.evidence > 1.75 && finding.evidence <= 2);
    assert_int_equal(finding.trials, 20000);
}

static void what_is_hidden_from_one_number_is_found_in_all(void **state)
{
    (void)state;
    assert_true(audit_toy(HONEST, 2.3, 2, 2).refuted);
    assert_true(audit_toy(LEAKING, 0, 2, 2).refuted);
    assert_true(audit_toy(REPEATING, 0.5, 2, 2).refuted);
    assert_true(audit_toy(SILENT, 0, 2, 2).refuted);
}

static void threads_do_not_change_an_audit(void **state)
{
    (void)state;
    assert_true(audit_toy(HONEST, 1, 1, 1).evidence == audit_toy(HONEST, 1, 1, 3).evidence);
}

static void what_cannot_be_audited_is_refused(void **state)
{
    toy t = { HONEST, 1 };
    clo_error err;
    clo_audit_finding finding = { .struct_size = sizeof finding };
    clo_audit_options options = clo_audit_options_default();
    clo_audit_subject subject = { .struct_size = sizeof subject,
                                  .pair = "",
                                  .what = "",
                                  .outputs = 3,
                                  .unit = CLO_AUDIT_MU,
                                  .claim = 1,
                                  .draw = draw_toy,
                                  .user = &t };
    (void)state;
    options.trials = 5;
    assert_fails(clo_audit_subject_run(&subject, &options, &finding, &err), CLO_ARGUMENT, err,
                 "trials must be at least");
    options.trials = 1000;
    options.alpha = 0;
    assert_fails(clo_audit_subject_run(&subject, &options, &finding, &err), CLO_ARGUMENT, err,
                 "alpha");
    options.alpha = 1e-6;
    subject.outputs = 100000;
    assert_fails(clo_audit_subject_run(&subject, &options, &finding, &err), CLO_ARGUMENT, err,
                 "numbers");
    options.group = 3;
    assert_fails(clo_audit(clo_mechanism_find("kmeans"), CLO_REPLACE, (clo_loss){ 1, 1e-6 },
                           &options, NULL, NULL, &err),
                 CLO_ARGUMENT, err, "group");
}

typedef struct seen {
    size_t findings, refuted;
    double claims[5];
    const char *last; /* pair */
} seen;

static bool look(void *user, const clo_audit_finding *finding)
{
    seen *const s = user;
    s->findings++;
    s->refuted += finding->refuted;
    s->claims[finding->group] = finding->claim;
    s->last = finding->pair;
    return true;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

/* A pair of sample-and-aggregate solves 121 blocks a run, which a sanitizer makes a minute of:
 * there the build without one looks. */
static bool is_too_slow(const clo_mechanism *mechanism)
{
#ifdef IS_SANITIZED
    return strcmp(clo_mechanism_method(mechanism), "aggregate") == 0;
#else
    (void)mechanism;
    return false;
#endif
}

/* audit.T3: the claim for a group is that many times the claim for one. */
static void every_mechanism_has_pairs_and_groups(void **state)
{
    clo_error err;
    clo_audit_options options = clo_audit_options_default();
    (void)state;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        seen s = { 0 };
        if (is_too_slow(clo_mechanism_at(i))) continue;
        options.trials = 100; /* as few as there may be: a word with each of all the pairs */
        for (int one = 0; one < 2; one++) { /* all pairs for four, and one of them for one */
            options.group = one ? 1 : 4;
            options.pair = s.last;
            assert_ok(clo_audit(clo_mechanism_at(i), CLO_ADD_REMOVE, (clo_loss){ 1, 1e-6 },
                                &options, look, &s, &err),
                      err);
        }
        assert_true(s.findings >= 2);
        assert_int_equal(s.refuted, 0);
        assert_relatively_close(s.claims[4], 4 * s.claims[1], 1e-9);
    }
}

/* kmeans_local.T1: of the pairs of kmeans/local one is of a plan with strong noise, under both
 * relations: the mean is looked for twice, and directions are picked. */
static void a_pair_of_few_public_rows_is_one_of_two_looks_and_picked_directions(void **state)
{
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 2, .count = 1 };
    const clo_i_pair *pair = NULL;
    clo_price price;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < clo_i_pair_count(); i++)
        if (strcmp(clo_i_pair_at(i)->name, "strong") == 0) pair = clo_i_pair_at(i);
    assert_non_null(pair);
    assert_ok(clo_price_epsilon(&once, 1, 1e-6, &price, &err), err);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = clo_i_pair_domain(pair, NULL, (clo_relation)relation);
        clo_plan *plan = NULL;
        assert_int_equal(domain.rows, 60);
        assert_ok(clo_i_pair_plan(pair, clo_mechanism_find("kmeans/local"), &domain,
                                  (clo_loss){ price.loss.epsilon, 1e-6 }, &plan, &err),
                  err);
        assert_int_equal(clo_plan_line_count(plan), 4);
        assert_int_equal(clo_plan_line_at(plan, 0).event.count, 2);
        assert_string_equal(clo_plan_line_at(plan, 1).query, "local_gram");
        assert_int_equal(clo_plan_line_at(plan, 2).event.count, 2);
        clo_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_clopper_and_pearsons),
        cmocka_unit_test(losses_follow_from_probabilities),
        cmocka_unit_test(a_true_claim_stands_and_the_evidence_comes_near),
        cmocka_unit_test(what_is_hidden_from_one_number_is_found_in_all),
        cmocka_unit_test(threads_do_not_change_an_audit),
        cmocka_unit_test(what_cannot_be_audited_is_refused),
        cmocka_unit_test(every_mechanism_has_pairs_and_groups),
        cmocka_unit_test(a_pair_of_few_public_rows_is_one_of_two_looks_and_picked_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
