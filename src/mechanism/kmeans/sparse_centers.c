/*
 * sparse_centers.c - the release of centres most of whose entries are zero.
 *
 * A million zeros in a report are no use to anyone.  Which of the two forms a release has depends
 * on public numbers alone.
 */
#include "mechanism/kmeans/sparse_centers.h"
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "release/public_fit.h"
#include <math.h>

enum { LONGEST_ARRAY = 1 << 17 };

/* A centre at zero is listed with a zero in its first column, so that no list is ever empty. */
static size_t list_entries(const double *centers, size_t k, size_t d, double *starts,
                           double *columns, double *values)
{
    size_t at = 0;
    for (size_t c = 0; c < k; c++) {
        const size_t first = at;
        if (starts) starts[c] = (double)first;
        for (size_t j = 0; j < d || at == first; j++) {
            const size_t column = j % d;
            if (centers[c * d + column] == 0 && j < d) continue;
            if (columns) columns[at] = (double)column;
            if (values) values[at] = centers[c * d + column];
            at++;
        }
    }
    if (starts) starts[k] = (double)at;
    return at;
}

static clo_status put_lists(size_t k, size_t d, const double *centers, clo_release *out,
                            clo_error *err)
{
    const size_t entries = list_entries(centers, k, d, NULL, NULL, NULL);
    double *starts = NULL, *columns = NULL, *values = NULL;
    clo_status status = clo_i_alloc(k + 1, sizeof *starts, &starts, err);
    if (!status) status = clo_i_alloc(entries, sizeof *columns, &columns, err);
    if (!status) status = clo_i_alloc(entries, sizeof *values, &values, err);
    if (!status) {
        (void)list_entries(centers, k, d, starts, columns, values);
        status = clo_i_release_put(out, "centers_starts", starts, 1, (size_t[]){ k + 1 }, err);
    }
    if (!status)
        status = clo_i_release_put(out, "centers_columns", columns, 1, (size_t[]){ entries }, err);
    if (!status)
        status = clo_i_release_put(out, "centers_values", values, 1, (size_t[]){ entries }, err);
    clo_i_free(starts);
    clo_i_free(columns);
    clo_i_free(values);
    return status;
}

clo_status clo_i_release_sparse_centers(const clo_domain *domain, clo_i_center_noise noise,
                                        size_t k, double *centers, double *sizes, clo_release *out,
                                        clo_error *err)
{
    const size_t d = domain->cols;
    if (k * d <= LONGEST_ARRAY || domain->lower || domain->center || domain->frame)
        return clo_i_release_centers(domain, noise, k, centers, sizes, out, err);
    clo_i_fit_sizes(domain, k, sizes);
    for (size_t c = 0; c < k; c++) {
        clo_i_domain_unmap_point(domain, centers + c * d);
        clo_i_cut_point(domain, noise.sum / fmax(sizes[c], 1), centers + c * d);
        sizes[c] = clo_i_cut_digits(sizes[c], noise.size, 0);
    }
    CLO_TRY(put_lists(k, d, centers, out, err));
    return clo_i_release_put(out, "sizes", sizes, 1, (size_t[]){ k }, err);
}
