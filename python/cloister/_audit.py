"""Audits: try to refute a claim of one of the library's mechanisms."""
from __future__ import annotations

from typing import Any

from ._native import Watcher, call, ffi, lib, settle_threads, threads_here
from .exceptions import ArgumentError


def audit(mechanism: str, *, epsilon: float, delta: float = 1e-6, relation: str = "replace",
          trials: int = 10_000, seconds: float = 0, alpha: float | None = None,
          seed: str = "audit", threads: int = 0) -> list[dict[str, Any]]:
    """Runs a mechanism many times on worst-case neighbours, and says what the evidence supports.

    An audit can refute a claim, with a stated chance of being wrong; it cannot prove one.

    Parameters
    ----------
    mechanism : str
        ``"kmeans/lloyd"``, say.
    epsilon, delta : float
        The claim.
    trials : int
        Runs in each of the two worlds, of each pair.
    seconds : float
        Stop a pair after so long; 0: no limit.
    alpha : float, optional
        The chance that a true claim is refuted, over the whole audit.

    Returns
    -------
    list of dict
        A finding a pair: ``claim``, ``evidence``, ``refuted``, ``trials``, ...
    """
    found = lib.clo_mechanism_find(mechanism.encode())
    if not found:
        raise ArgumentError(f"there is no mechanism {mechanism!r}")
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
    budget = ffi.new("clo_loss *", {"epsilon": epsilon, "delta": delta})
    settle_threads()
    with watcher.watching():
        call(lib.clo_audit, found, relations[relation], budget[0], options, lib.cloister_finding,
             handle)
    return findings
