// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// Constant bounds: no test before the first iteration; the test is at the end; the hint is on the back edge.
// CHECK-LABEL: @constant_loop
func.func @constant_loop(%z: f32) -> f32 {
  // CHECK: llvm.br ^[[BODY:.*]](%{{.*}}, %{{.*}} : i64, f32)
  // CHECK-NEXT: ^[[BODY]](%[[I:.*]]: i64, %[[A:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = llvm.fadd %[[A]], %[[A]]
  // CHECK-NEXT: %[[N:.*]] = llvm.add %[[I]], %{{.*}} overflow<nsw> : i64
  // CHECK-NEXT: %[[M:.*]] = llvm.icmp "slt" %[[N]], %{{.*}} : i64
  // CHECK-NEXT: llvm.cond_br %[[M]], ^[[BODY]](%[[N]], %[[S]] : i64, f32), ^[[DONE:.*]](%[[S]] : f32) {stepwell.loop = "unroll,no-vectorize"}
  // CHECK-NEXT: ^[[DONE]](%[[R:.*]]: f32):
  // CHECK-NEXT: llvm.return %[[R]] : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %z) -> (f32) {
    %s = arith.addf %a, %a : f32
    scf.yield %s : f32
  } {stepwell.loop = "unroll"}
  func.return %r : f32
}

/// Other bounds: one test that may skip the loop.
// CHECK-LABEL: @guarded_loop
func.func @guarded_loop(%n: index) {
  // CHECK: %[[E:.*]] = llvm.icmp "slt" %[[L:.*]], %{{.*}} : i64
  // CHECK-NEXT: llvm.cond_br %[[E]], ^[[BODY:.*]](%[[L]] : i64), ^[[DONE:.*]]
  // CHECK: ^[[DONE]]:
  // CHECK-NEXT: llvm.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
  }
  func.return
}

/// A loop that runs once is its body; one that never runs is nothing.
// CHECK-LABEL: @no_loop
func.func @no_loop(%m: memref<4xindex>) {
  // CHECK-NOT: br
  // CHECK: llvm.store
  // CHECK-NOT: {{llvm.store|br}}
  // CHECK: llvm.return
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c1 step %c1 {
    memref.store %i, %m[%i] : memref<4xindex>
  }
  scf.for %i = %c3 to %c1 step %c1 {
    memref.store %i, %m[%i] : memref<4xindex>
  }
  func.return
}

// CHECK-LABEL: @if_with_result
func.func @if_with_result(%c: i1, %a: i32, %b: i32) -> i32 {
  // CHECK: llvm.cond_br %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
  // CHECK-NEXT: ^[[THEN]]:
  // CHECK-NEXT: llvm.br ^[[AFTER:.*]](%{{.*}} : i32)
  // CHECK-NEXT: ^[[ELSE]]:
  // CHECK-NEXT: llvm.br ^[[AFTER]](%{{.*}} : i32)
  // CHECK-NEXT: ^[[AFTER]](%[[R:.*]]: i32):
  // CHECK-NEXT: llvm.return %[[R]]
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  func.return %r : i32
}

// CHECK-LABEL: @switch
func.func @switch(%x: index) -> i32 {
  // CHECK: llvm_ext.switch %{{.*}} : i64, default ^[[D:.*]], [2: ^{{.*}}, -5: ^{{.*}}]
  %a = arith.constant 1 : i32
  %r = scf.index_switch %x -> i32
  case 2 { scf.yield %a : i32 }
  case -5 { scf.yield %a : i32 }
  default { scf.yield %a : i32 }
  func.return %r : i32
}

/// A loop that asks for vectors gets them, any other gets none: the schedule decides.
// CHECK-LABEL: @hints
func.func @hints(%m: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %x = arith.constant 1.0 : f32
  // CHECK: llvm.cond_br {{.*}} {stepwell.loop = "vectorize"}
  scf.for %i = %c0 to %c9 step %c1 {
    memref.store %x, %m[%i] : memref<9xf32>
  } {stepwell.loop = "vectorize"}
  // CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
  scf.for %i = %c0 to %c9 step %c1 {
    memref.store %x, %m[%i] : memref<9xf32>
  }
  func.return
}

/// LLVM's vectoriser fails an assertion on the maximum of what is no NaN, for some numbers of iterations.
// CHECK-LABEL: @maximum_of_numbers
func.func @maximum_of_numbers(%m: memref<30xf32>, %z: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c30 = arith.constant 30 : index
  // CHECK: llvm.cond_br {{.*}} {stepwell.loop = "no-vectorize"}
  %r = scf.for %i = %c0 to %c30 step %c1 iter_args(%a = %z) -> (f32) {
    %x = memref.load %m[%i] : memref<30xf32>
    %s = arith.maxnumf %a, %x : f32
    scf.yield %s : f32
  } {stepwell.loop = "vectorize"}
  // CHECK: llvm.cond_br {{.*}} {stepwell.loop = "vectorize"}
  %q = scf.for %i = %c0 to %c30 step %c1 iter_args(%a = %z) -> (f32) {
    %x = memref.load %m[%i] : memref<30xf32>
    %s = arith.maximumf %a, %x : f32
    scf.yield %s : f32
  } {stepwell.loop = "vectorize"}
  func.return %r, %q : f32, f32
}
