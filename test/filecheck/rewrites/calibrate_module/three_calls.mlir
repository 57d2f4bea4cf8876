// RUN: stepwell-opt %s -p 'calibrate-map,calibrate-module' | filecheck %s

/// The order is that of the calls, not that of the functions in the module nor that of their names.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: graph.calibration_map = {middle = array<i64: 0, 1, 1>, last = array<i64: 2, 2, 1>, first = array<i64: 5, 1, 1>}
// CHECK-NEXT: %[[A:.*]] = func.call @middle(%x)
// CHECK-NEXT: %[[B:.*]] = func.call @last(%[[A]], %x)
// CHECK-NEXT: %[[C:.*]] = func.call @first(%[[B]])
// CHECK-NEXT: func.return %x, %[[A]], %[[A]], %x, %[[B]], %[[B]], %[[C]] :
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = func.call @middle(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %b = func.call @last(%a, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = func.call @first(%b) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %c : tensor<2xf32>
}

func.func private @first(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "one"} {
  %0 = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @middle(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "two"} {
  %0 = graph.negative %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @last(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "one"} {
  %0 = graph.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
