"""What all command line tools do alike: arguments, errors on one screen, exit codes, programs in and files out."""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...core.messages.diagnostics import Diagnostic, DiagnosticWarning, StepwellError, attach_source_line, did_you_mean
from ...core.messages.locations import STANDARD_INPUT
from ...core.messages.points import SourcePoint
from ...core.text.errors import diagnostic_of, reproduced_by
from ...core.text.parsing import make_context, parse_text, read_source
from ...runtime.errors import ArgumentError, CompileError, ExecutionError, SizesError
from ..start import INTERRUPTED
from .colours import MODES, colour_mode, show
from .given_once import forget_values, watch_values
from .standard_output import silence, standard_output

_KEYWORD: Final = re.compile(r"\b(weights|shapes)=(?=[\s,]|$)")
"""Arguments of Python in messages of the runtime. A command has a flag of the same name."""

Sources = dict[str, str]
"""The texts of the programs that a tool has read, by name: errors quote their lines."""


SHARED_FLAGS: Final[dict[str, dict[str, Any]]] = {
    "file": {"metavar": "FILE", "help": "textual IR, or - for standard input"},
    "-p --passes": {
        "metavar": "PIPELINE",
        "help": "passes in place of the optimiser (X,O3: both); the rest is lowered",
    },
    "--opt-level": {"type": int, "default": 3, "choices": range(4), "help": "how much to optimise (default: 3)"},
    "--numerics": {"default": "default", "choices": ("default", "strict", "fast"), "help": "how exact to be"},
    "--weights": {"metavar": "FILE", "help": "read the weights from this safetensors file"},
    "--threads": {"type": int, "metavar": "N", "help": "use at most N threads"},
    "--no-cache": {"action": "store_true", "help": "do not use the compile cache"},
    "--load-plugin": {
        "metavar": "FILE.py",
        "action": "append",
        "default": [],
        "help": "add the dialects, passes and targets of this file; may be given several times",
    },
    "--debug": {"action": "store_true", "help": "show a Python traceback with an error"},
}
"""What several tools take alike: the names of an argument, and how it is declared."""


class _Help(argparse.HelpFormatter):
    """Leaves texts of several lines, which are examples, as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _VersionAction(argparse.Action):
    """Prints our version, and those of the packages that machine code depends on."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(f"{parser.prog} {version()}")
        parser.exit()


def version() -> str:
    """Returns our version, and those of the packages that machine code depends on."""
    from importlib.metadata import version as of

    own = sys.modules[__name__.partition(".")[0]].__version__
    return f"{own} (xDSL {of('xdsl')}, llvmlite {of('llvmlite')}, Python {sys.version.split()[0]})"


class ArgumentParser(argparse.ArgumentParser):
    """
    Reports a wrong command line as a diagnostic instead of pages of usage.

    `examples` are command lines, one a line, which end the help. Every command has `--version` and `--color`.
    """

    def __init__(self, *, examples: str = "", **given: Any):
        lines = [f"  {line}" for line in examples.splitlines() if line]
        epilog = "\n".join(["examples:", *lines]) if lines else None
        # Words that are looked at before they are parsed, as `stepwell repro` does, have their whole names.
        super().__init__(formatter_class=_Help, epilog=epilog, allow_abbrev=False, **given)
        watch_values(self)
        self.add_flags_of_all()

    def add_flags_of_all(self) -> None:
        """Adds the flags that every command has."""
        self.add_argument("-v", "--version", action=_VersionAction, nargs=0, help="show the version and end")
        self.add_argument(
            "--color",
            choices=MODES,
            default="auto",
            help="colour programs and errors; auto does on a terminal, unless NO_COLOR is set or TERM is dumb",
        )
        self.add_argument(
            "--save-repro", metavar="OUT", help="on an error, write all that is needed to run this again to one file"
        )

    def add_shared(self, *flags: str) -> None:
        """Adds arguments of `SHARED_FLAGS` in this order."""
        for flag in flags:
            self.add_argument(*flag.split(), **SHARED_FLAGS[flag])

    def parse_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        """Returns the options. What `--load-plugin` names is loaded; the compile cache does not know such files."""
        forget_values(self)
        options = super().parse_args(args, namespace)
        if getattr(options, "load_plugin", None):
            from .plugin_files import load_plugin_files

            load_plugin_files(options.load_plugin)
            options.no_cache = True
        return options

    def error(self, message: str) -> NoReturn:
        hint = None
        if match := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            hint = did_you_mean(match[1], self._option_string_actions)
        raise StepwellError(Diagnostic(message, hint=hint or f"{self.prog} --help lists the flags"))


