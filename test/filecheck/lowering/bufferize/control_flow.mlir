// RUN: stepwell-opt %s -p bufferize --split-input-file | filecheck %s

/// Both sides of an `if` fill the buffer of its result; the condition is read out of a boolean's byte.
// CHECK-LABEL: func.func @if
// CHECK: %[[C:.*]] = memref.load %c[] : memref<i8>
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i8
// CHECK-NEXT: %[[K:.*]] = arith.cmpi ne, %[[C]], %[[Z]] : i8
// CHECK-NEXT: %[[I:.*]] = scf.if %[[K]] -> (index) {
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[T:.*]] = memref.view %arena
// CHECK-NEXT: tensor_loop.call @exp(%x) outs(%[[T]])
// CHECK-NEXT: memref.copy
// CHECK-SAME: (%[[T]], %result0)
// CHECK-NEXT: scf.yield %[[ONE]] : index
// CHECK-NEXT: } else {
// CHECK: memref.copy
// CHECK-SAME: (%x, %result0)
// CHECK-NEXT: scf.yield %{{.*}} : index
// CHECK: arith.addi %[[I]], %[[I]]
func.func @if(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %k = tensor.extract %c[] : tensor<i1>
  %r, %i = scf.if %k -> (tensor<4xf32>, index) {
    %one = arith.constant 1 : index
    %t = graph.call_kernel @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %t, %one : tensor<4xf32>, index
  } else {
    %two = arith.constant 2 : index
    scf.yield %x, %two : tensor<4xf32>, index
  }
  %j = arith.addi %i, %i : index
  func.return %r : tensor<4xf32>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}

// -----

/// Values that a loop carries crosswise go through temporaries.
// CHECK-LABEL: func.func @swap
// CHECK: memref.copy
// CHECK-SAME: (%x, %result0)
// CHECK: memref.copy
// CHECK-SAME: (%y, %result1)
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: memref.copy
// CHECK-SAME: (%result1, %[[P:.*]]) :
// CHECK: memref.copy
// CHECK-SAME: (%result0, %[[Q:.*]]) :
// CHECK: memref.copy
// CHECK-SAME: (%[[P]], %result0)
// CHECK: memref.copy
// CHECK-SAME: (%[[Q]], %result1)
func.func @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %lo = arith.constant 0 : index
  %hi = arith.constant 3 : index
  %step = arith.constant 1 : index
  %r, %s = scf.for %i = %lo to %hi step %step iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

/// A value that is yielded unchanged is not copied; a scalar is carried as before.
// CHECK-LABEL: func.func @no_copy_of_unchanged
// CHECK: %[[N:.*]] = scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}) -> (index) {
// CHECK-NEXT: %[[K:.*]] = arith.addi %[[M]], %{{.*}} : index
// CHECK-NEXT: scf.yield %[[K]] : index
func.func @no_copy_of_unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {
  %lo = arith.constant 0 : index
  %hi = arith.constant 3 : index
  %step = arith.constant 1 : index
  %r, %n = scf.for %i = %lo to %hi step %step iter_args(%a = %x, %m = %lo) -> (tensor<4xf32>, index) {
    %k = arith.addi %m, %i : index
    scf.yield %a, %k : tensor<4xf32>, index
  }
  func.return %r : tensor<4xf32>
}

// -----

/// An index that is a literal inside the tensor is not checked, another one is.
// CHECK-LABEL: func.func @extract
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK-NOT: cf.assert
// CHECK: memref.load %x[%c1] : memref<4xi64>
// CHECK-NEXT: %[[SIZE:.*]] = arith.constant 4 : index
// CHECK-NEXT: %[[OK:.*]] = arith.cmpi ult, %[[I]], %[[SIZE]] : index
// CHECK-NEXT: cf.assert %[[OK]], "tensor.extract: index out of range"
// CHECK-NEXT: memref.load %x[%[[I]]]
func.func @extract(%x: tensor<4xi64>, %k: i64) -> i64 {
  %i = arith.index_cast %k : i64 to index
  %c1 = arith.constant 1 : index
  %a = tensor.extract %x[%c1] : tensor<4xi64>
  %b = tensor.extract %x[%i] : tensor<4xi64>
  %s = arith.addi %a, %b : i64
  func.return %s : i64
}
