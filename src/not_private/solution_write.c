/*
 * solution_write.c - a solution as JSON.  Its first lines say that it is not private, so that
 * nobody takes it for a release.
 */
#include "not_private/solution.h"
#include <cloister/output.h>
#include <string.h>

typedef struct writer {
    clo_write *write;
    void *user;
    bool failed;
} writer;

static void text(writer *w, const char *what)
{
    if (!w->failed && !w->write(w->user, what, strlen(what))) w->failed = true;
}

static void number(writer *w, double value)
{
    char digits[32];
    clo_number_text(value + 0.0, digits);
    text(w, digits);
}

static void whole(writer *w, size_t value)
{
    number(w, (double)value); /* counts and labels stay far below 2^53 */
}

static void vector(writer *w, const double *values, size_t count)
{
    text(w, "[");
    for (size_t j = 0; j < count; j++) {
        if (j) text(w, ", ");
        number(w, values[j]);
    }
    text(w, "]");
}

static void matrix(writer *w, const char *indent, clo_matrix m)
{
    text(w, "[");
    for (size_t i = 0; i < m.rows; i++) {
        text(w, i ? ",\n" : "\n");
        text(w, indent);
        vector(w, m.data + i * m.stride, m.cols);
    }
    text(w, "]");
}

static void parameters(writer *w, const clo_solution *s)
{
    char value[64];
    text(w, "  \"parameters\": {");
    for (size_t i = 0; i < s->param_count; i++) {
        text(w, i ? ", \"" : "\"");
        text(w, s->params[i].name);
        text(w, "\": ");
        clo_i_param_text(&s->params[i], s->values[i], value, sizeof value);
        text(w, value);
    }
    text(w, "},\n");
}

/* A name may hold anything that a file's header held. */
static void quoted(writer *w, const char *name)
{
    clo_writer json = { .write = w->write, .user = w->user, .failed = w->failed };
    clo_json_string(&json, name);
    w->failed = json.failed;
}

/* What is known of the columns, so that they are found again by name and measured alike. */
static void columns(writer *w, const clo_solution *s)
{
    const size_t cols = s->partition.cols;
    if (s->names) {
        text(w, ",\n  \"columns\": [");
        for (size_t j = 0; j < cols; j++) {
            if (j) text(w, ", ");
            quoted(w, s->names[j]);
        }
        text(w, "]");
    }
    if (!s->lower) return;
    text(w, ",\n  \"bounds\": {\"lower\": ");
    vector(w, s->lower, cols);
    text(w, ", \"upper\": ");
    vector(w, s->upper, cols);
    text(w, "}");
}

static void flats(writer *w, const clo_solution *s)
{
    const clo_matrix offsets = clo_solution_offsets(s);
    text(w, "    \"dims\": [");
    for (size_t c = 0; c < s->partition.clusters; c++) {
        if (c) text(w, ", ");
        whole(w, s->partition.dims[c]);
    }
    text(w, "]");
    if (s->bases) {
        text(w, ",\n    \"bases\": [");
        for (size_t c = 0; c < s->partition.clusters; c++) {
            text(w, c ? ",\n      " : "\n      ");
            matrix(w, "        ", clo_solution_basis(s, c));
        }
        text(w, "]");
    }
    if (offsets.rows) {
        text(w, s->bases ? ",\n    \"offsets\": " : ",\n    \"centers\": ");
        matrix(w, "      ", offsets);
    }
}

static void labels(writer *w, const clo_solution *s)
{
    if (!s->partition.labels) return;
    text(w, ",\n    \"labels\": [");
    for (size_t i = 0; i < s->partition.count; i++) {
        if (i) text(w, i % 32 ? ", " : ",\n      ");
        whole(w, s->partition.labels[i]);
    }
    text(w, "]");
}

clo_status clo_solution_write(const clo_solution *solution, clo_write *write, void *user,
                              clo_error *err)
{
    writer w = { write, user, false };
    if (!solution || !write)
        return clo_i_fail(err, CLO_ARGUMENT, "a solution and a place to write to must be given");
    text(&w, "{\n  \"schema\": \"cloister.solution/1\",\n  \"private\": false,\n"
             "  \"notice\": \"not private: a plain function of the data, for those who may see "
             "them\",\n  \"solver\": \"");
    text(&w, solution->solver);
    text(&w, "\",\n");
    parameters(&w, solution);
    text(&w, "  \"cost\": ");
    number(&w, solution->partition.cost);
    text(&w, ",\n  \"raw_cost\": ");
    number(&w, solution->raw_cost);
    text(&w, ",\n  \"cols\": ");
    whole(&w, solution->partition.cols);
    columns(&w, solution);
    text(&w, ",\n  \"values\": {\n");
    flats(&w, solution);
    labels(&w, solution);
    text(&w, "\n  }\n}\n");
    if (w.failed) return clo_i_fail(err, CLO_IO, "the solution could not be written");
    return CLO_OK;
}
