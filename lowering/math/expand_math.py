"""
The pass `expand-math`: math functions on f32 and f64, and all arithmetic on f16 and bf16, as straight-line `arith`
code.

Before: `%y = math.exp %x : f32`. After: about thirty `arith` and `math.fma` ops without calls, branches or tables,
which LLVM's loop vectoriser takes as it takes an addition. `math.absf ceil copysign floor fma roundeven sqrt trunc`
stay: LLVM has instructions for them. On f64 the functions of `OF_F64` are expanded, and those of `checked_loops.py` in
loops. The rest stays for the C library. Methods, error bounds and special cases: docs/numerics.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from ...core.ir.literals import float_of
from ...core.ir.walk import ops_of, walk
from ...core.messages.diagnostics import did_you_mean
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...dialects import tile
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from .carry_small_floats import carry_in_f32, skip_exact_roundings
from .checked_loops import CHECKED, drop_vain_hints, expand_checked_loops
from .expand_small_floats import SmallFloats
from .expansions import EXPANSIONS, IN_WIDE_REGISTERS, OF_F64, RELAXED, RELAXED_IN_WIDE_REGISTERS, MathOps
from .expansions.composites import LAST_OPS, Composite, composite_of
from .expansions.math_ops import ConstantKey, element_kind

LEAST_FACTOR, MOST_FACTOR = 2.0**-60, 2.0**60
"""Bounds of a factor that `exp` takes into its own constants, which stay far from overflow and denormals."""

Expansion = Callable[[Operation, MathOps], SSAValue]

FUNCTIONS: dict[str, type[Operation]] = {
    op.name.removeprefix("math."): op for op in EXPANSIONS if op.name.startswith("math.")
}


@dataclass(frozen=True)
class ExpandMathPass(StepwellPass):
    """
    Expands math functions on f32 and f64 to arith and does f16 and bf16 arithmetic in f32.

    Before:
        %y = arith.mulf %x, %x : bf16
    After:
        %0 = arith.extf %x : bf16 to f32
        %1 = arith.extf %x : bf16 to f32
        %2 = arith.mulf %0, %1 : f32
        %y = arith.truncf %2 : f32 to bf16

    `functions` picks some by name (`exp`, `powf` and so on, all when empty). `small_floats = false` leaves f16 and bf16
    as they are. With `excess`, sums, products, quotients, maxima and smooth functions take each other's results before
    these are rounded. Comparisons, casts and floors take rounded ones, and rounded ones go to memory.

    On f64 `exp exp2 expm1 log log2 log10 tanh` are expanded where the target has FMA, and `sin cos tan` in loops marked
    `vectorize`, after a loop that looks for arguments beyond 2^25. The others are left to the C library.

    The result has no fast-math flags. `fastmath<afn>` of `math.exp` is the one that it uses: the result may then be
    some more units off, and a product with a positive constant is taken as a whole. With `wide`, there are vector
    registers of 64 bytes. Then `exp`, `exp2`, `tanh` and `erf` and the formulas of sigmoid, silu and gelu in the
    bodies of `tile.map` use `tile.scale`, `tile.limit` and `tile.lookup`. The target decides if `wide` is left out.
    """

    name: ClassVar[str] = "expand-math"

    functions: tuple[str, ...] = ()
    small_floats: bool = True
    excess: bool = False
    target: str | None = None
    wide: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if unknown := sorted(set(self.functions) - FUNCTIONS.keys()):
            hint = did_you_mean(unknown[0], FUNCTIONS) or f"it has {', '.join(sorted(FUNCTIONS))}"
            raise PassFailedException(f"{self.name} has no function {', '.join(unknown)}; {hint}")
        if self.small_floats:
            expanded, carried = small_floats_in_f32(op, self.excess)
            self.count("small-float ops expanded", expanded)
            self.count("small floats carried in f32", carried)
        chosen = frozenset(FUNCTIONS[name] for name in self.functions) or frozenset(EXPANSIONS)
        machine = chosen_machine(self.target)
        wide = machine.has_wide_registers if self.wide is None else self.wide
        if not self.functions:
            self.count("formulas replaced", _replace_composites(op, wide))
        self.count("math functions expanded", _rewrite(op, lambda found: _f32_expansion(found, chosen, wide)))
        if machine.fma:
            self.count("math functions on f64 expanded in loops", expand_checked_loops(op, chosen))
            self.count("math functions on f64 expanded", _rewrite(op, lambda found: _f64_expansion(found, chosen)))
        drop_vain_hints(op, {*OF_F64, *CHECKED})


def _replace_composites(module: ModuleOp, wide: bool) -> int:
    """
    Replaces the formulas of `composites.py`, and erases what nothing uses then.

    `tile.scale` and the like are used in bodies of `tile.map` only.
    """
    constants: dict[Block, dict[ConstantKey, SSAValue]] = {}
    formulas = _formulas_of(module, wide)
    replaced: dict[SSAValue, SSAValue] = {}
    for op, composite, variable in formulas:
        assert op.parent is not None
        builder = MathOps(op, op.results[0].type, constants.setdefault(op.parent, {}))
        result = composite.expand(builder, builder.value(replaced.get(variable, variable))).ssa
        replaced[op.results[0]] = result
        operands = list(op.operands)
        Rewriter.replace_op(op, [], [result])
        _erase_unused(operands)
    return len(formulas)


def _formulas_of(module: ModuleOp, wide: bool) -> list[tuple[Operation, Composite, SSAValue]]:
    """
    Returns the formulas that are no part of another, in the order of the program.

    A row is the last op of a formula, what takes its place, and the variable.
    """
    found: list[tuple[Operation, Composite, SSAValue]] = []
    inside: set[Operation] = set()
    for op in reversed(ops_of(module, *LAST_OPS)):
        if op in inside or (formula := composite_of(op, wide and isinstance(op.parent_op(), tile.MapOp))) is None:
            continue
        found.append((op, *formula))
        waiting: list[Operation] = [op]
        while waiting:
            for operand in waiting.pop().operands:
                if operand is not formula[1] and isinstance(operand.owner, Operation) and operand.owner not in inside:
                    inside.add(operand.owner)
                    waiting.append(operand.owner)
    return found[::-1]


def _erase_unused(values: list[SSAValue]) -> None:
    """Erases the arithmetic that computed `values` where nothing uses it any more."""
    while values:
        op = values.pop().owner
        if (
            isinstance(op, Operation)
            and op.parent is not None
            and op.dialect_name() in ("arith", "math")
            and not any(True for result in op.results for _ in result.uses)
        ):
            values += op.operands
            op.detach()
            op.erase()


def _f32_expansion(op: Operation, chosen: frozenset[type[Operation]], wide: bool) -> Expansion | None:
    """Returns the expansion of a chosen function on f32 scalars or vectors."""
    if type(op) not in chosen or element_kind(op.results[0].type) != "f32":
        return None
    in_registers = wide and isinstance(op.parent_op(), tile.MapOp)
    if isinstance(op, math.ExpOp) and FastMathFlag.APPROX_FUNC in op.fastmath.data:
        return _relaxed_in_wide_registers if in_registers else _relaxed
    if in_registers and type(op) in IN_WIDE_REGISTERS:
        return _expand_in_wide_registers
    return _expand_f32


def _f64_expansion(op: Operation, chosen: frozenset[type[Operation]]) -> Expansion | None:
    """Returns the expansion of a chosen function on f64 scalars or vectors."""
    is_found = type(op) in OF_F64 and type(op) in chosen and element_kind(op.results[0].type) == "f64"
    return _expand_f64 if is_found else None


def _expand_f64(op: Operation, m: MathOps) -> SSAValue:
    return OF_F64[type(op)](m, *(m.value(operand) for operand in op.operands)).ssa


def _expand_f32(op: Operation, m: MathOps) -> SSAValue:
    return EXPANSIONS[type(op)](m, *(m.value(operand) for operand in op.operands)).ssa


def _expand_in_wide_registers(op: Operation, m: MathOps) -> SSAValue:
    return IN_WIDE_REGISTERS[type(op)](m, *(m.value(operand) for operand in op.operands)).ssa


def _relaxed(op: Operation, m: MathOps) -> SSAValue:
    variable, factor = _factor_of(op.operands[0])
    return RELAXED(m, m.value(variable), factor).ssa


def _relaxed_in_wide_registers(op: Operation, m: MathOps) -> SSAValue:
    variable, factor = _factor_of(op.operands[0])
    return RELAXED_IN_WIDE_REGISTERS(m, m.value(variable), factor).ssa


def _factor_of(value: SSAValue) -> tuple[SSAValue, float]:
    """Returns `(x, factor)` for a value `factor * x`, of a constant that loses nothing in that."""
    if isinstance(value.owner, arith.MulfOp):
        for x, other in (value.owner.operands, reversed(value.owner.operands)):
            factor = float_of(other)
            if factor is not None and LEAST_FACTOR <= factor <= MOST_FACTOR:
                return x, factor
    return value, 1.0


def small_floats_in_f32(root: Operation, excess: bool = False) -> tuple[int, int]:
    """
    Does arithmetic on small floats in `root` in f32, and returns how many ops that were, and how many carried values.
    """
    expansions = SmallFloats(excess)
    expanded = _rewrite(root, expansions.expansion_of)
    expansions.erase_unused()
    skip_exact_roundings(root)
    return expanded, carry_in_f32(root)


def _rewrite(root: Operation, expansion_of: Callable[[Operation], Expansion | None]) -> int:
    """Replaces every op that has an expansion and returns how many. Constants are shared inside a block."""
    constants: dict[Block, dict[ConstantKey, SSAValue]] = {}
    count = 0
    for op in walk(root):
        expand = expansion_of(op)
        block = op.parent
        if expand is None or block is None or not _is_scalar_or_vector(op.results[0].type):
            continue
        if not allowed("math", op.name, op):
            continue
        builder = MathOps(op, op.results[0].type, constants.setdefault(block, {}))
        result = expand(op, builder)
        if result.name_hint is None:
            result.name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, [], [result])
        count += 1
    return count


def _is_scalar_or_vector(type_: Attribute) -> bool:
    return isinstance(type_, VectorType) or element_kind(type_) is not None