def run_tool(tool: str, argv: Sequence[str] | None, act: Callable[[list[str], Sources], int]) -> int:
    """
    The exit code of `act`, called with the arguments (`argv`, default: the command line) and a place for the texts it
    reads. `tool` is the name of the command.

    An error is shown as a diagnostic on standard error, exit code 1; with `--debug` among the arguments it is raised
    instead. 130 after ctrl-C; 1, silently, where the reader of standard output has gone.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    with colour_mode(words):
        if any(word.startswith("--save-repro") for word in words):
            from .repro import file_in, run_and_save

            file, words = file_in(words)
            if file is not None:
                path = file
                return _run_tool(
                    tool, words, lambda *_: run_and_save(tool, words, path, lambda: _run_tool(tool, words, act))
                )
        return _run_tool(tool, words, act)


def _run_tool(tool: str, words: list[str], act: Callable[[list[str], Sources], int]) -> int:
    sources: Sources = {}
    try:
        with standard_output(), _warnings(), reproduced_by(with_debug(tool, words)):
            return act(words, sources)
    except SystemExit as exit_:  # argparse's --help and --version
        return exit_.code if isinstance(exit_.code, int) else 0
    except BrokenPipeError:
        silence(sys.stdout)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        if "--debug" in words:
            raise
        with reproduced_by(with_debug(tool, words)):
            show(explained(error, sources))
        return 1


def with_debug(tool: str, words: list[str]) -> str:
    """Returns the command line with `--debug`, which is a flag only before `--`."""
    end = words.index("--") if "--" in words else len(words)
    debug = [] if "--debug" in words[:end] else ["--debug"]
    return shlex.join([*tool.split(), *words[:end], *debug, *words[end:]])


def count(text: str) -> int:
    """The number in an argument that says how many: at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"it is '{text}', expected a number of at least 1")
    return int(text)


@contextmanager
def _warnings() -> Iterator[None]:
    """Shows our warnings as diagnostics. Those of others look as ever."""
    before = warnings.showwarning

    def shown(message: Warning | str, *where: Any) -> None:
        if isinstance(message, DiagnosticWarning):
            show(message.diagnostic)
        else:
            before(message, *where)

    warnings.showwarning = shown
    try:
        yield
    finally:
        warnings.showwarning = before


def explained(error: BaseException, sources: Sources) -> Diagnostic:
    """Returns what to show for an error. Those of the runtime are the user's and carry their whole message."""
    if isinstance(error, ExecutionError):
        file, line, column = (*error.location.rsplit(":", 2), "0", "0")[:3]
        if line.isdecimal() and column.isdecimal():
            point = SourcePoint(file, int(line), int(column))
            return attach_source_line(Diagnostic(error.reason, point=point), sources)
        return Diagnostic(error.reason)
    if isinstance(error, ArgumentError | CompileError) and not isinstance(error, SizesError):
        return Diagnostic(_KEYWORD.sub(r"--\1", str(error)))
    return diagnostic_of(error, sources)


def read_module(file: str, sources: Sources, context: Context | None = None) -> ModuleOp:
    """
    Returns the program in a file, or from standard input for `-`. Its text goes into `sources`. It is not verified.
    """
    name = program_name(file)
    sources[name] = read_source(file)
    return parse_text(make_context() if context is None else context, sources[name], name)


def program_name(file: str) -> str:
    """What messages call the program given as `file`."""
    return STANDARD_INPUT if file == "-" else file


@contextmanager
def interruptible() -> Iterator[None]:
    """
    Makes ctrl-C end the process at once inside the block. Python would wait until native code returns, if it ever does.
    """
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:  # not the main thread, which alone has signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
