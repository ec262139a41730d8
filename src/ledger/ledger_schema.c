/*
 * ledger_schema.c - what is in a ledger's file: the tables, their version, the end of the chain.
 *
 * The tables guard themselves as far as SQLite can: STRICT types, CHECKs, and triggers that let
 * entries be added at the end and totals grow, and nothing else.  That stops mistakes, also those
 * made with another program; it does not stop whoever means to change the file, which is what the
 * chain and the verification are for.
 */
#include "ledger/ledger_internal.h"
#include "base/key.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- schema ---------------------------------------------------------------- */

/* A later version adds columns and tables and changes none (ledger_migrate.c): `format` says how an
 * entry was hashed, so that entries of schema 1, which had no key, token or plan, stay as they
 * are. */
const clo_i_schema_object clo_i_ledger_schema[] = {
    { 2, "table", "ledger",
      "CREATE TABLE ledger (\n"
      "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
      "  identity BLOB NOT NULL CHECK (length(identity) = 16),\n"
      "  created INTEGER NOT NULL,\n"
      "  written_by TEXT NOT NULL,\n"
      "  charges INTEGER NOT NULL CHECK (charges >= 0),\n"
      "  charge_hash BLOB NOT NULL CHECK (length(charge_hash) = 32),\n"
      "  declarations INTEGER NOT NULL CHECK (declarations >= 0),\n"
      "  declaration_hash BLOB NOT NULL CHECK (length(declaration_hash) = 32),\n"
      "  key_id BLOB NOT NULL CHECK (length(key_id) = 16),\n"
      "  plain_charges INTEGER NOT NULL CHECK (plain_charges >= 0),\n"
      "  plain_declarations INTEGER NOT NULL CHECK (plain_declarations >= 0),\n"
      "  seal BLOB NOT NULL CHECK (length(seal) = 32)\n"
      ") STRICT" },
    { 2, "table", "dataset",
      "CREATE TABLE dataset (\n"
      "  id INTEGER PRIMARY KEY,\n"
      "  name TEXT NOT NULL UNIQUE CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 200),\n"
      "  created INTEGER NOT NULL,\n"
      "  cap_epsilon REAL CHECK (cap_epsilon > 0 AND cap_epsilon <= 16384),\n"
      "  cap_delta REAL CHECK (cap_delta >= 0 AND cap_delta < 1),\n"
      "  cap_epsilon_units INTEGER CHECK (cap_epsilon_units > 0),\n"
      "  cap_delta_units INTEGER CHECK (cap_delta_units >= 0),\n"
      "  rule TEXT NOT NULL CHECK (rule IN ('open', 'basic', 'zcdp')),\n"
      "  base_epsilon INTEGER NOT NULL CHECK (base_epsilon >= 0),\n"
      "  base_rho INTEGER NOT NULL CHECK (base_rho >= 0),\n"
      "  capacity INTEGER NOT NULL CHECK (capacity >= 0),\n"
      "  relation TEXT NOT NULL,\n"
      "  charges INTEGER NOT NULL CHECK (charges >= 0),\n"
      "  epsilon INTEGER NOT NULL CHECK (epsilon >= 0),\n"
      "  delta INTEGER NOT NULL CHECK (delta >= 0),\n"
      "  rho INTEGER NOT NULL CHECK (rho >= 0),\n"
      "  rho_delta INTEGER NOT NULL CHECK (rho_delta >= 0),\n"
      "  last_charge INTEGER NOT NULL,\n"
      "  CHECK ((cap_epsilon IS NULL) = (cap_delta IS NULL)),\n"
      "  CHECK ((cap_epsilon IS NULL) = (cap_epsilon_units IS NULL)),\n"
      "  CHECK ((cap_epsilon IS NULL) = (cap_delta_units IS NULL)),\n"
      "  CHECK (cap_epsilon IS NOT NULL OR rule = 'open')\n"
      ") STRICT" },
    { 2, "table", "charge",
      "CREATE TABLE charge (\n"
      "  sequence INTEGER PRIMARY KEY CHECK (sequence > 0),\n"
      "  dataset INTEGER NOT NULL REFERENCES dataset (id),\n"
      "  time INTEGER NOT NULL,\n"
      "  mechanism TEXT NOT NULL,\n"
      "  relation TEXT NOT NULL,\n"
      "  asked_epsilon REAL NOT NULL CHECK (asked_epsilon > 0),\n"
      "  asked_delta REAL NOT NULL CHECK (asked_delta >= 0 AND asked_delta < 1),\n"
      "  epsilon INTEGER NOT NULL CHECK (epsilon > 0),\n"
      "  delta INTEGER NOT NULL CHECK (delta >= 0),\n"
      "  rho INTEGER NOT NULL CHECK (rho > 0),\n"
      "  rho_delta INTEGER NOT NULL CHECK (rho_delta >= 0),\n"
      "  rule TEXT NOT NULL CHECK (rule IN ('open', 'basic', 'zcdp')),\n"
      "  capacity INTEGER NOT NULL CHECK (capacity >= 0),\n"
      "  token TEXT UNIQUE CHECK (length(CAST(token AS BLOB)) BETWEEN 1 AND 200),\n"
      "  plan BLOB CHECK (length(plan) = 32),\n"
      "  key_id BLOB CHECK (length(key_id) = 16),\n"
      "  format INTEGER NOT NULL CHECK (format IN (1, 2)),\n"
      "  hash BLOB NOT NULL CHECK (length(hash) = 32),\n"
      "  CHECK ((format = 1) = (token IS NULL)),\n"
      "  CHECK ((format = 1) = (plan IS NULL)),\n"
      "  CHECK ((format = 1) = (key_id IS NULL))\n"
      ") STRICT" },
    { 2, "table", "declaration",
      "CREATE TABLE declaration (\n"
      "  sequence INTEGER PRIMARY KEY CHECK (sequence > 0),\n"
      "  after_charge INTEGER NOT NULL CHECK (after_charge >= 0),\n"
      "  dataset INTEGER NOT NULL UNIQUE REFERENCES dataset (id),\n"
      "  time INTEGER NOT NULL,\n"
      "  epsilon REAL NOT NULL,\n"
      "  delta REAL NOT NULL,\n"
      "  epsilon_units INTEGER NOT NULL,\n"
      "  delta_units INTEGER NOT NULL,\n"
      "  key_id BLOB CHECK (length(key_id) = 16),\n"
      "  format INTEGER NOT NULL CHECK (format IN (1, 2)),\n"
      "  hash BLOB NOT NULL CHECK (length(hash) = 32),\n"
      "  CHECK ((format = 1) = (key_id IS NULL))\n"
      ") STRICT" },
    { 2, "table", "result",
      "CREATE TABLE result (\n"
      "  sequence INTEGER PRIMARY KEY REFERENCES charge (sequence),\n"
      "  time INTEGER NOT NULL,\n"
      "  bytes BLOB NOT NULL,\n"
      "  hash BLOB NOT NULL CHECK (length(hash) = 32)\n"
      ") STRICT" },
    { 2, "table", "origin",
      "CREATE TABLE origin (\n"
      "  dataset INTEGER PRIMARY KEY REFERENCES dataset (id),\n"
      "  path TEXT NOT NULL\n"
      ") STRICT" },
    { 3, "table", "content",
      "CREATE TABLE content (\n"
      "  sequence INTEGER PRIMARY KEY REFERENCES charge (sequence),\n"
      "  hash BLOB NOT NULL CHECK (length(hash) = 32)\n"
      ") STRICT" },
    /* What a steward did beside declaring caps; they share the numbers and the chain of those.
     * `kind` says what `detail` means (ledger_admin.c). */
    { 4, "table", "act",
      "CREATE TABLE act (\n"
      "  sequence INTEGER PRIMARY KEY CHECK (sequence > 0),\n"
      "  after_charge INTEGER NOT NULL CHECK (after_charge >= 0),\n"
      "  time INTEGER NOT NULL,\n"
      "  kind TEXT NOT NULL CHECK (length(CAST(kind AS BLOB)) BETWEEN 1 AND 32),\n"
      "  dataset INTEGER REFERENCES dataset (id),\n"
      "  charge INTEGER REFERENCES charge (sequence),\n"
      "  detail BLOB NOT NULL,\n"
      "  key_id BLOB NOT NULL CHECK (length(key_id) = 16),\n"
      "  hash BLOB NOT NULL CHECK (length(hash) = 32)\n"
      ") STRICT" },
    /* Who asked for a charge, for what, where, with which program. */
    { 4, "table", "attribution",
      "CREATE TABLE attribution (\n"
      "  sequence INTEGER PRIMARY KEY REFERENCES charge (sequence),\n"
      "  user TEXT NOT NULL,\n"
      "  host TEXT NOT NULL,\n"
      "  purpose TEXT NOT NULL,\n"
      "  program TEXT NOT NULL\n"
      ") STRICT" },
    { 2, "index", "charge_by_dataset",
      "CREATE INDEX charge_by_dataset ON charge (dataset, sequence)" },
    { 2, "trigger", "charge_is_next",
      "CREATE TRIGGER charge_is_next BEFORE INSERT ON charge\n"
      "WHEN NEW.sequence IS NOT (SELECT charges + 1 FROM ledger) BEGIN\n"
      "  SELECT RAISE(ABORT, 'a charge can only be added at the end');\n"
      "END" },
    { 2, "trigger", "charge_is_not_changed",
      "CREATE TRIGGER charge_is_not_changed BEFORE UPDATE ON charge BEGIN\n"
      "  SELECT RAISE(ABORT, 'a charge cannot be changed');\n"
      "END" },
    { 2, "trigger", "charge_is_not_deleted",
      "CREATE TRIGGER charge_is_not_deleted BEFORE DELETE ON charge BEGIN\n"
      "  SELECT RAISE(ABORT, 'a charge cannot be deleted');\n"
      "END" },
    { 2, "trigger", "declaration_is_next",
      "CREATE TRIGGER declaration_is_next BEFORE INSERT ON declaration\n"
      "WHEN NEW.sequence IS NOT (SELECT declarations + 1 FROM ledger) BEGIN\n"
      "  SELECT RAISE(ABORT, 'a declaration can only be added at the end');\n"
      "END" },
    { 2, "trigger", "declaration_is_not_changed",
      "CREATE TRIGGER declaration_is_not_changed BEFORE UPDATE ON declaration BEGIN\n"
      "  SELECT RAISE(ABORT, 'a declaration cannot be changed');\n"
      "END" },
    { 2, "trigger", "declaration_is_not_deleted",
      "CREATE TRIGGER declaration_is_not_deleted BEFORE DELETE ON declaration BEGIN\n"
      "  SELECT RAISE(ABORT, 'a declaration cannot be deleted');\n"
      "END" },
    { 2, "trigger", "result_is_not_changed",
      "CREATE TRIGGER result_is_not_changed BEFORE UPDATE ON result BEGIN\n"
      "  SELECT RAISE(ABORT, 'a stored result cannot be changed');\n"
      "END" },
    { 2, "trigger", "result_is_not_deleted",
      "CREATE TRIGGER result_is_not_deleted BEFORE DELETE ON result BEGIN\n"
      "  SELECT RAISE(ABORT, 'a stored result cannot be deleted');\n"
      "END" },
    { 3, "trigger", "content_is_not_changed",
      "CREATE TRIGGER content_is_not_changed BEFORE UPDATE ON content BEGIN\n"
      "  SELECT RAISE(ABORT, 'what a charge was for cannot be changed');\n"
      "END" },
    { 3, "trigger", "content_is_not_deleted",
      "CREATE TRIGGER content_is_not_deleted BEFORE DELETE ON content BEGIN\n"
      "  SELECT RAISE(ABORT, 'what a charge was for cannot be deleted');\n"
      "END" },
    { 4, "index", "act_by_kind", "CREATE INDEX act_by_kind ON act (kind, sequence)" },
    { 4, "trigger", "act_is_next",
      "CREATE TRIGGER act_is_next BEFORE INSERT ON act\n"
      "WHEN NEW.sequence IS NOT (SELECT declarations + 1 FROM ledger) BEGIN\n"
      "  SELECT RAISE(ABORT, 'an act can only be added at the end');\n"
      "END" },
    { 4, "trigger", "act_is_not_changed",
      "CREATE TRIGGER act_is_not_changed BEFORE UPDATE ON act BEGIN\n"
      "  SELECT RAISE(ABORT, 'an act cannot be changed');\n"
      "END" },
    { 4, "trigger", "act_is_not_deleted",
      "CREATE TRIGGER act_is_not_deleted BEFORE DELETE ON act BEGIN\n"
      "  SELECT RAISE(ABORT, 'an act cannot be deleted');\n"
      "END" },
    { 4, "trigger", "attribution_is_not_changed",
      "CREATE TRIGGER attribution_is_not_changed BEFORE UPDATE ON attribution BEGIN\n"
      "  SELECT RAISE(ABORT, 'who made a charge cannot be changed');\n"
      "END" },
    { 4, "trigger", "attribution_is_not_deleted",
      "CREATE TRIGGER attribution_is_not_deleted BEFORE DELETE ON attribution BEGIN\n"
      "  SELECT RAISE(ABORT, 'who made a charge cannot be deleted');\n"
      "END" },
    { 2, "trigger", "dataset_is_not_deleted",
      "CREATE TRIGGER dataset_is_not_deleted BEFORE DELETE ON dataset BEGIN\n"
      "  SELECT RAISE(ABORT, 'a data set cannot be deleted');\n"
      "END" },
    { 2, "trigger", "dataset_only_grows",
      "CREATE TRIGGER dataset_only_grows BEFORE UPDATE ON dataset\n"
      "WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.created IS NOT OLD.created\n"
      "  OR (OLD.cap_epsilon IS NOT NULL AND (NEW.cap_epsilon IS NOT OLD.cap_epsilon\n"
      "    OR NEW.cap_delta IS NOT OLD.cap_delta\n"
      "    OR NEW.cap_epsilon_units IS NOT OLD.cap_epsilon_units\n"
      "    OR NEW.cap_delta_units IS NOT OLD.cap_delta_units))\n"
      "  OR (OLD.rule <> 'open' AND (NEW.rule IS NOT OLD.rule\n"
      "    OR NEW.base_epsilon IS NOT OLD.base_epsilon OR NEW.base_rho IS NOT OLD.base_rho\n"
      "    OR NEW.capacity IS NOT OLD.capacity))\n"
      "  OR NEW.charges < OLD.charges OR NEW.epsilon < OLD.epsilon OR NEW.delta < OLD.delta\n"
      "  OR NEW.rho < OLD.rho OR NEW.rho_delta < OLD.rho_delta BEGIN\n"
      "  SELECT RAISE(ABORT, 'what was spent on a data set can only grow');\n"
      "END" },
    { 2, "trigger", "ledger_is_not_deleted",
      "CREATE TRIGGER ledger_is_not_deleted BEFORE DELETE ON ledger BEGIN\n"
      "  SELECT RAISE(ABORT, 'the head of the ledger cannot be deleted');\n"
      "END" },
    { 2, "trigger", "ledger_only_grows",
      "CREATE TRIGGER ledger_only_grows BEFORE UPDATE ON ledger\n"
      "WHEN NEW.id IS NOT OLD.id OR NEW.identity IS NOT OLD.identity\n"
      "  OR NEW.created IS NOT OLD.created OR NEW.charges < OLD.charges\n"
      "  OR NEW.declarations < OLD.declarations OR NEW.key_id IS NOT OLD.key_id\n"
      "  OR NEW.plain_charges IS NOT OLD.plain_charges OR NEW.seal IS NOT OLD.seal\n"
      "  OR NEW.plain_declarations IS NOT OLD.plain_declarations BEGIN\n"
      "  SELECT RAISE(ABORT, 'the ledger can only grow');\n"
      "END" },
};

