/* fuzz_npy.c - any bytes as NPY; the header's promises are made and broken. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    clo_read_options options = clo_read_options_default();
    options.format = "npy";
    const long rows = exercise(bytes, count, options);
    options.missing = CLO_MISSING_REFUSE;
    const long rows_without_bad = exercise(bytes, count, options);
    MUST(rows_without_bad == -1 || rows_without_bad == rows);
    options.missing = CLO_MISSING_NULL;
    options.unit = "2";
    (void)exercise(bytes, count, options);
    options.columns = "2,1";
    (void)exercise(bytes, count, options);
    return 0;
}
