/*
 * ledger_migrate.c - from an older version of the tables to this one.
 *
 * A ledger must outlive the program that began it.  An older file is brought up to date when it
 * is opened, in one transaction: either all of it is of the new version, or nothing has changed.
 * The tables that have new columns are put aside, made anew by the text of ledger_schema.c, and
 * filled by copying, so that a migrated ledger and a new one have the same schema to the letter,
 * which the verification asks for.
 *
 * 1 to 2: entries get tokens, plans and keyed hashes.  Entries of schema 1 keep their plain hashes;
 * a keyed seal over their number and their last hashes says, from now on, which ones they were.
 *
 * 2 to 3: a table for the data that charges were for (ledger.T12).  Charges from before have no row
 * in it.
 *
 * 3 to 4: tables for what stewards do beside declaring caps, and for who made a charge.  An older
 * ledger stays open: any data set may be charged in it, as before.
 *
 * Who only reads leaves a ledger of schema 2 or 3 as it is.
 */
#include "ledger/ledger_internal.h"
#include <stdio.h>
#include <string.h>

static clo_status drop_all(clo_ledger *ledger, const char *type, clo_error *err)
{
    for (;;) {
        char name[LEDGER_TEXT + 1] = "", text[LEDGER_TEXT + 32];
        clo_i_sql sql = clo_i_sql_start(
            ledger, "SELECT name FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL LIMIT 1");
        clo_i_sql_text(&sql, type);
        if (clo_i_sql_row(&sql)) clo_i_sql_get_text(&sql, 0, name);
        CLO_TRY(clo_i_sql_finish(&sql, err));
        if (!name[0]) return CLO_OK;
        snprintf(text, sizeof text, "DROP %s \"%s\"", type, name);
        CLO_TRY(clo_i_sql_do(ledger, text, err));
    }
}

static clo_status set_aside(clo_ledger *ledger, clo_error *err)
{
    CLO_TRY(drop_all(ledger, "trigger", err));
    CLO_TRY(drop_all(ledger, "index", err));
    CLO_TRY(clo_i_sql_do(ledger, "ALTER TABLE ledger RENAME TO ledger_1", err));
    CLO_TRY(clo_i_sql_do(ledger, "ALTER TABLE charge RENAME TO charge_1", err));
    return clo_i_sql_do(ledger, "ALTER TABLE declaration RENAME TO declaration_1", err);
}

/* Tables (not triggers) of the new schema, or the rest; a table that did not change is there. */
static clo_status make_objects(clo_ledger *ledger, bool tables, clo_error *err)
{
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++) {
        const clo_i_schema_object *const object = &clo_i_ledger_schema[i];
        const bool table = strcmp(object->type, "table") == 0;
        if (table != tables || strcmp(object->name, "dataset") == 0) continue;
        CLO_TRY(clo_i_sql_do(ledger, object->text, err));
    }
    return CLO_OK;
}

static clo_status copy_head(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head = { .created = 0 };
    char written_by[LEDGER_TEXT + 1] = "";
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT identity, created, charges, charge_hash, "
                                            "declarations, declaration_hash, written_by "
                                            "FROM ledger_1");
    if (clo_i_sql_row(&sql)) {
        clo_i_sql_get_bytes(&sql, 0, head.identity, LEDGER_IDENTITY);
        head.created = clo_i_sql_get_integer(&sql, 1);
        head.charges = head.plain_charges = clo_i_sql_get_units(&sql, 2);
        clo_i_sql_get_bytes(&sql, 3, head.charge_hash, LEDGER_HASH);
        head.declarations = head.plain_declarations = clo_i_sql_get_units(&sql, 4);
        clo_i_sql_get_bytes(&sql, 5, head.declaration_hash, LEDGER_HASH);
        clo_i_sql_get_text(&sql, 6, written_by);
    } else if (sql.code == SQLITE_OK) {
        sql.code = SQLITE_CORRUPT;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    memcpy(head.key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_seal(&ledger->key, &head, head.charge_hash, head.declaration_hash, head.seal);
    return clo_i_ledger_insert_head(ledger, &head, written_by, err);
}

static clo_status copy_entries(clo_ledger *ledger, clo_error *err)
{
    static const char *const steps[] = {
        "INSERT INTO charge (sequence, dataset, time, mechanism, relation, asked_epsilon, "
        "asked_delta, epsilon, delta, rho, rho_delta, rule, capacity, format, hash) "
        "SELECT sequence, dataset, time, mechanism, relation, asked_epsilon, asked_delta, "
        "epsilon, delta, rho, rho_delta, rule, capacity, format, hash FROM charge_1",
        "INSERT INTO declaration (sequence, after_charge, dataset, time, epsilon, delta, "
        "epsilon_units, delta_units, format, hash) SELECT sequence, after_charge, dataset, time, "
        "epsilon, delta, epsilon_units, delta_units, format, hash FROM declaration_1",
        "DROP TABLE charge_1",
        "DROP TABLE declaration_1",
        "DROP TABLE ledger_1",
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        CLO_TRY(clo_i_sql_do(ledger, steps[i], err));
    return CLO_OK;
}

static clo_status set_version(clo_ledger *ledger, clo_error *err)
{
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", LEDGER_SCHEMA);
    return clo_i_sql_do(ledger, pragma, err);
}

static clo_status migrate_from_1(clo_ledger *ledger, clo_error *err)
{
    CLO_TRY(set_aside(ledger, err));
    CLO_TRY(make_objects(ledger, true, err));
    CLO_TRY(copy_head(ledger, err));
    CLO_TRY(copy_entries(ledger, err));
    CLO_TRY(make_objects(ledger, false, err)); /* the triggers, which would have forbidden this */
    return set_version(ledger, err);
}

/* Later versions only added to those before. */
static clo_status add_objects(clo_ledger *ledger, int64_t version, clo_error *err)
{
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++)
        if (clo_i_ledger_schema[i].since > version)
            CLO_TRY(clo_i_sql_do(ledger, clo_i_ledger_schema[i].text, err));
    return set_version(ledger, err);
}

clo_status clo_i_ledger_migrate(clo_ledger *ledger, clo_error *err)
{
    int64_t version = 0;
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &version, err));
    if (sqlite3_db_readonly(ledger->db, "main") == 1)
        return clo_i_fail(
            err, CLO_LEDGER,
            "the ledger %s has an older format (schema %lld) and must be updated, but it is "
            "read-only: allow it with chmod u+w",
            ledger->shown, (long long)version);
    /* Entries of schema 1 get a key now; later ones have one, and a new one would be
     * wrong. */
    if (version == 1) CLO_TRY(clo_i_key_load(true, &ledger->key, err));
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN IMMEDIATE", err));
    /* Another process may have done it while this one waited. */
    clo_status status = clo_i_sql_number(ledger, "PRAGMA user_version", &version, err);
    if (!status && version == 1) status = migrate_from_1(ledger, err);
    if (!status && version >= 2 && version < LEDGER_SCHEMA)
        status = add_objects(ledger, version, err);
    if (!status) status = clo_i_sql_commit(ledger, err);
    clo_i_sql_undo(ledger);
    clo_i_sql_forget(ledger);
    return status;
}
