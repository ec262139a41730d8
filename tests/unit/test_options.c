/* Structs with a struct_size, between a caller and a library of different ages. */
#include "check.h"
#include "base/base.h"
#include <string.h>

typedef struct short_options {
    size_t struct_size;
    double a;
} short_options;

typedef struct long_options {
    size_t struct_size;
    double a;
    double b;
    const void *c;
} long_options;

static const long_options presets = { .a = 1, .b = 2 };

static void presets_end_where_the_callers_struct_ends(void **state)
{
    unsigned char memory[sizeof(long_options) + 16];
    short_options brief;
    (void)state;
    for (size_t size = 0; size <= sizeof memory; size++) {
        memset(memory, 0xa5, sizeof memory);
        clo_i_give_presets(memory, size, &presets, sizeof presets);
        for (size_t i = size; i < sizeof memory; i++) assert_int_equal(memory[i], 0xa5);
        for (size_t i = sizeof presets; i < size; i++) assert_int_equal(memory[i], 0);
    }
    memset(memory, 0xa5, sizeof memory);
    clo_i_give_presets(memory, sizeof brief, &presets, sizeof presets);
    memcpy(&brief, memory, sizeof brief);
    assert_int_equal(brief.struct_size, sizeof brief);
    assert_true(brief.a == 1);
}

static void an_older_caller_gets_presets_for_what_it_does_not_know(void **state)
{
    const short_options given = { .struct_size = sizeof given, .a = 7 };
    long_options taken = presets;
    clo_error err;
    (void)state;
    assert_ok(clo_i_take_options("clo_x", &given, &taken, sizeof taken, &err), err);
    assert_true(taken.a == 7 && taken.b == 2 && !taken.c);
    assert_int_equal(taken.struct_size, sizeof taken);
    taken = presets;
    assert_ok(clo_i_take_options("clo_x", NULL, &taken, sizeof taken, &err), err);
    assert_true(taken.a == 1);
}

static void a_newer_caller_is_served_unless_it_sets_what_is_not_known(void **state)
{
    long_options given = { .struct_size = sizeof given, .a = 7 };
    short_options taken = { .a = 1 };
    clo_error err;
    (void)state;
    assert_ok(clo_i_take_options("clo_x", &given, &taken, sizeof taken, &err), err);
    assert_true(taken.a == 7);
    assert_int_equal(taken.struct_size, sizeof taken);
    given.a = 8;
    given.c = &given;
    assert_fails(clo_i_take_options("clo_x", &given, &taken, sizeof taken, &err), CLO_UNSUPPORTED,
                 err, "the clo_x sets a field that this version of the library does not know");
    assert_true(taken.a == 7);
}

/* A size that no one set may be anything: nothing behind the struct is looked at. */
static void refuses_a_size_that_was_not_set(void **state)
{
    const size_t sizes[] = { 0, 3, sizeof(size_t), 4097, SIZE_MAX };
    long_options taken = presets;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const short_options given = { .struct_size = sizes[i], .a = 7 };
        assert_fails(clo_i_take_options("clo_x", &given, &taken, sizeof taken, &err), CLO_ARGUMENT,
                     err, "a clo_x must start from clo_x_default()");
        assert_fails(clo_i_check_result("clo_x", &given, &err), CLO_ARGUMENT, err,
                     "the struct_size of the clo_x must be set to its size");
        assert_memory_equal(&taken, &presets, sizeof taken);
    }
}

static void a_result_is_written_as_far_as_the_caller_reaches(void **state)
{
    const long_options result = { .a = 3, .b = 4 };
    long_options out = { .struct_size = sizeof(short_options), .b = 9 };
    clo_error err;
    (void)state;
    assert_ok(clo_i_check_result("clo_x", &out, &err), err);
    clo_i_give_result(&out, &result, sizeof result);
    assert_true(out.a == 3 && out.b == 9);
    assert_int_equal(out.struct_size, sizeof(short_options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_end_where_the_callers_struct_ends),
        cmocka_unit_test(an_older_caller_gets_presets_for_what_it_does_not_know),
        cmocka_unit_test(a_newer_caller_is_served_unless_it_sets_what_is_not_known),
        cmocka_unit_test(refuses_a_size_that_was_not_set),
        cmocka_unit_test(a_result_is_written_as_far_as_the_caller_reaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
