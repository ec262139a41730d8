"""balcan2017, Figure 2 a-d: the k-means objective against k and against epsilon; and its comparison
in three columns with the baselines that it names, but for k-variates++."""
from common import by, curve, flat, mnist, panel, wanted

TITLE = "Balcan, Dick, Liang, Mou and Zhang (2017), Figure 2"
ALL_K = (2, 4, 8, 16, 32, 64)
# The paper's algorithm as it ran it, nearly: p = ln(n)/2 directions, several trees, 8 rounds at the
# end; SuLQ with 20 rounds.  "auto" is what a user of cloister gets.
WAYS = {"as the paper ran it": "kmeans/highdim:directions=5,trees=8,rounds=8",
        "SuLQ, 20 rounds": "kmeans/lloyd:rounds=20", "ours, auto": "kmeans"}
SMALL = {"as the paper ran it": "kmeans/highdim:directions=3,trees=3,rounds=8",
         "SuLQ, 20 rounds": "kmeans/lloyd:rounds=20", "sample and aggregate": "kmeans/aggregate",
         "griding": "kmeans/grid", "ours, auto": "kmeans"}
COMMON = {"relation": "add-remove", "delta": "1e-6", "reference": "none"}
PLAIN = "k-means++, not private"
MIXTURE = "mixture:rows={},cols=100,clusters=64,noise=0.0125,spread=1,inner=0.4"


def chosen(run, key, ways):
    """What this panel runs, by the names of its curves."""
    every = {**ways, PLAIN: "solve/kmeans:restarts=1"}
    return {name: every[name] for name in run.chosen(every, key)}


def against_k(run, key, title, data, norm, seeds):
    many = run.pick((2, 8), ALL_K, ALL_K)
    ways = chosen(run, key, WAYS)
    rows = run.sweep(f"balcan2017-{key}-k", data, ways.values(),
                     set="clusters=" + "|".join(map(str, many)), epsilon=1, norm=norm, seeds=seeds,
                     **COMMON) if ways else []
    curves = [curve(name, by(wanted(rows, data, way), "clusters", "cost"))
              for name, way in ways.items()]
    return panel(key, title, "k", "objective", curves, x_log=True, y_log=True)


def against_epsilon(run, key, title, data, ways, k, norm, seeds, epsilons):
    ways = chosen(run, key, ways)
    rows = run.sweep(f"balcan2017-{key}-epsilon", data, ways.values(),
                     set=f"clusters={k}", epsilon=",".join(map(str, epsilons)), norm=norm,
                     seeds=seeds, **COMMON) if ways else []
    found = {name: wanted(rows, data, way) for name, way in ways.items()}
    curves = [flat(name, some, "cost", (epsilons[0], epsilons[-1])) if name == PLAIN
              else curve(name, by(some, "epsilon", "cost")) for name, some in found.items()]
    return panel(key, title, "ε", "objective", curves, x_log=True, y_log=True)


def make(run):
    digits = mnist(run)
    epsilons = run.pick((0.1, 1), (0.05, 0.1, 0.2, 0.5, 1, 2, 5),
                        (0.05, 0.1, 0.2, 0.5, 1, 2, 5))
    seeds = run.pick("1-2", "1-3", "1-10")
    mixture = MIXTURE.format(run.pick(10_000, 100_000, 100_000))
    return [
        against_k(run, "mnist", "MNIST: objective against k at ε = 1", digits, 2550, seeds),
        against_k(run, "mixture", "64 Gaussians in 100 columns: objective against k at ε = 1",
                  mixture, 1, run.pick("1-2", "1-5", "1-10")),
        against_epsilon(run, "epsilon", "MNIST, k = 10: objective against ε", digits, WAYS, 10,
                        2550, seeds, epsilons),
        against_epsilon(run, "small", "3 Gaussians in 3 columns: objective against ε",
                        "mixture:rows=10000,cols=3,clusters=3,noise=0.1,spread=0.8,inner=0.4",
                        SMALL, 3, 1, run.pick("1-3", "1-50", "1-50"),
                        run.pick((0.1, 1), (0.05, 0.1, 0.3, 1, 3), (0.05, 0.1, 0.3, 1, 3))),
    ]
