/*
 * test_accounting_golden.c - prices against what other programs say (accounting.csv, whose
 * README tells where each number comes from), and the known table of noise multipliers.
 */
#include "golden_table.h"
#include "accounting/accountant.h"
#include <stdlib.h>

enum { MOST_EVENTS = 8, FEWEST_ROWS = 20 };

typedef struct golden_row {
    clo_event events[MOST_EVENTS];
    size_t count;
    double delta, epsilon, tolerance;
    bool is_truth; /* never to be undercut */
    bool is_renyi; /* a bound by Renyi divergences, which a price may undercut */
} golden_row;

static clo_event_kind kind_named(const char *name)
{
    if (!strcmp(name, "gaussian")) return CLO_EVENT_GAUSSIAN;
    if (!strcmp(name, "exponential")) return CLO_EVENT_EXPONENTIAL;
    if (!strcmp(name, "pure")) return CLO_EVENT_PURE;
    assert_string_equal(name, "approximate");
    return CLO_EVENT_APPROXIMATE;
}

static double number(const char *text)
{
    double value = NAN;
    assert_non_null(text);
    assert_non_null(clo_i_parse_double(text, &value));
    return value;
}

static clo_event parse_event(char *text)
{
    clo_event event = { .kind = kind_named(strtok_r(text, ":", &text)) };
    event.parameter = number(strtok_r(text, ":", &text));
    event.delta = number(strtok_r(text, ":", &text));
    event.count = strtoull(text, NULL, 10);
    return event;
}

static golden_row parse_row(char *line)
{
    golden_row row = { .count = 0 };
    char *list = strtok_r(line, ",", &line), *event;
    while ((event = strtok_r(list, ";", &list))) {
        assert_in_range(row.count, 0, MOST_EVENTS - 1);
        row.events[row.count++] = parse_event(event);
    }
    row.delta = number(strtok_r(line, ",", &line));
    row.epsilon = number(strtok_r(line, ",", &line));
    row.is_truth = !strcmp(strtok_r(line, ",", &line), "true");
    row.tolerance = number(strtok_r(line, ",", &line));
    row.is_renyi = strstr(line, "RDP") || strstr(line, "Renyi") || strstr(line, "zCDP");
    return row;
}

/* The oracle's decimals are read to the nearest double, so that is what may not be undercut. */
static void check_row(const golden_row *row, size_t number_of_row)
{
    clo_price price;
    clo_error err;
    assert_ok(clo_price_epsilon(row->events, row->count, row->delta, &price, &err), err);
    if (row->is_renyi) {
        clo_comparison renyi;
        assert_ok(clo_price_by("renyi", row->events, row->count, row->delta, &renyi, &err), err);
        assert_true(price.loss.epsilon <= renyi.epsilon);
        price.loss.epsilon = renyi.epsilon;
    }
    const double ratio = price.loss.epsilon / row->epsilon;
    const double least = row->is_truth ? 1 : 1 - row->tolerance;
    if (ratio >= least && ratio <= 1 + row->tolerance) return;
    fail_msg("row %zu: the price is %.17g (%s), the oracle says %.17g", number_of_row,
             price.loss.epsilon, price.accounting, row->epsilon);
}

static void agrees_with_other_accountants_and_never_undercuts_the_truth(void **state)
{
    FILE *const file = open_table("accounting.csv");
    char line[1024];
    size_t rows = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the names of the columns */
    while (fgets(line, sizeof line, file)) {
        const golden_row row = parse_row(line);
        check_row(&row, ++rows);
    }
    fclose(file);
    assert_in_range(rows, FEWEST_ROWS, 1000);
}

/* ---- noise multipliers of n Gaussian queries at epsilon = 1 --------------- */

typedef struct multipliers {
    uint64_t queries;
    double advanced, bun_steinke, cks, exact;
} multipliers;

