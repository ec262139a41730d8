/*
 * ledger_content.c - whether the same data were charged under another name.
 *
 * A cap is a name's.  Who forgets to say the name charges another account, without a cap or with
 * one of its own, and the data are asked twice for the budget of once.  So a charge keeps a digest
 * of its data, and before the next one the names are compared.  It is a help against a mistake and
 * not a wall: one changed byte is other data.
 *
 * What is kept must tell nothing to who reads the ledger.  It is a keyed hash, and the number of
 * the charge goes into it: not even that two charges were for the same data can be seen without
 * the key (ledger.T12).  To compare, every charge's hash is computed anew.
 */
#include "ledger/ledger_internal.h"
#include <sodium.h>
#include <stdio.h>
#include <string.h>

clo_status clo_i_content_insert(clo_ledger *ledger, const clo_i_head *head,
                                const uint8_t content[CLO_DIGEST_BYTES], clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    clo_i_chain_content(&ledger->key, head->identity, "content", head->charges, content, hash);
    clo_i_sql sql = clo_i_sql_start(ledger, "INSERT INTO content (sequence, hash) VALUES (?, ?)");
    clo_i_sql_units(&sql, head->charges);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* The latest other name among those rows; own: this name has had the data too. */
static clo_status look(clo_ledger *ledger, const clo_i_head *head, const char *text,
                       const char *kind, const char *dataset,
                       const uint8_t content[CLO_DIGEST_BYTES], char other[LEDGER_TEXT + 1],
                       bool *own, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (!*own && clo_i_sql_row(&sql)) {
        char name[LEDGER_TEXT + 1];
        uint8_t hash[LEDGER_HASH], stored[LEDGER_HASH];
        clo_i_chain_content(&ledger->key, head->identity, kind, clo_i_sql_get_units(&sql, 0),
                            content, hash);
        clo_i_sql_get_bytes(&sql, 1, stored, LEDGER_HASH);
        if (sodium_memcmp(hash, stored, LEDGER_HASH) != 0) continue;
        clo_i_sql_get_text(&sql, 2, name);
        *own = strcmp(name, dataset) == 0;
        if (!*own && !other[0]) memcpy(other, name, sizeof name);
    }
    return clo_i_sql_finish(&sql, err);
}

/* "" where there is none, or this name has had the data too.  What was declared comes first. */
static clo_status find_other(clo_ledger *ledger, const char *dataset,
                             const uint8_t content[CLO_DIGEST_BYTES], char other[LEDGER_TEXT + 1],
                             clo_error *err)
{
    static const char declared[] =
        "SELECT a.sequence, a.detail, d.name FROM act a JOIN dataset d ON d.id = a.dataset WHERE "
        "a.kind = 'content' ORDER BY a.sequence DESC";
    static const char charged[] =
        "SELECT k.sequence, k.hash, d.name FROM content k JOIN charge c ON c.sequence = "
        "k.sequence JOIN dataset d ON d.id = c.dataset ORDER BY k.sequence DESC";
    clo_i_head head;
    bool own = false;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    if (ledger->schema >= 4)
        CLO_TRY(
            look(ledger, &head, declared, "declared content", dataset, content, other, &own, err));
    CLO_TRY(look(ledger, &head, charged, "content", dataset, content, other, &own, err));
    if (own) other[0] = 0;
    return CLO_OK;
}

clo_status clo_ledger_known_as(clo_ledger *ledger, const char *dataset, const uint8_t *content,
                               char *name, size_t size, clo_error *err)
{
    char other[LEDGER_TEXT + 1] = "";
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    if (content && ledger->key.known && ledger->schema >= 3)
        CLO_TRY(find_other(ledger, dataset, content, other, err));
    snprintf(name, size, "%s", other);
    return CLO_OK;
}

clo_status clo_i_content_differs(clo_ledger *ledger, uint64_t sequence,
                                 const uint8_t content[CLO_DIGEST_BYTES], bool *differs,
                                 clo_error *err)
{
    uint8_t hash[LEDGER_HASH], stored[LEDGER_HASH];
    clo_i_head head;
    *differs = false;
    if (!ledger->key.known || ledger->schema < 3) return CLO_OK;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT hash FROM content WHERE sequence = ?");
    clo_i_sql_units(&sql, sequence);
    if (clo_i_sql_row(&sql)) {
        clo_i_sql_get_bytes(&sql, 0, stored, LEDGER_HASH);
        clo_i_chain_content(&ledger->key, head.identity, "content", sequence, content, hash);
        *differs = sodium_memcmp(hash, stored, LEDGER_HASH) != 0;
    }
    return clo_i_sql_finish(&sql, err);
}

/* ---- folders ------------------------------------------------------------------ */

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == 0 || strcmp(folder, "/") == 0);
}

