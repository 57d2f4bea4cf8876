"""What the engines have in common. A way of running a program is a `Variant`, and an engine may offer several."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .reference import Arrays
from .vocabulary import Program

ENGINES = {
    "stepwell": "stepwell_engine",
    "numpy": "numpy_engine",
    "torch": "torch_engine",
    "onnxruntime": "onnxruntime_engine",
    "openvino": "openvino_engine",
}
"""Names and modules. Ours is the first; the others are its peers."""

OURS = "stepwell"


def threads() -> int:
    """How many threads this process shall take."""
    return int(os.environ.get("STEPWELL_THREADS", "1"))


class Unsupported(Exception):
    """The engine has no op for what the program asks."""


@dataclass(frozen=True)
class Variant:
    """One way of running a program: `call` runs it once, `outputs` gives the results of the last call."""

    name: str
    call: Callable[[], Any]
    outputs: Callable[[], list[Any]]


Variants = Callable[[Program, Arrays], Iterator[Variant | Exception]]


def load_engine(name: str) -> Variants:
    """
    The `variants` function of an engine, or of a module of one's own by its full name. Raises ImportError when what it
    needs is not installed.
    """
    module = f".{ENGINES[name]}" if name in ENGINES else name
    return import_module(module, __package__).variants


def attempt(make: Callable[..., Variant], *arguments: Any) -> Variant | Exception:
    """The variant, or why there is none: one that fails does not hide the others."""
    try:
        return make(*arguments)
    except Exception as error:
        return error


def straight_line(lines: list[str], names: dict[str, Any], results: list[str]) -> Callable[[], Any]:
    """Makes a function of the lines, without the cost of a table look-up per node. It returns the named results."""
    body = "\n    ".join([*lines, f"return [{', '.join(results)}]"])
    parameters = ", ".join(f"{name}={name}" for name in names)
    scope = dict(names)
    exec(f"def run({parameters}):\n    {body}\n", scope)
    return scope["run"]


class Kept:
    """Calls a function and keeps what it returned."""

    def __init__(self, run: Callable[[], Any]):
        self.run = run
        self.last: Any = None

    def __call__(self) -> None:
        self.last = self.run()
