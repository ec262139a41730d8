/*
 * utf8.h - text that is published is UTF-8, whatever it was.  How wide it is, is public (output.h).
 */
#ifndef CLO_UTF8_H
#define CLO_UTF8_H

#include "base/base.h"

/* Whether all of it is well-formed UTF-8. */
bool clo_i_is_utf8(const char *text);
/* How many bytes the character at text has; 0 where it is not well-formed. */
size_t clo_i_utf8_length(const char *text);
/* A copy that is UTF-8: the text itself where it is; else each byte is taken for a character of
 * Windows-1252, of which Latin-1 is a part.  For clo_i_free. */
CLO_CHECK clo_status clo_i_copy_utf8(const char *text, char **out, clo_error *err);
/* What a byte of Windows-1252 is in UTF-8, with a NUL behind. */
enum { CLO_UTF8_BYTES = 5 };
void clo_i_utf8_of_byte(unsigned char byte, char out[CLO_UTF8_BYTES]);

#endif
