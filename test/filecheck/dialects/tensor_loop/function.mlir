// RUN: %roundtrip
// RUN: %generic

/// Arguments keep their names and attributes; inputs come before outputs.
// CHECK-LABEL: tensor_loop.func @entry
// CHECK-SAME: (%A: memref<4xf32> {stepwell.role = "input", stepwell.name = "x"}, %n: index) outs(%B: memref<4xf32>) attributes {stepwell.written} {
// GENERIC: arg_attrs = [{stepwell.role = "input", stepwell.name = "x"}, {}, {}]
// GENERIC: (%A: memref<4xf32>, %n: index, %B: memref<4xf32>):
// GENERIC-NEXT: "tensor_loop.yield"() : () -> ()
tensor_loop.func @entry(%A: memref<4xf32> {stepwell.role = "input", stepwell.name = "x"}, %n: index) outs(%B: memref<4xf32>) attributes {stepwell.written} {
}

// CHECK-LABEL: tensor_loop.func private @no_inputs() outs(%B: memref<f32>) {
// GENERIC: sym_name = "no_inputs", function_type = () -> memref<f32>, sym_visibility = "private"
tensor_loop.func private @no_inputs() outs(%B: memref<f32>) {
}

/// A call gives one buffer per argument.
// CHECK-LABEL: func.func @caller
func.func @caller(%a: memref<4xf32>, %n: index, %b: memref<4xf32>) {
  // CHECK: tensor_loop.call @entry(%a, %n) outs(%b) : (memref<4xf32>, index) outs(memref<4xf32>)
  // GENERIC: "tensor_loop.call"(%a, %n, %b) <{callee = @entry, operandSegmentSizes = array<i32: 2, 1>}>
  tensor_loop.call @entry(%a, %n) outs(%b) : (memref<4xf32>, index) outs (memref<4xf32>)
  func.return
}

// CHECK-LABEL: func.func @caller_without_inputs
func.func @caller_without_inputs(%b: memref<f32>) {
  // CHECK: tensor_loop.call @no_inputs() outs(%b) : () outs(memref<f32>)
  tensor_loop.call @no_inputs() outs(%b) : () outs(memref<f32>)
  func.return
}

// CHECK-LABEL: @buffers
tensor_loop.func @buffers(%n: index) outs(%B: memref<4xf32>) {
  // CHECK-NEXT: %T = tensor_loop.alloc : memref<8xf32>
  // GENERIC: "tensor_loop.alloc"() <{scope = "global"}> : () -> memref<8xf32>
  %T = tensor_loop.alloc : memref<8xf32>
  // CHECK-NEXT: %U = tensor_loop.alloc(%n) scope "local" : memref<?x4xf32>
  %U = tensor_loop.alloc(%n) scope "local" : memref<?x4xf32>
}
