/* golden_table.h - opens a table of reference numbers, which lies beside the tests that read it. */
#ifndef CLO_TEST_GOLDEN_TABLE_H
#define CLO_TEST_GOLDEN_TABLE_H

#include "check.h"
#include <stdio.h>
#include <string.h>

static inline FILE *open_table(const char *name)
{
    char path[4096];
    const char *const slash = strrchr(__FILE__, '/');
    const int folder = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, sizeof path, "%.*s%s", folder, __FILE__, name);
    FILE *const file = fopen(path, "r");
    if (!file) print_error("%s cannot be opened\n", path);
    assert_non_null(file);
    return file;
}

#endif
