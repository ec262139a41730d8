/*
 * An ask as bytes: a worker that reads them folds what the asker would, and whatever else comes, it
 * answers or refuses (fold.T2); folds of parts add up (fold.T1).
 */
#include "query_kinds.h"
#include "sum_asks.h"

static int open_asks(void **state)
{
    static sum_asks asks;
    sum_asks_open(&asks);
    *state = &asks;
    return 0;
}

static int close_asks(void **state)
{
    sum_asks_close(*state);
    return 0;
}

static void every_query_that_adds_up_is_asked_here(void **state)
{
    const sum_asks *const a = *state;
    for (size_t q = 0; q < KINDS; q++) {
        const clo_query *const query = every_query[q];
        const bool adds_up = query->reading == CLO_READING_SUM || query->reading_of;
        bool found = !adds_up;
        for (size_t i = 0; i < a->count; i++) found |= a->lines[i].query == query;
        if (!found) fail_msg("%s is not asked in sum_asks.h", query->name);
        assert_true(query->numbers && query->lay_out); /* answer.T1 */
        assert_true(!adds_up || (query->sum.check && query->sum.entries && query->sum.gather));
    }
}

static int64_t *folded(sum_asks *a, const clo_ask *ask, size_t *entries)
{
    clo_error err;
    *entries = clo_i_fold_entries(ask, ASK_COLS);
    int64_t *const totals = calloc(*entries + 1, sizeof *totals);
    assert_non_null(totals);
    assert_ok(clo_i_fold(&a->context, ask, a->data, totals, &err), err);
    return totals;
}

static void bytes_say_the_same_ask(void **state)
{
    sum_asks *const a = *state;
    for (size_t i = 0; i < a->count; i++) {
        size_t entries, again, count, number = SIZE_MAX;
        uint8_t *bytes = NULL;
        clo_decoded decoded;
        clo_error err;
        int64_t *const direct = folded(a, &a->asks[i], &entries);
        assert_ok(clo_i_ask_encode(&a->asks[i], i + a->meter.first, entries, &bytes, &count, &err),
                  err);
        assert_int_equal(clo_i_ask_entries(bytes, count), entries);
        assert_ok(clo_i_ask_decode(&a->meter, ASK_COLS, bytes, count, &decoded, &number, &err),
                  err);
        assert_int_equal(number, i);
        int64_t *const told = folded(a, &decoded.ask, &again);
        assert_int_equal(again, entries);
        assert_memory_equal(told, direct, entries * sizeof *told);
        bool moved = false;
        for (size_t e = 0; e < entries; e++) moved |= direct[e] != 0;
        assert_true(moved);
        free(told);
        free(direct);
        clo_i_decoded_free(&decoded);
        clo_i_free(bytes);
    }
}

