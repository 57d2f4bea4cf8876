"""The network of two layers, built from Python: every `emit` infers the type of its result."""

from stepwell.dialects import graph
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32


def build() -> ModuleOp:
    builder = graph.GraphBuilder()
    with builder.function("main", x="tensor<1x784xf32>") as (x,), builder.dataflow():
        w0 = builder.emit(graph.WeightOp("w0", TensorType(f32, [128, 784])), "w0")
        b0 = builder.emit(graph.WeightOp("b0", TensorType(f32, [128])), "b0")
        w1 = builder.emit(graph.WeightOp("w1", TensorType(f32, [10, 128])), "w1")
        b1 = builder.emit(graph.WeightOp("b1", TensorType(f32, [10])), "b1")
        lv0 = builder.emit(graph.MatmulOp(x, builder.emit(graph.PermuteDimsOp(w0), "w0_t")), "lv0")
        lv1 = builder.emit(graph.AddOp(lv0, b0), "lv1")
        lv2 = builder.emit(graph.ReluOp(lv1), "lv2")
        lv3 = builder.emit(graph.MatmulOp(lv2, builder.emit(graph.PermuteDimsOp(w1), "w1_t")), "lv3")
        out = builder.emit_output(graph.AddOp(lv3, b1), "out")
        builder.emit_func_output(out)
    module = builder.get()
    module.attributes["stepwell.weights"] = StringAttr("mlp.safetensors")
    return module


if __name__ == "__main__":
    print(build())
