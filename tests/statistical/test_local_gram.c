/*
 * local_gram: diagonal and off-diagonal noise have their planned laws (gaussian_gram.T2), and the
 * worst neighbours on the diagonal and off it, both far beyond the width, are told apart no better
 * than mu allows (local_gram.T1). Power as in test_gaussian_sum.c.
 */
#include "gram_law.h"
#include "query/local_gram.h"

static const double WIDTH = 0.25;

static clo_line planned(double mu)
{
    clo_error err;
    clo_line line;
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_local_gram(&domain, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, double *gram)
{
    clo_error err;
    static const double origin[D];
    assert_ok(clo_i_ask_local_gram(&a->context, 0, data, origin, WIDTH, gram, &err), err);
}

static const gram_query tested = { .planned = planned,
                                   .ask = ask,
                                   .unit = 0x1p16,      /* 2^8 steps, squared */
                                   .corner = 181 * 181, /* steps: the record is beyond the width */
                                   .law = STAT_local_gram_law,
                                   .diagonal = STAT_local_gram_diagonal,
                                   .across = STAT_local_gram_across };

int main(void)
{
    return cmocka_run_group_tests(gram_tests, NULL, NULL);
}