const size_t clo_i_ledger_schema_count = sizeof clo_i_ledger_schema / sizeof *clo_i_ledger_schema;

/* ---- making ---------------------------------------------------------------- */

clo_status clo_i_ledger_insert_head(clo_ledger *ledger, const clo_i_head *head,
                                    const char *written_by, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO ledger (id, identity, created, written_by, charges, charge_hash, "
                "declarations, declaration_hash, key_id, plain_charges, plain_declarations, seal) "
                "VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    clo_i_sql_bytes(&sql, head->identity, LEDGER_IDENTITY);
    clo_i_sql_integer(&sql, head->created);
    clo_i_sql_text(&sql, written_by);
    clo_i_sql_units(&sql, head->charges);
    clo_i_sql_bytes(&sql, head->charge_hash, LEDGER_HASH);
    clo_i_sql_units(&sql, head->declarations);
    clo_i_sql_bytes(&sql, head->declaration_hash, LEDGER_HASH);
    clo_i_sql_bytes(&sql, head->key_id, LEDGER_KEY_ID);
    clo_i_sql_units(&sql, head->plain_charges);
    clo_i_sql_units(&sql, head->plain_declarations);
    clo_i_sql_bytes(&sql, head->seal, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

static clo_status insert_head(clo_ledger *ledger, bool closed, clo_error *err)
{
    clo_i_head head = { .created = ledger->clock() };
    if (!clo_i_key_draw(CLO_KEY_IDENTITY, head.identity, sizeof head.identity))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a new ledger");
    clo_i_key_take(CLO_KEY_IDENTITY, head.identity, LEDGER_IDENTITY);
    clo_i_chain_start(head.identity, "charge", head.charge_hash);
    clo_i_chain_start(head.identity, "declaration", head.declaration_hash);
    memcpy(head.key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_seal(&ledger->key, &head, head.charge_hash, head.declaration_hash, head.seal);
    CLO_TRY(clo_i_ledger_insert_head(ledger, &head, "cloister " CLO_VERSION, err));
    const clo_i_act act = { .kind = LEDGER_ACT_CLOSED };
    return closed ? clo_i_act_insert(ledger, &act, &head, err) : CLO_OK;
}

static clo_status insert_schema(clo_ledger *ledger, bool closed, clo_error *err)
{
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA application_id = %d", LEDGER_APPLICATION);
    CLO_TRY(clo_i_sql_do(ledger, pragma, err));
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", LEDGER_SCHEMA);
    CLO_TRY(clo_i_sql_do(ledger, pragma, err));
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        CLO_TRY(clo_i_sql_do(ledger, clo_i_ledger_schema[i].text, err));
    CLO_TRY(insert_head(ledger, closed, err));
    return clo_i_sql_do(ledger, "COMMIT", err);
}

static clo_status is_empty(clo_ledger *ledger, bool *empty, clo_error *err)
{
    int64_t application = 0, version = 0, objects = 0;
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA application_id", &application, err));
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &version, err));
    CLO_TRY(clo_i_sql_number(ledger, "SELECT count(*) FROM sqlite_schema", &objects, err));
    *empty = application == 0 && version == 0 && objects == 0;
    return CLO_OK;
}

/* An empty file becomes a ledger.  Two processes may both have seen it empty: who gets the lock
 * second finds the schema there. */
clo_status clo_i_ledger_fill_if_empty(clo_ledger *ledger, bool closed, clo_error *err)
{
    bool empty = false;
    clo_status status;
    CLO_TRY(is_empty(ledger, &empty, err));
    if (!empty) return CLO_OK;
    CLO_TRY(clo_i_key_load(true, &ledger->key, err));
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN IMMEDIATE", err));
    status = is_empty(ledger, &empty, err);
    /* Only under the lock: before it, the other process may have made and anchored its ledger. */
    if (!status && empty) status = clo_i_places_check(ledger, NULL, err);
    if (!status && empty) status = insert_schema(ledger, closed, err);
    clo_i_sql_undo(ledger);
    return status;
}

/* ---- checking -------------------------------------------------------------- */

static clo_status check_version(clo_ledger *ledger, clo_error *err)
{
    int64_t application = 0, version = 0;
    bool empty = false;
    CLO_TRY(is_empty(ledger, &empty, err));
    if (empty)
        return clo_i_fail(err, CLO_LEDGER,
                          "the file %s is empty, so it is no ledger: make one with cloister "
                          "ledger init",
                          ledger->shown);
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA application_id", &application, err));
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &version, err));
    if (application != LEDGER_APPLICATION)
        return clo_i_fail(err, CLO_LEDGER,
                          "%s is a database of another program, not a ledger: name another file",
                          ledger->shown);
    if (version > LEDGER_SCHEMA)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was written by a newer cloister (schema %lld; this one, "
                          "%s, knows up to %d): use the newer one",
                          ledger->shown, (long long)version, CLO_VERSION, LEDGER_SCHEMA);
    if (version < 1)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s is damaged (schema %lld does not exist): restore it from "
                          "a backup",
                          ledger->shown, (long long)version);
    ledger->schema = (int)version;
    /* What schemas 2 and 3 lack is needed for writing alone: they are read as they are, an archive
     * too. */
    if (version >= 2 && ledger->reading) return CLO_OK;
    if (version < LEDGER_SCHEMA) CLO_TRY(clo_i_ledger_migrate(ledger, err));
    ledger->schema = LEDGER_SCHEMA;
    return CLO_OK;
}

