#!/usr/bin/env python3
"""Each lint, on a small tree with a fault planted in it, must find that fault; and must find
nothing in the same tree without it.  A lint that cannot fail holds nothing.
"""
import json
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(TOOLS / "lint"), str(TOOLS)]

import arrows  # noqa: E402
import check_tables  # noqa: E402
import common  # noqa: E402
import environment  # noqa: E402
import headers  # noqa: E402
import layout  # noqa: E402
import manual  # noqa: E402
import markdown  # noqa: E402
import names  # noqa: E402
import papers  # noqa: E402
import proofs  # noqa: E402
import scripts  # noqa: E402
import symbols  # noqa: E402
import test as runner  # noqa: E402
import tidy  # noqa: E402
import typed  # noqa: E402
import words  # noqa: E402
import workflows  # noqa: E402
import wrap_markdown  # noqa: E402

# A tree in which everything is as it should be.
SOUND = {
    "ARCHITECTURE.md": "| folder | may include | note |\n|---|---|---|\n| base | – | |\n"
                       "| data, query | base | |\n| report | base | **never data** |\n"
                       "| mechanism/common | query | |\n"
                       "| mechanism/one, mechanism/other | query, mechanism/common | |\n",
    ".clang-format": (TOOLS.parent / ".clang-format").read_text(encoding="utf-8"),
    "include/cloister/sound.h": "/* A header. */\n#ifndef SOUND_H\n#define SOUND_H\n"
                                "#define CLO_API\n#include <stddef.h>\n/* Sounds. */\n"
                                "CLO_API size_t clo_sound(const char *text);\n#endif\n",
    "include/cloister/job.h": "/* Settings are texts: epsilon, delta (big). */\n",
    "src/base/base.h": "/* Base. */\n",
    "src/data/data.h": "/* Data. */\n",
    "src/data/table.c": '/* Tables; sound.T1. */\n#include "base/base.h"\n#include "data/data.h"\n',
    "src/report/json.c": '/* JSON. */\n#include "base/base.h"\n#include <cloister/sound.h>\n',
    "src/mechanism/common/shared.h": "/* Shared. */\n",
    "src/mechanism/other/other.h": "/* The other. */\n",
    "src/mechanism/one/one.c": '/* One. */\n#include "mechanism/common/shared.h"\n',
    "cli/cli.h": "/* Command. */\n",
    "cli/terminal.c": '/* Terminal. */\nconst char *a = getenv("NO_COLOR");\n',
    "docs/man/cloister.1.in": ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNone.\n.SH SECURITY\n",
    "docs/security/environment.md":
        "## The environment\n\n| variable |\n|---|\n| `NO_COLOR` |\n\n## More\n",
    "cli/main.c": '/* Command. */\n#include "cli.h"\n#include <cloister/sound.h>\n',
    "proofs/sound.md": "# sound\n\n## sound.T1\n\nIt is.\n\n    " + "x " * 60 + "y\n\n| "
                       + "x " * 60 + "|\n|---|\n\n- an item\n  of two lines\n",
    "docs/papers/sound2000.md": "| claim | in the code | how it was checked | verdict |\n"
                                "|-|-|-|-|\n"
                                "| it is | `src/data/table.c` | sound.T1, [so](sound2000.md) | "
                                "holds |\n",
    "tests/unit/test_sound.c": "/* Holds sound.T1. */\n",
    "tests/cli/sound.t": "# Sound\n\n## Is\n\n  $ echo\n  " + "x" * 100 + "\n",
    "tools/run.sh": "#!/bin/sh\nset -eu\necho \"$1\"\n",
    "README.md": "It costs <!--measured: sound; a-->1.25<!--/measured--> times,\nε = 0.5 with "
                 "scikit-learn 1.5.2; in code: `sleep 3 s`.\n\n```\ntakes 3.5 s\n```\n"
                 "<!-- pictures: made -->\n2.5 times\n<!-- /pictures -->\nPieces of 32 MiB.\n",
    "docs/made.md": "<!-- made by tools/measured.py of bench/pages/made.md -->\n\n3.5 s\n",
    "bench/pages/made.md": "{{sound; b}} s\n\n| step | |\n|---|---|\n| 1 | {{sound; c}} |\n",
    "tools/lint/typed.txt": "# allowed\nREADME.md: Pieces of 32 MiB -- a constant\n",
    "build/sound.1": '.TH SOUND 1 "" sound\n.SH NAME\nsound \\- is sound\n',
}

