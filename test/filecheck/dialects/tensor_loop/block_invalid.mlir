// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
tensor_loop.func @valid() outs() {
}

// -----

tensor_loop.func @loop_variable(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b": 'memref.load' uses the loop variable %i; use a block axis}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%i] : memref<4xf32>
      memref.store %a, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

tensor_loop.func @loop_value(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    %a = memref.load %A[%i] : memref<4xf32>
    // expected-error@+1 {{block "b": 'memref.store' uses %a, which is computed inside a loop; use a block axis}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      memref.store %a, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

tensor_loop.func @init_reduce() outs(%B: memref<4xf32>) {
  tensor_loop.grid (%k) in (4) {
    // expected-error@+1 {{block "b": init uses the reduce axis %vk; init may use spatial axes only}}
    tensor_loop.block "b" reduce(%vk in 4 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %B[%vk] : memref<4xf32>
      }
    }
  }
}

// -----

tensor_loop.func @init_without_reduce() outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b" has an init but no reduce axis}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      init {
      }
    }
  }
}

// -----

tensor_loop.func @late_init() outs(%B: memref<4xf32>) {
  tensor_loop.grid (%k) in (4) {
    // expected-error@+1 {{block "b": init must be the first op of the block, and the only init}}
    tensor_loop.block "b" reduce(%vk in 4 = %k) {
      %zero = arith.constant 0.0 : f32
      init {
      }
    }
  }
}

// -----

// expected-error@+1 {{'tensor_loop.init'}}
tensor_loop.init {
}

// -----

tensor_loop.func @range() outs() {
  tensor_loop.grid (%io, %ii) in (7, 16) {
    // expected-error@+1 {{block "b": the binding of axis %vi runs from 0 to 111, expected 0 to 99; add a where clause or change the extent}}
    tensor_loop.block "b" spatial(%vi in 100 = %io * 16 + %ii) {
    }
  }
}

// -----

tensor_loop.func @negative_range() outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b": the binding of axis %vi runs from -1 to 2, expected 0 to 3}}
    tensor_loop.block "b" spatial(%vi in 4 = %i - 1) {
    }
  }
}

// -----

tensor_loop.func @negative_extent() outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{extent must be 0 or more, found -4}}
    tensor_loop.block "b" spatial(%vi in -4 = %i) {
    }
  }
}

// -----

tensor_loop.func @rank(%A: memref<4x4xf32>) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b": region of %A has 1 dimensions but the buffer has rank 2}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%A[%vi]) writes() {
    }
  }
}

// -----

tensor_loop.func @wrong_reads(%A: memref<4x4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i, %j) in (4, 4) {
    // expected-error@+1 {{block "b" declares reads(%A[%vj, %vi]) but its body has reads(%A[%vi, %vj])}}
    tensor_loop.block "b" spatial(%vi in 4 = %i, %vj in 4 = %j) reads(%A[%vj, %vi]) {
      %a = memref.load %A[%vi, %vj] : memref<4x4xf32>
      memref.store %a, %B[%vi] : memref<4xf32>
    }
  }
}

// -----

tensor_loop.func @too_small(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b" declares writes(%B[%vi]) but its body has writes(%B[%vi : 2])}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) writes(%B[%vi]) {
      %c1 = arith.constant 1 : index
      %next = arith.addi %vi, %c1 : index
      %a = memref.load %A[%vi] : memref<4xf32>
      memref.store %a, %B[%vi] : memref<4xf32>
      memref.store %a, %B[%next] : memref<4xf32>
    }
  }
}

// -----

tensor_loop.func @unused(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{block "b" declares reads(%A[%vi]) but its body has reads()}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%A[%vi]) {
    }
  }
}

// -----

tensor_loop.func @not_an_axis(%A: memref<4xf32>) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{%i is not an axis of this block; a region is affine in the axes}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%A[%i]) {
    }
  }
}

// -----

tensor_loop.func @predicate_on_an_axis(%A: memref<4xf32>) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{%vi is an axis of this block; bindings and where are affine in values from outside}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) where(%vi < 1) {
    }
  }
}

