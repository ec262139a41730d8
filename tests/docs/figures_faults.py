"""Plants faults in the results of the papers' figures, each of which pages.py --check must notice.

usage: figures_faults.py CLOISTER
"""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "reproduce" / "pages.py"
RESULTS = ROOT / "reproduce" / "results"


def checked(cloister, results):
    return subprocess.run([sys.executable, PAGES, cloister, "--check", "--results", results],
                          capture_output=True, text=True, check=False)


def planted(cloister, fault):
    """What is said where one figure's results are changed."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        shutil.copytree(RESULTS, results)
        path = results / "singhal2021_claims.json"
        found = json.loads(path.read_text(encoding="utf-8"))
        fault(found["panels"])
        path.write_text(json.dumps(found), encoding="utf-8")
        return checked(cloister, results)


def curve(panels, panel, name):
    return next(c for p in panels if p["name"] == panel for c in p["curves"] if c["name"] == name)


def another_number(panels):
    curve(panels, "exact", "ε = 2, d = 6")["y"][0] += 0.25


def a_statement_that_is_not_so(panels):
    bound = curve(panels, "bound", "ε = 1")
    bound["y"] = [10.0] * len(bound["y"])


def a_curve_that_is_gone(panels):
    curve(panels, "bound", "ε = 1")["name"] = "another"


FAULTS = {another_number: "is not what its numbers say", a_statement_that_is_not_so: "it is not so",
          a_curve_that_is_gone: "has no"}


def main():
    cloister = str(Path(sys.argv[1]).resolve())
    print(f"1..{len(FAULTS)}")
    failed = 0
    for number, (fault, expected) in enumerate(FAULTS.items(), 1):
        said = planted(cloister, fault)
        right = said.returncode == 1 and expected in said.stdout + said.stderr
        failed += not right
        print(f"{'' if right else 'not '}ok {number} - notices {fault.__name__.replace('_', ' ')}")
        if not right:
            print(f"# {said.returncode}: {said.stdout}{said.stderr}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