# lint, the fault's name, the file it is in, its text, what the finding must say
PLANTED = [
    (arrows, "report includes data", "src/report/json.c",
     '/* JSON. */\n#include "data/data.h"\n', "report may not include data"),
    (arrows, "an include of a file that is not there", "src/report/json.c",
     '/* JSON. */\n#include "base/gone.h"\n', "does not exist"),
    (arrows, "an include without its folder", "src/data/table.c",
     '/* Tables. */\n#include "data.h"\n', "must be written"),
    (arrows, "a folder without a row", "src/cellar/wine.c", "/* Wine. */\n", "has no row"),
    (arrows, "a folder in a folder without a row", "src/mechanism/third/third.c", "/* Third. */\n",
     "mechanism/third has no row"),
    (arrows, "a family that includes another", "src/mechanism/one/one.c",
     '/* One. */\n#include "mechanism/other/other.h"\n',
     "mechanism/one may not include mechanism/other"),
    (arrows, "a mechanism that includes data", "src/mechanism/one/one.c",
     '/* One. */\n#include "data/data.h"\n', "mechanism/one may not include data"),
    (arrows, "a shared part that includes a family", "src/mechanism/common/shared.h",
     '/* Shared. */\n#include "mechanism/other/other.h"\n',
     "mechanism/common may not include mechanism/other"),
    (arrows, "an arrow to a folder without a row", "ARCHITECTURE.md",
     "| folder | may include |\n|---|---|\n| base | cellar |\n",
     "base may include cellar, which has no row"),
    (arrows, "arrows in a circle", "ARCHITECTURE.md",
     "| folder | may include |\n|---|---|\n| base | – |\n| data | base, query |\n"
     "| query | report |\n| report | data |\n",
     "the arrows of data, query, report lead round in a circle"),
    (arrows, "the command includes the library's inside", "cli/main.c",
     '/* Command. */\n#include "../src/data/data.h"\n', "the command may not include"),
    (arrows, "the table is gone", "ARCHITECTURE.md", "# nothing\n", "there is no table"),
    (environment, "a variable that nobody was told of", "cli/terminal.c",
     '/* Terminal. */\nconst char *a = getenv("NO_COLOR"), *b = getenv("TERM");\n',
     "TERM is not told of in docs/security/environment.md"),
    (environment, "a variable of our own in another file", "src/data/more.c",
     '/* More. */\nstatic const char NAME[] = "CLOISTER_FAST";\n',
     "CLOISTER_FAST is not told of in docs/man/cloister.1.in"),
    (environment, "a variable of the Python package", "python/cloister/a.py",
     'import os\nx = os.environ.get("CLOISTER_LEDGER")\n', "CLOISTER_LEDGER is not told of"),
    (environment, "a variable that is read no more", "cli/terminal.c", "/* Terminal. */\n",
     "NO_COLOR is read by nobody"),
    (headers, "a header that needs another", "include/cloister/sound.h",
     "/* A header. */\nsize_t clo_sound(void);\n", "does not compile alone with gcc -std=c11"),
    (headers, "a header that is no C++", "include/cloister/sound.h",
     "/* A header. */\n#ifndef S\n#define S\nint clo_sound(int class);\n#endif\n", "g++"),
    (headers, "a declaration that nothing is said of", "include/cloister/sound.h",
     "/* A header. */\n#ifndef SOUND_H\n#define SOUND_H\n#define CLO_API\n"
     "CLO_API int clo_sound(void);\n#endif\n", "clo_sound has no comment"),
    (headers, "a struct that may grow, given by value", "include/cloister/sound.h",
     "/* A header. */\n#ifndef SOUND_H\n#define SOUND_H\n#define CLO_API\n#include <stddef.h>\n"
     "/* It. */\ntypedef struct clo_sound {\n    size_t struct_size;\n} clo_sound;\n"
     "/* Its. */\nCLO_API clo_sound clo_sound_default(void);\n#endif\n",
     "clo_sound_default gives a clo_sound by value"),
    (headers, "a frozen struct that is not listed", "include/cloister/cloister.h",
     "/* All other structs are frozen: they never change (clo_other). */\n#ifndef C_H\n"
     "#define C_H\n/* It. */\ntypedef struct clo_sound {\n    int a;\n} clo_sound;\n#endif\n",
     "clo_sound is frozen in one of list and header alone"),
    (headers, "a setting that job.h does not tell of", "src/job/settings.c",
     '/* A. */\nconst row a[] = {\n    { "epsilon", NULL },\n    { "delta", "big|small" },\n};\n',
     "does not tell of 'small' of the setting 'delta'"),
    (headers, "an internal header without a guard", "src/base/base.h",
     "/* Base. */\ntypedef struct base { int i; } base;\n", "does not compile alone"),
    (layout, "two blanks where clang-format wants none", "src/base/a.c",
     "/* A. */\nint  a(void);\n", "clang-format"),
    (layout, "a long line", "tools/a.py", "x = '" + "x" * 100 + "'\n", "106 columns"),
    (layout, "a long command in a transcript", "tests/cli/a.t",
     "## A\n\n  $ echo " + "x" * 100 + "\n", "109 columns"),
    (layout, "a tab", "src/base/a.c", "/* A. */\n\tint a;\n", "has a tab"),
    (layout, "a byte that is zero", "src/base/a.c", "/* A\0b. */\nint a;\n", "that is zero"),
    (layout, "a blank at the end", "tools/a.py", "x = 1 \n", "ends in a blank"),
    (layout, "no end of the last line", "tools/a.py", "x = 1", "has no end"),
    (markdown, "a wide paragraph", "docs/a.md", "# A\n\n" + "word " * 30 + "word\n",
     "line 3 is in a paragraph"),
    (markdown, "a wide item of a list", "docs/a.md", "- " + "word " * 30 + "word\n",
     "line 1 is in a paragraph"),
    (markdown, "a wide heading", "docs/a.md", "# " + "word " * 30 + "word\n", "a heading of 156"),
    (markdown, "a blank at the end", "docs/a.md", "a \n", "ends in a blank"),
    (markdown, "an entry beside its list", "docs/a.md", "- **a**: b\n\n**c** : d\n",
     "has fallen out"),
    (markdown, "a link that leads nowhere", "docs/a.md", "[a](b.md)\n", "is not there"),
    (markdown, "a file that is not there", "CONTRIBUTING.md", "`src/base/gone.c`\n",
     "names src/base/gone.c, which is not there"),
    (markdown, "a page in no list", "docs/index.md", "# A\n", "is not listed"),
    (markdown, "a tab", "docs/a.md", "a\tb\n", "has a tab"),
    (markdown, "no end of the last line", "docs/a.md", "a", "has no end"),
    (names, "two files of one name", "cli/json.c", "/* JSON. */\n", "has the name of"),
    (names, "a file without an opening", "src/base/a.c", "int a;\n", "does not open"),
    (names, "a pragma as a table", "src/base/a.c",
     '/* A. */\nconst char *a = "SELECT * FROM pragma_integrity_check(1)";\n', "as a statement"),
    (names, "a thing left undone", "src/base/a.c", "/* TODO */\n", "is unfinished"),
    (names, "an option in a message", "src/base/a.c",
     '/* A. */\nconst char *a = "give it (--cols)";\n', "is an option of the command"),
    (names, "an option that is not there", "cli/a.c",
     '/* a. */\nint f(void) { return cli_given(args, "epsilom"); }\n', "is no option"),
    (names, "a path of a machine", "docs/a.md", "see /home/me/notes\n", "somebody's machine"),
    (papers, "a file that is not there", "docs/papers/a.md", "see `src/data/gone.c`\n",
     "there is no src/data/gone.c"),
    (papers, "a theorem that is not there", "docs/papers/a.md", "by sound.T2\n",
     "sound.T2 is not in proofs/"),
    (papers, "a page that is not there", "docs/papers/a.md", "[so](gone.md)\n",
     "there is no page gone.md"),
    (papers, "a claim without a verdict", "docs/papers/a.md", "| it is | – | – | perhaps |\n",
     "none of the verdicts"),
    (proofs, "a theorem that no code names", "src/data/table.c", "/* Tables. */\n",
     "sound.T1 is named nowhere in the code"),
    (proofs, "a theorem that no test names", "tests/unit/test_sound.c", "/* Nothing. */\n",
     "sound.T1 is named in no test"),
    (proofs, "a claim without a proof", "src/base/a.c", "/* By sound.T2. */\n", "not in proofs/"),
    (proofs, "a proof that is in no list", "proofs/README.md", "# Proofs\n\n`other`\n",
     "sound is not in the reading order"),
    (proofs, "a theorem in another's file", "proofs/other.md", "## sound.T1\n", "belongs into"),
    (scripts, "an unquoted word", "tools/run.sh", "#!/bin/sh\nrm $1\n", "SC2086"),
    (scripts, "Python that does not parse", "tools/a.py", "if:\n", "invalid syntax"),
    (typed, "a time", "docs/a.md", "It takes 12 ms.\n", "'12 ms' looks measured"),
    (typed, "a time on the next line", "docs/a.md", "It takes 12\nseconds.\n",
     "'12 seconds' looks measured"),
    (typed, "a size", "docs/a.md", "a peak of 349 MiB\n", "'349 MiB' looks measured"),
    (typed, "a ratio", "docs/a.md", "38 times as long\n", "'38 times' looks measured"),
    (typed, "a factor with a cross", "docs/a.md", "it is 4× as fast\n", "'4×' looks measured"),
    (typed, "a ratio in words", "docs/a.md", "three times as long\n", "'three times as long'"),
    (typed, "a share", "docs/a.md", "it has 93 % of them\n", "'93 %' looks measured"),
    (typed, "a loss", "docs/guides/a.md", "a loss of 1.003\n", "'1.003' looks measured"),
    (typed, "a share without a zero", "docs/a.md", "an accuracy of .899\n", "'.899' looks"),
    (typed, "a number behind a parameter", "docs/a.md", "at ε = 0.1 it has 1.06\n", "'1.06' looks"),
    (typed, "a cell of a table", "docs/a.md", "| a | b |\n|---|---|\n| x | 147 |\n",
     "'147' looks measured"),
    (typed, "a number behind a mark", "docs/a.md",
     "<!--measured: a; b-->1.1<!--/measured--> to 1.8\n", "'1.8' looks measured"),
    (typed, "a number typed into a template", "bench/pages/made.md", "{{sound; b}} to 3.5 s\n",
     "'3.5 s' looks measured"),
    (typed, "an allowance for what is not there", "tools/lint/typed.txt",
     "README.md: Pieces of 32 MiB -- a constant\nREADME.md: 7 MiB -- gone\n",
     "README.md does not say '7 MiB'"),
    (typed, "an allowance without a reason", "tools/lint/typed.txt",
     "README.md: Pieces of 32 MiB\n", "is not PAGE: WORDS -- REASON"),
    (workflows, "a workflow whose job has no machine", ".github/workflows/a.yml",
     "name: a\non: push\njobs:\n  test:\n    steps:\n      - run: make test\n", "runs-on"),
    (words, "a sentence of 31 words", "docs/a.md", "It is " + "very " * 28 + "long.\n",
     "has 31 words; 30 are allowed"),
    (words, "a long cell", "docs/a.md", "| a |\n|---|\n| is " + "very " * 29 + "long |\n",
     "has 31 words; 30 are allowed"),
    (words, "a theorem on a user's page", "docs/guides/a.md", "It holds (fold.T5).\n", "fold.T5: "),
    (words, "a habit on the man page", "docs/man/a.1.in", ".SH A\nWho keeps a ledger can do it.\n",
     "'If you …'"),
    (words, "a habit in a template", "bench/pages/a.md", "It is of no use.\n", "a plain word"),
    (words, "a habit in a message", "src/base/a.c",
     'void f(void) { g("it is held by "\n"who keeps it"); }\n', "'for anyone who …'"),
    (words, "a habit in a help text", "cli/a.def", 'ROW(a, "choose this where nothing is given")\n',
     "'if', 'when'"),
    *[(words, f"the habit '{text}'", "docs/a.md", f"{text}.\n", better) for text, better in [
        ("Who has the files can check them", "'If you …'"),
        ("It is whole, who keeps it knows", "'anyone who …'"),
        ("It is noticed by who has the key", "'for anyone who …'"),
        ("There is one file a rank", "'one X per Y'"),
        ("They are told apart", "'shows'"),
        ("You get it again for nothing", "'without spending budget'"),
        ("It is refused unless you say it", "'pass'"),
        ("The preset is 2", "'default'"),
        ("It is charged before the first question", "'query'"),
        ("Of one file it reads the rows", "begin with the subject"),
        ("It is refused, too", "'also'"),
        ("Where they do not fit, it reads again", "'if'"),
        ("What is larger goes to swap", "name the thing"),
        ("It has no labels nor sizes", "say what is, first"),
        ("No memory is to be had", "a plain word"),
        ("The file is for rank 0 alone", "'only …'"),
        ("It has three centres", "'center'"),
        ("They are neighbours", "'neighbor'"),
        ("It is sorted in place of the rows", "'instead of'")]],
]

