// RUN: stepwell-opt %s -p 'calibrate-module{recursive}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: stepwell-opt %s -p 'calibrate-map{recursive}' --split-input-file --verify-diagnostics | filecheck %s

/// A call inside a branch may or may not run.
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensor.extract %c[] : tensor<i1>
  // CHECK: calibrate_module_invalid.mlir:9:3: error: 'scf.if': control flow in @main: only straight-line code can be calibrated
  // CHECK: hint: move the branch or the loop into a function that is called
  %1 = scf.if %0 -> (tensor<2xf32>) {
    scf.yield %x : tensor<2xf32>
  } else {
    %2 = graph.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  %3 = func.call @g(%1) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  func.return %x : tensor<2xf32>
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %first = arith.constant 0 : index
  %last = arith.constant 3 : index
  %step = arith.constant 1 : index
  // CHECK: calibrate_module_invalid.mlir:31:3: error: 'scf.for': control flow in @main
  %0 = scf.for %i = %first to %last step %step iter_args(%y = %x) -> (tensor<2xf32>) {
    %1 = func.call @g(%y) : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  func.return %0 : tensor<2xf32>
}

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  func.return %x : tensor<2xf32>
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: calibrate_module_invalid.mlir:47:3: error: 'cf.br': control flow in @main: it has 2 blocks
  cf.br ^next(%x : tensor<2xf32>)
^next(%y: tensor<2xf32>):
  func.return %y : tensor<2xf32>
}

// -----
// CHECK: // -----

/// Control flow in a function that is inlined is as bad.
func.func @main(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %0 = func.call @helper(%x, %c) : (tensor<2xf32>, tensor<i1>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @helper(%x: tensor<2xf32>, %c: tensor<i1>) -> tensor<2xf32> {
  %0 = tensor.extract %c[] : tensor<i1>
  // CHECK: calibrate_module_invalid.mlir:64:3: error: 'scf.if': control flow in @main
  %1 = scf.if %0 -> (tensor<2xf32>) {
    scf.yield %x : tensor<2xf32>
  } else {
    %2 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %2 : tensor<2xf32>
  }
  func.return %1 : tensor<2xf32>
}

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  func.return %x : tensor<2xf32>
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: calibrate_module_invalid.mlir:85:3: error: 'func.call': repeated call of @g: one set of data per function is recorded
  // CHECK: calibrate_module_invalid.mlir:81:3: note: 'func.call': the first call is here
  // CHECK: hint: the option multi=list records every call
  %1 = func.call @g(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  func.return %x : tensor<2xf32>
}

// -----
// CHECK: // -----

func.func @main(%x: tuple<tensor<2xf32>, tensor<2xf32>>) {
  // CHECK: calibrate_module_invalid.mlir:98:3: error: 'func.call': argument 0 of @g has type tuple<tensor<2xf32>, tensor<2xf32>>, expected a tensor
  func.call @g(%x) : (tuple<tensor<2xf32>, tensor<2xf32>>) -> ()
  func.return
}

func.func private @g(%x: tuple<tensor<2xf32>, tensor<2xf32>>) attributes {graph.compiler = "npu"} {
  func.return
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> index {
  // CHECK: calibrate_module_invalid.mlir:111:3: error: 'func.call': result 0 of @g has type index, expected a tensor
  %0 = func.call @g(%x) : (tensor<2xf32>) -> index
  func.return %0 : index
}

func.func private @g(%x: tensor<2xf32>) -> index attributes {graph.compiler = "npu"} {
  %0 = arith.constant 0 : index
  func.return %0 : index
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: calibrate_module_invalid.mlir:125:3: error: 'func.call': function @g has no body, so there is nothing to run for its data
  %0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @g(tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: calibrate_module_invalid.mlir:136:3: error: 'func.call': '@h' could not be found in symbol table
  %0 = func.call @h(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @even(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// CHECK: calibrate_module_invalid.mlir:149:1: error: 'func.func': function @even calls itself: its calls cannot be recorded one by one
func.func private @even(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @odd(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @g(%0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}

func.func private @odd(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @even(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> attributes {graph.compiler = "npu"} {
  func.return %x : tensor<2xf32>
}

// -----
// CHECK: // -----

// CHECK: calibrate_module_invalid.mlir:168:1: error: 'func.func': function @main has no body
func.func private @main(tensor<2xf32>) -> tensor<2xf32>

// -----
// CHECK: // -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: calibrate_module_invalid.mlir:176:3: error: 'func.call': @main is called, but its results become the data that are recorded
  // CHECK: hint: calibrate a function that nothing calls
  %0 = func.call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
