// RUN: stepwell-opt %s -p lower-graph-to-loops --split-input-file | filecheck %s

/// Ops with equal name, properties and types share one kernel; another type makes another one, with a number.
// CHECK-LABEL: func.func @equal_ops_share
// CHECK-NEXT: %[[A:.*]] = graph.call_kernel @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = graph.call_kernel @relu(%[[A]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = graph.call_kernel @relu_1(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[B]], %[[C]]
// CHECK-NOT: graph.relu
// CHECK: tensor_loop.func private @relu(%operand: memref<4xf32>) outs(%out: memref<4xf32>)
// CHECK: tensor_loop.func private @relu_1(%operand: memref<2x3xf32>) outs(%out: memref<2x3xf32>)
// CHECK-NOT: tensor_loop.func
func.func @equal_ops_share(%x: tensor<4xf32>, %y: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.relu %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b, %c : tensor<4xf32>, tensor<2x3xf32>
}

// -----

/// A table of all bytes never fails, so its kernel need not tell where it stands. One of another size does.
// CHECK-LABEL: func.func @tables
// CHECK-COUNT-2: graph.call_kernel @take(
// CHECK: graph.call_kernel @take_1(
// CHECK: graph.call_kernel @take_2(
func.func @tables(%t: tensor<256xui8>, %u: tensor<200xui8>, %i: tensor<4xui8>)
    -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
  %a = graph.take %t, %i, axis = 0 : (tensor<256xui8>, tensor<4xui8>) -> tensor<4xui8>
  %b = graph.take %t, %a, axis = 0 : (tensor<256xui8>, tensor<4xui8>) -> tensor<4xui8>
  %c = graph.take %u, %a, axis = 0 : (tensor<200xui8>, tensor<4xui8>) -> tensor<4xui8>
  %d = graph.take %u, %b, axis = 0 : (tensor<200xui8>, tensor<4xui8>) -> tensor<4xui8>
  func.return %b, %c, %d : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
}

// -----

/// A property that changes nothing in the loops: identical bodies are shared all the same.
// CHECK-LABEL: func.func @identical_bodies_share
// CHECK-COUNT-2: graph.call_kernel @softmax(%x)
// CHECK: tensor_loop.func private @softmax(
// CHECK-NOT: tensor_loop.func
func.func @identical_bodies_share(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = graph.softmax %x, axis = -1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = graph.softmax %x, axis = 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

/// A name that is taken, by whatever symbol, is not used again.
// CHECK-LABEL: func.func @relu
// CHECK: graph.call_kernel @relu_2(%x)
// CHECK: func.func private @relu_1
// CHECK: tensor_loop.func private @relu_2
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
func.func private @relu_1(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

/// Each kernel that may fail reports the place of its own op, so equal ones are not shared.
// CHECK-LABEL: func.func @no_shared_kernel_that_may_fail
// CHECK: graph.call_kernel @divide(%x, %x)
// CHECK: graph.call_kernel @divide_1(%x, %x)
// CHECK: tensor_loop.func private @divide(
// CHECK: cf.assert %{{.*}}, "graph.divide: integer division by zero"
// CHECK: tensor_loop.func private @divide_1(
// CHECK: cf.assert
func.func @no_shared_kernel_that_may_fail(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %a = graph.divide %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %b = graph.divide %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %a, %b : tensor<4xi32>, tensor<4xi32>
}

// -----

/// Division of floats cannot fail and is shared.
// CHECK-LABEL: func.func @float_division_shares
// CHECK-COUNT-2: graph.call_kernel @divide(%x, %x)
func.func @float_division_shares(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = graph.divide %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.divide %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

/// Data, calls and control flow stay; ops inside regions are lowered.
// CHECK-LABEL: func.func @no_lowering_of_data_and_control
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<1.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT: %[[W:.*]] = graph.weight "w" : tensor<4xf32>
// CHECK-NEXT: %[[K:.*]] = tensor.extract %c[] : tensor<i1>
// CHECK-NEXT: %[[R:.*]] = scf.if %[[K]] -> (tensor<4xf32>) {
// CHECK-NEXT: %[[S:.*]] = graph.call_kernel @add(%[[C]], %[[W]])
// CHECK-NEXT: scf.yield %[[S]] : tensor<4xf32>
// CHECK: func.call @other(%[[R]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.func private @other
func.func @no_lowering_of_data_and_control(%c: tensor<i1>) -> tensor<4xf32> {
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %w = graph.weight "w" : tensor<4xf32>
  %k = tensor.extract %c[] : tensor<i1>
  %r = scf.if %k -> (tensor<4xf32>) {
    %s = graph.add %one, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %o = func.call @other(%r) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %o : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// -----

/// Booleans lie in bytes, unsigned integers are signless; unsigned division keeps its meaning.
// CHECK-LABEL: func.func @storage
// CHECK: tensor_loop.func private @divide(%lhs: memref<4xi8>, %rhs: memref<4xi8>) outs(%out: memref<4xi8>)
// CHECK: arith.divui
// CHECK: tensor_loop.func private @less(%lhs: memref<4xi8>, %rhs: memref<4xi8>) outs(%out: memref<4xi8>)
// CHECK: %[[P:.*]] = arith.cmpi ult
// CHECK-NEXT: %[[B:.*]] = arith.extui %[[P]] : i1 to i8
// CHECK-NEXT: memref.store %[[B]], %out
func.func @storage(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xi1> {
  %q = graph.divide %x, %y : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %l = graph.less %q, %y : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  func.return %l : tensor<4xi1>
}

// -----

/// Rank 0 and no elements.
// CHECK-LABEL: func.func @edges
// CHECK: tensor_loop.func private @exp(%operand: memref<f32>) outs(%out: memref<f32>)
// CHECK-NEXT: tensor_loop.block "exp" reads(%operand[]) writes(%out[])
// CHECK: tensor_loop.func private @sum(%operand: memref<0x3xf32>) outs(%out: memref<3xf32>)
// CHECK-NEXT: tensor_loop.grid (%{{.*}}, %{{.*}}) in (3, 0)
// CHECK: init {
func.func @edges(%x: tensor<f32>, %y: tensor<0x3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  %a = graph.exp %x : (tensor<f32>) -> tensor<f32>
  %b = graph.sum %y, axis = [0] : (tensor<0x3xf32>) -> tensor<3xf32>
  func.return %a, %b : tensor<f32>, tensor<3xf32>
}
