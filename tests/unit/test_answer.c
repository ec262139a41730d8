/*
 * test_answer.c - the one way from exact sums to an answer: which draw each number gets, to the
 * last one (answer.T1); and that the witness of the test build ends a process in which a number was
 * noised otherwise than once.
 */
#include "check.h"
#include "parallel/parallel.h"
#include "ask/witness.h"
#include "query/queries.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 4096 };

typedef struct setting {
    clo_line lines[2];
    clo_meter meter;
    clo_context context;
} setting;

/* A plan of two lines: cells of a grid, so many, and a look. */
static void open_setting(setting *s, size_t cells)
{
    static const uint8_t seed[32] = { 7 };
    clo_error err;
    *s = (setting){ .lines = { { .query = &clo_i_query_cell_counts, .groups = cells },
                               { .query = &clo_i_query_look } } };
    s->lines[0].event.count = s->lines[1].event.count = 100;
    s->meter = (clo_meter){ .lines = s->lines, .count = 2 };
    s->context = (clo_context){ .comm = clo_i_comm_self(), .threads = 1, .meter = &s->meter };
    assert_ok(clo_rng_new_seeded(seed, &s->context.rng, &err), err);
    assert_ok(clo_workspace_new(1 << 16, &s->context.workspace, &err), err);
}

static void close_setting(setting *s)
{
    clo_workspace_free(s->context.workspace);
    clo_rng_free(s->context.rng);
}

/* ---- which draw a number gets --------------------------------------------------------------- */

/* The draws of one ask, chunk by chunk, each from the stream of its own number. */
static void draw_all(const clo_rng *rng, uint64_t ask, clo_law law, size_t count, int64_t *out)
{
    for (size_t first = 0; first < count; first += CHUNK) {
        clo_stream *stream = NULL;
        clo_error err;
        assert_ok(clo_i_stream_open(rng, ask, first / CHUNK, &stream, &err), err);
        for (size_t i = first; i < count && i < first + CHUNK; i++)
            out[i] = law.scale
                         ? clo_i_rounded_gaussian(stream, law.scale)
                         : clo_i_discrete_laplace(stream, law.rate_numerator, law.rate_denominator);
        clo_i_stream_close(stream);
    }
}

/* Of every three numbers two have normal noise and one Laplace noise; more than a wave of each, and
 * in the last waves less than a chunk. */
static void the_next_number_of_a_class_gets_the_next_draw_of_its_ask(void **state)
{
    const clo_law laws[2] = { clo_i_gaussian_law(12345), clo_i_laplace_law(3, 1000) };
    const size_t count = 3 * CLO_NOISE_WAVE + 137;
    uint8_t *const classes = calloc(count, 1);
    int64_t *const totals = calloc(count, sizeof *totals);
    int64_t *const drawn[2] = { calloc(count, sizeof **drawn), calloc(count, sizeof **drawn) };
    size_t members[2] = { 0, 0 };
    clo_error err;
    (void)state;
    for (size_t e = 0; e < count; e++) members[classes[e] = e % 3 == 1]++;
    for (int threads = 1; threads <= 4; threads += 3) {
        setting s;
        open_setting(&s, count);
        s.context.threads = threads;
        const clo_noise noise = {
            .count = count, .classes = 2, .laws = { laws[0], laws[1] }, .class_of = classes
        };
        for (size_t e = 0; e < count; e++) totals[e] = (int64_t)(1000 * e);
        assert_ok(clo_i_answer(&s.context, &s.lines[0], &noise, totals, &err), err);
        for (unsigned class = 0; class < 2; class ++)
            draw_all(s.context.rng, class, laws[class], members[class], drawn[class]);
        for (size_t e = 0, next[2] = { 0, 0 }; e < count; e++)
            assert_int_equal(totals[e],
                             (int64_t)(1000 * e) + drawn[classes[e]][next[classes[e]]++]);
        assert_int_equal(clo_i_rng_next_ask(s.context.rng), 2); /* an ask for each class */
        close_setting(&s);
    }
    free(classes);
    free(totals);
    free(drawn[0]);
    free(drawn[1]);
}

