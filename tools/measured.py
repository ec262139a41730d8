#!/usr/bin/env python3
"""Fills the measured numbers of README.md and docs/ from bench/results/*.json.

In a page, a number between marks is filled anew where it stands:

    <!--measured: FILE; KEY; KEY as FORMAT-->1.23<!--/measured-->

A page in bench/pages/ is a template: docs/NAME is made of it as a whole, with {{EXPRESSION}} for
each number.  An expression is one of

    FILE; KEY; KEY                     what bench/results/FILE.json has there
    A over B                           a quotient of two of them
    least A and B, most A and B        the least or the largest of some
    holds A < B                        nothing, where it is so; else no page is made: a text never
                                       says what is not so.  A and B may have a factor: 2 * A

and may end in `as FORMAT`: one of Python's for numbers (.3f, .2g), or `±` for a mean with its
standard error.  Without one a whole number is written out, another has three digits that count.

usage: tools/measured.py [--check] [--results FOLDER] [--out FOLDER]
       --check: writes nothing, and fails where a page says something else than the files
       --out: the pages that change go there, not into the tree
"""
import argparse
import json
import math
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import wrap_markdown  # noqa: E402

MARK = re.compile(r"(<!--measured:(?P<expression>[^<>]*)-->)(?P<shown>.*?)(<!--/measured-->)", re.S)
FILLED = re.compile(r"\{\{(.+?)\}\}", re.S)
MADE = "<!-- made by tools/measured.py of bench/pages/{} -->\n\n"


class Wrong(Exception):
    """What a page asks for and no file has, or what it says and is not so."""


class Results:
    """The files of a folder, read when they are asked for."""

    def __init__(self, folder):
        self.folder, self.files = Path(folder), {}

    def file(self, name):
        if name not in self.files:
            path = self.folder / f"{name}.json"
            if not path.exists():
                raise Wrong(f"there is no {name}.json among the results")
            self.files[name] = json.loads(path.read_text(encoding="utf-8"))
        return self.files[name]

    def at(self, words):
        """What stands at FILE; KEY; KEY.  Of a list, KEY is `NAME=VALUE` of one of its members, or
        its number."""
        name, *keys = [" ".join(part.split()) for part in words.split(";")]
        found = self.file(name)
        for key in keys:
            try:
                found = member(found, key)
            except (KeyError, IndexError, TypeError, StopIteration, ValueError):
                raise Wrong(f"{name}.json has no '{'; '.join(keys)}'") from None
        return found

    def number(self, words):
        words = words.strip()
        factor, star, rest = words.partition("*")
        if star:
            return float(factor) * self.number(rest)
        try:
            return float(words)
        except ValueError:
            pass
        if " over " in words:
            above, below = words.split(" over ")
            return self.number(above) / self.number(below)
        found = self.at(words)
        found = found["mean"] if isinstance(found, dict) and "mean" in found else found
        if not isinstance(found, (int, float)):
            raise Wrong(f"'{words}' is no number but {found}")
        return found


def member(found, key):
    if isinstance(found, list):
        name, equals, value = key.partition("=")
        if equals:
            return next(one for one in found if str(one[name]) == value)
        return found[int(key)]
    return found[key]


# ---- as text -------------------------------------------------------------------------------------

def shown(value, form):
    if form:
        return format(value, form)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def with_error(found):
    """A mean up to the first digit of its error, and the error."""
    mean, error = found["mean"], found["se"]
    if not error:
        return f"{mean:.4g}"
    places = max(0, -math.floor(math.log10(error)))
    return f"{mean:.{places}f}\u00a0±\u00a0{error:.{places}f}"  # on one line of a table


def holds(results, words):
    less, more = words.split("<")
    below, above = results.number(less), results.number(more)
    if not below < above:
        raise Wrong(f"the text says {' '.join(words.split())}, and it is not so: "
                    f"{below:g}, {above:g}")
    return ""


def filled(results, expression):
    """The text that an expression stands for."""
    words = " ".join(expression.split())
    words, _, form = (part.strip() for part in words.partition(" as "))
    verb, _, rest = words.partition(" ")
    if verb == "holds":
        return holds(results, rest)
    if verb in ("least", "most"):
        pick = min if verb == "least" else max
        return shown(pick(results.number(part) for part in rest.split(" and ")), form)
    if " over " in words:
        return shown(results.number(words), form)
    found = results.at(words)
    if isinstance(found, str):
        return found
    if form == "±":
        return with_error(found)
    return shown(results.number(words), form)


# ---- pages ---------------------------------------------------------------------------------------

def marked(results, text):
    """A page with the numbers between its marks filled anew.  No line may start with a mark: there
    a comment would end the paragraph."""
    if re.search(r"(?:^|\n[ ]*\n)[ ]*<!--measured:", text):
        raise Wrong("a paragraph begins with a mark: begin it with a word")
    text = re.sub(r"\n[ ]*<!--measured:", " <!--measured:", text)
    text = MARK.sub(lambda m: m[1] + filled(results, m["expression"]) + m[4], text)
    return wrap_markdown.wrap(text)


def joined(block):
    """A paragraph, or each item of a list, on one line, to be wrapped anew."""
    if block.startswith(("#", "|", "!", "<", "```")):
        return block
    lead = len(block) - len(block.lstrip(" "))
    if block.lstrip().startswith("|"):
        return block
    return " " * lead + re.sub(r"[ ]*\n(?!\s*- )\s*", " ", block.strip())


def made(results, name, template):
    """A page that is made as a whole."""
    text = FILLED.sub(lambda found: filled(results, found[1]), template)
    blocks = [joined(block.rstrip()) for block in re.split(r"\n[ ]*\n", text) if block.strip()]
    return wrap_markdown.wrap(MADE.format(name) + "\n\n".join(blocks) + "\n")


def pages(root, results):
    """{path: text} of all pages that hold measured numbers."""
    found = {}
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        if MARK.search(text):
            found[path] = of(path, lambda t=text: marked(results, t))
    for path in sorted((root / "bench" / "pages").glob("*.md")):
        template = path.read_text(encoding="utf-8")
        found[root / "docs" / path.name] = of(path, lambda p=path, t=template:
                                              made(results, p.name, t))
    return found


def of(path, work):
    try:
        return work()
    except Wrong as wrong:
        sys.exit(f"{path.name}: {wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    results = Results(asked.results or asked.root / "bench" / "results")
    other = {path: text for path, text in pages(asked.root, results).items()
             if not path.exists() or path.read_text(encoding="utf-8") != text}
    for path, text in other.items():
        name = path.relative_to(asked.root)
        if asked.check:
            print(f"{name} is not what bench/results says: make pages")
            continue
        place = asked.out / name if asked.out else path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        print(f"measured: {place} is new")
    sys.exit(1 if asked.check and other else 0)


if __name__ == "__main__":
    main()
