/* fuzz_release.c - a release file may come from anywhere: any bytes are refused or read, and what
 * was read is written again to bytes that read the same. */
#include <cloister/cloister.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct text {
    char *bytes;
    size_t length;
} text;

static bool append(void *user, const char *bytes, size_t count)
{
    text *const t = user;
    char *const grown = realloc(t->bytes, t->length + count + 1);
    if (!grown) return false;
    memcpy(grown + t->length, bytes, count);
    t->bytes = grown;
    t->length += count;
    return true;
}

static text write_out(const clo_release *release)
{
    text t = { 0 };
    if (clo_report(release, CLO_JSON, append, &t, NULL)) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    clo_release *first = NULL, *second = NULL;
    clo_error err;
    if (clo_release_parse((const char *)bytes, size, &first, &err)) return 0;
    const text once = write_out(first);
    if (clo_release_parse(once.bytes, once.length, &second, &err) == CLO_OK) {
        const text twice = write_out(second);
        if (once.length != twice.length || memcmp(once.bytes, twice.bytes, once.length) != 0)
            abort();
        free(twice.bytes);
    }
    free(once.bytes);
    clo_release_free(first);
    clo_release_free(second);
    return 0;
}
