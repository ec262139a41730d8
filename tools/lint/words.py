#!/usr/bin/env python3
"""Pages that can be read once: no sentence of more than 30 words, and none of the habits below, by
which English that is correct has to be read twice.  Each habit has the plain word beside it.

Read are the pages that users and newcomers meet: README, SECURITY, CHANGELOG and the like, docs/
and the man page.  Left out are the pages on papers and those that are made (by their templates in
bench/pages).  Code and quoted titles are left alone; a cell of a table is a sentence.

What the command and the library print is held to the habits, too: every string of C of four words
or more, but SQL, styles and what the test build says to its programmer.  No "try" of a message may
be an epsilon above 10; tests/cli/messages.t holds that.

usage: words.py [SOURCE_ROOT]            the findings
       words.py [SOURCE_ROOT] --report   for each page: sentences, share above 25 words, habits
"""
import re
import sys
from pathlib import Path

import common

LONGEST, LONG = 30, 25
TOP = ["README.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md",
       "RELEASING.md"]
PAPERS = {"papers", "reproduce"}
THEOREM = r"\b[a-z][a-z_]+\.T\d+\b"
THING = (r"(?:ask|block|byte|cell|cluster|column|day|entry|file|line|machine|method|minute|number|"
         r"part|pass|person|process|query|rank|record|round|row|run|second|thread|token|user|"
         r"value|worker|world)")
MANY = r"(?:an?|one|two|three|four|five|ten|twelve|\d+)"

# (what is found, what to write).  A pattern that begins with ^ is of the start of a sentence.
HABITS = [
    (r"^(?:Who|Whoever)\b(?!.*\?)", "'If you …' or 'Anyone who …'"),
    (r"[;:,] who (?:has|can|keeps|knows|wants|runs|sees|asks|starts|sets)\b(?<!those, who)",
     "'anyone who …'"),
    (r"\b(?:for|by|to) who\b", "'for anyone who …'"),
    (rf"\b{MANY} \w+ an? {THING}\b(?! (?:of|in|from|that|with))", "'one X per Y'"),
    (r"\btold apart\b|\btells? (?:apart|it|that|which|whether|how|nothing|everything|none|a|an)\b"
     r"|\b(?:is|are|be) told\b(?! (?:you|to))|\bcannot tell\b", "'shows', 'reveals', 'finds'"),
    (r"(?<!count )(?<!counts )\bfor nothing\b", "'without spending budget'"),
    (r"\bunless you say\b|\bmust be said\b|\bmust say\b|\bto say\b|\bsay it\b"
     r"|\bsay (?:`|how much)", "'pass', 'give', 'state'"),
    (r"\bpresets?\b", "'default'"),
    (r"\b(?:first|each|every|one|open|last|later|more) questions?\b(?!\?)"
     r"|\b(?:data|are|is) asked\b", "'query', 'queried'"),
    (r"^Of (?!course)", "begin with the subject"),
    (r", (?:too|as well)[.;:,)]", "'also' before the verb, or nothing"),
    (r"^Where\b(?!.*\?)|[;,] where (?:that|it|there|this) is\b|\bwhere (?:none|nothing) is\b",
     "'if', 'when'"),
    (r"^What\b(?!.*\?|.{0,40}:| an engine sees).*\.$", "name the thing"),
    (r"\bnor\b|\bdoes not live through\b|^Not covered", "say what is, first"),
    (r"\bto be had\b|\bcomes? on top\b|\bby so much\b|\bkeeps? (?:its|their|his) word\b"
     r"|\bthe books\b|\ball the same\b|\bso many are\b|\bof the house\b|\bgives? out\b"
     r"|\bworth its while\b|\bas a rule\b|\bis of no use\b|\bthe same manners\b|\bhalf way\b",
     "a plain word"),
    (r"\b(?:rank 0|memory|rows|sums|name|tasks?|trace|ε|data|release|plan|files?) alone\b",
     "'only …'"),
    (r"\bcentres?\b|\bcentred\b", "'center', as the options have it"),
    (r"\bneighbour", "'neighbor', as the option has it"),
    (r"\bin place of\b", "'instead of'"),
]
HABITS = [(re.compile(p, re.M), plain) for p, plain in HABITS]

CODE = re.compile(r"^( *)(```|~~~).*?^ *\2[`~]*$", re.S | re.M)
# A name that ends with a full stop and goes on is not the end of a sentence.
STOP = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[)\"*_']*\s+(?=[\"'(*`A-Z0-9ε·Σ]|cloister\b)")


def markdown_blocks(text):
    """(text of a paragraph, entry or cell, whether it is a cell)."""
    text = CODE.sub("\n\n", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"<picture>.*?</picture>|</?[a-z]+>", "", text, flags=re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M) if "\n\n    " in text else text
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=#)", text):
        rows = [line for line in block.strip().splitlines() if line.lstrip().startswith("|")]
        for row in rows:
            for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")):
                if cell.strip(" -:"):
                    yield cell.strip(), True
        rest = "\n".join(line for line in block.splitlines() if line not in rows)
        if rest.strip() and not rest.lstrip().startswith("#"):
            yield re.sub(r"^\s*(?:[-*]|\d+\.) ", "", rest.strip()), False