static const multipliers TABLE[] = {
    { 30, 245.38, 23.66, 18.71, 16.938 },
    { 150, 581.28, 52.92, 41.83, 37.875 },
    { 10, NAN, NAN, NAN, 9.779 },
    { 50, NAN, NAN, NAN, 21.867 },
};
enum { TABLE_ROWS = sizeof TABLE / sizeof *TABLE };

static double table_delta(void)
{
    return 1 / (1000 * log(1000));
}

static void reproduces_the_exact_noise_multipliers(void **state)
{
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        const clo_event event = { CLO_EVENT_GAUSSIAN, 1, 0, TABLE[i].queries };
        clo_error err;
        double factor = 0;
        assert_ok(clo_calibrate(&event, 1, (clo_loss){ 1, table_delta() }, &factor, &err), err);
        assert_close(1 / factor, TABLE[i].exact, 5.1e-4);
        assert_close(factor * sqrt((double)TABLE[i].queries), 0.32337, 5.1e-6);
    }
}

static void reproduces_the_multipliers_of_the_cks20_conversion(void **state)
{
    uint64_t units = 0;
    clo_error err;
    assert_ok(clo_i_capacity_rho((clo_loss){ 1, table_delta() }, &units, &err), err);
    for (size_t i = 0; i < 2; i++)
        assert_close(sqrt((double)TABLE[i].queries / (2 * ldexp((double)units, -48))), TABLE[i].cks,
                     5.1e-3);
}

/* The two older methods are not in the library; their formulas stand here for comparison. */
static void beats_the_older_methods_by_the_known_margins(void **state)
{
    const double log_inverse = log(1 / table_delta());
    const double rho = pow(sqrt(log_inverse + 1) - sqrt(log_inverse), 2);
    for (size_t i = 0; i < 2; i++) {
        const double n = (double)TABLE[i].queries;
        const double epsilon0 = 1 / sqrt(8 * n * log(2 / table_delta()));
        const double delta0 = table_delta() / (2 * n);
        assert_close(sqrt(2 * log(1.25 / delta0)) / epsilon0, TABLE[i].advanced, 5.1e-3);
        assert_close(sqrt(n / (2 * rho)), TABLE[i].bun_steinke, 5.1e-3);
        assert_true(TABLE[i].exact < TABLE[i].cks);
        assert_true(TABLE[i].cks < TABLE[i].bun_steinke);
        assert_true(TABLE[i].bun_steinke < TABLE[i].advanced);
    }
}

/* 100 x epsilon = 0.1 is rho = 1/8: 1.83 by the line of zCDP, and no more by the curve. */
static void prices_a_hundred_exponential_choices_as_known(void **state)
{
    const clo_event choices = { CLO_EVENT_EXPONENTIAL, 0.1, 0, 100 };
    uint64_t rho = 0, delta = 1, below = 0, above = 0;
    clo_price price;
    clo_error err;
    assert_ok(clo_i_events_rho(&choices, 1, &rho, &delta, &err), err);
    assert_close(ldexp((double)rho, -48), 0.125, 1e-12);
    assert_int_equal(delta, 0);
    assert_ok(clo_i_capacity_rho((clo_loss){ 1.825, 1.45e-4 }, &below, &err), err);
    assert_ok(clo_i_capacity_rho((clo_loss){ 1.835, 1.45e-4 }, &above, &err), err);
    assert_true(below < rho && rho < above);
    assert_ok(clo_price_epsilon(&choices, 1, 1.45e-4, &price, &err), err);
    assert_string_equal(price.accounting, "renyi");
    assert_true(price.loss.epsilon > 1.81 && price.loss.epsilon < 1.83);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_other_accountants_and_never_undercuts_the_truth),
        cmocka_unit_test(reproduces_the_exact_noise_multipliers),
        cmocka_unit_test(reproduces_the_multipliers_of_the_cks20_conversion),
        cmocka_unit_test(beats_the_older_methods_by_the_known_margins),
        cmocka_unit_test(prices_a_hundred_exponential_choices_as_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