# A C file of a library, and what symbols.py must say of it.
LIBRARIES = [
    ("a function that prints", '#include <stdio.h>\nvoid f(void);\nvoid f(void) { puts("x"); }',
     "uses puts"),
    ("a function that ends its caller",
     "#include <stdlib.h>\nvoid f(void);\nvoid f(void) { exit(1); }", "uses exit"),
    ("a function that allocates by itself",
     "#include <stdlib.h>\nvoid *f(void);\nvoid *f(void) { return malloc(9); }", "uses malloc"),
    ("a variable", "int f(void);\nint f(void) { static int n; return ++n; }",
     "keeps the variable n"),
    ("an internal name that is exported",
     '__attribute__((visibility("default"))) int clo_i_f(void);\nint clo_i_f(void) { return 0; }',
     "exports clo_i_f"),
    ("a public name that is not there", "int f(void);\nint f(void) { return 0; }",
     "does not export clo_sound"),
]


def tree(folder, changes):
    root = Path(folder)
    for name, text in {**SOUND, **changes}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def must_find(findings, sentence):
    said = [text for _, text in findings]
    assert any(sentence in text for text in said), f'no finding says "{sentence}": {said}'


def plant(lint, name, text, sentence):
    with tempfile.TemporaryDirectory() as folder:
        must_find(lint.check(tree(folder, {name: text})), sentence)


