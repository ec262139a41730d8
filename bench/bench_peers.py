#!/usr/bin/env python3
"""cloister beside the peers that PyPI has: utility and speed, same data, same run, one thread.

    python bench_peers.py PATH/TO/cloister [--runs N] [-o FILE.json] [--page FILE.md]
    python bench_peers.py --check FILE.json FILE.md      whether the page is what the file says

Peers: scikit-learn and dask-ml (not private), diffprivlib (k-means, PCA), OpenDP (PCA),
dp-accounting (prices).  A private result is measured by its loss over scikit-learn's without
privacy; times are processor seconds: of cloister those of the whole command, starting, reading and
planning included, of the others those of the fit alone, without the start of Python.  Mean and
standard error over the runs, each with data and noise of its own; machine and versions are in the
file.  `make bench-quick` is this with 3 runs.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import record

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

PEERS = ("scikit-learn", "dask-ml", "diffprivlib", "opendp", "dp-accounting", "numpy")
CENTERS = dict(rows=20_000, cols=10, clusters=8, noise=0.05, spread=0.85, inner=0.4)
PLANE = dict(rows=1000, cols=10, clusters=1, dim=3, noise=0.1)
EPSILONS = (0.3, 1.0)
LIMIT = 10  # processor seconds, after which a peer is stopped


# ---- running -------------------------------------------------------------------------------------

def command(words):
    """Standard output and processor seconds of a child."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([str(word) for word in words], stdout=out, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if child.returncode:
            sys.exit(errors.read().decode())
        return out.read(), used.ru_utime + used.ru_stime


def timed(work):
    """The array that a call gives, and its processor seconds; None where it gave nothing in LIMIT
    of them.  It has a process of its own, which can be ended whatever it does."""
    import numpy as np

    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
            warnings.simplefilter("ignore")
            start = time.process_time()
            found = np.asarray(work())
            np.savez(out, found=found, seconds=time.process_time() - start)
            out.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            return None, float(LIMIT)
        out.seek(0)
        made = np.load(out)
        return made["found"], float(made["seconds"])


def generate(cloister, model, settings, seed, folder):
    import numpy as np

    path = Path(folder) / "rows.npy"
    words = [cloister, "generate", model, "--seed", seed, "-o", path]
    for name, value in settings.items():
        words += [f"--{name}", value]
    command(words)
    rows = np.load(path)
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    np.save(path, rows)
    return path, rows


def release(cloister, mechanism, path, epsilon, seed, *more):
    out, seconds = command([cloister, "run", mechanism, path, "--epsilon", epsilon, "--norm", 1,
                            "--no-ledger", "--seed", f"{seed} {epsilon}", "--yes", "-q", "--json",
                            "--threads", 1, *more])
    return json.loads(out)["values"], seconds


def over(found, loss, best):
    """None where nothing was found."""
    return None if found is None else loss(found) / best


# ---- what is compared ----------------------------------------------------------------------------

def centers_run(cloister, seed, folder, add):
    """k-means: loss over that of scikit-learn's ten starts."""
    import numpy as np
    from dask_ml.cluster import KMeans as DaskKMeans
    from diffprivlib.models import KMeans as PrivateKMeans
    from sklearn.cluster import KMeans

    k = CENTERS["clusters"]
    path, rows = generate(cloister, "mixture", CENTERS, seed, folder)

    def loss(centers):
        away = (rows**2).sum(1)[:, None] - 2 * rows @ np.asarray(centers).T + (
            np.asarray(centers)**2).sum(1)
        return float(np.maximum(away.min(1), 0).mean())

    found, seconds = timed(lambda: KMeans(k, n_init=10, random_state=seed).fit(
        rows).cluster_centers_)
    best = loss(found)
    add("k-means, not private", "scikit-learn, 10 starts", 1.0, seconds)
    out, seconds = command([cloister, "solve", "kmeans", path, "--clusters", k, "--restarts", 10,
                            "--seed", seed, "--threads", 1, "--json", "-q"])
    add("k-means, not private", "cloister solve, 10 starts",
        loss(json.loads(out)["values"]["centers"]) / best, seconds)
    found, seconds = timed(lambda: DaskKMeans(k, random_state=seed).fit(rows).cluster_centers_)
    add("k-means, not private", "dask-ml", over(found, loss, best), seconds)
    for epsilon in EPSILONS:
        case = f"private k-means, ε = {epsilon:g}"
        found, seconds = release(cloister, "kmeans", path, epsilon, seed, "--clusters", k,
                                 "--relation", "add-remove")
        add(case, "cloister", loss(found["centers"]) / best, seconds)
        found, seconds = timed(lambda e=epsilon: PrivateKMeans(
            k, epsilon=e, bounds=(-1, 1), random_state=seed).fit(rows).cluster_centers_)
        add(case, "diffprivlib", over(found, loss, best), seconds)


