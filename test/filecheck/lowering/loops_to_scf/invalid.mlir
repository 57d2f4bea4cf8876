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

// -----

tensor_loop.func @init_beyond_if(%c: i1, %x: f32) outs(%S: memref<f32>) {
  tensor_loop.for %k in 4 {
    scf.if %c {
      // expected-error@+1 {{its init cannot be placed: a reduce axis depends on a loop beyond an op that is no loop}}
      tensor_loop.block "sum" reduce(%vk in 4 = %k) {
        init {
          memref.store %x, %S[] : memref<f32>
        }
        %s = memref.load %S[] : memref<f32>
        %t = arith.addf %s, %x : f32
        memref.store %t, %S[] : memref<f32>
      }
    }
  }
}

// -----

tensor_loop.func @extent_inside(%n: index, %x: f32) outs(%S: memref<f32>) {
  tensor_loop.for %k in 4 {
    %m = arith.addi %k, %n : index
    tensor_loop.for %l in %m {
      // expected-error@+1 {{its init cannot be placed: what it needs is computed inside a reduce loop that may be empty}}
      tensor_loop.block "sum" reduce(%vk in 4 = %k, %vl in 8 = %l) {
        init {
          memref.store %x, %S[] : memref<f32>
        }
        %s = memref.load %S[] : memref<f32>
        %t = arith.addf %s, %x : f32
        memref.store %t, %S[] : memref<f32>
      }
    }
  }
}
