/* fuzz_csv.c - any bytes as CSV, under several options. */
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    clo_read_options options = clo_read_options_default();
    options.format = "csv";
    const long rows = exercise(bytes, count, options);
    options.missing = CLO_MISSING_REFUSE;
    const long rows_without_bad = exercise(bytes, count, options);
    MUST(rows_without_bad == -1 || rows_without_bad == rows);
    options = (clo_read_options){ .struct_size = sizeof options,
                                  .format = "csv",
                                  .unit = "1",
                                  .columns = "1,2",
                                  .delimiter = ';',
                                  .missing = CLO_MISSING_NULL };
    (void)exercise(bytes, count, options);
    options.delimiter = ' ';
    options.columns = NULL;
    options.header = CLO_HEADER_NONE;
    (void)exercise(bytes, count, options);
    options.unit = "x";
    options.columns = "\"a\",y";
    options.delimiter = ',';
    options.header = CLO_HEADER_FIRST_LINE;
    (void)exercise(bytes, count, options);
    return 0;
}
