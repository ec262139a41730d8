"""The library as Python sees it: texts, statuses as exceptions, callbacks.

cffi lets go of the interpreter's lock around every call, so that other threads run meanwhile; a
callback takes it back for as long as it runs, and that is also when Ctrl-C is seen.
"""
from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from . import _kernels, exceptions

with _kernels.fitting("cloister._cloister"):
    from ._cloister import ffi as ffi, lib as lib

_STATUS_NAMES: dict[int, str] = {
    number: name.removeprefix("CLO_") for number, name in ffi.typeof("clo_status").elements.items()
}


#: Before the name of a setting in a message of a job; nobody sees it (clo_job_spell).
SPELLING = "\x01"
#: Settings of the command that are called otherwise here.
RENAMED = {"yes": "anyway", "new": "new-dataset"}
_SPELLED = re.compile(SPELLING + "([a-z-]*[a-z])")


def _spell(found: re.Match[str]) -> str:
    """A setting as a caller of Python writes it."""
    name = found.group(1)
    spelled = RENAMED.get(name, name).replace("-", "_")
    return f"{spelled}=True" if name in RENAMED else spelled


def settings_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords under the names of a job's settings."""
    back = {ours: name for name, ours in RENAMED.items()}
    plain = {name.replace("_", "-"): value for name, value in keywords.items()}
    return {back.get(name, name): value for name, value in plain.items()}


def text(pointer: Any) -> str | None:
    """A C text, or None where there is none."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


class Error:
    """Room for one failure, and the way from it to an exception."""

    def __init__(self) -> None:
        self.pointer = ffi.new("clo_error *")

    def check(self, status: int) -> None:
        if status:
            message = text(self.pointer.message) or text(lib.clo_status_text(status)) or ""
            message = _SPELLED.sub(_spell, message)
            raise exceptions.from_status(_STATUS_NAMES.get(status, ""), message)


def call(function: Callable[..., int], *arguments: Any) -> None:
    """A function that takes its clo_error last; raises where it fails."""
    error = Error()
    error.check(function(*arguments, error.pointer))


def make(kind: str, function: Callable[..., int], *arguments: Any) -> Any:
    """The same for a function whose last argument before the error is what it makes."""
    out = ffi.new(f"{kind} **")
    call(function, *arguments, out)
    return out[0]


def written(function: Callable[..., int], *arguments: Any) -> bytes:
    """The bytes that a function writes."""
    pieces: list[bytes] = []
    handle = ffi.new_handle(pieces)
    call(function, *arguments, lib.cloister_write, handle)
    return b"".join(pieces)


def written_json(function: Callable[..., int], *arguments: Any) -> Any:
    return json.loads(written(function, *arguments))


# ---- callbacks --------------------------------------------------------------------------------

class Watcher:
    """Keeps what a callback raised, Ctrl-C above all, until the call has ended."""

    def __init__(self, progress: Callable[[float], object] | None = None) -> None:
        self.progress = progress
        self.raised: BaseException | None = None
        self.note: str | None = None  # what to say of a call that is stopped now
        self.handle = ffi.new_handle(self)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """What was raised meanwhile takes the place of 'stopped at the caller's request'."""
        try:
            yield
        except exceptions.CancelledError as cancelled:
            raised = self.raised or cancelled
            if self.note is not None:
                raised.add_note(self.note)
            if raised is cancelled:
                raise
            raise raised from cancelled


def _stop(kind: Any, value: BaseException, traceback: Any) -> bool:
    """A callback raised: the library is told to stop, and the watcher remembers why."""
    handle = traceback.tb_frame.f_locals.get("user") if traceback else None
    if handle:
        kept = ffi.from_handle(handle)
        if isinstance(kept, Watcher):
            kept.raised = value
    return False


@ffi.def_extern(error=False, onerror=_stop)
def cloister_progress(user: Any, done: float) -> bool:
    watcher = ffi.from_handle(user)
    if watcher.progress is not None:
        watcher.progress(done)
    return watcher.raised is None


@ffi.def_extern(error=False)
def cloister_write(user: Any, data: Any, count: int) -> bool:
    ffi.from_handle(user).append(ffi.buffer(data, count)[:])
    return True


def _loss(loss: Any) -> dict[str, float]:
    return {"epsilon": loss.epsilon, "delta": loss.delta}


@ffi.def_extern(error=False)
def cloister_account(user: Any, account: Any) -> bool:
    ffi.from_handle(user).append({
        "dataset": text(account.dataset),
        "capped": bool(account.capped),
        "cap": _loss(account.cap) if account.capped else None,
        "spent": _loss(account.spent),
        "composed": _loss(account.composed),
        "left": _loss(account.left) if account.capped else None,
        "charges": account.charges,
        "created": account.created,
        "last_charge": account.last_charge or None,
    })
    return True


@ffi.def_extern(error=False)
def cloister_charge(user: Any, charge: Any) -> bool:
    ffi.from_handle(user).append({
        "sequence": charge.sequence,
        "dataset": text(charge.dataset),
        "mechanism": text(charge.mechanism),
        "relation": text(charge.relation),
        **_loss(charge.loss),
        "time": charge.time,
        "token": text(charge.token) or None,
        "stored": charge.stored,
        "user": text(charge.user) or None,
        "host": text(charge.host) or None,
        "purpose": text(charge.purpose) or None,
        "program": text(charge.program) or None,
    })
    return True


@ffi.def_extern(error=False)
def cloister_finding(user: Any, finding: Any) -> bool:
    ffi.from_handle(user).append({
        "pair": text(finding.pair),
        "what": text(finding.what),
        "group": finding.group,
        "unit": "mu" if finding.unit == lib.CLO_AUDIT_MU else "epsilon",
        "claim": finding.claim,
        "evidence": finding.evidence,
        "confidence": finding.confidence,
        "refuted": bool(finding.refuted),
        "trials": finding.trials,
        "seconds": finding.seconds,
    })
    return True


# ---- threads and forks ------------------------------------------------------------------------

_forked = False


def _after_fork() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_after_fork)


def threads_here(asked: Any) -> Any:
    """As many threads as were asked for, but one in a forked child."""
    return 1 if _forked else asked


def settle_threads() -> None:
    """To be called before work begins: in a forked child there is one thread (prelude.c)."""
    if _forked:
        lib.cloister_one_thread()
