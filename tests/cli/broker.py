#!/usr/bin/env python3
"""A broker and many users of one machine: caps of each, exactly; killed brokers; hostile clients;
and that nobody keeps the others waiting, by the order of service and not by a clock.

    broker.py CLOISTER [CASE ...]

Needs root, to be several users; without it every case is skipped, with that reason.  Prints TAP.
"""
import fcntl
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

OK, ARGUMENT, BUDGET, INTERNAL, BUSY = 0, 1, 6, 11, 14  # of clo_status
FIRST_USER = 61000  # numbers that no account has; the policy names them by number
LONG = 600  # seconds after which something hangs, on a slow and busy machine too


def frame(pairs):
    body = b"".join(n.encode() + b"\0" + v.encode() + b"\0" for n, v in pairs.items())
    return b"CLO1" + struct.pack(">I", len(body)) + body


def take(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return data


def exchange(path, message, seconds=LONG):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)  # blocking: it waits for its turn where many knock
        connection.settimeout(seconds)
        try:
            connection.sendall(message)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused before all of it was read: the answer is there all the same
        head = take(connection, 8)
        assert head[:4] == b"CLO1"
        body = take(connection, struct.unpack(">I", head[4:])[0])
        return struct.unpack(">I", body[:4])[0], body[4:]


def knock(path, user, message=b""):
    """A connection of that user, with a message on its way; whoever connects is whoever asks."""
    connection = socket.socket(socket.AF_UNIX)
    os.seteuid(user)
    try:
        connection.connect(path)
    finally:
        os.seteuid(0)
    connection.settimeout(LONG)
    try:
        connection.sendall(message)
    except (BrokenPipeError, ConnectionResetError):
        pass  # turned away: the answer is there all the same
    return connection


def answer_of(connection):
    head = take(connection, 8)
    body = take(connection, struct.unpack(">I", head[4:])[0])
    connection.close()
    return struct.unpack(">I", body[:4])[0], body[4:]


def settle(path):
    """Whatever was sent before has been read: the broker lets in 256 at once at most, and looks at
    those that it has before it lets in more."""
    for _ in range(3 * 256):
        status, _ = answer_of(knock(path, FIRST_USER + 900))
        assert status == ARGUMENT


def question(epsilon=0.25, **more):
    return {"mechanism": "kmeans/grid", "dataset": "people", "clusters": "2", "delta": "0",
            "epsilon": str(epsilon), "purpose": "a test", "yes": "yes", **more}


def as_user(user, function, *arguments):
    """What the function gives in a process of that user; an exception comes back as it is."""
    def child(pipe):
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            pipe.send((True, function(*arguments)))
        except Exception as failure:  # told to the parent
            pipe.send((False, repr(failure)))
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=child, args=(theirs,))
    process.start()
    return process, ours


def finish(started):
    process, pipe = started
    result = pipe.recv() if pipe.poll(LONG) else (False, "nothing came")
    process.join()
    return result


