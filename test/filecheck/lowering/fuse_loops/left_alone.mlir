// RUN: stepwell-opt %s -p lower-graph-to-loops,fuse-loops --remarks 2>%t.remarks | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file %t.remarks

/// Groups that have no single loop function stay as they are, and a remark says why.
// CHECK: func.func @no_public_group(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
// CHECK-NEXT: graph.call_kernel @exp
// REMARK: left_alone.mlir:8:1: remark: {{.*}}not fused: function @no_public_group is public, expected a private function
func.func @no_public_group(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK: func.func private @no_constant_inside
// CHECK-NEXT: graph.constant
// REMARK: not fused: function @no_constant_inside holds 'graph.constant', expected kernel calls only
func.func private @no_constant_inside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.add %x, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK: func.func private @no_returned_argument
// REMARK: not fused: function @no_returned_argument returns an argument
func.func private @no_returned_argument(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func private @no_value_twice
// REMARK: not fused: function @no_value_twice returns a value twice
func.func private @no_value_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// CHECK: func.func private @no_several_blocks
// REMARK: not fused: function @no_several_blocks has several blocks
func.func private @no_several_blocks(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  cf.br ^next
^next:
  func.return %x : tensor<4xf32>
}

// CHECK: func.func private @no_scalar
// REMARK: not fused: function @no_scalar has an argument or result that is not a tensor of known size
func.func private @no_scalar(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

/// No group: nothing is said.
// CHECK: func.func private @no_group
// REMARK-NOT: no_group
func.func private @no_group(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// CHECK: func.func private @no_unknown_size_inside
// CHECK-NEXT: graph.call_kernel @grow
// REMARK: not fused: function @no_unknown_size_inside holds a result of @grow that is not a tensor of known size
func.func private @no_unknown_size_inside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %0 = graph.call_kernel @grow(%x) : (tensor<4xf32>) -> tensor<?xf32>
  %1 = graph.call_kernel @shrink(%0) : (tensor<?xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

tensor_loop.func private @grow(%x: memref<4xf32>) outs(%out: memref<?xf32>) {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "grow" spatial(%v in 4 = %i) {
      %a = memref.load %x[%v] : memref<4xf32>
      memref.store %a, %out[%v] : memref<?xf32>
    }
  }
}

tensor_loop.func private @shrink(%x: memref<?xf32>) outs(%out: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "shrink" spatial(%v in 4 = %i) {
      %a = memref.load %x[%v] : memref<?xf32>
      memref.store %a, %out[%v] : memref<4xf32>
    }
  }
}