def finds_nothing(lint):
    with tempfile.TemporaryDirectory() as folder:
        findings = lint.check(tree(folder, {}))
        assert not findings, findings


def library(folder, source):
    """Builds the C text as a static and a shared library, as the project does."""
    root = tree(folder, {"build/a.c": source + "\n"})
    build = root / "build"
    for command in (["gcc", "-fPIC", "-fvisibility=hidden", "-c", "a.c"],
                    ["ar", "rcs", "a.a", "a.o"], ["gcc", "-shared", "-o", "a.so", "a.o"]):
        subprocess.run(command, cwd=build, check=True)
    return root, str(build / "a.a"), str(build / "a.so")


def plant_library(source, sentence):
    with tempfile.TemporaryDirectory() as folder:
        must_find(symbols.check(*library(folder, source)), sentence)


def sound_library():
    """Constants with addresses in them are no state."""
    source = ('__attribute__((visibility("default"))) const char *clo_sound(int i);\n'
              'static const char *const words[] = {"a", "b"};\n'
              "const char *clo_sound(int i) { return words[i]; }")
    with tempfile.TemporaryDirectory() as folder:
        findings = symbols.check(*library(folder, source))
        assert not findings, findings


def tables_ask_for_their_files():
    tables = {"src/mechanism/table.def": "/* MECHANISM(a, b) */\nMECHANISM(kmeans, lloyd)\n",
              "src/query/table.def": "", "cli/commands.def": "",
              "src/solver/table.def": "SOLVER(tsc)\n", "tests/unit/test_solve_tsc.c": "",
              "src/data/formats.def": 'FORMAT(csv, ".csv .tsv")\n',
              "src/mechanism/kmeans/kmeans_lloyd.c": "", "tests/unit/test_kmeans_lloyd.c": "",
              "src/data/csv.c": "", "tests/fuzz/fuzz_csv.c": ""}
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder, tables)
        (root / "tests/fuzz/corpus/csv").mkdir(parents=True)  # there, but empty
        count, missing = check_tables.check(root)
        assert count == 3, count
        assert [m.split()[-1] for m in missing] == ["proofs/kmeans_lloyd.md", "src/solver/*/tsc.c",
                                                    "tests/fuzz/corpus/csv/"], missing
        (root / "src/solver/affinity").mkdir()
        (root / "src/solver/affinity/tsc.c").write_text("", encoding="utf-8")
        (root / "proofs/kmeans_lloyd.md").write_text("", encoding="utf-8")
        (root / "tests/fuzz/corpus/csv/a").write_text("", encoding="utf-8")
        assert check_tables.check(root) == (3, [])


