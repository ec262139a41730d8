/*
 * test_cache.c - bounded rows in an encrypted file: a run gives the same bytes from it as from its
 * files (flow.T4); nothing of the rows can be read in it; a byte that is changed, or gone, ends the
 * run; without room for it, a run does without.
 */
#include "pipeline.h"
#include "scanned.h"
#include "bound/bounded.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { ROWS = 30000, COLS = 6, PERSONS = 900, CHUNK = 1 << 18, PACKED = CHUNK + 17 };
static double cells[ROWS * COLS];

/* ---- files ------------------------------------------------------------------------------- */

static void write_csv(const char *path)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "who,a,b,c,d,e\n");
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++) {
            if (i % 50 != 7 || j != 2) fprintf(out, "%.17g", cells[i * COLS + j]);
            fputc(j + 1 < COLS ? ',' : '\n', out);
        }
    assert_int_equal(fclose(out), 0);
}

static void write_svm(const char *path)
{
    FILE *const out = fopen(path, "w");
    assert_non_null(out);
    for (size_t i = 0; i < ROWS; i++) {
        fprintf(out, "1");
        for (size_t j = 1; j < COLS; j++)
            if ((i + j) % 3) fprintf(out, " %zu:%.17g", j, cells[i * COLS + j]);
        fputc('\n', out);
    }
    assert_int_equal(fclose(out), 0);
}

static int make_files(void **state)
{
    if (make_scanned(state)) return -1;
    const place *const p = *state;
    for (size_t i = 0; i < ROWS; i++) {
        cells[i * COLS] = (double)(i * 7919 % PERSONS);
        for (size_t j = 1; j < COLS; j++)
            cells[i * COLS + j] = (i % 3 == j % 3 ? 0.5 : -0.2) + 1e-4 * (double)(i * 37 % 100);
    }
    write_csv(at(p, "all.csv"));
    write_gzip(at(p, "all.csv"), at(p, "all.csv.gz"));
    write_npy(at(p, "all.npy"), cells, ROWS, COLS, false);
    write_svm(at(p, "all.svm"));
    return 0;
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make_files, remove_place)

/* "cache=FOLDER memory=64M", and more. */
static const char *cached(const place *p, const char *more)
{
    static char settings[600];
    snprintf(settings, sizeof settings, "cache=%s memory=64M %s", p->folder, more);
    return settings;
}

/* The file of a cache that is open: it has no name, and lies in the folder. */
static int cache_file(const place *p)
{
    DIR *const all = opendir("/proc/self/fd");
    const struct dirent *entry;
    int found = -1;
    assert_non_null(all);
    while ((entry = readdir(all))) {
        char from[300], to[600];
        snprintf(from, sizeof from, "/proc/self/fd/%s", entry->d_name);
        const ssize_t length = readlink(from, to, sizeof to - 1);
        if (length <= 0) continue;
        to[length] = 0;
        if (strncmp(to, p->folder, strlen(p->folder)) != 0 || !strstr(to, "(deleted)")) continue;
        assert_int_equal(found, -1);
        found = atoi(entry->d_name);
    }
    closedir(all);
    return found;
}

/* ---- the same bytes ---------------------------------------------------------------------- */

static const char LEARNT[] = "mechanism=kmeans/lloyd clusters=3 columns=a,b,c center=private "
                             "norm=private norm-at-most=4 yes=yes";

static void a_cache_gives_the_same_bytes(void **state)
{
    static const char *const runs[] = {
        "mechanism=kmeans/lloyd clusters=3 norm=1 columns=a,b,c,d,e",
        "mechanism=kmeans/grid clusters=3 norm=1 columns=a,b,c relation=add-remove",
        "mechanism=kmeans/local clusters=2 norm=1 columns=a,c missing=fill",
        "mechanism=subspace/gaussian dim=2 norm=1 columns=a,b,c,d",
        LEARNT,
        "mechanism=kmeans/lloyd clusters=2 norm=1 unit=who rows-per-unit=3 delta=1e-6",
    };
    const place *const p = *state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        assert_same_release(at(p, "all.csv"), "", at(p, "all.csv"), cached(p, ""), runs[i]);
    assert_same_release(at(p, "all.csv"), "", at(p, "all.csv.gz"), cached(p, "threads=2"), runs[0]);
    assert_same_release(at(p, "all.npy"), "", at(p, "all.npy"), cached(p, ""),
                        "mechanism=kmeans/lloyd clusters=3 norm=1 columns=2-6");
    assert_same_release(at(p, "all.svm"), "cols=5", at(p, "all.svm"), cached(p, "cols=5"),
                        "mechanism=kmeans/lloyd clusters=3 norm=1");
    assert_int_equal(cache_file(p), -1); /* it is gone with its job */
}

/* ---- what is in it ----------------------------------------------------------------------- */