static void a_stream_goes_on_where_it_was(void **state)
{
    const clo_law law = clo_i_laplace_law(1, 77);
    static int64_t numbers[2000], drawn[CHUNK];
    setting s;
    clo_stream *stream = NULL;
    clo_error err;
    (void)state;
    open_setting(&s, 1);
    assert_ok(clo_i_stream_open(s.context.rng, 5, 0, &stream, &err), err);
    clo_i_add_noise_from(&s.context, &s.lines[0], stream, law, numbers, 700);
    clo_i_add_noise_from(&s.context, &s.lines[0], stream, law, numbers + 700, 1300);
    clo_i_stream_close(stream);
    draw_all(s.context.rng, 5, law, CHUNK, drawn);
    assert_memory_equal(numbers, drawn, sizeof numbers);
    close_setting(&s);
}

#ifdef CLO_FAULT_INJECTION

/* ---- the witness ---------------------------------------------------------------------------- */

typedef void deed(setting *s);

/* Does something in a process of its own, and says whether the witness ended that, and how. */
static bool is_ended(deed *d, char *said, size_t size)
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setting s;
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        open_setting(&s, 3);
        d(&s);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = 0;
    memset(said, 0, size);
    for (size_t at = 0; (length = read(ends[0], said + at, size - 1 - at)) > 0;)
        at += (size_t)length;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void assert_ended(deed *d, const char *sentence)
{
    char said[512];
    assert_true(is_ended(d, said, sizeof said));
    if (!strstr(said, sentence)) fail_msg("the witness said: %s", said);
}

static void assert_goes_on(deed *d)
{
    char said[512];
    if (is_ended(d, said, sizeof said)) fail_msg("the witness said: %s", said);
}

static const clo_line *charge(setting *s, size_t number)
{
    const clo_line *line = NULL;
    clo_error err;
    assert_ok(clo_i_meter_charge(&s->context, number, s->lines[number].query, &line, &err), err);
    return line;
}

static int64_t noised[8];

static void noise_so_many(setting *s, const clo_line *line, size_t count)
{
    const clo_noise noise = { .count = count, .laws = { clo_i_gaussian_law(100) } };
    clo_error err;
    memset(noised, 0, sizeof noised);
    assert_ok(clo_i_answer(&s->context, line, &noise, noised, &err), err);
}

/* Numbers first, first + 1, ... of them, over a unit of 3. */
static void tell_some(setting *s, const clo_line *line, size_t first, size_t count)
{
    double values[8];
    for (size_t i = 0; i < count; i++) values[i] = (double)noised[first + i] / 3;
    clo_i_tell_answer(&s->context, line, values, count, 3);
}

static void ask_well(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    tell_some(s, line, 1, 2); /* an answer may come in parts, and in any order */
    tell_some(s, line, 0, 1);
}

static void as_it_should_be(setting *s)
{
    ask_well(s);
    ask_well(s);
    clo_i_meter_finish(&s->meter);
}

static void after_a_failed_ask(setting *s)
{
    noise_so_many(s, charge(s, 0), 3);
    ask_well(s);
}

static void nothing_is_noised(setting *s)
{
    tell_some(s, charge(s, 0), 0, 3);
}

static void a_part_is_noised(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 2);
    tell_some(s, line, 0, 2);
}

static void more_is_told_than_noised(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    tell_some(s, line, 0, 4);
}

static void numbers_are_noised_again(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    noise_so_many(s, line, 3);
    tell_some(s, line, 0, 3);
}

static void a_part_is_told(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    tell_some(s, line, 0, 2);
    charge(s, 1);
}

static void one_is_told_twice(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    tell_some(s, line, 0, 2);
    tell_some(s, line, 1, 1);
}

