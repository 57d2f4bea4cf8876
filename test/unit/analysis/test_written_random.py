"""The proofs about written elements beside plain runs: what is proven is right, what is refused is wrong."""

from __future__ import annotations

from collections import Counter

import counts as sizes
from random_written import WrittenProgram, written_program
from stepwell.analysis.ranges.accesses import Accesses
from stepwell.analysis.ranges.coverage import unproven
from stepwell.analysis.ranges.unwritten import unwritten_faults
from stepwell.core.text.parsing import parse
from stepwell.dialects.tensor_loop import BlockOp, FuncOp
from xdsl.ir import Operation

PROGRAMS = 20_000 if sizes.FULL else 150


def _number(op: Operation) -> int:
    block = op.parent_op()
    assert isinstance(block, BlockOp)
    return int(block.block_name.data.removeprefix("b"))


def classify(seed: int, program: WrittenProgram, counts: Counter[str]) -> None:
    (function,) = parse(program.text, verify=False).ops
    assert isinstance(function, FuncOp)
    accesses = Accesses()
    refused = {_number(fault.op) for fault in unwritten_faults(function, accesses, list(accesses.of(function)))}
    found = unproven(function)
    open_reads = {_number(read.op) for read in found.reads}
    wrong = set(program.missing)
    assert wrong <= open_reads, f"seed {seed}: a read is proven, but nothing has written\n{program.text}"
    assert refused <= wrong, f"seed {seed}: a read is refused, but is right\n{program.text}"
    is_open = any(output.name_hint == "T" for output in found.outputs)
    assert is_open or program.is_whole, f"seed {seed}: T is not written as a whole\n{program.text}"
    counts["whole"] += program.is_whole
    counts["proven whole"] += not is_open
    counts["wrong"] += len(wrong)
    counts["refused"] += len(refused)
    counts["open, but right"] += len(open_reads - wrong)


def test_what_is_proven_is_right_and_what_is_refused_is_wrong() -> None:
    counts: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        classify(seed, written_program(seed), counts)
    assert counts["proven whole"] > 0.5 * counts["whole"] > 20, counts
    assert counts["refused"] > 0.5 * counts["wrong"] > 20, counts
