"""Runs the steps of a session in one shell, and tells what came of each.

After each command the shell prints a mark, in which a word is that no command can know, on both of
its streams: what lies between two marks was printed by one command.
"""
import os
import pty
import re
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from processor import has_avx2  # noqa: E402  (it lies beside)

SECONDS = 600  # for what hangs: a session takes a few, but not on every machine
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = "docs/examples"  # what a page may read, from the root of the tree
KEPT = ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR")


def environment(build, home, beside, on_terminal):
    """Nothing of the user's own but what a build needs: a home, and a place, for each session."""
    env = {key: value for key, value in os.environ.items() if key in KEPT}
    libraries = ":".join(filter(None, [str(build), env.get("LD_LIBRARY_PATH")]))
    env.update(PATH=f"{build / 'cli'}:/usr/local/bin:/usr/bin:/bin", LD_LIBRARY_PATH=libraries,
               PKG_CONFIG_PATH=str(build / "meson-uninstalled"), HERE=str(beside), HOME=str(home),
               XDG_STATE_HOME=str(home / "state"), XDG_CONFIG_HOME=str(home / "config"),
               LC_ALL="C", TZ="UTC", OMP_NUM_THREADS="2")
    if has_avx2():  # a transcript shows all digits, and the last ones depend on the kernels
        env["OPENBLAS_CORETYPE"] = "Haswell"
    if on_terminal:
        env.update(TERM="dumb", NO_COLOR="1", COLUMNS="80")
    return env


def script(session, word, words):
    """The shell script: the commands as they are, a mark after each that keeps its exit code."""
    also = "" if session.on_terminal else f"echo {word} $1 >&2; "
    lines = [f"mark_{word}() {{ set -- $?; echo {word} $1; {also}return $1; }}"]
    if not session.on_terminal and words.exists():
        lines.append(f'. "{words}"')
    for step in session.steps():
        lines += [step.command, f"mark_{word}"]
    return "\n".join(lines) + "\n"


def listen(process, streams, deadline):
    """All that comes out of the streams until they end; or until the time is up."""
    texts = {stream: b"" for stream in streams}
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(max(0, deadline - time.monotonic())):
                try:
                    piece = os.read(key.fd, 65536)
                except OSError:  # how Linux says that nobody has the terminal open any more
                    piece = b""
                texts[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
        late = bool(selector.get_map())
    if late:
        os.killpg(process.pid, signal.SIGKILL)
    return [texts[stream] for stream in streams], late


def converse(text, folder, env, on_terminal):
    """(what came out of each stream, the shell's exit code, whether it was too late)"""
    pipes = [pty.openpty()] if on_terminal else [os.pipe(), os.pipe()]
    theirs = [pipe[1] for pipe in pipes]
    process = subprocess.Popen(["sh", "-c", text], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=theirs[0], stderr=theirs[-1], start_new_session=True)
    try:
        for end in theirs:
            os.close(end)
        outs, late = listen(process, [pipe[0] for pipe in pipes], time.monotonic() + SECONDS)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        process.wait()
        for ours, _ in pipes:
            os.close(ours)
    return outs, process.returncode, late


def cut(stream, word):
    """([(what a command printed, its exit code)], what came after the last mark)"""
    found = re.split(rf"{word} (\d+)\n", stream)
    return list(zip(found[0:-1:2], map(int, found[1::2]))), found[-1]


def results(streams, word, code, count):
    """What each of `count` steps printed and how it ended; None: the shell ended before it."""
    cuts = [cut(stream, word) for stream in streams]
    done = min(len(marked) for marked, _ in cuts)
    found = [(*(marked[i][0] for marked, _ in cuts), cuts[0][0][i][1]) for i in range(done)]
    rest = [after for _, after in cuts]
    if done < count:  # it ended the shell
        found.append((*rest, code))
    else:  # what went on in the background belongs to the last one
        *texts, last = found[-1]
        found[-1] = (*(text + more for text, more in zip(texts, rest)), last)
    return found + [None] * (count - len(found))


def run(build, session, beside):
    """(for each step its (stdout, stderr, exit code) or None, whether the time was up)

    The streams of a terminal are one: (what it showed, exit code) there.
    """
    word = f"mark{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="cloister-") as name:
        folder = Path(name).resolve()
        home, here = folder / "home", folder / "here"
        home.mkdir()
        here.mkdir()
        if session.on_terminal:
            (here / EXAMPLES).parent.mkdir()
            (here / EXAMPLES).symlink_to(ROOT / EXAMPLES)
        env = environment(build, home, beside, session.on_terminal)
        text = script(session, word, beside / "words.sh")
        outs, code, late = converse(text, here, env, session.on_terminal)
    streams = [out.decode("utf-8", "replace").replace(str(folder), "FOLDER") for out in outs]
    if session.on_terminal:
        streams = [stream.replace("\r\n", "\n") for stream in streams]
    return results(streams, word, code, len(session.steps())), late
