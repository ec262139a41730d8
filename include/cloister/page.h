/*
 * page.h - step seven: show.  Charts and pages of what is public: a release, a plan, a ledger;
 * and curves of numbers that a caller measured.
 *
 * A page is one file of HTML with its charts as SVG inside: no script, nothing is fetched, and it
 * looks right in light, in dark, on paper and on a phone.  It holds what the release, the plan or
 * the ledger holds, and nothing else.  The same input gives the same bytes.
 */
#ifndef CLOISTER_PAGE_H
#define CLOISTER_PAGE_H

#include <cloister/ledger.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to show a release.  All of it is borrowed for the call. */
typedef struct clo_page_options {
    size_t struct_size;
    const char *chart;    /* of clo_release_svg and clo_release_vega: which; NULL: the first */
    const char *x_column; /* of the chart "map": the columns that are its axes, by name or by */
    const char *y_column; /* number, from 1; NULL: the directions in which centres differ most */
    const clo_release *const *others; /* to compare with: of the same columns */
    const char *const *names;         /* what to call it, and then the others; NULL: by number */
    size_t other_count;
    clo_ledger *ledger;  /* what was spent and is left stands on the page; NULL: it does not */
    const char *dataset; /* of the ledger; NULL: all of them */
    bool fragment;       /* a piece of HTML for a page of the caller's own */
} clo_page_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_page_options_init(clo_page_options *options, size_t size);
static inline clo_page_options clo_page_options_default(void)
{
    clo_page_options options;
    clo_page_options_init(&options, sizeof options);
    return options;
}

/* The charts that there are of a release, by name ("map"); NULL: there are not so many.  Nobody
 * frees the text. */
CLO_API const char *clo_release_chart_at(const clo_release *release, size_t i);
/* One chart alone: a file of SVG that needs nothing else.  options NULL: the presets.  CLO_ARGUMENT
 * where the release has no such chart, or no such column; CLO_IO where write says that it could
 * not. */
CLO_API CLO_CHECK clo_status clo_release_svg(const clo_release *release,
                                             const clo_page_options *options, clo_write *write,
                                             void *user, clo_error *err);
/* The same chart for whoever wants to restyle it: a specification of Vega-Lite with the data in it,
 * as JSON. */
CLO_API CLO_CHECK clo_status clo_release_vega(const clo_release *release,
                                              const clo_page_options *options, clo_write *write,
                                              void *user, clo_error *err);
/* The release as a page: what was released in words that can be quoted, what the guarantee means,
 * every chart with its numbers, how sure they are, what was spent, parameters and domain, how to
 * use it.  Of more columns than can be shown those are taken in which the centres differ most, and
 * the page says so.  CLO_ARGUMENT as above; CLO_LEDGER as reading the ledger fails. */
CLO_API CLO_CHECK clo_status clo_release_html(const clo_release *release,
                                              const clo_page_options *options, clo_write *write,
                                              void *user, clo_error *err);
/* A plan as a page: what a run of it would ask, cost and deliver, with the error to expect over
 * epsilon and over the number of rows, where the method has a prediction.  It reads no data; plans
 * are made on the way, so this may take seconds. */
CLO_API CLO_CHECK clo_status clo_plan_html(const clo_plan *plan, clo_write *write, void *user,
                                           clo_error *err);
/* What was spent on each data set (or on the named one) over time, what is left, and whether every
 * hash fits: for an auditor.  Fails as reading the ledger does; a ledger that cannot be verified is
 * shown, and the page says so at its top. */
CLO_API CLO_CHECK clo_status clo_ledger_html(clo_ledger *ledger, const char *dataset,
                                             clo_write *write, void *user, clo_error *err);

/* Curves that were measured, with their standard errors, as a file of SVG: one panel of a text in
 * JSON whose schema is "cloister.curves/1" ('cloister draw --help' has its form).  panel NULL: the
 * first.  It shows what the text holds, private or not.  CLO_FORMAT where the text is something
 * else, CLO_ARGUMENT where it has no such panel, CLO_IO where write says that it could not. */
CLO_API CLO_CHECK clo_status clo_curves_svg(const char *json, size_t length, const char *panel,
                                            clo_write *write, void *user, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
