/*
 * ledger_key.c - the key of the hashes.
 *
 * Beside the ledger a key would prove nothing: who can rewrite the file could hash it anew.  So it
 * lives in the user's configuration, is made on first use, and is refused where anybody else can
 * read it.  It is 64 hexadecimal digits and a line's end, so that it can be copied, compared and
 * kept in a safe by people.
 *
 * What it protects is the past, not a secret: without it nothing that was recorded can be changed
 * unseen, and nothing can be added.  A ledger that comes without its key can still be read.
 */
#include "ledger/ledger_internal.h"
#include "base/key.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_TEXT = 2 * LEDGER_KEY + 1 }; /* digits and the line's end */

clo_status clo_i_config_path(const char *name, char path[PATH_MAX], clo_error *err)
{
    const char *const config = getenv("XDG_CONFIG_HOME");
    const char *const home = getenv("HOME");
    const bool named = config && config[0] == '/'; /* relative ones are to be ignored */
    if (!named && !(home && home[0] == '/'))
        return clo_i_fail(err, CLO_LEDGER,
                          "there is no folder for the key of the ledger: set HOME or "
                          "XDG_CONFIG_HOME");
    const int length = snprintf(path, PATH_MAX, "%s%s/cloister/%s", named ? config : home,
                                named ? "" : "/.config", name);
    if (length < 0 || length >= PATH_MAX)
        return clo_i_fail(err, CLO_LEDGER, "the path of the user's configuration is too long");
    return CLO_OK;
}

void clo_i_key_set(clo_i_key *key, const uint8_t bytes[LEDGER_KEY])
{
    static const char purpose[] = "cloister ledger key id";
    memcpy(key->bytes, bytes, LEDGER_KEY);
    crypto_generichash(key->id, LEDGER_KEY_ID, (const uint8_t *)purpose, sizeof purpose - 1, bytes,
                       LEDGER_KEY);
    key->known = true;
}

/* ---- reading --------------------------------------------------------------- */

static clo_status fail_to_read(const char *shown, int number, clo_error *err)
{
    char text[128];
    return clo_i_fail(err, CLO_LEDGER, "the ledger's key %s cannot be read: %s", shown,
                      strerror_r(number, text, sizeof text));
}

static clo_status check_owner(int file, const char *shown, clo_error *err)
{
    struct stat st;
    if (fstat(file, &st) != 0) return fail_to_read(shown, errno, err);
    if (!S_ISREG(st.st_mode))
        return clo_i_fail(err, CLO_LEDGER, "the ledger's key %s is not an ordinary file", shown);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger's key %s belongs to another user, who could forge entries: "
                          "use a key of your own",
                          shown);
    if (st.st_mode & 077)
        return clo_i_fail(err, CLO_LEDGER,
                          "other users can read or write the ledger's key %s: run chmod 600 '%s'",
                          shown, shown);
    return CLO_OK;
}

static clo_status parse_key(int file, const char *shown, clo_i_key *key, clo_error *err)
{
    char text[KEY_TEXT + 1];
    uint8_t bytes[LEDGER_KEY];
    size_t length = 0;
    const ssize_t count = read(file, text, sizeof text);
    if (count < 0) return fail_to_read(shown, errno, err);
    const bool right =
        count == KEY_TEXT && text[KEY_TEXT - 1] == '\n' &&
        sodium_hex2bin(bytes, sizeof bytes, text, KEY_TEXT - 1, NULL, &length, NULL) == 0 &&
        length == LEDGER_KEY;
    if (right) clo_i_key_set(key, bytes);
    clo_i_wipe(text, sizeof text);
    clo_i_wipe(bytes, sizeof bytes);
    return right ? CLO_OK
                 : clo_i_fail(err, CLO_LEDGER,
                              "the ledger's key %s is damaged: it must be a line of 64 "
                              "hexadecimal digits; bring back a copy of it",
                              shown);
}

/* *key stays unknown where there is no file. */
clo_status clo_i_key_read(const char *path, clo_i_key *key, clo_error *err)
{
    char shown[168];
    clo_i_ledger_show_path(shown, path);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) return CLO_OK;
    if (file < 0) return fail_to_read(shown, errno, err);
    clo_status status = check_owner(file, shown, err);
    if (!status) status = parse_key(file, shown, key, err);
    close(file);
    return status;
}

/* ---- making ---------------------------------------------------------------- */

static bool write_key(int file, const clo_i_key *key)
{
    char text[KEY_TEXT + 1];
    sodium_bin2hex(text, sizeof text, key->bytes, sizeof key->bytes);
    text[KEY_TEXT - 1] = '\n';
    const bool written = write(file, text, KEY_TEXT) == KEY_TEXT && fsync(file) == 0;
    clo_i_wipe(text, sizeof text);
    return written;
}

/* Under a name of its own first, so that a key appears whole, and of two processes that make one,
 * one wins. */
