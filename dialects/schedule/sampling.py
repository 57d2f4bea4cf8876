"""The ops of primitives that choose a number. The choice is written into them, so that a program replays as it ran."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from .base import Field, known_numbers
from .program import InProgram


@irdl_op_definition
class SamplePerfectTileOp(InProgram):
    """
    Chooses factors whose product is the extent of a loop: `%t0, %t1 = schedule.sample_perfect_tile %i most 16 decision
    [3, 4] : 2`.
    """

    name = "schedule.sample_perfect_tile"
    most = opt_prop_def(IntegerAttr)
    """The largest innermost factor. Without it any factor will do."""
    decision = opt_prop_def(DenseArrayBase)
    TAKES: ClassVar = ("loop",)
    MAKES: ClassVar = ("number", "...")
    FIELDS: ClassVar = (
        Field("most", "number", "most", optional=True),
        Field("decision", "numbers", "decision", optional=True),
    )

    def verify_parameters(self) -> None:
        if not self.made:
            raise VerifyException("0 results, expected 1 or more")
        if self.most is not None and self.most.value.data < 1:
            raise VerifyException(f"the largest innermost factor is {self.most.value.data}, expected a positive number")
        if self.decision is None:
            return
        decision = known_numbers(self.decision)
        if len(decision) != len(self.made) or len(decision) != len(self.decision):
            raise VerifyException(
                f"a decision of {len(decision)} numbers for {len(self.made)} results, expected one each"
            )
        if any(number < 1 for number in decision):
            raise VerifyException(f"the decision is {decision}, expected positive numbers")


@irdl_op_definition
class SampleCategoricalOp(InProgram):
    """
    Chooses one of several candidates: `%n = schedule.sample_categorical [1, 2, 4] weights [1, 2, 1] decision 2`. The
    decision is the place of the candidate, counted from 0.
    """

    name = "schedule.sample_categorical"
    candidates = prop_def(DenseArrayBase)
    weights = opt_prop_def(DenseArrayBase)
    decision = opt_prop_def(IntegerAttr)
    MAKES: ClassVar = ("number",)
    FIELDS: ClassVar = (
        Field("candidates", "numbers"),
        Field("weights", "numbers", "weights", optional=True),
        Field("decision", "number", "decision", optional=True),
    )

    def verify_parameters(self) -> None:
        count = len(self.candidates)
        if count == 0 or len(known_numbers(self.candidates)) != count:
            raise VerifyException("the candidates must be numbers, at least one")
        if self.weights is not None:
            weights = known_numbers(self.weights)
            if len(weights) != count or min(weights) < 0 or sum(weights) < 1:
                raise VerifyException(
                    f"weights {weights} of {count} candidates, expected one each, none negative, not all 0"
                )
        if self.decision is not None and not 0 <= self.decision.value.data < count:
            raise VerifyException(f"the decision is number {self.decision.value.data}, expected 0 to {count - 1}")
