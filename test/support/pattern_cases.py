"""
A case per construct of the pattern language: values, ops, attributes, tests. `pattern_cases_larger.py` has the rest.
"""

from __future__ import annotations

from pattern_programs import Case, D, F, M, S, bin_, cast, chain, full, split, u
from stepwell.patterns.language.combinators import associative, is_expr
from stepwell.patterns.language.constraints import Argument, literal
from stepwell.patterns.language.patterns import Any_, Capture, Constant, Op, Rest, Splat, is_op, op, wildcard
from stepwell.patterns.language.rules import require
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, f32

a, b, c = Any_("a"), Any_("b"), Any_("c")
exp, relu, tanh, add, sub, mul, div = (
    is_op(f"graph.{name}") for name in ("exp", "relu", "tanh", "add", "subtract", "multiply", "divide")
)
ZERO = DenseIntOrFPElementsAttr.from_list(TensorType(f32, [4]), [0.0] * 4)
EXP = '%a = any; %e = op "graph.exp"(%a)'
SPLIT = '%a = any; %s = op "graph.split"(%a)'


def dense(numbers: str) -> str:
    return f"%k = graph.constant dense<{numbers}> : {F}\n"


def pick(number: int) -> str:
    return split("%h") + f"%p = graph.exp %h#{number} : (tensor<2xf32>) -> tensor<2xf32>\n"


def concat(*operands: str) -> str:
    types = ", ".join(F for _ in operands)
    return f"%p = graph.concat {', '.join(operands)}, axis = 0 : ({types}) -> tensor<{4 * len(operands)}xf32>\n"


AXIS = Capture("axis.0")

