// RUN: not stepwell-opt %s -p 'partition-graph' --split-input-file 2>&1 | filecheck %s

// CHECK: :6:3: error: 'graph.abs': region 0 depends on itself through ops outside of it
// CHECK: hint: merge-regions makes regions that do not
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %0, %1 {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2 : tensor<4xf32>
}
