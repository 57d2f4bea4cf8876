// RUN: not stepwell-opt %s -p 'partition-graph' 2>&1 | filecheck %s

/// An index may be out of range, which code from outside could not report.
// CHECK: error: 'graph.take': code of target 'dsp' cannot compute it: it is data, may fail, or has an effect
func.func @may_fail(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %0 = graph.take %x, %i, axis = 0 {graph.target = "dsp"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
