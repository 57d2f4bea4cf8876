"""What the verifier refuses on buffers, message by message."""

from __future__ import annotations

import numpy as np
import pytest
import stepwell
from stepwell.core.ir.verification import VerificationError
from stepwell.core.text.parsing import parse


def refused(text: str) -> str:
    with pytest.raises(VerificationError) as caught:
        parse(text)
    return str(caught.value)


def block(body: str, *, axes: str = "%vi in 64 = %i", loops: str = "%i in 64", more: str = "") -> str:
    """A loop function from %A of 64 and %I of 64 to %S of 8, with one block."""
    return f"""
tensor_loop.func @f(%A: memref<64xf32>, %I: memref<64xi64>) outs(%S: memref<8xf32>, %T: memref<64xf32>) {{
  tensor_loop.for {loops} {{
    tensor_loop.block "b" spatial({axes}) {more} {{
      %c0 = arith.constant 0 : index
      %x = arith.constant 0.0 : f32
      {body}
    }}
  }}
}}"""


CHANGE = "; narrow the loops, add a condition around the access, or enlarge the buffer"
FREED = "hint: only a buffer of memref.alloc is freed, once, in the block that makes it"

INDICES = [
    (
        block("memref.store %x, %S[%vi] : memref<8xf32>"),
        "<text>:7:7: error: 'memref.store': index 0 is 0 to 63 here, but dimension 0 of %S has 8 elements",
        f"hint: expected 0 to 7{CHANGE}",
    ),
    (
        block("memref.store %x, %S[%vi] : memref<8xf32>", axes="%vi in 9 = %i", loops="%i in 9"),
        "error: 'memref.store': index 0 is 0 to 8 here, but dimension 0 of %S has 8 elements",
        f"hint: expected 0 to 7{CHANGE}",
    ),
    (
        block(
            "%k = arith.constant 1000000 : index\n %j = arith.addi %vi, %k : index\n"
            "memref.store %x, %T[%j] : memref<64xf32>"
        ),
        "index 0 is 1000000 to 1000063 here, but dimension 0 of %T has 64 elements",
        f"hint: expected 0 to 63{CHANGE}",
    ),
    (
        block("%k = arith.constant 64 : index\nmemref.store %x, %T[%k] : memref<64xf32>"),
        "index 0 is 64 here, but dimension 0 of %T has 64 elements",
        f"hint: expected 0 to 63{CHANGE}",
    ),
    (
        block(
            "%k = arith.constant 1 : index\n%j = arith.subi %vi, %k : index\nmemref.store %x, %T[%j] : memref<64xf32>"
        ),
        "index 0 is -1 to 62 here, but dimension 0 of %T has 64 elements",
        f"hint: expected 0 to 63{CHANGE}",
    ),
    (
        block(
            "memref.store %x, %T[%vi] : memref<64xf32>", axes="%vi in 70 = %i", loops="%i in 80", more="where(%i < 70)"
        ),
        "index 0 is 69 here, but dimension 0 of %T has 64 elements",
        f"hint: expected 0 to 63{CHANGE}",
    ),
    (
        block(
            "%t = tile.load %A[%vi] : memref<64xf32>, vector<1x16xf32>\n"
            "tile.store %t, %T[%c0] : vector<1x16xf32>, memref<64xf32>"
        ),
        "'tile.load': index 0 is 0 to 63 here, for 16 elements, but dimension 0 of %A has 64 elements",
        f"hint: expected 0 to 48{CHANGE}",
    ),
    (
        "func.func @f(%A: memref<8xf32>) {\n%c = arith.constant 8 : index\n%a = memref.load %A[%c] : memref<8xf32>\n"
        "func.return\n}",
        "<text>:3:1: error: 'memref.load': index 0 is 8 here, but dimension 0 of %A has 8 elements",
        f"hint: expected 0 to 7{CHANGE}",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.subview %A[1, 0] [4, 4] [1, 1] : "
        "memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 8>>\nfunc.return\n}",
        "'memref.subview': offset 0 is 1 here, for 4 elements, but dimension 0 of %A has 4 elements",
        f"hint: expected 0{CHANGE}",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.reinterpret_cast %A to offset: [0], sizes: [5, 8], "
        "strides: [8, 1] : memref<4x8xf32> to memref<5x8xf32, strided<[8, 1]>>\nfunc.return\n}",
        "'memref.reinterpret_cast': offset 0 is 0 here, for 40 elements, but %A has 32 elements",
        "hint: the buffer is too small",
    ),
    (
        "func.func @f(%A: memref<64xi8>) {\n%c = arith.constant 32 : index\n"
        "%s = memref.view %A[%c][] : memref<64xi8> to memref<9xf32>\nfunc.return\n}",
        "'memref.view': byte 0 is 32 here, for 36 bytes, but dimension 0 of %A has 64 bytes",
        f"hint: expected 0 to 28{CHANGE}",
    ),
    (
        "func.func @f() {\n%n = arith.constant -1 : index\n%s = memref.alloc(%n) : memref<?xf32>\nfunc.return\n}",
        "'memref.alloc': size 0 is -1 here, expected 0 to 1152921504606846975",
        "hint: a size is 0 or more, and all elements fit into memory",
    ),
]


