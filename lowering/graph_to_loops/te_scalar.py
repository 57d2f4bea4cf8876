"""
The lowering of scalar tensor expressions to `arith`, `math`, `memref`, `scf.if` and `cf.assert`, an element at a time.

Every rule of docs/semantics.md that is about one element ends here: saturating casts, comparisons with NaN, signedness.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Final

from xdsl.dialects import arith, cf, llvm, math, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, SSAValue

from ... import te
from ...core.roles import IMPLIED
from ...te import dtypes
from ...te.expr import Axis, Binary, Compare, Const, Expr, Unary, Var
from ...te.nodes import BitCast, Cast, Check, FusedMultiplyAdd, Select
from ...te.tensor import Load
from ..shared.te_types import compute_type
from .scalar_ops import ScalarOps
from .te_casts import emit_cast, whole_byte

REDUCTION_FLAGS = arith.FastMathFlagsAttr([FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT])
"""
The flags of the additions and products of a contraction or reduction. Their order and FMA are unspecified (semantics,
rule 3).
"""

_MATH: dict[str, type[Operation]] = {
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "round": math.RoundEvenOp,
    "trunc": math.TruncOp,
    "atan": math.AtanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
}

_FLOAT_BINARY: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "max": arith.MaximumfOp,
    "min": arith.MinimumfOp,
    "pow": math.PowFOp,
    "atan2": math.Atan2Op,
    "copysign": math.CopySignOp,
}

_SIGNED_BINARY: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "truncdiv": arith.DivSIOp,
    "truncmod": arith.RemSIOp,
    "floordiv": arith.FloorDivSIOp,
    "shl": arith.ShLIOp,
    "shr": arith.ShRSIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
}

_UNSIGNED_BINARY = _SIGNED_BINARY | {
    "max": arith.MaxUIOp,
    "min": arith.MinUIOp,
    "truncdiv": arith.DivUIOp,
    "truncmod": arith.RemUIOp,
    "floordiv": arith.DivUIOp,
    "floormod": arith.RemUIOp,
    "shr": arith.ShRUIOp,
}

_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_SIGNED_PREDICATES = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED_PREDICATES = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}


DEEP: Final = 100
"""The levels of an expression that are emitted by recursion, in the order in which Python would compute them."""

MOST_NESTED: Final = 100
"""The levels of `scf.if` around an op, each of which passes and printers walk by recursion."""


def _always_computed(expr: Expr) -> tuple[Expr, ...]:
    """Returns the operands that are computed whatever the others are."""
    if isinstance(expr, Check) or (isinstance(expr, Select) and expr.lazy):
        return expr.operands[:1]
    return expr.operands


class ScalarExpression(ScalarOps):
    """
    The ops of expressions at the end of `block`. `buffers` maps tensors, `values` axes and variables, to IR values.

    Equal nodes (by identity) are emitted once per scope. A lazy selection opens a scope for each side.
    """

    def __init__(
        self,
        block: Block,
        buffers: Mapping[te.Tensor, SSAValue],
        values: Mapping[Expr, SSAValue],
    ):
        super().__init__(block)
        self.buffers = buffers
        self.values: MutableMapping[Expr, SSAValue] = ChainMap({}, dict(values))
        self._depth = 0
        self._sides = 0

    def emit(self, expr: Expr) -> SSAValue:
        """Returns the value of `expr`."""
        if (known := self.values.get(expr)) is not None:
            return known
        if self._depth >= DEEP:
            self._emit_operands(expr)
        self._depth += 1
        value = self._emitters[type(expr)](self, expr)
        self._depth -= 1
        self.values[expr] = value
        return value

    def _emit_operands(self, expr: Expr) -> None:
        """Emits what is below `expr` from the leaves up. Recursion would end at the limit of Python."""
        stack = [expr]
        while stack:
            node = stack[-1]
            missing = [each for each in _always_computed(node) if each not in self.values]
            if missing:
                stack += reversed(missing)
                continue
            if node is not expr and node not in self.values:
                self.values[node] = self._emitters[type(node)](self, node)
            stack.pop()

    # One method per kind of node.

    def _const(self, expr: Const) -> SSAValue:
        return self.constant(expr.value, expr.type)

    def _unbound(self, expr: Axis | Var) -> SSAValue:
        if isinstance(expr, Var):
            hint = f"create_prim_func([…, {expr.name}, …]) takes it as an argument"
            raise te.TEError(f"variable '{expr.name}' is neither a size of an input nor an argument; {hint}")
        raise te.TEError(f"'{expr.name}' is used outside the stage that defines it")

    def _load(self, expr: Load) -> SSAValue:
        indices = [self.emit(index) for index in expr.indices]
        return self.load(self.buffers[expr.tensor], indices, expr.dtype)

    def _unary(self, expr: Unary) -> SSAValue:
        operand, dtype = self.emit(expr.operand), expr.operand.dtype
        match expr.function:
            case "neg" if dtypes.is_float(dtype):
                return self.add(arith.NegfOp(operand))
            case "neg":
                return self.add(arith.SubiOp(self.constant(0, dtype), operand))
            case "abs" if dtypes.is_float(dtype):
                return self.add(math.AbsFOp(operand))
            case "abs" if dtypes.is_unsigned(dtype):
                return operand
            case "abs":
                zero = self.constant(0, dtype)
                return self.select(
                    self.compare_int("slt", operand, zero), self.add(arith.SubiOp(zero, operand)), operand
                )
            case "not":
                ones = self.constant(True, "i1") if dtype == "i1" else self.constant(-1, f"i{dtypes.bit_width(dtype)}")
                return self.add(arith.XOrIOp(operand, ones))
            case "isnan":
                return self.compare_float("uno", operand, operand)
            case "isinf" | "isfinite":
                size = self.add(math.AbsFOp(operand))
                predicate = "oeq" if expr.function == "isinf" else "olt"
                return self.compare_float(predicate, size, self.constant(float("inf"), dtype))
            case function:
                return self.add(_MATH[function](operand))  # pyright: ignore[reportCallIssue]

    def _binary(self, expr: Binary) -> SSAValue:
        lhs, rhs, dtype = self.emit(expr.lhs), self.emit(expr.rhs), expr.dtype
        # Only a division asks, and a sum of a thousand terms would look at all of them a thousand times.
        divides = expr.function in ("floordiv", "floormod") and not dtypes.is_float(dtype)
        positive = divides and _non_negative(expr.lhs) and _non_negative(expr.rhs)
        return self.binary(expr.function, lhs, rhs, dtype, positive)

    def binary(self, function: str, lhs: SSAValue, rhs: SSAValue, dtype: str, non_negative: bool = False) -> SSAValue:
        """
        Computes `function(lhs, rhs)` on values of element type `dtype`.

        `non_negative` promises that no operand is below 0.
        """
        if function == "fmod":
            return self._fmod(lhs, rhs, dtype)
        if dtypes.is_float(dtype):
            return self.add(_FLOAT_BINARY[function](lhs, rhs))  # pyright: ignore[reportCallIssue]
        if dtypes.is_unsigned(dtype) or (non_negative and function in ("floordiv", "floormod")):
            return self.add(_UNSIGNED_BINARY[function](lhs, rhs))  # pyright: ignore[reportCallIssue]
        if function == "floormod":
            return self._signed_floormod(lhs, rhs, dtype)
        return self.add(_SIGNED_BINARY[function](lhs, rhs))  # pyright: ignore[reportCallIssue]

    def _fmod(self, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        """Computes the exact remainder of truncated division. Half floats go through f32, which holds it exactly."""
        if dtype in ("f32", "f64"):
            return self.add(llvm.FRemOp(lhs, rhs))
        wide = emit_cast(self, lhs, dtype, "f32"), emit_cast(self, rhs, dtype, "f32")
        return emit_cast(self, self.add(llvm.FRemOp(*wide)), "f32", dtype)

    def _signed_floormod(self, lhs: SSAValue, rhs: SSAValue, dtype: str) -> SSAValue:
        """
        Emits `r = lhs rem rhs`, plus `rhs` when r is not 0 and signs differ. So the remainder takes the sign of the
        divisor.
        """
        zero = self.constant(0, dtype)
        remainder = self.add(arith.RemSIOp(lhs, rhs))
        nonzero = self.compare_int("ne", remainder, zero)
        signs = self.add(arith.XOrIOp(remainder, rhs))
        adjust = self.add(arith.AndIOp(nonzero, self.compare_int("slt", signs, zero)))
        return self.select(adjust, self.add(arith.AddiOp(remainder, rhs)), remainder)

    def _compare(self, expr: Compare) -> SSAValue:
        lhs, rhs, dtype = self.emit(expr.lhs), self.emit(expr.rhs), expr.lhs.dtype
        if dtypes.is_small_integer(dtype):
            lhs, rhs = whole_byte(self, lhs, dtype), whole_byte(self, rhs, dtype)
        if dtypes.is_float(dtype):
            return self.compare_float(_FLOAT_PREDICATES[expr.function], lhs, rhs)
        table = _UNSIGNED_PREDICATES if dtypes.is_unsigned(dtype) else _SIGNED_PREDICATES
        return self.compare_int(table[expr.function], lhs, rhs)

    def _select(self, expr: Select) -> SSAValue:
        condition = self.emit(expr.condition)
        if not expr.lazy:
            return self.select(condition, self.emit(expr.if_true), self.emit(expr.if_false))
        return self.add(
            scf.IfOp(condition, [compute_type(expr.dtype)], [self._side(expr.if_true)], [self._side(expr.if_false)])
        )

    def _side(self, expr: Expr) -> Block:
        """Returns a block that yields `expr`. The values that it computes are not visible outside."""
        self._sides += 1
        if self._sides > MOST_NESTED:
            raise te.TEError(f"te.if_then_else is nested more than {MOST_NESTED} levels deep; te.select is not nested")
        outer = self.block, self.values, self.constants
        self.block = Block()
        self.values = ChainMap({}, *_maps(self.values))
        self.constants = ChainMap({}, *_maps(self.constants))
        self.block.add_op(scf.YieldOp(self.emit(expr)))
        inner = self.block
        self.block, self.values, self.constants = outer
        self._sides -= 1
        return inner

    def _fma(self, expr: FusedMultiplyAdd) -> SSAValue:
        return self.add(math.FmaOp(self.emit(expr.a), self.emit(expr.b), self.emit(expr.c)))

    def _cast(self, expr: Cast) -> SSAValue:
        result = emit_cast(self, self.emit(expr.operand), expr.operand.dtype, expr.type)
        if expr.implied and isinstance(result.owner, arith.ExtFOp | arith.TruncFOp):
            result.owner.attributes[IMPLIED] = UnitAttr()
        return result

    def _bitcast(self, expr: BitCast) -> SSAValue:
        value, type_ = self.emit(expr.operand), compute_type(expr.type)
        return value if value.type == type_ else self.add(arith.BitcastOp(value, type_))

    def _check(self, expr: Check) -> SSAValue:
        self.block.add_op(cf.AssertOp(self.emit(expr.condition), expr.message))
        return self.emit(expr.value)

    _emitters: dict[type[Expr], Callable[..., SSAValue]] = {
        Const: _const,
        Axis: _unbound,
        Var: _unbound,
        Load: _load,
        Unary: _unary,
        Binary: _binary,
        Compare: _compare,
        Select: _select,
        FusedMultiplyAdd: _fma,
        Cast: _cast,
        BitCast: _bitcast,
        Check: _check,
    }


def _maps(scope: MutableMapping[Any, SSAValue]) -> list[MutableMapping[Any, SSAValue]]:
    return list(scope.maps) if isinstance(scope, ChainMap) else [scope]


def _non_negative(expr: Expr) -> bool:
    """
    Returns whether an index expression is never below 0, seen from its form alone. Does not recurse, and looks at a
    shared part once.
    """
    seen: set[Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case Const(value) if value >= 0:
                pass
            case Axis(lower=lower) if lower >= 0:
                pass
            case Var(type="index"):
                pass
            case Binary(function="floormod"):
                stack.append(node.rhs)
            case Binary(function="add" | "mul" | "floordiv" | "max"):
                stack += [node.rhs, node.lhs]
            case _:
                return False
    return True
