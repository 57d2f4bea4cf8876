"""
The methods of `GraphBuilder` that are named after ops, made from the definitions of the ops.

What type checkers see of them is `methods.pyi`, made by `STEPWELL_UPDATE_DOCS=1 pytest
test/unit/dialects/test_builder_methods.py`. A test compares the two. A method is made when it is first asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from keyword import iskeyword
from math import isfinite, isnan
from numbers import Real
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, FloatAttr
from xdsl.ir import Dialect, Operation
from xdsl.irdl import OptPropertyDef, VarResultDef
from xdsl.utils.exceptions import VerifyException

from ...core.messages.diagnostics import did_you_mean
from .base import TensorOp
from .operands import operands_of
from .places import caller, fail_at, parse_type_text
from .properties import PropertyKind
from .signature import operand_signature

Parameter = inspect.Parameter
_NAME = Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | Sequence[str] | None")


class OpMethods:
    """Has one method per op of the graph dialect, which adds the op to the function and returns its results."""

    is_building: bool
    """True where a function has begun and not returned yet."""

    def _add(self, op: Operation, names: Sequence[str], where: FileLineColLoc, before: Sequence[Operation] = ()) -> Any:
        raise NotImplementedError


class OpMethod:
    """Stands for the method of an op, which is made when somebody asks for it."""

    def __init__(self, op_type: type[Operation]):
        self.op_type = op_type

    @cached_property
    def method(self) -> Callable[..., Any]:
        """The method itself."""
        return method_of(self.op_type)

    def __get__(self, instance: object, owner: type) -> Any:
        return self.method.__get__(instance, owner)


def method_names(ops: Sequence[type[Operation]]) -> dict[str, type[Operation]]:
    """Returns the ops by the names of their methods: without the dialect, and with `_` where Python has the word."""
    named = {op.name.partition(".")[2].replace(".", "_"): op for op in ops}
    return {f"{name}_" if iskeyword(name) else name: op for name, op in named.items()}


def add_methods(cls: type, ops: Sequence[type[Operation]]) -> None:
    """Gives a class the methods of the ops that the class does not define itself."""
    for name, op_type in method_names(ops).items():
        if name not in vars(cls):
            setattr(cls, name, OpMethod(op_type))


def signature_of(op_type: type[Operation]) -> inspect.Signature:
    """Returns the parameters of a method: operands in order, then properties in order, then the name of the result."""
    first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    if not issubclass(op_type, TensorOp):
        own = [_plain(each) for each in list(inspect.signature(op_type.__init__).parameters.values())[1:]]
        return inspect.Signature([first, *_in_order([*own, _NAME])], return_annotation="Any")
    kind, operands = Parameter.POSITIONAL_OR_KEYWORD, list[Parameter]()
    for name, _, variadic in operand_signature(op_type):
        operands.append(Parameter(name, Parameter.VAR_POSITIONAL if variadic else kind, annotation="Operand"))
        kind = Parameter.KEYWORD_ONLY if variadic else kind
    properties = list(_properties(op_type, kind))
    required = [each for each in properties if each.default is Parameter.empty]
    optional = [each for each in properties if each.default is not Parameter.empty]
    returned = "tuple[Value, ...]" if _has_many_results(op_type) else "Value"
    return inspect.Signature([first, *operands, *required, *optional, _NAME], return_annotation=returned)


def _has_many_results(op_type: type[TensorOp]) -> bool:
    results = op_type.get_irdl_definition().results
    return len(results) > 1 or any(isinstance(result, VarResultDef) for _, result in results)


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    annotation = parameter.annotation
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    if "TensorType" in text:
        text = "Attribute | str"
    elif parameter.annotation is Parameter.empty:
        text = "Any"
    return parameter.replace(annotation=text, default=parameter.default)


def _in_order(parameters: Sequence[inspect.Parameter]) -> list[inspect.Parameter]:
    unique = {each.name: each for each in parameters}
    return sorted(unique.values(), key=lambda each: each.kind)


def _properties(op_type: type[TensorOp], kind: Any) -> Iterator[inspect.Parameter]:
    for name, definition in op_type.get_irdl_definition().properties.items():
        default: Any = Parameter.empty
        if definition.default_value is not None and isinstance(definition.constr, PropertyKind):
            default = definition.constr.to_python(definition.default_value)
        elif isinstance(definition, OptPropertyDef):
            default = None
        annotation = "Any" if default is Parameter.empty or default is None else type(default).__name__
        annotation = "Sequence[int]" if isinstance(default, tuple | list) else annotation
        yield Parameter(name, kind, default=default, annotation=annotation)


def method_of(op_type: type[Operation]) -> Callable[..., Any]:
    """Returns the method that adds an op of this class."""
    signature = signature_of(op_type)
    called = op_type.name.partition(".")[2]

    def method(self: OpMethods, *arguments: Any, **keywords: Any) -> Any:
        where = caller()
        try:
            bound = signature.bind(self, *arguments, **keywords)
        except TypeError as error:
            unknown = next((each for each in keywords if each not in signature.parameters), "")
            hint = did_you_mean(unknown, signature.parameters)
            fail_at(where, f"'{op_type.name}': {error}", hint or f"it is called as {usage(called, signature)}")
        values = dict(bound.arguments)
        names = values.pop("name", None)
        names = list(names) if isinstance(names, list | tuple) else [] if names is None else [names]
        del values["self"]
        if issubclass(op_type, TensorOp):
            op, before = _tensor_op(op_type, values, where)
        else:
            op, before = _other_op(op_type, bound, where), []
        return self._add(op, names, where, before)  # pyright: ignore[reportPrivateUsage]

    method.__name__, method.__qualname__, method.__module__ = called, f"GraphBuilder.{called}", __name__
    method.__doc__ = inspect.cleandoc(op_type.__doc__ or f"Adds a `{op_type.name}`.")
    method.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    return method


def usage(called: str, signature: inspect.Signature) -> str:
    """Returns a call as it is written: `softmax(operand, axis=-1)`."""
    plain = [each.replace(annotation=Parameter.empty) for each in list(signature.parameters.values())[1:]]
    return f"{called}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def _tensor_op(
    op_type: type[TensorOp], arguments: dict[str, Any], where: FileLineColLoc
) -> tuple[Operation, list[Operation]]:
    """Returns the op and the constants that it uses. Raises BuilderError where they do not fit."""
    given: list[Any] = []
    for name, _, variadic in operand_signature(op_type):
        each = arguments.pop(name, ())
        if not variadic:
            given.append(each)
        else:  # One list of values is as good as the values themselves.
            given += each[0] if len(each) == 1 and isinstance(each[0], list | tuple) else each
    values, before = operands_of(op_type, given, where)
    try:
        return op_type(*values, **arguments), before
    except VerifyException as error:
        fail_at(where, str(error))
    except TypeError as error:
        fail_at(where, f"'{op_type.name}': {error}", f"it is called as {usage(*_called(op_type))}")


def _called(op_type: type[Operation]) -> tuple[str, inspect.Signature]:
    return op_type.name.partition(".")[2], signature_of(op_type)


def _other_op(op_type: type[Operation], bound: inspect.BoundArguments, where: FileLineColLoc) -> Operation:
    """Returns an op that has a constructor of its own, where types may be text."""
    bound.arguments.pop("name", None)
    for name, value in bound.arguments.items():
        if isinstance(value, str) and name.endswith("type_"):
            bound.arguments[name] = parse_type_text(value, where)
    try:
        op = op_type(*bound.args[1:], **bound.kwargs)
        _check_finite(bound.arguments.get("value"), op)
        return op
    except (TypeError, ValueError, OverflowError, VerifyException) as error:
        fail_at(where, f"'{op_type.name}': {error}", f"it is called as {usage(*_called(op_type))}")


def _check_finite(given: Any, op: Operation) -> None:
    """Raises ValueError where a finite number became an infinity or a NaN. Rules that compute numbers mean these."""
    kept = op.properties.get("value")
    if not isinstance(kept, FloatAttr) or not isinstance(given, Real):
        return
    if any(test(given) != test(kept.value.data) for test in (isfinite, isnan)):
        raise ValueError(f"the value is {given!r}, which {kept.type} cannot hold")


class DialectMethods:
    """The ops of another dialect as methods: `builder.quaternion.mul(a, b)`."""

    def __init__(self, builder: OpMethods, dialect: Dialect):
        self._builder = builder
        self._dialect = dialect
        self._ops = method_names(list(dialect.operations))

    def __getattr__(self, name: str) -> Any:
        op_type = self._ops.get(name)
        if op_type is None:
            hint = did_you_mean(name, self._ops)
            raise AttributeError(f"dialect {self._dialect.name} has no op '{name}'" + (f", {hint}" if hint else ""))
        return method_of(op_type).__get__(self._builder)

    def __dir__(self) -> list[str]:
        return sorted(self._ops)

    def __repr__(self) -> str:
        return f"<stepwell.GraphBuilder, the {len(self._ops)} ops of dialect {self._dialect.name}>"
