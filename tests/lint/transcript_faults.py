#!/usr/bin/env python3
"""A transcript with a fault planted in it must fail, and one without must pass: what the suites cli
and docs hold, they hold by this.
"""
import sys
import tempfile
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "transcript"))

import pages  # noqa: E402
import run  # noqa: E402
import shell  # noqa: E402

SOUND = r"""# Sound

## Holds both streams and the exit code

  $ echo out; echo err >&2; false
  out
  ! err
  [exit 1]

## Goes on with a command, in one shell

Prose may stand between commands.

  $ word=kept
  $ cat << END
  > first
  >
  > last $word
  > END
  first

  last kept

## Takes empty lines, blanks and a line without its end

  $ printf '\n  a\n\nb \n\n'; echo >&2
  {{}}
    a

  b{{ }}
  {{}}
  !
  $ printf 'no end'
  no end (no-eol)

## Takes what may vary

  $ echo 2026-11-15; echo "some thing"; pwd; seq 9
  {{\d{4}}}-11-{{..}}
  some …
  FOLDER/here
  1
  …
  9

## Starts with nothing

  $ echo mine > "$HOME/file"; touch file; word=kept

## Starts with nothing again

  $ ls -A . "$HOME"; echo "$word"
  .:

  FOLDER/home:
  {{}}
"""

# the fault's name, what stands in its place, and what is said then
PLANTED = [
    ("a line too few", "  out\n  ! err", "  ! err", "+out"),
    ("a line too many", "  out\n  ! err", "  out\n  more\n  ! err", "-more"),
    ("a line on the other stream", "  out\n  ! err", "  ! out\n  ! err", "+out"),
    ("nothing on stderr", "  ! err\n", "", "+! err"),
    ("another exit code", "[exit 1]", "[exit 2]", "+[exit 1]"),
    ("no exit code", "  [exit 1]\n", "", "+[exit 1]"),
    ("an exit code that did not come", "  last kept\n", "  last kept\n  [exit 1]\n", "-[exit 1]"),
    ("a word otherwise", "  last kept\n", "  last left\n", "-last left"),
    ("an empty line too few", "    a\n\n  b{{ }}", "    a\n  b{{ }}", "+"),
    ("a blank too few", "  b{{ }}", "  b", "-b"),
    ("an end of line too many", "no end (no-eol)", "no end", "+no end (no-eol)"),
    ("a pattern that does not fit", r"{{\d{4}}}", r"{{\d{3}}}", r"-{{\d{3}}}-11-{{..}}"),
    ("a line that no … stands for", "  …\n  9\n", "  …\n  10\n", "-10"),
    ("a command that ends the shell", "  $ word=kept\n  $ cat", "  $ exit 0\n  $ cat",
     "+(the shell had ended)"),
    ("a shell that does not get through", "  $ word=kept\n", "  $ word=(\n", "[exit 2]"),
    ("a case that knows another", 'echo "$word"', 'echo "$word"; cat file', "No such file"),
]

MALFORMED = [
    ("output without a command", "## a\n\n  out\n", "no command above"),
    ("output after prose", "## a\n\n  $ true\n\nprose\n\n  out\n", "no command above"),
    ("a command above the first case", "# a\n\n  $ true\n", "above the first case"),
    ("a case without a command", "## a\n\n## b\n\n  $ true\n", "without a command"),
    ("two cases of one name", "## a\n\n  $ true\n\n## a\n\n  $ true\n", "second case"),
    ("an empty line within a command", "## a\n\n  $ cat << END\n\n  > END\n", "empty line within"),
    ("a line indented by one", "## a\n\n $ true\n", "neither prose"),
]

PAGE = """# Page

```python
# one.py - prints a word.
print("word")
```

```console
$ cd .; kept=yes; echo out; echo err >&2
o…t
err
$ python3 one.py; test -t 1 && \\
    echo $kept
word
yes
$ false
[exit 1]
```
"""


NOISE = """# Page

<!-- noise -->
```console
$ echo; echo "size 17 ## of 3 clusters"
{{}}
size 9 #### of 12 clusters
```
"""


