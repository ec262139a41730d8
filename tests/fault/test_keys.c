/*
 * The test build refuses a key that was not drawn, not as a whole, for something else or not once
 * (base/key.h): each of these ends a child of this program with a sentence.  And what the places
 * that use keys draw is fresh each time.
 */
#include "check.h"
#include "base/base.h"
#include "base/key.h"
#include "bound/bound.h"
#include "bound/bounded.h"
#include "random/random.h"
#include "pipeline.h"
#include <cloister/worker.h>
#include <errno.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct misuse {
    const char *says;
    void (*commit)(void);
} misuse;

static void draw(clo_key_use use, uint8_t *key, size_t count)
{
    if (!clo_i_key_draw(use, key, count)) _exit(2);
}

static void not_drawn(void)
{
    uint8_t key[32] = { 1, 2, 3 };
    clo_i_key_take(CLO_KEY_CACHE, key, sizeof key);
}

static void half_drawn(void)
{
    uint8_t key[32] = { 0 };
    draw(CLO_KEY_CACHE, key, sizeof key / 2);
    clo_i_key_take(CLO_KEY_CACHE, key, sizeof key);
}

static void half_used(void)
{
    uint8_t key[32];
    draw(CLO_KEY_CACHE, key, sizeof key);
    clo_i_key_take(CLO_KEY_CACHE, key, sizeof key / 2);
}

static void one_byte_changed(void)
{
    uint8_t key[32];
    draw(CLO_KEY_ROW_HASH, key, sizeof key);
    key[31] ^= 1;
    clo_i_key_take(CLO_KEY_ROW_HASH, key, sizeof key);
}

static void used_for_something_else(void)
{
    uint8_t key[32];
    draw(CLO_KEY_CACHE, key, sizeof key);
    clo_i_key_take(CLO_KEY_PERSONS, key, sizeof key);
}

static void used_twice(void)
{
    uint8_t key[32];
    draw(CLO_KEY_CACHE, key, sizeof key);
    clo_i_key_take(CLO_KEY_CACHE, key, sizeof key);
    clo_i_key_take(CLO_KEY_CACHE, key, sizeof key);
}

static void a_constant_known(void)
{
    const uint8_t key[32] = { 7 };
    clo_i_key_know(key, sizeof key);
}

static void a_pad_of_two_vectors(void)
{
    const uint8_t key[CLO_PAD_BYTES] = { 7 };
    int64_t one[] = { 1, 2 }, two[] = { 1, 3 };
    clo_pad_add(key, one, 2);
    clo_pad_add(key, two, 2);
}

static const misuse all[] = {
    { "was not drawn, or not as a whole", not_drawn },
    { "was not drawn, or not as a whole", half_drawn },
    { "was not drawn, or not as a whole", half_used },
    { "was not drawn, or not as a whole", one_byte_changed },
    { "was drawn for something else", used_for_something_else },
    { "was used before", used_twice },
    { "was not drawn, or not as a whole", a_constant_known },
    { "a pad is used for two vectors", a_pad_of_two_vectors },
};

/* What a child says before it is ended; to be called with 1 KiB. */
static bool is_ended(void (*commit)(void), char said[1024])
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        commit();
        _exit(0);
    }
    close(ends[1]);
    size_t count = 0;
    for (ssize_t got; (got = read(ends[0], said + count, 1023 - count)) > 0;) count += (size_t)got;
    said[count] = 0;
    close(ends[0]);
    assert_true(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void a_key_that_is_not_drawn_fresh_whole_and_once_ends_the_process(void **state)
{
    char said[1024];
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_true(is_ended(all[i].commit, said));
        assert_non_null(strstr(said, all[i].says));
    }
}

static void a_pad_may_go_on_the_same_numbers_again(void **state)
{
    const uint8_t key[CLO_PAD_BYTES] = { 9 };
    (void)state;
    for (int i = 0; i < 2; i++) {
        int64_t numbers[] = { 1, 2, 3 };
        clo_pad_add(key, numbers, 3);
        clo_pad_remove(key, numbers, 3);
        assert_int_equal(numbers[2], 3);
    }
}

enum { CACHED = 5000, IN_FILE = 4096 };

/* A cache of these bytes, and the number of its file: the lowest that is free when it is made. */
static clo_i_cache *cache_of(const uint8_t bytes[CACHED], int *file)
{
    clo_i_cache *cache = NULL;
    clo_error err;
    *file = dup(0);
    assert_true(*file >= 0);
    close(*file);
    assert_ok(clo_i_cache_new("/tmp", &cache, &err), err);
    assert_ok(clo_i_cache_put(cache, bytes, CACHED, &err), err);
    assert_ok(clo_i_cache_finish(cache, &err), err);
    return cache;
}

