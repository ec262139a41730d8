/*
 * data.h (internal) - what bound and operate see of a table.
 */
#ifndef CLO_DATA_INTERNAL_H
#define CLO_DATA_INTERNAL_H

#include "base/base.h"
#include <cloister/data.h>

enum { CLO_UNIT_BYTES = 16 };

/* Rows first … first+count-1 as doubles, row-major; a bad cell is NaN. A sparse table is
 * written out densely. Safe to call from several threads. */
void clo_i_table_rows(const clo_table *table, size_t first, size_t count, double *out);

/* All cells as they lie in memory, where they are doubles, row after row without a gap; NULL where
 * they are not.  Cells that are not finite are as they came. */
const double *clo_i_table_dense(const clo_table *table);

/* What a missing cell means, and with CLO_MISSING_FILL the values that were told: one a column, NaN
 * where none was; NULL: none at all. */
clo_missing clo_i_table_missing(const clo_table *table);
const double *clo_i_table_fill(const clo_table *table);

/* What a column is made of (text_columns.c). */
typedef enum clo_i_column_kind {
    CLO_KIND_NUMBERS,
    CLO_KIND_TEXT,
    CLO_KIND_OTHER_MARK, /* numbers with the other decimal mark */
    CLO_KIND_THOUSANDS,  /* numbers with separated thousands, or perhaps so */
    CLO_KIND_SIGNS,      /* numbers with signs of currency or percent */
    CLO_KIND_EMPTY       /* nothing is said in it */
} clo_i_column_kind;
clo_i_column_kind clo_i_table_kind(const clo_table *table, size_t column);
/* Cells of a column of text that say nothing: empty, NA and the like. */
uint64_t clo_i_table_empty_cells(const clo_table *table, size_t column);

/* What the file was, as far as it is the same for any data: its columns, the unit's among them. */
typedef struct clo_file_facts {
    const char *format;  /* "csv" */
    const char *packing; /* "gzip", "zstd", or NULL */
    char delimiter;      /* of CSV; 0 of others */
    size_t cols;
    char *const *names; /* one a column of the file, or NULL; borrowed */
} clo_file_facts;
clo_file_facts clo_i_table_file(const clo_table *table);
/* Which column of the file a column of the table is, from 0. */
size_t clo_i_table_file_column(const clo_table *table, size_t column);
/* Which of the table's columns a list such as "age,4-6" or "-id" means (NULL: all), by the names
 * and numbers of the file; CLO_ARGUMENT where it is no such list. */
CLO_CHECK clo_status clo_i_table_choose(const clo_table *table, const char *list, bool *chosen,
                                        clo_error *err);
/* CLO_FORMAT, with what to do about it, where one of these columns of a CSV is not numbers.
 * needed_by: what cannot do without them ("release"), or NULL where they can be left out. */
clo_status clo_i_table_refuse_text(const clo_table *table, const bool *columns,
                                   const char *needed_by, clo_error *err);

/* CLO_FORMAT, with what to do, where fewer than one row in ten has no missing cell, and the others
 * are to be left out: a run would spend its budget on next to nothing. */
clo_status clo_i_table_refuse_gaps(const clo_table *table, uint64_t rows_with_gaps, clo_error *err);

/* Whether text is refused where a column is used (CLO_TEXT_LATER). */
bool clo_i_table_text_later(const clo_table *table);

bool clo_i_table_is_sparse(const clo_table *table);
/* Whether a record alone has told how many columns there are: without any, nobody would know. */
bool clo_i_table_guessed_cols(const clo_table *table);
/* Of a sparse table: row i's column numbers (from 0, increasing) and values; borrowed. */
void clo_i_table_sparse_row(const clo_table *table, size_t row, const uint32_t **columns,
                            const double **values, size_t *count);
size_t clo_i_table_entries(const clo_table *table); /* of a sparse table: stored cells in all */

/* The hash of the unit that row belongs to, CLO_UNIT_BYTES bytes, all zero where the row names
 * none; NULL without a unit column. */
const uint8_t *clo_i_table_unit(const clo_table *table, size_t row);
/* Mapped pages of these rows may be dropped from memory: they are not needed again soon. */
void clo_i_table_forget(const clo_table *table, size_t first, size_t count);

/* ---- two files, row by row ------------------------------------------------------------------- */

/* Two files of one table, whose rows can be told apart by all that stands in them, text too, with
 * clo_i_table_hash_row under the same key.  Units are hashed alike in both. */
CLO_CHECK clo_status clo_i_read_pair(const char *const paths[2], const clo_read_options *options,
                                     clo_table *out[2], clo_error *err);
enum { CLO_ROW_KEY_BYTES = 32 };
/* The hash of a row of such a table; equal numbers and equal texts have equal hashes. */
void clo_i_table_hash_row(const clo_table *table, size_t row, const uint8_t key[CLO_ROW_KEY_BYTES],
                          double *room, uint8_t out[CLO_UNIT_BYTES]);

/* ---- rows that are not held ------------------------------------------------------------------ */

/* How to read the rows of a scan again; shared by the scan and whoever asked for it. */
typedef struct clo_recipe clo_recipe;

bool clo_i_table_is_scan(const clo_table *table);
/* CLO_ARGUMENT where the table is a scan: for whoever needs its rows in memory. */
CLO_CHECK clo_status clo_i_table_refuse_scan(const clo_table *table, clo_error *err);
/* Of a scan: records with a cell that is missing and stays so. */
size_t clo_i_table_null_rows(const clo_table *table);
/* CLO_ARGUMENT where a scan was made with rows_later and nothing was kept of it yet. */
CLO_CHECK clo_status clo_i_table_refuse_unkept(const clo_table *table, clo_error *err);
/* Of a scan; to be given back with clo_i_recipe_release. */
clo_recipe *clo_i_table_recipe(const clo_table *table);
void clo_i_recipe_release(clo_recipe *recipe); /* NULL is fine */
uint64_t clo_i_recipe_memory(const clo_recipe *recipe);
const char *clo_i_recipe_cache(const clo_recipe *recipe); /* as in clo_read_options */
/* Bytes that a pass takes at most, beside what is done with its rows; persons: one that tells whose
 * they are. */
size_t clo_i_recipe_room(const clo_recipe *recipe, bool persons);
/* One pass: shows all rows, some at a time, in their order; what is shown is gone afterwards.
 * persons: clo_i_table_unit says whose they are, where there is a unit column; if not, nobody may
 * ask.  CLO_IO, in fixed words, where the files are not what they were when they were scanned: then
 * nothing that was made of the rows may be used. */
typedef clo_status clo_i_take_part(void *user, const clo_table *part, clo_error *err);
CLO_CHECK clo_status clo_i_recipe_read(const clo_recipe *recipe, bool persons,
                                       clo_i_take_part *take, void *user, clo_error *err);

#endif
