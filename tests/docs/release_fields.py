#!/usr/bin/env python3
"""docs/release-format.md has every field that a release has, and none that no release has.

Held against all golden releases, and against a few that this test makes: golden ones are not
metered, and their centres are not long.  A field that is there "always" is in each of them, any
other is missing from some; a unit is one of those that the page lists; an array comes from the
methods that its row names, no more and no fewer.  The page is then changed in each of these ways,
and the test must notice.

usage: release_fields.py CLOISTER
"""
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "release-format.md"
GOLDEN = ROOT / "tests" / "golden" / "releases"
SECTIONS = ("domain", "privacy", "queries", "values", "answers", "derived", "certificate")
LISTS = (["queries"], ["answers"])  # of objects
KEY = re.compile(r'( +)"(\w+)": ?(.*)')
MADE = [
    ("ledger init l.db --dataset a --epsilon 9", None),
    ("generate mixture --rows 300 --cols 2 --clusters 3 --seed 1 -o a.csv", None),
    ("run kmeans/lloyd a.csv --clusters 3 --epsilon 1 --ledger l.db --dataset a", "metered.json"),
    ("run kmeans/density a.csv --clusters 3 --epsilon 4 --ledger l.db --dataset a", "full.json"),
    ("cut full.json --clusters 2", "cut.json"),
    ("run kmeans/density mixed.csv --schema mixed.json --clusters 2 --epsilon 9 --no-ledger",
     "mixed-release.json"),
    ("run kmeans/sparse long.svm --cols 100000 --clusters 2 --epsilon 9 --no-ledger --seed 1",
     "long.json"),
    ("run subspace/approx a.csv --dim 1 --gamma 0.1 --epsilon 4 --no-ledger --seed 1",
     "approximate.json"),
]


