/* A schema: what its file may say, what a cell of text means under it, and that a record is a
 * function of its own cells inside the public ball (bound.T7). */
#include "bytes_file.h"
#include "pipeline.h"
#include "bound/bound.h"
#include "data/data.h"
#include "schema/schema.h"
#include <stdlib.h>
#include <string.h>

static clo_schema *schema_of(const char *json)
{
    clo_schema *schema = NULL;
    clo_error err;
    assert_ok(clo_schema_read(json, &schema, &err), err);
    return schema;
}

static void refuses(const char *json, const char *words)
{
    clo_schema *schema = NULL;
    clo_error err;
    assert_fails(clo_schema_read(json, &schema, &err), CLO_FORMAT, err, words);
    assert_null(schema);
    assert_null(strchr(err.message, '\n'));
}

static const char PEOPLE[] =
    "{\"fields\": ["
    "{\"name\": \"id\", \"type\": \"integer\"},"
    "{\"name\": \"sex\", \"type\": \"string\", \"categories\": [\"f\", \"m\", \"x\"]},"
    "{\"name\": \"age\", \"type\": \"integer\", \"constraints\": {\"minimum\": 0, \"maximum\": "
    "100}},"
    "{\"name\": \"grade\", \"type\": \"string\", \"categories\": [\"low\", \"mid\", \"high\"],"
    " \"categoriesOrdered\": true},"
    "{\"name\": \"born\", \"type\": \"date\","
    " \"constraints\": {\"minimum\": \"1920-01-01\", \"maximum\": \"2020-12-31\"}},"
    "{\"name\": \"month\", \"type\": \"integer\", \"constraints\": {\"minimum\": 1, \"maximum\": "
    "12},"
    " \"cloister\": {\"cyclic\": true}},"
    "{\"name\": \"smoker\", \"type\": \"boolean\"}],"
    "\"primaryKey\": \"id\"}";
/* sex 2, age 1, grade 1, born 1, month 2, smoker 1; one output a level, two of the circle. */
enum { COLUMNS = 6, COORDS = 8, OUTPUTS = 10 };

/* ---- the file -------------------------------------------------------------------------------- */

static void a_field_is_of_the_kind_that_it_states(void **state)
{
    static const clo_field_kind kinds[] = { CLO_FIELD_UNUSED, CLO_FIELD_LEVELS, CLO_FIELD_NUMBER,
                                            CLO_FIELD_RANK,   CLO_FIELD_DATE,   CLO_FIELD_CYCLIC,
                                            CLO_FIELD_LEVELS };
    clo_schema *const schema = schema_of(PEOPLE);
    clo_field field = { .struct_size = sizeof field };
    (void)state;
    assert_int_equal(clo_schema_field_count(schema), 7);
    for (size_t i = 0; i < 7; i++) {
        assert_true(clo_schema_field(schema, i, &field));
        assert_int_equal(field.kind, kinds[i]);
    }
    assert_false(clo_schema_field(schema, 7, &field));
    assert_int_equal(clo_schema_coordinates(schema), COORDS);
    assert_int_equal(clo_schema_outputs(schema), OUTPUTS);
    assert_string_equal(clo_schema_output_name(schema, 0), "sex=f");
    assert_string_equal(clo_schema_output_name(schema, 3), "age");
    assert_string_equal(clo_schema_output_name(schema, 7), "month=sin");
    assert_string_equal(clo_schema_output_name(schema, 9), "smoker=true");
    clo_schema_free(schema);
}

static void the_radius_is_what_the_longest_record_has(void **state)
{
    clo_schema *const schema = schema_of(PEOPLE);
    (void)state;
    /* Four numbers and a circle of 1 each; .24 (1 - 1/m). */
    assert_close(clo_schema_radius(schema), sqrt(4 + 0.24 * 2 / 3 + 0.24 / 2), 1e-9);
    clo_schema_free(schema);
}

