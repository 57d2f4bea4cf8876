// RUN: stepwell-opt %s -p 'vectorize-loops{wide=true}' | filecheck %s

// CHECK-LABEL: func.func @copy_with_zeros_around
// CHECK: %[[IN:.*]] = arith.cmpi ult, %row
// CHECK-NEXT: scf.if %[[IN]] {
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %n step %c1 {
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: } {stepwell.loop = "vectorize"}
// CHECK-NEXT: } else {
// CHECK: tile.store %{{.*}}, %b[%row, %{{.*}}] along [-1, 1]
func.func @copy_with_zeros_around(%a: memref<8x128xf32>, %b: memref<8x128xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %rows = arith.constant 8 : index
  scf.for %j = %c0 to %n step %c1 {
    %in = arith.cmpi ult, %row, %rows : index
    %x = scf.if %in -> (f32) {
      %y = memref.load %a[%row, %j] : memref<8x128xf32>
      scf.yield %y : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %b[%row, %j] : memref<8x128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// Beside tiles that are unrolled, LLVM does not vectorise: the copy is one of tiles too.
// CHECK-LABEL: func.func @copy_beside_tiles
// CHECK: scf.for
// CHECK: tile.load %a
// CHECK-NEXT: tile.store
// CHECK: } {stepwell.loop = "no-unroll"}
// CHECK: tile.multiply_add
func.func @copy_beside_tiles(%a: memref<128xf32>, %b: memref<128xf32>, %v: vector<1x16xf32>) -> vector<1x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c1 {
    %x = memref.load %a[%j] : memref<128xf32>
    memref.store %x, %b[%j] : memref<128xf32>
  } {stepwell.loop = "vectorize"}
  %r = tile.multiply_add %v, %v, %v : vector<1x16xf32>
  func.return %r : vector<1x16xf32>
}

// CHECK-LABEL: func.func @no_copy_on_tiles
// CHECK-NOT: tile.
func.func @no_copy_on_tiles(%a: memref<128xf32>, %b: memref<128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c1 {
    %x = memref.load %a[%j] : memref<128xf32>
    memref.store %x, %b[%j] : memref<128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// CHECK-LABEL: func.func @no_condition_that_changes
// CHECK: scf.for
// CHECK-NEXT: arith.cmpi
// CHECK-NEXT: scf.if
func.func @no_condition_that_changes(%a: memref<8x128xf32>, %b: memref<8x128xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c1 {
    %in = arith.cmpi ult, %j, %row : index
    %x = scf.if %in -> (f32) {
      %y = memref.load %a[%c0, %j] : memref<8x128xf32>
      scf.yield %y : f32
    } else {
      %zero = arith.constant 0.0 : f32
      scf.yield %zero : f32
    }
    memref.store %x, %b[%c0, %j] : memref<8x128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// CHECK-LABEL: func.func @no_condition_that_is_read
// CHECK: scf.for
// CHECK-NEXT: memref.load %flags
func.func @no_condition_that_is_read(%flags: memref<1xi1>, %b: memref<128xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c1 {
    %in = memref.load %flags[%c0] : memref<1xi1>
    %z = scf.if %in -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    memref.store %z, %b[%j] : memref<128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// A division that fails must not run where the loop has no iterations.
// CHECK-LABEL: func.func @no_condition_that_may_fail
// CHECK: scf.for
// CHECK-NEXT: arith.divsi
func.func @no_condition_that_may_fail(%n: index, %d: index, %b: memref<128xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    %q = arith.divsi %n, %d : index
    %in = arith.cmpi eq, %q, %c1 : index
    %z = scf.if %in -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    memref.store %z, %b[%j] : memref<128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

/// A loop that sums up: the sum is that of the loop that runs.
// CHECK-LABEL: func.func @loop_that_carries
// CHECK: %[[SUM:.*]] = scf.if %in -> (f32) {
// CHECK: tile.load %a
// CHECK: scf.yield %{{.*}} : f32
// CHECK: } else {
// CHECK-NOT: tile.load
// CHECK: scf.yield %{{.*}} : f32
// CHECK: func.return %[[SUM]]
func.func @loop_that_carries(%a: memref<128xf32>, %in: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %x = scf.if %in -> (f32) {
      %y = memref.load %a[%j] : memref<128xf32>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    %t = arith.addf %s, %x fastmath<reassoc> : f32
    scf.yield %t : f32
  } {stepwell.loop = "vectorize"}
  func.return %sum : f32
}

/// What is carried changes in the loop.
// CHECK-LABEL: func.func @no_condition_on_what_is_carried
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.if
func.func @no_condition_on_what_is_carried(%a: memref<128xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
    %in = arith.cmpf olt, %s, %zero : f32
    %x = scf.if %in -> (f32) {
      %y = memref.load %a[%j] : memref<128xf32>
      scf.yield %y : f32
    } else {
      scf.yield %zero : f32
    }
    %t = arith.addf %s, %x fastmath<reassoc> : f32
    scf.yield %t : f32
  } {stepwell.loop = "vectorize"}
  func.return %sum : f32
}

// Parts that are joined: a condition inside of a branch is taken out as well.
// CHECK-LABEL: func.func @parts_that_are_joined
// CHECK: arith.cmpi slt, %row
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: memref.load %a
// CHECK: } else {
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: memref.load %b
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: memref.load %c
// CHECK: func.return
func.func @parts_that_are_joined(%a: memref<128xf32>, %b: memref<128xf32>, %c: memref<128xf32>, %out: memref<3x128xf32>, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  scf.for %j = %c0 to %n step %c1 {
    %first = arith.cmpi slt, %row, %c1 : index
    %x = scf.if %first -> (f32) {
      %y = memref.load %a[%j] : memref<128xf32>
      scf.yield %y : f32
    } else {
      %two = arith.constant 2 : index
      %second = arith.cmpi slt, %row, %two : index
      %z = scf.if %second -> (f32) {
        %y = memref.load %b[%j] : memref<128xf32>
        scf.yield %y : f32
      } else {
        %y = memref.load %c[%j] : memref<128xf32>
        scf.yield %y : f32
      }
      scf.yield %z : f32
    }
    memref.store %x, %out[%row, %j] : memref<3x128xf32>
  } {stepwell.loop = "vectorize"}
  func.return
}

// A loop around a branch is no condition to take out.
// CHECK-LABEL: func.func @no_condition_around_a_loop
// CHECK: scf.for
// CHECK-NEXT: scf.if
func.func @no_condition_around_a_loop(%a: memref<128xf32>, %in: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %c0 to %n step %c1 {
    scf.if %in {
      scf.for %k = %c0 to %j step %c1 {
        memref.store %zero, %a[%k] : memref<128xf32>
      }
    }
  } {stepwell.loop = "vectorize"}
  func.return
}
