"""What the program would remark."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class Remark(UserWarning):
    """What the program would remark on standard error, as a warning of Python."""


def warn(remarks: Iterable[str], stacklevel: int) -> None:
    """Warns of each, as if whoever is so many calls above had done so."""
    for remark in remarks:
        warnings.warn(remark, Remark, stacklevel=stacklevel + 1)
