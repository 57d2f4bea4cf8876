"""`compile_torch`: modules of PyTorch as functions of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.messages.articles import with_article
from ...runtime.executable import Executable
from ..onnx.compiled import compile_onnx
from ..onnx.errors import OnnxError
from .errors import fail, package
from .exporting import Exported, exported
from .structure import bound

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


def compile_torch(
    module: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    pipeline: str | ModulePass | Sequence[ModulePass | str] | None = None,
    opt_level: int = 3,
    threads: int | None = None,
    numerics: str = "default",
    cache: bool = True,
    target: str | None = None,
    verify_each: bool = False,
    tuning: bool | str | Path | None = None,
    progress: bool | None = None,
) -> TorchExecutable:
    """
    Returns a `torch.nn.Module` as a function of tensors: `compile_torch(module, (x,))(x)`.

    `args` and `kwargs` are arguments of a call. Their tensors become the inputs of the program, with these element
    types and sizes. All other values among them are part of the program. `dynamic_shapes` says which sizes may change,
    as in `torch.export.export`. The weights are those of now: the program does not see later changes. The other
    arguments are those of `compile`.

    Raises TorchError for what PyTorch cannot export, for what changes its own state and for operators that are not
    supported, and the errors of `compile`.
    """
    torch = package()
    if not isinstance(module, torch.nn.Module):
        fail("compile_torch", f"found {with_article(type(module).__name__)}, expected a torch.nn.Module")
    what = type(module).__name__
    if any(each.training for each in module.modules()):
        fail(what, "it is in training mode", "call .eval() on it, or compile a copy that is in evaluation mode")
    if isinstance(args, torch.Tensor):
        args = (args,)
    found = exported(what, module, args, kwargs or {}, dynamic_shapes)
    options: dict[str, Any] = {"pipeline": pipeline, "opt_level": opt_level, "threads": threads, "numerics": numerics}
    options |= {"cache": cache, "target": target, "verify_each": verify_each, "tuning": tuning, "progress": progress}
    return TorchExecutable(what, *compiled(what, found, options))


def compiled(what: str, found: Exported, options: Mapping[str, Any]) -> tuple[Exported, Executable]:
    """
    Returns the program of an exported module, and what tells how to call it, without the model.

    Raises TorchError for one that cannot be imported.
    """
    try:
        return replace(found, model=None), compile_onnx(found.model, **options)
    except OnnxError as error:
        hint = error.diagnostic.hint
        if error.inputs:  # The hint of the import names an option that there is not here.
            hint = "sizes and branches may depend on sizes of tensors, not on their elements"
        fail(what, f"its ONNX model cannot be imported: {error.diagnostic.message}", hint)


class TorchExecutable:
    """
    A module that is called as it was before: with tensors, nested as its arguments, for tensors nested as its results.

    The tensors of a call are read where they are, results are new. They need no gradients and have none.
    """

    def __init__(self, name: str, made_of: Exported, executable: Executable):
        self._name = name
        self._made_of = made_of
        self._executable = executable

    @property
    def executable(self) -> Executable:
        """The program on arrays, with its text (`ir`), its profile, `save` and `export`."""
        return self._executable

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """
        Returns what the module would.

        Raises ArgumentError for arguments that do not fit the program, ExecutionError when the program fails.
        """
        made_of = self._made_of
        arrays = made_of.arguments.arrays(bound(made_of.signature, args, kwargs))
        return made_of.results.values(self._executable(*arrays))

    def __repr__(self) -> str:
        return f"<stepwell.TorchExecutable {self._name}: {self._executable.signature}>"
