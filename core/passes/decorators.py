"""
Passes out of plain classes and functions: for a whole module, for each function, for each block.

```python
@function_pass("note-functions", opt_level=1)
def note_functions(function, ctx):
    "Marks every function."
    function.attributes["noted"] = StringAttr("yes")

module = note_functions()(parse("func.func @main() { return }"))
assert "noted" in str(module)
```
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...lazy_dataclass import dataclass
from ..messages.diagnostics import Diagnostic, StepwellError, fail
from ..plugins import define_pass
from ..roles import PRIMITIVE
from ..roles import SKIP as SKIP
from .base import StepwellPass

Decorator = Callable[[Any], type[StepwellPass]]


def module_pass(name: str, opt_level: int = 0, requires: Iterable[str] = ()) -> Decorator:
    """
    Makes a pass of a class with `transform_module(self, module, ctx)`, or of a function `(module, ctx)`.

    It changes the module or returns a new one. The fields of a class (annotated, as in a dataclass) are the options of
    the pass, the first line of the docstring is its summary. The pass is known by `name` from then on. A class that is
    a pass already (has `apply`) only gets its name, level and requirements.

    Raises `StepwellError` when the name is taken, or there is no such method.
    """
    return _decorator(name, opt_level, requires, "transform_module", _transform_module)


def function_pass(name: str, opt_level: int = 0, requires: Iterable[str] = ()) -> Decorator:
    """
    Makes a pass of what changes each `func.func`: `transform_function(self, function, ctx)` or a function `(function,
    ctx)`. The rest is as in `module_pass`.

    External functions, primitive ones and those with `stepwell.skip` are left alone. What is returned, if
    anything, replaces the function.
    """
    return _decorator(name, opt_level, requires, "transform_function", _transform_functions)


def block_pass(name: str, opt_level: int = 0, requires: Iterable[str] = ()) -> Decorator:
    """
    Makes a pass of what changes each block of the functions' bodies in place: `transform_block(self, block, ctx)`. The
    rest is as in `function_pass`.
    """
    return _decorator(name, opt_level, requires, "transform_block", _transform_blocks)


def _decorator(
    name: str,
    opt_level: int,
    requires: Iterable[str],
    method: str,
    run: Callable[[str, Callable[..., Any], Context, ModuleOp], None],
) -> Decorator:
    requires = (requires,) if isinstance(requires, str) else tuple(requires)

    def apply(self: StepwellPass, ctx: Context, op: ModuleOp) -> None:
        run(self.name, getattr(self, method), ctx, op)

    def decorate(target: Any) -> type[StepwellPass]:
        members = {"name": name, "opt_level": opt_level, "requires": requires, "apply": apply}
        if not isinstance(target, type):
            members[method] = staticmethod(target)
            bases: tuple[type, ...] = (StepwellPass,)
        elif issubclass(target, ModulePass):
            del members["apply"]
            bases = (target,) if issubclass(target, StepwellPass) else (target, StepwellPass)
        elif callable(getattr(target, method, None)):
            bases = (_as_frozen_dataclass(target), StepwellPass)
        else:
            message = f"pass '{name}': class {target.__name__} has no method {method}(…, ctx)"
            raise StepwellError(Diagnostic(message))
        made = _subclass(target, bases, members)
        define_pass(made)
        return made

    return decorate


def _as_frozen_dataclass(target: type) -> type:
    if not is_dataclass(target):
        return dataclass(frozen=True)(target)
    if not target.__dataclass_params__.frozen:  # pyright: ignore[reportAttributeAccessIssue]
        message = f"class {target.__name__} is a dataclass that is not frozen, expected frozen=True for a pass"
        raise StepwellError(Diagnostic(message))
    return target


def _subclass(target: Any, bases: tuple[type, ...], members: dict[str, Any]) -> type[StepwellPass]:
    """A frozen dataclass with the name, place and docstring of `target`."""
    members |= {
        "__module__": target.__module__,
        "__qualname__": target.__qualname__,
        "__doc__": target.__doc__ or "",
    }
    return dataclass(frozen=True)(types.new_class(target.__name__, bases, {}, lambda body: body.update(members)))


def _transform_module(name: str, transform: Callable[..., Any], ctx: Context, module: ModuleOp) -> None:
    result = transform(module, ctx)
    if result is None or result is module:
        return
    if not isinstance(result, ModuleOp):
        fail(module, f"pass '{name}' returned {_kind(result)}, expected builtin.module or nothing")
    ops = list(result.body.block.ops)
    for each in ops:
        each.detach()
    for each in reversed(list(module.body.block.ops)):
        each.detach()
        each.erase(safe_erase=False)
    module.body.block.add_ops(ops)
    module.attributes = dict(result.attributes)
    module.properties = dict(result.properties)


def _transform_functions(name: str, transform: Callable[..., Any], ctx: Context, module: ModuleOp) -> None:
    for function in list(_functions(name, module)):
        result = transform(function, ctx)
        if result is None or result is function:
            continue
        if not isinstance(result, FuncOp):
            fail(function, f"pass '{name}' returned {_kind(result)}, expected func.func or nothing")
        block = function.parent
        assert block is not None
        if result.parent is not None:
            result.detach()
        block.insert_op_before(result, function)
        function.detach()
        function.erase(safe_erase=False)


def _transform_blocks(name: str, transform: Callable[..., Any], ctx: Context, module: ModuleOp) -> None:
    for function in list(_functions(name, module)):
        for block in list(function.body.blocks):
            transform(block, ctx)


def _functions(name: str, module: ModuleOp) -> Iterator[FuncOp]:
    """The functions of a module, and of modules inside it, that a pass on functions changes."""
    for op in module.ops:
        if isinstance(op, ModuleOp):
            yield from _functions(name, op)
        elif isinstance(op, FuncOp) and not op.is_declaration and not _is_left_alone(name, op):
            yield op


def _is_left_alone(name: str, function: FuncOp) -> bool:
    if PRIMITIVE in function.attributes:
        return True
    skipped = function.attributes.get(SKIP)
    if isinstance(skipped, ArrayAttr):
        return any(isinstance(each, StringAttr) and each.data == name for each in skipped)
    return skipped is not None


def _kind(result: object) -> str:
    return f"'{result.name}'" if isinstance(result, Operation) else type(result).__name__
