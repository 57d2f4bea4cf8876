"""
Code generators from outside: who compiles a function with the attribute `graph.compiler`.

```python
@codegen("numpy", supports=lambda function: True)
def numpy_code(function, context):
    return lambda x, y: x + y
```

A code generator gets the function (on tensors, one block) and a `CodegenContext`; it returns a Python callable on NumPy
arrays, LLVM text that defines the function `context.symbol`, or `NativeCode`: such text with addresses of a library.
Packages name theirs as the extension kind `codegen` of a `StepwellPlugin`; docs/external.md tells the whole story.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from xdsl.dialects.func import FuncOp

from ..lazy_dataclass import dataclass
from .messages.diagnostics import Diagnostic, StepwellError, did_you_mean
from .plugins import registry
from .roles import COMPILER as COMPILER
from .roles import EXTERNAL as EXTERNAL

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

EXTENSION: Final = "codegen"
"""Kind of extension of a `StepwellPlugin` whose loaders return a `Codegen`."""


@dataclass(frozen=True)
class NativeCode:
    """
    LLVM text that defines `i32 @symbol(ptr, …)`, and where the functions are that it declares.

    `keep` is held as long as the program lives (the library, say); `addresses` are looked up anew in every process.
    """

    text: str
    addresses: Mapping[str, int] = field(default_factory=dict)
    keep: object = None

    def __repr__(self) -> str:
        return f"<stepwell.NativeCode, {len(self.text)} characters, calls {', '.join(self.addresses) or 'nothing'}>"


@dataclass(frozen=True)
class CodegenContext:
    """
    What a code generator may need besides the function.

    `symbol` is the name that native code must define, with the type `i32 (ptr, …)`: first a pointer per argument,
    then one per result, to dense row-major elements (i1 is a byte); it returns 0, or anything else when it failed.
    `module` holds the function and all that it calls; change neither.
    """

    compiler: str
    symbol: str
    module: ModuleOp = field(repr=False)

    @property
    def functions(self) -> dict[str, FuncOp]:
        """The functions of the module by name: composite functions that the one to compile calls are among them."""
        return {op.sym_name.data: op for op in self.module.body.ops if isinstance(op, FuncOp)}


Code = Callable[..., Any] | str | NativeCode
Supports = Callable[["FuncOp"], bool | str]


@dataclass(frozen=True)
class Codegen:
    """
    A code generator by name. `available` gives the reason why it cannot be used here (a library is not installed), or
    `None`; `supports` says of a function `True`, `False` or why not. What it does not take is compiled by Stepwell.
    """

    name: str
    function: Callable[[FuncOp, CodegenContext], Code] = field(repr=False)
    available: Callable[[], str | None] | None = field(default=None, repr=False)
    supports: Supports | None = field(default=None, repr=False)

    def why_unavailable(self) -> str | None:
        """Returns why the code generator cannot be used on this machine, or `None` when it can."""
        return None if self.available is None else self.available()

    def why_unsupported(self, function: FuncOp) -> str | None:
        """Why `function` is not for this code generator, `None` when it is."""
        verdict = True if self.supports is None else self.supports(function)
        if isinstance(verdict, str):
            return verdict
        return None if verdict else f"code generator '{self.name}' does not support it"


_registered: dict[str, Codegen] = {}

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def codegen(
    name: str, *, available: Callable[[], str | None] | None = None, supports: Supports | None = None
) -> Callable[[FunctionT], FunctionT]:
    """
    Registers a code generator under `name` in this process. One defined anew in the same place replaces the old one.

    Raises `StepwellError` when the name belongs to another one.
    """

    def register(function: FunctionT) -> FunctionT:
        made = Codegen(name, function, available, supports)
        owner = _registered.get(name)
        if owner is not None and _place(owner.function) != _place(function):
            message = f"code generator '{name}' is already defined by {_place(owner.function)}"
            raise StepwellError(Diagnostic(message))
        _registered[name] = made
        note_registration(f"codegen {name}", function, available, supports)
        return function

    return register


def find_codegen(name: str) -> Codegen:
    """The code generator called `name`. Raises `StepwellError` naming it and those that are registered."""
    if name in _registered:
        return _registered[name]
    loaders = registry().extensions_of(EXTENSION)
    if name not in loaders:
        known = codegen_names()
        listing = ", ".join(known) or "none"
        message = f"there is no code generator '{name}'; registered are: {listing}"
        raise StepwellError(Diagnostic(message, hint=did_you_mean(name, known)))
    found = loaders[name]()
    if not isinstance(found, Codegen):
        message = f"code generator '{name}' is of type {type(found).__name__}, expected Codegen"
        raise StepwellError(Diagnostic(message))
    return found


def codegen_names() -> list[str]:
    """The names of all code generators, of this process and of installed packages."""
    return sorted({*_registered, *registry().extensions_of(EXTENSION)})


def _place(function: Any) -> str:
    return f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', '?')}"


# What the compile cache must know

_registrations: dict[str, tuple[Any, ...]] = {}
_PROCESS: Final = f"{os.getpid()}:{os.urandom(8).hex()}"


def note_registration(what: str, *functions: Any) -> None:
    """Notes Python functions that have a say in what a program becomes and are not part of an installed package."""
    _registrations[what] = tuple(function for function in functions if function is not None)


def registrations_fingerprint() -> str:
    """
    A text that differs when a registered function, the set of usable code generators or a pass that joins a pipeline
    does.

    A function counts by the content of the file that defines it; one without a file (of an interactive session) only
    equals itself within this process. Functions of Stepwell itself count by the hash of its sources, elsewhere.
    """
    parts = [
        f"{what}={','.join(_origin(function) for function in functions)}"
        for what, functions in sorted(_registrations.items())
    ]
    for name in codegen_names():
        try:
            reason = find_codegen(name).why_unavailable()
        except Exception as error:  # of a package that is broken; compiling with it says so
            reason = f"{type(error).__name__}: {error}"
        parts.append(f"{name}:{'usable' if reason is None else reason}")
    for point, texts in sorted(registry().joins.items()):
        known = registry().passes
        names = [name for name in re.findall(r"[\w-]+", ",".join(texts)) if name in known]
        parts.append(f"{point}:{texts} {[_origin(known[name]()) for name in names]}")
    return "\n".join(parts)


def _origin(function: Any) -> str:
    if str(getattr(function, "__module__", "")).partition(".")[0] == __name__.partition(".")[0]:
        return _place(function)
    try:
        file = inspect.getsourcefile(function)
        content = None if file is None else _content_hash(file)
    except (TypeError, OSError):
        content = None
    return f"{_place(function)}@{_PROCESS if content is None else content}"


@cache
def _content_hash(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
