"""
What the ops of the graph dialect are called elsewhere: the one table behind "did you mean", and behind docs/aliases.md.

A line of `TABLE` is an op and its names in NumPy (and SciPy), PyTorch, ONNX, TOSA, StableHLO (and CHLO), and in the
arith, math, linalg and tensor dialects of MLIR. A `-` stands for none. A name may stand on several lines, and all of
these are shown. `WITHOUT_NAMES` gives the reason for an op that has no other name. `RECIPES` are names that several ops
together stand for.
"""

from __future__ import annotations

from typing import Final

from ..messages.diagnostics import did_you_mean

SYSTEMS: Final = ("NumPy", "PyTorch", "ONNX", "TOSA", "StableHLO", "MLIR")
"""The columns of the table."""

TABLE: Final = """
negative | negative | neg negative | Neg | negate | negate | arith.negf
abs | abs absolute fabs | abs absolute | Abs | abs | abs | math.absf math.absi linalg.abs
sign | sign | sign sgn | Sign | - | sign | -
square | square | square | - | - | - | linalg.square
floor | floor | floor | Floor | floor | floor | math.floor linalg.floor
ceil | ceil | ceil | Ceil | ceil | ceil | math.ceil linalg.ceil
trunc | trunc fix | trunc fix | - | - | - | math.trunc
round | round rint around | round | Round | - | round_nearest_even | math.roundeven math.round linalg.round
logical_not | logical_not | logical_not | Not | logical_not | not | -
bitwise_not | bitwise_not invert bitwise_invert | bitwise_not | BitwiseNot | bitwise_not | not | -
isnan | isnan | isnan | IsNaN | - | - | math.isnan
isinf | isinf | isinf | IsInf | - | is_inf | math.isinf
isfinite | isfinite | isfinite | - | - | is_finite | math.isfinite
clip | clip | clamp clip hardtanh relu6 | Clip | clamp | clamp | math.clampf
astype | astype | to type type_as float double half long | Cast CastLike | cast | convert | \
arith.extf arith.truncf arith.sitofp arith.uitofp arith.fptosi arith.fptoui arith.extsi arith.extui arith.trunci
bitcast | view | view_as | BitCast | - | bitcast_convert | arith.bitcast tensor.bitcast
exp | exp | exp | Exp | exp | exponential | math.exp linalg.exp
exp2 | exp2 | exp2 | - | - | - | math.exp2
expm1 | expm1 | expm1 | - | - | exponential_minus_one | math.expm1
log | log | log | Log | log | log | math.log linalg.log
log2 | log2 | log2 | - | - | - | math.log2
log10 | log10 | log10 | - | - | - | math.log10
log1p | log1p | log1p | - | - | log_plus_one | math.log1p
sqrt | sqrt | sqrt | Sqrt | - | sqrt | math.sqrt linalg.sqrt
rsqrt | - | rsqrt | - | rsqrt | rsqrt | math.rsqrt linalg.rsqrt
sin | sin | sin | Sin | sin | sine | math.sin
cos | cos | cos | Cos | cos | cosine | math.cos
tan | tan | tan | Tan | - | tan | math.tan
tanh | tanh | tanh | Tanh | tanh | tanh | math.tanh linalg.tanh
erf | erf | erf | Erf | erf | erf | math.erf linalg.erf
sigmoid | expit | sigmoid | Sigmoid | sigmoid | logistic | -
silu | - | silu swish | Swish | - | - | -
gelu | - | gelu | Gelu | - | - | -
relu | - | relu | Relu | - | - | -
leaky_relu | - | leaky_relu | LeakyRelu | - | - | -
sinh | sinh | sinh | Sinh | - | sinh | math.sinh
cosh | cosh | cosh | Cosh | - | cosh | math.cosh
asin | arcsin asin | asin arcsin | Asin | - | asin | math.asin
acos | arccos acos | acos arccos | Acos | - | acos | math.acos
atan | arctan atan | atan arctan | Atan | - | atan | math.atan
asinh | arcsinh asinh | asinh arcsinh | Asinh | - | asinh | math.asinh
acosh | arccosh acosh | acosh arccosh | Acosh | - | acosh | math.acosh
atanh | arctanh atanh | atanh arctanh | Atanh | - | atanh | math.atanh
add | add | add | Add | add | add | arith.addf arith.addi linalg.add
subtract | subtract | sub subtract | Sub | sub | subtract | arith.subf arith.subi linalg.sub
multiply | multiply | mul multiply | Mul | mul | multiply | arith.mulf arith.muli linalg.mul
divide | divide true_divide | div divide true_divide | Div | intdiv int_div | divide | \
arith.divf arith.divsi arith.divui linalg.div
floor_divide | floor_divide | floor_divide | - | - | - | arith.floordivsi
mod | mod remainder fmod | remainder fmod | Mod | - | remainder | arith.remsi arith.remui arith.remf
power | power pow float_power | pow float_power | Pow | pow | power | math.powf math.fpowi math.ipowi linalg.powf
maximum | maximum fmax | maximum fmax | Max | maximum | maximum | \
arith.maximumf arith.maxnumf arith.maxsi arith.maxui linalg.max
minimum | minimum fmin | minimum fmin | Min | minimum | minimum | \
arith.minimumf arith.minnumf arith.minsi arith.minui linalg.min
ewise_fma | - | addcmul | - | - | - | math.fma
equal | equal | eq | Equal | equal | compare | arith.cmpf arith.cmpi
not_equal | not_equal | ne not_equal | - | - | compare | arith.cmpf arith.cmpi
less | less | lt less | Less | - | compare | arith.cmpf arith.cmpi
less_equal | less_equal | le less_equal | LessOrEqual | - | compare | arith.cmpf arith.cmpi
greater | greater | gt greater | Greater | greater | compare | arith.cmpf arith.cmpi
greater_equal | greater_equal | ge greater_equal | GreaterOrEqual | greater_equal | compare | arith.cmpf arith.cmpi
logical_and | logical_and | logical_and | And | logical_and | and | -
logical_or | logical_or | logical_or | Or | logical_or | or | -
logical_xor | logical_xor | logical_xor | Xor | logical_xor | xor | -
bitwise_and | bitwise_and | bitwise_and | BitwiseAnd | bitwise_and | and | arith.andi
bitwise_or | bitwise_or | bitwise_or | BitwiseOr | bitwise_or | or | arith.ori
bitwise_xor | bitwise_xor | bitwise_xor | BitwiseXor | bitwise_xor | xor | arith.xori
left_shift | left_shift bitwise_left_shift | bitwise_left_shift | BitShift | logical_left_shift | \
shift_left | arith.shli
right_shift | right_shift bitwise_right_shift | bitwise_right_shift | BitShift | \
arithmetic_right_shift logical_right_shift | shift_right_arithmetic shift_right_logical | arith.shrsi arith.shrui
where | where | where masked_fill | Where | select | select | arith.select linalg.select
matmul | matmul dot vecdot | matmul mm bmm mv dot | MatMul | matmul | dot_general dot | \
linalg.matmul linalg.batch_matmul linalg.matvec linalg.vecmat linalg.dot
conv2d | - | conv2d | Conv | conv2d depthwise_conv2d | convolution | \
linalg.conv_2d_nchw_fchw linalg.conv_2d_nhwc_hwcf linalg.conv_2d_nhwc_fhwc
sum | sum | sum | ReduceSum | reduce_sum | reduce | linalg.reduce
prod | prod | prod | ReduceProd | reduce_product reduce_prod | reduce | linalg.reduce
mean | mean average | mean adaptive_avg_pool2d | ReduceMean GlobalAveragePool | - | - | -
max | max amax | max amax | ReduceMax GlobalMaxPool | reduce_max | reduce | linalg.reduce
min | min amin | min amin | ReduceMin | reduce_min | reduce | linalg.reduce
any | any | any | - | reduce_any | reduce | linalg.reduce
all | all | all | - | reduce_all | reduce | linalg.reduce
argmax | argmax | argmax | ArgMax | argmax | - | -
argmin | argmin | argmin | ArgMin | argmin | - | -
softmax | softmax | softmax | Softmax | - | - | linalg.softmax
log_softmax | log_softmax | log_softmax | LogSoftmax | - | - | -
permute_dims | transpose permute_dims swapaxes moveaxis | permute transpose swapaxes movedim | Transpose | transpose | \
transpose | linalg.transpose
reshape | reshape ravel | reshape view flatten unflatten | Reshape Flatten | reshape | reshape | \
tensor.reshape tensor.collapse_shape tensor.expand_shape
expand_dims | expand_dims | unsqueeze | Unsqueeze | - | - | -
squeeze | squeeze | squeeze | Squeeze | - | - | -
broadcast_to | broadcast_to | expand broadcast_to expand_as | Expand | - | broadcast_in_dim broadcast | linalg.broadcast
concat | concatenate concat hstack vstack | cat concat concatenate hstack vstack | Concat | concat | concatenate | \
tensor.concat
split | split array_split | split chunk tensor_split | Split | - | - | -
strided_slice | flip | slice narrow flip | Slice | slice reverse | slice reverse | tensor.extract_slice
pad | pad | pad | Pad | pad | pad | tensor.pad
take | take | index_select embedding | Gather | - | gather | tensor.gather
take_along_axis | take_along_axis | gather take_along_dim | GatherElements | - | - | -
gather_nd | - | - | GatherND | gather | gather | tensor.gather
scatter_elements | put_along_axis | scatter scatter_add scatter_reduce | ScatterElements | - | scatter | -
scatter_nd | - | index_put | ScatterND | scatter | scatter | tensor.scatter
top_k | - | topk | TopK | - | top_k | -
cumulative_sum | cumsum cumulative_sum | cumsum | CumSum | - | - | -
cumulative_prod | cumprod cumulative_prod | cumprod | CumProd | - | - | -
batch_norm | - | batch_norm | BatchNormalization | - | batch_norm_inference | -
layer_norm | - | layer_norm native_layer_norm | LayerNormalization | - | - | -
bias_add | - | - | - | - | - | -
instance_norm | - | instance_norm | InstanceNormalization | - | - | -
group_norm | - | group_norm native_group_norm | GroupNormalization | - | - | -
l2_normalize | - | normalize | LpNormalization | - | - | -
rms_norm | - | rms_norm | RMSNormalization | - | - | -
dropout | - | dropout alpha_dropout feature_dropout | Dropout | - | - | -
max_pool2d | - | max_pool2d | MaxPool | max_pool2d | reduce_window | \
linalg.pooling_nchw_max linalg.pooling_nhwc_max
avg_pool2d | - | avg_pool2d | AveragePool | avg_pool2d | reduce_window | -
quantize | - | quantize_per_tensor quantize_per_channel | QuantizeLinear | - | uniform_quantize | -
dequantize | - | dequantize | DequantizeLinear | - | uniform_dequantize | -
requantize | - | - | - | rescale | - | -
matmul_packed | - | - | - | - | - | -
resample | - | interpolate upsample | Resize Upsample | resize | - | -
sample | - | grid_sample | GridSample | - | - | -
pool_regions | - | - | MaxRoiPool RoiAlign | - | - | -
constant | array asarray | tensor as_tensor | Constant | const | constant | arith.constant
full | full ones zeros full_like ones_like zeros_like | full ones zeros full_like ones_like zeros_like fill | \
ConstantOfShape | - | - | linalg.fill tensor.splat
weight | - | - | - | variable variable_read | - | -
shape_of | shape | size | Shape Size | - | get_dimension_size | tensor.dim
dynamic_reshape | - | - | - | - | dynamic_reshape | -
dynamic_broadcast_to | - | - | - | - | dynamic_broadcast_in_dim | -
dynamic_slice | - | - | - | - | dynamic_slice real_dynamic_slice | -
dynamic_pad | - | - | - | - | dynamic_pad | -
arange | arange | arange | Range | - | iota dynamic_iota | -
call_kernel | - | - | - | custom | custom_call | -
"""

