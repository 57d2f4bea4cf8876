"""Every shipped rule, by itself: it applies somewhere, and where it applies the reference gives the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.text.parsing import make_context
from stepwell.dialects.graph.base import tensor_type
from stepwell.dialects.graph.constants import FullOp
from stepwell.dialects.graph.shapes import Shaped
from stepwell.dialects.traits import Commutative
from stepwell.patterns.language.patterns import Any_, Constant, Op, Or, Pattern, Splat, all_below
from stepwell.patterns.language.rules import Rule
from stepwell.patterns.running.driver import Driver
from stepwell.reference.failure import ReferenceFailure
from stepwell.reference.run import run
from stepwell.rewrites.shipped import shipped_rules
from stepwell.testing.programs.values import arrays_of, special_floats
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

CTX = make_context()

PROPERTIES: dict[str, list[dict[str, Any]]] = {
    "graph.permute_dims": [{}, {"axes": [0, 1]}, {"axes": [-1, 0]}],
    "graph.reshape": [{"shape": [2, 3]}, {"shape": [6]}, {"shape": [3, -1]}, {"shape": [1, 6]}],
    "graph.expand_dims": [{"axis": [0]}, {"axis": [-1]}],
    "graph.squeeze": [{}, {"axis": [0]}],
    "graph.broadcast_to": [{"shape": [2, 3]}, {"shape": [4, 2, 3]}],
    "graph.pad": [{"pad_width": [0, 0, 0, 0]}, {"pad_width": [0, 0, 1, 0]}],
    "graph.split": [{"sections": 1}, {"sections": 2}],
    "graph.strided_slice": [
        {"axes": [0], "begin": [0], "end": [9]},
        {"axes": [0], "begin": [-1], "end": [-9], "strides": [-1]},
    ],
    "graph.clip": [
        {},
        {"min": 0, "max": 3},
        {"min": 3, "max": 0},
        {"min": -128, "max": 127},
        {"min": 0, "max": 255},
        {"min": -0.0, "max": 0.0},
        {"max": 0.0},
    ],
    "graph.astype": [{"dtype": name} for name in ("f32", "bf16", "f16", "f64", "i8", "i32", "ui8", "ui32", "i1")],
    "graph.matmul": [{}],
}
"""Values of the properties that a pattern leaves open; all others have none or a default that matters not."""

DTYPES = ("f32", "bf16", "i8", "ui8", "i1", "i32", "f16", "f64", "i16", "i64", "ui16", "ui32", "ui64")
FLOATS = ("f16", "bf16", "f32", "f64")
SHAPES = ((2, 3), (1, 3), (0, 3), (1, 1), ())
MOST_HITS = 60 if FULL else 20
"""
Applications of one rule that are compared; instances come in random order, so that they are of all types and shapes.
"""

FILES = ("simplify", "simplify_arithmetic", "cse")
EXACT = [rule for name in FILES for rule in shipped_rules(name) if rule.numerics == "exact"]


class _Instance:
    """A function that computes the left side of a rule, on arguments and properties of one choice."""

    def __init__(self, rule: Rule, types: tuple[Shaped, ...], choice: tuple[int, ...], swapped: bool):
        self._swapped = swapped
        self._choice = iter(choice)
        self._types = iter(types)
        self._values: dict[str, SSAValue] = {}
        self._block = Block()
        self._shape = types[0]
        results = self._op(rule.lhs).results
        self._block.add_op(func.ReturnOp(*results))
        inputs = [argument.type for argument in self._block.args]
        function = func.FuncOp("main", (inputs, [result.type for result in results]), Region(self._block))
        self.module = ModuleOp([function])

    def _value(self, pattern: Pattern) -> SSAValue:
        key: str = getattr(pattern, "key")  # noqa: B009
        if key not in self._values:
            match pattern:
                case Any_():
                    type_ = tensor_type(next(self._types))
                    self._values[key] = self._block.insert_arg(type_, len(self._block.args))
                case Splat():
                    self._values[key] = self._splat(pattern.value)
                case Constant():
                    self._values[key] = self._splat(2.0)
                case Op():
                    self._values[key] = self._op(pattern).results[0]
                case Or():
                    arm = next(self._choice) % len(pattern.alternatives)
                    self._values[key] = self._value(pattern.alternatives[arm])
                case _:
                    raise NotImplementedError(str(pattern))
        return self._values[key]

    def _splat(self, number: float) -> SSAValue:
        is_float = self._shape.dtype in FLOATS
        op = FullOp(number if is_float else int(number), tensor_type(self._shape))
        self._block.add_op(op)
        return op.results[0]

    def _op(self, pattern: Op) -> Operation:
        operands = [self._value(operand) for operand in pattern.operands or ()]
        name = pattern.names[next(self._choice) % len(pattern.names)]
        op_type: Any = CTX.get_op(name)
        if self._swapped and op_type.has_trait(Commutative):
            operands.reverse()
        variants = PROPERTIES.get(name, [{}])
        op = op_type(*operands, **variants[next(self._choice) % len(variants)])
        self._block.add_op(op)
        return op


def _leaves_and_ops(rule: Rule) -> tuple[int, int, int]:
    """Numbers of arguments, of ops, and of ways to choose one op."""
    leaves, ops, ways = set(), 0, 1
    for pattern in all_below(rule.lhs):
        if isinstance(pattern, Any_):
            leaves.add(pattern.key)
        if isinstance(pattern, Or):
            ops, ways = ops + 1, max(ways, len(pattern.alternatives))
        if isinstance(pattern, Op):
            ops += 1
            ways = max(ways, *(len(PROPERTIES.get(name, [{}])) for name in pattern.names), len(pattern.names))
    return len(leaves), ops, ways


def instances(rule: Rule) -> Iterator[ModuleOp]:
    """Programs that look like the left side of `rule`, over types, shapes, op names and properties."""
    leaves, ops, ways = _leaves_and_ops(rule)
    choices = list(product(range(ways), repeat=2 * ops)) if ways ** (2 * ops) <= 100 else None
    random = np.random.default_rng(len(rule.name))
    is_choice = any("graph.where" in name for name in rule.lhs.names) and not rule.name.startswith("where-t")
    wanted: list[tuple[tuple[Shaped, ...], tuple[int, ...]]] = []
    for dtype, shape in product(DTYPES, SHAPES):
        types = [Shaped(shape, dtype) for _ in range(max(leaves, 1))]
        if is_choice and leaves:
            types[0] = Shaped(shape, "i1")
        sample = choices or [tuple(random.integers(0, 36, 2 * ops).tolist()) for _ in range(100)]
        wanted += [(tuple(types), choice) for choice in sample]
    for place in random.permutation(len(wanted)):
        types, choice = wanted[place]
        try:
            module = _Instance(rule, types, choice, swapped=place % 2 == 1).module
            verify_module(module)
        except (VerifyException, TypeError, ValueError, OverflowError):
            continue
        yield module


def _arrays(module: ModuleOp, seed: int) -> list[Any]:
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    found = []
    for number, type_ in enumerate(function.function_type.inputs.data):
        dtype, shape = str(type_.element_type), type_.get_shape()  # pyright: ignore
        array = arrays_of(seed + number, shape, dtype, "any")
        if dtype in FLOATS and array.size:
            array.flat[: min(4, array.size)] = special_floats(dtype)[: min(4, array.size)]
        found.append(array)
    return found


def same_bits(left: Any, right: Any) -> bool:
    """Equal bytes, all NaNs being one."""
    if left.dtype.kind in "iub":
        return left.dtype == right.dtype and np.array_equal(left, right)
    wide, other = left.astype(np.float64), right.astype(np.float64)
    return bool(
        np.array_equal(wide, other, equal_nan=True)
        and np.array_equal(np.signbit(wide)[~np.isnan(wide)], np.signbit(other)[~np.isnan(other)])
    )


@pytest.mark.ci_cases(2)
@pytest.mark.parametrize("rule", [rule for rule in EXACT if rule.lhs.names], ids=lambda rule: rule.name)
def test_exact_rule_applies_and_keeps_every_bit(rule: Rule) -> None:
    hits = 0
    for number, module in enumerate(instances(rule)):
        before = module.clone()
        driver = Driver(CTX, [rule])
        driver.run(module)
        if driver.statistics[rule.name].hits == 0:
            continue
        hits += 1
        verify_module(module)
        assert "\n".join(str(module).splitlines()[1:2]) == "\n".join(str(before).splitlines()[1:2]), "signature"
        if hits > MOST_HITS:
            break
        arrays = _arrays(before, number)
        try:
            expected = run(before, "main", *arrays)
        except ReferenceFailure:
            continue
        for found, wanted in zip(run(module, "main", *arrays), expected, strict=True):
            assert same_bits(found, wanted), f"{before}\nbecame\n{module}\non {arrays}"
    assert hits > 0


def test_every_rule_says_what_it_does() -> None:
    for name in (*FILES, "ewise_fma", "matmul_add"):
        for rule in shipped_rules(name):
            assert rule.doc, rule.name


@pytest.mark.parametrize("name", ["add-of-zero", "multiply-by-zero", "subtract-of-itself"])
def test_fast_rule_changes_bits(name: str) -> None:
    """The comparison above would notice a rule that is called exact and is not."""
    rule = next(rule for file in FILES for rule in shipped_rules(file) if rule.name == name)
    differences = 0
    for number, module in enumerate(instances(rule)):
        before = module.clone()
        if Driver(CTX, [rule]).run(module):
            arrays = _arrays(before, number)
            results = zip(run(module, "main", *arrays), run(before, "main", *arrays), strict=True)
            differences += any(not same_bits(found, wanted) for found, wanted in results)
    assert differences > 0
