/* split_moments.c - what a Gram matrix of records seen with a constant says of them: all of it is
 * post-processing of the one ask. */
#include "mechanism/common/split_moments.h"
#include "ask/lens.h"
#include <math.h>

/* No smaller number is believed than the noise leaves room for: an empty cluster then has a random
 * mean that is not far out. */
double clo_i_split_moments(const double *moments, const clo_lens *lens, double noise, size_t d,
                           double *point, double *scatter)
{
    const size_t width = d + 1;
    const double h = lens->constant, s = lens->scale;
    const double count = moments[width * width - 1] / (h * h);
    const double believed = fmax(count, 2 * noise / (h * h));
    double norm = 0;
    for (size_t j = 0; j < d; j++) {
        point[j] = moments[j * width + d] / (h * s) / believed;
        norm += point[j] * point[j];
    }
    if (norm > 1)
        for (size_t j = 0; j < d; j++) point[j] /= sqrt(norm);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            scatter[i * d + j] = moments[i * width + j] / (s * s) - believed * point[i] * point[j];
    return count;
}
