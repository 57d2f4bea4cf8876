// RUN: not stepwell-opt %s -p 'lower-external-functions' 2>&1 | filecheck %s

// CHECK: :5:1: error: 'func.func': there is no code generator 'openblast'; registered are: {{.*}}openblas
// CHECK: hint: did you mean 'openblas'?
func.func private @product(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {graph.primitive, graph.compiler = "openblast"} {
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %0 : tensor<4x8xf32>
}
