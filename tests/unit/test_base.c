/* test_base.c - what every folder stands on: failing, checked sizes, memory, the workspace, and
 * numbers as text. */
#include "check.h"
#include <cloister/output.h>
#include "base/base.h"
#include <cloister/run.h>
#include <locale.h>
#include <stdlib.h>

/* ---- failing ------------------------------------------------------------- */

static void every_status_has_a_text_and_an_exit_code(void **state)
{
    for (int a = CLO_OK; a <= CLO_BUSY; a++) {
        assert_string_not_equal(clo_status_text((clo_status)a), "an unknown status");
        assert_in_range(clo_status_exit_code((clo_status)a), 0, 255);
        for (int b = CLO_OK; b < a; b++)
            assert_string_not_equal(clo_status_text((clo_status)a), clo_status_text((clo_status)b));
    }
    assert_int_equal(clo_status_exit_code(CLO_OK), 0);
    assert_string_equal(clo_status_text((clo_status)999), "an unknown status");
    assert_int_equal(clo_status_exit_code((clo_status)999), 70);
}

static void only_success_exits_with_zero(void **state)
{
    for (int a = CLO_OK + 1; a <= CLO_BUSY; a++)
        assert_int_not_equal(clo_status_exit_code((clo_status)a), 0);
}

static void a_failure_fills_the_error(void **state)
{
    clo_error err = { 0 };
    assert_int_equal(clo_i_fail(&err, CLO_ARGUMENT, "clusters must be between 1 and %d", 1024),
                     CLO_ARGUMENT);
    assert_int_equal(err.status, CLO_ARGUMENT);
    assert_string_equal(err.message, "clusters must be between 1 and 1024");
}

static void a_failure_needs_no_error_struct(void **state)
{
    assert_int_equal(clo_i_fail(NULL, CLO_IO, "%s", "gone"), CLO_IO);
}

static void a_long_message_is_cut_and_not_written_beyond(void **state)
{
    struct {
        clo_error err;
        char fence[16];
    } guarded;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    memset(guarded.fence, 7, sizeof guarded.fence);
    assert_int_equal(clo_i_fail(&guarded.err, CLO_FORMAT, "%s", text), CLO_FORMAT);
    assert_int_equal(strlen(guarded.err.message), sizeof guarded.err.message - 1);
    for (size_t i = 0; i < sizeof guarded.fence; i++) assert_int_equal(guarded.fence[i], 7);
}

static clo_status tries(clo_status status, int *reached)
{
    CLO_TRY(status);
    *reached = 1;
    return CLO_OK;
}

static void try_forwards_a_failure_and_goes_on_otherwise(void **state)
{
    int reached = 0;
    assert_int_equal(tries(CLO_BUDGET, &reached), CLO_BUDGET);
    assert_int_equal(reached, 0);
    assert_int_equal(tries(CLO_OK, &reached), CLO_OK);
    assert_int_equal(reached, 1);
}

/* ---- sizes ----------------------------------------------------------------- */

static void products_and_sums_are_checked(void **state)
{
    size_t out = 5;
    assert_true(clo_i_multiply(SIZE_MAX / 2, 2, &out));
    assert_true(out == SIZE_MAX - 1);
    assert_true(clo_i_add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
}

static void an_overflow_leaves_the_output_alone(void **state)
{
    size_t out = 5;
    assert_false(clo_i_multiply(SIZE_MAX / 2 + 1, 2, &out));
    assert_false(clo_i_add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 5);
}

/* ---- memory ---------------------------------------------------------------- */

static void memory_is_zero_and_starts_on_a_cache_line(void **state)
{
    for (size_t count = 0; count < 300; count += 7) {
        unsigned char *bytes = NULL;
        assert_int_equal(clo_i_alloc(count, 1, &bytes, NULL), CLO_OK);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        for (size_t i = 0; i < count; i++) assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, count); /* so that the next block is not zero by luck */
        clo_i_free(bytes);
    }
}

static void a_size_that_overflows_is_refused(void **state)
{
    clo_error err = { 0 };
    char *bytes = NULL;
    assert_fails(clo_i_alloc(SIZE_MAX / 2, 3, &bytes, &err), CLO_MEMORY, err, "too large");
    assert_fails(clo_i_alloc(SIZE_MAX, 1, &bytes, &err), CLO_MEMORY, err, "too large");
    assert_null(bytes);
}

