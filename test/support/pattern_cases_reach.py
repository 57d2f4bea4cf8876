"""A case per construct that reaches further: numbers, contraries, users, chains, and what stands in any order."""

from __future__ import annotations

from pattern_programs import Case, D, F, M, bin_, split, u
from pattern_programs import chain as row
from stepwell.patterns.language.chains import Chain, chain
from stepwell.patterns.language.patterns import Any_, Capture, Rest, is_op, op
from stepwell.patterns.language.rules import compare, negated, require

a, b, c = Any_("a"), Any_("b"), Any_("c")
exp, relu, tanh, add, sub = (is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "subtract"))
link = Any_("l")
AXIS = Capture("axis.0")
EXP = '%a = any; %e = op "graph.exp"(%a)'
SOFTMAX = '%a = any; %e = op "graph.softmax"(%a); %axis = attribute %e, "axis"'


def softmax(axis: int) -> str:
    return f"%p = graph.softmax %m, axis = {axis} : ({M}) -> {M}\n"


def pick(number: int) -> str:
    return split("%h") + f"%p = graph.exp %h#{number} : (tensor<2xf32>) -> tensor<2xf32>\n"


def concat(*operands: str) -> str:
    types = ", ".join(F for _ in operands)
    return f"%p = graph.concat {', '.join(operands)}, axis = 0 : ({types}) -> tensor<{4 * len(operands)}xf32>\n"


def chained(*names: str) -> str:
    """The ops of `row`, from `%x` to `%q`."""
    return row(*names).replace("%p", "%q")


REACH = [
    Case("compare", exp(a), EXP, (u("exp"),), (u("exp", "%m", type_=M), u("exp", "%d", type_=D)), "exp_",
         when=(compare("size($0, -1) <= 2 * 2", a),)),
    Case("compare attributes", op("graph.softmax", a, axis=AXIS), SOFTMAX, (softmax(0),), (softmax(1),), "softmax_",
         when=(compare("$1 + 1 < rank($0)", a, AXIS),), roots="%e"),
    Case("not a condition", exp(a), EXP, (row("relu", "exp"),), (u("exp"),), "exp_",
         when=(negated(require("block-argument", a)),)),
    Case("not a comparison", exp(a), EXP, (u("exp", "%m", type_=M),), (u("exp"), u("exp", "%d", type_=D)), "exp_",
         when=(negated(compare("elements($0) == 4", a)),)),
    Case("single_user", sub(b.single_user(), c),
         '%b = any; %h = holds %b, "single-user"; %c = any; %o = op "graph.subtract"(%h, %c)',
         (bin_("subtract", "%x", "%x"), bin_("subtract", "%x", "%y")),
         (bin_("subtract", "%x", "%y") + u("exp", result="%q"),), "subtract_"),
    Case("any result", op("graph.exp", op("graph.split", a).result(None)),
         '%a = any; %s = op "graph.split"(%a); %r = result %s, any; %e = op "graph.exp"(%r)', (pick(1), pick(0)),
         (u("exp"),), "split_exp_"),
    Case("unordered", op("graph.concat", exp(a), b).unordered(),
         EXP + '; %b = any; %o = op unordered "graph.concat"(%e, %b)',
         (u("exp", result="%e") + concat("%y", "%e"), u("exp", result="%e") + concat("%e", "%y")),
         (concat("%x", "%y"), u("exp", result="%e") + concat("%y", "%e", "%x")), "exp_concat_", 2),
    Case("unordered with a rest", op("graph.concat", exp(a), Rest()).unordered(),
         EXP + '; %r = rest; %o = op unordered "graph.concat"(%e, %r)',
         (u("exp", result="%e") + concat("%y", "%y", "%x", "%y", "%x", "%e"),), (concat("%x", "%y"),),
         "exp_concat_", 2),
    Case("each of the rest", op("graph.concat", Rest(each=exp(a))),
         EXP + '; %r = rest each %e; %o = op "graph.concat"(%r)',
         (u("exp", result="%e") + u("exp", "%y", "%f") + concat("%e", "%f", "%e"),),
         (u("exp", result="%e") + concat("%e", "%y"), concat("%x", "%y")), "exp_exp_concat_", 2),
    Case("chain", add(chain(("graph.exp", "graph.relu"), a), b),
         ('%a = any; %l = any; %s = op "graph.exp | graph.relu"(%l); %c = chain %s through %l from %a; %b = any; '
          '%o = op "graph.add"(%c, %b)'),
         (chained("exp", "relu", "exp") + bin_("add", "%y", "%q"), u("relu", result="%q") + bin_("add", "%q", "%y")),
         (bin_("add", "%x", "%y"), chained("tanh", "tanh") + bin_("add", "%q", "%y")), "exp_relu_exp_add_", 2),
    Case("chain of none", tanh(chain("graph.relu", exp(a), least=0)),
         EXP + '; %l = any; %s = op "graph.relu"(%l); %c = chain %s through %l from %e least 0; '
         '%t = op "graph.tanh"(%c)',
         (row("exp", "relu", "relu", "tanh"), row("exp", "tanh")), (row("exp", "abs", "tanh"),),
         "exp_relu_relu_tanh_"),
    Case("chain of steps", add(chain(lambda before: relu(exp(before)), a), b),
         ('%a = any; %l = any; %e = op "graph.exp"(%l); %s = op "graph.relu"(%e); %c = chain %s through %l from %a; '
          '%b = any; %o = op "graph.add"(%c, %b)'),
         (chained("exp", "relu", "exp", "relu") + bin_("add", "%y", "%q"),),
         (bin_("add", "%x", "%y"), chained("relu", "exp") + bin_("add", "%q", "%y")), "exp_relu_exp_relu_add_", 2),
    Case("chain of two operands", Chain(add(link, relu(c)), link, exp(a), 2),
         EXP + '; %l = any; %c = any; %r = op "graph.relu"(%c); %s = op "graph.add"(%l, %r)'
         "; %o = chain %s through %l from %e least 2",
         (u("exp", result="%e") + u("relu", "%y", "%r") + bin_("add", "%r", "%e", "%q") + bin_("add", "%q", "%r"),),
         (u("exp", result="%e") + u("relu", "%y", "%r") + bin_("add", "%r", "%e"),), "relu_exp_add_add_", 2),
]  # fmt: skip
