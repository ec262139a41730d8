/* The density: what its points add is what the same points add as records, to every query that it
 * is told of; a fit makes it answer what was answered; and points follow an answer to where it says
 * they are. */
#include "quiet_asking.h"
#include "density/density.h"
#include "density/density_internal.h"
#include "ask/assign.h"
#include "mechanism/common/density_run.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/look.h"

enum { D = 3, N = 400, K = 4 };
static const clo_density_shape shape = { .points = N,
                                         .cols = D,
                                         .looks = 1,
                                         .shells = CLO_LOOK_SHELLS,
                                         .grams = 1,
                                         .passes = 1,
                                         .cells = K,
                                         .rounds = 1,
                                         .clusters = K };
static const double places[K * D] = { .4, 0, 0, -.4, .1, 0, 0, .4, -.2, .1, -.4, .3 };

/* Points about the places, on the grid, and a density of them with weights of 1. */
static void open_density(clo_workspace **space, clo_density *density, double *rows)
{
    clo_error err;
    clo_rng *const rng = seeded("density");
    clo_stream *stream = NULL;
    assert_ok(clo_workspace_new(1 << 22, space, &err), err);
    assert_ok(clo_i_density_take(*space, &shape, density, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < N * D; i++) {
        const double at = places[i / D % K * D + i % D] + 0.1 * clo_i_random_normal(stream);
        rows[i] = ldexp(nearbyint(ldexp(at, 20)), -20);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    memcpy(density->points, rows, N * D * sizeof *rows);
    for (size_t i = 0; i < N; i++) density->base[i] = density->weights[i] = 1;
    for (size_t i = 0; i < N; i++) density->logs[i] = 0;
    density->strength = 1e-6;
    density->drawn = true;
}

static double look_center[D] = { 0.1, -0.05, 0.2 };

/* The answers to the same records, with noise of a step of the grid or so. */
static void tell_look(const clo_bounded *data, clo_density *density)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    double sum[D], shells[CLO_LOOK_SHELLS];
    clo_error err;
    clo_line line;
    asking a;
    assert_ok(clo_i_plan_look(&domain, 1, 1, "", &line, &err), err);
    start(&a, line);
    assert_ok(clo_i_ask_look(&a.context, 0, data, look_center, 0.3, sum, shells, &err), err);
    clo_i_density_tell_look(
        density, &(clo_look_told){ look_center, 0.3, sum, shells, CLO_LOOK_SHELLS, 1e-3, 1e-3 });
    stop(&a);
}

static void tell_gram(const clo_bounded *data, clo_density *density)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    const double center[D] = { 0.1, -0.05, 0.2 };
    double gram[D * D];
    clo_error err;
    clo_line line;
    asking a;
    assert_ok(clo_i_plan_local_gram(&domain, 1, 1, "", &line, &err), err);
    start(&a, line);
    assert_ok(clo_i_ask_local_gram(&a.context, 0, data, center, 0.4, gram, &err), err);
    clo_i_density_tell_gram(density, &(clo_gram_told){ center, 0.4, gram, 1 });
    stop(&a);
}

static double deviation = 1e-3; /* of the noise that an answer about cells is said to have */

