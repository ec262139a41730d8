/* self_expression.c - blocks of points, and their sparse codes put together. */
#include "solver/affinity/self_expression.h"
#include "linalg/linalg.h"
#include <math.h>
#include <omp.h>
#include <string.h>

/* What a core's own cache holds beside the data, in doubles, and the limits within which a matrix
 * product of so many rows is neither slow nor more than a share of the points. */
enum { CACHE_DOUBLES = 1 << 16, LEAST_ROWS = 16, MOST_ROWS = 64 };

size_t clo_i_points_at_once(size_t count)
{
    const size_t rows = CACHE_DOUBLES / (count ? count : 1) / 8 * 8;
    return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

void clo_i_codes_free(clo_codes *codes)
{
    clo_i_free(codes->starts);
    clo_i_free(codes->columns);
    clo_i_free(codes->values);
    memset(codes, 0, sizeof *codes);
}

clo_status clo_i_unit_rows(const clo_solver_input *job, double **out, clo_error *err)
{
    double *unit = NULL;
    size_t cells = 0;
    if (!clo_i_multiply(job->count, job->cols, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many rows and "
                          "columns");
    CLO_TRY(clo_i_alloc(cells, sizeof *unit, &unit, err));
    for (size_t i = 0; i < job->count; i++) {
        const double *const row = job->rows + i * job->cols;
        double largest = 0, square = 0;
        for (size_t c = 0; c < job->cols; c++) largest = fmax(largest, fabs(row[c]));
        if (largest == 0) continue;
        /* by the largest entry first: the squares of finite numbers need not be finite */
        for (size_t c = 0; c < job->cols; c++) square += row[c] / largest * (row[c] / largest);
        const double length = sqrt(square);
        for (size_t c = 0; c < job->cols; c++) unit[i * job->cols + c] = row[c] / largest / length;
    }
    *out = unit;
    return CLO_OK;
}

clo_status clo_i_even_rows(const clo_solver_input *job, double **out, clo_error *err)
{
    double largest = 0, *rows = NULL;
    size_t cells = 0;
    if (!clo_i_multiply(job->count, job->cols, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many rows and "
                          "columns");
    CLO_TRY(clo_i_alloc(cells, sizeof *rows, &rows, err));
    for (size_t i = 0; i < cells; i++) largest = fmax(largest, fabs(job->rows[i]));
    for (size_t i = 0; i < cells; i++) rows[i] = largest > 0 ? job->rows[i] / largest : 0;
    *out = rows;
    return CLO_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static clo_status block_open(clo_code_block *block, clo_error *err)
{
    CLO_TRY(clo_i_alloc(block->rows, sizeof *block->starts, &block->starts, err));
    return clo_i_alloc(block->rows, sizeof *block->lengths, &block->lengths, err);
}

static void block_free(clo_code_block *block)
{
    clo_i_free(block->starts);
    clo_i_free(block->lengths);
    clo_i_free(block->columns);
    clo_i_free(block->values);
}

static clo_status make_room(clo_code_block *block, size_t more, clo_error *err)
{
    if (more <= block->room - block->used) return CLO_OK;
    const size_t room = 2 * block->room + more;
    CLO_TRY(clo_i_resize(&block->columns, block->room, room, sizeof *block->columns, err));
    CLO_TRY(clo_i_resize(&block->values, block->room, room, sizeof *block->values, err));
    block->room = room;
    return CLO_OK;
}

clo_status clo_i_code_add(clo_code_block *block, size_t row, const uint32_t *columns,
                          const double *values, size_t count, clo_error *err)
{
    if (count == 0) return CLO_OK;
    CLO_TRY(make_room(block, count, err));
    memcpy(block->columns + block->used, columns, count * sizeof *columns);
    memcpy(block->values + block->used, values, count * sizeof *values);
    block->starts[row] = block->used;
    block->lengths[row] = count;
    block->used += count;
    return CLO_OK;
}

static clo_status join(const clo_code_block *blocks, size_t count, size_t rows, clo_codes *out,
                       clo_error *err)
{
    clo_codes codes = { .count = rows };
    size_t total = 0, at = 0, row = 0;
    for (size_t b = 0; b < count; b++) total += blocks[b].used;
    clo_status status = clo_i_alloc(rows + 1, sizeof *codes.starts, &codes.starts, err);
    if (!status) status = clo_i_alloc(total, sizeof *codes.columns, &codes.columns, err);
    if (!status) status = clo_i_alloc(total, sizeof *codes.values, &codes.values, err);
    if (status) {
        clo_i_codes_free(&codes);
        return status;
    }
    for (size_t b = 0; b < count; b++)
        for (size_t i = 0; i < blocks[b].rows; i++) {
            const size_t from = blocks[b].starts[i], length = blocks[b].lengths[i];
            if (length > 0) {
                memcpy(codes.columns + at, blocks[b].columns + from, length * sizeof(uint32_t));
                memcpy(codes.values + at, blocks[b].values + from, length * sizeof(double));
            }
            at += length;
            codes.starts[++row] = at;
        }
    *out = codes;
    return CLO_OK;
}

/* The first failure ends the work of all threads; which block failed first is then a matter of
 * chance, but there is nothing to choose between failures. */
typedef struct clo_encoding {
    const clo_solver_input *job;
    clo_encoder *encoder;
    const void *context;
    clo_code_block *blocks;
    size_t count, done;
    int failed;
    clo_status status;
    clo_error *err;
} encoding;

clo_status clo_i_code_pause(const clo_code_block *block, clo_error *err)
{
    const encoding *const work = block->work;
    size_t done;
    int failed;
#pragma omp atomic read
    failed = work->failed;
    if (failed) return clo_i_fail(err, CLO_CANCELLED, "another thread has failed");
    if (omp_get_thread_num() != 0) return CLO_OK;
#pragma omp atomic read
    done = work->done;
    return clo_i_job_progress(work->job, (double)done / (double)work->count, err);
}

static clo_status encode_block(encoding *work, size_t b, clo_error *err)
{
    size_t done;
    CLO_TRY(block_open(&work->blocks[b], err));
    CLO_TRY(work->encoder(work->context, &work->blocks[b], err));
#pragma omp atomic capture
    done = ++work->done;
    if (omp_get_thread_num() != 0) return CLO_OK;
    return clo_i_job_progress(work->job, (double)done / (double)work->count, err);
}

static void encode_blocks(encoding *work)
{
#pragma omp parallel num_threads(work->job->threads)
    {
        const int before = clo_i_blas_serial_begin();
#pragma omp for schedule(dynamic, 1)
        for (size_t b = 0; b < work->count; b++) {
            clo_error err = { .message = "" };
            int stopped, others;
#pragma omp atomic read
            stopped = work->failed;
            if (stopped) continue;
            const clo_status status = encode_block(work, b, &err);
            if (!status) continue;
#pragma omp atomic capture
            others = work->failed++;
            if (others > 0) continue;
            work->status = status;
            if (work->err) *work->err = err;
        }
        clo_i_blas_serial_end(before);
    }
}

clo_status clo_i_encode(const clo_solver_input *job, size_t block_rows, clo_encoder *encoder,
                        const void *context, clo_codes *out, clo_error *err)
{
    encoding work = { .job = job, .encoder = encoder, .context = context, .err = err };
    if (job->count > UINT32_MAX)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a self-expressive solver takes up to 4294967295 rows");
    work.count = job->count / block_rows + (job->count % block_rows > 0);
    CLO_TRY(clo_i_alloc(work.count, sizeof *work.blocks, &work.blocks, err));
    for (size_t b = 0; b < work.count; b++) {
        const size_t first = b * block_rows, left = job->count - first;
        work.blocks[b].first = first;
        work.blocks[b].work = &work;
        work.blocks[b].rows = left < block_rows ? left : block_rows;
    }
    encode_blocks(&work);
    clo_status status = work.status;
    if (!status) status = join(work.blocks, work.count, job->count, out, err);
    for (size_t b = 0; b < work.count; b++) block_free(&work.blocks[b]);
    clo_i_free(work.blocks);
    return status;
}

/* ---- endings ------------------------------------------------------------------------------- */

clo_status clo_i_affinity_from_codes(clo_codes *codes, clo_affinity *out, clo_error *err)
{
    const clo_status status = clo_i_affinity_from_sparse(codes->starts, codes->columns,
                                                         codes->values, codes->count, out, err);
    clo_i_codes_free(codes);
    return status;
}

clo_self_ending clo_i_self_ending(double clusters, double dim, double flats, double restarts)
{
    const clo_flat_shape shape = { .clusters = (size_t)clusters,
                                   .dim = (size_t)dim,
                                   .affine = flats > 0 };
    return (clo_self_ending){ .shape = shape, .restarts = (size_t)restarts };
}

clo_status clo_i_partition_from_codes(const clo_solver_input *job, clo_codes *codes,
                                      const clo_self_ending *ending, clo_partition *out,
                                      clo_error *err)
{
    const clo_solver_input last = clo_i_job_part(job, 0.8, 1);
    clo_flat_shape shape = ending->shape;
    clo_affinity affinity = { .count = 0 };
    CLO_TRY(clo_i_affinity_from_codes(codes, &affinity, err));
    shape.dims = job->dims;
    const clo_status status =
        clo_i_partition_from_affinity(&last, &affinity, &shape, ending->restarts, out, err);
    clo_i_affinity_free(&affinity);
    return status;
}
