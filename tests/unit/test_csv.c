/* test_csv.c - the reader of CSV: what it accepts, what it makes of it, what it says when it does
 * not. */
#include "check.h"
#include "bytes_file.h"
#include "data/formats.h"
#include <locale.h>
#include <omp.h>

static clo_error err;

static clo_status read_bytes(const void *bytes, size_t count, const clo_read_options *options,
                             clo_table **out)
{
    const bytes_file file = bytes_file_open(bytes, count);
    clo_read_options csv = options ? *options : clo_read_options_default();
    csv.format = "csv";
    const clo_status status = clo_table_read(file.path, &csv, out, &err);
    bytes_file_close(file);
    return status;
}

static clo_status read_csv(const char *text, const clo_read_options *options, clo_table **out)
{
    return read_bytes(text, strlen(text), options, out);
}

/* Reads text that must be good and must give these rows. */
static void expect(const char *text, const clo_read_options *options, size_t rows, size_t cols,
                   const double *values)
{
    clo_table *table = NULL;
    double got[64];
    assert_ok(read_csv(text, options, &table), err);
    assert_int_equal(clo_table_rows(table), rows);
    assert_int_equal(clo_table_cols(table), cols);
    clo_i_table_rows(table, 0, rows, got);
    for (size_t i = 0; i < rows * cols; i++)
        if (!isnan(values[i]) || !isnan(got[i])) assert_same_doubles(&got[i], &values[i], 1);
    clo_table_free(table);
}

#define VALUES(...)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void refuse(const char *text, const clo_read_options *options, clo_status status,
                   const char *message)
{
    clo_table *table = NULL;
    assert_fails(read_csv(text, options, &table), status, err, message);
    assert_null(table);
}

static clo_read_options options_with(const char *columns, const char *unit)
{
    clo_read_options options = clo_read_options_default();
    options.columns = columns;
    options.unit = unit;
    return options;
}

/* ---- shapes of files ------------------------------------------------------------------------- */

static void reads_rows_without_a_header(void **state)
{
    expect("1,2\n3,4\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("1,2\n3,4", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("7", NULL, 1, 1, VALUES(7));
}

static void reads_a_header_and_keeps_its_names(void **state)
{
    clo_table *table = NULL;
    assert_ok(read_csv("age,\"net, income\",\"the \"\"x\"\"\"\n1,2,3\n", NULL, &table), err);
    assert_int_equal(clo_table_rows(table), 1);
    assert_string_equal(clo_table_column_name(table, 0), "age");
    assert_string_equal(clo_table_column_name(table, 1), "net, income");
    assert_string_equal(clo_table_column_name(table, 2), "the \"x\"");
    assert_null(clo_table_column_name(table, 3));
    clo_table_free(table);
}

static void has_no_names_without_a_header(void **state)
{
    clo_table *table = NULL;
    assert_ok(read_csv("1,2\n", NULL, &table), err);
    assert_null(clo_table_column_name(table, 0));
    clo_table_free(table);
}

static void takes_the_header_as_it_is_told(void **state)
{
    clo_read_options options = clo_read_options_default();
    options.header = CLO_HEADER_FIRST_LINE;
    expect("1,2\n3,4\n", &options, 1, 2, VALUES(3, 4));
    options.header = CLO_HEADER_NONE;
    expect("a,2\n3,4\n", &options, 2, 2, VALUES(NAN, 2, 3, 4));
}

static void a_missing_number_on_the_first_line_makes_no_header(void **state)
{
    expect("1,,nan\n4,5,6\n", NULL, 2, 3, VALUES(1, NAN, NAN, 4, 5, 6));
    expect("NA,-inf\n4,5\n", NULL, 2, 2, VALUES(NAN, NAN, 4, 5));
}

static void a_file_of_a_header_alone_has_no_rows(void **state)
{
    expect("a,b,c\n", NULL, 0, 3, NULL);
    expect("a,b,c", NULL, 0, 3, NULL);
}

static void an_empty_file_is_refused(void **state)
{
    refuse("", NULL, CLO_FORMAT, "is empty");
    refuse("\xef\xbb\xbf", NULL, CLO_FORMAT, "is empty");
    refuse("\n \r\n\n", NULL, CLO_FORMAT, "is empty");
}

/* Whoever says how many columns there are gets a table of no rows, too. */
static void no_records_are_a_table_where_the_columns_are_known(void **state)
{
    clo_read_options options = clo_read_options_default();
    static const char *const empty[] = { "", "\n \r\n", "\xef\xbb\xbf" };
    for (size_t i = 0; i < 3; i++) {
        options = clo_read_options_default();
        options.cols = 3;
        expect(empty[i], &options, 0, 3, NULL);
        options.unit = "2"; /* which is one of them */
        expect(empty[i], &options, 0, 2, NULL);
        options = options_with("4,1-2", NULL);
        expect(empty[i], &options, 0, 3, NULL);
        options = options_with("1-2", "7");
        expect(empty[i], &options, 0, 2, NULL);
        options = options_with("age", NULL);
        refuse(empty[i], &options, CLO_FORMAT, "is empty");
        options = options_with("1-99999999", NULL);
        refuse(empty[i], &options, CLO_FORMAT, "is empty");
    }
    options = clo_read_options_default();
    options.cols = 3;
    expect("1,2,3\n", &options, 1, 3, VALUES(1, 2, 3));
    refuse("1,2\n", &options, CLO_FORMAT, "2 columns on its first line, but cols is 3");
    refuse("a,b\n1,2\n", &options, CLO_FORMAT, "but cols is 3");
}

static void a_record_does_not_tell_the_columns_where_the_rows_are_a_secret(void **state)
{
    static const char *const files[] = { "", "\n", "1,2\n", "1,2\n3,4\n", "nan,NA\n" };
    clo_read_options options = clo_read_options_default();
    char first[sizeof err.message];
    options.rows_are_secret = true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        refuse(files[i], &options, CLO_ARGUMENT, "(cols)");
        if (i > 1) assert_int_equal(strlen(first), strlen(err.message)); /* but for the path */
        strcpy(first, err.message);
    }
    expect("a,b\n", &options, 0, 2, NULL);
    expect("a,b\n1,2\n", &options, 1, 2, VALUES(1, 2));
    options.cols = 2;
    expect("", &options, 0, 2, NULL);
    expect("1,2\n", &options, 1, 2, VALUES(1, 2));
}

