"""Pictures of releases, plans and ledgers, with matplotlib where it is installed.

What is drawn is released or public, like what it is drawn from.
"""
from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .exceptions import ArgumentError

if TYPE_CHECKING:
    from ._ledger import Ledger
    from ._plan import Plan
    from ._release import Release


def axes(ax: Any) -> Any:
    """The caller's axes, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _columns(release: Release) -> list[str]:
    return release.columns or [str(j + 1) for j in range(release.info["domain"]["cols"])]


def _bounds(release: Release, ax: Any) -> None:
    ax.vlines(range(len(release["lower"])), release["lower"], release["upper"], lw=4)
    ax.set_ylabel("private bounds")


def _loadings(release: Release, ax: Any) -> None:
    for j, direction in enumerate(release["basis"].T):
        ax.plot(direction, "o-", label=f"direction {j + 1}")
    ax.axhline(0, lw=0.5, color="gray")
    ax.set_ylabel("loading")
    ax.legend()


def _picture(release: Release, ax: Any) -> None:
    array = release["centers" if "centers" in release else "offsets"]
    ax.figure.colorbar(ax.imshow(array, aspect="auto"), ax=ax)
    ax.set_yticks(range(len(array)), [str(i) for i in range(len(array))])
    ax.set_ylabel("cluster")


def values(release: Release, ax: Any) -> Any:
    """Centers or offsets as a picture of columns, loadings as lines, bounds as bars."""
    ax = axes(ax)
    if "lower" in release:
        _bounds(release, ax)
    elif "basis" in release:
        _loadings(release, ax)
    elif "centers" in release or "offsets" in release:
        _picture(release, ax)
    else:
        raise ArgumentError("there is nothing to draw in this release")
    ticks = _columns(release)
    ax.set_xticks(range(len(ticks)), ticks)
    privacy = release.privacy
    ax.set_title(f"{release.info['family']}/{release.info['method']}, epsilon "
                 f"{privacy['epsilon']:g}" + ("" if privacy["private"] else ", NOT PRIVATE"))
    return ax


def budget(plan: Plan, ax: Any) -> Any:
    """Which part of the budget each query takes."""
    ax = axes(ax)
    queries = plan.queries[::-1]
    ax.barh([query["label"] for query in queries], [100 * query["share"] for query in queries])
    ax.set_xlabel("percent of the budget")
    ax.set_title(f"{plan.method}, epsilon {plan.info['budget']['epsilon']:g}")
    return ax


def error(plan: Plan, epsilons: Iterable[float], ax: Any) -> Any:
    """The error to expect against epsilon."""
    points = [(x, y) for x, y in plan.curve(epsilons) if y is not None]
    if not points:
        raise ArgumentError(f"{plan.method} has no prediction of its error for these numbers")
    ax = axes(ax)
    ax.loglog(*zip(*points), "o-")
    ax.set_xlabel("epsilon")
    ax.set_ylabel("expected error")
    ax.set_title(plan.method)
    return ax


def spending(ledger: Ledger, dataset: str, ax: Any) -> Any:
    """What was spent on a data set over time, as a plain sum, and its cap."""
    account = ledger.accounts(dataset)[0]
    ax = axes(ax)
    times, sums = [datetime.datetime.fromtimestamp(account["created"])], [0.0]
    for charge in ledger.history(dataset):
        times.append(datetime.datetime.fromtimestamp(charge["time"]))
        sums.append(sums[-1] + charge["epsilon"])
    ax.step(times, sums, where="post", marker="o", label="spent (sum of epsilon)")
    if account["capped"]:
        ax.axhline(account["cap"]["epsilon"], color="gray", ls="--", label="cap")
    ax.set_ylabel("epsilon")
    ax.set_ylim(bottom=0)
    ax.set_title(dataset)
    ax.legend()
    ax.figure.autofmt_xdate()
    return ax
