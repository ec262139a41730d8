/* statistical.c - see statistical.h.  Plain long double arithmetic: its errors, of 1e-15 or so,
 * are far below any threshold that a sample of millions can have. */
#include "check.h"
#include "statistical.h"
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

double stat_alpha(stat_test test, unsigned checks)
{
    static const double rates[] = {
#define ALPHA(name, billionths) 1e-9 * (billionths),
#include "alpha.def"
#undef ALPHA
    };
    assert_true(test < STAT_TESTS && checks > 0);
    return rates[test] / checks;
}

/* ---- the seed ------------------------------------------------------------ */

static void fresh_text(char text[33])
{
    uint8_t bytes[16];
    assert_int_equal(getrandom(bytes, sizeof bytes, 0), sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

const uint8_t *stat_seed(void)
{
    static uint8_t seed[32];
    static bool chosen;
    char fresh[33];
    if (chosen) return seed;
    const char *text = getenv("STAT_SEED");
    if (!text) text = "cloister";
    if (strcmp(text, "random") == 0) {
        fresh_text(fresh);
        text = fresh;
        fprintf(stderr, "# STAT_SEED=%s\n", text);
    }
    clo_seed_from_text(text, seed);
    chosen = true;
    return seed;
}

clo_stream *stat_stream(uint64_t ask, uint64_t index)
{
    clo_error err = { 0 };
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    assert_ok(clo_rng_new_seeded(stat_seed(), &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, ask, index, &stream, &err), err);
    clo_rng_free(rng);
    return stream;
}

void stat_close(clo_stream *stream)
{
    clo_error err = { 0 };
    assert_ok(clo_i_stream_check(stream, &err), err);
    clo_i_stream_close(stream);
}

/* ---- whole laws ---------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

double stat_distance(int64_t *sample, size_t count, stat_law *law, const void *parameters)
{
    long double largest = 0;
    qsort(sample, count, sizeof *sample, by_value);
    for (size_t i = 0; i < count;) {
        size_t next = i;
        while (next < count && sample[next] == sample[i]) next++;
        /* The sample's steps are flat up to the integer before this value and rise at it. */
        const long double before = law(sample[i] - 1, parameters) - (long double)i / count;
        const long double at = law(sample[i], parameters) - (long double)next / count;
        largest = fmaxl(largest, fmaxl(fabsl(before), fabsl(at)));
        i = next;
    }
    return (double)largest;
}

double stat_radius(size_t count, double alpha)
{
    return sqrt(log(2 / alpha) / (2 * (double)count));
}

bool stat_follows(int64_t *sample, size_t count, stat_law *law, const void *parameters,
                  double alpha)
{
    return stat_distance(sample, count, law, parameters) <= stat_radius(count, alpha);
}

long double stat_discrete_laplace(int64_t x, const void *scale)
{
    const long double rate = 1 / (long double)*(const double *)scale;
    return x < 0 ? expl((long double)x * rate) / (1 + expl(-rate))
                 : 1 - expl(-(long double)(x + 1) * rate) / (1 + expl(-rate));
}

long double stat_rounded_gaussian(int64_t x, const void *scale)
{
    return stat_normal(((long double)x + 0.5L) / *(const double *)scale);
}

/* ---- events -------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method; x below its mean. */
static long double beta_fraction(long double a, long double b, long double x)
{
    const long double tiny = 1e-4000L;
    long double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabsl(d) < tiny ? tiny : d);
    long double value = d;
    for (long double m = 1; m < 1e6L; m++) {
        const long double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const long double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        value *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        value *= c * d;
        if (fabsl(c * d - 1) < 1e-18L) break;
    }
    return value;
}

/* P[Binomial(trials, p) >= hits], hits >= 1: the incomplete beta function I_p(hits,
 * trials-hits+1). */
static long double binomial_tail(uint64_t hits, uint64_t trials, long double p)
{
    const long double a = hits, b = (long double)(trials - hits) + 1;
    if (p <= 0 || p >= 1) return p >= 1;
    const long double front =
        expl(lgammal(a + b) - lgammal(a) - lgammal(b) + a * logl(p) + b * log1pl(-p));
    if (p < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, p) / a;
    return 1 - front * beta_fraction(b, a, 1 - p) / b;
}

/* The p at which the upper tail at hits reaches target; it grows with p. */
static double tail_root(uint64_t hits, uint64_t trials, double target)
{
    long double low = 0, high = 1;
    for (int i = 0; i < 80; i++) {
        const long double middle = (low + high) / 2;
        if (binomial_tail(hits, trials, middle) < target)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

double stat_lower_bound(uint64_t hits, uint64_t trials, double alpha)
{
    return hits == 0 ? 0 : tail_root(hits, trials, alpha);
}

double stat_upper_bound(uint64_t hits, uint64_t trials, double alpha)
{
    /* P[at most h hits] with p is P[at least trials-h misses] with 1-p. */
    return 1 - stat_lower_bound(trials - hits, trials, alpha);
}

bool stat_is_probable(uint64_t hits, uint64_t trials, double probability, double alpha)
{
    return stat_lower_bound(hits, trials, alpha / 2) <= probability &&
           probability <= stat_upper_bound(hits, trials, alpha / 2);
}

bool stat_is_fair(uint64_t hits, uint64_t trials, double alpha)
{
    return fabs((double)hits - (double)trials / 2) <= sqrt((double)trials * log(2 / alpha) / 2);
}

/* ---- scales --------------------------------------------------------------- */

/* P[Gamma(a) <= x] by its series, for x below a + 1, or one minus it by the continued fraction. */
static long double gamma_below(long double a, long double x, bool *upper)
{
    const long double front = expl(a * logl(x) - x - lgammal(a)), tiny = 1e-4000L;
    *upper = x >= a + 1;
    if (!*upper) {
        long double term = 1 / a, sum = term;
        for (long double n = 1; term > sum * 1e-20L; n++) sum += term *= x / (a + n);
        return front * sum;
    }
    long double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
    for (long double n = 1; n < 1e6L; n++) {
        const long double factor = n * (a - n);
        b += 2;
        d = b + factor * d;
        d = 1 / (fabsl(d) < tiny ? tiny : d);
        c = b + factor / c;
        value *= c * d;
        if (fabsl(c * d - 1) < 1e-18L) break;
    }
    return front * value;
}

bool stat_is_gamma(double value, double shape, double alpha)
{
    bool upper;
    if (!(value > 0) || !isfinite(value)) return false;
    const long double tail = gamma_below(shape, value, &upper);
    return upper ? tail >= alpha / 2 : tail >= alpha / 2 && 1 - tail >= alpha / 2;
}

/* ---- the normal law ------------------------------------------------------ */

long double stat_normal(long double z)
{
    return 0.5L * erfcl(-z * 0.707106781186547524400844362104849039L);
}

double stat_normal_quantile(double p)
{
    long double low = -40, high = 40;
    for (int i = 0; i < 80; i++) {
        const long double middle = (low + high) / 2;
        if (stat_normal(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}