/* In one column, or between blanks, a record of nothing but a missing cell is a blank line. */
static void a_blank_line_counts_wherever_it_stands(void **state)
{
    clo_read_options options = clo_read_options_default();
    expect("\n2\n", NULL, 2, 1, VALUES(NAN, 2));
    expect("\n\n2\n\n", NULL, 4, 1, VALUES(NAN, NAN, 2, NAN));
    expect("\n2 3\n", NULL, 2, 2, VALUES(NAN, NAN, 2, 3));
    expect("\n2,3\n", NULL, 1, 2, VALUES(2, 3)); /* a missing record would hold its comma */
    expect("\na\n\n1\n", NULL, 2, 1, VALUES(NAN, 1));
    options.cols = 1;
    options.text = CLO_TEXT_MISSING;
    expect("\n\n", &options, 2, 1, VALUES(NAN, NAN));
    options.missing = CLO_MISSING_REFUSE;
    refuse("\n2\n", &options, CLO_FORMAT, "line 1, column 1");
}

static void a_line_that_names_the_delimiter_is_neither_header_nor_record(void **state)
{
    expect("sep=;\na;b\n1;2\n", NULL, 1, 2, VALUES(1, 2));
    expect("\xef\xbb\xbf\"sep=|\"\r\n1|2\r\n", NULL, 1, 2, VALUES(1, 2));
    expect("sep=\n1\n", NULL, 1, 1, VALUES(1)); /* a name like any other */
    expect("sep=;\n",
           &(clo_read_options){ .struct_size = sizeof(clo_read_options),
                                .missing = CLO_MISSING_NULL,
                                .text = CLO_TEXT_REFUSE,
                                .cols = 2 },
           0, 2, NULL);
}

