/*
 * persons.h - persons whose rows are spread over several parts (ranks, workers): all rows of a
 * person must lie in one of them.
 *
 * Of each person at most so many rows are kept (clo_domain.rows_per_unit), by whoever holds them
 * all.  So each part lists its persons, as hashes under a key that all parts share
 * (clo_read_options.unit_key), and the lists are compared before anything is spent (fold.T5).  A
 * list is as sensitive as the rows: it says how many persons there are, and, to who knows the key,
 * who they are.
 */
#ifndef CLOISTER_PERSONS_H
#define CLOISTER_PERSONS_H

#include <cloister/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How long the hash of a person is. */
enum { CLO_PERSON_BYTES = 16 };

/* Of all persons: how many there are, and the sum, modulo 2^64, of the first words of their hashes.
 * As secret as they are.  Frozen. */
typedef struct clo_persons {
    uint64_t count;
    uint64_t sum;
} clo_persons;

/* The hashes of a table's persons, CLO_PERSON_BYTES each, in increasing order, each once; rows that
 * name nobody have none.  To be freed with clo_persons_free.  CLO_ARGUMENT without units. */
CLO_API CLO_CHECK clo_status clo_table_persons(const clo_table *table, uint8_t **out, size_t *count,
                                               clo_error *err);
CLO_API void clo_persons_free(uint8_t *hashes, size_t count); /* wipes them */

/* The lists of all parts, one behind the other: sorts them, which changes their order, and says
 * what they come to.  CLO_DOMAIN where a person is in two of them.  A hash that is all zero is
 * nobody's, and not looked at. */
CLO_API CLO_CHECK clo_status clo_persons_compare(uint8_t *hashes, size_t count, clo_persons *out,
                                                 clo_error *err);

/* Of a table that every part has read, under the same key, keeps the persons of one of `parts`
 * parts, by their hashes: the rows of all others name nobody from now on, so that clo_bound leaves
 * them out.  Each person is in exactly one part.  Of a scan once, before it is bounded.
 * CLO_ARGUMENT without a unit column. */
CLO_API CLO_CHECK clo_status clo_table_keep_persons(clo_table *table, size_t part, size_t parts,
                                                    clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
