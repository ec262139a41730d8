#!/usr/bin/env python3
"""Runs transcripts: documents that say what is typed and what comes of it, and are held to it.

A .t file is prose, and below it what a user does, indented by two blanks:

    ## Refuses a ragged line

    The heading is the name of a case.  Each case starts in an empty folder with a home of its own;
    the words of words.sh, which lies beside the file, are known in it.

      $ printf 'a,b\\n1\\n' > ragged.csv
      $ cloister run kmeans ragged.csv --epsilon 1 --norm 1 --no-ledger \\
      >     -o out.json
      ! cloister: ragged.csv, line 2: 2 cells were expected, as on the first line, and 1 found
      [exit 3]

`$` is a command and `>` goes on with it; `!` is a line on stderr, and any other a line on stdout;
[exit N] is the exit code where that is not 0.  Each command is held to both streams, whole, and to
its exit code.  An empty line between two lines of output is an empty line of stdout.  `…` stands
for any text, on a line of its own for any lines; {{...}} holds a regular expression; FOLDER stands
for the case's own folder; a last line without its end is marked ` (no-eol)`.

Of a Markdown page the blocks ```console are the same, as a reader sees them on a terminal: no `!`,
both streams in one.  A block ```c or ```python is a file, whose name its first line says.  The
page has one folder, and each of its commands is a case.  Below `<!-- noise -->` any number stands
for each number of a block: the page shows one draw.

usage: run.py [--update] BUILD_FOLDER FILE [WORDS ...]
       WORDS: only the cases whose names have them
       --update writes into the file what comes out now; read it before you keep it
"""
import difflib
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import expected  # noqa: E402
import pages  # noqa: E402
import shell  # noqa: E402

# What takes the place of the expected lines of a step that was not run.
NOT_RUN = ["(the shell had ended)"]


def judge(step, result, on_terminal):
    """None where the step went as the transcript says, else the lines that it should have."""
    if result is None:
        return NOT_RUN
    *streams, code = result
    lines = expected.loosened(step.expected) if step.noise else step.expected
    wanted = expected.parse(lines, on_terminal)
    lines = [wanted.out, wanted.err]
    if code == wanted.code and all(map(expected.fits, lines, streams)):
        return None
    if step.noise:  # what came is shown as it is
        found = list(map(expected.split, streams))
    else:
        found = list(map(expected.settled, lines, streams))
    found += [[]] * (2 - len(streams))
    return expected.render(expected.Output(*found, code))


def explain(path, step, lines, on_terminal):
    """What is said of a step that went otherwise."""
    typed = step.command.splitlines()[0]
    wanted = expected.render(expected.parse(step.expected, on_terminal))
    return [f"{path.name}, line {step.line + 1}: {typed}",
            *difflib.unified_diff(wanted, lines, "expected", "what came", lineterm="")]


def rewrite(path, lines, corrections):
    """Puts what came in the place of what was expected, from the last step to the first."""
    for step, actual in sorted(corrections, key=lambda c: -c[0].line):
        lines[step.begin():step.end] = [(step.indent + line).rstrip() for line in actual]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_session(build, path, session, report):
    """Runs a session and reports its tests; what to write in place of what did not come."""
    outcomes, late = shell.run(build, session, path.parent)
    outcomes = iter(outcomes)
    corrections = []
    for test in session.tests:
        wrong = [f"did not end within {shell.SECONDS} seconds"] if late else []
        for step in test.steps:
            lines = judge(step, next(outcomes), session.on_terminal)
            if lines is not None:
                wrong += explain(path, step, lines, session.on_terminal)
                if lines is not NOT_RUN and not late:
                    corrections.append((step, lines))
        report(test.name, wrong)
    return corrections


def has_words(session, words):
    """A page is one story and cannot be told in part; of a .t file some cases can be run alone."""
    names = " ".join(test.name for test in session.tests)
    return all(word in names for word in words)


def run_file(build, path, words, update, announce, report):
    """Runs the cases that have the words: announces how many, reports each."""
    lines = path.read_text(encoding="utf-8").splitlines()
    read = pages.page if path.suffix == ".md" else pages.transcript
    sessions = [session for session in read(lines) if has_words(session, words)]
    announce(sum(len(session.tests) for session in sessions))
    corrections = []
    for session in sessions:
        corrections += check_session(build, path, session, report)
    if update and corrections:
        rewrite(path, lines, corrections)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    build, path = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup's shall not be the commands'
    verdicts = []

    def report(name, wrong):
        verdicts.append(not wrong)
        print(f"{'not ok' if wrong else 'ok'} {len(verdicts)} - {name}")
        print("".join(f"# {line}\n" for line in wrong), end="", flush=True)

    try:
        run_file(build, path, arguments[2:], "--update" in sys.argv,
                 lambda count: print(f"1..{count}", flush=True), report)
    except pages.Malformed as error:
        sys.exit(f"{path.name}, {error}")
    return 0 if verdicts and all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
