"""
Several passes as one.

```python
tidy = Sequential(["eliminate-common-subexpr", "canonicalize,eliminate-dead-code"], name="tidy")
with PassContext(opt_level=3, disabled=["canonicalize"]):
    module = tidy(parse("func.func @main() { return }"))
assert str(tidy).startswith("tidy(eliminate-common-subexpr, canonicalize")
```
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from ...lazy_dataclass import dataclass
from ..messages.diagnostics import Diagnostic, StepwellError
from .base import StepwellPass
from .context import SEQUENCE_NAMES
from .pipeline_text import parse_pipeline
from .pipelines import run_pipeline
from .plan import PassGroup


@dataclass(frozen=True, init=False)
class Sequential(StepwellPass, PassGroup):
    """
    Passes that run one after the other, under the rules of the current `PassContext`.

    A part is a pass, another sequence, or the text of a pipeline. A sequence whose level is above that of the context
    is skipped whole. `Sequential([])` does nothing.
    """

    name = "sequential"
    parts: tuple[ModulePass, ...]

    def __init__(
        self,
        passes: Iterable[ModulePass | str],
        name: str = "sequential",
        opt_level: int = 0,
        requires: Iterable[str] = (),
    ):
        parts: list[ModulePass] = []
        for each in [passes] if isinstance(passes, str) else passes:
            if isinstance(each, str):
                parts += parse_pipeline(each)
            elif isinstance(each, ModulePass):
                parts.append(each)
            else:
                found = each.__name__ if isinstance(each, type) else type(each).__name__
                hint = "make an object of the class" if isinstance(each, type) else None
                message = f"sequence '{name}' contains {found}, expected a pass or the text of a pipeline"
                raise StepwellError(Diagnostic(message, hint=hint))
        values = {"parts": tuple(parts), "name": name, "opt_level": opt_level, "requires": tuple(requires)}
        for field, value in values.items():
            object.__setattr__(self, field, value)
        SEQUENCE_NAMES.add(name)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_pipeline(ctx, op, self.parts)

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        return ArgSpec(self.name, {})

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(each) for each in self.parts)})"