def plane_run(cloister, seed, folder, add):
    """PCA about the origin: the variance outside of three directions, over the least."""
    import numpy as np
    from diffprivlib.models import PCA as PrivatePCA
    from opendp.extras.sklearn.decomposition import PCA as OpenPCA
    from opendp.mod import enable_features
    from sklearn.decomposition import TruncatedSVD

    enable_features("contrib", "idealized-numerics", "honest-but-curious")
    q = PLANE["dim"]
    path, rows = generate(cloister, "subspaces", PLANE, seed, folder)
    total = (rows**2).sum()

    def outside(axes):
        axes = np.linalg.qr(np.asarray(axes).T)[0]
        return float(1 - ((rows @ axes)**2).sum() / total)

    found, seconds = timed(lambda: TruncatedSVD(q, random_state=seed).fit(rows).components_)
    best = outside(found)
    add("PCA, not private", "scikit-learn", 1.0, seconds)
    for epsilon in EPSILONS:
        case = f"private PCA, ε = {epsilon:g}"
        found, seconds = release(cloister, "subspace", path, epsilon, seed, "--dim", q)
        add(case, "cloister", outside(np.array(found["basis"]).T) / best, seconds)
        found, seconds = release(cloister, "subspace/bingham", path, epsilon, seed, "--dim", q,
                                 "--delta", 0, "--accept", "idealized")
        add(case, "cloister, δ = 0", outside(np.array(found["basis"]).T) / best, seconds)
        found, seconds = timed(lambda e=epsilon: PrivatePCA(
            q, epsilon=e, data_norm=1, centered=True, random_state=seed).fit(rows).components_)
        add(case, "diffprivlib, δ = 0", over(found, outside, best), seconds)
        found, seconds = timed(lambda e=epsilon: OpenPCA(
            epsilon=e, row_norm=1, n_samples=len(rows), n_features=rows.shape[1],
            n_components=q).fit(rows).components_)
        add(case, "OpenDP, δ = 0", over(found, outside, best), seconds)


def prices(cloister):
    """What the noise of a plan costs, by us and by dp-accounting, at the plan's delta."""
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant
    from dp_accounting.rdp import rdp_privacy_accountant

    found = []
    for mechanism, words in (("kmeans/lloyd", ("--clusters", 8, "--rounds", 20)),
                             ("subspaces/sulq", ("--clusters", 3, "--dim", 3, "--rounds", 10,
                                                 "--restarts", 1, "--schedule", "even"))):
        out, seconds = command([cloister, "plan", mechanism, "--epsilon", 1, "--delta", "1e-6",
                                "--norm", 1, "--cols", 10, "--rows", 20_000, "--json", *words])
        plan = json.loads(out)
        events = [dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(1 / query["mu"]),
                                               query["count"])
                  for query in plan["queries"] if query["loss_kind"] == "gaussian"]
        row = {"plan": f"{mechanism} {' '.join(map(str, words))}".replace("--", ""),
               "cloister": plan["used"]["epsilon"], "cloister_seconds": round(seconds, 4)}
        for name, make in (("pld", pld_privacy_accountant.PLDAccountant),
                           ("rdp", rdp_privacy_accountant.RdpAccountant)):
            accountant = make()
            price, spent = timed(lambda a=accountant: [a.compose(e) for e in events]
                                 and a.get_epsilon(1e-6))
            row[name], row[f"{name}_seconds"] = float(price), round(spent, 4)
        found.append(row)
    return found


# ---- the file and the page -----------------------------------------------------------------------

def measure(cloister, runs):
    cases = {}

    def add(case, name, loss, seconds):
        cases.setdefault(case, {}).setdefault(name, []).append((loss, seconds))

    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, runs + 1):
            centers_run(cloister, seed, folder, add)
            plane_run(cloister, seed, folder, add)
    return {"runs": runs, "epsilons": EPSILONS, "limit_seconds": LIMIT,
            "data": {"k-means": CENTERS, "PCA": PLANE},
            "cases": {case: {name: {"loss": record.measured([loss for loss, _ in found]),
                                    "cpu_seconds": record.measured([s for _, s in found])}
                             for name, found in names.items()} for case, names in cases.items()},
            "prices": prices(cloister)}


