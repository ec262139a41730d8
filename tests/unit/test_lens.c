/* lens.T1: what is seen of a record lies in the ball, is the record's own affair, and is what the
 * formula says; the sums and Gram matrices of gaussian_sum and gaussian_gram are those of what is
 * seen; the meter refuses another lens than the plan's.  lens.T2: what is kept is what is seen. */
#include "pipeline.h"
#include "ask/query.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_sum.h"
#include "ask/lens_cache.h"
#include "ask/query_steps.h"

enum { ROWS = 300, D = 17, RANK = 5 };

typedef struct fixture {
    double values[ROWS * D], frame[D * RANK];
    clo_workspace *space;
    clo_bounded *data;
    clo_lens lenses[3]; /* a frame, a constant, both */
} fixture;

static int make(void **state)
{
    clo_error err;
    static fixture f;
    clo_stream *stream = NULL;
    clo_rng *const rng = seeded("lens");
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    for (size_t i = 0; i < D * RANK; i++) f.frame[i] = clo_i_random_normal(stream);
    assert_ok(clo_i_orthonormalize(f.frame, D, RANK, &err), err);
    for (size_t i = 0; i < ROWS; i++) /* many far out, and many of them inside the frame */
        for (size_t j = 0; j < D; j++)
            f.values[i * D + j] = i % 3 == 0 ? f.frame[j * RANK + i % RANK] * (double)(1 + i % 2)
                                             : clo_i_random_normal(stream) * (i % 3 == 1 ? 1 : 0.1);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    assert_ok(clo_workspace_new(1 << 22, &f.space, &err), err);
    f.data = bounded_from(f.values, ROWS, &domain);
    assert_ok(clo_i_lens_make(f.space, f.frame, D, RANK, 0, &f.lenses[0], &err), err);
    assert_ok(clo_i_lens_make(f.space, NULL, D, 0, 0.7, &f.lenses[1], &err), err);
    assert_ok(clo_i_lens_make(f.space, f.frame, D, RANK, 0.7, &f.lenses[2], &err), err);
    *state = &f;
    return 0;
}

static int drop(void **state)
{
    fixture *const f = *state;
    clo_bounded_free(f->data);
    clo_workspace_free(f->space);
    return 0;
}

static void look(const clo_bounded *data, const clo_lens *lens, size_t block_rows, int bits,
                 double *seen)
{
    clo_error err;
    double *const values = malloc(block_rows * D * sizeof *values);
    for (size_t b = 0; b < clo_i_block_count(data, block_rows); b++) {
        size_t rows;
        assert_ok(clo_i_block_load(data, b, block_rows, CLO_GRID_BITS, values, &rows, &err), err);
        clo_i_lens_apply(lens, values, rows, bits, seen + b * block_rows * lens->cols);
    }
    free(values);
}

static void nothing_seen_leaves_the_ball(void **state)
{
    const fixture *const f = *state;
    static const int grids[] = { 1, 5, 12, 15, 18, 20 };
    double seen[ROWS * (D + 1)];
    for (size_t l = 0; l < 3; l++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            double farthest = 0;
            look(f->data, &f->lenses[l], ROWS, grids[g], seen);
            for (size_t i = 0; i < ROWS; i++) {
                unsigned __int128 square = 0;
                for (size_t j = 0; j < f->lenses[l].cols; j++) {
                    const double t = seen[i * f->lenses[l].cols + j];
                    assert_true(t == trunc(t));
                    square += (unsigned __int128)((int64_t)t * (int64_t)t);
                }
                assert_true(square <= (unsigned __int128)1 << (2 * grids[g]));
                farthest = fmax(farthest, sqrt((double)square) / ldexp(1, grids[g]));
            }
            if (grids[g] >= 12) assert_true(farthest > 0.998); /* the ball is used */
        }
}

/* The proof's own margin: rows that are rounded lie within sqrt(d r) steps of the frame, and the
 * frame was shrunk by as much before, so that the map is a contraction as it stands. */
