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
    options = clo_read_options_default(); /* with text as missing cells nothing that a cell says */
    options.format = "csv";               /* keeps a file from being read */
    options.text = CLO_TEXT_MISSING;
    const long rows_with_text = exercise(bytes, count, options);
    MUST(rows == -1 || rows == rows_with_text);
    options.decimal = ',';
    options.missing = CLO_MISSING_FILL;
    options.fill = "1=2.5";
    options.columns = "-2";
    (void)exercise(bytes, count, options);
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
