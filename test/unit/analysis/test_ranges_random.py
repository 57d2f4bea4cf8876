"""The prover beside enumeration: what is proven is inside, what is refused is outside, and much is proven."""

from __future__ import annotations

from collections import Counter

import counts as sizes
from random_ranges import indices_met, random_function
from stepwell.analysis.ranges.accesses import Accesses
from stepwell.analysis.ranges.plain import faults
from stepwell.core.text.parsing import parse
from xdsl.dialects import memref

PROGRAMS = 10_000 if sizes.FULL else 150
BYTES = (-128, -3, 0, 5, 127)


def classify(seed: int, counts: Counter[str]) -> None:
    text = random_function(seed)
    module = parse(text, verify=False)
    (function,) = module.ops
    met: dict[object, set[int]] = {}
    for op, index in indices_met(function.regions[0].block, BYTES):
        met.setdefault(op, set()).add(index)
    accesses = Accesses()
    found = list(accesses.of(function))
    refused = {fault.op for fault in faults(accesses, found)}
    for access in found:
        assert access.touch is not None
        op = access.touch.op
        for span in access.touch.spans:
            size = op.memref.type.get_shape()[0]  # pyright: ignore
            outside = [index for index in met.get(op, ()) if not 0 <= index < size]
            missing = accesses.missing(access, span)
            assert isinstance(op, memref.LoadOp)
            assert missing or not outside, f"seed {seed}: {op} is proven but reaches {outside}\n{text}"
            assert op not in refused or outside, f"seed {seed}: {op} is refused but stays inside\n{text}"
            counts["wrong" if outside else "right"] += 1
            counts["proven"] += not missing
            counts["refused"] += op in refused


def test_what_is_proven_is_inside_and_what_is_refused_is_outside() -> None:
    counts: Counter[str] = Counter()
    for seed in range(PROGRAMS):
        classify(seed, counts)
    assert counts["wrong"] > 40 and counts["right"] > 400, counts
    assert counts["proven"] > 0.6 * counts["right"], counts
    assert counts["refused"] > 0.1 * counts["wrong"], counts
