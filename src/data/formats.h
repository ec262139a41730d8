/*
 * formats.h - what the files of this folder share and no other folder sees: what a table is made
 * of, where bytes come from, how text is cut into records, how columns are chosen, how a number
 * is read and written.
 *
 *   path -> source (bytes) -> the reader of its format -> blocks of rows -> table
 *
 * A table is a list of blocks because a reader of text does not know how many rows will come: it
 * adds a block for each piece of text, so that nothing is ever copied into a larger array and the
 * text and the values are never both in memory as a whole.
 */
#ifndef CLO_FORMATS_H
#define CLO_FORMATS_H

#include "data/data.h"
#include "data/pass_hash.h"
#include "schema/schema.h"
#include <cloister/arrow.h>
#include <sodium.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "NPY is read as it lies in the file");

#define CLO_LINE_BYTES   ((size_t)1 << 20) /* of one record of text, its line ends included */
#define CLO_HEADER_BYTES ((size_t)1 << 16)
#define CLO_MOST_COLS    ((size_t)1 << 20)
#define CLO_MOST_INDEX   ((size_t)1 << 24) /* columns of a sparse table, which cost nothing */
#define CLO_MOST_ROWS    ((size_t)1 << 31)
#define CLO_PADDING      ((size_t)64) /* readable behind a text: digits are read eight at a time */

/* ---- tables ---------------------------------------------------------------------------------- */

/* A column of an Arrow batch: row i of the batch lies at offset + i. */
typedef struct clo_i_column {
    const uint8_t *cells; /* NULL: all are missing */
    const uint8_t *valid; /* a bit a cell, 0: missing; NULL: none is */
    size_t offset;
    clo_element element;
    bool bits; /* each cell is one bit */
} clo_i_column;

/* Some rows that follow each other.  Dense: cell (i, j) lies at cells + i * row_step + j * col_step
 * (the steps are the table's).  Sparse: row i has the entries starts[i] .. starts[i + 1] - 1. */
typedef struct clo_i_block {
    size_t first_row, rows;
    size_t room;                 /* rows that units and starts were allocated for */
    const uint8_t *cells;        /* dense; into values, or into memory that is not the block's */
    double *values;              /* owned: dense cells or sparse entries; NULL for a view */
    size_t value_count;          /* how many were allocated */
    uint32_t *starts;            /* sparse: rows + 1 */
    uint32_t *columns;           /* sparse: one an entry, from 0, increasing within a row */
    uint8_t *units;              /* CLO_UNIT_BYTES a row, or NULL */
    struct clo_i_tally *tallies; /* one a column, of text; NULL: every cell is a number */
    size_t tally_count;
    size_t bad_cells, bad_rows;  /* of text: that are not numbers, and rows with such a cell */
    bool borrowed;               /* values, starts and columns are the caller's */
    struct ArrowArray *batch;    /* dense: rows that lie column by column in a batch; NULL: cells */
    clo_i_column *batch_columns; /* one a column of the table */
    const uint8_t *batch_valid;  /* a bit a row, from batch_offset on; NULL: all are there */
    size_t batch_offset;
} clo_i_block;

/* How a cell that is no number is one for people all the same (formatted_number.c). */
typedef enum clo_i_dress {
    CLO_DRESS_NONE,       /* it is not */
    CLO_DRESS_OTHER_MARK, /* with the other decimal mark */
    CLO_DRESS_THOUSANDS,  /* with separated thousands */
    CLO_DRESS_EITHER,     /* one of the two: "1,234" */
    CLO_DRESS_SIGN,       /* with a sign of currency or percent, or in brackets */
    CLO_DRESSES
} clo_i_dress;
/* Of the text from..to, without blanks around it; needs CLO_PADDING readable bytes behind. */
clo_i_dress clo_i_dress_of(const char *from, const char *to, bool comma);

/* Cells of a column that are not numbers: words for a missing one; text; and the text by dress. */
typedef struct clo_i_tally {
    uint64_t missing, text, dressed[CLO_DRESSES];
} clo_i_tally;
/* The counts of `from` are added, for so many columns. */
void clo_i_tally_add(clo_i_tally *to, const clo_i_tally *from, size_t columns);

