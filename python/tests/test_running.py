"""Threads, forks, Ctrl-C: how a fit behaves among everything else that a process does."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cloister

HANGS = 600  # seconds after which a process does, on a slow and busy machine too

# A run that takes long whatever the machine: rounds of a million records.
LONG = """
import signal, time
import numpy as np
import cloister
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
rows = np.random.default_rng(0).random((400_000, 20))
estimator = cloister.PrivateKMeans(64, epsilon=1, bounds=(0, 1), method="lloyd", rounds=100, **{})
print("ready", flush=True)
try:
    estimator.fit(rows)
except KeyboardInterrupt as stopped:
    print("stopped", time.process_time(), flush=True)
    print("spent" if "is spent in" in stopped.__notes__[0] else "free", flush=True)
    print(hasattr(estimator, "release_"), flush=True)
"""


def test_two_fits_at_once(rows):
    found, raised = {}, []

    def work(name):
        try:
            found[name] = cloister.PrivateKMeans(2, epsilon=1, bounds=(-1, 1), method="lloyd",
                                                 threads=1).fit(rows)
        except BaseException as error:  # noqa: B902
            raised.append(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised and len(found) == 4
    centers = {fitted.cluster_centers_.tobytes() for fitted in found.values()}
    assert len(centers) == 4


def test_other_threads_run_meanwhile(rows):
    """The lock of the interpreter is let go: a thread counts while a fit runs."""
    many = np.tile(rows, (100, 1))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    def counts_in_a_fit():
        before = counted[0]
        cloister.PrivateKMeans(8, epsilon=1, bounds=(-1, 1), method="lloyd", rounds=20,
                               threads=1).fit(many)
        return counted[0] - before
    thread = threading.Thread(target=count)
    thread.start()
    try:  # of a busy machine the thread may not get a core in the first one
        assert any(counts_in_a_fit() >= 20 for _ in range(20))
    finally:
        done.set()
        thread.join()


def test_a_fit_after_a_fork_ends(rows):
    code = """
import os, sys
import numpy as np
import cloister
rows = np.random.default_rng(0).random((5000, 4))
fit = lambda: cloister.PrivateKMeans(3, epsilon=1, bounds=(0, 1)).fit(rows)
fit()
child = os.fork()
if child == 0:
    fit()
    os._exit(7)
sys.exit(0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 1)
"""
    ended = subprocess.run([sys.executable, "-c", code], timeout=HANGS, check=False)
    assert ended.returncode == 0


def seconds_of_cores(process):
    """What a process has taken; unlike the clock, it stands still while others have the cores."""
    words = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(arguments, environment, is_time):
    process = subprocess.Popen([sys.executable, "-c", LONG.replace("**{}", arguments)],
                               stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "ready\n"
    while not is_time():
        assert process.poll() is None
        time.sleep(0.05)
    charged = seconds_of_cores(process.pid)
    # A stop beside the charge waits for the release: this one is to come in the rounds.
    while seconds_of_cores(process.pid) < charged + 0.3:
        assert process.poll() is None
        time.sleep(0.05)
    before = seconds_of_cores(process.pid)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=HANGS)
    word, after, spent, fitted = out.split()
    assert (word, spent, fitted) == ("stopped", "spent", "False")
    return float(after) - before


def test_ctrl_c_stops_a_fit_and_what_was_spent_stays_spent(tmp_path):
    ledger = tmp_path / "ledger.db"
    cloister.Ledger(ledger, create=True).declare("people", epsilon=99, delta=1e-3)

    def charges():
        return cloister.Ledger(ledger).accounts()[0]["charges"]
    took = interrupted(f"ledger={str(ledger)!r}, dataset='people', anyway=True, threads=1",
                       dict(os.environ), lambda: charges() == 1)
    assert took < 1.0
    assert charges() == 1


def test_progress_is_told_and_may_stop(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    told = []
    cloister.run("kmeans/lloyd", tmp_path / "rows.npy", progress=told.append, clusters=2, epsilon=1,
                 bounds=(-1, 1))
    assert told and all(done <= 1 for done in told)

    def stop(done):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        cloister.run("kmeans/lloyd", tmp_path / "rows.npy", progress=stop, clusters=2, epsilon=1,
                     bounds=(-1, 1))


def test_a_bar_is_drawn_where_there_is_tqdm(rows, capsys, monkeypatch):
    pytest.importorskip("tqdm")
    cloister.PrivateKMeans(2, epsilon=1, bounds=(-1, 1), progress=True).fit(rows)
    assert "kmeans 100%" in capsys.readouterr().err
    told = []
    cloister.PrivateKMeans(2, epsilon=1, bounds=(-1, 1), progress=told.append).fit(rows)
    assert told and max(told) <= 1
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    cloister.PrivateKMeans(2, epsilon=1, bounds=(-1, 1), progress=True).fit(rows)
    assert not capsys.readouterr().err
    with pytest.raises(cloister.ArgumentError, match="progress must be"):
        cloister.PrivateKMeans(2, epsilon=1, bounds=(-1, 1), progress="yes").fit(rows)


# Fits in processes that joblib makes, in threads of theirs, and in a fork of the first, all after a
# fit with threads of its own.
TOGETHER = """
import os, sys, threading, warnings
import numpy as np
import cloister
from joblib import Parallel, delayed

rows = np.random.default_rng(0).random((5000, 4))

def fit(seed=None, threads=2):
    warnings.simplefilter("ignore")
    return cloister.PrivateKMeans(3, epsilon=1, bounds=(0, 1), threads=threads,
                                  random_state=seed).fit(rows).release_.to_json()