def manual_blocks(text):
    """The same of a page in roff: what stands between two of its headings and breaks."""
    text = re.sub(r'^\.\\".*$', "", text, flags=re.M)
    text = re.sub(r"^\.nf$.*?^\.fi$", "\n.PP\n", text, flags=re.M | re.S)
    for block in re.split(r"^\.(?:PP|TP|SH|SS|TH|RS|RE).*$", text, flags=re.M):
        words = re.sub(r"^\.[A-Z]{1,2} ", "", block, flags=re.M)
        words = re.sub(r"\\f[A-Z]|[\"]", "", words).replace("\\-", "-")
        if words.strip():
            yield words.strip(), False


def plain(block):
    block = re.sub(r"\{\{holds .+?\}\}", "", block, flags=re.S)
    block = re.sub(r"\{\{.+?\}\}|`` ?.+? ?``|`[^`]+`", "·", block, flags=re.S)
    block = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", block)
    block = re.sub(r"https?://\S+", "·", block)
    return " ".join(re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", block).split())


def sentences(path, text):
    blocks = manual_blocks(text) if path.suffix == ".in" else markdown_blocks(text)
    return [(s, cell) for block, cell in blocks for s in STOP.split(plain(block)) if s.strip()]


def length(sentence):
    return len([word for word in sentence.split() if re.search(r"[\w·]", word)])


def theorems_allowed(name):
    """The pages whose readers look for a proof: of the users' pages only the tables on attacks."""
    return name in {"ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md",
                    "docs/site/proofs.md"} \
        or name.startswith("docs/security/")


def check_page(name, text):
    text = text.split("## In the code only")[0]  # the words of the code, in the glossary
    for sentence, _ in sentences(Path(name), text):
        about = " ".join(sentence.split()[:9])
        if length(sentence) > LONGEST:
            yield name, f"'{about} …' has {length(sentence)} words; {LONGEST} are allowed"
        for habit, better in HABITS:
            for found in habit.finditer(sentence):
                if found[0].strip():
                    yield name, f"'{found[0].strip()}' in '{about} …': write {better}"
    if not theorems_allowed(name):
        for found in re.findall(THEOREM, CODE.sub("", text)):
            yield name, f"{found}: theorems do not stand on a page for users; link the proof"


def pages(root):
    found = [root / name for name in TOP] + common.files(root, ["docs"], "*.md", "*.1.in")
    found += common.files(root, ["bench/pages"], "*.md")
    return {str(path.relative_to(root)): text for path in found
            if path.exists() and not PAPERS & set(path.relative_to(root).parts)
            for text in [path.read_text(encoding="utf-8")]
            if not text.startswith("<!-- made by ")}


def check(root, *_):
    found = [finding for name, text in pages(root).items() for finding in check_page(name, text)]
    return found + list(check_messages(root))


# Strings of C, those that follow each other joined; comments and characters are passed over.
LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])\'|'
                     r'("(?:\\.|[^"\\\n])*"(?:\s*(?:\\\n\s*)?"(?:\\.|[^"\\\n])*")*)', re.S)
PIECE = re.compile(r'"((?:\\.|[^"\\\n])*)"')
UNSPOKEN = re.compile(r"\b(?:SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA|ALTER|DROP|RAISE)\b"
                      r"|\{--|<[a-z]")
TO_PROGRAMMERS = {"witness.c", "pairs.def", "planted.h"}
# What a page avoids and a message may say: "neither a number nor a word".
OF_PAGES = {"say what is, first", "name the thing", "'default'"}


def strings(text):
    """What the strings of a C file say, without escapes and formats."""
    text = re.sub(r"^\s*#\s*include.*$", "", text, flags=re.M)
    for literal in LITERAL.finditer(text):
        said = "".join(PIECE.findall(literal[1] or ""))
        said = re.sub(r"%[-+ #0-9.*]*(?:ll|z|h|l)?[a-zA-Z]", "·", said.replace("\\n", "\n"))
        if len(said.split()) > 3 and not UNSPOKEN.search(said):
            yield said


def check_strings(name, text):
    for said in strings(text):
        for sentence in STOP.split(" ".join(said.split())):
            for habit, better in HABITS:
                found = habit.search(sentence) if better not in OF_PAGES else None
                if found and found[0].strip():
                    about = " ".join(sentence.split()[:9])
                    yield name, f"'{found[0].strip()}' in the string '{about} …': write {better}"


def check_messages(root):
    for path in common.files(root, ["src", "cli", "include", "mpi"], "*.c", "*.h", "*.def"):
        if path.name not in TO_PROGRAMMERS:
            yield from check_strings(str(path.relative_to(root)),
                                     path.read_text(encoding="utf-8", errors="replace"))


def report(root):
    print(f"{'page':<40}{'sentences':>10}{'over 25':>9}{'over 30':>9}{'habits':>8}")
    for name, text in pages(root).items():
        lengths = [length(s) for s, _ in sentences(Path(name), text)] or [0]
        long, longest = (sum(n > limit for n in lengths) for limit in (LONG, LONGEST))
        habits = len(list(check_page(name, text))) - longest
        print(f"{name:<40}{len(lengths):>10}{long / len(lengths):>9.1%}{longest:>9}{habits:>8}")


if __name__ == "__main__":
    if "--report" in sys.argv:
        sys.argv.remove("--report")
        report(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    else:
        common.main(check)
