"""
Ops that xDSL's `llvm` dialect lacks and that the last stair needs; each is one LLVM instruction or intrinsic.

Source: LLVM Language Reference Manual, sections named in each op. `llvm.call_intrinsic` serves every
intrinsic that needs no operand of a kind MLIR cannot express (alignment on a pointer argument, say).
"""

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    AnyFloat,
    AnyFloatConstr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import ALL_FCMP_FLAGS, FastMathAttr, FCmpPredicateFlag, LLVMPointerType
from xdsl.ir import Attribute, Block, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException


def _element_and_lanes(value_type: Attribute) -> tuple[Attribute, tuple[int, ...] | None]:
    """The element type and the shape of a vector type; `None` as shape for a scalar."""
    if isinstance(value_type, VectorType):
        return value_type.element_type, value_type.get_shape()
    return value_type, None


class _CastOp(IRDLOperation, ABC):
    """Element-wise cast between a float and a signless integer type (scalars or vectors of one shape)."""

    FROM_FLOAT: ClassVar[bool]

    arg = operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($result)"

    def __init__(self, arg: Operation | SSAValue, result_type: Attribute):
        super().__init__(operands=[arg], result_types=[result_type])

    def verify_(self) -> None:
        source, source_lanes = _element_and_lanes(self.arg.type)
        target, target_lanes = _element_and_lanes(self.result.type)
        if source_lanes != target_lanes:
            raise VerifyException(
                f"operand is {self.arg.type} but result is {self.result.type}: lanes differ"
            )
        floating, integer = (source, target) if self.FROM_FLOAT else (target, source)
        if not isinstance(floating, AnyFloat) or not isinstance(integer, IntegerType):
            want = "a float to an integer" if self.FROM_FLOAT else "an integer to a float"
            raise VerifyException(f"converts {want} type, found {self.arg.type} to {self.result.type}")


@irdl_op_definition
class FPToSIOp(_CastOp):
    """
    `result = trunc(arg)` as a signed integer; poison when the value does not fit.

    ```mlir
    %i = llvm_ext.fptosi %x : f32 to i32
    ```

    Source: LLVM LangRef, "fptosi .. to".
    """

    name = "llvm_ext.fptosi"
    FROM_FLOAT: ClassVar[bool] = True


@irdl_op_definition
class FPToUIOp(_CastOp):
    """
    `result = trunc(arg)` as an unsigned integer; poison when the value does not fit.

    Source: LLVM LangRef, "fptoui .. to".
    """

    name = "llvm_ext.fptoui"
    FROM_FLOAT: ClassVar[bool] = True


@irdl_op_definition
class UIToFPOp(_CastOp):
    """
    The nearest float (ties to even) of `arg` read as an unsigned integer.

    Source: LLVM LangRef, "uitofp .. to".
    """

    name = "llvm_ext.uitofp"
    FROM_FLOAT: ClassVar[bool] = False


@irdl_op_definition
class SIToFPOp(_CastOp):
    """
    The nearest float (ties to even) of `arg` read as a signed integer; `llvm.sitofp` with a verifier.

    Source: LLVM LangRef, "sitofp .. to".
    """

    name = "llvm_ext.sitofp"
    FROM_FLOAT: ClassVar[bool] = False


