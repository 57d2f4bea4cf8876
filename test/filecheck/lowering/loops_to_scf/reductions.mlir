// RUN: stepwell-opt %s -p lower-loops-to-scf | filecheck %s

/// Innermost reduce loops carry the accumulator; the init gives its first value, one store follows.
// CHECK-LABEL: @row_sum
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT: %[[X:.*]] = memref.load %A[%[[I]], %[[K]]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[X]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: } {stepwell.loop = "vectorize"}
// CHECK-NEXT: memref.store %[[SUM]], %S[%[[I]]]
tensor_loop.func @row_sum(%A: memref<4x8xf32>) outs(%S: memref<4xf32>) {
  tensor_loop.for %i in 4 {
    tensor_loop.for %k in 8 vectorized {
      tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
        init {
          %zero = arith.constant 0.0 : f32
          memref.store %zero, %S[%vi] : memref<4xf32>
        }
        %s = memref.load %S[%vi] : memref<4xf32>
        %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
        %t = arith.addf %s, %a : f32
        memref.store %t, %S[%vi] : memref<4xf32>
      }
    }
  }
}

/// A spatial loop inside the reduce loop: the init has its own loops, before the reduce loop.
// CHECK-LABEL: @column_sum
// CHECK-NOT: iter_args
// CHECK: scf.for %[[J:.*]] = %c0 to %c8 step %c1 {
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT: memref.store %[[ZERO]], %S[%[[J]]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK: memref.store
// CHECK: func.return
tensor_loop.func @column_sum(%A: memref<4x8xf32>) outs(%S: memref<8xf32>) {
  tensor_loop.grid (%k, %j) in (4, 8) {
    tensor_loop.block "sum" spatial(%vj in 8 = %j) reduce(%vk in 4 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[%vj] : memref<8xf32>
      }
      %s = memref.load %S[%vj] : memref<8xf32>
      %a = memref.load %A[%vk, %vj] : memref<4x8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vj] : memref<8xf32>
    }
  }
}

/// Reduce loops on both sides of the spatial loop: the init before the outer one, the inner one carries.
// CHECK-LABEL: @split_reduction
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1 {
// CHECK: memref.store %{{.*}}, %S[%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.for %[[KO:.*]] = %c0 to %c3 step %c1 {
// CHECK-NEXT: scf.for %[[I1:.*]] = %c0 to %c4 step %c1 {
// CHECK-NEXT: %[[OLD:.*]] = memref.load %S[%[[I1]]]
// CHECK-NEXT: %[[NEW:.*]] = scf.for %[[KI:.*]] = %c0 to %c4 step %c1 iter_args(%[[ACC:.*]] = %[[OLD]]) -> (f32) {
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %c10
// CHECK-NEXT: %[[KEPT:.*]] = scf.if %[[IN]] -> (f32) {
// CHECK: scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[ACC]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[KEPT]]
// CHECK: memref.store %[[NEW]], %S[%[[I1]]]
tensor_loop.func @split_reduction(%A: memref<4x10xf32>) outs(%S: memref<4xf32>) {
  tensor_loop.grid (%ko, %i, %ki) in (3, 4, 4) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 10 = %ko * 4 + %ki) where(%ko * 4 + %ki < 10) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[%vi] : memref<4xf32>
      }
      %s = memref.load %S[%vi] : memref<4xf32>
      %a = memref.load %A[%vi, %vk] : memref<4x10xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vi] : memref<4xf32>
    }
  }
}

/// Two accumulators of different types are carried together.
// CHECK-LABEL: @argmax
// CHECK: %[[R:.*]], %[[S:.*]] = scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, i64) {
// CHECK: scf.yield %{{.*}}, %{{.*}} : f32, i64
// CHECK: memref.store %[[R]], %V[]
// CHECK-NEXT: memref.store %[[S]], %I[]
tensor_loop.func @argmax(%A: memref<8xf32>) outs(%V: memref<f32>, %I: memref<i64>) {
  tensor_loop.grid (%k) in (8) {
    tensor_loop.block "argmax" reduce(%vk in 8 = %k) {
      init {
        %lowest = arith.constant 0xFF800000 : f32
        %zero = arith.constant 0 : i64
        memref.store %lowest, %V[] : memref<f32>
        memref.store %zero, %I[] : memref<i64>
      }
      %v = memref.load %V[] : memref<f32>
      %i = memref.load %I[] : memref<i64>
      %a = memref.load %A[%vk] : memref<8xf32>
      %j = arith.index_cast %vk : index to i64
      %better = arith.cmpf ogt, %a, %v : f32
      %nv = arith.select %better, %a, %v : f32
      %ni = arith.select %better, %j, %i : i64
      memref.store %nv, %V[] : memref<f32>
      memref.store %ni, %I[] : memref<i64>
    }
  }
}