static void a_map_is_shrunk_by_what_its_rounding_may_add(void **state)
{
    const fixture *const f = *state;
    const double step = 0x1p-22;
    clo_error err;
    for (size_t rank = 1; rank <= D; rank += 4)
        for (int raised = 0; raised < 2; raised++) {
            const size_t mark = clo_i_workspace_mark(f->space);
            const double height = raised ? 0.7 : 0, length = sqrt(1 + height * height);
            const double slack = sqrt((double)D * (double)rank) * step;
            double frame[D * D] = { 0 }, off = 0;
            clo_lens lens;
            for (size_t j = 0; j < D; j++)
                for (size_t i = 0; i < rank; i++)
                    frame[j * rank + i] = rank <= RANK ? f->frame[j * RANK + i] : j == i;
            assert_ok(clo_i_lens_make(f->space, frame, D, rank, height, &lens, &err), err);
            assert_true(lens.scale <= (1 - slack) / length * (1 + 0x1p-52));
            assert_true(lens.scale > (1 - 2 * slack - 0x1p-50) / length);
            for (size_t i = 0; i < rank; i++)
                for (size_t j = 0; j < D; j++) {
                    const double exact = frame[j * rank + i] * lens.scale;
                    const double cell = lens.rows[i * D + j] * step;
                    assert_true(fabs(cell) <= fabs(exact) * (1 + 0x1p-52));
                    off += (cell - exact) * (cell - exact);
                }
            assert_true(lens.scale * length + sqrt(off) * length <= 1 + 0x1p-50);
            clo_i_workspace_release(f->space, mark);
        }
}

/* A frame that is too long by a hair makes the integer check work: lens.T1 does not lean on it. */
static void a_map_that_sticks_out_is_pulled_in(void **state)
{
    const fixture *const f = *state;
    double rows[(RANK + 1) * D] = { 0 }, seen[ROWS * (RANK + 1)];
    clo_lens lens = f->lenses[2];
    for (size_t i = 0; i < RANK * D; i++) rows[i] = trunc(lens.rows[i] * 1.001);
    lens.rows = rows;
    look(f->data, &lens, ROWS, 15, seen);
    size_t touched = 0;
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t square = 0;
        for (size_t j = 0; j <= RANK; j++)
            square +=
                (uint64_t)((int64_t)seen[i * (RANK + 1) + j] * (int64_t)seen[i * (RANK + 1) + j]);
        assert_true(square <= (uint64_t)1 << 30);
        touched += square > ((uint64_t)1 << 30) - ((uint64_t)1 << 17);
        assert_true(seen[i * (RANK + 1) + RANK] == trunc(ldexp(lens.constant, 15)));
    }
    assert_true(touched > ROWS / 4);
}

static void what_is_seen_is_what_the_formula_says(void **state)
{
    const fixture *const f = *state;
    double seen[ROWS * (RANK + 1)];
    const double height = 0.7, length = sqrt(1 + height * height);
    look(f->data, &f->lenses[2], ROWS, 20, seen);
    for (size_t i = 0; i < ROWS; i++) {
        double norm = 0;
        for (size_t j = 0; j < D; j++) norm += f->values[i * D + j] * f->values[i * D + j];
        norm = fmax(1, sqrt(norm));
        for (size_t e = 0; e < RANK; e++) {
            double dot = 0;
            for (size_t j = 0; j < D; j++)
                dot += f->frame[j * RANK + e] * f->values[i * D + j] / norm;
            assert_true(fabs(ldexp(seen[i * (RANK + 1) + e], -20) - dot / length) < 1e-5);
        }
        assert_true(fabs(ldexp(seen[i * (RANK + 1) + RANK], -20) - height / length) < 1e-5);
    }
}

static void a_record_is_seen_alike_in_any_company(void **state)
{
    const fixture *const f = *state;
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double all[ROWS * (D + 1)], other[ROWS * (D + 1)], turned[ROWS * D];
    for (size_t i = 0; i < ROWS; i++)
        memcpy(turned + i * D, f->values + (ROWS - 1 - i) * D, D * sizeof *turned);
    clo_bounded *const backward = bounded_from(turned, ROWS, &domain);
    for (size_t l = 0; l < 3; l++) {
        const size_t width = f->lenses[l].cols * sizeof *all;
        look(f->data, &f->lenses[l], ROWS, 15, all);
        for (size_t block = 1; block < ROWS; block = block * 3 + 1) {
            look(f->data, &f->lenses[l], block, 15, other);
            assert_memory_equal(all, other, ROWS * width);
        }
        look(backward, &f->lenses[l], 7, 15, other);
        for (size_t i = 0; i < ROWS; i++)
            assert_memory_equal((char *)all + i * width, (char *)other + (ROWS - 1 - i) * width,
                                width);
    }
    clo_bounded_free(backward);
}

