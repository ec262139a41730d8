"""From real data to a report: where do Americans get their mail?

The data are public: where 41,291 post codes of the United States lie, in places.csv.gz beside this
file.  Read them as if each were a person's home.  Run it as a script, or cell by cell in an editor
that knows `# %%`.

    pip install cloister pyarrow matplotlib
    python places.py

It leaves ledger.db, release.json, report.txt and three pictures in the current folder.
"""
# %% The data: a CSV file, as a colleague might have sent it
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.cluster import KMeans

import cloister

matplotlib.use("Agg")
places = cloister.read(Path(__file__).with_name("places.csv.gz"))  # names of columns come along

# %% What everybody knows: the corners of the map.  They are not looked up in the data.
bounds = {"longitude": (-125, -66), "latitude": (24, 50)}

# %% Before anything is spent: how far off would the centers be?
plan = cloister.plan("kmeans", epsilon=0.5, clusters=8, rows=places.num_rows, bounds=bounds)
print(plan)
print("in degrees:", dict(zip(bounds, plan.info["prediction"]["columns"])))
assert not plan.hidden  # noise would not hide the clusters

# %% A ledger that will never let more than epsilon 1 be spent on these people
ledger = cloister.Ledger("ledger.db", create=True)
if "places" not in [account["dataset"] for account in ledger.accounts()]:
    ledger.declare("places", epsilon=1, delta=1e-5)

# %% The fit: one charge, one release
kmeans = cloister.PrivateKMeans(8, epsilon=0.5, bounds=bounds, ledger="ledger.db",
                                dataset="places", progress=True).fit(places)
print(kmeans.release_.to_frame().round(1))
print(kmeans.release_.statement)

# %% What may be published: the release, its report and its pictures
kmeans.release_.to_json("release.json")
with open("report.txt", "w", encoding="utf-8") as file:
    file.write(kmeans.release_.report())
kmeans.release_.plot().figure.savefig("centers.png")
kmeans.release_.plot("error").figure.savefig("error.png")
ledger.plot("places").figure.savefig("budget.png")

# %% What only the owner of the data may see: what did privacy cost?
lower, upper = np.transpose(list(bounds.values()))
rows = 2 * (np.column_stack([places[name] for name in bounds]) - lower) / (upper - lower) - 1
exact = KMeans(8, n_init=10, random_state=0).fit(rows)
ratio = -kmeans.score(places) / (exact.inertia_ / len(rows))
print(f"not for publication: the loss is {ratio:.3f} times that of k-means without privacy")

# %% What is left
account = ledger.accounts("places")[0]
print(f"spent epsilon {account['spent']['epsilon']:g}, left {account['left']['epsilon']:.3g}")
