"""What a call that failed raises: one class a status of the library.

A message may name a column, a row or a parameter; it never holds a value of the data.
"""
from __future__ import annotations

__all__ = [
    "ArgumentError", "BudgetError", "CancelledError", "CloisterError", "DomainError",
    "EntropyError", "FormatError", "HiddenByNoiseWarning", "InternalError", "LedgerError",
    "MemoryShortError",
    "NotPrivateWarning", "ReadError", "SignatureError", "UndeliveredError",
    "UnsupportedError", "from_status",
]


class NotPrivateWarning(UserWarning):
    """The release is reproducible, and so not private: who knows the seed can undo the noise."""


class HiddenByNoiseWarning(UserWarning):
    """Public numbers say that noise hides what is looked for; the message says what would help."""


class CloisterError(Exception):
    """The base of all of them."""

    status = "UNKNOWN"


class ArgumentError(CloisterError, ValueError):
    """A parameter is not valid."""

    status = "ARGUMENT"


class DomainError(CloisterError, ValueError):
    """What is declared as public knowledge cannot be used, or does not fit the data."""

    status = "DOMAIN"


class UnsupportedError(CloisterError, ValueError):
    """This mechanism, or this build, cannot do that."""

    status = "UNSUPPORTED"


class FormatError(CloisterError, ValueError):
    """The data are not what they claim to be."""

    status = "FORMAT"


class ReadError(CloisterError, OSError):
    """Reading or writing failed."""

    status = "IO"


class BudgetError(CloisterError):
    """The cap of the data set does not cover the run, or noise would hide what it looks for;
    nothing was spent."""

    status = "BUDGET"


class LedgerError(CloisterError):
    """The ledger cannot be used."""

    status = "LEDGER"


class EntropyError(CloisterError, OSError):
    """The system gives no secure randomness."""

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
    """A signature, or what it stands for, does not fit."""

    status = "SIGNATURE"


class UndeliveredError(CloisterError):
    """A release was paid for and could not be delivered; its token fetches it."""

    status = "UNDELIVERED"


_CLASSES = {kind.status: kind for kind in CloisterError.__subclasses__()}


def from_status(status: str, message: str) -> CloisterError:
    """The exception for a status by its name, without ``CLO_``."""
    return _CLASSES.get(status, CloisterError)(message)