def in_threads(seed):
    found = []
    workers = [threading.Thread(target=lambda: found.append(fit(seed))) for _ in range(2)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    return found

{before}
here = fit(1)
for backend in ("loky", "threading", "multiprocessing"):
    for found in Parallel(n_jobs=2, backend=backend)(delayed(in_threads)(1) for _ in range(2)):
        assert found == [here, here], backend
child = os.fork()
if child == 0:
    os._exit(7 if fit(1) == here else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
{after}
print("well")
"""


def fits_end_together(before="", after=""):
    code = TOGETHER.format(before=before, after=after)
    ended = subprocess.run([sys.executable, "-c", code], timeout=HANGS, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
    assert ended.stdout == "well\n", ended.stderr


def test_joblib_threads_and_forks_end_well_with_the_same_bytes():
    """Beside scikit-learn, whose wheel has an OpenMP runtime of its own.  (So has torch; but what
    the package index has of it brings three gigabytes of CUDA along, too much for a test.)"""
    theirs = "from sklearn.cluster import KMeans\nKMeans(2, n_init=1).fit(rows)"
    fits_end_together(theirs, theirs)


@pytest.mark.long
def test_four_gibibytes_are_fitted_without_a_copy(tmp_path):
    """Memory of the process's own is what bounding takes, half of the file, and never a second copy
    of the rows; pages of the file come on top, which the system may drop."""
    path = tmp_path / "large.npy"
    count, width = 2**29 // 16, 16  # 4 GiB of doubles
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype="f8", shape=(count, width))
    generator = np.random.default_rng(0)
    for start in range(0, count, 2**20):
        mapped[start:start + 2**20] = generator.random((min(2**20, count - start), width))
    del mapped
    code = f"""
import re, resource, threading, time, numpy as np, cloister
def own():
    return 1024 * int(re.search(r"RssAnon:\\s*(\\d+)", open("/proc/self/status").read())[1])
peak = [own()]
def watch():
    while True:
        peak[0] = max(peak[0], own())
        time.sleep(0.05)
threading.Thread(target=watch, daemon=True).start()
rows = np.load({str(path)!r}, mmap_mode="r")
cloister.PrivateKMeans(4, epsilon=1, bounds=(0, 1), method="lloyd", rounds=1).fit(rows)
print(peak[0], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
    out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                         check=True)
    own, all_of_it = (int(number) / path.stat().st_size for number in out.stdout.split())
    print(f"own memory at its peak is {own:.2f} of the file, with mapped pages {all_of_it:.2f}")
    assert own < 0.65 and all_of_it < 1.75


# Ctrl-C at a moment of the library's choosing: the n-th call of a function of the library's, and
# the n-th time that it asks whether to go on.
SIGNALLED = """
import json, os, signal, sys
import numpy as np
import cloister
from cloister import _job, _native
signal.signal(signal.SIGINT, signal.default_int_handler)
ledger, where, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
asked = 0


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


class Library:
    def __getattr__(self, name):
        function = getattr(_native.lib, name)
        if name != where.partition(":")[2]:
            return function
        def signalled(*arguments):
            if where.startswith("before:"):
                interrupt()
            status = function(*arguments)
            if where.startswith("after:"):
                interrupt()
            return status
        return signalled


_job.lib = Library()


def progress(done):
    global asked
    asked += 1
    if where == "asked" and asked == wanted:
        interrupt()


rows = ledger + ".npy"
np.save(rows, np.random.default_rng(0).random((300, 2)))
cloister.Ledger(ledger, create=True).declare("people", epsilon=9, delta=1e-3)
try:
    made = cloister.run("kmeans/lloyd", rows, clusters=2, epsilon=1, bounds=(0, 1), ledger=ledger,
                        dataset="people", token="t", progress=progress, rounds=3)
    end, notes = "returned", []
except KeyboardInterrupt as stopped:
    end, notes = "stopped", stopped.__notes__
history = cloister.Ledger(ledger).history()
print(json.dumps({"end": end, "notes": notes, "asked": asked, "charges": len(history),
                  "stored": any(charge["stored"] for charge in history)}))
"""


def signalled(tmp_path, where, wanted=0):
    ledger = tmp_path / f"{where.replace(':', '_')}{wanted}.db"
    ended = subprocess.run([sys.executable, "-c", SIGNALLED, ledger, where, str(wanted)],
                           timeout=HANGS, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ended.stdout)


@pytest.mark.parametrize("where", ["before:clo_job_fetch", "after:clo_job_fetch",
                                   "before:clo_job_spend"])
def test_ctrl_c_before_the_charge_costs_nothing(tmp_path, where):
    end = signalled(tmp_path, where)
    assert (end["end"], end["charges"]) == ("stopped", 0)
    assert "nothing was spent" in end["notes"][0]


@pytest.mark.parametrize("where", ["after:clo_job_spend", "after:clo_job_release",
                                   "before:clo_job_json", "after:clo_job_json"])
def test_ctrl_c_between_the_steps_does_not_lose_a_paid_release(tmp_path, where):
    end = signalled(tmp_path, where)
    assert (end["end"], end["charges"], end["stored"]) == ("stopped", 1, True)
    assert "fetch('t')" in end["notes"][0]


def test_ctrl_c_whenever_it_is_asked_says_what_it_cost(tmp_path):
    everything = signalled(tmp_path, "nowhere")
    assert (everything["end"], everything["stored"]) == ("returned", True)
    said = set()
    last = everything["asked"]
    for wanted in sorted({1, 2, last // 2, last - 1, last}):
        end = signalled(tmp_path, "asked", wanted)
        said.add(end["charges"])
        assert end["end"] == "stopped"
        what = "fetch('t')" if end["stored"] else \
            "is spent in" if end["charges"] else "nothing was spent"
        assert what in end["notes"][0]
    assert said == {0, 1}
