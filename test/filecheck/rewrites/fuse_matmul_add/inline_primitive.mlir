// RUN: stepwell-opt %s -p inline-primitive | filecheck %s

/// The body comes back, once per call, and the function goes.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.add %[[V0]], %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V2:.*]] = graph.exp %[[V1]] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V3:.*]] = graph.add %[[V2]], %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[V4:.*]] = func.call @plain(%[[V3]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: func.return %[[V4]] : tensor<4x4xf32>
  %0 = func.call @fused(%x, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = func.call @fused(%0, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = func.call @plain(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %2 : tensor<4x4xf32>
}
// CHECK-NOT: func.func private @fused(
func.func private @fused(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> attributes {graph.primitive} {
  %0 = func.call @inner(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
// CHECK-NOT: func.func private @inner(
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0 : tensor<4x4xf32>
}

/// Other functions stay as they are.
// CHECK-LABEL: func.func private @plain(
func.func private @plain(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4x4xf32>
  func.return %x : tensor<4x4xf32>
}

/// A group that calls itself cannot be put in place of its call.
// CHECK-LABEL: func.func @no_recursion(
func.func @no_recursion(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[V0:.*]] = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[V0]] : tensor<4xf32>
  %0 = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func private @loop(
func.func private @loop(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  // CHECK-NEXT: %[[V0:.*]] = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[V0]] : tensor<4xf32>
  %0 = func.call @loop(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