static clo_bounded *cached_rows(const place *p, const char *name)
{
    const char *const path = at(p, name);
    const clo_domain domain = ball(COLS - 1, 1, CLO_ADD_REMOVE);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    options.columns = "2-6";
    options.cache = p->folder;
    assert_ok(clo_table_scan(&path, 1, &options, 64 << 20, &table, &err), err);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

typedef struct seen {
    size_t rows;
    int64_t sum;
    int32_t first[COLS - 1]; /* of the row in the middle */
} seen;

static clo_status see(void *user, const clo_bounded *part, clo_error *err)
{
    seen *const s = user;
    (void)err;
    for (size_t i = 0; i < clo_i_bounded_rows(part); i++) {
        const clo_row row = clo_i_bounded_row(part, i);
        if (s->rows++ == ROWS / 2) memcpy(s->first, row.cells, sizeof s->first);
        for (size_t e = 0; e < row.count; e++) s->sum += row.cells[e] * (int64_t)(e + 1);
    }
    return CLO_OK;
}

static void no_value_can_be_found_in_it(void **state)
{
    const place *const p = *state;
    clo_bounded *const data = cached_rows(p, "all.csv");
    struct stat facts;
    seen canary = { 0 };
    clo_error err;
    assert_true(clo_bounded_is_cached(data));
    const int file = cache_file(p);
    assert_true(file >= 0);
    assert_ok(clo_i_bounded_each(data, see, &canary, &err), err);
    assert_int_equal(fstat(file, &facts), 0);
    assert_true(facts.st_size >= PACKED && facts.st_size % PACKED == 0); /* of public sizes */
    assert_int_equal(facts.st_nlink, 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    uint8_t *const bytes = malloc((size_t)facts.st_size);
    assert_int_equal(pread(file, bytes, (size_t)facts.st_size, 0), facts.st_size);
    /* Two cells of a row, eight bytes: by chance they would be there once in 2^44 runs. */
    for (size_t j = 0; j + 1 < COLS - 1; j++)
        assert_null(memmem(bytes, (size_t)facts.st_size, &canary.first[j], 8));
    size_t counts[256] = { 0 };
    for (size_t i = 0; i < (size_t)facts.st_size; i++) counts[bytes[i]]++;
    /* Each byte about as often, the padding included: eight standard deviations. */
    for (size_t i = 0; i < 256; i++)
        assert_true(counts[i] * 256 > (size_t)facts.st_size * 17 / 20 &&
                    counts[i] * 256 < (size_t)facts.st_size * 23 / 20);
    free(bytes);
    clo_bounded_free(data);
    assert_int_equal(cache_file(p), -1);
}

/* In place of libsodium's: all wiping of the library goes through here. */
enum {
    SECRET = crypto_secretstream_xchacha20poly1305_KEYBYTES +
             sizeof(crypto_secretstream_xchacha20poly1305_state)
};
static _Atomic size_t secrets_wiped, chunks_wiped; /* threads wipe, too */

void sodium_memzero(void *const block, const size_t bytes)
{
    volatile uint8_t *const at = block;
    bool empty = true;
    for (size_t i = 0; i < bytes; i++) {
        empty = empty && at[i] == 0;
        at[i] = 0;
    }
    secrets_wiped += bytes == SECRET && !empty;
    chunks_wiped += bytes == CHUNK && !empty;
}

static void the_key_is_wiped_with_the_data(void **state)
{
    clo_bounded *const data = cached_rows(*state, "all.csv");
    seen found = { 0 };
    clo_error err;
    assert_ok(clo_i_bounded_each(data, see, &found, &err), err);
    secrets_wiped = chunks_wiped = 0;
    clo_bounded_free(data);
    assert_int_equal(secrets_wiped, 1);
    assert_int_equal(chunks_wiped, 1);
}

/* The files are not read again: what becomes of them is nobody's matter. */
static void the_files_may_go(void **state)
{
    const place *const p = *state;
    clo_bounded *const data = cached_rows(p, "all.csv");
    seen one = { 0 }, other = { 0 };
    clo_error err;
    assert_ok(clo_i_bounded_each(data, see, &one, &err), err);
    assert_int_equal(unlink(at(p, "all.csv")), 0);
    assert_ok(clo_i_bounded_each(data, see, &other, &err), err);
    assert_true(one.rows > 0 && one.rows == other.rows && one.sum == other.sum);
    assert_int_equal(one.rows, clo_i_bounded_rows(data));
    clo_bounded_free(data);
}

/* What is written is what was scanned (flow.T2). */
static void a_file_that_changes_before_it_is_cached_is_noticed(void **state)
{
    const place *const p = *state;
    const char *const path = at(p, "all.csv");
    const clo_domain domain = ball(COLS - 1, 1, CLO_ADD_REMOVE);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err;
    options.columns = "2-6";
    options.cache = p->folder;
    assert_ok(clo_table_scan(&path, 1, &options, 64 << 20, &table, &err), err);
    FILE *const out = fopen(path, "a");
    fprintf(out, "1,2,3,4,5,6\n");
    fclose(out);
    assert_fails(clo_bound(table, &domain, &data, &err), CLO_IO, err, "the data were changed");
    assert_null(data);
    clo_table_free(table);
    assert_int_equal(cache_file(p), -1);
}

/* ---- what ends a run --------------------------------------------------------------------- */

typedef struct change {
    const place *p;
    enum { BYTE, LAST_BYTE, SHORTER, SWAPPED, CLOSED } kind;
    bool done;
} change;

static void swap_chunks(int file)
{
    static uint8_t chunks[2][PACKED];
    assert_int_equal(pread(file, chunks, sizeof chunks, 0), sizeof chunks);
    assert_int_equal(pwrite(file, chunks[1], PACKED, 0), PACKED);
    assert_int_equal(pwrite(file, chunks[0], PACKED, PACKED), PACKED);
}

static bool make_change(void *user, double share)
{
    change *const c = user;
    struct stat facts;
    uint8_t byte;
    (void)share;
    if (c->done) return true;
    c->done = true;
    const int file = cache_file(c->p);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &facts), 0);
    const off_t where = c->kind == BYTE ? PACKED + 1000 : facts.st_size - 1;
    switch (c->kind) {
    case BYTE:
    case LAST_BYTE:
        assert_int_equal(pread(file, &byte, 1, where), 1);
        byte ^= 1;
        assert_int_equal(pwrite(file, &byte, 1, where), 1);
        break;
    case SHORTER:
        assert_int_equal(ftruncate(file, facts.st_size - PACKED), 0);
        break;
    case SWAPPED:
        swap_chunks(file);
        break;
    case CLOSED: { /* as if the disk were gone: it cannot be read any more */
        const int none = open("/dev/null", O_WRONLY);
        assert_int_equal(dup2(none, file), file);
        close(none);
        break;
    }
    }
    return true;
}