struct clo_table {
    size_t rows, cols;
    bool sparse, has_unit;
    bool guessed_cols; /* a record alone has told how many columns there are */
    bool text_later;   /* CLO_TEXT_LATER */
    clo_missing missing;
    double *fill;         /* cols values, or NULL: see clo_i_table_fill */
    clo_i_tally *tallies; /* cols, or NULL: every cell of the text is a number */
    size_t bad_rows;      /* of text: with a cell that is not a number */
    clo_element element;
    size_t row_step, col_step;    /* bytes */
    const char *format, *packing; /* of the file: "csv"; "gzip", "zstd" or NULL */
    char *file;                   /* its name, for messages */
    char delimiter;               /* of CSV */
    bool comma;                   /* of CSV: the decimal mark */
    size_t file_cols;             /* columns of a CSV file, the unit's among them */
    char **file_names;            /* their names, or NULL */
    uint32_t *file_columns;       /* of CSV: table column -> column of the file */
    uint32_t *picked;             /* table column -> column of the cells, or NULL: the same */
    char **names;                 /* cols of them, or NULL */
    clo_i_block *blocks;
    size_t block_count, block_capacity;
    void *mapping; /* of an NPY file */
    size_t mapping_bytes;
    uint8_t *bytes; /* of an NPY stream: its data as they came */
    size_t byte_count;
    bool has_digest;
    uint8_t digest[CLO_DIGEST_BYTES];
    struct clo_recipe *recipe; /* of a scan: how to read its rows, of which it holds none */
    size_t null_rows;          /* of a scan */
    clo_schema *schema;        /* of its columns; NULL: none */
};

/* What is said of all rows once they were counted: too many of them, columns of text. */
CLO_CHECK clo_status clo_i_table_settle(clo_table *table, const clo_recipe *recipe, clo_error *err);
CLO_CHECK clo_status clo_i_table_new(clo_table **out, clo_error *err);
/* Takes the block over and numbers its rows; a block without rows is freed. */
CLO_CHECK clo_status clo_i_table_append(clo_table *table, clo_i_block *block, clo_error *err);
/* Makes room for one more block. */
CLO_CHECK clo_status clo_i_table_reserve(clo_table *table, clo_error *err);
void clo_i_block_clear(clo_i_block *block);
CLO_CHECK clo_status clo_i_check_missing(clo_missing missing, clo_error *err);
CLO_CHECK clo_status clo_i_check_matrix(clo_matrix values, clo_error *err);
size_t clo_i_element_bytes(clo_element element); /* 0: it is none */
double clo_i_element_load(const uint8_t *cell, clo_element element);
/* CLO_FORMAT with its place where a cell of the table is missing; `where` is what it is called. */
CLO_CHECK clo_status clo_i_table_refuse_missing(const clo_table *table, const char *where,
                                                clo_error *err);

/* Rows of a table, which is no scan, that have a cell that is missing. */
CLO_CHECK clo_status clo_i_count_gaps(const clo_table *table, uint64_t *out, clo_error *err);

/* Keeps the rows that the table owns out of swap, where all of them may be. */
void clo_i_table_lock(const clo_table *table);
/* For the information-flow test: from here on memcheck follows every byte of the rows, where each
 * sparse row begins, and how many there are where that is a secret. */
void clo_i_table_taint(clo_table *table, bool rows_too);

/* ---- rows that are shown and not kept -------------------------------------------------------- */

/* Where the rows of a reader go: shown part by part, in their order, and then gone. */
typedef struct clo_i_sink {
    clo_status (*take)(void *user, clo_table *part, clo_error *err);
    void *user;
    size_t text_bytes, matrix_bytes; /* of a part as it lies in the file, about: public sizes */
    bool marks, rows_are_secret;     /* marks: parts are marked for the information-flow test */
    bool anonymous;                  /* nobody asks whose rows they are: persons are not hashed */
    uint64_t rows;                   /* that came so far, shown or not */
    uint64_t first, end;             /* rows that are shown; end 0: all of them */
} clo_i_sink;

static inline size_t clo_i_sink_window(const clo_i_sink *sink)
{
    return sink->text_bytes > sink->matrix_bytes ? sink->text_bytes : sink->matrix_bytes;
}
/* Shows the rows that the table has, if it has any, and forgets them; what it has counted of its
 * columns stays.  Rows outside of the sink's range are not shown. */
CLO_CHECK clo_status clo_i_sink_show(clo_i_sink *sink, clo_table *table, clo_error *err);

/* ---- where bytes come from ------------------------------------------------------------------- */

/* An open file, pipe or standard input, and a window of bytes that were read and not yet used:
 * bytes[start] .. bytes[end - 1], with CLO_PADDING readable bytes behind. */
