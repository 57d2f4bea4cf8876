"""The patterns of which hostile loop programs are made. Each is right, or wrong in one of several ways."""

from __future__ import annotations

import numpy as np
from hostile_loops import Array, Draw, HostileProgram, Template

ABOVE, BELOW = "an index above its buffer", "an index below its buffer"
UNWRITTEN = "a read of what nothing has written"
BOTH_WRITE, READS_OTHER = "two iterations write one element", "an iteration reads what another one writes"


def _program(
    draw: Draw,
    name: str,
    inputs: list[tuple[str, Array]],
    expected: Array,
    body: str,
    why: str = "",
    *,
    by_data: bool = False,
) -> HostileProgram:
    """A program with static sizes and one output `%B`."""
    text = draw.function([(each, draw.type_of(array)) for each, array in inputs], [("B", draw.type_of(expected))], body)
    return HostileProgram(name, text, tuple(array for _, array in inputs), (expected,), why, by_data)


def _moved(draw: Draw, source: str, place: str, target: str, at: str, before: str = "") -> str:
    """Copies an element: (type and name) `source[place]` to `target[at]`."""
    (from_name, from_type), (to_name, to_type) = source.split(" ", 1), target.split(" ", 1)
    return (
        f"{before}\n%x = memref.load {from_name}[{place}] : {from_type}\nmemref.store %x, {to_name}[{at}] : {to_type}"
    )


def shifted(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i, j] = A[i + a, j + b]."""
    m, n, a, b = draw.size(), draw.size(), draw.choose.randint(0, 3), draw.choose.randint(0, 3)
    why = draw.choose.choice([ABOVE, BELOW]) if wrong else ""
    short = [(1, 0), (0, 1)][draw.choose.randrange(2)] if why == ABOVE else (0, 0)
    array = draw.array(m + a - short[0], n + b - short[1])
    expected = array[a:, b:] if not why else draw.array(m, n)
    first = "subi" if why == BELOW else "addi"
    move = f"%p = arith.{first} %vi, %c{max(a, 1) if why == BELOW else a} : index\n%q = arith.addi %vj, %c{b} : index"
    body = _moved(draw, f"%A {draw.type_of(array)}", "%p, %q", f"%B {draw.type(m, n)}", "%vi, %vj", move)
    return _program(draw, "shifted", [("A", array)], expected, draw.nest(_axes(("i", m), ("j", n)), body), why)


def _axes(*axes: tuple[str, int | str], reduce: str = "") -> list[tuple[str, int | str, str]]:
    return [(name, extent, "reduce" if name in reduce.split() else "spatial") for name, extent in axes]


def strided(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[s * i + c]."""
    n, s, c = draw.size(), draw.choose.randint(1, 4), draw.choose.randint(0, 5)
    array = draw.array(s * (n - 1) + c + (0 if wrong else 1))
    before = f"%m = arith.muli %vi, %c{s} : index\n%k = arith.addi %m, %c{c} : index"
    body = _moved(draw, f"%A {draw.type_of(array)}", "%k", f"%B {draw.type(n)}", "%vi", before)
    expected = draw.array(n) if wrong else array[c::s]
    return _program(draw, "strided", [("A", array)], expected, draw.nest(_axes(("i", n)), body), wrong * ABOVE)


