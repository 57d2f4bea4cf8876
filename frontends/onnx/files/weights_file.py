"""The weights of an imported model go to a safetensors file."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ....core.roles import WEIGHTS
from ....core.weights import write_weights


@cache
def _folder() -> Path:
    """Returns a folder that is deleted with the process."""
    folder = Path(tempfile.mkdtemp(prefix="stepwell-onnx-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_numbers = count()


def attach_weights(module: ModuleOp, arrays: Mapping[str, Any], path: str | Path | None) -> None:
    """
    Writes the arrays to `path` (a temporary file if none is given), which the module names. Without arrays nothing is
    written.
    """
    if not arrays:
        return
    target = _folder() / f"{next(_numbers)}.safetensors" if path is None else Path(path).resolve()
    write_weights(target, arrays)
    module.attributes[WEIGHTS] = StringAttr(str(target))