static clo_status read_back(clo_i_cache *cache, uint8_t bytes[CACHED])
{
    clo_error err;
    const clo_status status = clo_i_cache_begin(cache, &err);
    return status ? status : clo_i_cache_get(cache, bytes, CACHED, &err);
}

/* The same bytes lie in two caches as different ones, each is read back from its own file, and not
 * from the other's.  What differs may be the key or the header that libsodium draws beside it: that
 * the keys differ is what the first test is about, as no key is taken twice. */
static void no_cache_can_be_read_in_the_place_of_another(void **state)
{
    static const uint8_t bytes[CACHED] = "the same rows";
    uint8_t lying[2][IN_FILE], back[CACHED], whole[1 << 19];
    clo_i_cache *caches[2];
    int files[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        caches[i] = cache_of(bytes, &files[i]);
        assert_int_equal(pread(files[i], lying[i], IN_FILE, 0), IN_FILE);
        assert_int_equal(read_back(caches[i], back), CLO_OK);
        assert_memory_equal(back, bytes, CACHED);
    }
    for (size_t i = 0; i < IN_FILE; i += 16)
        assert_memory_not_equal(lying[0] + i, lying[1] + i, 16);
    const ssize_t count = pread(files[1], whole, sizeof whole, 0);
    assert_true(count > CACHED && count < (ssize_t)sizeof whole);
    assert_int_equal(pwrite(files[0], whole, (size_t)count, 0), count);
    assert_int_equal(read_back(caches[0], back), CLO_IO);
    for (int i = 0; i < 2; i++) clo_i_cache_free(caches[i]);
}

/* ---- a system that gives nothing, or little ------------------------------------------------- */

static enum { WHOLE, NOTHING, REFUSED, BY_BYTES, INTERRUPTED } giving;
static int interruptions;

/* Instead of the C library's. */
ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    if (giving == NOTHING) return 0;
    if (giving == REFUSED || (giving == INTERRUPTED && interruptions-- > 0)) {
        errno = giving == REFUSED ? ENOSYS : EINTR;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, giving == BY_BYTES && length ? 1 : length, flags);
}

/* Keys are what the system gave, and all of it; or there are none. */
static void a_key_is_drawn_whole_or_not_at_all(void **state)
{
    enum { KEY = 32, DRAWS = 40 };
    (void)state;
    for (int how = WHOLE; how <= INTERRUPTED; how++) {
        uint8_t key[KEY] = { 0 }, drawn[KEY] = { 0 };
        const bool fails = how == NOTHING || how == REFUSED;
        for (int i = 0; i < DRAWS; i++) {
            giving = how;
            interruptions = 3;
            const bool right = clo_i_key_draw(CLO_KEY_CACHE, key, sizeof key);
            giving = WHOLE;
            assert_int_equal(right, !fails);
            for (size_t b = 0; b < KEY; b++) drawn[b] |= key[b];
        }
        for (size_t b = 0; b < KEY && !fails; b++) assert_int_not_equal(drawn[b], 0);
    }
}

/* A failure of the system's is found wherever a key is drawn, and nothing is made. */
static void without_keys_nothing_is_opened(void **state)
{
    const double rows[] = { 1, 2 };
    const uint64_t units[] = { 1, 2 };
    const clo_matrix view = { rows, 2, 1, 1 };
    clo_i_cache *cache = NULL;
    clo_table *table = NULL;
    clo_rng *rng = NULL;
    clo_error err = { 0 };
    (void)state;
    clo_i_fail_entropy(1);
    assert_int_equal(clo_i_cache_new("/tmp", &cache, &err), CLO_ENTROPY);
    clo_i_fail_entropy(1);
    assert_int_equal(clo_table_wrap_units(view, units, CLO_MISSING_NULL, &table, &err),
                     CLO_ENTROPY);
    clo_i_fail_entropy(1);
    assert_int_equal(clo_rng_new(&rng, &err), CLO_ENTROPY);
    clo_i_fail_entropy(0);
    assert_null(cache);
    assert_null(table);
    assert_null(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_that_is_not_drawn_fresh_whole_and_once_ends_the_process),
        cmocka_unit_test(a_pad_may_go_on_the_same_numbers_again),
        cmocka_unit_test(no_cache_can_be_read_in_the_place_of_another),
        cmocka_unit_test(a_key_is_drawn_whole_or_not_at_all),
        cmocka_unit_test(without_keys_nothing_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
