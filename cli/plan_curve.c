/* plan_curve.c - cloister plan --curve: what each epsilon buys, a table. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>

static const double curve_epsilons[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10 };
enum { CURVE_EPSILONS = sizeof curve_epsilons / sizeof *curve_epsilons, CURVE_CLUSTERS = 3 };

/* What there is to say of one plan of the table. */
typedef struct point {
    double epsilon, clusters, error;
    char method[32];
    bool planned, hidden;
} point;

/* A budget or a number of clusters that cannot be planned is a gap in the table. */
static clo_status look_at(cli_job *job, double epsilon, double clusters, point *out, cli_error *err)
{
    const clo_plan *plan = NULL;
    *out = (point){ .epsilon = epsilon, .clusters = clusters, .error = NAN };
    clo_status status = cli_job_set(job, "epsilon", cli_number(epsilon).text, err);
    if (status == CLO_OK && clusters > 0)
        status = cli_job_set(job, "clusters", cli_number(clusters).text, err);
    if (status != CLO_OK) return status;
    status = cli_job_plan(job, &plan, err);
    if (status == CLO_BUDGET || status == CLO_UNSUPPORTED) return CLO_OK;
    if (status != CLO_OK) return status;
    const cli_prediction there = cli_predict(plan);
    out->planned = true;
    if (there.meaning) out->error = there.error;
    out->hidden = clo_plan_hidden(plan, there.rows);
    snprintf(out->method, sizeof out->method, "%s", clo_mechanism_method(clo_plan_mechanism(plan)));
    return CLO_OK;
}

static void print_point(const point *p, bool last)
{
    char text[64] = "-";
    if (p->planned)
        snprintf(text, sizeof text, "%s%s %s",
                 isnan(p->error) ? "?" : cli_rounded(p->error, 2).text, p->hidden ? "!" : "",
                 p->method);
    printf("  %-*s", last ? 0 : 20, text);
}

static void print_curve(point points[][CURVE_CLUSTERS], size_t across, double rows)
{
    printf("Expected error with %s rows, and the method.  ! means that noise hides the "
           "clusters.\n\n"
           "  %-8s",
           cli_number(rows).text, "epsilon");
    for (size_t c = 0; c < across; c++) {
        char head[32] = "";
        if (points[0][c].clusters > 0)
            snprintf(head, sizeof head, "%.0f clusters", points[0][c].clusters);
        printf("  %-*s", c + 1 == across ? 0 : 20, head);
    }
    putchar('\n');
    for (size_t e = 0; e < CURVE_EPSILONS; e++) {
        printf("  %-8s", cli_number(curve_epsilons[e]).text);
        for (size_t c = 0; c < across; c++) print_point(&points[e][c], c + 1 == across);
        putchar('\n');
    }
}

/* At a terminal the errors of the clusters that were asked for are bars, too; on a scale of powers,
 * since they span some. */
static void draw_curve(point points[][CURVE_CLUSTERS], size_t across)
{
    enum { BAR = 48 };
    const size_t c = across / 2;
    char bar[3 * BAR + 1];
    double low = INFINITY, high = 0;
    for (size_t e = 0; e < CURVE_EPSILONS; e++) {
        if (!(points[e][c].error > 0)) continue;
        low = fmin(low, points[e][c].error);
        high = fmax(high, points[e][c].error);
    }
    if (!(low < high)) return;
    printf("\n  %-8s  error", "epsilon");
    if (points[0][c].clusters > 0) printf(" with %.0f clusters", points[0][c].clusters);
    putchar('\n');
    for (size_t e = 0; e < CURVE_EPSILONS; e++) {
        const point *const p = &points[e][c];
        if (!(p->error > 0)) continue;
        clo_bar_text(0.1 + 0.9 * log(p->error / low) / log(high / low), BAR, !cli_takes_unicode(),
                     bar, sizeof bar);
        printf("  %-8s  %-7s %s%s\n", cli_number(p->epsilon).text, cli_rounded(p->error, 2).text,
               bar, p->hidden ? "!" : "");
    }
    puts("  (the length of a bar is the logarithm of the error)");
}

static void write_curve(point points[][CURVE_CLUSTERS], size_t across, double rows)
{
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.curve/1");
    clo_json_number(&json, "rows", rows);
    clo_json_open(&json, "curve", '[');
    for (size_t e = 0; e < CURVE_EPSILONS; e++)
        for (size_t c = 0; c < across; c++) {
            const point *const p = &points[e][c];
            if (!p->planned) continue;
            clo_json_open(&json, NULL, '{');
            clo_json_number(&json, "epsilon", p->epsilon);
            if (p->clusters > 0) clo_json_number(&json, "clusters", p->clusters);
            clo_json_text(&json, "method", p->method);
            clo_json_number(&json, "error", p->error);
            clo_json_bool(&json, "hidden", p->hidden);
            clo_json_close(&json, '}');
        }
    clo_json_close(&json, ']');
    cli_json_end(&json);
}

/* Half of the clusters that were asked for, as many, and twice as many. */
clo_status cli_plan_curve(cli_job *job, cli_error *err)
{
    point points[CURVE_EPSILONS][CURVE_CLUSTERS];
    const char *const text = cli_value(job->args, "clusters");
    const double k = text ? strtod(text, NULL) : 0;
    double across[CURVE_CLUSTERS] = { k, 0, 0 }, rows = 0;
    size_t count = 1;
    if (k >= 2) {
        count = 0;
        for (double c = floor(k / 2); count < CURVE_CLUSTERS; c = c < k ? k : 2 * k)
            across[count++] = c;
    }
    for (size_t e = 0; e < CURVE_EPSILONS; e++)
        for (size_t c = 0; c < count; c++) {
            const clo_status status =
                look_at(job, curve_epsilons[e], across[c], &points[e][c], err);
            if (status != CLO_OK) return status;
        }
    rows = strtod(cli_value(job->args, "rows"), NULL);
    const bool json = cli_given(job->args, "json");
    (json ? write_curve : print_curve)(points, count, rows);
    if (!json && cli_is_terminal(stdout)) draw_curve(points, count);
    return CLO_OK;
}