WITHOUT_NAMES: Final = {
    "bias_add": "TensorFlow's name; the other systems add a vector that broadcasts",
    "matmul_packed": "MatMulNBits of onnxruntime; the other systems have no such op",
}
"""Why an op has no name in any of the systems."""

RECIPES: Final = {
    "addmm": "add(matmul(a, b), c)",
    "gemm": "add(matmul(a, b), c)",
    "baddbmm": "add(matmul(a, b), c)",
    "linear": "add(matmul(x, w), b)",
    "dense": "add(matmul(x, w), b)",
    "fully_connected": "add(matmul(x, w), b)",
    "outer": "multiply(expand_dims(x), expand_dims(y))",
    "einsum": "matmul of operands made by permute_dims() and reshape()",
    "tensordot": "matmul of operands made by permute_dims() and reshape()",
    "conv1d": "squeeze(conv2d(expand_dims(x), expand_dims(w)))",
    "scaled_dot_product_attention": "matmul(softmax(multiply(matmul(q, k), scale)), v)",
    "attention": "matmul(softmax(multiply(matmul(q, k), scale)), v)",
    "hardswish": "multiply(x, clip(add(divide(x, 6), 0.5), 0, 1))",
    "hardsigmoid": "clip(add(divide(x, 6), 0.5), 0, 1)",
    "elu": "where(greater(x, 0), x, multiply(alpha, expm1(x)))",
    "selu": "multiply(gamma, where(greater(x, 0), x, multiply(alpha, expm1(x))))",
    "celu": "where(greater(x, 0), x, multiply(alpha, expm1(divide(x, alpha))))",
    "prelu": "where(less(x, 0), multiply(slope, x), x)",
    "softplus": "add(maximum(x, 0), log1p(exp(negative(abs(x)))))",
    "log_sigmoid": "subtract(minimum(x, 0), log1p(exp(negative(abs(x)))))",
    "softsign": "divide(x, add(1, abs(x)))",
    "mish": "multiply(x, tanh(add(maximum(x, 0), log1p(exp(negative(abs(x)))))))",
    "reciprocal": "divide(1, x)",
    "cbrt": "multiply(sign(x), power(abs(x), 1/3))",
    "hypot": "sqrt(add(square(x), square(y)))",
    "squared_difference": "square(subtract(x, y))",
    "var": "mean(square(subtract(x, mean(x))))",
    "std": "sqrt(mean(square(subtract(x, mean(x)))))",
    "norm": "sqrt(sum(square(x)))",
    "logsumexp": "add(max(x), log(sum(exp(subtract(x, max(x))))))",
    "softmin": "softmax(negative(x))",
    "stack": "concat(expand_dims(x), expand_dims(y))",
    "tile": "concat(x, x)",
    "repeat": "reshape(broadcast_to(expand_dims(x)))",
    "roll": "concat(strided_slice(x), strided_slice(x))",
    "one_hot": "astype(equal(expand_dims(x), arange()))",
    "eye": "astype(equal(expand_dims(arange()), arange()))",
    "tril": "where(less_equal(arange(), expand_dims(arange())), x, 0)",
    "triu": "where(greater_equal(arange(), expand_dims(arange())), x, 0)",
    "linspace": "add(start, multiply(step, arange()))",
    "sort": "top_k(x), with k the extent of the axis",
    "argsort": "top_k(x), with k the extent of the axis",
}
"""Names that several ops together stand for."""