/// Without an init the accumulator starts with what memory holds.
// CHECK-LABEL: @accumulate
// CHECK: %[[OLD:.*]] = memref.load %S[]
// CHECK-NEXT: scf.for %{{.*}} iter_args(%{{.*}} = %[[OLD]])
tensor_loop.func @accumulate(%A: memref<8xf32>) outs(%S: memref<f32> {stepwell.in_place}) {
  tensor_loop.grid (%k) in (8) {
    tensor_loop.block "sum" reduce(%vk in 8 = %k) {
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vk] : memref<8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[] : memref<f32>
    }
  }
}

/// A store under a condition keeps its accumulator in memory.
// CHECK-LABEL: @no_carry_conditional
// CHECK-NOT: iter_args
// CHECK: func.return
tensor_loop.func @no_carry_conditional(%A: memref<8xf32>) outs(%S: memref<f32> {stepwell.in_place}) {
  tensor_loop.grid (%k) in (8) {
    tensor_loop.block "max" reduce(%vk in 8 = %k) {
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vk] : memref<8xf32>
      %better = arith.cmpf ogt, %a, %s : f32
      scf.if %better {
        memref.store %a, %S[] : memref<f32>
      }
    }
  }
}

/// Another element of the accumulator's buffer is read: it stays in memory.
// CHECK-LABEL: @no_carry_neighbour
// CHECK-NOT: iter_args
// CHECK: func.return
tensor_loop.func @no_carry_neighbour() outs(%S: memref<8xf32> {stepwell.in_place}) {
  %c0 = arith.constant 0 : index
  tensor_loop.grid (%k) in (8) {
    tensor_loop.block "scan" reduce(%vk in 8 = %k) {
      %s = memref.load %S[%c0] : memref<8xf32>
      %a = memref.load %S[%vk] : memref<8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%c0] : memref<8xf32>
    }
  }
}

/// An op in the reduce loop reads the accumulator before its block: the init waits for the first iteration.
// CHECK-LABEL: @guarded
// CHECK-NOT: memref.store
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1 {
// CHECK-NEXT: memref.load %S[]
// CHECK-NEXT: memref.store %{{.*}}, %B[%[[K]]]
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0 : index
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: memref.store %{{.*}}, %S[]
// CHECK-NEXT: }
// CHECK-NEXT: memref.load %S[]
tensor_loop.func @guarded(%A: memref<8xf32>) outs(%S: memref<f32> {stepwell.in_place}, %B: memref<8xf32>) {
  tensor_loop.for %k in 8 {
    tensor_loop.block "before" spatial(%vi in 8 = %k) {
      %s = memref.load %S[] : memref<f32>
      memref.store %s, %B[%vi] : memref<8xf32>
    }
    tensor_loop.block "sum" reduce(%vk in 8 = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[] : memref<f32>
      }
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vk] : memref<8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[] : memref<f32>
    }
  }
}

/// The same with an extent that may be 0: then the init runs before the loop.
// CHECK-LABEL: @guarded_empty
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %n, %c0 : index
// CHECK-NEXT: scf.if %[[EMPTY]] {
// CHECK: memref.store %{{.*}}, %S[]
// CHECK-NEXT: }
// CHECK-NEXT: scf.for
tensor_loop.func @guarded_empty(%n: index, %A: memref<?xf32>) outs(%S: memref<f32> {stepwell.in_place}, %B: memref<?xf32>)
    attributes {stepwell.written} {
  tensor_loop.for %k in %n {
    tensor_loop.block "before" spatial(%vi in %n = %k) {
      %s = memref.load %S[] : memref<f32>
      memref.store %s, %B[%vi] : memref<?xf32>
    }
    tensor_loop.block "sum" reduce(%vk in %n = %k) {
      init {
        %zero = arith.constant 0.0 : f32
        memref.store %zero, %S[] : memref<f32>
      }
      %s = memref.load %S[] : memref<f32>
      %a = memref.load %A[%vk] : memref<?xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[] : memref<f32>
    }
  }
}

/// The reduce axis chooses the element: nothing to carry.
// CHECK-LABEL: @no_carry_reduced_address
// CHECK-NOT: iter_args
// CHECK: func.return
tensor_loop.func @no_carry_reduced_address(%A: memref<8xf32>) outs(%S: memref<8xf32> {stepwell.in_place}) {
  tensor_loop.grid (%k) in (8) {
    tensor_loop.block "histogram" reduce(%vk in 8 = %k) {
      %s = memref.load %S[%vk] : memref<8xf32>
      %a = memref.load %A[%vk] : memref<8xf32>
      %t = arith.addf %s, %a : f32
      memref.store %t, %S[%vk] : memref<8xf32>
    }
  }
}
