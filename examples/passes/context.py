"""Shows what passes know of themselves, in what scope they run, and several of them as one."""

import stepwell
from stepwell.core import Instrument, StepwellError, function_pass, pass_info
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

# Each pass has a name, a level, and passes that it requires.
for name in ("fold-constant", "simplify-inference", "plan-fusion"):
    info = pass_info(name)
    print(f"{info.name:20} level {info.opt_level}: {info.summary}")


@function_pass("mark-simplified", opt_level=1, requires=["simplify-inference"])
def mark_simplified(function: FuncOp, ctx: Context) -> None:
    """Marks functions whose normalisations are arithmetic."""
    function.attributes["simplified"] = UnitAttr()


class Watch(Instrument):
    """Prints which passes run."""

    def before_pass(self, pass_: ModulePass, index: int, module: ModuleOp) -> None:
        print("   ", pass_.name)


module = stepwell.parse("simplify_inference.mlir")
both = stepwell.Sequential([mark_simplified(), "fold-constant"], name="prepare")

# A required pass runs before the one that requires it.
for level in (0, 1):
    print("at level", level)
    with stepwell.PassContext(opt_level=level, instruments=[Watch()]):
        both(module)

# What is disabled does not run, what is required runs on any level; inner scopes end where they end.
with stepwell.PassContext(opt_level=2, instruments=[Watch()]):
    with stepwell.PassContext(
        opt_level=0, required=["fold-constant"], disabled=["mark-simplified"], instruments=[Watch()]
    ):
        print("in an inner scope")
        both(module)
    print("in the outer one again")
    both(module)

try:
    stepwell.PassContext(config={"fold-constant.max-element": 4})
except StepwellError as error:
    print(str(error).strip())
