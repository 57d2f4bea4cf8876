"""
A trained digit classifier, from textual graph IR down to native code.

Builds the program as text, prints it on every level, runs it on 100 test images and compares it with NumPy.
Run by `make demo`; with matplotlib installed (`pip install -e '.[plot]'`) it also draws the images.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import stepwell
from stepwell.core import write_weights

HERE = Path(__file__).resolve().parent
CLASS_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

PROGRAM = """\
builtin.module attributes {{stepwell.weights = "mlp.safetensors"}} {{
  func.func @main(%image: tensor<{batch}x784xf32>) -> tensor<{batch}x10xf32> {{
    %w0 = graph.weight "w0" : tensor<128x784xf32>
    %b0 = graph.weight "b0" : tensor<128xf32>
    %w1 = graph.weight "w1" : tensor<10x128xf32>
    %b1 = graph.weight "b1" : tensor<10xf32>
    %w0_t = graph.permute_dims %w0, axes = [1, 0] : (tensor<128x784xf32>)
    %product0 = graph.matmul %image, %w0_t : (tensor<{batch}x784xf32>, tensor<784x128xf32>)
    %sum0 = graph.add %product0, %b0 : (tensor<{batch}x128xf32>, tensor<128xf32>)
    %hidden = graph.relu %sum0 : (tensor<{batch}x128xf32>)
    %w1_t = graph.permute_dims %w1, axes = [1, 0] : (tensor<10x128xf32>)
    %product1 = graph.matmul %hidden, %w1_t : (tensor<{batch}x128xf32>, tensor<128x10xf32>)
    %logits = graph.add %product1, %b1 : (tensor<{batch}x10xf32>, tensor<10xf32>)
    func.return %logits : tensor<{batch}x10xf32>
  }}
}}
"""


def numpy_model(images: Any, weights: Any) -> Any:
    """The same network in NumPy: logits of images [N, 784]."""
    hidden = np.maximum(images @ weights["w0"].T + weights["b0"], 0)
    return hidden @ weights["w1"].T + weights["b1"]


def elided(text: str, most: int) -> str:
    """Returns the first lines of a text and how many were left out. Long lines are cut."""
    lines = [line if len(line) <= 150 else line[:147] + "…" for line in text.rstrip().splitlines()]
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[:most], f"  … {len(lines) - most} more lines"])


def seconds_per_call(call: Callable[[], Any], rounds: int = 30) -> float:
    """The median time of a call."""
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def draw(images: Any, predicted: Any, labels: Any, path: Path) -> bool:
    """Writes a picture of the first 25 images with their predictions. Returns False without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return False
    figure, axes = pyplot.subplots(5, 5, figsize=(7, 8))
    for image, guess, label, axis in zip(images, predicted, labels, axes.flat, strict=False):
        axis.imshow(image, cmap="gray_r")
        axis.set_title(CLASS_NAMES[guess], color="black" if guess == label else "red", fontsize=10)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    return True


def load() -> tuple[dict[str, Any], Any, Any, Any]:
    """Weights by name, the pictures as bytes, their labels, and the images as the network wants them."""
    with np.load(HERE / "mnist_mlp_784_128_10.npz") as file:
        weights = {key: file[key] for key in ("w0", "b0", "w1", "b1")}
    with np.load(HERE / "mnist_100_test.npz") as file:
        pictures, labels = file["images"], file["labels"]
    return weights, pictures, labels, (pictures.reshape(len(pictures), 784) / 255.0).astype(np.float32)


def walk_down(executable: stepwell.Executable, directory: Path, lines: int) -> None:
    """Prints the head of the program's text on every level, and keeps the whole in `directory`."""
    titles = {
        "graph": "graph, optimised",
        "tensor_loop": "tensor_loop: loops and blocks, buffers in one arena",
        "scf": "scf, memref, arith",
        "llvm": "llvm dialect",
        "llvm-ir": "LLVM IR",
        "asm": "assembly of this machine",
    }
    for level, title in titles.items():
        text = executable.ir(level)
        (directory / f"mlp.{level}.txt").write_text(text)
        print(f"--- {title} ({len(text.splitlines())} lines) ---\n{elided(text, lines)}\n")


def report(logits: Any, expected: Any, labels: Any) -> Any:
    """Prints predictions and accuracy, and returns the predicted classes. Ends the program if they are not NumPy's."""
    predicted = logits.argmax(axis=1)
    for index in range(10):
        guess, truth = CLASS_NAMES[predicted[index]], CLASS_NAMES[labels[index]]
        print(f"image {index}: predicted {guess:6}  true {truth:6}{'' if guess == truth else '   <- wrong'}")
    accuracy, numpy_accuracy = (predicted == labels).mean(), (expected.argmax(axis=1) == labels).mean()
    difference = abs(logits - expected).max()
    print(f"\naccuracy {accuracy:.2%}, NumPy's {numpy_accuracy:.2%}; largest difference of a logit {difference:.2e}")
    if not np.array_equal(predicted, expected.argmax(axis=1)):
        raise SystemExit("error: the predictions differ from NumPy's")
    return predicted


def compare_times(executable: stepwell.Executable, directory: Path, images: Any, weights: Any) -> None:
    """Prints microseconds per image beside NumPy's, one image at a time and all at once."""
    print("\nmicroseconds per image (median of 30 calls):")
    for batch in (1, len(images)):
        part = images[:batch]
        run = executable if batch == len(images) else stepwell.compile(_with_batch(directory, batch))
        ours = seconds_per_call(lambda run=run, x=part: run(x)) / batch * 1e6
        theirs = seconds_per_call(lambda x=part: numpy_model(x, weights)) / batch * 1e6
        print(f"  batch {batch:3}: stepwell {ours:8.2f}   numpy {theirs:8.2f}   ratio {theirs / ours:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="directory for the IR and the picture")
    parser.add_argument("--lines", type=int, default=24, help="lines of IR printed per level")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)

    weights, pictures, labels, images = load()
    write_weights(options.output / "mlp.safetensors", weights)
    source = options.output / "mlp.mlir"
    source.write_text(PROGRAM.format(batch=len(images)))
    print(f"The program, as text ({source}):\n\n{source.read_text()}")

    executable = stepwell.compile(source)
    walk_down(executable, options.output, options.lines)
    (logits,) = executable(images)
    predicted = report(logits, numpy_model(images, weights), labels)
    compare_times(executable, options.output, images, weights)

    picture = options.output / "predictions.png"
    if draw(pictures, predicted, labels, picture):
        print(f"\npicture: {picture}")
    else:
        print("\n(no picture: install the plot extra for one)")


def _with_batch(directory: Path, batch: int) -> Path:
    path = directory / f"mlp_batch{batch}.mlir"
    path.write_text(PROGRAM.format(batch=batch))
    return path


if __name__ == "__main__":
    main()
