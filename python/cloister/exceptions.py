"""The exceptions: one class per status of the library.

A message may name a column, a row or a parameter; it never holds a value of the data.
"""
from __future__ import annotations

__all__ = [
    "ArgumentError", "BudgetError", "BusyError", "CancelledError", "CloisterError",
    "DomainError", "EntropyError", "FormatError", "HiddenByNoiseWarning", "InternalError",
    "LedgerError",
    "MemoryShortError",
    "NotPrivateWarning", "ReadError", "SignatureError", "UndeliveredError",
    "UnsupportedError", "from_status",
]


class NotPrivateWarning(UserWarning):
    """The release is not private: anyone who knows its seed can remove the noise."""


class HiddenByNoiseWarning(UserWarning):
    """Noise hides the result, by public numbers; the message says what would help."""


class CloisterError(Exception):
    """The base of all of them."""

    status = "UNKNOWN"
    #: A setting of the library that would help, and its value: "columns -cut"; "": none.
    advice = ""


class ArgumentError(CloisterError, ValueError):
    """A parameter is not valid."""

    status = "ARGUMENT"


class DomainError(CloisterError, ValueError):
    """The public knowledge is invalid, or does not fit the data."""

    status = "DOMAIN"


class UnsupportedError(CloisterError, ValueError):
    """This mechanism, or this build, cannot do that."""

    status = "UNSUPPORTED"


class FormatError(CloisterError, ValueError):
    """The data have a wrong format."""

    status = "FORMAT"


class ReadError(CloisterError, OSError):
    """Reading or writing failed."""

    status = "IO"


class BudgetError(CloisterError):
    """Not enough budget is left for the run, or noise would hide its result; nothing was spent."""

    status = "BUDGET"


class LedgerError(CloisterError):
    """The ledger cannot be used."""

    status = "LEDGER"


class EntropyError(CloisterError, OSError):
    """The operating system provides no secure randomness."""

    status = "ENTROPY"


class MemoryShortError(CloisterError, MemoryError):
    """There is not enough memory."""

    status = "MEMORY"


class CancelledError(CloisterError):
    """The caller stopped it."""

    status = "CANCELLED"


class InternalError(CloisterError, RuntimeError):
    """A fault in cloister itself."""

    status = "INTERNAL"


class SignatureError(CloisterError):
    """A release or an export was changed, or its signature is wrong."""

    status = "SIGNATURE"


class UndeliveredError(CloisterError):
    """A paid release could not be written; fetch it by its token."""

    status = "UNDELIVERED"


class BusyError(CloisterError):
    """A broker does not accept the request now; nothing was spent."""

    status = "BUSY"


_CLASSES = {kind.status: kind for kind in CloisterError.__subclasses__()}


def from_status(status: str, message: str) -> CloisterError:
    """The exception for a status by its name, without ``CLO_``."""
    return _CLASSES.get(status, CloisterError)(message)
