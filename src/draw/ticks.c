/* ticks.c - from numbers to places, with ticks at round numbers. */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* times * 10^power, the double nearest to that decimal: so ticks have short texts. */
static double decimal(double times, int power)
{
    return power < 0 ? times / pow(10, -power) : times * pow(10, power);
}

/* Numbers that cannot make a scale are made to: one number gets room about it. */
static void mend(double *low, double *high)
{
    if (!isfinite(*low)) *low = isfinite(*high) ? *high : 0;
    if (!isfinite(*high)) *high = *low;
    *low = fmax(*low, -1e300);
    *high = fmin(*high, 1e300);
    const double least = 1e-9 * fmax(fabs(*low), fabs(*high));
    if (*high - *low > least && *high - *low > 1e-290) return;
    const double room = *low == 0 ? 1 : fabs(*low) / 2;
    *low -= room;
    *high += room;
}

clo_scale clo_i_scale(double low, double high, double from, double to, size_t about, bool tight)
{
    clo_scale s = { .from = from, .to = to };
    mend(&low, &high);
    const double raw = (high - low) / (double)(about ? about : 1);
    const int power = (int)floor(log10(raw));
    const double digits = raw / pow(10, power);
    const double times = digits <= 1.0000001 ? 1 : digits <= 2.0000001 ? 2 : digits <= 5 ? 5 : 10;
    const double step = decimal(times, power);
    double first = floor(low / step + 1e-9), last = ceil(high / step - 1e-9);
    if (tight) {
        first = ceil(low / step - 1e-9);
        last = floor(high / step + 1e-9);
    }
    s.low = tight ? low : fmin(low, decimal(first * times, power));
    s.high = tight ? high : fmax(high, decimal(last * times, power));
    for (double i = first; i <= last && s.tick_count < CLO_MAX_TICKS; i++)
        s.ticks[s.tick_count++] = decimal(i * times, power) + 0.0;
    return s;
}

clo_scale clo_i_scale_log(double low, double high, double from, double to)
{
    static const double steps[3] = { 1, 2, 5 };
    clo_scale s = { .from = from, .to = to, .log = true };
    if (!(low > 1e-300) || !isfinite(low)) low = 1e-3;
    if (!(high > low) || !isfinite(high)) high = 10 * low;
    const int first = (int)floor(log10(low) + 1e-9), last = (int)ceil(log10(high) - 1e-9);
    const int each = last - first > 5 ? 1 : 3, skip = (last - first) / (CLO_MAX_TICKS - 2) + 1;
    s.low = low;
    s.high = high;
    for (int power = first; power <= last; power += skip)
        for (int i = 0; i < each; i++) {
            const double tick = decimal(steps[i], power);
            if (tick < low * (1 - 1e-9) || tick > high * (1 + 1e-9)) continue;
            if (s.tick_count < CLO_MAX_TICKS) s.ticks[s.tick_count++] = tick;
        }
    return s;
}

double clo_i_place(const clo_scale *s, double value)
{
    const double share = s->log ? log(value / s->low) / log(s->high / s->low)
                                : (value - s->low) / (s->high - s->low);
    return s->from + share * (s->to - s->from);
}

/* 12000, 0.05, 2e7. */
clo_number clo_i_tick(double value)
{
    clo_number out;
    if (value == 0 || (fabs(value) < 1e7 && fabs(value) >= 1e-4)) {
        clo_number_text(value + 0.0, out.text);
        return out;
    }
    const int power = (int)floor(log10(fabs(value)) + 1e-9);
    char exponent[16];
    out = clo_i_short(value / pow(10, power), 6);
    snprintf(exponent, sizeof exponent, "e%d", power);
    strncat(out.text, exponent, sizeof out.text - strlen(out.text) - 1);
    return out;
}
