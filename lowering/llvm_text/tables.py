"""The tables that map ops and attributes of the llvm dialect to LLVM text."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import Operation

from ...dialects import llvm_ext

Overload = tuple[int, ...]
"""The types that make the suffix of an intrinsic: -1 is the result, n is argument n."""

RESULT: Overload = (-1,)
FIRST: Overload = (0,)
NONE: Overload = ()

INTRINSICS: dict[str, Overload] = {
    **dict.fromkeys(
        (
            *("fabs", "floor", "ceil", "sqrt", "fma", "fmuladd", "roundeven", "round", "trunc", "rint"),
            *("nearbyint", "copysign", "exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan"),
            *("pow", "maxnum", "minnum", "maximum", "minimum", "maximumnum", "minimumnum", "canonicalize"),
            *("smin", "smax", "umin", "umax", "abs", "ctpop", "ctlz", "cttz", "bswap", "bitreverse"),
            *("fshl", "fshr", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat", "sshl.sat", "ushl.sat"),
            *(
                "asin",
                "acos",
                "atan",
                "atan2",
                "sinh",
                "cosh",
                "tanh",
                "stepvector",
                "ssa.copy",
                "strip.invariant.group",
            ),
        ),
        RESULT,
    ),
    **dict.fromkeys(
        (
            *("sadd.with.overflow", "uadd.with.overflow", "ssub.with.overflow", "usub.with.overflow"),
            *("smul.with.overflow", "umul.with.overflow", "prefetch", "expect", "is.fpclass"),
            *("lifetime.start", "lifetime.end", "invariant.start"),
            *(f"vector.reduce.{kind}" for kind in ("add", "mul", "and", "or", "xor")),
            *(f"vector.reduce.{kind}" for kind in ("smin", "smax", "umin", "umax")),
            *(f"vector.reduce.{kind}" for kind in ("fmin", "fmax", "fminimum", "fmaximum")),
        ),
        FIRST,
    ),
    "vector.reduce.fadd": (1,),
    "vector.reduce.fmul": (1,),
    "fptosi.sat": (-1, 0),
    "fptoui.sat": (-1, 0),
    "lrint": (-1, 0),
    "llrint": (-1, 0),
    "lround": (-1, 0),
    "llround": (-1, 0),
    "powi": (-1, 1),
    "ldexp": (-1, 1),
    "get.active.lane.mask": (-1, 0),
    "masked.load": (-1, 0),
    "masked.store": (0, 1),
    "masked.gather": (-1, 0),
    "masked.scatter": (0, 1),
    "masked.expandload": (-1,),
    "masked.compressstore": (0,),
    "memcpy": (0, 1, 2),
    "memmove": (0, 1, 2),
    "memset": (0, 2),
    "vector.insert": (-1, 1),
    "vector.extract": (-1, 0),
    "vector.reverse": (-1,),
    "stacksave": (-1,),
    "stackrestore": (0,),
    "expect.with.probability": (0,),
    "ptrmask": (0, 1),
    "launder.invariant.group": (0,),
    "assume": NONE,
    "trap": NONE,
    "debugtrap": NONE,
    "donothing": NONE,
    "readcyclecounter": NONE,
}
"""The overload of each intrinsic, by its name without `llvm.`. A name that is not here is printed as it stands."""

INTRINSIC_OPS: dict[type[Operation], str] = {
    llvm.FAbsOp: "fabs",
    llvm.FCeilOp: "ceil",
    llvm.FFloorOp: "floor",
    llvm.FSqrtOp: "sqrt",
    llvm.FExpOp: "exp",
    llvm.FExp2Op: "exp2",
    llvm.FLogOp: "log",
    llvm.FLog2Op: "log2",
    llvm.FSinOp: "sin",
    llvm.FCosOp: "cos",
    llvm.FPowOp: "pow",
    llvm.FCopySignOp: "copysign",
    llvm.FMAOp: "fma",
    llvm.VectorFMaxOp: "maxnum",
    llvm.VectorFMinOp: "minnum",
    llvm.VectorReduceFAddOp: "vector.reduce.fadd",
    llvm.VectorReduceFMulOp: "vector.reduce.fmul",
    llvm.StackSaveOp: "stacksave",
    llvm.StackRestoreOp: "stackrestore",
}

BINARY: dict[type[Operation], str] = {
    llvm.AddOp: "add",
    llvm.SubOp: "sub",
    llvm.MulOp: "mul",
    llvm.ShlOp: "shl",
    llvm.UDivOp: "udiv",
    llvm.SDivOp: "sdiv",
    llvm.LShrOp: "lshr",
    llvm.AShrOp: "ashr",
    llvm.URemOp: "urem",
    llvm.SRemOp: "srem",
    llvm.AndOp: "and",
    llvm.OrOp: "or",
    llvm.XOrOp: "xor",
    llvm.FAddOp: "fadd",
    llvm.FSubOp: "fsub",
    llvm.FMulOp: "fmul",
    llvm.FDivOp: "fdiv",
    llvm.FRemOp: "frem",
}
BINARY_PROPERTIES = frozenset({"overflowFlags", "isExact", "isDisjoint", "fastmathFlags"})

CASTS: dict[type[Operation], str] = {
    llvm.TruncOp: "trunc",
    llvm.ZExtOp: "zext",
    llvm.SExtOp: "sext",
    llvm.BitcastOp: "bitcast",
    llvm.SIToFPOp: "sitofp",
    llvm.FPExtOp: "fpext",
    llvm.FPTruncOp: "fptrunc",
    llvm.IntToPtrOp: "inttoptr",
    llvm.PtrToIntOp: "ptrtoint",
    llvm_ext.FPToSIOp: "fptosi",
    llvm_ext.FPToUIOp: "fptoui",
    llvm_ext.UIToFPOp: "uitofp",
    llvm_ext.SIToFPOp: "sitofp",
}
CAST_PROPERTIES = frozenset({"overflowFlags", "nonNeg"})

ARGUMENT_ATTRIBUTES: dict[str, str] = {
    "llvm.noalias": "noalias",
    "llvm.nonnull": "nonnull",
    "llvm.noundef": "noundef",
    "llvm.readonly": "readonly",
    "llvm.readnone": "readnone",
    "llvm.writeonly": "writeonly",
    "llvm.writable": "writable",
    "llvm.nocapture": "captures(none)",
    "llvm.nofree": "nofree",
    "llvm.nest": "nest",
    "llvm.returned": "returned",
    "llvm.signext": "signext",
    "llvm.zeroext": "zeroext",
    "llvm.inreg": "inreg",
    "llvm.immarg": "immarg",
    "llvm.dead_on_unwind": "dead_on_unwind",
}
"""Unit attributes of arguments and results."""

ARGUMENT_NUMBERS: dict[str, str] = {
    "llvm.align": "align {}",
    "llvm.alignstack": "alignstack({})",
    "llvm.dereferenceable": "dereferenceable({})",
    "llvm.dereferenceable_or_null": "dereferenceable_or_null({})",
}
ARGUMENT_TYPES: dict[str, str] = {
    "llvm.byval": "byval({})",
    "llvm.byref": "byref({})",
    "llvm.sret": "sret({})",
    "llvm.inalloca": "inalloca({})",
    "llvm.preallocated": "preallocated({})",
}

FUNCTION_KEYWORDS = frozenset(
    (
        *("alwaysinline", "builtin", "cold", "convergent", "hot", "inlinehint", "jumptable", "minsize"),
        *("mustprogress", "naked", "nobuiltin", "nocallback", "nodivergencesource", "noduplicate", "nofree"),
        *("noimplicitfloat", "noinline", "nomerge", "norecurse", "noredzone", "noreturn", "nosync"),
        *("nounwind", "nonlazybind", "noprofile", "null_pointer_is_valid", "optforfuzzing", "optnone"),
        *("optsize", "returns_twice", "safestack", "speculatable", "speculative_load_hardening", "ssp"),
        *("sspreq", "sspstrong", "strictfp", "willreturn", "uwtable"),
    )
)
"""Entries of `passthrough` that are words of LLVM. Any other entry is a string attribute."""

FUNCTION_NUMBERS = {"alignstack": "alignstack({})", "memory": "memory({})", "allocsize": "allocsize({})"}

FAST_MATH_ORDER = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")

LOOP_METADATA: dict[str, tuple[str, ...]] = {
    "vectorize": (
        '!"llvm.loop.vectorize.enable", i1 true',
        '!"llvm.loop.vectorize.predicate.enable", i1 false',
    ),
    "no-vectorize": ('!"llvm.loop.vectorize.enable", i1 false',),
    "unroll": ('!"llvm.loop.unroll.enable"',),
    "no-unroll": ('!"llvm.loop.unroll.disable"',),
}
"""
The metadata of a loop for each word of `stepwell.loop`.

Vector loops end in a scalar rest, never in a masked step. The reason is LLVM 22 on x86 with AVX-512. When a masked `<8
x i16>` of which one lane is on was truncated from `<8 x i32>`, it stores 32 bits, beyond the end of the buffer.
"""
