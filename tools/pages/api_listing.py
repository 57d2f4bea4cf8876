"""
The public names with their signatures, one per line: what test/api.txt holds.

`python -m stepwell.tools.pages.api_listing > test/api.txt` brings it up to date; a test fails when it is not, so every
change of the API is seen in a diff.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, ForwardRef

from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import OpDef
from xdsl.passes import ModulePass

from ...core.passes.base import StepwellPass
from ...dialects.graph.base import TensorOp

PACKAGE = (__package__ or "").partition(".")[0]

ROOMS = (
    "",
    "core",
    "te",
    "te.library",
    "patterns",
    "schedule",
    "machine",
    "dialects",
    "dialects.graph",
    "dialects.tensor_loop",
    "dialects.schedule",
    "dialects.pattern",
    "dialects.tile",
    "dialects.llvm_ext",
    "analysis",
    "reference",
    "frontends",
    "rewrites",
    "lowering",
    "runtime",
    "testing",
)
"""The packages whose `__all__` is public, in the order of docs/api.md. `""` is `stepwell` itself."""

LISTED_BY_SIGNATURE = (Operation, Attribute, ModulePass)
"""The bases of classes whose members are those of every op, attribute or pass. They differ in how one is made."""


def room_module(room: str) -> ModuleType:
    """Returns the package of a room."""
    return import_module(f"{PACKAGE}.{room}" if room else PACKAGE)


def public_names(room: str) -> list[str]:
    """Returns the public names of a room, sorted."""
    return sorted(room_module(room).__all__)


@cache
def homes() -> dict[int, str]:
    """Maps the identity of each public class and function to the name that it is listed by: that of its room."""
    found: dict[int, str] = {}
    for room in ROOMS[1:]:
        for name in public_names(room):
            value = getattr(room_module(room), name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found.setdefault(id(value), f"{PACKAGE}.{room}.{name}")
    return found


def kind_of(value: Any) -> str:
    """Returns what a public object is, in one word."""
    if inspect.ismodule(value):
        return "module"
    if not inspect.isclass(value):
        return "function" if inspect.isroutine(value) else "dialect" if isinstance(value, Dialect) else "constant"
    kinds = {Operation: "op", Attribute: "attribute", ModulePass: "pass", Exception: "exception"}
    return next((word for base, word in kinds.items() if issubclass(value, base)), "class")


def _fields_of(definition: OpDef) -> str:
    """What graph ops differ in, as they share a constructor: the names of operands, properties and results."""
    results = ", ".join(name for name, _ in definition.results)
    arguments = [name for name, _ in definition.operands]
    if definition.properties:
        arguments += ["*", *definition.properties]
    return f"({', '.join(arguments)}) -> ({results})"


class _Text(str):
    """Text that a signature shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> Any:
    """An annotation without quotes, or a default value without an address of memory."""
    if isinstance(value, ForwardRef):  # of a named tuple
        return _Text(value.__forward_arg__)
    if isinstance(value, str):
        return _Text(value)
    return _Text(value.__qualname__) if inspect.isclass(value) or inspect.isroutine(value) else value


def _shown_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    empty, default = inspect.Parameter.empty, parameter.default
    if parameter.annotation is not empty:
        parameter = parameter.replace(annotation=_shown(parameter.annotation))
    is_named = default is not empty and (inspect.isclass(default) or inspect.isroutine(default))
    return parameter.replace(default=_shown(default)) if is_named else parameter


def signature_of(value: Any) -> str:
    """Returns the public parameters of a function, or those that make an object of a class, and what it returns."""
    try:
        signature = inspect.signature(value)
    except ValueError:  # exceptions that inherit the constructor of Python
        return "(*args)"
    if inspect.isclass(value) and issubclass(value, TensorOp) and "name" in vars(value):
        return _fields_of(value.get_irdl_definition())
    parameters = [_shown_parameter(each) for each in signature.parameters.values() if each.name[0] != "_"]
    returned = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    if returned is not inspect.Signature.empty:
        returned = _shown(returned)
    return str(signature.replace(parameters=parameters, return_annotation=returned))


def members_of(cls: type) -> dict[str, Any]:
    """
    Returns the public methods and properties of a class.

    Those that it inherits from a private class of the package are its own; those of a public class are listed there.
    """
    is_base = cls is StepwellPass or (issubclass(cls, Operation) and "name" not in vars(cls))
    if issubclass(cls, LISTED_BY_SIGNATURE) and not is_base:
        return {}
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        is_own = base is cls or (base.__module__.startswith(f"{PACKAGE}.") and id(base) not in homes())
        if is_own:
            found |= {name: value for name, value in vars(base).items() if not name.startswith("_")}
    routines = (staticmethod, classmethod, property)
    return {
        name: value for name, value in sorted(found.items()) if inspect.isfunction(value) or isinstance(value, routines)
    }


def _member_line(owner: str, name: str, value: Any) -> str:
    if isinstance(value, property):
        returned = inspect.signature(value.fget).return_annotation if value.fget else inspect.Signature.empty
        result = "" if returned is inspect.Signature.empty else f" -> {returned}"
        return f"{owner}.{name}: property{result}"
    function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
    kind = type(value).__name__ if function is not value else "method"
    return f"{owner}.{name}: {kind} {signature_of(function)}"


def lines_of(room: str, name: str) -> Iterator[str]:
    """Yields the line of a public name, and those of its members."""
    value = getattr(room_module(room), name)
    full = ".".join(filter(None, (PACKAGE, room, name)))
    home = homes().get(id(value), full)
    if home != full:
        yield f"{full} = {home}"
        return
    kind = kind_of(value)
    is_callable = inspect.isclass(value) or inspect.isroutine(value)
    yield f"{full}: {kind} {signature_of(value)}" if is_callable else f"{full}: {kind}"
    if inspect.isclass(value):
        for member, definition in members_of(value).items():
            yield _member_line(full, member, definition)


def listing() -> str:
    """Returns the text of test/api.txt."""
    return "".join(f"{line}\n" for room in ROOMS for name in public_names(room) for line in lines_of(room, name))


if __name__ == "__main__":
    print(listing(), end="")