@pytest.mark.parametrize(("text", "message", "hint"), INDICES)
def test_an_index_that_is_plainly_outside(text: str, message: str, hint: str) -> None:
    shown = refused(text)
    assert message in shown
    assert shown.endswith(hint)


WHOLE = [
    (
        "func.func @f(%A: memref<4xf32>) {\nmemref.dealloc %A : memref<4xf32>\nfunc.return\n}",
        f"error: 'memref.dealloc': %A is an argument, expected a buffer of memref.alloc|{FREED}",
    ),
    (
        "func.func @f() {\n%A = memref.alloca() : memref<4xf32>\nmemref.dealloc %A : memref<4xf32>\nfunc.return\n}",
        f"error: 'memref.dealloc': %A is made by 'memref.alloca', expected a buffer of memref.alloc|{FREED}",
    ),
    (
        "func.func @f(%c: i1) {\n%A = memref.alloc() : memref<4xf32>\nscf.if %c {\nmemref.dealloc "
        "%A : memref<4xf32>\n}\n"
        "func.return\n}",
        f"'memref.dealloc': %A is made in another block at line 2, and may be freed never or twice|{FREED}",
    ),
    (
        "func.func @f() {\n%c = arith.constant 0 : index\n%A = memref.alloc() : memref<4xf32>\n"
        "memref.dealloc %A : memref<4xf32>\n%a = memref.load %A[%c] : memref<4xf32>\nfunc.return\n}",
        "5:1: error: 'memref.load': uses %A, which is freed at line 4|hint: free it after its last use",
    ),
    (
        "func.func @f() {\n%A = memref.alloc() : memref<4xf32>\n"
        "memref.dealloc %A : memref<4xf32>\nmemref.dealloc %A : memref<4xf32>\nfunc.return\n}",
        "error: 'memref.dealloc': uses %A, which is freed at line|hint: free it after its last use",
    ),
    (
        "tensor_loop.func @f(%A: memref<4294967296x4294967296xf32>) outs() {\n}",
        "'tensor_loop.func': %A of type memref<4294967296x4294967296xf32> spans 73786976294838206464 bytes, "
        "expected fewer than 2**63|hint: places in a buffer are signed integers of 64 bits",
    ),
    (
        "func.func @f() {\n%A = memref.alloca() : memref<1000000xf32>\nfunc.return\n}",
        "'memref.alloca': %A takes 4000000 bytes of the stack, expected at most 1048576|"
        "hint: use memref.alloc for large buffers",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.subview %A[0, 0] [4, 4] [1, 1] : "
        "memref<4x8xf32> to memref<4x40xf32, strided<[8, 1]>>\nfunc.return\n}",
        "'memref.subview': the result has sizes 4, 40, expected 4, 4|",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.subview %A[0, 0] [4, 4] [1, 1] : "
        "memref<4x8xf32> to memref<4x4xf32, strided<[80, 1]>>\nfunc.return\n}",
        "'memref.subview': the result has strides 80, 1, expected 8, 1|",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.subview %A[0, 0] [4, 4] [1, 1] : "
        "memref<4x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 77>>\nfunc.return\n}",
        "'memref.subview': the result has offset 77, expected 0|",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n%s = memref.subview %A[0, 0] [4, 4] [1, 1] : "
        "memref<4x8xf32> to memref<4xf32, strided<[8]>>\nfunc.return\n}",
        "the result has sizes 4, expected 4, 4|",
    ),
    (
        'func.func @f(%A: memref<4x8xf32>) {\n%s = "memref.cast"(%A) : (memref<4x8xf32>) -> '
        "memref<4x8xf64>\nfunc.return\n}",
        "'memref.cast': the result has elements of f64, expected f32 as in the source|",
    ),
    (
        'func.func @f(%A: memref<4x8xf32>) {\n%s = "memref.cast"(%A) : (memref<4x8xf32>) -> '
        "memref<32xf32>\nfunc.return\n}",
        "'memref.cast': the result has 1 dimensions, expected 2 as in the source|",
    ),
    (
        "func.func @f(%A: memref<4x8xf32>) {\n"
        "%s = memref.collapse_shape %A [[0, 1]] : memref<4x8xf32> into memref<64xf32>\nfunc.return\n}",
        "'memref.collapse_shape': the result has 64 elements, expected 32 as in the source|",
    ),
    (
        "func.func @f(%A: memref<4x8xf32, strided<[16, 1]>>) {\n%s = memref.collapse_shape %A [[0, 1]] : "
        "memref<4x8xf32, strided<[16, 1]>> into memref<32xf32>\nfunc.return\n}",
        "the rows of the source do not follow each other, so that it cannot be reshaped|",
    ),
    (
        '"memref.global"() {sym_name = "g", type = memref<4xf32>, sym_visibility = "private", '
        "initial_value = dense<0.0> : tensor<4xf32>, constant} : () -> ()\n"
        "func.func @f() {\n%s = memref.get_global @g : memref<40xf32>\nfunc.return\n}",
        "'memref.get_global': the result has type memref<40xf32>, but @g holds memref<4xf32>|",
    ),
    (
        "func.func @f() {\n%s = memref.get_global @g : memref<40xf32>\nfunc.return\n}",
        "'memref.get_global': there is no memref.global @g|",
    ),
    (
        "func.func @f(%A: memref<4xf32>) {\n%0 = builtin.unrealized_conversion_cast %A : "
        "memref<4xf32> to memref<40xf32>\n"
        "func.return\n}",
        "nothing is known of the buffer that memref<40xf32> is made of|",
    ),
    (
        "func.func @f(%A: memref<4xf32>, %c: i1) {\n%0 = scf.if %c -> (memref<40xf32>) {\n"
        "scf.yield %A : memref<4xf32>\n"
        "} else {\nscf.yield %A : memref<4xf32>\n}\nfunc.return\n}",
        "'scf.if': the then region yields (memref<4xf32>), expected (memref<40xf32>)|",
    ),
]