/* Folds add up: those of two halves of the rows are that of all of them, modulo 2^64. */
static void folds_of_parts_add_up(void **state)
{
    sum_asks *const a = *state;
    double values[ASK_ROWS * ASK_COLS];
    for (size_t i = 0; i < ASK_ROWS * ASK_COLS; i++) values[i] = .5 * sin((double)i * .7);
    clo_bounded *const first = bounded_from(values, 13, &a->domain);
    clo_bounded *const rest = bounded_from(values + 13 * ASK_COLS, ASK_ROWS - 13, &a->domain);
    for (size_t i = 0; i < a->count; i++) {
        size_t entries;
        clo_error err;
        int64_t *const all = folded(a, &a->asks[i], &entries);
        int64_t *const parts = calloc(entries, sizeof *parts);
        assert_non_null(parts);
        assert_ok(clo_i_fold(&a->context, &a->asks[i], first, parts, &err), err);
        assert_ok(clo_i_fold(&a->context, &a->asks[i], rest, parts, &err), err);
        assert_memory_equal(parts, all, entries * sizeof *all);
        free(parts);
        free(all);
    }
    clo_bounded_free(first);
    clo_bounded_free(rest);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Words that are wrong in the ways that hurt: huge, negative, not finite, off by one. */
static void damage(uint8_t *bytes, size_t count, uint64_t *seed)
{
    static const uint64_t words[] = { 0,
                                      1,
                                      UINT64_MAX,
                                      (uint64_t)1 << 63,
                                      UINT32_MAX,
                                      0x7ff0000000000000,
                                      0x7ff8000000000001,
                                      0x43e0000000000000,
                                      3,
                                      1 << 20 };
    const size_t at = next(seed) % (count / 8) * 8;
    uint64_t word;
    memcpy(&word, bytes + at, sizeof word);
    switch (next(seed) % 4) {
    case 0:
        word ^= (uint64_t)1 << next(seed) % 64;
        break;
    case 1:
        word += next(seed) % 2 ? 1 : UINT64_MAX;
        break;
    case 2:
        word = words[next(seed) % (sizeof words / sizeof *words)];
        break;
    default:
        word = next(seed);
        break;
    }
    memcpy(bytes + at, &word, sizeof word);
}

static void a_worker_answers_or_refuses_whatever_comes(void **state)
{
    sum_asks *const a = *state;
    uint64_t seed = 88172645463325252u;
    size_t answered = 0, refused = 0;
    for (size_t i = 0; i < a->count; i++) {
        const size_t entries = clo_i_fold_entries(&a->asks[i], ASK_COLS);
        uint8_t *bytes = NULL;
        size_t count;
        clo_error err;
        assert_ok(clo_i_ask_encode(&a->asks[i], i + a->meter.first, entries, &bytes, &count, &err),
                  err);
        for (int trial = 0; trial < 400; trial++) {
            size_t length = trial % 5 == 4 ? next(&seed) % count : count;
            uint8_t *const copy = aligned_alloc(64, (count + 63) / 64 * 64);
            assert_non_null(copy);
            memcpy(copy, bytes, count);
            for (int times = trial % 3; times >= 0; times--) damage(copy, count, &seed);
            /* The number of sums is rank 0's word; one that no memory holds is not tried here. */
            if (clo_i_ask_entries(copy, length) > 1 << 20) memcpy(copy + 8, bytes + 8, 8);
            const clo_status status =
                clo_i_fold_for_rank_0(&a->context, a->data, copy, length, &err);
            assert_true(status == CLO_OK || status == CLO_FORMAT || status == CLO_INTERNAL);
            *(status ? &refused : &answered) += 1;
            free(copy);
        }
        clo_i_free(bytes);
    }
    assert_true(answered > 100 && refused > 1000);
}

/* How many sums are asked for is in the bytes, and must be what the line's ask has. */
static void a_worker_is_asked_for_as_many_sums_as_there_are(void **state)
{
    sum_asks *const a = *state;
    for (size_t i = 0; i < a->count; i++) {
        const size_t entries = clo_i_fold_entries(&a->asks[i], ASK_COLS);
        const size_t wrong[] = { entries + 1, 2 * entries, entries - 1 };
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            uint8_t *bytes = NULL;
            size_t count;
            clo_error err;
            assert_ok(
                clo_i_ask_encode(&a->asks[i], i + a->meter.first, wrong[w], &bytes, &count, &err),
                err);
            assert_int_equal(clo_i_ask_entries(bytes, count), wrong[w]);
            assert_fails(clo_i_fold_for_rank_0(&a->context, a->data, bytes, count, &err),
                         CLO_FORMAT, err, "no ask of this plan");
            clo_i_free(bytes);
        }
    }
}