static void says_what_is_wrong_with_a_schema(void **state)
{
    (void)state;
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"number\", \"colour\": 1}]}",
            "field 'a': the key \"colour\" is unknown to cloister");
    refuses("{\"fields\": [], \"x\": 1}", "the key \"x\" is unknown to cloister");
    refuses("{\"fields\": []}", "\"fields\" must be a list of columns");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"money\"}]}",
            "\"type\" must be \"number\"");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"number\","
            " \"constraints\": {\"minimum\": 5, \"maximum\": 2}}]}",
            "\"minimum\" must be below \"maximum\"");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"number\","
            " \"constraints\": {\"minimum\": null, \"maximum\": 2}}]}",
            "field 'a': a run needs its bounds");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"string\"}]}",
            "a run needs the list of its levels");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": []}]}",
            "the list of levels has no levels");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\"]}]}",
            "the list of levels has one level");
    refuses(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\", \"x\"]}]}",
        "the level \"x\" is in the list twice");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"integer\", \"categories\": [1, 2, 1.0]}]}",
            "the level \"1\" is in the list twice");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\", 1]}]}",
            "must be texts");
    refuses(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\", \"-\"]}],"
        " \"missingValues\": [\"-\"]}",
        "\"-\" cannot mean two things");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"date\","
            " \"constraints\": {\"minimum\": \"2023-02-30\", \"maximum\": \"2024-01-01\"}}]}",
            "\"minimum\" must be a date");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\"},"
            " {\"name\": \"a\", \"type\": \"boolean\"}]}",
            "the field 'a' is there twice");
    refuses(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\", \"cloister\": {\"weight\": 0}}]}",
        "\"weight\" must be a number between");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\","
            " \"cloister\": {\"missing\": \"fill\"}}]}",
            "needs a value: add \"fill\"");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\", \"name\": \"b\"}]}",
            "this is not JSON");
    refuses("{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\"}],"
            " \"cloister\": {\"person\": \"b\"}}",
            "\"person\" is 'b', which is no field");
}

static void a_level_of_ten_megabytes_is_one_sentence(void **state)
{
    enum { LONG = 10000000 };
    char *const json = malloc(LONG + 200);
    (void)state;
    assert_non_null(json);
    const int head = sprintf(json, "{\"fields\": [{\"name\": \"a\", \"type\": \"string\", "
                                   "\"categories\": [\"b\", \"");
    memset(json + head, 'y', LONG);
    strcpy(json + head + LONG, "\"]}]}");
    refuses(json, "field 'a': a level is longer than 1000 bytes");
    free(json);
}

static void equal_schemas_have_one_digest(void **state)
{
    clo_schema *const a = schema_of(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\", \"y\"]}]}");
    clo_schema *const b = schema_of(
        "{\"title\": \"the same\", \"fields\": [{\"constraints\": {\"enum\": [\"x\", \"y\"]},"
        " \"type\": \"string\", \"name\": \"a\", \"cloister\": {\"weight\": 1}}]}");
    clo_schema *const c = schema_of(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"y\", \"x\"]}]}");
    (void)state;
    assert_string_equal(clo_schema_digest(a), clo_schema_digest(b));
    assert_string_not_equal(clo_schema_digest(a), clo_schema_digest(c));
    clo_schema_free(a);
    clo_schema_free(b);
    clo_schema_free(c);
}

