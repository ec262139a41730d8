/*
 * output.h - what a program writes for the world: a file that is there whole or not at all, numbers
 * as text, JSON.  The library's own reports are written with these; a command, or a package in
 * another language, writes the rest with them in the same form.
 */
#ifndef CLOISTER_OUTPUT_H
#define CLOISTER_OUTPUT_H

#include <cloister/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- files ---------------------------------------------------------------- */

/* A file that appears whole or not at all. */
typedef struct clo_file clo_file;

/* Opens what the path means: "-" is standard output; a device or a pipe is written to as it is; a
 * link stays one, and the file that it leads to is replaced.  That it opens shows that it can be
 * written.  Until it is committed nothing is to be seen of it, and a killed program leaves nothing,
 * or a hidden file beside it, behind.  To be closed.  CLO_IO where it cannot be written, where it
 * is a link of another user's, and where it is a ledger, or lies beside the ledgers' key. */
CLO_API CLO_CHECK clo_status clo_file_open(const char *path, clo_file **out, clo_error *err);
/* A clo_write whose user is the clo_file; after a failure, commit says why. */
CLO_API bool clo_file_write(void *file, const char *bytes, size_t count);
/* Takes room for so many bytes on the disk, so that they can be written whatever others do; what is
 * not used is given back by the commit.  CLO_IO where there is less.  Where the system cannot tell,
 * nothing is done. */
CLO_API CLO_CHECK clo_status clo_file_reserve(clo_file *file, uint64_t bytes, clo_error *err);
/* Puts it in its place, with all that was written, so that it survives a power cut.  CLO_IO where
 * something could not be written; then nothing has changed. */
CLO_API CLO_CHECK clo_status clo_file_commit(clo_file *file, clo_error *err);
/* Abandons what was not committed; NULL is fine. */
CLO_API void clo_file_close(clo_file *file);

/* ---- numbers -------------------------------------------------------------- */

/* The room that any number needs as text. */
enum { CLO_NUMBER_SIZE = 32 };
/* The shortest decimal that reads back as the same double, '.' whatever the locale; "null" where it
 * is not finite. */
CLO_API void clo_number_text(double value, char text[CLO_NUMBER_SIZE]);

/* A bar of a share (0 to 1) of `width` characters, for a terminal: blocks of Unicode, down to an
 * eighth of a character, or '#'.  Cut to the caller's text of `size` bytes (3 * width + 1 are
 * enough); how many characters it is long. */
CLO_API size_t clo_bar_text(double share, size_t width, bool ascii, char *text, size_t size);

/* ---- text and JSON -------------------------------------------------------- */

/* Text on its way through a callback; set the first two, and leave the rest 0.  Frozen. */
typedef struct clo_writer {
    clo_write *write;
    void *user;
    bool failed; /* the callback said no; nothing is written any more */
    bool filled; /* of JSON: the innermost bracket already holds something */
    int depth;   /* of JSON */
} clo_writer;

/* As it is. */
CLO_API void clo_writer_text(clo_writer *writer, const char *text);
/* A name on one line, in exactly so many columns of a terminal: cut where it is longer, terminal
 * controls shown as '?', and blanks before it (right) or behind it. */
CLO_API void clo_writer_cell(clo_writer *writer, const char *text, size_t width, bool right);
/* How many columns of a terminal a UTF-8 text takes, the same in every locale. */
CLO_API size_t clo_text_width(const char *text);
/* clo_number_text; -0 as 0, which not every reader keeps apart. */
CLO_API void clo_writer_number(clo_writer *writer, double value);

/* JSON: two blanks a level, members in the order they are given.  key: NULL in an array.  bracket:
 * '{' or '[' to open, '}' or ']' to close. */
CLO_API void clo_json_open(clo_writer *writer, const char *key, char bracket);
CLO_API void clo_json_close(clo_writer *writer, char bracket);
/* A key whose value is the caller's to write; a line with the blanks of its level; text in quotes,
 * with what JSON wants escaped. */
CLO_API void clo_json_key(clo_writer *writer, const char *key);
CLO_API void clo_json_line(clo_writer *writer);
CLO_API void clo_json_string(clo_writer *writer, const char *text);
/* Members; null where text is NULL or the number is not finite. */
CLO_API void clo_json_text(clo_writer *writer, const char *key, const char *text);
CLO_API void clo_json_number(clo_writer *writer, const char *key, double value);
CLO_API void clo_json_count(clo_writer *writer, const char *key, uint64_t value);
CLO_API void clo_json_bool(clo_writer *writer, const char *key, bool value);

#ifdef __cplusplus
}
#endif

#endif
