"""Differentially private clustering and subspace learning."""
from ._cloister import ffi, lib

__version__ = ffi.string(lib.clo_version()).decode()