static void the_canonical_form_is_a_schema_with_the_same_digest(void **state)
{
    static const char *const jsons[] = {
        PEOPLE, "{\"fields\": [{\"name\": \"a\", \"type\": \"integer\", \"categories\": [3, 1],"
                " \"cloister\": {\"missing\": \"fill\", \"fill\": 1, \"outside\": \"other\"}},"
                "{\"name\": \"t\", \"type\": \"datetime\", \"constraints\": {\"minimum\":"
                " \"2020-01-01T00:00:00+01:00\", \"maximum\": \"2021-01-01T00:00:00Z\"},"
                " \"cloister\": {\"timeZone\": \"+01:00\", \"group\": \"g\", \"source\": \"law\"}},"
                "{\"name\": \"p\", \"type\": \"string\"}],"
                " \"cloister\": {\"person\": \"p\", \"rowsPerPerson\": 3, \"rows\": 10}}"
    };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        clo_schema *const schema = schema_of(jsons[i]);
        clo_i_growing form = { NULL, 0, 0 };
        clo_error err;
        assert_ok(clo_schema_write(schema, clo_i_growing_write, &form, &err), err);
        char *const copy = calloc(form.length + 1, 1);
        memcpy(copy, form.bytes, form.length);
        clo_schema *const again = schema_of(copy);
        assert_string_equal(clo_schema_digest(again), clo_schema_digest(schema));
        assert_close(clo_schema_radius(again), clo_schema_radius(schema), 0);
        free(copy);
        clo_i_free(form.bytes);
        clo_schema_free(again);
        clo_schema_free(schema);
    }
}

static void columns_of_a_group_share_one_weight(void **state)
{
    static const char same[] = "{\"name\": \"%s\", \"type\": \"boolean\", \"cloister\": "
                               "{\"group\": \"g\"}}";
    char json[600];
    int used = sprintf(json, "{\"fields\": [");
    (void)state;
    for (int i = 0; i < 4; i++) {
        const char name[] = { (char)('a' + i), 0 };
        if (i) json[used++] = ',';
        used += sprintf(json + used, same, name);
    }
    strcpy(json + used, "]}");
    clo_schema *const four = schema_of(json);
    clo_schema *const one = schema_of("{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\"}]}");
    assert_close(clo_schema_radius(four), clo_schema_radius(one), 1e-9);
    clo_schema_free(four);
    clo_schema_free(one);
}

/* ---- dates ----------------------------------------------------------------------------------- */

static double day(const char *cell, const char *format)
{
    return clo_i_date_cell(cell, strlen(cell), format);
}

static double moment(const char *cell, double zone)
{
    return clo_i_datetime_cell(cell, strlen(cell), NULL, zone);
}

static void dates_are_days_and_times_seconds(void **state)
{
    char shown[40];
    (void)state;
    assert_close(day("1970-01-01", NULL), 0, 0);
    assert_close(day("2000-02-29", NULL), 11016, 0);
    assert_close(day("1900-03-01", NULL) - day("1900-02-28", NULL), 1, 0);
    assert_close(day("31.12.1999", "%d.%m.%Y"), 10956, 0);
    assert_close(day("Mar 3, 05", "%b %d, %y"), day("2005-03-03", NULL), 0);
    assert_true(isnan(day("1900-02-29", NULL)));
    assert_true(isnan(day("2000-1-1", NULL)));
    assert_true(isnan(day("2000-01-01x", NULL)));
    assert_close(moment("1970-01-02T00:00:00Z", 0), 86400, 0);
    assert_close(moment("1970-01-01 01:00", 3600), 0, 0);
    assert_close(moment("1970-01-01T00:00:00-05:30", 0), 5.5 * 3600, 0);
    assert_close(moment("1970-01-01T00:00:00.25Z", 0), 0.25, 1e-12);
    assert_true(isnan(moment("1970-01-01T25:00:00Z", 0)));
    for (double d = -40000; d < 60000; d += 97) {
        clo_i_date_text(d, shown);
        assert_close(day(shown, NULL), d, 0);
    }
    clo_i_datetime_text(-1, shown);
    assert_string_equal(shown, "1969-12-31T23:59:59Z");
}

/* ---- records --------------------------------------------------------------------------------- */

static double length_of(const double *coords, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++) square += coords[i] * coords[i];
    return sqrt(square);
}

