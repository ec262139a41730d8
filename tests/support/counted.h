/*
 * counted.h - how many bytes of workspace something takes, by a workspace that only counts.
 */
#ifndef CLO_TEST_COUNTED_H
#define CLO_TEST_COUNTED_H

#include "base/base.h"
#include "ask/lens_cache.h"
#include "ask/lens.h"
#include "ask/query.h"
#include <cloister/run.h>

/* SIZE_MAX where it cannot be counted. */
static inline size_t counted_bytes(clo_workspace *counting, clo_status status)
{
    const size_t bytes = status ? SIZE_MAX : clo_i_workspace_peak(counting);
    clo_workspace_free(counting);
    return bytes;
}

static inline size_t query_bytes(const clo_line *line, size_t cols, const clo_bounded *data,
                                 size_t block_rows, int threads)
{
    clo_workspace *counting = NULL;
    if (clo_i_workspace_counting(&counting, NULL)) return SIZE_MAX;
    return counted_bytes(
        counting, clo_i_query_room(counting, line, cols, data, NULL, block_rows, threads, NULL));
}

/* What a run keeps of what it has seen, before it does anything else. */
static inline size_t kept_bytes(const clo_line *lines, size_t count, const clo_bounded *data)
{
    clo_workspace *counting = NULL;
    clo_kept unused;
    if (clo_i_workspace_counting(&counting, NULL)) return SIZE_MAX;
    return counted_bytes(counting, clo_i_kept_take(counting, lines, count, data, &unused, NULL));
}

static inline size_t recenter_bytes(const clo_bounded *data, bool shifted)
{
    clo_workspace *counting = NULL;
    if (clo_i_workspace_counting(&counting, NULL)) return SIZE_MAX;
    return counted_bytes(counting, clo_i_recenter_room(counting, data, shifted, NULL));
}

#endif