class Place:
    """A steward's folders, a ledger, data, and a policy for so many analysts.

    The broker's patience is longer than a busy machine keeps a client from sending its question."""

    def __init__(self, cloister, analysts, cap="0.5", tick=0.1, workers=4, waiting=4, patience=60,
                 ticks_at_most=6000, pipes=()):
        """pipes: names of data sets that are pipes.  A run on one lasts until it is written to."""
        self.cloister = cloister
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cloister-broker-"))
        os.chmod(self.folder, 0o755)
        self.secret = self.folder / "secret"
        self.secret.mkdir(mode=0o700)
        self.socket = str(self.folder / "socket")
        self.environment = dict(os.environ, XDG_CONFIG_HOME=str(self.secret / "config"),
                                XDG_STATE_HOME=str(self.secret / "state"), OMP_NUM_THREADS="1")
        draw = random.Random(1)
        self.data = self.secret / "people.csv"
        self.data.write_text("x,y\n" + "".join(
            f"{draw.uniform(-1, 1):.6f},{draw.uniform(-1, 1):.6f}\n" for _ in range(400)))
        self.ledger = self.secret / "ledger.db"
        self.command("ledger", "init", self.ledger, "--dataset", "people", "--epsilon", "100")
        served = {"people": self.data}
        for name in pipes:
            served[name] = self.secret / name
            os.mkfifo(served[name])
            self.command("ledger", "init", self.ledger, "--dataset", name, "--epsilon", "100")
        self.policy = self.secret / "policy"
        self.policy.write_text(
            f"[broker]\nledger = {self.ledger}\ntick = {tick}\nworkers = {workers}\n"
            f"waiting = {waiting}\npatience = {patience}\nticks-at-most = {ticks_at_most}\n"
            + "".join(f"[dataset {name}]\ndata = {path}\nfamilies = kmeans\nbounds = -1,1\n"
                      "cols = 2\n" for name, path in served.items())
            + "".join(f"[analyst {FIRST_USER + i}]\n"
                      + "".join(f"{name} = {cap}\n" for name in served)
                      for i in range(analysts)))
        os.chmod(self.policy, 0o600)
        self.broker = None

    def command(self, *words):
        return subprocess.run([self.cloister, *map(str, words)], env=self.environment, check=True,
                              capture_output=True, text=True).stdout

    def start(self):
        self.log = open(self.folder / "log", "a")
        self.broker = subprocess.Popen(
            [self.cloister, "serve", "--socket", self.socket, "--policy", str(self.policy)],
            env=self.environment, stderr=self.log, stdout=self.log)
        self.wait_for(self.broker, self.socket)

    def wait_for(self, broker, path):
        while True:  # it comes up, or ends
            try:
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(path)
                return
            except OSError:
                assert broker.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.02)

    def stop(self, how=signal.SIGTERM):
        self.broker.send_signal(how)
        self.broker.wait(LONG)
        self.log.close()

    def end(self, pipe):
        """Lets the run that reads this pipe go on."""
        (self.secret / pipe).write_text(f"{self.data.read_text()}0.1,0.{len(pipe)}\n")

    def order(self):
        """Who was served, by the log, in that order; runs on pipes left out."""
        return [int(user) - FIRST_USER for user in re.findall(
            r" (\d+) asked kmeans/grid on people: no error", (self.folder / "log").read_text())]

    def charges(self):
        return json.loads(self.command("ledger", "history", self.ledger, "--json"))["charges"]

    def remove(self):
        if self.broker and self.broker.poll() is None:
            self.broker.kill()
            self.broker.wait()
        subprocess.run(["rm", "-rf", str(self.folder)], check=True)


def twenty_analysts(cloister):
    """Each may spend 0.5 and asks four times for 0.25, all at once: two of them, exactly."""
    place = Place(cloister, 20)
    place.start()
    users = [FIRST_USER + i for i in range(20) for _ in range(4)]
    started = [as_user(u, exchange, place.socket, frame(question())) for u in users]
    answers = [finish(s) for s in started]
    admitted = {}
    for user, (right, answer) in zip(users, answers):
        assert right, answer
        assert answer[0] in (OK, BUDGET), answer
        admitted[user] = admitted.get(user, 0) + (answer[0] == 0)
        if answer[0] == 0:
            assert b'"public_key"' in answer[1] and str(place.folder).encode() not in answer[1]
    assert all(count == 2 for count in admitted.values()), admitted
    charges = [c["dataset"] for c in place.charges()]
    assert charges.count("people") == 40
    assert all(charges.count(f"people@{FIRST_USER + i}") == 2 for i in range(20))
    place.stop()
    place.command("ledger", "verify", place.ledger)
    place.remove()


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return file.read().split()


def out_of_memory(process):
    """How soon the system ends it where memory runs out."""
    with open(f"/proc/{process}/oom_score_adj", encoding="ascii") as file:
        return file.read().strip()


def nobody_waits_for_one(cloister):
    """Questions of one analyst that never end, and some that wait: all others are served."""
    place = Place(cloister, 2, cap="50", workers=2, pipes=["slow"])
    place.start()
    asked = frame(question(dataset="slow"))
    hostile = [knock(place.socket, FIRST_USER, asked) for _ in range(4)]
    settle(place.socket)
    for _ in range(6):
        status, text = answer_of(knock(place.socket, FIRST_USER + 1, frame(question())))
        assert status == OK, text
    status, text = answer_of(knock(place.socket, FIRST_USER, asked))
    assert status == BUSY and b"as many open requests" in text, (status, text)
    # Where memory runs out, the system ends the run, and not the broker with all others.
    run, = children(place.broker.pid)
    assert (out_of_memory(place.broker.pid), out_of_memory(run)) == (
        out_of_memory("self"), "1000")
    # Who hangs up before a run began has spent nothing, and has room for another question.
    for connection in hostile[1:]:
        connection.close()
    settle(place.socket)
    waiting = knock(place.socket, FIRST_USER, frame(question()))
    place.end("slow")
    status, text = answer_of(hostile[0])
    assert status == OK, text
    status, text = answer_of(waiting)
    assert status == OK, text
    assert place.order() == [1] * 6 + [0], place.order()
    place.stop()
    assert [c["dataset"] for c in place.charges()].count("slow") == 1
    place.remove()


