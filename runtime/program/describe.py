"""
Reads the `Description` of a program off a module at the llvm level, for all who load or export machine code.

What it needs stands in attributes (docs/architecture.md, roles). `functions`, `signature` and the like read entries at
any level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ...core.codegens import EXTERNAL
from ...core.messages.diagnostics import fail
from ...core.messages.locations import location_string
from ...core.roles import AXIS, BYTES, CHECKS, INSTANCES, KEY, NAME, PLACE_OF, PREPARE, ROLE, SIGNATURE, TYPE
from ...lowering.shared.te_types import dtype_of
from ..errors import CompileError
from .arrays import ArrayType
from .description import Argument, Description, Entry, External
from .sizes import dims_key


def is_public(op: Operation) -> bool:
    """Returns whether a function can be called from outside: it has a body and is not private."""
    visibility = op.get_attr_or_prop("sym_visibility")
    private = isinstance(visibility, StringAttr) and visibility.data == "private"
    return not private and bool(op.regions) and bool(op.regions[0].blocks)


def functions(module: ModuleOp) -> dict[str, Operation]:
    """Returns every function of the module, at whatever level, by name."""
    return {
        name.data: op
        for op in module.ops
        if op.name in ("func.func", "tensor_loop.func", "llvm.func")
        and isinstance(name := op.get_attr_or_prop("sym_name"), StringAttr)
    }


def array_type(type_: Attribute) -> ArrayType:
    """Returns the array behind a tensor or memref type. Raises CompileError for another type."""
    if not isinstance(type_, TensorType | MemRefType):
        raise CompileError(f"an entry takes and returns tensors, found {type_}")
    shape = tuple(None if size < 0 else size for size in type_.get_shape())
    return ArrayType(dtype_of(type_.get_element_type()), shape)


def argument_attributes(function: Operation) -> list[dict[str, Attribute]]:
    """Returns the attributes of each argument, and an empty list when no argument has any."""
    found = function.get_attr_or_prop("arg_attrs")
    if not isinstance(found, ArrayAttr):
        return []
    return [dict(item.data) if isinstance(item, DictionaryAttr) else {} for item in found]


def input_names(function: Operation) -> list[str]:
    """Returns the names of an entry's arguments for messages: `stepwell.name`, the name in the IR, or `arg0` …"""
    attributes = argument_attributes(function)
    names: list[str] = []
    for index, argument in enumerate(function.regions[0].blocks[0].args):
        given = attributes[index].get(NAME) if attributes else None
        names.append(given.data if isinstance(given, StringAttr) else argument.name_hint or f"arg{index}")
    return names


def signature(function: Operation) -> FunctionType | None:
    """
    Returns the tensor types that an entry had at the highest level.

    They are its `stepwell.signature`, or its own type while it still is on tensors. Below that there are None.
    """
    if isinstance(known := function.attributes.get(SIGNATURE), FunctionType):
        return known
    type_ = function.get_attr_or_prop("function_type")
    if function.name == "func.func" and isinstance(type_, FunctionType):
        if all(isinstance(t, TensorType) for t in (*type_.inputs, *type_.outputs)):
            return type_
    return None


MISSING_ROLES = (
    "say what each argument is for, for instance\n"
    '  func.func @main(%x: memref<4xf32> {stepwell.role = "input"}, %y: memref<4xf32> {stepwell.role = "output"})'
)


def describe(module: ModuleOp) -> Description:
    """Returns the entries, the checks and the calls to the outside of a module at the llvm level."""
    entries: list[Entry] = []
    for name, function in functions(module).items():
        if SIGNATURE in function.attributes or any(ROLE in each for each in argument_attributes(function)):
            entry = _entry(name, function)
            entries += [entry, *_instances(function, entry)]
    return Description(tuple(entries), tuple(_checks(module)), tuple(_externals(module)))


def _externals(module: ModuleOp) -> list[External]:
    """Returns what the program calls from outside: declarations that say who makes their code."""
    found: list[External] = []
    for name, function in functions(module).items():
        given = function.attributes.get(EXTERNAL)
        if isinstance(given, DictionaryAttr):
            fields = [_text(dict(given.data), key) for key in ("compiler", "function", "source")]
            if not all(fields):
                fail(function, f"'{EXTERNAL}' lacks one of 'compiler', 'function' and 'source'")
            found.append(External(name, *fields))
    return found