static void line_ends_may_be_of_either_kind(void **state)
{
    expect("a,b\r\n1,2\r\n3,4", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("1,2\r\n3,4\r\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("1 2\r\n3 4 \r\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
}

static void a_byte_order_mark_is_skipped(void **state)
{
    expect("\xef\xbb\xbf"
           "1,2\n",
           NULL, 1, 2, VALUES(1, 2));
    clo_table *table = NULL;
    assert_ok(read_csv("\xef\xbb\xbf"
                       "a,b\n1,2\n",
                       NULL, &table),
              err);
    assert_string_equal(clo_table_column_name(table, 0), "a");
    clo_table_free(table);
}

static void blank_lines_are_skipped(void **state)
{
    expect("\n\na,b\n\n1,2\n   \n\r\n3,4\n\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
}

static void a_line_of_tabs_is_a_record_where_tabs_delimit(void **state)
{
    expect("a\tb\n1\t2\n\t\n", NULL, 2, 2, VALUES(1, 2, NAN, NAN));
}

static void the_delimiter_is_found_on_the_first_line(void **state)
{
    expect("1;2\n3;4\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("1\t2\n3\t4\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("1|2\n3|4\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("\"a;b;c\",d\n3,4\n", NULL, 1, 2, VALUES(3, 4));
}

static void runs_of_blanks_are_one_delimiter(void **state)
{
    expect("1 2\n3 4\n", NULL, 2, 2, VALUES(1, 2, 3, 4));
    expect("  1.5    2\n   3 \t 4  \n", NULL, 2, 2, VALUES(1.5, 2, 3, 4));
    expect("x y\n1 \"2\"\n", NULL, 1, 2, VALUES(1, 2));
}

static void the_delimiter_may_be_given(void **state)
{
    clo_read_options options = clo_read_options_default();
    options.delimiter = ':';
    expect("1:2\n3:4\n", &options, 2, 2, VALUES(1, 2, 3, 4));
    options.delimiter = ';';
    expect("body mass\n3\n", &options, 1, 1, VALUES(3));
    options.delimiter = '"';
    refuse("1,2\n", &options, CLO_ARGUMENT, "delimiter");
    options.delimiter = '5';
    refuse("1,2\n", &options, CLO_ARGUMENT, "delimiter");
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void quoted_numbers_are_numbers(void **state)
{
    expect("\"1\",\" 2.5 \"\n 3 , \"4\" \n", NULL, 2, 2, VALUES(1, 2.5, 3, 4));
}

static void quoted_cells_may_hold_delimiters_and_line_ends(void **state)
{
    const clo_read_options options = options_with("x,y", NULL);
    expect("note,x,y\n\"a, \"\"b\"\"\nc\",1,2\n\"\r\n\n\",3,4\nplain \" quote,5,6\n", &options, 3,
           2, VALUES(1, 2, 3, 4, 5, 6));
}

static void what_is_not_a_finite_number_is_a_bad_cell(void **state)
{
    static const char *const cells[] = { "",       " ",    "nan",      "inf",   "-inf",
                                         "1e999",  "0x10", "1_0",      "1 000", "1e",
                                         "e5",     ".",    "-",        "+-1",   "1.2.3",
                                         "1e5.",   "--1",  "abc",      "1a",    "\"\"",
                                         "\"1\"2", "1d5",  "\xc2\xb5", "1e+",   "infinity" };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[64];
        clo_read_options options = clo_read_options_default();
        snprintf(text, sizeof text, "a,b\n7,%s\n", cells[i]);
        options.text = CLO_TEXT_MISSING;
        expect(text, &options, 1, 2, VALUES(7, NAN));
        options.missing = CLO_MISSING_REFUSE;
        refuse(text, &options, CLO_FORMAT, "line 2, column 2 ('b'): not a finite number");
    }
}

/* A column is text where more than half of its cells that say anything are: then it is named. */
static void a_column_of_text_is_refused(void **state)
{
    static const char text[] = "x,cut,the size,y\n1,Fair,a,4\n2,Good,b,NA\n3,4,c,x\n";
    clo_read_options options = clo_read_options_default();
    refuse(text, NULL, CLO_FORMAT,
           "columns 'cut' and 'the size' are text: leave them out "
           "(columns -cut,-3)");
    options.columns = "x,y";
    expect(text, &options, 3, 2, VALUES(1, 4, 2, NAN, 3, NAN));
    options.columns = "-cut,-3";
    expect(text, &options, 3, 2, VALUES(1, 4, 2, NAN, 3, NAN));
    options.columns = "cut";
    refuse(text, &options, CLO_FORMAT, "column 'cut' is text");
    options.text = CLO_TEXT_MISSING;
    expect(text, &options, 3, 1, VALUES(NAN, NAN, 4));
    options = clo_read_options_default();
    options.header = CLO_HEADER_NONE;
    refuse("1,a\n2,b\n", &options, CLO_FORMAT, "column '2' is text");
}

/* One cell among others, and words that say nothing, end no reading. */
static void some_cells_of_text_are_missing_cells(void **state)
{
    expect("a,b\n1,x\n2,5\n", NULL, 2, 2, VALUES(1, NAN, 2, 5));
    expect("a,b\n1,NA\n2,\n3,4\n", NULL, 3, 2, VALUES(1, NAN, 2, NAN, 3, 4));
    expect("a,b\n1,NA\n2,1e999\n3,4\n", NULL, 3, 2, VALUES(1, NAN, 2, NAN, 3, 4));
    expect("a,b\n", NULL, 0, 2, NULL);
    refuse("a,b\n1,NA\n2,\n3,x\n", NULL, CLO_FORMAT, "column 'b' is text");
}

/* Where no record would count, a run would spend its budget on nothing. */
static void gaps_that_leave_no_record_are_refused(void **state)
{
    clo_read_options options = clo_read_options_default();
    static const char empty[] = "a,b\n1,NA\n2,\n", crossed[] = "a,b\n1,\n,2\n";
    refuse(empty, NULL, CLO_FORMAT, "column 'b' is empty or not finite in every row");
    refuse(crossed, NULL, CLO_FORMAT, "more than nine in ten rows have a missing cell");
    char many[400] = "a,b\n";
    for (size_t i = 0; i < 20; i++) strcat(many, i < 19 ? "1,\n" : "1,2\n");
    refuse(many, NULL, CLO_FORMAT, "more than nine in ten rows");
    strcat(many, "1,2\n1,2\n"); /* 3 of 22 */
    clo_table *table = NULL;
    assert_ok(read_csv(many, NULL, &table), err);
    clo_table_free(table);
    options.columns = "a";
    expect(empty, &options, 2, 1, VALUES(1, 2));
    options.columns = NULL;
    options.missing = CLO_MISSING_FILL;
    expect(empty, &options, 2, 2, VALUES(1, NAN, 2, NAN));
    expect(crossed, &options, 2, 2, VALUES(1, NAN, NAN, 2));
    options.missing = CLO_MISSING_NULL;
    options.text = CLO_TEXT_MISSING;
    expect(empty, &options, 2, 2, VALUES(1, NAN, 2, NAN));
    expect(crossed, &options, 2, 2, VALUES(1, NAN, NAN, 2));
}

/* Nothing tells what the comma of "1,234" means: it is refused, and never read as 1.234 or left out
 * in silence. */
static void separated_thousands_are_refused(void **state)
{
    static const char *const sure[] = { "1 234",
                                        "1'234",
                                        "1_234",
                                        "1.234,5",
                                        "1,234.5",
                                        "-1,234,567",
                                        "12,34,567",
                                        "1\xc2\xa0"
                                        "234",
                                        "1\xe2\x80\xaf"
                                        "234",
                                        "1\xa0"
                                        "234" };
    clo_read_options options = clo_read_options_default();
    char text[128];
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++) {
        snprintf(text, sizeof text, "a;price\n1;%s\n2;999\n", sure[i]);
        refuse(text, NULL, CLO_FORMAT, "column 'price': numbers with separated thousands");
    }
    refuse("a;b\n1;1,234\n2;999\n", NULL, CLO_FORMAT,
           "may separate thousands or be a decimal mark");
    refuse("a,b\n1,\"1,234\"\n2,999\n", NULL, CLO_FORMAT, "may separate thousands: save");
    refuse("a;b\n1;1,234\n2;1,5\n", NULL, CLO_FORMAT,
           "decimal comma: state it"); /* the other one tells */
    refuse("a;b\n1;1,234\n2;1,234,567\n", NULL, CLO_FORMAT, "separated thousands");
    options.decimal = ',';
    refuse("a;b\n1;1.234,5\n2;9,5\n", &options, CLO_FORMAT, "separated thousands");
    refuse("a;b\n1;1.234\n2;9,5\n", &options, CLO_FORMAT, "a point before three digits");
    expect("a;b\n1;1,234\n2;9,5\n", &options, 2, 2, VALUES(1, 1.234, 2, 9.5));
}

static void signs_of_percent_and_currency_are_refused(void **state)
{
    static const char *const cells[] = { "12%",
                                         "12.5 %",
                                         "$5",
                                         "-$5",
                                         "(300)",
                                         "\xe2\x82\xac 5",
                                         "5,50 \xe2\x82\xac",
                                         ("\xe2\x88\x92"
                                          "5"),
                                         "$1,234.50" };
    char text[128];
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        snprintf(text, sizeof text, "a;b\n1;%s\n2;9\n", cells[i]);
        refuse(text, NULL, CLO_FORMAT, "a sign of percent or currency");
    }
    expect("a;b\n1;(x)\n2;9\n", NULL, 2, 2, VALUES(1, NAN, 2, 9));
    expect("a;b\n1;$\n2;9\n", NULL, 2, 2, VALUES(1, NAN, 2, 9));
    expect("a;b\n1;0,,5\n2;9\n", NULL, 2, 2, VALUES(1, NAN, 2, 9));
}

/* Names are published, and a record that was taken for them would be. */
static void numbers_for_people_are_no_header(void **state)
{
    refuse("\"1,234\"\n\"2,345\"\n", NULL, CLO_FORMAT, "column '1': a comma before");
    refuse("$5;$6\n$7;$8\n", NULL, CLO_FORMAT, "column '1': numbers with a sign");
}

static void names_are_utf8_whatever_the_file_is(void **state)
{
    clo_table *table = NULL;
    assert_ok(read_csv("gr\xf6\xdf"
                       "e,\x80,alt\xc3\xa9\n1,2,3\n",
                       NULL, &table),
              err);
    assert_string_equal(clo_table_column_name(table, 0), "größe");
    assert_string_equal(clo_table_column_name(table, 1), "€");
    assert_string_equal(clo_table_column_name(table, 2), "alté");
    clo_table_free(table);
}

/* "1,5" is 1.5 where that is said, and refused where it is not: it is never a missing cell in
 * silence. */
static void a_decimal_comma_is_said_or_refused(void **state)
{
    clo_read_options options = clo_read_options_default();
    static const char text[] = "a;b\n1,5;2\n-0,25;1e2\n";
    char many[1600] = "a;b\n";
    refuse(text, NULL, CLO_FORMAT,
           "column 'a': numbers with a decimal comma: state it (decimal ,)");
    options.decimal = ',';
    expect(text, &options, 2, 2, VALUES(1.5, 2, -0.25, 100));
    expect("a\n1,5\n2,5\n", &options, 2, 1, VALUES(1.5, 2.5));
    expect("1,5;123456789012345678901,25\n", &options, 1, 2, VALUES(1.5, 123456789012345678901.25));
    expect("1,5 2\n", &options, 1, 2, VALUES(1.5, 2));
    refuse("a;b\n1.5;2\n", &options, CLO_FORMAT, "numbers with a decimal point");
    options.delimiter = ',';
    refuse(text, &options, CLO_ARGUMENT, "cannot be both");
    options.delimiter = 0;
    options.decimal = '\'';
    refuse(text, &options, CLO_ARGUMENT, "a point or a comma");
    refuse("a,b\n\"1,5\",2\n\"1,5\",2\n", NULL, CLO_FORMAT, "decimal comma");
    refuse("1,5;2,5\n2,5;3,5\n", NULL, CLO_FORMAT, "has numbers and text");
    for (size_t i = 0; i < 200; i++) strcat(many, i == 7 ? "1,5;1\n" : "2.5;1\n");
    options = clo_read_options_default();
    clo_table *table = NULL; /* one in two hundred is a missing cell like others */
    assert_ok(read_csv(many, &options, &table), err);
    clo_table_free(table);
}

static void columns_are_left_out_by_name_number_and_range(void **state)
{
    clo_read_options options = options_with("-b,-4", NULL);
    expect("a,b,c,d\n1,2,3,4\n", &options, 1, 2, VALUES(1, 3));
    options.columns = "-2-3";
    expect("a,b,c,d\n1,2,3,4\n", &options, 1, 2, VALUES(1, 4));
    options.columns = "d,1-3,-b";
    expect("a,b,c,d\n1,2,3,4\n", &options, 1, 3, VALUES(4, 1, 3));
    options.columns = "-b"; /* a name that begins so */
    expect("a,-b,c\n1,2,3\n", &options, 1, 1, VALUES(2));
    options.columns = "-x";
    refuse("a,b\n1,2\n", &options, CLO_ARGUMENT, "no column 'x'");
    options.columns = "-a,-b";
    refuse("a,b\n1,2\n", &options, CLO_ARGUMENT, "every column of");
    options.columns = "-";
    refuse("a,b\n1,2\n", &options, CLO_ARGUMENT, "no column '-'");
    options = options_with("-b", "who");
    expect("who,a,b\nann,1,2\n", &options, 1, 1, VALUES(1));
    options = options_with("-2", NULL); /* says nothing of how many there are */
    options.rows_are_secret = true;
    options.header = CLO_HEADER_NONE;
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "give their number (cols)");
}

static void numbers_come_in_many_forms(void **state)
{
    expect("+1,-2.,.5,1e3,1E-2,-0,00012,1e-400,123456789012345678901234567890\n", NULL, 1, 9,
           VALUES(1, -2, .5, 1000, .01, -0.0, 12, 0, 123456789012345678901234567890.0));
}

static void a_bad_cell_of_a_column_that_is_not_chosen_does_not_matter(void **state)
{
    clo_read_options options = options_with("2", NULL);
    options.missing = CLO_MISSING_REFUSE;
    expect("a,b\nx,1\ny,2\n", &options, 2, 1, VALUES(1, 2));
}

static void no_message_holds_the_text_of_a_cell(void **state)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    options.missing = CLO_MISSING_REFUSE;
    assert_fails(read_csv("a,b\n1,secret\n", &options, &table), CLO_FORMAT, err, "line 2");
    assert_null(strstr(err.message, "secret"));
}

