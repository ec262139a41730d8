/*
 * schema.c - what arrays were called in the first schema of a release, and are called now.  In the
 * library they have their names of today, whichever file they come from; a caller may still ask by
 * the old ones.
 */
#include "release/release.h"
#include <string.h>

static const char *const renamed[][2] = {
    { "weights", "sizes" },
    { "widths", "radii" },
    { "told_apart", "distinct_clusters" },
};

/* The name of the pair with `name` at `from`; the name itself: there is none. */
static const char *other(const char *name, int from)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i][from], name) == 0) return renamed[i][1 - from];
    return name;
}

const char *clo_i_name_from_schema(int schema, const char *name)
{
    return schema == CLO_SCHEMA_FIRST ? other(name, 0) : name;
}

const char *clo_i_name_in_schema(int schema, const char *name)
{
    return schema == CLO_SCHEMA_FIRST ? other(name, 1) : name;
}
