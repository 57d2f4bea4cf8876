// RUN: stepwell-opt %s -p expose-values --split-input-file | filecheck %s

// A value that is returned already, those of weights alone, and those inside of regions are not added.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME:    stepwell.signature = (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK:         %a = graph.exp %x
// CHECK:         %b = graph.negative %a
// CHECK:         %c = scf.if
// CHECK:         func.return %b, %a, %c
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> attributes {stepwell.signature = (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>} {
  %w = graph.weight "w" : tensor<4xf32>
  %v = graph.exp %w : (tensor<4xf32>)
  %a = graph.exp %x : (tensor<4xf32>)
  %b = graph.negative %a : (tensor<4xf32>)
  %t = tensor.extract %p[] : tensor<i1>
  %c = scf.if %t -> (tensor<4xf32>) {
    %d = graph.add %a, %v : (tensor<4xf32>, tensor<4xf32>)
    scf.yield %d : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  func.return %b : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT:    %0 = graph.exp %x
// CHECK-NEXT:    func.return %x, %0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>)
  func.return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> tensor<4xf32>
// CHECK-NEXT:    func.return %x
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
