"""Patterns of hostile loop programs about elements that nothing has written: gaps, halves, tiles, lanes, views."""

from __future__ import annotations

import numpy as np
from hostile_loops import Array, Draw, HostileProgram, Template
from hostile_templates import UNWRITTEN


def _program(
    draw: Draw,
    name: str,
    inputs: list[tuple[str, Array]],
    expected: Array,
    body: str,
    wrong: bool,
    by_data: bool = False,
) -> HostileProgram:
    text = draw.function([(each, draw.type_of(array)) for each, array in inputs], [("B", draw.type_of(expected))], body)
    arrays = tuple(array for _, array in inputs)
    return HostileProgram(name, text, arrays, (expected,), UNWRITTEN * wrong, by_data)


def _copy(
    draw: Draw, n: int, source: tuple[str, int, str], target: tuple[str, int, str], before: str = "", **options: bool
) -> str:
    """A nest over `%v` with `n` turns that copies between (name, size, index)."""
    body = f"""{before}
        %x = memref.load {source[0]}[{source[2]}] : {draw.type(source[1])}
        memref.store %x, {target[0]}[{target[2]}] : {draw.type(target[1])}"""
    return draw.nest([("i", n, "spatial")], body, **options)


def gap(draw: Draw, wrong: bool) -> HostileProgram:
    """T[s i + c] = A[i] for each c below s, or for all but one, then B = T."""
    n, s = draw.size(2, 5), draw.size(2, 4)
    array = draw.array(n)
    left_out = draw.choose.randrange(s) if wrong else s
    nests = [
        _copy(
            draw,
            n,
            ("%A", n, "%vi"),
            ("%T", n * s, "%k"),
            f"%s = arith.constant {s} : index\n%m = arith.muli %vi, %s : index\n%k = arith.addi %m, %c{c} : index",
        )
        for c in range(s)
        if c != left_out
    ]
    back = _copy(draw, n * s, ("%T", n * s, "%vi"), ("%B", n * s, "%vi"))
    body = "\n".join([f"%T = tensor_loop.alloc : {draw.type(n * s)}", *nests, back])
    return _program(draw, "gap", [("A", array)], np.repeat(array, s), body, wrong)


def decided_by_data(draw: Draw, wrong: bool) -> HostileProgram:
    """T[i] = A[i] where M[i] is positive, then B = T. A wrong program has an M that is not."""
    n = draw.size()
    array, mask = draw.array(n), np.ones(n, np.int64)
    if wrong:
        mask[draw.choose.randrange(n)] = 0
    fill = f"""%m = memref.load %M[%vi] : memref<{n}xi64>
        %none = arith.constant 0 : i64
        %ok = arith.cmpi sgt, %m, %none : i64
        %x = memref.load %A[%vi] : {draw.type(n)}
        scf.if %ok {{
          memref.store %x, %T[%vi] : {draw.type(n)}
        }}"""
    nests = [draw.nest([("i", n, "spatial")], fill), _copy(draw, n, ("%T", n, "%vi"), ("%B", n, "%vi"))]
    body = "\n".join([f"%T = tensor_loop.alloc : {draw.type(n)}", *nests])
    return _program(draw, "decided by data", [("A", array), ("M", mask)], array, body, wrong, by_data=True)


def permuted(draw: Draw, wrong: bool) -> HostileProgram:
    """B[P[i]] = A[i] for a permutation P, or for a P that names one place twice."""
    n = draw.size()
    array, places = draw.array(n), np.asarray(draw.choose.sample(range(n), n), np.int64)
    expected = np.empty_like(array)
    expected[places] = array
    if wrong:
        first, second = draw.choose.sample(range(n), 2)
        places[first] = places[second]
    before = f"%p = memref.load %P[%vi] : memref<{n}xi64>\n%k = arith.index_cast %p : i64 to index"
    body = _copy(draw, n, ("%A", n, "%vi"), ("%B", n, "%k"), before, shares=False)
    return _program(draw, "permuted", [("A", array), ("P", places)], expected, body, wrong, by_data=True)


def half(draw: Draw, wrong: bool) -> HostileProgram:
    """The parts of B, one after the other, without the last element where the program is wrong."""
    m, n = draw.size(), draw.size()
    a, c = draw.array(m), draw.array(n)
    last = n - wrong
    nests = [
        _copy(draw, m, ("%A", m, "%vi"), ("%B", m + n, "%vi")),
        _copy(
            draw,
            last,
            ("%C", n, "%vi"),
            ("%B", m + n, "%k"),
            f"%m = arith.constant {m} : index\n%k = arith.addi %vi, %m : index",
        ),
    ]
    draw.choose.shuffle(nests)
    return _program(draw, "half", [("A", a), ("C", c)], np.concatenate([a, c]), "\n".join(nests), wrong)


def tile(draw: Draw, wrong: bool) -> HostileProgram:
    """For each of m tiles: T = the tile of A, then that of B = T. A wrong program leaves out the end of T."""
    m, n = draw.size(2, 5), draw.size(2, 5)
    array = draw.array(m * n)
    condition = f" where(%i < {n - 1})" if wrong else ""
    text = f"""%T = tensor_loop.alloc : {draw.type(n)}
      tensor_loop.for %o in {m} {{
        tensor_loop.for %i in {n} {{
          tensor_loop.block "fill" spatial(%vi in {m * n} = %o * {n} + %i, %vt in {n} = %i){condition} {{
            %x = memref.load %A[%vi] : {draw.type(m * n)}
            memref.store %x, %T[%vt] : {draw.type(n)}
          }}
        }}
        tensor_loop.for %j in {n} {{
          tensor_loop.block "back" spatial(%vj in {m * n} = %o * {n} + %j, %vu in {n} = %j) {{
            %x = memref.load %T[%vu] : {draw.type(n)}
            memref.store %x, %B[%vj] : {draw.type(m * n)}
          }}
        }}
      }}"""
    return _program(draw, "tile", [("A", array)], array, text, wrong)


