/*
 * certificate.c - which charge a release is, and whether a byte of it was changed since.
 *
 * What is signed is the release's JSON without the one line of the signature, which stands first
 * among the members of "certificate" so that what is left is JSON again (docs/release-format.md):
 * anybody can take that line out and ask any program that knows Ed25519.
 */
#include "report/report.h"
#include <sodium.h>
#include <string.h>
#include <time.h>

static const char LINE[] = "    \"signature\": \"";
enum { DIGITS = 2 * CLO_SIGNATURE_BYTES, LINE_START = sizeof LINE - 1, LINE_END = 3 }; /* ",\n */

/* ---- values ------------------------------------------------------------------ */

static void put_number(crypto_generichash_state *state, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    crypto_generichash_update(state, bytes, sizeof bytes);
}

static void put_array(crypto_generichash_state *state, const char *name, const clo_array *array)
{
    size_t count = 1;
    put_number(state, strlen(name));
    crypto_generichash_update(state, (const uint8_t *)name, strlen(name));
    put_number(state, array->dimensions);
    for (size_t i = 0; i < array->dimensions; i++) {
        put_number(state, array->shape[i]);
        count *= array->shape[i];
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = UINT64_C(0x7ff8000000000000); /* NaN has one form here, as JSON's null */
        if (array->data[i] == array->data[i]) memcpy(&bits, &array->data[i], sizeof bits);
        put_number(state, bits);
    }
}

clo_status clo_release_values_digest(const clo_release *release, char text[CLO_DIGEST_SIZE],
                                     clo_error *err)
{
    crypto_generichash_state state;
    uint8_t hash[(CLO_DIGEST_SIZE - 1) / 2];
    if (sodium_init() < 0) return clo_i_fail(err, CLO_ENTROPY, "libsodium could not be started");
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    put_number(&state, release->count);
    for (size_t i = 0; i < release->count; i++)
        put_array(&state, clo_i_name_in_schema(release->schema, release->arrays[i].name),
                  &release->arrays[i]);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(text, CLO_DIGEST_SIZE, hash, sizeof hash);
    return CLO_OK;
}

/* ---- the signed bytes ---------------------------------------------------------- */

/* Where the line of the signature begins; NULL: there is none, or more than one. */
static const char *find_line(const char *json, size_t length)
{
    const char *found = NULL;
    for (const char *at = json, *const end = json + length; at < end;) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        const size_t size = newline ? (size_t)(newline + 1 - at) : (size_t)(end - at);
        if (size >= LINE_START && memcmp(at, LINE, LINE_START) == 0) {
            if (found || size != LINE_START + DIGITS + LINE_END ||
                memcmp(at + LINE_START + DIGITS, "\",\n", LINE_END) != 0)
                return NULL;
            found = at;
        }
        at += size;
    }
    return found;
}

/* Whether the bytes without that line are signed by the key; CLO_MEMORY where nobody can tell. */
static clo_status check_bytes(const char *json, size_t length, const char *line,
                              const uint8_t key[CLO_PUBLIC_KEY_BYTES], bool *right, clo_error *err)
{
    uint8_t signature[CLO_SIGNATURE_BYTES];
    const size_t before = (size_t)(line - json), cut = LINE_START + DIGITS + LINE_END;
    char *bytes = NULL, again[DIGITS + 1];
    *right = false;
    if (sodium_hex2bin(signature, sizeof signature, line + LINE_START, DIGITS, NULL, NULL, NULL))
        return CLO_OK;
    /* Capital digits are the same number and other bytes than were signed. */
    sodium_bin2hex(again, sizeof again, signature, sizeof signature);
    if (memcmp(again, line + LINE_START, DIGITS) != 0) return CLO_OK;
    CLO_TRY(clo_i_alloc(length - cut + 1, 1, &bytes, err));
    memcpy(bytes, json, before);
    memcpy(bytes + before, line + cut, length - before - cut);
    *right = crypto_sign_verify_detached(signature, (const uint8_t *)bytes, length - cut, key) == 0;
    clo_i_free(bytes);
    return CLO_OK;
}

clo_status clo_signed_check(const char *json, size_t length,
                            const uint8_t public_key[CLO_PUBLIC_KEY_BYTES], clo_error *err)
{
    const char *const line = sodium_init() < 0 ? NULL : find_line(json, length);
    bool right = false;
    if (!line && !memmem(json, length, "\"signature\"", 11)) /* else an editor has moved it */
        return clo_i_fail(err, CLO_SIGNATURE, "it is not signed");
    if (line) CLO_TRY(check_bytes(json, length, line, public_key, &right, err));
    if (right) return CLO_OK;
    return clo_i_fail(err, CLO_SIGNATURE,
                      "it was changed after it was signed, or another key has signed it");
}

