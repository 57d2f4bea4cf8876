"""Ops in their usual spelling, read at one go, are what the parser makes of their tokens; so are the errors."""

from __future__ import annotations

import re

import pytest
from counts import FULL
from stepwell.core.ir.walk import walk
from stepwell.core.messages.diagnostics import StepwellError
from stepwell.core.messages.locations import source_point
from stepwell.core.text.parsing import make_context, parse_text
from stepwell.core.text.plain_ops import PlainOps, plain_reader
from stepwell.dialects.graph.binary import AddOp
from stepwell.dialects.graph.constants import FullOp, WeightOp
from stepwell.testing.programs.program_generators import random_program
from xdsl.ir import Operation

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %0: tensor<?x8xf32>) -> tensor<4x8xf32> {
  %w = graph.weight "layer.0/w" : tensor<8x8xf32>
  %1 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s.0 = graph.softmax %1, axis = -1 : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("there":7:8)
  %t = graph.reshape %s.0, shape = [8, 4] : (tensor<4x8xf32>) -> tensor<8x4xf32>  // back again
  %u = graph.permute_dims %t, axes = [1, 0] {my.tag = 1 : i64} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %v = graph.layer_norm %u, %w8, %w8, epsilon = 1.0e-05 : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> tensor<4x8xf32>
  %w8 = graph.full 1.0 : tensor<8xf32>
  %d = graph.relu %0 : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %sum = graph.add %v, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %sum : tensor<4x8xf32>
}
"""
"""One use stands before its definition: only what is unknown is left to the parser of tokens."""

WRONG = {
    "no such op": ("graph.add", "graph.ad"),
    "one operand too many": ("graph.add %v, %x :", "graph.add %v, %x, %x :"),
    "one type too few": ("(tensor<4x8xf32>, tensor<8x8xf32>)", "(tensor<4x8xf32>)"),
    "another type than that of the value": ("graph.relu %0 : (tensor<?x8xf32>)", "graph.relu %0 : (tensor<4x8xf32>)"),
    "an unknown value": ("graph.add %v, %x", "graph.add %v, %y"),
    "a result that exists": ("%sum = graph.add %v", "%v = graph.add %v"),
    "an unknown property": ("axis = -1", "axes = -1"),
    "a property twice": ("axis = -1", "axis = -1, axis = -1"),
    "a property that is missing": (", shape = [8, 4] :", " :"),
    "a property of another kind": ("axis = -1", "axis = [1]"),
    "a property that is out of range": ("axis = -1", "axis = 99999999999999999999"),
    "an operand behind a property": ("axis = -1", "axis = -1, %x"),
    "an element type that is none": ("-> tensor<8x4xf32>", "-> tensor<8x4xf31>"),
    "an element type of an operand that is none": ("(tensor<4x8xf32>) -> tensor<8x4",
                                                   "(tensor<4x8xf31>) -> tensor<8x4"),
    "a weight of unknown size": ('w" : tensor<8x8', 'w" : tensor<?x8'),
    "an unfinished key": ('"layer.0/w"', '"layer.0/w'),
    "an unfinished op": (" -> tensor<4x8xf32> loc", " -> tensor<4x8xf32 loc"),
    "something behind an op": ('loc("there":7:8)', "and so on"),
    "a location that is none": ('loc("there":7:8)', "loc(there)"),
}  # fmt: skip


def described(text: str) -> list[str]:
    """All that parsing gives: the text, the places and names of all ops and values; or the error."""
    try:
        module = parse_text(make_context(), text, "file.mlir")
    except StepwellError as error:
        return [str(error)]
    names = [str([result.name_hint for result in op.results]) for op in walk(module)]
    return [str(module), *(str(source_point(op.location)) for op in walk(module)), *names]


def by_tokens(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    with monkeypatch.context() as patch:
        patch.setattr(PlainOps, "read", lambda *_: None)
        return described(text)


def read_at_one_go(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many ops are."""
    made: list[str] = []
    read = PlainOps.read

    def counted(self: PlainOps, *arguments: object) -> object:
        result = read(self, *arguments)  # type: ignore[arg-type]
        made.extend([result[0].name] if result is not None else [])
        return result

    with monkeypatch.context() as patch:
        patch.setattr(PlainOps, "read", counted)
        described(text)
    return len(made)


def test_ops_are_what_their_tokens_say(monkeypatch: pytest.MonkeyPatch) -> None:
    assert described(PROGRAM) == by_tokens(PROGRAM, monkeypatch)
    assert len(described(PROGRAM)) > 20


def test_what_is_usual_is_read_at_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but an op with attributes, one with a value that comes later, and the number."""
    assert read_at_one_go(PROGRAM, monkeypatch) == 6


@pytest.mark.parametrize("fault", WRONG)
def test_errors_are_those_of_the_tokens(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = WRONG[fault]
    assert PROGRAM.count(old) == 1
    found = described(PROGRAM.replace(old, new))
    assert len(found) == 1 and found[0].startswith("file.mlir:")
    assert found == by_tokens(PROGRAM.replace(old, new), monkeypatch)


@pytest.mark.ci_cases(19)
@pytest.mark.parametrize("seed", range(400 if FULL else 60))
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_program(seed, smooth=seed % 2 == 0).text
    assert described(text) == by_tokens(text, monkeypatch)


def test_damaged_programs_give_the_errors_of_the_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every token of the program left out, and every one twice."""
    for token in re.finditer(r"[%\w.\"]+|[^\s\w]", PROGRAM):
        for middle in ("", f"{token[0]} {token[0]}"):
            text = PROGRAM[: token.start()] + middle + PROGRAM[token.end() :]
            assert described(text) == by_tokens(text, monkeypatch)


def test_ops_of_one_text_share_no_properties_that_change() -> None:
    text = PROGRAM.replace("%1, axis", "%x, axis")

    def softmax() -> Operation:
        (found,) = (op for op in walk(parse_text(make_context(), text)) if op.name == "graph.softmax")
        return found

    first, second = softmax(), softmax()
    assert first.properties["axis"] is second.properties["axis"]
    del first.properties["axis"]
    assert "axis" in second.properties and "axis" in softmax().properties


def test_a_class_with_a_syntax_of_its_own_is_left_to_it() -> None:
    class Other(AddOp):
        @classmethod
        def parse(cls, parser: object) -> Other:  # type: ignore[override]
            raise NotImplementedError

    class Plain(Other):
        @classmethod
        def parse_plain(cls, *_: object) -> None:  # type: ignore[override]
            return None

    assert plain_reader(Other) is None and plain_reader(FullOp) is None and plain_reader(None) is None
    assert plain_reader(AddOp) is not None and plain_reader(WeightOp) is not None
    assert plain_reader(Plain) is not None
