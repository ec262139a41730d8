/* lbfgs: it finds the minima of functions whose minima are known, it never goes uphill, and it
 * stays inside of the domain. */
#include "check.h"
#include "solver/lbfgs.h"
#include <stdlib.h>

enum { N = 10 };

static double rosenbrock(void *user, const double *x, double *gradient)
{
    double value = 0;
    (*(int *)user)++;
    for (size_t i = 0; i < N; i++) gradient[i] = 0;
    for (size_t i = 0; i + 1 < N; i++) {
        const double a = x[i + 1] - x[i] * x[i], b = 1 - x[i];
        value += 100 * a * a + b * b;
        gradient[i] += -400 * a * x[i] - 2 * b;
        gradient[i + 1] += 200 * a;
    }
    return value;
}

/* Only x > 0 is inside; the least value is at 1 for each. */
static double barrier(void *user, const double *x, double *gradient)
{
    double value = 0;
    (void)user;
    for (size_t i = 0; i < N; i++) {
        if (!(x[i] > 0)) return INFINITY;
        value += x[i] - log(x[i]);
        gradient[i] = 1 - 1 / x[i];
    }
    return value;
}

static double *scratch_for(size_t n)
{
    double *const scratch = malloc(clo_i_descend_scratch(n) * sizeof *scratch);
    assert_non_null(scratch);
    return scratch;
}

static void it_follows_a_bent_valley(void **state)
{
    double x[N] = { -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1, -1.2, 1 }, *const scratch = scratch_for(N);
    const clo_i_descent options = { .most_steps = 1000, .tolerance = 1e-15 };
    int calls = 0;
    (void)state;
    const double value = clo_i_descend(rosenbrock, &calls, N, x, options, scratch);
    assert_true(value < 1e-12 || (value > 3.9 && value < 4)); /* or its known local minimum */
    assert_true(calls < 2000);
    free(scratch);
}

static void it_stays_inside_of_the_domain(void **state)
{
    double x[N], *const scratch = scratch_for(N);
    const clo_i_descent options = { .most_steps = 200, .tolerance = 1e-14 };
    (void)state;
    for (size_t i = 0; i < N; i++) x[i] = 0.001 * (double)(1 + i * i);
    const double value = clo_i_descend(barrier, NULL, N, x, options, scratch);
    assert_true(fabs(value - N) < 1e-8);
    for (size_t i = 0; i < N; i++) assert_true(fabs(x[i] - 1) < 1e-4);
    free(scratch);
}

static void no_steps_leave_the_start(void **state)
{
    double x[N] = { 0.5 }, *const scratch = scratch_for(N);
    int calls = 0;
    (void)state;
    clo_i_descend(rosenbrock, &calls, N, x, (clo_i_descent){ .most_steps = 0 }, scratch);
    assert_true(x[0] == 0.5);
    assert_int_equal(calls, 1);
    free(scratch);
}

/* From the origin there is no length to take a tenth of. */
static void the_first_step_is_as_long_as_it_is_told(void **state)
{
    double x[N] = { 0 }, *const scratch = scratch_for(N);
    const clo_i_descent options = { .most_steps = 1, .first = 0.05 };
    int calls = 0;
    (void)state;
    clo_i_descend(rosenbrock, &calls, N, x, options, scratch);
    double square = 0;
    for (size_t i = 0; i < N; i++) square += x[i] * x[i];
    assert_true(sqrt(square) >= 0.05 / 8 && sqrt(square) <= 0.05 * 8);
    assert_true(calls < 8);
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_a_bent_valley),
        cmocka_unit_test(it_stays_inside_of_the_domain),
        cmocka_unit_test(no_steps_leave_the_start),
        cmocka_unit_test(the_first_step_is_as_long_as_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
