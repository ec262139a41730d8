/* The lattice behind the cells of subspaces: what is found is a point of it, none is nearer, and
 * cells are as large, as round and as far-reaching as lattice.h says. */
#include "pipeline.h"
#include "mechanism/subspace/lattice.h"
#include "random/random.h"
#include <math.h>

enum { DIM = CLO_LATTICE_DIM };

static double square_between(const double *point, const int64_t *center)
{
    double total = 0;
    for (size_t i = 0; i < DIM; i++)
        total += (point[i] - (double)center[i]) * (point[i] - (double)center[i]);
    return total;
}

/* By its generators: a word of the code has even overlap with the words of its dual, which the
 * affine functions of two bits at a time, that is all products of two of them, span. */
static bool is_in_lattice(const int64_t *x)
{
    int64_t sum = 0;
    for (size_t i = 0; i < DIM; i++) sum += x[i];
    if (sum % 4 != 0) return false;
    for (unsigned first = 0; first < 5; first++)
        for (unsigned second = 0; second < 5; second++) {
            int64_t overlap = 0;
            for (unsigned i = 0; i < DIM; i++)
                if (((i | DIM) >> first & 1) && ((i | DIM) >> second & 1)) overlap += x[i];
            if (overlap % 2 != 0) return false;
        }
    return true;
}

static void draw_point(clo_stream *stream, double *point)
{
    for (size_t i = 0; i < DIM; i++)
        point[i] = CLO_LATTICE_PERIOD * clo_i_random_unit(stream) * 3 - 5;
}

/* The nearest point is not farther than any neighbour of it: each pair of a shift of two
 * coordinates, and each word of weight 8. */
static bool is_nearest(const double *point, const int64_t *found)
{
    const double least = square_between(point, found) - 1e-9;
    int64_t other[DIM];
    for (unsigned i = 0; i < DIM; i++)
        for (unsigned j = 0; j < i; j++)
            for (int signs = 0; signs < 4; signs++) {
                memcpy(other, found, sizeof other);
                other[i] += signs & 1 ? 2 : -2;
                other[j] += signs & 2 ? 2 : -2;
                if (square_between(point, other) < least) return false;
            }
    for (unsigned word = 1; word < 2 * DIM; word++) {
        size_t ups = 0;
        double best = INFINITY, change = 0;
        for (unsigned i = 0; i < DIM; i++) {
            const unsigned bits = word & (i | DIM);
            const double off = point[i] - (double)found[i];
            if (!(__builtin_popcount(bits) & 1)) continue;
            ups += off > 0;
            change += 1 - 2 * fabs(off);
            best = fmin(best, fabs(off));
        }
        /* An odd number of steps up among 8 changes the sum by no multiple of 4. */
        if (square_between(point, found) + change + (ups & 1 ? 4 * best : 0) < least) return false;
    }
    return true;
}

static void the_nearest_point_is_found(void **state)
{
    clo_rng *const rng = seeded("lattice");
    clo_stream *stream = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (int trial = 0; trial < 2000; trial++) {
        double point[DIM];
        int64_t found[DIM];
        draw_point(stream, point);
        clo_i_lattice_nearest(point, found);
        assert_true(is_in_lattice(found));
        assert_true(is_nearest(point, found));
        assert_true(sqrt(square_between(point, found)) <= CLO_LATTICE_REACH);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* A point of the lattice and what is a little off it. */
static void a_point_of_the_lattice_is_its_own_center(void **state)
{
    const double points[][DIM] = {
        { 0 },
        { 4 },
        { 2, -2 },
        { 1, 1, 1, 1, 1, 1, 1, 1 },
        { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 },
        { -1, -1, 1, 1, 1, 1, 1, 1, 4, 2, 2 },
    };
    (void)state;
    for (size_t p = 0; p < sizeof points / sizeof *points; p++)
        for (int off = 0; off < 2; off++) {
            double point[DIM];
            int64_t found[DIM];
            for (size_t i = 0; i < DIM; i++) point[i] = points[p][i] + off * (i % 2 ? .3 : -.3);
            clo_i_lattice_nearest(point, found);
            for (size_t i = 0; i < DIM; i++) assert_int_equal(found[i], (int64_t)points[p][i]);
        }
}

/* The second moment that lattice.h says, 1.1 % apart at four standard errors. */
static void cells_are_as_round_as_is_said(void **state)
{
    enum { TRIALS = 20000 };
    clo_rng *const rng = seeded("round");
    clo_stream *stream = NULL;
    clo_error err;
    double total = 0;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (int trial = 0; trial < TRIALS; trial++) {
        double point[DIM];
        int64_t found[DIM];
        draw_point(stream, point);
        clo_i_lattice_nearest(point, found);
        total += square_between(point, found) / DIM;
    }
    const double moment = total / TRIALS / (CLO_LATTICE_WIDTH * CLO_LATTICE_WIDTH);
    assert_true(fabs(moment - CLO_LATTICE_MOMENT) < .011 * CLO_LATTICE_MOMENT);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static void any_number_has_a_cell(void **state)
{
    double point[DIM] = { INFINITY, -INFINITY, NAN, 1e300, -1e300, 0x1p60, 5e-324 };
    int64_t found[DIM];
    (void)state;
    clo_i_lattice_nearest(point, found);
    for (size_t i = 0; i < DIM; i++) assert_true(llabs(found[i]) <= ((int64_t)1 << 50) + 2);
    assert_int_equal(clo_i_lattice_padded(0), 0);
    assert_int_equal(clo_i_lattice_padded(1), DIM);
    assert_int_equal(clo_i_lattice_padded(DIM), DIM);
    assert_int_equal(clo_i_lattice_padded(DIM + 1), 2 * DIM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_point_is_found),
        cmocka_unit_test(a_point_of_the_lattice_is_its_own_center),
        cmocka_unit_test(cells_are_as_round_as_is_said),
        cmocka_unit_test(any_number_has_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
