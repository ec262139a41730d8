/*
 * inspect.h - what a file holds, what a run would take of it, and how two files differ.  What comes
 * out of here is NOT private: it is for the operator's eyes, before anything is spent.  It says
 * nothing of how large the numbers are: bounds must not come from the data.
 */
#ifndef CLOISTER_INSPECT_H
#define CLOISTER_INSPECT_H

#include <cloister/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a column of a file is made of; see clo_text_columns. */
typedef enum clo_column_kind {
    CLO_COLUMN_NUMBERS = 1,
    CLO_COLUMN_TEXT = 2,
    CLO_COLUMN_OTHER_DECIMAL = 3, /* numbers with the other decimal mark */
    CLO_COLUMN_EMPTY = 4,         /* nothing but missing cells, or no rows */
    CLO_COLUMN_UNIT = 5,          /* it names whose row it is */
    CLO_COLUMN_THOUSANDS = 6,     /* numbers with separated thousands, or perhaps so: "1,234" */
    CLO_COLUMN_SIGNS = 7          /* numbers with signs of currency or percent */
} clo_column_kind;

/* Of one column; the caller sets struct_size. */
typedef struct clo_column {
    size_t struct_size;
    const char *name; /* NULL: it has none; borrowed */
    clo_column_kind kind;
    bool taken; /* a run with these options would use it */
    /* Cells that are not finite numbers, text among them; of a column of text, those that say
     * nothing; 0 of the unit. */
    uint64_t missing;
} clo_column;

/* What was found; its texts live as long as it does. */
typedef struct clo_inspection clo_inspection;

/* Reads the file with these options (NULL: the presets) and looks at all of its columns.  Fails as
 * clo_table_read does, but for what the columns hold: text, or missing cells. */
CLO_API CLO_CHECK clo_status clo_inspect(const char *path, const clo_read_options *options,
                                         clo_inspection **out, clo_error *err);
CLO_API void clo_inspection_free(clo_inspection *inspection);

CLO_API const char *clo_inspection_format(const clo_inspection *inspection);  /* "csv" */
CLO_API const char *clo_inspection_packing(const clo_inspection *inspection); /* "gzip", or NULL */
CLO_API bool clo_inspection_has_header(const clo_inspection *inspection);
CLO_API char clo_inspection_delimiter(const clo_inspection *inspection); /* of CSV; 0 of others */
CLO_API uint64_t clo_inspection_rows(const clo_inspection *inspection);
/* Rows with a missing cell in a column that would be taken. */
CLO_API uint64_t clo_inspection_null_rows(const clo_inspection *inspection);
CLO_API size_t clo_inspection_cols(const clo_inspection *inspection); /* of the file */
/* Column `index` of the file, from 0, below clo_inspection_cols. */
CLO_API void clo_inspection_column(const clo_inspection *inspection, size_t index, clo_column *out);
/* Why a run would refuse the file, before it spends anything, with what to do; NULL: would not. */
CLO_API const char *clo_inspection_refusal(const clo_inspection *inspection);
/* A setting that would let it be taken, with its value: "columns -cut"; "": none, or no refusal. */
CLO_API const char *clo_inspection_advice(const clo_inspection *inspection);

/* Writes a first schema for a CSV file: the names and types of its columns, and null where the owner
 * must state a fact from public knowledge.  from_data: bounds and levels are read from the data and
 * marked so ("source": "the data"); such a schema is for data that are public anyway.  Fails as
 * clo_inspect does. */
CLO_API CLO_CHECK clo_status clo_schema_draft(const char *path, const clo_read_options *options,
                                              bool from_data, clo_write *write, void *user,
                                              clo_error *err);
/* What of a column does not fit its schema, for the operator alone.  The caller sets struct_size. */
typedef struct clo_column_fit {
    size_t struct_size;
    const char *name; /* the schema's */
    uint64_t missing; /* cells that say nothing */
    uint64_t outside; /* numbers and dates beyond the bounds, texts in no list */
    uint64_t unread;  /* text where a number, a date or a truth value should be */
} clo_column_fit;
/* Reads the file with the schema and counts; fits: one a column that the schema uses, in its order,
 * each with its struct_size.  Fails as clo_table_read does. */
CLO_API CLO_CHECK clo_status clo_schema_try(const clo_schema *schema, const char *path,
                                            const clo_read_options *options, clo_column_fit *fits,
                                            size_t count, uint64_t *rows, clo_error *err);

/* How two files differ, whatever the order of their rows; the caller sets struct_size. */
typedef struct clo_difference {
    size_t struct_size;
    uint64_t rows[2]; /* in each file */
    /* Records that one file has and the other has not, so often as it has them more often; with a
     * unit, persons who are in one file alone, and rows that name nobody. */
    uint64_t only[2];
    uint64_t changed; /* with a unit: persons who are in both files, with other rows */
} clo_difference;

/* Compares two files with all that stands in their columns, text too; numbers are the same that are
 * read as the same, and lines of LIBSVM where they are written the same.  Under replace two files
 * are neighbours where `only` is 1 and 1, or with a unit also where it is 0 and 0 and `changed` 1;
 * under add-remove, where `only` is 1 in one of them, and nothing else differs.  Fails as
 * clo_table_read_files does, but for columns of text. */
CLO_API CLO_CHECK clo_status clo_files_compare(const char *first, const char *second,
                                               const clo_read_options *options, clo_difference *out,
                                               clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