def everybody_in_turn(cloister):
    """With one place left for two analysts, who have asked three times and twice, they take turns;
    in the order in which questions came, the first would be served three times before."""
    place = Place(cloister, 3, cap="50", workers=2, pipes=["slow", "other"])
    place.start()
    first = knock(place.socket, FIRST_USER, frame(question(dataset="slow")))
    settle(place.socket)
    second = knock(place.socket, FIRST_USER + 1, frame(question(dataset="other")))
    settle(place.socket)
    waiting = []
    for user in (1, 1, 1, 2, 2):
        waiting.append(knock(place.socket, FIRST_USER + user, frame(question())))
        settle(place.socket)
    assert len(children(place.broker.pid)) == 2  # as many as there are workers
    place.end("other")
    for connection in [second, *waiting]:
        assert answer_of(connection)[0] == OK
    assert place.order() == [2, 1, 2, 1, 1], place.order()
    place.end("slow")
    assert answer_of(first)[0] == OK
    place.stop()
    place.remove()


def time_tells_nothing(cloister):
    """Neither an answer, nor a refusal, nor the run behind it shows how long a run took."""
    tick = 2
    place = Place(cloister, 3, cap="50", tick=tick, workers=2, pipes=["slow"])
    place.start()
    first = knock(place.socket, FIRST_USER, frame(question(dataset="slow")))
    settle(place.socket)
    begun = time.monotonic()
    one = knock(place.socket, FIRST_USER + 1, frame(question()))
    settle(place.socket)
    other = knock(place.socket, FIRST_USER + 2, frame(question()))
    for connection, ticks in ((one, 1), (other, 2)):  # which has the place of the one before it
        assert answer_of(connection)[0] == OK
        assert time.monotonic() - begun >= ticks * tick
    begun = time.monotonic()
    asked = frame(question(dataset="nothing"))
    assert answer_of(knock(place.socket, FIRST_USER + 1, asked))[0] == ARGUMENT
    assert time.monotonic() - begun >= tick
    place.end("slow")
    assert answer_of(first)[0] == OK
    place.stop()
    after = [float(seconds) for seconds in re.findall(
        r"answered after ([0-9.]+) s", (place.folder / "log").read_text())]
    assert len(after) == 4 and all(seconds % tick == 0 for seconds in after), after
    place.remove()


def long_runs_are_ended(cloister):
    """A run that has not ended in its ticks is ended, before or after its charge, with one
    sentence; what was charged stays so, its token is used up, and the place is free."""
    place = Place(cloister, 2, cap="50:1e-6", tick=1, workers=2, ticks_at_most=2, pipes=["slow"])
    place.start()
    told = []
    status, text = answer_of(knock(place.socket, FIRST_USER, frame(question(dataset="slow"))))
    assert status == INTERNAL and b"limit of 2 s" in text, (status, text)
    told.append(text)
    assert place.charges() == []
    place.data.write_text("x,y\n" + "".join(f"{i % 997 / 997},{i % 1009 / 1009}\n"
                                            for i in range(60000)))
    long = question(epsilon=5, mechanism="kmeans/local", clusters="1024", cells="1024",
                    choose="elbow", delta="1e-7", token="long")
    for tries in range(20):  # where two seconds do not reach to the charge
        asked = frame({**long, "token": f"long {tries}"})
        status, text = answer_of(knock(place.socket, FIRST_USER, asked))
        told.append(text)
        assert status == INTERNAL, (status, text)
        if place.charges():
            break
    assert len(set(told)) == 1, told
    assert [c["dataset"] for c in place.charges()].count("people") == 1
    status, text = answer_of(knock(place.socket, FIRST_USER, asked))
    assert status == ARGUMENT and b"token" in text, (status, text)
    assert [c["dataset"] for c in place.charges()].count("people") == 1
    place.stop()
    assert "was ended after 2 ticks" in (place.folder / "log").read_text()
    place.command("ledger", "verify", place.ledger)
    place.remove()


def two_brokers_of_one_ledger(cloister):
    """Each has its socket and its processes; the caps are the ledger's, and hold for both.  They
    start at the same time, several times over, as both then declare the same accounts."""
    for _ in range(5):
        place = Place(cloister, 1, cap="1")
        other = subprocess.Popen([cloister, "serve", "--socket", place.socket + "2", "--policy",
                                  str(place.policy)], env=place.environment,
                                 stderr=open(place.folder / "log", "a"))
        place.start()
        place.wait_for(other, place.socket + "2")
        held = [knock(place.socket + ("2" if i % 2 else ""), FIRST_USER, frame(question()))
                for i in range(8)]
        statuses = [answer_of(connection)[0] for connection in held]
        assert sorted(statuses) == [OK] * 4 + [BUDGET] * 4, statuses
        assert (place.broker.poll(), other.poll()) == (None, None)
        other.terminate()
        other.wait()
        place.stop()
        place.command("ledger", "verify", place.ledger)
        place.remove()


