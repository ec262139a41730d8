/*
 * ledger_schema_1.h - the tables of schema 1, as cloister made them before tokens and keys, for the
 * tests of the migration.  They are history: nothing here ever changes.
 */
#ifndef CLO_TEST_LEDGER_SCHEMA_1_H
#define CLO_TEST_LEDGER_SCHEMA_1_H

static const char *const ledger_schema_1[] = {
    "CREATE TABLE ledger (\n"
    "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
    "  identity BLOB NOT NULL CHECK (length(identity) = 16),\n"
    "  created INTEGER NOT NULL,\n"
    "  written_by TEXT NOT NULL,\n"
    "  charges INTEGER NOT NULL CHECK (charges >= 0),\n"
    "  charge_hash BLOB NOT NULL CHECK (length(charge_hash) = 32),\n"
    "  declarations INTEGER NOT NULL CHECK (declarations >= 0),\n"
    "  declaration_hash BLOB NOT NULL CHECK (length(declaration_hash) = 32)\n"
    ") STRICT",
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
    ") STRICT",
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
    "  format INTEGER NOT NULL CHECK (format >= 1),\n"
    "  hash BLOB NOT NULL CHECK (length(hash) = 32)\n"
    ") STRICT",
    "CREATE TABLE declaration (\n"
    "  sequence INTEGER PRIMARY KEY CHECK (sequence > 0),\n"
    "  after_charge INTEGER NOT NULL CHECK (after_charge >= 0),\n"
    "  dataset INTEGER NOT NULL UNIQUE REFERENCES dataset (id),\n"
    "  time INTEGER NOT NULL,\n"
    "  epsilon REAL NOT NULL,\n"
    "  delta REAL NOT NULL,\n"
    "  epsilon_units INTEGER NOT NULL,\n"
    "  delta_units INTEGER NOT NULL,\n"
    "  format INTEGER NOT NULL CHECK (format >= 1),\n"
    "  hash BLOB NOT NULL CHECK (length(hash) = 32)\n"
    ") STRICT",
    "CREATE INDEX charge_by_dataset ON charge (dataset, sequence)",
    "CREATE TRIGGER charge_is_next BEFORE INSERT ON charge\n"
    "WHEN NEW.sequence IS NOT (SELECT charges + 1 FROM ledger) BEGIN\n"
    "  SELECT RAISE(ABORT, 'a charge can only be added at the end');\n"
    "END",
    "CREATE TRIGGER charge_is_not_changed BEFORE UPDATE ON charge BEGIN\n"
    "  SELECT RAISE(ABORT, 'a charge cannot be changed');\n"
    "END",
    "CREATE TRIGGER charge_is_not_deleted BEFORE DELETE ON charge BEGIN\n"
    "  SELECT RAISE(ABORT, 'a charge cannot be deleted');\n"
    "END",
    "CREATE TRIGGER declaration_is_next BEFORE INSERT ON declaration\n"
    "WHEN NEW.sequence IS NOT (SELECT declarations + 1 FROM ledger) BEGIN\n"
    "  SELECT RAISE(ABORT, 'a declaration can only be added at the end');\n"
    "END",
    "CREATE TRIGGER declaration_is_not_changed BEFORE UPDATE ON declaration BEGIN\n"
    "  SELECT RAISE(ABORT, 'a declaration cannot be changed');\n"
    "END",
    "CREATE TRIGGER declaration_is_not_deleted BEFORE DELETE ON declaration BEGIN\n"
    "  SELECT RAISE(ABORT, 'a declaration cannot be deleted');\n"
    "END",
    "CREATE TRIGGER dataset_is_not_deleted BEFORE DELETE ON dataset BEGIN\n"
    "  SELECT RAISE(ABORT, 'a data set cannot be deleted');\n"
    "END",
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
    "END",
    "CREATE TRIGGER ledger_is_not_deleted BEFORE DELETE ON ledger BEGIN\n"
    "  SELECT RAISE(ABORT, 'the head of the ledger cannot be deleted');\n"
    "END",
    "CREATE TRIGGER ledger_only_grows BEFORE UPDATE ON ledger\n"
    "WHEN NEW.id IS NOT OLD.id OR NEW.identity IS NOT OLD.identity\n"
    "  OR NEW.created IS NOT OLD.created OR NEW.charges < OLD.charges\n"
    "  OR NEW.declarations < OLD.declarations BEGIN\n"
    "  SELECT RAISE(ABORT, 'the ledger can only grow');\n"
    "END",
    "PRAGMA application_id = 1129074508",
    "PRAGMA user_version = 1",
};

#endif
