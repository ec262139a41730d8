#!/usr/bin/env python3
"""Makes the pages of the figures, docs/reproduce/*.md and their pictures, out of results/*.json.

    python reproduce/pages.py CLOISTER [--check] [--results FOLDER]

A page is pages/NAME.md with what stands in {{ }} filled in from results/NAME.json, so that no
number of a text is typed by hand:

    {{PANEL; CURVE; X}}       the mean there, with its standard error behind ± where there is one
    {{PANEL.KEY}}             a number that the panel has beside its curves
    {{KEY}}, {{KEY.KEY}}      of the whole figure: size, cpu_seconds, machine.cpu, data.mnist
    {{picture PANEL}}         the picture, drawn by `cloister draw`
    {{table PANEL}}           all of its numbers
    {{holds A < B}}           nothing, where it is true; A and B as above, or a number, or N * A.
                              Else the page is not made: a text never says what is not so.

--check writes nothing, and fails where a page or a picture is another.
"""
import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "reproduce"
FILLED = re.compile(r"\{\{(.+?)\}\}", re.S)
MADE = "<!-- made by reproduce/pages.py of reproduce/pages/{}.md -->\n\n"


class Figure:
    def __init__(self, name, path):
        self.name, self.all = name, json.loads(path.read_text(encoding="utf-8"))
        self.panels = {panel["name"]: panel for panel in self.all["panels"]}

    def panel(self, name):
        if name not in self.panels:
            raise SystemExit(f"{self.name}: there is no panel '{name}'")
        return self.panels[name]

    def point(self, panel, curve, x):
        """Mean and error at one place of a curve."""
        for found in self.panel(panel)["curves"]:
            if found["name"] == curve and float(x) in found["x"]:
                at = found["x"].index(float(x))
                return found["y"][at], found["error"][at]
        raise SystemExit(f"{self.name}: panel '{panel}' has no '{curve}' at {x}")

    def value(self, words):
        """The number that words of a template stand for."""
        factor = 1.0
        if "*" in words:
            first, words = words.split("*", 1)
            factor = float(first)
        try:
            return factor * float(words)
        except ValueError:
            pass
        parts = [part.strip() for part in words.split(";")]
        if len(parts) == 3:
            return factor * self.point(*parts)[0]
        return factor * float(self.member(words.strip()))

    def member(self, words):
        first, _, rest = words.partition(".")
        if first in self.panels:
            return self.panels[first][rest]
        found = self.all[first]
        return found[rest] if rest else found


def short(value):
    """Three digits that count, as people write them."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def with_error(value, error):
    return f"{short(value)} ± {float(f'{error:.1g}'):g}" if error else short(value)


def table(figure, name):
    panel = figure.panel(name)
    xs = sorted({x for curve in panel["curves"] for x in curve["x"]})
    lines = ["| " + " | ".join([panel["x"]["name"], *(f"{x:g}" for x in xs)]) + " |",
             "|" + "---|" * (len(xs) + 1)]
    for curve in panel["curves"]:
        at = {x: with_error(y, e) for x, y, e in zip(curve["x"], curve["y"], curve["error"])}
        lines.append("| " + " | ".join([curve["name"], *(at.get(x, "") for x in xs)]) + " |")
    return "\n".join(lines)


def filled(figure, words):
    words = " ".join(words.split())
    verb, _, rest = words.partition(" ")
    if verb == "picture":
        title = figure.panel(rest)["title"]
        return f"![{title}](pictures/{figure.name}-{rest}.svg)"
    if verb == "table":
        return table(figure, rest)
    if verb == "holds":
        less, more = rest.split("<")
        if not figure.value(less) < figure.value(more):
            raise SystemExit(f"{figure.name}: the text says {rest}, and it is not so: "
                             f"{figure.value(less):g}, {figure.value(more):g}")
        return ""
    if words.count(";") == 2:
        return with_error(*figure.point(*(part.strip() for part in words.split(";"))))
    found = figure.member(words)
    return short(found) if isinstance(found, (int, float)) else str(found)


def joined(block):
    """A paragraph, or each item of a list, on one line, to be wrapped anew."""
    if block.startswith(("#", "|", "!", "<")):
        return block
    return re.sub(r"\s*\n(?!- )\s*", " ", block)


def page(figure, template):
    text = FILLED.sub(lambda found: filled(figure, found[1]), template)
    blocks = [joined(block.strip()) for block in re.split(r"\n\s*\n", text)]
    return MADE.format(figure.name) + "\n\n".join(block for block in blocks if block) + "\n"


def wrapped(text):
    sys.path.insert(0, str(HERE.parent / "tools"))
    sys.dont_write_bytecode = True
    import wrap_markdown

    return wrap_markdown.wrap(text)


def drawn(cloister, path, panel):
    return subprocess.run([cloister, "draw", path, "--panel", panel], check=True,
                          stdout=subprocess.PIPE).stdout


def files(cloister, results):
    """{path: bytes} of all pages and pictures."""
    made = {}
    for source in sorted((HERE / "pages").glob("*.md")):
        path = results / f"{source.stem}.json"
        figure = Figure(source.stem, path)
        text = wrapped(page(figure, source.read_text(encoding="utf-8")))
        made[DOCS / source.name] = text.encode()
        for name in figure.panels:
            made[DOCS / "pictures" / f"{figure.name}-{name}.svg"] = drawn(cloister, path, name)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", default=HERE / "results", type=Path)
    asked = parser.parse_args()
    made = files(asked.cloister, asked.results)
    if asked.check:
        other = [path for path, text in made.items()
                 if not path.exists() or path.read_bytes() != text]
        left = set((DOCS / "pictures").glob("*.svg")) - set(made)
        for path in [*other, *left]:
            print(f"{path.relative_to(HERE.parent)} is not what its numbers say: make figures")
        sys.exit(1 if other or left else 0)
    (DOCS / "pictures").mkdir(parents=True, exist_ok=True)
    for path, text in made.items():
        path.write_bytes(text)


if __name__ == "__main__":
    main()
