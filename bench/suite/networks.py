"""
The networks of torchvision that `zoo.py` measures, one of each family, as ONNX files with random weights.

Files are kept in `build/zoo`, so that a second run has them. Pictures have the size that the weights of torchvision are
evaluated with, those to be segmented 320x320.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "build" / "zoo"

OPSET = 20

PICTURE, SEGMENTED = 224, 320
"""Height and width of the inputs."""

SIZES = {
    "alexnet": PICTURE,
    "convnext_tiny": PICTURE,
    "densenet121": PICTURE,
    "efficientnet_b0": PICTURE,
    "efficientnet_v2_s": 384,
    "googlenet": PICTURE,
    "inception_v3": 299,
    "maxvit_t": PICTURE,
    "mnasnet1_0": PICTURE,
    "mobilenet_v2": PICTURE,
    "mobilenet_v3_small": PICTURE,
    "regnet_x_400mf": PICTURE,
    "regnet_y_400mf": PICTURE,
    "resnet18": PICTURE,
    "resnet50": PICTURE,
    "resnext50_32x4d": PICTURE,
    "shufflenet_v2_x1_0": PICTURE,
    "squeezenet1_1": PICTURE,
    "swin_t": PICTURE,
    "swin_v2_t": 256,
    "vgg11": PICTURE,
    "vit_b_16": PICTURE,
    "vit_tiny": PICTURE,
    "wide_resnet50_2": PICTURE,
    "deeplabv3_mobilenet_v3_large": SEGMENTED,
    "fcn_resnet50": SEGMENTED,
    "lraspp_mobilenet_v3_large": SEGMENTED,
}
"""Names of networks in torchvision, and the height and width of their inputs."""

BERTS = {
    "bert_base": {},
    "bert_minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
}
"""Encoders of transformers: names, and how they differ from BERT-base. The second has the shape of MiniLM-L6-H384."""

SEGMENTING = ("deeplabv3_", "fcn_", "lraspp_")
"""How the names of networks that segment begin."""


HALVES = ("f16", "bf16")
"""The element types that `halves.py` measures beside f32."""

HALVES_OF = ("resnet50", "vit_b_16", "minilm")
"""The networks that it measures."""


def exported(name: str, folder: Path = FOLDER) -> Path:
    """Returns the file of a network, which PyTorch exports where it is not there. Raises what the exporter raises."""
    path = folder / f"{name}.onnx"
    if not path.exists():
        import torch

        folder.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(".part")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                built(name),
                example(name),
                half,
                input_names=["x", "mask"][: len(example(name))],
                opset_version=OPSET,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        os.replace(half, path)  # a run that is interrupted leaves no half of a file
    return path


def exported_in(name: str, element: str) -> Path:
    """Returns the file of a network in f32, or with f16 or bf16 in place of all its f32."""
    path = exported(name)
    if element == "f32":
        return path
    import onnx

    model = onnx.load(path)
    to = {"f16": onnx.TensorProto.FLOAT16, "bf16": onnx.TensorProto.BFLOAT16}[element]
    narrow(model.graph, to)
    path = path.with_stem(f"{name}_{element}")
    onnx.save(model, path)
    return path


def narrow(graph: Any, to: int) -> None:
    """Gives all f32 of a graph the element type `to`: weights, constants, casts, inputs and results."""
    from onnx import TensorProto, helper, numpy_helper

    def narrowed(tensor: Any) -> Any:
        array = numpy_helper.to_array(tensor).astype(helper.tensor_dtype_to_np_dtype(to))
        return numpy_helper.from_array(array, tensor.name)

    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(narrowed(tensor))
    for info in (*graph.input, *graph.output):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = to
    for attribute in (each for node in graph.node for each in node.attribute):
        if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
            attribute.i = to
        if attribute.type == attribute.TENSOR and attribute.t.data_type == TensorProto.FLOAT:
            attribute.t.CopyFrom(narrowed(attribute.t))
    del graph.value_info[:]


def tokens() -> Any:
    """The numbers of the words of a text, `i64[1, 128]`."""
    import torch

    return torch.ones(1, 128, dtype=torch.int64)


def sentence_encoder() -> Any:
    """
    Returns an encoder of the shape of MiniLM-L6-H384 (Wang et al., 2020) with random weights: 6 layers of 384, 12
    heads, feed-forward networks of 1536.
    """
    import torch
    from torch import nn

    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(384, 12, 1536, 0.0, "gelu", batch_first=True)

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(30522, 384), nn.Embedding(512, 384)
            self.first = nn.LayerNorm(384)
            self.layers = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)

        def forward(self, x: Any) -> Any:
            places = torch.arange(x.shape[1], device=x.device)
            return self.layers(self.first(self.words(x) + self.places(places)))

    return Encoder().eval()


def pictures(count: int, size: int) -> Any:
    """Random pictures `f32[count, 3, size, size]`."""
    import torch

    return torch.randn(count, 3, size, size)


def example(name: str) -> tuple[Any, ...]:
    """Inputs of a network."""
    if name in BERTS:
        return tokens(), tokens()
    return (tokens() if name == "minilm" else pictures(1, SIZES[name]),)


def built(name: str) -> Any:
    """
    Returns a network with random weights, the same ones each time.

    Tensors of equal numbers, such as biases of 0 and scales of 1, are spread, so that no part of the network does
    nothing. Batch normalisations take their statistics from two random pictures. So numbers keep their size throughout.
    """
    import torch
    from torchvision.models import VisionTransformer, get_model

    if name == "minilm":
        return sentence_encoder()
    torch.manual_seed(0)
    if name in BERTS:
        from transformers import BertConfig, BertModel

        return BertModel(BertConfig(**BERTS[name])).eval()
    options: dict[str, Any] = {"weights_backbone": None} if name.startswith(SEGMENTING) else {}
    options |= {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    if name == "vit_tiny":  # of DeiT (Touvron et al., 2021), which torchvision does not have
        module = VisionTransformer(PICTURE, 16, 12, 3, 192, 768).eval()
    else:
        module = get_model(name, weights=None, **options).eval()
    with torch.no_grad():
        for weight in module.parameters():
            if weight.min() == weight.max():
                weight += 0.1 * torch.randn_like(weight)
        for part in module.modules():
            if isinstance(part, torch.nn.BatchNorm2d):
                part.train()
                part.momentum = None  # the mean over all pictures
        module(pictures(2, SIZES[name]))
    return module.eval()
