// RUN: stepwell-opt %s -p 'fuse-ewise-fma' | filecheck %s

// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK-NEXT: %[[GV0:.*]] = graph.ewise_fma %x, %y, %y
  // CHECK-NEXT: func.return %[[GV0]]
  %lv0 = graph.multiply %x, %y : (tensor<3x4xf32>, tensor<3x4xf32>)
  %gv0 = graph.add %lv0, %y : (tensor<3x4xf32>, tensor<3x4xf32>)
  func.return %gv0 : tensor<3x4xf32>
}
