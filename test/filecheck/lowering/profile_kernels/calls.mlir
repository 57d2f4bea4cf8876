// RUN: stepwell-opt %s -p profile-kernels --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'profile-kernels{where-lowered},profile-kernels{where-lowered}' --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p 'profile-kernels,expand-math,lower-to-llvm-dialect' --split-input-file | filecheck %s --check-prefix=LLVM

func.func private @scale(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %v = memref.load %x[%i, %j] : memref<8x4xf32>
      %w = arith.mulf %v, %two : f32
      %e = math.exp %w : f32
      memref.store %e, %y[%i, %j] : memref<8x4xf32>
    }
  }
  func.return
}
func.func @main(%x: memref<8x4xf32> {stepwell.role = "input"}, %y: memref<8x4xf32> {stepwell.role = "output"}) attributes {stepwell.signature = (tensor<8x4xf32>) -> tensor<8x4xf32>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  func.call @scale(%x, %y) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  scf.for %i = %c0 to %c3 step %c1 {
    func.call @scale(%y, %y) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  }
  func.return
}

// 64 operations: a product and a function of each element. An array given twice counts once.
// CHECK:       func.func @main(%x: memref<8x4xf32> {stepwell.role = "input"}, %y: memref<8x4xf32> {stepwell.role = "output"},
// CHECK-SAME:    %profile: memref<3x2xi64> {stepwell.role = "output", stepwell.name = "profile"})
// CHECK-SAME:    stepwell.signature = (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<3x2xi64>)
// CHECK-SAME:    stepwell.profile = [{kernel = "scale", place = "{{.*}}", operations = 64 : i64, bytes = 256 : i64, lines = ["{{.*}}"]}, {kernel = "scale", place = "{{.*}}", operations = 64 : i64, bytes = 128 : i64, lines = ["{{.*}}"]}]
// CHECK-NEXT:    func.call @profile_reset(%profile)
// CHECK-NEXT:    %[[WHOLE:.*]] = func.call @profile_now() : () -> i64
// CHECK:         %[[START:.*]] = func.call @profile_now() : () -> i64
// CHECK-NEXT:    func.call @scale(%x, %y)
// CHECK-NEXT:    %[[ROW:.*]] = arith.constant 0 : index
// CHECK-NEXT:    func.call @profile_add(%profile, %[[ROW]], %[[START]])
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      func.call @profile_now
// CHECK-NEXT:      func.call @scale(%y, %y)
// CHECK:           func.call @profile_add
// CHECK:         %[[LAST:.*]] = arith.constant 2 : index
// CHECK-NEXT:    func.call @profile_add(%profile, %[[LAST]], %[[WHOLE]])
// CHECK-NEXT:    func.return
// CHECK:       func.func private @clock_gettime(i32, memref<2xi64>) -> i32
// LLVM:        llvm.call @clock_gettime

// -----

func.func @main(%y: memref<4xf32> {stepwell.role = "output"}) attributes {stepwell.signature = () -> tensor<4xf32>} {
  func.return
}

// Without kernels there is the time of the whole entry.
// CHECK:       func.func @main(%y: memref<4xf32> {stepwell.role = "output"}, %profile: memref<1x2xi64>
// CHECK-SAME:    stepwell.profile = []
