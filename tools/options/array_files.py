"""Arrays in and out of the tools: `.npy` and `.npz` files, with errors that say which file and which array."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.files import reason_of, write_file
from ...te.dtypes import numpy_dtype

# Imports inside functions keep the start of the command fast: NumPy is loaded only when needed.


def read_arrays(path: str) -> Any:
    """What a .npy or .npz file holds. NumPy says of whatever it cannot read that it may be pickled."""
    from zipfile import BadZipFile

    import numpy as np

    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise StepwellError(Diagnostic(f"cannot read input '{path}': {reason_of(error)}")) from error
    except (ValueError, EOFError, BadZipFile) as error:
        message = f"input '{path}' is not a .npy or .npz file, or it is damaged or holds Python objects"
        raise StepwellError(Diagnostic(message)) from error


def read_array(path: str) -> Any:
    """The one array of a .npy file."""
    loaded = read_arrays(path)
    if hasattr(loaded, "files"):
        message = f"input '{path}' is an archive, expected one array"
        raise StepwellError(Diagnostic(message, hint="use --inputs"))
    return loaded


def array_of(archive: Any, key: str, path: str) -> Any:
    """The array `key` of an archive read from `path`."""
    from zipfile import BadZipFile
    from zlib import error as ZlibError

    try:
        return archive[key]
    except (ValueError, EOFError, BadZipFile, ZlibError) as error:
        message = f"array '{key}' of '{path}' is damaged or holds Python objects"
        raise StepwellError(Diagnostic(message)) from error


def typed(array: Any, dtype: str) -> Any:
    """A .npy file has no name for bf16: it says two raw bytes per element."""
    if dtype == "bf16" and array.dtype.str == "|V2":
        return array.view(numpy_dtype(dtype))
    return array


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Writes a .npz file."""
    import numpy as np

    data = io.BytesIO()
    np.savez(data, **arrays)
    write_file(path, data.getvalue())
