"""
Builds graph functions from Python, op by op.

```python
builder = GraphBuilder()
with builder.function("main", x="tensor<1x784xf32>", w="tensor<784x10xf32>", b="tensor<10xf32>") as (x, w, b):
    y = builder.relu(x @ w + b)
    builder.emit_func_output(builder.softmax(y / 2, axis=-1, name="probabilities"))
module = builder.get()
```
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FileLineColLoc, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from ...core.ir.symbols import value_name
from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import about, did_you_mean
from ...core.messages.locations import source_point
from ...core.plugins import registry
from ...core.roles import NAME
from ...core.text.aliases import hint_for
from .base import ANY
from .families import Graph
from .methods import DialectMethods, OpMethods, add_methods
from .operands import constant_of, shown_operand
from .places import BuilderError as BuilderError
from .places import caller, fail_at, parse_type_text
from .values import with_operators, without_operators

_NAMES = "a name has letters, digits, and any of _ $ . -, and begins with no digit"


class GraphBuilder(OpMethods):
    """
    Builds a module of functions.

    Every op of the graph dialect is a method: `builder.softmax(x, axis=-1)`, `builder.add(x, 1.0, name="y")`. An op of
    another dialect is a method of that dialect: `builder.quaternion.mul(a, b)`. `emit` takes an op made before. Values
    have operators: `x @ w + 1`. Numbers, lists and arrays stand for constants and take the element type of the other
    operand. Every op is verified at once. Its location is the Python line that added it.
    """

    def __init__(self) -> None:
        self._module = ModuleOp([])
        self._function: FuncOp | None = None
        self._returned = False
        self._places: dict[str, FileLineColLoc] = {}
        """Where each function was begun."""
        self._values: list[SSAValue] = []
        """The values that have operators."""

    @contextmanager
    def function(
        self, name: str, *, visibility: str = "public", **arguments: Attribute | str
    ) -> Iterator[tuple[SSAValue, ...]]:
        """
        Begins function `name` and yields its arguments.

        The arguments have the given names and types, where a type is an attribute or its text. Inside the block `emit`
        adds ops, and `emit_func_output` has to be called once. Raises `BuilderError`.
        """
        where = caller()
        if self._function is not None:
            fail_at(where, f"function @{name} begins inside function @{self._function.sym_name.data}")
        if name in self._places:
            fail_at(where, f"function @{name} is defined twice, first at {source_point(self._places[name])}")
        types = [_type_of_argument(argument, given, where) for argument, given in arguments.items()]
        block = Block(arg_types=types)
        for value, argument in zip(block.args, arguments, strict=True):
            value.name_hint = _value_name(argument, where)
        shown = None if visibility == "public" else StringAttr(visibility)
        function = FuncOp(name, FunctionType.from_lists(types, []), Region(block), shown, arg_attrs=_names(arguments))
        function.location = where
        self._module.body.block.add_op(function)
        self._function, self._returned = function, False
        try:
            yield tuple(self._with_operators(block.args))
            if not self._returned:
                fail_at(where, f"function @{name} ends without emit_func_output")
            self._places[name] = where
        except BaseException:
            function.detach()
            raise
        finally:
            self._function = None

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Groups pure ops, as Relax does. All graph ops are pure, so it only checks that a function is open."""
        self._open_function("dataflow", caller())
        yield

    def emit(self, op: Operation, *names: str) -> Any:
        """
        Adds `op` to the function and returns its result.

        An op that has several results or none gives the tuple of its results. `names` are the names of the results in
        the text. Raises `BuilderError` when the op does not verify.
        """
        return self._emit(op, names, caller())

    def emit_output(self, op: Operation, *names: str) -> Any:
        """Adds an op whose results leave a `dataflow` group, as `emit` does."""
        return self._emit(op, names, caller())

    def emit_func_output(self, *values: SSAValue | Operation) -> None:
        """Ends the function, which returns `values`."""
        where = caller()
        function = self._open_function("emit_func_output", where)
        outputs = [_output(number, value, where) for number, value in enumerate(values)]
        op = ReturnOp(*outputs)
        op.location = where
        _check_visible(op, function, where)
        function.body.block.add_op(op)
        inputs = [argument.type for argument in function.body.block.args]
        function.properties["function_type"] = FunctionType.from_lists(inputs, [value.type for value in outputs])
        self._returned = True

    def get(self) -> ModuleOp:
        """Returns the module, verified. The builder goes on with an empty one."""
        where = caller()
        if self._function is not None:
            fail_at(where, f"get is called inside function @{self._function.sym_name.data}")
        for value in self._values:
            without_operators(value)
        module, self._module, self._places, self._values = self._module, ModuleOp([]), {}, []
        verify_module(module)
        return module

    @property
    def is_building(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Returns whether a function has begun and not returned yet."""
        return self._function is not None and not self._returned

    def constant(self, value: Any, dtype: str | None = None, *, name: str | None = None) -> Any:
        """
        Adds a `graph.constant` of a number, a list of numbers or an array, and returns its result.

        `dtype` is the element type, such as `f32`. When None, it is that of the array, f32 for other floats and i64 for
        other integers. Raises BuilderError for a value that the type cannot hold.
        """
        where = caller()
        return self._add(constant_of(value, dtype, ANY, "the constant", where), [name] if name else [], where)

    def call_te(self, function: Callable[..., Any], *operands: Any, name: str | None = None) -> Any:
        """
        Adds a call of a kernel that a tensor expression defines, and returns its results.

        `function` takes a `te.Tensor` per operand and returns one or a tuple of them:
        `builder.call_te(lambda a: te.compute(a.shape, lambda i, j: a[i, j] * 2.0), x)`. Raises BuilderError.
        """
        where = caller()
        self._open_function("call_te", where)
        values = [each if isinstance(each, SSAValue | Operation) else self.constant(each) for each in operands]
        make = registry().extensions_of("te-kernels")["loops"]()
        names = [name] if name else []
        try:
            op = make(self._module, function, [SSAValue.get(value) for value in values])
        except (VerifyException, ValueError, TypeError) as error:
            fail_at(where, f"call_te: {error}")
        return self._emit(op, names, where)

    def __getattr__(self, name: str) -> DialectMethods:
        if not name.startswith("_") and name in registry().dialects:
            return DialectMethods(self, registry().dialects[name]())
        hint = None if name.startswith("_") else hint_for(name) or did_you_mean(name, dir(self))
        near = "" if hint is None else ", " + hint.replace("'graph.", "'")
        raise AttributeError(f"a GraphBuilder has no method '{name}'{near}")

    def __repr__(self) -> str:
        functions = [f"@{each.sym_name.data}" for each in self._module.ops if isinstance(each, FuncOp)]
        inside = "" if self._function is None else f", inside @{self._function.sym_name.data}"
        return f"<stepwell.GraphBuilder of {', '.join(functions) or 'no function'}{inside}>"

    def _with_operators(self, values: Iterable[SSAValue]) -> list[Any]:
        found = [with_operators(value, self) for value in values]
        self._values += found
        return found

    def _add(self, op: Operation, names: Sequence[str], where: FileLineColLoc, before: Sequence[Operation] = ()) -> Any:
        for constant in before:
            self._emit(constant, (), where)
        try:
            return self._emit(op, names, where)
        except BaseException:
            for constant in before:
                constant.detach()
            raise

    def _open_function(self, what: str, where: FileLineColLoc) -> FuncOp:
        if self._function is None:
            fail_at(where, f"{what} is called outside of a function")
        if self._returned:
            fail_at(where, f"{what} is called after emit_func_output of function @{self._function.sym_name.data}")
        return self._function

    def _emit(self, op: Operation, names: Sequence[str], where: FileLineColLoc) -> Any:
        function = self._open_function("emit", where)
        if op.parent is not None:
            fail_at(where, f"'{op.name}' has been emitted before")
        if len(names) > len(op.results):
            fail_at(where, f"'{op.name}' has {len(op.results)} results but {len(names)} names are given")
        hints = [_value_name(name, where) for name in names]
        op.location = where
        _check_visible(op, function, where)
        function.body.block.add_op(op)  # First, since a call looks for its function in the module around it.
        try:
            op.verify_()
        except VerifyException as error:
            op.detach()
            fail_at(where, about(op, str(error)))
        for result, hint in zip(op.results, hints, strict=False):
            result.name_hint = hint
        results = self._with_operators(op.results)
        return results[0] if len(results) == 1 else tuple(results)


def _names(arguments: Collection[str]) -> ArrayAttr[DictionaryAttr] | None:
    """Returns attributes that keep the names of arguments that values cannot have. `None` where there are no such."""
    if all(each.isascii() for each in arguments):
        return None
    return ArrayAttr([DictionaryAttr({} if each.isascii() else {NAME: StringAttr(each)}) for each in arguments])


def _type_of_argument(name: str, given: Any, where: FileLineColLoc) -> Attribute:
    if isinstance(given, str):
        return parse_type_text(given, where)
    if not isinstance(given, TypeAttribute) or not isinstance(given, Attribute):
        fail_at(where, f"the type of argument '{name}' is {given!r}, expected a type or its text")
    return given


def _value_name(name: Any, where: FileLineColLoc) -> str:
    """Returns the name of a value as the text has it. Raises BuilderError for what cannot be one."""
    if not isinstance(name, str):
        fail_at(where, f"the name of a value is {name!r}, expected text")
    shown = value_name(name)
    if not SSAValue.is_valid_name(shown):
        fail_at(where, f"a value cannot have the name {name!r}", _NAMES)
    return shown


def _output(number: int, value: Any, where: FileLineColLoc) -> SSAValue:
    """Returns an output as a value. Raises BuilderError for what is none, and for an op without one result."""
    if isinstance(value, SSAValue):
        return value
    if isinstance(value, Operation) and len(value.results) == 1:
        return value.results[0]
    if isinstance(value, bool):
        hint = "builder.equal(x, y) compares elements, and == asks whether two values are the same one"
    elif isinstance(value, list | tuple):
        hint = "emit_func_output(*values) takes the values one by one"
    else:
        hint = "builder.constant makes a value of a number or an array"
    shown = f"an op with {len(value.results)} results" if isinstance(value, Operation) else shown_operand(value)
    fail_at(where, f"output {number} is {shown}, expected a value", hint)


def _check_visible(op: Operation, function: FuncOp, where: FileLineColLoc) -> None:
    """Raises `BuilderError` when `op`, or an op inside it, uses a value from outside of `function` and of `op`."""
    for inner in op.walk():
        for number, operand in enumerate(inner.operands):
            home = _outermost(operand, op, function)
            if home in (op, function):
                continue
            shown = f"'{inner.name}': operand {number}" + (f" (%{operand.name_hint})" if operand.name_hint else "")
            if isinstance(home, FuncOp):
                what = f"is a value of function @{home.sym_name.data}, expected one of @{function.sym_name.data}"
            else:
                what = f"is a result of '{home.name}', which has not been emitted"
            fail_at(where, f"{shown} {what}")


def _outermost(value: SSAValue, op: Operation, function: FuncOp) -> Operation:
    """The outermost op that holds `value`, but no further out than `op`, `function` or any other function."""
    owner = value.owner
    home = owner if isinstance(owner, Operation) else owner.parent_op()
    while home is not None and home not in (op, function) and not isinstance(home, FuncOp):
        outer = home.parent_op()
        if outer is None:
            return home
        home = outer
    return function if home is None else home


add_methods(OpMethods, list(Graph.operations))
