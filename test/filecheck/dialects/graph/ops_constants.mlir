// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @constant
// GENERIC-LABEL: sym_name = "constant"
func.func @constant() {
  // CHECK: graph.constant dense<{{\[\[}}1.0, 2.0], [3.0, -0.0{{\]\]}}> : tensor<2x2xf32>
  // GENERIC: "graph.constant"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, -0.000000e+00{{\]\]}}> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
  %0 = graph.constant dense<[[1.0, 2.0], [3.0, -0.0]]> : tensor<2x2xf32>
  func.return
}

// CHECK-LABEL: @constant_1
// GENERIC-LABEL: sym_name = "constant_1"
func.func @constant_1() {
  // CHECK: graph.constant dense<0.5> : tensor<10xf32>
  // GENERIC: "graph.constant"() <{value = dense<5.000000e-01> : tensor<10xf32>}> : () -> tensor<10xf32>
  %1 = graph.constant dense<0.5> : tensor<10xf32>
  func.return
}

// CHECK-LABEL: @constant_2
// GENERIC-LABEL: sym_name = "constant_2"
func.func @constant_2() {
  // CHECK: graph.constant dense<"0x0000C07F"> : tensor<4xf32>
  // GENERIC: "graph.constant"() <{value = dense<[0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %2 = graph.constant dense<"0x0000C07F"> : tensor<4xf32>
  func.return
}

// CHECK-LABEL: @constant_3
// GENERIC-LABEL: sym_name = "constant_3"
func.func @constant_3() {
  // CHECK: graph.constant dense<> : tensor<0x3xf32>
  // GENERIC: "graph.constant"() <{value = dense<> : tensor<0x3xf32>}> : () -> tensor<0x3xf32>
  %0 = graph.constant dense<> : tensor<0x3xf32>
  func.return
}

// CHECK-LABEL: @constant_4
// GENERIC-LABEL: sym_name = "constant_4"
func.func @constant_4() {
  // CHECK: graph.constant {my.tag} dense<[true, false, true]> : tensor<3xi1>
  // GENERIC: "graph.constant"() <{value = dense<[true, false, true]> : tensor<3xi1>}> {my.tag} : () -> tensor<3xi1>
  %0 = graph.constant {my.tag} dense<[true, false, true]> : tensor<3xi1>
  func.return
}

// CHECK-LABEL: @constant_5
// GENERIC-LABEL: sym_name = "constant_5"
func.func @constant_5() {
  // CHECK: graph.constant dense<true> : tensor<3xi1>
  // GENERIC: "graph.constant"() <{value = dense<true> : tensor<3xi1>}> : () -> tensor<3xi1>
  %0 = graph.constant dense<true> : tensor<3xi1>
  func.return
}

// CHECK-LABEL: @constant_6
// GENERIC-LABEL: sym_name = "constant_6"
func.func @constant_6() {
  // CHECK: graph.constant dense<[255, 0]> : tensor<2xui8>
  // GENERIC: "graph.constant"() <{value = dense<[255, 0]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %0 = graph.constant dense<[255, 0]> : tensor<2xui8>
  func.return
}

// CHECK-LABEL: @constant_7
// GENERIC-LABEL: sym_name = "constant_7"
func.func @constant_7() {
  // CHECK: graph.constant dense<"0x0000C07F0000803F"> : tensor<2xf32>
  // GENERIC: "graph.constant"() <{value = dense<[0x7fc00000, 1.000000e+00]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = graph.constant dense<"0x0000C07F0000803F"> : tensor<2xf32>
  func.return
}

// CHECK-LABEL: @constant_8
// GENERIC-LABEL: sym_name = "constant_8"
func.func @constant_8() {
  // CHECK: graph.constant dense<1.0> : tensor<2xf32>
  // GENERIC: "graph.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %0 = graph.constant dense<"0x0000803F0000803F"> : tensor<2xf32>
  func.return
}

