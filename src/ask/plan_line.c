/* plan_line.c - the lines of a plan: what a line asks and draws, and a line as bytes. */
#include "ask/fold.h"

const char *clo_i_query_name(const clo_query *query)
{
    return query->name;
}

const char *clo_i_query_sampler(const clo_line *line, bool exact)
{
    if (line->query->sampler) return line->query->sampler;
    if (line->event.kind == CLO_EVENT_GAUSSIAN) return "exactly rounded Gaussian";
    if (line->event.kind == CLO_EVENT_EXPONENTIAL)
        return exact ? "exact exponential mechanism" : "exponential mechanism in floating point";
    return "exact discrete Laplace";
}

clo_numbers clo_i_numbers_drawn(const clo_line *line)
{
    (void)line;
    return (clo_numbers){ 0, 0 };
}

clo_reading clo_i_line_reading(const clo_line *line)
{
    return line->query->reading_of ? line->query->reading_of(line) : line->query->reading;
}

const char *clo_reading_name(clo_reading reading)
{
    static const char *const names[] = { "sum", "blocks", "whole" };
    const int place = (int)reading - CLO_READING_SUM;
    return place >= 0 && place < 3 ? names[place] : "?";
}

/* ---- bytes ------------------------------------------------------------------------------- */

enum { NAME = 32, EVENT = 4 };
/* Two halves of a word and eight-byte fields: no padding whose bytes could differ. */
_Static_assert(CLO_LINE_TAIL == 2 * sizeof(int32_t) + (7 + CLO_FIELD_WORDS) * sizeof(uint64_t),
               "a line must not have padding");
_Static_assert(CLO_LINE_BYTES == NAME + EVENT * sizeof(uint64_t) + CLO_LINE_TAIL,
               "count the bytes");

void clo_i_line_write(const clo_line *line, uint8_t bytes[CLO_LINE_BYTES])
{
    const uint64_t whole[] = { (uint64_t)line->event.kind, line->event.count };
    const double reals[] = { line->event.parameter, line->event.delta };
    memset(bytes, 0, NAME);
    memcpy(bytes, line->query->name, strlen(line->query->name));
    memcpy(bytes + NAME, whole, sizeof whole);
    memcpy(bytes + NAME + sizeof whole, reals, sizeof reals);
    memcpy(bytes + NAME + sizeof whole + sizeof reals, &line->bits, CLO_LINE_TAIL);
}

bool clo_i_line_is(const clo_line *line, const void *bytes)
{
    uint8_t own[CLO_LINE_BYTES];
    clo_i_line_write(line, own);
    return memcmp(own, bytes, sizeof own) == 0;
}
