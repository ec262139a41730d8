"""The library as Python sees it: texts, statuses as exceptions, callbacks.

cffi lets go of the interpreter's lock around every call, so that other threads run meanwhile; a
callback takes it back for as long as it runs, and that is also when Ctrl-C is seen.
"""
from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

from . import _kernels, exceptions

with _kernels.fitting("cloister._cloister"):
    from ._cloister import ffi as ffi, lib as lib

_STATUS_NAMES: dict[int, str] = {
    number: name.removeprefix("CLO_") for number, name in ffi.typeof("clo_status").elements.items()
}


#: Before the name of a setting in a message of a job; nobody sees it (clo_job_spell).
SPELLING = "\x01"
#: Settings that name files.
_FILES = frozenset({"data", "ledger", "bounds", "project", "cache"})
_SPELLED = re.compile(SPELLING + "([a-z-]*[a-z])")


def encoded(value: str, what: str) -> bytes:
    """As the library takes a text.  Names of files may hold bytes that are no text."""
    try:
        return value.encode("utf-8", "surrogateescape" if what in _FILES else "strict")
    except UnicodeEncodeError:
        pass  # not raised from here: what was caught quotes the text
    raise exceptions.ArgumentError(f"{what} holds a broken character (a lone surrogate): remove "
                                   "it, or read the file with its right encoding")


def text(pointer: Any) -> str | None:
    """A C text, or None where there is none."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else None


@dataclass(frozen=True)
class Setting:
    """A row of the library's table of settings (clo_setting_info)."""

    name: str
    python: str | None  # its name as an argument of an estimator
    flag: bool
    choice: bool
    default: str | None  # which is the library's to fill in, but for a choice
    help: str


def _settings() -> Iterator[Setting]:
    i = 0
    while row := lib.clo_job_setting(i):
        yield Setting(text(row.name) or "", text(row.python), row.kind == lib.CLO_SETTING_FLAG,
                      row.kind == lib.CLO_SETTING_CHOICE, text(row.preset), text(row.help) or "")
        i += 1


#: Every setting of a run, in the library's order.
SETTINGS: tuple[Setting, ...] = tuple(_settings())
_OTHERWISE = {row.name: row.python for row in SETTINGS
              if row.python and row.python != row.name.replace("-", "_")}


def _spell(found: re.Match[str]) -> str:
    """A setting as a caller of Python writes it."""
    name = found.group(1)
    spelled = _OTHERWISE.get(name, name.replace("-", "_"))
    return f"{spelled}=True" if name in _OTHERWISE else spelled


def settings_of(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords under the names of a job's settings."""
    back = {ours: name for name, ours in _OTHERWISE.items()}
    return {back.get(name, name.replace("_", "-")): value for name, value in keywords.items()}


class Error:
    """Room for one failure, and the way from it to an exception."""

    def __init__(self) -> None:
        self.pointer = ffi.new("clo_error *")

    def check(self, status: int) -> None:
        if status:
            message = text(self.pointer.message) or text(lib.clo_status_text(status)) or ""
            message = _SPELLED.sub(_spell, message)
            failure = exceptions.from_status(_STATUS_NAMES.get(status, ""), message)
            failure.advice = text(self.pointer.advice) or ""
            raise failure


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

#: How deep this thread is in functions that the library has called.
_inside = threading.local()


@contextmanager
def called_back() -> Iterator[None]:
    """Code of the caller's that the library waits for: what it raises ends the call in order."""
    depth = getattr(_inside, "depth", 0)
    _inside.depth = depth + 1
    try:
        yield
    finally:
        _inside.depth = depth


class Signals:
    """Handlers that are written in Python, Ctrl-C's above all, wait between the steps of a run.

    Python would run them, and raise, as soon as a step has ended: a release that was paid for would
    be lost on its way out.  So they run while the library asks whether to go on, and once the
    release is stored.  Only the main thread runs handlers, and only there is anything done.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[int, FrameType | None]] = []
        self._late: list[tuple[int, FrameType | None]] = []
        self._handlers: dict[int, Any] = {}

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if getattr(_inside, "depth", 0):
            self._handlers[number](number, frame)
        else:
            self._waiting.append((number, frame))

    @contextmanager
    def waiting(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        try:
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._hear)
            yield
        finally:
            for heard, handler in self._handlers.items():
                signal.signal(heard, handler)

    def let(self) -> None:
        """Those that wait have their turn, and may raise."""
        while self._waiting:
            number, frame = self._waiting.pop(0)
            self._handlers[number](number, frame)

    def charged(self) -> None:
        """What came while the charge was made came too late to take it back: it waits for the
        release, which would be lost otherwise.  Ctrl-C once more ends the run."""
        self._late += self._waiting
        self._waiting = []

    def stored(self) -> None:
        """Everything that waited has its turn."""
        self._waiting = self._late + self._waiting
        self._late = []
        self.let()


class Watcher:
    """Keeps what a callback raised, Ctrl-C above all, until the call has ended."""

    def __init__(self, progress: Callable[[float], object] | None = None) -> None:
        self.progress = progress
        self.raised: BaseException | None = None
        self.note: str | None = None  # what to say of a call that is stopped now
        self.signals = Signals()
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
    with called_back():
        watcher.signals.let()
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
