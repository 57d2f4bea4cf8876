"""
The loops of `graph.top_k`.

Each row keeps a heap in the results themselves. The root of the heap is the worst element that it holds. Elements are
ordered by value, then by position. So no two are equal, and the order of the loops does not matter.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ...core.roles import UNCHECKED, WRITTEN
from ...lazy_dataclass import dataclass
from ...te import dtypes
from .templates import block_head, buffer, element, static


def top_k_loops(op: Operation) -> str:
    """
    Returns the loop function of a `graph.top_k`.

    The first `k` elements become a heap. Each of the others takes the place of the root if it is better. Then the root
    is moved to the end of what is left, again and again.
    """
    shape, dtype = static(op.operands[0])
    results, _ = static(op.results[0])
    axis = op.properties["axis"].value.data % len(shape)  # pyright: ignore[reportAttributeAccessIssue]
    largest = bool(op.properties["largest"].value.data)  # pyright: ignore[reportAttributeAccessIssue]
    rows = tuple(1 if number == axis else extent for number, extent in enumerate(shape))
    head, axes = block_head(rows, "top_k", [False] * len(rows))
    heap = _Heap(shape, results, dtype, axis, largest, axes)
    whole, values, indices = buffer(shape, dtype), buffer(results, dtype), buffer(results, "i64")
    body = heap.lines() if results[axis] else []
    if not body:
        head = ["tensor_loop.grid (%l0) in (0) {", 'tensor_loop.block "top_k" spatial(%v0 in 0 = %l0) {']
    # The heap moves by comparisons of data. Its places are those of a binary tree, which linear forms do not tell.
    head[-1] = f"{head[-1].removesuffix('{')}attributes {{{UNCHECKED}}} {{"
    lines = [
        f"tensor_loop.func @top_k(%x: {whole}) outs(%values: {values}, %indices: {indices})",
        f"attributes {{{WRITTEN}}} {{",
        *head,
        *body,
        "} } }",
    ]
    return "\n".join(lines)


@dataclass
class _Heap:
    """Writes the body of the block for one row."""

    shape: tuple[int, ...]
    results: tuple[int, ...]
    dtype: str
    axis: int
    largest: bool
    axes: list[str]
    casts: int = 0
    """The number of values that have been turned into floats for a store."""

    def lines(self) -> list[str]:
        n, k = self.shape[self.axis], self.results[self.axis]
        numbers = {"zero": 0, "one": 1, "two": 2, "n": n, "k": k, "half": k // 2, "below": k - 1}
        numbers["levels"] = (k - 1).bit_length()
        return [
            *(f"%{name} = arith.constant {number} : index" for name, number in numbers.items()),
            "%yes = arith.constant true",
            "%no = arith.constant false",
            *self._filled(),
            *self._made_a_heap(),
            *self._rest_let_in(),
            *self._sorted(),
        ]

    def _filled(self) -> list[str]:
        return [
            "scf.for %f = %zero to %k step %one {",
            *self._load_operand("f", "%f"),
            *self._store("f", "%f"),
            "}",
        ]

    def _made_a_heap(self) -> list[str]:
        return [
            "scf.for %h = %zero to %half step %one {",
            "%h_from_end = arith.subi %half, %h : index",
            "%h_place = arith.subi %h_from_end, %one : index",
            *self._load("h", "%h_place"),
            *self._sift("h", "%h_place", "%k"),
            "}",
        ]

    def _rest_let_in(self) -> list[str]:
        """
        Returns the lines that let each other element into the heap if it is better than the root.

        The value of the root is carried. Of equal elements those in the heap come first, as their positions are lower.
        """
        kind = "i16" if self._moves_bits() else element(self.dtype)
        return [
            *self._load("worst", "%zero"),
            f"%last_root = scf.for %r = %k to %n step %one iter_args(%root_v = %worst_v) -> ({kind}) {{",
            *self._load_operand("r", "%r"),
            *self._precedes("r_enters", "r", "root"),
            f"%new_root = scf.if %r_enters -> ({kind}) {{",
            *self._sift("r", "%zero", "%k"),
            *self._load("next", "%zero"),
            f"scf.yield %next_v : {kind}",
            "} else {",
            f"scf.yield %root_v : {kind}",
            "}",
            f"scf.yield %new_root : {kind}",
            "}",
        ]

    def _sorted(self) -> list[str]:
        return [
            "scf.for %s = %zero to %below step %one {",
            "%s_end = arith.subi %below, %s : index",
            *self._load("s_root", "%zero"),
            *self._load("s", "%s_end"),
            *self._store("s_root", "%s_end"),
            *self._sift("s", "%zero", "%s_end"),
            "}",
        ]

    def _sift(self, name: str, start: str, size: str) -> list[str]:
        """
        Returns the lines that move the element `name` down from `start`, below every worse one, in a heap of `size`
        elements.
        """
        p = f"{name}_sift"
        return [
            f"%{p}_place, %{p}_stop = scf.for %{p}_level = %zero to %levels step %one "
            f"iter_args(%{p}_at = {start}, %{p}_done = %no) -> (index, i1) {{",
            f"%{p}_double = arith.muli %{p}_at, %two : index",
            f"%{p}_left = arith.addi %{p}_double, %one : index",
            f"%{p}_right = arith.addi %{p}_double, %two : index",
            f"%{p}_has_left = arith.cmpi ult, %{p}_left, {size} : index",
            f"%{p}_open = arith.xori %{p}_done, %yes : i1",
            f"%{p}_goes = arith.andi %{p}_open, %{p}_has_left : i1",
            f"%{p}_next, %{p}_ends = scf.if %{p}_goes -> (index, i1) {{",
            f"%{p}_has_right = arith.cmpi ult, %{p}_right, {size} : index",
            f"%{p}_other = arith.select %{p}_has_right, %{p}_right, %{p}_left : index",
            *self._load(f"{p}_l", f"%{p}_left"),
            *self._load(f"{p}_o", f"%{p}_other"),
            *self._better(f"{p}_left_better", f"{p}_l", f"{p}_o"),
            f"%{p}_child = arith.select %{p}_left_better, %{p}_other, %{p}_left : index",
            *self._load(f"{p}_c", f"%{p}_child"),
            *self._better(f"{p}_sinks", name, f"{p}_c"),
            f"scf.if %{p}_sinks {{",
            *self._store(f"{p}_c", f"%{p}_at"),
            "}",
            f"%{p}_new = arith.select %{p}_sinks, %{p}_child, %{p}_at : index",
            f"%{p}_stays = arith.xori %{p}_sinks, %yes : i1",
            f"scf.yield %{p}_new, %{p}_stays : index, i1",
            "} else {",
            f"scf.yield %{p}_at, %yes : index, i1",
            "}",
            f"scf.yield %{p}_next, %{p}_ends : index, i1",
            "}",
            *self._store(name, f"%{p}_place"),
        ]

    # Elements: a value `%<name>_v` and a position `%<name>_i`

    def _at(self, place: str) -> str:
        return ", ".join(place if number == self.axis else axis for number, axis in enumerate(self.axes))

    def _load_operand(self, name: str, place: str) -> list[str]:
        return [
            *self._load_value(name, f"%x[{self._at(place)}] : {buffer(self.shape, self.dtype)}"),
            f"%{name}_i = arith.index_cast {place} : index to i64",
        ]

    def _moves_bits(self) -> bool:
        """
        Returns whether values are moved as bits.

        Half floats in registers may become f32 and back, which loses denormals on some machines.
        """
        return dtypes.is_small_float(self.dtype)

    def _load_value(self, name: str, place: str) -> list[str]:
        if not self._moves_bits():
            return [f"%{name}_v = memref.load {place}"]
        return [
            f"%{name}_half = memref.load {place}",
            f"%{name}_v = arith.bitcast %{name}_half : {self.dtype} to i16",
        ]

    def _load(self, name: str, place: str) -> list[str]:
        at = self._at(place)
        return [
            *self._load_value(name, f"%values[{at}] : {buffer(self.results, self.dtype)}"),
            f"%{name}_i = memref.load %indices[{at}] : {buffer(self.results, 'i64')}",
        ]

    def _store(self, name: str, place: str) -> list[str]:
        at = self._at(place)
        place = f"%values[{at}] : {buffer(self.results, self.dtype)}"
        stored = [f"memref.store %{name}_v, {place}"]
        if self._moves_bits():
            self.casts += 1
            number = f"%cast{self.casts}"
            stored = [
                f"{number} = arith.bitcast %{name}_v : i16 to {self.dtype}",
                f"memref.store {number}, {place}",
            ]
        return [
            *stored,
            f"memref.store %{name}_i, %indices[{at}] : {buffer(self.results, 'i64')}",
        ]

    def _better(self, result: str, one: str, other: str) -> list[str]:
        """Returns the lines of `%<result>`, which is true when `one` comes before `other`."""
        return [
            *self._precedes(f"{result}_yes", one, other),
            *self._precedes(f"{result}_no", other, one),
            f"%{result}_earlier = arith.cmpi slt, %{one}_i, %{other}_i : i64",
            f"%{result}_or_no = arith.select %{result}_no, %no, %{result}_earlier : i1",
            f"%{result} = arith.select %{result}_yes, %yes, %{result}_or_no : i1",
        ]

    def _precedes(self, result: str, one: str, other: str) -> list[str]:
        """
        Returns the lines of `%<result>`, which is true when the value of `one` is strictly before that of `other`.
        """
        first, second = (one, other) if self.largest else (other, one)
        kind = element(self.dtype)
        if not dtypes.is_float(self.dtype):
            predicate = "ugt" if dtypes.is_unsigned(self.dtype) else "sgt"
            return [f"%{result} = arith.cmpi {predicate}, %{first}_v, %{second}_v : {kind}"]
        if self._moves_bits():
            return [
                *self._widened(f"{result}_a", first),
                *self._widened(f"{result}_b", second),
                *self._above(result, f"%{result}_a", f"%{result}_b", "f32"),
            ]
        return self._above(result, f"%{first}_v", f"%{second}_v", kind)

    def _widened(self, result: str, name: str) -> list[str]:
        return [
            f"%{result}_half = arith.bitcast %{name}_v : i16 to {self.dtype}",
            f"%{result} = arith.extf %{result}_half : {self.dtype} to f32",
        ]

    @staticmethod
    def _above(result: str, first: str, second: str, kind: str) -> list[str]:
        """Returns the lines of `%<result>`, which is true when `first` is greater or NaN, unless `second` is NaN."""
        return [
            f"%{result}_above = arith.cmpf ugt, {first}, {second} : {kind}",
            f"%{result}_number = arith.cmpf ord, {second}, {second} : {kind}",
            f"%{result} = arith.andi %{result}_above, %{result}_number : i1",
        ]
