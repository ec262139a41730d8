/*
 * base.h - what every folder stands on: failing, allocating, sizes, scratch memory.
 */
#ifndef CLO_BASE_H
#define CLO_BASE_H

#include <cloister/params.h>
#include <cloister/status.h>
#include <stdarg.h>

struct clo_workspace; /* public name in run.h; the arena itself lives here */

/* ---- failing ------------------------------------------------------------- */

/* Fills err (where there is one) and returns status, so that a failure is one line:
 *   return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and 1024, not %g", v);
 * Lower case, no full stop: the parameter, what is allowed, what was given.  Never a
 * value that was read from the data. */
clo_status clo_i_fail(clo_error *err, clo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* After it: which setting would help, and its value, "columns -cut".  Returns the same status. */
clo_status clo_i_advise(clo_error *err, clo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Forwards a failure; only where there is nothing to free. */
#define CLO_TRY(expression)                                                                        \
    do {                                                                                           \
        const clo_status try_s = (expression);                                                     \
        if (try_s != CLO_OK) return try_s;                                                         \
    } while (0)

/* ---- memory -------------------------------------------------------------- */

/* count * size zeroed bytes, 64-byte aligned; CLO_MEMORY on overflow or where there is none, and
 * then the message holds no size.  Every allocation of the library goes through here, so that a
 * test can make the n-th fail. */
CLO_CHECK clo_status clo_i_alloc(size_t count, size_t size, void *out_pointer, clo_error *err);
/* The same, with anything in it: for who writes all of it before anyone reads. */
CLO_CHECK clo_status clo_i_alloc_unset(size_t count, size_t size, void *out_pointer,
                                       clo_error *err);
/* Keeps the contents; new bytes are zero; the old block is wiped when it moves. */
CLO_CHECK clo_status clo_i_resize(void *pointer_to_pointer, size_t old_count, size_t new_count,
                                  size_t size, clo_error *err);
void clo_i_free(void *pointer);                    /* what clo_i_alloc gave, or NULL */
void clo_i_wipe_free(void *pointer, size_t bytes); /* wipes, then frees; NULL is fine */
void clo_i_wipe(void *pointer, size_t bytes);
CLO_CHECK clo_status clo_i_copy_text(const char *text, char **out, clo_error *err);

/* For the fault tests alone: the n-th allocation from now on fails (1: the next one);
 * 0 switches it off.  Compiled in only with -Dfault_injection=true. */
void clo_i_fail_allocation(uint64_t n);
uint64_t clo_i_allocation_count(void);
/* The same tests: told the size of every allocation, on whatever thread; NULL: nobody is. */
typedef void clo_i_allocation_watch(size_t bytes);
void clo_i_watch_allocations(clo_i_allocation_watch *watch);

/* False on overflow, and then *out is untouched. */
bool clo_i_multiply(size_t a, size_t b, size_t *out);
bool clo_i_add(size_t a, size_t b, size_t *out);

/* ---- wide vectors ---------------------------------------------------------- */

/* A function whose loops go over the cells of many records: it is compiled for the vectors of newer
 * processors, too, and the loader takes the widest that this one has.  Only where every one gives
 * the same bits: sums are of exact integers, or their order is written down (nothing is fused,
 * -ffp-contract=off). */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLO_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLO_WIDE
#endif

/* ---- the workspace ------------------------------------------------------- */

/* An arena.  take gives 64-byte aligned, zeroed memory that lives until the mark before it
 * is released; everything is wiped when it is given back.  A take beyond the planned size
 * still succeeds, from a further chunk; a test holds that no mechanism needs one. */
CLO_CHECK clo_status clo_i_take(struct clo_workspace *workspace, size_t count, size_t size,
                                void *out_pointer, clo_error *err);
/* From here on so many bytes can be taken, in any parts, without asking the system for more. */
CLO_CHECK clo_status clo_i_workspace_reserve(struct clo_workspace *workspace, size_t bytes,
                                             clo_error *err);
size_t clo_i_workspace_mark(const struct clo_workspace *workspace);
/* The same, where a query begins: until this is released, what is taken is its, and not of the
 * mechanism that asks.  Only a watch of the test build sees the difference. */
size_t clo_i_workspace_begin_ask(struct clo_workspace *workspace);
void clo_i_workspace_release(struct clo_workspace *workspace, size_t mark);
size_t clo_i_workspace_peak(const struct clo_workspace *workspace);
/* Room at the end of the workspace for what can be made again, in place of the last such room: it
 * gives way, wiped, to whatever is taken there.  NULL: there is none.  Who uses it asks first
 * whether it is there still. */
void *clo_i_spare(struct clo_workspace *workspace, size_t bytes);
bool clo_i_spare_is_there(const struct clo_workspace *workspace, const void *spare);
void clo_i_spare_end(struct clo_workspace *workspace);
/* A workspace that only counts: takes succeed and give NULL, and the peak says how much the same
 * takes need.  To be freed with clo_workspace_free. */
CLO_CHECK clo_status clo_i_workspace_counting(struct clo_workspace **out, clo_error *err);
/* For tests of the test build: told of every take, where it is and how many bytes it counts for;
 * ask: the mark at which the query began that takes, SIZE_MAX: none does. */
typedef void clo_i_take_watch(void *user, size_t at, size_t bytes, size_t ask);
void clo_i_watch_takes(struct clo_workspace *workspace, clo_i_take_watch *watch, void *user);

/* ---- structs with a struct_size ------------------------------------------- */

/* The presets into a caller's struct of `size` bytes: as far as both reach, and zero beyond. */
void clo_i_give_presets(void *out, size_t size, const void *presets, size_t known);
/* Puts what a caller gave over the presets in out, of `known` bytes; given NULL: they stay.
 * type is the struct's name, for the message: CLO_ARGUMENT where struct_size is not set,
 * CLO_UNSUPPORTED where a field is set that only the caller's header knows. */
CLO_CHECK clo_status clo_i_take_options(const char *type, const void *given, void *out,
                                        size_t known, clo_error *err);
/* Whether the caller has set the struct_size of a struct that is to be filled; and filling it, as
 * far as it reaches. */
CLO_CHECK clo_status clo_i_check_result(const char *type, const void *out, clo_error *err);
void clo_i_give_result(void *out, const void *result, size_t known);

/* ---- parameters ---------------------------------------------------------- */

/* Values in the order of the rows.  owner: the mechanism or the solver they belong to. */
struct clo_params {
    const void *owner;
    char owner_name[64];
    const clo_param *rows;
    size_t count;
    double *values;
};

CLO_CHECK clo_status clo_i_params_new(const void *owner, const char *owner_name,
                                      const clo_param *rows, size_t count, clo_params **out,
                                      clo_error *err);
/* False where no row has the name. */
bool clo_i_param_find(const clo_param *rows, size_t count, const char *name, size_t *index);
/* The text of a parameter's value: 5, 0.5, norm. */
void clo_i_param_word(const clo_param *param, double value, char text[CLO_VALUE_SIZE]);
/* The same as JSON: 5, 0.5, "norm". */
void clo_i_param_text(const clo_param *param, double value, char *buffer, size_t size);
/* Fails where there are no clusters, or more than `most`. */
CLO_CHECK clo_status clo_i_check_clusters(size_t clusters, int most, clo_error *err);

/* ---- text ---------------------------------------------------------------- */

/* As printf does; at most 1023 bytes. */
struct clo_writer; /* public, in output.h */
void clo_i_writer_format(struct clo_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads one finite or infinite number at text, locale-free; where it ends, or NULL. */
const char *clo_i_parse_double(const char *text, double *out);

/* ---- memory_left.c ------------------------------------------------------------------------- */

/* Bytes that the process can still have, as far as the system tells; root: "", or where a test has
 * its own /proc and /sys. */
uint64_t clo_i_memory_left(const char *root);

/* ---- float_state.c ------------------------------------------------------------------------- */

/* Fails where one of so many threads (0: as many as there are) does not round to nearest or flushes
 * tiny numbers to zero: to be asked before anything is computed from the data. */
CLO_CHECK clo_status clo_i_check_float_state(int threads, clo_error *err);

/* Whether what a run asks for after its charge, beside its workspace, is there: it is public in
 * size, and small unless there are many columns.  Where the allocator keeps what is given back
 * (the command sees to that), asking the system again is not needed then. */
CLO_CHECK clo_status clo_i_check_spare_memory(clo_error *err);

/* Keeps memory that holds a key out of swap, where limits allow, and out of cores. */
void clo_i_guard(void *pointer, size_t bytes);
/* Data are locked, too, all of one kind or none of it: whether so much may be, by the limits of the
 * process and the machine; and a block of it, from clo_i_alloc, until clo_i_wipe_free.  False where
 * the system does not do it, which is no failure. */
bool clo_i_may_lock(size_t bytes);
bool clo_i_lock(void *block, size_t bytes);

/* ---- a text that grows ------------------------------------------------------- */

typedef struct clo_i_growing {
    char *bytes; /* for clo_i_free */
    size_t length, room;
} clo_i_growing;

/* A clo_write whose user is one; false where there is no memory. */
CLO_CHECK bool clo_i_growing_write(void *growing, const char *bytes, size_t count);

#endif
