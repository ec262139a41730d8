/*
 * gaussian_gram: diagonal and off-diagonal noise have their planned laws (gaussian_gram.T2), and
 * the worst neighbours on the diagonal and off it are told apart no better than mu allows
 * (gaussian_gram.T1). Power as in test_gaussian_sum.c.
 */
#include "gram_law.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"

static clo_line planned(double mu)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_gram(&domain, 1, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *gram)
{
    clo_error err;
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    assert_ok(clo_i_ask_gaussian_gram(&a->context, 0, data, &all, gram, &err), err);
}

static const gram_query tested = { .planned = planned,
                                   .ask = ask,
                                   .unit = 0x1p30,
                                   .corner = 0x1p28,
                                   .law = STAT_gaussian_gram_law,
                                   .diagonal = STAT_gaussian_gram_diagonal,
                                   .across = STAT_gaussian_gram_across };

int main(void)
{
    return cmocka_run_group_tests(gram_tests, NULL, NULL);
}