clo_status clo_i_key_put(const char *path, const clo_i_key *key, clo_error *err)
{
    char draft[PATH_MAX + 8], shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    CLO_TRY(clo_i_ledger_make_folders(path, err));
    snprintf(draft, sizeof draft, "%s.XXXXXX", path);
    const int file = mkostemp(draft, O_CLOEXEC); /* 0600 */
    if (file < 0)
        return clo_i_fail(err, CLO_LEDGER, "the ledger's key %s cannot be created: %s", shown,
                          strerror_r(errno, text, sizeof text));
    bool made = write_key(file, key);
    int number = errno;
    close(file);
    if (made) {
        made = clo_i_ledger_put_in_place(draft, path);
        number = errno;
    } else {
        unlink(draft);
    }
    if (!made)
        return clo_i_fail(err, CLO_LEDGER, "the ledger's key %s cannot be created: %s", shown,
                          strerror_r(number, text, sizeof text));
    return CLO_OK;
}

static clo_status make_key(const char *path, clo_error *err)
{
    clo_i_key key;
    uint8_t bytes[LEDGER_KEY];
    if (!clo_i_key_draw(CLO_KEY_LEDGER, bytes, sizeof bytes))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a key");
    clo_i_key_take(CLO_KEY_LEDGER, bytes, LEDGER_KEY);
    clo_i_key_set(&key, bytes);
    const clo_status status = clo_i_key_put(path, &key, err);
    clo_i_wipe(bytes, sizeof bytes);
    clo_i_wipe(&key, sizeof key);
    return status;
}

static clo_status kept_path(const uint8_t id[LEDGER_KEY_ID], char path[PATH_MAX], clo_error *err)
{
    char name[64] = "keys/";
    sodium_bin2hex(name + strlen(name), 2 * LEDGER_KEY_ID + 1, id, LEDGER_KEY_ID);
    return clo_i_config_path(name, path, err);
}

clo_status clo_i_key_keep(const clo_i_key *key, clo_error *err)
{
    char path[PATH_MAX];
    CLO_TRY(kept_path(key->id, path, err));
    return clo_i_key_put(path, key, err);
}

clo_status clo_i_key_find(const uint8_t id[LEDGER_KEY_ID], clo_i_key *out, clo_error *err)
{
    clo_i_key key = { .known = false }, kept = { .known = false };
    char path[PATH_MAX];
    clo_status status = clo_i_key_load(false, &key, err);
    if (status || (key.known && memcmp(key.id, id, LEDGER_KEY_ID) == 0)) goto done;
    status = kept_path(id, path, err);
    if (!status) status = clo_i_key_read(path, &kept, err);
    if (kept.known && memcmp(kept.id, id, LEDGER_KEY_ID) == 0) key = kept;
done:
    if (!status) *out = key;
    clo_i_wipe(&key, sizeof key);
    clo_i_wipe(&kept, sizeof kept);
    return status;
}

clo_status clo_i_key_load(bool create, clo_i_key *out, clo_error *err)
{
    clo_i_key key = { .known = false };
    char path[PATH_MAX];
    CLO_TRY(clo_i_config_path("ledger.key", path, err));
    CLO_TRY(clo_i_key_read(path, &key, err));
    if (!key.known && create) {
        CLO_TRY(make_key(path, err));
        CLO_TRY(clo_i_key_read(path, &key, err));
    }
    *out = key;
    clo_i_wipe(&key, sizeof key);
    return CLO_OK;
}

/* ---- the right one --------------------------------------------------------- */

clo_status clo_i_key_check(const clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    char path[PATH_MAX], shown[168], wanted[2 * LEDGER_KEY_ID + 1], there[2 * LEDGER_KEY_ID + 1];
    clo_i_key key = ledger->key;
    if (!key.known) CLO_TRY(clo_i_key_find(head->key_id, &key, err)); /* and say why it is not */
    const bool right = key.known && memcmp(key.id, head->key_id, LEDGER_KEY_ID) == 0;
    const bool later = right && !ledger->key.known; /* a disk that failed and does no more */
    sodium_bin2hex(wanted, sizeof wanted, head->key_id, LEDGER_KEY_ID);
    sodium_bin2hex(there, sizeof there, key.id, LEDGER_KEY_ID);
    const bool known = key.known;
    clo_i_wipe(&key, sizeof key);
    if (later)
        return clo_i_fail(
            err, CLO_LEDGER,
            "the key of the ledger %s could not be read when it was opened: try again",
            ledger->shown);
    if (right) return CLO_OK;
    CLO_TRY(clo_i_config_path("ledger.key", path, err));
    clo_i_ledger_show_path(shown, path);
    if (!known)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s cannot be checked: its key %s is not at %s; bring the "
                          "key back",
                          ledger->shown, wanted, shown);
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s cannot be checked: its key is %s, but the key at %s is %s; "
                      "put the right key there",
                      ledger->shown, wanted, shown, there);
}
