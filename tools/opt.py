"""
`stepwell-opt`: parse, verify, run passes, print. Every flag of `xdsl-opt`, and those of `docs/opt.md`.

Runs as a console script, as `python tools/opt.py`, and in-process through `main`.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not __package__:
    from bootstrap import make_package  # pyright: ignore[reportMissingImports, reportImplicitRelativeImport]

    make_package()
    from stepwell.tools.opt import main as _main  # pyright: ignore[reportMissingImports]

    sys.exit(_main())

import argparse
from collections.abc import Sequence
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import DiagnosticException, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from ..core.ir.verification import verify_module
from ..core.messages.collector import patient_collector
from ..core.messages.diagnostics import Diagnostic, StepwellError, attach_source_line, listening, render
from ..core.messages.locations import STANDARD_INPUT
from ..core.messages.texts import unknown_target
from ..core.passes.pipeline_text import parse_pipeline
from ..core.passes.pipelines import BrokenByPassError, PassFailure, run_pipeline
from ..core.plugins import registry
from ..core.roles import WEIGHTS
from ..core.text.errors import diagnostic_of
from ..core.text.parsing import make_context, parse_text, read_source
from .options import passes as opt_passes
from .options import rules as opt_rules
from .options import weights as opt_weights
from .options.colours import show
from .options.command import ArgumentParser, Sources, run_tool
from .options.flags import add_flags
from .options.outputs import refuse_overwriting
from .options.streams import Chunk, Outcome, Output, chunks, verification_of_attributes

if TYPE_CHECKING:
    from ..trust.blame.history import History

# Imports inside functions keep the start of the command fast: what serves single flags is loaded only when needed.


EXAMPLES = """
stepwell opt m.mlir                           verify and print a program
stepwell opt m.mlir -p O1 --elide-weights     what the optimiser makes of the graph
stepwell opt m.mlir -p O3 --remarks -o out.mlir
stepwell opt m.mlir -p O3 -t asm --kernel matmul
"""


class StepwellOptMain(xDSLOptMain):
    """xDSL's driver with our parser, verifier, pipelines and diagnostics."""

    def __init__(self, args: Sequence[str] | None = None):
        # Not super().__init__: it reads all entry points three times and reports errors by exceptions of many kinds.
        words = sys.argv[1:] if args is None else args
        if any(word.startswith("--load-plugin") for word in words):
            from .options.plugin_files import load_plugin_files, plugin_files_in

            load_plugin_files(plugin_files_in(words))
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.register_all_dialects()
        self.register_all_frontends()
        self.register_all_passes()
        self.register_all_targets()
        self.args = self.argument_parser().parse_args(args)
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        self.sources: dict[str, str] = {}
        self.passes: list[ModulePass] = []
        self.exit_code = 0
        self.expects_diagnostics = False
        """Whether the input announces diagnostics in comments, which are then to be exactly those that come."""

    # Registration

    def argument_parser(self) -> ArgumentParser:
        """The command line: the flags of xDSL, then ours, which take the place of its flags with the same name."""
        parser = ArgumentParser(
            prog="stepwell-opt",
            description="Parses, verifies, transforms and prints IR.",
            conflict_handler="resolve",
            examples=EXAMPLES,
        )
        self.register_all_arguments(parser)
        parser.add_flags_of_all()
        parser.add_shared("--load-plugin")
        return parser

    def register_all_dialects(self) -> None:
        self.ctx = make_context()

    def register_all_passes(self) -> None:
        self.available_passes = registry().passes

    def register_all_targets(self) -> None:
        self.available_targets.update(registry().targets)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        add_flags(arg_parser, self.available_targets)
        opt_weights.add_weight_flags(arg_parser)
        opt_rules.add_rule_flags(arg_parser)

    def setup_pipeline(self) -> None:
        target = parse_spec(self.args.target)
        if target.name not in self.available_targets:
            raise unknown_target(target.name, sorted(self.available_targets))
        if self.args.kernel is not None:
            self.args.target = opt_passes.target_of_kernel(target, self.args.kernel)
        opt_passes.check_flags(self.args)
        if self.args.replay is not None:
            self.passes = opt_passes.recorded_passes(self.args)
        else:
            self.passes = self._chosen_passes()
        opt_passes.check_files(self.args, self.passes)
        if self.args.check_schedule:
            self.passes = opt_passes.checked_schedules(self.passes)

    def _chosen_passes(self) -> list[ModulePass]:
        """What `-p` says, with the passes that flags about weights put around it."""
        own = parse_pipeline(self.args.passes)
        return [*opt_weights.passes_before(self.args), *own, *opt_weights.passes_after(self.args)]

    # Running

    def run(self) -> None:
        """Does what the command line says. `exit_code` tells how it went."""
        listing = self._listing()
        if listing is not None:
            print(listing)
            return
        if opt_rules.wants_rules(self.args):
            self.exit_code = opt_rules.run_on_rules(self.args, self.ctx)
            return
        with verification_of_attributes(not self.args.disable_verify):
            self.setup_pipeline()
            self.exit_code = self._process_input()

    def _listing(self) -> str | None:
        args = self.args
        if not (args.list_passes or args.list_dialects or args.list_plugins or args.explain_op or args.show_pipeline):
            return None
        from .options import listings

        if args.list_passes:
            return listings.list_passes()
        if args.list_dialects:
            return listings.list_dialects()
        if args.list_plugins:
            return listings.list_plugins()
        if args.explain_op:
            return listings.explain_op(self.ctx, args.explain_op)
        return listings.show_pipeline(args.show_pipeline)

    def get_input_name(self) -> str:
        return STANDARD_INPUT if self.args.input_file in (None, "-") else self.args.input_file

    def _process_input(self) -> int:
        name = self.get_input_name()
        text = read_source("-" if name == STANDARD_INPUT else name)
        self.sources[name] = text
        if self.args.verify_diagnostics and (problems := self._read_expectations(name, text)):
            return problems
        output = Output(self.args.output_file, parse_spec(self.args.target).name == "mlir")
        exit_code = 0
        for index, chunk in enumerate(chunks(text, self.args.split_input_file)):
            if index > 0:
                output.write("// -----\n")
            outcome = self._process_chunk(chunk)
            exit_code = max(exit_code, self._report(chunk, outcome))
            if outcome.output is not None:
                output.write(outcome.output)
            if exit_code != 0 and not self.args.verify_diagnostics:
                break
        if self.args.shrink:
            print("Failure, can't shrink")
            return 1
        if exit_code == 0:
            output.commit()
        return exit_code

    def _read_expectations(self, name: str, text: str) -> int:
        """Looks for announced diagnostics. Returns 1, once it has shown why, where a comment is meant to be one."""
        from .options.expected import expectations
        from .options.expected_forms import malformed

        problems = list(malformed(name, text))
        for problem in problems:
            show(problem)
        self.expects_diagnostics = not problems and bool(expectations(text))
        return 1 if problems else 0

    def _process_chunk(self, chunk: Chunk) -> Outcome:
        outcome, args = Outcome(), self.args
        if args.split_input_file and chunk.is_blank:
            return outcome
        with listening(outcome.diagnostics.append):
            try:
                outcome.in_parser = True
                module = self._parse(chunk)
                outcome.in_parser = False
                if args.bisect or args.bisect_command is not None:
                    outcome.output = self._bisected(module)
                    return outcome
                if args.blame is not None or args.became is not None:
                    outcome.output = self._blamed(module)
                    return outcome
                named = module.attributes.get(WEIGHTS)
                self._refuse_own_weights(module)
                self.apply_passes(module)
                seen_from = opt_weights.named_for(args.output_file, module, named, args.externalize_weights)
                with seen_from, opt_passes.context(args):  # machine code is for its target
                    outcome.output = self.print_module(module)
            except ShrinkException:
                raise
            except Exception as error:
                outcome.error = error
                outcome.diagnostics.append(self._explain(error))
        outcome.diagnostics = [attach_source_line(each, self.sources) for each in outcome.diagnostics]
        return outcome

    def _refuse_own_weights(self, module: ModuleOp) -> None:
        weights = {"the weights file of the program": opt_weights.weights_of(module)}
        refuse_overwriting(weights, {"-o": self.args.output_file})

    def _parse(self, chunk: Chunk) -> ModuleOp:
        name = self.get_input_name()
        frontend = self.args.frontend or PurePath(name).suffix.removeprefix(".")
        if frontend != "mlir" and frontend in self.available_frontends:
            return self.available_frontends[frontend](BytesIO(chunk.text.encode()))
        return parse_text(
            self.ctx,
            chunk.text,
            name,
            line_offset=chunk.line_offset,
            allow_implicit_module=not self.args.no_implicit_module,
            source=self.sources[name],
        )

    def apply_passes(self, prog: ModuleOp, history: History | None = None) -> None:
        """Runs the passes. `history`, where there is one, notes what they do."""
        args = self.args
        instruments = opt_passes.instruments(args, self.print_module)
        instruments += [] if history is None else [history]
        instruments += opt_rules.rule_instruments(args, self.passes, self.ctx)
        verify = not args.disable_verify
        verify_each = verify and args.verify_each
        try:
            limited = opt_passes.limited(args, None if history is None else history.applied)
            with opt_passes.context(args), limited, opt_passes.progress(args) as progress:
                if verify and not verify_each:
                    verify_module(prog, sources=self.sources)
                run_pipeline(
                    self.ctx,
                    prog,
                    self.passes,
                    verify_each=verify_each,
                    instruments=[*progress, *instruments],
                    sources=self.sources,
                )
                if verify and not verify_each and self.passes:
                    verify_module(prog, sources=self.sources)
        finally:
            for instrument in instruments:
                report = instrument.report()
                if report:
                    print(report, file=sys.stderr)

    def _bisected(self, module: ModuleOp) -> str:
        from .options.checks import checking, report_of_bisection

        args = self.args
        check = checking(args.inputs, args.shapes, args.seed, args.save_inputs)
        with opt_passes.context(args):
            return report_of_bisection(self.ctx, module, self.passes, check.options, args.bisect_command) + "\n"

    def _blamed(self, module: ModuleOp) -> str:
        from .options.blame import report_of_blame

        return report_of_blame(self.args, module, self.sources, self.apply_passes, self.print_module) + "\n"

    def print_module(self, module: ModuleOp) -> str:
        """
        Returns the text of the module in the format of `-t`. Flags about how weights are printed take effect here.
        """
        with opt_weights.weight_printing(self.args):
            try:
                opt_passes.check_level(parse_spec(self.args.target), module)
                return self.output_resulting_program(module)
            except Exception as error:
                target = self.args.target.partition("{")[0]
                owner = registry().owner.get(("target", target), "stepwell")
                if isinstance(error, DiagnosticException) or owner == "stepwell":
                    raise
                # The targets of xDSL do not know every op, which is no fault of ours.
                hint = "-t llvm-ir prints the LLVM text of every program" if target == "llvm" else None
                message = f"target '{target}' of {owner} cannot print this program: {error or type(error).__name__}"
                raise StepwellError(Diagnostic(message, hint=hint)) from error

    # Reporting

    def _explain(self, error: Exception) -> Diagnostic:
        diagnostic = diagnostic_of(error, self.sources)
        failure = getattr(error, "failed_pass", None)
        if not isinstance(failure, PassFailure):
            return diagnostic
        if isinstance(error, BrokenByPassError):
            diagnostic = diagnostic.with_note(f"the IR was valid before pass '{failure.pass_}': a fault of the pass")
            return opt_passes.with_dump(diagnostic, error)
        diagnostic = diagnostic.with_note(str(failure))
        return opt_passes.with_dump(diagnostic, error)

    def _report(self, chunk: Chunk, outcome: Outcome) -> int:
        """Shows the diagnostics of a chunk, or matches them with its `expected-…` comments; returns the exit code."""
        if outcome.error is not None and self.args.debug:
            import traceback

            traceback.print_exception(outcome.error, file=sys.stderr)
        if self.expects_diagnostics:
            return self._match_expectations(chunk, outcome)
        for diagnostic in outcome.diagnostics:
            if diagnostic.severity == "warning" or (diagnostic.severity == "remark" and self.args.remarks):
                show(diagnostic)
        if outcome.error is None:
            return 0
        error = outcome.diagnostics[-1]
        if self._is_asked_for(outcome):
            print(render(error))
            return 0
        show(error)
        return 1

    def _is_asked_for(self, outcome: Outcome) -> bool:
        """Whether `--verify-diagnostics` or `--parsing-diagnostics` turn the error into output, as in `xdsl-opt`."""
        error = outcome.error
        if outcome.in_parser:
            is_verify_error = isinstance(None if error is None else error.__cause__, DiagnosticException)
            return self.args.parsing_diagnostics or (self.args.verify_diagnostics and is_verify_error)
        return self.args.verify_diagnostics and isinstance(error, DiagnosticException)

    def _match_expectations(self, chunk: Chunk, outcome: Outcome) -> int:
        from .options.expected import expectations, mismatches

        expected = expectations(chunk.text, chunk.line_offset)
        optional = {"note"}
        if not self.args.remarks and all(each.severity != "remark" for each in expected):
            optional.add("remark")
        problems = mismatches(self.get_input_name(), expected, outcome.diagnostics, frozenset(optional))
        for problem in problems:
            show(attach_source_line(problem, self.sources))
        return 1 if problems else 0


def argument_parser() -> argparse.ArgumentParser:
    """The command line."""
    return StepwellOptMain([]).argument_parser()


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool on `argv` (default: the command line); returns the exit code."""
    return run_tool("stepwell-opt", argv, _run)


def _run(arguments: list[str], sources: Sources) -> int:
    try:
        with patient_collector():
            tool = StepwellOptMain(arguments)
            tool.run()
            return tool.exit_code
    except ShrinkException:
        print("Success, can shrink")
        return 0


if __name__ == "__main__":  # python -m stepwell.tools.…
    sys.exit(main())