/* ---- queries through a lens -------------------------------------------------------------- */

static clo_context context_for(const fixture *f, clo_meter *meter, clo_rng *rng, int threads,
                               size_t block_rows)
{
    return (clo_context){ .rng = rng,
                          .workspace = f->space,
                          .comm = clo_i_comm_self(),
                          .threads = threads,
                          .block_rows = block_rows,
                          .meter = meter };
}

static void queries_add_up_what_is_seen(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    const clo_lens *const lens = &f->lenses[2];
    const size_t c = lens->cols;
    const clo_domain whole = ball(D, 1, CLO_ADD_REMOVE), domain = clo_i_lens_domain(&whole, c);
    const clo_assign one = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    double seen[ROWS * (RANK + 1)], gram[(RANK + 1) * (RANK + 1)], sum[RANK + 1], size;
    double first[(RANK + 1) * (RANK + 1)];
    clo_line lines[2];
    assert_ok(clo_i_plan_gaussian_gram(&domain, 1, 20, 4, "", &lines[0], &err), err);
    assert_ok(clo_i_plan_gaussian_sum(&domain, 1, 20, 4, "", &lines[1], &err), err);
    lines[0].lens = lines[1].lens = true;
    for (int threads = 1; threads <= 3; threads++) {
        clo_rng *const rng = seeded("ask");
        clo_meter meter = { .lines = lines, .count = 2 };
        clo_context context = context_for(f, &meter, rng, threads, threads == 2 ? 11 : 0);
        context.lens = lens;
        assert_ok(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), err);
        assert_ok(clo_i_ask_gaussian_sum(&context, 1, f->data, &one, sum, &size, &err), err);
        if (threads == 1) memcpy(first, gram, sizeof first);
        assert_memory_equal(gram, first, sizeof first);
        clo_rng_free(rng);
    }
    look(f->data, lens, ROWS, 15, seen);
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++) {
            double truth = 0;
            for (size_t r = 0; r < ROWS; r++) truth += seen[r * c + i] * seen[r * c + j];
            assert_true(fabs(gram[i * c + j] - ldexp(truth, -30)) < 1); /* noise of 1/20 */
        }
    assert_true(fabs(sum[RANK] - ROWS * lens->constant) < 1);
}

static void the_meter_refuses_another_lens(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    const clo_domain whole = ball(D, 1, CLO_REPLACE), domain = clo_i_lens_domain(&whole, RANK);
    const clo_assign one = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    double gram[(D + 1) * (D + 1)];
    clo_line line;
    assert_ok(clo_i_plan_gaussian_gram(&domain, 1, 1, 4, "", &line, &err), err);
    const int bits = line.bits;
    line.lens = true;
    clo_rng *const rng = seeded("ask");
    clo_meter meter = { .lines = &line, .count = 1 };
    clo_context context = context_for(f, &meter, rng, 1, 0);
    assert_fails(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), CLO_INTERNAL, err,
                 "lens");
    context.lens = &f->lenses[1];
    assert_fails(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), CLO_INTERNAL, err,
                 "lens");
    context.lens = &f->lenses[0];
    line.cols = RANK + 1; /* one column more than is seen */
    assert_fails(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), CLO_INTERNAL, err,
                 "lens");
    line.cols = RANK;
    line.bits = 21; /* finer than what a lens shows is proved for */
    assert_fails(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), CLO_INTERNAL, err,
                 "21 bits");
    line.bits = bits;
    assert_int_equal(meter.asked[0], 0);
    assert_ok(clo_i_ask_gaussian_gram(&context, 0, f->data, &one, gram, &err), err);
    clo_rng_free(rng);
}

/* ---- what is kept ------------------------------------------------------------------------ */

typedef struct shown {
    size_t cols, block_rows;
    double values[ROWS * (D + 1)];
} shown;

