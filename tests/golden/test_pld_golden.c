/*
 * test_pld_golden.c - the privacy loss distribution against two other accountants (pld.csv, whose
 * README tells where the numbers come from): never below a certified lower bound of the truth, and
 * within one percent of the better of their upper bounds.
 */
#include "golden_table.h"
#include "accounting/accountant.h"
#include <stdlib.h>

enum { MOST_EVENTS = 8, FEWEST_ROWS = 20 };
static const double ONE_PERCENT = 0.01, TABLE_ROUNDING = 1e-7;

typedef struct golden_row {
    clo_event events[MOST_EVENTS];
    size_t count;
    double delta, google, low, near, high;
    bool ranges; /* some event is of bounded range: the pair's loss is then not the least price */
} golden_row;

static double number(const char *text)
{
    double value = NAN;
    assert_non_null(text);
    assert_non_null(clo_i_parse_double(text, &value));
    return value;
}

static clo_event parse_event(char *text)
{
    const char *const names[] = { "gaussian", "exponential", "pure", "approximate" };
    const char *const name = strtok_r(text, ":", &text);
    clo_event event = { .kind = 0 };
    for (int k = 0; k < 4; k++)
        if (!strcmp(name, names[k])) event.kind = (clo_event_kind)(k + 1);
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
        row.events[row.count] = parse_event(event);
        row.ranges = row.ranges || row.events[row.count].kind == CLO_EVENT_EXPONENTIAL;
        row.count++;
    }
    double *const numbers[] = { &row.delta, &row.google, &row.low, &row.near, &row.high };
    for (size_t i = 0; i < 5; i++) *numbers[i] = number(strtok_r(line, ",\n", &line));
    return row;
}

static void check_row(const golden_row *row)
{
    clo_comparison pld;
    clo_price price;
    clo_error err;
    assert_ok(clo_price_by("pld", row->events, row->count, row->delta, &pld, &err), err);
    assert_ok(clo_price_epsilon(row->events, row->count, row->delta, &price, &err), err);
    const double tighter = fmin(row->google, row->high);
    assert_true(price.loss.epsilon <= pld.epsilon);
    assert_true(pld.epsilon <= tighter * (1 + ONE_PERCENT));
    assert_true(pld.epsilon >= row->low);
    if (!row->ranges) assert_true(price.loss.epsilon >= row->low);
    /* the two lower bounds are of one number, and so are the upper ones */
    assert_true(pld.lower <= pld.epsilon && pld.lower <= tighter * (1 + TABLE_ROUNDING));
    assert_true(pld.lower >= pld.epsilon * (1 - 2 * ONE_PERCENT));
}

/* accounting.T18, accounting.T20 */
static void lies_between_what_two_other_accountants_certify(void **state)
{
    FILE *const file = open_table("pld.csv");
    char line[1024];
    size_t rows = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the names of the columns */
    while (fgets(line, sizeof line, file)) {
        const golden_row row = parse_row(line);
        check_row(&row);
        rows++;
    }
    fclose(file);
    assert_in_range(rows, FEWEST_ROWS, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_between_what_two_other_accountants_certify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
