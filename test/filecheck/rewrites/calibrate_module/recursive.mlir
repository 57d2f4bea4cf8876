// RUN: stepwell-opt %s -p 'calibrate-map{recursive multi=list},calibrate-module{recursive multi=list}' | filecheck %s
// RUN: stepwell-opt %s -p 'calibrate-map{recursive multi=list}' | filecheck %s --check-prefix=MAP
// RUN: stepwell-opt %s -p 'calibrate-map,calibrate-module' 2>&1 | filecheck %s --check-prefix=FLAT
// RUN: not stepwell-opt %s -p 'calibrate-module{recursive}' 2>&1 | filecheck %s --check-prefix=REPEATED

/// Functions on the way to a recorded call are inlined; the outer call is recorded before those inside it.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: graph.calibration_map = {outer = [array<i64: 0, 1, 1>], inner = [array<i64: 2, 1, 1>, array<i64: 4, 1, 1>]}
// CHECK-NEXT: %[[N:.*]] = graph.negative %x
// CHECK-NEXT: %[[I0:.*]] = func.call @inner(%[[N]])
// CHECK-NEXT: %[[O:.*]] = graph.exp %[[I0]]
// CHECK-NEXT: %[[P:.*]] = func.call @plain(%[[O]])
// CHECK-NEXT: %[[R:.*]] = graph.relu %[[P]]
// CHECK-NEXT: %[[I1:.*]] = func.call @inner(%[[R]])
// CHECK-NEXT: func.return %x, %[[O]], %[[N]], %[[I0]], %[[R]], %[[I1]] :

/// The map pass changes nothing but the map.
// MAP-LABEL: func.func @main(
// MAP-SAME: -> tensor<2xf32> attributes {graph.calibration_map = {outer = [array<i64: 0, 1, 1>], inner = [array<i64: 2, 1, 1>, array<i64: 4, 1, 1>]}} {
// MAP-NEXT: %[[O:.*]] = func.call @outer(%x)
// MAP-NEXT: %[[P:.*]] = func.call @plain(%[[O]])
// MAP-NEXT: %[[H:.*]] = func.call @helper(%[[P]])
// MAP-NEXT: func.return %[[H]] :

/// Without the option each of these calls is warned of.
// FLAT: recursive.mlir:{{[0-9]+}}:3: warning: 'func.call': this call of @inner in @outer is not recorded: only calls in @main are; the option recursive records it
// FLAT: recursive.mlir:{{[0-9]+}}:3: warning: 'func.call': this call of @inner in @helper is not recorded
// FLAT-LABEL: func.func @main(
// FLAT-SAME: graph.calibration_map = {outer = array<i64: 0, 1, 1>}

// REPEATED: recursive.mlir:{{[0-9]+}}:3: error: 'func.call': repeated call of @inner: one set of data per function is recorded
// REPEATED: recursive.mlir:{{[0-9]+}}:3: note: 'func.call': the first call is here
// REPEATED: hint: the option multi=list records every call
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %o = func.call @outer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %p = func.call @plain(%o) : (tensor<2xf32>) -> tensor<2xf32>
  %h = func.call @helper(%p) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %h : tensor<2xf32>
}

func.func private @helper(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @inner(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

func.func private @outer(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  %0 = graph.negative %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @inner(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}

func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  %0 = graph.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

/// Leads to no recorded call: stays a call, though it calls another function.
func.func private @plain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @plain_too(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @plain_too(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

/// Does not run from main: no warning.
func.func @elsewhere(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
