// RUN: stepwell-opt %s -p 'canonicalize-cast' | filecheck %s

/// Each sum reads the narrow tensor and widens it itself.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<8xi8>, %a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  // CHECK-NEXT: %[[WIDE:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[FIRST:.*]] = graph.add %[[WIDE]], %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[WIDE_1:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[SECOND:.*]] = graph.add %[[WIDE_1]], %b : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: func.return %[[FIRST]], %[[SECOND]] : tensor<8xi32>, tensor<8xi32>
  %wide = graph.astype %x, dtype = i32 : (tensor<8xi8>)
  %first = graph.add %wide, %a : (tensor<8xi32>, tensor<8xi32>)
  %second = graph.add %wide, %b : (tensor<8xi32>, tensor<8xi32>)
  func.return %first, %second : tensor<8xi32>, tensor<8xi32>
}
