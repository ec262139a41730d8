/*
 * bounded.h - what bounded data are made of, and the way of some rows to the grid.  For the files
 * of this folder only.
 */
#ifndef CLO_BOUNDED_H
#define CLO_BOUNDED_H

#include "bound/bound.h"
#include "data/data.h"

struct clo_bounded {
    clo_domain domain;
    size_t rows;
    int32_t *cells; /* dense: rows x cols; sparse: one an entry */
    size_t cell_count;
    bool sparse;
    uint32_t *columns;   /* sparse only: of each entry */
    size_t *starts;      /* sparse only: rows + 1 */
    size_t slots;        /* rows that there were before null ones went, where their places count */
    uint32_t *slot_of;   /* rows: where each was among them; NULL: they are all there */
    clo_persons persons; /* with units: whose rows came in, kept or not */
    bool borrowed;       /* the arrays are a workspace's, or those of other data */
    struct clo_i_flow *flow; /* rows that are not held (flow.c); NULL: they are */
};

/* A row of the table on its way to the grid: what is the same for all of them. */
typedef struct clo_i_way {
    const clo_domain *domain;
    const double *scale, *center; /* of the domain's map */
    double radius;
    const double *fill; /* a value for each column of the table; NULL: a missing cell makes a null
                           record */
    double *numbers;    /* what the above point into */
    double *scratch;    /* of each thread: a block of rows, and one record as it is seen */
    size_t room;        /* of each */
    int threads;
} clo_i_way;
/* The domain must live as long as the way. */
CLO_CHECK clo_status clo_i_way_make(const clo_domain *domain, const clo_table *table,
                                    clo_i_way *out, clo_error *err);
void clo_i_way_clear(clo_i_way *way);
/* Whether rows of the table stay sparse on that way. */
bool clo_i_way_keeps_sparse(const clo_domain *domain, bool sparse);

/* Rows first … first+count-1 of the table into cells, and whether each is null; on several threads.
 */
void clo_i_bound_dense(const clo_i_way *way, const clo_table *table, size_t first, size_t count,
                       int32_t *cells, uint8_t *nulls);
/* The same of sparse rows: into data's arrays, which have room for them; sets rows, cell_count. */
void clo_i_bound_sparse(const clo_i_way *way, const clo_table *table, size_t first, size_t count,
                        clo_bounded *data, uint8_t *nulls);
/* These rows go, and the others close up; where a record had its place among all is forgotten. */
void clo_i_close_up(clo_bounded *data, const uint8_t *gone);
/* Where a row's cells begin, and how many it has. */
void clo_i_row_range(const clo_bounded *data, size_t row, size_t *first, size_t *count);

/* Rows of `data` as another domain has them (bound.T5), into `moved`, which has room for them. */
CLO_CHECK clo_status clo_i_move_rows(const clo_bounded *data, const double *shift,
                                     clo_bounded *moved, clo_error *err);

/* ---- person_rows.c: at most so many rows of a person (bound.T3) ---------------- */

/* Of all rows of the table, bounded and in memory: those that stay; sets the persons, too. */
CLO_CHECK clo_status clo_i_limit_units(clo_bounded *data, const clo_table *table,
                                       const uint8_t *nulls, clo_error *err);

/* The same of rows that go by (flow.T3), in as many passes as its room asks for. */
typedef struct clo_i_chooser clo_i_chooser;
/* Bytes that it takes at the least, by the most rows of a person alone. */
uint64_t clo_i_chooser_least(uint64_t rows_per_unit);
/* bytes: what it may take, at least the above; bits: one a row, which it sets where one stays. */
CLO_CHECK clo_status clo_i_chooser_new(uint64_t bytes, size_t rows, uint64_t rows_per_unit,
                                       uint8_t *bits, clo_i_chooser **out, clo_error *err);
/* The next rows of a pass, as they were bounded, null ones among them, from rows of the table. */
void clo_i_chooser_look(clo_i_chooser *chooser, const clo_bounded *part, const clo_table *table,
                        size_t first, const uint8_t *nulls);
/* A pass is through: whether it was the last one. */
CLO_CHECK bool clo_i_chooser_end(clo_i_chooser *chooser);
/* After the last pass: how many rows stay, and of whom there were any. */
size_t clo_i_chooser_kept(const clo_i_chooser *chooser, clo_persons *persons);
void clo_i_chooser_free(clo_i_chooser *chooser);

/* ---- cache.c: bytes in an unnamed file, encrypted (flow.T4) ---------------- */

typedef struct clo_i_cache clo_i_cache;
/* CLO_IO, with the system's reason, where the folder cannot hold such a file. */
CLO_CHECK clo_status clo_i_cache_new(const char *folder, clo_i_cache **out, clo_error *err);
void clo_i_cache_free(clo_i_cache *cache); /* NULL is fine; the key is wiped, the file is gone */
uint64_t clo_i_cache_room(void);           /* bytes that it takes, about */
/* Once: all bytes, and that they have come.  Where that fails the cache is of no use any more. */
CLO_CHECK clo_status clo_i_cache_put(clo_i_cache *cache, const void *bytes, size_t count,
                                     clo_error *err);
CLO_CHECK clo_status clo_i_cache_finish(clo_i_cache *cache, clo_error *err);
bool clo_i_cache_failed(const clo_i_cache *cache); /* because it could not be written */
/* Then, again and again: from the first on, and to the end of what was put.  CLO_IO, in fixed
 * words, where the file is not what was written: then nothing made of its bytes may be used. */
CLO_CHECK clo_status clo_i_cache_begin(clo_i_cache *cache, clo_error *err);
CLO_CHECK clo_status clo_i_cache_get(clo_i_cache *cache, void *bytes, size_t count, clo_error *err);
CLO_CHECK clo_status clo_i_cache_end(clo_i_cache *cache, clo_error *err);

/* ---- flow.c -------------------------------------------------------------- */

/* Makes the flow of the data, and sets how many rows count, and of which persons. */
CLO_CHECK clo_status clo_i_flow_open(const clo_table *scan, clo_bounded *data, clo_error *err);
/* Takes what a pass over data that are seen from elsewhere needs, beside what the flow has. */
CLO_CHECK clo_status clo_i_flow_take(struct clo_workspace *space, const clo_bounded *data,
                                     clo_bounded *out, clo_error *err);
/* From now on `moved` shows the rows of data in its own domain, and shifted (NULL: not). */
CLO_CHECK clo_status clo_i_flow_look(const clo_bounded *data, const double *shift,
                                     clo_bounded *moved, clo_error *err);
void clo_i_flow_free(struct clo_i_flow *flow);

#endif
