// RUN: stepwell-opt %s -p 'calibrate-map,calibrate-module' 2>&1 | filecheck %s

/// Nothing to record is told, and leaves an entry without results.
// CHECK: nothing_recorded.mlir:6:1: warning: 'func.func': no call of a function with graph.compiler is recorded in @main
// CHECK-LABEL: func.func @main(%x: tensor<2xf32>) attributes {graph.calibration_map = {}} {
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @plain(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: func.return
  // CHECK-NOT: tensor
  // CHECK: }
  func.return %0 : tensor<2xf32>
}

func.func private @plain(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