def cell(told, runs):
    mean, error, count = told["mean"], told["se"], told["runs"]
    if not count:
        return f"none in {LIMIT} s"
    text = f"{mean:.4g} ± {float(f'{error:.1g}'):g}" if error else f"{mean:.4g}"
    return text if count == runs else f"{text} ({count} of {runs} ended in {LIMIT} s)"


def page(found):
    """The page that a file of results is shown as."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    m, data = found["machine"], found["data"]
    lines = ["# cloister and its peers", "",
             "<!-- made by bench/bench_peers.py out of bench/results/peers.json -->", "",
             "`make bench-quick` measures these numbers: the same data in the same run, on one "
             f"thread. They are means ± standard errors of {found['runs']} runs, each with its own "
             "data and noise. [How it compares](../docs/comparison.md) has private k-means, with "
             "more runs on more data.", "",
             f"Date {found['date']}; {versions}; {m['cpu']}, {m['cores']} cores, "
             f"{m['memory_gib']:g} GiB, {m['system']}, Python {m['python']}.",
             "", "- **Loss**: for k-means the mean squared distance, for PCA the variance outside "
             "of the directions, as a multiple of that of scikit-learn without privacy.",
             "- **Ratio**: the loss of another private program divided by ours.",
             "- **CPU s**: for cloister the whole command; for the others only the fit, without "
             "the start of Python.",
             "- **k-means**: " + ", ".join(f"{k} {v:g}" for k, v in data["k-means"].items()) + ".",
             "- **PCA**: " + ", ".join(f"{k} {v:g}" for k, v in data["PCA"].items())
             + "; norm 1; δ = 1e-6, unless the row says δ = 0.", "",
             "| | by | loss | ratio | CPU s |", "|---|---|---|---|---|"]
    for case, names in found["cases"].items():
        if case.startswith("private k-means"):  # once, in docs/comparison.md
            continue
        ours = names["cloister"]["loss"]["mean"] if "cloister" in names else math.nan
        for name, row in names.items():
            theirs = row["loss"]["runs"] and not name.startswith("cloister")
            ratio = row["loss"]["mean"] / ours if theirs else math.nan
            lines.append(f"| {case} | {name} | {cell(row['loss'], found['runs'])} | "
                         f"{'' if math.isnan(ratio) else f'{ratio:.3g}'} | "
                         f"{cell(row['cpu_seconds'], found['runs'])} |")
    lines += ["", "## Prices", "",
              "The table has the ε that the noise of a plan costs at δ = 1e-6. cloister's "
              "accountant composes Gaussian queries exactly, and rounds up. dp-accounting has "
              "two: privacy loss distributions (PLD), an upper bound on a grid, and Rényi "
              "divergences (RDP). In brackets: CPU seconds.", "",
              "| plan | cloister | PLD | RDP |", "|---|---|---|---|"]
    for row in found["prices"]:
        lines.append(f"| `{row['plan']}` | {row['cloister']:.6f} ({row['cloister_seconds']:.3g}) | "
                     f"{row['pld']:.6f} ({row['pld_seconds']:.3g}) | "
                     f"{row['rdp']:.6f} ({row['rdp_seconds']:.3g}) |")
    return wrapped("\n".join(lines) + "\n")


def wrapped(text):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
    sys.dont_write_bytecode = True
    import wrap_markdown

    return wrap_markdown.wrap(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", nargs="?")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("-o", default="build/bench/peers.json")
    parser.add_argument("--page", default="build/bench/peers.md")
    parser.add_argument("--check", nargs=2, metavar=("JSON", "PAGE"))
    asked = parser.parse_args()
    if asked.check:
        file, shown = map(Path, asked.check)
        if page(json.loads(file.read_text(encoding="utf-8"))) != shown.read_text(encoding="utf-8"):
            sys.exit(f"{shown} is not what {file} says")
        return
    if not asked.cloister:
        parser.error("which cloister?")
    found = measure(asked.cloister, asked.runs)
    record.write(asked.o, found, **record.versions(*PEERS, cloister=asked.cloister))
    text = page(json.loads(Path(asked.o).read_text(encoding="utf-8")))
    Path(asked.page).parent.mkdir(parents=True, exist_ok=True)
    Path(asked.page).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
