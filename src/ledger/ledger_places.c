/*
 * ledger_places.c - where a ledger and its copies lie: a ledger that is gone is missed.
 *
 * Whoever removes a ledger by mistake would otherwise begin a new one at the same place, without
 * caps, and not notice.  So behind its two records the anchor holds paths, each ended by a zero
 * byte, and an empty one at the end.  They are a help against mistakes and prove nothing: a new
 * ledger at another place is nobody's loss but the privacy's (SECURITY.md).
 *
 * A ledger may be moved, and it may be copied.  Where it is opened its place is added, and places
 * where no file is left are taken out: a move frees the old place, a copy does not.
 */
#include "ledger/ledger_internal.h"
#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 4 * PATH_MAX }; /* bytes, the last two of them zeros */

static void read_places(int file, char places[PLACES])
{
    memset(places, 0, PLACES);
    (void)!pread(file, places, PLACES - 2, ANCHOR_PLACES);
}

static const char *next_place(const char *place)
{
    return place + strlen(place) + 1;
}

static bool is_listed(const char *places, const char *path)
{
    for (const char *place = places; *place; place = next_place(place))
        if (strcmp(place, path) == 0) return true;
    return false;
}

void clo_i_places_note(const clo_ledger *ledger, int file)
{
    char there[PLACES], places[PLACES] = "";
    size_t length = strlen(ledger->resolved) + 1;
    read_places(file, there);
    memcpy(places, ledger->resolved, length); /* the latest first: of too many, the oldest go */
    for (const char *place = there; *place; place = next_place(place)) {
        const size_t size = strlen(place) + 1;
        const bool stays = strcmp(place, ledger->resolved) != 0 && !clo_i_ledger_is_gone(place);
        if (!stays || length + size > PLACES - 2) continue;
        memcpy(places + length, place, size);
        length += size;
    }
    if (memcmp(places, there, length + 1) != 0)
        (void)!pwrite(file, places, length + 1, ANCHOR_PLACES);
}

/* Whether the file there is this ledger as far as the anchor knows it.  It is only looked at: no
 * handle of ours, which would note the place and ask the anchor, that somebody holds. */
static bool is_current(const char *place, const uint8_t identity[LEDGER_IDENTITY],
                       const clo_i_mark *mark)
{
    static const char question[] = "SELECT 1 FROM ledger WHERE identity = ? AND charges = ? AND "
                                   "charge_hash = ? AND declarations = ? AND declaration_hash = ?";
    sqlite3 *db = NULL;
    sqlite3_stmt *sql = NULL;
    bool same = false;
    if (sqlite3_open_v2(place, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, NULL) ==
            SQLITE_OK &&
        sqlite3_busy_timeout(db, LEDGER_PATIENCE_MS) == SQLITE_OK &&
        sqlite3_prepare_v2(db, question, -1, &sql, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_blob(sql, 1, identity, LEDGER_IDENTITY, SQLITE_STATIC);
        (void)sqlite3_bind_int64(sql, 2, (int64_t)mark->charges);
        (void)sqlite3_bind_blob(sql, 3, mark->charge_hash, LEDGER_HASH, SQLITE_STATIC);
        (void)sqlite3_bind_int64(sql, 4, (int64_t)mark->declarations);
        (void)sqlite3_bind_blob(sql, 5, mark->declaration_hash, LEDGER_HASH, SQLITE_STATIC);
        same = sqlite3_step(sql) == SQLITE_ROW;
    }
    sqlite3_finalize(sql);
    sqlite3_close(db);
    return same;
}

clo_status clo_i_places_refuse_living(int file, const uint8_t identity[LEDGER_IDENTITY],
                                      const clo_i_mark *mark, const char *but, clo_error *err)
{
    char places[PLACES], shown[168];
    read_places(file, places);
    for (const char *place = places; *place; place = next_place(place)) {
        if (strcmp(place, but) == 0 || !is_current(place, identity, mark)) continue;
        clo_i_ledger_show_path(shown, place);
        return clo_i_fail(err, CLO_LEDGER,
                          "this ledger is not lost: it is at %s and is complete; use it, or move "
                          "it; to practise, rehearse the restoration",
                          shown);
    }
    return CLO_OK;
}

/* Whether the anchor of that name stands for another ledger, with a past, at this place. */
static bool is_of_another(const clo_ledger *ledger, const char *folder, const char *name,
                          const char *identity, clo_i_mark *mark)
{
    char path[PATH_MAX + 64], places[PLACES];
    clo_i_note note;
    if (strlen(name) != 2 * LEDGER_IDENTITY || strcmp(name, identity) == 0) return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    read_places(file, places);
    const bool other = is_listed(places, ledger->resolved);
    /* Under another key it cannot be read, and tells of a ledger all the same. */
    const bool readable = other && clo_i_anchor_read(&ledger->key, name, file, &note);
    close(file);
    if (!other || (readable && note.mark.charges + note.mark.declarations == 0)) return false;
    *mark = readable ? note.mark : (clo_i_mark){ .charges = 0 };
    return true;
}

clo_status clo_i_places_check(const clo_ledger *ledger, const uint8_t identity[LEDGER_IDENTITY],
                              clo_error *err)
{
    char folder[PATH_MAX], own[2 * LEDGER_IDENTITY + 1] = "", gone[64] = "";
    clo_i_mark mark = { .charges = 0 };
    CLO_TRY(clo_i_config_path("anchors", folder, err));
    if (identity) sodium_bin2hex(own, sizeof own, identity, LEDGER_IDENTITY);
    DIR *const names = opendir(folder);
    if (!names) return CLO_OK; /* there never was a ledger */
    for (const struct dirent *entry; !gone[0] && (entry = readdir(names));)
        if (is_of_another(ledger, folder, entry->d_name, own, &mark))
            snprintf(gone, sizeof gone, "%.40s", entry->d_name);
    closedir(names);
    if (!gone[0]) return CLO_OK;
    if (mark.charges + mark.declarations == 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "at %s there was a ledger with another key (the anchor %.8s...): bring "
                          "it and its key back, or name another file and adopt what was spent in "
                          "the old one",
                          ledger->shown, gone);
    return clo_i_fail(
        err, CLO_LEDGER,
        "at %s there was a ledger with %llu charges and %llu declarations, and it is gone: bring "
        "it back, or run cloister ledger restore, or name another file",
        ledger->shown, (unsigned long long)mark.charges, (unsigned long long)mark.declarations);
}
