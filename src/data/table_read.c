/*
 * table_read.c - from a path to a table: which format it is, and the reader of that format.
 */
#include "base/text_file.h"
#include "data/formats.h"
#include "data/decompress.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#endif

typedef struct format_row {
    const char *name;
    const char *suffixes;
    clo_i_reader *read;
} format_row;

static const format_row formats[] = {
#define FORMAT(name, suffixes) { #name, suffixes, clo_i_read_##name },
#include "data/formats.def"
#undef FORMAT
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const format_row *format_by_name(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcasecmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

/* Where the suffix begins that tells a format: before that of a compressed file. */
static const char *find_suffix(const char *path, size_t *length)
{
    const char *end = path + strlen(path), *dot = memrchr(path, '.', (size_t)(end - path));
    if (dot && (strcasecmp(dot, ".gz") == 0 || strcasecmp(dot, ".zst") == 0)) {
        end = dot;
        dot = memrchr(path, '.', (size_t)(end - path));
    }
    *length = dot ? (size_t)(end - dot) : 0;
    return dot;
}

static bool has_suffix(const char *path, const char *suffixes)
{
    size_t length;
    const char *const dot = find_suffix(path, &length);
    for (const char *s = suffixes; dot && *s; s += strspn(s, " ")) {
        const size_t here = strcspn(s, " ");
        if (here == length && strncasecmp(s, dot, length) == 0) return true;
        s += here;
    }
    return false;
}

static const format_row *format_by_suffix(const char *path)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (has_suffix(path, formats[i].suffixes)) return &formats[i];
    return format_by_name("csv");
}

static clo_status unknown_format(const char *name, clo_error *err)
{
    char list[128] = "";
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const size_t used = strlen(list);
        const char *const join = i == 0 ? "" : i + 1 == FORMAT_COUNT ? " or " : ", ";
        snprintf(list + used, sizeof list - used, "%s%s", join, formats[i].name);
    }
    return clo_i_fail(err, CLO_ARGUMENT, "format must be %s, not '%.40s'", list, name);
}

/* Files that would otherwise be read as text of missing cells, and what to do about each. */
#define ONE_TABLE "save one table of it as CSV or NPY"
static const struct {
    const char *magic;
    size_t length;
    const char *what;
} foreign[] = {
    { "\xfd\x37zXZ", 5, "is compressed with xz; unpack it, or pack it with gzip or zstd" },
    { "BZh", 3, "is compressed with bzip2; unpack it, or pack it with gzip or zstd" },
    { "\x04\x22\x4d\x18", 4, "is compressed with lz4; unpack it, or pack it with gzip or zstd" },
    { "PK\x03\x04", 4, "is a zip archive (XLSX, NPZ, ODS); " ONE_TABLE },
    { "PK\x05\x06", 4, "is an empty zip archive" },
    { "7z\xbc\xaf", 4, "is a 7z archive; unpack it first" },
    { "PAR1", 4, "is a Parquet file; " ONE_TABLE },
    { "ARROW1", 6, "is an Arrow (Feather) file; " ONE_TABLE },
    { "FEA1", 4, "is a Feather file; " ONE_TABLE },
    { "ORC", 3, "is an ORC file; " ONE_TABLE },
    { "Obj\x01", 4, "is an Avro file; " ONE_TABLE },
    { "\x89HDF", 4, "is an HDF5 file; " ONE_TABLE },
    { "\xd0\xcf\x11\xe0", 4, "is an old Excel file (XLS); " ONE_TABLE },
    { "SQLite format 3", 15, "is an SQLite database; " ONE_TABLE },
    { "$FL2", 4, "is an SPSS file (SAV); " ONE_TABLE },
    { "<stata_dta>", 11, "is a Stata file (DTA); " ONE_TABLE },
    { "RDX", 3, "is an R data file; " ONE_TABLE },
    { "\x80\x04\x95", 3, "is a Python pickle, which is never unpacked; " ONE_TABLE },
    { "\x80\x05\x95", 3, "is a Python pickle, which is never unpacked; " ONE_TABLE },
    { "%PDF", 4, "is a PDF; its table must come as CSV" },
};

/* JSON and markup begin with a bracket, blanks aside; a CSV does not. */
static const char *markup_of(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\n' || *text == '\r' || *text == '\t')) text++;
    if (text == end) return NULL;
    if (*text == '{' || *text == '[') return "is JSON; " ONE_TABLE;
    return *text == '<' ? "is XML or HTML; " ONE_TABLE : NULL;
}

