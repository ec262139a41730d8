/*
 * mpi_comm.c - sums and broadcasts over MPI, in which no rank waits for one that will not come.
 *
 * Before anything is added or shared, all ranks say what they are about to do, in one small
 * reduction: the kind of the call and how many numbers it is about.  Where they do not agree (one
 * has failed and leaves, one has other settings) every rank sees it in that same reduction, and all
 * of them fail together.  A rank that has left is never waited for again.
 *
 * A rank that is killed says nothing.  MPI's launcher notices and sends a signal to the others; a
 * wait here asks again and again whether this process was told to stop.
 */
#include "cloister-mpi.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Counts of MPI are ints: longer vectors travel in pieces. */
enum { PIECE_NUMBERS = 1 << 20, PIECE_BYTES = 1 << 23 };
enum { SPINS = 2000, NAP_NANOSECONDS = 100000 };

typedef enum call { CALL_SUM = 1, CALL_BROADCAST, CALL_LEAVE } call;

struct clo_mpi {
    MPI_Comm comm;
    clo_comm face;
    bool (*stopped)(void *user);
    void *user;
    bool over;     /* the ranks did not agree: all of them know, and no call is made any more */
    bool broken;   /* MPI failed, or this rank was stopped: others may not know */
    bool in_order; /* all have left */
};

static clo_status fail(clo_error *err, clo_status status, const char *message)
{
    if (err) {
        err->status = status;
        snprintf(err->message, sizeof err->message, "%s", message);
        err->advice[0] = 0;
    }
    return status;
}

/* Waits without taking the processor from ranks that still work. */
static clo_status wait_for(clo_mpi *ranks, MPI_Request *request)
{
    const struct timespec nap = { 0, NAP_NANOSECONDS };
    for (long spins = 0;; spins++) {
        int done = 0;
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        if (done) return CLO_OK;
        if (ranks->stopped && ranks->stopped(ranks->user)) {
            ranks->broken = true;
            return CLO_CANCELLED;
        }
        if (spins > SPINS) nanosleep(&nap, NULL);
    }
    ranks->broken = true;
    return CLO_IO;
}

static clo_status reduce(clo_mpi *ranks, void *values, int count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    if (MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, ranks->comm, &request) !=
        MPI_SUCCESS) {
        ranks->broken = true;
        return CLO_IO;
    }
    return wait_for(ranks, &request);
}

/* Whether all ranks are about to do the same. */
static clo_status meet(clo_mpi *ranks, call kind, size_t count, bool *same)
{
    int64_t least[] = { kind, -(int64_t)kind, (int64_t)count, -(int64_t)count };
    if (ranks->broken || ranks->over) return CLO_IO;
    const clo_status status = reduce(ranks, least, 4, MPI_INT64_T, MPI_MIN);
    if (status) return status;
    *same = least[0] == -least[1] && least[2] == -least[3];
    return CLO_OK;
}

static clo_status begin(clo_mpi *ranks, call kind, size_t count)
{
    bool same = false;
    const clo_status status = meet(ranks, kind, count, &same);
    if (status) return status;
    ranks->over = !same;
    return same ? CLO_OK : CLO_IO;
}

static clo_status sum(void *user, int64_t *values, size_t count)
{
    clo_mpi *const ranks = user;
    clo_status status = begin(ranks, CALL_SUM, count);
    for (size_t at = 0; at < count && !status; at += PIECE_NUMBERS) {
        const size_t left = count - at;
        const int here = left < PIECE_NUMBERS ? (int)left : PIECE_NUMBERS;
        /* Sums are modulo 2^64: of unsigned numbers that is what + means. */
        status = reduce(ranks, values + at, here, MPI_UINT64_T, MPI_SUM);
    }
    return status;
}

static clo_status broadcast(void *user, void *bytes, size_t count)
{
    clo_mpi *const ranks = user;
    clo_status status = begin(ranks, CALL_BROADCAST, count);
    for (size_t at = 0; at < count && !status; at += PIECE_BYTES) {
        const size_t left = count - at;
        const int here = left < PIECE_BYTES ? (int)left : PIECE_BYTES;
        MPI_Request request;
        if (MPI_Ibcast((char *)bytes + at, here, MPI_BYTE, 0, ranks->comm, &request) !=
            MPI_SUCCESS) {
            ranks->broken = true;
            return CLO_IO;
        }
        status = wait_for(ranks, &request);
    }
    return status;
}

clo_status clo_mpi_new(MPI_Comm from, bool (*stopped)(void *user), void *user, clo_mpi **out,
                       clo_error *err)
{
    int initialised = 0;
    clo_mpi *const ranks = calloc(1, sizeof *ranks);
    if (!ranks) return fail(err, CLO_MEMORY, "out of memory for the ranks");
    *ranks = (clo_mpi){ .stopped = stopped,
                        .user = user,
                        .face = { .sum = sum, .broadcast = broadcast, .user = ranks } };
    if (MPI_Initialized(&initialised) != MPI_SUCCESS || !initialised ||
        MPI_Comm_dup(from, &ranks->comm) != MPI_SUCCESS) {
        free(ranks);
        return fail(err, CLO_IO, "MPI gives no communicator");
    }
    if (MPI_Comm_set_errhandler(ranks->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(ranks->comm, &ranks->face.rank) != MPI_SUCCESS ||
        MPI_Comm_size(ranks->comm, &ranks->face.size) != MPI_SUCCESS) {
        free(ranks);
        return fail(err, CLO_IO, "MPI does not say which rank this is");
    }
    *out = ranks;
    return CLO_OK;
}

const clo_comm *clo_mpi_comm(const clo_mpi *ranks)
{
    return &ranks->face;
}

bool clo_mpi_leave(clo_mpi *ranks, clo_status status, bool *alone)
{
    bool same = false;
    const bool told = ranks->over; /* the others know that this run has ended */
    if (alone) *alone = false;
    if (ranks->broken) return false;
    if (told) return ranks->in_order = true;
    if (meet(ranks, CALL_LEAVE, (size_t)status, &same)) return false;
    ranks->over = true;
    if (alone) *alone = !same && status != CLO_OK;
    return ranks->in_order = true;
}

void clo_mpi_free(clo_mpi *ranks)
{
    if (!ranks) return;
    if (ranks->in_order) (void)MPI_Comm_free(&ranks->comm);
    free(ranks);
}