FOREIGN_DIALECTS: Final = frozenset(
    {"np", "numpy", "scipy", "torch", "aten", "prims", "nn", "F", "functional", "onnx", "tosa", "stablehlo", "mhlo"}
    | {"chlo", "hlo", "tf", "jax", "jnp", "lax", "relax", "relay"}
)
"""What stands in front of the names of other systems."""


def _table() -> dict[str, tuple[tuple[str, ...], ...]]:
    rows = [[cell.split() for cell in line.split("|")] for line in TABLE.strip().splitlines()]
    return {row[0][0]: tuple(tuple(name for name in cell if name != "-") for cell in row[1:]) for row in rows}


ALIASES: Final = _table()
"""The names of every op of the graph dialect (without `graph.`) in each of `SYSTEMS`."""


def normal_form(name: str) -> str:
    """Returns a name as it is looked up: in lower case, without underscores."""
    return name.lower().replace("_", "")


def _by_name() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for op in ALIASES:
        found[normal_form(op)] = {op: None}  # an op's own name means that op first
    for op, systems in ALIASES.items():
        for name in (name for names in systems for name in names):
            key = name if "." in name else normal_form(name)
            found.setdefault(key, {})[op] = None
    return {name: tuple(ops) for name, ops in found.items()}


_OPS_BY_NAME: Final = _by_name()
_RECIPE_BY_NAME: Final = {normal_form(name): recipe for name, recipe in RECIPES.items()}


