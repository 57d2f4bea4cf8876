// RUN: not stepwell-opt %s -p 'partition-graph' 2>&1 | filecheck %s

// CHECK: error: 'graph.relu': is of target 'npu', but region 0 is of 'dsp'
func.func @two_targets(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 {graph.target = "npu", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