static void assert_ends(const place *p, change c, const char *words)
{
    clo_run_options options = clo_run_options_default();
    const clo_release *release = NULL;
    const uint64_t before = charges_at(p);
    clo_job *const job =
        metered_on(p, at(p, "all.csv"),
                   cached(p, "mechanism=kmeans/lloyd clusters=2 norm=1 rounds=3 yes=yes"));
    clo_error err;
    c.p = p;
    options.progress = make_change;
    options.user = &c;
    assert_ok(clo_job_set_run_options(job, &options, &err), err);
    assert_fails(clo_job_release(job, &release, &err), CLO_IO, err, words);
    assert_null(strpbrk(err.message, "0123456789"));
    assert_null(clo_job_result(job));
    assert_true(c.done);
    assert_int_equal(charges_at(p), before + 1);
    clo_job_free(job);
}

static void a_cache_that_changes_ends_the_run(void **state)
{
    static const char changed[] = "the cache was changed while it was read";
    assert_ends(*state, (change){ .kind = BYTE }, changed);
    assert_ends(*state, (change){ .kind = LAST_BYTE }, changed);
    assert_ends(*state, (change){ .kind = SHORTER }, changed);
    assert_ends(*state, (change){ .kind = SWAPPED }, changed);
    assert_ends(*state, (change){ .kind = CLOSED }, "the cache can no longer be read");
}

/* ---- no room ----------------------------------------------------------------------------- */

/* A limit of the process stands for a full disk; its signal would end the process. */
static void without_room_the_files_are_read_again(void **state)
{
    static const char lloyd[] = "mechanism=kmeans/lloyd clusters=3 norm=1 columns=a,b,c,d,e";
    const place *const p = *state;
    struct rlimit before, small = { .rlim_cur = PACKED + 100 };
    const clo_release *release;
    clo_error err;
    size_t length;
    char *const expected = release_of(at(p, "all.csv"), lloyd, "");
    clo_job *const job = job_on(at(p, "all.csv"), lloyd);
    set(job, cached(p, ""));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const clo_status status = clo_job_prepare(job, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_ok(status, err);
    assert_false(clo_job_is_cached(job));
    assert_int_equal(cache_file(p), -1);
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_string_equal(clo_job_json(job, &length), expected);
    sigset_t waiting;
    assert_int_equal(sigpending(&waiting), 0);
    assert_false(sigismember(&waiting, SIGXFSZ));
    clo_job_free(job);
    free(expected);
}

static void what_cannot_be_cached_is_refused_before_the_charge(void **state)
{
    const place *const p = *state;
    assert_refused(p, at(p, "all.csv"),
                   "mechanism=kmeans/lloyd clusters=2 norm=1 memory=64M cache=/nowhere/at/all",
                   CLO_IO, "/nowhere/at/all cannot hold the cache: No such file");
    assert_refused(p, at(p, "all.csv"), "mechanism=kmeans/lloyd clusters=2 norm=1 cache=/tmp",
                   CLO_ARGUMENT, "memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_cache_gives_the_same_bytes),
        WITH_FILES(no_value_can_be_found_in_it),
        WITH_FILES(the_key_is_wiped_with_the_data),
        WITH_FILES(the_files_may_go),
        WITH_FILES(a_file_that_changes_before_it_is_cached_is_noticed),
        WITH_FILES(a_cache_that_changes_ends_the_run),
        WITH_FILES(without_room_the_files_are_read_again),
        WITH_FILES(what_cannot_be_cached_is_refused_before_the_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
