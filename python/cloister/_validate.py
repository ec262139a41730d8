"""Data as scikit-learn checks them, and messages without a cell of them.

scikit-learn and pyarrow quote what they could not convert; a message may end in a log that is not
as well kept as the data.
"""
from __future__ import annotations

import re
from typing import Any

from .exceptions import ArgumentError, FormatError

_CELLS = re.compile(r":\narray=.*?(?=Reshape your data|$)", re.DOTALL)
_COMPLEX = "Complex data not supported"
_COLUMN = re.compile(r"Conversion failed for column (.*) with type (.*)$", re.DOTALL)


def validated(estimator: Any, X: Any, **how: Any) -> Any:
    """What ``validate_data`` gives; what it refuses is said without the data."""
    from sklearn.utils.validation import validate_data  # workers of a cluster need none

    try:
        return validate_data(estimator, X, **how)
    except ValueError as refused:
        message = str(refused)
        if not ("array=" in message or message.startswith(("could not convert", _COMPLEX))):
            raise
    # Not within the handler: what was caught there would go along, cells and all.
    if "array=" in message:
        raise ArgumentError(_CELLS.sub(".  ", message))
    if message.startswith(_COMPLEX):
        raise ArgumentError(_COMPLEX)
    raise ArgumentError("the data hold a cell that is not a number: turn columns of text into "
                        "numbers, or leave them out")


def arrow_table(frame: Any) -> Any:
    """A data frame of pandas as a table of pyarrow, without its index."""
    import pyarrow

    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError) as refused:
        if isinstance(refused, KeyError) or not _COLUMN.search(str(refused.args[-1])):
            raise
        found = _COLUMN.search(str(refused.args[-1]))
        name, kind = found.groups() if found else ("", "")
    else:
        for field in table.schema:
            if isinstance(field.type, pyarrow.BaseExtensionType):
                raise FormatError(f"the column '{field.name}' is not of numbers (its type is "
                                  f"{frame.dtypes[field.name]}): leave it out, or turn it into "
                                  "numbers")
        return table
    raise FormatError(f"the column '{name}' is not of numbers, or not of numbers alone (its type "
                      f"is {kind}): leave it out, or turn it into numbers with pandas.to_numeric")
