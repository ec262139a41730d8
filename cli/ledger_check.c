/* ledger_check.c - cloister ledger check, and the public key that it needs. */
#include "cli.h"
#include "ledger_verbs.h"
#include <stdlib.h>
#include <string.h>

enum { KEY_DIGITS = 2 * CLO_PUBLIC_KEY_BYTES };

/* ---- the key ------------------------------------------------------------------ */

static bool read_hex(const char *text, uint8_t key[CLO_PUBLIC_KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < KEY_DIGITS; i++) {
        const char *const digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit) return false;
        key[i / 2] = (uint8_t)(key[i / 2] << 4 | (digit - digits));
    }
    return text[KEY_DIGITS + strspn(text + KEY_DIGITS, "\r\n")] == 0;
}

/* The digits themselves, or a file that holds them. */
static clo_status read_key(const char *word, uint8_t key[CLO_PUBLIC_KEY_BYTES], cli_error *err)
{
    char text[KEY_DIGITS + 8] = "";
    if (read_hex(word, key)) return CLO_OK;
    FILE *const file = fopen(word, "r");
    if (!file) return cli_fail(err, CLO_IO, "--key %.200s cannot be read: %m", word);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    if (read_hex(text, key)) return CLO_OK;
    return cli_fail(err, CLO_FORMAT,
                    "--key %.200s is not a public key: it must be 64 hexadecimal digits, as "
                    "'cloister ledger key' prints them",
                    word);
}

/* As OpenSSL and others want it: RFC 8410, 12 bytes that say Ed25519 and the key. */
static void print_pem(const uint8_t key[CLO_PUBLIC_KEY_BYTES])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t bytes[45] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };
    memcpy(bytes + 12, key, CLO_PUBLIC_KEY_BYTES);
    cli_print("-----BEGIN PUBLIC KEY-----\n");
    for (size_t i = 0; i < sizeof bytes; i += 3) {
        const uint32_t three = (uint32_t)bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
        const bool last = i + 3 == sizeof bytes; /* 44 bytes: the 45th is not there */
        cli_print("%c%c%c%c", letters[three >> 18], letters[three >> 12 & 63],
                  letters[three >> 6 & 63], last ? '=' : letters[three & 63]);
    }
    cli_print("\n-----END PUBLIC KEY-----\n");
}

clo_status cli_ledger_key(cli_ledger_request *r, cli_error *err)
{
    uint8_t key[CLO_PUBLIC_KEY_BYTES];
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status == CLO_OK) status = clo_ledger_public_key(r->ledger, key, &err->error);
    if (status != CLO_OK) return status;
    if (cli_given(r->args, "pem")) {
        print_pem(key);
        return CLO_OK;
    }
    for (size_t i = 0; i < sizeof key; i++) cli_print("%02x", key[i]);
    cli_print("\n");
    return CLO_OK;
}

/* ---- the check ---------------------------------------------------------------- */

static void print_json(const cli_ledger_request *r, const char *path, const clo_release *release,
                       clo_status status, const cli_error *err)
{
    clo_certificate c = { .struct_size = sizeof c };
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.ledger-check/1");
    clo_json_text(&json, "release", path);
    clo_json_text(&json, "ledger", r->ledger ? r->path : NULL);
    clo_json_bool(&json, "genuine", status == CLO_OK);
    clo_json_text(&json, "problem", status == CLO_OK ? NULL : err->error.message);
    clo_json_bool(&json, "unchanged", clo_release_seal(release) == CLO_SEAL_WHOLE);
    if (clo_release_certificate(release, &c)) {
        clo_json_open(&json, "certificate", '{');
        clo_json_text(&json, "ledger", c.ledger);
        clo_json_count(&json, "charge", c.charge);
        clo_json_text(&json, "dataset", c.dataset);
        clo_json_text(&json, "time", cli_time(c.time).text);
        clo_json_text(&json, "program", c.program);
        clo_json_text(&json, "public_key", c.public_key);
        clo_json_close(&json, '}');
    }
    cli_json_end(&json);
}

