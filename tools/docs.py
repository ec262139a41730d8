#!/usr/bin/env python3
"""Builds the site: lays out the pages of the tree for Sphinx in build/docs/source, and runs it.

  pages     docs/, proofs/, SECURITY.md, ... as they are, but for links to theorems, which are made
  contents  the lists of docs/index.md, as the site's own
  command   the man page, by mandoc
  C         the headers, by Doxygen and Breathe
  Python    the docstrings, by numpydoc, of the package that the wheel installs

A warning of Sphinx's is a failure.  The pages are in build/docs/html then.

usage: tools/docs.py CLOISTER     CLOISTER: the built command, whose man page is beside it
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import wheel

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "docs"
SOURCE = HOME / "source"
PAGES = ["SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/PEERS.md",
         "bench/BINGHAM.md"]
THEOREM = re.compile(r"(?<![\w/`\[.-])([a-z][a-z0-9_]*)\.T(\d+)(?![\w`])")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


# ---- pages ---------------------------------------------------------------------------------------

def theorems():
    """The theorems that have a heading of their own."""
    found = set()
    for path in (ROOT / "proofs").glob("*.md"):
        found |= set(re.findall(r"^## ([a-z0-9_]+\.T\d+)", path.read_text(encoding="utf-8"), re.M))
    return found


def label(name):
    return name.replace(".", "-").lower()


def link_theorems(text, known):
    """Where a theorem is named, a link to it; at its heading, what links lead to."""
    lines, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = re.match(r"## ([a-z0-9_]+\.T\d+)", line)
        if heading and not fenced:
            lines.append(f"({label(heading[1])})=")
        elif not fenced and not line.startswith("#"):
            pieces = re.split(r"(`[^`]*`)", line)  # code stays as it is
            pieces[::2] = [THEOREM.sub(lambda m: f"[{m[0]}](#{label(m[0])})" if m[0] in known
                                       else m[0], piece) for piece in pieces[::2]]
            line = "".join(pieces)
        lines.append(line)
    return "\n".join(lines) + "\n"


def settle_links(text, here, there=None):
    """Links from the folder `here` of the tree, for a page in the folder `there` of the site; one
    to what is no page of the site becomes plain words."""
    def settled(match):
        target = os.path.normpath(here / match[2])
        if not target.endswith(".md") or not (ROOT / target).exists() or target == "README.md":
            return match[1]
        way = os.path.relpath(ROOT / target, ROOT / (there or here))
        return f"[{match[1]}]({way}{match[3] or ''})"
    return LINK.sub(settled, text)


def place(path, known):
    """One page, with its links settled, at the place that it has in the tree."""
    relative = path.relative_to(ROOT)
    text = path.read_text(encoding="utf-8")
    text = settle_links(link_theorems(text, known), relative.parent)
    out = SOURCE / relative
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


def lay_out():
    known = theorems()
    shutil.rmtree(SOURCE, ignore_errors=True)
    pages = [ROOT / name for name in PAGES]
    for folder in ("docs", "docs/tutorial", "docs/guides", "docs/papers", "docs/reproduce",
                   "proofs"):
        pages += sorted((ROOT / folder).glob("*.md"))
    for page in pages:
        if page.relative_to(ROOT) != Path("docs/index.md"):
            place(page, known)
    for page in (ROOT / "docs" / "site").glob("*.md"):
        (SOURCE / page.name).write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copy(ROOT / "docs" / "site" / "conf.py", SOURCE)
    shutil.copytree(ROOT / "docs" / "pictures", SOURCE / "pictures")
    shutil.copytree(ROOT / "docs" / "reproduce" / "pictures",
                    SOURCE / "docs" / "reproduce" / "pictures")
    proofs = sorted(path.stem for path in (ROOT / "proofs").glob("*.md") if path.stem != "README")
    listed = "\n".join(f"proofs/{name}" for name in proofs)
    with open(SOURCE / "proofs.md", "a", encoding="utf-8") as file:
        file.write(f"\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")


# ---- contents ------------------------------------------------------------------------------------

def sections():
    """The headings of docs/index.md, each with the pages of the tree that it lists."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        heading = part.split("\n", 1)[0]
        targets = [os.path.normpath(Path("docs") / match[2]) for match in LINK.finditer(part)]
        yield heading, [target for target in targets if target.endswith(".md")]


def lay_out_contents():
    """A page of the site for each heading; the reference has also what is made here."""
    for heading, targets in sections():
        listed = [target.removesuffix(".md") for target in targets]
        if heading == "Reference":
            listed[1:1] = ["reference-command", "reference-python", "reference-c"]
        (SOURCE / f"{heading.lower()}.md").write_text(
            f"# {heading}\n\n```{{toctree}}\n:maxdepth: 1\n\n" + "\n".join(listed) + "\n```\n",
            encoding="utf-8")