/* ---- what is wrong with a file --------------------------------------------------------------- */

static void a_ragged_line_is_refused_with_its_number(void **state)
{
    refuse("a,b\n1,2\n3\n", NULL, CLO_FORMAT, "line 3: 1 cell instead of 2, as on the first line");
    refuse("a,b\n1,2\n\n3,4,5,6\n", NULL, CLO_FORMAT, "line 4: 4 cells instead of 2");
    refuse("a,b\n1,2,\n", NULL, CLO_FORMAT, "3 cells instead of 2");
    refuse("a b\n1 2 3  4 \n", NULL, CLO_FORMAT, "4 cells instead of 2");
    refuse("a,b\n\"\n\n\",2\n1\n", NULL, CLO_FORMAT, "line 5: 1 cell instead of 2");
}

static void a_quote_that_is_never_closed_is_refused(void **state)
{
    refuse("a,b\n1,2\n3,\"4\n5,6\n", NULL, CLO_FORMAT,
           "line 3: a quote is opened and never closed");
    refuse("\"a,b\n1,2\n", NULL, CLO_FORMAT, "a quote is never closed");
}

static void lines_and_headers_have_a_longest_length(void **state)
{
    const size_t size = CLO_LINE_BYTES + 100;
    char *const text = malloc(size + 1);
    clo_table *table = NULL;
    memset(text, '1', size);
    text[size] = 0;
    memcpy(text, "5\n", 2);
    assert_fails(read_bytes(text, size, NULL, &table), CLO_FORMAT, err, "line 2: longer than");
    memset(text, 'h', size);
    memcpy(text + CLO_HEADER_BYTES + 10, "\n5\n", 3); /* it may be as long as a record */
    assert_ok(read_bytes(text, CLO_HEADER_BYTES + 13, NULL, &table), err);
    assert_int_equal(strlen(clo_table_column_name(table, 0)), CLO_HEADER_BYTES + 10);
    clo_table_free(table);
    table = NULL;
    memset(text, '1', size);
    assert_fails(read_bytes(text, size, NULL, &table), CLO_FORMAT, err, "line 1: longer than");
    free(text);
}

