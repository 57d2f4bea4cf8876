"""
Sizes of dimensions by name: the attribute `stepwell.dims`, which functions on any level may have on their arguments.

An entry per dimension is a name (`n`), a size computed from names (`= n + 1`), or empty. Equal names are equal sizes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from keyword import iskeyword
from typing import Any, Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Operation

from ...lazy_dataclass import dataclass
from ..roles import AXIS, DIMS

COMPUTED: Final = "="
"""What an entry begins with that is an expression, not a name."""

MOST_CHARACTERS: Final = 1000
"""The longest expression. Python's parser takes its nesting from the stack."""

_BINARY: Final[dict[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: Final[dict[str, Callable[..., int]]] = {"min": min, "max": max}


class SizeError(ValueError):
    """Sizes that contradict each other, or an entry of `stepwell.dims` that has no meaning."""


def is_size_name(name: str) -> bool:
    """Returns whether an expression may use `name` as it is."""
    return name.isascii() and name.isidentifier() and not iskeyword(name) and name not in _FUNCTIONS


def is_computed(entry: str) -> bool:
    """Returns whether an entry of `stepwell.dims` is an expression."""
    return entry.startswith(COMPUTED)


@lru_cache(1024)
def expression_of(entry: str) -> ast.expr:
    """
    Returns what `= n + 1` says. Raises SizeError unless it is made of names, integers, `+ - * // %`, `min` and `max`.
    """
    text = entry.removeprefix(COMPUTED).strip()
    expected = "expected names, integers, + - * // % and min(…), max(…)"
    if len(text) > MOST_CHARACTERS:
        raise SizeError(f"a size has {len(text)} characters, expected at most {MOST_CHARACTERS}")
    try:
        found = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise SizeError(f"'{text}' is no size, {expected}") from None
    if not all(_is_allowed(node) for node in _nodes(found)):
        raise SizeError(f"'{text}' is no size, {expected}")
    return found


def _nodes(expression: ast.expr) -> list[ast.expr]:
    """Returns the expression and what it is made of, without the names of functions."""
    found: list[ast.expr] = []
    pending: list[ast.expr] = [expression]
    while pending:
        node = pending.pop()
        found.append(node)
        match node:
            case ast.BinOp():
                pending += [node.left, node.right]
            case ast.UnaryOp():
                pending.append(node.operand)
            case ast.Call():
                pending += node.args
            case _:
                pass
    return found


def _is_allowed(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return type(node.value) is int
        case ast.Name():
            return node.id not in _FUNCTIONS
        case ast.BinOp():
            return type(node.op) in _BINARY
        case ast.UnaryOp():
            return isinstance(node.op, ast.USub)
        case ast.Call():
            named = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
            return named and len(node.args) > 1 and not node.keywords
        case _:
            return False


def names_in(entry: str) -> tuple[str, ...]:
    """Returns the names in an expression, each once and in order. Raises SizeError for one that has no meaning."""
    nodes = ast.walk(expression_of(entry))
    return tuple(dict.fromkeys(each.id for each in nodes if isinstance(each, ast.Name) and each.id not in _FUNCTIONS))


def computed(entry: str, sizes: Mapping[str, int]) -> int | None:
    """
    Returns the value of an expression, or None where a name in it has no size.

    Raises SizeError for a division by zero.
    """
    if not set(names_in(entry)) <= sizes.keys():
        return None
    try:
        return _value(expression_of(entry), sizes)
    except ZeroDivisionError:
        raise SizeError(f"the size {_shown(entry)} divides by zero{_where(entry, sizes)}") from None


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name():
            return sizes[node.id]
        case ast.BinOp():
            return _BINARY[type(node.op)](_value(node.left, sizes), _value(node.right, sizes))
        case ast.UnaryOp():
            return -_value(node.operand, sizes)
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS[name](*(_value(each, sizes) for each in node.args))
        case _:
            raise AssertionError(f"{ast.dump(node)} has passed the check")


def _shown(entry: str) -> str:
    return entry.removeprefix(COMPUTED).strip()


def _where(entry: str, sizes: Mapping[str, int]) -> str:
    """Returns `, where n is 5`, and nothing for an expression without names."""
    parts = [f"{name} is {sizes[name]}" for name in names_in(entry)]
    return f", where {' and '.join(parts)}" if parts else ""


@dataclass
class NamedSizes:
    """
    The sizes that dimensions have by name. Shapes come in one by one.

    Of each argument `bind` learns the sizes with plain names. Then `shape` says what is computed from them.
    """

    _found: dict[str, tuple[int, str]] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, int]:
        """Returns the sizes that are known by now."""
        return {name: size for name, (size, _) in self._found.items()}

    def bind(self, entries: Sequence[str], shape: Sequence[int | None], place: Callable[[int], str]) -> None:
        """
        Learns the sizes of an argument. `place` says where a dimension stands, as in ` in 'A'`.

        Raises SizeError where a name has had another size.
        """
        for axis, (entry, size) in enumerate(zip(entries, shape, strict=False)):
            if not entry or is_computed(entry) or size is None:
                continue
            first, owner = self._found.setdefault(entry, (size, place(axis)))
            if first != size:
                raise SizeError(f"dimension '{entry}' is {first}{owner} and {size}{place(axis)}")

    def check(self, entries: Sequence[str], shape: Sequence[int | None], place: Callable[[int], str]) -> None:
        """
        Raises SizeError where a size of an argument is not what is computed for it.
        """
        for axis, (entry, size) in enumerate(zip(entries, shape, strict=False)):
            wanted = self.size(entry) if is_computed(entry) else None
            if size is not None and wanted is not None and size != wanted:
                where = _where(entry, self.sizes)
                raise SizeError(f"the size{place(axis)} is {size}, expected {wanted}: it is {_shown(entry)}{where}")

    def size(self, entry: str) -> int | None:
        """Returns the size that an entry stands for, None for an unknown one. Raises SizeError for a negative one."""
        found = computed(entry, self.sizes) if is_computed(entry) else self.sizes.get(entry)
        if found is not None and found < 0:
            raise SizeError(f"the size {_shown(entry)} is {found}{_where(entry, self.sizes)}")
        return found


def entries_of(attributes: Mapping[str, Attribute]) -> tuple[str, ...]:
    """Returns `stepwell.dims` among the attributes of an argument, and () where it is not there."""
    names = attributes.get(DIMS)
    given = names.data if isinstance(names, ArrayAttr) else ()
    return tuple(each.data if isinstance(each, StringAttr) else "" for each in given)


def entries_of_arguments(function: Operation) -> list[tuple[str, ...]]:
    """
    Returns `stepwell.dims` of each argument of a function, and [] where no argument has attributes.

    It is [] too where sizes are arguments of their own, since buffers are vectors there.
    """
    given = function.get_attr_or_prop("arg_attrs")
    if not isinstance(given, ArrayAttr) or any(AXIS in each.data for each in given if isinstance(each, DictionaryAttr)):
        return []
    return [entries_of(each.data) if isinstance(each, DictionaryAttr) else () for each in given]


def wrong_dims(function: Operation) -> str | None:
    """Returns what is wrong with the named sizes of a function on any level, None when nothing is."""
    entries = entries_of_arguments(function)
    types = function.get_attr_or_prop("function_type")
    of_results = _entries_of_results(function)
    if not (any(entries) or any(of_results)) or not isinstance(types, FunctionType):
        return None
    outputs = types.outputs.data if function.name == "tensor_loop.func" else ()
    shapes = [_shape(type_) for type_ in (*types.inputs.data, *outputs)]
    entries = entries or [()] * len(shapes)
    if len(shapes) != len(entries):
        return None  # Their own verifiers count arguments.
    wrong = _wrong_entries(entries, shapes) or sizes_that_differ(entries, shapes)
    return wrong or (_wrong_results(entries, shapes, of_results, types) if any(of_results) else None)


def _entries_of_results(function: Operation) -> list[tuple[str, ...]]:
    given = function.get_attr_or_prop("res_attrs")
    if not isinstance(given, ArrayAttr) or function.name == "tensor_loop.func":
        return []
    return [entries_of(each.data) if isinstance(each, DictionaryAttr) else () for each in given]


def _wrong_results(
    entries: Sequence[tuple[str, ...]], shapes: Shapes, of_results: Sequence[tuple[str, ...]], types: FunctionType
) -> str | None:
    """Returns what is wrong with the sizes of results. They are those of arguments, or follow from them."""
    sizes = NamedSizes()
    for each, shape in zip(entries, shapes, strict=True):
        sizes.bind(each, shape or (), lambda axis: "")
    plain = {entry for each in entries for entry in each if entry and not is_computed(entry)}
    for number, (each, type_) in enumerate(zip(of_results, types.outputs.data, strict=False)):
        shape = _shape(type_) or ()
        if each and len(each) != len(shape):
            return f"'{DIMS}' of result {number} has {len(each)} entries, expected {len(shape)}, one per dimension"
        for axis, entry in enumerate(each):
            try:
                names = names_in(entry) if is_computed(entry) else (entry,) if entry else ()
                if (unknown := next((name for name in names if name not in plain), None)) is not None:
                    where = f"dimension {axis} of result {number} is '{entry}'"
                    return f"{where}, but no argument has one named '{unknown}'"
                wanted = sizes.size(entry) if entry else None
            except SizeError as error:
                return f"'{DIMS}' of result {number}: {error}"
            if wanted is not None and shape[axis] is not None and wanted != shape[axis]:
                return f"dimension {axis} of result {number} is {shape[axis]}, expected {wanted}: it is '{entry}'"
    return None


def _shape(type_: Any) -> tuple[int | None, ...] | None:
    if not hasattr(type_, "get_shape"):
        return None
    return tuple(None if size < 0 else size for size in type_.get_shape())


Shapes = Sequence[tuple[int | None, ...] | None]


def _wrong_entries(entries: Sequence[tuple[str, ...]], shapes: Shapes) -> str | None:
    plain = {entry for each in entries for entry in each if entry and not is_computed(entry)}
    for number, (each, shape) in enumerate(zip(entries, shapes, strict=True)):
        rank = 0 if shape is None else len(shape)
        if each and len(each) != rank:
            return f"'{DIMS}' of argument {number} has {len(each)} entries, expected {rank}, one per dimension"
        for axis, entry in enumerate(each):
            try:
                names = names_in(entry) if is_computed(entry) else ()
            except SizeError as error:
                return f"'{DIMS}' of argument {number}: {error}"
            if (unknown := next((name for name in names if name not in plain), None)) is not None:
                return f"dimension {axis} of argument {number} is '{entry}', but no dimension is named '{unknown}'"
    return None


def sizes_that_differ(entries: Sequence[tuple[str, ...]], shapes: Shapes) -> str | None:
    """Returns where the known sizes of arguments contradict their names, None where they do not."""
    sizes = NamedSizes()
    known = [() if shape is None else shape for shape in shapes]
    try:
        for learn in (sizes.bind, sizes.check):
            for number, (each, shape) in enumerate(zip(entries, known, strict=False)):
                learn(each, shape, lambda axis, number=number: f" (dimension {axis} of argument {number})")
    except SizeError as error:
        return str(error)
    return None
