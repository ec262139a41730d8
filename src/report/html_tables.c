/* html_tables.c - tables of HTML, and the openings of Vega-Lite: what the charts' own files
 * share. */
#include "report/charts.h"
#include <math.h>
#include <string.h>

enum { SHORT = 20 };    /* bytes that stay on a line */
enum { ON_PAPER = 11 }; /* columns of numbers that a sheet has room for */

void clo_i_html_name(clo_writer *w, const char *name)
{
    /* bdi: a name in another direction of writing turns nothing round but itself. */
    if (clo_i_text_fit(name, 1, CLO_NAME_SHOWN * 1.05) == SIZE_MAX) {
        clo_writer_text(w, "<bdi>");
    } else {
        clo_writer_text(w, "<bdi title=\"");
        clo_i_escape(w, name, CLO_NAME_TOLD);
        clo_writer_text(w, "\">");
    }
    clo_i_escape(w, name, CLO_NAME_SHOWN);
    clo_writer_text(w, "</bdi>");
}

/* kind: the class of the table; broad: it has no room on paper. */
static void open_table(clo_writer *w, const char *kind, bool broad, const char *caption)
{
    clo_i_writer_format(w, "<div class=\"scroll%s\"", broad ? " broad" : "");
    clo_writer_text(w, " tabindex=\"0\" role=\"region\" aria-label=\"");
    clo_i_escape(w, caption, 200);
    clo_i_writer_format(w, "\"><table%s><caption>", kind);
    clo_i_escape(w, caption, 200);
    clo_writer_text(w, "</caption>\n");
}

void clo_i_table_open(clo_writer *w, const char *caption)
{
    open_table(w, "", false, caption);
}

void clo_i_table_open_words(clo_writer *w, const char *caption)
{
    open_table(w, " class=\"words\"", false, caption);
}

void clo_i_table_open_broad(clo_writer *w, const char *caption, size_t columns)
{
    open_table(w, "", columns > ON_PAPER, caption);
}

void clo_i_table_heads(clo_writer *w, const char *const *heads, size_t count)
{
    clo_writer_text(w, "<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        clo_writer_text(w, "<th scope=\"col\">");
        clo_i_escape(w, heads[i], CLO_NAME_SHOWN);
        clo_writer_text(w, "</th>");
    }
    clo_writer_text(w, "</tr></thead><tbody>\n");
}

void clo_i_table_name(clo_writer *w, const char *name)
{
    clo_writer_text(w, "<tr><th scope=\"row\">");
    clo_i_html_name(w, name);
    clo_writer_text(w, "</th>");
}

void clo_i_table_label(clo_writer *w, const char *text)
{
    clo_writer_text(w, "<tr><th scope=\"row\" class=\"l\">");
    clo_i_escape(w, text, 200);
    clo_writer_text(w, "</th>");
}

void clo_i_table_number(clo_writer *w, double value, int digits, double noise)
{
    clo_writer_text(w, "<td>");
    clo_writer_text(w, clo_i_short(value, digits).text);
    if (!isnan(noise)) {
        clo_writer_text(w, "<i> ± ");
        clo_writer_text(w, clo_i_short(noise, 2).text);
        clo_writer_text(w, "</i>");
    }
    clo_writer_text(w, "</td>");
}

void clo_i_table_text(clo_writer *w, const char *text)
{
    clo_writer_text(w, strlen(text) > SHORT ? "<td class=\"t\">" : "<td class=\"t n\">");
    clo_i_escape(w, text, 200);
    clo_writer_text(w, "</td>");
}

void clo_i_table_end_row(clo_writer *w)
{
    clo_writer_text(w, "</tr>\n");
}

void clo_i_table_close(clo_writer *w)
{
    clo_writer_text(w, "</tbody></table></div>\n");
}

/* ---- Vega-Lite ------------------------------------------------------------------------------- */

void clo_i_vega_values(clo_writer *w, const char *title)
{
    clo_json_text(w, "$schema", "https://vega.github.io/schema/vega-lite/v5.json");
    clo_json_text(w, "title", title);
    clo_json_open(w, "data", '{');
    clo_json_open(w, "values", '[');
}

void clo_i_vega_values_end(clo_writer *w)
{
    clo_json_close(w, ']');
    clo_json_close(w, '}');
}

void clo_i_vega_channel(clo_writer *w, const char *channel, const char *field, const char *type,
                        const char *title)
{
    clo_json_open(w, channel, '{');
    clo_json_text(w, "field", field);
    clo_json_text(w, "type", type);
    if (title) clo_json_text(w, "title", title);
    clo_json_close(w, '}');
}