static void growing_keeps_the_old_and_zeroes_the_new(void **state)
{
    int *numbers = NULL;
    assert_int_equal(clo_i_resize(&numbers, 0, 3, sizeof *numbers, NULL), CLO_OK);
    for (int i = 0; i < 3; i++) numbers[i] = i + 1;
    assert_int_equal(clo_i_resize(&numbers, 3, 100, sizeof *numbers, NULL), CLO_OK);
    for (int i = 0; i < 100; i++) assert_int_equal(numbers[i], i < 3 ? i + 1 : 0);
    assert_int_equal(clo_i_resize(&numbers, 100, 2, sizeof *numbers, NULL), CLO_OK);
    assert_int_equal(numbers[1], 2);
    clo_i_free(numbers);
}

static void a_failed_growth_keeps_the_old_block(void **state)
{
    int *numbers = NULL;
    assert_int_equal(clo_i_resize(&numbers, 0, 1, sizeof *numbers, NULL), CLO_OK);
    numbers[0] = 9;
    int *const before = numbers;
    assert_int_equal(clo_i_resize(&numbers, 1, SIZE_MAX, sizeof *numbers, NULL), CLO_MEMORY);
    assert_ptr_equal(numbers, before);
    assert_int_equal(numbers[0], 9);
    clo_i_free(numbers);
}

static void wiping_leaves_zeros(void **state)
{
    char secret[] = "a record";
    clo_i_wipe(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++) assert_int_equal(secret[i], 0);
}

static void nothing_is_freed_and_wiped_without_complaint(void **state)
{
    clo_i_free(NULL);
    clo_i_wipe(NULL, 10);
    clo_i_wipe_free(NULL, 10);
    clo_workspace_free(NULL);
}

static void a_text_is_copied_with_its_end(void **state)
{
    char *copy = NULL;
    assert_int_equal(clo_i_copy_text("age", &copy, NULL), CLO_OK);
    assert_string_equal(copy, "age");
    clo_i_free(copy);
    assert_int_equal(clo_i_copy_text("", &copy, NULL), CLO_OK);
    assert_string_equal(copy, "");
    clo_i_free(copy);
}

#ifdef CLO_FAULT_INJECTION
static void the_nth_allocation_fails_and_only_that_one(void **state)
{
    char *blocks[3] = { NULL, NULL, NULL };
    clo_i_fail_allocation(2);
    assert_int_equal(clo_i_alloc(1, 1, &blocks[0], NULL), CLO_OK);
    assert_int_equal(clo_i_alloc(1, 1, &blocks[1], NULL), CLO_MEMORY);
    assert_int_equal(clo_i_alloc(1, 1, &blocks[2], NULL), CLO_OK);
    assert_null(blocks[1]);
    assert_int_equal(clo_i_allocation_count(), 3);
    clo_i_fail_allocation(0);
    clo_i_free(blocks[0]);
    clo_i_free(blocks[2]);
}
#endif

/* ---- the workspace ----------------------------------------------------------- */

static clo_workspace *workspace_of(size_t bytes)
{
    clo_workspace *workspace = NULL;
    assert_int_equal(clo_workspace_new(bytes, &workspace, NULL), CLO_OK);
    return workspace;
}

static void *take(clo_workspace *workspace, size_t bytes)
{
    void *taken = NULL;
    assert_int_equal(clo_i_take(workspace, bytes, 1, &taken, NULL), CLO_OK);
    assert_int_equal((uintptr_t)taken % 64, 0);
    for (size_t i = 0; i < bytes; i++) assert_int_equal(((unsigned char *)taken)[i], 0);
    memset(taken, 0xa5, bytes);
    return taken;
}

static void takes_do_not_overlap(void **state)
{
    clo_workspace *const workspace = workspace_of(1024);
    unsigned char *const first = take(workspace, 100), *const second = take(workspace, 100);
    assert_true(second >= first + 100 || first >= second + 100);
    clo_workspace_free(workspace);
}

static void a_release_gives_back_and_wipes_what_was_taken_since(void **state)
{
    clo_workspace *const workspace = workspace_of(1024);
    unsigned char *const kept = take(workspace, 64);
    const size_t mark = clo_i_workspace_mark(workspace);
    unsigned char *const scratch = take(workspace, 300);
    clo_i_workspace_release(workspace, mark);
    for (size_t i = 0; i < 300; i++) assert_int_equal(scratch[i], 0);
    assert_int_equal(kept[63], 0xa5);
    assert_ptr_equal(take(workspace, 10), scratch);
    clo_workspace_free(workspace);
}

