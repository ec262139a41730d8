#!/usr/bin/env python3
"""Changes that someone could really make to a public header: dump.py must see each of them, and
nothing where only a comment has changed.
"""
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import dump  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SONAME = re.search(r"soname='([^']+)'", dump.KEPT.read_text(encoding="utf-8")).group(1)

# name, header, what is written there, by what it is replaced, what abidiff must say ("": nothing)
PLANTED = [
    ("a comment", "random.h", "wipes it", "forgets it", ""),
    ("a field in the middle", "run.h", "    size_t block_rows;", "    int more; size_t block_rows;",
     "clo_run_options"),
    ("a field at the end", "run.h", "    void *solve_user;", "    void *solve_user; int more;",
     "clo_run_options"),
    ("a frozen struct that grows", "privacy.h", "    double delta;\n} clo_loss;",
     "    double delta;\n    double rho;\n} clo_loss;", "clo_loss"),
    ("another type of an argument", "run.h", "clo_workspace_new(size_t bytes",
     "clo_workspace_new(unsigned bytes", "clo_workspace_new"),
    ("a value that means another thing", "domain.h", "CLO_ADD_REMOVE = 2", "CLO_ADD_REMOVE = 3",
     "CLO_ADD_REMOVE"),
    ("a function that is gone", "random.h", "CLO_API bool clo_rng_is_secure(const clo_rng *rng);",
     "", "clo_rng_is_secure"),
]


def seen(header, written, other):
    """What is said of the headers with this change."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "include", root / "include")
        (root / "src").mkdir()
        shutil.copy(ROOT / "src" / "cloister.map", root / "src")
        path = root / "include" / "cloister" / header
        text = path.read_text(encoding="utf-8")
        if written not in text:
            raise LookupError(f"{header} does not have the text to change: {written}")
        path.write_text(text.replace(written, other, 1), encoding="utf-8")
        (root / "made").mkdir()
        return dump.compared(dump.dumped(root, root / "made", SONAME))


def main():
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        print("1..0 # SKIP abidw and abidiff are not installed (Debian: abigail-tools)")
        return 0
    print(f"1..{len(PLANTED)}")
    failed = 0
    for number, (name, header, written, other, words) in enumerate(PLANTED, 1):
        status, said = seen(header, written, other)
        good = (status != 0 and words in said) if words else status == 0
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(said, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