typedef struct clo_i_source {
    const char *name; /* for messages: the path or its tail, or "standard input" */
    int file;
    bool opened; /* by us, so that it is ours to close */
    bool regular;
    bool seeks;    /* a file of our own, that is read by places */
    uint64_t size; /* of a regular file */
    char *bytes;
    size_t start, end, capacity;
    bool at_end;                     /* nothing is left to read but the window */
    struct clo_i_unpacker *unpacker; /* of a compressed file; NULL: it is plain */
    char *packed;                    /* bytes of it that were read and not yet unpacked */
    size_t packed_start, packed_end, packed_capacity;
    uint64_t total, taken; /* bytes of the file, 0: not known, and how many were read */
    bool (*progress)(void *user, double done); /* as in clo_read_options */
    void *progress_user;
    size_t lines; /* line ends before start; kept by the readers of text */
    bool digests; /* every byte that was read, unpacked, goes into the digest */
    crypto_generichash_state digest;
    clo_i_sink *sink;           /* NULL: the reader keeps the rows in its table */
    const uint8_t *unit_key;    /* of several files that are one; NULL: the reader's own */
    clo_i_pass_hash *pass_hash; /* every byte as it lies in the file; NULL: nobody asks */
    double progress_from, progress_share; /* of several files */
    int unpack_log;                       /* a zstd window of 2^this at most; 0: the usual */
    bool text_marks; /* a cell of text is a NaN with a mark of the text in it: see read_pair.c */
} clo_i_source;

/* Bytes at an offset, all of them; CLO_FORMAT where the file ends before. */
CLO_CHECK clo_status clo_i_source_read_at(clo_i_source *source, uint64_t offset, void *to,
                                          size_t count, clo_error *err);

CLO_CHECK clo_status clo_i_source_open(const char *path, const clo_read_options *options,
                                       clo_i_source *out, clo_error *err);
void clo_i_source_close(clo_i_source *source); /* wipes the window */
/* Where what lies in the window, which must be all that was read, is the beginning of a compressed
 * file, the source goes on as if it were plain. */
CLO_CHECK clo_status clo_i_source_unpack(clo_i_source *source, clo_error *err);
/* Reads until the window holds `wanted` bytes or nothing is left.  Moves the window: pointers into
 * it are no longer valid. */
CLO_CHECK clo_status clo_i_source_fill(clo_i_source *source, size_t wanted, clo_error *err);
/* Makes the window that large, also where the file is shorter: how long that is may be a secret. */
CLO_CHECK clo_status clo_i_source_reserve(clo_i_source *source, size_t bytes, clo_error *err);
/* Begins a digest, of nothing so far. */
CLO_CHECK clo_status clo_i_source_digest(clo_i_source *source, clo_error *err);
/* Bytes of it that a reader has got by another way. */
void clo_i_source_digest_more(clo_i_source *source, const void *bytes, size_t count);

/* How one file of several is read; all of it may be 0. */
typedef struct clo_i_file_way {
    clo_i_sink *sink;
    const uint8_t *unit_key;
    clo_i_pass_hash *pass_hash;
    double progress_from, progress_share;
    int unpack_log;
    bool again;      /* it must be a file that can be read more than once */
    bool text_marks; /* as in clo_i_source; a line of LIBSVM is then one cell of text */
} clo_i_file_way;
/* One file, as it comes; checked options.  What a table of all files is refused for is not looked
 * at yet: columns of text. */
CLO_CHECK clo_status clo_i_file_read(const char *path, const clo_read_options *options,
                                     const clo_i_file_way *how, clo_table **out, clo_error *err);
/* CLO_FORMAT where the two are not of one table: other columns, or other names of them. */
CLO_CHECK clo_status clo_i_check_alike(const clo_table *first, const clo_table *other,
                                       clo_error *err);
/* The caller's options, or the presets where there are none, and whether they can be. */
CLO_CHECK clo_status clo_i_read_options_take(const clo_read_options *given, clo_read_options *out,
                                             clo_error *err);

/* The readers, one a row of formats.def. */
typedef clo_status clo_i_reader(clo_i_source *source, const clo_read_options *options,
                                clo_table **out, clo_error *err);
#define FORMAT(name, suffixes) clo_i_reader clo_i_read_##name;
#include "data/formats.def"
#undef FORMAT

/* Whether this line, without its end, is "label index:value ..." and nothing but.  Needs
 * CLO_PADDING readable bytes behind it. */
bool clo_i_is_libsvm_line(const char *line, size_t length);

/* ---- text, in records ------------------------------------------------------------------------ */

/* What is wrong with a piece of text; `kind` is the format's own, 0: nothing. */
typedef struct clo_i_fault {
    int kind;
    clo_status status; /* a failure that is not the text's, CLO_MEMORY */
    size_t line;       /* first counted within the piece, from 0 */
    size_t column, found;
} clo_i_fault;

