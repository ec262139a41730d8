/*
 * page.c - the frame of every page: one file, nothing fetched, no script.  The policy in its head
 * holds the browser to that, whatever a name in the page may try.
 */
#include "report/page.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* For the page's own parts; the charts' style comes before it. */
static const char style[] =
    ".cloister{background:var(--paper);color:var(--ink);color-scheme:light dark;"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "body.cloister{margin:0}.cloister main{max-width:1160px;margin:0 auto;padding:24px 16px}\n"
    ".cloister h1{font-size:1.75rem;line-height:1.25;margin:.2em 0 .4em}"
    ".cloister h2{font-size:1.25rem;margin:2em 0 .5em;padding-top:.6em;"
    "border-top:1px solid var(--grid)}"
    ".cloister h3{font-size:1.05rem;margin:1.6em 0 .3em}"
    ".cloister p,.cloister li{max-width:46em;margin:.6em 0}\n"
    ".cloister .lead{font-size:1.12rem}"
    ".cloister .quote{border-left:4px solid var(--c0);margin:1em 0;padding:.1em 1em}"
    ".cloister .alarm{border:2px solid var(--c1);border-radius:6px;padding:.2em 1em;"
    "margin:1em 0}"
    ".cloister .alarm strong{font-size:1.1rem}"
    ".cloister .soft{color:var(--soft);font-size:.9rem}\n"
    ".cloister dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:12px;"
    "margin:1em 0}.cloister dl div{border:1px solid var(--grid);border-radius:6px;"
    "padding:8px 12px;min-width:0}"
    ".cloister dt{color:var(--soft);font-size:.85rem}.cloister dd{margin:0;font-weight:600;"
    "overflow-wrap:anywhere}\n"
    ".cloister .pair{display:grid;grid-template-columns:minmax(0,1fr);gap:12px 28px;"
    "align-items:start}"
    "@media (min-width:960px){.cloister .pair{grid-template-columns:minmax(0,530px) "
    "minmax(0,1fr)}}"
    ".cloister .pair>*{min-width:0}.cloister svg{max-width:100%;height:auto;display:block}\n"
    ".cloister .scroll{overflow:auto;max-height:460px;border:1px solid var(--grid);"
    "border-radius:6px;margin:0 0 12px}"
    ".cloister .wide{grid-column:1/-1;overflow:auto}.cloister .wide+div{grid-column:1/-1}"
    ".cloister .wide svg{max-width:none}"
    ".cloister :focus-visible{outline:2px solid var(--c0);outline-offset:2px}\n"
    ".cloister table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;"
    "width:100%}.cloister caption{text-align:left;padding:6px 10px;color:var(--soft)}"
    ".cloister th,.cloister td{padding:4px 10px;text-align:right;white-space:nowrap;"
    "border-top:1px solid var(--grid)}"
    ".cloister tbody th{font-weight:500;text-align:left;white-space:normal;min-width:7em;"
    "max-width:18em;overflow-wrap:anywhere}"
    ".cloister .words th,.cloister .words td{text-align:left}.cloister thead th{font-weight:600;"
    "white-space:normal;vertical-align:bottom;overflow-wrap:break-word;min-width:4.6em;max-width:"
    "15em}.cloister thead th:first-child,.cloister td.t{"
    "text-align:left}.cloister td.t{white-space:normal}.cloister td.n{white-space:nowrap}"
    ".cloister .words tbody th{min-width:3em}.cloister .words tbody th.l{min-width:11em}"
    ".cloister td i{font-style:normal;color:var(--soft)}\n"
    ".cloister pre{overflow:auto;border:1px solid var(--grid);border-radius:6px;padding:10px 12px;"
    "font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    ".cloister code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;"
    "overflow-wrap:anywhere}"
    ".cloister summary{cursor:pointer;padding:4px 0}.cloister footer{margin-top:2.5em;"
    "border-top:1px solid var(--grid);padding-top:.6em}\n"
    "@media print{.cloister{--paper:#fff;--ink:#000;--soft:#444;font-size:10.5pt}"
    ".cloister main{max-width:none;padding:0}.cloister table{font-size:7.5pt}"
    ".cloister th,.cloister td{padding:2px 5px}"
    ".cloister .scroll,.cloister .wide{max-height:none;overflow:visible;border:0}"
    ".cloister .broad table{display:none}.cloister .broad::after{color:var(--soft);"
    "content:'A table that is too wide for paper stands here on the screen.'}"
    ".cloister .pair{display:block}.cloister .pair svg{max-width:12cm;margin:0 0 8px}"
    ".cloister .wide svg{max-width:100%}"
    ".cloister h2,.cloister h3,.cloister .soft{break-after:avoid}.cloister dl div,"
    ".cloister tr,.cloister svg{break-inside:avoid}.cloister pre{white-space:pre-wrap}}\n";