static void a_take_beyond_the_plan_comes_from_a_further_chunk(void **state)
{
    clo_workspace *const workspace = workspace_of(128);
    unsigned char *const first = take(workspace, 64);
    const size_t mark = clo_i_workspace_mark(workspace);
    take(workspace, 1000);
    unsigned char *const large = take(workspace, 200000);
    assert_int_equal(first[0], 0xa5);
    clo_i_workspace_release(workspace, mark);
    assert_int_equal(clo_i_workspace_mark(workspace), mark);
    assert_int_equal(first[63], 0xa5);
    assert_int_equal(large[0], 0);
    take(workspace, 100000); /* larger than the chunk that was kept */
    clo_workspace_free(workspace);
}

/* In any parts, and again after a release: nothing more is asked of the system. */
static void what_is_reserved_can_be_taken(void **state)
{
    clo_workspace *const workspace = workspace_of(256);
    take(workspace, 100);
    const size_t mark = clo_i_workspace_mark(workspace);
    assert_int_equal(clo_i_workspace_reserve(workspace, 128, NULL), CLO_OK); /* is there already */
    assert_int_equal(clo_i_workspace_reserve(workspace, 1 << 20, NULL), CLO_OK);
#ifdef CLO_FAULT_INJECTION
    clo_i_fail_allocation(1);
#endif
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < 16; i++) take(workspace, i == 3 ? 1 : (1 << 16) - 64);
        clo_i_workspace_release(workspace, mark);
    }
    take(workspace, 1 << 20);
#ifdef CLO_FAULT_INJECTION
    clo_i_fail_allocation(0);
#endif
    clo_workspace_free(workspace);
}

static void marks_nest_over_chunks(void **state)
{
    clo_workspace *const workspace = workspace_of(64);
    size_t marks[6];
    for (size_t i = 0; i < 6; i++) {
        marks[i] = clo_i_workspace_mark(workspace);
        take(workspace, 40000);
    }
    for (size_t i = 6; i-- > 0;) {
        clo_i_workspace_release(workspace, marks[i]);
        assert_int_equal(clo_i_workspace_mark(workspace), marks[i]);
        take(workspace, 40000);
        clo_i_workspace_release(workspace, marks[i]);
    }
    assert_int_equal(clo_i_workspace_mark(workspace), 0);
    clo_workspace_free(workspace);
}

/* Wiped, as a take of the same bytes finds: zeros. */
static void what_is_spared_gives_way_to_what_is_taken(void **state)
{
    clo_workspace *const workspace = workspace_of(1000);
    take(workspace, 64);
    const size_t mark = clo_i_workspace_mark(workspace);
    assert_null(clo_i_spare(workspace, 1000));
    assert_null(clo_i_spare(workspace, SIZE_MAX));
    unsigned char *const spare = clo_i_spare(workspace, 250);
    assert_non_null(spare);
    assert_int_equal((uintptr_t)spare % 64, 0);
    memset(spare, 0xa5, 250);
    take(workspace, 512);
    assert_true(clo_i_spare_is_there(workspace, spare));
    assert_int_equal(spare[0], 0xa5);
    clo_i_workspace_release(workspace, mark);
    assert_true(clo_i_spare_is_there(workspace, spare));
    take(workspace, 896);
    assert_false(clo_i_spare_is_there(workspace, spare));
    clo_i_workspace_release(workspace, mark);
    assert_false(clo_i_spare_is_there(workspace, spare));
    unsigned char *const again = clo_i_spare(workspace, 800);
    memset(again, 0xa5, 800);
    clo_i_spare_end(workspace);
    assert_false(clo_i_spare_is_there(workspace, again));
    assert_int_equal(again[799], 0);
    clo_workspace_free(workspace);
}

/* A chunk that a release empties may be given back for a larger one. */
static void what_is_spared_in_a_further_chunk_goes_with_it(void **state)
{
    clo_workspace *const workspace = workspace_of(64);
    const size_t mark = clo_i_workspace_mark(workspace);
    take(workspace, 1000);
    const void *const spare = clo_i_spare(workspace, 100);
    assert_true(clo_i_spare_is_there(workspace, spare));
    clo_i_workspace_release(workspace, mark);
    assert_false(clo_i_spare_is_there(workspace, spare));
    clo_workspace_free(workspace);
}

static void the_peak_is_the_most_that_was_ever_taken(void **state)
{
    clo_workspace *const workspace = workspace_of(4096);
    take(workspace, 64);
    const size_t mark = clo_i_workspace_mark(workspace);
    take(workspace, 1000);
    clo_i_workspace_release(workspace, mark);
    take(workspace, 64);
    assert_int_equal(clo_i_workspace_peak(workspace), 64 + 1024);
    clo_workspace_free(workspace);
}