def mechanisms_ask_for_an_audit_pair():
    tables = {"src/mechanism/table.def": "MECHANISM(kmeans, lloyd)\nMECHANISM(kmeans, tree)\n",
              "src/audit/pairs.def": 'PAIR(kmeans, lloyd, sums, "clusters=1", 2)\n'}
    with tempfile.TemporaryDirectory() as folder:
        missing = list(check_tables.without_pair(tree(folder, tables)))
        assert len(missing) == 1 and "MECHANISM(kmeans, tree)" in missing[0], missing


def mechanisms_ask_for_a_pair_with_units():
    mechanisms = "".join(f"MECHANISM(kmeans, {name})\n" for name in ("lloyd", "tree", "grid"))
    tables = {"src/mechanism/table.def": mechanisms,
              "src/audit/pairs.def": 'PAIR(kmeans, grid, counts, "side=2", 1)\n'
                                     'UNIT_PAIR(kmeans, lloyd, units, "clusters=1", 2)\n'
                                     'NO_UNIT_PAIR(kmeans, tree, "it refuses units")\n'}
    with tempfile.TemporaryDirectory() as folder:
        missing = list(check_tables.without_unit_pair(tree(folder, tables)))
        assert len(missing) == 1 and "MECHANISM(kmeans, grid)" in missing[0], missing


