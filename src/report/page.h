/*
 * page.h (internal) - what all pages share: the frame, the style, sections.  For the files of this
 * folder.
 */
#ifndef CLO_REPORT_PAGE_H
#define CLO_REPORT_PAGE_H

#include "report/charts.h"
#include <cloister/page.h>

/* Everything up to the first section, and after the last.  A fragment has no frame of its own. */
void clo_i_page_open(clo_writer *w, const char *title, bool fragment);
void clo_i_page_close(clo_writer *w, const char *foot, bool fragment);
void clo_i_section_open(clo_writer *w, const char *title);
void clo_i_section_close(clo_writer *w);
/* A paragraph; the text is escaped, and may be as long as it likes. */
void clo_i_paragraph(clo_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "2024-05-01 12:00:00", in UTC; "-" where there is no such time. */
clo_number clo_i_time(int64_t seconds);
/* A fact in a list of them: its name, and what it is. */
void clo_i_facts_open(clo_writer *w);
void clo_i_fact(clo_writer *w, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void clo_i_facts_close(clo_writer *w);
/* A chart comes after open, its table after table. */
void clo_i_figure_open(clo_writer *w, const char *title, const char *text, bool wide);
void clo_i_figure_table(clo_writer *w);
void clo_i_figure_close(clo_writer *w);

/* Parts of the page of a release (release_statement.c, release_page.c). */
void clo_i_say_released(clo_writer *w, const clo_release *release);
void clo_i_say_guarantee(clo_writer *w, const clo_release *release);
void clo_i_say_sureness(clo_writer *w, const clo_release *release);
void clo_i_say_facts(clo_writer *w, const clo_release *release);
void clo_i_say_use(clo_writer *w, const clo_release *release, const char *digest);
/* "3 centres in 4 columns". */
void clo_i_released_text(const clo_release *release, char *text, size_t size);
/* What was spent and is left (ledger_accounts.c). */
CLO_CHECK clo_status clo_i_say_budget(clo_writer *w, clo_ledger *ledger, const char *dataset,
                                      clo_error *err);

#endif
