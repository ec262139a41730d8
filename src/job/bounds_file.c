/*
 * bounds_file.c - public bounds of the columns, as the setting `bounds` has them: "LO,HI" for all,
 * or a CSV file with a line for each, or the lines of such a file themselves.
 */
#include "base/text_file.h"
#include "base/utf8.h"
#include "job/job.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* "LO,HI": two numbers; anything else is the name of a file. */
static bool scan_pair(const char *text, clo_i_bound *out)
{
    const size_t first = strcspn(text, ",");
    clo_i_bound bound = { NULL, 0, 0 };
    if (text[first] != ',' || !clo_i_scan_decimal(text, first, &bound.lower)) return false;
    const char *const second = text + first + 1;
    if (!clo_i_scan_decimal(second, strlen(second), &bound.upper)) return false;
    *out = bound;
    return true;
}

/* Takes the quotes off a cell that starts with one; "" inside stands for one quote.  Returns what
 * follows the cell. */
static char *unquote(char *cell)
{
    char *to = cell;
    const char *from = cell + 1;
    while (*from && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    char *const after = (char *)(uintptr_t)from + (*from == '"');
    *to = 0;
    return after;
}

/* Cuts a line of the file into its cells; returns how many there are, at most room. */
static size_t cut_cells(char *line, char *cells[], size_t room)
{
    size_t count = 0;
    line[strcspn(line, "\r")] = 0;
    for (char *cell = line; cell && count < room; count++) {
        cell += strspn(cell, " \t");
        cells[count] = cell;
        char *const rest = *cell == '"' ? unquote(cell) : cell;
        char *const comma = strchr(rest, ',');
        if (comma) *comma = 0;
        size_t length = strlen(cells[count]);
        while (length > 0 && strchr(" \t", cells[count][length - 1])) cells[count][--length] = 0;
        cell = comma ? comma + 1 : NULL;
    }
    return count;
}

static bool is_number(const char *cell)
{
    double unused;
    return clo_i_scan_decimal(cell, strlen(cell), &unused);
}

enum { MOST_CELLS = 4, MOST_BYTES = 1 << 30 };

static bool scan_bound(char *const *cells, size_t count, clo_i_bound *out)
{
    if (count < 2 || count > 3) return false;
    char *const *const ends = cells + (count - 2);
    return clo_i_scan_decimal(ends[0], strlen(ends[0]), &out->lower) &&
           clo_i_scan_decimal(ends[1], strlen(ends[1]), &out->upper);
}

/* name NULL: it has none. */
static clo_status add_bound(clo_i_spec *spec, clo_i_bound bound, const char *name, clo_error *err)
{
    const size_t count = spec->bound_count;
    if ((count & (count - 1)) == 0) /* full at every power of two */
        CLO_TRY(
            clo_i_resize(&spec->bounds, count, count ? 2 * count : 1, sizeof *spec->bounds, err));
    if (name) CLO_TRY(clo_i_copy_utf8(name, &bound.name, err));
    spec->bounds[spec->bound_count++] = bound;
    return CLO_OK;
}

/* text: whole, with a NUL behind it; it is cut up.  A byte order mark, as spreadsheets write it, is
 * no part of the first name. */
static clo_status read_lines(char *text, size_t length, const char *path, clo_i_spec *spec,
                             clo_error *err)
{
    char *cells[MOST_CELLS], *const end = text + length;
    const char *fault = clo_i_encoding_fault(text, length);
    if (!fault) fault = clo_i_line_end_fault(text, length);
    if (!fault && memchr(text, 0, length)) fault = "is not a text file";
    if (fault) return clo_i_fail(err, CLO_FORMAT, "%s %s", path, fault);
    char *line = text + clo_i_mark_length(text, length);
    for (size_t number = 1; line < end; number++) {
        clo_i_bound bound = { NULL, 0, 0 };
        char *const stop = strchr(line, '\n'), *const next = stop ? stop + 1 : end;
        if (stop) *stop = 0;
        const size_t count = cut_cells(line, cells, MOST_CELLS);
        bool header = number == 1;
        line = next;
        for (size_t i = 0; i < count; i++) header = header && !is_number(cells[i]);
        if (header || (count == 1 && !cells[0][0])) continue;
        if (!scan_bound(cells, count, &bound))
            return clo_i_fail(err, CLO_FORMAT,
                              "%s, line %zu must be name,lower,upper or lower,upper", path, number);
        CLO_TRY(add_bound(spec, bound, count == 3 ? cells[0] : NULL, err));
    }
    if (spec->bound_count == 0)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s has no bounds: write a line name,lower,upper or lower,upper per "
                          "column",
                          path);
    return CLO_OK;
}

clo_status clo_i_bounds_read(const clo_job *job, const char *text, clo_i_spec *spec, clo_error *err)
{
    clo_i_bound pair;
    char *held = NULL;
    size_t length = 0;
    struct stat facts;
    if (scan_pair(text, &pair)) {
        if (!(pair.lower < pair.upper))
            return clo_i_job_fail(job, err, CLO_DOMAIN,
                                  "@bounds %s: the lower bound must be below the upper one", text);
        return add_bound(spec, pair, NULL, err);
    }
    const bool lines = strchr(text, '\n');
    if (!lines && stat(text, &facts) != 0)
        return clo_i_job_fail(job, err, errno == ENOENT ? CLO_ARGUMENT : CLO_IO,
                              "@bounds must be two numbers LO,HI or a file, but '%s' cannot be "
                              "read: %s",
                              text, strerror(errno));
    spec->bounds_file = lines ? "bounds" : text;
    clo_status status = lines ? clo_i_copy_text(text, &held, err)
                              : clo_i_read_whole(text, MOST_BYTES, "bounds", &held, &length, err);
    if (lines) length = strlen(text);
    if (!status) status = read_lines(held, length, spec->bounds_file, spec, err);
    clo_i_free(held);
    return status;
}