static clo_status show(void *user, int thread, size_t block, const double *values, size_t rows)
{
    shown *const s = user;
    (void)thread;
    memcpy(s->values + block * s->block_rows * s->cols, values, rows * s->cols * sizeof *values);
    return CLO_OK;
}

/* One pass through the lens, and whether it shows what there is to see. */
static void assert_shown(clo_context *context, const clo_bounded *data, const clo_lens *lens,
                         int bits)
{
    clo_error err;
    static shown s;
    double seen[ROWS * (D + 1)];
    const size_t mark = clo_i_workspace_mark(context->workspace);
    double *scratch = NULL;
    context->lens = lens;
    s = (shown){ .cols = lens->cols, .block_rows = clo_i_pass_block_rows(context, data) };
    const size_t room = clo_i_pass_scratch(context, data, context->threads);
    assert_ok(clo_i_take(context->workspace, room, sizeof *scratch, &scratch, &err), err);
    assert_ok(clo_i_pass(context, data, bits, context->threads, scratch, show, &s, &err), err);
    clo_i_workspace_release(context->workspace, mark);
    look(data, lens, ROWS, bits, seen);
    assert_memory_equal(s.values, seen, ROWS * lens->cols * sizeof *seen);
}

static void what_is_kept_is_what_is_seen(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_line line = {
        .query = &clo_i_query_local_sum, .lens = CLO_LENS, .cols = RANK + 1, .event = { .count = 2 }
    };
    double turned[D * RANK];
    clo_lens other, copy = f->lenses[0];
    clo_kept kept;
    for (size_t i = 0; i < D * RANK; i++) turned[i] = -f->frame[i];
    assert_ok(clo_i_lens_make(f->space, turned, D, RANK, 0, &other, &err), err);
    clo_bounded *const others = bounded_from(f->values, ROWS / 2, &domain);
    for (int threads = 1; threads <= 2; threads++) {
        clo_context context = context_for(f, NULL, NULL, threads, 11);
        assert_ok(clo_i_kept_take(f->space, &line, 1, f->data, &kept, &err), err);
        context.kept = &kept;
        assert_shown(&context, f->data, &f->lenses[0], 15);
        assert_true(kept.whole);
        assert_int_equal(clo_i_kept_begin(&kept, &copy, f->data, 15), CLO_KEEP_READ);
        assert_int_equal(clo_i_kept_begin(&kept, &copy, others, 15), CLO_KEEP_NOTHING);
        assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[1], f->data, 15), CLO_KEEP_NOTHING);
        assert_shown(&context, f->data, &copy, 15);
        assert_shown(&context, f->data, &copy, 20);         /* another grid */
        assert_shown(&context, f->data, &other, 20);        /* another frame */
        assert_shown(&context, f->data, &f->lenses[2], 20); /* a constant beside it */
        assert_shown(&context, f->data, &f->lenses[0], 20);
        assert_shown(&context, f->data, &f->lenses[0], 20);
    }
    clo_bounded_free(others);
}

/* What is kept lies where a run takes its scratch, and goes when that is needed. */
static void what_gave_way_is_looked_at_again(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    const clo_line line = {
        .query = &clo_i_query_local_sum, .lens = CLO_LENS, .cols = RANK, .event = { .count = 2 }
    };
    clo_kept kept;
    char *taken;
    clo_context context = context_for(f, NULL, NULL, 1, 11);
    assert_ok(clo_i_kept_take(f->space, &line, 1, f->data, &kept, &err), err);
    context.kept = &kept;
    assert_shown(&context, f->data, &f->lenses[0], 15);
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_READ);
    const size_t mark = clo_i_workspace_mark(f->space);
    while (clo_i_spare_is_there(f->space, kept.map)) {
        assert_ok(clo_i_take(f->space, 4096, 1, &taken, &err), err);
        memset(taken, 0xa5, 4096);
    }
    /* where it was is somebody else's, and nothing is left */
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_NOTHING);
    clo_i_workspace_release(f->space, mark);
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_FILL);
    assert_shown(&context, f->data, &f->lenses[0], 15);
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_READ);
    assert_shown(&context, f->data, &f->lenses[0], 15);
    clo_i_kept_end(&kept);
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_FILL);
}

