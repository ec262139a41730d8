"""wang2015, Figure 2: cost and d_W against epsilon, on two synthetic data sets and five faces."""
import math

from common import by, curve, flat, panel, wanted, yale

TITLE = "Wang, Wang and Singh (2015), Figure 2"
# data, rows, blocks of sample-and-aggregate; in normal size sweeps of the chain, and seeds
SETS = {"A": ("subspaces:rows=1000,cols=10,clusters=3,dim=3,noise=0.1", 1000, 25,
              10_000, "1-20"),
        "B": ("subspaces:rows=5000,cols=5,clusters=3,dim=3,noise=0.01", 5000, 49,
              2000, "1-10")}
NAMES = {"A": "1000 × 10, noise .1", "B": "5000 × 5, noise .01", "faces": "five faces, 320 × 50"}
PLAIN = "not private"
FAR = (0.1, 0.3, 1, 3, 10, 100)


def ways(blocks, sweeps, auto):
    """What is drawn, by its name: the paper's methods, and ours."""
    even = "schedule=even,restarts=1,accounting=exact"
    found = {f"s.a. {solver.upper()}": f"subspaces/aggregate:blocks={blocks},solver={solver}"
             for solver in ("tsc", "ssc", "lrr")}
    found |= {f"exp. {start.upper()}": f"subspaces/gibbs:sweeps={sweeps},start={start}"
              for start in ("ssc", "lrr")}
    for rounds in (10, 50):
        found[f"SuLQ-{rounds}, as printed"] = f"subspaces/sulq:accounting=paper,rounds={rounds}"
        found[f"SuLQ-{rounds}, exact"] = f"subspaces/sulq:rounds={rounds},{even}"
    found["ours, sulq"] = "subspaces/sulq:rounds=0"
    if auto:
        found["ours, auto"] = "subspaces"
    return found


def chosen(run, key, methods):
    """What is run for the two panels of this data set, by the names of their curves."""
    every = {**methods, PLAIN: "solve/auto"}
    return {name: every[name] for name in run.chosen(every, f"{key}-cost", f"{key}-d_W")}


def panels_of(key, data, rows, methods, epsilons):
    for y, name in (("cost", "cost"), ("distance", "d_W")):
        found = {label: wanted(rows, data, way) for label, way in methods.items()}
        curves = [flat(label, some, y, (epsilons[0], epsilons[-1])) if label == PLAIN
                  else curve(label, by(some, "epsilon", y)) for label, some in found.items()]
        yield panel(f"{key}-{name}", f"{NAMES[key]}: {name} against ε", "ε", name, curves,
                    x_log=True)


def make(run):
    epsilons = run.pick((1, 10, 100), FAR, FAR)
    panels = []
    for key, (data, n, blocks, sweeps, seeds) in SETS.items():
        methods = chosen(run, key, ways(blocks, run.pick(100, sweeps, 10_000), True))
        if not methods:
            continue
        rows = run.sweep(f"wang2015-figure2-{key}", data, methods.values(),
                         set="clusters=3,dim=3", epsilon=",".join(map(str, epsilons)), norm=1,
                         delta=f"{1 / (n * math.log(n)):.6g}", reference="none",
                         seeds=run.pick("1-2", seeds, "1-50"))
        panels += panels_of(key, data, rows, methods, epsilons)
    file, bases, labels = yale(run)
    epsilons = run.pick((1, 10, 100), FAR, FAR)
    methods = chosen(run, "faces", ways(9, run.pick(50, 1000, 10_000), run.size == "full"))
    if not methods:
        return panels
    rows = run.sweep("wang2015-figure2-faces", file, methods.values(),
                     set="clusters=5,dim=9", epsilon=",".join(map(str, epsilons)), norm=1,
                     delta=f"{1 / (320 * math.log(320)):.6g}", reference="none", truth=bases,
                     labels=labels, seeds=run.pick("1-2", "1-8", "1-20"))
    return panels + list(panels_of("faces", file, rows, methods, epsilons))
