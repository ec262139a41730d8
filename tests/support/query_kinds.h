/* query_kinds.h - the queries of the table as numbers, for tests that have a row for each. */
#ifndef CLO_TEST_QUERY_KINDS_H
#define CLO_TEST_QUERY_KINDS_H

#include "query/query.h"

typedef enum query_kind {
#define QUERY(name) KIND_##name,
#include "query/table.def"
#undef QUERY
    KINDS
} query_kind;

static inline const clo_query *query_of(query_kind kind)
{
    size_t count;
    return clo_i_queries(&count)[kind];
}

static inline query_kind kind_of(const clo_query *query)
{
    size_t count;
    const clo_query *const *const all = clo_i_queries(&count);
    for (size_t i = 0; i < count; i++)
        if (all[i] == query) return (query_kind)i;
    return KINDS;
}

#endif
