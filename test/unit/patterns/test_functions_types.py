"""Rules of two functions with types and attributes left open, and on dynamic shapes."""

from __future__ import annotations

import pytest
from function_rules import (
    ANY_AXIS,
    CHAIN,
    M,
    V,
    b,
    main,
    names,
    of_two,
    product,
    run,
    softmax,
    u,
)
from stepwell.core.messages.diagnostics import OperationError

# Wildcards of types and attributes


def any_type(attributes: str, parameters: str = f"%a: {V}", name: str = "r") -> str:
    pattern = u("%s", "sqrt", "%a") + u("%r", "negative", "%s")
    return of_two(name, parameters, pattern, u("%s", "negative", "%a") + u("%r", "sqrt", "%s"), attributes=attributes)


@pytest.mark.parametrize(
    ("where", "types"),
    [
        ("", [V]),
        ("pattern.any_dtype", [V, "tensor<16xf64>"]),
        ("pattern.any_shape", [V, "tensor<16x2xf32>", "tensor<?xf32>", "tensor<f32>"]),
        (
            "pattern.any_type",
            [V, "tensor<16xf64>", "tensor<16x2xf32>", "tensor<?xf32>", "tensor<f32>", "tensor<2x?xf64>"],
        ),
    ],
)
@pytest.mark.parametrize("of_parameter", [False, True])
def test_wildcard_types(where: str, types: list[str], of_parameter: bool) -> None:
    parameters = f"%a: {V}" + (f" {{{where}}}" if of_parameter and where else "")
    text = any_type("" if of_parameter else where, parameters)
    if of_parameter:
        text = text.replace(f"@replacement(%a: {V} {{{where}}})", f"@replacement(%a: {V})")
    for type_ in (V, "tensor<16xf64>", "tensor<16x2xf32>", "tensor<?xf32>", "tensor<f32>", "tensor<2x?xf64>"):
        program = main(
            u("%s", "sqrt", "%x", type_) + u("%r", "negative", "%s", type_),
            types=type_,
            parameters=f"%x: {type_}",
        )
        expected = ["negative", "sqrt"] if type_ in types else ["sqrt", "negative"]
        assert names(run(text, program)) == expected, type_


def test_a_constant_of_any_element_type() -> None:
    two = f"%two = graph.full 2.0 : tensor<f32>\n{b('%r', 'multiply', '%a', '%two', V, 'tensor<f32>', V)}"
    double = of_two("double", f"%a: {V}", b("%r", "add", "%a", "%a"), two, attributes="pattern.any_type")
    for type_, dtype in (("tensor<3x?xf64>", "f64"), ("tensor<2xi32>", "i32"), (V, "f32")):
        module = run(double, main(b("%r", "add", "%x", "%x", type_), types=type_, parameters=f"%x: {type_}"))
        assert names(module) == ["full", "multiply"]
        (full,) = [op for op in module.walk() if op.name == "graph.full"]
        assert str(full.results[0].type) == f"tensor<{dtype}>"
    with pytest.raises(OperationError, match="rule 'double' makes a constant 2.5, which i32 does not have"):
        run(
            double.replace("2.0", "2.5"),
            main(
                b("%r", "add", "%x", "%x", "tensor<2xi32>"),
                types="tensor<2xi32>",
                parameters="%x: tensor<2xi32>",
            ),
        )


def test_wildcard_attributes() -> None:
    rules = of_two(
        "r",
        f"%a: {M}",
        softmax("%s", "%a", ANY_AXIS) + softmax("%r", "%s", ANY_AXIS),
        softmax("%r", "%a", ANY_AXIS),
        types=M,
    )
    for first, second, count in ((0, 0, 1), (1, 1, 1), (0, 1, 2), (-2, 1, 2), (-2, 0, 1)):
        body = softmax("%s", "%x", f", axis = {first}") + softmax("%r", "%s", f", axis = {second}")
        module = run(rules, main(body, types=M, parameters=f"%x: {M}"))
        assert names(module) == ["softmax"] * count
        assert any(f"axis = {axis}" in str(module) for axis in (first, second))


# Dynamic shapes


D = "tensor<?x?xf32>"


def matmul(result: str, lhs: str, rhs: str, type_: str) -> str:
    return f"{result} = graph.matmul {lhs}, {rhs} : ({type_}, {type_}) -> {type_}\n"


DYNAMIC = of_two(
    "dynamic",
    f"%a: {D}, %b: {D}",
    matmul("%m", "%a", "%b", D) + u("%r", "relu", "%m", D),
    matmul("%m", "%a", "%b", D) + u("%r", "exp", "%m", D),
    types=D,
)


@pytest.mark.parametrize("type_", [D, M, "tensor<?x4xf32>"])
def test_dynamic_pattern(type_: str) -> None:
    body = matmul("%m", "%x", "%y", type_) + u("%r", "relu", "%m", type_)
    module = run(DYNAMIC, main(body, types=type_, parameters=f"%x: {type_}, %y: {type_}"))
    assert names(module) == ["matmul", "exp"]


def test_no_dynamic_program_for_a_static_pattern() -> None:
    body = product("%p", "%x", "%y").replace(M, D) + b("%r", "add", "%p", "%z", D)
    module = run(CHAIN, main(body, types=D, parameters=f"%x: {D}, %y: {D}, %z: {D}"))
    assert names(module) == ["matmul", "add"]


def test_dynamic_results_that_share_a_parameter() -> None:
    n = "tensor<?x4xf32>"
    products = f"%p = graph.matmul %a, %s : ({n}, {M}) -> {n}\n%q = graph.matmul %b, %s : ({n}, {M}) -> {n}\n"
    before, after = (products + u("%c", op, "%p", n) + u("%d", op, "%q", n) for op in ("exp", "tanh"))
    rules = of_two("dynamic", f"%a: {n}, %b: {n}, %s: {M}", before, after, "%c, %d", f"{n}, {n}")
    body = before.replace("%a", "%x").replace("%b", "%y").replace("%s", "%z")
    module = run(rules, main(body, "%c, %d", f"{n}, {n}", f"%x: {n}, %y: {n}, %z: {M}"))
    assert sorted(names(module)) == ["matmul", "matmul", "tanh", "tanh"]
