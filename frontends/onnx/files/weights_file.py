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
from ....core.weights import hold_weights, write_weights


@cache
def _folder() -> Path:
    """Returns a folder that is deleted with the process."""
    folder = Path(tempfile.mkdtemp(prefix="stepwell-onnx-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_numbers = count()


def attach_weights(module: ModuleOp, arrays: Mapping[str, Any], path: str | Path | None) -> None:
    """
    Writes the arrays to `path`, which the module names. Without arrays nothing is written.

    If no path is given it names a side-car that this process alone knows. Arrays in mapped files stay there, and the
    others go to a temporary file.
    """
    if not arrays:
        return
    if path is None:
        target = _folder() / f"{next(_numbers)}.safetensors"
        hold_weights(target, arrays)
    else:
        target = Path(path).resolve()
        write_weights(target, arrays)
    module.attributes[WEIGHTS] = StringAttr(str(target))
