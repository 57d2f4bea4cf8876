// RUN: stepwell-opt %s -p 'lower-external-functions' | filecheck %s
// RUN: stepwell-opt %s -p 'lower-external-functions,lower-external-functions' | filecheck %s
// RUN: stepwell-opt %s -p 'lower-external-functions' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'finish' | filecheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[W:.*]] = graph.weight "w" : tensor<8x16xf32>
// CHECK-NEXT: %[[P:.*]] = graph.call_kernel @product(%x, %[[W]]) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: func.call @exponential(%[[P]])
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %0 = func.call @product(%x) : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = func.call @exponential(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}

/// The weight has become a parameter.
// CHECK-LABEL: tensor_loop.func private @product(
// CHECK-SAME: %x: memref<4x8xf32>, %w: memref<8x16xf32>) outs(%out: memref<4x16xf32>) attributes {stepwell.written} {
// CHECK-NEXT: %[[S:.*]] = func.call @_stepwell_external_product(%x, %w, %out) : (memref<4x8xf32>, memref<8x16xf32>, memref<4x16xf32>) -> i32
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[OK:.*]] = arith.cmpi eq, %[[S]], %[[Z]] : i32
// CHECK-NEXT: cf.assert %[[OK]], "graph.compiler: code of 'openblas' for @product failed"
// CHECK: func.func private @_stepwell_external_product(memref<4x8xf32>, memref<8x16xf32>, memref<4x16xf32>) -> i32
// CHECK-SAME: stepwell.external = {compiler = "openblas", function = "product", source = "builtin.module
// LLVM: llvm.func @_stepwell_external_product(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32 attributes {stepwell.external =
func.func private @product(%x: tensor<4x8xf32>) -> tensor<4x16xf32> attributes {graph.primitive, graph.compiler = "openblas"} {
  %w = graph.weight "w" : tensor<8x16xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: func.func private @exponential(
// CHECK-SAME: attributes {graph.primitive} {
// CHECK-NEXT: graph.exp
// REMARK: remark: 'func.func': @exponential is compiled by stepwell itself: 'graph.exp' is not a product, nor the addend of one
func.func private @exponential(%x: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {graph.primitive, graph.compiler = "openblas"} {
  %0 = graph.exp %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}
