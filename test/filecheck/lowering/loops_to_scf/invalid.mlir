// RUN: stepwell-opt %s -p lower-loops-to-scf --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @nothing_to_do
func.func @nothing_to_do() {
  func.return
}

// -----

func.func @loops_in_a_function(%B: memref<4xf32>, %x: f32) {
  // expected-error@+1 {{'tensor_loop.grid': lower-loops-to-scf left 1 'tensor_loop.block', 1 'tensor_loop.grid'}}
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "fill" spatial(%vi in 4 = %i) {
      memref.store %x, %B[%vi] : memref<4xf32>
    }
  }
  func.return
}
