// RUN: stepwell-opt %s -p plan-fusion --remarks 2>&1 | filecheck %s
// RUN: stepwell-opt %s -p 'plan-fusion{max-ops=2}' --remarks 2>&1 | filecheck %s --check-prefix=LIMIT
// RUN: stepwell-opt %s -p 'plan-fusion{rules="fuse-into-injective"}' --remarks 2>&1 | filecheck %s --check-prefix=PICKED

/// Each neighbour that stays apart has a reason, told at the op that takes the result.
// CHECK: remarks.mlir:11:3: remark: 'graph.add': not fused: %m has 2 users outside the group
// CHECK: remarks.mlir:12:3: remark: 'graph.add': not fused: %m has 2 users outside the group
// CHECK: remark: 'graph.matmul': not fused: 'graph.matmul' is a contraction or window: it would compute %r again for every term
func.func @shared_product(%x: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = graph.add %m, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = graph.add %m, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = graph.relu %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = graph.matmul %r, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1, %z : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK: remark: 'graph.add': not fused: 'graph.add' stretches or moves the elements of %m
// CHECK: remark: 'graph.divide': not fused: 'graph.divide' does not go over the rows that %s reduces
// CHECK: remark: 'graph.permute_dims': not fused: 'graph.permute_dims' moves elements of %n, which is computed as a whole
func.func @conditions(%x: tensor<4x4xf32>, %b: tensor<2x1x1xf32>, %y: tensor<5x4xf32>) -> (tensor<2x4x4xf32>, tensor<5x4xf32>, tensor<4x4xf32>) {
  %m = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = graph.add %m, %b : (tensor<4x4xf32>, tensor<2x1x1xf32>) -> tensor<2x4x4xf32>
  %s = graph.sum %x, axis = [1] : (tensor<4x4xf32>) -> tensor<4xf32>
  %1 = graph.divide %y, %s : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %n = graph.matmul %x, %x {mine.tag = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.permute_dims %n : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1, %2 : tensor<2x4x4xf32>, tensor<5x4xf32>, tensor<4x4xf32>
}

// CHECK: remark: 'graph.take': not fused: 'graph.take' is in no group: bytes are looked up by the register in a loop of their own
// CHECK: remark: 'graph.relu': not fused: 'graph.take' is in no group: bytes are looked up by the register in a loop of their own
func.func @table(%t: tensor<256xi8>, %x: tensor<4xui8>) -> tensor<4xi8> {
  %0 = graph.bitwise_not %x : (tensor<4xui8>) -> tensor<4xui8>
  %1 = graph.take %t, %0, axis = 0 : (tensor<256xi8>, tensor<4xui8>) -> tensor<4xi8>
  %2 = graph.relu %1 : (tensor<4xi8>) -> tensor<4xi8>
  func.return %2 : tensor<4xi8>
}

// CHECK: remark: 'graph.divide': not fused: 'graph.divide' is in no group: it may fail at run time
// CHECK: remark: 'graph.relu': not fused: 'graph.divide' is in no group: it may fail at run time
// CHECK: remark: 'graph.exp': not fused: 'func.call' is in no group: it calls a function, which stays as it is
func.func @opaque(%i: tensor<4xi32>, %x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = graph.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  %1 = graph.divide %0, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %2 = graph.relu %1 : (tensor<4xi32>) -> tensor<4xi32>
  %3 = func.call @group(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %4 : tensor<4xi32>, tensor<4xf32>
}
func.func private @group(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

/// Nothing to say here, but with a limit there is.
// LIMIT: remark: 'graph.exp': not fused: the group would have 3 ops, max-ops is 2
// PICKED: remark: 'graph.sum': not fused: no rule merges an elementwise group into a reduction group
// CHECK-NOT: remark:
// CHECK: builtin.module
func.func @long_chain(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.sum %3 : (tensor<4xf32>) -> tensor<f32>
  func.return %2, %4 : tensor<4xf32>, tensor<f32>
}