def _entry(name: str, function: Operation) -> Entry:
    types = signature(function)
    if types is None:
        fail(function, f"entry @{name} has no {SIGNATURE}", hint="add the tensor types it had, as a function type")
    inputs, outputs = iter(types.inputs), iter(types.outputs)
    arguments: list[Argument] = []
    for index, attributes in enumerate(argument_attributes(function)):
        role = role_of(attributes)
        shown = _text(attributes, NAME) or f"argument {index}"
        match role:
            case "input":
                arguments.append(Argument(role, shown, array_type(next(inputs)), dims_key(attributes)))
            case "output":
                place = place_of(attributes)
                if place is None and PLACE_OF in attributes:
                    fail(function, f"'{PLACE_OF}' is {attributes[PLACE_OF]}, expected the number of an input")
                arguments.append(Argument(role, shown, array_type(next(outputs)), dims_key(attributes), place))
            case "size" | "stride" if arguments:
                axis = attributes.get(AXIS)
                number = axis.value.data if isinstance(axis, IntegerAttr) else 0
                arguments.append(Argument(role, arguments[-1].name, ArrayType("i64", ()), str(number)))
            case "weight":
                key = _text(attributes, KEY)
                if not isinstance(attributes.get(TYPE), TensorType):
                    fail(function, f"argument {index} is a weight without '{TYPE}', its type as a tensor")
                arguments.append(Argument(role, key, array_type(attributes[TYPE]), key))
            case "arena":
                size = attributes.get(BYTES)
                count = size.value.data if isinstance(size, IntegerAttr) else 0
                arguments.append(Argument(role, role, ArrayType("ui8", (count,))))
            case _:
                fail(function, f"argument {index} of @{name} has no role", hint=MISSING_ROLES)
    entry = Entry(name, tuple(arguments), PREPARE in function.attributes)
    if misplaced := entry.misplaced:
        fail(function, f"{misplaced} ('{PLACE_OF}')")
    return entry


def _instances(function: Operation, entry: Entry) -> Iterator[Entry]:
    """Yields the prepare functions whose code is that of `entry`."""
    given = function.attributes.get(INSTANCES)
    for name, keys in given.data.items() if isinstance(given, DictionaryAttr) else ():
        texts = [key.data for key in keys if isinstance(key, StringAttr)] if isinstance(keys, ArrayAttr) else []
        wanted = len(entry.of("weight"))
        if len(texts) != wanted:
            hint = f"give one key for each weight of @{entry.name}"
            fail(function, f"'{INSTANCES}' has {len(texts)} keys for @{name}, expected {wanted}", hint=hint)
        following = iter(texts)
        arguments = [
            replace(each, name=(key := next(following)), key=key) if each.role == "weight" else each
            for each in entry.arguments
        ]
        yield Entry(name, tuple(arguments), entry.is_prepare, entry.name)


def role_of(attributes: dict[str, Attribute]) -> str:
    """Returns the role that the attributes of an argument give it, empty where they give none."""
    return _text(attributes, ROLE)


def place_of(attributes: dict[str, Attribute]) -> int | None:
    """Returns the number of the donated input in whose place an output may lie, None for others."""
    found = attributes.get(PLACE_OF)
    return found.value.data if isinstance(found, IntegerAttr) else None


def _text(attributes: dict[str, Attribute], name: str) -> str:
    found = attributes.get(name)
    return found.data if isinstance(found, StringAttr) else ""


def _checks(module: ModuleOp) -> list[tuple[str, str]]:
    table = module.attributes.get(CHECKS)
    if not isinstance(table, ArrayAttr):
        return []
    pairs = [_message_and_place(item.data) for item in table if isinstance(item, StringAttr)]
    return [(message, location or location_string(module)) for message, location in pairs]


def _message_and_place(text: str) -> tuple[str, str]:
    """Returns the two parts of a check. A message may have bars of its own, which a place has not."""
    message, bar, location = text.rpartition("|")
    return (message, location) if bar else (text, "")
