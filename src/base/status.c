/* status.c - texts and exit codes, made from the one list of statuses. */
#include "base/base.h"
#include <stdio.h>

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

clo_status clo_i_fail(clo_error *err, clo_status status, const char *format, ...)
{
    if (err) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, arguments);
        va_end(arguments);
    }
    return status;
}