/* Of categories of 2 to 60 levels: equal lengths, equal distances, and the way back (bound.T7). */
static void every_level_is_as_long_and_as_far(void **state)
{
    (void)state;
    for (size_t m = 2; m <= 60; m += m < 6 ? 1 : 9) {
        char json[2000];
        double one[64], other[64], shares[64];
        int used = sprintf(json, "{\"fields\": [{\"name\": \"a\", \"type\": \"integer\", "
                                 "\"categories\": [");
        for (size_t l = 0; l < m; l++) used += sprintf(json + used, "%s%zu", l ? "," : "", 7 * l);
        strcpy(json + used, "]}]}");
        clo_schema *const schema = schema_of(json);
        const double w = sqrt(0.24), longest = w * sqrt(1 - 1 / (double)m);
        assert_int_equal(clo_schema_coordinates(schema), m - 1);
        for (size_t l = 0; l < m; l++) {
            const double cell = 7 * (double)l, next = 7 * (double)((l + 1) % m);
            clo_i_schema_encode(schema, &cell, one);
            clo_i_schema_encode(schema, &next, other);
            assert_close(length_of(one, m - 1), longest, 1e-14);
            assert_true(length_of(one, m - 1) <= clo_schema_radius(schema));
            clo_i_schema_decode(schema, one, shares);
            for (size_t i = 0; i < m; i++) assert_close(shares[i], i == l, 1e-12);
            for (size_t i = 0; i < m - 1; i++) one[i] -= other[i];
            assert_close(length_of(one, m - 1), w * sqrt(2), 1e-14);
        }
        clo_schema_free(schema);
    }
}

/* Cells that no file could hold do not leave the ball either. */
static void no_cell_leaves_the_ball(void **state)
{
    static const double cells[] = { 0,    1,   2,        -1,   3,  0.5,      1e300, -1e300,
                                    1e18, NAN, INFINITY, -0.0, 40, -7.25e15, 12.999 };
    clo_schema *const schema = schema_of(PEOPLE);
    const size_t count = sizeof cells / sizeof *cells;
    double row[COLUMNS], coords[COORDS];
    int32_t grid[COORDS];
    (void)state;
    for (size_t seed = 0; seed < 5000; seed++) {
        uint64_t square = 0, state_of = seed * 2654435761u + 1;
        for (size_t j = 0; j < COLUMNS; j++) {
            state_of = state_of * 6364136223846793005u + 1442695040888963407u;
            const double cell = cells[(state_of >> 33) % count];
            row[j] = isfinite(cell) ? cell : NAN; /* as a table gives it */
        }
        clo_i_schema_encode(schema, row, coords);
        for (size_t j = 0; j < COORDS; j++) assert_true(isfinite(coords[j]));
        assert_true(length_of(coords, COORDS) <= clo_schema_radius(schema));
        clo_i_to_grid(coords, COORDS, clo_schema_radius(schema), grid);
        for (size_t j = 0; j < COORDS; j++) square += (uint64_t)((int64_t)grid[j] * grid[j]);
        assert_true(square <= UINT64_C(1) << (2 * CLO_GRID_BITS));
    }
    clo_schema_free(schema);
}

static void distances_of_outputs_are_those_of_coordinates(void **state)
{
    static const double rows[][COLUMNS] = { { 0, 40, 0, 3000, 1, 0 },
                                            { 2, 90, 2, -900, 7, 1 },
                                            { 1, NAN, 1, 9000, 11, NAN },
                                            { NAN, 3, NAN, NAN, NAN, 1 } };
    clo_schema *const schema = schema_of(PEOPLE);
    (void)state;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            double x[COORDS], y[COORDS], p[OUTPUTS], q[OUTPUTS], square = 0;
            clo_i_schema_encode(schema, rows[a], x);
            clo_i_schema_encode(schema, rows[b], y);
            clo_i_schema_expand(schema, rows[a], p);
            clo_i_schema_expand(schema, rows[b], q);
            for (size_t j = 0; j < COORDS; j++) x[j] -= y[j];
            for (size_t j = 0; j < OUTPUTS; j++)
                square += pow((p[j] - q[j]) / clo_i_schema_unit(schema, j), 2);
            assert_close(sqrt(square), length_of(x, COORDS), 1e-12);
        }
    clo_schema_free(schema);
}

