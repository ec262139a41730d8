/*
 * Every number of every query's answer is noised by a draw of its own (answer.T1): in each chunk,
 * cluster and class of numbers the planned law and scale, no number bare, none a copy of another in
 * this ask or in any, none related to another; the same noise on any number of threads, and once
 * over all ranks.  noise_sample.h says how that is checked, noisy_queries.h what is asked, and
 * test_every_number_faults.c what is found.
 */
#include "noisy_queries.h"
#include "query/queries.h"

static bool is_right(const char *query, const noisy_form *form, clo_rng *rng, double alpha)
{
    noisy n;
    noisy_open(&n, form, rng, 0, 1);
    noise_sample s = noisy_sample(&n, n.asks);
    print_message("# %s, %s: %zu numbers, %zu asks\n", query, form->name, s.numbers, s.asks);
    const bool right = sample_is_right(&s, alpha);
    free(s.values);
    noisy_close(&n);
    return right;
}

static void every_query_noises_every_number_by_itself(void **state)
{
    const double alpha = stat_alpha(STAT_every_number, noisy_count());
    clo_rng *const rng = stat_rng();
    bool right = true;
    (void)state;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *form = noisy_queries[q].forms; form->name; form++)
            right = is_right(noisy_queries[q].name, form, rng, alpha) && right;
    clo_rng_free(rng);
    assert_true(right);
}

/* The seeded generator makes the tests repeatable; this is the one that releases are made with. */
static void so_it_is_with_the_generator_that_the_operating_system_keys(void **state)
{
    const double alpha = stat_alpha(STAT_every_number_secure, 4);
    clo_rng *rng = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_rng_new(&rng, &err), err);
    assert_true(is_right("cell_counts", &forms_cell_counts[0], rng, alpha));
    assert_true(is_right("cell_counts", &forms_cell_counts[1], rng, alpha));
    assert_true(is_right("gaussian_gram", &forms_gaussian_gram[0], rng, alpha));
    assert_true(is_right("peel", &forms_peel[0], rng, alpha));
    clo_rng_free(rng);
}

/* ---- each number alone ----------------------------------------------------------------------- */

/* The same form in a small size: every number of it is asked for a thousand times. */
static noisy_form small_form(const noisy_form *form)
{
    noisy_form small = *form;
    small.asks = 1024;
    if (small.clusters > CLUSTERS) small.clusters = CLUSTERS;
    if (small.cols > 5) small.cols = 5;
    return small;
}

static void scale_number(noise_sample *s, size_t number, double factor)
{
    for (size_t a = 0; a < s->asks; a++) s->values[a * s->numbers + number] *= factor;
}

/* The control: noise smaller by the root of two is seen at the first number, the middle one and the
 * last one. */
static bool faults_are_seen(noise_sample *s, double alpha)
{
    const size_t planted[] = { 0, s->numbers / 2, s->numbers - 1 };
    bool seen = true;
    for (size_t i = 0; i < 3; i++) {
        scale_number(s, planted[i], sqrt(0.5));
        seen = !sample_each(s, alpha) && seen;
        scale_number(s, planted[i], sqrt(2));
    }
    return seen;
}

static bool each_is_right(const char *query, const noisy_form *form, clo_rng *rng, double alpha)
{
    const noisy_form small = small_form(form);
    noisy n;
    noisy_open(&n, &small, rng, 0, 1);
    noise_sample s = noisy_sample(&n, small.asks);
    print_message("# %s, %s: %zu numbers\n", query, form->name, s.numbers);
    const bool right = sample_each(&s, alpha) && faults_are_seen(&s, alpha);
    free(s.values);
    noisy_close(&n);
    return right;
}

static void every_number_by_itself_has_the_planned_law(void **state)
{
    const double alpha = stat_alpha(STAT_every_number_alone, noisy_count());
    clo_rng *const rng = stat_rng();
    bool right = true;
    (void)state;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *form = noisy_queries[q].forms; form->name; form++)
            if (!(form->traits & SINGLY))
                right = each_is_right(noisy_queries[q].name, form, rng, alpha) && right;
    clo_rng_free(rng);
    assert_true(right);
}

/* Which of the candidates was chosen, by the number of the unit Laplace law that it became. */
static bool candidates_are_right(const noisy_form *form, clo_rng *rng, double alpha)
{
    uint64_t chosen[CANDIDATES] = { 0 };
    noisy n;
    noisy_open(&n, form, rng, 0, 1);
    const noise_sample s = noisy_sample(&n, n.asks);
    bool right = true;
    for (size_t i = 0; i < sample_size(&s); i++)
        chosen[(size_t)(sample_law(true, s.values[i]) * CANDIDATES)]++;
    for (size_t c = 0; c < CANDIDATES && right; c++)
        if (!stat_is_probable(chosen[c], sample_size(&s), 1.0 / CANDIDATES, alpha / CANDIDATES))
            right = sample_says("candidates", form->name, c);
    free(s.values);
    noisy_close(&n);
    return right;
}

