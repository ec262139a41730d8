/*
 * report.h - writing through a callback, with the first failure remembered.  For the files of this
 * folder.
 */
#ifndef CLO_REPORT_H
#define CLO_REPORT_H

#include "base/base.h"
#include "release/release.h"

typedef struct clo_writer {
    clo_write *write;
    void *user;
    bool failed;
    int depth;   /* of JSON */
    bool filled; /* the innermost bracket already holds something */
} clo_writer;

void clo_i_write_text(clo_writer *writer, const char *text);
void clo_i_write_format(clo_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void clo_i_write_double(clo_writer *writer, double value); /* shortest round trip */

/* ---- json_writer.c: two blanks a level, keys in the order they are given --------------- */

void clo_i_json_open(clo_writer *writer, const char *key,
                     char bracket);                       /* '{' or '['; no key: NULL */
void clo_i_json_close(clo_writer *writer, char bracket);  /* '}' or ']' */
void clo_i_json_key(clo_writer *writer, const char *key); /* the value is the caller's to write */
void clo_i_json_line(clo_writer *writer);                 /* a new line, with its blanks */
void clo_i_json_string(clo_writer *writer, const char *text); /* in quotes */
void clo_i_json_text(clo_writer *writer, const char *key, const char *text);
void clo_i_json_number(clo_writer *writer, const char *key, double value); /* NaN: null */
void clo_i_json_count(clo_writer *writer, const char *key, uint64_t value);
void clo_i_json_bool(clo_writer *writer, const char *key, bool value);

void clo_i_report_json(const clo_release *release, clo_writer *writer);
void clo_i_report_text(const clo_release *release, bool wide, clo_writer *writer);

#endif
