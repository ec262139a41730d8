#!/usr/bin/env python3
"""A broker and many users of one machine: caps of each, exactly; killed brokers; hostile clients.

    broker.py CLOISTER

Needs root, to be several users; without it every case is skipped, with that reason.  Prints TAP.
"""
import fcntl
import json
import multiprocessing
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

OK, ARGUMENT, BUDGET = 0, 1, 6  # of clo_status
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
            raise ConnectionError("the broker went away")
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

    def __init__(self, cloister, analysts, cap="0.5", tick=0.1, workers=4, waiting=4, patience=60):
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
        self.policy = self.secret / "policy"
        self.policy.write_text(
            f"[broker]\nledger = {self.ledger}\ntick = {tick}\nworkers = {workers}\n"
            f"waiting = {waiting}\npatience = {patience}\n[dataset people]\ndata = {self.data}\n"
            "families = kmeans\nbounds = -1,1\ncols = 2\n"
            + "".join(f"[analyst {FIRST_USER + i}]\npeople = {cap}\n" for i in range(analysts)))
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
        while True:  # it comes up, or ends
            try:
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(self.socket)
                return
            except OSError:
                assert self.broker.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.02)

    def stop(self, how=signal.SIGTERM):
        self.broker.send_signal(how)
        self.broker.wait(LONG)
        self.log.close()

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
    assert right and answer[0] == ARGUMENT and b"does not know you" in answer[1], answer
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
    cases = [twenty_analysts, strangers_and_files, killed_brokers, left_locks,
             hostile_clients]
    print(f"1..{len(cases)}")
    for i, case in enumerate(cases, 1):
        name = case.__name__.replace("_", " ")
        if os.geteuid() != 0:
            print(f"ok {i} - {name} # SKIP needs root, to be several users")
            continue
        try:
            case(sys.argv[1])
            print(f"ok {i} - {name}")
        except AssertionError as failure:
            print(f"not ok {i} - {name}\n# {failure!r}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
