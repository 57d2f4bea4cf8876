"""The conversion of `scf` and `cf` to blocks and branches, with the early return of a failed check."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, cf, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerType, StringAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ...core.ir.dominance import successors
from ...core.ir.literals import constant_of
from ...core.ir.walk import ops_in
from ...core.roles import LOOP as LOOP_ATTRIBUTE
from ...dialects import llvm_ext
from .attributes import NSW
from .lanes import as_before, carried, passed_on
from .llvm_body import ConversionTable, LLVMBody
from .long_loops import LoopLengths
from .no_vectors import has_no_vectors
from .pieces import piece_types

LOOP_HINTS = ("vectorize", "no-vectorize", "unroll", "no-unroll")

ConvertOp = Callable[[LLVMBody, Operation], None]


def single_block(builder: LLVMBody, region: Region, arguments: Sequence[SSAValue], convert: ConvertOp) -> Operation:
    """Converts the one block of `region` in place, with `arguments` for its own, and returns its terminator."""
    block = region.block
    builder.bind_all(block.args, arguments)
    terminator = block.last_op
    assert terminator is not None
    for op in ops_in(block)[:-1]:
        convert(builder, op)
    builder.source = terminator
    return terminator


def reachable(region: Region) -> list[Block]:
    """Returns the blocks that the entry reaches, each after its dominators (reverse postorder)."""
    entry = region.first_block
    assert entry is not None
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(successors(entry)))]
    while stack:
        block, following = stack[-1]
        unseen = next((b for b in following if b not in seen), None)
        if unseen is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(unseen)
            stack.append((unseen, iter(successors(unseen))))
    return order[::-1]


def region_blocks(builder: LLVMBody, region: Region, convert: ConvertOp) -> None:
    """Converts a region of any number of blocks. The entry block goes to where the cursor is."""
    blocks = reachable(region)
    entry, *others = blocks
    for block in others:
        new = Block(arg_types=[builder.types.convert(argument.type) for argument in block.args])
        builder.block_map[block] = new
        for argument, new_argument in zip(block.args, new.args, strict=True):
            builder.bind(argument, new_argument)
    for block in blocks:
        if block is not entry:
            builder.start(builder.block_map[block])
        for op in ops_in(block):
            convert(builder, op)


class ControlConversions:
    """The conversions of ops with regions. They need `convert` for the ops inside."""

    def __init__(self, convert: ConvertOp):
        self.convert = convert
        self._lengths = LoopLengths()

    def table(self) -> ConversionTable:
        """Returns the conversion of each type of op."""
        return {
            scf.ForOp: self.convert_for,
            scf.ParallelOp: self.convert_parallel,
            scf.IfOp: self.convert_if,
            scf.WhileOp: self.convert_while,
            scf.IndexSwitchOp: self.convert_index_switch,
            scf.ExecuteRegionOp: self.convert_execute_region,
            scf.YieldOp: convert_yield,
            cf.BranchOp: convert_br,
            cf.ConditionalBranchOp: convert_cond_br,
            cf.SwitchOp: convert_switch,
            cf.AssertOp: convert_assert,
        }

    def convert_for(self, builder: LLVMBody, op: scf.ForOp) -> None:
        hint = loop_hint(builder, op)
        if LOOP_ATTRIBUTE not in op.attributes and self._lengths.is_long(op):
            hint = StringAttr("no-vectorize,no-unroll")
        bounds = (op.lb, op.ub, op.step)
        initial = builder.values_of(op.iter_args)

        def body(index: SSAValue, carried: list[SSAValue]) -> list[SSAValue]:
            terminator = single_block(builder, op.body, (index, *carried), self.convert)
            return builder.values_of(terminator.operands)

        builder.bind_all(op.res, counted_loop(builder, op, bounds, initial, body, hint))

    def convert_parallel(self, builder: LLVMBody, op: scf.ParallelOp) -> None:
        """Makes serial loops, outermost dimension first. The reductions are carried through all of them."""
        hint = loop_hint(builder, op)
        bounds = list(zip(op.lowerBound, op.upperBound, op.step, strict=True))

        def nest(depth: int, indices: list[SSAValue], carried: list[SSAValue]) -> list[SSAValue]:
            if depth == len(bounds):
                terminator = single_block(builder, op.body, indices, self.convert)
                return self._reduce(builder, terminator, carried)

            def body(index: SSAValue, inner: list[SSAValue]) -> list[SSAValue]:
                return nest(depth + 1, [*indices, index], inner)

            inner_hint = hint if depth == len(bounds) - 1 else None
            return counted_loop(builder, op, bounds[depth], carried, body, inner_hint)

        results = nest(0, [], builder.values_of(op.initVals))
        for result, value in zip(op.res, results, strict=True):
            builder.bind(result, value)

    def _reduce(self, builder: LLVMBody, terminator: Operation, carried: list[SSAValue]) -> list[SSAValue]:
        """Returns the carried values after the combiners of `scf.reduce`."""
        if not isinstance(terminator, scf.ReduceOp):
            return carried
        combined: list[SSAValue] = []
        for region, value, total in zip(terminator.reductions, terminator.args, carried, strict=True):
            returned = single_block(builder, region, (total, builder.value(value)), self.convert)
            combined.append(builder.value(returned.operands[0]))
        return combined

    def convert_if(self, builder: LLVMBody, op: scf.IfOp) -> None:
        then_block, else_block = Block(), Block()
        types = [each for result in op.output for each in piece_types(builder.types, result.type)]
        after = Block(arg_types=[passed_on(builder, each) for each in types])
        has_else = bool(op.false_region.blocks)
        builder.branch_if(builder.value(op.cond), then_block, (), else_block if has_else else after, ())
        regions = [(then_block, op.true_region)]
        if has_else:
            regions.append((else_block, op.false_region))
        for block, region in regions:
            builder.start(block)
            terminator = single_block(builder, region, (), self.convert)
            builder.branch(after, carried(builder, builder.values_of(terminator.operands)))
        builder.source = op
        builder.start(after)
        builder.bind_all(op.results, as_before(builder, after.args, types))

    def _go_on(self, builder: LLVMBody, op: Operation, after: Block) -> None:
        """Moves the cursor to `after`, whose arguments are the results of `op`."""
        builder.source = op
        builder.start(after)
        builder.bind_all(op.results, after.args)

    def convert_while(self, builder: LLVMBody, op: scf.WhileOp) -> None:
        hint = loop_hint(builder, op)
        before = Block(arg_types=[builder.types.convert(a.type) for a in op.before_region.block.args])
        body = Block(arg_types=[builder.types.convert(a.type) for a in op.after_region.block.args])
        after = Block(arg_types=[builder.types.convert(result.type) for result in op.res])
        builder.branch(before, builder.values_of(op.arguments))
        builder.start(before)
        condition = single_block(builder, op.before_region, before.args, self.convert)
        assert isinstance(condition, scf.ConditionOp)
        passed = builder.values_of(condition.args)
        builder.branch_if(builder.value(condition.condition), body, passed, after, passed)
        builder.start(body)
        terminator = single_block(builder, op.after_region, body.args, self.convert)
        back = builder.branch(before, builder.values_of(terminator.operands))
        set_hint(back, hint)
        self._go_on(builder, op, after)

    def convert_index_switch(self, builder: LLVMBody, op: scf.IndexSwitchOp) -> None:
        after = Block(arg_types=[builder.types.convert(result.type) for result in op.output])
        default, cases = Block(), [Block() for _ in op.case_regions]
        switch_to(
            builder,
            builder.value(op.arg),
            default,
            (),
            [(value, block, ()) for value, block in zip(op.cases.iter_values(), cases, strict=True)],
        )
        for block, region in zip([default, *cases], [op.default_region, *op.case_regions], strict=True):
            builder.start(block)
            terminator = single_block(builder, region, (), self.convert)
            builder.branch(after, builder.values_of(terminator.operands))
        self._go_on(builder, op, after)

    def convert_execute_region(self, builder: LLVMBody, op: scf.ExecuteRegionOp) -> None:
        after = Block(arg_types=[builder.types.convert(result.type) for result in op.outs])
        builder.yield_targets.append(after)
        region_blocks(builder, op.region, self.convert)
        builder.yield_targets.pop()
        self._go_on(builder, op, after)


def loop_hint(builder: LLVMBody, op: Operation) -> StringAttr | None:
    """
    Returns the attribute `stepwell.loop` of a loop, or None when it is malformed.

    A loop that does not ask for vectors gets none, since the schedule decides. LLVM would vectorise short loops too and
    end them in masked stores, which it miscompiles (`llvm_text.tables.LOOP_METADATA`). Nor does the loop of a maximum
    that passes over NaNs: for some numbers of iterations an assertion of LLVM's vectoriser ends the process.
    """
    hint = op.attributes.get(LOOP_ATTRIBUTE)
    if hint is None or (hint == StringAttr("vectorize") and (_is_maximum_of_numbers(op) or has_no_vectors(op))):
        return StringAttr("no-vectorize")
    if not isinstance(hint, StringAttr) or any(word not in LOOP_HINTS for word in hint.data.split(",")):
        builder.error(f"{LOOP_ATTRIBUTE} is {hint}, expected one of {', '.join(LOOP_HINTS)}")
        return None
    asks = {"vectorize", "no-vectorize"} & set(hint.data.split(","))
    return hint if asks else StringAttr(f"{hint.data},no-vectorize")


def _is_maximum_of_numbers(op: Operation) -> bool:
    """Returns whether a loop carries a `maxnumf` or `minnumf` of what it has seen."""
    end = op.regions[0].blocks[0].last_op
    owners = [] if end is None else [value.owner for value in end.operands]
    return any(isinstance(owner, arith.MaxnumfOp | arith.MinnumfOp) for owner in owners)


def set_hint(back_edge: Operation, hint: StringAttr | None) -> None:
    """Puts the hint of a loop on the branch to its start."""
    if hint is not None:
        back_edge.attributes[LOOP_ATTRIBUTE] = hint


def counted_loop(
    builder: LLVMBody,
    op: Operation,
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    initial: list[SSAValue],
    body: Callable[[SSAValue, list[SSAValue]], list[SSAValue]],
    hint: StringAttr | None,
) -> list[SSAValue]:
    """
    Makes a loop that tests at its end, behind one test of the bounds unless they are constants.

    A loop known to run once or not at all has no branch. Returns the carried values after the loop.
    """
    lower, upper, step = builder.values_of(bounds)
    known = [constant_of(bound) for bound in bounds]
    runs = None
    if known[0] is not None and known[1] is not None and known[2] is not None and known[2] > 0:
        runs = max(0, -(-(known[1] - known[0]) // known[2]))
    if runs == 0:
        return initial
    if runs == 1:
        results = body(lower, initial)
        builder.source = op
        return results
    first, types = carried(builder, initial), [value.type for value in initial]
    start = Block(arg_types=[lower.type, *(value.type for value in first)])
    done = Block(arg_types=[value.type for value in first])
    if runs is None:
        enters = builder.icmp("slt", lower, upper)
        builder.branch_if(enters, start, (lower, *first), done, first)
    else:
        builder.branch(start, (lower, *first))
    builder.start(start)
    results = carried(builder, body(start.args[0], as_before(builder, start.args[1:], types)))
    builder.source = op
    # The sum cannot wrap for an index. It is below the upper bound plus the step, and both are sizes of memory.
    following = builder.add(start.args[0], step, NSW if isinstance(bounds[0].type, IndexType) else 0)
    again = builder.icmp("slt", following, upper)
    back = builder.branch_if(again, start, (following, *results), done, results)
    set_hint(back, hint)
    builder.start(done)
    return as_before(builder, done.args, types)


def convert_yield(builder: LLVMBody, op: scf.YieldOp) -> None:
    """Converts the terminator of an `scf.execute_region`. The other parents take their terminators themselves."""
    builder.branch(builder.yield_targets[-1], builder.values_of(op.arguments))


def convert_br(builder: LLVMBody, op: cf.BranchOp) -> None:
    back = builder.branch(builder.block_map[op.successor], builder.values_of(op.arguments))
    set_hint(back, loop_hint(builder, op))


def convert_cond_br(builder: LLVMBody, op: cf.ConditionalBranchOp) -> None:
    back = builder.branch_if(
        builder.value(op.cond),
        builder.block_map[op.then_block],
        builder.values_of(op.then_arguments),
        builder.block_map[op.else_block],
        builder.values_of(op.else_arguments),
    )
    set_hint(back, loop_hint(builder, op))


def switch_to(
    builder: LLVMBody,
    value: SSAValue,
    default: Block,
    default_operands: Sequence[SSAValue],
    cases: Sequence[tuple[int, Block, Sequence[SSAValue]]],
) -> None:
    """Appends an `llvm_ext.switch`."""
    switch = llvm_ext.SwitchOp(value, default, default_operands, cases)
    if builder.source is not None:
        switch.location = builder.source.location
    builder.block.add_op(switch)


def convert_switch(builder: LLVMBody, op: cf.SwitchOp) -> None:
    values: list[int] = []
    if isinstance(op.case_values, DenseIntOrFPElementsAttr):
        values = [int(value) for value in op.case_values.get_values()]  # type: ignore[arg-type]
    cases = [
        (value, builder.block_map[block], builder.values_of(operands))
        for value, block, operands in zip(values, op.case_blocks, op.case_operand, strict=True)
    ]
    default = builder.block_map[op.default_block]
    flag = builder.value(op.flag)
    assert isinstance(flag.type, IntegerType)
    switch_to(builder, flag, default, builder.values_of(op.default_operands), cases)


def convert_assert(builder: LLVMBody, op: cf.AssertOp) -> None:
    """Makes a branch to the return of the status of this check when the condition is false."""
    status = builder.state.check_number(op.msg.data, op)
    go_on = Block()
    builder.branch_if(builder.value(op.arg), go_on, (), builder.fail(), (builder.constant(status, i32),))
    builder.start(go_on)
