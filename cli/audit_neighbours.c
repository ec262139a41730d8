/* audit_neighbours.c - whether two files are neighbours, and what to say where they are not.
 *
 * Evidence against a claim is evidence only where the two worlds differ by one record: what tells
 * two files apart that differ by more was never promised to be hidden. */
#include "cli.h"
#include <string.h>

static bool are_neighbours(const clo_difference *d, clo_relation relation)
{
    if (relation == CLO_ADD_REMOVE) return d->only[0] + d->only[1] == 1 && d->changed == 0;
    return (d->only[0] == 1 && d->only[1] == 1 && d->changed == 0) ||
           (d->only[0] == 0 && d->only[1] == 0 && d->changed == 1);
}

/* "a.csv has 3 records that b.csv has not" */
static void say_only(char *text, size_t size, uint64_t count, const char *what, const char *has,
                     const char *lacks)
{
    snprintf(text, size, "'%s' has %llu %s%s that '%s' does not have", has,
             (unsigned long long)count, what, count == 1 ? "" : "s", lacks);
}

static clo_status say_difference(const clo_difference *d, const char *what, const char *const n[2],
                                 clo_relation relation, cli_error *err)
{
    char first[200], second[200], changed[80] = "";
    say_only(first, sizeof first, d->only[0], what, n[0], n[1]);
    say_only(second, sizeof second, d->only[1], what, n[1], n[0]);
    if (d->changed)
        snprintf(changed, sizeof changed, "; %llu %s%s have other rows in the two files",
                 (unsigned long long)d->changed, what, d->changed == 1 ? " is" : "s are");
    if (relation == CLO_REPLACE)
        return cli_fail(err, CLO_ARGUMENT,
                        "under replace the two files of a pair must differ in "
                        "one %s, but %s, and %s%s",
                        what, first, second, changed);
    return cli_fail(err, CLO_ARGUMENT,
                    "under add-remove one file of a pair must have one %s more, but %s, and %s%s",
                    what, first, second, changed);
}

static const char *short_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash && slash[1] ? slash + 1 : path;
    return strlen(name) > 60 ? name + strlen(name) - 60 : name;
}

clo_status cli_check_neighbours(const char *const files[2], const clo_read_options *reading,
                                clo_relation relation, cli_error *err)
{
    const char *const names[2] = { short_name(files[0]), short_name(files[1]) };
    const char *const what = reading->unit ? "person" : "record";
    const clo_relation other = relation == CLO_REPLACE ? CLO_ADD_REMOVE : CLO_REPLACE;
    clo_difference d = { .struct_size = sizeof d };
    const clo_status status = clo_files_compare(files[0], files[1], reading, &d, &err->error);
    if (status != CLO_OK) return status;
    if (are_neighbours(&d, relation)) return CLO_OK;
    if (are_neighbours(&d, other))
        cli_hint(err, other == CLO_REPLACE ? "--relation replace" : "--relation add-remove");
    if (d.only[0] == 0 && d.only[1] == 0 && d.changed == 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "'%s' and '%s' hold the same %ss: the files of a pair "
                        "must differ in one",
                        names[0], names[1], what);
    return say_difference(&d, what, names, relation, err);
}