@irdl_op_definition
class FCmpOp(IRDLOperation):
    """
    Comparison of floats, lane by lane on vectors, with fast-math flags (`llvm.fcmp` takes scalars only and
    does not print its flags).

    ```mlir
    %m = llvm_ext.fcmp "olt" %a, %b {fastmathFlags = #llvm.fastmath<nnan>} : vector<8xf32>
    ```

    Source: LLVM LangRef, "fcmp".
    """

    name = "llvm_ext.fcmp"

    T: ClassVar = VarConstraint("T", AnyFloatConstr | VectorType.constr(AnyFloatConstr))

    lhs = operand_def(T)
    rhs = operand_def(T)
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(FastMathAttr, default_value=FastMathAttr(None))
    result = result_def(AnyAttr())

    traits = traits_def(Pure())

    def __init__(
        self,
        predicate: str,
        lhs: Operation | SSAValue,
        rhs: Operation | SSAValue,
        fastmath: FastMathAttr | None = None,
    ):
        lhs = SSAValue.get(lhs)
        super().__init__(
            operands=[lhs, rhs],
            properties={
                "predicate": IntegerAttr(FCmpPredicateFlag(predicate).to_int(), i64),
                "fastmathFlags": FastMathAttr(None) if fastmath is None else fastmath,
            },
            result_types=[self.result_type(lhs.type)],
        )

    @staticmethod
    def result_type(operand_type: Attribute) -> Attribute:
        """`i1`, or a vector of `i1` with the operand's lanes."""
        if isinstance(operand_type, VectorType):
            return VectorType(i1, operand_type.get_shape())
        return i1

    # Written by hand: the predicate is an integer property printed as its name.
    @classmethod
    def parse(cls, parser: Parser) -> "FCmpOp":
        pos = parser.pos
        predicate = parser.parse_str_literal()
        if predicate not in {flag.value for flag in ALL_FCMP_FLAGS}:
            parser.raise_error(f"unknown fcmp predicate '{predicate}'", pos, parser.pos)
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operand_type = parser.parse_type()
        operands = parser.resolve_operands([lhs, rhs], [operand_type] * 2, parser.pos)
        fastmath = attributes.pop("fastmathFlags", None)
        op = cls(predicate, *operands, fastmath if isinstance(fastmath, FastMathAttr) else None)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{FCmpPredicateFlag.from_int(self.predicate.value.data)}" ')
        printer.print_list(self.operands, printer.print_ssa_value)
        attributes = dict(self.attributes)
        if self.fastmathFlags.data:
            attributes["fastmathFlags"] = self.fastmathFlags
        printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(ALL_FCMP_FLAGS):
            raise VerifyException(f"predicate is {self.predicate.value.data}, expected 0 to 15")
        if self.result.type != (expected := self.result_type(self.lhs.type)):
            raise VerifyException(f"result is {self.result.type}, expected {expected}")


@irdl_op_definition
class SelectOp(IRDLOperation):
    """
    `result[l] = cond[l] ? lhs[l] : rhs[l]` on the lanes of vectors (`llvm.select` takes a scalar condition).

    ```mlir
    %r = llvm_ext.select %m, %a, %b : vector<8xi1>, vector<8xf32>
    ```

    Source: LLVM LangRef, "select".
    """

    name = "llvm_ext.select"

    T: ClassVar = VarConstraint("T", VectorType.constr())

    cond = operand_def(VectorType.constr(I1))
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$cond `,` $lhs `,` $rhs attr-dict `:` type($cond) `,` type($result)"

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        if _element_and_lanes(self.cond.type)[1] != _element_and_lanes(self.result.type)[1]:
            raise VerifyException(f"condition is {self.cond.type} but result is {self.result.type}")


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """
    `result = vector[index]`; poison when `index` is past the last lane.

    ```mlir
    %x = llvm_ext.extractelement %v[%i : i64] : vector<8xf32>
    ```

    Source: LLVM LangRef, "extractelement".
    """

    name = "llvm_ext.extractelement"

    T: ClassVar = VarConstraint("T", AnyAttr())

    vector = operand_def(VectorType.constr(T))
    index = operand_def(IntegerType)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$vector `[` $index `:` type($index) `]` attr-dict `:` type($vector)"

    def __init__(self, vector: SSAValue, index: SSAValue):
        super().__init__(operands=[vector, index], result_types=[_element_and_lanes(vector.type)[0]])


@irdl_op_definition
class FreezeOp(IRDLOperation):
    """
    `arg` when it is well defined, else some fixed value of its type.

    Source: LLVM LangRef, "freeze".
    """

    name = "llvm_ext.freeze"

    T: ClassVar = VarConstraint("T", AnyAttr())

    arg = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($arg)"

    def __init__(self, arg: SSAValue):
        super().__init__(operands=[arg], result_types=[arg.type])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """
    The poison value of a type.

    Source: LLVM LangRef, "Poison Values".
    """

    name = "llvm_ext.poison"

    result = result_def(AnyAttr())

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result_type: Attribute):
        super().__init__(result_types=[result_type])


