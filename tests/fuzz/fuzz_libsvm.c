/* fuzz_libsvm.c - any bytes as LIBSVM text, and any bytes as whatever they look like. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    clo_read_options options = clo_read_options_default();
    (void)exercise(bytes, count, options);
    options.format = "libsvm";
    (void)exercise(bytes, count, options);
    options.cols = 6;
    const long rows = exercise(bytes, count, options);
    options.missing = CLO_MISSING_REFUSE;
    const long rows_without_bad = exercise(bytes, count, options);
    MUST(rows_without_bad == -1 || rows_without_bad == rows);
    options.missing = CLO_MISSING_NULL;
    options.columns = "5,2-3";
    MUST(exercise(bytes, count, options) == rows);
    return 0;
}