static void print_text(const char *path, const clo_release *release)
{
    clo_certificate c = { .struct_size = sizeof c };
    const clo_loss loss = clo_release_loss(release);
    if (!clo_release_certificate(release, &c)) return;
    cli_print("%s: genuine, and unchanged since it was signed\n", path);
    cli_print("charge %llu of the ledger %s: %s/%s on '%s', epsilon %s, delta %s, %s, by %s\n",
              (unsigned long long)c.charge, c.ledger, clo_release_family(release),
              clo_release_method(release), c.dataset, cli_number(loss.epsilon).text,
              cli_number(loss.delta).text, cli_time(c.time).text, c.program);
}

/* Of an export there is nothing to compare with: it is whole, or it is not. */
static clo_status check_export(cli_ledger_request *r, const char *path, const cli_bytes *text,
                               cli_error *err)
{
    const char *const word = cli_value(r->args, "key");
    uint8_t key[CLO_PUBLIC_KEY_BYTES] = { 0 };
    clo_error why;
    clo_status status = CLO_OK;
    if (word) {
        status = read_key(word, key, err);
    } else {
        status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
        if (status == CLO_OK) status = clo_ledger_public_key(r->ledger, key, &err->error);
    }
    if (status != CLO_OK) return status;
    status = clo_signed_check(text->data, text->length, key, &why);
    if (status != CLO_OK) status = cli_fail(err, status, "%.200s: %s", path, why.message);
    if (cli_given(r->args, "json")) {
        clo_writer json = cli_json_begin(stdout);
        clo_json_text(&json, "schema", "cloister.ledger-check/1");
        clo_json_text(&json, "export", path);
        clo_json_bool(&json, "genuine", status == CLO_OK);
        clo_json_text(&json, "problem", status == CLO_OK ? NULL : err->error.message);
        cli_json_end(&json);
    } else if (status == CLO_OK) {
        cli_print("%s: an export of a ledger, unchanged since it was signed\n", path);
    }
    return status;
}

/* Also where an editor has changed its line ends: then its signature says that it was changed. */
static bool is_export(const cli_bytes *text)
{
    static const char *const start[] = { "{", "\"schema\"", ":", "\"cloister.ledger-export/" };
    const char *at = text->data, *const end = text->data + text->length;
    for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
        const size_t length = strlen(start[i]);
        while (at < end && strchr(" \t\r\n", *at) && *at) at++;
        if ((size_t)(end - at) < length || memcmp(at, start[i], length) != 0) return false;
        at += length;
    }
    return true;
}

/* The whole file, where it can be read; a release is read by the library, which says why not. */
static void read_text(const char *path, cli_bytes *text)
{
    char block[4096];
    size_t got;
    FILE *const file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
    if (!file) return;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        if (!cli_bytes_write(text, block, got)) break;
    fclose(file);
}

static clo_status check_release(cli_ledger_request *r, const char *path, cli_error *err)
{
    const char *const word = cli_value(r->args, "key");
    clo_release *release = NULL;
    uint8_t key[CLO_PUBLIC_KEY_BYTES] = { 0 };
    clo_status status = clo_release_read(path, &release, &err->error);
    if (status == CLO_OK && word) status = read_key(word, key, err);
    /* Of a release that is not signed no ledger can say more. */
    const bool sealed = status == CLO_OK && clo_release_seal(release) == CLO_SEAL_WHOLE;
    if (sealed && !word) status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status != CLO_OK) {
        clo_release_free(release);
        return status;
    }
    status = word || !sealed ? clo_release_check(release, key, &err->error)
                             : clo_ledger_check(r->ledger, release, &err->error);
    if (cli_given(r->args, "json"))
        print_json(r, path, release, status, err);
    else if (status == CLO_OK)
        print_text(path, release);
    clo_release_free(release);
    return status;
}

clo_status cli_ledger_check(cli_ledger_request *r, cli_error *err)
{
    const char *const path = cli_word(r->args, 1);
    cli_bytes text = { NULL, 0, 0 };
    if (!path) return cli_fail(err, CLO_ARGUMENT, "'ledger check' takes a release or an export");
    read_text(path, &text);
    const clo_status status = text.data && is_export(&text) ? check_export(r, path, &text, err)
                                                            : check_release(r, path, err);
    free(text.data);
    return status;
}
