"""A release: the public result of a run."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _draw, _names
from ._native import call, ffi, lib, make, text, written
from ._schema import Schema
from ._table import Table
from .exceptions import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._plan import Plan

_NO_CLUSTER = 2**32 - 1


def _at_least_one(name: str, value: int | str) -> int:
    number = int(operator.index(value))  # type: ignore[arg-type]
    if number < 1:
        raise ArgumentError(f"{name} must be at least 1, not {number}")
    return number


class Release(Mapping[str, "NDArray[np.float64]"]):
    """The named arrays of a run, and how they were made.  It is public, unless it was seeded.

    A release is a mapping from names (``"centers"``, ``"sizes"``) to arrays.  It is read with
    :meth:`from_json` or :meth:`read`, and writing it again gives the same bytes.

    Attributes
    ----------
    info : dict
        The whole of it, as its JSON says: family, method, parameters, domain, privacy, queries
        (``docs/release-format.md``).  Releases of the first schema have the names of the second.
    """

    def __init__(self, json_bytes: bytes) -> None:
        pointer = make("clo_release", lib.clo_release_parse, json_bytes, len(json_bytes))
        self._pointer = ffi.gc(pointer, lib.clo_release_free)
        self._bytes = json_bytes
        self.info: dict[str, Any] = _names.release_fields(json_bytes)
        self._arrays: dict[str, NDArray[np.float64]] = {}
        for i in range(lib.clo_release_count(self._pointer)):
            array = lib.clo_release_at(self._pointer, i)
            shape = tuple(array.shape[j] for j in range(array.dimensions))
            size = int(np.prod(shape))
            data = np.frombuffer(ffi.buffer(array.data, 8 * size), dtype=np.float64) \
                if size else np.empty(0)
            self._arrays[text(array.name) or ""] = data.reshape(shape).copy()

    # ---- reading and writing ----

    @classmethod
    def from_json(cls, source: str | bytes) -> Release:
        """Reads a release from JSON."""
        return cls(source.encode() if isinstance(source, str) else bytes(source))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Release:
        """Reads a release from a file."""
        with open(path, "rb") as file:
            return cls(file.read())

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Its JSON, as the command writes it; with a path also written to a file."""
        if path is not None:
            with open(path, "wb") as file:
                file.write(self._bytes)
        return self._bytes.decode()

    def __reduce__(self) -> Any:
        return type(self), (self._bytes,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __sklearn_clone__(self) -> Release:
        return self

    # ---- where it comes from ----

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The charge, its ledger and the signature; None if no ledger was charged."""
        found: dict[str, Any] | None = self.info.get("certificate")
        return found

    @property
    def unchanged(self) -> bool | None:
        """Whether it is as it was signed; None if it is not signed."""
        seal = lib.clo_release_seal(self._pointer)
        return None if seal == lib.CLO_SEAL_NONE else bool(seal == lib.CLO_SEAL_WHOLE)

    def check(self, public_key: str | bytes) -> None:
        """Raises :class:`SignatureError` unless this key signed exactly these bytes.

        Parameters
        ----------
        public_key : str or bytes
            64 hexadecimal digits, as ``cloister ledger key`` prints them, or 32 bytes.
        """
        key = bytes.fromhex(public_key.strip()) if isinstance(public_key, str) else public_key
        if len(key) != 32:
            raise ArgumentError("a public key must have 32 bytes, or 64 hexadecimal digits")
        call(lib.clo_release_check, self._pointer, key)

    # ---- arrays ----

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self._arrays and name in _names.ARRAYS:
            _names.warn(name, _names.ARRAYS[name])
            name = _names.ARRAYS[name]
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns of the data, or None."""
        names = self.info["domain"].get("columns")
        return list(names) if names else None

    @property
    def center_noise(self) -> NDArray[np.float64] | None:
        """The standard deviation of the noise of each coordinate of each center, or None."""
        if "centers" not in self or not lib.clo_release_center_noise(self._pointer, ffi.NULL):
            return None
        out = np.empty(self["centers"].shape)
        lib.clo_release_center_noise(self._pointer, ffi.cast("double *", out.ctypes.data))
        return out

    @property
    def center_lists(self) -> tuple[NDArray[np.float64], ...] | None:
        """For very long centers: where each starts, its columns, its values; otherwise None."""
        if "centers_starts" not in self:
            return None
        return tuple(self["centers_" + name] for name in ("starts", "columns", "values"))

    @property
    def schema(self) -> Schema | None:
        """The schema that it was made with; None: with none."""
        pointer = lib.clo_release_schema(self._pointer)
        return Schema._of(pointer, self) if pointer else None

    def to_frame(self, name: str | None = None) -> Any:
        """An array of the release as a pandas data frame, with the columns of the data.

        Parameters
        ----------
        name : str, optional
            Which array; by default the centers, offsets, basis or bounds.
        """
        import pandas

        known = [n for n in ("centers", "offsets", "basis", "lower", "radius") if n in self]
        name = name or (known[0] if known else next(iter(self)))
        if name in ("lower", "upper"):
            return pandas.DataFrame({"lower": self["lower"], "upper": self["upper"]},
                                    index=self.columns)
        array = self[name]
        if name == "basis":
            return pandas.DataFrame(array, index=self.columns)
        if array.ndim == 2 and self.columns and array.shape[1] == len(self.columns):
            return pandas.DataFrame(array, columns=self.columns)
        if array.ndim == 3:
            parts = [pandas.DataFrame(part, index=self.columns) for part in array]
            frame = pandas.concat(parts, keys=range(len(parts)))
            frame.index.names = ["cluster", "column"]
            return frame
        return pandas.DataFrame(array, columns=[name] if array.ndim == 1 else None)

    # ---- other numbers of clusters ----

    def cut(self, clusters: int | str, *, clusters_at_most: int = 20, explain: float | None = None,
            smallest: float | None = None) -> Release:
        """Another number of clusters, from the noisy answers of this release, free of charge.

        It needs no data and no ledger: what is computed from a release is as private as it is.
        Only releases of kmeans/density hold their answers.  The same release gives the same bytes.

        Parameters
        ----------
        clusters : int or 'auto'
            How many; ``'auto'`` chooses the number as a run does.
        clusters_at_most : int, default=20
            With ``'auto'``: the most to try.
        explain : float, optional
            With ``'auto'``: the fewest clusters that explain this share of the spread.
        smallest : float, optional
            With ``'auto'``: take fewer clusters until each has so many records, by the noisy sizes.

        Returns
        -------
        Release
            With ``"centers"``, ``"sizes"`` and ``"uncertainty"``; ``info["derived"]`` names the
            release that it comes from.
        """
        options = ffi.new("clo_cut_options *")
        lib.clo_cut_options_init(options, ffi.sizeof("clo_cut_options"))
        automatic = isinstance(clusters, str)
        if automatic and clusters != "auto":
            raise ArgumentError(f"clusters must be a number or 'auto', not {clusters!r}")
        options.clusters = 0 if automatic else _at_least_one("clusters", clusters)
        options.clusters_at_most = _at_least_one("clusters_at_most", clusters_at_most)
        options.explain = explain or 0
        options.smallest = smallest or 0
        made = ffi.gc(make("clo_release", lib.clo_release_cut, self._pointer, options),
                      lib.clo_release_free)
        return type(self)(written(lib.clo_report, made, lib.CLO_JSON))

    # ---- the caller's own rows: not private, and in no release ----

    def assign(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The cluster of each row, -1 for one with a missing cell, and its distance."""
        clusters = np.empty(table.rows, dtype=np.uint32)
        distances = np.empty(table.rows)
        call(lib.clo_assign_rows, self._pointer, table.pointer,
             ffi.cast("uint32_t *", clusters.ctypes.data),
             ffi.cast("double *", distances.ctypes.data))
        labels = clusters.astype(np.int64)
        labels[clusters == _NO_CLUSTER] = -1
        return labels, distances

    def cost(self, table: Table) -> float:
        """The mean squared distance of the rows (k-median: mean distance), on the scale of
        the run."""
        out = ffi.new("clo_evaluation *")
        out.struct_size = ffi.sizeof("clo_evaluation")
        nothing = ffi.new("clo_matrix *")[0]
        call(lib.clo_evaluate, self._pointer, table.pointer, nothing, out)
        return float(out.cost)

    # ---- showing ----

    @property
    def privacy(self) -> dict[str, Any]:
        """Its cost and guarantee: epsilon, delta, relation, guarantee, whether it is private."""
        return _names.Fields(self.info["privacy"])

    @property
    def statement(self) -> str:
        """The guarantee in a sentence."""
        return str(self.info["privacy"]["statement"])

    def report(self, *, wide: bool = False) -> str:
        """The release as text, as ``cloister report`` does."""
        form = lib.CLO_TEXT_WIDE if wide else lib.CLO_TEXT
        return written(lib.clo_report, self._pointer, form).decode()

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {'x'.join(map(str, array.shape))}"
                           for name, array in self.items())
        kind = "" if self.privacy["private"] else ", NOT PRIVATE"
        return f"<Release of {self.info['family']}/{self.info['method']}: {shapes}{kind}>"

    @property
    def charts(self) -> list[str]:
        """The names of its charts."""
        names = (text(lib.clo_release_chart_at(self._pointer, i)) for i in count())
        return [name or "" for name in takewhile(lambda name: name is not None, names)]

    def _page(self, function: Any, path: str | os.PathLike[str] | None, *,
              compare: Iterable[Release] = (), **texts: Any) -> str:
        """What one of the library's functions makes of it; texts are fields of its options."""
        options = ffi.new("clo_page_options *")
        lib.clo_page_options_init(options, ffi.sizeof("clo_page_options"))
        others = [other._pointer for other in compare]
        kept = [ffi.new("clo_release *[]", others)]
        options.others = ffi.cast("clo_release **", kept[0])
        options.other_count = len(others)
        for name, value in texts.items():
            if isinstance(value, str):
                value = ffi.new("char[]", value.encode())
                kept.append(value)
            if value is not None:
                setattr(options, name, value)
        made = written(function, self._pointer, options)
        if path is not None:
            with open(path, "wb") as file:
                file.write(made)
        return made.decode()

    def to_html(self, path: str | os.PathLike[str] | None = None, *,
                compare: Iterable[Release] = ()) -> str:
        """The release as a page, as ``cloister report -o page.html`` writes it.

        Parameters
        ----------
        path : path, optional
            Also write it to this file.
        compare : releases, optional
            Other releases of the same columns, to show in the same charts.
        """
        return self._page(lib.clo_release_html, path, compare=compare)

    def to_svg(self, chart: str | None = None, path: str | os.PathLike[str] | None = None, *,
               axes: tuple[str | int, str | int] | None = None,
               compare: Iterable[Release] = ()) -> str:
        """One chart as an SVG picture.

        Parameters
        ----------
        chart : str, optional
            One of :attr:`charts`; by default the first.
        path : path, optional
            Also write it to this file.
        axes : pair, optional
            The two columns of the chart ``"map"``, by name or by number, from 1; by default the
            two directions in which the centers differ most.
        compare : releases, optional
            Other releases of the same columns, to show in the same chart.
        """
        across, up = (str(axes[0]), str(axes[1])) if axes else (None, None)
        return self._page(lib.clo_release_svg, path, compare=compare, chart=chart,
                          x_column=across, y_column=up)

    def _repr_html_(self) -> str:
        return self._page(lib.clo_release_html, None, fragment=True)

    def plan(self) -> Plan:
        """The plan of this release, made again from its public facts.  It shows the queries and
        the error for other budgets.  Runs with a private norm, a private center or a projection
        have none."""
        from ._plan import Plan

        info, domain = self.info, self.info["domain"]
        if any(name.startswith("learnt_") for name in self) or "projection" in domain:
            raise ArgumentError("a release with a private norm, a private center or a projection "
                                "does not hold its plan")
        settings = {"mechanism": f"{info['family']}/{info['method']}", **info["parameters"],
                    "rows": domain.get("rows") or None, "cols": domain["cols"],
                    "accept": info["privacy"]["guarantee"]}
        settings.update({name: info["privacy"].get(name) for name in ("epsilon", "delta",
                                                                      "relation", "unit")})
        if settings["unit"] is not None:
            settings["rows-per-unit"] = info["privacy"]["rows_per_unit"]
        if "lower" in domain:
            settings["bounds"] = (domain["lower"], domain["upper"])
        else:
            settings.update({"norm": domain["norm"], "center": domain.get("center")})
        return Plan(settings)

    def plot(self, what: str = "values", ax: Any = None) -> Any:
        """Draws it with matplotlib; returns the axes.

        Parameters
        ----------
        what : {'values', 'budget', 'error'}
            The released values: centers or offsets as a picture of columns, loadings of a subspace
            as lines, bounds as bars.  Or the share of the budget of each query, or the expected
            error for other budgets (both from :meth:`plan`).
        """
        if what == "values":
            return _draw.values(self, ax)
        if what == "budget":
            return _draw.budget(self.plan(), ax)
        if what == "error":
            return self.plan().plot(ax=ax)
        raise ArgumentError("what must be one of values, budget, error")