/* A kind of text file: how its records end and how some of them become a block. */
typedef struct clo_i_text_format {
    /* Behind the line end of the record that starts at text, or NULL where it does not end before
     * `end`.  NULL in place of the function: a record is a line. */
    const char *(*record_end)(const void *self, const char *text, const char *end);
    /* Turns whole records into a block.  `lines` line ends are in the text, which ends with one,
     * but for a last record that does not end.  Called from several threads. */
    void (*parse)(const void *self, const char *text, const char *end, size_t lines,
                  clo_i_block *block, clo_i_fault *fault);
    /* Says in words what is wrong on this line, counted from 1. */
    clo_status (*explain)(const void *self, const clo_i_fault *fault, size_t line, clo_error *err);
    const void *self;
    const char *name; /* of the source */
} clo_i_text_format;

/* Parses everything that is left of the source, pieces of it on several threads, and appends the
 * blocks in order: what comes out does not depend on the threads. */
CLO_CHECK clo_status clo_i_read_text(clo_i_source *source, const clo_i_text_format *format,
                                     clo_table *table, clo_error *err);
size_t clo_i_count_bytes(const char *text, const char *end, char wanted);
/* Drops a UTF-8 byte order mark at the start of the window. */
void clo_i_skip_mark(clo_i_source *source);
/* Gives a last line that has no end one. */
void clo_i_end_last_line(clo_i_source *source);

/* ---- columns --------------------------------------------------------------------------------- */

/* What there is to choose from. */
typedef struct clo_i_columns {
    size_t count;
    char *const *names; /* NULL: none */
    const char *file;   /* for messages */
} clo_i_columns;

/* The columns that a list such as "age,4-6" or "-id" means, from 0, in its order; text NULL: all
 * but `unit` (SIZE_MAX: no unit).  The caller frees the array. */
CLO_CHECK clo_status clo_i_choose_columns(const clo_i_columns *columns, const char *text,
                                          size_t unit, uint32_t **out, size_t *out_count,
                                          clo_error *err);
/* The one column that a name or a number means; `role` says in a message what it is for. */
CLO_CHECK clo_status clo_i_find_column(const clo_i_columns *columns, const char *text,
                                       const char *role, size_t *out, clo_error *err);
/* "age=40,income=0", or one number: a value for each of the chosen columns (NULL: all), NaN for
 * those that have none.  The caller frees it. */
CLO_CHECK clo_status clo_i_read_fill(const clo_i_columns *columns, const uint32_t *chosen,
                                     size_t count, const char *text, double **out, clo_error *err);
bool clo_i_is_column_number(const char *text); /* digits and nothing else */
/* The highest number in a list such as "2,4-6"; 0 where it holds a name, or leaves columns out. */
size_t clo_i_last_column(const char *text);

enum { CLO_SHOWN_BYTES = 44 };
/* A name for a message: short, on one line, without terminal controls. */
void clo_i_show_name(const char *name, char out[CLO_SHOWN_BYTES]);

/* ---- units ----------------------------------------------------------------------------------- */

enum { CLO_UNIT_NAME_BYTES = 32 };

/* A copy of the key that was told, or a fresh one where it is NULL: hashes are then comparable
 * within one table only. */
CLO_CHECK clo_status clo_i_unit_key(const uint8_t *told, uint8_t key[CLO_UNIT_KEY_BYTES],
                                    clo_error *err);
/* The key of several files that are one, or a new one. */
CLO_CHECK clo_status clo_i_source_unit_key(const clo_i_source *source,
                                           uint8_t key[CLO_UNIT_KEY_BYTES], clo_error *err);
/* A number as what is hashed, and how long that is: its decimal text, so that a person who is 7 in
 * one file and 7.0 or the text 7 in another is one person.  0: NaN, which names nobody. */
size_t clo_i_unit_number(const uint8_t *cell, clo_element element, char out[CLO_UNIT_NAME_BYTES]);
void clo_i_unit_hash(const uint8_t key[CLO_UNIT_KEY_BYTES], const void *bytes, size_t count,
                     uint8_t out[CLO_UNIT_BYTES]);

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads the decimal number at text, correctly rounded, and says where it stops; NULL where there
 * is none.  No blanks before it, no hexadecimal, no "inf", no "nan"; one that is too large for a
 * double comes out infinite.  Needs CLO_PADDING readable bytes behind the number. */
const char *clo_i_read_number(const char *text, double *out);
const char *clo_i_read_comma_number(const char *text, double *out); /* "1,5" for 1.5 */
/* Writes the shortest of the decimals with up to 17 digits that read back as the same double, and
 * says where it stops; "nan", "inf" and "-inf" for the rest.  Ends with no NUL. */
char *clo_i_write_number(double value, char buffer[32]);

#endif
