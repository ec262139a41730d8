/*
 * comm.c - the ranks of a run, seen from one of them.
 *
 * Only two things ever travel between ranks: sums of grid integers, whose order cannot be seen in
 * the result, and what rank 0 asks, which is public. The library itself knows no message passing;
 * whoever has ranks hands in two functions. Alone, a rank's sum is its own.
 */
#include "parallel/parallel.h"

static clo_status alone_sum(void *user, int64_t *values, size_t count)
{
    (void)user, (void)values, (void)count;
    return CLO_OK;
}

static clo_status alone_broadcast(void *user, void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return CLO_OK;
}

const clo_comm *clo_i_comm_self(void)
{
    static const clo_comm self = {
        .rank = 0, .size = 1, .sum = alone_sum, .broadcast = alone_broadcast
    };
    return &self;
}

static clo_status check(const clo_comm *comm, clo_error *err)
{
    if (comm->size < 1 || comm->rank < 0 || comm->rank >= comm->size)
        return clo_i_fail(err, CLO_ARGUMENT, "comm: rank %d of %d ranks does not exist", comm->rank,
                          comm->size);
    if (!comm->sum || !comm->broadcast)
        return clo_i_fail(err, CLO_ARGUMENT, "comm: sum and broadcast must both be given");
    return CLO_OK;
}

clo_status clo_i_comm_sum(const clo_comm *comm, int64_t *values, size_t count, clo_error *err)
{
    if (!comm) comm = clo_i_comm_self();
    CLO_TRY(check(comm, err));
    const clo_status status = comm->sum(comm->user, values, count);
    if (status != CLO_OK)
        return clo_i_fail(err, status, "rank %d of %d could not add %zu sums to the other ranks'",
                          comm->rank, comm->size, count);
    return CLO_OK;
}

clo_status clo_i_comm_broadcast(const clo_comm *comm, void *bytes, size_t count, clo_error *err)
{
    if (!comm) comm = clo_i_comm_self();
    CLO_TRY(check(comm, err));
    const clo_status status = comm->broadcast(comm->user, bytes, count);
    if (status != CLO_OK)
        return clo_i_fail(err, status, "rank %d of %d could not share %zu bytes from rank 0",
                          comm->rank, comm->size, count);
    return CLO_OK;
}

/* ---- messages ---------------------------------------------------------------------------- */

enum { HEADER = 2 };

clo_status clo_i_comm_send(const clo_comm *comm, clo_message message, const void *bytes,
                           size_t count, clo_error *err)
{
    uint64_t header[HEADER] = { (uint64_t)message, count };
    if (comm->size == 1) return CLO_OK;
    CLO_TRY(clo_i_comm_broadcast(comm, header, sizeof header, err));
    /* A broadcast reads what rank 0 gives it, and writes on the other ranks alone. */
    return count ? clo_i_comm_broadcast(comm, (void *)(uintptr_t)bytes, count, err) : CLO_OK;
}

clo_status clo_i_comm_receive(const clo_comm *comm, clo_message *message, uint8_t **bytes,
                              size_t *count, clo_error *err)
{
    uint64_t header[HEADER] = { 0 };
    uint8_t *told = NULL;
    CLO_TRY(clo_i_comm_broadcast(comm, header, sizeof header, err));
    if (header[0] < CLO_MESSAGE_END || header[0] > CLO_MESSAGE_LOOK || header[1] > SIZE_MAX / 2)
        return clo_i_fail(err, CLO_IO, "rank 0 sent what is no message");
    CLO_TRY(clo_i_alloc((size_t)header[1], 1, &told, err));
    if (header[1]) {
        const clo_status status = clo_i_comm_broadcast(comm, told, (size_t)header[1], err);
        if (status) {
            clo_i_free(told);
            return status;
        }
    }
    *message = (clo_message)header[0];
    *bytes = told;
    *count = (size_t)header[1];
    return CLO_OK;
}
