"""
The loops of running sums and products.

Along the last dimension, a register carries the total from element to element. Along another dimension, whole lines are
combined with the line before, which is read back from the result.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from ...core.roles import WRITTEN
from ...lazy_dataclass import dataclass
from ...te import dtypes
from .templates import block_head, buffer, element, static


def scan_loops(op: Operation) -> str:
    """Returns the loop function of a running sum or product."""
    shape, dtype = static(op.operands[0])
    axis = op.properties["axis"].value.data % len(shape)  # pyright: ignore[reportAttributeAccessIssue]
    exclusive, reverse = (bool(op.properties[name].value.data) for name in ("exclusive", "reverse"))  # pyright: ignore[reportAttributeAccessIssue]
    return _Scan(shape, dtype, axis, exclusive, reverse, op.name.endswith("sum")).text()


@dataclass
class _Scan:
    """Writes the loop function of a running sum or product."""

    shape: tuple[int, ...]
    dtype: str
    axis: int
    exclusive: bool
    reverse: bool
    sums: bool

    @property
    def total(self) -> str:
        """The element type of the totals."""
        return dtypes.accumulator(self.dtype)

    def text(self) -> str:
        type_ = buffer(self.shape, self.dtype)
        name = "cumulative_sum" if self.sums else "cumulative_prod"
        contiguous = prod(self.shape[self.axis + 1 :]) == 1
        lines = self._by_rows(name) if contiguous else self._by_lines(name)
        return "\n".join(
            [f"tensor_loop.func @{name}(%x: {type_}) outs(%y: {type_}) attributes {{{WRITTEN}}} {{", *lines, "}"]
        )

    # The last dimension

    def _by_rows(self, name: str) -> list[str]:
        rows = tuple(1 if number == self.axis else extent for number, extent in enumerate(self.shape))
        head, axes = block_head(rows, name, [False] * len(rows))
        kind = element(self.total)
        place = "%from_end" if self.reverse else "%k"
        return [
            *head,
            *self._constants(),
            f"%end = scf.for %k = %zero to %n step %one iter_args(%total = %neutral) -> ({kind}) {{",
            "%from_end = arith.subi %last, %k : index",
            *self._loaded("%term", self._at(axes, place)),
            self._combined("%next", "%total", "%term"),
            *self._stored("%total" if self.exclusive else "%next", self._at(axes, place)),
            f"scf.yield %next : {kind}",
            "}",
            "} }",
        ]

    # Another dimension

    def _by_lines(self, name: str) -> list[str]:
        """
        Returns the lines of a scan along another dimension than the last.

        Totals of half floats are kept in a buffer of their own, and rounded at the end.
        """
        wide, kind = self.total != self.dtype, element(self.total)
        totals = buffer(self.shape, self.total)
        head, axes = block_head(self.shape, name, [number == self.axis for number in range(len(self.shape))])
        turn = axes[self.axis]
        kept = "%wide" if wide else "%y"
        place, before = ("%from_end", "%after") if self.reverse else (turn, "%previous")
        here = before if self.exclusive else place
        return [
            *([f"%wide = tensor_loop.alloc : {totals}"] if wide else []),
            *head,
            *self._constants(),
            f"%from_end = arith.subi %last, {turn} : index",
            "%after = arith.addi %from_end, %one : index",
            f"%previous = arith.subi {turn}, %one : index",
            f"%starts = arith.cmpi eq, {turn}, %zero : index",
            f"%next = scf.if %starts -> ({kind}) {{",
            *(["scf.yield %neutral : " + kind] if self.exclusive else self._first(axes, place)),
            "} else {",
            f"%total = memref.load {kept}[{self._at(axes, before)}] : {totals}",
            *self._loaded("%term", self._at(axes, here)),
            self._combined("%sum", "%total", "%term"),
            f"scf.yield %sum : {kind}",
            "}",
            f"memref.store %next, {kept}[{self._at(axes, place)}] : {totals}",
            "} }",
            *(self._rounded() if wide else []),
        ]

    def _first(self, axes: list[str], place: str) -> list[str]:
        return [*self._loaded("%start", self._at(axes, place)), f"scf.yield %start : {element(self.total)}"]

    def _rounded(self) -> list[str]:
        head, axes = block_head(self.shape, "rounded", [False] * len(self.shape))
        at = ", ".join(axes)
        load = f"%total = memref.load %wide[{at}] : {buffer(self.shape, self.total)}"
        return [*head, load, *self._stored("%total", at), "} }"]

    # Elements

    def _constants(self) -> list[str]:
        """
        Returns the lines of the constants, among them the neutral element.

        For floats, -0 leaves every first term as it is, but the sum of nothing is +0.
        """
        extent = self.shape[self.axis]
        if dtypes.is_float(self.dtype):
            neutral = ("0.0" if self.exclusive else "-0.0") if self.sums else "1.0"
        else:
            neutral = "0" if self.sums else "1"
        return [
            "%zero = arith.constant 0 : index",
            "%one = arith.constant 1 : index",
            f"%n = arith.constant {extent} : index",
            f"%last = arith.constant {extent - 1} : index",
            f"%neutral = arith.constant {neutral} : {element(self.total)}",
        ]

    def _at(self, axes: list[str], place: str) -> str:
        return ", ".join(place if number == self.axis else axis for number, axis in enumerate(axes))

    def _loaded(self, name: str, at: str) -> list[str]:
        """Returns the lines that load an element as a term of totals."""
        type_ = buffer(self.shape, self.dtype)
        if self.total == self.dtype:
            return [f"{name} = memref.load %x[{at}] : {type_}"]
        return [
            f"{name}_narrow = memref.load %x[{at}] : {type_}",
            f"{name} = arith.extf {name}_narrow : {self.dtype} to {self.total}",
        ]

    def _stored(self, value: str, at: str) -> list[str]:
        type_ = buffer(self.shape, self.dtype)
        if self.total == self.dtype:
            return [f"memref.store {value}, %y[{at}] : {type_}"]
        return [
            f"%rounded = arith.truncf {value} : {self.total} to {self.dtype}",
            f"memref.store %rounded, %y[{at}] : {type_}",
        ]

    def _combined(self, result: str, total: str, term: str) -> str:
        op = ("add" if self.sums else "mul") + ("f" if dtypes.is_float(self.dtype) else "i")
        return f"{result} = arith.{op} {total}, {term} : {element(self.total)}"
