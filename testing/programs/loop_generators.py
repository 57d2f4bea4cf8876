"""Random loop functions: copies that move elements, with things in the way, and graph programs that were lowered."""

from __future__ import annotations

from random import Random

SIZES = (3, 15, 16, 17, 32, 48, 64, 128)
"""Sizes of copies, around those of tiles."""

TILES = (16, 48, 64)
"""Sizes of which tiles leave nothing over."""

OPS = {"f32": "arith.addf", "f64": "arith.mulf", "i8": "arith.subi"}
"""An op on two numbers of each type that has one."""


def random_copy(seed: int, sizes: tuple[int, ...] = SIZES) -> str:
    """
    A grid that copies or maps: random order of axes, offsets, sizes around those of tiles, and things in the way. A map
    takes a second array in the order of either side, or a row of numbers, or one number.
    """
    choose = Random(seed)
    rank = choose.choice((2, 2, 3, 4))
    extents = [choose.choice(sizes) for _ in range(rank)]
    order = choose.sample(range(rank), rank)
    names = [f"%v{number}" for number in range(rank)]
    element = choose.choice(("f32", "f32", "f32", "f64", "i8", "i1", "i4"))
    source = "x".join(str(extents[number]) for number in order)
    target = "x".join(map(str, extents))
    from_, to = [names[number] for number in order], list(names)
    before, where, extra = "", "", ""
    pick = choose.random()
    if pick < 0.08:
        before, from_[0] = "%c1 = arith.constant 0 : index\n", "%c1"
    elif pick < 0.16:
        where = f" where(%i0 < {extents[0] - 1})"
    elif pick < 0.22:
        extra = f"%w = memref.load %x[{', '.join(from_)}] : memref<{source}x{element}>\n"
    elif pick < 0.28:
        from_[-1] = from_[0]
    elif pick < 0.34:
        where = " attributes {my.tag = 1 : i64}"
    inputs, value = f"%x: memref<{source}x{element}>", "%v"
    if choose.random() < 0.4 and element in OPS:
        other = choose.choice((order, list(range(rank)), order[-1:], [rank - 1], [choose.randrange(rank)], []))
        second = f"memref<{''.join(f'{extents[number]}x' for number in other)}{element}>"
        inputs += f", %y: {second}"
        extra += f"%u = memref.load %y[{', '.join(names[number] for number in other)}] : {second}\n"
        value = "%m"
    loops = ", ".join(f"%i{number}" for number in range(rank))
    axes = ", ".join(f"{names[n]} in {extents[n]} = %i{n}" for n in range(rank))
    body = f"{before}{extra}%v = memref.load %x[{', '.join(from_)}] : memref<{source}x{element}>\n"
    if value == "%m":
        body += f"%m = {OPS[element]} %v, %u : {element}\n"
    body += f"memref.store {value}, %o[{', '.join(to)}] : memref<{target}x{element}>"
    return f"""tensor_loop.func private @f({inputs}) outs(%o: memref<{target}x{element}>) {{
      tensor_loop.grid ({loops}) in ({", ".join(map(str, extents))}) {{
        tensor_loop.block "copy" spatial({axes}){where} {{ {body} }} }} }}"""


__all__ = ["SIZES", "TILES", "random_copy"]
