/*
 * run_on_workers.c - a run whose rows are with workers: what rank 0 sends becomes tasks, and the
 * sum of the workers' vectors is what the other ranks would have added.
 */
#include "plan/run_on_workers.h"
#include "base/key.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <string.h>

enum { HEADER_WORDS = 2 };

static clo_status say(clo_i_driver *driver, clo_status status, const char *trouble)
{
    driver->trouble = trouble;
    return status;
}

static clo_status keep(uint8_t **place, size_t *length, const void *bytes, size_t count)
{
    uint8_t *copy = NULL;
    CLO_TRY(clo_i_alloc(count, 1, &copy, NULL));
    memcpy(copy, bytes, count);
    clo_i_free(*place);
    *place = copy;
    *length = count;
    return CLO_OK;
}

/* A message is a header and bytes, as clo_i_comm_send sends them. */
static clo_status broadcast(void *user, void *bytes, size_t count)
{
    clo_i_driver *const driver = user;
    if (!driver->kind) {
        uint64_t header[HEADER_WORDS] = { 0 };
        if (count != sizeof header) return say(driver, CLO_INTERNAL, "a message has no header");
        memcpy(header, bytes, sizeof header);
        driver->kind = header[1] ? header[0] : 0;
        return CLO_OK;
    }
    const uint64_t kind = driver->kind;
    driver->kind = 0;
    if (kind == CLO_MESSAGE_ASK) return keep(&driver->ask, &driver->ask_bytes, bytes, count);
    if (kind == CLO_MESSAGE_LOOK) return keep(&driver->place, &driver->place_bytes, bytes, count);
    return CLO_OK; /* workers are not told of the end: they have no state */
}

static size_t whole_words(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* What is asked; NULL: nothing but the hash of the rows. */
static clo_status make_task(const clo_i_driver *driver, const clo_handed *asked, uint8_t **out,
                            size_t *bytes)
{
    static const clo_handed nothing = { .ask = NULL };
    const clo_handed *const what = asked ? asked : &nothing;
    clo_i_task_head head = { .form = CLO_TASK_FORM,
                             .place_bytes = driver->place_bytes,
                             .ask_bytes = what->ask_bytes,
                             .seed_bytes = what->seed_bytes };
    const size_t place = sizeof head, ask = place + whole_words(driver->place_bytes);
    const size_t seeds = ask + whole_words(what->ask_bytes);
    clo_i_key_know(driver->row_hash_key, CLO_ROW_HASH_KEY_BYTES);
    memcpy(head.row_hash_key, driver->row_hash_key, sizeof head.row_hash_key);
    *bytes = seeds + whole_words(what->seed_bytes);
    CLO_TRY(clo_i_alloc(*bytes, 1, out, NULL));
    memcpy(*out, &head, sizeof head);
    if (driver->place_bytes) memcpy(*out + place, driver->place, driver->place_bytes);
    if (what->ask_bytes) memcpy(*out + ask, what->ask, what->ask_bytes);
    if (what->seed_bytes) memcpy(*out + seeds, what->seeds, what->seed_bytes);
    return CLO_OK;
}

/* fold.T4: the same rows in every pass, and as many as were counted where that is public.
 * fold.T5: the persons that were compared, each in one part still: one in two would count twice. */
static clo_status compare_row_hashes(clo_i_driver *driver, const int64_t *row_hash)
{
    uint64_t now[CLO_ROW_HASH_NUMBERS];
    memcpy(now, row_hash, sizeof now);
    if (driver->rows && now[0] != driver->rows)
        return say(driver, CLO_IO, "the number of rows in the parts has changed");
    if (driver->has_units && (now[2] != driver->persons.count || now[3] != driver->persons.sum))
        return say(driver, CLO_IO, "the persons in the parts have changed");
    if (driver->hashed && memcmp(now, driver->row_hash, sizeof now) != 0)
        return say(driver, CLO_IO, "the rows changed between two passes over them");
    memcpy(driver->row_hash, now, sizeof now);
    driver->hashed = true;
    return CLO_OK;
}

/* One pass over all parts; or what all groups make of the blocks that were handed out. */
static clo_status ask_workers(clo_i_driver *driver, const clo_handed *asked, int64_t *totals,
                              size_t count)
{
    const clo_workers *const workers = driver->workers;
    const bool blocks = asked && asked->seed_bytes;
    uint8_t *task = NULL;
    size_t bytes = 0;
    CLO_TRY(make_task(driver, asked, &task, &bytes));
    const clo_status status = blocks ? workers->solve(workers->user, task, bytes, asked->block_of,
                                                      asked->slots, totals, count)
                                     : workers->fold(workers->user, task, bytes, totals, count);
    clo_i_free(task);
    if (status && blocks) return say(driver, status, "the workers could not solve their blocks");
    if (status) return say(driver, status, "the workers could not fold their rows");
    return compare_row_hashes(driver, totals + count - CLO_ROW_HASH_NUMBERS);
}

/* values: the ask's numbers, of which this process has none, and its word that it could fold. */
static clo_status sum(void *user, int64_t *values, size_t count)
{
    clo_i_driver *const driver = user;
    const size_t numbers = count - 1 + CLO_ROW_HASH_NUMBERS;
    int64_t *totals = NULL;
    if (!driver->ask) return say(driver, CLO_INTERNAL, "a sum was asked for without an ask");
    if (values[count - 1]) return CLO_OK; /* the run ends, for a reason of its own */
    CLO_TRY(clo_i_alloc(numbers, sizeof *totals, &totals, NULL));
    const clo_handed asked = { .ask = driver->ask, .ask_bytes = driver->ask_bytes };
    const clo_status status = ask_workers(driver, &asked, totals, numbers);
    for (size_t i = 0; i + 1 < count && !status; i++)
        values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)totals[i]);
    clo_i_wipe_free(totals, numbers * sizeof *totals);
    return status;
}

