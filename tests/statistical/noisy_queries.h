/*
 * noisy_queries.h - every query of src/query/table.def, with the forms in which its noise is looked
 * at: the section QUERY_LAW of tests/query/NAME.h.  A query without an array of forms does not
 * compile; one whose answers hold no noisy numbers says what holds it instead.
 */
#ifndef CLO_TEST_NOISY_QUERIES_H
#define CLO_TEST_NOISY_QUERIES_H

#include "noisy_draws.h"
#include "noisy_sums.h"

/* name, prepare, ask, traits; asks, clusters (of cells: along a side), columns */
#define QUERY_LAW
#include "every_query.h"
#undef QUERY_LAW

typedef struct noisy_query {
    const char *name;
    const noisy_form *forms;
} noisy_query;

static const noisy_query noisy_queries[] = {
#define QUERY(name) { #name, forms_##name },
#include "query/table.def"
#undef QUERY
};

enum { NOISY_QUERIES = sizeof noisy_queries / sizeof *noisy_queries };

static inline unsigned noisy_count(void)
{
    unsigned count = 0;
    for (size_t q = 0; q < NOISY_QUERIES; q++)
        for (const noisy_form *f = noisy_queries[q].forms; f->name; f++) count++;
    return count;
}

#endif
