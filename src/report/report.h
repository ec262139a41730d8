/*
 * report.h - the forms of a report.  For the files of this folder.
 */
#ifndef CLO_REPORT_H
#define CLO_REPORT_H

#include "base/base.h"
#include "release/release.h"
#include <cloister/output.h>

/* bars: what takes the place of the arrays of centres; NULL: they are shown as they are. */
typedef clo_status clo_i_bars(const clo_release *release, clo_writer *writer, clo_error *err);
CLO_CHECK clo_status clo_i_report_text(const clo_release *release, bool wide, clo_i_bars *bars,
                                       clo_writer *writer, clo_error *err);
/* Centres as a table with bars (bars_text.c). */
bool clo_i_has_bars(const clo_release *release);
CLO_CHECK clo_status clo_i_bars_unicode(const clo_release *release, clo_writer *w, clo_error *err);
CLO_CHECK clo_status clo_i_bars_ascii(const clo_release *release, clo_writer *w, clo_error *err);

/* The certificate as a member of the release's JSON; nothing where it has none. */
void clo_i_certificate_json(const clo_release *release, clo_writer *writer);
CLO_CHECK bool clo_i_certificate_time(const char *text, int64_t *out);
/* Holds the release to the bytes that it was read from. */
CLO_CHECK clo_status clo_i_certificate_check(clo_release *release, const char *json, size_t length,
                                             clo_error *err);

#endif
