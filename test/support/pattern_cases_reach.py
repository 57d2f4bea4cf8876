"""A case per construct that reaches further: numbers, contraries, users, chains, and what stands in any order."""

from __future__ import annotations

from pattern_programs import Case, D, M, bin_, chain, u
from stepwell.patterns.language.patterns import Any_, Capture, is_op, op
from stepwell.patterns.language.rules import compare, negated, require

a, b, c = Any_("a"), Any_("b"), Any_("c")
exp, sub = (is_op(f"graph.{name}") for name in ("exp", "subtract"))
AXIS = Capture("axis.0")
EXP = '%a = any; %e = op "graph.exp"(%a)'
SOFTMAX = '%a = any; %e = op "graph.softmax"(%a); %axis = attribute %e, "axis"'


def softmax(axis: int) -> str:
    return f"%p = graph.softmax %m, axis = {axis} : ({M}) -> {M}\n"


REACH = [
    Case("compare", exp(a), EXP, (u("exp"),), (u("exp", "%m", type_=M), u("exp", "%d", type_=D)), "exp_",
         when=(compare("size($0, -1) <= 2 * 2", a),)),
    Case("compare attributes", op("graph.softmax", a, axis=AXIS), SOFTMAX, (softmax(0),), (softmax(1),), "softmax_",
         when=(compare("$1 + 1 < rank($0)", a, AXIS),), roots="%e"),
    Case("not a condition", exp(a), EXP, (chain("relu", "exp"),), (u("exp"),), "exp_",
         when=(negated(require("block-argument", a)),)),
    Case("not a comparison", exp(a), EXP, (u("exp", "%m", type_=M),), (u("exp"), u("exp", "%d", type_=D)), "exp_",
         when=(negated(compare("elements($0) == 4", a)),)),
    Case("single_user", sub(b.single_user(), c),
         '%b = any; %h = holds %b, "single-user"; %c = any; %o = op "graph.subtract"(%h, %c)',
         (bin_("subtract", "%x", "%x"), bin_("subtract", "%x", "%y")),
         (bin_("subtract", "%x", "%y") + u("exp", result="%q"),), "subtract_"),
]  # fmt: skip
