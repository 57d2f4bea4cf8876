// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// index becomes i64; overflow flags are carried over.
// CHECK-LABEL: @integers
func.func @integers(%a: index, %b: index, %c: i8) -> index {
  // CHECK-SAME: (%[[A:.*]]: i64, %[[B:.*]]: i64, %[[C:.*]]: i8) -> i64
  // CHECK-NEXT: %[[S:.*]] = llvm.add %[[A]], %[[B]] overflow<nsw,nuw> : i64
  // CHECK-NEXT: %[[M:.*]] = llvm.mul %[[S]], %[[B]] : i64
  // CHECK-NEXT: %[[D:.*]] = llvm.sdiv %[[M]], %[[B]] : i64
  // CHECK-NEXT: %[[X:.*]] = llvm.call_intrinsic "llvm.umax"(%[[D]], %[[A]]) : (i64, i64) -> i64
  // CHECK-NEXT: %[[L:.*]] = llvm.icmp "ult" %[[X]], %[[A]] : i64
  // CHECK-NEXT: %[[Q:.*]] = llvm.select %[[L]], %[[X]], %[[A]]
  // CHECK-NEXT: %[[W:.*]] = llvm.sext %[[C]] : i8 to i64
  // CHECK-NEXT: %[[R:.*]] = llvm.xor %[[Q]], %[[W]] : i64
  // CHECK-NEXT: llvm.return %[[R]] : i64
  %0 = arith.addi %a, %b overflow<nsw, nuw> : index
  %1 = arith.muli %0, %b : index
  %2 = arith.divsi %1, %b : index
  %3 = arith.maxui %2, %a : index
  %4 = arith.cmpi ult, %3, %a : index
  %5 = arith.select %4, %3, %a : index
  %6 = arith.index_cast %c : i8 to index
  %7 = arith.xori %5, %6 : index
  func.return %7 : index
}

/// Fast-math flags stay on arithmetic, comparisons and intrinsics.
// CHECK-LABEL: @floats
func.func @floats(%a: f32, %b: f32) -> i1 {
  // CHECK: llvm.fadd %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<reassoc,contract>} : f32
  // CHECK-NEXT: llvm.fdiv %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<fast>} : f32
  // CHECK-NEXT: llvm.fneg
  // CHECK-NEXT: llvm.call_intrinsic "llvm.maximum"(%{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>} : (f32, f32) -> f32
  // CHECK-NEXT: llvm.call_intrinsic "llvm.minnum"(%{{.*}}) : (f32, f32) -> f32
  // CHECK-NEXT: llvm_ext.fcmp "olt" %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>} : f32
  // CHECK-NEXT: llvm.fcmp "une" %{{.*}} : f32
  %0 = arith.addf %a, %b fastmath<reassoc,contract> : f32
  %1 = arith.divf %0, %b fastmath<fast> : f32
  %2 = arith.negf %1 : f32
  %3 = arith.maximumf %2, %b fastmath<nsz> : f32
  %4 = arith.minnumf %3, %b : f32
  %5 = arith.cmpf olt, %4, %b fastmath<nnan> : f32
  %6 = arith.cmpf une, %4, %b : f32
  %7 = arith.andi %5, %6 : i1
  func.return %7 : i1
}

/// The greater of 0 and a number is two instructions of x86 as a choice, three as the intrinsic.
// CHECK-LABEL: @no_less_than_zero
func.func @no_less_than_zero(%a: f32) -> f32 {
  // CHECK: %[[MORE:.*]] = llvm.fcmp "ugt" %[[A:.*]], %[[ZERO:.*]] : f32
  // CHECK-NEXT: %[[R:.*]] = llvm.select %[[MORE]], %[[A]], %[[ZERO]] : i1, f32
  // CHECK-NEXT: %[[NOT_LESS:.*]] = llvm.fcmp "uge" %[[R]], %[[MINUS:.*]] : f32
  // CHECK-NEXT: llvm.select %[[NOT_LESS]], %[[R]], %[[MINUS]] : i1, f32
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %0 = arith.maximumf %zero, %a : f32
  %1 = arith.maximumf %0, %minus : f32
  func.return %1 : f32
}

// CHECK-LABEL: @casts
func.func @casts(%a: f32, %b: i16) -> f64 {
  // CHECK: llvm_ext.fptosi %{{.*}} : f32 to i16
  // CHECK-NEXT: llvm_ext.fptoui %{{.*}} : f32 to i16
  // CHECK-NEXT: llvm.sub
  // CHECK-NEXT: llvm.sitofp %{{.*}} : i16 to f32
  // CHECK-NEXT: llvm_ext.uitofp %{{.*}} : i16 to f32
  // CHECK-NEXT: llvm.fsub
  // CHECK-NEXT: llvm.fpext %{{.*}} : f32 to f64
  %0 = arith.fptosi %a : f32 to i16
  %1 = arith.fptoui %a : f32 to i16
  %2 = arith.subi %0, %1 : i16
  %3 = arith.sitofp %2 : i16 to f32
  %4 = arith.uitofp %b : i16 to f32
  %5 = arith.subf %3, %4 : f32
  %6 = arith.extf %5 : f32 to f64
  func.return %6 : f64
}

/// Constants of index type become i64 in scalars and in vectors.
// CHECK-LABEL: @constants
func.func @constants() -> vector<2xindex> {
  // CHECK-NEXT: llvm.mlir.constant(-3) : i64
  // CHECK-NEXT: llvm.mlir.constant(1.500000e+00 : bf16) : bf16
  // CHECK-NEXT: llvm.mlir.constant(dense<[1, 2]> : vector<2xi64>) : vector<2xi64>
  %0 = arith.constant -3 : index
  %1 = arith.constant 1.5 : bf16
  %2 = arith.constant dense<[1, 2]> : vector<2xindex>
  func.return %2 : vector<2xindex>
}

/// A choice that a carried maximum takes stays apart from it, as LLVM's vectoriser knows no maximum of some numbers.
// CHECK-LABEL: @maximum_of_choices
func.func @maximum_of_choices(%n: index, %c: i1, %x: f32, %y: f32) -> f32 {
  // CHECK: %[[S:.*]] = llvm.select %{{.*}}, %x, %y : i1, f32
  // CHECK-NEXT: %[[F:.*]] = llvm_ext.freeze %[[S]] : f32
  // CHECK-NEXT: llvm.call_intrinsic "llvm.maximum"(%{{.*}}, %[[F]])
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) {
    %s = arith.select %c, %x, %y : f32
    %m = arith.maximumf %acc, %s : f32
    scf.yield %m : f32
  }
  func.return %0 : f32
}

// CHECK-LABEL: @no_maximum_of_choices
func.func @no_maximum_of_choices(%n: index, %c: i1, %x: f32, %y: f32) -> f32 {
  // CHECK-NOT: llvm_ext.freeze
  // CHECK: llvm.return
  %s = arith.select %c, %x, %y : f32
  %z = arith.addf %x, %y : f32
  %m = arith.maximumf %z, %s : f32
  func.return %m : f32
}
