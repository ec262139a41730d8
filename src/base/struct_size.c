/*
 * struct_size.c - structs that begin with struct_size, whose length the caller and the library may
 * know differently: one of the two was compiled with an older header.  Fields are only ever added
 * at the end, so what both know is the beginning; nothing beyond the shorter one is read or
 * written.
 */
#include "base/base.h"
#include <string.h>

/* No such struct is longer: a larger size is memory that no one has set. */
enum { LONGEST = 4096 };

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof size); /* the first field of each of them */
    return size;
}

void clo_i_give_presets(void *out, size_t size, const void *presets, size_t known)
{
    memset(out, 0, size);
    if (size < sizeof size) return;
    memcpy(out, presets, size < known ? size : known);
    memcpy(out, &size, sizeof size);
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) return false;
    return true;
}

clo_status clo_i_take_options(const char *type, const void *given, void *out, size_t known,
                              clo_error *err)
{
    if (!given) return CLO_OK;
    const size_t size = size_of(given);
    if (size <= sizeof size || size > LONGEST)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a %s must start from %s_default(), which says how long it is", type,
                          type);
    if (size > known && !is_zero((const unsigned char *)given + known, size - known))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "the %s sets a field that this version of the library does not know: "
                          "leave it at 0, or run with the library of the caller's headers",
                          type);
    memcpy(out, given, size < known ? size : known);
    memcpy(out, &known, sizeof known);
    return CLO_OK;
}

clo_status clo_i_check_result(const char *type, const void *out, clo_error *err)
{
    const size_t size = size_of(out);
    if (size > sizeof size && size <= LONGEST) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the struct_size of the %s must be set to its size", type);
}

void clo_i_give_result(void *out, const void *result, size_t known)
{
    clo_i_give_presets(out, size_of(out), result, known);
}
