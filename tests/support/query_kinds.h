/*
 * query_kinds.h - the queries of the table as numbers, for tests that go through all of them.
 *
 * What these tests know of one query is in tests/query/NAME.h, in sections.  A test defines a
 * section and includes every_query.h, which the build makes from src/query/table.def: so it gets
 * that section of every query, and a query without it does not compile.
 *
 *   QUERY_LAW     forms_NAME: how its noise is looked at (noisy_queries.h)
 *   QUERY_ORACLE  line_NAME: what its lines must be, from the proof (line_oracle.h)
 *   QUERY_LINES   make_NAME: lines of it (test_plan_sensitivity.c)
 *   QUERY_REACH   reach_NAME: the rows that move its answer farthest (test_unit_reach.c)
 *   QUERY_CHANGE  probe_NAME: how to search for the largest change (test_largest_change.c)
 *   QUERY_UNIT    unit_NAME: the unit that its noise is told in (test_line_noise.c)
 *   QUERY_SUMS    add_NAME: asks that travel as bytes, where it adds up (sum_asks.h)
 */
#ifndef CLO_TEST_QUERY_KINDS_H
#define CLO_TEST_QUERY_KINDS_H

#include "query/queries.h"

typedef enum query_kind {
#define QUERY(name) KIND_##name,
#include "query/table.def"
#undef QUERY
    KINDS
} query_kind;

static const clo_query *const every_query[KINDS] = {
#define QUERY(name) &clo_i_query_##name,
#include "query/table.def"
#undef QUERY
};

static inline const clo_query *query_of(query_kind kind)
{
    return every_query[kind];
}

static inline query_kind kind_of(const clo_query *query)
{
    for (size_t i = 0; i < KINDS; i++)
        if (every_query[i] == query) return (query_kind)i;
    return KINDS;
}

#endif
