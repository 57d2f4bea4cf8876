"""Hostile programs about who writes what and when: temporaries, races, inputs, aliases, open sizes, lanes."""

from __future__ import annotations

import numpy as np
from hostile_loops import Array, Draw, HostileProgram, Template
from hostile_templates import ABOVE, BOTH_WRITE, READS_OTHER, UNWRITTEN

ALIAS = "two arguments of a call are one buffer"
INPUT = "a store to an input"


def _program(
    draw: Draw, name: str, inputs: list[tuple[str, Array]], expected: Array, body: str, why: str = ""
) -> HostileProgram:
    text = draw.function([(each, draw.type_of(array)) for each, array in inputs], [("B", draw.type_of(expected))], body)
    return HostileProgram(name, text, tuple(array for _, array in inputs), (expected,), why)


def _copy(draw: Draw, n: int, source: str, target: str, extent: int | None = None, **options: bool) -> str:
    """A nest that copies the first elements of a vector of `n`."""
    body = f"%x = memref.load {source}[%vi] : {draw.type(n)}\nmemref.store %x, {target}[%vi] : {draw.type(n)}"
    return draw.nest([("i", n if extent is None else extent, "spatial")], body, **options)


def temporary(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, B = T, where the first loop may leave out the last element."""
    n = draw.size(3)
    array = draw.array(n)
    body = f"""%T = tensor_loop.alloc : {draw.type(n)}
      {_copy(draw, n, "%A", "%T", n - wrong)}
      {_copy(draw, n, "%T", "%B")}"""
    return _program(draw, "temporary", [("A", array)], array, body, wrong * UNWRITTEN)


def reversed_order(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, B = T in the right order, or the other way round."""
    n = draw.size()
    array = draw.array(n)
    nests = [_copy(draw, n, "%A", "%T"), _copy(draw, n, "%T", "%B")]
    body = f"%T = tensor_loop.alloc : {draw.type(n)}\n" + "\n".join(nests[::-1] if wrong else nests)
    return _program(draw, "reversed", [("A", array)], array, body, wrong * UNWRITTEN)


def several_temporaries(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, U = T, B = T + U, where a load of T may pass its end into the next temporary."""
    n = draw.size()
    array = draw.array(n)
    vector = draw.type(n)
    body = f"""%k = arith.addi %vi, %c{int(wrong)} : index
        %x = memref.load %T[%k] : {vector}
        %y = memref.load %U[%vi] : {vector}
        %s = {draw.add} %x, %y : {draw.element}
        memref.store %s, %B[%vi] : {vector}"""
    nests = [_copy(draw, n, "%A", "%T"), _copy(draw, n, "%T", "%U"), draw.nest([("i", n, "spatial")], body)]
    text = f"%T = tensor_loop.alloc : {vector}\n%U = tensor_loop.alloc : {vector}\n" + "\n".join(nests)
    return _program(
        draw, "several temporaries", [("A", array)], (array + array).astype(array.dtype), text, wrong * ABOVE
    )


def _parallel(draw: Draw, n: int, body: str) -> str:
    return f"""tensor_loop.for %i in {n} parallel {{
        tensor_loop.block "p" spatial(%vi in {n} = %i) {{
          {body}
        }}
      }}"""


def racing_writes(draw: Draw, wrong: bool) -> HostileProgram:
    """B[f(i)] = A[i] in parallel, where f gives each iteration a place of its own or does not."""
    n = draw.size(3)
    array = draw.array(n)
    reverse = f"%last = arith.constant {n - 1} : index\n%k = arith.subi %last, %vi : index"
    shared = draw.choose.choice(
        [
            "%k = arith.divsi %vi, %c2 : index",
            f"%k = arith.remsi %vi, %c{n - 1} : index",
            "%k = arith.muli %vi, %c0 : index",
        ]
    )
    move = f"%x = memref.load %A[%vi] : {draw.type(n)}\nmemref.store %x, %B[%k] : {draw.type(n)}"
    fill = draw.nest(
        [("j", n, "spatial")], f"%z = arith.constant {draw.zero}\nmemref.store %z, %B[%vj] : {draw.type(n)}"
    )
    body = f"{fill}\n{_parallel(draw, n, (shared if wrong else reverse) + chr(10) + move)}"
    return _program(draw, "racing writes", [("A", array)], array[::-1].copy(), body, wrong * BOTH_WRITE)


def racing_reads(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, then T[i] = T[i] + T[j] in parallel, where j is i or the next one, then B = T."""
    n = draw.size(3)
    array = draw.array(n)
    vector = draw.type(n)
    body = f"""%next = arith.addi %vi, %c{int(wrong)} : index
          %last = arith.constant {n - 1} : index
          %k = arith.minsi %next, %last : index
          %x = memref.load %T[%vi] : {vector}
          %y = memref.load %T[%k] : {vector}
          %s = {draw.add} %x, %y : {draw.element}
          memref.store %s, %T[%vi] : {vector}"""
    text = f"""%T = tensor_loop.alloc : {vector}
      {_copy(draw, n, "%A", "%T")}
      {_parallel(draw, n, body)}
      {_copy(draw, n, "%T", "%B")}"""
    expected = (array + array).astype(array.dtype)
    return _program(draw, "racing reads", [("A", array)], expected, text, wrong * READS_OTHER)


def racing_sum(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = sum over k of A[i, k], whose loop over i, or over k, is parallel."""
    m, n = draw.size(), draw.size(2, 5)
    array = draw.array(m, n)
    marks = ("", "parallel") if wrong else ("parallel", "")
    text = f"""tensor_loop.for %i in {m} {marks[0]} {{
      tensor_loop.for %k in {n} {marks[1]} {{
        tensor_loop.block "s" spatial(%vi in {m} = %i) reduce(%vk in {n} = %k) {{
          init {{
            %z = arith.constant {draw.zero}
            memref.store %z, %B[%vi] : {draw.type(m)}
          }}
          %x = memref.load %A[%vi, %vk] : {draw.type(m, n)}
          %y = memref.load %B[%vi] : {draw.type(m)}
          %s = {draw.add} %x, %y : {draw.element}
          memref.store %s, %B[%vi] : {draw.type(m)}
        }}
      }}
    }}"""
    expected = array.sum(axis=1, dtype=array.dtype)
    return _program(draw, "racing sum", [("A", array)], expected, text, wrong * BOTH_WRITE)


def stored_input(draw: Draw, wrong: bool) -> HostileProgram:
    """B = A, with one more store."""
    n = draw.size()
    array = draw.array(n)
    body = f"""%x = memref.load %A[%vi] : {draw.type(n)}
        memref.store %x, %B[%vi] : {draw.type(n)}
        memref.store %x, {"%A" if wrong else "%B"}[%vi] : {draw.type(n)}"""
    nest = draw.nest([("i", n, "spatial")], body)
    return _program(draw, "stored input", [("A", array)], array, nest, wrong * INPUT)


def called(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, then a call that turns T round into B, or into T."""
    n = draw.size(3)
    array = draw.array(n)
    vector = draw.type(n)
    result = "%T" if wrong else "%B"
    body = f"""%T = tensor_loop.alloc : {vector}
      {_copy(draw, n, "%A", "%T")}
      tensor_loop.call @turn(%T) outs({result}) : ({vector}) outs({vector})
      {_copy(draw, n, "%T", "%B") if wrong else ""}"""
    program = _program(draw, "called", [("A", array)], array[::-1].copy(), body, wrong * ALIAS)
    text = _turn(draw, n, vector, vector) + program.text
    return HostileProgram("called", text, program.arrays, program.outputs, program.why)


def _turn(draw: Draw, n: int, source: str, target: str) -> str:
    """A kernel that copies a vector in the other order."""
    return f"""tensor_loop.func private @turn(%A: {source}) outs(%B: {target}) {{
      %last = arith.constant {n - 1} : index
      tensor_loop.for %i in {n} {{
        tensor_loop.block "turn" spatial(%vi in {n} = %i) {{
          %k = arith.subi %last, %vi : index
          %x = memref.load %A[%k] : {source}
          memref.store %x, %B[%vi] : {target}
        }}
      }}
    }}
    """


def viewed(draw: Draw, wrong: bool) -> HostileProgram:
    """T = A, then a call that copies one part of T to another, where the parts may overlap, then B = T."""
    n = draw.size(2, 6)
    array = draw.array(n)
    first = draw.choose.randint(0, n - 1) if wrong else n
    whole, part = draw.type(2 * n), draw.type(n)
    view = f"memref<{n}x{draw.element}, strided<[1], offset: {first}>>"
    fill = f"""%x = memref.load %A[%vi] : {part}
        %n = arith.constant {n} : index
        %k = arith.addi %vi, %n : index
        memref.store %x, %T[%vi] : {whole}
        memref.store %x, %T[%k] : {whole}"""
    body = f"""%T = tensor_loop.alloc : {whole}
      {draw.nest([("i", n, "spatial")], fill)}
      %P = memref.subview %T[0] [{n}] [1] : {whole} to {part.replace(">", ", strided<[1]>>")}
      %Q = memref.subview %T[{first}] [{n}] [1] : {whole} to {view}
      tensor_loop.call @turn(%P) outs(%Q) : ({part.replace(">", ", strided<[1]>>")}) outs({view})
      {
        draw.nest(
            [("j", n, "spatial")],
            f'''%f = arith.constant {first} : index
        %k = arith.addi %vj, %f : index
        %x = memref.load %T[%k] : {whole}
        memref.store %x, %B[%vj] : {part}''',
        )
    }"""
    program = _program(draw, "viewed", [("A", array)], array[::-1].copy(), body, wrong * ALIAS)
    text = _turn(draw, n, part.replace(">", ", strided<[1]>>"), view) + program.text
    return HostileProgram("viewed", text, program.arrays, program.outputs, program.why)


def on_the_heap(draw: Draw, wrong: bool) -> HostileProgram:
    """S of as many elements as the data say, S[i] = A[i], B = S. The data may say too few."""
    n = draw.size()
    array = draw.array(n)
    count = np.asarray([draw.choose.randrange(n) if wrong else n + draw.choose.randint(0, 3)], np.int64)
    open_type = draw.type("?")
    fill = f"%x = memref.load %A[%vi] : {draw.type(n)}\nmemref.store %x, %S[%vi] : {open_type}"
    back = f"%x = memref.load %S[%vi] : {open_type}\nmemref.store %x, %B[%vi] : {draw.type(n)}"
    body = f"""%number = memref.load %I[%c0] : memref<1xi64>
      %size = arith.index_cast %number : i64 to index
      %S = memref.alloc(%size) : {open_type}
      {draw.nest([("i", n, "spatial")], fill)}
      {draw.nest([("i", n, "spatial")], back)}
      memref.dealloc %S : {open_type}"""
    program = _program(draw, "on the heap", [("A", array), ("I", count)], array, body, wrong * ABOVE)
    return HostileProgram(program.name, program.text, program.arrays, program.outputs, program.why, by_data=True)


def open_sizes(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[i] + C[i] for buffers of open sizes, of which that of A counts. C may be shorter."""
    n = draw.size()
    short = draw.choose.randint(1, n) if wrong else 0
    a, c = draw.array(n), draw.array(n - short)
    kind = draw.type("?")
    body = f"""%x = memref.load %A[%vi] : {kind}
        %y = memref.load %C[%vi] : {kind}
        %s = {draw.add} %x, %y : {draw.element}
        memref.store %s, %B[%vi] : {kind}"""
    text = draw.function(
        [("A", kind), ("C", kind)],
        [("B", kind)],
        f"%n = memref.dim %A, %c0 : {kind}\n{draw.nest([('i', '%n', 'spatial')], body)}",
    )
    expected = np.zeros_like(a) if wrong else (a + c).astype(a.dtype)
    why = wrong * "open sizes that do not fit each other"
    return HostileProgram("open sizes", text, (a, c), (expected,), why, by_data=True)


def open_shift(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[i + 1] for i below the size of A, less one where the program is right."""
    n = draw.size(3)
    a = draw.array(n)
    kind = draw.type("?")
    body = f"""%k = arith.addi %vi, %c1 : index
        %x = memref.load %A[%k] : {kind}
        memref.store %x, %B[%vi] : {kind}"""
    text = draw.function(
        [("A", kind)],
        [("B", kind)],
        f"%all = memref.dim %A, %c0 : {kind}\n%n = arith.subi %all, %c{0 if wrong else 1} : index\n"
        + draw.nest([("i", "%n", "spatial")], body),
    )
    expected = np.zeros_like(a) if wrong else a[1:]
    return HostileProgram("open shift", text, (a,), (expected,), wrong * ABOVE, by_data=True)


def inner_loop(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = sum over k of A[i, k], by an `scf.for` in the block."""
    m, n = draw.size(), draw.size(2, 6)
    array = draw.array(m, n)
    body = f"""%end = arith.constant {n + wrong} : index
        %z = arith.constant {draw.zero}
        %t = scf.for %k = %c0 to %end step %c1 iter_args(%a = %z) -> ({draw.element}) {{
          %x = memref.load %A[%vi, %k] : {draw.type(m, n)}
          %s = {draw.add} %a, %x : {draw.element}
          scf.yield %s : {draw.element}
        }}
        memref.store %t, %B[%vi] : {draw.type(m)}"""
    nest = draw.nest([("i", m, "spatial")], body)
    return _program(draw, "inner loop", [("A", array)], array.sum(axis=1, dtype=array.dtype), nest, wrong * ABOVE)


def lanes(draw: Draw, wrong: bool) -> HostileProgram:
    """Copies four elements at a time. The last of them may not exist."""
    count = draw.size(1, 5)
    array = draw.array(4 * count - (draw.choose.randint(1, 3) if wrong else 0))
    vector = f"vector<4x{draw.element}>"
    body = f"""%k = arith.muli %vi, %c4 : index
        %x = vector.load %A[%k] : {draw.type_of(array)}, {vector}
        vector.store %x, %B[%k] : {draw.type(4 * count)}, {vector}"""
    expected = draw.array(4 * count) if wrong else array
    nest = draw.nest([("i", count, "spatial")], body).replace("vectorized", "")
    return _program(draw, "lanes", [("A", array)], expected, nest, wrong * "lanes above their buffer")


def scratch(draw: Draw, wrong: bool) -> HostileProgram:
    """Two elements of a buffer of the block, B[i] = A[i] + A[i], or one more than it has."""
    n = draw.size()
    array = draw.array(n)
    small = draw.type(2)
    body = f"""%S = memref.alloca() : {small}
        %x = memref.load %A[%vi] : {draw.type(n)}
        memref.store %x, %S[%c0] : {small}
        memref.store %x, %S[%c{2 if wrong else 1}] : {small}
        %y = memref.load %S[%c0] : {small}
        %z = memref.load %S[%c1] : {small}
        %s = {draw.add} %y, %z : {draw.element}
        memref.store %s, %B[%vi] : {draw.type(n)}"""
    nest = draw.nest([("i", n, "spatial")], body)
    return _program(draw, "scratch", [("A", array)], (array + array).astype(array.dtype), nest, wrong * ABOVE)


TEMPLATES: tuple[Template, ...] = (
    temporary,
    reversed_order,
    several_temporaries,
    racing_writes,
    racing_reads,
    racing_sum,
    stored_input,
    called,
    viewed,
    on_the_heap,
    open_sizes,
    open_shift,
    inner_loop,
    lanes,
    scratch,
)
"""Programs that may touch what they must not."""