static clo_status refuse_foreign(const clo_i_source *source, clo_error *err)
{
    const char *const text = source->bytes + source->start, *what = NULL;
    const size_t held = source->end - source->start;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign && !what; i++)
        if (held >= foreign[i].length && memcmp(text, foreign[i].magic, foreign[i].length) == 0)
            what = foreign[i].what;
    if (!what) what = clo_i_encoding_fault(text, held);
    if (!what) what = markup_of(text, text + held);
    const bool numpy = memcmp(text, "\x93NUMPY", held < 6 ? held : 6) == 0;
    if (!what && !numpy) what = clo_i_line_end_fault(text, held);
    if (!what && memchr(text, 0, held) && !numpy)
        what = "is not a text file; save one table of it as CSV in UTF-8, or as NPY";
    return what ? clo_i_fail(err, CLO_FORMAT, "%s %s", source->name, what) : CLO_OK;
}

/* By content where that is telling, else by name, else CSV. */
static const format_row *detect_format(const clo_i_source *source, const char *path)
{
    const char *text = source->bytes + source->start, *const end = source->bytes + source->end;
    if (text == end) return format_by_suffix(path);
    if (end - text >= 6 && memcmp(text, "\x93NUMPY", 6) == 0) return format_by_name("npy");
    while (text < end && (*text == '\n' || *text == '\r' || *text == '#')) {
        const char *const line = memchr(text, '\n', (size_t)(end - text));
        text = line ? line + 1 : end;
    }
    const char *line = memchr(text, '\n', (size_t)(end - text));
    if (!line && source->at_end) line = end;
    if (!line) line = memrchr(text, ' ', (size_t)(end - text)); /* a long one: its beginning */
    if (line && clo_i_is_libsvm_line(text, (size_t)(line - text))) return format_by_name("libsvm");
    return format_by_suffix(path);
}

clo_status clo_i_read_options_take(const clo_read_options *given, clo_read_options *out,
                                   clo_error *err)
{
    *out = clo_read_options_default();
    CLO_TRY(clo_i_take_options("clo_read_options", given, out, sizeof *out, err));
    if (out->header != CLO_HEADER_AUTO && out->header != CLO_HEADER_NONE &&
        out->header != CLO_HEADER_FIRST_LINE)
        return clo_i_fail(err, CLO_ARGUMENT, "header must be one of clo_header, not %d",
                          (int)out->header);
    if (out->text != CLO_TEXT_REFUSE && out->text != CLO_TEXT_MISSING &&
        out->text != CLO_TEXT_LATER)
        return clo_i_fail(err, CLO_ARGUMENT, "text must be one of clo_text_columns, not %d",
                          (int)out->text);
    if (out->decimal && out->decimal != '.' && out->decimal != ',')
        return clo_i_fail(err, CLO_ARGUMENT, "the decimal mark must be a point or a comma");
    if (out->fill && out->missing != CLO_MISSING_FILL) {
        (void)clo_i_fail(err, CLO_ARGUMENT, "fill values need missing=fill (missing fill)");
        return clo_i_advise(err, CLO_ARGUMENT, "missing fill");
    }
    if (out->schema && (out->missing != CLO_MISSING_NULL || out->text == CLO_TEXT_LATER))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a schema says itself what a missing cell means: leave missing out");
    return clo_i_check_missing(out->missing, err);
}

void clo_read_options_init(clo_read_options *options, size_t size)
{
    const clo_read_options presets = { .missing = CLO_MISSING_NULL, .text = CLO_TEXT_REFUSE };
    clo_i_give_presets(options, size, &presets, sizeof presets);
}

#ifdef CLO_TAINT
static void taint_block(clo_i_block *block, bool rows_too)
{
    const size_t entries = block->starts ? block->value_count : 0;
    if (block->values)
        (void)VALGRIND_MAKE_MEM_UNDEFINED(block->values,
                                          block->value_count * sizeof *block->values);
    if (block->columns)
        (void)VALGRIND_MAKE_MEM_UNDEFINED(block->columns, entries * sizeof *block->columns);
    if (block->starts) /* the first is 0 for any record */
        (void)VALGRIND_MAKE_MEM_UNDEFINED(block->starts + 1, block->rows * sizeof *block->starts);
    if (block->units) (void)VALGRIND_MAKE_MEM_UNDEFINED(block->units, block->rows * CLO_UNIT_BYTES);
    if (!rows_too) return;
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&block->first_row, sizeof block->first_row);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&block->rows, sizeof block->rows);
}
#endif

