/*
 * What test_every_number.c finds: samples of right noise in which one thing was done as a faulty
 * query would have done it are refused, each of them; the same samples untouched are not
 * (answer.T1).
 *
 * Faults are small where a query could make them so: one number in thousands, one chunk of several,
 * a scale that is off by a tenth in one cluster.
 */
#include "noisy_queries.h"

static double *at(const noise_sample *s, size_t ask, size_t number)
{
    return s->values + ask * s->numbers + number;
}

static size_t last_cluster(const noise_sample *s)
{
    return s->cluster_of[s->numbers - 1];
}

static size_t last_class(const noise_sample *s)
{
    size_t last = 0;
    for (size_t i = 0; i < s->numbers; i++) last = s->class_of[i] > last ? s->class_of[i] : last;
    return last;
}

/* Multiplies the noise of the numbers from `from` on, in every ask. */
static void scale_from(const noise_sample *s, size_t from, size_t to, double factor)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = from; i < to; i++) *at(s, a, i) *= factor;
}

static void scale_where(const noise_sample *s, bool by_class, size_t which, double factor)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = 0; i < s->numbers; i++)
            if ((by_class ? s->class_of[i] : s->cluster_of[i]) == which) *at(s, a, i) *= factor;
}

static void copy_numbers(const noise_sample *s, size_t from, size_t to, size_t count, double factor)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = 0; i < count; i++) *at(s, a, to + i) = factor * *at(s, a, from + i);
}

/* ---- bare numbers --------------------------------------------------------------------------- */

static void the_last_partial_chunk_is_bare(noise_sample *s)
{
    scale_from(s, s->numbers / 4096 * 4096, s->numbers, 0);
}

static void only_the_first_chunk_is_noised(noise_sample *s)
{
    scale_from(s, 4096, s->numbers, 0);
}

static void a_chunk_in_the_middle_is_bare(noise_sample *s)
{
    scale_from(s, 4096, 8192, 0);
}

static void the_last_number_is_bare(noise_sample *s)
{
    scale_from(s, s->numbers - 1, s->numbers, 0);
}

static void the_last_number_is_bare_in_one_ask_of_four(noise_sample *s)
{
    for (size_t a = 0; a < s->asks; a += 4) *at(s, a, s->numbers - 1) = 0;
}

static void the_last_cluster_is_bare(noise_sample *s)
{
    scale_where(s, false, last_cluster(s), 0);
}

static void a_class_is_bare(noise_sample *s)
{
    scale_where(s, true, last_class(s), 0);
}

static void one_ask_is_bare(noise_sample *s)
{
    memset(at(s, s->asks - 1, 0), 0, s->numbers * sizeof *s->values);
}

/* ---- copies --------------------------------------------------------------------------------- */

static void a_chunk_is_used_twice(noise_sample *s)
{
    copy_numbers(s, 0, 4096, 4096, 1);
}

static void a_chunk_is_used_twice_with_the_other_sign(noise_sample *s)
{
    copy_numbers(s, 0, 4096, 4096, -1);
}

static void one_number_is_copied(noise_sample *s)
{
    copy_numbers(s, 17, 5000, 1, 1);
}

static void clusters_share_their_noise(noise_sample *s)
{
    const size_t width = s->numbers / (last_cluster(s) + 1);
    for (size_t c = 1; c <= last_cluster(s); c++) copy_numbers(s, 0, c * width, width, 1);
}

static void two_asks_share_their_noise(noise_sample *s)
{
    memcpy(at(s, 1, 0), at(s, 0, 0), s->numbers * sizeof *s->values);
}

/* The numbers of one class, in turn, for those of another, each in its own scale. */
static void classes_share_their_noise(noise_sample *s)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = 1; i < s->numbers; i++)
            if (s->class_of[i] == 1) {
                size_t from = i;
                while (s->class_of[from] == 1) from--;
                *at(s, a, i) = *at(s, a, from);
            }
}

/* ---- laws and scales ------------------------------------------------------------------------ */

static void the_last_cluster_has_half_the_scale(noise_sample *s)
{
    scale_where(s, false, last_cluster(s), 0.5);
}

static void the_last_cluster_has_a_scale_a_tenth_low(noise_sample *s)
{
    scale_where(s, false, last_cluster(s), 0.9);
}

static void a_class_has_a_scale_of_another(noise_sample *s)
{
    scale_where(s, true, last_class(s), sqrt(0.5));
}

static void one_number_has_a_quarter_of_the_scale(noise_sample *s)
{
    scale_from(s, s->numbers - 1, s->numbers, 0.25);
}

static void one_ask_has_half_the_scale(noise_sample *s)
{
    for (size_t i = 0; i < s->numbers; i++) *at(s, 0, i) *= 0.5;
}

static void noise_is_added_twice(noise_sample *s)
{
    for (size_t a = 0; a + 1 < s->asks; a += 2)
        for (size_t i = 0; i < s->numbers; i++) *at(s, a, i) += *at(s, a + 1, s->numbers - 1 - i);
}

static void noise_is_never_negative(noise_sample *s)
{
    for (size_t i = 0; i < sample_size(s); i++) s->values[i] = fabs(s->values[i]);
}

/* As wide as it should be, and flat. */
static void noise_is_uniform(noise_sample *s)
{
    for (size_t i = 0; i < sample_size(s); i++)
        s->values[i] = (2 * sample_law(s->laplace, s->values[i]) - 1) * (s->laplace ? 2 : sqrt(3));
}