static void a_last_line_of_the_longest_length_is_read(void **state)
{
    char *const text = malloc(CLO_LINE_BYTES + 2);
    clo_table *table = NULL;
    double value;
    memcpy(text, "5\n", 2);
    memset(text + 2, '0', CLO_LINE_BYTES - 1);
    text[CLO_LINE_BYTES] = '7';
    assert_ok(read_bytes(text, CLO_LINE_BYTES + 1, NULL, &table), err);
    assert_int_equal(clo_table_rows(table), 2);
    clo_i_table_rows(table, 1, 1, &value);
    assert_true(value == 7);
    clo_table_free(table);
    free(text);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void columns_are_chosen_by_name_number_and_range(void **state)
{
    const char *const text = "a,b,c,d,e\n1,2,3,4,5\n";
    clo_read_options options = options_with("d,a", NULL);
    expect(text, &options, 1, 2, VALUES(4, 1));
    options.columns = "2-4";
    expect(text, &options, 1, 3, VALUES(2, 3, 4));
    options.columns = " 5 , a,2-3";
    expect(text, &options, 1, 4, VALUES(5, 1, 2, 3));
    options.columns = "1,4-5";
    expect("1,2,3,4,5\n", &options, 1, 3, VALUES(1, 4, 5));
}

static void chosen_columns_keep_their_names(void **state)
{
    const clo_read_options options = options_with("c,1", NULL);
    clo_table *table = NULL;
    assert_ok(read_csv("a,b,c\n1,2,3\n", &options, &table), err);
    assert_string_equal(clo_table_column_name(table, 0), "c");
    assert_string_equal(clo_table_column_name(table, 1), "a");
    clo_table_free(table);
}

static void a_name_wins_over_a_number(void **state)
{
    clo_read_options options = options_with("2", NULL);
    options.header = CLO_HEADER_FIRST_LINE;
    expect("x,y,2\n7,8,9\n", &options, 1, 1, VALUES(9));
    options.columns = "1-2";
    expect("x,y,1-2\n7,8,9\n", &options, 1, 1, VALUES(9));
    options.columns = "\"a,b\",x";
    expect("x,y,\"a,b\"\n7,8,9\n", &options, 1, 2, VALUES(9, 7));
}

static void a_missing_column_is_named_and_the_nearest_is_offered(void **state)
{
    clo_read_options options = options_with("incme", NULL);
    refuse("age,income\n1,2\n", &options, CLO_ARGUMENT,
           "has no column 'incme'; did you mean 'income'?");
    options.columns = "zzzzzz";
    refuse("age,income\n1,2\n", &options, CLO_ARGUMENT, "it has 'age', 'income'");
    options.columns = "age";
    refuse("1,2\n", &options, CLO_ARGUMENT, "only the numbers 1 to 2");
    options.columns = "3";
    refuse("age,income\n1,2\n", &options, CLO_ARGUMENT, "has no column 3: its columns are 1 to 2");
    options.columns = "0";
    refuse("1,2\n", &options, CLO_ARGUMENT, "has no column 0");
    options = options_with(NULL, "persn");
    refuse("person,x\n1,2\n", &options, CLO_ARGUMENT,
           "has no unit column 'persn'; did you mean 'person'?");
}

static void a_list_that_makes_no_sense_is_refused(void **state)
{
    clo_read_options options = options_with("", NULL);
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "names, numbers or ranges");
    options.columns = "1,,2";
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "names, numbers or ranges");
    options.columns = "3-1";
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "in the wrong order");
    options.columns = "1-2,2";
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "column 2 is chosen twice");
    options.columns = "1-99999999999999999999";
    refuse("1,2,3\n", &options, CLO_ARGUMENT, "has no column");
    options.columns = "a";
    refuse("a,b,a\n1,2,3\n", &options, CLO_ARGUMENT, "two columns 'a', 1 and 3");
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool same_unit(const clo_table *table, size_t a, size_t b)
{
    return memcmp(clo_i_table_unit(table, a), clo_i_table_unit(table, b), CLO_UNIT_BYTES) == 0;
}