static void one_is_told_bare(setting *s)
{
    const clo_line *const line = charge(s, 0);
    noise_so_many(s, line, 3);
    noised[2] = 0; /* its sum */
    tell_some(s, line, 0, 3);
}

static void nothing_is_told(setting *s)
{
    charge(s, 0);
    clo_i_meter_finish(&s->meter);
}

static void an_answer_needs_its_noise_and_no_more(void **state)
{
    (void)state;
    assert_goes_on(as_it_should_be);
    assert_ended(nothing_is_noised, "cell_counts: 3 numbers are told, and 0 were noised");
    assert_ended(a_part_is_noised, "cell_counts: 2 numbers are told, and 2 were noised");
    assert_ended(more_is_told_than_noised, "cell_counts: 4 numbers are told, and 3 were noised");
    assert_ended(numbers_are_noised_again, "cell_counts: 3 numbers are told, and 6 were noised");
}

static void what_is_told_is_what_was_noised(void **state)
{
    (void)state;
    assert_ended(one_is_told_twice, "cell_counts: the numbers that are told are not those that");
    assert_ended(one_is_told_bare, "cell_counts: the numbers that are told are not those that");
}

static void what_is_asked_is_told(void **state)
{
    (void)state;
    assert_goes_on(after_a_failed_ask);
    assert_ended(a_part_is_told, "look: asked while an answer was told in part: 2 of 3 numbers");
    assert_ended(nothing_is_told, "cell_counts: asked 1 times, and told 0 answers");
}

/* Three numbers, of which these get these draws; then one is changed by so much. */
static void add_noise(setting *s, const size_t *numbers, size_t count, int64_t changed)
{
    int64_t values[3] = { 10, 20, 30 }, drawn[3];
    clo_witness witness = clo_i_witness_begin(values, 3);
    clo_i_witness_blank(drawn, 3);
    drawn[0] = 4, drawn[1] = -5;
    if (changed) drawn[2] = 6; /* otherwise the last is not drawn */
    for (size_t i = 0; i < count; i++) {
        values[numbers[i]] += drawn[i % 3];
        clo_i_witness_add(&witness, numbers[i], drawn[i % 3]);
    }
    values[1] += changed;
    clo_i_witness_check(&witness, &s->context, &s->lines[0], values);
    clo_i_witness_end(&witness);
}

static void the_last_number_is_left_out(setting *s)
{
    add_noise(s, (size_t[]){ 0, 1 }, 2, 0);
}

static void the_last_draw_is_left_out(setting *s)
{
    add_noise(s, (size_t[]){ 0, 1, 2 }, 3, 0);
}

static void a_number_gets_two_draws(setting *s)
{
    add_noise(s, (size_t[]){ 0, 0 }, 2, 0);
}

static void a_number_is_changed_beside_its_noise(setting *s)
{
    add_noise(s, (size_t[]){ 0, 1, 2 }, 3, 5);
}

static void each_number_gets_one_draw_that_was_drawn(void **state)
{
    (void)state;
    assert_ended(the_last_number_is_left_out, "number 3 of 3 was noised 0 times, not 1");
    assert_ended(the_last_draw_is_left_out, "number 3 of 3 was noised 0 times, not 1");
    assert_ended(a_number_gets_two_draws, "number 1 of 3 was noised 2 times, not 1");
    assert_ended(a_number_is_changed_beside_its_noise,
                 "number 2 of 3 is not its sum and its noise");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_number_of_a_class_gets_the_next_draw_of_its_ask),
        cmocka_unit_test(a_stream_goes_on_where_it_was),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(an_answer_needs_its_noise_and_no_more),
        cmocka_unit_test(what_is_told_is_what_was_noised),
        cmocka_unit_test(what_is_asked_is_told),
        cmocka_unit_test(each_number_gets_one_draw_that_was_drawn),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
