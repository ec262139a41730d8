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

/* Whether the value of a parameter says no more than that the plan chose. */
bool clo_i_is_automatic(const char *value);
/* The unit of norm, radii and energies: with bounds, half the width of each column's. */
const char *clo_i_length_unit(bool scaled);
/* What is known of the loss of a query, as members of the object that is open: its kind, its
 * parameter by the name that it has for that kind, how often. */
const char *clo_i_event_parameter(clo_event_kind kind);
void clo_i_event_json(const clo_event *event, clo_writer *writer);

/* A list of numbers as a member, on one line; NULL: none. */
void clo_i_json_numbers(clo_writer *writer, const char *key, const double *data, size_t count);

/* The noisy answers of the release, and what it was made from if that is another release, as
 * members of its JSON; nothing where there are none (answers_json.c). */
struct json_t;
void clo_i_answers_json(const clo_release *release, clo_writer *writer);
void clo_i_derived_json(const clo_release *release, clo_writer *writer);
/* Back from the members; NULL: there are none. */
CLO_CHECK clo_status clo_i_answers_read(const struct json_t *list, clo_release *release,
                                        clo_error *err);
CLO_CHECK clo_status clo_i_derived_read(const struct json_t *object, clo_i_derived *out,
                                        clo_error *err);

/* The certificate as a member of the release's JSON; nothing where it has none. */
void clo_i_certificate_json(const clo_release *release, clo_writer *writer);
CLO_CHECK bool clo_i_certificate_time(const char *text, int64_t *out);
/* Holds the release to the bytes that it was read from. */
CLO_CHECK clo_status clo_i_certificate_check(clo_release *release, const char *json, size_t length,
                                             clo_error *err);

#endif
