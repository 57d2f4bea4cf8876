// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/effects_told.rules"}' --remarks 2>&1 | filecheck %s
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/effects.rules"}' --remarks 2>&1 | filecheck %s --check-prefix=KEPT

// CHECK: remark: 'math.floor': not partitioned: 'memref.store', which has an effect, stands in between
// CHECK: remark: 'math.floor': not partitioned: 'memref.load' is used outside the match
// KEPT-COUNT-3: remark: 'math.floor': not partitioned: 'memref.load' has an effect
// KEPT-NOT: func.call

// CHECK-LABEL: func.func @read_and_rounded(
// CHECK-NEXT: %[[R:.*]] = func.call @partitioned0(%m, %i) : (memref<4xf32>, index) -> f32
// CHECK-NEXT: memref.store %x
// CHECK-NEXT: func.return %[[R]]
func.func @read_and_rounded(%m: memref<4xf32>, %x: f32, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  %1 = math.floor %0 : f32
  memref.store %x, %m[%i] : memref<4xf32>
  func.return %1 : f32
}

/// The store stands between the load and the place of the call.
// CHECK-LABEL: func.func @no_read_behind_a_write(
// CHECK-NOT: func.call
func.func @no_read_behind_a_write(%m: memref<4xf32>, %x: f32, %i: index) -> f32 {
  %0 = memref.load %m[%i] : memref<4xf32>
  memref.store %x, %m[%i] : memref<4xf32>
  %1 = math.floor %0 : f32
  func.return %1 : f32
}

/// What has an effect is not computed twice.
// CHECK-LABEL: func.func @no_effect_twice(
// CHECK-NOT: func.call
// CHECK: func.func private @partitioned0
func.func @no_effect_twice(%m: memref<4xf32>, %i: index) -> (f32, f32) {
  %0 = memref.load %m[%i] : memref<4xf32>
  %1 = math.floor %0 : f32
  func.return %0, %1 : f32, f32
}
