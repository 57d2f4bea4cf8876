"""Writes LLVM text that calls `cblas_?gemm`, fills addends in, and holds the results between products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core.roles import aligned
from ...lowering.llvm_text.names import symbol_text

ROW_MAJOR, NO_TRANSPOSE = 101, 111
"""Values of `CBLAS_ORDER` and `CBLAS_TRANSPOSE` in the C interface of the BLAS Technical Forum standard, annex B."""

_TYPES = {"f32": ("float", 4), "f64": ("double", 8)}


class GemmText:
    """The function `i32 @symbol(ptr %in0, …, ptr %out0, …)`, written from the top downwards."""

    def __init__(self, symbol: str, inputs: int, outputs: int):
        names = [f"%in{index}" for index in range(inputs)] + [f"%out{index}" for index in range(outputs)]
        self._head = f"define i32 {symbol_text(symbol)}({', '.join(f'ptr {name}' for name in names)}) {{\nentry:"
        self._lines: list[str] = []
        self._declared: dict[str, None] = {}
        self._temporaries: list[int] = []
        """The start of each temporary in the memory for all of them, in bytes."""
        self._bytes = 0
        self._labels = 0

    def finish(self) -> str:
        """Returns the text of the module."""
        lines = [*self._lines, "  ret i32 0"]
        if self._temporaries:
            start = [
                f"  %memory = call ptr @malloc(i64 {self._bytes})",
                "  %none = icmp eq ptr %memory, null",
                "  br i1 %none, label %failed, label %got",
                "got:",
            ]
            start += [
                f"  %temporary{number} = getelementptr i8, ptr %memory, i64 {offset}"
                for number, offset in enumerate(self._temporaries)
            ]
            free = "  call void @free(ptr %memory)"
            lines = [*start, *self._lines, free, "  ret i32 0", "failed:", "  ret i32 1"]
        return "\n".join([*self._declared, "", self._head, *lines, "}", ""])

    def temporary(self, elements: int, dtype: str) -> str:
        """Returns memory for a product that only the function sees. The function fails where there is none."""
        self._declared["declare ptr @malloc(i64)"] = None
        self._declared["declare void @free(ptr)"] = None
        self._temporaries.append(self._bytes)
        self._bytes += aligned(max(1, elements * _TYPES[dtype][1]))
        return f"%temporary{len(self._temporaries) - 1}"

    def gemm(
        self,
        routine: str,
        sizes: tuple[int, int, int],
        pointers: tuple[str, str, str],
        dtype: str,
        *,
        accumulate: bool,
    ) -> None:
        """Adds `C = A B`, or `C += A B`: A is MxK, B is KxN, all of them dense and row-major."""
        m, n, k = sizes
        if m == 0 or n == 0:
            return
        type_ = _TYPES[dtype][0]
        integers = "i32, i32, i32, i32, i32, i32"
        signature = f"{integers}, {type_}, ptr, i32, ptr, i32, {type_}, ptr, i32"
        self._declared[f"declare void @{routine}({signature})"] = None
        a, b, c = pointers
        arguments = [f"i32 {number}" for number in (ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k)]
        arguments += [f"{type_} 1.0", f"ptr {a}", f"i32 {max(1, k)}", f"ptr {b}", f"i32 {n}"]
        arguments += [f"{type_} {'1.0' if accumulate else '0.0'}", f"ptr {c}", f"i32 {n}"]
        self._lines.append(f"  call void @{routine}({', '.join(arguments)})")

    def fill(self, target: str, shape: Sequence[int], source: str, given: Sequence[int], dtype: str) -> None:
        """
        Adds a copy of `source`, stretched to `shape` by NumPy's rule, into `target`.

        It goes row by row unless the shapes are equal.
        """
        total = prod(shape)
        if total == 0:
            return
        self._declared["declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"] = None
        size = _TYPES[dtype][1]
        if prod(given) == total:
            self._copy(target, source, total * size)
            return
        label, padded = self._loop_start(), [1] * (len(shape) - len(given)) + list(given)
        offset = self._row_offset(label, shape, padded)
        type_ = _TYPES[dtype][0]
        self._lines += [
            f"  %{label}.start = mul i64 %{label}.i, {shape[-1]}",
            f"  %{label}.to = getelementptr {type_}, ptr {target}, i64 %{label}.start",
            f"  %{label}.from = getelementptr {type_}, ptr {source}, i64 {offset}",
        ]
        if padded[-1] == shape[-1]:
            self._copy(f"%{label}.to", f"%{label}.from", shape[-1] * size)
        else:
            self._lines.append(f"  %{label}.value = load {type_}, ptr %{label}.from, align {size}")
            inner = self._loop_start()
            self._lines += [
                f"  %{inner}.to = getelementptr {type_}, ptr %{label}.to, i64 %{inner}.i",
                f"  store {type_} %{label}.value, ptr %{inner}.to, align {size}",
            ]
            self._loop_end(inner, shape[-1])
        self._loop_end(label, prod(shape[:-1]))

    def _copy(self, target: str, source: str, count: int) -> None:
        self._lines.append(f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {count}, i1 false)")

    def _row_offset(self, label: str, shape: Sequence[int], padded: Sequence[int]) -> str:
        """Returns the offset in the addend, in elements, of the row with number `%label.i`."""
        offset = "0"
        for axis in range(len(shape) - 1):
            if padded[axis] == 1:
                continue
            name = f"%{label}.axis{axis}"
            self._lines += [
                f"  {name}.whole = udiv i64 %{label}.i, {prod(shape[axis + 1 : -1])}",
                f"  {name} = urem i64 {name}.whole, {shape[axis]}",
                f"  {name}.step = mul i64 {name}, {prod(padded[axis + 1 :])}",
                f"  {name}.sum = add i64 {offset}, {name}.step",
            ]
            offset = f"{name}.sum"
        return offset

    def _loop_start(self) -> str:
        """Begins a loop over `%label.i`, which runs at least once."""
        label = f"loop{self._labels}"
        self._labels += 1
        self._lines += [
            f"  br label %{label}.before",
            f"{label}.before:",
            f"  br label %{label}",
            f"{label}:",
            f"  %{label}.i = phi i64 [ 0, %{label}.before ], [ %{label}.next, %{label}.latch ]",
        ]
        return label

    def _loop_end(self, label: str, count: int) -> None:
        self._lines += [
            f"  br label %{label}.latch",
            f"{label}.latch:",
            f"  %{label}.next = add i64 %{label}.i, 1",
            f"  %{label}.more = icmp ult i64 %{label}.next, {count}",
            f"  br i1 %{label}.more, label %{label}, label %{label}.after",
            f"{label}.after:",
        ]
