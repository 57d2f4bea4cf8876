// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: @valid
tensor_loop.func @valid() outs() {
}

// -----

// expected-error@+1 {{unknown loop kind 'vectorised', expected parallel, vectorized or unrolled}}
tensor_loop.for %i in 4 vectorised {
}

// -----

// expected-error@+1 {{extent must be 0 or more, found -4}}
tensor_loop.grid (%i) in (-4) {
}

// -----

// expected-error@+1 {{2 loop variables but 1 extents}}
tensor_loop.grid (%i, %j) in (4) {
}

// -----

// expected-error@+1 {{expected an extent: an integer or a value of type index}}
tensor_loop.for %i in true {
}

// -----

// expected-error@+1 {{SSA value %i is already defined}}
tensor_loop.grid (%i, %i) in (4, 4) {
}

// -----

// expected-error@+1 {{loop has extent -4, expected 0 or more}}
"tensor_loop.grid"() <{static_extents = array<i64: -4>}> ({
^bb0(%i: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{loop has 1 dynamic extents but 0 values for them}}
"tensor_loop.grid"() <{static_extents = array<i64: -9223372036854775808>}> ({
^bb0(%i: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{loop variable is of type i32, expected index}}
"tensor_loop.grid"() <{static_extents = array<i64: 4>}> ({
^bb0(%i: i32):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{0 loop variables but 1 extents}}
"tensor_loop.grid"() <{static_extents = array<i64: 4>}> ({
^bb0:
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{expected one loop variable, found 2}}
"tensor_loop.for"() <{static_extents = array<i64: 4, 4>}> ({
^bb0(%i: index, %j: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{unknown loop kind 'fast', expected parallel, vectorized or unrolled}}
"tensor_loop.for"() <{static_extents = array<i64: 4>, kind = "fast"}> ({
^bb0(%i: index):
  "tensor_loop.yield"() : () -> ()
}) : () -> ()