VALUES = [
    Case("op", add(a, b), '%a = any; %b = any; %o = op "graph.add"(%a, %b)', (bin_("add", "%x", "%y"),),
         (bin_("subtract", "%x", "%y"), u("exp")), "add_", 2),
    Case("op of any operands", is_op("graph.add")(), '%r = rest; %o = op "graph.add"(%r)', (bin_("add", "%x", "%y"),),
         (u("exp"),), "add_", 2),
    Case("op of one of several names", is_op(("graph.add", "graph.subtract"))(a, b),
         '%a = any; %b = any; %o = op "graph.add | graph.subtract"(%a, %b)',
         (bin_("subtract", "%x", "%y"), bin_("add", "%x", "%y")), (bin_("multiply", "%x", "%y"),), "subtract_", 2),
    Case("any op", exp(Op(())), '%a = any_op; %e = op "graph.exp"(%a)',
         (chain("relu", "exp"), full("1.0") + u("exp", "%k")), (u("exp"), u("relu")), "relu_exp_"),
    Case("any", exp(wildcard()), EXP, (u("exp"), full("1.0") + u("exp", "%k"), chain("relu", "exp")), (u("relu"),),
         "exp_"),
    Case("same value", sub(a, a), '%a = any; %o = op "graph.subtract"(%a, %a)', (bin_("subtract", "%x", "%x"),),
         (bin_("subtract", "%x", "%y"), full("1.0") + full("1.0", "%l") + bin_("subtract", "%k", "%l")), "subtract_"),
    Case("commutative", add(exp(a), b), EXP + '; %b = any; %o = op "graph.add"(%e, %b)',
         (u("exp", result="%e") + bin_("add", "%y", "%e"), u("exp", result="%e") + bin_("add", "%e", "%y")),
         (bin_("add", "%x", "%y"),), "exp_add_", 2),
    Case("not commutative", sub(exp(a), b), EXP + '; %b = any; %o = op "graph.subtract"(%e, %b)',
         (u("exp", result="%e") + bin_("subtract", "%e", "%y"),),
         (u("exp", result="%e") + bin_("subtract", "%y", "%e"),), "exp_subtract_", 2),
    Case("nested commutative", add(mul(a, exp(b)), mul(a, b)),
         ('%a = any; %b = any; %e = op "graph.exp"(%b); %m = op "graph.multiply"(%a, %e); '
          '%n = op "graph.multiply"(%a, %b); %o = op "graph.add"(%m, %n)'),
         (u("exp", "%y", "%e") + bin_("multiply", "%e", "%x", "%q") + bin_("multiply", "%y", "%x", "%t")
          + bin_("add", "%t", "%q"),),
         (u("exp", "%y", "%e") + bin_("multiply", "%e", "%x", "%q") + bin_("multiply", "%x", "%x", "%t")
          + bin_("add", "%t", "%q"),), "multiply_exp_multiply_add_", 2),
    Case("diamond", sub(relu(shared := exp(a)), tanh(shared)),
         EXP + '; %r = op "graph.relu"(%e); %t = op "graph.tanh"(%e); %o = op "graph.subtract"(%r, %t)',
         (u("exp", result="%e") + u("relu", "%e", "%q") + u("tanh", "%e", "%t") + bin_("subtract", "%q", "%t"),),
         (u("exp", result="%e") + u("exp", result="%f") + u("relu", "%e", "%q") + u("tanh", "%f", "%t")
          + bin_("subtract", "%q", "%t"),), "exp_relu_tanh_subtract_"),
    Case("value then use", relu(value := add(a, b)) | tanh(value),
         ('%a = any; %b = any; %v = op "graph.add"(%a, %b); %r = op "graph.relu"(%v); %t = op "graph.tanh"(%v); '
          '%o = or %r, %t'),
         (bin_("add", "%x", "%y", "%q") + u("relu", "%q"),), (u("relu"),), "add_relu_", 2),
    Case("or", add(a, b) | sub(a, b),
         '%a = any; %b = any; %s = op "graph.add"(%a, %b); %t = op "graph.subtract"(%a, %b); %o = or %s, %t',
         (bin_("subtract", "%x", "%y"), bin_("add", "%x", "%y")), (bin_("multiply", "%x", "%y"),), "subtract_", 2),
    Case("optional", exp(a).optional(lambda p: relu(p)).optional(lambda p: tanh(p)),
         EXP + '; %r = op "graph.relu"(%e); %m = or %r, %e; %t = op "graph.tanh"(%m); %o = or %t, %m',
         (chain("exp", "relu", "tanh"), chain("exp", "tanh"), chain("exp", "relu"), u("exp")),
         (chain("exp", "tanh", "relu"), u("relu")), "exp_relu_tanh_"),
    Case("assoc", div(mul(a, b), c).assoc(),
         ('%a = any; %b = any; %c = any; %m = op "graph.multiply"(%a, %b); %d = op "graph.divide"(%m, %c); '
          '%o = assoc %d'),
         (bin_("divide", "%x", "%y", "%q") + bin_("multiply", "%y", "%q"),
          bin_("multiply", "%x", "%y", "%q") + bin_("divide", "%q", "%x")),
         (bin_("multiply", "%x", "%y", "%q") + bin_("divide", "%x", "%q"),
          bin_("multiply", "%x", "%y", "%q") + bin_("multiply", "%q", "%x")), "divide_multiply_", 2),
    Case("assoc of a product", associative(mul(a, div(b, exp(c)))),
         ('%a = any; %b = any; %c = any; %e = op "graph.exp"(%c); %d = op "graph.divide"(%b, %e); '
          '%m = op "graph.multiply"(%a, %d); %o = assoc %m'),
         (u("exp", result="%e") + bin_("multiply", "%x", "%y", "%q") + bin_("divide", "%q", "%e"),
          u("exp", result="%e") + bin_("divide", "%y", "%e", "%q") + bin_("multiply", "%q", "%x")),
         (bin_("multiply", "%x", "%y", "%q") + bin_("divide", "%q", "%x"),), "multiply_exp_divide_", 2),
    Case("assoc with the quotient first", mul(div(b, c), exp(a)).assoc(),
         EXP + '; %b = any; %c = any; %d = op "graph.divide"(%b, %c); %m = op "graph.multiply"(%d, %e); %o = assoc %m',
         (u("exp", result="%e") + bin_("multiply", "%e", "%y", "%q") + bin_("divide", "%q", "%x"),),
         (u("exp", result="%e") + bin_("multiply", "%x", "%y", "%q") + bin_("divide", "%q", "%e"),),
         "exp_multiply_divide_", 2),
    Case("constant", exp(Constant()), '%a = constant; %e = op "graph.exp"(%a)',
         (dense("[1.0, 2.0, 3.0, 4.0]") + u("exp", "%k"), full("1.0") + u("exp", "%k")),
         (u("exp"), f'%k = graph.weight "w" : {F}\n' + u("exp", "%k")), "exp_", 0),
    Case("splat", exp(Splat(1.0)), '%a = splat 1.0; %e = op "graph.exp"(%a)',
         (full("1.0") + u("exp", "%k"), dense("1.0") + u("exp", "%k")), (full("2.0") + u("exp", "%k"), u("exp")),
         "exp_", 0),
    Case("splat of negative zero", exp(Splat(-0.0)), '%a = splat -0.0; %e = op "graph.exp"(%a)',
         (full("-0.0") + u("exp", "%k"),), (full("0.0") + u("exp", "%k"),), "exp_", 0),
    Case("literal", exp(literal(ZERO)), f'%a = literal dense<0.0> : {F}; %e = op "graph.exp"(%a)',
         (full("0.0") + u("exp", "%k"), dense("0.0") + u("exp", "%k")),
         (full("-0.0") + u("exp", "%k"), full("1.0") + u("exp", "%k"), full("0.0", type_=M) + u("exp", "%k", type_=M),
          u("exp")), "exp_", 0),
    Case("argument", exp(Argument()), '%a = argument; %e = op "graph.exp"(%a)', (u("exp"), u("exp", "%y")),
         (chain("relu", "exp"), full("1.0") + u("exp", "%k")), "exp_"),
    Case("argument by index", exp(Argument(0)), '%a = argument 0; %e = op "graph.exp"(%a)', (u("exp"),),
         (u("exp", "%y"),), "exp_"),
    Case("argument by name", exp(Argument(name="y")), '%a = argument "y"; %e = op "graph.exp"(%a)', (u("exp", "%y"),),
         (u("exp"),), "exp_"),
    Case("result", exp(op("graph.split", a).result(1)), SPLIT + '; %r = result %s, 1; %o = op "graph.exp"(%r)',
         (pick(1),), (pick(0), u("exp")), "split_exp_"),
    Case("rest", op("graph.concat", a, Rest()), '%a = any; %r = rest; %o = op "graph.concat"(%a, %r)',
         (concat("%x", "%y", "%x"), concat("%x")), (u("exp"),), "concat_", 2),
    Case("three operands", op("graph.concat", a, b, c),
         '%a = any; %b = any; %c = any; %o = op "graph.concat"(%a, %b, %c)', (concat("%x", "%y", "%x"),),
         (concat("%x", "%y"), concat("%x", "%y", "%x", "%y")), "concat_", 2),
    Case("captured attribute", op("graph.log", op("graph.softmax", a, axis=AXIS)),
         '%a = any; %s = op "graph.softmax"(%a); %axis = attribute %s, "axis"; %o = op "graph.log"(%s)',
         (u("softmax", result="%q", rest=", axis = 0") + u("log", "%q"),), (u("relu", result="%q") + u("log", "%q"),),
         "softmax_log_", capture=AXIS),
    Case("attribute of an op", op("graph.softmax", a, axis=0), '%a = any; %o = op "graph.softmax"(%a) with {axis = 0}',
         (u("softmax", rest=", axis = 0"), u("softmax")),
         ("%p = graph.softmax %m : (tensor<4x10xf32>) -> tensor<4x10xf32>",), "softmax_"),
]  # fmt: skip

