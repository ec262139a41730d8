/* test_gibbs_labels.c - the nearest cluster of a record is the one of the most energy, among all of
 * them; of equal ones the first (gibbs.T2: a label is a function of its record and the frames). */
#include "check.h"
#include "query/gibbs_internal.h"

enum { RECORDS = 40, MOST = 6 };

static void the_nearest_of_all_clusters_is_taken(void **state)
{
    double energies[MOST * RECORDS];
    uint32_t labels[RECORDS];
    (void)state;
    for (size_t k = 1; k <= MOST; k++) {
        clo_i_gibbs_chain chain = { .n = RECORDS, .k = k, .energies = energies, .labels = labels };
        for (size_t i = 0; i < RECORDS; i++)
            for (size_t l = 0; l < k; l++)
                energies[l * RECORDS + i] = i / k % 2 && l > 0 ? 1 : l == i % k ? 1 : 0.5;
        clo_i_gibbs_nearest_labels(&chain);
        for (size_t i = 0; i < RECORDS; i++) {
            size_t first = 0;
            while (energies[first * RECORDS + i] < 1 && first + 1 < k) first++;
            assert_int_equal(labels[i], energies[first * RECORDS + i] < 1 ? 0 : first);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_of_all_clusters_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
