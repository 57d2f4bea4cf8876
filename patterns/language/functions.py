"""Reads the functions of a module as rules and passes see them: fresh names, purity of calls, outlining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, RecursiveMemoryEffect

from ...core import roles
from ...core.ir.cloning import clone_op
from ...core.messages.origins import fuse
from ...dialects.traits import is_pure

PRIMITIVE = roles.PRIMITIVE
"""The attribute of a function that is a fused group. Later passes treat it as one op."""


def is_primitive(op: Operation) -> bool:
    """Returns whether `op` is a function that is a fused group."""
    return PRIMITIVE in op.attributes


def is_closed(op: Operation, *, primitives: bool = True) -> bool:
    """
    Returns whether `op` is a function that rules leave as it is: one that partitioning made, one that is a composite
    or for another compiler, or with `primitives` a fused group.
    """
    closed = any(name in op.attributes for name in (roles.PARTITIONED, roles.COMPOSITE, roles.COMPILER))
    return closed or (primitives and is_primitive(op))


def is_open(op: Operation) -> bool:
    """Returns whether rules look into `op` where nothing else is said: all but closed functions, fused groups too."""
    return not is_closed(op, primitives=False)


def symbol_name(op: Operation) -> str | None:
    """Returns the symbol that `op` defines, or `None` when it defines none."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def functions_of(module: ModuleOp) -> Iterator[func.FuncOp]:
    """Yields the `func.func`s directly in the module."""
    for op in module.body.ops:
        if isinstance(op, func.FuncOp):
            yield op


def module_around(op: Operation) -> ModuleOp | None:
    """Returns the innermost module around `op`, which may be `op` itself. It is `None` when there is none."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    return parent


def enclosing_module(op: Operation) -> ModuleOp:
    """Returns the innermost module around an op of a program."""
    module = module_around(op)
    assert module is not None
    return module


class NameSupply:
    """Fresh symbol names `base0, base1, …` of one module, lowest free number first."""

    def __init__(self, module: ModuleOp):
        self._taken = {name for op in module.body.ops if (name := symbol_name(op)) is not None}
        self._next: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"<stepwell.NameSupply, {len(self._taken)} names taken>"

    def fresh(self, base: str) -> str:
        """Returns a name that begins with `base`, and takes it."""
        number = self._next.get(base, 0)
        while f"{base}{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        self._taken.add(f"{base}{number}")
        return f"{base}{number}"


class Purity:
    """
    Knows which ops have no effect.

    A call has none when its function holds nothing but pure ops and returns. A function that may call itself counts as
    impure, since it may never return.
    """

    def __init__(self, scope: Operation):
        self._functions: dict[str, Operation] = {}
        if isinstance(scope, ModuleOp):
            self._functions = {name: op for op in scope.body.ops if (name := symbol_name(op)) is not None}
        self._known: dict[str, bool] = {}

    def add(self, name: str, function: Operation) -> None:
        """Takes note of a new function."""
        self._functions[name] = function

    def add_function(self, function: Operation) -> None:
        """Takes note of a new function that calls are made of before it is in the module."""
        name = symbol_name(function)
        if name is not None:
            self.add(name, function)

    def is_harmless(self, op: Operation) -> bool:
        """Returns whether `op` and all ops in it are pure, where an op such as `scf.if` has the effects of its ops."""
        if not op.regions:
            return self.is_pure(op)
        return all(
            each.has_trait(IsTerminator) or each.has_trait(RecursiveMemoryEffect) or self.is_pure(each)
            for each in op.walk()
        )

    def is_pure(self, op: Operation) -> bool:
        """Returns whether `op` neither reads nor writes memory and has no other effect (it may fail)."""
        if isinstance(op, func.CallOp):
            return self._is_pure_function(op.callee.string_value())
        return is_pure(op)

    def _is_pure_function(self, name: str) -> bool:
        """Returns whether a function is pure. It walks by an explicit stack, since chains of calls may be long."""
        stack = [name]
        while stack:
            current = stack[-1]
            if current in self._known and self._known[current]:
                stack.pop()
                continue
            function = self._functions.get(current)
            called = [] if function is None else list(_called(function))
            pending = [callee for callee in called if callee not in self._known]
            if current not in self._known:
                self._known[current] = False  # Impure until proven otherwise, so a cycle stays impure.
                if function is not None and pending:
                    stack.extend(dict.fromkeys(pending))
                    continue
            self._known[current] = function is not None and self._body_is_pure(function)
            stack.pop()
        return self._known[name]

    def _body_is_pure(self, function: Operation) -> bool:
        if not function.regions or not function.regions[0].blocks:
            return False
        return all(
            self._known.get(op.callee.string_value(), False)
            if isinstance(op, func.CallOp)
            else op.has_trait(IsTerminator) or bool(op.regions) or is_pure(op)
            for op in function.walk()
            if op is not function
        )


def _called(function: Operation) -> Iterator[str]:
    for op in function.walk():
        if isinstance(op, func.CallOp):
            yield op.callee.string_value()


def captured_values(ops: Sequence[Operation]) -> list[SSAValue]:
    """Returns the values that `ops` use and do not define, each once, in order of first use."""
    walked = [each for op in ops for each in op.walk()]
    inside = {result for each in walked for result in each.results}
    inside |= {arg for each in walked for region in each.regions for block in region.blocks for arg in block.args}
    used = (value for each in walked for value in each.operands)
    return list(dict.fromkeys(value for value in used if value not in inside))


def outlined(
    name: str, ops: Sequence[Operation], outputs: Sequence[SSAValue], inputs: Sequence[SSAValue], tag: str
) -> func.FuncOp:
    """Returns a private function of copies of `ops` that takes `inputs`, returns `outputs`, has the attribute `tag`."""
    block = Block(arg_types=[value.type for value in inputs])
    mapping: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = value.name_hint
        mapping[value] = argument
    for op in ops:
        block.add_op(clone_op(op, mapping))
    block.add_op(func.ReturnOp(*[mapping[value] for value in outputs]))
    types: list[Attribute] = [value.type for value in inputs]
    function = func.FuncOp(
        name, (types, [value.type for value in outputs]), Region(block), visibility=StringAttr("private")
    )
    function.attributes[tag] = UnitAttr()
    function.location = fuse(op.location for op in ops)
    last = function.body.block.last_op
    assert last is not None
    last.location = ops[-1].location
    return function
