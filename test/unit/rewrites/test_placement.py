"""`sink-to-lca`, `check-lca-placement` and `canonicalize-cast` on random programs: same bits, valid, idempotent."""

from __future__ import annotations

import numpy as np
import pytest
from counts import FULL
from stepwell.core.ir.verification import verify_module
from stepwell.core.passes.pipeline_text import parse_pipeline
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.reference.run import run
from tolerances import check_same
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

CTX = make_context()
PROGRAMS = 300 if FULL else 60
T = "tensor<4xi32>"


def apply(pipeline: str, module: ModuleOp) -> None:
    for each in parse_pipeline(pipeline):
        each.apply(CTX, module)
        verify_module(module)


class Branches:
    """A random function of nested branches, as text."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)
        self._count = 0
        body = "\n".join(self._block(["%x", "%y"], 0, "func.return"))
        self.text = f"func.func @main(%x: {T}, %y: {T}, %c: i1, %d: i1) -> {T} {{\n{body}\n}}"

    def _pick(self, values: list[str]) -> str:
        return values[self._random.integers(len(values))]

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def _block(self, visible: list[str], depth: int, terminator: str) -> list[str]:
        values, lines = list(visible), []
        for _ in range(self._random.integers(1, 5)):
            name = self._name()
            if depth < 3 and self._random.integers(3) == 0:
                condition = self._pick(["%c", "%d"])
                lines.append(f"{name} = scf.if {condition} -> ({T}) {{")
                lines += self._block(values, depth + 1, "scf.yield")
                lines += ["} else {", *self._block(values, depth + 1, "scf.yield"), "}"]
            else:
                op = self._pick(["add", "multiply", "subtract"])
                operands = f"{self._pick(values)}, {self._pick(values)}"
                lines.append(f"{name} = graph.{op} {operands} : ({T}, {T}) -> {T}")
            values.append(name)
        return [*lines, f"{terminator} {self._pick(values)} : {T}"]


def test_sinking_keeps_results_and_settles() -> None:
    moved = 0
    for seed in range(PROGRAMS):
        module = parse_text(CTX, Branches(seed).text)
        before = str(module)
        x, y = (np.random.default_rng(seed).integers(-9, 9, (2, 4))).astype(np.int32)
        inputs = [(x, y, np.bool_(c), np.bool_(d)) for c in (False, True) for d in (False, True)]
        expected = [run(module, "main", *each) for each in inputs]
        apply("sink-to-lca", module)
        once = str(module)
        moved += once != before
        for each, wanted in zip(inputs, expected, strict=True):
            check_same(run(module, "main", *each), wanted)
        apply("sink-to-lca", module)
        assert str(module) == once
    assert moved > PROGRAMS // 4


def test_what_is_sunk_passes_the_check_unless_computed_twice() -> None:
    passed = 0
    for seed in range(PROGRAMS):
        module = parse_text(CTX, Branches(seed).text)
        apply("eliminate-dead-code,sink-to-lca", module)
        before = str(module)
        try:
            apply("check-lca-placement", module)
            passed += 1
        except PassFailedException as error:
            assert "computed in branches apart" in str(error)
        assert str(module) == before
    assert passed > PROGRAMS // 4


@pytest.mark.ci_cases(0)
def test_check_finds_what_sinking_would_move() -> None:
    found = 0
    for seed in range(PROGRAMS):
        module = parse_text(CTX, Branches(seed).text)
        sunk = module.clone()
        apply("sink-to-lca", sunk)
        if str(sunk) != str(module):
            found += 1
            with pytest.raises(PassFailedException):
                apply("check-lca-placement", module)
    assert found > 0


def casts(seed: int) -> tuple[str, list[np.ndarray]]:
    """A chain of elementwise ops and a few conversions that several of them use."""
    random = np.random.default_rng(seed)
    values: dict[str, list[str]] = {"i8": ["%x"], "i32": ["%y"], "f32": ["%z"]}
    lines: list[str] = []
    for number in range(14):
        dtype = ("i8", "i32", "f32")[random.integers(3)]
        name, type_ = f"%v{number}", f"tensor<5x{dtype}>"
        if random.integers(2):
            source = ("i8", "i32", "f32")[random.integers(3)]
            operand = values[source][random.integers(len(values[source]))]
            lines.append(f"{name} = graph.astype {operand}, dtype = {dtype} : (tensor<5x{source}>) -> {type_}")
        else:
            a, b = (values[dtype][random.integers(len(values[dtype]))] for _ in range(2))
            lines.append(f"{name} = graph.add {a}, {b} : ({type_}, {type_}) -> {type_}")
        values[dtype].append(name)
    types = ", ".join(f"tensor<5x{dtype}>" for dtype in values)
    body = "\n".join([*lines, f"func.return {', '.join(v[-1] for v in values.values())} : {types}"])
    arrays = [random.integers(-99, 99, 5).astype(dtype) for dtype in (np.int8, np.int32, np.float32)]
    return (
        f"func.func @main(%x: tensor<5xi8>, %y: tensor<5xi32>, %z: tensor<5xf32>) -> ({types}) {{\n{body}\n}}",
        arrays,
    )


def test_conversions_are_copied_and_merged_back() -> None:
    changed = 0
    for seed in range(PROGRAMS):
        text, arrays = casts(seed)
        module = parse_text(CTX, text)
        apply("eliminate-common-subexpr", module)
        expected, before = run(module, "main", *arrays), str(module)
        apply("canonicalize-cast", module)
        once = str(module)
        changed += once != before
        check_same(run(module, "main", *arrays), expected)
        apply("canonicalize-cast", module)
        assert str(module) == once
        apply("eliminate-common-subexpr", module)
        assert str(module) == before
    assert changed > PROGRAMS // 4
