/* A processor that computes otherwise than the proofs say is noticed, in any thread. */
#include "pipeline.h"
#include "parallel/parallel.h"
#include <fenv.h>
#include <omp.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

static void a_plain_processor_passes(void **state)
{
    clo_error err;
    (void)state;
    assert_ok(clo_i_check_float_state(0, &err), err);
}

static void rounding_otherwise_is_refused(void **state)
{
    const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    clo_error err;
    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(fesetround(modes[i]), 0);
        const clo_status status = clo_i_check_float_state(0, &err);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_int_equal(status, CLO_UNSUPPORTED);
    }
}

#ifdef __x86_64__
enum { FLUSH = 0x8000, ZEROS = 0x40 };

static void flushing_is_refused_before_data_are_bounded(void **state)
{
    const unsigned bits[] = { FLUSH, ZEROS, FLUSH | ZEROS };
    const double values[] = { 0.5 };
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    const clo_matrix view = { values, 1, 1, 1 };
    clo_table *table = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        const unsigned before = _mm_getcsr();
        clo_bounded *data = NULL;
        _mm_setcsr(before | bits[i]);
        const clo_status status = clo_bound(table, &domain, &data, &err);
        _mm_setcsr(before);
        assert_int_equal(status, CLO_UNSUPPORTED);
        assert_null(data);
    }
    clo_table_free(table);
}

/* LLVM's runtime gives its threads the state of the first at every start: then there is nothing to
 * refuse. */
static void one_thread_of_several_is_enough_to_refuse(void **state)
{
    bool kept = false;
    clo_error err;
    (void)state;
    omp_set_num_threads(3);
#pragma omp parallel
    if (omp_get_thread_num() == 2) _mm_setcsr(_mm_getcsr() | FLUSH);
#pragma omp parallel
    if (omp_get_thread_num() == 2) kept = (_mm_getcsr() & FLUSH) != 0;
    const clo_status status = clo_i_check_float_state(0, &err);
#pragma omp parallel
    _mm_setcsr(_mm_getcsr() & ~(unsigned)FLUSH);
    assert_int_equal(status, kept ? CLO_UNSUPPORTED : CLO_OK);
    assert_ok(clo_i_check_float_state(0, &err), err);
}
#endif

static void threads_need_a_blas_that_is_safe_in_them(void **state)
{
    (void)state;
    if (strcmp(clo_blas_threading(), "openmp") != 0) assert_int_equal(clo_i_threads(2), 1);
    assert_int_equal(clo_i_threads(1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_processor_passes),
        cmocka_unit_test(rounding_otherwise_is_refused),
#ifdef __x86_64__
        cmocka_unit_test(flushing_is_refused_before_data_are_bounded),
        cmocka_unit_test(one_thread_of_several_is_enough_to_refuse),
#endif
        cmocka_unit_test(threads_need_a_blas_that_is_safe_in_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
