"""
Malformed input of every kind ends in one screen with a location, exit code 1, no traceback, and nothing written.

To add a case: a line in `PROGRAMS` (name, program, 1-based line of the error, part of the message), or in
`COMMAND_LINES` for errors that are not in a program.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from stepwell.testing.in_process import call_tool
from stepwell.testing.run_line import Command, Finished
from stepwell.tools.opt import main

FULL = os.environ.get("STEPWELL_FULL", "") == "1"
MUTATIONS_PER_SEED = 100

SCREEN_LINES = 24
SCREEN_COLUMNS = 120


def in_function(body: str, arguments: str = "%x: i32, %y: i64, %f: f32, %m: memref<4x8xf32>, %i: index") -> str:
    """A function around `body`, whose first line becomes line 2."""
    return f"func.func @main({arguments}) {{\n{body}\n  func.return\n}}\n"


def in_graph(body: str) -> str:
    return in_function(body, "%a: tensor<4x8xf32>, %v: tensor<3xf32>, %k: tensor<3xi32>, %s: f32")


PROGRAMS: list[tuple[str, str | bytes, int, str]] = [
    # Syntax
    ("empty_file", "", 1, "the program is empty"),
    ("only_comments", "// nothing here\n", 2, "the program is empty"),
    ("unclosed_function", "func.func @main() {\n", 1, "the text ends inside a region"),
    ("stray_brace", "func.func @main() {\n  func.return\n}\n}\n", 4, "expected an operation, found '}'"),
    ("prose", "this is not a program\n", 1, "op 'this' is unknown"),
    ("missing_symbol", "func.func () {\n}\n", 1, "expect"),
    ("missing_operand", in_function("  %a = arith.addi %x : i32"), 2, "expected"),
    ("missing_type", in_function("  %a = arith.addi %x, %x"), 2, "expected"),
    ("missing_comma", in_function("  %a = arith.addi %x %x : i32"), 2, "expected"),
    ("missing_equals", in_function("  %a arith.addi %x, %x : i32"), 2, "expected"),
    ("unterminated_string", in_function('  "test.op() : () -> ()'), 2, ""),
    ("unterminated_long_string", in_function('  "test.op"() {a = "' + "many words " * 500 + "} : () -> ()"), 2, ""),
    ("unterminated_attributes", in_function("  %a = arith.constant {a = 1 0 : i32"), 2, "expected"),
    ("stray_character", in_function("  ` arith.constant 0 : i32"), 2, ""),
    ("bad_type", in_function("  %a = arith.constant 0 : i3x2"), 2, ""),
    ("unknown_type", in_function("  %a = arith.constant 0 : !nothing.at_all"), 2, ""),
    ("unknown_attribute", in_function('  "test.op"() {a = #nothing.at_all} : () -> ()'), 2, ""),
    ("undefined_alias", in_function('  "test.op"() {a = #nothing} : () -> ()'), 2, "nothing"),
    ("twice_defined_alias", "#a = 1 : i32\n#a = 2 : i32\nfunc.func @main() {\n  func.return\n}\n", 2, "a"),
    ("missing_location", in_function("  %a = arith.constant 0 : i32 loc("), 3, ""),
    ("float_as_int", in_function("  %a = arith.constant 1.5 : i32"), 2, ""),
    ("duplicate_attribute", in_function('  "test.op"() {a = 1 : i32, a = 2 : i32} : () -> ()'), 2, "a"),
    ("unknown_flag_of_op", in_function("  %a = arith.cmpi equal, %x, %x : i32"), 2, ""),
    # Names of ops
    ("unknown_op", in_function("  %a = arith.adi %x, %x : i32"), 2, "op 'arith.adi' is unknown"),
    ("unknown_op_generic", in_function('  "arith.adi"(%x) : (i32) -> ()'), 2, "op 'arith.adi' is unknown"),
    ("unknown_dialect", in_function('  "nowhere.op"() : () -> ()'), 2, "there is no dialect 'nowhere'"),
    ("no_custom_format", in_function("  test.op %x : i32"), 2, "test.op"),
    # Values
    ("undefined_value", in_function("  %a = arith.addi %x, %nothing : i32"), 2,
     "value %nothing is used but never defined"),
    ("defined_twice", in_function("  %a = arith.constant 0 : i32\n  %a = arith.constant 1 : i32"), 3,
     "already defined"),
    ("argument_twice", "func.func @main(%x: i32, %x: i32) {\n  func.return\n}\n", 1, "already defined"),
    ("hides_argument", in_function("  %x = arith.constant 0 : i32"), 2, "already defined"),
    (
        "use_before_definition",
        in_function("  %a = arith.addi %b, %x : i32\n  %b = arith.addi %x, %x : i32"),
        2,
        "operand 0 (%b) is used before its definition at line 3",
    ),
    ("own_result", in_function("  %a = arith.addi %a, %x : i32"), 2, "is a result of the op itself"),
    (
        "value_of_another_function",
        "func.func @f() {\n  %a = arith.constant 0 : i32\n  func.return\n}\n"
        "func.func @g() {\n  %b = arith.addi %a, %a : i32\n  func.return\n}\n",
        6,
        "%a",
    ),
    (
        "value_defined_in_a_later_function",
        "func.func @g() {\n  %b = arith.addi %a, %a : i32\n  func.return\n}\n"
        "func.func @f() {\n  %a = arith.constant 0 : i32\n  func.return\n}\n",
        2,
        "in a region that this op is not in",
    ),
    ("result_number", in_function("  %a:2 = arith.addi %x, %x : i32"), 2, "result"),
    ("result_index", in_function("  %a = arith.addi %x#3, %x : i32"), 2, "index"),
    # Types
    ("operand_type", in_function("  %a = arith.addi %x, %y : i32"), 2, "i64"),
    ("float_in_integer_op", in_function("  %a = arith.addi %f, %f : f32"), 2, "f32"),
    ("integer_in_float_op", in_function("  %a = arith.addf %x, %x : i32"), 2, "i32"),
    ("constant_type", in_function('  %a = "arith.constant"() <{value = 1 : i32}> : () -> i64'), 2, "i64"),
    ("operand_count", in_function('  %a = "arith.addi"(%x) : (i32) -> i32'), 2, "operand"),
    ("result_count", in_function('  %a = "arith.addi"(%x, %x) : (i32, i32) -> ()'), 2, "result"),
    ("signature_count", in_function('  "test.op"(%x, %x) : (i32) -> ()'), 2, "expected 1 operand types but had 2"),
    ("return_type", "func.func @main(%x: i32) -> i64 {\n  func.return %x : i32\n}\n", 2, "expected [i64], got [i32]"),
    ("return_count", "func.func @main(%x: i32) -> (i32, i32) {\n  func.return %x : i32\n}\n", 2, "[i32]"),
    ("missing_property", in_function('  %a = "arith.constant"() : () -> i32'), 2, "value"),
    # Shapes and constants
    ("negative_dimension", in_function("  %a = memref.alloc() : memref<-4xf32>"), 2, ""),
    ("fractional_dimension", in_function("  %a = memref.alloc() : memref<1.5xf32>"), 2, ""),
    ("dimension_of_5000_digits", in_function(f"  %a = memref.alloc() : memref<{'9' * 5000}xf32>"), 2, "digits"),
    ("integer_of_5000_digits", in_function(f"  %a = arith.constant {'9' * 5000} : i32"), 2, "digits"),
    ("integer_too_wide", in_function("  %a = arith.constant 300 : i8"), 2, "300"),
    ("huge_splat", in_function("  %a = arith.constant dense<0> : tensor<99999999999x9999999xi32>"), 2, "at most"),
    ("dense_shape", in_function("  %a = arith.constant dense<[1, 2, 3]> : tensor<2xi32>"), 2, "shape"),
    ("dense_ragged", in_function("  %a = arith.constant dense<[[1, 2], [3]]> : tensor<2x2xi32>"), 2, ""),
    ("dense_type", in_function("  %a = arith.constant dense<[1.5]> : tensor<1xi32>"), 2, ""),
    ("dense_without_type", in_function("  %a = arith.constant dense<0>"), 2, "dense"),
    ("dense_dynamic", in_function("  %a = arith.constant dense<0> : tensor<?xi32>"), 2, "static shape"),
    ("dense_bad_hex", in_function('  %a = arith.constant dense<"0xZZ"> : tensor<1xi8>'), 2, "Hex"),
    ("dense_short_hex", in_function('  %a = arith.constant dense<"0x0102"> : tensor<4xi8>'), 2, "Shape mismatch"),
    ("memref_rank", in_function("  %a = memref.load %m[%i] : memref<4x8xf32>"), 2, ""),
    ("memref_type", in_function("  %a = memref.load %m[%i, %i] : memref<4x9xf32>"), 2, "4x8"),
    ("store_type", in_function("  memref.store %x, %m[%i, %i] : memref<4x8xf32>"), 2, ""),
    # Symbols
    ("unknown_callee", in_function("  func.call @nowhere() : () -> ()"), 2, "nowhere"),
    ("callee_type", in_function("  func.call @main() : () -> ()"), 2, "main"),
    (
        "symbol_twice",
        "func.func @f() {\n  func.return\n}\nfunc.func @f() {\n  func.return\n}\n",
        4,
        "symbol @f is defined twice, first at line 1",
    ),
    ("symbol_without_name", "func.func @\n", 1, ""),
    # Regions and blocks
    ("no_terminator", "func.func @main(%x: i32) {\n  %a = arith.addi %x, %x : i32\n}\n", 2, "not a terminator"),
    ("terminator_in_the_middle", in_function('  "func.return"() : () -> ()\n  %a = arith.addi %x, %x : i32'), 2,
     "func.return"),
    ("unknown_block", in_function("  cf.br ^nowhere"), 5, "nowhere"),
    ("block_twice", in_function("  cf.br ^a\n^a:\n  cf.br ^b\n^a:\n  cf.br ^b\n^b:"), 5, "re-declaration"),
    ("block_arguments", in_function("  cf.br ^a(%x : i32)\n^a:"), 2, "passes 1 values to successor 0, which takes 0"),
    ("empty_block", "func.func @main(%c: i1) {\n  cf.cond_br %c, ^a, ^b\n^a:\n  func.return\n^b:\n}\n", 1,
     "a block of the op is empty"),
    ("predicate", in_function('  %a = "arith.cmpi"(%x, %x) <{predicate = 22 : i64}> : (i32, i32) -> i1'), 2,
     "predicate is 22, expected 0 to 9"),
    ("block_argument_type", in_function("  cf.br ^a(%x : i32)\n^a(%z: i64):"), 2, "passes i32 to argument 0"),
    (
        "value_of_a_block_that_does_not_dominate",
        "func.func @main(%c: i1, %x: i32) -> i32 {\n  cf.cond_br %c, ^a, ^b\n^a:\n  %y = arith.addi %x, %x : i32\n"
        "  cf.br ^b\n^b:\n  func.return %y : i32\n}\n",
        7,
        "does not dominate",
    ),
    ("yield_type",
     in_function("  %a = scf.for %k = %i to %i step %i iter_args(%s = %x) -> (i32) {\n    scf.yield %f : f32\n  }"), 0,
     "f32"),
    ("yield_outside", in_function("  scf.yield %x : i32"), 2, "scf.yield"),
    ("return_in_a_loop", in_function("  scf.for %k = %i to %i step %i {\n    func.return\n  }"), 3, "func.return"),
    ("loop_bound_type", in_function("  scf.for %k = %f to %f step %f {\n  }"), 2, ""),
    ("deep_nesting", in_function("  scf.execute_region {\n" * 4000), 0, "nested too deeply"),
    ("deep_attribute", in_function(f'  "test.op"() {{a = {"[" * 3000}}} : () -> ()'), 2, "nested too deeply"),
    ("aliases_that_double",  # AUDIT G4, as the next two
     "!t0 = tuple<f32>\n" + "".join(f"!t{n} = tuple<!t{n - 1}, !t{n - 1}>\n" for n in range(1, 31)), 17,
     "alias '!t16' stands for 131071 aliases, expected at most 65536"),
    ("rank", f"func.func private @main(memref<{'1x' * 100_000}f32>)\n", 1, "a type has at most 64 dimensions"),
    ("rank_of_a_graph_op", in_graph(f"  %r = graph.relu %a : (tensor<{'1x' * 65}f32>) -> tensor<f32>"), 2,
     "a type has at most 64 dimensions"),
    # Tensors
    ("matmul_extents", in_graph("  %r = graph.matmul %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>"),
     2, "lhs has K = 8 columns but rhs has K = 4 rows"),
    ("no_broadcast", in_graph("  %r = graph.add %a, %v : (tensor<4x8xf32>, tensor<3xf32>) -> tensor<4x8xf32>"), 2,
     "do not broadcast"),
    ("wrong_result_shape", in_graph("  %r = graph.relu %a : (tensor<4x8xf32>) -> tensor<4x9xf32>"), 2, "4x9"),
    ("wrong_result_type", in_graph("  %r = graph.relu %a : (tensor<4x8xf32>) -> tensor<4x8xf64>"), 2, "f64"),
    ("mixed_element_types", in_graph("  %r = graph.add %v, %k : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>"), 2,
     "i32"),
    ("axis_out_of_range", in_graph("  %r = graph.sum %a, axis = [2] : (tensor<4x8xf32>) -> tensor<4xf32>"), 2,
     "axis 2 is out of range for rank 2"),
    ("axis_twice", in_graph("  %r = graph.sum %a, axis = [1, -1] : (tensor<4x8xf32>) -> tensor<4xf32>"), 2, "axis"),
    ("permutation", in_graph("  %r = graph.permute_dims %a, axes = [0, 0] : (tensor<4x8xf32>) -> tensor<4x4xf32>"), 2,
     "axes"),
    ("reshape_elements", in_graph("  %r = graph.reshape %a, shape = [5, 5] : (tensor<4x8xf32>) -> tensor<5x5xf32>"), 2,
     "32"),
    ("unknown_graph_op", in_graph("  %r = graph.mutmal %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>"),
     2, "did you mean 'graph.matmul'?"),
    ("unknown_property", in_graph("  %r = graph.sum %a, axes = [1] : (tensor<4x8xf32>) -> tensor<4xf32>"), 2, "ax"),
    ("operand_is_no_tensor", in_graph("  %r = graph.relu %s : (f32) -> f32"), 2, "f32"),
    ("huge_result", in_graph(f"  %r = graph.full 0.0 : tensor<{'9' * 30}xf32>\n  func.call @none(%r) : (f32) -> ()"), 2,
     "an extent is at most 9223372036854775807"),
    ("unknown_loop_kind", "tensor_loop.for %i in 4 vectorised {\n}\n", 1, "unknown loop kind 'vectorised'"),
    ("negative_extent", "tensor_loop.grid (%i) in (-4) {\n}\n", 1, "extent must be 0 or more, found -4"),
    # Bytes
    ("not_utf8", b"func.func @main() {\n  // \xff\xfe\n  func.return\n}\n", 2, "byte 0xff is not valid UTF-8"),
    ("cut_utf8", "func.func @main() {\n  // é".encode()[:-1], 2, "is not valid UTF-8"),
    ("nul_byte", b"func.func @main() {\n  \x00\n}\n", 2, ""),
    ("windows_lines", "func.func @main() {\r\n  arith.nothing\r\n}\r\n", 2, "op 'arith.nothing' is unknown"),
    ("one_long_line", "func.func @main() { " + '"test.op"() : () -> () ' * 2000 + "!", 1, ""),
]  # fmt: skip

VALID = "func.func @main() {\n  func.return\n}\n"

COMMAND_LINES: list[tuple[str, Sequence[str], str]] = [
    ("unknown_pass", ["-p", "canonicalise"], "did you mean 'canonicalize'?"),
    ("unknown_option", ["-p", 'apply-pdl{pdl-fil="x"}'], "did you mean 'pdl-file'?"),
    ("option_type", ["-p", "apply-pdl{pdl-file=3}"], "expected string"),
    ("option_value", ["-p", "apply-pdl{pdl-file=}"], "malformed pipeline"),
    ("option_of_a_pass_without", ["-p", "cse{x=1}"], "it has no options"),
    ("flag_type", ["-p", "scf-for-loop-unroll{x}"], "pass"),
    ("unclosed_options", ["-p", "canonicalize{"], "malformed pipeline"),
    ("nested_pipeline", ["-p", "builtin.module(canonicalize)"], "malformed pipeline"),
    ("two_passes_without_comma", ["-p", "canonicalize cse"], "malformed pipeline"),
    ("unknown_flag", ["--print-ir-aftr"], "did you mean '--print-ir-after'?"),
    ("unknown_target", ["-t", "mlr"], "did you mean 'mlir'?"),
    ("malformed_target", ["-t", "mlir{"], "malformed"),
    ("flag_value", ["--verify-each=maybe"], "expected true or false"),
    ("pass_to_print", ["--print-ir-after=canonicalise"], "did you mean 'canonicalize'?"),
]


def run_opt(*arguments: str, data: bytes = b"") -> Finished:
    return call_tool(main, Command(["stepwell-opt", *arguments]), data)


def assert_one_screen(finished: Finished) -> str:
    text = finished.stderr.decode()
    assert finished.exit_code == 1, text
    assert "Traceback" not in text and "internal error" not in text, text
    rows = sum(1 + len(line) // SCREEN_COLUMNS for line in text.rstrip("\n").split("\n"))
    assert 1 <= rows <= SCREEN_LINES, text
    return text


@pytest.mark.parametrize("name, program, line, message", PROGRAMS, ids=[case[0] for case in PROGRAMS])
def test_malformed_program(tmp_path: Path, name: str, program: str | bytes, line: int, message: str):
    path, output = tmp_path / f"{name}.mlir", tmp_path / "output.mlir"
    path.write_bytes(program.encode() if isinstance(program, str) else program)
    finished = run_opt(str(path), "-p", "canonicalize", "-o", str(output))
    text = assert_one_screen(finished)
    assert finished.stdout == b""
    assert not output.exists() and len(list(tmp_path.iterdir())) == 1
    place = text.split(" error: ")[0]
    assert place.startswith(str(path)), text
    if line:
        assert place.split(":")[-3] == str(line), text
    assert message.lower() in text.lower(), text


@pytest.mark.parametrize("name, arguments, message", COMMAND_LINES, ids=[case[0] for case in COMMAND_LINES])
def test_malformed_command_line(tmp_path: Path, name: str, arguments: Sequence[str], message: str):
    path, output = tmp_path / "valid.mlir", tmp_path / "output.mlir"
    path.write_text(VALID)
    finished = run_opt(str(path), *arguments, "-o", str(output))
    assert message in assert_one_screen(finished)
    assert finished.stdout == b"" and not output.exists()


@pytest.mark.parametrize("kind", ["missing", "directory", "unreadable", "in_a_file", "nul"])
def test_unusable_input_file(tmp_path: Path, kind: str):
    paths = {
        "missing": tmp_path / "missing.mlir",
        "directory": tmp_path,
        "unreadable": tmp_path / "unreadable.mlir",
        "in_a_file": tmp_path / "valid.mlir" / "inside.mlir",
        "nul": "a\0b.mlir",
    }
    (tmp_path / "valid.mlir").write_text(VALID)
    (tmp_path / "unreadable.mlir").write_text(VALID)
    (tmp_path / "unreadable.mlir").chmod(0)
    if kind == "unreadable" and os.access(paths[kind], os.R_OK):
        # Root may read everything; a file that disappears between listing and reading is as unreadable.
        (tmp_path / "unreadable.mlir").unlink()
    text = assert_one_screen(run_opt(str(paths[kind]), "-o", str(tmp_path / "output.mlir")))
    assert text.startswith("error: cannot read")
    assert not (tmp_path / "output.mlir").exists()


def test_unusable_output_file(tmp_path: Path):
    (tmp_path / "valid.mlir").write_text(VALID)
    for output in (tmp_path, tmp_path / "nowhere" / "output.mlir"):
        assert_one_screen(run_opt(str(tmp_path / "valid.mlir"), "-o", str(output)))
    assert [path.name for path in tmp_path.iterdir()] == ["valid.mlir"]


def test_a_failed_run_keeps_the_old_output(tmp_path: Path):
    path, output = tmp_path / "bad.mlir", tmp_path / "output.mlir"
    path.write_text(VALID + "// -----\n" + in_function("  %a = arith.adi %x, %x : i32"))
    output.write_text("precious")
    assert_one_screen(run_opt(str(path), "--split-input-file", "-o", str(output)))
    assert output.read_text() == "precious"


def test_standard_input_has_a_name():
    text = assert_one_screen(run_opt("-", data=b"\n  nothing.at_all\n"))
    assert text.startswith("<stdin>:2:3: error: op 'nothing.at_all' is unknown")


def test_debug_shows_the_traceback(tmp_path: Path):
    path = tmp_path / "bad.mlir"
    path.write_text(in_function("  %a = arith.adi %x, %x : i32"))
    finished = run_opt(str(path), "--debug")
    assert finished.exit_code == 1
    assert b"Traceback" in finished.stderr and b"op 'arith.adi' is unknown" in finished.stderr


TOKENS = re.compile(r"\\s+|[\\w.$%@#!^-]+|.", re.DOTALL)
INTRUDERS = (
    '"',
    "{",
    "}",
    "(",
    "<",
    ">",
    "%",
    "-1",
    "0x",
    "1.e",
    "dense<",
    "i0",
    "?",
    "\\0",
    "é",
    "//",
    "9" * 25,
)
ORIGINAL = """func.func @main(%x: i32, %m: memref<4x8xf32>, %n: index, %a: tensor<4x8xf32>)
    -> i32 attributes {a = "b"} {
  %c = arith.constant dense<[[1.0, 2.5], [3.0, -4.0]]> : tensor<2x2xf32>
  %i = arith.constant 1 : index
  %r = scf.for %k = %i to %n step %i iter_args(%s = %x) -> (i32) {
    %v = memref.load %m[%k, %i] : memref<4x8xf32>
    %t = arith.addi %s, %x {tag = [1 : i32, "x", @main]} : i32
    scf.yield %t : i32
  }
  %g = graph.sum %a, axis = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  %p = "arith.cmpi"(%r, %x) <{predicate = 2 : i64}> : (i32, i32) -> i1
  cf.cond_br %p, ^a(%r : i32), ^b
^a(%q: i32):
  func.return %q : i32
^b:
  func.return %x : i32
}
"""


def mutated(source: random.Random) -> str:
    """`ORIGINAL` with a few tokens removed, doubled, replaced, swapped or put in."""
    tokens = TOKENS.findall(ORIGINAL)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        here, there = source.randrange(len(tokens)), source.randrange(len(tokens))
        match source.randrange(5):
            case 0:
                del tokens[here]
            case 1:
                tokens.insert(here, tokens[there])
            case 2:
                tokens[here] = tokens[there]
            case 3:
                tokens[here], tokens[there] = tokens[there], tokens[here]
            case _:
                tokens.insert(here, source.choice(INTRUDERS))
    return "".join(tokens)


@pytest.mark.ci_cases(1)
@pytest.mark.parametrize("seed", range(20_000 // MUTATIONS_PER_SEED if FULL else 4))
def test_mutated_programs(seed: int):
    """Whatever becomes of a valid program when tokens are changed: it is valid still, or refused in one screen."""
    source = random.Random(seed)
    refused = 0
    for _ in range(MUTATIONS_PER_SEED):
        program = mutated(source)
        finished = run_opt("-", "-p", "canonicalize,cse", data=program.encode())
        if finished.exit_code != 0:
            assert assert_one_screen(finished).startswith("<stdin>:"), program
            refused += 1
    assert refused > MUTATIONS_PER_SEED // 2


def test_the_original_is_valid():
    assert run_opt("-", data=ORIGINAL.encode()).exit_code == 0


def test_there_are_sixty_cases():
    assert len(PROGRAMS) + len(COMMAND_LINES) >= 60
    assert len({case[0] for case in PROGRAMS}) == len(PROGRAMS)
