// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s

/// Inputs, then outputs; attributes, roles and visibility stay; arguments do not overlap.
// CHECK-LABEL: func.func private @copy
// CHECK-SAME: (%A: memref<4xf32> {stepwell.role = "input"}, %B: memref<4xf32>) attributes {my.note = "kept", stepwell.noalias} {
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[X:.*]] = memref.load %A[%[[I]]]
// CHECK-NEXT: memref.store %[[X]], %B[%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: func.return
tensor_loop.func private @copy(%A: memref<4xf32> {stepwell.role = "input"}) outs(%B: memref<4xf32>) attributes {my.note = "kept"} {
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "copy" spatial(%vi in 4 = %i) {
      %a = memref.load %A[%vi] : memref<4xf32>
      memref.store %a, %B[%vi] : memref<4xf32>
    }
  }
}

/// Calls, from functions of both kinds.
// CHECK-LABEL: func.func @caller
// CHECK: func.call @copy(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
func.func @caller(%a: memref<4xf32>, %b: memref<4xf32>) {
  tensor_loop.call @copy(%a) outs(%b) : (memref<4xf32>) outs(memref<4xf32>)
  func.return
}

// CHECK-LABEL: func.func @loop_caller
// CHECK: func.call @copy(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
tensor_loop.func @loop_caller(%A: memref<4xf32>) outs(%B: memref<4xf32>) {
  tensor_loop.call @copy(%A) outs(%B) : (memref<4xf32>) outs(memref<4xf32>)
}

/// Small buffers live on the stack, large or dynamic ones are freed at the end.
// CHECK-LABEL: func.func @buffers
tensor_loop.func @buffers(%n: index) outs() {
  // CHECK-NEXT: memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
  // CHECK-NEXT: %[[LARGE:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1025xf32>
  // CHECK-NEXT: %[[MOST:.*]] = arith.constant {{[0-9]+}} : index
  // CHECK-NEXT: %[[FITS:.*]] = arith.cmpi ult, %n, %[[MOST]] : index
  // CHECK-NEXT: cf.assert %[[FITS]], "memref.alloc: size out of range"
  // CHECK-NEXT: %[[DYNAMIC:.*]] = memref.alloc(%n) {alignment = 64 : i64} : memref<?x2xf32>
  // CHECK-NEXT: memref.dealloc %[[DYNAMIC]]
  // CHECK-NEXT: memref.dealloc %[[LARGE]]
  // CHECK-NEXT: func.return
  %small = tensor_loop.alloc : memref<1024xf32>
  %large = tensor_loop.alloc : memref<1025xf32>
  %dynamic = tensor_loop.alloc(%n) : memref<?x2xf32>
}

/// A buffer made in a loop: on the stack once, from the heap per iteration.
// CHECK-LABEL: func.func @buffers_in_loops
tensor_loop.func @buffers_in_loops(%n: index) outs() {
  // CHECK: memref.alloca() {alignment = 64 : i64} : memref<4xf32>
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: %[[MOST:.*]] = arith.constant {{[0-9]+}} : index
  // CHECK-NEXT: %[[FITS:.*]] = arith.cmpi ult, %n, %[[MOST]] : index
  // CHECK-NEXT: cf.assert %[[FITS]], "memref.alloc: size out of range"
  // CHECK-NEXT: %[[DYNAMIC:.*]] = memref.alloc(%n)
  // CHECK-NEXT: memref.dealloc %[[DYNAMIC]]
  tensor_loop.for %i in 4 {
    %small = tensor_loop.alloc : memref<4xf32>
    %dynamic = tensor_loop.alloc(%n) : memref<?xf32>
  }
}

/// Kinds of loops become attributes.
// CHECK-LABEL: func.func @kinds
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NEXT: } {stepwell.loop = "unroll"}
// CHECK-NEXT: } {stepwell.loop = "vectorize,no-unroll"}
// CHECK-NEXT: } {stepwell.parallel}
tensor_loop.func @kinds() outs() {
  tensor_loop.for %i in 4 parallel {
    tensor_loop.for %j in 4 vectorized {
      tensor_loop.for %k in 4 unrolled {
      }
    }
  }
}

/// Loops under ops of other dialects.
// CHECK-LABEL: func.func @inside_if
// CHECK: scf.if %c {
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %n, %{{.*}} : index
// CHECK-NEXT: cf.assert %[[FITS]], "memref.alloc: size out of range"
// CHECK-NEXT: %[[BUFFER:.*]] = memref.alloc(%n)
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store %{{.*}}, %[[BUFFER]]
// CHECK-NEXT: }
// CHECK-NEXT: memref.dealloc %[[BUFFER]]
tensor_loop.func @inside_if(%c: i1, %n: index, %x: f32) outs() {
  scf.if %c {
    %T = tensor_loop.alloc(%n) : memref<?xf32>
    tensor_loop.grid (%i) in (%n) {
      tensor_loop.block "fill" spatial(%vi in %n = %i) {
        memref.store %x, %T[%vi] : memref<?xf32>
      }
    }
  }
}