/* The last charge, its hash and the one before; all stay as they are where there is no charge. */
static clo_status last_charge(clo_ledger *ledger, clo_i_entry *entry, uint8_t hash[LEDGER_HASH],
                              uint8_t before[LEDGER_HASH], clo_error *err)
{
    char text[900];
    snprintf(text, sizeof text,
             "SELECT %s, (SELECT hash FROM charge b WHERE b.sequence = c.sequence - 1) FROM charge "
             "c JOIN dataset d ON d.id = c.dataset ORDER BY c.sequence DESC LIMIT 1",
             clo_i_ledger_charge_columns(ledger));
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    if (clo_i_sql_row(&sql)) {
        clo_i_ledger_get_charge(&sql, entry, hash);
        if (entry->sequence > 1)
            clo_i_sql_get_bytes(&sql, sqlite3_column_count(sql.statement) - 1, before, LEDGER_HASH);
    }
    return clo_i_sql_finish(&sql, err);
}

/* The end of the chain alone, which is cheap; the verification walks all of it (ledger.T8). */
static clo_status check_head(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    clo_i_entry entry = { 0 };
    uint8_t hash[LEDGER_HASH], stored[LEDGER_HASH];
    /* In one transaction: another process may add a charge between two statements. */
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN", err));
    clo_status status = clo_i_ledger_get_head(ledger, &head, err);
    if (!status) {
        clo_i_chain_start(head.identity, "charge", hash);
        memcpy(stored, hash, LEDGER_HASH);
        status = last_charge(ledger, &entry, stored, hash, err);
    }
    clo_i_sql_undo(ledger);
    if (status) return status;
    if (entry.format == LEDGER_KEYED && !ledger->key.known) return CLO_OK; /* only for reading */
    if (entry.sequence > 0) clo_i_chain_charge(&ledger->key, &entry, hash);
    if (entry.sequence != head.charges || memcmp(hash, head.charge_hash, LEDGER_HASH) != 0 ||
        memcmp(hash, stored, LEDGER_HASH) != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: charge %llu is wrong or missing; keep the "
                          "file and restore a backup",
                          ledger->shown, (unsigned long long)head.charges);
    return CLO_OK;
}

/* Who writes must have the key that the ledger was written with; who reads may do without. */
static clo_status find_key(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    const clo_status status =
        ledger->key.known ? CLO_OK
                          : clo_i_key_find(head.key_id, &ledger->key, ledger->reading ? NULL : err);
    if (!ledger->reading) return status ? status : clo_i_key_check(ledger, &head, err);
    if (status || clo_i_key_check(ledger, &head, NULL)) ledger->key.known = false;
    return CLO_OK;
}

clo_status clo_i_ledger_check_contents(clo_ledger *ledger, clo_error *err)
{
    CLO_TRY(check_version(ledger, err));
    CLO_TRY(find_key(ledger, err));
    CLO_TRY(check_head(ledger, err));
    return ledger->key.known && !ledger->detached ? clo_i_anchor_check(ledger, err) : CLO_OK;
}
