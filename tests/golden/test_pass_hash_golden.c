/*
 * test_pass_hash_golden.c - the hash of all bytes that a pass has read, against numbers that Python
 * found for the formulas of flow.T2 (pass_hash.csv, written by pass_hash_oracle.py).
 */
#include "golden_table.h"
#include "data/pass_hash.h"
#include <stdlib.h>

enum { LONGEST = 1100000, FEWEST_ROWS = 16 };

/* The generator of pass_hash_oracle.py. */
static void take_bytes(uint64_t *state, void *out, size_t count)
{
    uint8_t *const bytes = out;
    for (size_t i = 0; i < count; i++) {
        *state = *state * 6364136223846793005 + 1442695040888963407;
        bytes[i] = (uint8_t)(*state >> 56);
    }
}

static void find(char *lengths, const clo_i_pass_hash_key *key, char *hex, size_t size)
{
    static uint8_t file[LONGEST];
    uint8_t found[CLO_PASS_HASH_BYTES];
    uint64_t state = 2;
    clo_i_pass_hash pass_hash;
    clo_i_pass_hash_begin(&pass_hash, key);
    for (char *text; (text = strtok_r(lengths, ";", &lengths));) {
        const size_t count = strtoull(text, NULL, 10);
        assert_in_range(count, 0, LONGEST);
        take_bytes(&state, file, count);
        clo_i_pass_hash_add(&pass_hash, file, count);
        clo_i_pass_hash_end_file(&pass_hash);
    }
    clo_i_pass_hash_end(&pass_hash, found);
    assert_non_null(sodium_bin2hex(hex, size, found, sizeof found));
}

static void pass_hashes_are_those_of_the_formulas(void **state)
{
    FILE *const table = open_table("pass_hash.csv");
    char line[200], hex[2 * CLO_PASS_HASH_BYTES + 1];
    clo_i_pass_hash_key key;
    uint64_t bytes = 1;
    size_t rows = 0;
    (void)state;
    take_bytes(&bytes, &key, sizeof key);
    assert_non_null(fgets(line, sizeof line, table));
    for (; fgets(line, sizeof line, table); rows++) {
        char *const comma = strchr(line, ',');
        assert_non_null(comma);
        *comma = 0;
        comma[1 + 2 * CLO_PASS_HASH_BYTES] = 0;
        find(line, &key, hex, sizeof hex);
        assert_string_equal(hex, comma + 1);
    }
    assert_true(rows >= FEWEST_ROWS);
    fclose(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pass_hashes_are_those_of_the_formulas) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
