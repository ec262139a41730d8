/*
 * bound.h - from record to integer, and the only way to read the result: by blocks of rows.
 *
 * A bounded record is an integer vector r with sum r_j^2 <= 4^CLO_GRID_BITS, an integer fact that
 * was checked in integers (bound.T1).  A query reads it on a grid of `bits` <= CLO_GRID_BITS:
 * truncation toward zero of r / 2^(CLO_GRID_BITS - bits), which keeps the norm inside 2^bits
 * (bound.T2).  Each block is a pure function of its own records.
 */
#ifndef CLO_BOUND_H
#define CLO_BOUND_H

#include "base/base.h"
#include "domain/domain.h"
#include <cloister/persons.h>

enum { CLO_GRID_BITS = 30 };

/* The domain that the data were bounded to; its arrays belong to the data. */
const clo_domain *clo_i_bounded_domain(const clo_bounded *data);
/* Records that count: null ones are gone (bound.T6), so that it is a secret under any relation. */
size_t clo_i_bounded_rows(const clo_bounded *data);
/* Under replace without units, where how many rows there are is public: their number, null ones
 * among them, and which of them a record was.  Elsewhere the same as the above, and the record's
 * own number. */
size_t clo_i_bounded_slots(const clo_bounded *data);
size_t clo_i_bounded_slot(const clo_bounded *data, size_t row);
bool clo_i_bounded_is_sparse(const clo_bounded *data);
/* Of data with units: the persons that had rows in the table, whether or not one of them counts. */
clo_persons clo_i_bounded_persons(const clo_bounded *data);

/* ---- rows that are not held (flow.T1) ------------------------------------------------------ */

/* Whether the rows lie in files and are read again in every pass.  Such data have no blocks: they
 * are shown part by part, each of them data like others, until the next one or the end. */
bool clo_i_bounded_is_streamed(const clo_bounded *data);
typedef clo_status clo_i_take_rows(void *user, const clo_bounded *part, clo_error *err);
/* CLO_IO where the files are not what they were: then nothing made of the parts may be used. */
CLO_CHECK clo_status clo_i_bounded_each(const clo_bounded *data, clo_i_take_rows *take, void *user,
                                        clo_error *err);
/* Of streamed data: CLO_MEMORY, with how much is needed, where a run on so many threads whose
 * workspace has so many bytes would take more than it may.  All of it is public. */
CLO_CHECK clo_status clo_i_bounded_check_memory(const clo_bounded *data, size_t workspace,
                                                int threads, clo_error *err);

/* ---- rows in memory, by blocks --------------------------------------------------------------- */

/* How many blocks of block_rows rows there are (the last may be short; 0 for no rows). */
size_t clo_i_block_count(const clo_bounded *data, size_t block_rows);
/* Block `index` on the grid of `bits`: writes its rows, row-major, as integer-valued doubles, and
 * says how many. Any order, any number of passes, from any thread. */
CLO_CHECK clo_status clo_i_block_load(const clo_bounded *data, size_t index, size_t block_rows,
                                      int bits, double *values, size_t *rows, clo_error *err);
/* The squared norms of the block's records on the full grid: at most 4^CLO_GRID_BITS. */
CLO_CHECK clo_status clo_i_block_norms(const clo_bounded *data, size_t index, size_t block_rows,
                                       uint64_t *squares, size_t *rows, clo_error *err);
/* One record on the full grid as it lies in memory: its entries in the order of their columns, the
 * zeros of a sparse one left out.  For readers whose work is to follow the entries, not the
 * columns. */
typedef struct clo_row {
    size_t count;
    const uint32_t *columns; /* of each entry; NULL: 0, 1, ... */
    const int32_t *cells;
} clo_row;
clo_row clo_i_bounded_row(const clo_bounded *data, size_t row);
/* Truncation toward zero by 2^shift (bound.T2), without a branch. */
static inline int32_t clo_i_coarser(int32_t r, int shift)
{
    const int32_t bias = (r >> 31) & ((1 << shift) - 1);
    return (r + bias) >> shift;
}
/* The same rows in another domain of as many columns: record y, in ball coordinates, becomes
 * y - shift inside the new domain's ball (NULL: no shift).  bound.T5.  Into what
 * clo_i_rebound_take gave for the same data, which may be used again and again; with `shifted` for
 * any shift, without it for none.  Its arrays are the workspace's; it is freed as other data. */
CLO_CHECK clo_status clo_i_rebound(const clo_bounded *data, const clo_domain *domain,
                                   const double *shift, clo_bounded *moved, clo_error *err);
CLO_CHECK clo_status clo_i_rebound_take(struct clo_workspace *workspace, const clo_bounded *data,
                                        bool shifted, clo_bounded **out, clo_error *err);
CLO_CHECK clo_status clo_i_rebound_room(struct clo_workspace *space, const clo_bounded *data,
                                        bool shifted, clo_error *err);
/* A good block size for so many columns. */
size_t clo_i_block_rows(size_t cols, size_t asked);

/* One record onto the full grid (bound.T1): `values` in ball coordinates, that is inside the ball
 * of radius norm when it needs no clipping.  A value that is not finite gives the zero record:
 * missing cells do not come here, but numbers that left the range of a double on their way do. */
void clo_i_to_grid(const double *values, size_t cols, double norm, int32_t *out);

#endif
