/*
 * test_blocks_on_workers_memory.c - blocks of rows that workers hold, and memory (fold.T7):
 * whichever allocation fails, of the driver's or of a worker's, the run ends with CLO_MEMORY,
 * without a release, and leaks nothing.
 */
#include "block_crew.h"
#include "base/base.h"

static clo_status run_failing_at(const clo_plan *plan, const clo_domain *domain, uint64_t n,
                                 uint64_t *all)
{
    clo_release *release = NULL;
    clo_error err = { .message = "" };
    crew c;
    hire(&c, plan, domain, 1);
    c.groups = 3;
    c.begin = clo_i_fail_allocation;
    c.fail_at = n;
    const clo_status status = drive(&c, plan, NULL, &release, &err);
    *all = clo_i_allocation_count();
    clo_i_fail_allocation(0);
    assert_int_equal(release != NULL, !status);
    if (status) assert_true(err.message[0] != 0);
    clo_release_free(release);
    dismiss(&c);
    return status;
}

static void an_allocation_that_fails_ends_the_run(void **state)
{
    static const size_t some[] = { 0, 5 }; /* of methods: centres of blocks, and cells */
    (void)state;
    for (size_t m = 0; m < sizeof some / sizeof *some; m++) {
        const clo_domain domain = ball(D, 1.5, CLO_ADD_REMOVE);
        const char *const *const method = methods[some[m]];
        clo_plan *const plan = planned(method[0], method[1], &domain, (clo_loss){ 50, 1e-3 });
        uint64_t all = 0, unused;
        assert_int_equal(run_failing_at(plan, &domain, 0, &all), CLO_OK);
        assert_true(all > 20);
        for (uint64_t n = 1; n <= all; n += 1 + n / 16)
            assert_int_equal(run_failing_at(plan, &domain, n, &unused), CLO_MEMORY);
        clo_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(an_allocation_that_fails_ends_the_run) };
    return cmocka_run_group_tests(tests, fill, NULL);
}