static void the_unit_is_a_hash_that_only_equality_can_be_seen_of(void **state)
{
    const clo_read_options options = options_with(NULL, "who");
    clo_table *table = NULL, *again = NULL;
    const char *const text = "x,who\n1,ann\n2,bob\n3,\"ann\"\n4, ann \n5,\"a\"\"b\"\n6,a\"b\n";
    assert_ok(read_csv(text, &options, &table), err);
    assert_true(clo_table_has_unit(table));
    assert_int_equal(clo_table_cols(table), 1);
    assert_false(same_unit(table, 0, 1));
    assert_true(same_unit(table, 0, 2));
    assert_true(same_unit(table, 0, 3));
    assert_true(same_unit(table, 4, 5));
    assert_ok(read_csv(text, &options, &again), err);
    assert_memory_not_equal(clo_i_table_unit(table, 0), clo_i_table_unit(again, 0), CLO_UNIT_BYTES);
    clo_table_free(table);
    clo_table_free(again);
}

static void the_unit_is_a_value_only_where_it_is_chosen(void **state)
{
    clo_read_options options = options_with(NULL, "1");
    expect("7,1\n8,2\n", &options, 2, 1, VALUES(1, 2));
    options.columns = "1-2";
    expect("7,1\n8,2\n", &options, 2, 2, VALUES(7, 1, 8, 2));
    refuse("7\n8\n",
           &(clo_read_options){
               .struct_size = sizeof options, .unit = "1", .missing = CLO_MISSING_NULL },
           CLO_ARGUMENT, "no column besides that of the persons");
}

/* A record that was taken for a header would be published. */
static void a_first_line_of_numbers_and_text_is_neither(void **state)
{
    clo_read_options options = clo_read_options_default();
    refuse("41,71.5,unknown\n30,60.25,3\n", NULL, CLO_FORMAT, "header yes or no");
    options.header = CLO_HEADER_NONE;
    expect("41,71.5,unknown\n30,60,3\n", &options, 2, 3, VALUES(41, 71.5, NAN, 30, 60, 3));
}

/* In one column a missing cell leaves a blank line: the record stays. */
static void a_blank_line_of_one_column_is_a_record(void **state)
{
    expect("x\n0.5\n\n0.25\n", NULL, 3, 1, VALUES(0.5, NAN, 0.25));
    clo_read_options options = clo_read_options_default();
    options.missing = CLO_MISSING_REFUSE;
    refuse("x\n0.5\n\n0.25\n", &options, CLO_FORMAT, "line 3");
}

static void a_name_in_the_unit_column_makes_no_header(void **state)
{
    const clo_read_options options = options_with(NULL, "1");
    expect("ann,1\nbob,2\n", &options, 2, 1, VALUES(1, 2));
    expect("who,x\nbob,2\n", &options, 1, 1, VALUES(2));
}

static void an_empty_unit_is_refused_where_missing_cells_are(void **state)
{
    clo_read_options options = options_with(NULL, "who");
    clo_table *table = NULL;
    assert_ok(read_csv("x,who\n1,ann\n2,\n3,\"\"\n", &options, &table), err);
    assert_true(same_unit(table, 1, 2));
    clo_table_free(table);
    options.missing = CLO_MISSING_REFUSE;
    refuse("x,who\n1,ann\n2,\n", &options, CLO_FORMAT,
           "line 3, column 2 ('who'): the person is empty");
}

static void a_table_without_a_unit_column_has_no_units(void **state)
{
    clo_table *table = NULL;
    assert_ok(read_csv("1,2\n", NULL, &table), err);
    assert_false(clo_table_has_unit(table));
    assert_null(clo_i_table_unit(table, 0));
    clo_table_free(table);
}

/* ---- large files ----------------------------------------------------------------------------- */

enum { LARGE_ROWS = 300000 };

/* Several windows of rows "i,note,i/8", the note now and then with line ends in quotes. */
static char *large_text(size_t *size)
{
    char *const text = malloc((size_t)LARGE_ROWS * 64 + 64);
    size_t used = (size_t)sprintf(text, "id,note,x\n");
    for (int i = 0; i < LARGE_ROWS; i++)
        used += (size_t)sprintf(text + used, "%d,%s,%.3f\n", i,
                                i % 3 == 0 ? "\"one,\ntwo \"\"three\n\"\"\"" : "none", i / 8.0);
    *size = used;
    return text;
}

