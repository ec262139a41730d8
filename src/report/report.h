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
    int depth; /* of JSON */
} clo_writer;

void clo_i_write_text(clo_writer *writer, const char *text);
void clo_i_write_format(clo_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void clo_i_write_double(clo_writer *writer, double value); /* shortest round trip */

void clo_i_report_json(const clo_release *release, clo_writer *writer);
void clo_i_report_text(const clo_release *release, clo_writer *writer);

#endif