class Release:
    """The paths of the fields of one release, and which method made it."""

    def __init__(self, lines):
        self.paths, self.queries, stack, words = set(), [], [], {}
        for line in lines:
            found = KEY.match(line)
            if not found:
                continue
            stack = stack[:len(found[1]) // 2 - 1]
            if stack[:1] in LISTS:
                stack = stack[:1]
            if stack != ["parameters"]:
                path = ".".join(stack + [found[2]])
                if path.startswith("domain.schema."):  # of the Table Schema, which has a page
                    continue
                if path == "queries.query":
                    self.queries.append(set())
                if path.startswith("queries."):
                    self.queries[-1].add(path)
                self.paths.add(path)
                words.setdefault(path, found[3].strip('",'))
            stack = stack + [found[2]]
        self.family, self.method = words["family"], f"{words['family']}/{words['method']}"


def golden_releases():
    """Those of the transcripts; very long ones have lost their end."""
    for path in sorted(GOLDEN.glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()
        starts = [i - 1 for i, line in enumerate(lines) if '"schema": "cloister.release/' in line]
        for start in starts:
            end = next((i for i in range(start, len(lines)) if lines[i].startswith(("}", "$ "))),
                       len(lines))
            body = lines[start:end]
            whole = not any(line.startswith("... ") for line in body)
            yield Release(body), whole


def made_releases(binary):
    with tempfile.TemporaryDirectory(prefix="cloister-") as folder:
        rows = [f"1 {7 * i + 1}:0.5 {90000 + i}:0.25" for i in range(60)]
        Path(folder, "long.svm").write_text("\n".join(rows) + "\n", encoding="utf-8")
        Path(folder, "mixed.csv").write_text("a,b\n" + "x,1\ny,2\n" * 100, encoding="utf-8")
        Path(folder, "mixed.json").write_text(
            '{"fields": [{"name": "a", "type": "string", "categories": ["x", "y"]}, {"name": "b", '
            '"type": "number", "constraints": {"minimum": 0, "maximum": 3}}]}', encoding="utf-8")
        for command, output in MADE:
            words = command.split()
            if words[0] == "run":
                words += ["--yes"] if "--schema" in words else ["--norm", "2", "--yes"]
            if output:
                words += ["-q", "-o", output]
            done = subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True,
                                  env={"HOME": folder, "PATH": "/usr/bin:/bin"}, check=False)
            if done.returncode:
                sys.exit(f"not ok 1 - {command}: {done.stderr}")
            if output:
                yield Release(Path(folder, output).read_text(encoding="utf-8").splitlines()), True


def read_page(text):
    """{path: (unit, when or methods)}, and the units that the page lists."""
    rows, units, section, columns = {}, set(), "", []
    for line in text.splitlines():
        if line.startswith("## "):
            section, columns = line[3:].strip("`"), []
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or set(cells[0]) <= set("-: "):
            continue
        if cells[0] in ("field", "array", "name on this page"):
            columns = cells
        elif columns[:1] == ["name on this page"]:
            units.add(cells[0])
        elif columns[:1] in (["field"], ["array"]):
            prefix = section + "." if section in SECTIONS else ""
            row = dict(zip(columns, cells))
            rows[prefix + cells[0].strip("`")] = (row["unit"], row.get("when", row.get("methods")))
    return rows, units


def methods_of(words, seen):
    """The methods that a cell names: kmeans/local, kmeans/*, every method of kmeans, ..."""
    families = {name.split("/")[0] for name in seen}
    if words.startswith("every method of "):
        named = {f"{family.strip()}/*" for family in words[16:].split(",")}
        return None if {name[:-2] for name in named} <= families else named
    named = {word.strip() for word in words.split(",")}
    return {name for name in seen for word in named
            if name == word or word.endswith("/*") and name.startswith(word[:-1])} | {
                word for word in named if not word.endswith("/*") and word not in seen}


def faults(text, releases):
    rows, units = read_page(text)
    written, makers, said = defaultdict(int), defaultdict(set), []
    methods = {release.method for release, _ in releases}
    for release, _ in releases:
        for path in release.paths:
            written[path] += 1
            makers[path].add(release.method)
    said += [f"{path} is in releases and not on the page" for path in written if path not in rows]
    said += [f"{path} is on the page and in no release" for path in rows if path not in written]
    whole = [release for release, complete in releases if complete]
    for path, (unit, when) in rows.items():
        words = unit.replace("column²", "column").split(";")[0]
        if words not in units and words != "as the answer":
            said.append(f"{path}: {unit} is no unit of the page")
        if path.startswith("values."):
            named = methods_of(when, methods)
            if named is not None and named != makers[path]:
                said.append(f"{path}: the page names other methods than "
                            f"{', '.join(sorted(makers[path]))}")
        elif path in written:
            groups = [query for release in whole for query in release.queries] \
                if path.startswith("queries.") else [
                    release.paths for release in whole
                    if not path.startswith("certificate.") or "certificate" in release.paths]
            always = all(path in group for group in groups)
            if always != (when == "always" or path.startswith("certificate.")):
                said.append(f"{path}: \"{when}\", and it is {'' if always else 'not '}always there")
    return said


# What is planted into the page: its name, what is found (a pattern), what takes its place.
PLANTED = [
    ("a field is missing", r"\n\| `epsilon_used`.*", ""),
    ("an array is missing", r"\n\| `radii`.*", ""),
    ("a field too many", r"(?=\n\| `relation` \|)", "\n| `price` | – | always | x |"),
    ("an array too many", r"(?=\n\| `radii` \|)", "\n| `widths` | k | length | kmeans/local | x |"),
    ("not always", r"(\| `rows` \| records \|) if the [^|]*", r"\1 always "),
    ("always", r"(\| `cols` \| – \|) always ", r"\1 sometimes "),
    ("another method", r"(\n\| `radii` .*)kmeans/density, ", r"\1"),
    ("no such unit", r"(\n\| `radii` \| k \|) length ", r"\1 half "),
]


def main():
    text = PAGE.read_text(encoding="utf-8")
    releases = [*golden_releases(), *made_releases(Path(sys.argv[1]).resolve())]
    results = [("the page has the fields of all releases", faults(text, releases))]
    for name, pattern, instead in PLANTED:
        other, count = re.subn(pattern, instead, text)
        seen = count == 1 and faults(other, releases)
        results.append((f"notices: {name}", [] if seen else [f"planted {count} times, not seen"]))
    print(f"1..{len(results)}")
    for number, (name, wrong) in enumerate(results, 1):
        print("not ok" if wrong else "ok", number, "-", name)
        for line in wrong:
            print("#", line)
    return any(wrong for _, wrong in results)


if __name__ == "__main__":
    sys.exit(main())
