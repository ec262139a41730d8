"""A copy of the tree where faults are planted, built and shown to test programs.

The copy is built once, without a fault.  For a fault in a source file that file alone is compiled
again, to an object of its own, and linked into a test program ahead of the library: the linker then
takes nothing from the library's object of that file.  Neither the archive nor any other program is
made anew, so that a fault costs half a second and the time of the programs that look at it.  A
fault in a header is compiled into every object that has it.
"""
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

LEFT_OUT = {"build", ".git", "__pycache__"}  # of the tree
NEVER = {"-MD", "-MMD", "-Werror"}       # of a compiler's words
WITH_WORD = {"-MQ", "-MF", "-MT", "-o", "-c"}


def renew(source, target):
    """Copies a file where it has changed, so that ninja builds again only what it must."""
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def mirror(source, target):
    wanted = {path.relative_to(source) for path in source.rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    for path in wanted:
        renew(source / path, target / path)
    for path in list(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()


def quietly(command, folder, what):
    done = subprocess.run(command, cwd=folder, env={**os.environ, "CC": "gcc"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise RuntimeError(f"{what} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def plain(words):
    """A compiler's command without what it writes and where, nor a cache before it."""
    kept, skip = [], False
    for word in words[1:] if Path(words[0]).name == "ccache" else words:
        if skip or word in NEVER:
            skip = False
        elif word in WITH_WORD:
            skip = True
        else:
            kept.append(word)
    return kept


def changed_inlines(before, after):
    """The inline functions of a header whose bodies differ, and those that call them; None where
    something else differs."""
    form = re.compile(r"^static inline [^;{]*?\b(\w+)\([^;{]*\)\n\{\n.*?^\}\n", re.M | re.S)
    bodies = [{m[1]: m[0] for m in form.finditer(text)} for text in (before, after)]
    if form.sub("", before) != form.sub("", after) or bodies[0].keys() != bodies[1].keys():
        return None
    names = {name for name in bodies[0] if bodies[0][name] != bodies[1][name]}
    while True:
        more = {name for name, body in bodies[1].items()
                if re.search(rf"\b({'|'.join(names)})\b", body)} - names
        if not more:
            return names
        names |= more


def watch(program, folder, environment, limit):
    """Runs a cmocka program until its first failure: how it failed, or None; and the seconds of a
    core that it took if it was not stopped.  It may take `limit` of these; on a busy machine many
    more by the clock, which must not look like a failure."""
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2",
                   "CMOCKA_MESSAGE_OUTPUT": "TAP", **environment}
    end, rest = time.monotonic() + 60 + 10 * limit, b""
    command = ["sh", "-c", f"ulimit -t {int(limit) + 1}; exec {shlex.quote(str(program))}"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as child:
        def stop(why):
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            return why, None

        with selectors.DefaultSelector() as ready:
            ready.register(child.stdout, selectors.EVENT_READ)
            while True:
                if not ready.select(max(0, end - time.monotonic())):
                    return stop("time")  # it waits for ever, which is noticed too
                some = os.read(child.stdout.fileno(), 65536)
                if not some:
                    break
                *lines, rest = (rest + some).split(b"\n")
                if any(line.startswith(b"not ok") and b"# SKIP" not in line for line in lines):
                    return stop("test")
        done = 0
        while not done:
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            if not done and time.monotonic() > end:
                return stop("time")
            time.sleep(0 if done else 0.01)
        code = child.returncode = os.waitstatus_to_exitcode(status)
        seconds = round(usage.ru_utime + usage.ru_stime, 2)
        if code == 0:
            return None, seconds
        return "time" if code in (-signal.SIGXCPU, -signal.SIGKILL) else "end", seconds


class Workshop:
    """A built tree.  Faults may be planted from several threads, each with a bench of its own."""

    def __init__(self, tree, build):
        self.tree, self.build = Path(tree), Path(build)
        self.seconds, self.commands, self.links = {}, {}, {}
        self.store = self.digest = None

    @classmethod
    def of_copy(cls, root, home):
        """A copy of the tree, brought up to date; so that the tree may change meanwhile."""
        shop = cls(home / "tree", home / "tree" / "build" / "mutants")
        shop.tree.mkdir(parents=True, exist_ok=True)
        for source in root.iterdir():
            if source.name in LEFT_OUT or source.name.startswith("build-"):
                continue
            if source.is_dir():
                mirror(source, shop.tree / source.name)
            else:
                renew(source, shop.tree / source.name)
        setup = ["meson", "setup", str(shop.build), str(shop.tree)]
        if (shop.build / "build.ninja").exists():
            setup.append("--reconfigure")  # tests are found by their names
        quietly([*setup, "-Dfault_injection=true", "-Dwerror=true"], root, "configure")
        return shop

    def make(self, programs):
        """Builds programs without a fault, and reads how that is done."""
        quietly(["ninja", "-C", str(self.build), *(f"tests/{name}" for name in programs)],
                self.tree, "build")
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            self.commands[entry["output"]] = (
                (self.build / entry["file"]).resolve().relative_to(self.tree.resolve()),
                plain(shlex.split(entry["command"])))
        for name in programs:
            self.links[name] = shlex.split(
                quietly(["ninja", "-C", str(self.build), "-t", "commands", "-s", f"tests/{name}"],
                        self.tree, "build").strip().splitlines()[-1])

    def readers(self, header, text):
        """The objects that a header's new text is compiled into: those that read it and, where only
        bodies of inline functions changed, name one of these, or read a header that does."""
        read, this = {}, None
        for line in quietly(["ninja", "-C", str(self.build), "-t", "deps"], self.tree,
                            "deps").splitlines():
            if not line.startswith(" "):
                this = read[line.split(":")[0]] = set()
            elif line.strip():
                this.add(os.path.realpath(self.build / line.strip()))
        own = os.path.realpath(self.tree / header)
        names = changed_inlines((self.tree / header).read_text(encoding="utf-8"), text)
        found, mentions = [], {}
        for output, files in read.items():
            for path in files if own in files else ():
                if path not in mentions and path.startswith(os.path.realpath(self.tree)):
                    mentions[path] = path != own and (names is None or re.search(
                        rf"\b({'|'.join(names)})\b", Path(path).read_text(encoding="utf-8")))
            if own in files and any(mentions.get(path) for path in files):
                found.append(output)
        return found

    def compile(self, bench, output, source, extra=()):
        """One object of the build from another source: its path, or what the compiler said."""
        target = bench / Path(output).name
        _, words = self.commands[output]
        done = subprocess.run([*words[:1], *extra, *words[1:], "-w", "-o", str(target), "-c",
                               str(source)], cwd=self.build, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return (target, None) if done.returncode == 0 else (None, done.stdout)

    def objects_with(self, bench, file, text):
        """What of the build changes with a file's text: {object of the build: new one}."""
        file = Path(file)
        if file.suffix == ".c":
            (bench / file.name).write_text(text, encoding="utf-8")
            todo = [(output, bench / file.name, ["-iquote", str(self.tree / file.parent)])
                    for output, (source, _) in self.commands.items()
                    if source == file and ("libcloister.a.p" in output
                                           or output.startswith("tests/"))]
        else:  # found before the true one, since nothing is included by its bare name
            place = bench / "over" / file.relative_to("src")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            todo = [(output, self.tree / self.commands[output][0], [f"-I{bench / 'over'}"])
                    for output in self.readers(file, text)
                    if "libcloister.a.p" in output or output.startswith("tests/")
                    and Path(output).parent.name[:-2] in self.links]
        made = {}
        for output, source, extra in todo:
            made[output], said = self.compile(bench, output, source, extra)
            if said:
                return None, said
        return made, None

    def link(self, bench, name, made):
        """A test program with objects in the place of those of the build."""
        words = list(self.links[name])
        program = bench / name
        at = words.index("-o")
        mine = [str(made.pop(word, word)) for word in words[at + 2:]]
        words = [*words[:at], "-o", str(program), *(str(new) for old, new in made.items()
                                                    if "libcloister.a.p" in old), *mine]
        quietly(words, self.build, f"link of {name}")
        return program

    def run(self, program, limit=600):
        environment = {"GOLDEN_RELEASES": str(self.tree / "tests" / "golden" / "releases")}
        return watch(program, self.tree, environment, limit)

    def sound(self, name):
        """Without a fault every program must pass, or it would notice anything."""
        if name not in self.seconds:
            how, self.seconds[name] = self.run(self.build / "tests" / name)
            if how:
                raise RuntimeError(f"{name} fails without any fault")
            self.keep()

    def keep(self):
        if self.store:
            known = {name: [self.digest(name), taken] for name, taken in self.seconds.items()}
            self.store.write_text(json.dumps(known, indent=1), encoding="utf-8")

    def remember(self, store, digest):
        """Which programs were sound, over several runs: digest(name) is of all that matters."""
        self.store, self.digest = store, digest
        known = json.loads(store.read_text()) if store.exists() else {}
        self.seconds = {name: taken for name, (was, taken) in known.items() if was == digest(name)}

    def plant(self, bench, file, text, programs):
        """What came of a fault: how it ended, and who noticed."""
        shutil.rmtree(bench, ignore_errors=True)
        bench.mkdir(parents=True)
        try:
            made, said = self.objects_with(bench, file, text)
            if said:
                return {"end": "does not build", "said": said[-1500:]}
            for name in programs:
                self.sound(name)
                program = self.link(bench, name, dict(made))
                how, _ = self.run(program, 20 + 10 * self.seconds[name])
                if how:
                    return {"end": "noticed", "by": name, "how": how}
                program.unlink()
            return {"end": "survived"}
        finally:
            shutil.rmtree(bench, ignore_errors=True)
