/* Compressed files are read as what they hold, and refused where they are damaged. */
#include "check.h"
#include "bytes_file.h"
#include <sodium.h>
#include "data/data.h"
#include <zlib.h>
#include <zstd.h>

enum { ROWS = 60000, ROOM = 1 << 21 };

static clo_error err;

static size_t pack_gzip(const char *text, size_t length, uint8_t *out)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (unsigned)length;
    z.next_out = out;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t packed = ROOM - z.avail_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return packed;
}

static size_t pack_zstd(const char *text, size_t length, uint8_t *out)
{
    const size_t packed = ZSTD_compress(out, ROOM, text, length, 3);
    assert_false(ZSTD_isError(packed));
    return packed;
}

typedef size_t packer(const char *text, size_t length, uint8_t *out);
static packer *const packers[] = { pack_gzip, pack_zstd };

static clo_status read_bytes(const uint8_t *bytes, size_t count, clo_table **out)
{
    const bytes_file file = bytes_file_open(bytes, count);
    const clo_status status = clo_table_read(file.path, NULL, out, &err);
    bytes_file_close(file);
    return status;
}

static size_t make_text(char *text)
{
    size_t length = (size_t)sprintf(text, "a,b\n");
    for (size_t i = 0; i < ROWS; i++)
        length += (size_t)sprintf(text + length, "%zu,%zu.5\n", i, i * i % 9973);
    return length;
}

static void what_is_packed_is_read(void **state)
{
    static char text[ROOM];
    static uint8_t packed[2 * ROOM];
    (void)state;
    const size_t length = make_text(text);
    for (size_t p = 0; p < 2; p++) {
        clo_table *table = NULL;
        double row[2];
        size_t count = packers[p](text, length, packed);
        count += packers[p]("7,8\n", 4, packed + count); /* a second member follows */
        assert_ok(read_bytes(packed, count, &table), err);
        assert_int_equal(clo_table_rows(table), ROWS + 1);
        assert_string_equal(clo_table_column_name(table, 1), "b");
        assert_string_equal(clo_i_table_file(table).packing, p ? "zstd" : "gzip");
        for (size_t i = 0; i < ROWS; i += 997) {
            clo_i_table_rows(table, i, 1, row);
            assert_true(row[0] == (double)i && row[1] == (double)(i * i % 9973) + 0.5);
        }
        clo_i_table_rows(table, ROWS, 1, row);
        assert_true(row[0] == 7 && row[1] == 8);
        clo_table_free(table);
    }
}

/* An end before the end, at any place, and bytes that are others: refused, whatever they are. */
/* The digest of a file's content is that of its plain bytes, however they come and whatever is
 * taken of them; an array that is mapped has that of one that is read. */
static void the_digest_is_that_of_the_plain_bytes(void **state)
{
    static char text[ROOM];
    static uint8_t packed[2 * ROOM];
    uint8_t array[128 + 300000] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': "
                                  "False, 'shape': (18750, 2), }";
    const size_t header = strlen((const char *)array + 10) + 10;
    (void)state;
    memset(array + header, ' ', 127 - header);
    array[127] = '\n';
    const struct {
        const void *bytes;
        size_t count;
    } files[] = { { text, make_text(text) }, { array, sizeof array } };
    for (size_t f = 0; f < 2; f++) {
        clo_read_options options = clo_read_options_default();
        uint8_t expected[CLO_DIGEST_BYTES], got[CLO_DIGEST_BYTES];
        crypto_generichash(expected, sizeof expected, files[f].bytes, files[f].count, NULL, 0);
        options.digest = true;
        for (int way = -1; way < 2; way++) {
            const size_t count =
                way < 0 ? files[f].count : packers[way](files[f].bytes, files[f].count, packed);
            const bytes_file file = bytes_file_open(way < 0 ? files[f].bytes : packed, count);
            clo_table *table = NULL;
            options.columns = way < 0 ? NULL : "2";
            assert_ok(clo_table_read(file.path, &options, &table, &err), err);
            assert_true(clo_table_digest(table, got));
            assert_memory_equal(got, expected, sizeof expected);
            clo_table_free(table);
            bytes_file_close(file);
        }
    }
    clo_table *table = NULL;
    uint8_t unused[CLO_DIGEST_BYTES];
    assert_ok(read_bytes((const uint8_t *)"1,2\n", 4, &table), err);
    assert_false(clo_table_digest(table, unused)); /* nobody asked */
    clo_table_free(table);
}

static void what_is_damaged_is_refused(void **state)
{
    static const char text[] = "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n";
    static uint8_t packed[ROOM];
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        const size_t count = packers[p](text, sizeof text - 1, packed);
        clo_table *table = NULL;
        for (size_t cut = 4; cut < count; cut++)
            assert_fails(read_bytes(packed, cut, &table), CLO_FORMAT, err, "compressed data");
        packed[count] = 'x'; /* trailing bytes */
        assert_fails(read_bytes(packed, count + 1, &table), CLO_FORMAT, err, "");
        for (size_t i = 0; i < count; i++) {
            packed[i] ^= 0x55;
            const clo_status status = read_bytes(packed, count, &table);
            packed[i] ^= 0x55;
            assert_true(status == CLO_OK || status == CLO_FORMAT);
            clo_table_free(table);
            table = NULL;
        }
    }
}

/* Little that unpacks to much is held to what a plain file is held to. */
static void a_line_of_a_bomb_is_too_long(void **state)
{
    static char zeros[ROOM];
    static uint8_t packed[ROOM];
    clo_table *table = NULL;
    (void)state;
    memset(zeros, '0', sizeof zeros);
    for (size_t p = 0; p < 2; p++) {
        const size_t count = packers[p](zeros, sizeof zeros, packed);
        assert_true(count < 5000);
        assert_fails(read_bytes(packed, count, &table), CLO_FORMAT, err, "longer than");
    }
}

static bool stop(void *user, double done)
{
    *(double *)user = done;
    return false;
}

static void reading_is_told_and_can_be_stopped(void **state)
{
    const bytes_file file = bytes_file_open("1,2\n", 4);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    double done = -2;
    (void)state;
    options.progress = stop;
    options.user = &done;
    assert_fails(clo_table_read(file.path, &options, &table, &err), CLO_CANCELLED, err, "stopped");
    assert_null(table);
    assert_true(done == 1);
    bytes_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_is_read),
        cmocka_unit_test(the_digest_is_that_of_the_plain_bytes),
        cmocka_unit_test(what_is_damaged_is_refused),
        cmocka_unit_test(a_line_of_a_bomb_is_too_long),
        cmocka_unit_test(reading_is_told_and_can_be_stopped),
    };
    return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
