"""The pass `partition-by-pattern`: matches of a table of patterns become functions."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue

from ...core.codegens import COMPILER
from ...core.passes.base import StepwellPass
from ...core.roles import COMPOSITE
from ...lazy_dataclass import dataclass
from ...patterns.language.functions import PRIMITIVE, NameSupply
from ...patterns.language.match import Session
from .annotate_target import open_functions
from .partition_graph import outline_group, sanitized
from .pattern_groups import GroupFinder
from .pattern_tables import PatternEntry, pattern_table


@dataclass(frozen=True)
class PartitionByPatternPass(StepwellPass):
    """
    Moves each match of a table of patterns into a private function with the name of the pattern.

    `table` names a pattern table: one that is shipped or registered, or a file of rules. Its patterns are tried in
    their order. Of two matches that share an op the earlier one stays, unless the later one contains it. Then the
    larger one is taken. A match is left alone, with a remark, when an op inside it is used outside, spans blocks or has
    an effect. So it is when the check of its pattern gives a reason. `annotate-codegen` gives the functions to the code
    generator named like the table. When the name of a pattern has a dot, the part before the dot is the code generator.
    `bind-constants` copies constants in, even those that the pattern leaves open.

    Before:
        %0 = graph.matmul %x, %w : …
        %1 = graph.add %0, %b : …
    After (`table=openblas annotate-codegen`):
        %0 = func.call @openblas_matmul_add_0(%x, %w, %b) : …
        func.func private @openblas_matmul_add_0(…) attributes {graph.primitive,
            graph.composite = "openblas.matmul_add", graph.compiler = "openblas"} { … }

    Raises an error for a table that does not exist or is not valid.
    """

    name = "partition-by-pattern"

    table: str
    annotate_codegen: bool = False
    bind_constants: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for made, entry in outlined_matches(ctx, op, self.table, self.bind_constants):
            made.attributes |= self._attributes(entry)
            self.count(entry.name)

    def _attributes(self, entry: PatternEntry) -> dict[str, Attribute]:
        found = pattern_attributes(entry)
        if self.annotate_codegen:
            prefix, dot, _ = entry.name.partition(".")
            found.setdefault(COMPILER, StringAttr(prefix if dot else sanitized(self.table)))
        return found


def pattern_attributes(entry: PatternEntry) -> dict[str, Attribute]:
    """Returns the attributes of a function of this pattern: those of the rule, its name, and that it is primitive."""
    return {**dict(entry.rule.group or ()), COMPOSITE: StringAttr(entry.name), PRIMITIVE: UnitAttr()}


def outlined_matches(
    ctx: Context, module: ModuleOp, table: str, bind_constants: bool, larger_wins: bool = True
) -> Iterator[tuple[func.FuncOp, PatternEntry]]:
    """
    Makes each match of a table a function, named after its pattern, that is called where the root of the match was.

    Yields each function with its pattern. `larger_wins` is as for `GroupFinder.find`.
    """
    entries, session, names = pattern_table(table, ctx), Session(ctx, module), NameSupply(module)
    for function in list(open_functions(module)):
        # By which results of calls the results of earlier groups were replaced.
        renamed: dict[SSAValue, SSAValue] = {}
        for group in GroupFinder(function, session).find(entries, larger_wins=larger_wins):
            made = outline_group(
                module,
                group.ops,
                names.fresh(sanitized(f"{group.entry.name}_")),
                bind_constants=bind_constants,
                inputs=[renamed.get(value, value) for value in group.inputs],
                copied=group.constants,
                renamed=renamed,
            )
            yield made, group.entry