def lanes(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, four elements at a time but for the last where the program is wrong, then B = T."""
    count = draw.size(2, 5)
    n = 4 * count
    array = draw.array(n)
    vector = f"vector<4x{draw.element}>"

    def moved(turns: int, source: str, target: str) -> str:
        body = f"""%k = arith.muli %vi, %c4 : index
          %x = vector.load {source}[%k] : {draw.type(n)}, {vector}
          vector.store %x, {target}[%k] : {draw.type(n)}, {vector}"""
        return draw.nest([("i", turns, "spatial")], body).replace("vectorized", "")

    body = f"%T = tensor_loop.alloc : {draw.type(n)}\n{moved(count - wrong, '%A', '%T')}\n{moved(count, '%T', '%B')}"
    return _program(draw, "written lanes", [("A", array)], array, body, wrong)


def running_sum(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i + 1] = B[i] + A[i + 1] after B[0] = A[0], or after nothing."""
    n = draw.size(3)
    array = draw.array(n)
    first = _copy(draw, 1, ("%A", n, "%vi"), ("%B", n, f"%c{1 if wrong else 0}"), keep=True)
    step = f"""%k = arith.addi %vj, %c1 : index
        %x = memref.load %A[%k] : {draw.type(n)}
        %y = memref.load %B[%vj] : {draw.type(n)}
        %s = {draw.add} %x, %y : {draw.element}
        memref.store %s, %B[%k] : {draw.type(n)}"""
    loop = f"""tensor_loop.for %j in {n - 1} {{
        tensor_loop.block "sum" spatial(%vj in {n - 1} = %j) {{
          {step}
        }}
      }}"""
    return _program(draw, "running sum", [("A", array)], array.cumsum(dtype=array.dtype), f"{first}\n{loop}", wrong)


def filled_view(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A by two views of T, then B = T. A wrong program has views that overlap."""
    n, shift = draw.size(2, 5), 0
    array = draw.array(2 * n)
    shift = draw.choose.randrange(1, n + 1) if wrong else 0
    lines = [f"%T = tensor_loop.alloc : {draw.type(2 * n)}"]
    for number, first in enumerate((0, n - shift)):
        view = f"memref<{n}x{draw.element}, strided<[1], offset: {first}>>"
        body = f"""%f = arith.constant {n * number} : index
          %k = arith.addi %vi, %f : index
          %x = memref.load %A[%k] : {draw.type(2 * n)}
          memref.store %x, %V{number}[%vi] : {view}"""
        lines.append(f"%V{number} = memref.subview %T[{first}] [{n}] [1] : {draw.type(2 * n)} to {view}")
        lines.append(draw.nest([("i", n, "spatial")], body))
    lines.append(_copy(draw, 2 * n, ("%T", 2 * n, "%vi"), ("%B", 2 * n, "%vi")))
    return _program(draw, "filled view", [("A", array)], array, "\n".join(lines), wrong)


def filled_by_call(draw: Draw, wrong: bool) -> HostileProgram:
    """T by a call that copies A, or all of A but the last element, then B = T."""
    n = draw.size()
    array = draw.array(n)
    vector = draw.type(n)
    inner = f"""tensor_loop.func private @fill(%A: {vector}) outs(%B: {vector}) {{
      {_copy(draw, n - wrong, ("%A", n, "%vi"), ("%B", n, "%vi"))}
    }}
    """
    body = f"""%T = tensor_loop.alloc : {vector}
      tensor_loop.call @fill(%A) outs(%T) : ({vector}) outs({vector})
      {_copy(draw, n, ("%T", n, "%vi"), ("%B", n, "%vi"))}"""
    program = _program(draw, "filled by call", [("A", array)], array, body, wrong)
    return HostileProgram(program.name, inner + program.text, program.arrays, program.outputs, program.why)


def given_to_call(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, or T = A but for one element that the data choose, then B by a call that copies T."""
    n = draw.size()
    array, places = draw.array(n), np.arange(n, dtype=np.int64)
    if wrong:
        places[0] = places[1]
    vector = draw.type(n)
    inner = f"""tensor_loop.func private @copy(%A: {vector}) outs(%B: {vector}) {{
      {_copy(draw, n, ("%A", n, "%vi"), ("%B", n, "%vi"))}
    }}
    """
    before = f"%p = memref.load %P[%vi] : memref<{n}xi64>\n%k = arith.index_cast %p : i64 to index"
    fill = _copy(draw, n, ("%A", n, "%vi"), ("%T", n, "%k"), before, shares=False)
    body = f"""%T = tensor_loop.alloc : {vector}
      {fill}
      tensor_loop.call @copy(%T) outs(%B) : ({vector}) outs({vector})"""
    program = _program(draw, "given to call", [("A", array), ("P", places)], array, body, wrong, by_data=True)
    return HostileProgram(
        program.name, inner + program.text, program.arrays, program.outputs, program.why, program.by_data
    )


TEMPLATES: tuple[Template, ...] = (
    gap,
    decided_by_data,
    permuted,
    half,
    tile,
    lanes,
    running_sum,
    filled_view,
    filled_by_call,
    given_to_call,
)
"""Programs that may read what nothing has written, or leave part of their output as it was."""