/* The data set of the innermost folder above the path; "": none, or this one. */
static clo_status find_folder(clo_ledger *ledger, const char *dataset, const char *path,
                              char other[LEDGER_TEXT + 1], clo_error *err)
{
    size_t deepest = 0;
    bool own = false;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT CAST(a.detail AS TEXT), d.name FROM act a JOIN dataset d ON d.id = "
                "a.dataset WHERE a.kind = 'folder' ORDER BY a.sequence");
    while (clo_i_sql_row(&sql)) {
        const char *const folder = (const char *)sqlite3_column_text(sql.statement, 0);
        if (!folder || !is_below(path, folder) || strlen(folder) < deepest) continue;
        if (strlen(folder) > deepest) own = false;
        deepest = strlen(folder);
        clo_i_sql_get_text(&sql, 1, other);
        own = own || strcmp(other, dataset) == 0;
    }
    if (own) other[0] = 0;
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_ledger_known_at(clo_ledger *ledger, const char *dataset, const char *path,
                               char *name, size_t size, clo_error *err)
{
    char other[LEDGER_TEXT + 1] = "";
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    if (path && ledger->schema >= 4) CLO_TRY(find_folder(ledger, dataset, path, other, err));
    snprintf(name, size, "%s", other);
    return CLO_OK;
}

/* ---- in a declaration ----------------------------------------------------------- */

static clo_status insert(clo_ledger *ledger, clo_i_head *head, const clo_i_account *account,
                         const char *kind, const uint8_t *detail, size_t length, clo_error *err)
{
    clo_i_act act = { .dataset_id = account->id, .detail = detail, .length = length };
    snprintf(act.kind, sizeof act.kind, "%s", kind);
    memcpy(act.dataset, account->name, sizeof act.dataset);
    return clo_i_act_insert(ledger, &act, head, err);
}

static clo_status refuse_other(const clo_ledger *ledger, const char *what, const char *other,
                               clo_error *err)
{
    (void)clo_i_fail(err, CLO_ARGUMENT,
                     "%s already the data set '%.100s' of the ledger %s: use that name, or allow a "
                     "second cap on them (new)",
                     what, other, ledger->shown);
    return clo_i_advise(err, CLO_ARGUMENT, "new");
}

clo_status clo_i_content_attach(clo_ledger *ledger, clo_i_head *head, const clo_i_account *account,
                                const uint8_t *content, const char *folder, bool second,
                                clo_error *err)
{
    char other[LEDGER_TEXT + 1] = "";
    uint8_t hash[LEDGER_HASH];
    if (content && !second) CLO_TRY(find_other(ledger, account->name, content, other, err));
    if (other[0]) return refuse_other(ledger, "these data are", other, err);
    if (folder && !second) CLO_TRY(find_folder(ledger, account->name, folder, other, err));
    if (other[0]) return refuse_other(ledger, "the files of this folder are", other, err);
    if (content) {
        clo_i_chain_content(&ledger->key, head->identity, "declared content",
                            head->declarations + 1, content, hash);
        CLO_TRY(insert(ledger, head, account, LEDGER_ACT_CONTENT, hash, LEDGER_HASH, err));
    }
    if (!folder) return CLO_OK;
    if (folder[0] != '/' || strlen(folder) >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the folder of a data set must be a path that begins "
                          "with /");
    return insert(ledger, head, account, LEDGER_ACT_FOLDER, (const uint8_t *)folder, strlen(folder),
                  err);
}