/* Each place of a sketch is a column and a sign: 2 * cols of them, and the next is refused. */
static void a_worker_takes_no_place_that_a_sketch_has_not(void **state)
{
    sum_asks *const a = *state;
    size_t asked = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->asks[i].lens != &a->sketch) continue;
        const size_t entries = clo_i_fold_entries(&a->asks[i], ASK_COLS);
        for (uint32_t beyond = 0; beyond < 3; beyond++) {
            uint32_t places[ASK_COLS * CLO_SKETCH_COPIES];
            memcpy(places, a->sketch.places, sizeof places);
            places[(i + beyond) % (ASK_COLS * CLO_SKETCH_COPIES)] =
                (uint32_t)(2 * a->sketch.cols) - 1 + beyond;
            clo_lens changed = a->sketch;
            clo_ask ask = a->asks[i];
            uint8_t *bytes = NULL;
            size_t count, number;
            clo_decoded decoded;
            clo_error err;
            changed.places = places;
            ask.lens = &changed;
            assert_ok(clo_i_ask_encode(&ask, i + a->meter.first, entries, &bytes, &count, &err),
                      err);
            if (beyond) {
                assert_fails(
                    clo_i_ask_decode(&a->meter, ASK_COLS, bytes, count, &decoded, &number, &err),
                    CLO_FORMAT, err, "no ask of this plan");
            } else {
                assert_ok(
                    clo_i_ask_decode(&a->meter, ASK_COLS, bytes, count, &decoded, &number, &err),
                    err);
                clo_i_decoded_free(&decoded);
            }
            clo_i_free(bytes);
            asked++;
        }
    }
    assert_true(asked > 0);
}

/* With that many words more behind the ask. */
static clo_status decode_changed(sum_asks *a, size_t i, const clo_ask *ask, size_t more)
{
    const size_t entries = clo_i_fold_entries(&a->asks[i], ASK_COLS);
    uint8_t *bytes = NULL;
    size_t count, number;
    clo_decoded decoded;
    clo_error err;
    assert_ok(clo_i_ask_encode(ask, i + a->meter.first, entries, &bytes, &count, &err), err);
    uint64_t *const words = calloc(count / 8 + more, sizeof *words);
    assert_non_null(words);
    memcpy(words, bytes, count);
    const clo_status status = clo_i_ask_decode(&a->meter, ASK_COLS, (const uint8_t *)words,
                                               count + 8 * more, &decoded, &number, &err);
    if (!status) clo_i_decoded_free(&decoded);
    free(words);
    clo_i_free(bytes);
    return status;
}

static clo_status decode_through(sum_asks *a, size_t i, const clo_lens *lens)
{
    clo_ask ask = a->asks[i];
    ask.lens = lens;
    return decode_changed(a, i, &ask, 0);
}

/* Words behind it would be told to nobody. */
static void an_ask_ends_where_it_says(void **state)
{
    sum_asks *const a = *state;
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(decode_changed(a, i, &a->asks[i], 0), CLO_OK);
        assert_int_equal(decode_changed(a, i, &a->asks[i], 1), CLO_FORMAT);
        assert_int_equal(decode_changed(a, i, &a->asks[i], 5), CLO_FORMAT);
    }
}

/* With one number of a rule as it may not be, each in turn; how many were tried. */
static size_t change_rule(sum_asks *a, size_t i, size_t rule, double *numbers, size_t count,
                          double beyond)
{
    clo_assign rules[2];
    clo_ask ask = a->asks[i];
    const clo_assign *const own = &ask.rules[rule];
    assert_true(ask.rule_count <= 2 && count <= 16);
    memcpy(rules, ask.rules, ask.rule_count * sizeof *rules);
    memcpy(numbers, beyond > 0 ? own->points : own->offsets, count * sizeof *numbers);
    *(beyond > 0 ? &rules[rule].points : &rules[rule].offsets) = numbers;
    ask.rules = rules;
    for (size_t e = 0; e < count; e++) {
        const double wrong[] = { numbers[e] + 0.5, beyond > 0 ? beyond : numbers[e] + 1, NAN };
        const double right = numbers[e];
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
            numbers[e] = wrong[w];
            assert_int_equal(decode_changed(a, i, &ask, 0), CLO_FORMAT);
        }
        numbers[e] = right;
    }
    return count;
}

/* What the arithmetic of assign.T1 stands on: whole numbers, none beyond the grid, and squares that
 * are those of the points. */
static void a_worker_takes_no_number_off_the_grid(void **state)
{
    sum_asks *const a = *state;
    double numbers[16];
    size_t points = 0, offsets = 0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t r = 0; r < a->asks[i].rule_count; r++) {
            const clo_assign *const rule = &a->asks[i].rules[r];
            const size_t width = clo_i_assign_width(rule);
            if (width == 0) continue;
            points += change_rule(a, i, r, numbers, width * rule->cols, ldexp(1, rule->bits) + 1);
            if (rule->kind != CLO_ASSIGN_SUBSPACES)
                offsets += change_rule(a, i, r, numbers, rule->clusters, 0);
        }
    assert_true(points > 50 && offsets > 20);
}