TESTS = [
    Case("has_dtype", exp(a.has_dtype("f32")), '%a = any; %h = has_dtype %a, f32; %e = op "graph.exp"(%h)',
         (u("exp"), u("exp", "%m", type_=M), u("exp", "%s", type_=S)),
         (u("relu"), full("0.0", type_="tensor<4xf64>") + u("exp", "%k", type_="tensor<4xf64>")), "exp_"),
    Case("has_shape", exp(a).has_shape(None, 10), EXP + "; %h = has_shape %e, [?, 10]",
         (u("exp", "%m", type_=M), u("exp", "%d", type_=D)), (u("exp"), u("exp", "%s", type_=S)), "exp_"),
    Case("has_shape of a size", exp(a).has_shape(4, 10), EXP + "; %h = has_shape %e, [4, 10]",
         (u("exp", "%m", type_=M),), (u("exp", "%d", type_=D), u("exp")), "exp_"),
    Case("has_shape of rank 0", exp(a).has_shape(), EXP + "; %h = has_shape %e, []", (u("exp", "%s", type_=S),),
         (u("exp"),), "exp_"),
    Case("has_type", exp(a).has_type(TensorType(f32, [4, 10])), EXP + "; %h = has_type %e, tensor<4x10xf32>",
         (u("exp", "%m", type_=M),), (u("exp", "%d", type_=D), u("exp")), "exp_"),
    Case("has_attr", op("graph.softmax", a).has_attr({"axis": -1}),
         '%a = any; %e = op "graph.softmax"(%a); %h = has_attr %e with {axis = -1 : i32}',
         (u("softmax"), u("softmax", rest=", axis = -1"), u("softmax", rest=", axis = 0")),
         ("%p = graph.softmax %m, axis = 0 : (tensor<4x10xf32>) -> tensor<4x10xf32>", u("exp")), "softmax_"),
    Case("has_attr of a list", op("graph.permute_dims", a).has_attr({"axes": [1, 0]}),
         '%a = any; %e = op "graph.permute_dims"(%a); %h = has_attr %e with {axes = [1, 0]}',
         ("%p = graph.permute_dims %m, axes = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>",),
         ("%p = graph.permute_dims %m, axes = [0, 1] : (tensor<4x10xf32>) -> tensor<4x10xf32>",), "permute_dims_"),
    Case("has_attr of a type", op("graph.astype", a).has_attr({"dtype": "f32", "my.tag": "here"}),
         '%a = any; %e = op "graph.astype"(%a); %h = has_attr %e with {dtype = f32, my.tag = "here"}',
         (cast("f32", ' {my.tag = "here"}'),),
         (cast("f64", ' {my.tag = "here"}'), cast("f32", ' {my.tag = "there"}'), cast("f32")), "astype_"),
    Case("has_attr of nothing", exp(a).has_attr({}), EXP + "; %h = has_attr %e with {}", (u("exp"),), (u("relu"),),
         "exp_"),
    Case("has_kind", Op((), None).has_kind("elementwise", "broadcast"),
         '%o = any_op; %h = has_kind %o, "elementwise | broadcast"', (u("exp"), bin_("add", "%x", "%y")),
         (u("softmax"),), "exp_"),
    Case("and", exp(a.has_dtype("f32") & a.has_shape(4)),
         '%a = any; %f = has_dtype %a, f32; %s = has_shape %a, [4]; %h = and %f, %s; %e = op "graph.exp"(%h)',
         (u("exp"),), (u("exp", "%m", type_=M),), "exp_"),
    Case("not", exp(~Constant()), '%a = constant; %n = not %a; %e = op "graph.exp"(%n)', (u("exp"),),
         (full("1.0") + u("exp", "%k"),), "exp_"),
    Case("not the same", sub(a, ~Any_("a")), '%a = any; %n = not %a; %e = op "graph.subtract"(%a, %n)',
         (bin_("subtract", "%x", "%y"),), (bin_("subtract", "%x", "%x"),), "subtract_", 2),
    Case("holds", exp(a.holds("static")), '%a = any; %h = holds %a, "static"; %e = op "graph.exp"(%h)', (u("exp"),),
         (u("exp", "%d", type_=D),), "exp_"),
    Case("single_use", exp(relu(a).single_use()),
         '%a = any; %r = op "graph.relu"(%a); %h = holds %r, "single-use"; %e = op "graph.exp"(%h)',
         (chain("relu", "exp"),), (u("relu", result="%q") + u("exp", "%q") + u("tanh", "%q", "%t"),), "relu_exp_"),
    Case("same_shape", op("graph.where", op("graph.isnan", b), a, c.same_shape(a)),
         ('%a = any; %b = any; %n = op "graph.isnan"(%b); %c = any; %h = holds %c, "same-shape"(%a); '
          '%o = op "graph.where"(%n, %a, %h)'),
         ((f"%n = graph.isnan %x : ({F}) -> tensor<4xi1>\n%p = graph.where %n, %x, %y : (tensor<4xi1>, {F}, {F}) -> "
           f"{F}\n"),),
         ((f"%n = graph.isnan %x : ({F}) -> tensor<4xi1>\n%p = graph.where %n, %x, %s : (tensor<4xi1>, {F}, {S}) -> "
           f"{F}\n"),), "isnan_where_", 2),
    Case("same_type of what comes later", add(exp(a.same_type(b)), b),
         '%a = any; %b = any; %h = holds %a, "same-type"(%b); %e = op "graph.exp"(%h); %o = op "graph.add"(%e, %b)',
         (u("exp", result="%e") + bin_("add", "%e", "%y"),),
         (u("exp", result="%e") + f"%p = graph.add %e, %s : ({F}, {S}) -> {F}\n",), "exp_add_", 2),
    Case("require", exp(a), EXP, (u("exp"),), (u("exp", "%d", type_=D),), "exp_", when=(require("static", a),)),
]  # fmt: skip

