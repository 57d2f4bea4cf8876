"""The pass `partition-pattern`: matches of the patterns of a file become functions."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from ...core.passes.base import StepwellPass
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import functions_of
from ...patterns.running.decisions import check_replaces
from ...patterns.running.partition import Partitioner
from ...patterns.running.selection import selected
from ...patterns.text.loading import rules_of_file


@dataclass(frozen=True)
class PartitionPatternPass(StepwellPass):
    """
    Moves every match of the patterns of a file into a private function of its own.

    `file` holds `pattern.rule` ops. `pattern.partition %root with {…}` in them gives the attributes of the functions.
    Of other rules only the pattern counts. `rules` picks some by name, and they are tried in their order. `attributes`
    are more attributes of the functions, as `name=text`. `no-duplicate` leaves a match alone when an op in it would be
    computed twice. `function-name` is the stem of the names of the functions. Functions made by partitioning or fusion
    are not looked into. Remarks tell why a match was left alone.

    Before:
        %0 = graph.exp %x : …
        %1 = graph.relu %0 : …
    After:
        %1 = func.call @partitioned0(%x) : …
        func.func private @partitioned0(…) attributes {graph.partitioned_from = "exp_relu_"}

    Raises `StepwellError` for a file that cannot be read or has a rule that is not valid.
    """

    name = "partition-pattern"

    file: str
    rules: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    no_duplicate: bool = False
    function_name: str = "partitioned"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen = selected(rules_of_file(self.file, ctx), self.rules, "fast", f"'{self.file}'", self.file)
        check_replaces(chosen, self.name)
        attributes = dict(self._pair(each) for each in self.attributes)
        for rule in chosen:
            partitioner = Partitioner(rule, op, attributes, ctx=ctx, name=self.function_name)
            for function in list(functions_of(op)):
                made = partitioner.run(function, duplicate=not self.no_duplicate)
                self.count(rule.name, len(made))

    def _pair(self, text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise PassFailedException(f"{self.name}: attribute is '{text}', expected name=text")
        return name, value
