/*
 * test_reader_allocations.c - packed files, text cells, null records, inspections, streams and
 * memory, with the n-th allocation failing, n = 1, 2, ...: CLO_MEMORY, outputs untouched, nothing
 * leaked; and the packers' own allocations are among those that fail.
 */
#include "check.h"
#include "base/base.h"
#include "bound/bound.h"
#include "bytes_file.h"
#include "made_stream.h"
#include <cloister/cloister.h>
#include <zlib.h>
#include <zstd.h>

static const char TEXT[] = "who,x,y\nann,0.5,\nbob,x,0.25\nann,0.25,0.5\ncid,0.1,0.2\n";
enum { ROOM = 4096 };

typedef struct given {
    const char *path;
    bool unit, fill, inspected;
    bool twice, flows;    /* as two files; as rows that are not held */
    bool cached;          /* but in a file of their own */
    made_stream *stream;  /* in place of the file */
    const clo_view *view; /* or this one */
} given;

static clo_status pass_by(void *user, const clo_bounded *part, clo_error *err)
{
    (void)user, (void)part, (void)err;
    return CLO_OK;
}

static clo_status read_and_bound(const given *g, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    clo_domain domain = clo_domain_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    options.format = "csv";
    options.columns = "x,y";
    options.unit = domain.unit = g->unit ? "who" : NULL;
    options.missing = g->fill ? CLO_MISSING_FILL : CLO_MISSING_NULL;
    options.fill = g->fill ? "x=0.5" : NULL;
    options.cache = g->cached ? "." : NULL;
    domain.cols = 2;
    domain.norm = 1;
    clo_status status;
    if (g->stream) {
        struct ArrowArrayStream stream = open_made_stream(g->stream);
        status = clo_table_from_arrow(&stream, &options, &table, err);
        assert_true(g->stream->released);
    } else if (g->view) {
        status = clo_table_wrap_view(g->view, &table, err);
    } else {
        const char *const paths[] = { g->path, g->path };
        status = g->flows ? clo_table_scan(paths, 1 + g->twice, &options, 1 << 26, &table, err)
                          : clo_table_read_files(paths, 1 + g->twice, &options, &table, err);
    }
    if (!status) status = clo_bound(table, &domain, &data, err);
    if (status) assert_null(data);
    if (!status && g->flows) status = clo_i_bounded_each(data, pass_by, NULL, err);
    clo_bounded_free(data);
    clo_table_free(table);
    if (g->stream) assert_int_equal(g->stream->batches_out + g->stream->schemas_out, 0);
    return status;
}

static clo_status inspect(const given *g, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    clo_inspection *found = NULL;
    options.format = "csv";
    options.columns = "-who";
    const clo_status status = clo_inspect(g->path, &options, &found, err);
    if (status) assert_null(found);
    clo_inspection_free(found);
    return status;
}

static clo_status step(const given *g, clo_error *err)
{
    return g->inspected ? inspect(g, err) : read_and_bound(g, err);
}

static void fail_each(const given *g)
{
    clo_error err = { 0 };
    clo_i_fail_allocation(0);
    assert_ok(step(g, &err), err);
    const uint64_t count = clo_i_allocation_count();
    assert_true(count > 5);
    for (uint64_t n = 1; n <= count; n++) {
        clo_error told = { 0 };
        clo_i_fail_allocation(n);
        const clo_status status = step(g, &told);
        clo_i_fail_allocation(0);
        if (status != CLO_MEMORY || told.status != CLO_MEMORY || !told.message[0])
            print_error("allocation %u: %d, \"%s\"\n", (unsigned)n, (int)status, told.message);
        assert_true(status == CLO_MEMORY && told.status == CLO_MEMORY && told.message[0]);
    }
    assert_ok(step(g, &err), err);
}

static void fail_all(const char *path)
{
    fail_each(&(given){ .path = path });
    fail_each(&(given){ .path = path, .unit = true });
    fail_each(&(given){ .path = path, .fill = true });
    fail_each(&(given){ .path = path, .inspected = true });
    fail_each(&(given){ .path = path, .twice = true, .unit = true });
    fail_each(&(given){ .path = path, .twice = true, .flows = true });
    fail_each(&(given){ .path = path, .fill = true, .flows = true });
    fail_each(&(given){ .path = path, .twice = true, .unit = true, .flows = true });
    fail_each(&(given){ .path = path, .flows = true, .cached = true });
}

static void a_plain_file_survives_any_failed_allocation(void **state)
{
    const bytes_file file = bytes_file_open(TEXT, sizeof TEXT - 1);
    (void)state;
    fail_all(file.path);
    bytes_file_close(file);
}

static void a_packed_file_survives_any_failed_allocation(void **state)
{
    uint8_t packed[ROOM];
    z_stream z = { 0 };
    (void)state;
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)TEXT;
    z.avail_in = sizeof TEXT - 1;
    z.next_out = packed;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    bytes_file file = bytes_file_open(packed, ROOM - z.avail_out);
    assert_int_equal(deflateEnd(&z), Z_OK);
    fail_all(file.path);
    bytes_file_close(file);
    const size_t count = ZSTD_compress(packed, ROOM, TEXT, sizeof TEXT - 1, 3);
    assert_false(ZSTD_isError(count));
    file = bytes_file_open(packed, count);
    fail_all(file.path);
    bytes_file_close(file);
}

static void a_stream_survives_any_failed_allocation(void **state)
{
    static const double cells[] = { 0.5, 0.25, 0.125 };
    static const int32_t who[] = { 1, 2, 1 };
    const made_column columns[] = { { .name = "who", .format = "i", .buffers = { NULL, who } },
                                    { .name = "x", .format = "g", .buffers = { NULL, cells } },
                                    { .name = "y", .format = "g", .buffers = { NULL, cells } } };
    made_stream stream = { .columns = columns, .column_count = 3, .rows = { 3, 2 }, .batches = 2 };
    (void)state;
    fail_each(&(given){ .stream = &stream });
    fail_each(&(given){ .stream = &stream, .unit = true });
    fail_each(&(given){ .stream = &stream, .fill = true });
}

static void views_survive_any_failed_allocation(void **state)
{
    static const float cells[] = { 0.5, 0.25, 0.125, 0 };
    static const int64_t starts[] = { 0, 2, 4 }, places[] = { 0, 1, 0, 1 };
    static const uint64_t who[] = { 1, 2 };
    static const char *const names[] = { "x", "y" };
    clo_view view = clo_view_default();
    (void)state;
    view.data = cells;
    view.element = CLO_FLOAT32;
    view.rows = view.cols = 2;
    view.row_step = 8;
    view.col_step = 4;
    view.names = names;
    view.units = who;
    fail_each(&(given){ .view = &view, .unit = true });
    view.units = NULL;
    view.starts = starts;
    view.columns = places;
    view.start_bytes = view.column_bytes = 8;
    fail_each(&(given){ .view = &view });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_survives_any_failed_allocation),
        cmocka_unit_test(a_packed_file_survives_any_failed_allocation),
        cmocka_unit_test(a_stream_survives_any_failed_allocation),
        cmocka_unit_test(views_survive_any_failed_allocation),
    };
    return cmocka_run_group_tests_name("reader allocations", tests, NULL, NULL);
}