def windows(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = sum over k of A[s * i + k], with a halo. Without its init the sum reads what nothing has written."""
    n, s, k = draw.size(), draw.choose.randint(1, 3), draw.size(2, 4)
    why = draw.choose.choice([ABOVE, UNWRITTEN]) if wrong else ""
    array = draw.array(s * (n - 1) + k - (why == ABOVE))
    init = f"init {{\n%z = arith.constant {draw.zero}\nmemref.store %z, %B[%vi] : {draw.type(n)}\n}}"
    body = f"""{"" if why == UNWRITTEN else init}
        %m = arith.muli %vi, %c{s} : index
        %p = arith.addi %m, %vk : index
        %x = memref.load %A[%p] : {draw.type_of(array)}
        %y = memref.load %B[%vi] : {draw.type(n)}
        %r = {draw.add} %x, %y : {draw.element}
        memref.store %r, %B[%vi] : {draw.type(n)}"""
    nest = draw.nest(_axes(("i", n), ("k", k), reduce="k"), body)
    expected = np.asarray([array[s * i : s * i + k].sum(dtype=array.dtype) for i in range(n)], array.dtype)
    return _program(draw, "windows", [("A", array)], expected, nest, why)


def clamped(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[min(max(i + d, 0), n - 1)], or with a bound that is one off."""
    n, d = draw.size(3), draw.choose.randint(1, 3)
    why = draw.choose.choice([ABOVE, BELOW]) if wrong else ""
    up = draw.choose.random() < 0.5 if not why else why == ABOVE
    low, high = (-1 if why == BELOW else 0), (n if why == ABOVE else n - 1)
    array = draw.array(n)
    before = f"""%k = arith.{"addi" if up else "subi"} %vi, %c{d} : index
        %low = arith.constant {low} : index
        %high = arith.constant {high} : index
        %l = arith.maxsi %k, %low : index
        %h = arith.minsi %l, %high : index"""
    body = _moved(draw, f"%A {draw.type(n)}", "%h", f"%B {draw.type(n)}", "%vi", before)
    places = np.clip(np.arange(n) + (d if up else -d), 0, n - 1)
    return _program(draw, "clamped", [("A", array)], array[places], draw.nest(_axes(("i", n)), body), why)


def divided(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i, j] = A[(i * n + j) / c] or A[(i * n + j) mod c], by ops of `arith`."""
    m, n = draw.size(2, 5), draw.size(2, 5)
    c = draw.choose.randint(1, m * n)
    is_mod = draw.choose.random() < 0.5 and (c > 1 or not wrong)
    needed = c if is_mod else (m * n - 1) // c + 1
    if wrong and needed == 1:
        c, is_mod, needed = 2, True, 2
    array = draw.array(needed - wrong)
    op = draw.choose.choice(["remsi", "remui"]) if is_mod else draw.choose.choice(["divsi", "divui", "floordivsi"])
    before = f"""%n = arith.constant {n} : index
        %c = arith.constant {c} : index
        %m = arith.muli %vi, %n : index
        %f = arith.addi %m, %vj : index
        %k = arith.{op} %f, %c : index"""
    body = _moved(draw, f"%A {draw.type_of(array)}", "%k", f"%B {draw.type(m, n)}", "%vi, %vj", before)
    flat = np.arange(m * n).reshape(m, n)
    expected = draw.array(m, n) if wrong else array[flat % c if is_mod else flat // c]
    nest = draw.nest(_axes(("i", m), ("j", n)), body)
    return _program(draw, "divided", [("A", array)], expected, nest, wrong * ABOVE)


def fused(draw: Draw, wrong: bool) -> HostileProgram:
    """B[f / n, f mod n] = A[f], with one loop whose variable the axes divide."""
    m, n = draw.size(2, 5), draw.size(2, 5)
    array = draw.array(m * n)
    rows = m - 1 if wrong else m
    expected = draw.array(rows, n) if wrong else array.reshape(m, n)
    text = f"""tensor_loop.for %f in {m * n} {{
      tensor_loop.block "b" spatial(%vi in {m} = %f floordiv {n}, %vj in {n} = %f mod {n}) {{
        %n = arith.constant {n} : index
        %k = arith.muli %vi, %n : index
        %l = arith.addi %k, %vj : index
        {_moved(draw, f"%A {draw.type(m * n)}", "%l", f"%B {draw.type(rows, n)}", "%vi, %vj")}
      }}
    }}"""
    return _program(draw, "fused", [("A", array)], expected, text, wrong * ABOVE)


def guarded(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[i + d] where that is in A, else 0. A test that is one off lets one index pass."""
    n, d = draw.size(3), draw.choose.randint(1, 2)
    array = draw.array(n)
    body = f"""%n = arith.constant {n} : index
        %k = arith.addi %vi, %c{d} : index
        %ok = arith.cmpi {"sle" if wrong else draw.choose.choice(["slt", "ult"])}, %k, %n : index
        %x = scf.if %ok -> ({draw.element}) {{
          %y = memref.load %A[%k] : {draw.type(n)}
          scf.yield %y : {draw.element}
        }} else {{
          %z = arith.constant {draw.zero}
          scf.yield %z : {draw.element}
        }}
        memref.store %x, %B[%vi] : {draw.type(n)}"""
    expected = np.concatenate([array[d:], np.zeros(d, array.dtype)])
    return _program(draw, "guarded", [("A", array)], expected, draw.nest(_axes(("i", n)), body), wrong * ABOVE)


def chosen(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[i + 1], and A[0] for the last i, by a selection of the index."""
    n = draw.size(3)
    array = draw.array(n)
    before = f"""%last = arith.constant {n if wrong else n - 1} : index
        %next = arith.addi %vi, %c1 : index
        %ok = arith.cmpi slt, %vi, %last : index
        %k = arith.select %ok, %next, %c0 : index"""
    body = _moved(draw, f"%A {draw.type(n)}", "%k", f"%B {draw.type(n)}", "%vi", before)
    return _program(draw, "chosen", [("A", array)], np.roll(array, -1), draw.nest(_axes(("i", n)), body), wrong * ABOVE)


def taken(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[I[i]]. The data decide."""
    n, count = draw.size(), draw.size()
    why = draw.choose.choice([ABOVE, BELOW]) if wrong else ""
    array, places = draw.array(n), draw.indices(n, count)
    expected = array[places]
    if why:
        far = draw.choose.choice([0, 0, 1, 100, 1 << 20])
        places[draw.choose.randrange(count)] = n + far if why == ABOVE else -1 - far
    type_ = draw.type_of(places)
    element = type_[-4:-1]
    before = f"%place = memref.load %I[%vi] : {type_}\n%k = arith.index_cast %place : {element} to index"
    body = _moved(draw, f"%A {draw.type(n)}", "%k", f"%B {draw.type(count)}", "%vi", before)
    nest = draw.nest(_axes(("i", count)), body)
    return _program(draw, "taken", [("A", array), ("I", places)], expected, nest, why, by_data=True)


def scattered(draw: Draw, wrong: bool) -> HostileProgram:
    """B = 0, then B[I[i]] = A[i] one after the other. The data decide."""
    n, count = draw.size(), draw.size()
    array, places = draw.array(count), draw.indices(n, count)
    expected = np.zeros(n, array.dtype)
    for place, value in zip(places, array, strict=True):
        expected[place] = value
    if wrong:
        places[draw.choose.randrange(count)] = draw.choose.choice([n, n + 1000, -1])
    type_ = draw.type_of(places)
    fill = draw.nest(_axes(("j", n)), f"%z = arith.constant {draw.zero}\nmemref.store %z, %B[%vj] : {draw.type(n)}")
    before = f"%place = memref.load %I[%vi] : {type_}\n%k = arith.index_cast %place : {type_[-4:-1]} to index"
    body = _moved(draw, f"%A {draw.type(count)}", "%vi", f"%B {draw.type(n)}", "%k", before)
    nest = draw.nest(_axes(("i", count)), body, shares=False, keep=True).replace("vectorized", "")
    why = wrong * "an index of data outside of its buffer"
    return _program(draw, "scattered", [("A", array), ("I", places)], expected, f"{fill}\n{nest}", why, by_data=True)


def split(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i] = A[i] in pieces, whose last one is not full. The condition is missing, or one off."""
    n, inner = draw.size(3, 20), draw.choose.randint(2, 4)
    n += n % inner == 0
    outer = -(-n // inner)
    array = draw.array(n)
    bound = n + 1 if draw.choose.random() < 0.5 else outer * inner
    where = f"where(%o * {inner} + %i < {bound if wrong else n})"
    extent = outer * inner if wrong else n
    text = f"""tensor_loop.for %o in {outer} {draw.choose.choice(["", "parallel"])} {{
      tensor_loop.for %i in {inner} {draw.choose.choice(["", "unrolled", "vectorized"])} {{
        tensor_loop.block "b" spatial(%v in {extent} = %o * {inner} + %i) {where} {{
          {_moved(draw, f"%A {draw.type(n)}", "%v", f"%B {draw.type(n)}", "%v")}
        }}
      }}
    }}"""
    return _program(draw, "split", [("A", array)], array, text, wrong * ABOVE)


def transposed(draw: Draw, wrong: bool) -> HostileProgram:
    """B[j, i] = A[i, j]. The extents are those of the other dimension."""
    m = draw.size(2, 6)
    n = m + draw.choose.randint(1, 3)
    array = draw.array(m, n)
    body = _moved(draw, f"%A {draw.type(m, n)}", "%vi, %vj", f"%B {draw.type(n, m)}", "%vj, %vi")
    axes = _axes(("i", n if wrong else m), ("j", m if wrong else n))
    return _program(
        draw, "transposed", [("A", array)], array.T.copy(), draw.nest(axes, body), wrong * "wrong extents of loops"
    )


def flattened(draw: Draw, wrong: bool) -> HostileProgram:
    """B[i * n + j] = A[i, j], or with a row that is one too long."""
    m, n = draw.size(2, 6), draw.size(2, 6)
    array = draw.array(m, n)
    before = f"""%n = arith.constant {n + wrong} : index
        %r = arith.muli %vi, %n : index
        %k = arith.addi %r, %vj : index"""
    body = _moved(draw, f"%A {draw.type(m, n)}", "%vi, %vj", f"%B {draw.type(m * n)}", "%k", before)
    nest = draw.nest(_axes(("i", m), ("j", n)), body)
    return _program(draw, "flattened", [("A", array)], array.reshape(-1), nest, wrong * ABOVE)


TEMPLATES: tuple[Template, ...] = (
    shifted,
    strided,
    windows,
    clamped,
    divided,
    fused,
    guarded,
    chosen,
    taken,
    scattered,
    split,
    transposed,
    flattened,
)
"""Programs whose indices may leave their buffers."""