_HALF, _TWICE = (
    "^bb0(%u: tensor<4xf32>):\n%half = graph.full 0.5 : tensor<4xf32>\n"
    "%0 = graph.multiply %u, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
    "%1 = graph.add %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\npattern.returns %1 : tensor<4xf32>\n}",
    full("0.5", "%half") + bin_("multiply", "%y", "%half", "%0") + bin_("add", "%0", "%0", "%1"),
)


def expression_case() -> Case:
    """`x / 2 + x / 2` with one product, as ops."""
    from pattern_programs import program

    module, root = program(_TWICE + u("exp", "%1"))
    assert module is not None
    made = root.owner.operands[0]  # type: ignore[union-attr]
    argument = next(each for each in module.walk() if each.name == "graph.multiply").operands[0]
    numbers = "dense<5.000000e-01>"
    same = (
        f"%half = graph.constant {numbers} : {F}\n"
        + bin_("multiply", "%x", "%half", "%0")
        + bin_("add", "%0", "%0", "%q")
        + u("exp", "%q")
    )
    twice = (
        full("0.5", "%half")
        + bin_("multiply", "%x", "%half", "%0")
        + bin_("multiply", "%x", "%half", "%1")
        + bin_("add", "%0", "%1", "%q")
        + u("exp", "%q")
    )
    return Case("expression", exp(is_expr(made, {argument: a})),
                "%a = any; %h = expression (%a) {\n" + _HALF + '\n%e = op "graph.exp"(%h)',
         (same,), (twice, same.replace("5.0", "6.0"), same.replace("graph.add", "graph.subtract"), u("exp")),
         "multiply_add_exp_")  # fmt: skip


VALUES.append(expression_case())
