/* domain_options.c - what the user says is publicly known of the data: read before the data are,
 * fitted to the columns afterwards. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 20 };

/* ---- lists of numbers ----------------------------------------------------- */

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

/* ---- bounds --------------------------------------------------------------- */

/* "LO,HI": two numbers; anything else is the name of a file. */
static bool scan_pair(const char *text, cli_bound *out)
{
    const size_t first = strcspn(text, ",");
    cli_bound bound = { NULL, 0, 0 };
    if (text[first] != ',' || !cli_scan_real(text, first, &bound.lower)) return false;
    if (!cli_scan_real(text + first + 1, strlen(text + first + 1), &bound.upper)) return false;
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
    line[strcspn(line, "\r\n")] = 0;
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
    return cli_scan_real(cell, strlen(cell), &unused);
}

enum { MOST_CELLS = 4 };

static bool take_bound(char *const *cells, size_t count, cli_bound *out)
{
    if (count < 2 || count > 3) return false;
    char *const *const ends = cells + (count - 2);
    if (!cli_scan_real(ends[0], strlen(ends[0]), &out->lower)) return false;
    if (!cli_scan_real(ends[1], strlen(ends[1]), &out->upper)) return false;
    out->name = count == 3 ? cli_copy(cells[0]) : NULL;
    return true;
}

static void add_bound(cli_domain_spec *spec, cli_bound bound)
{
    const size_t count = spec->bound_count;
    if ((count & (count - 1)) == 0) { /* full at every power of two */
        cli_bound *const grown = cli_alloc(count ? 2 * count : 1, sizeof *grown);
        if (count) memcpy(grown, spec->bounds, count * sizeof *grown);
        free(spec->bounds);
        spec->bounds = grown;
    }
    spec->bounds[spec->bound_count++] = bound;
}

static clo_status read_bounds(FILE *in, const char *path, cli_domain_spec *spec, cli_error *err)
{
    char line[4096], *cells[MOST_CELLS];
    for (size_t number = 1; fgets(line, sizeof line, in); number++) {
        cli_bound bound = { NULL, 0, 0 };
        const bool whole = strchr(line, '\n') || feof(in);
        const size_t count = cut_cells(line, cells, MOST_CELLS);
        bool header = number == 1;
        for (size_t i = 0; i < count; i++) header = header && !is_number(cells[i]);
        if (header || (count == 1 && !cells[0][0])) continue;
        if (!whole || !take_bound(cells, count, &bound))
            return cli_fail(err, CLO_FORMAT, "%s, line %zu must be name,lower,upper or lower,upper",
                            path, number);
        add_bound(spec, bound);
    }
    if (spec->bound_count == 0)
        return cli_fail(err, CLO_FORMAT,
                        "%s holds no bounds: a line for each column is wanted, as name,lower,upper "
                        "or lower,upper",
                        path);
    return CLO_OK;
}

static clo_status parse_bounds(const char *text, cli_domain_spec *spec, cli_error *err)
{
    cli_bound pair;
    if (scan_pair(text, &pair)) {
        if (!(pair.lower < pair.upper))
            return cli_fail(err, CLO_DOMAIN, "--bounds %s: the lower end must be below the upper",
                            text);
        spec->bounds = cli_alloc(1, sizeof *spec->bounds);
        spec->bounds[0] = pair;
        spec->bound_count = 1;
        return CLO_OK;
    }
    FILE *const in = fopen(text, "r");
    if (!in)
        return cli_fail(err, errno == ENOENT ? CLO_ARGUMENT : CLO_IO,
                        "--bounds must be two numbers LO,HI or a file; '%s': %s", text,
                        strerror(errno));
    spec->bounds_file = text;
    const clo_status status = read_bounds(in, text, spec, err);
    fclose(in);
    return status;
}

/* ---- reading the options -------------------------------------------------- */

static clo_status read_counts(const cli_args *args, cli_domain_spec *spec, cli_error *err)
{
    const char *const rows = cli_value(args, "rows");
    const char *const per_unit = cli_value(args, "rows-per-unit");
    spec->unit = cli_value(args, "unit");
    clo_status status;
    if (rows && (status = cli_parse_whole("--rows", rows, 1, UINT64_C(1) << 31, &spec->rows, err)))
        return status;
    if (per_unit && (status = cli_parse_whole("--rows-per-unit", per_unit, 1, 1 << 20,
                                              &spec->rows_per_unit, err)))
        return status;
    return CLO_OK;
}

