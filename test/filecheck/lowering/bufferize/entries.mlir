// RUN: stepwell-opt %s -p bufferize --split-input-file | filecheck %s

/// Inputs, weights, outputs, in this order; no arena when nothing lies between. The signature keeps the tensors.
// CHECK-LABEL: func.func @roles(
// CHECK-SAME: %x: memref<4xf32> {stepwell.role = "input", stepwell.name = "x"},
// CHECK-SAME: %{{[^:]*}}: memref<4xf32> {stepwell.role = "input", stepwell.name = "arg1"},
// CHECK-SAME: %w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w", stepwell.type = tensor<4xf32>},
// CHECK-SAME: %weight: memref<4xf32> {stepwell.role = "weight", stepwell.key = "layer.0/b", stepwell.type = tensor<4xf32>},
// CHECK-SAME: %result0: memref<4xf32> {stepwell.role = "output", stepwell.name = "result0"},
// CHECK-SAME: %result1: memref<4xf32> {stepwell.role = "output", stepwell.name = "result1"})
// CHECK-SAME: attributes {stepwell.signature = (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)}
// CHECK-NEXT: tensor_loop.call @add(%x, %w) outs(%result0)
// CHECK-NEXT: tensor_loop.call @add(%{{.*}}, %weight) outs(%result1)
// CHECK-NEXT: func.return
func.func @roles(%x: tensor<4xf32>, %0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = graph.weight "w" : tensor<4xf32>
  %b = graph.weight "layer.0/b" : tensor<4xf32>
  %again = graph.weight "w" : tensor<4xf32>
  %r = graph.call_kernel @add(%x, %again) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = graph.call_kernel @add(%0, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}
tensor_loop.func private @add(%A: memref<4xf32>, %B: memref<4xf32>) outs(%C: memref<4xf32>) {
}

// -----

/// Booleans are bytes, unsigned integers signless; the signature remembers. A given name stays.
// CHECK-LABEL: func.func @storage(
// CHECK-SAME: %p: memref<4xi8> {stepwell.name = "mask", stepwell.role = "input"}, %q: memref<4xi8> {stepwell.role = "input", stepwell.name = "q"},
// CHECK-SAME: stepwell.signature = (tensor<4xi1>, tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>)
// CHECK-NEXT: memref.copy
// CHECK-SAME: (%q, %result0)
// CHECK-NEXT: memref.copy
// CHECK-SAME: (%p, %result1)
func.func @storage(%p: tensor<4xi1> {stepwell.name = "mask"}, %q: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
  func.return %q, %p : tensor<4xui8>, tensor<4xi1>
}

// -----

/// Returned constants, weights and values twice are copied; a kernel writes the first of equal results itself. Equal
/// constants are one global, other types make another one.
// CHECK: memref.global
// CHECK-SAME: "constant_1"
// CHECK-SAME: dense<1> : tensor<4xi8>
// CHECK: memref.global
// CHECK-SAME: "constant_0"
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @copies(
// CHECK: %[[C:.*]] = memref.get_global @constant_0 : memref<4xf32>
// CHECK: memref.get_global @constant_0 : memref<4xf32>
// CHECK: %[[B:.*]] = memref.get_global @constant_1 : memref<4xi8>
// CHECK: tensor_loop.call @exp(%[[C]]) outs(%result1)
// CHECK: memref.copy
// CHECK-SAME: (%[[C]], %result0)
// CHECK: memref.copy
// CHECK-SAME: (%result1, %result2)
// CHECK: memref.copy
// CHECK-SAME: (%w, %result3)
// CHECK: memref.copy
// CHECK-SAME: (%[[B]], %result4)
func.func @copies() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %d = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %b = graph.constant dense<true> : tensor<4xi1>
  %w = graph.weight "w" : tensor<4xf32>
  %e = graph.call_kernel @exp(%c) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c, %e, %e, %w, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}
tensor_loop.func private @exp(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}

// -----

/// A public loop function becomes an entry on tensors.
// CHECK-NOT: tensor_loop.func @double
// CHECK: tensor_loop.func private @double_kernel(%A: memref<4xf32>) outs(%B: memref<4xf32>)
// CHECK: func.func @double(%A: memref<4xf32> {stepwell.role = "input", stepwell.name = "A"}, %{{.*}}: memref<4xf32> {stepwell.role = "output", stepwell.name = "result0"})
// CHECK-NEXT: tensor_loop.call @double_kernel(%A) outs(%{{.*}})
tensor_loop.func @double(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}

// -----

/// Attributes of arguments and results of private functions go with the arguments and results.
// CHECK-LABEL: func.func private @helper(%x: memref<4xf32>, %{{.*}}: memref<4xf32>) {
// CHECK-LABEL: func.func @main(
// CHECK-SAME: my.note = 1 : i32, stepwell.role = "input"
func.func private @helper(%x: tensor<4xf32> {my.note = 1 : i32}) -> (tensor<4xf32> {my.note = 2 : i32}) {
  func.return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {my.note = 1 : i32}) -> (tensor<4xf32> {my.note = 2 : i32}) {
  %0 = func.call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

/// Functions without tensors, and what has been bufferised, stay.
// CHECK-LABEL: func.func @no_tensors(%x: memref<4xf32>, %i: index) -> f32
// CHECK-NEXT: memref.load
func.func @no_tensors(%x: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %x[%i] : memref<4xf32>
  func.return %0 : f32
}
