// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
tensor_loop.func @valid() outs() {
}

// -----

// expected-error@+1 {{output of @scalar_output is of type f32, expected a memref}}
tensor_loop.func @scalar_output() outs(%x: f32) {
}

// -----

tensor_loop.func @two_names(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.block "copy" reads() writes() {
  }
  tensor_loop.block "copy" reads() writes() {
  }
}
// expected-error@-6 {{2 blocks of @two_names are named "copy", expected different names}}

// -----

// expected-error@+1 {{body of @types has arguments (memref<4xf32>), expected (memref<8xf32>) as in its type}}
"tensor_loop.func"() <{sym_name = "types", function_type = () -> memref<8xf32>}> ({
^bb0(%A: memref<4xf32>):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{@dictionaries has 1 arguments but 2 argument dictionaries}}
"tensor_loop.func"() <{sym_name = "dictionaries", function_type = () -> memref<4xf32>, arg_attrs = [{}, {}]}> ({
^bb0(%A: memref<4xf32>):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{outs}}
tensor_loop.func @no_outputs(%A: memref<4xf32>) {
}

// -----

func.func @unknown(%a: memref<4xf32>) {
  // expected-error@+1 {{@nothing is not defined in this module}}
  tensor_loop.call @nothing() outs(%a) : () outs(memref<4xf32>)
  func.return
}

// -----

func.func private @other(memref<4xf32>)
func.func @not_a_loop_function(%a: memref<4xf32>) {
  // expected-error@+1 {{@other is a 'func.func', expected a 'tensor_loop.func'}}
  tensor_loop.call @other() outs(%a) : () outs(memref<4xf32>)
  func.return
}

// -----

tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @counts(%a: memref<4xf32>) {
  // expected-error@+1 {{call of @f has 0 inputs, expected 1}}
  tensor_loop.call @f() outs(%a) : () outs(memref<4xf32>)
  func.return
}

// -----

tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @types(%a: memref<4xf32>, %b: memref<8xf32>) {
  // expected-error@+1 {{call of @f: number 0 of the outputs is of type memref<8xf32>, expected memref<4xf32>}}
  tensor_loop.call @f(%a) outs(%b) : (memref<4xf32>) outs(memref<8xf32>)
  func.return
}

// -----

tensor_loop.func @f(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
}
func.func @overlap(%a: memref<4xf32>) {
  // expected-error@+1 {{%a is an output of the call and given to it twice; arguments must not overlap}}
  tensor_loop.call @f(%a) outs(%a) : (memref<4xf32>) outs(memref<4xf32>)
  func.return
}

// -----

tensor_loop.func @scope() outs() {
  // expected-error@+1 {{unknown scope "shared", expected "global" or "local"}}
  %T = tensor_loop.alloc scope "shared" : memref<4xf32>
}

// -----

tensor_loop.func @sizes() outs() {
  // expected-error@+1 {{memref<?xf32> has 1 dynamic dimensions but 0 sizes are given}}
  %T = tensor_loop.alloc : memref<?xf32>
}

// -----

tensor_loop.func @outer() outs() {
  tensor_loop.block "b" reads() writes() {
    // expected-error@+1 {{@inner stands in 'tensor_loop.block', expected a module around it}}
    tensor_loop.func @inner() outs() {
    }
  }
}

// -----

// expected-error@+1 {{the name of the function is empty, and machine code knows functions by name}}
tensor_loop.func @""() outs() {
}

// -----

// expected-error@+1 {{the name of the function is empty, and machine code knows functions by name}}
func.func @"" () {
  func.return
}
