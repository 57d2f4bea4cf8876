"""What interfaces say of a class of ops is what they say of each op of it."""

from __future__ import annotations

import inspect

from stepwell.core.plugins import registry
from stepwell.core.text.parsing import make_context
from stepwell.dialects.traits import (
    COMMUTATIVE_OUTSIDE_OPS,
    IN_PROGRAM,
    PURE_OUTSIDE_OPS,
    Commutative,
    ConstantKind,
    _pure_as_a_class,  # pyright: ignore[reportPrivateUsage]
    _traits_of,  # pyright: ignore[reportPrivateUsage]
    constant_kind,
    is_commutative,
    is_pure,
)
from stepwell.patterns.language.constants import CONSTANT_OPS
from xdsl.dialects import test
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, region_def, traits_def
from xdsl.traits import IsTerminator, MemoryWriteEffect, NoMemoryEffect, RecursiveMemoryEffect, get_effects


def kinds() -> list[type[Operation]]:
    """The classes of ops of all dialects that load here."""
    context = make_context()
    found: list[type[Operation]] = []
    for name in registry().dialects:
        try:
            found += context.get_dialect(name).operations
        except Exception:
            continue  # one of xDSL's that needs a package
    return [kind for kind in found if not inspect.isabstract(kind)]


def test_every_class_of_every_dialect() -> None:
    known = 0
    for kind in kinds():
        op = kind.__new__(kind)
        commutative = kind.has_trait(Commutative, value_if_unregistered=False)
        assert is_commutative(op) == (commutative or op.name in COMMUTATIVE_OUTSIDE_OPS)
        said = _pure_as_a_class(kind, _traits_of(op))
        if said is None:
            continue
        known += said
        effects = None if kind.has_trait(IsTerminator) else get_effects(op)
        assert said == (effects is not None and not effects) or op.name in PURE_OUTSIDE_OPS, kind
    assert known > 300


def test_every_op_of_arithmetic_is_pure() -> None:
    context = make_context()
    ops = [op for name in ("arith", "math") for op in context.get_dialect(name).operations]
    assert len(ops) > 80
    assert [op.name for op in ops if not is_pure(op.__new__(op))] == []


def test_only_what_xdsl_says_nothing_of_is_in_the_list() -> None:
    kinds = {op.name: op for op in make_context().get_dialect("arith").operations}
    assert [name for name in PURE_OUTSIDE_OPS if get_effects(kinds[name].__new__(kinds[name])) is not None] == []


def test_ops_that_are_not_registered_may_do_anything() -> None:
    op = UnregisteredOp.with_name("some.op").create()
    assert not is_pure(op) and not is_commutative(op)


@irdl_op_definition
class Around(IRDLOperation):
    name = "test.around"
    body = region_def()
    traits = traits_def(RecursiveMemoryEffect())


def test_what_depends_on_the_op_is_asked_of_the_op() -> None:
    pure, other = (Around(regions=[Region(Block([inner]))]) for inner in (test.TestPureOp(), test.TestOp()))
    assert is_pure(pure) and not is_pure(other)


def test_traits_that_are_added_later_count() -> None:
    @irdl_op_definition
    class Growing(IRDLOperation):
        name = "test.growing"
        traits = traits_def(NoMemoryEffect())

    op = Growing()
    assert is_pure(op) and not is_commutative(op)
    Growing.traits.add_trait(Commutative())
    Growing.traits.add_trait(MemoryWriteEffect())
    assert not is_pure(op) and is_commutative(op)


def test_constants_have_a_kind() -> None:
    of_kind: dict[ConstantKind | None, set[str]] = {}
    for each in kinds():
        of_kind.setdefault(constant_kind(each.create()), set()).add(each.name)
    assert of_kind.pop(None)
    assert of_kind == {
        "literal": {"graph.constant"},
        "splat": {"graph.full"},
        "weight": {"graph.weight"},
        "scalar": {"arith.constant"},
    }
    assert set[str]().union(*(of_kind[kind] for kind in of_kind if kind in IN_PROGRAM)) == CONSTANT_OPS
