/*
 * text_file.h - files that people write or save with an editor: read whole, with the right cause
 * where they are not UTF-8 with line feeds.
 */
#ifndef CLO_TEXT_FILE_H
#define CLO_TEXT_FILE_H

#include "base/base.h"
#include <jansson.h>

/* What keeps a file with this beginning from being read as UTF-8, to be put behind its name: "is
 * UTF-16 text; save it as UTF-8".  NULL: nothing is known. */
const char *clo_i_encoding_fault(const char *bytes, size_t length);
/* The same of its line ends: carriage returns without line feeds, as on old Macs. */
const char *clo_i_line_end_fault(const char *bytes, size_t length);
/* How long the byte order mark of UTF-8 is that the text begins with; 0: it has none. */
size_t clo_i_mark_length(const char *bytes, size_t length);

/* All of a file; "-" is standard input.  A NUL stands behind it.  For clo_i_free.  most: the bytes
 * it may have, and what: what it would be, "a release", for the message about a larger one. */
CLO_CHECK clo_status clo_i_read_whole(const char *path, size_t most, const char *what, char **out,
                                      size_t *length, clo_error *err);
/* For json_decref.  The message begins with "this is", so that the caller says which file. */
CLO_CHECK clo_status clo_i_parse_json(const char *bytes, size_t length, json_t **out,
                                      clo_error *err);

#endif