def ops_called(name: str) -> tuple[str, ...]:
    """
    Returns the ops of the graph dialect that a name of another system stands for, with `graph.` in front.

    `name` is a bare name such as `mul`, or one with its dialect such as `arith.addf`, `torch.mul` or `aten.mul.Tensor`.
    Returns nothing for a name that no system knows.
    """
    for key in _keys(name):
        if key in _OPS_BY_NAME:
            return tuple(f"graph.{op}" for op in _OPS_BY_NAME[key])
    return ()


def recipe_for(name: str) -> str | None:
    """Returns how graph ops spell a name that stands for several of them, or `None`."""
    return next((_RECIPE_BY_NAME[key] for key in _keys(name) if key in _RECIPE_BY_NAME), None)


def _keys(name: str) -> list[str]:
    """What to look `name` up by: as it is for other dialects of MLIR, each of its parts for those of other systems."""
    dialect, _, rest = name.rpartition(".") if "." not in name else name.partition(".")
    if dialect not in FOREIGN_DIALECTS and dialect not in ("", "graph"):
        return [name]
    return [normal_form(part) for part in rest.split(".") if part]


def names_to_misspell() -> list[str]:
    """Returns the names of the table that are long enough to recognise a misspelling of them."""
    names = {name for systems in ALIASES.values() for names in systems for name in names}
    return sorted(name for name in {*names, *RECIPES} if "." not in name and len(name) > 4)


def no_such_op(name: str) -> str:
    """Returns the message that the graph dialect has no op `name`, with what is near."""
    near = hint_for(name) or did_you_mean(name, ALIASES)
    return f"the graph dialect has no op '{name}'" + ("" if near is None else f", {near}")


def hint_for(name: str) -> str | None:
    """Returns the hint for an op name that another system knows, or `None`: `did you mean 'graph.multiply'?`."""
    if ops := ops_called(name):
        quoted = [f"'{op}'" for op in ops]
        return f"did you mean {', '.join(quoted[:-1])}{' or ' if len(quoted) > 1 else ''}{quoted[-1]}?"
    recipe = recipe_for(name)
    return None if recipe is None else f"several graph ops make it: {recipe}"
