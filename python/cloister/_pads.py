"""Vectors of integers under pads, so that what carries or stores them sees uniform noise
(proofs/pad.md).  A key travels in tasks, and never with what it hides.
"""
from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

import numpy as np

from ._native import ffi, lib
from .exceptions import DomainError

Vector = np.ndarray[Any, np.dtype[np.uint64]]

PAD_BYTES = int(lib.CLO_PAD_BYTES)


def integers(vector: Vector) -> Any:
    """Its place, as the library takes it."""
    return ffi.cast("int64_t *", vector.ctypes.data)


def remove_pad(key: bytes, vector: Vector) -> None:
    lib.clo_pad_remove(key, integers(vector), len(vector))


def new_key(mask: bool) -> bytes:
    """Of one pass: each asks for one of its own, so that none hides two things.  b"": no pads."""
    return secrets.token_bytes(PAD_BYTES) if mask else b""


def part_key(pass_key: bytes, number: int) -> bytes:
    """Of task `number` of a pass (pad.T1)."""
    return hashlib.blake2b(number.to_bytes(8, "little"), key=pass_key,
                           digest_size=PAD_BYTES).digest()


# ---- pads that follow from what they hide (pad.T2) ----------------------------------------------

def _keyed(pass_key: bytes, what: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=pass_key, digest_size=PAD_BYTES, person=what).digest()


def _tag(pass_key: bytes, part: int, vector: Vector) -> bytes:
    return _keyed(pass_key, b"tag", part.to_bytes(8, "little") + vector.tobytes())


def masked(pass_key: bytes, part: int, vector: Vector) -> bytes:
    """Puts the vector under a pad, which the tag that is returned belongs to.  The same vector of
    the same part has the same tag; another one has another."""
    if not pass_key:
        return b""
    tag = _tag(pass_key, part, vector)
    lib.clo_pad_add(_keyed(pass_key, b"pad", tag), integers(vector), len(vector))
    return tag


def unmask(pass_key: bytes, tags: bytes, vector: Vector) -> None:
    """Takes the pads of all these tags off a sum."""
    each = [tags[i:i + PAD_BYTES] for i in range(0, len(tags), PAD_BYTES)]
    if len(set(each)) != len(each):
        raise DomainError("the engine returned the sum of a part twice: run again")
    for tag in each:
        remove_pad(_keyed(pass_key, b"pad", tag), vector)


# ---- rows on their way (pad.T4) -----------------------------------------------------------------

def room_for(words: int) -> int:
    """Up to an eighth more, and at least 64: a length tells that little."""
    step = 1 << max(3, words.bit_length() - 4)
    return max(64, -(-words // step) * step)


def sealed(pass_key: bytes, number: int, vectors: list[Vector]) -> bytes:
    """Vectors as one message: `number` is this one's alone in its pass."""
    lengths = np.array([len(vectors), *map(len, vectors)], dtype=np.uint64)
    words: Vector = np.concatenate([lengths, *vectors])
    filled: Vector = np.zeros(room_for(len(words)), dtype=np.uint64)
    filled[:len(words)] = words
    return masked(pass_key, number, filled) + filled.tobytes()


def opened(pass_key: bytes, number: int, message: bytes) -> list[Vector]:
    """The vectors of a message, which must be the one that was sent."""
    tag = message[:PAD_BYTES] if pass_key else b""
    words: Vector = np.frombuffer(message[len(tag):], np.uint64).copy()
    if pass_key:
        unmask(pass_key, tag, words)
        if not hmac.compare_digest(_tag(pass_key, number, words), tag):
            raise DomainError("rows were changed on their way: run again")
    count = int(words[0])
    ends = 1 + count + np.cumsum(words[1:1 + count]).astype(np.int64)
    return [words[end - int(length):end] for end, length in zip(ends, words[1:1 + count])]