# ---- reference -----------------------------------------------------------------------------------

def lay_out_command(cloister):
    """The man page; sections become headings below the title of the page."""
    page = cloister.parent.parent / "docs" / "cloister.1"
    text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", page], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    text = re.sub(r'<table class="(head|foot)">.*?</table>', "", text, flags=re.S)
    text = re.sub(r"<(/?)h([12])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", text)
    text = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", text, flags=re.S)
    text = re.sub(r"\n\s*\n", "\n", text)  # an empty line would end the block
    (SOURCE / "reference-command.md").write_text(
        "# The command\n\nThis is `man cloister`.\n\n```{raw} html\n" + text + "\n```\n",
        encoding="utf-8")


def doxygen_comment(match):
    """A comment of ours as one that Doxygen reads: of what follows, or of what stands before."""
    before, body = match[1], match[2]
    if re.match(r"\s*----", body):
        return match[0]
    lines = body.split("\n")
    out, inside = [], False
    for line in lines:
        bare = re.sub(r"^\s*\* ?", "", line) if out else line
        verbatim = bare.startswith("  ") and bool(out)
        if verbatim != inside:
            out.append("@verbatim" if verbatim else "@endverbatim")
            inside = verbatim
        out.append(bare if inside else re.sub(r"[@\\<>#]", lambda m: "\\" + m[0], bare))
    if inside:
        out.append("@endverbatim")
    kind = "/**<" if before.strip() else "/**"
    return f"{before}{kind} " + "\n".join(out) + " */"


def filtered_headers():
    """The public headers with comments that Doxygen takes, in a folder of their own."""
    folder = HOME / "headers" / "cloister"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for header in sorted((ROOT / "include" / "cloister").glob("*.h")):
        text = header.read_text(encoding="utf-8")
        head, rest = text.split("*/", 1)
        what = re.sub(r"^\s*/?\*+ ?", "", head, flags=re.M).strip()
        rest = re.sub(r"([^\n]*?)/\*(?!\*)(.*?)\*/", doxygen_comment, rest, flags=re.S)
        what = re.sub(r"[@\\<>#]", lambda m: "\\" + m[0], what.split("\n\n")[0])
        (folder / header.name).write_text(f"/** @file\n{what}\n*/{rest}", encoding="utf-8")
    return folder


def run_doxygen():
    folder = filtered_headers()
    settings = {
        "INPUT": folder, "OUTPUT_DIRECTORY": HOME / "doxygen", "GENERATE_XML": "YES",
        "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO", "OPTIMIZE_OUTPUT_FOR_C": "YES",
        "MACRO_EXPANSION": "YES", "EXPAND_ONLY_PREDEF": "YES", "MARKDOWN_SUPPORT": "NO",
        "PREDEFINED": "CLO_API= CLO_CHECK= CLO_INLINE=", "QUIET": "YES", "WARNINGS": "NO",
        "EXTRACT_ALL": "YES", "SORT_MEMBER_DOCS": "NO", "TYPEDEF_HIDES_STRUCT": "YES",
        "EXTRACT_STATIC": "NO",
    }
    (HOME / "doxygen").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    subprocess.run(["doxygen", "-"], input=lines, text=True, check=True)
    order = ["cloister", "job"] + sorted(h.stem for h in folder.glob("*.h")
                                         if h.stem not in ("cloister", "job"))
    parts = [f"## cloister/{name}.h\n\n```{{doxygenfile}} {name}.h\n:project: cloister\n"
             ":sections: briefdescription detaileddescription innerclass define enum typedef func "
             "user-defined\n```\n" for name in order]
    (SOURCE / "reference-c.md").write_text(
        "# The C library\n\nThe public headers, as they are; the example is in "
        "[cloister from C](docs/c.md).\n\n" + "\n".join(parts), encoding="utf-8")


def main():
    cloister = Path(sys.argv[1]).resolve()
    folder = wheel.environment("docs", "docs")
    built = wheel.build(wheel.HOME / "wheel")
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--force-reinstall", "--no-deps", built], check=True)
    lay_out()
    lay_out_contents()
    lay_out_command(cloister)
    run_doxygen()
    version = subprocess.run([cloister, "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.split()[1]
    environment = {**os.environ, "CLOISTER_VERSION": version,
                   "DOXYGEN_XML": str(HOME / "doxygen" / "xml")}
    ended = subprocess.run([folder / "bin" / "sphinx-build", "-W", "--keep-going", "-q", "-b",
                            "html", SOURCE, HOME / "html"], env=environment, check=False)
    if ended.returncode == 0:
        print((HOME / "html" / "index.html").relative_to(ROOT))
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
