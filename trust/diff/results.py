"""Results of two programs on the same inputs: the same bits, the same but for rounding, or the first that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.messages.diagnostics import Diagnostic, StepwellError
from ...core.messages.locations import nearest_source_point
from ...core.messages.points import SourcePoint
from ...lazy_dataclass import dataclass
from ...reference.element_types import Array
from ...reference.loops.state import symbol_of
from ...te.dtypes import TABLE
from ..check import CheckOptions
from ..compare import Mismatch, exactly, nearly
from ..entries import Entry, Input, entries, stored_weights, weights_of
from ..evaluate import CannotRunError, Outcome, evaluate
from ..inputs import KINDS, InputSet, given_inputs, made_inputs, shapes_of
from ..sensitivity import sensitivity

Weights = dict[str, Array]
Verdict = Literal["same bits", "same but for rounding", "different", "not compared"]


@dataclass(frozen=True)
class Difference:
    """The first result that differs, or a failure of one program alone, and where the results are made."""

    what: str
    places: tuple[SourcePoint | None, SourcePoint | None] = (None, None)


@dataclass(frozen=True)
class Compared:
    """The comparison of one entry on one set of inputs."""

    entry: str
    inputs: str
    verdict: Verdict
    difference: Difference | None = None
    reason: str = ""

    def __str__(self) -> str:
        where = f"@{self.entry}, {self.inputs}: {self.verdict}"
        if self.difference is None:
            return f"{where}, {self.reason}" if self.reason else where
        places = zip("AB", self.difference.places, strict=True)
        made = [f"  {name} makes it at {place}" for name, place in places if place is not None]
        return "\n".join([where, f"  {self.difference.what}", *made])


def results_of(one: ModuleOp, other: ModuleOp, options: CheckOptions, *, exact: bool = False) -> list[Compared]:
    """
    Compares the entries that two programs have in common.

    Each program has its own weights. Where the file of one is not there, both have those of the other, or random ones.
    Raises `StepwellError` where there are none, or where one takes something else in the other program.
    """
    pairs = _pairs(one, other)
    weights = _weights(one, other, options)
    found: list[Compared] = []
    for first, second in pairs:
        for inputs in _inputs(first, options):
            found.append(_compared(one, other, (first, second), inputs, weights, exact))
    return found


def _weights(one: ModuleOp, other: ModuleOp, options: CheckOptions) -> tuple[Weights, Weights]:
    """Returns the weights of both programs."""
    if options.weights:
        return dict(options.weights), dict(options.weights)
    stored = stored_weights(one), stored_weights(other)
    drawn = {**weights_of(one, options.seed), **stored[1], **stored[0]}
    all_ = {**weights_of(other, options.seed), **drawn}
    return {**all_, **stored[0]}, {**all_, **stored[1]}


def _pairs(one: ModuleOp, other: ModuleOp) -> list[tuple[Entry, Entry]]:
    left, right = ({each.name: each for each in entries(module)[0]} for module in (one, other))
    _add_low(right, left, other)
    _add_low(left, right, one)
    if len(left) == len(right) == 1:
        pairs = [(next(iter(left.values())), next(iter(right.values())))]
    else:
        pairs = [(left[name], right[name]) for name in left if name in right]
    if not pairs:
        names = " and ".join(", ".join(f"@{name}" for name in each) or "none" for each in (left, right))
        raise StepwellError(Diagnostic(f"the programs have no entry in common that can be run: {names}"))
    for first, second in pairs:
        if [_kind(each) for each in first.inputs] != [_kind(each) for each in second.inputs]:
            takes = ["; ".join(map(_declared, entry.inputs)) for entry in (first, second)]
            raise StepwellError(Diagnostic(f"@{first.name} takes {takes[0]} in A, but {takes[1]} in B"))
    return pairs


def _declared(given: Input) -> str:
    """Returns the type of an argument as messages say it, with `?` for a size that is not known."""
    return f"{given.dtype}[{', '.join('?' if size < 0 else str(size) for size in given.shape)}]"


def _add_low(entries: dict[str, Entry], others: dict[str, Entry], module: ModuleOp) -> None:
    """Adds functions of the llvm level, where nothing says what their arguments are, as the other program has them."""
    for op in module.body.block.ops:
        name = symbol_of(op)
        if op.name == "llvm.func" and name in others:
            entries[name] = replace(others[name], op=op)


def _kind(given: Input) -> tuple[str, tuple[int, ...]]:
    """Returns the element type and the shape of an argument. Lower levels have no signs, and booleans as bytes."""
    return TABLE[given.dtype].storage, given.shape


def _inputs(entry: Entry, options: CheckOptions) -> Sequence[InputSet]:
    if options.inputs is not None:
        return [given_inputs(entry, options.inputs, options.inputs_file)]
    return [made_inputs(entry, kind, options.seed, shapes_of(entry, options.shapes)) for kind in KINDS]


def _compared(
    one: ModuleOp,
    other: ModuleOp,
    pair: tuple[Entry, Entry],
    inputs: InputSet,
    weights: tuple[Weights, Weights],
    exact: bool,
) -> Compared:
    name = pair[0].name
    try:
        old = evaluate(one, name, inputs.arrays, weights[0])
        new = evaluate(other, pair[1].name, inputs.arrays, weights[1], old.arrays)
    except CannotRunError as error:
        return Compared(name, str(inputs), "not compared", reason=str(error))
    if not old.is_right or not new.is_right:
        return _failed(name, inputs, old, new)
    if [a.shape for a in old.arrays] != [a.shape for a in new.arrays]:
        shapes = ["; ".join(str(list(a.shape)) for a in each.arrays) for each in (old, new)]
        return Compared(
            name, str(inputs), "different", Difference(f"the results are {shapes[0]} in A, {shapes[1]} in B")
        )
    comparison = exactly(old.arrays, new.arrays)
    if comparison.mismatch is None:
        return Compared(name, str(inputs), "same bits")
    if not exact:
        slack = sensitivity(one, name, inputs, weights[0], old.arrays)
        if slack.overflows:
            reason = "an intermediate may overflow, so the values are left open"
            return Compared(name, str(inputs), "not compared", reason=reason)
        comparison = nearly(old.arrays, new.arrays, slack.slacks, "rounding")
        if comparison.mismatch is None:
            return Compared(name, str(inputs), "same but for rounding", reason=_largest(old, new))
    assert comparison.mismatch is not None
    places = (_place(pair[0].op, comparison.mismatch), _place(pair[1].op, comparison.mismatch))
    return Compared(name, str(inputs), "different", Difference(_told(comparison.mismatch), places))


def _failed(name: str, inputs: InputSet, old: Outcome, new: Outcome) -> Compared:
    reasons = [each.fault or each.failure for each in (old, new)]
    if old.failure is not None and old.failure == new.failure:
        return Compared(name, str(inputs), "same bits", reason=f"both fail: {old.failure}")
    told = [reason or "has results" for reason in reasons]
    return Compared(name, str(inputs), "different", Difference(f"A: {told[0]}; B: {told[1]}"))


def _told(mismatch: Mismatch) -> str:
    where = f"[{', '.join(map(str, mismatch.index))}]"
    tolerance = "exactly" if mismatch.tolerance == 0 else f"within {mismatch.tolerance:.2g}"
    values = f"{mismatch.before} in A, {mismatch.after} in B"
    return f"result {mismatch.result} at {where} is {values}, expected the same {tolerance}"


def _largest(old: Outcome, new: Outcome) -> str:
    largest = 0.0
    for one, other in zip(old.arrays, new.arrays, strict=True):
        with np.errstate(all="ignore"):
            far = np.abs(one.astype(np.float64) - np.asarray(other).view(one.dtype).astype(np.float64))
        largest = max(largest, float(np.max(far, where=np.isfinite(far), initial=0.0)))
    return f"at most {largest:.2g} apart"


def _place(op: Operation, mismatch: Mismatch) -> SourcePoint | None:
    """Returns where the op stands that makes a result of a function on tensors."""
    last = op.regions[0].blocks[0].last_op if op.name == "func.func" else None
    if last is None or mismatch.result >= len(last.operands):
        return nearest_source_point(op)
    owner = last.operands[mismatch.result].owner
    return nearest_source_point(owner) if isinstance(owner, Operation) else nearest_source_point(op)
