"""Line tables: which line of the source each instruction comes from, as metadata that LLVM turns into DWARF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Operation

from ...core.messages.locations import nearest_source_point
from ...core.messages.points import SourcePoint
from .constants import metadata_string
from .module import ModuleText

PRODUCER: Final = "stepwell"


class DebugLines:
    """
    The metadata of one module: a compile unit, a file per source, a subprogram per function, a location per place.

    An op with several origins has the line of the first. See "Source Level Debugging with LLVM" for the metadata.
    """

    def __init__(self, module: ModuleText):
        self._module = module
        self._unit: int | None = None

    def _file(self, name: str) -> int:
        return self._module.node(f'!DIFile(filename: {metadata_string(name)}, directory: "")')

    def _unit_of(self, file: int) -> int:
        """Returns the compile unit. Its file is that of the first function."""
        if self._unit is None:
            words = f"language: DW_LANG_C, file: !{file}, producer: {metadata_string(PRODUCER)}, isOptimized: true"
            content = f"distinct !DICompileUnit({words}, emissionKind: LineTablesOnly)"
            self._unit = self._module.node(content)
        return self._unit

    def function(self, op: llvm.FuncOp, symbol: str) -> FunctionLines | None:
        """Returns the lines of a function, `None` where nothing says from which file it is."""
        point = nearest_source_point(op)
        if point is None:
            return None
        file = self._file(point.file)
        signature = self._module.node(f"!DISubroutineType(types: !{self._module.node('!{}')})")
        words = f"name: {metadata_string(symbol)}, scope: !{file}, file: !{file}, line: {point.line}"
        words += f", scopeLine: {point.line}, type: !{signature}, unit: !{self._unit_of(file)}"
        words += ", spFlags: DISPFlagDefinition | DISPFlagOptimized"
        scope = self._module.node(f"distinct !DISubprogram({words})")
        return FunctionLines(self._module, scope, point, self._file)

    def flags(self) -> list[str]:
        """Returns the named metadata of a module with lines, nothing for one without."""
        if self._unit is None:
            return []
        version = self._module.node('!{i32 2, !"Debug Info Version", i32 3}')
        dwarf = self._module.node('!{i32 7, !"Dwarf Version", i32 4}')
        return [f"!llvm.dbg.cu = !{{!{self._unit}}}", f"!llvm.module.flags = !{{!{version}, !{dwarf}}}"]


class FunctionLines:
    """The lines of one function, whose subprogram is the metadata node `scope`."""

    def __init__(self, module: ModuleText, scope: int, point: SourcePoint, file: Callable[[str], int]):
        self.scope = scope
        self._module = module
        self._point = point
        self._file = file
        self._words: dict[SourcePoint, str] = {}
        self._known: dict[int, tuple[Attribute, str]] = {}
        """The same by the `id` of a location, which ops share. The location is kept, so no other one gets its `id`."""

    def mark(self, lines: list[str], first: int, op: Operation) -> None:
        """Adds the place of `op` to the instructions in `lines` from `first` on."""
        location = op.location
        if (known := self._known.get(id(location))) is None:
            # What is around an op without a place is not known by its location, and there is next to none.
            known = (location, self._at(nearest_source_point(op) or self._point))
            if not isinstance(location, UnknownLoc):
                self._known[id(location)] = known
        words = known[1]
        for index in range(first, len(lines)):
            if lines[index].startswith("  "):
                lines[index] += words

    def _at(self, point: SourcePoint) -> str:
        if (found := self._words.get(point)) is None:
            scope = self.scope
            if point.file != self._point.file:
                file = self._file(point.file)
                scope = self._module.node(f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)")
            place = f"line: {point.line}, column: {min(point.column, 65535)}"
            found = f", !dbg !{self._module.node(f'!DILocation({place}, scope: !{scope})')}"
            self._words[point] = found
        return found


__all__ = ["DebugLines", "FunctionLines"]
