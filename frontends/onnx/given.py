"""What callers of `compile_onnx` give: options, values for inputs, and the weights that the import makes of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.passes.pipeline_text import parse_pipeline
from ...runtime.cache import tuning_database
from ...runtime.compile import check_options as check_own_options
from ...runtime.compile import divided
from ...runtime.native.threads import thread_count
from ...runtime.program.arrays import unshared


def check_options(options: Mapping[str, Any]) -> None:
    """Raises the errors of `compile` for its options, which may have to wait for a call otherwise."""
    check_own_options(options["opt_level"], options["numerics"], options["target"], options["tuning"])
    thread_count(options["threads"])
    tuning_database(options["tuning"])
    _, text = divided(options["pipeline"])
    if text:
        parse_pipeline(text)


def kept(value: Any) -> Any:
    """Returns a value that is given to an input for good: a copy of an array that somebody may write into."""
    return unshared(value) if isinstance(value, np.ndarray) else value


def as_read_only(value: Any) -> Any:
    """Returns a weight for `compile`, which copies arrays that may be written into. These are the import's own."""
    if not isinstance(value, np.ndarray):
        return value
    found = value.view()
    found.flags.writeable = False
    return found
