"""Names of sizes and what is computed from them: the entries of `stepwell.dims`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stepwell.core.ir.sizes import (
    NamedSizes,
    SizeError,
    computed,
    expression_of,
    is_size_name,
    names_in,
)
from stepwell.core.text.parsing import parse
from xdsl.utils.exceptions import VerifyException


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("= n + 1", 8),
        ("= (n - 1) * m", 18),
        ("= n // 2", 3),
        ("= n % 4", 3),
        ("= max(n, m, 9)", 9),
        ("= min(n, m) + -1", 2),
        ("= 5", 5),
    ],
)
def test_expressions_have_the_values_that_python_gives_them(entry: str, expected: int) -> None:
    assert computed(entry, {"n": 7, "m": 3}) == expected


@given(st.integers(0, 50), st.integers(1, 50))
def test_division_is_that_of_python(n: int, m: int) -> None:
    sizes = {"n": n, "m": m}
    assert computed("= (n - m) // m", sizes) == (n - m) // m
    assert computed("= (n - m) % m", sizes) == (n - m) % m


def test_an_unknown_name_makes_the_size_unknown() -> None:
    assert computed("= n + k", {"n": 7}) is None
    assert names_in("= n + max(k, n)") == ("n", "k")


@pytest.mark.parametrize(
    "text",
    ["n +", "n / 2", "n ** 9", "f(n)", "min(n)", "max", "True", "1.5", "n.real", "[n]", "n if n else 1", "", "n\0"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(SizeError, match=r"is no size, expected names, integers, \+ - \* // % and min\(…\), max\(…\)"):
        expression_of(f"= {text}")


def test_long_expressions_are_refused_before_they_are_read() -> None:
    with pytest.raises(SizeError, match="a size has 20001 characters, expected at most 1000"):
        expression_of("= " + "(" * 10_000 + "n" + ")" * 10_000)


def test_a_division_by_zero_names_the_size() -> None:
    with pytest.raises(SizeError, match=r"the size n // m divides by zero, where n is 4 and m is 0"):
        computed("= n // m", {"n": 4, "m": 0})


def test_names_of_expressions_are_words() -> None:
    assert is_size_name("n_1")
    assert not any(map(is_size_name, ("in", "min", "a b", "2n", "größe", "")))


def test_sizes_come_in_one_by_one() -> None:
    sizes = NamedSizes()
    sizes.bind(("n", "= n + 1", ""), (4, 5, 6), lambda _: " in 'A'")
    assert sizes.sizes == {"n": 4}
    assert (sizes.size("n"), sizes.size("= n * 2"), sizes.size("k")) == (4, 8, None)
    sizes.check(("n", "= n + 1", ""), (4, 5, 6), lambda _: " in 'A'")
    with pytest.raises(SizeError, match="dimension 'n' is 4 in 'A' and 3 in 'B'"):
        sizes.bind(("n",), (3,), lambda _: " in 'B'")
    with pytest.raises(SizeError, match=r"the size in 'C' is 6, expected 5: it is n \+ 1, where n is 4"):
        sizes.check(("= n + 1",), (6,), lambda _: " in 'C'")
    with pytest.raises(SizeError, match="the size n - 5 is -1, where n is 4"):
        sizes.size("= n - 5")


# Verification


def refusal(text: str) -> str:
    with pytest.raises(VerifyException) as error:
        parse(text)
    return str(error.value)


FIRST, SECOND = "memref<{0}xf32> {{stepwell.dims = [{1}]}}", "memref<{2}xf32> {{stepwell.dims = [{3}]}}"
LOOPS = f"tensor_loop.func @k(%A: {FIRST}) outs(%B: {SECOND}) {{{{}}}}"
TENSORS = f"func.func @f(%A: {FIRST}, %B: {SECOND}) {{{{ func.return }}}}".replace("memref", "tensor")


@pytest.mark.parametrize("text", [LOOPS, TENSORS])
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((3, '"n"', 5, '"n"'), "dimension 'n' is 3 (dimension 0 of argument 0) and 5 (dimension 0 of argument 1)"),
        (
            (3, '"n"', 5, '"= n + 1"'),
            "the size (dimension 0 of argument 1) is 5, expected 4: it is n + 1, where n is 3",
        ),
        (("?", '"n"', "?", '"= m + 1"'), "dimension 0 of argument 1 is '= m + 1', but no dimension is named 'm'"),
        (("?", '"n", "m"', "?", '"n"'), "'stepwell.dims' of argument 0 has 2 entries, expected 1, one per dimension"),
        (("?", '"n"', "?", '"= n +"'), "'stepwell.dims' of argument 1: 'n +' is no size"),
        ((3, '"n"', 5, '"= n - 4"'), "the size n - 4 is -1, where n is 3"),
    ],
)
def test_wrong_names_of_sizes_do_not_verify(text: str, parts: tuple[object, ...], message: str) -> None:
    assert message in refusal(text.format(*parts))


@pytest.mark.parametrize("text", [LOOPS, TENSORS])
def test_right_names_of_sizes_verify(text: str) -> None:
    parse(text.format(3, '"n"', 4, '"= n + 1"'))
    parse(text.format("?", '"n"', 4, '"= n + 1"'))
    parse(text.format("?", '"batch, first"', "?", '"batch, first"'))