void clo_i_page_open(clo_writer *w, const char *title, bool fragment)
{
    if (!fragment) {
        clo_writer_text(
            w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
        clo_i_escape(w, title, 200);
        clo_writer_text(w, "</title>\n");
    } else {
        clo_writer_text(w, "<div class=\"cloister\">\n");
    }
    clo_writer_text(w, "<style>\n");
    clo_i_draw_style(w);
    clo_writer_text(w, style);
    clo_writer_text(w, "</style>\n");
    if (!fragment) clo_writer_text(w, "</head>\n<body class=\"cloister\">\n<main>\n");
    clo_writer_text(w, fragment ? "<h2>" : "<h1>");
    clo_i_escape(w, title, 200);
    clo_writer_text(w, fragment ? "</h2>\n" : "</h1>\n");
}

void clo_i_page_close(clo_writer *w, const char *foot, bool fragment)
{
    if (fragment) {
        clo_writer_text(w, "</div>\n");
        return;
    }
    clo_writer_text(w, "<footer class=\"soft\"><p>");
    clo_i_escape(w, foot, 1000);
    clo_writer_text(w, "</p></footer>\n</main>\n</body>\n</html>\n");
}

clo_number clo_i_time(int64_t seconds)
{
    clo_number out = { "-" };
    const time_t at = (time_t)seconds;
    struct tm utc;
    if (gmtime_r(&at, &utc)) strftime(out.text, sizeof out.text, "%Y-%m-%d %H:%M:%S", &utc);
    return out;
}

void clo_i_section_open(clo_writer *w, const char *title)
{
    clo_writer_text(w, "<section>\n<h2>");
    clo_i_escape(w, title, 200);
    clo_writer_text(w, "</h2>\n");
}

void clo_i_section_close(clo_writer *w)
{
    clo_writer_text(w, "</section>\n");
}

/* 1e-6 must not break after its hyphen. */
static void escape_unbroken(clo_writer *w, char *text)
{
    for (char *at = text; *at; at++)
        if (at[0] == 'e' && at[1] == '-' && at[2] >= '0' && at[2] <= '9') {
            at[1] = 0;
            clo_i_escape(w, text, SIZE_MAX);
            clo_writer_text(w, "\xE2\x80\x91");
            text = at + 2;
        }
    clo_i_escape(w, text, SIZE_MAX);
}

void clo_i_paragraph(clo_writer *w, const char *format, ...)
{
    char text[2400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_writer_text(w, "<p>");
    escape_unbroken(w, text);
    clo_writer_text(w, "</p>\n");
}

void clo_i_facts_open(clo_writer *w)
{
    clo_writer_text(w, "<dl>\n");
}

void clo_i_fact(clo_writer *w, const char *name, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_writer_text(w, "<div><dt>");
    clo_i_escape(w, name, 100);
    clo_writer_text(w, "</dt><dd>");
    clo_i_escape(w, text, 300);
    clo_writer_text(w, "</dd></div>\n");
}

void clo_i_facts_close(clo_writer *w)
{
    clo_writer_text(w, "</dl>\n");
}

void clo_i_figure_open(clo_writer *w, const char *title, const char *text, bool wide)
{
    clo_writer_text(w, "<h3>");
    clo_i_escape(w, title, 200);
    clo_writer_text(w, "</h3>\n<p class=\"soft\">");
    clo_i_escape(w, text, 1200);
    clo_writer_text(w, "</p>\n<div class=\"pair\">\n<div");
    if (wide) {
        clo_writer_text(w, " class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
        clo_i_escape(w, title, 200);
        clo_writer_text(w, "\"");
    }
    clo_writer_text(w, ">");
}

void clo_i_figure_table(clo_writer *w)
{
    clo_writer_text(w, "</div>\n<div>\n");
}

void clo_i_figure_close(clo_writer *w)
{
    clo_writer_text(w, "</div>\n</div>\n");
}
