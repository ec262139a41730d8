/* center_points.c - the centres of one release or of several, as one set of points with what is
 * known of each: for charts that show places. */
#include "report/charts.h"
#include <math.h>
#include <string.h>

enum { MOST_NUMBERS = 1 << 24 };

/* Centres as lists of entries: those of very long ones. */
static bool find_lists(const clo_release *release, clo_array lists[3])
{
    return clo_release_find(release, "centers_starts", &lists[0]) &&
           clo_release_find(release, "centers_columns", &lists[1]) &&
           clo_release_find(release, "centers_values", &lists[2]) && lists[0].dimensions == 1 &&
           lists[0].shape[0] > 1 && lists[1].dimensions == 1 && lists[2].dimensions == 1 &&
           lists[1].shape[0] == lists[2].shape[0];
}

/* How many there are; 0: none that can be shown. */
static size_t point_count(const clo_release *release, clo_array *array)
{
    clo_array lists[3];
    size_t count = 0, numbers;
    if (clo_release_find(release, "centers", array) || clo_release_find(release, "offsets", array))
        count =
            array->dimensions == 2 && array->shape[1] == release->facts.cols ? array->shape[0] : 0;
    else if (find_lists(release, lists))
        count = lists[0].shape[0] - 1;
    return clo_i_multiply(count, release->facts.cols, &numbers) && numbers <= MOST_NUMBERS ? count
                                                                                           : 0;
}

bool clo_i_has_places(const clo_release *release)
{
    clo_array array;
    return point_count(release, &array) > 0;
}

static void fill_from_lists(const clo_release *release, size_t count, double *at)
{
    clo_array lists[3];
    if (!find_lists(release, lists)) return;
    const double all = (double)lists[2].shape[0], cols = (double)release->facts.cols;
    for (size_t c = 0; c < count; c++) {
        const double first = lists[0].data[c], end = lists[0].data[c + 1];
        if (!(first >= 0 && first <= end && end <= all)) continue; /* files come from anywhere */
        for (size_t e = (size_t)first; e < (size_t)end; e++) {
            const double column = lists[1].data[e];
            if (column >= 0 && column < cols)
                at[c * release->facts.cols + (size_t)column] = lists[2].data[e];
        }
    }
}

/* One of these of each point, or none at all. */
static void copy_each(const clo_release *release, const char *name, size_t count, double **to,
                      size_t first)
{
    clo_array array;
    if (!*to) return;
    if (clo_release_find(release, name, &array) && array.dimensions == 1 &&
        array.shape[0] == count) {
        memcpy(*to + first, array.data, count * sizeof **to);
        return;
    }
    clo_i_free(*to);
    *to = NULL;
}

static void add_release(const clo_release *release, size_t which, size_t first, clo_places *out)
{
    clo_array array = { .data = NULL };
    const size_t count = point_count(release, &array), cols = out->cols;
    if (array.data)
        memcpy(out->at + first * cols, array.data, count * cols * sizeof *out->at);
    else
        fill_from_lists(release, count, out->at + first * cols);
    for (size_t i = 0; i < count; i++) {
        out->from[first + i] = which;
        out->index[first + i] = i;
    }
    copy_each(release, "sizes", count, &out->weight, first);
    copy_each(release, "radii", count, &out->width, first);
    if (out->noise && !clo_release_center_noise(release, out->noise + first * cols)) {
        clo_i_free(out->noise);
        out->noise = NULL;
    }
}

static const clo_release *release_at(const clo_release *release, const clo_page_options *options,
                                     size_t which)
{
    return which == 0 ? release : options->others[which - 1];
}

size_t clo_i_places_count(const clo_release *release, const clo_page_options *options)
{
    clo_array array;
    size_t count = 0;
    for (size_t which = 0; which <= options->other_count; which++)
        count += point_count(release_at(release, options, which), &array);
    return count;
}

static clo_status count_all(const clo_release *release, const clo_page_options *options,
                            clo_places *out, clo_error *err)
{
    out->cols = release->facts.cols;
    out->count = clo_i_places_count(release, options);
    for (size_t which = 0; which <= options->other_count; which++) {
        const clo_release *const one = release_at(release, options, which);
        if (one->facts.cols != out->cols)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "releases of %zu and of %zu columns cannot be compared", out->cols,
                              one->facts.cols);
    }
    if (out->count == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the release has no centers that could be shown");
    return CLO_OK;
}

clo_status clo_i_places_new(const clo_release *release, const clo_page_options *options,
                            clo_places *out, clo_error *err)
{
    const clo_facts *const facts = &release->facts;
    clo_places p = { .count = 0 };
    clo_array array;
    clo_status status;
    CLO_TRY(count_all(release, options, &p, err));
    const size_t count = p.count;
    if ((status = clo_i_alloc(count * p.cols, sizeof *p.at, &p.at, err)) ||
        (status = clo_i_alloc(count * p.cols, sizeof *p.noise, &p.noise, err)) ||
        (status = clo_i_alloc(count, sizeof *p.weight, &p.weight, err)) ||
        (status = clo_i_alloc(count, sizeof *p.width, &p.width, err)) ||
        (status = clo_i_alloc(p.cols, sizeof *p.unit, &p.unit, err)) ||
        (status = clo_i_alloc(count, sizeof *p.from, &p.from, err)) ||
        (status = clo_i_alloc(count, sizeof *p.index, &p.index, err))) {
        clo_i_places_free(&p);
        return status;
    }
    for (size_t j = 0; j < p.cols; j++) {
        const double half = clo_i_facts_unit(facts, j);
        p.unit[j] = half > 0 && isfinite(half) ? half : 1;
    }
    size_t first = 0;
    for (size_t which = 0; which <= options->other_count; which++) {
        const clo_release *const one = release_at(release, options, which);
        add_release(one, which, first, &p);
        first += point_count(one, &array);
    }
    *out = p;
    return CLO_OK;
}

void clo_i_places_free(clo_places *p)
{
    void *const all[] = { p->at, p->noise, p->weight, p->width, p->unit, p->from, p->index };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
}
