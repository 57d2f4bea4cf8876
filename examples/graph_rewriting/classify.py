"""The network on a picture, from every step of the way down: the class stays the same, and so do the numbers."""

import tempfile
from pathlib import Path

import numpy as np
import stepwell
from stepwell.core import write_weights

DATA = Path(__file__).resolve().parents[1] / "mnist_mlp"
CLASS_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
STEPS = ["fuse-matmul-add", "lower-graph-to-loops", "fuse-loops", "inline-loops", "bufferize", "schedule-cpu"]

with np.load(DATA / "mnist_mlp_784_128_10.npz") as file:
    weights = {key: file[key] for key in ("w0", "b0", "w1", "b1")}
with np.load(DATA / "mnist_100_test.npz") as file:
    picture, label = file["images"][3], file["labels"][3]
image = (picture.reshape(1, 784) / 255).astype(np.float32)
hidden = np.maximum(image @ weights["w0"].T + weights["b0"], 0)
expected = hidden @ weights["w1"].T + weights["b1"]

for row in picture[4:24:2]:
    print("".join(" .:#"[pixel // 64] for pixel in row[::1]).rstrip())
print("class:", CLASS_NAMES[label])

with tempfile.TemporaryDirectory() as folder:
    write_weights(Path(folder) / "mlp.safetensors", weights)
    text = Path("mlp.mlir").read_text()
    for count in range(len(STEPS) + 1):
        program = Path(folder) / "mlp.mlir"
        program.write_text(text)
        module = stepwell.Sequential(STEPS[:count])(stepwell.parse(program))
        program.write_text(str(module))
        (logits,) = stepwell.compile(program, cache=False)(image)
        same = "as NumPy" if np.allclose(logits, expected, atol=1e-4) else "not as NumPy"
        print(f"after {STEPS[count - 1] if count else 'nothing':22}", CLASS_NAMES[logits.argmax()], same)
