"""Modules of PyTorch compute as they do without Stepwell, by `compile_torch` and by `torch.compile`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import stepwell
import torch
from stepwell.frontends import TorchError
from stepwell.frontends.pytorch import exporting
from stepwell.frontends.pytorch.backend import Graph
from stepwell.frontends.pytorch.tensors import array_of, tensor_of
from stepwell.runtime import ArgumentError
from torch import nn
from torch.utils._pytree import tree_flatten

pytestmark = pytest.mark.filterwarnings("ignore")  # of the exporters, which are not ours


class Nested(nn.Module):
    """Arguments and results nest, and some are no tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: dict[str, Any], flag: Any = None, unused: Any = None, k: int = 2) -> dict[str, Any]:
        y = self.drop(self.linear(x["q"])) * k
        return {"a": (y.relu(), [x["q"]]), "k": k, "rows": y.shape[0], "none": flag, "first": x["q"][0]}


class Calls(nn.Module):
    """A function of one argument as a module."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def check(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    leaves, spec = tree_flatten(found)
    others, wanted_spec = tree_flatten(wanted)
    assert spec == wanted_spec
    for leaf, other in zip(leaves, others, strict=True):
        assert type(leaf) is type(other)
        if isinstance(leaf, torch.Tensor):
            torch.testing.assert_close(leaf, other, rtol=tolerance, atol=tolerance)
        else:
            assert leaf == other


@pytest.fixture(autouse=True)
def _fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


# Tensors and arrays


FLOATS = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_tensors_share_their_memory(dtype: str):
    tensor = torch.arange(12).reshape(3, 4).to(getattr(torch, dtype)).T
    array = array_of(tensor, "x")
    assert array.shape == (4, 3) and array.dtype.name == dtype and array.ctypes.data == tensor.data_ptr()
    back = tensor_of(array)
    assert back.dtype == tensor.dtype and back.data_ptr() == tensor.data_ptr() and back.stride() == tensor.stride()
    assert array_of(tensor[0, 0], "x").shape == ()


def test_what_is_no_plain_tensor():
    for wrong, said in (
        ([1.0], "'x' is a list, expected a tensor"),
        (torch.zeros(2, device="meta"), "'x' is on the device 'meta', expected one on 'cpu'; call .cpu() on it"),
        (torch.eye(2).to_sparse(), "'x' is a tensor that is sparse_coo, expected a dense one"),
        (torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "'x' is a tensor that is quantised, expected"),
    ):
        with pytest.raises(ArgumentError) as found:
            array_of(wrong, "x")
        assert str(found.value).startswith(said)
    assert array_of(torch.zeros(2, requires_grad=True), "x").tolist() == [0, 0]
    assert array_of(torch.tensor([1 + 2j]).conj().imag, "x").tolist() == [-2]


# compile_torch


def test_arguments_and_results_nest_as_those_of_the_module():
    module, rows = Nested().eval(), torch.export.Dim("rows")
    dynamic = {"x": {"q": {0: rows}}, "unused": None, "k": None}
    exe = stepwell.compile_torch(
        module, ({"q": torch.randn(3, 4)},), {"unused": torch.ones(2), "k": 3}, dynamic_shapes=dynamic
    )
    for count in (2, 5):
        x = {"q": torch.randn(count, 4, requires_grad=True)}
        check(exe(x, unused=torch.ones(2), k=3), module(x, unused=torch.ones(2), k=3))
    assert repr(exe).startswith("<stepwell.TorchExecutable Nested: main(x_q")
    assert exe.executable.specialisations


def test_one_call_has_many_forms():
    module = nn.Bilinear(3, 4, 5).eval()
    a, b = torch.randn(2, 3), torch.randn(2, 4)
    exe = stepwell.compile_torch(module, (a, b))
    for args, kwargs in (((a, b), {}), ((a,), {"input2": b}), ((), {"input2": b, "input1": a})):
        check(exe(*args, **kwargs), module(a, b))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_element_types(dtype: Any):
    module = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3)).to(dtype).eval()
    x = torch.randn(5, 8, dtype=dtype)
    check(stepwell.compile_torch(module, x)(x), module(x), 1e-5 if dtype == torch.float64 else 1e-2)


def test_weights_are_those_of_the_time_of_compiling():
    module, x = nn.Linear(3, 3).eval(), torch.randn(2, 3)
    exe, wanted = stepwell.compile_torch(module, (x,)), module(x)
    module.weight.add_(1)
    check(exe(x), wanted)


def test_large_models_are_files(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporting, "MOST_BYTES", 0)
    module, x = nn.Linear(300, 200).eval(), torch.randn(2, 300)
    check(stepwell.compile_torch(module, (x,))(x), module(x))


def test_calls_that_do_not_fit():
    x = {"q": torch.randn(3, 4)}
    exe = stepwell.compile_torch(Nested().eval(), (x,), {"unused": torch.ones(2), "k": 3})
    for args, kwargs, said in (
        ((x,), {}, "found ({'q': a tensor}), expected ({'q': a tensor}, unused=a tensor, k=3)"),
        ((x,), {"unused": torch.ones(2), "k": 4}, "'k' is 4, and the program was compiled for 3"),
        ((x,), {"unused": torch.ones(2), "k": True}, "'k' is True, and the program was compiled for 3"),
        ((x,), {"unused": torch.ones(3), "k": 3}, "argument 'unused' has shape 3, expected tensor<2xf32>"),
        ((x,), {"unused": [1.0, 1.0], "k": 3}, "found ({'q': a tensor}, unused=[1.0, 1.0], k=3), expected"),
        (({"q": 1.5},), {"unused": torch.ones(2), "k": 3}, "'x['q']' is a float, expected a tensor"),
        ((x,), {"other": 1}, "the arguments do not fit the module: got an unexpected keyword argument 'other'"),
    ):
        with pytest.raises(ArgumentError) as found:
            exe(*args, **kwargs)
        assert str(found.value).startswith(said)


def adds_to_its_argument(x: Any) -> Any:
    return x.add_(1)


def fails(x: Any) -> Any:
    raise KeyError("mine")


def decides(x: Any) -> Any:
    return x if x.sum() > 0 else -x


def makes_an_object(x: Any) -> Any:
    return Path("a"), x + 1


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: Any) -> Any:
        self.count.add_(1)
        return x + self.count


def test_modules_that_cannot_be_compiled():
    for module, said in (
        (abs, "compile_torch: found a builtin_function_or_method, expected a torch.nn.Module"),
        (nn.Linear(3, 3), "Linear: it is in training mode\nhint: call .eval() on it"),
        (
            nn.Sequential(nn.Linear(3, 3).eval(), nn.Dropout()).eval().append(nn.Dropout()),
            "Sequential: it is in training",
        ),
        (Calls(adds_to_its_argument), "Calls: it changes its argument 'x', which compiled programs do not"),
        (Counts(), "Counts: it changes its buffer 'count' when it is called, which compiled programs do not"),
        (Calls(fails), "Calls: torch.export cannot export it: 'mine'"),
        (Calls(decides), "Calls: torch.export cannot export it: Could not guard on data-dependent expression"),
        (Calls(torch.linalg.svd), "Calls: PyTorch's exporter of ONNX does not know 'aten._linalg_svd.default'"),
        (Calls(makes_an_object), "Calls: a PosixPath is among its results, expected tensors, tuples, lists, dicts and"),
    ):
        if isinstance(module, Calls | Counts):
            module.eval()
        with pytest.raises(TorchError) as found:
            stepwell.compile_torch(module, (torch.randn(3, 3),))
        assert str(found.value).startswith(f"error: {said}")
    with pytest.raises(TorchError, match="Calls: a PosixPath is among its arguments, expected tensors"):
        stepwell.compile_torch(Calls(fails).eval(), (Path("a"),))
    with pytest.raises(TorchError) as found:
        stepwell.compile_torch(Calls(torch.nonzero).eval(), (torch.randn(3),))
    assert "Calls: its ONNX model cannot be imported: model '<model>': node 'node_NonZero" in str(found.value)
    assert "hint: sizes and branches may depend on sizes of tensors, not on their elements" in str(found.value)
    with pytest.raises(TorchError, match=r"data-dependent.*\(at .*test_pytorch.py:\d+\)"):
        stepwell.compile_torch(Calls(decides).eval(), (torch.randn(3, 3),))


OPS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), (torch.randn(2, 3, 4), torch.randn(2, 5, 4))),
    "top": (lambda x: torch.topk(x, 3), (torch.randn(4, 9),)),
    "masks": (lambda x, m: x.masked_fill(m, -1e9).softmax(-1), (torch.randn(3, 5), torch.rand(3, 5) > 0.5)),
    "indices": (lambda x, i: (x[i], x.roll(1, 0), x.index_put((i,), x[:3])), (torch.randn(5, 3), torch.arange(3))),
    "integers": (lambda x: (x // 3, x % 3, x & 1, x << 1), (torch.arange(-9, 9),)),
    "moments": (lambda x: (torch.var_mean(x, dim=1), x.norm(), x.argmax(1)), (torch.randn(4, 5),)),
    "written": (lambda x: x.clone().masked_fill_(x > 0, 2.0).add_(1), (torch.randn(4, 5),)),
    "empty": (lambda x: x[:0].sum(0), (torch.randn(3, 4),)),
    "numbers": (lambda x: x * 2 + x.sum(), (torch.randn(()),)),
    "spectrum": (lambda x: torch.fft.rfft(x).abs(), (torch.randn(8),)),
    "recurrent": (nn.GRU(8, 16, 2, batch_first=True).eval(), (torch.randn(3, 5, 8),)),
    "decoder": (
        nn.TransformerDecoder(nn.TransformerDecoderLayer(32, 4, 64, batch_first=True), 1).eval(),
        (torch.randn(2, 5, 32), torch.randn(2, 7, 32)),
    ),
}


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


@pytest.mark.parametrize("name", OPS)
def test_ops_both_ways(name: str):
    function, args = OPS[name]
    wanted = function(*args)
    check(stepwell.compile_torch(Function(function).eval(), args)(*args), wanted, 1e-4)
    check(torch.compile(function, backend="stepwell")(*args), wanted, 1e-4)


# torch.compile


class Net(nn.Module):
    """Weights, buffers, a buffer that changes, results that share memory and that stand in another order."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.register_buffer("scale", torch.full((8, 1, 1), 2.0))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Any, k: int = 2) -> dict[str, Any]:
        self.calls.add_(1)
        y = self.norm(self.conv(x)) * self.scale
        return {
            "y": y.relu(),
            "x": x[0],
            "k": k,
            "size": y.shape[2],
            "turned": (y + 1).transpose(1, 2),
            "n": self.calls * 1,
        }


