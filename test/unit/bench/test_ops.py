"""bench/ops.py: the table of single ops is read as it is written, covers the importer, and wrong results are found."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from stepwell.frontends.onnx.registry import known_operators

BENCH = Path(__file__).resolve().parents[3] / "bench"
sys.path.insert(0, str(BENCH))

import ops  # noqa: E402
from suite.figures import Row  # noqa: E402
from suite.one_op import OneOp, load_cases, load_reasons, what_is_wrong  # noqa: E402
from suite.programs import describe  # noqa: E402

CASES = {case["name"]: case for case in load_cases()}

LEFT_OUT = {
    "sequences and optional values": "ConcatFromSequence OptionalGetElement OptionalHasElement SequenceAt "
    "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence",
    "programs inside of an op": "If Loop Scan",
    "constants, windows and random numbers": "Constant BlackmanWindow HammingWindow MelWeightMatrix Bernoulli "
    "Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike",
    "other names of ops that are there": "Upsample Scatter com.microsoft:DequantizeLinear com.microsoft:QuantizeLinear "
    "com.microsoft:ExpandDims "
    "com.microsoft:GatherND com.microsoft:Gelu com.microsoft:Pad com.microsoft:Range "
    "com.microsoft:SimplifiedLayerNormalization com.microsoft:TransposeMatMul com.microsoft:Trilu",
    "not in the peer": "BitCast Swish SwiGLU TensorScatter RotaryEmbedding "
    "AffineGrid CumProd MaxUnpool ai.onnx.ml:TreeEnsemble com.microsoft:BiasAdd com.microsoft:BiasSoftmax "
    "com.microsoft:NhwcFusedConv com.microsoft:QLinearReduceMean com.microsoft:ScaledSiLU com.microsoft:SwiGLU",
    "caches that must be the arrays of the peer": "com.microsoft:SparseAttention",
    "losses and training": "NegativeLogLikelihoodLoss ai.onnx.preview.training:Adagrad ai.onnx.preview.training:Adam "
    "ai.onnx.preview.training:Momentum",
    "attributes as large as a model": "STFT TfIdfVectorizer NonMaxSuppression ai.onnx.ml:ArrayFeatureExtractor "
    "ai.onnx.ml:FeatureVectorizer ai.onnx.ml:Imputer ai.onnx.ml:LabelEncoder ai.onnx.ml:LinearClassifier "
    "ai.onnx.ml:LinearRegressor ai.onnx.ml:OneHotEncoder ai.onnx.ml:TreeEnsembleClassifier "
    "ai.onnx.ml:TreeEnsembleRegressor",
    "parts of quantised programs": "com.microsoft:DynamicQuantizeMatMul com.microsoft:MatMulIntegerToFloat "
    "com.microsoft:QGemm com.microsoft:QLinearAveragePool com.microsoft:QLinearConcat com.microsoft:QLinearSoftmax "
    "com.microsoft:MatMulNBits com.microsoft:QEmbedLayerNormalization",
}


def test_there_are_enough_cases_with_names_of_their_own() -> None:
    assert len(CASES) == len(load_cases()) >= 400
    assert {case["layout"] for case in CASES.values()} == {"", "NCHW", "NHWC"}
    assert {"f32", "f16", "i8", "i64"} <= {case["dtype"] for case in CASES.values()}


def test_every_op_of_the_importer_is_there_or_left_out_for_a_reason() -> None:
    measured = {case["words"][0] for case in CASES.values()}
    excused = {name for names in LEFT_OUT.values() for name in names.split()}
    assert set(known_operators()) - measured == excused - measured


@pytest.mark.parametrize("name", CASES)
def test_every_case_can_be_described(name: str) -> None:
    program = describe(CASES[name])
    assert isinstance(program, OneOp) and program.inputs + program.weights


LINE = ["Op", "T[2x3]", "-", "!T[4]", "i64{1,2}", "u8[5]<3", "a=[1]", "->2"]


def test_a_line_is_read() -> None:
    case = {"name": "x", "layout": "", "dtype": "f16", "words": LINE}
    program = OneOp(case)
    assert [operand and (operand.dtype, operand.shape, operand.constant) for operand in program.operands] == [
        ("float16", (2, 3), False),
        None,
        ("float16", (4,), True),
        ("int64", (2,), True),
        ("uint8", (5,), False),
    ]
    assert (program.attributes, program.results) == ({"a": [1]}, 2)
    arrays = program.arrays()
    assert arrays["x3"].tolist() == [1, 2] and arrays["x4"].max() < 3


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        (np.zeros(3, np.float32), np.zeros(2), "shape (3,), expected (2,)"),
        (np.ones(2, np.float32), np.array([1.0, 1.1]), "greatest error 0.091 of the scale"),
        (np.array([1.0, np.nan], np.float32), np.ones(2), "other elements are finite"),
        (np.array([1, 3], np.int64), np.array([1, 2]), "greatest error 1 of whole numbers"),
        (np.array([1, 3], np.uint8), np.array([1, 2]), ""),
        (np.array([1.0], np.float16), np.array([1.005]), ""),
    ],
)
def test_wrong_results_are_found(found: np.ndarray, expected: np.ndarray, said: str) -> None:
    assert what_is_wrong(found, expected) == said


def row(name: str, ratio: float | None, **trouble: str) -> Row:
    times = {} if ratio is None else {"stepwell": 10.0, "onnxruntime": 10.0 * ratio}
    return Row(name, "moves", times, {}, trouble, ratio=ratio, roof_share=0.9)


def test_the_summary_names_slow_and_lost_cases() -> None:
    lines = ops.summary([row("a", 0.5), row("b", 2.0), row("c", None, stepwell="wrong: x")])
    assert lines[:2] == ["2 cases beside onnxruntime, geometric mean 1.00", "  moves: 1.00 over 2"]
    assert "1 cases below 0.85:" in lines and "  0.50      10.0       5.0  90%  a (at the roof)" in lines
    assert lines[-2:] == ["1 cases without a right result of ours:", "  c: wrong: x"]


def test_cases_with_a_reason_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "load_reasons", lambda: [("^a", "libm: both call it")])
    lines = ops.summary([row("a", 0.5), row("b", 0.6)])
    assert "1 cases below 0.85:" in lines and "1 cases below 0.85 for a known reason:" in lines
    assert "  0.50      10.0       5.0  90%  a: libm: both call it" in lines


def test_reasons_are_about_cases() -> None:
    assert all(why and any(re.search(pattern, name) for name in CASES) for pattern, why in load_reasons())


def test_arguments_that_cannot_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ops.main(["--only", "("])
    assert "--only takes a regular expression, found '('" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="no case matches 'no such op'; --list prints the names"):
        ops.main(["--only", "no such op", "--list"])