clo_status cli_domain_read(const cli_args *args, cli_domain_spec *out, cli_error *err)
{
    const char *const relation = cli_value(args, "relation");
    const char *const norm = cli_value(args, "norm");
    const char *const bounds = cli_value(args, "bounds");
    const char *const center = cli_value(args, "center");
    cli_domain_spec spec = { .relation = CLO_REPLACE };
    clo_status status = read_counts(args, &spec, err);
    if (relation && strcmp(relation, clo_relation_name(CLO_ADD_REMOVE)) == 0)
        spec.relation = CLO_ADD_REMOVE;
    if (status == CLO_OK && !norm && !bounds && !cli_given(args, "norm-at-most")) {
        cli_hint(err, "cloister bounds --help, which finds a radius privately");
        status = cli_fail(err, CLO_DOMAIN,
                          "--norm R or --bounds LO,HI must be given: how far a record can reach "
                          "decides how much noise hides it, and must be known without the data");
    }
    if (status == CLO_OK && norm && !cli_asks_private(args, "norm"))
        status = cli_parse_positive("--norm", norm, &spec.norm, err);
    if (status == CLO_OK && bounds && center)
        status = cli_fail(err, CLO_DOMAIN,
                          "--center and --bounds exclude each other: bounds already "
                          "say where the middle is");
    if (status == CLO_OK && bounds) status = parse_bounds(bounds, &spec, err);
    if (status == CLO_OK && center && !cli_asks_private(args, "center"))
        status = cli_parse_list("--center", center, &spec.center, &spec.center_count, err);
    if (status == CLO_OK) status = cli_learning_read(args, &spec, err);
    if (status == CLO_OK) status = cli_project_read(args, &spec, err);
    if (status != CLO_OK) {
        cli_domain_spec_free(&spec);
        return status;
    }
    *out = spec;
    return CLO_OK;
}

void cli_domain_spec_free(cli_domain_spec *spec)
{
    for (size_t i = 0; i < spec->bound_count; i++) free(spec->bounds[i].name);
    free(spec->bounds);
    free(spec->center);
    clo_release_free(spec->subspace);
    *spec = (cli_domain_spec){ .relation = spec->relation };
}

/* ---- fitting it to the columns -------------------------------------------- */

static const cli_bound *bound_named(const cli_domain_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->bound_count; i++)
        if (spec->bounds[i].name && strcmp(spec->bounds[i].name, name) == 0)
            return &spec->bounds[i];
    return NULL;
}

/* By name where both the file and the table have names, by place otherwise. */
static clo_status bound_of_column(const cli_domain_spec *spec, size_t cols, size_t column,
                                  const clo_table *table, cli_bound *out, cli_error *err)
{
    const char *const name = table ? clo_table_column_name(table, column) : NULL;
    if (!spec->bounds_file) {
        *out = spec->bounds[0];
        return CLO_OK;
    }
    if (name && spec->bounds[0].name) {
        const cli_bound *const found = bound_named(spec, name);
        if (!found)
            return cli_fail(err, CLO_DOMAIN, "'%s' has no bounds for the column '%s'",
                            spec->bounds_file, name);
        *out = *found;
        return CLO_OK;
    }
    if (spec->bound_count != cols)
        return cli_fail(err, CLO_DOMAIN, "'%s' has bounds for %zu columns, but there are %zu",
                        spec->bounds_file, spec->bound_count, cols);
    *out = spec->bounds[column];
    return CLO_OK;
}

static clo_status fit_bounds(const cli_domain_spec *spec, size_t cols, const clo_table *table,
                             clo_domain *domain, cli_error *err)
{
    double *const lower = cli_alloc(cols, sizeof *lower);
    double *const upper = cli_alloc(cols, sizeof *upper);
    clo_status status = CLO_OK;
    for (size_t j = 0; j < cols && status == CLO_OK; j++) {
        cli_bound bound = { NULL, 0, 0 };
        status = bound_of_column(spec, cols, j, table, &bound, err);
        if (status != CLO_OK) break;
        lower[j] = bound.lower;
        upper[j] = bound.upper;
    }
    domain->lower = lower;
    domain->upper = upper;
    return status;
}

clo_status cli_domain_fit(const cli_domain_spec *spec, size_t cols, const clo_table *table,
                          clo_domain *out, cli_error *err)
{
    clo_domain domain = clo_domain_default();
    clo_status status = CLO_OK;
    if (cols < 1 || cols > MOST_COLUMNS)
        return cli_fail(err, CLO_DOMAIN, "the number of columns must be between 1 and %d",
                        MOST_COLUMNS);
    domain.relation = spec->relation;
    domain.cols = cols;
    domain.norm = spec->norm;
    domain.rows = spec->rows;
    domain.rows_per_unit = spec->rows_per_unit ? spec->rows_per_unit : 1;
    domain.unit = spec->unit ? spec->unit : spec->rows_per_unit ? "unit" : NULL;
    if (spec->bounds) status = fit_bounds(spec, cols, table, &domain, err);
    if (status == CLO_OK && spec->center) {
        if (spec->center_count != cols)
            status =
                cli_fail(err, CLO_DOMAIN, "--center has %zu entries, but there are %zu columns",
                         spec->center_count, cols);
        double *const center = cli_alloc(cols, sizeof *center);
        if (status == CLO_OK) memcpy(center, spec->center, cols * sizeof *center);
        domain.center = center;
    }
    if (status == CLO_OK && spec->subspace)
        status = cli_project_fit(spec, cols, table, &domain, err);
    if (status == CLO_OK) status = clo_domain_check(&domain, &err->error);
    if (status != CLO_OK) {
        cli_domain_free(&domain);
        return status;
    }
    *out = domain;
    return CLO_OK;
}

void cli_domain_free(clo_domain *domain)
{
    free((void *)(uintptr_t)domain->lower);
    free((void *)(uintptr_t)domain->upper);
    free((void *)(uintptr_t)domain->center);
    clo_frame_free((clo_frame *)(uintptr_t)domain->frame);
    domain->lower = domain->upper = domain->center = NULL;
    domain->frame = NULL;
}