def manual_pages():
    with tempfile.TemporaryDirectory() as folder:
        root = tree(folder, {"build/faulty.1": ".SH NAME\nsound \\- has no title\n.XY\n"})
        assert not manual.check(root, root / "build/sound.1")
        must_find(manual.check(root, root / "build/faulty.1"), "missing manual title")
        (root / "build/run.1").write_text(".IR hidden .  Names of columns that are not taken\n")
        must_find(manual.run_together(root / "build/run.1"), "without blanks")
        (root / "build/run.1").write_text(".TH A 1\n.SH NAME\na \\- b\n.SH DESCRIPTION\n"
                                          ".IR hidden .Names of columns "
                                          "that nobody can understand\n")
        must_find(manual.rendered(root / "build/run.1"), "as one word")


def tidy_c():
    """A file as the build compiles it; then one with a semicolon too many."""
    sound = "int twice(int x)\n{\n    if (x > 1) return 2 * x;\n    return 0;\n}\n"
    faulty = "int twice(int x)\n{\n    if (x > 1);\n        return 2 * x;\n    return 0;\n}\n"
    for text in (sound, faulty):
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, {"src/base/twice.c": text, ".clang-tidy":
                                 (TOOLS.parent / ".clang-tidy").read_text(encoding="utf-8")})
            command = {"directory": str(root / "build"), "file": "../src/base/twice.c",
                       "command": "gcc -c ../src/base/twice.c"}
            (root / "build/compile_commands.json").write_text(json.dumps([command]))
            found = list(tidy.check(root, root / "build"))
            if text is faulty:
                must_find(found, "potentially unintended semicolon")
            else:
                assert not found, found


