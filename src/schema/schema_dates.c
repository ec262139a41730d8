/*
 * schema_dates.c - dates and times as numbers, and back: ISO 8601, or a format that says where
 * year, month and day are.  No locale and no list of time zones enters, so that a cell means the
 * same on every machine: a zone is an offset from UTC that stands in the cell or in the schema.
 */
#include "schema/schema.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct moment {
    int64_t year, month, day, hour, minute;
    double second;
    double zone; /* NaN: not said */
} moment;

/* Days since 1970-01-01 of a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void day_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    const int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, e = z - era * 146097;
    const int64_t y = (e - e / 1460 + e / 36524 - e / 146096) / 365;
    const int64_t d = e - (365 * y + y / 4 - y / 100), m = (5 * d + 2) / 153;
    *day = d - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = y + era * 400 + (*month <= 2);
}

static bool is_a_day(const moment *m)
{
    static const int64_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (m->month < 1 || m->month > 12 || m->day < 1) return false;
    const bool leap = m->year % 4 == 0 && (m->year % 100 != 0 || m->year % 400 == 0);
    return m->day <= lengths[m->month - 1] + (m->month == 2 && leap);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Exactly so many digits, or from `least` on. */
static const char *digits(const char *at, const char *end, size_t least, size_t most, int64_t *out)
{
    size_t count = 0;
    *out = 0;
    while (at < end && count < most && *at >= '0' && *at <= '9') {
        *out = *out * 10 + (*at++ - '0');
        count++;
    }
    return count >= least ? at : NULL;
}

static const char *letter(const char *at, const char *end, char wanted)
{
    return at && at < end && *at == wanted ? at + 1 : NULL;
}

static const char *fraction(const char *at, const char *end, double *second)
{
    double unit = 0.1;
    if (!at || at >= end || (*at != '.' && *at != ',')) return at;
    for (at++; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10)
        *second += unit * (*at - '0');
    return at;
}

/* "Z", "+01:00", "+0100", "+01", or nothing. */
static const char *zone(const char *at, const char *end, double *out)
{
    int64_t hours = 0, minutes = 0;
    if (!at || at >= end) return at;
    if (*at == 'Z' || *at == 'z') {
        *out = 0;
        return at + 1;
    }
    if (*at != '+' && *at != '-') return NULL;
    const double sign = *at == '-' ? -1 : 1;
    at = digits(at + 1, end, 2, 2, &hours);
    if (at && at < end) {
        at += *at == ':';
        at = digits(at, end, 2, 2, &minutes);
    }
    if (!at || hours > 14 || minutes > 59) return NULL;
    *out = sign * (double)(hours * 3600 + minutes * 60);
    return at;
}

static const char *date(const char *at, const char *end, moment *m)
{
    at = digits(at, end, 4, 4, &m->year);
    at = letter(at, end, '-');
    if (at) at = digits(at, end, 2, 2, &m->month);
    at = letter(at, end, '-');
    return at ? digits(at, end, 2, 2, &m->day) : NULL;
}

static const char *clock_time(const char *at, const char *end, moment *m)
{
    int64_t second = 0;
    at = digits(at, end, 2, 2, &m->hour);
    at = letter(at, end, ':');
    if (at) at = digits(at, end, 2, 2, &m->minute);
    if (at && at < end && *at == ':') {
        at = digits(at + 1, end, 2, 2, &second);
        m->second = (double)second;
        at = fraction(at, end, &m->second);
    }
    return at;
}

static const char *month_name(const char *at, const char *end, int64_t *month)
{
    static const char *const names[] = { "january",   "february", "march",    "april",
                                         "may",       "june",     "july",     "august",
                                         "september", "october",  "november", "december" };
    size_t length = 0;
    while (at + length < end && ((at[length] | 32) >= 'a' && (at[length] | 32) <= 'z')) length++;
    for (size_t i = 0; i < 12; i++) {
        const size_t whole = strlen(names[i]);
        bool same = length == 3 || length == whole;
        for (size_t c = 0; same && c < length; c++) same = (at[c] | 32) == names[i][c];
        if (!same) continue;
        *month = (int64_t)i + 1;
        return at + length;
    }
    return NULL;
}