@pytest.mark.parametrize(("text", "expected"), WHOLE)
def test_a_buffer_that_is_plainly_wrong(text: str, expected: str) -> None:
    message, _, hint = expected.partition("|")
    shown = refused(text)
    assert message in shown
    assert shown.endswith(hint) if hint else True


EFFECTS = [
    (
        block("memref.store %x, %A[%vi] : memref<64xf32>"),
        "7:7: error: 'memref.store': %A is an input of @f, which is not written|"
        "hint: write to an argument in outs(…), or mark a scratch argument with {stepwell.temporary}",
    ),
    (
        block("%t = memref.load %T[%vi] : memref<64xf32>\nmemref.store %t, %T[%vi] : memref<64xf32>"),
        "7:7: error: 'memref.load': %T is read before anything is written to it|"
        "hint: write it first, in an init of the block for a sum; {stepwell.in_place} marks an output with values",
    ),
    (
        block('"test.op"(%A) : (memref<64xf32>) -> ()', more="reads(%A[%vi + 64])"),
        "'tensor_loop.block': block \"b\" reads 64 to 127 of dimension 0 of %A, which has 64 elements|"
        "hint: a region is part of its buffer",
    ),
    *(
        (
            block("%a = memref.load %A[%vi] : memref<64xf32>", more=f"reads(%A[{region}])"),
            f"'tensor_loop.block': block \"b\" reads {found} of dimension 0 of %A, which has 64 elements|"
            "hint: a region is part of its buffer",
        )
        for region, found in (("%vi:2", "63 to 64"), ("%vi:100", "63 to 162"), ("%vi - 5:70", "-5 to 64"))
    ),
    (
        block(
            "memref.store %x, %T[%vi] : memref<64xf32>",
            more="writes(%T[%vi:4])",
            axes="%vi in 64 = %i * 7",
            loops="%i in 10",
        ),
        "'tensor_loop.block': block \"b\" writes 63 to 66 of dimension 0 of %T, which has 64 elements|"
        "hint: a region is part of its buffer",
    ),
    (
        block("memref.store %x, %T[%c0] : memref<64xf32>", loops="%i in 64 parallel"),
        "7:7: error: 'memref.store': the iterations of the parallel loop at line 3 are not proven "
        "to be free of races on %T|"
        "hint: two iterations may store to one element; make the loop serial, or mark it with {stepwell.unchecked}",
    ),
    (
        block(
            "%c1 = arith.constant 1 : index\n%j = arith.addi %vi, %c1 : index\nmemref.store %x, "
            "%T[%vi] : memref<64xf32>\n"
            "memref.store %x, %T[%j] : memref<64xf32>",
            axes="%vi in 63 = %i",
            loops="%i in 63 parallel",
        ),
        "note: another iteration stores to %T here, perhaps the same element|"
        "hint: make the loop serial, or mark it with {stepwell.unchecked}",
    ),
    (
        block(
            "%c1 = arith.constant 1 : index\n%j = arith.addi %vi, %c1 : index\nmemref.store %x, "
            "%T[%vi] : memref<64xf32>\n"
            "%t = memref.load %T[%j] : memref<64xf32>",
            axes="%vi in 63 = %i",
            loops="%i in 63 parallel",
        ),
        "note: another iteration loads from %T here, perhaps the same element|"
        "hint: make the loop serial, or mark it with {stepwell.unchecked}",
    ),
    (
        block("memref.store %x, %T[%vi] : memref<64xf32>", axes="%vi in 64 = %i * 2", loops="%i in 32").removesuffix(
            "}"
        )
        + """  tensor_loop.for %j in 64 {
    tensor_loop.block "later" spatial(%vj in 64 = %j) {
      %t = memref.load %T[%vj] : memref<64xf32>
    }
  }
}""",
        "12:7: error: 'memref.load': element [63] of %T is read, but nothing has written it|"
        "hint: write every element before it is read, or read fewer of them",
    ),
]


