"""The pass `vectorize-loops`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...core.ir.walk import ops_of
from ...core.messages.origins import inherit
from ...core.passes.applications import allowed
from ...core.passes.base import StepwellPass
from ...core.roles import TASK
from ...dialects import tile
from ...lazy_dataclass import dataclass
from ...machine.named import chosen_machine
from ..math.expand_math import small_floats_in_f32
from .byte_tables import byte_table, translate_bytes
from .jam_loops import jam_into
from .row_prefetch import requests_of
from .unswitch import unswitch
from .vector_body import VectorBody, is_marked, vector_body
from .vector_emission import LANES, emit_vectors
from .wide_rows import keep_wide_rows


@dataclass(frozen=True)
class VectorizeLoopsPass(StepwellPass):
    """
    Turns loops marked `vectorize` into loops over register tiles, on machines with vector registers of 64 bytes.

    Before:

        scf.for %j = %c0 to %c1024 step %c1 {
          %x = memref.load %a[%i, %j] : memref<8x1024xf32>
          %y = math.exp %x : f32
          memref.store %y, %b[%i, %j] : memref<8x1024xf32>
        } {stepwell.loop = "vectorize"}

    After:

        scf.for %j = %c0 to %c1024 step %c64 {
          %x = tile.load %a[%i, %j] along [-1, 1] : memref<8x1024xf32>, vector<1x64xf32>
          %y = tile.map(%e = %x) : (vector<1x64xf32>) -> vector<1x64xf32> {
            %f = math.exp %e : f32
            tile.yield %f : f32
          }
          tile.store %y, %b[%i, %j] along [-1, 1] : vector<1x64xf32>, memref<8x1024xf32>
        } {stepwell.loop = "no-unroll"}

    Sums, maxima and minima that may be regrouped are carried as tiles, and `tile.reduce` makes numbers of them at the
    end. So are sums in i32, also of bytes. A condition that is the same in all iterations goes out of the loop
    (`unswitch.py`). The rest of the iterations is a narrower row, or two. A loop that sums up the values that the one
    before it stored runs together with it (`jam_loops.py`). A loop that looks bytes up in a table of 256 keeps the
    table in registers (`byte_tables.py`). Loops after each other on a row prefetch the next one (`row_prefetch.py`).
    Arithmetic on f16 and bf16 is done in f32, as `expand-math` does it, and rows of them that are read again and again
    are extended once (`wide_rows.py`). LLVM's vectoriser gets loops of less than 16 or of unknown iterations, copies,
    and loops on other types than these floats. Integers may be loaded where they are only compared, as masks are. In a
    function with products they may load and store bytes too, and only copy, since one loop for the vectoriser takes all
    of a kernel off the short way through LLVM. It also gets loops with accesses other than to neighbours in a row.
    `wide` says whether there are such registers. The target says so if it is left out. `excess` is as that of
    `expand-math`.
    """

    name = "vectorize-loops"

    target: str | None = None
    wide: bool | None = None
    excess: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = chosen_machine(self.target)
        wide = target.has_wide_registers if self.wide is None else self.wide
        if not wide:
            return
        for loop in [found for found in ops_of(op, scf.ForOp) if is_marked(found)]:
            if len(unswitch(loop)) > 1:
                self.count("conditions taken out of loops")
        for loop in [found for found in ops_of(op, scf.ForOp) if is_marked(found)]:
            small_floats_in_f32(loop, self.excess)
            if jam_into(loop):
                self.count("loops jammed")
        bodies = _bodies_of(op)
        if kept := keep_wide_rows(bodies):
            self.count("rows kept in f32", kept)
            bodies = _bodies_of(op)
        requests = requests_of(bodies, target)
        for body in bodies:
            if not allowed("loops", self.name, body.loop):
                continue
            emit_vectors(body, requests.get(body.loop, ()))
            self.count("loops on tiles")
        tables = [table for loop in ops_of(op, scf.ForOp) if (table := byte_table(loop)) is not None]
        for table in tables:
            translate_bytes(table, target.permutes_bytes)
            self.count("tables of bytes in registers")
        inherit(op)


def _bodies_of(module: ModuleOp) -> list[VectorBody]:
    """Returns the marked loops that become loops on tiles, those on bytes and copies beside products only."""
    found: list[VectorBody] = []
    functions = ops_of(module, func.FuncOp)
    marked = {function: [loop for loop in ops_of(function, scf.ForOp) if is_marked(loop)] for function in functions}
    beside = _beside(functions, (tile.MmaOp, tile.MultiplyAddOp)) if any(marked.values()) else set[func.FuncOp]()
    for function, loops in marked.items():
        bodies = (vector_body(loop, function in beside) for loop in loops)
        found += [body for body in bodies if body is not None and body.extent >= LANES]
    return found


def _beside(functions: Sequence[func.FuncOp], products: tuple[type[Operation], ...]) -> set[func.FuncOp]:
    """Returns the functions that hold one of these products of tiles, or are parts of a kernel that does."""
    parts = {function.sym_name.data: function for function in functions if TASK in function.attributes}
    found: set[func.FuncOp] = set()
    for function in functions:
        called = (call.callee.string_value() for call in ops_of(function, func.CallOp))
        kernel = [function, *(parts[name] for name in called if name in parts)]
        if any(ops_of(each, *products) for each in kernel):
            found.update(kernel)
    return found