static void large_files_are_the_same_on_any_number_of_threads(void **state)
{
    size_t size;
    char *const text = large_text(&size);
    const clo_read_options options = options_with("1,3", "note");
    const int threads = omp_get_max_threads();
    for (int t = 1; t <= 4; t++) {
        clo_table *table = NULL;
        double row[2];
        omp_set_num_threads(t);
        assert_ok(read_bytes(text, size, &options, &table), err);
        assert_int_equal(clo_table_rows(table), LARGE_ROWS);
        for (size_t i = 0; i < LARGE_ROWS; i++) {
            clo_i_table_rows(table, i, 1, row);
            if (row[0] != (double)i || row[1] != (double)i / 8) fail_msg("row %zu is wrong", i);
            if (same_unit(table, i, 0) != (i % 3 == 0)) fail_msg("the unit of row %zu is wrong", i);
        }
        clo_table_free(table);
    }
    omp_set_num_threads(threads);
    free(text);
}

static void faults_far_into_a_file_have_the_right_line(void **state)
{
    size_t size;
    char *const text = large_text(&size);
    clo_table *table = NULL;
    char expected[64];
    const size_t lines = clo_i_count_bytes(text, text + size, '\n');
    memcpy(text + size, "1,2\n", 4);
    snprintf(expected, sizeof expected, "line %zu: 2 cells instead of 3", lines + 1);
    assert_fails(read_bytes(text, size + 4, NULL, &table), CLO_FORMAT, err, expected);
    memcpy(text + size, "1,\"2", 4);
    snprintf(expected, sizeof expected, "line %zu: a quote is opened", lines + 1);
    assert_fails(read_bytes(text, size + 4, NULL, &table), CLO_FORMAT, err, expected);
    free(text);
}

static void a_quote_left_open_early_in_a_large_file_is_found(void **state)
{
    size_t size;
    char *const text = large_text(&size);
    clo_table *table = NULL;
    for (char *c = text + 10; c < text + size; c++)
        if (*c == '"') *c = ' ';
    text[10] = '"';
    assert_fails(read_bytes(text, size, NULL, &table), CLO_FORMAT, err, "quote");
    assert_non_null(strstr(err.message, "line 2"));
    free(text);
}

static void pipes_are_read_as_files_are(void **state)
{
    size_t size;
    char *const text = large_text(&size);
    clo_table *table = NULL;
    int ends[2];
    char path[40];
    const clo_read_options options = options_with("1,3", NULL);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (size_t done = 0; done < size;) {
            const size_t piece = size - done < 777 ? size - done : 777;
            const ssize_t put = write(ends[1], text + done, piece);
            if (put <= 0) _exit(1);
            done += (size_t)put;
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    assert_int_equal(clo_table_rows(table), LARGE_ROWS);
    double row[2];
    clo_i_table_rows(table, LARGE_ROWS - 1, 1, row);
    assert_true(row[0] == LARGE_ROWS - 1 && row[1] == (LARGE_ROWS - 1) / 8.0);
    clo_table_free(table);
    close(ends[0]);
    free(text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void random_number_text(uint64_t *seed, char text[160])
{
    size_t n = 0;
    const uint64_t shape = next_random(seed);
    const int before = (int)(shape % 7 ? shape % 4 : shape % 30);
    const int after = (int)(shape >> 8 & 7 ? (shape >> 12) % 20 : (shape >> 12) % 60);
    if (shape >> 20 & 1) text[n++] = '-';
    for (int i = 0; i < before; i++) text[n++] = (char)('0' + next_random(seed) % 10);
    if (after || !before) text[n++] = '.';
    for (int i = 0; i < after; i++)
        text[n++] = (char)('0' + (shape >> 21 & 1 && i < 6 ? 0 : next_random(seed) % 10));
    if (!before && !after) text[n++] = '7';
    if (shape >> 24 & 1) {
        const uint64_t range = shape >> 25 & 1 ? 40 : 700;
        n += (size_t)sprintf(text + n, "%c%d", shape >> 26 & 1 ? 'e' : 'E',
                             (int)(next_random(seed) % range) - (int)range / 2);
    }
    text[n] = 0;
}

static void check_against_strtod(const char *text)
{
    char padded[1200] = "";
    double ours = 0;
    snprintf(padded, sizeof padded - CLO_PADDING, "%s", text);
    const double theirs = strtod(padded, NULL);
    const char *const end = clo_i_read_number(padded, &ours);
    if (end != padded + strlen(padded)) fail_msg("%s was not read to its end", text);
    if (memcmp(&ours, &theirs, sizeof ours) != 0)
        fail_msg("%s was read as %.17g, not %.17g", text, ours, theirs);
}

static void numbers_are_read_as_strtod_reads_them(void **state)
{
    uint64_t seed = 20240607;
    char text[160];
    for (int i = 0; i < 200000; i++) {
        random_number_text(&seed, text);
        check_against_strtod(text);
    }
}

static void doubles_that_were_printed_are_read_back(void **state)
{
    uint64_t seed = 3;
    char text[64];
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = next_random(&seed);
        double value = (double)(int64_t)bits * 0x1p-62;
        if (i % 2) memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, "%.*g", 15 + i % 4, value);
        check_against_strtod(text);
    }
}

static void halfway_cases_are_rounded_to_even(void **state)
{
    static const char *const hard[] = { "9007199254740993",
                                        "9007199254740995",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000000000000000000001",
                                        "4503599627370497.5",
                                        "0.500000000000000166533453693773481063544750213623046875",
                                        "1.00000000000000011102230246251565404236316680908203125",
                                        "1.00000000000000011102230246251565404236316680908203124",
                                        "1.00000000000000011102230246251565404236316680908203126",
                                        "2.2250738585072011e-308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "9999999999999999999e27",
                                        "9999999999999999999e-27",
                                        "1e23",
                                        "8.5e22",
                                        "1e-27",
                                        "1e27",
                                        "1e-28",
                                        "1e28",
                                        "0e999999999999",
                                        "1e-999999999999",
                                        "1e999999999999",
                                        "0.000000000000000000000000000000" };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) check_against_strtod(hard[i]);
}

