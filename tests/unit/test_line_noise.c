/*
 * test_line_noise.c - the noise that a plan tells people is in the units of their data: in a ball
 * four times as large it is larger by the power of the ball that its query adds up.
 */
#include "every_mechanism.h"
#include "plan/mechanism.h"
#include "query_kinds.h"

#define QUERY_UNIT
#include "every_query.h"
#undef QUERY_UNIT

static const int units[KINDS] = {
#define QUERY(name) [KIND_##name] = unit_##name,
#include "query/table.def"
#undef QUERY
};

static void noise_is_told_in_the_units_of_the_data(void **state)
{
    static const clo_loss budgets[] = { { 1, 1e-6 }, { 1, 0 } };
    size_t told = 0;
    (void)state;
    for (size_t i = 0; i < 4 * clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i / 4);
        clo_domain small = domain_of(mechanism, i & 1 ? CLO_REPLACE : CLO_ADD_REMOVE, NULL, 1);
        clo_domain large = small;
        clo_plan *plans[2] = { NULL, NULL };
        clo_error err;
        large.norm = 4 * small.norm;
        if (try_plan_of(mechanism, &small, budgets[i / 2 % 2], &plans[0], &err)) continue;
        assert_ok(try_plan_of(mechanism, &large, budgets[i / 2 % 2], &plans[1], &err), err);
        assert_int_equal(plans[0]->line_count, plans[1]->line_count);
        for (size_t l = 0; l < plans[0]->line_count; l++) {
            const clo_line *const a = &plans[0]->lines[l], *const b = &plans[1]->lines[l];
            const int power = units[kind_of(a->query)];
            if (power < 0) {
                assert_true(a->noise == 0 && b->noise == 0);
                continue;
            }
            assert_true(a->noise > 0);
            assert_relatively_close(b->noise, ldexp(a->noise, 2 * power), 1e-12);
            const bool sums = power == 1 && strcmp(clo_i_query_name(a->query), "peel") != 0;
            const double deviation = a->event.kind == CLO_EVENT_PURE ? sqrt(2) : 1;
            if (sums) /* of records, whose grid has 2^bits steps to the edge of the ball */
                assert_relatively_close(
                    a->noise, deviation * ldexp((double)a->scale * small.norm, -a->bits), 1e-9);
            told++;
        }
        clo_plan_free(plans[0]);
        clo_plan_free(plans[1]);
    }
    assert_true(told > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_told_in_the_units_of_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
