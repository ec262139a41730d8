"""Plans: what a run would query, cost and deliver.  They read no data and cost nothing."""
from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from . import _draw, _names
from ._job import Job
from ._native import settings_of
from .exceptions import ArgumentError


class Plan:
    """Everything about a run that does not depend on the data.

    Attributes
    ----------
    info : dict
        The whole plan, as ``cloister plan --json`` writes it.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self.info: dict[str, Any] = _names.plan_fields(Job(settings).plan())

    @property
    def method(self) -> str:
        """Family and method: ``"kmeans/lloyd"``."""
        return f"{self.info['family']}/{self.info['method']}"

    @property
    def reason(self) -> str | None:
        """Why this method was chosen; None if you named it."""
        reason = self.info.get("reason")
        return None if reason is None else str(reason)

    @property
    def error(self) -> float | None:
        """The expected error; ``info["prediction"]["meaning"]`` explains it.  None if the number
        of rows is not public, or the method has no prediction."""
        error = self.info.get("prediction", {}).get("error")
        return None if error is None else float(error)

    @property
    def hidden(self) -> bool | None:
        """Whether noise would hide the result: the run would then waste its budget."""
        hidden = self.info.get("prediction", {}).get("hidden")
        return None if hidden is None else bool(hidden)

    @property
    def queries(self) -> list[dict[str, Any]]:
        """The queries, one dictionary each: query, label, noise, share of the budget."""
        return list(self.info["queries"])

    def curve(self, epsilons: Iterable[float]) -> list[tuple[float, float | None]]:
        """The expected error for each of these epsilons."""
        return [(epsilon, Plan({**self._settings, "epsilon": epsilon}).error)
                for epsilon in epsilons]

    def to_frame(self) -> Any:
        """The queries as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.queries)

    def __repr__(self) -> str:
        error = "" if self.error is None else f", expected error {self.error:.3g}"
        budget = self.info["budget"]
        return (f"<Plan of {self.method}: epsilon {budget['epsilon']:g}, delta {budget['delta']:g}"
                f"{error}{', which noise would hide' if self.hidden else ''}>")

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(q['query'])}</td><td>{html.escape(q['label'])}</td>"
            f"<td>{q['count']}</td><td>{q['noise']:.4g}</td><td>{q['share']:.0%}</td></tr>"
            for q in self.queries)
        return (f"<p>{html.escape(repr(self)[1:-1])}</p><table><tr><th>query</th><th>of what</th>"
                f"<th>times</th><th>noise</th><th>share</th></tr>{rows}</table>")

    def plot(self, what: str = "error", *,
             epsilons: Iterable[float] = (0.1, 0.2, 0.5, 1, 2, 5, 10), ax: Any = None) -> Any:
        """Draws it with matplotlib; returns the axes.

        Parameters
        ----------
        what : {'error', 'budget'}
            The expected error for each epsilon, or the share of the budget of each query.
        epsilons : budgets of the curve, with ``what='error'``
        """
        if what == "error":
            return _draw.error(self, epsilons, ax)
        if what == "budget":
            return _draw.budget(self, ax)
        raise ArgumentError("what must be one of error, budget")


def plan(mechanism: str, *, epsilon: float, **settings: Any) -> Plan:
    """Plans a run: its queries, cost and expected error.  Reads no data and costs nothing.

    Parameters
    ----------
    mechanism : str
        A family (``"kmeans"``), whose best method is chosen, or a method (``"kmeans/local"``).
    epsilon : float
        The budget.
    **settings
        As ``cloister plan`` takes them, with underscores: ``rows``, ``cols``, ``norm`` or
        ``bounds``, ``clusters``, ...

    Examples
    --------
    >>> import cloister
    >>> plan = cloister.plan("kmeans", epsilon=1, clusters=3, rows=5000, cols=10, norm=1)
    >>> plan.hidden
    False
    """
    named = settings_of(settings)
    return Plan({"mechanism": mechanism, "epsilon": epsilon, **named})