def enough_files(cloister):
    """The broker takes the files that its policy can ask for, or says that it cannot."""
    place = Place(cloister, 30, cap="50", waiting=4)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        place.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    held = [knock(place.socket, FIRST_USER + i % 30) for i in range(120)]
    for i in range(30):  # each one's places are taken, and each is told so
        assert answer_of(knock(place.socket, FIRST_USER + i))[0] == BUSY
    with open(f"/proc/{place.broker.pid}/limits", encoding="utf-8") as limits:
        assert re.search(r"Max open files +272 ", limits.read())
    for connection in held:
        connection.close()
    place.stop()
    refused = subprocess.run(["sh", "-c", 'ulimit -n 128; exec "$@"', "sh", cloister, "serve",
                              "--socket", place.socket, "--policy", str(place.policy)],
                             env=place.environment, check=False, capture_output=True, text=True)
    assert refused.returncode == 2 and "may have 128" in refused.stderr, refused
    place.remove()


def cannot_look(path):
    found = []
    for target in path:
        try:
            open(target, "rb").close()
            found.append(target)
        except OSError:
            pass
    return found


def strangers_and_files(cloister):
    """Who is not in the policy is told so, and nobody opens what is the steward's."""
    place = Place(cloister, 1)
    place.start()
    right, answer = finish(as_user(FIRST_USER + 500, exchange, place.socket, frame(question())))
    assert right and answer[0] == ARGUMENT and b"not an analyst in the policy" in answer[1], answer
    right, answer = finish(as_user(FIRST_USER, exchange, place.socket, frame(question())))
    assert right and answer[0] == 0, answer
    targets = [str(place.data), str(place.ledger), str(place.policy),
               str(place.secret / "config/cloister/ledger.key"), f"/proc/{place.broker.pid}/mem"]
    right, opened = finish(as_user(FIRST_USER, cannot_look, targets))
    assert right and opened == [], opened
    place.stop()
    place.remove()


def killed_brokers(cloister):
    """kill -9 at any time: whatever was answered is charged, and the socket comes back."""
    place = Place(cloister, 2, cap="50", tick=0.05)
    draw, released = random.Random(2), 0
    for turn in range(12):
        place.start()
        started = [as_user(FIRST_USER + i % 2, exchange, place.socket,
                           frame(question(token=f"run {turn} {i}"))) for i in range(4)]
        time.sleep(draw.uniform(0, 0.6))
        place.stop(signal.SIGKILL)
        results = [finish(s) for s in started]
        released += sum(right and answer[0] == 0 for right, answer in results)
    place.start()
    # A token whose release is stored gives it again; one that died is dead, and says so.
    right, answer = finish(as_user(FIRST_USER, exchange, place.socket,
                                   frame(question(token="the last"))))
    assert right and answer[0] == 0, answer
    released += 1
    charged = [c for c in place.charges() if c["dataset"] == "people"]
    assert released <= len(charged), (released, len(charged))
    assert len({c["token"] for c in charged}) == len(charged)
    place.stop()
    place.command("ledger", "verify", place.ledger)
    place.remove()
    print(f"# {released} releases, {len(charged)} charges, 12 brokers killed")


