"""Programs rewritten to the end, and the comparison of what they compute as expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Operation, OpResult, SSAValue

from ...analysis.kinds import OpKind
from ...analysis.op_kind import kind_of_op
from ...core.ir.structural_hash import Texts, structural_hash
from ...dialects.traits import is_commutative
from ...patterns.language.constants import element_type, is_constant_op, splat_number
from ...patterns.language.functions import functions_of
from ...patterns.language.rules import Rule
from ...patterns.running.driver import Driver
from ...rewrites.constants.fold_constant import FoldConstantPass

REWRITES: Final = 60
"""The rewrites of one op after which an example has no fixed point. The programs are small."""

ROUNDS: Final = 3
"""The times that rules and constant folding take turns."""


class Normaliser:
    """Runs `rules` to a fixed point, with one driver for many programs."""

    def __init__(self, ctx: Context, rules: Iterable[Rule]):
        self._ctx = ctx
        self._driver = Driver(ctx, rules, limit=REWRITES)

    def run(self, module: ModuleOp) -> None:
        """Rewrites `module` until no rule applies. Raises `OperationError` where there is no fixed point."""
        self._driver.run(module)

    def run_with_folding(self, module: ModuleOp) -> None:
        """Lets the rules and the folding of constants take turns, `ROUNDS` times at most."""
        before = ""
        for _ in range(ROUNDS):
            FoldConstantPass(prepare=False).apply(self._ctx, module)
            self._driver.run(module)
            after = expression_key(module)
            if after == before:
                break
            before = after


def expression_key(module: ModuleOp, *, numbers: bool = True) -> str:
    """
    Returns a hash of what `main` returns as expressions: the same for programs that differ in the order of ops, in
    unused or equal ops, in the order of operands of commutative ops, and in the shape of a number that an elementwise
    op stretches. Without `numbers`, constants of one type are the same.
    """
    functions = {each.sym_name.data: each for each in functions_of(module)}
    main = functions["main"]
    if len(main.body.blocks) != 1 or any(op.regions for op in main.body.block.ops):
        return structural_hash(module)
    return _Expressions(functions, numbers).of(main)


class _Expressions:
    def __init__(self, functions: Mapping[str, func.FuncOp], numbers: bool):
        self._numbers = numbers
        self._callees = {name: _body_hash(each) for name, each in functions.items() if name != "main"}
        self._texts = Texts()
        self._known: dict[SSAValue, str] = {}

    def of(self, main: func.FuncOp) -> str:
        block = main.body.block
        for number, argument in enumerate(block.args):
            self._known[argument] = f"argument {number}"
        for op in block.ops:
            made = self._op(op)
            for result in op.results:
                self._known[result] = f"{made}.{result.index}"
        last = block.last_op
        return "" if last is None else _digest([self._operand(value, False) for value in last.operands])

    def _op(self, op: Operation) -> str:
        own = getattr(op, "normal_properties", None)
        named = [*(op.properties if own is None else own()).items(), *op.attributes.items()]
        properties = sorted(f"{name}={self._texts.text(value)}" for name, value in named)
        types = [self._texts.text(result.type) for result in op.results]
        if is_constant_op(op):
            return _digest(["constant", *(properties if self._numbers else ()), *types])
        stretches = kind_of_op(op) in (OpKind.ELEMENTWISE, OpKind.BROADCAST)
        operands = [self._operand(value, stretches and len(op.operands) > 1) for value in op.operands]
        if is_commutative(op):
            operands.sort()
        if isinstance(op, func.CallOp):
            callee = op.callee.root_reference.data
            properties = [self._callees.get(callee, callee)]
        return _digest([op.name, *operands, "with", *properties, "gives", *types])

    def _operand(self, value: SSAValue, stretched: bool) -> str:
        number = "nothing" if _is_empty_constant(value) else splat_number(value)
        if number is None:
            return self._known[value]
        shape = "" if stretched else self._texts.text(value.type)
        return f"{number if self._numbers else 'number'} : {element_type(value.type)} {shape}"


def _is_empty_constant(value: SSAValue) -> bool:
    """Returns whether `value` is a constant without elements. Of these there is one for each type."""
    type_ = value.type
    is_empty = isinstance(type_, TensorType) and 0 in type_.get_shape()
    return is_empty and isinstance(value, OpResult) and is_constant_op(value.op)


def _body_hash(function: func.FuncOp) -> str:
    """Returns a hash of what a function computes, whatever it is called."""
    unnamed = function.clone()
    unnamed.properties["sym_name"] = StringAttr("callee")
    return structural_hash(unnamed)


def _digest(parts: Sequence[str]) -> str:
    return sha256("\x1f".join(parts).encode()).hexdigest()[:24]


__all__ = ["Normaliser", "expression_key"]