/* ---- blocks (fold.T7) ---------------------------------------------------------------------- */

static clo_status tell(const clo_i_driver *driver, clo_status status, clo_error *err)
{
    if (!status) return CLO_OK;
    return clo_i_fail(err, status, "%s", driver->trouble ? driver->trouble : "out of memory");
}

/* How many slots there are, and their hash, with which what comes of the blocks is compared. */
static clo_status count_slots(void *user, uint64_t *slots, clo_error *err)
{
    clo_i_driver *const driver = user;
    int64_t row_hash[CLO_ROW_HASH_NUMBERS] = { 0 };
    if (!driver->hashed) /* no earlier ask has */
        CLO_TRY(tell(driver, ask_workers(driver, NULL, row_hash, CLO_ROW_HASH_NUMBERS), err));
    *slots = driver->row_hash[0];
    return CLO_OK;
}

static clo_status solve(void *user, const clo_handed *handed, int64_t *results, size_t count,
                        clo_error *err)
{
    clo_i_driver *const driver = user;
    int64_t *totals = NULL;
    CLO_TRY(clo_i_alloc(count + CLO_ROW_HASH_NUMBERS, sizeof *totals, &totals, err));
    const clo_status status = ask_workers(driver, handed, totals, count + CLO_ROW_HASH_NUMBERS);
    if (!status) memcpy(results, totals, count * sizeof *totals);
    clo_i_wipe_free(totals, (count + CLO_ROW_HASH_NUMBERS) * sizeof *totals);
    return tell(driver, status, err);
}

clo_status clo_i_driver_open(clo_i_driver *driver, const clo_workers *workers,
                             const clo_domain *domain, const clo_persons *persons,
                             const clo_rng *rng, clo_error *err)
{
    if (!workers->fold)
        return clo_i_fail(err, CLO_ARGUMENT, "workers must have a function that folds");
    *driver =
        (clo_i_driver){ .workers = workers,
                        .rows = domain->relation == CLO_REPLACE && !domain->unit ? domain->rows : 0,
                        .has_units = domain->unit != NULL,
                        .persons = persons ? *persons : (clo_persons){ 0, 0 },
                        .comm = { 0, 2, sum, broadcast, driver },
                        .elsewhere = { driver, count_slots, solve } };
    CLO_TRY(clo_i_rng_key(rng, CLO_KEY_ROW_HASH, driver->row_hash_key, sizeof driver->row_hash_key,
                          err));
    clo_i_key_take(CLO_KEY_ROW_HASH, driver->row_hash_key, CLO_ROW_HASH_KEY_BYTES);
    return CLO_OK;
}

void clo_i_driver_close(clo_i_driver *driver)
{
    clo_i_free(driver->place);
    clo_i_free(driver->ask);
    clo_i_wipe(driver, sizeof *driver);
}
