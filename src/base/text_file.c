/*
 * text_file.c - files that people write or save with an editor: bounds, policies, releases,
 * solutions, curves.
 *
 * Each reader has a grammar of its own, and none of them would name the cause where an editor saved
 * UTF-16 or the line ends of an old Mac: a line looks too long, or a bracket is missing.  So all of
 * them ask here first, as the readers of data do.
 */
#include "base/text_file.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

size_t clo_i_mark_length(const char *bytes, size_t length)
{
    return length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Which of the first four bytes are zeros: what a letter of ASCII looks like in wide text. */
static unsigned zeros(const char *bytes, size_t length)
{
    unsigned found = 0;
    for (size_t i = 0; i < 4; i++) found = found << 1 | (i < length && bytes[i] == 0);
    return found;
}

const char *clo_i_encoding_fault(const char *bytes, size_t length)
{
    static const char utf32[] = "is UTF-32 text; save it as UTF-8",
                      utf16[] = "is UTF-16 text; save it as UTF-8";
    if (length >= 4 && (memcmp(bytes, "\xff\xfe\0\0", 4) == 0 || /* with a mark */
                        memcmp(bytes, "\0\0\xfe\xff", 4) == 0))
        return utf32;
    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return utf16;
    if (length < 4) return NULL;
    const unsigned found = zeros(bytes, length); /* without one */
    if (found == 7 || found == 14) return utf32;
    return found == 5 || found == 10 ? utf16 : NULL;
}

const char *clo_i_line_end_fault(const char *bytes, size_t length)
{
    const char *const first = length ? memchr(bytes, '\r', length) : NULL, *c = first;
    if (!first || memchr(bytes, '\n', length)) return NULL;
    while (c < bytes + length && *c == '\r') c++;
    return c == bytes + length
               ? NULL
               : "has the line ends of an old Mac (carriage returns); save it with line feeds";
}

static clo_status read_stream(FILE *file, const char *path, size_t most, const char *what,
                              char **out, size_t *length, clo_error *err)
{
    size_t room = 1 << 16, used = 0;
    char *bytes = NULL;
    clo_status status = clo_i_alloc(room, 1, &bytes, err);
    while (!status) {
        used += fread(bytes + used, 1, room - 1 - used, file);
        if (used < room - 1) break; /* the last byte stays zero */
        if (used >= most)
            status = clo_i_fail(err, CLO_FORMAT, "%s is too large to be %s", path, what);
        else
            status = clo_i_resize(&bytes, room, 2 * room, 1, err);
        room *= 2;
    }
    if (!status && ferror(file)) status = clo_i_fail(err, CLO_IO, "%s cannot be read: %m", path);
    if (status) {
        clo_i_free(bytes);
        return status;
    }
    *out = bytes;
    *length = used;
    return CLO_OK;
}

clo_status clo_i_read_whole(const char *path, size_t most, const char *what, char **out,
                            size_t *length, clo_error *err)
{
    if (!path[0]) return clo_i_fail(err, CLO_ARGUMENT, "no file was given: the name is empty");
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    if (!file) return clo_i_fail(err, CLO_IO, "%s cannot be read: %m", path);
    const clo_status status = read_stream(file, path, most, what, out, length, err);
    if (file != stdin) fclose(file);
    return status;
}

clo_status clo_i_parse_json(const char *bytes, size_t length, json_t **out, clo_error *err)
{
    json_error_t where;
    const char *const fault = clo_i_encoding_fault(bytes, length);
    if (fault) return clo_i_fail(err, CLO_FORMAT, "this %s", fault);
    if (clo_i_mark_length(bytes, length))
        return clo_i_fail(err, CLO_FORMAT,
                          "this begins with a byte order mark; save it as UTF-8 without one");
    json_t *const root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return clo_i_fail(err, CLO_FORMAT, "this is not JSON (line %d, column %d)", where.line,
                          where.column);
    *out = root;
    return CLO_OK;
}
