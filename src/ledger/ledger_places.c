/*
 * ledger_places.c - where a ledger and its copies lie: a ledger that is gone is missed.
 *
 * Whoever removes a ledger by mistake would otherwise begin a new one at the same place, without
 * caps, and not notice.  So behind its two records the anchor holds paths, each ended by a zero
 * byte, and an empty one at the end.  They are a help against mistakes and prove nothing: a new
 * ledger at another place is nobody's loss but the privacy's (SECURITY.md).
 *
 * A ledger may be moved, and it may be copied.  Where it is opened its place is added, and a place
 * that it has left stays: what made the ledger there may be run again, and a second ledger would
 * have a second cap.  Who wants one says so.
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
        if (strcmp(place, ledger->resolved) == 0 || length + size > PLACES - 2) continue;
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

/* A ledger that was at this place before. */
typedef struct former {
    char name[2 * LEDGER_IDENTITY + 1]; /* its anchor's */
    clo_i_note note;
    bool readable; /* its key is here */
    char now[168]; /* where it is; empty: nowhere that the anchor knows */
} former;

static void find_former(former *f, const char *places)
{
    uint8_t identity[LEDGER_IDENTITY];
    size_t length = 0;
    if (sodium_hex2bin(identity, sizeof identity, f->name, strlen(f->name), NULL, &length, NULL) ||
        length != sizeof identity)
        return;
    for (const char *place = places; *place && !f->now[0]; place = next_place(place))
        if (is_current(place, identity, &f->note.mark)) clo_i_ledger_show_path(f->now, place);
}

/* Whether the anchor of that name stands for another ledger, with a past, at this place. */
static bool is_of_another(const clo_ledger *ledger, const char *folder, const char *name,
                          const char *identity, former *out)
{
    char path[PATH_MAX + 64], places[PLACES];
    former f = { .readable = false };
    if (strlen(name) != sizeof f.name - 1 || strcmp(name, identity) == 0) return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    read_places(file, places);
    const bool other = is_listed(places, ledger->resolved);
    /* Under another key it cannot be read, and tells of a ledger all the same. */
    f.readable = other && clo_i_anchor_read(&ledger->key, name, file, &f.note);
    close(file);
    if (!other || (f.readable && f.note.mark.charges + f.note.mark.declarations == 0)) return false;
    memcpy(f.name, name, sizeof f.name);
    if (f.readable) find_former(&f, places);
    *out = f;
    return true;
}

static clo_status refuse_second(const clo_ledger *ledger, const former *f, clo_error *err)
{
    if (!f->readable)
        return clo_i_fail(err, CLO_LEDGER,
                          "at %s there was a ledger with another key (the anchor %.8s...): bring "
                          "it and its key back, or name another file and adopt what was spent in "
                          "the old one",
                          ledger->shown, f->name);
    const bool gone = f->note.mark.charges == LEDGER_MOVED;
    if ((gone || f->now[0]) && ledger->second) return CLO_OK;
    if (gone)
        clo_i_fail(err, CLO_LEDGER,
                   "the ledger that was at %s was moved to another machine, with its caps: use it "
                   "there, or allow a second ledger with caps of its own (new)",
                   ledger->shown);
    else if (f->now[0])
        clo_i_fail(err, CLO_LEDGER,
                   "the ledger that was at %s is at %s now, with its caps: use that one, or allow "
                   "a second ledger with caps of its own (new)",
                   ledger->shown, f->now);
    if (gone || f->now[0]) return clo_i_advise(err, CLO_LEDGER, "new");
    return clo_i_fail(
        err, CLO_LEDGER,
        "at %s there was a ledger with %llu charges and %llu declarations, and it is gone: bring "
        "it back, or run cloister ledger restore, or name another file",
        ledger->shown, (unsigned long long)f->note.mark.charges,
        (unsigned long long)f->note.mark.declarations);
}

clo_status clo_i_places_check(const clo_ledger *ledger, const uint8_t identity[LEDGER_IDENTITY],
                              clo_error *err)
{
    char folder[PATH_MAX], own[2 * LEDGER_IDENTITY + 1] = "";
    former found;
    clo_status status = CLO_OK;
    CLO_TRY(clo_i_config_path("anchors", folder, err));
    if (identity) sodium_bin2hex(own, sizeof own, identity, LEDGER_IDENTITY);
    DIR *const names = opendir(folder);
    if (!names) return CLO_OK; /* there never was a ledger */
    for (const struct dirent *entry; !status && (entry = readdir(names));)
        if (is_of_another(ledger, folder, entry->d_name, own, &found))
            status = refuse_second(ledger, &found, err);
    closedir(names);
    return status;
}