static void shares_go_to_the_nearest_ones_that_can_be(void **state)
{
    clo_schema *const schema = schema_of(PEOPLE);
    double outputs[OUTPUTS] = { 0.9, 0.3, -0.1, 120, 2, 1e9, 3, 4, -0.2, 1.2 };
    (void)state;
    clo_i_schema_fit(schema, outputs);
    assert_close(outputs[0], 0.8, 1e-12); /* (.9, .3, -.1) -> (.8, .2, 0) */
    assert_close(outputs[1], 0.2, 1e-12);
    assert_close(outputs[2], 0, 0);
    assert_close(outputs[3], 100, 0);
    assert_close(outputs[6], 0.6, 1e-12);
    assert_close(outputs[8], 0, 0);
    assert_close(outputs[9], 1, 1e-15);
    clo_schema_free(schema);
}

static void rules_say_what_a_missing_cell_is(void **state)
{
    clo_schema *const schema = schema_of(
        "{\"fields\": ["
        "{\"name\": \"a\", \"type\": \"string\", \"categories\": [\"x\", \"y\"],"
        " \"cloister\": {\"missing\": \"level\", \"outside\": \"other\"}},"
        "{\"name\": \"b\", \"type\": \"number\", \"constraints\": {\"minimum\": 0, \"maximum\": "
        "10},"
        " \"missingValues\": [\"\", \"-99\"], \"cloister\": {\"missing\": \"fill\", \"fill\": 4}},"
        "{\"name\": \"c\", \"type\": \"number\", \"constraints\": {\"minimum\": 0, \"maximum\": "
        "10},"
        " \"cloister\": {\"missing\": \"drop\", \"outside\": \"missing\"}}]}");
    const clo_i_field *const a = clo_i_schema_used(schema, 0), *const b =
                                                                   clo_i_schema_used(schema, 1);
    (void)state;
    assert_int_equal(a->levels.count, 4);
    assert_close(clo_i_field_means(a, CLO_OUTSIDE), 2, 0); /* other */
    assert_close(clo_i_field_means(a, NAN), 3, 0);         /* missing */
    assert_close(clo_i_field_means(b, NAN), 4, 0);
    assert_close(clo_i_field_means(b, -99), 4, 0);
    assert_close(clo_i_field_means(b, 50), 10, 0);
    assert_false(clo_i_schema_is_null(schema, (const double[]){ NAN, NAN, 5 }));
    assert_true(clo_i_schema_is_null(schema, (const double[]){ 0, 5, NAN }));
    assert_true(clo_i_schema_is_null(schema, (const double[]){ 0, 5, 11 }));
    clo_schema_free(schema);
}

/* ---- files ----------------------------------------------------------------------------------- */

static clo_table *table_of(const char *csv, const clo_schema *schema, clo_status status,
                           const char *words)
{
    const bytes_file file = bytes_file_open(csv, strlen(csv));
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    options.schema = schema;
    options.text = CLO_TEXT_MISSING;
    const clo_status got = clo_table_read(file.path, &options, &table, &err);
    bytes_file_close(file);
    if (!status) assert_ok(got, err);
    if (status) assert_fails(got, status, err, words);
    return table;
}

