"""wang2015, Figure 3: test statistic, cost and d_W of 8 chains over their sweeps, and what tells
whether they have come together: how far chains from different starts agree."""
import subprocess
from pathlib import Path

from common import curve, digits, panel

TITLE = "Wang, Wang and Singh (2015), Figure 3"
EPSILONS = (1, 10, 100)
TRIALS = 8
MEASURES = (("statistic", "test statistic"), ("cost", "cost"), ("distance", "d_W"))


def watch(run, epsilon, sweeps):
    """Looks of every trial, and the two diagnostics; kept in the work folder."""
    file = run.file(f"wang2015-figure3-{epsilon}-{sweeps}.csv")
    program = Path(run.cloister).parent.parent / "bench" / "bench_chain"
    if not file.exists():
        made = subprocess.run([program, str(epsilon), str(TRIALS), str(sweeps), "1"], check=True,
                              env=run.environment(), stdout=subprocess.PIPE, text=True).stdout
        file.write_text(made, encoding="utf-8")
    looks, told = [], {}
    for line in file.read_text(encoding="utf-8").splitlines():
        first, *rest = line.split(",")
        if first.isdigit():
            looks.append([float(value) for value in (first, *rest)])
        else:
            told[first] = float(rest[0])
    return looks, told


def make(run):
    sweeps = run.pick(60, 10_000, 10_000)
    trials = [f"trial {trial + 1}" for trial in range(TRIALS)]  # one program makes them all
    watched = {epsilon: watch(run, epsilon, sweeps) for epsilon in EPSILONS
               if run.chosen(trials, *(f"{key}-{epsilon}" for key, _ in MEASURES))}
    panels = []
    for column, (key, name) in enumerate(MEASURES, start=2):
        for epsilon, (looks, told) in watched.items():
            curves = [curve(name, {look[1]: [look[column]] for look in looks
                                   if look[0] == trial}) for trial, name in enumerate(trials)]
            panels.append(panel(f"{key}-{epsilon}", f"ε = {epsilon}: {name} over the sweeps",
                                "sweeps", name, curves, x_log=True,
                                rhat=digits(told["rhat"], 4), gap=digits(told["gap"], 3)))
    return panels