/* What a frame shows is no longer than the record: each of its rows is no longer than 1, and no two
 * show the same direction. */
static void a_worker_looks_through_no_frame_that_stretches(void **state)
{
    sum_asks *const a = *state;
    double rows[ASK_COLS * ASK_SEEN];
    size_t asked = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (a->asks[i].lens != &a->frame) continue;
        const size_t from = a->frame.from, cols = a->frame.cols;
        clo_lens changed = a->frame;
        changed.rows = rows;
        memcpy(rows, a->frame.rows, from * cols * sizeof *rows);
        assert_int_equal(decode_through(a, i, &changed), CLO_OK);
        for (size_t r = 1; r < cols; r++) {
            memcpy(rows + r * from, rows, from * sizeof *rows); /* a direction twice */
            assert_int_equal(decode_through(a, i, &changed), CLO_FORMAT);
            memcpy(rows + r * from, a->frame.rows + r * from, from * sizeof *rows);
        }
        for (size_t e = 0; e < from; e++) { /* two directions that are not quite apart */
            const double unit = ldexp(1, CLO_LENS_MAP_BITS), *const own = a->frame.rows;
            rows[from + e] = trunc(0.99 * own[from + e] + 0.008 * own[e]);
            assert_true(fabs(rows[from + e]) <= unit);
        }
        assert_int_equal(decode_through(a, i, &changed), CLO_OK);
        for (size_t e = 0; e < from; e++)
            rows[from + e] = trunc(0.99 * a->frame.rows[from + e] + 0.012 * a->frame.rows[e]);
        assert_int_equal(decode_through(a, i, &changed), CLO_FORMAT);
        memcpy(rows, a->frame.rows, from * cols * sizeof *rows);
        for (size_t e = 0; e < from * cols; e++) {
            rows[e] += 0.5; /* off the map's grid */
            assert_int_equal(decode_through(a, i, &changed), CLO_FORMAT);
            rows[e] = a->frame.rows[e];
            if (rows[e] == 0) continue;
            rows[e] = 2 * rows[e]; /* a row that is longer */
            assert_int_equal(decode_through(a, i, &changed), CLO_FORMAT);
            rows[e] = a->frame.rows[e];
        }
        asked++;
    }
    assert_true(asked > 0);
}

static void a_worker_holds_the_asker_to_the_meter(void **state)
{
    sum_asks *const a = *state;
    uint8_t *bytes = NULL;
    size_t count;
    clo_error err;
    const uint64_t before = a->lines[0].event.count;
    a->lines[0].event.count = a->meter.asked[0] + 1;
    assert_ok(clo_i_ask_encode(&a->asks[0], a->meter.first, clo_i_fold_entries(&a->asks[0], 4),
                               &bytes, &count, &err),
              err);
    assert_ok(clo_i_fold_for_rank_0(&a->context, a->data, bytes, count, &err), err);
    assert_fails(clo_i_fold_for_rank_0(&a->context, a->data, bytes, count, &err), CLO_INTERNAL, err,
                 "more often");
    a->lines[0].event.count = before;
    clo_i_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_query_that_adds_up_is_asked_here, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(bytes_say_the_same_ask, open_asks, close_asks),
        cmocka_unit_test_setup_teardown(folds_of_parts_add_up, open_asks, close_asks),
        cmocka_unit_test_setup_teardown(a_worker_answers_or_refuses_whatever_comes, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(a_worker_looks_through_no_frame_that_stretches, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(an_ask_ends_where_it_says, open_asks, close_asks),
        cmocka_unit_test_setup_teardown(a_worker_takes_no_number_off_the_grid, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(a_worker_takes_no_place_that_a_sketch_has_not, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(a_worker_is_asked_for_as_many_sums_as_there_are, open_asks,
                                        close_asks),
        cmocka_unit_test_setup_teardown(a_worker_holds_the_asker_to_the_meter, open_asks,
                                        close_asks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
