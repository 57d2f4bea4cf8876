// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @grids
tensor_loop.func @grids(%n: index) outs() {
  // CHECK-NEXT: tensor_loop.grid (%i, %j) in (128, %n) {
  // CHECK-NEXT: }
  // GENERIC: "tensor_loop.grid"(%n) <{static_extents = array<i64: 128, -9223372036854775808>}> ({
  // GENERIC-NEXT: (%i: index, %j: index):
  tensor_loop.grid (%i, %j) in (128, %n) {
  }
  /// Extents 0 and 1 are legal; attributes follow the extents.
  // CHECK-NEXT: tensor_loop.grid (%k, %l) in (0, 1) attributes {my.note = "none"} {
  tensor_loop.grid (%k, %l) in (0, 1) attributes {my.note = "none"} {
  }
  // CHECK: tensor_loop.grid () in () {
  tensor_loop.grid () in () {
  }
}

// CHECK-LABEL: @kinds
tensor_loop.func @kinds(%n: index) outs() {
  // CHECK-NEXT: tensor_loop.for %i in 4 {
  // CHECK-NEXT:   tensor_loop.for %j in %n parallel {
  // CHECK-NEXT:     tensor_loop.for %k in 8 vectorized attributes {my.a} {
  // CHECK-NEXT:       tensor_loop.for %l in 2 unrolled {
  // GENERIC: "tensor_loop.for"(%n) <{static_extents = array<i64: -9223372036854775808>, kind = "parallel"}>
  tensor_loop.for %i in 4 serial {
    tensor_loop.for %j in %n parallel {
      tensor_loop.for %k in 8 vectorized attributes {my.a} {
        tensor_loop.for %l in 2 unrolled {
        }
      }
    }
  }
  // CHECK: tensor_loop.for %m in 4 attributes {my.b = 1 : i64} {
  tensor_loop.for %m in 4 attributes {my.b = 1} {
  }
}
