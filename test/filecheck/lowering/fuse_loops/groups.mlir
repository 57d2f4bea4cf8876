// RUN: stepwell-opt %s -p lower-graph-to-loops,fuse-loops --split-input-file | filecheck %s

/// The same kernel twice: its blocks are copied twice, under names of their own; it stays for who else calls it.
// CHECK-LABEL: func.func @kernel_used_twice
// CHECK-NEXT: graph.call_kernel @twice(%x)
// CHECK-NEXT: graph.call_kernel @exp(%x)
// CHECK: tensor_loop.func private @twice(%x: memref<4xf32>) outs(%out: memref<4xf32>)
// CHECK-NEXT: %[[A:.*]] = tensor_loop.alloc : memref<4xf32>
// CHECK: tensor_loop.block "exp" {{.*}} reads(%x[%vi0]) writes(%[[A]][%vi0])
// CHECK: tensor_loop.block "exp_1" {{.*}} reads(%[[A]][%[[V:.*]]]) writes(%out[%[[V]]])
// CHECK: tensor_loop.func private @exp
func.func @kernel_used_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

/// One buffer read as both operands, an argument passed twice, an argument that is not used.
// CHECK-LABEL: func.func @buffer_read_twice
// CHECK-NEXT: graph.call_kernel @group(%x, %x, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: tensor_loop.func private @group(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) outs(%out: memref<4xf32>)
// CHECK-NEXT: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "add" {{.*}} reads(%a[%vi0]) writes(%[[T]][%vi0])
// CHECK: tensor_loop.block "multiply" {{.*}} reads(%[[T]][%[[V:.*]]], %b[%[[V]]]) writes(%out[%[[V]]])
func.func @buffer_read_twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @group(%x, %x, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @group(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %s = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %m = graph.multiply %s, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %m : tensor<4xf32>
}

// -----

/// Several results, one of them read again inside the group, in another order than computed.
// CHECK-LABEL: func.func @several_results
// CHECK-NEXT: %[[R:.*]], %[[Q:.*]] = graph.call_kernel @group(%x) : (tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>)
// CHECK-NEXT: func.return %[[Q]], %[[R]]
// CHECK: tensor_loop.func private @group(%x: memref<4x2xf32>) outs(%out0: memref<4x2xf32>, %out1: memref<2x2xf32>)
// CHECK-NEXT: %[[H:.*]] = tensor_loop.alloc : memref<2x2xf32>
// CHECK: tensor_loop.block "split" {{.*}} writes(%out1[
// CHECK: tensor_loop.block "split_1" {{.*}} writes(%[[H]][
// CHECK: tensor_loop.block "concat" {{.*}} writes(%out0[
func.func @several_results(%x: tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<4x2xf32>) {
  %0, %1 = func.call @group(%x) : (tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>)
  func.return %1, %0 : tensor<2x2xf32>, tensor<4x2xf32>
}
func.func private @group(%x: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>) attributes {graph.primitive} {
  %low, %high = graph.split %x, sections = 2 : (tensor<4x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %c = graph.concat %high, %low : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  func.return %c, %low : tensor<4x2xf32>, tensor<2x2xf32>
}

// -----

/// A group that calls another is merged after it; calls inside regions are turned, too.
// CHECK-LABEL: func.func @groups_in_groups
// CHECK: scf.if
// CHECK-NEXT: graph.call_kernel @outer(%x)
// CHECK-NOT: func.func
// CHECK: tensor_loop.func private @outer(
// CHECK: tensor_loop.block "exp"
// CHECK: tensor_loop.block "tanh"
// CHECK: tensor_loop.block "abs"
// CHECK-NOT: tensor_loop.func
func.func @groups_in_groups(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %k = tensor.extract %c[] : tensor<i1>
  %r = scf.if %k -> (tensor<4xf32>) {
    %0 = func.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %a = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.abs %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

/// A check keeps its message and, for `lower-to-llvm-dialect`, its place.
// CHECK-LABEL: func.func @checks_stay
// CHECK: tensor_loop.func private @group
// CHECK: cf.assert %{{.*}}, "graph.take: index out of range"
func.func @checks_stay(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  %0 = func.call @group(%x, %i) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func private @group(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> attributes {graph.primitive} {
  %a = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.take %a, %i, axis = 0 : (tensor<4xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return %b : tensor<2xf32>
}
