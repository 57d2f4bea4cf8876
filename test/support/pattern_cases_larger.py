"""A case per construct of the pattern language: dominators, functions, calls, branches, ops that share values."""

from __future__ import annotations

from pattern_cases import EXP, TESTS, VALUES, a, add, b, exp, relu, sub, tanh
from pattern_cases_reach import REACH
from pattern_programs import Case, F, M, bin_, call_of, chain, choice, choices, full, matmul, u
from stepwell.patterns.language.combinators import together
from stepwell.patterns.language.constraints import Argument
from stepwell.patterns.language.patterns import Any_, op
from stepwell.patterns.language.structures import Call, Function, If, call, dominates

PATH = (
    EXP + '; %x = any; %r = op "graph.relu"(%x); %y = any; %t = op "graph.tanh"(%y); %path = or %r, %t'
    '; %v = any; %w = any; %c = op "graph.add"(%v, %w); %d = dominates %e by %c over %path'
)
DIAMOND = u("exp", result="%e") + u("relu", "%e", "%q") + u("tanh", "%e", "%t") + bin_("add", "%q", "%t")
DEEP = u("exp", result="%e") + u("relu", "%e", "%q") + u("relu", "%q", "%t") + bin_("add", "%e", "%t")
path = relu(Any_()) | tanh(Any_())
sum_of = add(Any_(), Any_())
BRANCHES = '%c = argument; %a = any; %e = op "graph.exp"(%a); %r = op "graph.relu"(%a)'
BODY = '%a = any; %s = op "graph.add"(%a, %a)'
either_branch = If(Argument(), (exp(a), relu(a)), (relu(a), exp(a)))

THREE_ARMS = [
    f"{{\n{u(one, result='%t')}{u(two, result='%o')}scf.yield %t, %o, %t : {F}, {F}, {F}\n}}"
    for one, two in (("exp", "relu"), ("relu", "exp"))
]
THREE = f"%c:3 = scf.if %b -> ({F}, {F}, {F}) {THREE_ARMS[0]} else {THREE_ARMS[1]}\n" + u("tanh", "%c#1")