void clo_i_table_taint(clo_table *table, bool rows_too)
{
#ifdef CLO_TAINT
    for (size_t i = 0; i < table->block_count; i++) taint_block(&table->blocks[i], rows_too);
    if (table->bytes) (void)VALGRIND_MAKE_MEM_UNDEFINED(table->bytes, table->byte_count);
    if (rows_too) (void)VALGRIND_MAKE_MEM_UNDEFINED(&table->rows, sizeof table->rows);
#else
    (void)table;
    (void)rows_too;
#endif
}

static clo_status begin(clo_i_source *source, const clo_read_options *options,
                        const clo_i_file_way *how, clo_error *err)
{
    source->sink = how->sink;
    source->unit_key = how->unit_key ? how->unit_key : options->unit_key;
    source->pass_hash = how->pass_hash;
    source->unpack_log = how->unpack_log;
    source->text_marks = how->text_marks;
    if (how->progress_share > 0) {
        source->progress_from = how->progress_from;
        source->progress_share = how->progress_share;
    }
    if (how->again && !(source->opened && source->regular))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "%s can be read only once, and a run with a limit of memory reads its "
                          "data several times: save them as a file",
                          source->name);
    if (options->digest) CLO_TRY(clo_i_source_digest(source, err));
    CLO_TRY(clo_i_source_fill(source, CLO_HEADER_BYTES, err));
    CLO_TRY(clo_i_source_unpack(source, err));
    if (how->sink) CLO_TRY(clo_i_source_reserve(source, clo_i_sink_window(how->sink), err));
    return clo_i_source_fill(source, CLO_HEADER_BYTES, err);
}

/* A file of lines that are not looked into: one column of text, and no header. */
static clo_status read_lines(clo_i_source *source, const clo_read_options *given, clo_table **out,
                             clo_error *err)
{
    clo_read_options options = *given;
    options.header = CLO_HEADER_NONE;
    options.delimiter = '\x01';
    options.columns = NULL;
    return clo_i_read_csv(source, &options, out, err);
}

clo_status clo_i_file_read(const char *path, const clo_read_options *options,
                           const clo_i_file_way *how, clo_table **out, clo_error *err)
{
    clo_i_source source;
    const format_row *format = NULL;
    clo_table *table = NULL;
    if (!path) return clo_i_fail(err, CLO_ARGUMENT, "no file was given");
    if (options->format && !(format = format_by_name(options->format)))
        return unknown_format(options->format, err);
    CLO_TRY(clo_i_source_open(path, options, &source, err));
    clo_status status = begin(&source, options, how, err);
    if (status == CLO_OK && !format) {
        status = refuse_foreign(&source, err);
        format = detect_format(&source, path);
    }
    if (status == CLO_OK && options->schema && strcmp(format->name, "csv") != 0)
        status = clo_i_fail(err, CLO_UNSUPPORTED,
                            "%s is %s: a schema needs a CSV file, or a data frame in Python",
                            source.name, format->name);
    const bool lines = how->text_marks && format && strcmp(format->name, "libsvm") == 0;
    if (status == CLO_OK)
        status = (lines ? read_lines : format->read)(&source, options, &table, err);
    if (status != CLO_OK) goto done;
    table->missing = options->missing;
    table->format = format->name;
    table->packing = source.unpacker ? clo_i_unpacker_kind(source.unpacker) : NULL;
    table->has_digest = source.digests;
    if (source.digests) crypto_generichash_final(&source.digest, table->digest, CLO_DIGEST_BYTES);
    *out = table;
done:
    clo_i_source_close(&source);
    return status;
}

clo_status clo_table_read(const char *path, const clo_read_options *given, clo_table **out,
                          clo_error *err)
{
    const clo_i_file_way alone = { .sink = NULL };
    clo_read_options options;
    clo_table *table = NULL;
    CLO_TRY(clo_i_read_options_take(given, &options, err));
    CLO_TRY(clo_i_file_read(path, &options, &alone, &table, err));
    if (options.text == CLO_TEXT_REFUSE) {
        const clo_status status = clo_i_table_refuse_text(table, NULL, NULL, err);
        if (status != CLO_OK) clo_table_free(table);
        if (status != CLO_OK) return status;
    }
    clo_i_table_lock(table);
    clo_i_table_taint(table, options.rows_are_secret || table->has_unit);
    *out = table;
    return CLO_OK;
}
