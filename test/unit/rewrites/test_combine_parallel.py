"""`combine-parallel-*` on random branches: close to the reference, valid, idempotent, and one contraction is left."""

from __future__ import annotations

import numpy as np
import pytest
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.reference.run import run
from stepwell.testing.programs.values import arrays_of
from tolerances import check_random_program
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
PROGRAMS = 300 if FULL else 40
Shape = tuple[int, ...]


def apply(pipeline: str, module: ModuleOp) -> None:
    for each in parse_pipeline(pipeline):
        each.apply(CTX, module)
        verify_module(module)


class Branches:
    """Contractions of `%x` with biases, activations and residuals after them, in a random order of the branches."""

    def __init__(self, seed: int, op: str):
        self._random = np.random.default_rng(seed)
        self._lines: list[str] = []
        self.arguments: list[tuple[str, Shape]] = []
        self.dtype = ("f32", "f64", "bf16")[self._random.integers(3)]
        self.branches = int(self._random.integers(2, 5))
        outs = [self._branch(number, op, int(self._random.integers(1, 4))) for number in range(self.branches)]
        arguments = ", ".join(f"{name}: {self.type_(shape)}" for name, shape in self.arguments)
        types = ", ".join(self.type_(shape) for _, shape in outs)
        returned = f"func.return {', '.join(name for name, _ in outs)} : {types}"
        body = "\n".join([*self._lines, returned])
        self.text = f"func.func @main({arguments}) -> ({types}) {{\n{body}\n}}"
        self.arrays = [
            arrays_of(seed + n, shape, self.dtype, "moderate") for n, (_, shape) in enumerate(self.arguments)
        ]

    def type_(self, shape: Shape) -> str:
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.dtype}>"

    def _argument(self, name: str, shape: Shape) -> str:
        if (name, shape) not in self.arguments:
            self.arguments.append((name, shape))
        return name

    def _op(self, name: str, text: str, operands: list[Shape], result: Shape) -> None:
        types = ", ".join(self.type_(shape) for shape in operands)
        self._lines.append(f"{name} = graph.{text} : ({types}) -> {self.type_(result)}")

    def _branch(self, number: int, op: str, width: int) -> tuple[str, Shape]:
        value = f"%v{number}"
        data, weight, result, bias = {
            "conv2d": ((2, 3, 5, 5), (width, 3, 2, 2), (2, width, 4, 4), (width, 1, 1)),
            "dense": ((2, 3), (3, width), (2, width), (width,)),
            "batch-matmul": ((2, 2, 3), (2, 3, width), (2, 2, width), (width,)),
        }[op]
        x, w = self._argument("%x", data), self._argument(f"%w{number}", weight)
        self._op(value, f"{'conv2d' if op == 'conv2d' else 'matmul'} {x}, {w}", [data, weight], result)
        for step in range(self._random.integers(0, 4)):
            following = f"{value}_{step}"
            match self._random.integers(4) if step else 0:
                case 0:
                    name = self._argument(f"%b{number}_{step}", bias)
                    self._op(following, f"add {value}, {name}", [result, bias], result)
                case 1:
                    self._op(following, f"relu {value}", [result], result)
                case 2:
                    name = self._argument("%k", ())
                    self._op(following, f"multiply {name}, {value}", [(), result], result)
                case _:
                    name = self._argument(f"%r{number}_{step}", result)
                    self._op(following, f"subtract {name}, {value}", [result, result], result)
            value = following
        return value, result


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize(
    ("pass_text", "op"),
    [
        ("combine-parallel-conv2d{min-branches=2}", "conv2d"),
        ("combine-parallel-dense{min-branches=2}", "dense"),
        ("combine-parallel-dense{min-branches=2 to-batch}", "dense"),
        ("combine-parallel-batch-matmul{min-branches=2}", "batch-matmul"),
    ],
)
def test_combined_branches_are_close_to_the_reference(pass_text: str, op: str) -> None:
    combined = 0
    for seed in range(PROGRAMS):
        program = Branches(seed, op)
        module = parse_text(CTX, program.text)
        expected = run(module, "main", *program.arrays)
        apply(pass_text, module)
        contractions = sum(each.name in ("graph.conv2d", "graph.matmul") for each in module.walk())
        assert contractions == 1 or "to-batch" in pass_text
        combined += contractions == 1
        check_random_program(100.0, run(module, "main", *program.arrays), expected)
        once = str(module)
        apply(pass_text, module)
        assert str(module) == once
    assert combined > 5


def test_other_contractions_are_left_alone() -> None:
    module = parse_text(CTX, Branches(1, "dense").text)
    before = str(module)
    apply("combine-parallel-conv2d{min-branches=2},combine-parallel-batch-matmul{min-branches=2}", module)
    assert str(module) == before


def test_one_branch_is_not_parallel() -> None:
    with pytest.raises(PassFailedException, match="min-branches is 1, expected at least 2"):
        apply("combine-parallel-dense{min-branches=1}", parse_text(CTX, Branches(1, "dense").text))
