// RUN: stepwell-opt %s -p 'fuse-matmul-add,plan-fusion,apply-fusion-plan' | filecheck %s

// Two groups, by two passes: neither is in the other.

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[A:.*]] = func.call @fused_matmul_add0(%x, %w, %b)
// CHECK-NEXT: %[[B:.*]] = func.call @fused_{{.*}}(%[[A]]
// CHECK-NEXT: func.return %[[B]]
// CHECK-LABEL: func.func private @fused_matmul_add0(
// CHECK-NOT: func.call
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  %product = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %sum = graph.add %product, %b : (tensor<4x8xf32>, tensor<8xf32>)
  %active = graph.relu %sum : (tensor<4x8xf32>)
  %scaled = graph.multiply %active, %s : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %scaled : tensor<4x8xf32>
}
