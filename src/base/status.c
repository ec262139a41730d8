/* status.c - texts and exit codes, made from the one list of statuses. */
#include "base/base.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

const char *clo_status_text(clo_status status)
{
    switch (status) {
#define X(name, value, exit_code, text)                                                            \
    case CLO_##name:                                                                               \
        return text;
        CLO_STATUS_LIST(X)
#undef X
    }
    return "an unknown status";
}

int clo_status_exit_code(clo_status status)
{
    switch (status) {
#define X(name, value, exit_code, text)                                                            \
    case CLO_##name:                                                                               \
        return exit_code;
        CLO_STATUS_LIST(X)
#undef X
    }
    return 70;
}

const char *clo_version(void)
{
    return CLO_VERSION;
}

/* A message may quote any bytes of a file or a name: none of them may be a control character, and
 * all is UTF-8, also where the end was cut off. */
static void make_visible(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c;) {
        const size_t length = clo_i_utf8_length((const char *)c);
        const bool control = *c == 0x7f || (*c < 0x20 && *c != '\1') || /* clo_job_spell's mark */
                             (length == 2 && *c == 0xc2 && c[1] < 0xa0);
        const size_t step = length ? length : 1;
        if (length == 0 || control) memset(c, '?', step);
        c += step;
    }
}

clo_status clo_i_fail(clo_error *err, clo_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
        make_visible(err->message);
        err->advice[0] = 0;
    }
    return status;
}

clo_status clo_i_advise(clo_error *err, clo_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(err->advice, sizeof err->advice, format, arguments);
        va_end(arguments);
        make_visible(err->advice);
    }
    return status;
}