def left_locks(cloister):
    """A worker that outlives its killed broker by a moment delays the next; a broker refuses it."""
    place = Place(cloister, 1)
    with open(place.socket + ".lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        letting_go = threading.Timer(0.3, fcntl.flock, (held, fcntl.LOCK_UN))
        letting_go.start()
        place.start()
        letting_go.join()
    second = subprocess.run([cloister, "serve", "--socket", place.socket, "--policy",
                             str(place.policy)], env=place.environment, check=False,
                            capture_output=True, text=True)
    assert second.returncode != 0 and "serves" in second.stderr, second
    right, answer = finish(as_user(FIRST_USER, exchange, place.socket, frame(question())))
    assert right and answer[0] == OK, answer
    place.stop()
    place.remove()


def slow_readers(cloister):
    """Who does not take an answer that is more than a socket holds loses it, and has their place
    for another question again."""
    place = Place(cloister, 1, cap="9000:1e-3", waiting=1, patience=1)
    draw = random.Random(3)
    place.data.write_text("".join(
        ",".join(f"{draw.uniform(-1, 1):.4f}" for _ in range(96)) + "\n" for _ in range(400)))
    place.policy.write_text(place.policy.read_text().replace("cols = 2", "cols = 96"))
    place.start()
    asked = frame(question(epsilon=40, mechanism="kmeans/lloyd", clusters="1024", rounds="1",
                           delta="1e-7"))
    slow = knock(place.socket, FIRST_USER, asked)
    for _ in range(LONG):
        status, text = answer_of(knock(place.socket, FIRST_USER, asked))
        if status != BUSY:
            break
        time.sleep(1)
    assert status == OK and len(text) > 1 << 18, (status, len(text), text[:200])
    try:
        answer_of(slow)
        raise AssertionError("the answer was there for as long as anybody liked")
    except ConnectionError:
        pass
    assert [c["dataset"] for c in place.charges()].count("people") == 2
    place.stop()
    place.remove()


def hostile_messages(path, seed, count):
    draw, refused = random.Random(seed), 0
    good = frame(question())
    for i in range(count):
        kind = i % 6
        if kind == 0:
            message = draw.randbytes(draw.randrange(1, 400))
        elif kind == 1:
            message = b"CLO1" + struct.pack(">I", draw.choice([0, 65537, 2**31, 2**32 - 1]))
        elif kind == 2:
            body = draw.randbytes(draw.randrange(1, 2000))
            message = b"CLO1" + struct.pack(">I", len(body)) + body
        elif kind == 3:
            changed = bytearray(good)
            changed[draw.randrange(8, len(good))] = draw.randrange(256)
            message = bytes(changed)
        elif kind == 4:
            message = frame({"dataset": "people", "mechanism": "kmeans" * 600})
        else:
            message = frame({f"a{k}": "1" for k in range(70)})
        if kind == 3 or len(message) < 8:
            message = message.ljust(8, b"\0")
        if kind == 0:
            message = b"X" + message
        try:
            status, _ = exchange(path, message)
            refused += status != 0
        except (OSError, ConnectionError):
            refused += 1
    return refused


def many_connections(path, count):
    held = []
    for _ in range(count):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            connection.settimeout(100)  # many times the broker's patience
            connection.send(b"C")  # and never more: a slow writer
            held.append(connection)
        except OSError:
            connection.close()
        if len(held) > 900:
            held.pop(0).close()
    alive = 0
    for connection in held:
        try:
            while connection.recv(4096):
                pass
        except TimeoutError:
            alive += 1
        except OSError:
            pass  # closed, with our byte unread
        connection.close()
    return alive


def hostile_clients(cloister):
    """Fuzzed messages, slow writers and 10,000 connections of one user; the other is served."""
    place = Place(cloister, 3, cap="50", patience=10)
    place.start()
    fuzz = as_user(FIRST_USER, hostile_messages, place.socket, 7, 120)
    flood = as_user(FIRST_USER + 1, many_connections, place.socket, 10000)
    stranger = as_user(FIRST_USER + 700, many_connections, place.socket, 1000)
    for _ in range(8):
        right, answer = finish(as_user(FIRST_USER + 2, exchange, place.socket, frame(question()),
                                       100))
        assert right and answer[0] == 0, answer
    right, refused = finish(fuzz)
    assert right and refused >= 100, refused  # a changed byte may leave a good question
    for clients in (flood, stranger):
        right, alive = finish(clients)
        assert right and alive == 0, alive
    assert place.broker.poll() is None
    place.stop()
    place.command("ledger", "verify", place.ledger)
    place.remove()


def main():
    cases = [twenty_analysts, nobody_waits_for_one, everybody_in_turn, time_tells_nothing,
             long_runs_are_ended, two_brokers_of_one_ledger, enough_files, strangers_and_files,
             killed_brokers, left_locks, slow_readers, hostile_clients]
    if sys.argv[2:]:
        cases = [case for case in cases if case.__name__ in sys.argv[2:]]
    print(f"1..{len(cases)}")
    for i, case in enumerate(cases, 1):
        name = case.__name__.replace("_", " ")
        if os.geteuid() != 0:
            print(f"ok {i} - {name} # SKIP needs root, to be several users")
            continue
        try:
            case(sys.argv[1])
            print(f"ok {i} - {name}")
        except (AssertionError, OSError) as failure:
            where = traceback.extract_tb(failure.__traceback__)
            lines = [frame.lineno for frame in where if frame.filename == __file__]
            print(f"not ok {i} - {name}\n# {failure!r}, lines {lines}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