static void very_long_numbers_are_rounded_by_all_their_digits(void **state)
{
    char text[1100];
    /* 1 + 2^-53 exactly halfway, then zeros, then a digit that decides. */
    const size_t n = (size_t)snprintf(text, sizeof text,
                                      "1.00000000000000011102230246251565404236316680908203125");
    memset(text + n, '0', 1000);
    text[n + 1000] = 0;
    check_against_strtod(text);
    text[n + 999] = '1';
    check_against_strtod(text);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    const char *const german[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C.UTF-8" };
    for (size_t i = 0; i < 4 && !setlocale(LC_ALL, german[i]); i++) continue;
    expect("1.5,1.25e-300\n", NULL, 1, 2, VALUES(1.5, 1.25e-300));
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows_without_a_header),
        cmocka_unit_test(reads_a_header_and_keeps_its_names),
        cmocka_unit_test(has_no_names_without_a_header),
        cmocka_unit_test(takes_the_header_as_it_is_told),
        cmocka_unit_test(a_missing_number_on_the_first_line_makes_no_header),
        cmocka_unit_test(a_file_of_a_header_alone_has_no_rows),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(no_records_are_a_table_where_the_columns_are_known),
        cmocka_unit_test(a_record_does_not_tell_the_columns_where_the_rows_are_a_secret),
        cmocka_unit_test(a_blank_line_counts_wherever_it_stands),
        cmocka_unit_test(a_line_that_names_the_delimiter_is_neither_header_nor_record),
        cmocka_unit_test(line_ends_may_be_of_either_kind),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(blank_lines_are_skipped),
        cmocka_unit_test(a_line_of_tabs_is_a_record_where_tabs_delimit),
        cmocka_unit_test(the_delimiter_is_found_on_the_first_line),
        cmocka_unit_test(runs_of_blanks_are_one_delimiter),
        cmocka_unit_test(the_delimiter_may_be_given),
        cmocka_unit_test(quoted_numbers_are_numbers),
        cmocka_unit_test(quoted_cells_may_hold_delimiters_and_line_ends),
        cmocka_unit_test(what_is_not_a_finite_number_is_a_bad_cell),
        cmocka_unit_test(a_column_of_text_is_refused),
        cmocka_unit_test(some_cells_of_text_are_missing_cells),
        cmocka_unit_test(gaps_that_leave_no_record_are_refused),
        cmocka_unit_test(separated_thousands_are_refused),
        cmocka_unit_test(signs_of_percent_and_currency_are_refused),
        cmocka_unit_test(numbers_for_people_are_no_header),
        cmocka_unit_test(names_are_utf8_whatever_the_file_is),
        cmocka_unit_test(a_decimal_comma_is_said_or_refused),
        cmocka_unit_test(columns_are_left_out_by_name_number_and_range),
        cmocka_unit_test(numbers_come_in_many_forms),
        cmocka_unit_test(a_bad_cell_of_a_column_that_is_not_chosen_does_not_matter),
        cmocka_unit_test(no_message_holds_the_text_of_a_cell),
        cmocka_unit_test(a_ragged_line_is_refused_with_its_number),
        cmocka_unit_test(a_quote_that_is_never_closed_is_refused),
        cmocka_unit_test(lines_and_headers_have_a_longest_length),
        cmocka_unit_test(a_last_line_of_the_longest_length_is_read),
        cmocka_unit_test(columns_are_chosen_by_name_number_and_range),
        cmocka_unit_test(chosen_columns_keep_their_names),
        cmocka_unit_test(a_first_line_of_numbers_and_text_is_neither),
        cmocka_unit_test(a_blank_line_of_one_column_is_a_record),
        cmocka_unit_test(a_name_wins_over_a_number),
        cmocka_unit_test(a_missing_column_is_named_and_the_nearest_is_offered),
        cmocka_unit_test(a_list_that_makes_no_sense_is_refused),
        cmocka_unit_test(the_unit_is_a_hash_that_only_equality_can_be_seen_of),
        cmocka_unit_test(the_unit_is_a_value_only_where_it_is_chosen),
        cmocka_unit_test(a_name_in_the_unit_column_makes_no_header),
        cmocka_unit_test(an_empty_unit_is_refused_where_missing_cells_are),
        cmocka_unit_test(a_table_without_a_unit_column_has_no_units),
        cmocka_unit_test(large_files_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(faults_far_into_a_file_have_the_right_line),
        cmocka_unit_test(a_quote_left_open_early_in_a_large_file_is_found),
        cmocka_unit_test(pipes_are_read_as_files_are),
        cmocka_unit_test(numbers_are_read_as_strtod_reads_them),
        cmocka_unit_test(doubles_that_were_printed_are_read_back),
        cmocka_unit_test(halfway_cases_are_rounded_to_even),
        cmocka_unit_test(very_long_numbers_are_rounded_by_all_their_digits),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
