#!/usr/bin/env python3
"""Holds the .def tables to their word: a row asks for its files, or configuring stops.

A mechanism without a proof, a reader without a fuzz target or a command without a test is not a
matter of taste here, so the build asks for them by name before it compiles anything.

usage: check_tables.py SOURCE_ROOT
"""
import re
import sys
from pathlib import Path

# table, macro, how many of its arguments name the row, the files that the row asks for;
# a path that ends in / is a folder that must hold something, and * is any one folder.
TABLES = [
    ("src/mechanism/table.def", "MECHANISM", 2,
     ["src/mechanism/{0}/{0}_{1}.c", "proofs/{0}_{1}.md", "tests/unit/test_{0}_{1}.c"]),
    ("src/query/table.def", "QUERY", 1,
     ["src/query/{}.c", "src/query/{}.h", "proofs/{}.md", "tests/query/{}.h",
      "tests/statistical/test_{}.c"]),
    ("src/solver/table.def", "SOLVER", 1,
     ["src/solver/*/{}.c", "tests/unit/test_solve_{}.c"]),
    ("src/data/formats.def", "FORMAT", 1,
     ["src/data/{}.c", "tests/fuzz/fuzz_{}.c", "tests/fuzz/corpus/{}/"]),
    ("cli/commands.def", "COMMAND", 1,
     ["cli/cmd_{}.c", "tests/cli/{}.t"]),
]


def rows(text, macro, names):
    """The first `names` arguments of each MACRO(...) row that starts a line."""
    for line in text.splitlines():
        row = re.match(macro + r"\(([^)]*)", line)
        if row:
            yield [argument.strip().strip('"') for argument in row.group(1).split(",")][:names]


def without_pair(root):
    """One sentence for each mechanism that no audit pair is made for."""
    made = {tuple(row) for row in rows((root / "src/audit/pairs.def").read_text(encoding="utf-8"),
                                       "PAIR", 2)}
    table = (root / "src/mechanism/table.def").read_text(encoding="utf-8")
    for family, method in rows(table, "MECHANISM", 2):
        if (family, method) not in made:
            yield f"MECHANISM({family}, {method}) needs an audit pair in src/audit/pairs.def"


def without_unit_pair(root):
    """One sentence for each mechanism without a pair for persons of several rows, or a reason."""
    pairs = (root / "src/audit/pairs.def").read_text(encoding="utf-8")
    made = {tuple(row) for macro in ("UNIT_PAIR", "NO_UNIT_PAIR") for row in rows(pairs, macro, 2)}
    table = (root / "src/mechanism/table.def").read_text(encoding="utf-8")
    for family, method in rows(table, "MECHANISM", 2):
        if (family, method) not in made:
            yield (f"MECHANISM({family}, {method}) needs a UNIT_PAIR in src/audit/pairs.def, or "
                   "a NO_UNIT_PAIR that says why it has none")


def exists(root, file):
    """Whether there is such a file, or such a folder with something in it."""
    return any(any(path.iterdir()) if file.endswith("/") else path.is_file()
               for path in root.glob(file))


def check(root):
    """(number of rows seen, one sentence for each missing file)"""
    count, missing = 0, []
    for table, macro, names, wanted in TABLES:
        path = root / table
        if not path.is_file():
            missing.append(f"the table {table} does not exist")
            continue
        for row in rows(path.read_text(encoding="utf-8"), macro, names):
            count += 1
            for pattern in wanted:
                file = pattern.format(*row)
                if not exists(root, file):
                    missing.append(f"{macro}({', '.join(row)}) in {table} needs {file}")
    return count, missing


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    count, missing = check(Path(sys.argv[1]))
    missing += without_pair(Path(sys.argv[1]))
    missing += without_unit_pair(Path(sys.argv[1]))
    for sentence in missing:
        print(sentence, file=sys.stderr)
    if missing:
        return 1
    print(f"{count} rows of the tables have all their files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
