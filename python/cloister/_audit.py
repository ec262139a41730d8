"""Audits: try to refute a claim of one of the library's mechanisms."""
from __future__ import annotations

from typing import Any

from ._native import Watcher, call, ffi, lib, settle_threads, threads_here
from .exceptions import ArgumentError


def audit(mechanism: str, *, epsilon: float, delta: float | None = None, relation: str = "replace",
          trials: int = 10_000, seconds: float = 0, alpha: float | None = None,
          seed: str = "audit", threads: int = 0) -> list[dict[str, Any]]:
    """Tries to refute the privacy claim of a method, by many runs on neighbors.

    An audit can refute a claim, with a stated probability of being wrong; it cannot prove one.

    Parameters
    ----------
    mechanism : str
        A method, such as ``"kmeans/lloyd"``.
    epsilon : float
        The claim.
    delta : float, optional
        The claim's delta; by default 1e-6, and 0 for the family ``bounds``.
    trials : int
        How many runs on each of the two data sets of a pair.
    seconds : float
        The most seconds for a pair; 0: no limit.
    alpha : float, optional
        The probability that the audit refutes a claim that is true.

    Returns
    -------
    list of dict
        One finding per pair: ``claim``, ``evidence``, ``refuted``, ``trials``, ...
    """
    found = lib.clo_mechanism_find(mechanism.encode())
    retired = lib.clo_mechanism_retired(mechanism.encode())
    if retired:
        raise ArgumentError(ffi.string(retired).decode())
    if not found:
        raise ArgumentError(f"there is no method {mechanism!r}: 'cloister methods' lists them")
    relations = {"replace": lib.CLO_REPLACE, "add-remove": lib.CLO_ADD_REMOVE}
    if relation not in relations:
        raise ArgumentError(f"relation must be one of {', '.join(relations)}, not {relation!r}")
    options = ffi.new("clo_audit_options *")
    lib.clo_audit_options_init(options, ffi.sizeof("clo_audit_options"))
    options.trials, options.seconds = trials, seconds
    options.threads = threads_here(threads)
    if alpha is not None:
        options.alpha = alpha
    lib.clo_seed_from_text(seed.encode(), options.seed)
    watcher = Watcher()
    options.progress, options.user = lib.cloister_progress, watcher.handle
    findings: list[dict[str, Any]] = []
    handle = ffi.new_handle(findings)
    if delta is None:
        pure = ffi.string(lib.clo_mechanism_family(found)) == b"bounds"
        delta = 0.0 if pure else lib.clo_default_delta(0)
    budget = ffi.new("clo_loss *", {"epsilon": epsilon, "delta": delta})
    settle_threads()
    with watcher.watching():
        call(lib.clo_audit, found, relations[relation], budget[0], options, lib.cloister_finding,
             handle)
    return findings
