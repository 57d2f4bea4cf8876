"""Names of models as names of SSA values."""

from __future__ import annotations

import re
from typing import Final

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_$.-]")
_NUMBER_AT_END: Final = re.compile(r"_(\d+)$")


def value_name(name: str) -> str | None:
    """
    Returns a name of a model as one of an SSA value: `/layer.0/MatMul_output_0` is `layer.0_MatMul_output.0`.

    xDSL takes `_0` at the end of a name for the number of one of several that are alike, and drops it. The result is
    `None` where nothing is left.
    """
    found = _NOT_IN_NAMES.sub("_", name)
    if found[-1:].isdigit():
        found = _NUMBER_AT_END.sub(r".\1", found)
    found = found.strip("_.-")
    if not found:
        return None
    return f"v{found}" if found[0].isdigit() else found


__all__ = ["value_name"]
