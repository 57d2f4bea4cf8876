from . import analysis as analysis
from . import core as core
from . import dialects as dialects
from . import frontends as frontends
from . import lowering as lowering
from . import machine as machine
from . import patterns as patterns
from . import reference as reference
from . import rewrites as rewrites
from . import runtime as runtime
from . import schedule as schedule
from . import te as te
from . import testing as testing
from . import trust as trust
from .analysis.drawing.show import show as show
from .core.messages.diagnostics import StepwellError as StepwellError
from .core.passes.context import PassContext as PassContext
from .core.passes.sequential import Sequential as Sequential
from .core.text.parsing import parse as parse
from .dialects.graph.builder import GraphBuilder as GraphBuilder
from .frontends.onnx.compiled import compile_onnx as compile_onnx
from .frontends.onnx.importer import from_onnx as from_onnx
from .frontends.pytorch.compiled import compile_torch as compile_torch
from .lowering.graph_to_loops.convert_te_to_tensor_loop import create_prim_func as create_prim_func
from .runtime.calibration.calibrate import calibrate as calibrate
from .runtime.compile import compile as compile
from .runtime.executable import Executable as Executable
from .runtime.load import load as load
from .runtime.quantising.quantize import quantize as quantize
from .runtime.tuning.tune import tune as tune

__version__: str

def load_ipython_extension(shell: object) -> None: ...
