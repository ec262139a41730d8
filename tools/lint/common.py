"""What the lints share: a finding is a place and a sentence, and a lint with findings fails."""
import re
import subprocess
import sys
from pathlib import Path

CODE_FOLDERS = ["include", "src", "cli", "mpi", "tests", "bench"]


def files(root, folders, *patterns):
    """Files under these folders of root that fit one of the patterns, sorted."""
    found = set()
    for folder in folders:
        for pattern in patterns:
            found.update(p for p in (root / folder).rglob(pattern) if p.is_file())
    return sorted(found)


def lines(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def is_of_debian_12(tool):
    """Whether the clang tool that is installed is the version that the rules here are written for:
    another one finds other things."""
    said = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", said).group(1)) == 14


def main(check, *extra):
    """Runs check(root, *extra) and prints its findings; the exit status of the lint."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    findings = list(check(root, *(extra or sys.argv[2:])))
    for place, sentence in findings:
        name = place.relative_to(root) if isinstance(place, Path) else place
        print(f"{name}: {sentence}")
    sys.exit(1 if findings else 0)
