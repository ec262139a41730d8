#!/usr/bin/env python3
"""No measured number of a page is typed by hand.

README.md and docs/ are read, and the templates that pages are made of.  A number that looks
measured (a time, a size, a share, a ratio, one with a fraction, one that is alone in the cell of a
table) must stand between marks that tools/measured.py or tools/pictures.py fills, or in {{ }} of a
template.  Code is left alone: tests run it.

typed.txt beside this file lists what is typed and may be, with the reason; what it lists and no
page says is a finding, too.  Of numbers that are spelled out only "three times as long" and its
like are seen.

usage: typed.py [SOURCE_ROOT]
"""
import re

import common

MADE = re.compile(r"<!-- made by ")
CODE = re.compile(r"^( *)(```|~~~).*?^ *\2[`~]*$", re.S | re.M)
ASIDE = re.compile(r"<!--measured:[^<>]*-->.*?<!--/measured-->"  # filled by tools/measured.py
                   r"|<!-- pictures:.*?<!-- /pictures -->"       # by tools/pictures.py
                   r"|\{\{.+?\}\}"                               # in a template
                   r"|`[^`]+`|\]\([^)]*\)|<!--.*?-->", re.S)
NUMBER = r"(?<![\w.,/^√⌈−-])(?:\d[\d,]*(?:\.\d+)*|\.\d+)"
UNIT = (r"(?:ms|µs|ns|s|min|h|seconds?|minutes?|hours?|days?|[KMGT]i?B(?:/s)?|kB|bytes|%|percent|"
        r"times|million|billion)\b|%|×(?!\s*\d)")
WITH_UNIT = re.compile(rf"{NUMBER}\s?(?:{UNIT})")
FRACTION = re.compile(r"(?<![\w.,/^√⌈−-])(?:\d[\d,]*)?\.\d+(?![\w.]*\.\d)")
CELL = re.compile(rf"\|\s*({NUMBER}(?:\s*±\s*{NUMBER})?)\s*(?=\|)")
SPELLED = re.compile(r"\b(?:twice|(?:two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|"
                     r"hundred|thousand) times) (?:as (?:fast|long|slow|much|many|large)|faster|"
                     r"slower)\b", re.I)
# What stands before a number that is chosen and not measured: a parameter, a version, a theorem.
CHOSEN = re.compile(r"(?:ε|δ|σ|γ|η|epsilon|delta|gamma|norm|noise)\s*(?:=|<|≤|of|at)?\s*$"
                    r"|\b(?:Python|CPython|Version|scikit-learn|Spark|torch|Apache-|CC BY|Debian|"
                    r"OpenSSL|Theorem|Lemma|Proposition)\s*$", re.I)


def plain(text):
    """The words of a page, on one line; what is filled or code leaves a mark that is no number."""
    text = CODE.sub("\n", text)
    return " ".join(ASIDE.sub("·", text).split())


def suspects(words):
    """(place, number as it stands) of what looks measured."""
    found = {}
    for pattern in (WITH_UNIT, SPELLED):
        found |= {m.start(): m[0] for m in pattern.finditer(words)}
    found |= {m.start(1): m[1] for m in CELL.finditer(words)
              if m.start(1) not in found and len(m[1]) > 1}  # one digit counts steps
    found |= {m.start(): m[0] for m in FRACTION.finditer(words) if m.start() not in found
              and not CHOSEN.search(words[:m.start()])}
    return sorted(found.items())


def allowed(root):
    """[(page, words, reason)] of typed.txt: PAGE: WORDS -- REASON."""
    path = root / "tools" / "lint" / "typed.txt"
    lines = common.lines(path) if path.exists() else []
    return [re.match(r"(\S+): (.+) -- (\S.*)$", line) or line for line in lines
            if line.strip() and not line.startswith("#")]


def pages(root):
    """Those that people write: pages that are made are held to what they are made of."""
    found = [root / "README.md", *common.files(root, ["docs"], "*.md"),
             *common.files(root, ["bench/pages", "reproduce/pages"], "*.md")]
    return {str(path.relative_to(root)): text for path in found if path.exists()
            for text in [path.read_text(encoding="utf-8")] if not MADE.match(text)}


def check_allowed(root, found):
    """({page: [words]}, findings) of the list."""
    by_page, findings = {}, []
    for entry in allowed(root):
        if isinstance(entry, str):
            findings.append(("tools/lint/typed.txt", f"'{entry}' is not PAGE: WORDS -- REASON"))
        elif entry[1] not in found or entry[2] not in found[entry[1]]:
            findings.append(("tools/lint/typed.txt", f"{entry[1]} does not say '{entry[2]}'"))
        else:
            by_page.setdefault(entry[1], []).append(entry[2])
    return by_page, findings


def check(root):
    found = {name: plain(text) for name, text in pages(root).items()}
    may_be, findings = check_allowed(root, found)
    for name, words in found.items():
        for typed in sorted(may_be.get(name, []), key=len, reverse=True):
            words = words.replace(typed, "·" * len(typed))
        for place, number in suspects(words):
            about = words[max(0, place - 40):place + len(number) + 25]
            findings.append((name, f"'{number}' looks measured and is typed: … {about} …"))
    return findings


if __name__ == "__main__":
    common.main(check)