/* One of the letters that a format may have behind a percent sign. */
static const char *by_letter(char what, const char *at, const char *end, moment *m)
{
    int64_t number = 0;
    switch (what) {
    case 'Y':
        return digits(at, end, 4, 4, &m->year);
    case 'y':
        at = digits(at, end, 2, 2, &number);
        m->year = number + (number < 69 ? 2000 : 1900); /* as POSIX has it */
        return at;
    case 'm':
        return digits(at, end, 1, 2, &m->month);
    case 'd':
        return digits(at, end, 1, 2, &m->day);
    case 'b':
    case 'B':
        return month_name(at, end, &m->month);
    case 'H':
        return digits(at, end, 1, 2, &m->hour);
    case 'M':
        return digits(at, end, 1, 2, &m->minute);
    case 'S':
        at = digits(at, end, 1, 2, &number);
        m->second = (double)number;
        return fraction(at, end, &m->second);
    case 'z':
        return zone(at, end, &m->zone);
    default:
        return NULL;
    }
}

static const char *by_format(const char *at, const char *end, const char *format, moment *m)
{
    for (; at && *format; format++) {
        if (*format == '%' && format[1])
            at = by_letter(*++format, at, end, m);
        else
            at = letter(at, end, *format);
    }
    return at;
}

static bool is_time(const moment *m)
{
    return is_a_day(m) && m->hour >= 0 && m->hour < 24 && m->minute >= 0 && m->minute < 60 &&
           m->second >= 0 && m->second < 61;
}

double clo_i_date_cell(const char *text, size_t length, const char *format)
{
    const char *const end = text + length;
    moment m = { .zone = NAN };
    const char *const at = format ? by_format(text, end, format, &m) : date(text, end, &m);
    return at == end && is_a_day(&m) ? (double)days_of(m.year, m.month, m.day) : NAN;
}

double clo_i_datetime_cell(const char *text, size_t length, const char *format, double usual)
{
    const char *const end = text + length;
    moment m = { .zone = NAN };
    const char *at = NULL;
    if (format) {
        at = by_format(text, end, format, &m);
    } else {
        at = date(text, end, &m);
        if (at && at < end) { /* a date alone is its midnight */
            at = *at == 'T' || *at == 't' || *at == ' ' ? clock_time(at + 1, end, &m) : NULL;
            at = zone(at, end, &m.zone);
        }
    }
    if (at != end || !is_time(&m)) return NAN;
    const double off = isnan(m.zone) ? usual : m.zone;
    return (double)(days_of(m.year, m.month, m.day) * 86400 + m.hour * 3600 + m.minute * 60) +
           m.second - off;
}

double clo_i_zone_seconds(const char *text)
{
    const char *const end = text + strlen(text);
    double out = NAN;
    if (strcmp(text, "UTC") == 0) return 0;
    return text < end && zone(text, end, &out) == end ? out : NAN;
}

/* ---- writing ------------------------------------------------------------------------------- */

static const double MOST_DAYS = 4e6; /* about 11,000 years */

void clo_i_date_text(double days, char text[32])
{
    int64_t year, month, day;
    if (!(fabs(days) < MOST_DAYS)) {
        snprintf(text, 32, "?");
        return;
    }
    day_of((int64_t)floor(days + 0.5), &year, &month, &day);
    snprintf(text, 32, "%04d-%02d-%02d", (int)year % 100000, (int)month % 100, (int)day % 100);
}

void clo_i_datetime_text(double seconds, char text[40])
{
    const double whole = floor(seconds + 0.5), days = floor(whole / 86400);
    char day[32];
    clo_i_date_text(days, day);
    const unsigned left = fabs(days) < MOST_DAYS ? (unsigned)(whole - days * 86400) % 86400 : 0;
    snprintf(text, 40, "%.20sT%02u:%02u:%02uZ", day, left / 3600, left / 60 % 60, left % 60);
}