static void what_a_plan_counts_is_what_a_take_uses(void **state)
{
    clo_workspace *const workspace = workspace_of(4096);
    clo_workspace *counting = NULL;
    clo_error err = { 0 };
    void *taken = workspace;
    assert_ok(clo_i_workspace_counting(&counting, &err), err);
    for (size_t bytes = 0; bytes < 200; bytes += 9) {
        take(workspace, bytes);
        assert_ok(clo_i_take(counting, bytes, 1, &taken, &err), err);
        assert_null(taken);
        assert_int_equal(clo_i_workspace_mark(workspace), clo_i_workspace_mark(counting));
        assert_int_equal(clo_i_workspace_peak(workspace), clo_i_workspace_peak(counting));
    }
    clo_i_workspace_release(counting, 64);
    assert_int_equal(clo_i_workspace_mark(counting), 64);
    assert_int_equal(clo_i_workspace_peak(workspace), clo_i_workspace_peak(counting));
    assert_fails(clo_i_take(counting, SIZE_MAX / 2, 3, &taken, &err), CLO_MEMORY, err, "too large");
    assert_ok(clo_i_take(counting, SIZE_MAX / 2 + 1, 1, &taken, &err), err);
    assert_fails(clo_i_take(counting, SIZE_MAX / 2 + 1, 1, &taken, &err), CLO_MEMORY, err,
                 "too large");
    clo_workspace_free(counting);
    clo_workspace_free(workspace);
}

static void an_impossible_take_is_refused_and_changes_nothing(void **state)
{
    clo_error err = { 0 };
    clo_workspace *const workspace = workspace_of(256);
    void *taken = NULL;
    assert_fails(clo_i_take(workspace, SIZE_MAX / 2, 3, &taken, &err), CLO_MEMORY, err,
                 "too large");
    assert_fails(clo_i_take(workspace, SIZE_MAX / 2, 1, &taken, &err), CLO_MEMORY, err, NULL);
    assert_null(taken);
    assert_int_equal(clo_i_workspace_mark(workspace), 0);
    take(workspace, 100);
    clo_workspace_free(workspace);
}

/* ---- text -------------------------------------------------------------------- */

static void formatted_as(double value, const char *expected)
{
    char text[32];
    clo_number_text(value, text);
    assert_string_equal(text, expected);
}

static void numbers_are_as_short_as_they_can_be(void **state)
{
    formatted_as(0, "0");
    formatted_as(-0.0, "-0");
    formatted_as(1, "1");
    formatted_as(0.1, "0.1");
    formatted_as(-2.5, "-2.5");
    formatted_as(1.0 / 3, "0.3333333333333333");
    formatted_as(10, "10");
    formatted_as(-1200, "-1200");
    formatted_as(1e300, "1e300");
    formatted_as(5e-324, "5e-324");
    formatted_as(0.1 + 0.2, "0.30000000000000004");
}

static void what_is_no_number_becomes_null(void **state)
{
    formatted_as(NAN, "null");
    formatted_as(INFINITY, "null");
    formatted_as(-INFINITY, "null");
}

static void any_double_reads_back_as_itself(void **state)
{
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 20000; i++) {
        char text[32];
        double value, back = 0;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        clo_number_text(value, text);
        const char *const end = clo_i_parse_double(text, &back);
        assert_non_null(end);
        assert_int_equal(*end, 0);
        assert_same_doubles(&back, &value, 1);
    }
}

/* With fewer digits it would not read back: the slow way, digit by digit, says the same. */
static void no_fewer_digits_would_do(void **state)
{
    uint64_t bits = 0x2545f4914f6cdd1du;
    for (int i = 0; i < 30000; i++) {
        char text[32], slow[32];
        double value;
        int digits = 0;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        switch (i % 3) {
        case 0: /* any double */
            memcpy(&value, &bits, sizeof value);
            break;
        case 1: /* of few digits, and its neighbours */
            value = (double)(bits >> 40) / pow(10, (double)(bits % 23));
            for (uint64_t n = bits >> 8 & 3; n > 0; n--) value = nextafter(value, 0);
            break;
        default: /* around a power of two, where gaps change */
            value = ldexp(1, (int)(bits >> 32 & 1023) - 700);
            if (bits & 1) value = nextafter(value, bits & 2 ? 0 : INFINITY);
        }
        if (!isfinite(value) || (value == trunc(value) && fabs(value) < 1e15)) continue;
        do snprintf(slow, sizeof slow, "%.*g", ++digits, value);
        while (strtod(slow, NULL) != value);
        clo_number_text(value, text);
        assert_true(strtod(text, NULL) == value);
        size_t shown = 0, needed = 0;
        for (const char *c = text; *c && *c != 'e'; c++) shown += *c >= '0' && *c <= '9';
        for (const char *c = slow; *c && *c != 'e'; c++) needed += *c >= '0' && *c <= '9';
        assert_int_equal(shown, needed);
    }
}