def verdicts(text, suffix=".t", update=False):
    """{name of a test: what is said against it}, and the text afterwards."""
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"transcript{suffix}"
        path.write_text(text, encoding="utf-8")
        run.run_file(Path(folder), path, [], update, lambda count: None, said.__setitem__)
        return said, path.read_text(encoding="utf-8")


def passes(text, suffix=".t"):
    said, _ = verdicts(text, suffix)
    assert said and not any(said.values()), said


def fails(text, sentence, suffix=".t"):
    said, _ = verdicts(text, suffix)
    wrong = [lines for lines in said.values() if lines]
    assert len(wrong) == 1, wrong  # its own case, and no other
    assert any(line.startswith(sentence) or sentence in line for line in wrong[0]), wrong


def plant(right, wrong, sentence):
    assert SOUND.count(right) == 1, f"{right!r} is not there once"
    fails(SOUND.replace(right, wrong), sentence)


def malformed(text, sentence):
    try:
        verdicts(text)
    except pages.Malformed as error:
        assert sentence in str(error), error
    else:
        raise AssertionError("it was read")


def too_late():
    kept, shell.SECONDS = shell.SECONDS, 1
    try:
        fails("## a\n\n  $ echo before\n  before\n  $ sleep 30\n", "did not end within 1 second")
    finally:
        shell.SECONDS = kept


def update_mends():
    """Every planted fault that a reader could have typed is mended, and nothing else is touched."""
    for name, right, wrong, _ in PLANTED[:12]:
        text = SOUND.replace(right, wrong)
        said, mended = verdicts(text, update=True)
        assert any(said.values()), name
        passes(mended)
        assert len(set(mended.splitlines()) ^ set(SOUND.splitlines())) <= 2, (name, mended)
    assert verdicts(SOUND, update=True)[1] == SOUND


def update_quotes():
    """What looks like markup is written so that it stands for itself."""
    nasty = r"$ a\n> b\n! c\n[exit 3]\n!\n{{x}} …\n…\ntab\there \n\n\033[0m"
    _, text = verdicts(f"## a\n\n  $ printf '{nasty}'; printf '{nasty}' >&2\n", update=True)
    passes(text)
    assert not any(line != line.rstrip() or "\t" in line for line in text.splitlines()), text
    fails(text.replace("there", "where", 2).replace("where", "there", 1), "there")


def tests():
    yield "a sound transcript passes", lambda: passes(SOUND)
    for fault, *rest in PLANTED:
        yield f"finds {fault}", lambda rest=rest: plant(*rest)
    for fault, *rest in MALFORMED:
        yield f"does not read {fault}", lambda rest=rest: malformed(*rest)
    yield "finds a command that does not end", too_late
    yield "an update mends what is wrong and keeps the rest", update_mends
    yield "an update quotes what looks like markup", update_quotes
    yield "a sound page passes", lambda: passes(PAGE, ".md")
    yield "a page that shows one draw passes", lambda: passes(NOISE, ".md")
    yield "finds a word otherwise beside noise", lambda: fails(
        NOISE.replace("12 clusters", "12 centers"), "+size 17", ".md")
    yield "finds a number otherwise without noise", lambda: fails(
        NOISE.replace("<!-- noise -->\n", ""), "-size 9", ".md")
    for fault, right, wrong, sentence in [
            ("streams in another order", "o…t\nerr", "err\no…t", "+o…t"),
            ("another exit code", "[exit 1]\n", "", "+[exit 1]"),
            ("a line that did not come", "\nyes\n", "\nno\n", "-no"),
            ("a file that is otherwise", '"word"', '"work"', "+work")]:
        yield (f"finds on a page {fault}",
               lambda r=right, w=wrong, s=sentence: fails(PAGE.replace(r, w, 1), s, ".md"))


def main():
    """Prints TAP; true when every test passed."""
    listed, failed = list(tests()), 0
    print(f"1..{len(listed)}")
    for number, (name, test) in enumerate(listed, 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception:  # a runner that crashes has failed too
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            traceback.print_exc()
    return failed == 0


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
