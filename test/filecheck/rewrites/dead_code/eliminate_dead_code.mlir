// RUN: stepwell-opt %s -p eliminate-dead-code | filecheck %s

/// Unused ops go, with what only they used, with their regions; those that may fail too.
// CHECK-LABEL: func.func @unused(
func.func @unused(%x: tensor<4xf32>, %i: tensor<4xi32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.log %a : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.divide %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %x : tensor<4xf32>
}

/// Inside a branch that stays, too.
// CHECK-LABEL: func.func @unused_in_branch(
func.func @unused_in_branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %x : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %r = scf.if %c -> (tensor<4xf32>) {
    %e = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

/// An op of which one result is used stays.
// CHECK-LABEL: func.func @no_partly_used(
func.func @no_partly_used(%x: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %[[A:.*]], %[[B:.*]] = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  // CHECK-NEXT: func.return %[[B]] : tensor<2xf32>
  %a, %b = graph.split %x, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return %b : tensor<2xf32>
}

/// Effects stay.
// CHECK-LABEL: func.func @no_effects(
func.func @no_effects(%m: memref<4xf32>, %v: f32, %i: index) {
  // CHECK-NEXT: %[[A:.*]] = memref.alloc() : memref<4xf32>
  // CHECK-NEXT: memref.store %v, %m[%i] : memref<4xf32>
  // CHECK-NEXT: func.return
  %a = memref.alloc() : memref<4xf32>
  memref.store %v, %m[%i] : memref<4xf32>
  func.return
}

/// A call goes when all of the called function is pure; the inner function may do anything.
// CHECK-LABEL: func.func private @pure(
func.func private @pure(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK-LABEL: func.func private @unknown(
func.func private @unknown(tensor<4xf32>) -> tensor<4xf32>
// CHECK-LABEL: func.func private @impure(
func.func private @impure(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = func.call @unknown(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK-LABEL: func.func private @endless(
func.func private @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = func.call @endless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %[[A]] : tensor<4xf32>
  %a = func.call @endless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// CHECK-LABEL: func.func @calls(
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[B:.*]] = func.call @impure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = func.call @endless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: func.return %x : tensor<4xf32>
  %a = func.call @pure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @impure(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @endless(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}