static void tell_cells(const clo_bounded *data, double off, clo_density *density)
{
    static const double widths[K] = { 0.1, 0.15, 0.2, 0.3 }, reaches[K] = { 0.2, 0.2, 0.2, 0.4 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    double sums[K * D], squares[K], sizes[K], about[K * D];
    clo_local_view views[K];
    clo_local_sums answer = { sums, squares, sizes };
    clo_assign rule;
    clo_error err;
    clo_line line;
    asking a;
    for (size_t e = 0; e < K * D; e++) about[e] = places[e] + off;
    for (size_t c = 0; c < K; c++) views[c] = (clo_local_view){ widths[c], reaches[c] };
    assert_ok(clo_i_plan_local_sum(&domain, K, CLO_EVENT_GAUSSIAN, 1, 1, "", &line, &err), err);
    start(&a, line);
    assert_ok(clo_i_assign_centers(a.context.workspace, about, K, D, 20, &rule, &err), err);
    assert_ok(clo_i_ask_local_sum(&a.context, 0, data, &rule, views, &answer, &err), err);
    clo_i_density_tell_cells(density, &(clo_cells_told){ K, about, widths, reaches, sums, squares,
                                                         sizes, deviation, deviation, deviation });
    stop(&a);
}

/* The largest difference between what the density answers and what it was told, in deviations. */
static double farthest(const clo_density *density)
{
    double most = 0;
    for (size_t a = 0; a < density->answered; a++) {
        const clo_density_answer *const at = &density->answers[a];
        for (size_t e = 0; e < at->groups * at->stride; e++) most = fmax(most, fabs(at->off[e]));
    }
    return most;
}

/* Each cell has its share of the points up to a pair of them, and their mean is its place. */
static void points_are_drawn_evenly(void **state)
{
    static double rows[N * D];
    static const double shares[K] = { 5, 0, 3, 2.03 }, deviations[K] = { .02, .02, .01, .03 };
    static const double root[D * D] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    const clo_density_cells cells = { .count = K,
                                      .places = places,
                                      .shares = shares,
                                      .deviations = deviations,
                                      .root = root,
                                      .wide = 0.2 };
    clo_workspace *space;
    clo_density density;
    clo_error err;
    clo_rng *const rng = seeded("even");
    clo_stream *stream = NULL;
    size_t count[K] = { 0 };
    double sums[K * D] = { 0 };
    (void)state;
    open_density(&space, &density, rows);
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    clo_i_density_draw(&density, stream, &cells, 1000);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    for (size_t i = 0; i < N; i++) {
        double square;
        const double *const point = density.points + i * D;
        const size_t own = clo_i_density_nearest(point, places, K, D, &square);
        count[own]++;
        for (size_t j = 0; j < D; j++) sums[own * D + j] += point[j] - places[own * D + j];
        assert_true(density.weights[i] == 1000.0 / N);
    }
    for (size_t c = 0; c < K; c++) {
        assert_true(fabs((double)count[c] - shares[c] / 10.03 * N) <= 2);
        for (size_t j = 0; j < D; j++) assert_true(fabs(sums[c * D + j]) < 1e-12);
    }
    clo_workspace_free(space);
}

/* In thousandths of a record, and of a matrix on its coarse grid in records. */
static void points_add_what_the_same_records_add(void **state)
{
    static double rows[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space;
    clo_density density;
    (void)state;
    open_density(&space, &density, rows);
    clo_bounded *const data = bounded_from(rows, N, &domain);
    tell_look(data, &density);
    tell_gram(data, &density);
    tell_cells(data, 0.03, &density);
    clo_i_density_fit(&density, 0);
    assert_int_equal(density.answered, 4);
    assert_true(farthest(&density) < 1.5);
    clo_bounded_free(data);
    clo_workspace_free(space);
}

/* Records and points at 2^-e of the centre, on the edge between two shells, and a step beyond. */
static void a_point_on_the_edge_of_a_shell_counts_where_its_record_does(void **state)
{
    static double rows[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space;
    clo_density density;
    (void)state;
    look_center[0] = 0.25, look_center[1] = -0.125, look_center[2] = 0.125;
    open_density(&space, &density, rows);
    for (size_t i = 0; i < N; i++) {
        const double apart = ldexp(i % 2 ? 1 : -1, -1 - (int)(i % 7)) + (i % 3 ? 0 : 0x1p-20);
        memcpy(rows + i * D, look_center, sizeof look_center);
        rows[i * D + i % D] += apart;
    }
    memcpy(density.points, rows, sizeof rows);
    clo_bounded *const data = bounded_from(rows, N, &domain);
    tell_look(data, &density);
    clo_i_density_fit(&density, 0);
    assert_int_equal(density.answered, 2);
    assert_true(farthest(&density) < 1.5);
    look_center[0] = 0.1, look_center[1] = -0.05, look_center[2] = 0.2;
    clo_bounded_free(data);
    clo_workspace_free(space);
}

/* Whatever is answered: all records in one place, where there is one point. */
static void no_weight_leaves_its_limits(void **state)
{
    static double rows[N * D], others[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space;
    clo_density density;
    double least = INFINITY, most = 0;
    (void)state;
    open_density(&space, &density, rows);
    for (size_t i = 0; i < N; i++) memcpy(others + i * D, rows, D * sizeof *rows);
    clo_bounded *const data = bounded_from(others, N, &domain);
    tell_look(data, &density);
    tell_gram(data, &density);
    tell_cells(data, 0.03, &density);
    clo_i_density_fit(&density, 400);
    for (size_t i = 0; i < N; i++) {
        least = fmin(least, density.weights[i]);
        most = fmax(most, density.weights[i]);
    }
    assert_true(least >= exp(-8) * (1 - 1e-12) && most <= exp(5) * (1 + 1e-12));
    assert_true(most > 20);
    clo_bounded_free(data);
    clo_workspace_free(space);
}

/* A cluster has the weight of its points, whatever their number; and more clusters cost no more. */
static void clusters_have_the_weight_of_their_points(void **state)
{
    static double rows[N * D];
    double centers[12 * D], sizes[12], squares[12], curve[12], expected[K] = { 0 };
    clo_rng *const rng = seeded("sizes");
    clo_workspace *space;
    clo_density density;
    clo_error err;
    (void)state;
    open_density(&space, &density, rows);
    for (size_t i = 0; i < N; i++) {
        density.weights[i] = 0.5 + (double)(i % K) + 0.01 * (double)(i % 10);
        expected[i % K] += density.weights[i];
    }
    for (int median = 0; median < 2; median++) {
        const clo_density_solver how = { .rng = rng, .threads = 1, .starts = 5, .median = median };
        assert_ok(clo_i_density_centers(&density, &how, K, centers, sizes, squares, &err), err);
        for (size_t c = 0; c < K; c++) {
            double square;
            const size_t own = clo_i_density_nearest(centers + c * D, places, K, D, &square);
            assert_true(square < 0.1);
            assert_close(sizes[c], expected[own], 0.1 * expected[own]);
        }
    }
    for (int again = 0; again < 20; again++) {
        assert_ok(clo_i_density_find_curve(&density, rng, 1, 12, centers, curve, &err), err);
        for (size_t k = 1; k < 12; k++) assert_true(curve[k] <= curve[k - 1]);
    }
    clo_rng_free(rng);
    clo_workspace_free(space);
}

/* How far noise as large as the answers' moves the centres, drawn and fitted many times over: the
 * doubt, which is a mean of a few such draws, is about that. */
static void a_doubt_is_how_far_such_noise_moves_a_center(void **state)
{
    enum { DRAWS = 60 };
    static double rows[N * D], told[8 * (CLO_LOOK_SHELLS + K) * (D * D + D + 4)];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    double centers[K * D], again[K * D], sizes[K], squares[K], doubts[K];
    double moved = 0, doubted = 0;
    clo_rng *const rng = seeded("doubt");
    clo_stream *stream = NULL;
    clo_workspace *space;
    clo_density density;
    clo_error err;
    (void)state;
    open_density(&space, &density, rows);
    clo_bounded *const data = bounded_from(rows, N, &domain);
    deviation = 0.5;
    tell_look(data, &density);
    tell_gram(data, &density);
    tell_cells(data, 0, &density);
    deviation = 1e-3;
    for (size_t a = 0; a < 3; a++) density.answers[a].noise[0] = 1e3; /* they tell nothing */
    clo_i_density_see(&density);
    for (size_t a = 0; a < 3; a++)
        memset(density.answers[a].told, 0,
               density.answers[a].groups * density.answers[a].stride * sizeof(double));
    clo_i_density_fit(&density, 100);
    const clo_density_solver how = { .rng = rng, .threads = 1, .starts = 5 };
    const clo_density_solver stays = { .rng = rng, .threads = 1 };
    assert_ok(clo_i_density_centers(&density, &how, K, centers, sizes, squares, &err), err);
    assert_ok(clo_i_density_doubt(&density, space, &how, K, centers, doubts, &err), err);
    for (size_t c = 0; c < K; c++) doubted += doubts[c] * doubts[c];
    assert_ok(clo_i_stream_open(rng, 77, 0, &stream, &err), err);
    const clo_density_answer *const cells = &density.answers[density.answered - 1];
    const size_t count = cells->groups * cells->stride;
    assert_true(count <= sizeof told / sizeof *told);
    memcpy(told, cells->told, count * sizeof *told);
    for (int draw = 0; draw < DRAWS; draw++) {
        for (size_t a = 0; a < density.answered; a++) {
            const clo_density_answer *const at = &density.answers[a];
            const size_t features = clo_i_density_features(at->kind, D);
            for (size_t e = 0; e < at->groups * at->stride; e++) {
                const double was = at == cells ? told[e] : 0;
                const bool noised = e % at->stride < features;
                at->told[e] = was + (noised ? clo_i_random_normal(stream) : 0);
            }
        }
        for (size_t i = 0; i < N; i++) density.logs[i] = 0;
        clo_i_density_fit(&density, 60);
        memcpy(again, centers, sizeof again);
        assert_ok(clo_i_density_centers(&density, &stays, K, again, NULL, NULL, &err), err);
        for (size_t e = 0; e < K * D; e++)
            moved += (again[e] - centers[e]) * (again[e] - centers[e]) / DRAWS;
    }
    assert_true(moved > 0);
    assert_true(sqrt(doubted / moved) > 0.6 && sqrt(doubted / moved) < 1.7);
    clo_i_stream_close(stream);
    clo_bounded_free(data);
    clo_workspace_free(space);
    clo_rng_free(rng);
}

/* A density of other points: even weights are far off, fitted ones are not. */
static void a_fit_answers_what_was_answered(void **state)
{
    static double rows[N * D], others[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space;
    clo_density density;
    (void)state;
    open_density(&space, &density, rows);
    for (size_t i = 0; i < N; i++) /* each point once, but half of the first group twice */
        memcpy(others + i * D, rows + (i % (2 * K) == 1 ? i - 1 : i) * D, D * sizeof *rows);
    clo_bounded *const data = bounded_from(others, N, &domain);
    tell_look(data, &density);
    tell_gram(data, &density);
    tell_cells(data, 0.03, &density);
    clo_i_density_fit(&density, 0);
    const double before = farthest(&density);
    clo_i_density_fit(&density, 200);
    double total = 0;
    for (size_t i = 0; i < N; i++) total += density.weights[i];
    assert_true(before > 1e4);
    assert_true(farthest(&density) < 0.02 * before);
    assert_close(total, N, 1);
    clo_bounded_free(data);
    clo_workspace_free(space);
}

/* Records that lie elsewhere, in groups of other sizes: after it is told, points are there. */
static void points_follow_an_answer(void **state)
{
    static double rows[N * D], moved[N * D];
    const double step[D] = { 0.05, -0.03, 0.04 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space;
    clo_density density;
    clo_error err;
    double means[2][D] = { { 0 } };
    (void)state;
    open_density(&space, &density, rows);
    for (size_t i = 0; i < N * D; i++) moved[i] = rows[i] + step[i % D];
    clo_bounded *const data = bounded_from(moved, N, &domain);
    density.answered = 3; /* a look and a matrix that nobody asked for */
    for (size_t a = 0; a < 3; a++) density.answers[a].noise[0] = 1;
    tell_cells(data, 0, &density);
    clo_rng *const rng = seeded("follow");
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    assert_ok(clo_i_density_follow(&density, space, stream, N, &err), err);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    for (size_t i = 0; i < N * D; i++) {
        means[0][i % D] += moved[i] / N;
        means[1][i % D] += density.points[i] / N;
    }
    for (size_t j = 0; j < D; j++) assert_close(means[1][j], means[0][j], 0.03);
    for (size_t i = 0; i < N; i++) assert_true(density.weights[i] == 1);
    clo_bounded_free(data);
    clo_workspace_free(space);
}

/* Records that lie where no point is: the points move there, unless noise may be to blame. */
static void points_move_where_no_weights_explain_an_answer(void **state)
{
    static double rows[N * D], moved[N * D], before[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_rng *const rng = seeded("explain");
    (void)state;
    for (int blamed = 0; blamed < 2; blamed++) {
        clo_density_state s = { .start.rows = N };
        clo_context context = { .rng = rng };
        clo_error err;
        open_density(&context.workspace, &s.density, rows);
        for (size_t i = 0; i < N * D; i++) moved[i] = rows[i] + (i % D == 0 ? 0.15 : 0);
        clo_bounded *const data = bounded_from(moved, N, &domain);
        deviation = blamed ? 100 : 1;
        s.density.strength = 1;
        tell_look(data, &s.density);
        tell_gram(data, &s.density);
        tell_cells(data, 0, &s.density);
        clo_i_density_fit(&s.density, CLO_DENSITY_STEPS);
        const double misfit = clo_i_density_misfit(&s.density);
        memcpy(before, s.density.points, sizeof before);
        assert_ok(clo_i_density_explain(&context, &s, &err), err);
        const bool same = memcmp(before, s.density.points, sizeof before) == 0;
        assert_int_equal(same, blamed);
        assert_int_equal(misfit < 2, blamed);
        if (!blamed) assert_true(clo_i_density_misfit(&s.density) < misfit / 4);
        clo_bounded_free(data);
        clo_workspace_free(context.workspace);
    }
    deviation = 1e-3;
    clo_rng_free(rng);
}

/* What was told is kept in whole numbers, and told again it is the same to the last bit: places,
 * widths, answers, and what each point adds. */
static void answers_are_kept_in_whole_numbers_and_told_again(void **state)
{
    static double rows[N * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_workspace *space, *other_space;
    clo_density density, again;
    (void)state;
    open_density(&space, &density, rows);
    open_density(&other_space, &again, rows);
    clo_bounded *const data = bounded_from(rows, N, &domain);
    tell_look(data, &density);
    tell_gram(data, &density);
    tell_cells(data, 0.01, &density);
    for (size_t a = 0; a < density.answered; a++) {
        int64_t asked[K * (D + 2)], answered[CLO_LOOK_SHELLS + K * (D + 2)];
        clo_density_kept kept = clo_i_density_kept(&density, a);
        assert_true(kept.asked_count <= K * (D + 2));
        clo_i_density_keep(&density, a, asked, answered);
        kept.asked = asked;
        kept.answered = answered;
        assert_true(clo_i_density_kept_fits(&kept, D));
        assert_false(clo_i_density_kept_fits(&kept, D + 1));
        clo_i_density_retell(&again, &kept);
        const clo_density_answer *const x = &density.answers[a], *const y = &again.answers[a];
        const size_t each = D + (x->kind == CLO_DENSITY_CELLS) + 1, count = kept.asked_count / each;
        assert_memory_equal(x->told, y->told, x->groups * x->stride * sizeof(double));
        assert_memory_equal(x->places, y->places, count * D * sizeof(double));
        assert_memory_equal(x->widths, y->widths, count * sizeof(double));
        assert_memory_equal(x->reaches, y->reaches, count * sizeof(double));
        assert_memory_equal(x->features, y->features, N * x->stride * sizeof(float));
        assert_memory_equal(x->labels, y->labels, N * sizeof(uint32_t));
    }
    assert_int_equal(again.answered, 4);
    clo_bounded_free(data);
    clo_workspace_free(space);
    clo_workspace_free(other_space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_drawn_evenly),
        cmocka_unit_test(points_add_what_the_same_records_add),
        cmocka_unit_test(a_point_on_the_edge_of_a_shell_counts_where_its_record_does),
        cmocka_unit_test(no_weight_leaves_its_limits),
        cmocka_unit_test(clusters_have_the_weight_of_their_points),
        cmocka_unit_test(a_doubt_is_how_far_such_noise_moves_a_center),
        cmocka_unit_test(a_fit_answers_what_was_answered),
        cmocka_unit_test(points_follow_an_answer),
        cmocka_unit_test(points_move_where_no_weights_explain_an_answer),
        cmocka_unit_test(answers_are_kept_in_whole_numbers_and_told_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