LARGER = [
    Case("dominates", dominates(exp(a), path, sum_of), PATH, (DIAMOND, DEEP),
         (DIAMOND.replace("graph.tanh", "graph.sigmoid"), DIAMOND + u("relu", "%t", "%z"),
          DIAMOND + u("relu", "%e", "%z"),
          u("relu", result="%q") + u("tanh", result="%t") + bin_("add", "%q", "%t"),
          u("exp", result="%e") + u("exp", result="%f") + u("relu", "%e", "%q") + u("tanh", "%f", "%t")
          + bin_("add", "%q", "%t")), "exp_relu_tanh_add_"),
    Case("dominates, typed", dominates(exp(a), relu(Any_()).has_dtype("f32"), relu(Any_()).has_shape(4)),
         EXP + ('; %x = any; %r = op "graph.relu"(%x); %path = has_dtype %r, f32; %y = any; '
                '%t = op "graph.relu"(%y); %c = has_shape %t, [4]; %d = dominates %e by %c over %path'),
         (chain("exp", "relu", "relu", "relu"),),
         (chain("exp", "relu", "relu").replace("f32", "f64").replace("%x",
             "%k").join((full("1.0", type_="tensor<4xf64>"), "")),
             u("exp", "%m", "%e", M) + u("relu", "%e", "%q", M) + u("relu", "%q", "%p", M)), "exp_relu_relu_relu_"),
    Case("call by name", call("twice", a), '%a = any; %c = call named "twice"(%a)', (call_of("twice", "%x"),),
         (call_of("sum", "%x", "%y"), u("exp")), "func.call_"),
    Case("call of any", call(None), "%c = call any()", (call_of("twice", "%x"), call_of("sum", "%x", "%y")),
         (u("exp"),), "func.call_"),
    Case("call of two operands", call(None, a, b), "%a = any; %b = any; %c = call(%a, %b)",
         (call_of("sum", "%x", "%y"),), (call_of("twice", "%x"),), "func.call_", 2),
    Case("result of a call", exp(Call("pair").result(1)),
         '%c = call any named "pair"(); %r = result %c, 1; %e = op "graph.exp"(%r)',
         (call_of("pair", "%x", result="%c", results=2) + u("exp", "%c#1"),),
         (call_of("pair", "%x", result="%c", results=2) + u("exp", "%c#0"), u("exp")), "func.call_exp_"),
    Case("function", call(Function((a,), add(a, a))), BODY + "; %f = function(%a) returns %s; %c = call any to %f()",
         (call_of("twice", "%x"),), (call_of("sum", "%x", "%y"), u("exp")), "func.call_"),
    Case("attribute of a function", call(Function((a,), add(a, a), (("kind", "twice"),))),
         BODY + '; %f = function(%a) returns %s with {kind = "twice"}; %c = call any to %f()',
         (call_of("twice", "%x"),), (call_of("sum", "%x", "%y"),), "func.call_"),
    Case("function of any parameters", call(Function(None, op(("graph.add", "graph.multiply"), Any_(), Any_())), a, b),
         ('%u = any; %v = any; %s = op "graph.add | graph.multiply"(%u, %v); %f = function any() returns %s; '
          '%a = any; %b = any; %c = call to %f(%a, %b)'),
         (call_of("sum", "%x", "%y"),), (call_of("twice", "%x"),), "func.call_", 2),
    Case("fuzzy body", call(Function((Any_(), b), add(Any_(), b))),
         ('%u = any; %b = any; %w = any; %s = op "graph.add"(%w, %b); %f = function(%u, %b) returns %s; '
          '%c = call any to %f()'),
         (call_of("sum", "%x", "%y"),),
         (call_of("twice", "%x"), call_of("pair", "%x", result="%q", results=2) + u("exp", "%q#0")), "func.call_", 2),
    Case("function of two results", exp(Call(Function((a,), (first := exp(a), tanh(first)))).result(0)),
         EXP + ('; %t = op "graph.tanh"(%e); %f = function(%a) returns %e, %t; %c = call any to %f(); '
                '%r = result %c, 0; %o = op "graph.exp"(%r)'),
         (call_of("pair", "%x", result="%c", results=2) + u("exp", "%c#0"),),
         (call_of("pair", "%x", result="%c", results=2) + u("exp", "%c#1"),
          call_of("twice", "%x", result="%q") + u("exp", "%q")), "func.call_exp_"),
    Case("if", If(Argument(), exp(a), relu(a)), BRANCHES + "; %i = if %c then %e else %r", (choice("exp", "relu"),),
         (choice("relu", "exp"), u("exp")), "scf.if_", 2),
    Case("if of two results", tanh(either_branch.result(1)),
         BRANCHES
         + ('; %f = op "graph.exp"(%a); %s = op "graph.relu"(%a); %i = if %c then %e, %r else %s, %f; '
            '%q = result %i, 1; %t = op "graph.tanh"(%q)'),
         (choices(("exp", "relu"), ("relu", "exp")) + u("tanh", "%c#1"),),
         (choices(("exp", "relu"), ("relu", "exp")) + u("tanh", "%c#0"),
          choices(("exp", "relu"), ("exp", "relu")) + u("tanh", "%c#1"), choice("exp", "relu", "%q") + u("tanh", "%q"),
          THREE), "scf.if_tanh_", 2),
    Case("a result of a branch by what is yielded for it", tanh(If(Argument(), relu(a), exp(a)).result(1)),
         BRANCHES + "; %i = if %c then %r else %e; %q = result %i, 1; %t = op \"graph.tanh\"(%q)",
         (choices(("exp", "relu"), ("relu", "exp")) + u("tanh", "%c#1"),),
         (choices(("relu", "exp"), ("exp", "relu")) + u("tanh", "%c#0"),
          choices(("relu", "exp"), ("exp", "relu")) + u("tanh", "%c#1")), "scf.if_tanh_", 2),
    Case("function of one result", exp(Call(Function(None, exp(Any_()))).result(0)),
         ('%u = any; %s = op "graph.exp"(%u); %f = function any() returns %s; %c = call any to %f(); '
          '%r = result %c, 0; %o = op "graph.exp"(%r)'),
         (call_of("one", "%x", result="%q") + u("exp", "%q"),),
         (call_of("pair", "%x", result="%c", results=2) + u("exp", "%c#0"),), "func.call_exp_"),
    Case("used_by", exp(a).used_by(relu(exp(a))), EXP + '; %r = op "graph.relu"(%e); %o = together %e, %r',
         (u("exp") + u("relu", "%p", "%q"),), (u("exp"), u("exp") + u("tanh", "%p", "%q")), "exp_"),
    Case("fork", (forked := exp(a)).used_by(relu(forked), tanh(forked)),
         EXP + '; %r = op "graph.relu"(%e); %t = op "graph.tanh"(%e); %o = together %e, %r, %t',
         (u("exp") + u("relu", "%p", "%q") + u("tanh", "%p", "%t"),),
         (u("exp") + u("relu", "%p", "%q"), u("exp") + u("relu", "%p", "%q") + u("tanh", "%q", "%t")), "exp_"),
    Case("two users of one form are two ops", together(twice := exp(a), relu(twice), relu(twice)),
         EXP + '; %r = op "graph.relu"(%e); %t = op "graph.relu"(%e); %o = together %e, %r, %t',
         (u("exp") + u("relu", "%p", "%q") + u("relu", "%p", "%t"),), (u("exp") + u("relu", "%p", "%q"),), "exp_"),
    Case("only_used_by", (alone := exp(a)).only_used_by(relu(alone)),
         EXP + '; %r = op "graph.relu"(%e); %o = together %e, %r; %h = holds %o, "only-used-by"(%r)',
         (u("exp") + u("relu", "%p", "%q"),), (u("exp") + u("relu", "%p", "%q") + u("tanh", "%p", "%t"), u("exp")),
         "exp_"),
    Case("several roots", (op("graph.matmul", a, b), op("graph.matmul", a, Any_())),
         '%a = any; %b = any; %k = any; %q = op "graph.matmul"(%a, %b); %t = op "graph.matmul"(%a, %k)',
         (matmul("%wv") + matmul("%ww", "%q"), matmul("%ww", "%q") + matmul("%wv")),
         (matmul("%wv"), matmul("%wv") + u("relu", "%m", "%n", M) + matmul("%ww", "%q", "%n")), "matmul_matmul_", 3,
         roots="%q, %t"),
    Case("dup", sub(shape := exp(Any_()), shape.dup()),
         '%a = any; %e = op "graph.exp"(%a); %b = any; %f = op "graph.exp"(%b); %o = op "graph.subtract"(%e, %f)',
         (u("exp", result="%e") + u("exp", "%y", "%f") + bin_("subtract", "%e", "%f"),),
         (u("exp", result="%e") + bin_("subtract", "%e", "%y"),), "exp_exp_subtract_", 2),
]  # fmt: skip

CASES = [*VALUES, *TESTS, *LARGER, *REACH]
assert len({case.name for case in CASES}) == len(CASES)