// CHECK-LABEL: @constant_9
// GENERIC-LABEL: sym_name = "constant_9"
func.func @constant_9() {
  // CHECK: graph.constant dense<[0.1, -0.0]> : tensor<2xf16>
  // GENERIC: "graph.constant"() <{value = dense<[9.997560e-02, -0.000000e+00]> : tensor<2xf16>}> : () -> tensor<2xf16>
  %0 = graph.constant dense<[0.1, -0.0]> : tensor<2xf16>
  func.return
}

// CHECK-LABEL: @constant_10
// GENERIC-LABEL: sym_name = "constant_10"
func.func @constant_10() {
  // CHECK: graph.constant dense<[0.1, -0.0]> : tensor<2xbf16>
  // GENERIC: "graph.constant"() <{value = dense<[1.000980e-01, -0.000000e+00]> : tensor<2xbf16>}> : () -> tensor<2xbf16>
  %0 = graph.constant dense<[0.1, -0.0]> : tensor<2xbf16>
  func.return
}

// CHECK-LABEL: @full
// GENERIC-LABEL: sym_name = "full"
func.func @full() {
  // CHECK: graph.full 1.0 : tensor<4x8xf32>
  // GENERIC: "graph.full"() <{value = 1.000000e+00 : f32}> : () -> tensor<4x8xf32>
  %0 = graph.full 1.0 : tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @full_1
// GENERIC-LABEL: sym_name = "full_1"
func.func @full_1() {
  // CHECK: graph.full true : tensor<4xi1>
  // GENERIC: "graph.full"() <{value = true}> : () -> tensor<4xi1>
  %1 = graph.full true : tensor<4xi1>
  func.return
}

// CHECK-LABEL: @full_2
// GENERIC-LABEL: sym_name = "full_2"
func.func @full_2() {
  // CHECK: graph.full -0.0 : tensor<bf16>
  // GENERIC: "graph.full"() <{value = -0.000000e+00 : bf16}> : () -> tensor<bf16>
  %0 = graph.full -0.0 : tensor<bf16>
  func.return
}

// CHECK-LABEL: @full_3
// GENERIC-LABEL: sym_name = "full_3"
func.func @full_3() {
  // CHECK: graph.full 0x7FC0 : tensor<2xbf16>
  // GENERIC: "graph.full"() <{value = 0x7fc0 : bf16}> : () -> tensor<2xbf16>
  %0 = graph.full 0x7FC0 : tensor<2xbf16>
  func.return
}

// CHECK-LABEL: @full_4
// GENERIC-LABEL: sym_name = "full_4"
func.func @full_4() {
  // CHECK: graph.full 0xFF800000 : tensor<2xf32>
  // GENERIC: "graph.full"() <{value = 0xff800000 : f32}> : () -> tensor<2xf32>
  %0 = graph.full 0xFF800000 : tensor<2xf32>
  func.return
}

// CHECK-LABEL: @full_5
// GENERIC-LABEL: sym_name = "full_5"
func.func @full_5() {
  // CHECK: graph.full {my.tag} 255 : tensor<0xui8>
  // GENERIC: "graph.full"() <{value = 255 : ui8}> {my.tag} : () -> tensor<0xui8>
  %0 = graph.full {my.tag} 255 : tensor<0xui8>
  func.return
}

// CHECK-LABEL: @weight
// GENERIC-LABEL: sym_name = "weight"
func.func @weight() {
  // CHECK: graph.weight "layer0.w" : tensor<784x128xf32>
  // GENERIC: "graph.weight"() <{key = "layer0.w"}> : () -> tensor<784x128xf32>
  %w = graph.weight "layer0.w" : tensor<784x128xf32>
  func.return
}

// CHECK-LABEL: @weight_1
// GENERIC-LABEL: sym_name = "weight_1"
func.func @weight_1() {
  // CHECK: graph.weight {my.tag = 1 : i64} "a \22quoted\22 key" : tensor<i8>
  // GENERIC: "graph.weight"() <{key = "a \22quoted\22 key"}> {my.tag = 1 : i64} : () -> tensor<i8>
  %w = graph.weight {my.tag = 1} "a \"quoted\" key" : tensor<i8>
  func.return
}