static void parsing_says_where_the_number_ends(void **state)
{
    double value = 7;
    const char *const text = "-12.5e-1,4";
    assert_ptr_equal(clo_i_parse_double(text, &value), text + 8);
    assert_close(value, -1.25, 0);
}

static void infinities_are_read(void **state)
{
    double value = 0;
    assert_non_null(clo_i_parse_double("inf", &value));
    assert_true(isinf(value) && value > 0);
    assert_non_null(clo_i_parse_double("-Infinity", &value));
    assert_true(isinf(value) && value < 0);
}

static void text_that_is_no_number_is_refused(void **state)
{
    static const char *const texts[] = { "", "abc", ",1", ".", "-", "e5", "--1" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = 7;
        assert_null(clo_i_parse_double(texts[i], &value));
        assert_close(value, 7, 0);
    }
}

static void a_number_of_a_thousand_digits_is_refused(void **state)
{
    char text[1001];
    double value = 7;
    memset(text, '1', 1000);
    text[1000] = 0;
    assert_null(clo_i_parse_double(text, &value));
}

/* Makes a locale with a decimal comma for this test: a machine need not have one.  (The sources of
 * locales are in Debian's package of that name.) */
static void the_locale_changes_nothing(void **state)
{
    char folder[] = "/tmp/cloister-locale-XXXXXX", command[200], text[32];
    double value = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/comma >/dev/null 2>&1",
             folder);
    assert_int_equal(system(command), 0);
    setenv("LOCPATH", folder, 1);
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    snprintf(text, sizeof text, "%g", 2.5);
    assert_string_equal(text, "2,5"); /* it is in force */
    formatted_as(2.5, "2.5");
    formatted_as(-1.5e-7, "-1.5e-7");
    assert_non_null(clo_i_parse_double("2.5", &value));
    assert_close(value, 2.5, 0);
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text_and_an_exit_code),
        cmocka_unit_test(only_success_exits_with_zero),
        cmocka_unit_test(a_failure_fills_the_error),
        cmocka_unit_test(a_failure_needs_no_error_struct),
        cmocka_unit_test(a_long_message_is_cut_and_not_written_beyond),
        cmocka_unit_test(try_forwards_a_failure_and_goes_on_otherwise),
        cmocka_unit_test(products_and_sums_are_checked),
        cmocka_unit_test(an_overflow_leaves_the_output_alone),
        cmocka_unit_test(memory_is_zero_and_starts_on_a_cache_line),
        cmocka_unit_test(a_size_that_overflows_is_refused),
        cmocka_unit_test(growing_keeps_the_old_and_zeroes_the_new),
        cmocka_unit_test(a_failed_growth_keeps_the_old_block),
        cmocka_unit_test(wiping_leaves_zeros),
        cmocka_unit_test(nothing_is_freed_and_wiped_without_complaint),
        cmocka_unit_test(a_text_is_copied_with_its_end),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(the_nth_allocation_fails_and_only_that_one),
#endif
        cmocka_unit_test(takes_do_not_overlap),
        cmocka_unit_test(a_release_gives_back_and_wipes_what_was_taken_since),
        cmocka_unit_test(a_take_beyond_the_plan_comes_from_a_further_chunk),
        cmocka_unit_test(what_is_reserved_can_be_taken),
        cmocka_unit_test(marks_nest_over_chunks),
        cmocka_unit_test(what_is_spared_gives_way_to_what_is_taken),
        cmocka_unit_test(what_is_spared_in_a_further_chunk_goes_with_it),
        cmocka_unit_test(the_peak_is_the_most_that_was_ever_taken),
        cmocka_unit_test(what_a_plan_counts_is_what_a_take_uses),
        cmocka_unit_test(an_impossible_take_is_refused_and_changes_nothing),
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
        cmocka_unit_test(what_is_no_number_becomes_null),
        cmocka_unit_test(any_double_reads_back_as_itself),
        cmocka_unit_test(no_fewer_digits_would_do),
        cmocka_unit_test(parsing_says_where_the_number_ends),
        cmocka_unit_test(infinities_are_read),
        cmocka_unit_test(text_that_is_no_number_is_refused),
        cmocka_unit_test(a_number_of_a_thousand_digits_is_refused),
        cmocka_unit_test(the_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
