/* numbers_and_words.c - numbers and words of a command line: read strictly, written briefly,
 * guessed at kindly.
 *
 * The command never calls setlocale, so strtod and printf speak the C locale throughout. */
#include "cli.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t digits_at(const char *text, size_t i, size_t length)
{
    const size_t start = i;
    while (i < length && isdigit((unsigned char)text[i])) i++;
    return i - start;
}

/* [+-] digits [. digits] [e [+-] digits], and nothing else: strtod alone would also take blanks,
 * hexadecimal, "inf" and "nan". */
static bool is_decimal(const char *text, size_t length)
{
    size_t i = length > 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
    const size_t whole = digits_at(text, i, length);
    size_t fraction = 0;
    i += whole;
    if (i < length && text[i] == '.') {
        fraction = digits_at(text, i + 1, length);
        i += 1 + fraction;
    }
    if (whole + fraction == 0) return false;
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        if (i < length && (text[i] == '+' || text[i] == '-')) i++;
        const size_t exponent = digits_at(text, i, length);
        if (exponent == 0) return false;
        i += exponent;
    }
    return i == length;
}

bool cli_scan_real(const char *text, size_t length, double *out)
{
    char copy[128];
    if (length >= sizeof copy || !is_decimal(text, length)) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    const double value = strtod(copy, NULL);
    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

clo_status cli_parse_real(const char *what, const char *text, double *out, cli_error *err)
{
    if (cli_scan_real(text, strlen(text), out)) return CLO_OK;
    return cli_fail(err, CLO_ARGUMENT, "%s must be a finite number, not '%s'", what, text);
}

clo_status cli_parse_positive(const char *what, const char *text, double *out, cli_error *err)
{
    double value;
    if (!cli_scan_real(text, strlen(text), &value) || !(value > 0))
        return cli_fail(err, CLO_ARGUMENT, "%s must be a number greater than 0, not '%s'", what,
                        text);
    *out = value;
    return CLO_OK;
}

clo_status cli_parse_whole(const char *what, const char *text, uint64_t lower, uint64_t upper,
                           uint64_t *out, cli_error *err)
{
    double value;
    const bool number = cli_scan_real(text, strlen(text), &value);
    if (!number || value != floor(value))
        return cli_fail(err, CLO_ARGUMENT, "%s must be a whole number, not '%s'", what, text);
    if (value < (double)lower || value > (double)upper)
        return cli_fail(err, CLO_ARGUMENT, "%s must be between %llu and %llu, not %s", what,
                        (unsigned long long)lower, (unsigned long long)upper, text);
    *out = (uint64_t)value;
    return CLO_OK;
}

clo_status cli_parse_list(const char *what, const char *text, double **out, size_t *out_count,
                          cli_error *err)
{
    size_t count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    double *const values = cli_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(text, ",");
        if (!cli_scan_real(text, length, &values[i])) {
            free(values);
            return cli_fail(err, CLO_ARGUMENT,
                            "entry %zu of %s must be a finite number, not '%.*s'", i + 1, what,
                            (int)(length < 100 ? length : 100), text);
        }
        text += length + 1;
    }
    *out = values;
    *out_count = count;
    return CLO_OK;
}

cli_text cli_number(double value)
{
    cli_text out;
    if (isfinite(value))
        clo_number_text(value, out.text);
    else
        snprintf(out.text, sizeof out.text, "%g", value);
    return out;
}

cli_text cli_rounded(double value, int digits)
{
    cli_text out;
    snprintf(out.text, sizeof out.text, "%.*g", digits, value);
    return isfinite(value) ? cli_number(strtod(out.text, NULL)) : out;
}

cli_text cli_time(int64_t seconds)
{
    cli_text out = { "-" };
    const time_t when = (time_t)seconds;
    struct tm parts;
    if (seconds != 0 && gmtime_r(&when, &parts))
        strftime(out.text, sizeof out.text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}

/* Edit distance with swaps of neighbours counted once, on words short enough to matter. */
enum { LONGEST_WORD = 40 };

static int smallest(int a, int b, int c)
{
    const int least = a < b ? a : b;
    return least < c ? least : c;
}

static int edit_distance(const char *a, const char *b)
{
    int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    const int rows = (int)strlen(a), cols = (int)strlen(b);
    if (rows > LONGEST_WORD || cols > LONGEST_WORD) return 2 * LONGEST_WORD;
    for (int i = 0; i <= rows; i++) d[i][0] = i;
    for (int j = 0; j <= cols; j++) d[0][j] = j;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= cols; j++) {
            const int change = a[i - 1] != b[j - 1];
            d[i][j] = smallest(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change);
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < d[i][j]) d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[rows][cols];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    const char *best = NULL;
    int least = length < 4 ? 2 : length < 7 ? 3 : 4; /* the first distance that is too far */
    if (length < 2) return NULL;
    for (size_t i = 0; i < count; i++) {
        const bool begins = length >= 3 && strncmp(word, candidates[i], length) == 0;
        const int distance = begins ? 1 : edit_distance(word, candidates[i]);
        if (distance < least) {
            least = distance;
            best = candidates[i];
        }
    }
    return best;
}

bool cli_in_choices(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = choices; at; at = strchr(at, '|')) {
        if (*at == '|') at++;
        const size_t here = strcspn(at, "|");
        if (here == length && memcmp(at, word, length) == 0) return true;
    }
    return false;
}

void cli_say_choices(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const char *at = choices; *at && used < size;) {
        const size_t length = strcspn(at, "|");
        const char *const next = at + length + (at[length] == '|');
        const char *const before = at == choices ? "" : *next ? ", " : " or ";
        const int written = snprintf(text + used, size - used, "%s%.*s", before, (int)length, at);
        used += (size_t)written;
        at = next;
    }
}
