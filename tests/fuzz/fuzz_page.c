/*
 * fuzz_page.c - a release may come from anywhere, and so may the names in it: whatever can be read
 * as a release is shown in every form, and what comes out is harmless: balanced tags that we know,
 * no control characters, no bytes that are not of UTF-8.
 */
#include "exercise.h"
#include <cloister/cloister.h>
#include <stdlib.h>

typedef struct text {
    char *bytes;
    size_t length, room;
} text;

static bool append(void *user, const char *bytes, size_t count)
{
    text *const t = user;
    if (t->room < t->length + count + 1) { /* pages come in many small pieces */
        const size_t room = 2 * (t->length + count + 1);
        char *const grown = realloc(t->bytes, room);
        if (!grown) return false;
        t->bytes = grown;
        t->room = room;
    }
    memcpy(t->bytes + t->length, bytes, count);
    t->length += count;
    t->bytes[t->length] = 0;
    return true;
}

/* What may stand behind a '<'. */
static const char *const tags[] = {
    "!DOCTYPE", "html",  "head", "meta",   "title",   "style", "body", "main", "h1",
    "h2",       "h3",    "p",    "div",    "section", "dl",    "dt",   "dd",   "table",
    "caption",  "thead", "tr",   "tbody",  "th",      "td",    "i",    "bdi",  "pre",
    "code",     "svg",   "desc", "g",      "rect",    "line",  "path", "text", "circle",
    "ellipse",  "b",     "foot", "footer", "strong",
};

static bool is_known(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (strlen(tags[i]) == length && strncmp(tags[i], name, length) == 0) return true;
    return false;
}

/* A tag ends before the next begins, its quotes are even, and as many close as open. */
static void check_tags(const char *bytes)
{
    long open = 0;
    for (const char *at = strchr(bytes, '<'); at; at = strchr(at + 1, '<')) {
        const bool closes = at[1] == '/';
        const char *const name = at + 1 + closes, *const end = strchr(at, '>');
        size_t quotes = 0;
        MUST(end && is_known(name, strcspn(name, " />\n")));
        for (const char *c = at + 1; c < end; c++) {
            MUST(*c != '<');
            quotes += *c == '"';
        }
        MUST(quotes % 2 == 0);
        const bool single = end[-1] == '/' || *name == '!' || strncmp(name, "meta", 4) == 0;
        open += closes ? -1 : single ? 0 : 1;
        MUST(open >= 0);
    }
    MUST(open == 0);
}

static void check_bytes(const text *t)
{
    for (size_t i = 0; i < t->length; i++) {
        const unsigned char c = (unsigned char)t->bytes[i];
        MUST(c >= 0x20 || c == '\n');
        MUST(c != 0x7f && c != 0xc0 && c != 0xc1 && c < 0xf5);
        MUST(strncmp(t->bytes + i, "\xe2\x80\xae", 3) != 0); /* turns the writing round */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    clo_release *release = NULL;
    clo_error err;
    if (clo_release_parse((const char *)bytes, size, &release, &err)) return 0;
    clo_page_options options = clo_page_options_default();
    const clo_release *const others[1] = { release };
    text t = { 0 };
    if (clo_release_cols(release) <= 4096) {
        if (clo_release_html(release, NULL, append, &t, &err) == CLO_OK) {
            check_tags(t.bytes);
            check_bytes(&t);
        }
        t.length = 0;
        options.others = others;
        options.other_count = 1;
        options.fragment = true;
        if (clo_release_html(release, &options, append, &t, &err) == CLO_OK) check_tags(t.bytes);
        options.other_count = 0;
        t.length = 0;
        MUST(clo_report(release, CLO_TEXT_BARS, append, &t, &err) == CLO_OK);
        MUST(clo_report(release, CLO_TEXT_BARS_ASCII, append, &t, &err) == CLO_OK);
        for (size_t i = 0; (options.chart = clo_release_chart_at(release, i)); i++) {
            t.length = 0;
            if (clo_release_svg(release, &options, append, &t, &err) == CLO_OK) {
                check_tags(t.bytes);
                check_bytes(&t);
            }
            (void)!clo_release_vega(release, &options, append, &t, &err);
        }
    }
    free(t.bytes);
    clo_release_free(release);
    return 0;
}