/* Every candidate is as good: each is chosen as often as the others. */
static void every_candidate_has_its_chance(void **state)
{
    const double alpha = stat_alpha(STAT_every_candidate, noisy_count());
    clo_rng *const rng = stat_rng();
    size_t choices = 0;
    bool right = true;
    (void)state;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *form = noisy_queries[q].forms; form->name; form++)
            if (strcmp(form->name, "choices") == 0) {
                right = candidates_are_right(form, rng, alpha) && right;
                choices++;
            }
    clo_rng_free(rng);
    assert_true(right);
    assert_true(choices >= 4);
    /* planted: the last of them is never chosen */
    assert_false(stat_is_probable(0, 4 * CHOICES, 1.0 / CANDIDATES, alpha / CANDIDATES));
}

/* ---- lines of one plan ---------------------------------------------------------------------- */

enum { LINES = CLO_MAX_LINES, FEW = 24 }; /* where each number is an ask, a few are enough */

/* One width for all, so that lines which share their draws tell the same numbers. */
static void set_width(noisy *n)
{
    clo_line *const line = &n->line;
    const double before = line->scale ? (double)line->scale : n->scales[0];
    for (size_t c = 0; c < MOST_CLASSES; c++) n->scales[c] *= WIDE / before;
    line->scale = (uint64_t)WIDE;
    if (line->rate_numerator == 0) return;
    line->rate_numerator = 1;
    if (line->query == &clo_i_query_peel) change_fields(peel, line, weight = 1);
    line->rate_denominator = (uint64_t)WIDE;
}

/* Every form of this law twice, as lines of one plan that are asked in turn: no two share a
 * draw. */
static void lines_share_no_draw(int law, double alpha)
{
    static noisy forms[LINES];
    static clo_line lines[LINES];
    clo_meter meter = { .lines = lines };
    noise_sample all = { .asks = 1, .laplace = law & LAPLACE, .grain = 2 / WIDE };
    clo_rng *const rng = stat_rng();
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *form = noisy_queries[q].forms; form->name; form++)
            for (int twice = 0; twice < 2 && (form->traits & ~SINGLY) == law; twice++) {
                assert_true(meter.count < LINES);
                noisy *const n = &forms[meter.count];
                noisy_open(n, form, rng, 0, 1);
                set_width(n);
                if (form->traits & SINGLY) n->numbers = FEW;
                n->number = meter.count++;
                lines[n->number] = n->line;
                lines[n->number].event.count = UINT64_MAX;
                n->a.context.meter = &meter;
                all.numbers += n->numbers;
            }
    all.values = calloc(all.numbers, sizeof *all.values);
    for (size_t l = 0, at = 0; l < meter.count; at += forms[l++].numbers) {
        forms[l].form->ask(&forms[l], all.values + at);
        for (size_t i = 0; i < forms[l].numbers; i++)
            all.values[at + i] /= forms[l].scales[forms[l].class_of[i]];
    }
    print_message("# %zu lines, %zu numbers\n", meter.count, all.numbers);
    assert_true(meter.count >= 6);
    assert_true(sample_copies(&all, alpha));
    for (size_t i = 1; i < 5; i++) all.values[i * 4096] = all.values[0]; /* planted */
    assert_false(sample_copies(&all, alpha));
    for (size_t l = 0; l < meter.count; l++) noisy_close(&forms[l]);
    free(all.values);
    clo_rng_free(rng);
}

static void no_two_lines_of_a_plan_share_their_noise(void **state)
{
    (void)state;
    lines_share_no_draw(0, stat_alpha(STAT_every_number_lines, 2));
    lines_share_no_draw(LAPLACE, stat_alpha(STAT_every_number_lines, 2));
}

/* ---- threads and ranks ---------------------------------------------------------------------- */

static void ask_once(noisy *n, double *residual)
{
    if (n->form->traits & SINGLY) n->numbers = FEW;
    n->form->ask(n, residual);
}

static double *ask_on_threads(const noisy_form *form, int threads, size_t *count)
{
    clo_rng *const rng = seeded("threads");
    noisy n;
    noisy_open(&n, form, rng, 0, 1);
    n.a.context.threads = threads;
    double *const residual = calloc(n.numbers, sizeof *residual);
    ask_once(&n, residual);
    *count = n.numbers;
    noisy_close(&n);
    clo_rng_free(rng);
    return residual;
}

static void threads_do_not_show_in_any_number(void **state)
{
    (void)state;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *form = noisy_queries[q].forms; form->name; form++) {
            size_t count = 0;
            double *const one = ask_on_threads(form, 1, &count);
            for (int threads = 2; threads <= 5; threads += 3) {
                double *const several = ask_on_threads(form, threads, &count);
                assert_same_doubles(several, one, count);
                free(several);
            }
            free(one);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_noises_every_number_by_itself),
        cmocka_unit_test(so_it_is_with_the_generator_that_the_operating_system_keys),
        cmocka_unit_test(every_number_by_itself_has_the_planned_law),
        cmocka_unit_test(every_candidate_has_its_chance),
        cmocka_unit_test(no_two_lines_of_a_plan_share_their_noise),
        cmocka_unit_test(threads_do_not_show_in_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
