// RUN: stepwell-opt %s -p bufferize --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @nothing_to_do
func.func @nothing_to_do() {
  func.return
}

// -----

func.func @graph_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.relu' works on tensors and has no form on buffers}}
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{a value of type tensor<?xf32> has no known size}}
func.func @unknown_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  func.return %x : tensor<?xf32>
}

// -----

// expected-error@+1 {{a value of type tensor<2xi6> has no form in memory, expected an element type of f16, bf16}}
func.func @element_type(%x: tensor<2xi6>) -> tensor<2xi6> {
  func.return %x : tensor<2xi6>
}

// -----

// expected-error@+1 {{a value of type tensor<*xf32> has no known rank}}
func.func @rank(%x: tensor<*xf32>, %y: tensor<2xf32>) {
  func.return
}

// -----

// expected-error@+1 {{function @blocks has several blocks that pass tensors around, expected one}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next(%x : tensor<4xf32>)
^next(%y: tensor<4xf32>):
  func.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{function @outside works on tensors and has no body, expected a definition}}
func.func private @outside(tensor<4xf32>) -> tensor<4xf32>

// -----

func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{function @even calls itself through @odd; recursion on tensors is not supported}}
  %0 = func.call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

func.func @too_large(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{a buffer of type memref<1200000000x1200000000xf32> needs 5760000000000000000 bytes, expected at most 2^62}}
  %0 = graph.call_kernel @grow(%x) : (tensor<4xf32>) -> tensor<1200000000x1200000000xf32>
  func.return %x : tensor<4xf32>
}
tensor_loop.func private @grow(%A: memref<4xf32>) outs(%B: memref<1200000000x1200000000xf32>) {
}

// -----

tensor_loop.func @main(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  // expected-error@+1 {{function @main calls itself; recursion on buffers is not supported}}
  tensor_loop.call @main(%A) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
}

// -----

tensor_loop.func private @open(%A: memref<?xf32>) outs(%B: memref<?xf32>) {}
func.func @call(%x: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{@open has buffers of sizes that are not known}}
  %0 = graph.call_kernel @open(%x) : (tensor<5xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}

// -----

// expected-error@+1 {{an entry has a buffer of type memref<8xui8>, expected memref<8xi8>, as arrays lie in memory}}
tensor_loop.func @other_elements(%x: memref<8xui8>) outs(%y: memref<8xui8>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %v = memref.load %x[%vi] : memref<8xui8>
      memref.store %v, %y[%vi] : memref<8xui8>
    }
  }
}

// -----

// expected-error@+1 {{an entry has a buffer of type memref<8xi1>, expected memref<8xi8>, as arrays lie in memory}}
tensor_loop.func @other_elements(%x: memref<8xi1>) outs(%y: memref<8xi1>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %v = memref.load %x[%vi] : memref<8xi1>
      memref.store %v, %y[%vi] : memref<8xi1>
    }
  }
}

// -----

// expected-error@+1 {{an entry has a buffer of type memref<8xi8, strided<[2]>>, expected memref<8xi8>, as arrays lie in memory}}
tensor_loop.func @other_elements(%x: memref<8xi8, strided<[2]>>) outs(%y: memref<8xi8, strided<[2]>>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %v = memref.load %x[%vi] : memref<8xi8, strided<[2]>>
      memref.store %v, %y[%vi] : memref<8xi8, strided<[2]>>
    }
  }
}

// -----

// expected-error@+1 {{an entry has a buffer of type memref<8xi8, 3 : i32>, expected memref<8xi8>, as arrays lie in memory}}
tensor_loop.func @other_elements(%x: memref<8xi8, 3 : i32>) outs(%y: memref<8xi8, 3 : i32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      %v = memref.load %x[%vi] : memref<8xi8, 3 : i32>
      memref.store %v, %y[%vi] : memref<8xi8, 3 : i32>
    }
  }
}

// -----

tensor_loop.func @tensor_inside(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  tensor_loop.grid (%i) in (8) {
    tensor_loop.block "copy" spatial(%vi in 8 = %i) {
      // expected-error@+1 {{a tensor in a loop function has no place in memory}}
      %t = graph.full 0.0 : tensor<3xf32>
      %v = memref.load %x[%vi] : memref<8xf32>
      memref.store %v, %y[%vi] : memref<8xf32>
    }
  }
}
