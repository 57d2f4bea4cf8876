// RUN: stepwell-opt %s -p lower-graph-to-loops | filecheck %s

/// A product of f16 is summed up in f32 and implies a rounding.
// CHECK-LABEL: @matmul
// CHECK: arith.truncf {{.*}} {stepwell.implied} : f32 to f16
func.func @product(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf16> {
  %y = graph.matmul %x, %w : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16>
  func.return %y : tensor<4x6xf16>
}

/// A cast asks for its rounding.
// CHECK-LABEL: tensor_loop.func private @astype
// CHECK-NOT: stepwell.implied
// CHECK: arith.truncf
// CHECK-NOT: stepwell.implied
func.func @no_product(%x: tensor<4x8xf32>) -> tensor<4x8xf16> {
  %y = graph.astype %x, dtype = f16 : (tensor<4x8xf32>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

/// gelu extends its operand and rounds its result.
// CHECK-LABEL: tensor_loop.func private @gelu
// CHECK: arith.extf {{.*}} {stepwell.implied} : f16 to f32
// CHECK: arith.truncf {{.*}} {stepwell.implied} : f32 to f16
func.func @gelu_extends(%x: tensor<8xf16>) -> tensor<8xf16> {
  %y = graph.gelu %x : (tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}
