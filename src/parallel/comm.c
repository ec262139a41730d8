/*
 * comm.c - the ranks of a run, seen from one of them.
 *
 * Only two things ever travel between ranks: sums of grid integers, whose order cannot be seen in
 * the result, and what rank 0 has released. The library itself knows no message passing; whoever
 * has ranks hands in two functions. Alone, a rank's sum is its own and its release is everyone's.
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
        return clo_i_fail(err, status, "this rank could not add its sums to the others'");
    return CLO_OK;
}

clo_status clo_i_comm_broadcast(const clo_comm *comm, void *bytes, size_t count, clo_error *err)
{
    if (!comm) comm = clo_i_comm_self();
    CLO_TRY(check(comm, err));
    const clo_status status = comm->broadcast(comm->user, bytes, count);
    if (status != CLO_OK)
        return clo_i_fail(err, status, "this rank could not share what the first one has");
    return CLO_OK;
}
