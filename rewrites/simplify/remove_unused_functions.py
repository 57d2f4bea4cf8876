"""The pass `remove-unused-functions`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.utils.exceptions import PassFailedException

from ...core.ir.kinds import is_kind
from ...core.ir.walk import walk
from ...core.messages.diagnostics import emit_warning
from ...core.messages.texts import missing_function
from ...core.passes.base import StepwellPass
from ...core.roles import INSTANCES, prepare_function
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import symbol_name


@dataclass(frozen=True)
class RemoveUnusedFunctionsPass(StepwellPass):
    """
    Removes functions that no entry reaches by calls or by any other mention of their name.

    Entries are the functions named in `entry`, or all public ones. Everything in the module that is no function is
    kept, with what it mentions. A weight key `@prepare_0#0` mentions the function `@prepare_0`. A warning says when
    there is no entry.

    Before:
        func.func @main() { func.call @a() : … }
        func.func private @a() { … }
        func.func private @b() { … }
    After:
        func.func @main() { func.call @a() : … }
        func.func private @a() { … }

    Raises `PassFailedException` for an entry that does not exist.
    """

    name = "remove-unused-functions"

    entry: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {
            name: each for each in op.body.ops if is_function(each) and (name := symbol_name(each)) is not None
        }
        self._check_entries(functions)
        live = set(self.entry)
        if not self.entry:
            live = {name for name, function in functions.items() if not is_private(function)}
        entries = bool(live)
        for other in op.body.ops:
            if symbol_name(other) not in functions:
                live |= mentioned_symbols(other)
        live.update(_symbols_of(op.attributes.values(), {}))
        for name in _reachable(live, functions):
            functions.pop(name, None)
        if functions and not entries:
            hint = f"name entries as in '{self.name}{{entry={next(iter(functions))}}}'"
            emit_warning(op, f"no function is public, so all {len(functions)} are removed; {hint}")
        for function in functions.values():
            function.detach()
        for function in functions.values():
            function.erase()
        if functions:
            self.count("removed functions", len(functions))

    def _check_entries(self, functions: dict[str, Operation]) -> None:
        for name in self.entry:
            if name not in functions:
                raise PassFailedException(f"{self.name}: {missing_function(name, functions)}")


def is_function(op: Operation) -> bool:
    """Returns whether `op` defines or declares a function of any dialect."""
    return symbol_name(op) is not None and (
        "function_type" in op.properties or op.name in ("func.func", "tensor_loop.func", "llvm.func")
    )


def is_private(op: Operation) -> bool:
    """Returns whether a symbol is visible in its module only."""
    visibility = op.properties.get("sym_visibility", op.attributes.get("sym_visibility"))
    linkage = op.properties.get("linkage")
    internal = linkage is not None and "internal" in str(linkage)
    return internal or (isinstance(visibility, StringAttr) and visibility.data == "private")


def _reachable(roots: Iterable[str], functions: dict[str, Operation]) -> set[str]:
    home = {name: name for name in functions} | _homes_of_instances(functions)
    reached: set[str] = set()
    stack = [home[name] for name in roots if name in home]
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack.extend(home[other] for other in mentioned_symbols(functions[name]) if other in home)
    return reached


def _homes_of_instances(functions: dict[str, Operation]) -> dict[str, str]:
    """Returns the functions that `merge-prepare-functions` has left, by the names of those that they stand for."""
    homes: dict[str, str] = {}
    for name, function in functions.items():
        given = function.attributes.get(INSTANCES)
        if isinstance(given, DictionaryAttr):
            homes.update(dict.fromkeys(given.data, name))
    return homes


def mentioned_symbols(scope: Operation) -> set[str]:
    """Returns the symbols that any attribute or property in `scope` mentions."""
    known: dict[int, tuple[Attribute, frozenset[str]]] = {}
    found: set[str] = set()
    for op in walk(scope):
        found |= _symbols_of(op.properties.values(), known)
        found |= _symbols_of(op.attributes.values(), known)
    return found


def _symbols_of(attributes: Iterable[Attribute], known: dict[int, tuple[Attribute, frozenset[str]]]) -> set[str]:
    found: set[str] = set()
    for attribute in attributes:
        cached = known.get(id(attribute))
        if cached is None:
            cached = known[id(attribute)] = (attribute, frozenset(_symbols_in(attribute)))
        found |= cached[1]
    return found


def _symbols_in(attribute: Attribute) -> Iterator[str]:
    """Returns the root symbols mentioned in one attribute, however deep."""
    stack: list[Any] = [attribute]
    while stack:
        current = stack.pop()
        kind = current.__class__
        if is_kind(kind, SymbolRefAttr):
            yield current.root_reference.data
        elif is_kind(kind, StringAttr):
            if (function := prepare_function(current.data)) is not None:
                yield function
        elif is_kind(kind, ArrayAttr):
            stack.extend(current.data)
        elif is_kind(kind, DictionaryAttr):
            stack.extend(current.data.values())
        elif is_kind(kind, ParametrizedAttribute):
            stack.extend(current.parameters)
