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
    "wide_resnet50_2": PICTURE,
    "deeplabv3_mobilenet_v3_large": SEGMENTED,
    "fcn_resnet50": SEGMENTED,
    "lraspp_mobilenet_v3_large": SEGMENTED,
}
"""Names of networks in torchvision, and the height and width of their inputs."""

SEGMENTING = ("deeplabv3_", "fcn_", "lraspp_")
"""How the names of networks that segment begin."""


def exported(name: str) -> Path:
    """Returns the file of a network, which PyTorch exports where it is not there. Raises what the exporter raises."""
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        import torch

        FOLDER.mkdir(parents=True, exist_ok=True)
        module = built(name)
        half = path.with_suffix(".part")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module,
                (pictures(1, SIZES[name]),),
                half,
                input_names=["x"],
                opset_version=OPSET,
                dynamo=True,
                external_data=False,
                verbose=False,
            )
        os.replace(half, path)  # a run that is interrupted leaves no half of a file
    return path


def pictures(count: int, size: int) -> Any:
    """Random pictures `f32[count, 3, size, size]`."""
    import torch

    return torch.randn(count, 3, size, size)


def built(name: str) -> Any:
    """
    Returns a network with random weights, the same ones each time.

    Tensors of equal numbers, such as biases of 0 and scales of 1, are spread, so that no part of the network does
    nothing. Batch normalisations take their statistics from two random pictures. So numbers keep their size throughout.
    """
    import torch
    from torchvision.models import get_model

    torch.manual_seed(0)
    options: dict[str, Any] = {"weights_backbone": None} if name.startswith(SEGMENTING) else {}
    options |= {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
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
