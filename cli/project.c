/* project.c - --project: a subspace that was released before, as the coordinates of this run.  The
 * file is read and doubted before the data are. */
#include "cli.h"
#include <string.h>

static clo_status check(const cli_args *args, const cli_domain_spec *spec, const char *path,
                        const clo_release *release, cli_error *err)
{
    clo_array basis;
    if (strcmp(clo_release_family(release), "subspace") != 0)
        return cli_fail(err, CLO_ARGUMENT,
                        "--project wants a release of the family subspace; '%s' is one of %s", path,
                        clo_release_family(release));
    if (!clo_release_find(release, "basis", &basis))
        return cli_fail(err, CLO_ARGUMENT,
                        "--project: the run behind '%s' found no subspace to project on", path);
    if (!clo_release_is_private(release) && !cli_given(args, "seed"))
        return cli_fail(err, CLO_ARGUMENT,
                        "--project: '%s' is not private, and nothing that is made of it would be",
                        path);
    if (clo_release_relation(release) != spec->relation)
        return cli_fail(err, CLO_DOMAIN,
                        "--project: '%s' was released under %s, and this run would be under %s: "
                        "two losses add up only under one relation",
                        path, clo_relation_name(clo_release_relation(release)),
                        clo_relation_name(spec->relation));
    if (spec->bounds || spec->center || spec->learning.center)
        return cli_fail(err, CLO_DOMAIN,
                        "--project excludes --bounds and --center: --norm R says how far the "
                        "records reach in the subspace, from its centre");
    return CLO_OK;
}

clo_status cli_project_read(const cli_args *args, cli_domain_spec *spec, cli_error *err)
{
    const char *const path = cli_value(args, "project");
    clo_release *release = NULL;
    if (!path) return CLO_OK;
    clo_status status = clo_release_read(path, &release, &err->error);
    if (status == CLO_OK) status = check(args, spec, path, release, err);
    if (status != CLO_OK) {
        clo_release_free(release);
        return status;
    }
    spec->project = path;
    spec->subspace = release;
    return CLO_OK;
}

clo_status cli_project_fit(const cli_domain_spec *spec, size_t cols, const clo_table *table,
                           clo_domain *domain, cli_error *err)
{
    const size_t own = clo_release_cols(spec->subspace);
    if (own != cols)
        return cli_fail(err, CLO_DOMAIN,
                        "--project: '%s' is a subspace of %zu columns, but there are %zu",
                        spec->project, own, cols);
    for (size_t j = 0; table && j < cols; j++) {
        const char *const theirs = clo_release_column_name(spec->subspace, j);
        const char *const here = clo_table_column_name(table, j);
        if (theirs && here && strcmp(theirs, here) != 0)
            return cli_fail(err, CLO_DOMAIN,
                            "--project: column %zu of '%s' is '%.60s', but that of the data is "
                            "'%.60s'",
                            j + 1, spec->project, theirs, here);
    }
    clo_frame *frame = NULL;
    clo_status status = clo_frame_of_release(spec->subspace, &frame, &err->error);
    if (status == CLO_OK) status = clo_domain_project(domain, frame, &err->error);
    if (status != CLO_OK) clo_frame_free(frame);
    return status;
}
