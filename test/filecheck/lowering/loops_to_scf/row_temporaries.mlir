// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s
// RUN: stepwell-opt %s -p 'lower-loops-to-scf,outline-parallel-loops{grain=1}' | filecheck %s --check-prefix=TASK

/// Each iteration of %i has a row of %e of its own.
// CHECK-LABEL: func.func @rows
// CHECK: %[[E:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x100xf32>
// CHECK: memref.store %{{.*}}, %[[E]][%[[ZERO:.*]], %{{.*}}] : memref<1x100xf32>
// CHECK: memref.load %[[E]][%[[ZERO]], %{{.*}}] : memref<1x100xf32>
/// Threads have a row each.
// TASK-LABEL: func.func private @rows_part
// TASK: memref.alloca() {alignment = 64 : i64} : memref<1x100xf32>
tensor_loop.func @rows(%x: memref<64x100xf32>, %e: memref<64x100xf32> {stepwell.temporary}) outs(%y: memref<64x100xf32>) {
  tensor_loop.for %i in 64 parallel {
    tensor_loop.for %k in 100 {
      tensor_loop.block "first" spatial(%vi in 64 = %i, %vk in 100 = %k) {
        %0 = memref.load %x[%vi, %vk] : memref<64x100xf32>
        memref.store %0, %e[%vi, %vk] : memref<64x100xf32>
      }
    }
    tensor_loop.for %j in 100 {
      tensor_loop.block "second" spatial(%vi in 64 = %i, %vj in 100 = %j) {
        %0 = memref.load %e[%vi, %vj] : memref<64x100xf32>
        memref.store %0, %y[%vi, %vj] : memref<64x100xf32>
      }
    }
  }
}

/// A column is read that other iterations have written.
// CHECK-LABEL: func.func @no_columns
// CHECK-NOT: memref.alloca
// CHECK: func.return
tensor_loop.func @no_columns(%x: memref<64x64xf32>, %e: memref<64x64xf32> {stepwell.temporary}) outs(%y: memref<64x64xf32>) {
  tensor_loop.for %i in 64 {
    tensor_loop.for %k in 64 {
      tensor_loop.block "first" spatial(%vi in 64 = %i, %vk in 64 = %k) {
        %0 = memref.load %x[%vi, %vk] : memref<64x64xf32>
        memref.store %0, %e[%vi, %vk] : memref<64x64xf32>
      }
    }
  }
  tensor_loop.for %i in 64 {
    tensor_loop.for %j in 64 {
      tensor_loop.block "second" spatial(%vi in 64 = %i, %vj in 64 = %j) {
        %0 = memref.load %e[%vj, %vi] : memref<64x64xf32>
        memref.store %0, %y[%vi, %vj] : memref<64x64xf32>
      }
    }
  }
}

/// A row of 16800 bytes does not go on the stack.
// CHECK-LABEL: func.func @no_long_rows
// CHECK-NOT: memref.alloca
// CHECK: func.return
tensor_loop.func @no_long_rows(%x: memref<4x4200xf32>, %e: memref<4x4200xf32> {stepwell.temporary}) outs(%y: memref<4x4200xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.for %k in 4200 {
      tensor_loop.block "first" spatial(%vi in 4 = %i, %vk in 4200 = %k) {
        %0 = memref.load %x[%vi, %vk] : memref<4x4200xf32>
        memref.store %0, %e[%vi, %vk] : memref<4x4200xf32>
      }
    }
    tensor_loop.for %j in 4200 {
      tensor_loop.block "second" spatial(%vi in 4 = %i, %vj in 4200 = %j) {
        %0 = memref.load %e[%vi, %vj] : memref<4x4200xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x4200xf32>
      }
    }
  }
}

/// An output is not a temporary.
// CHECK-LABEL: func.func @no_outputs
// CHECK-NOT: memref.alloca
// CHECK: func.return
tensor_loop.func @no_outputs(%x: memref<64x100xf32>) outs(%e: memref<64x100xf32>, %y: memref<64x100xf32>) {
  tensor_loop.for %i in 64 {
    tensor_loop.for %k in 100 {
      tensor_loop.block "first" spatial(%vi in 64 = %i, %vk in 100 = %k) {
        %0 = memref.load %x[%vi, %vk] : memref<64x100xf32>
        memref.store %0, %e[%vi, %vk] : memref<64x100xf32>
      }
    }
    tensor_loop.for %j in 100 {
      tensor_loop.block "second" spatial(%vi in 64 = %i, %vj in 100 = %j) {
        %0 = memref.load %e[%vi, %vj] : memref<64x100xf32>
        memref.store %0, %y[%vi, %vj] : memref<64x100xf32>
      }
    }
  }
}

/// Each iteration of %i has four rows of %e.
// CHECK-LABEL: func.func @several_rows
// CHECK: %[[E:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4x100xf32>
// CHECK: scf.for %[[R:[a-z0-9_]+]] = %{{.*}} to %c4
// CHECK: memref.store %{{.*}}, %[[E]][%[[R]], %{{.*}}] : memref<4x100xf32>
// CHECK: scf.for %[[R2:[a-z0-9_]+]] = %{{.*}} to %c4
// CHECK: memref.load %[[E]][%[[R2]], %{{.*}}] : memref<4x100xf32>
tensor_loop.func @several_rows(%x: memref<64x100xf32>, %e: memref<64x100xf32> {stepwell.temporary}) outs(%y: memref<64x100xf32>) {
  tensor_loop.for %i in 16 {
    tensor_loop.for %r in 4 {
      tensor_loop.for %k in 100 {
        tensor_loop.block "first" spatial(%vi in 64 = %i * 4 + %r, %vk in 100 = %k) {
          %0 = memref.load %x[%vi, %vk] : memref<64x100xf32>
          memref.store %0, %e[%vi, %vk] : memref<64x100xf32>
        }
      }
    }
    tensor_loop.for %r in 4 {
      tensor_loop.for %j in 100 {
        tensor_loop.block "second" spatial(%vi in 64 = %i * 4 + %r, %vj in 100 = %j) {
          %0 = memref.load %e[%vi, %vj] : memref<64x100xf32>
          memref.store %0, %y[%vi, %vj] : memref<64x100xf32>
        }
      }
    }
  }
}

/// The second loop reads one row of the next iteration.
// CHECK-LABEL: func.func @no_other_rows
// CHECK-NOT: memref.alloca
// CHECK: func.return
tensor_loop.func @no_other_rows(%x: memref<64x100xf32>, %e: memref<64x100xf32> {stepwell.temporary}) outs(%y: memref<64x100xf32>) {
  tensor_loop.for %i in 12 {
    tensor_loop.for %r in 5 {
      tensor_loop.for %k in 100 {
        tensor_loop.block "first" spatial(%vi in 64 = %i * 4 + %r, %vk in 100 = %k) {
          %0 = memref.load %x[%vi, %vk] : memref<64x100xf32>
          memref.store %0, %e[%vi, %vk] : memref<64x100xf32>
        }
      }
    }
    tensor_loop.for %r in 4 {
      tensor_loop.for %j in 100 {
        tensor_loop.block "second" spatial(%vi in 64 = %i * 4 + %r, %vj in 100 = %j) {
          %0 = memref.load %e[%vi, %vj] : memref<64x100xf32>
          memref.store %0, %y[%vi, %vj] : memref<64x100xf32>
        }
      }
    }
  }
}