static void a_csv_is_read_by_the_schema(void **state)
{
    clo_schema *const schema = schema_of(PEOPLE);
    clo_table *const table = table_of("smoker,id,\"age\",born,sex,note,grade,month\n"
                                      "true,1,40,1970-01-03, f ,hello,\"mid\",3\r\n"
                                      "0,2,,1969-12-31,\"m\",\"a,b\",high ,12\n"
                                      "maybe,3,x,never,q,,,\n",
                                      schema, CLO_OK, NULL);
    const double expected[3][COLUMNS] = { { 0, 40, 1, 2, 3, 1 },
                                          { 1, NAN, 2, -1, 12, 0 },
                                          { CLO_OUTSIDE, NAN, NAN, NAN, NAN, NAN } };
    double rows[3][COLUMNS];
    (void)state;
    assert_int_equal(clo_table_cols(table), COLUMNS);
    assert_string_equal(clo_table_column_name(table, 1), "age");
    clo_i_table_rows(table, 0, 3, rows[0]);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            if (isnan(expected[i][j]))
                assert_true(isnan(rows[i][j]));
            else
                assert_close(rows[i][j], expected[i][j], 0);
    clo_table_free(table);
    clo_schema_free(schema);
}

static void a_file_must_have_the_columns_once(void **state)
{
    clo_schema *const schema = schema_of(
        "{\"fields\": [{\"name\": \"a\", \"type\": \"boolean\"}, {\"name\": \"b\", \"type\": "
        "\"boolean\"}]}");
    (void)state;
    table_of("a,c\n1,0\n", schema, CLO_ARGUMENT, "has no column 'b', which the schema uses");
    table_of("a,b,a\n1,0,1\n", schema, CLO_FORMAT, "has two columns 'a'");
    clo_schema_free(schema);
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

static void table_and_domain_must_have_one_schema(void **state)
{
    clo_schema *const schema = schema_of(PEOPLE), *part = NULL;
    clo_domain domain = clo_domain_default(), none = clo_domain_default();
    clo_bounded *data = NULL;
    clo_error err;
    const char *const names[] = { "age", "sex" };
    clo_table *const table = table_of("id,sex,age,grade,born,month,smoker\n"
                                      "1,f,40,mid,1970-01-03,3,true\n",
                                      schema, CLO_OK, NULL);
    (void)state;
    none.cols = COLUMNS;
    none.norm = 1;
    assert_fails(clo_bound(table, &none, &data, &err), CLO_DOMAIN, err, "was read with a schema");
    assert_ok(clo_schema_select(schema, names, 2, &part, &err), err);
    assert_string_equal(clo_schema_digest(part), clo_schema_digest(schema)); /* of the whole */
    assert_ok(clo_domain_describe(&domain, part, &err), err);
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_DOMAIN, err, "");
    assert_ok(clo_domain_describe(&domain, clo_table_schema(table), &err), err);
    assert_int_equal(domain.cols, COORDS);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    domain.norm *= 2;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "needs a domain of as many");
    clo_bounded_free(data);
    clo_table_free(table);
    clo_schema_free(part);
    clo_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_of_the_kind_that_it_states),
        cmocka_unit_test(the_radius_is_what_the_longest_record_has),
        cmocka_unit_test(says_what_is_wrong_with_a_schema),
        cmocka_unit_test(a_level_of_ten_megabytes_is_one_sentence),
        cmocka_unit_test(equal_schemas_have_one_digest),
        cmocka_unit_test(the_canonical_form_is_a_schema_with_the_same_digest),
        cmocka_unit_test(columns_of_a_group_share_one_weight),
        cmocka_unit_test(dates_are_days_and_times_seconds),
        cmocka_unit_test(every_level_is_as_long_and_as_far),
        cmocka_unit_test(no_cell_leaves_the_ball),
        cmocka_unit_test(distances_of_outputs_are_those_of_coordinates),
        cmocka_unit_test(shares_go_to_the_nearest_ones_that_can_be),
        cmocka_unit_test(rules_say_what_a_missing_cell_is),
        cmocka_unit_test(a_csv_is_read_by_the_schema),
        cmocka_unit_test(a_file_must_have_the_columns_once),
        cmocka_unit_test(table_and_domain_must_have_one_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