// -----

tensor_loop.func @axis_bound_to_itself(%A: memref<4xf32>) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{%vi is an axis of this block; bindings and where are affine in values from outside}}
    tensor_loop.block "b" spatial(%vi in 4 = %vi + 1) {
    }
  }
}

// -----

tensor_loop.func @no_buffer() outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{buffer %A is not defined before this block}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%A[%vi]) {
    }
  }
}

// -----

tensor_loop.func @not_a_buffer(%x: f32) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{%x is of type f32, expected a memref}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%x[%vi]) {
    }
  }
}

// -----

tensor_loop.func @not_affine() outs() {
  tensor_loop.grid (%i, %j) in (4, 4) {
    // expected-error@+1 {{expression is not affine: one factor and every divisor must be an integer}}
    tensor_loop.block "b" spatial(%vi in 16 = %i * %j) {
    }
  }
}

// -----

tensor_loop.func @divisor() outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{the divisor of mod, floordiv and ceildiv must be positive}}
    tensor_loop.block "b" spatial(%vi in 16 = %i mod 0) {
    }
  }
}

// -----

tensor_loop.func @no_binding() outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{and the binding of the axis}}
    tensor_loop.block "b" spatial(%vi in 16) {
    }
  }
}

// -----

tensor_loop.func @region_size(%A: memref<4xf32>) outs() {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{size of a region must be 0 or more, found -1}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) reads(%A[%vi : -1]) {
    }
  }
}

// -----

// expected-error@+1 {{block "b" has 1 axes but 2 bindings}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = ["spatial"], static_extents = array<i64: 8>, bindings = affine_map<() -> (0, 0)>, read_maps = [], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0(%vi: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{block "b": unknown axis kind 'scan', expected spatial or reduce}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = ["scan"], static_extents = array<i64: 8>, bindings = affine_map<() -> (0)>, read_maps = [], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0(%vi: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{block "b": bindings have 1 dimensions and 0 symbols, expected 0 and none}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = ["spatial"], static_extents = array<i64: 8>, bindings = affine_map<(d0) -> (d0)>, read_maps = [], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0(%vi: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{block "b" has a predicate without bounds, or bounds without a predicate}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = [], static_extents = array<i64>, bindings = affine_map<() -> ()>, predicate_bounds = array<i64: 8>, read_maps = [], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0:
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{block "b": predicate has 1 expressions but 2 bounds}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = [], static_extents = array<i64>, bindings = affine_map<() -> ()>, predicate = affine_map<() -> (0)>, predicate_bounds = array<i64: 8, 8>, read_maps = [], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0:
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{block "b" has 0 read buffers, 1 maps and 0 lists of sizes}}
"tensor_loop.block"() <{block_name = "b", axis_kinds = [], static_extents = array<i64>, bindings = affine_map<() -> ()>, read_maps = [affine_map<() -> ()>], read_sizes = [], write_maps = [], write_sizes = [], operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
^bb0:
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

/// Inference meets values that are defined later, or by themselves: the verifier says so.
tensor_loop.func @use_before_definition() outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{operand 1 (%A) is used before its definition}}
    tensor_loop.block "b" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%late] : memref<4xf32>
      %x = arith.addi %x, %vi : index
      memref.store %a, %B[%x] : memref<4xf32>
      %late = arith.addi %vi, %vi : index
    }
  }
  %A = tensor_loop.alloc : memref<4xf32>
}

// -----

/// AUDIT C9: a misspelt kind of axis was "Expected region!".
tensor_loop.func @misspelt() outs(%B: memref<4xf32>) {
  tensor_loop.grid (%i) in (4) {
    // expected-error@+1 {{found 'spatal' before the body, the parts of a block are, in this order, spatial, reduce, where, reads, writes, attributes and its body; did you mean 'spatial'?}}
    tensor_loop.block "b" spatal(%vi in 4 = %i) writes(%B[%vi]) {
    }
  }
}