/* lens.T2: whatever is another lens is looked through anew: each entry of its map, and each number
 * beside it, is changed by itself. */
static void what_is_kept_is_of_one_lens(void **state)
{
    const fixture *const f = *state;
    const clo_lens *const own = &f->lenses[2];
    const clo_line line = { .query = &clo_i_query_local_sum,
                            .lens = CLO_LENS,
                            .cols = own->cols,
                            .event = { .count = 2 } };
    const size_t entries = own->from * own->cols;
    double *const rows = malloc(entries * sizeof *rows);
    clo_context context = context_for(f, NULL, NULL, 1, 11);
    clo_lens other = *own;
    clo_kept kept;
    clo_error err;
    assert_ok(clo_i_kept_take(f->space, &line, 1, f->data, &kept, &err), err);
    context.kept = &kept;
    memcpy(rows, own->rows, entries * sizeof *rows);
    other.rows = rows;
    for (size_t e = 0; e < entries + 3; e++) {
        assert_shown(&context, f->data, own, 15);
        assert_int_equal(clo_i_kept_begin(&kept, own, f->data, 15), CLO_KEEP_READ);
        const double before = e < entries ? rows[e] : 0;
        if (e < entries) rows[e] += 1;
        other.constant = own->constant + (e == entries ? 0x1p-30 : 0);
        other.cols = own->cols - (e == entries + 1);
        other.from = own->from - (e == entries + 2);
        if (clo_i_kept_begin(&kept, &other, f->data, 15) != CLO_KEEP_FILL)
            fail_msg("what was seen through a lens is read for another: number %zu", e);
        if (e < entries) rows[e] = before;
    }
    assert_shown(&context, f->data, own, 15);
    assert_int_equal(clo_i_kept_begin(&kept, own, f->data, 16), CLO_KEEP_FILL);
    clo_i_kept_end(&kept);
    free(rows);
}

static void nothing_is_kept_that_is_asked_once_or_through_a_wide_frame(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    clo_line lines[] = { { .lens = CLO_LENS, .cols = RANK, .event = { .count = 1 } },
                         { .lens = CLO_LENS, .cols = D, .event = { .count = 5 } },
                         { .lens = CLO_NO_LENS, .cols = 1, .event = { .count = 5 } } };
    clo_kept kept;
    for (size_t i = 0; i < 3; i++) lines[i].query = &clo_i_query_local_sum;
    assert_ok(clo_i_kept_take(f->space, lines, 3, f->data, &kept, &err), err);
    assert_int_equal(kept.room, 0);
    assert_int_equal(clo_i_kept_begin(&kept, &f->lenses[0], f->data, 15), CLO_KEEP_NOTHING);
}

static void a_frame_that_is_not_orthonormal_is_refused(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    double frame[D * RANK];
    clo_lens lens;
    for (size_t i = 0; i < D * RANK; i++) frame[i] = 1.5 * f->frame[i];
    assert_fails(clo_i_lens_make(f->space, frame, D, RANK, 0, &lens, &err), CLO_INTERNAL, err,
                 "orthonormal");
    assert_fails(clo_i_lens_make(f->space, f->frame, D, D + 1, 0, &lens, &err), CLO_INTERNAL, err,
                 "does not exist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_seen_leaves_the_ball),
        cmocka_unit_test(a_map_is_shrunk_by_what_its_rounding_may_add),
        cmocka_unit_test(a_map_that_sticks_out_is_pulled_in),
        cmocka_unit_test(what_is_seen_is_what_the_formula_says),
        cmocka_unit_test(a_record_is_seen_alike_in_any_company),
        cmocka_unit_test(queries_add_up_what_is_seen),
        cmocka_unit_test(the_meter_refuses_another_lens),
        cmocka_unit_test(what_is_kept_is_what_is_seen),
        cmocka_unit_test(what_gave_way_is_looked_at_again),
        cmocka_unit_test(what_is_kept_is_of_one_lens),
        cmocka_unit_test(nothing_is_kept_that_is_asked_once_or_through_a_wide_frame),
        cmocka_unit_test(a_frame_that_is_not_orthonormal_is_refused),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