/* ---- related numbers ------------------------------------------------------------------------ */

/* Each number is right by itself, and holds half of its neighbour's noise; normal laws only. */
static void half_of_the_variance_is_the_chunks_before(noise_sample *s)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = s->numbers - 1; i >= 4096; i--)
            *at(s, a, i) = sqrt(0.5) * (*at(s, a, i) + *at(s, a, i - 4096));
}

static void half_of_the_variance_is_the_asks_before(noise_sample *s)
{
    for (size_t a = s->asks - 1; a > 0; a--)
        for (size_t i = 0; i < s->numbers; i++)
            *at(s, a, i) = sqrt(0.5) * (*at(s, a, i) + *at(s, a - 1, i));
}

static void half_of_the_variance_is_the_clusters_before(noise_sample *s)
{
    const size_t width = s->numbers / (last_cluster(s) + 1);
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = s->numbers - 1; i >= width; i--)
            *at(s, a, i) = sqrt(0.5) * (*at(s, a, i) + *at(s, a, i - width));
}

static void signs_are_those_of_the_chunk_before(noise_sample *s)
{
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = 4096; i < s->numbers; i++)
            *at(s, a, i) = copysign(*at(s, a, i), *at(s, a, i - 4096));
}

static void a_cluster_adds_up_to_nothing(noise_sample *s)
{
    for (size_t a = 0; a < s->asks; a++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < s->numbers; i++)
            if (s->cluster_of[i] == 0) sum += *at(s, a, i), count++;
        for (size_t i = 0; i < s->numbers; i++)
            if (s->cluster_of[i] == 0) *at(s, a, i) -= sum / (double)count;
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

typedef struct fault {
    const char *name;
    void (*commit)(noise_sample *s);
    bool normal_only;
} fault;

#define FAULT(name)                                                                                \
    {                                                                                              \
#name, name, false                                                                         \
    }
#define NORMAL(name)                                                                               \
    {                                                                                              \
#name, name, true                                                                          \
    }
static const fault faults[] = {
    FAULT(the_last_partial_chunk_is_bare),
    FAULT(only_the_first_chunk_is_noised),
    FAULT(a_chunk_in_the_middle_is_bare),
    FAULT(the_last_number_is_bare),
    FAULT(the_last_number_is_bare_in_one_ask_of_four),
    FAULT(the_last_cluster_is_bare),
    FAULT(a_class_is_bare),
    FAULT(one_ask_is_bare),
    FAULT(a_chunk_is_used_twice),
    FAULT(a_chunk_is_used_twice_with_the_other_sign),
    FAULT(one_number_is_copied),
    FAULT(clusters_share_their_noise),
    FAULT(two_asks_share_their_noise),
    FAULT(classes_share_their_noise),
    FAULT(the_last_cluster_has_half_the_scale),
    FAULT(the_last_cluster_has_a_scale_a_tenth_low),
    FAULT(a_class_has_a_scale_of_another),
    FAULT(one_number_has_a_quarter_of_the_scale),
    FAULT(one_ask_has_half_the_scale),
    FAULT(noise_is_added_twice),
    FAULT(noise_is_never_negative),
    FAULT(noise_is_uniform),
    NORMAL(half_of_the_variance_is_the_chunks_before),
    NORMAL(half_of_the_variance_is_the_asks_before),
    NORMAL(half_of_the_variance_is_the_clusters_before),
    FAULT(signs_are_those_of_the_chunk_before),
    NORMAL(a_cluster_adds_up_to_nothing),
};

enum { FAULTS = sizeof faults / sizeof *faults };

/* Which faults are found in one form of a query. */
static void look_for_faults(const noisy_form *form, bool found[FAULTS])
{
    /* As strict as test_every_number.c, where each form has such a share. */
    const double alpha = stat_alpha(STAT_every_number, noisy_count());
    clo_rng *const rng = stat_rng();
    noisy n;
    noisy_open(&n, form, rng, 0, 1);
    noise_sample s = noisy_sample(&n, n.asks);
    double *const right = calloc(sample_size(&s), sizeof *right);
    memcpy(right, s.values, sample_size(&s) * sizeof *right);
    assert_true(sample_is_right(&s, alpha));
    for (size_t f = 0; f < FAULTS; f++) {
        if (found[f] || (faults[f].normal_only && s.laplace)) continue;
        memcpy(s.values, right, sample_size(&s) * sizeof *right);
        faults[f].commit(&s);
        print_message("# %s: %s\n", form->name, faults[f].name);
        found[f] = !sample_is_right(&s, alpha);
    }
    free(right);
    free(s.values);
    noisy_close(&n);
    clo_rng_free(rng);
}

/* Every fault is found in one form or another. */
static void every_fault_is_found(const noisy_form *forms)
{
    bool found[FAULTS] = { false };
    for (const noisy_form *form = forms; form->name; form++) look_for_faults(form, found);
    for (size_t f = 0; f < FAULTS; f++)
        assert_true(found[f] || (faults[f].normal_only && forms->traits & LAPLACE));
}

static void every_fault_in_normal_noise_is_found(void **state)
{
    (void)state;
    every_fault_is_found(forms_gaussian_gram);
}

static void every_fault_in_laplace_noise_is_found(void **state)
{
    (void)state;
    every_fault_is_found(forms_laplace_sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_in_normal_noise_is_found),
        cmocka_unit_test(every_fault_in_laplace_noise_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
