/* Memory of data is kept out of cores and, where limits allow, out of swap; where they do not,
 * nothing fails and nothing is locked. */
#include "check.h"
#include "bytes_file.h"
#include "base/base.h"
#include <cloister/cloister.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { ROWS = 4000, COLS = 8, KIB = 1024 };
static clo_error err;

/* Of this process, in bytes. */
static size_t locked_now(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *const status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "VmLck: %lu", &kib) == 1) break;
    fclose(status);
    return (size_t)kib * KIB;
}

/* Whether the kernel keeps the page out of cores: "dd" among the flags of its mapping. */
static bool is_out_of_cores(const void *page)
{
    char line[512];
    bool here = false, out = false;
    FILE *const maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            here = from <= (uintptr_t)page && (uintptr_t)page < to;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            out = strstr(line, " dd") != NULL;
    }
    fclose(maps);
    return out;
}

static struct rlimit limit_to(rlim_t bytes)
{
    struct rlimit before, now;
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    now = before;
    now.rlim_cur = bytes < before.rlim_max ? bytes : before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &now), 0);
    return before;
}

static void large_blocks_are_kept_out_of_cores(void **state)
{
    enum { BYTES = 1 << 20, PAGE = 1 << 12 };
    char *block = NULL;
    (void)state;
    assert_ok(clo_i_alloc(BYTES, 1, &block, &err), err);
    for (size_t at = PAGE; at < BYTES - PAGE; at += BYTES / 16)
        assert_true(is_out_of_cores(block + at));
    clo_i_wipe_free(block, BYTES);
}

static clo_table *read_rows(void)
{
    enum { LINE = 2 * COLS };
    char *const text = calloc(ROWS, LINE);
    clo_table *table = NULL;
    assert_non_null(text);
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) {
        text[2 * i] = '1';
        text[2 * i + 1] = (i + 1) % COLS ? ',' : '\n';
    }
    const bytes_file file = bytes_file_open(text, (size_t)ROWS * LINE);
    assert_ok(clo_table_read(file.path, NULL, &table, &err), err);
    bytes_file_close(file);
    free(text);
    return table;
}

static clo_bounded *bound_rows(const clo_table *table)
{
    clo_domain domain = clo_domain_default();
    clo_bounded *data = NULL;
    domain.cols = COLS;
    domain.norm = 4;
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    return data;
}

/* Under a sanitizer a lock does nothing. */
static bool locks_count(void)
{
    enum { BYTES = 1 << 18 };
    const size_t first = locked_now();
    char *block = NULL;
    assert_ok(clo_i_alloc(BYTES, 1, &block, &err), err);
    const bool counts = clo_i_lock(block, BYTES) && locked_now() > first;
    clo_i_wipe_free(block, BYTES);
    return counts;
}

/* A page at each end of a block is shared with others, and stays as it is. */
static const size_t cells = (size_t)ROWS * COLS, ends = (size_t)1 << 13;

static void data_are_locked_where_limits_allow(void **state)
{
    const struct rlimit before = limit_to(8 * KIB * KIB);
    const size_t first = locked_now();
    clo_workspace *space = NULL;
    (void)state;
    if (!clo_i_may_lock(2 * KIB * KIB) || !locks_count()) {
        print_message("# nothing can be locked here: a limit, or a sanitizer\n");
        assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
        return;
    }
    clo_table *const table = read_rows();
    const size_t with_table = locked_now();
    assert_true(with_table - first >= cells * sizeof(double) - ends);
    clo_bounded *const data = bound_rows(table);
    const size_t with_data = locked_now();
    assert_true(with_data - with_table >= cells * sizeof(int32_t) - ends);
    assert_ok(clo_workspace_new(KIB * KIB, &space, &err), err);
    assert_true(locked_now() - with_data >= KIB * KIB - ends);
    clo_workspace_free(space);
    clo_bounded_free(data);
    clo_table_free(table);
    assert_true(locked_now() <= first); /* nothing stays locked for who gets the memory next */
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

static void a_small_limit_stops_nothing(void **state)
{
    const struct rlimit before = limit_to(128 * KIB);
    const size_t first = locked_now();
    (void)state;
    clo_table *const table = read_rows();
    clo_bounded *const data = bound_rows(table);
    assert_int_equal(locked_now(), first); /* all of it, or none */
    clo_bounded_free(data);
    clo_table_free(table);
    assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
    assert_false(clo_i_may_lock(SIZE_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_blocks_are_kept_out_of_cores),
        cmocka_unit_test(data_are_locked_where_limits_allow),
        cmocka_unit_test(a_small_limit_stops_nothing),
    };
    return cmocka_run_group_tests_name("memory_guard", tests, NULL, NULL);
}
