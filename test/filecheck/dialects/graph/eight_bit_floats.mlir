// RUN: %roundtrip
// RUN: %generic

/// The names of MLIR.
// CHECK-LABEL: @types
// CHECK-SAME: (%x: tensor<4xf8E4M3FN>, %y: tensor<?xf8E5M2>) -> (tensor<4xf8E4M3FN>, tensor<?xf8E5M2>)
// GENERIC-LABEL: sym_name = "types"
func.func @types(%x: tensor<4xf8E4M3FN>, %y: tensor<?xf8E5M2>) -> (tensor<4xf8E4M3FN>, tensor<?xf8E5M2>) {
  func.return %x, %y : tensor<4xf8E4M3FN>, tensor<?xf8E5M2>
}

/// Literals are rounded once. The shortest decimal that reads back is printed.
// CHECK-LABEL: @constants
// GENERIC-LABEL: sym_name = "constants"
func.func @constants() {
  // CHECK: graph.constant dense<[0.1, 1.0, 450.0, -0.002]> : tensor<4xf8E4M3FN>
  // GENERIC: "graph.constant"() <{value = dense<[1.015620e-01, 1.000000e+00, 4.480000e+02, -1.953120e-03]> : tensor<4xf8E4M3FN>}>
  %0 = graph.constant dense<[0.1, 1.0625, 450.0, -0.002]> : tensor<4xf8E4M3FN>
  // CHECK: graph.constant dense<[0.09, 1.0, 60000.0, -2.0e-05]> : tensor<4xf8E5M2>
  %1 = graph.constant dense<[0.1, 1.125, 57344.0, -1.5e-05]> : tensor<4xf8E5M2>
  // CHECK: graph.constant dense<0.5> : tensor<2x3xf8E5M2>
  %2 = graph.constant dense<0.5> : tensor<2x3xf8E5M2>
  func.return
}

/// What is not finite is written in bits, a byte per element.
// CHECK-LABEL: @bits
// GENERIC-LABEL: sym_name = "bits"
func.func @bits() {
  // CHECK: graph.constant dense<"0x7F007F"> : tensor<3xf8E4M3FN>
  %0 = graph.constant dense<"0x7F007F"> : tensor<3xf8E4M3FN>
  // CHECK: graph.constant dense<"0x7CFC7E"> : tensor<3xf8E5M2>
  %1 = graph.constant dense<"0x7CFC7E"> : tensor<3xf8E5M2>
  // CHECK: graph.constant dense<[0.0, 0.5]> : tensor<2xf8E4M3FN>
  %2 = graph.constant dense<"0x0030"> : tensor<2xf8E4M3FN>
  // CHECK: graph.full 0x7C : tensor<3xf8E5M2>
  %3 = graph.full 0x7C : tensor<3xf8E5M2>
  // CHECK: graph.full 1.0 : tensor<3xf8E4M3FN>
  %4 = graph.full 1.03 : tensor<3xf8E4M3FN>
  func.return
}

/// Ops that move, compare and convert.
// CHECK-LABEL: @moves
// GENERIC-LABEL: sym_name = "moves"
func.func @moves(%x: tensor<4xf8E4M3FN>, %y: tensor<4xf8E4M3FN>) -> tensor<6xf8E4M3FN> {
  // CHECK-NEXT: %[[C:.*]] = graph.less %x, %y : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  // CHECK-NEXT: %[[W:.*]] = graph.where %[[C]], %x, %y : (tensor<4xi1>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  // CHECK-NEXT: %[[A:.*]] = graph.astype %[[W]], dtype = f8E5M2 : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  // GENERIC: "graph.astype"(%{{.*}}) <{dtype = f8E5M2}> : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  // CHECK-NEXT: %[[P:.*]] = graph.pad %[[W]], pad_width = [1, 1], value = 448.0 : (tensor<4xf8E4M3FN>) -> tensor<6xf8E4M3FN>
  %0 = graph.less %x, %y : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xi1>
  %1 = graph.where %0, %x, %y : (tensor<4xi1>, tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %2 = graph.astype %1, dtype = f8E5M2 : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  %3 = graph.pad %1, pad_width = [1, 1], value = 448.0 : (tensor<4xf8E4M3FN>) -> tensor<6xf8E4M3FN>
  func.return %3 : tensor<6xf8E4M3FN>
}