def graphs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the list that the programs compiled from now on are noted in."""
    seen: list[str] = []
    compiled = Graph._compiled

    def noted(self: Graph, given: Any, free: Any) -> Any:
        seen.append(f"{len(free)} of {len(given)}")
        return compiled(self, given, free)

    monkeypatch.setattr(Graph, "_compiled", noted)
    return seen


def test_modules_compute_as_before(monkeypatch: pytest.MonkeyPatch):
    seen, module = graphs(monkeypatch), Net().eval()
    compiled = torch.compile(module, backend="stepwell", options={"threads": 1})
    sizes = [(1, 3, 8, 8), (1, 3, 9, 9), (2, 3, 9, 7), (1, 3, 8, 8)]
    for x in [*map(torch.randn, sizes), torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)]:
        before = module.calls.clone()
        wanted = module(x)
        module.calls.copy_(before)
        found = compiled(x)
        check(found, wanted)
        for name in ("y", "turned"):
            assert found[name].stride() == wanted[name].stride()
        found["x"].add_(100)  # It shares memory with the argument.
        assert x[0].min() > 50
    assert module.calls == 5
    assert seen[0] == "2 of 9", seen  # The image and the buffer that changes.


def test_weights_that_change_become_arguments(monkeypatch: pytest.MonkeyPatch):
    seen, module, x = graphs(monkeypatch), nn.Linear(4, 3).eval(), torch.randn(2, 4)
    compiled = torch.compile(module, backend="stepwell")
    for _ in range(3):
        check(compiled(x), module(x))
        module.weight.add_(1)
    module.weight = nn.Parameter(torch.randn(3, 4))
    check(compiled(x), module(x))
    module.load_state_dict(nn.Linear(4, 3).state_dict())
    check(compiled(x), module(x))
    assert seen[:2] == ["1 of 3", "2 of 3"]


@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_shared_heads(causal: bool):
    def attend(q: Any, k: Any, v: Any) -> Any:
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)

    q, k, v = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 6, 8), torch.randn(1, 2, 6, 8)
    check(torch.compile(attend, backend="stepwell")(q, k, v), attend(q, k, v))


def test_functions_with_breaks_and_inference_mode():
    def broken(x: Any) -> Any:
        y = torch.sin(x) @ x.T
        return y + 1 if float(y.sum()) > 0 else y - 1

    compiled = torch.compile(broken, backend="stepwell")
    with torch.inference_mode():
        for seed in range(4):
            x = torch.randn(5, 5, generator=torch.Generator().manual_seed(seed))
            check(compiled(x), broken(x))


def test_gradients_are_refused():
    module, x = nn.Linear(4, 3).eval(), torch.randn(2, 4)
    with torch.enable_grad(), pytest.raises(torch._dynamo.exc.BackendCompilerFailed) as found:
        torch.compile(module, backend="stepwell")(x)
    assert "error: torch.compile: gradients are wanted of the graph, and programs have none" in str(found.value)
    assert "hint: call it in 'with torch.no_grad():'" in str(found.value)


def test_few_programs_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stepwell.frontends.pytorch.backend.MOST_PROGRAMS", 2)
    seen = graphs(monkeypatch)
    compiled = torch.compile(torch.cumsum, backend="stepwell", dynamic=True)
    for size in (3, 4, 5, 4, 3):
        x = torch.randn(size, 2)
        check(compiled(x, 0), torch.cumsum(x, 0))
    assert len(seen) == 4


# The page


@pytest.mark.parametrize("number", range(3))
def test_blocks_of_the_page(number: int):
    page = (Path(stepwell.__file__).parent / "docs/pytorch.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^( *)```python torch\n(.*?)^\1```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    with torch.enable_grad():
        exec(dedent(blocks[number][1]), {})