clo_status clo_i_certificate_check(clo_release *release, const char *json, size_t length,
                                   clo_error *err)
{
    clo_i_certified *const c = &release->certified;
    uint8_t key[CLO_PUBLIC_KEY_BYTES];
    char values[CLO_DIGEST_SIZE];
    bool right = false;
    c->seal = CLO_SEAL_NONE;
    if (!c->there || !c->signature[0]) return CLO_OK;
    CLO_TRY(clo_release_values_digest(release, values, err));
    const char *const line = find_line(json, length);
    if (line && strncmp(line + LINE_START, c->signature, DIGITS) == 0 &&
        strcmp(values, c->values) == 0 &&
        sodium_hex2bin(key, sizeof key, c->public_key, 2 * sizeof key, NULL, NULL, NULL) == 0)
        CLO_TRY(check_bytes(json, length, line, key, &right, err));
    c->seal = right ? CLO_SEAL_WHOLE : CLO_SEAL_BROKEN;
    return CLO_OK;
}

/* ---- having one ------------------------------------------------------------------ */

clo_seal clo_release_seal(const clo_release *release)
{
    return release->certified.seal;
}

bool clo_release_certificate(const clo_release *release, clo_certificate *out)
{
    const clo_i_certified *const c = &release->certified;
    if (!c->there) return false;
    const clo_certificate certificate = { .struct_size = sizeof certificate,
                                          .ledger = c->ledger,
                                          .charge = c->charge,
                                          .dataset = c->dataset,
                                          .time = c->time,
                                          .program = c->program,
                                          .values = c->values,
                                          .public_key = c->public_key,
                                          .signature = c->signature };
    if (clo_i_check_result("clo_certificate", out, NULL)) return false;
    clo_i_give_result(out, &certificate, sizeof certificate);
    return true;
}

static bool copy(char *to, size_t room, const char *text)
{
    if (!text || strlen(text) >= room) return false;
    memcpy(to, text, strlen(text) + 1);
    return true;
}

static clo_status check_own(clo_release *release, clo_error *err)
{
    clo_i_growing json = { NULL, 0, 0 };
    clo_status status = clo_report(release, CLO_JSON, clo_i_growing_write, &json, err);
    if (!status) status = clo_i_certificate_check(release, json.bytes, json.length, err);
    clo_i_free(json.bytes);
    if (!status && release->certified.seal == CLO_SEAL_BROKEN)
        return clo_i_fail(err, CLO_SIGNATURE, "the signature of the release does not fit");
    return status;
}

clo_status clo_release_certify(clo_release *release, const clo_certificate *given, clo_error *err)
{
    clo_i_certified c = { .there = true, .charge = given->charge, .time = given->time };
    const clo_i_certified before = release->certified;
    if (!copy(c.ledger, sizeof c.ledger, given->ledger) ||
        !copy(c.dataset, sizeof c.dataset, given->dataset) ||
        !copy(c.program, sizeof c.program, given->program) ||
        !copy(c.public_key, sizeof c.public_key, given->public_key) ||
        !copy(c.signature, sizeof c.signature, given->signature))
        return clo_i_fail(err, CLO_ARGUMENT, "a text of the certificate is too long");
    CLO_TRY(clo_release_values_digest(release, c.values, err));
    release->certified = c;
    const clo_status status = c.signature[0] ? check_own(release, err) : CLO_OK;
    if (status) release->certified = before;
    return status;
}

/* ---- as JSON ------------------------------------------------------------------------ */

static void write_time(int64_t seconds, char out[32])
{
    const time_t at = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&at, &parts) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts)) out[0] = 0;
}

void clo_i_certificate_json(const clo_release *release, clo_writer *w)
{
    const clo_i_certified *const c = &release->certified;
    char time[32];
    if (!c->there) return;
    write_time(c->time, time);
    clo_json_open(w, "certificate", '{');
    if (c->signature[0]) clo_json_text(w, "signature", c->signature);
    clo_json_text(w, "ledger", c->ledger);
    clo_json_count(w, "charge", c->charge);
    clo_json_text(w, "dataset", c->dataset);
    clo_json_text(w, "time", time);
    clo_json_text(w, "program", c->program);
    clo_json_text(w, "values", c->values);
    clo_json_text(w, "public_key", c->public_key);
    clo_json_close(w, '}');
}

/* The same moment back; only a time as it is written is one. */
bool clo_i_certificate_time(const char *text, int64_t *out)
{
    struct tm parts = { 0 };
    char again[32];
    const char *const end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end) return false;
    *out = (int64_t)timegm(&parts);
    write_time(*out, again);
    return strcmp(again, text) == 0;
}
