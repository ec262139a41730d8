/*
 * several_files.h - several files as one table, and how to read them again.  For the files of this
 * folder only; other folders see the functions in data.h.
 */
#ifndef CLO_SEVERAL_FILES_H
#define CLO_SEVERAL_FILES_H

#include "data/formats.h"
#include <stdatomic.h>

/* Shared by a scan and by what was bounded from it; freed with the last of them. */
struct clo_recipe {
    _Atomic size_t holders;
    char **paths;
    size_t count;
    clo_read_options options; /* its texts are the recipe's */
    uint64_t memory;          /* that a run may take; 0: the rows are kept */
    int unpack_log;           /* of a zstd window, at most; 0: the usual */
    bool zstd;                /* some file is of that kind */
    uint8_t unit_key[CLO_UNIT_KEY_BYTES];
    size_t person_part, person_parts; /* whose rows are this scan's; 0 parts: everybody's */
    bool rows_later;                  /* no row was looked at yet: see clo_read_options */
    /* What every pass must find again. */
    size_t cols;
    bool sparse;
    uint64_t rows;
    uint64_t first, end; /* rows of all of them that are this scan's; end 0: all */
    clo_i_pass_hash_key key;
    uint8_t pass_hash[CLO_PASS_HASH_BYTES];
};

/* One pass over all files: shows their rows to the sink, and what is known of the columns comes
 * out as a table without rows.  pass hash: of all bytes, begun by the caller; NULL: nobody asks. */
CLO_CHECK clo_status clo_i_recipe_pass(const clo_recipe *recipe, clo_i_sink *sink,
                                       clo_i_pass_hash *pass_hash, clo_table **out, clo_error *err);
CLO_CHECK clo_status clo_i_recipe_new(const char *const *paths, size_t count,
                                      const clo_read_options *options, uint64_t memory,
                                      clo_recipe **out, clo_error *err);
/* Some rows of a scan that nothing was bounded from yet: see clo_table_keep. */
CLO_CHECK clo_status clo_i_scan_keep(clo_table *table, size_t first, size_t count, clo_error *err);
/* Rows of persons that are not of this part name nobody from now on: see clo_table_keep_persons. */
void clo_i_units_of_others(clo_table *table, size_t part, size_t parts);
/* Parts of public sizes, that follow from the memory there is. */
clo_i_sink clo_i_recipe_sink(const clo_recipe *recipe);

#endif
