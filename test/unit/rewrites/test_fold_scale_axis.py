"""`fold-scale-axis` on random chains: close to the reference, valid, idempotent, and fewer multiplications of data."""

from __future__ import annotations

import numpy as np
import pytest
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.dialects import graph
from stepwell.reference.run import run
from tolerances import check_random_program
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
PROGRAMS = 300 if FULL else 50
DIRECTIONS = ["both", "fwd", "bwd"]


def apply(pipeline: str, module: ModuleOp) -> None:
    for each in parse_pipeline(pipeline):
        each.apply(CTX, module)
        verify_module(module)


class Chain:
    """Two contractions with factors, biases, relu and pooling before, between and after them."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)
        self.images = bool(self._random.integers(2))
        self.last = bool(self._random.integers(2))
        shape = [2, 3, 6, 6] if self.images and not self.last else [2, 6, 6, 3] if self.images else [4, 3]
        self.x = self._array(shape)
        self._block = Block(arg_types=[graph.ConstantOp.from_array(self.x).results[0].type])
        value: SSAValue = self._block.args[0]
        for _ in range(2):
            value = self._contraction(self._steps(value))
        value = self._steps(value)
        self._block.add_op(func.ReturnOp(value))
        types = ([self._block.args[0].type], [value.type])
        self.module = ModuleOp([func.FuncOp("main", types, Region(self._block))])

    def _array(self, shape: list[int]) -> np.ndarray:
        return self._random.normal(0, 1, shape).astype(np.float32)

    def _add(self, op: object) -> SSAValue:
        self._block.add_op(op)  # pyright: ignore
        return op.results[0]  # pyright: ignore

    def _literal(self, array: np.ndarray) -> SSAValue:
        return self._add(graph.ConstantOp.from_array(array))

    def _vector(self, *, positive: bool) -> SSAValue:
        shape = [3, 1, 1] if self.images and not self.last else [3]
        array = self._array(shape)
        return self._literal(np.abs(array) + np.float32(0.5) if positive else array)

    def _steps(self, value: SSAValue) -> SSAValue:
        for _ in range(self._random.integers(0, 4)):
            match self._random.integers(5):
                case 0 | 1:
                    factor = self._vector(positive=bool(self._random.integers(3)))
                    value = self._add(graph.MultiplyOp(value, factor))
                case 2:
                    value = self._add(graph.AddOp(self._vector(positive=False), value))
                case 3:
                    value = self._add(graph.ReluOp(value))
                case _ if self.images:
                    op = (graph.MaxPool2dOp, graph.AvgPool2dOp)[self._random.integers(2)]
                    layout = "NHWC" if self.last else "NCHW"
                    padding = [1, 0, 0, 1]
                    value = self._add(op(value, pool_size=[2, 2], padding=padding, layout=layout))
                case _:
                    value = self._add(graph.SubtractOp(value, self._vector(positive=False)))
        return value

    def _contraction(self, value: SSAValue) -> SSAValue:
        if not self.images:
            return self._add(graph.MatmulOp(value, self._literal(self._array([3, 3]))))
        groups = (1, 3)[self._random.integers(2)]
        inputs = 3 // groups
        swapped = bool(self._random.integers(2))
        kernel = self._array([2, 2, inputs, 3] if swapped else [3, inputs, 2, 2])
        return self._add(
            graph.Conv2dOp(
                value,
                self._literal(kernel),
                groups=groups,
                padding=[1, 1, 0, 0],
                data_layout="NHWC" if self.last else "NCHW",
                kernel_layout="HWIO" if swapped else "OIHW",
            )
        )


def data_products(module: ModuleOp) -> int:
    """Multiplications of what depends on the argument."""
    (function,) = module.body.ops
    assert isinstance(function, func.FuncOp)
    known = set(function.body.block.args)
    count = 0
    for op in function.body.block.ops:
        if known.intersection(op.operands):
            known.update(op.results)
            count += op.name == "graph.multiply"
    return count


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_folded_scales_are_close_to_the_reference(direction: str) -> None:
    folded = 0
    for seed in range(PROGRAMS):
        chain = Chain(seed)
        verify_module(chain.module)
        (expected,) = run(chain.module, "main", chain.x)
        before = data_products(chain.module)
        apply(f"fold-scale-axis{{direction={direction}}}", chain.module)
        assert data_products(chain.module) <= before
        folded += data_products(chain.module) < before
        largest = float(np.abs(expected).max(initial=1.0)) * 10
        check_random_program(largest, run(chain.module, "main", chain.x), [expected])
        once = str(chain.module)
        apply(f"fold-scale-axis{{direction={direction}}}", chain.module)
        assert str(chain.module) == once
    assert folded > PROGRAMS // 5


def test_strict_numerics_turns_the_pass_off() -> None:
    for seed in range(10):
        module = Chain(seed).module
        before = str(module)
        apply('fold-scale-axis{numerics="strict"}', module)
        assert str(module) == before


def test_unknown_direction() -> None:
    with pytest.raises(PassFailedException, match="direction is 'up', expected one of both, fwd, bwd"):
        apply("fold-scale-axis{direction=up}", Chain(0).module)


def test_folded_batch_norm_is_part_of_the_kernel() -> None:
    """conv + batch_norm + relu: one convolution with new weights and a bias."""
    random = np.random.default_rng(4)
    vectors = [np.abs(random.normal(1, 0.3, 4)).astype(np.float32) for _ in range(4)]
    names = ("gamma", "beta", "mean", "var")
    literals = "\n".join(
        f"%{name} = graph.constant dense<{[float(v) for v in vector]}> : tensor<4xf32>"
        for name, vector in zip(names, vectors, strict=True)
    )
    text = f"""func.func @main(%x: tensor<1x3x5x5xf32>) -> tensor<1x4x5x5xf32> {{
      {literals}
      %w = graph.full 0.5 : tensor<4x3x1x1xf32>
      %c = graph.conv2d %x, %w : (tensor<1x3x5x5xf32>, tensor<4x3x1x1xf32>)
      %y, %m, %v = graph.batch_norm %c, %gamma, %beta, %mean, %var
          : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      %r = graph.relu %y : (tensor<1x4x5x5xf32>)
      func.return %r : tensor<1x4x5x5xf32>
    }}"""
    module = parse_text(CTX, text)
    x = random.normal(0, 1, (1, 3, 5, 5)).astype(np.float32)
    expected = run(module, "main", x)
    apply("simplify-inference,fold-constant,fold-scale-axis,fold-constant", module)
    ops = [op.name for op in module.walk() if op.name.startswith("graph.") and op.operands]
    assert ops == ["graph.conv2d", "graph.add", "graph.relu"]
    check_random_program(10.0, run(module, "main", x), expected)