ATOMIC_KINDS = (
    *("xchg", "add", "sub", "and", "nand", "or", "xor", "max", "min", "umax", "umin"),
    *("fadd", "fsub", "fmax", "fmin", "fmaximum", "fminimum"),
)
ATOMIC_ORDERINGS = ("monotonic", "acquire", "release", "acq_rel", "seq_cst")


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """
    `result = *ptr; *ptr = kind(result, value)` as one atomic step. `alignment` is in bytes.

    ```mlir
    %old = llvm_ext.atomicrmw %p, %v {alignment = 4 : i64, kind = "add", ordering = "monotonic"} : i32
    ```

    Source: LLVM LangRef, "atomicrmw".
    """

    name = "llvm_ext.atomicrmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    ptr = operand_def(LLVMPointerType())
    value = operand_def(T)
    kind = prop_def(StringAttr)
    ordering = prop_def(StringAttr)
    alignment = prop_def(IntegerAttr)
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $value attr-dict `:` type($value)"

    def __init__(
        self, kind: str, ptr: SSAValue, value: SSAValue, alignment: int, ordering: str = "monotonic"
    ):
        super().__init__(
            operands=[ptr, value],
            properties={
                "kind": StringAttr(kind),
                "ordering": StringAttr(ordering),
                "alignment": IntegerAttr(alignment, i64),
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        if (kind := self.kind.data) not in ATOMIC_KINDS:
            raise VerifyException(f"kind is '{kind}', expected one of {', '.join(ATOMIC_KINDS)}")
        if (ordering := self.ordering.data) not in ATOMIC_ORDERINGS:
            raise VerifyException(f"ordering is '{ordering}', expected one of {', '.join(ATOMIC_ORDERINGS)}")
        _verify_alignment(self.alignment)


def _verify_alignment(alignment: IntegerAttr) -> None:
    """Raises unless `alignment` (bytes) is a power of two."""
    if (size := alignment.value.data) <= 0 or size & (size - 1):
        raise VerifyException(f"alignment is {size}, expected a power of two")


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """
    `result[l] = mask[l] ? ptr[l] : pass_thru[l]`; lanes switched off are not read. `alignment` is in bytes.

    Source: LLVM LangRef, "llvm.masked.load".
    """

    name = "llvm_ext.masked_load"

    T: ClassVar = VarConstraint("T", VectorType.constr())

    ptr = operand_def(LLVMPointerType())
    mask = operand_def(VectorType.constr(I1))
    pass_thru = operand_def(T)
    alignment = prop_def(IntegerAttr)
    result = result_def(T)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $mask `,` $pass_thru attr-dict `:` type($mask) `,` type($result)"

    def __init__(self, ptr: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[ptr, mask, pass_thru],
            properties={"alignment": IntegerAttr(alignment, i64)},
            result_types=[pass_thru.type],
        )

    def verify_(self) -> None:
        _verify_alignment(self.alignment)
        if _element_and_lanes(self.mask.type)[1] != _element_and_lanes(self.result.type)[1]:
            raise VerifyException(f"mask is {self.mask.type} but result is {self.result.type}")


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """
    `ptr[l] = value[l]` where `mask[l]`; lanes switched off are not written. `alignment` is in bytes.

    Source: LLVM LangRef, "llvm.masked.store".
    """

    name = "llvm_ext.masked_store"

    value = operand_def(VectorType.constr())
    ptr = operand_def(LLVMPointerType())
    mask = operand_def(VectorType.constr(I1))
    alignment = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$value `,` $ptr `,` $mask attr-dict `:` type($mask) `,` type($value)"

    def __init__(self, value: SSAValue, ptr: SSAValue, mask: SSAValue, alignment: int):
        super().__init__(operands=[value, ptr, mask], properties={"alignment": IntegerAttr(alignment, i64)})

    def verify_(self) -> None:
        _verify_alignment(self.alignment)
        if _element_and_lanes(self.mask.type)[1] != _element_and_lanes(self.value.type)[1]:
            raise VerifyException(f"mask is {self.mask.type} but value is {self.value.type}")


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """
    Branch on an integer: to the block of the equal case value, else to the default block.

    ```mlir
    llvm_ext.switch %v : i32, default ^other(%a : i32), [0: ^zero, -1: ^minus(%b : i32)]
    ```

    Source: LLVM LangRef, "switch".
    """

    name = "llvm_ext.switch"

    value = operand_def(IntegerType)
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_values = prop_def(DenseArrayBase.constr(i64))
    case_operand_segments = prop_def(DenseArrayBase.constr(i32))
    default_block = successor_def()
    case_blocks = var_successor_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def __init__(
        self,
        value: SSAValue,
        default_block: Block,
        default_operands: Sequence[SSAValue],
        cases: Sequence[tuple[int, Block, Sequence[SSAValue]]],
    ):
        super().__init__(
            operands=[value, default_operands, [v for _, _, operands in cases for v in operands]],
            properties={
                "case_values": DenseArrayBase.from_list(i64, [c for c, _, _ in cases]),
                "case_operand_segments": DenseArrayBase.from_list(i32, [len(o) for _, _, o in cases]),
            },
            successors=[default_block, [block for _, block, _ in cases]],
        )

    def cases(self) -> list[tuple[int, Block, tuple[SSAValue, ...]]]:
        """(value, block, operands of the block) of each case in order."""
        operands, start, result = tuple(self.case_operands), 0, []
        for number, block, count in zip(
            self.case_values.iter_values(),
            self.case_blocks,
            self.case_operand_segments.iter_values(),
            strict=True,
        ):
            result.append((number, block, operands[start : start + count]))
            start += count
        return result

    # Written by hand: declarative formats have no list of successors that carry operands.
    @classmethod
    def parse(cls, parser: Parser) -> "SwitchOp":
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation(",")
        parser.parse_keyword("default")
        default_block, default_operands = _parse_target(parser)
        parser.parse_punctuation(",")

        def parse_case() -> tuple[int, Block, list[SSAValue]]:
            number = parser.parse_integer()
            parser.parse_punctuation(":")
            return number, *_parse_target(parser)

        cases = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_case)
        op = cls(value, default_block, default_operands, cases)
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        def print_case(case: tuple[int, Block, tuple[SSAValue, ...]]) -> None:
            printer.print_string(f"{case[0]}: ")
            _print_target(printer, case[1], case[2])

        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(", default ")
        _print_target(printer, self.default_block, self.default_operands)
        printer.print_string(", ")
        with printer.in_square_brackets():
            printer.print_list(self.cases(), print_case)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        counts = tuple(self.case_operand_segments.iter_values())
        values = tuple(self.case_values.iter_values())
        if not len(counts) == len(values) == len(self.case_blocks):
            raise VerifyException(
                f"{len(values)} case values, {len(counts)} operand counts and {len(self.case_blocks)} blocks"
            )
        if sum(counts) != len(self.case_operands):
            raise VerifyException(f"operand counts add up to {sum(counts)}, found {len(self.case_operands)}")
        if len(set(values)) != len(values):
            raise VerifyException(f"case values {list(values)} are not distinct")


def _parse_target(parser: Parser) -> tuple[Block, list[SSAValue]]:
    """`^block` or `^block(%a : type, ...)`."""
    block = parser.parse_successor()

    def parse_one() -> SSAValue:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return parser.resolve_operand(unresolved, parser.parse_type())

    operands = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parse_one)
    return block, [] if operands is None else operands


def _print_target(printer: Printer, block: Block, operands: Sequence[SSAValue]) -> None:
    def print_one(value: SSAValue) -> None:
        printer.print_ssa_value(value)
        printer.print_string(" : ")
        printer.print_attribute(value.type)

    printer.print_block_name(block)
    if operands:
        with printer.in_parens():
            printer.print_list(operands, print_one)


LLVMExt = Dialect(
    "llvm_ext",
    [
        AtomicRMWOp,
        ExtractElementOp,
        FCmpOp,
        FPToSIOp,
        FPToUIOp,
        FreezeOp,
        MaskedLoadOp,
        MaskedStoreOp,
        PoisonOp,
        SIToFPOp,
        SelectOp,
        SwitchOp,
        UIToFPOp,
    ],
    [],
)
