"""
What a saved program may hold that comes from somebody else: text whose code stays inside its buffers (docs/safety.md).

A program that is loaded without `trust_code` is compiled from its text, after these checks. They name what is allowed,
not what is forbidden.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, NoReturn

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Operation

from ... import universe
from ...core.codegens import COMPILER, EXTERNAL
from ...core.ir.walk import walk
from ...core.messages.diagnostics import Diagnostic
from ...core.messages.locations import nearest_source_point, source_point
from ...core.passes.info import level_of
from ...core.passes.pipeline_text import load_pass, specs_of
from ...core.roles import CHUNK, LINK_NAME, TASK, UNCHECKED, WEIGHTS, WRITTEN
from ...lowering.pipelines import PIPELINES
from ..native.jit import is_in_process
from .container import SavedError, refuse
from .manifest import Manifest

DIALECTS: Final = frozenset(
    {"arith", "cf", "func", "graph", "math", "memref", "schedule", "scf", "tensor", "tensor_loop", "tile", "vector"}
)
"""The dialects whose ops are checked before they run, beside the module itself."""

PROMISES: Final = {
    UNCHECKED: "its accesses are not checked",
    COMPILER: "its code is made by a code generator",
    EXTERNAL: "its code is made by a code generator",
    LINK_NAME: "its code is outside of the program",
    TASK: "threads run it without a proof that they may",
    CHUNK: "threads run it without a proof that they may",
}
"""Attributes by which a program says that it need not be checked, and what of."""

PASSES: Final = (
    *("rewrites.simplify.", "rewrites.shapes.", "rewrites.inference.", "rewrites.fusion.", "rewrites.placement."),
    *("rewrites.constants.fold_constant", "rewrites.constants.zero_subnormals"),
)
"""The rooms of the passes that a pipeline may name. Others read files, or leave checks out."""

CHECKING: Final = ("lower-loops-to-scf", "guard-accesses", "guard-divisions")
"""The passes that put checks into a program."""

WORD: Final = re.compile(r"[A-Za-z0-9_-]*")
"""What values of options are like. A path has other characters."""

HINT: Final = "if you trust who made the file: stepwell.load(path, trust_code=True)"


def check_manifest(path: Path, manifest: Manifest) -> None:
    """Raises SavedError for a pipeline or a pass context that could leave checks out or read files."""
    for spec in specs_of(manifest.pipeline):
        place = universe.PASSES.get(spec.name, "")
        if spec.name not in PIPELINES and not place.startswith(PASSES):
            refuse(path, f"its pipeline has the pass '{spec.name}', which may leave checks out or read files", HINT)
        for name, values in spec.parameters.items():
            for value in values:
                if isinstance(value, str) and not WORD.fullmatch(value):
                    refuse(path, f"its pipeline has the pass '{spec.name}' with {name} = {value!r}", HINT)
    level, disabled, _, config = manifest.context or (3, (), (), {})
    left_out = [name for name in disabled if not universe.PASSES.get(name, "").startswith(PASSES)]
    left_out += [name for name in CHECKING if level_of(load_pass(name)) > level]
    if left_out:
        refuse(path, f"its pass context leaves '{left_out[0]}' out", HINT)
    for name, value in config.items():
        if name != "target" or not isinstance(value, str):
            refuse(path, f"its pass context has {name} = {value!r}", HINT)


def make_safe(path: Path, module: ModuleOp, name: str) -> None:
    """
    Raises SavedError where `module`, read from a text called `name`, does what is not checked. Must come before the
    module is verified.

    Promises that the compiler can prove by itself are removed, and so is what names files.
    """
    module.attributes.pop(WEIGHTS, None)
    for op in walk(module):
        _check(path, op)
        op.attributes.pop(WRITTEN, None)
        point = source_point(op.location)
        if point is not None and point.file != name:
            op.location = UnknownLoc()


def _check(path: Path, op: Operation) -> None:
    dialect = op.name.partition(".")[0]
    if dialect not in DIALECTS and op.name != "builtin.module":
        _refuse(path, op, f"its text has the op '{op.name}', which nothing checks")
    for name in (*op.attributes, *op.properties):
        if name in PROMISES:
            _refuse(path, op, f"its text has '{name}': {PROMISES[name]}")
    if op.name in ("func.func", "tensor_loop.func"):
        _check_function(path, op)
    types = [value.type for value in (*op.operands, *op.results)]
    types += [argument.type for region in op.regions for block in region.blocks for argument in block.args]
    for type_ in types:
        if _is_raw(type_):
            _refuse(path, op, f"its text has a value of type {type_}, which nothing checks")


def _check_function(path: Path, op: Operation) -> None:
    if not op.regions[0].blocks:
        _refuse(path, op, "its text has a function without a body, which is code outside of the program")
    given = op.get_attr_or_prop("sym_name")
    name = given.data if isinstance(given, StringAttr) else ""
    # LLVM makes calls of memcpy, floor and the like by itself, which must not reach a function of the program.
    if name != "main" and (name.startswith(("__", "_stepwell")) or is_in_process(name)):
        _refuse(path, op, f"its text has a function @{name}, which is the name of a function of the system")


def _is_raw(type_: Attribute) -> bool:
    """Returns whether a type is a pointer, or holds one."""
    element: Any = getattr(type_, "element_type", None)
    return type_.name.startswith(("llvm", "ptr")) or (isinstance(element, Attribute) and _is_raw(element))


def _refuse(path: Path, op: Operation, message: str) -> NoReturn:
    point = nearest_source_point(op)
    raise SavedError(Diagnostic(f"saved program '{path}': {message}", point=point, hint=HINT))
