"""
Builds graph functions from Python, op by op.

```python
builder = GraphBuilder()
with builder.function("main", x="tensor<1x784xf32>", w="tensor<784x10xf32>") as (x, w):
    y = builder.emit(graph.MatmulOp(x, w), "lv0")
    builder.emit_func_output(builder.emit(graph.ReluOp(y), "gv0"))
module = builder.get()
```
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ...core.ir.symbols import value_name
from ...core.ir.verification import verify_module
from ...core.messages.diagnostics import Diagnostic, StepwellError, about
from ...core.messages.locations import source_point
from ...core.messages.points import SourcePoint
from ...core.roles import NAME


class BuilderError(StepwellError):
    """
    The error for a builder that is used in the wrong order, or is given an op that does not verify.

    It points at the Python line.
    """


class GraphBuilder:
    """
    Builds a module of functions.

    Every op that is emitted is verified at once. Its location is the Python line that emitted it.
    """

    def __init__(self) -> None:
        self._module = ModuleOp([])
        self._function: FuncOp | None = None
        self._returned = False
        self._places: dict[str, FileLineColLoc] = {}
        """Where each function was begun."""

    @contextmanager
    def function(
        self, name: str, *, visibility: str = "public", **arguments: Attribute | str
    ) -> Iterator[tuple[SSAValue, ...]]:
        """
        Begins function `name` and yields its arguments.

        The arguments have the given names and types, where a type is an attribute or its text. Inside the block `emit`
        adds ops, and `emit_func_output` has to be called once. Raises `BuilderError`.
        """
        where = _caller()
        if self._function is not None:
            _fail(f"function @{name} begins inside function @{self._function.sym_name.data}", where)
        if name in self._places:
            _fail(f"function @{name} is defined twice, first at {source_point(self._places[name])}", where)
        types = [
            type_ if isinstance(type_, Attribute) else parse_type_text(type_, where) for type_ in arguments.values()
        ]
        block = Block(arg_types=types)
        for value, argument in zip(block.args, arguments, strict=True):
            value.name_hint = value_name(argument)
        shown = None if visibility == "public" else StringAttr(visibility)
        function = FuncOp(name, FunctionType.from_lists(types, []), Region(block), shown, arg_attrs=_names(arguments))
        function.location = where
        self._module.body.block.add_op(function)
        self._function, self._returned = function, False
        try:
            yield tuple(block.args)
            if not self._returned:
                _fail(f"function @{name} ends without emit_func_output", where)
            self._places[name] = where
        except BaseException:
            function.detach()
            raise
        finally:
            self._function = None

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Groups pure ops, as Relax does. All graph ops are pure, so it only checks that a function is open."""
        self._open_function("dataflow", _caller())
        yield

    def emit(self, op: Operation, *names: str) -> Any:
        """
        Adds `op` to the function and returns its result.

        An op that has several results or none gives the tuple of its results. `names` are the names of the results in
        the text. Raises `BuilderError` when the op does not verify.
        """
        return self._emit(op, names, _caller())

    def emit_output(self, op: Operation, *names: str) -> Any:
        """Adds an op whose results leave a `dataflow` group, as `emit` does."""
        return self._emit(op, names, _caller())

    def emit_func_output(self, *values: SSAValue | Operation) -> None:
        """Ends the function, which returns `values`."""
        where = _caller()
        function = self._open_function("emit_func_output", where)
        outputs = [SSAValue.get(value) for value in values]
        op = ReturnOp(*outputs)
        op.location = where
        _check_visible(op, function, where)
        function.body.block.add_op(op)
        inputs = [argument.type for argument in function.body.block.args]
        function.properties["function_type"] = FunctionType.from_lists(inputs, [value.type for value in outputs])
        self._returned = True

    def get(self) -> ModuleOp:
        """Returns the module, verified. The builder goes on with an empty one."""
        where = _caller()
        if self._function is not None:
            _fail(f"get is called inside function @{self._function.sym_name.data}", where)
        module, self._module, self._places = self._module, ModuleOp([]), {}
        verify_module(module)
        return module

    def _open_function(self, what: str, where: FileLineColLoc) -> FuncOp:
        if self._function is None:
            _fail(f"{what} is called outside of a function", where)
        if self._returned:
            _fail(f"{what} is called after emit_func_output of function @{self._function.sym_name.data}", where)
        return self._function

    def _emit(self, op: Operation, names: Sequence[str], where: FileLineColLoc) -> Any:
        function = self._open_function("emit", where)
        if op.parent is not None:
            _fail(f"'{op.name}' has been emitted before", where)
        if len(names) > len(op.results):
            _fail(f"'{op.name}' has {len(op.results)} results but {len(names)} names are given", where)
        op.location = where
        _check_visible(op, function, where)
        try:
            op.verify_()
        except VerifyException as error:
            _fail(about(op, str(error)), where)
        function.body.block.add_op(op)
        for result, name in zip(op.results, names, strict=False):
            result.name_hint = value_name(name)
        return op.results[0] if len(op.results) == 1 else tuple(op.results)


def _names(arguments: Collection[str]) -> ArrayAttr[DictionaryAttr] | None:
    """Returns attributes that keep the names of arguments that values cannot have. `None` where there are no such."""
    if all(each.isascii() for each in arguments):
        return None
    return ArrayAttr([DictionaryAttr({} if each.isascii() else {NAME: StringAttr(each)}) for each in arguments])


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
            _fail(f"{shown} {what}", where)


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


def parse_type_text(text: str, where: FileLineColLoc) -> Attribute:
    """Returns the type that `text` spells. Raises `BuilderError` when it spells none."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    try:
        return Parser(ctx, text).parse_type()
    except ParseError as error:
        _fail(f"'{text}' is not a type: {error.msg}", where)


def _caller() -> FileLineColLoc:
    """Returns the location of the Python code that is running outside of this file and of contextlib."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in (
        __file__,
        contextmanager.__code__.co_filename,
    ):
        frame = frame.f_back
    return FileLineColLoc(StringAttr(frame.f_code.co_filename), IntAttr(frame.f_lineno), IntAttr(1))


def _fail(message: str, where: FileLineColLoc) -> NoReturn:
    point = source_point(where)
    assert isinstance(point, SourcePoint)
    raise BuilderError(Diagnostic(message, point=point))
