/* queries.c - the registry: which queries there are.  The engine in src/ask knows none by name. */
#include "query/queries.h"

static const clo_query *const queries[] = {
#define QUERY(name) &clo_i_query_##name,
#include "query/table.def"
#undef QUERY
};

const clo_query *const *clo_i_queries(size_t *count)
{
    *count = sizeof queries / sizeof *queries;
    return queries;
}
