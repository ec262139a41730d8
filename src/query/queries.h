/* queries.h - the objects that the rows of table.def name, one per query. */
#ifndef CLO_QUERY_QUERIES_H
#define CLO_QUERY_QUERIES_H

#include "ask/query.h"

#define QUERY(name) extern const clo_query clo_i_query_##name;
#include "query/table.def"
#undef QUERY

#endif
