"""Line tables of LLVM text that was written by hand: what loads a program, checks the processor, runs its threads."""

from __future__ import annotations

import re
from typing import Final

_DEFINED: Final = re.compile(r'define [^@]*@"?([^"(]+)"?\(.*\{$')

RUNTIME: Final = "<stepwell runtime>"
"""The file that the lines of code which is of no program are in: loading, checks, the pool of threads."""

_FIRST: Final = 1_000_000
"""The number of the first node of `with_own_lines`. A program with as many of its own would be too large for LLVM."""


def with_own_lines(text: str, *, joins: bool = False) -> str:
    """
    Returns LLVM text that was written by hand with lines of its own: a function is on its line of `RUNTIME`.

    All instructions of a function share that line, so LLVM need not choose one where it makes one of several. With
    `joins` the text becomes part of one that has the flags of a module with lines.
    """
    unit, file, type_, flag = range(_FIRST, _FIRST + 4)
    nodes = [
        f'!{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, producer: "stepwell", '
        "isOptimized: true, emissionKind: LineTablesOnly)",
        f'!{file} = !DIFile(filename: "{RUNTIME}", directory: "")',
        f"!{type_} = !DISubroutineType(types: !{{}})",
    ]
    if not joins:
        nodes += [f'!{flag} = !{{i32 2, !"Debug Info Version", i32 3}}', f"!llvm.module.flags = !{{!{flag}}}"]
    lines = text.split("\n")
    scope = _FIRST + 2
    for index, line in enumerate(lines):
        if match := _DEFINED.match(line):
            scope, place = scope + 2, f"line: {index + 1}"
            lines[index] = f"{line[:-1]}!dbg !{scope} {{"
            words = f'name: "{match[1]}", scope: !{file}, file: !{file}, {place}, scopeLine: {index + 1}'
            words += f", type: !{type_}, unit: !{unit}, spFlags: DISPFlagDefinition"
            nodes.append(f"!{scope} = distinct !DISubprogram({words})")
            nodes.append(f"!{scope + 1} = !DILocation({place}, column: 1, scope: !{scope})")
        elif line.startswith("  ") and not line.lstrip().startswith(";"):
            lines[index] = f"{line}, !dbg !{scope + 1}"
    return "\n".join([*lines, *nodes, f"!llvm.dbg.cu = !{{!{unit}}}", ""])