@pytest.mark.parametrize(("text", "expected"), EFFECTS)
def test_an_effect_that_is_plainly_wrong(text: str, expected: str) -> None:
    message, _, hint = expected.partition("|")
    shown = refused(text)
    assert message in shown
    assert shown.endswith(hint)


RIGHT = {
    "a region that ends with its buffer": block(
        "%a = memref.load %A[%vi] : memref<64xf32>",
        axes="%vi in 63 = %i",
        loops="%i in 63",
        more="reads(%A[%vi:2])",
    ),
    "a region that a predicate keeps inside": block(
        "%a = memref.load %A[%vi] : memref<64xf32>", more="where(%i < 63) reads(%A[%vi:2])"
    ),
    "a block that never runs": block(
        "%a = memref.load %A[%vi] : memref<64xf32>", axes="%vi in 64 = %i + 64", more="where(%i + 64 < 64)"
    ),
    "a loop that never runs": block("memref.store %x, %S[%vi] : memref<8xf32>", axes="%vi in 0 = %i", loops="%i in 0"),
    "a condition that leaves it out": block(
        "%c8 = arith.constant 8 : index\n%in = arith.cmpi ult, %vi, %c8 : index\n"
        "scf.if %in {\nmemref.store %x, %S[%vi] : memref<8xf32>\n}"
    ),
    "a condition by data": block(
        "%n = memref.load %I[%vi] : memref<64xi64>\n%z = arith.constant 0 : i64\n%in = arith.cmpi eq, %n, %z : i64\n"
        "scf.if %in {\nmemref.store %x, %S[%vi] : memref<8xf32>\n}"
    ),
    "an index by data": block(
        "%n = memref.load %I[%vi] : memref<64xi64>\n%j = arith.index_cast %n : i64 to index\n"
        "memref.store %x, %S[%j] : memref<8xf32>"
    ),
    "what is unchecked": block("memref.store %x, %S[%vi] : memref<8xf32>", more="attributes {stepwell.unchecked}"),
    "a race that is unchecked": block("memref.store %x, %T[%c0] : memref<64xf32>", loops="%i in 64 parallel").replace(
        "parallel {", "parallel attributes {stepwell.unchecked} {"
    ),
    "one iteration": block("memref.store %x, %T[%c0] : memref<64xf32>", axes="%vi in 1 = %i", loops="%i in 1 parallel"),
    "elements of its own": block(
        "%c2 = arith.constant 2 : index\n%c1 = arith.constant 1 : index\n%e = arith.muli %vi, %c2 : index\n"
        "%o = arith.addi %e, %c1 : index\nmemref.store %x, %T[%e] : memref<64xf32>\n"
        "memref.store %x, %T[%o] : memref<64xf32>",
        axes="%vi in 32 = %i",
        loops="%i in 32 parallel",
    ),
    "a temporary": block("memref.store %x, %A[%vi] : memref<64xf32>").replace(
        "%A: memref<64xf32>", "%A: memref<64xf32> {stepwell.temporary}"
    ),
    "in place": block("%t = memref.load %T[%vi] : memref<64xf32>\nmemref.store %t, %T[%vi] : memref<64xf32>").replace(
        "%T: memref<64xf32>", "%T: memref<64xf32> {stepwell.in_place}"
    ),
    "the first turn writes": block(
        "%first = arith.cmpi eq, %vi, %c0 : index\nscf.if %first {\nmemref.store %x, %T[%c0] : "
        "memref<64xf32>\n} else {\n"
        "%t = memref.load %T[%c0] : memref<64xf32>\n}"
    ),
    "a window in the padding": block(
        "%o = arith.constant -1 : index\n%j = arith.addi %vi, %o : index\n"
        "%n = arith.cmpi sge, %j, %c0 : index\nscf.if %n {\n%t = memref.load %A[%j] : memref<64xf32>\n}",
        axes="%vi in 1 = %i",
        loops="%i in 1",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_not_plainly_wrong_is_valid(name: str) -> None:
    parse(RIGHT[name])


SUM_BEFORE_COPY = """
tensor_loop.func @main(%A: memref<5x{n}xi32>) outs(%B: memref<5xi32>) {{
  %T = tensor_loop.alloc : memref<5xi32>
  tensor_loop.grid (%i, %k) in (5, {n}) {{
    tensor_loop.block "sum" spatial(%v in 5 = %i) reduce(%r in {n} = %k) {where} {{
      init {{
        %z = arith.constant 9 : i32
        memref.store %z, %T[%v] : memref<5xi32>
      }}
      %a = memref.load %A[%v, %r] : memref<5x{n}xi32>
      %b = memref.load %T[%v] : memref<5xi32>
      %t = arith.addi %b, %a : i32
      memref.store %t, %T[%v] : memref<5xi32>
    }}
  }}
  tensor_loop.grid (%i) in (5) {{
    tensor_loop.block "copy" spatial(%v in 5 = %i) {{
      %b = memref.load %T[%v] : memref<5xi32>
      memref.store %b, %B[%v] : memref<5xi32>
    }}
  }}
}}"""


@pytest.mark.parametrize(
    ("n", "where", "expected"),
    [
        (0, "", [9, 9, 9, 9, 9]),
        (2, "where(%k < 0)", [9, 9, 9, 9, 9]),
        (2, "where(%i + %k < 3)", [11, 11, 10, 9, 9]),
    ],
)
def test_an_init_writes_where_nothing_is_added(n: int, where: str, expected: list[int]) -> None:
    text = SUM_BEFORE_COPY.format(n=n, where=where)
    for level in (0, 3):
        (found,) = stepwell.compile(text, opt_level=level, cache=False)(np.ones((5, n), np.int32))
        assert found.tolist() == expected


def test_an_init_does_not_write_outside_of_the_predicate_on_spatial_axes() -> None:
    shown = refused(SUM_BEFORE_COPY.format(n=2, where="where(%i < 3)"))
    assert "element [4] of %T is read, but nothing has written it" in shown
