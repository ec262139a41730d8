/*
 * curves_of_json.c - curves that a program measured, as a picture: numbers with their standard
 * errors, of a file that may come from anywhere.  No release is involved, and nothing of it is
 * private because it is drawn here.
 *
 *   {"schema": "cloister.curves/1", "panels": [{"name": "cost", "title": "...",
 *    "x": {"name": "epsilon", "log": true}, "y": {"name": "cost", "log": false},
 *    "curves": [{"name": "ours", "x": [...], "y": [...], "error": [...]}]}]}
 *
 * What else is there (sizes, machine, data) is for people and other programs.
 */
#include "base/text_file.h"
#include "draw/draw.h"
#include <cloister/page.h>
#include <math.h>
#include <string.h>

enum { MOST_CURVES = 64, MOST_POINTS = 100000 };

static clo_status bad(clo_error *err, const char *what)
{
    return clo_i_fail(err, CLO_FORMAT, "this is not a file of curves: %s", what);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static clo_status find_panel(const json_t *root, const char *name, const json_t **out,
                             clo_error *err)
{
    const char *const schema = text_of(root, "schema");
    const json_t *const panels = json_object_get(root, "panels");
    if (!schema || strcmp(schema, "cloister.curves/1") != 0)
        return bad(err, "\"schema\" is not \"cloister.curves/1\"");
    if (json_array_size(panels) == 0) return bad(err, "it has no \"panels\"");
    for (size_t i = 0; i < json_array_size(panels); i++) {
        const char *const own = text_of(json_array_get(panels, i), "name");
        if (!own) return bad(err, "a panel has no \"name\"");
        if (name && strcmp(own, name) != 0) continue;
        *out = json_array_get(panels, i);
        return CLO_OK;
    }
    return clo_i_fail(err, CLO_ARGUMENT, "there is no panel '%.100s'; the first is '%.100s'", name,
                      text_of(json_array_get(panels, 0), "name"));
}

/* A list of as many numbers as it must have; those that are null are gaps. */
static clo_status take_numbers(const json_t *list, size_t count, double *out, clo_error *err)
{
    if (json_array_size(list) != count) return bad(err, "the lists of a curve differ in length");
    for (size_t i = 0; i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        if (!json_is_number(item) && !json_is_null(item))
            return bad(err, "a curve holds something that is not a number");
        out[i] = json_is_null(item) ? NAN : json_number_value(item);
    }
    return CLO_OK;
}

/* x, y and, where it is there, error: three lists one after the other, which are the caller's. */
static clo_status take_curve(const json_t *curve, clo_line_of *line, double **numbers,
                             clo_error *err)
{
    const json_t *const error = json_object_get(curve, "error");
    const size_t count = json_array_size(json_object_get(curve, "x"));
    if (count == 0 || count > MOST_POINTS) return bad(err, "a curve has no points, or too many");
    CLO_TRY(clo_i_alloc(3 * count, sizeof **numbers, numbers, err));
    *line = (clo_line_of){ .x = *numbers,
                           .y = *numbers + count,
                           .count = count,
                           .name = text_of(curve, "name"),
                           .error = error ? *numbers + 2 * count : NULL };
    CLO_TRY(take_numbers(json_object_get(curve, "x"), count, *numbers, err));
    CLO_TRY(take_numbers(json_object_get(curve, "y"), count, *numbers + count, err));
    return error ? take_numbers(error, count, *numbers + 2 * count, err) : CLO_OK;
}

static bool is_log(const json_t *panel, const char *axis)
{
    return json_is_true(json_object_get(json_object_get(panel, axis), "log"));
}

static clo_status draw_panel(const json_t *panel, clo_writer *writer, clo_error *err)
{
    const json_t *const curves = json_object_get(panel, "curves");
    const char *const title = text_of(panel, "title");
    const char *const x_name = text_of(json_object_get(panel, "x"), "name");
    const char *const y_name = text_of(json_object_get(panel, "y"), "name");
    const size_t count = json_array_size(curves);
    clo_line_of lines[MOST_CURVES];
    double *numbers[MOST_CURVES] = { NULL };
    clo_status status = CLO_OK;
    if (count == 0 || count > MOST_CURVES) return bad(err, "a panel has no curves, or too many");
    if (!title || !x_name || !y_name) return bad(err, "a panel lacks its title or names of axes");
    for (size_t i = 0; i < count && !status; i++)
        status = take_curve(json_array_get(curves, i), &lines[i], &numbers[i], err);
    const clo_caption caption = { "curves", title, title, true };
    const clo_curves drawn = { .lines = lines,
                               .count = count,
                               .x_name = x_name,
                               .y_name = y_name,
                               .x_log = is_log(panel, "x"),
                               .y_log = is_log(panel, "y"),
                               .limit = NAN,
                               .here = NAN };
    if (!status) status = clo_i_draw_curves(writer, &caption, &drawn, err);
    for (size_t i = 0; i < count; i++) clo_i_free(numbers[i]);
    return status;
}

clo_status clo_curves_svg(const char *json, size_t length, const char *panel, clo_write *write,
                          void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    const json_t *found = NULL;
    json_t *root = NULL;
    CLO_TRY(clo_i_parse_json(json, length, &root, err));
    clo_status status = find_panel(root, panel, &found, err);
    if (!status) status = draw_panel(found, &writer, err);
    json_decref(root);
    if (!status && writer.failed)
        return clo_i_fail(err, CLO_IO, "the picture could not be written");
    return status;
}