def wrapping_keeps_the_meaning():
    """Text and what becomes of it: nothing that is no paragraph, nothing that would turn into
    something else at the start of a line."""
    wide = "word " * 18 + "word"  # 94 columns
    for text, expected in [
            (f"{wide} and more", f"{wide} and\nmore"),
            (f"{wide} more - b", f"{wide}\nmore - b"),
            (f"{wide} xy 2017. And", f"{wide}\nxy 2017. And"),
            (f"{wide} `a b c` d", f"{wide}\n`a b c` d"),
            (f"- {wide} others\n  last", f"- {wide}\n  others last"),
            (f"12. {wide} others", f"12. {wide}\n    others"),
            (f"{wide} others  \nlast", f"{wide}\nothers  \nlast"),
            (f"{wide} others\n- item", f"{wide}\nothers\n- item"),
            (f"{wide} others\n\n    {wide} others", f"{wide}\nothers\n\n    {wide} others"),
            (f"```\n{wide} others\n```", None), (f"    {wide} others", None),
            (f"| {wide} others |\n|---|\n| {wide} others |", None), (f"# {wide} others", None),
            (f"[name]: {wide} others", None), ("a\nb\n\nc", None), ("x" * 120, None)]:
        expected = text if expected is None else expected
        wrapped = wrap_markdown.wrap(text)
        assert wrapped == expected, (text, wrapped)
        assert wrap_markdown.wrap(wrapped) == wrapped, wrapped


def the_runner_counts():
    """What a program printed and how it ended -> passed, failed, skipped."""
    for text, code, expected in [
            ("1..2\nok 1 - a\nok 2 - b\n", 0, (2, 0, 0)),
            ("1..2\nok 1 - a\nnot ok 2 - b\n", 1, (1, 1, 0)),
            ("1..2\nok 1 - a\nnot ok 2 # SKIP b\n", 0, (1, 0, 1)),
            ("1..3\nok 1 - a\n", -11, (1, 2, 0)),  # it died
            ("1..1\nok 1 - a\n", 23, (1, 1, 0)),  # it leaked
            ("1..0\n", 0, (0, 0, 0))]:
        tally, _ = runner.count_tap(text, code)
        assert (tally.passed, tally.failed, tally.skipped) == expected, (text, code, str(tally))
    for script, expected in [("exit 0", (1, 0, 0)), ("exit 1", (0, 1, 0)), ("exit 77", (0, 0, 1)),
                             ("kill -11 $$", (0, 1, 0)), ("sleep 1000 & wait", (0, 1, 0)),
                             ("echo 1..1; echo ok 1 - a", (1, 0, 0)),
                             ("echo 1..1; echo ok 1 - a; sleep 1000", (0, 1, 0))]:
        limit = 0.2 if "sleep" in script else 100
        test = runner.Test("none", {"suite": ["cloister:unit"], "name": script, "workdir": "/",
                                    "is_parallel": True, "env": {}, "timeout": limit,
                                    "cmd": ["sh", "-c", script]})
        tally, _ = test.run().count()
        assert (tally.passed, tally.failed, tally.skipped) == expected, (script, str(tally))


def tests():
    for lint in (arrows, environment, headers, layout, markdown, names, papers, proofs, scripts,
                 typed, words, workflows):
        name = lint.__name__
        yield f"{name} finds nothing in a sound tree", lambda lint=lint: finds_nothing(lint)
    for lint, fault, *rest in PLANTED:
        if "clang-format" in fault and not common.is_of_debian_12("clang-format"):
            continue
        yield f"{lint.__name__} finds {fault}", lambda lint=lint, rest=rest: plant(lint, *rest)
    yield "symbols finds nothing in a sound library", sound_library
    for fault, *rest in LIBRARIES:
        yield f"symbols finds {fault}", lambda rest=rest: plant_library(*rest)
    yield "the tables ask for their files", tables_ask_for_their_files
    yield "mechanisms ask for an audit pair", mechanisms_ask_for_an_audit_pair
    yield "mechanisms ask for a pair with units", mechanisms_ask_for_a_pair_with_units
    yield "manual finds a page without a title", manual_pages
    if common.is_of_debian_12("clang-tidy"):
        yield "tidy finds a semicolon behind an if", tidy_c
    yield "wrapping keeps what Markdown means", wrapping_keeps_the_meaning
    yield "the test runner counts", the_runner_counts


def main():
    """Prints TAP; true when every test passed."""
    listed, failed = list(tests()), 0
    print(f"1..{len(listed)}")
    for number, (name, test) in enumerate(listed, 1):
        try:
            test()
            print(f"ok {number} - {name}")
        except Exception:  # a lint that crashes has failed too
            failed += 1
            print(f"not ok {number} - {name}")
            traceback.print_exc()
    return failed == 0


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
