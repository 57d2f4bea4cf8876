// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// Vectors whose indices differ by constants are at constant distances from one pointer, also behind a stride.
// CHECK-LABEL: @windows
func.func @windows(%x: memref<32x8xf32>, %out: memref<3x8xf32>) {
  // CHECK: %[[R:.*]] = llvm.mul %{{.*}}, %{{.*}} overflow<nsw,nuw>
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %x[%[[R]]]
  // CHECK-NEXT: llvm.load %[[P]]
  // CHECK: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][8]
  // CHECK-NEXT: llvm.load %[[Q]]
  // CHECK: %[[S:.*]] = llvm.getelementptr inbounds %[[P]][40]
  // CHECK-NEXT: llvm.load %[[S]]
  // CHECK-NOT: llvm.getelementptr inbounds %x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %r = arith.muli %i, %c2 : index
    %0 = vector.load %x[%r, %c0] : memref<32x8xf32>, vector<8xf32>
    %r1 = arith.addi %r, %c1 : index
    %1 = vector.load %x[%r1, %c0] : memref<32x8xf32>, vector<8xf32>
    %i2 = arith.addi %c2, %i : index
    %r4 = arith.muli %c2, %i2 : index
    %r5 = arith.addi %r4, %c1 : index
    %2 = vector.load %x[%r5, %c0] : memref<32x8xf32>, vector<8xf32>
    vector.store %0, %out[%c0, %c0] : memref<3x8xf32>, vector<8xf32>
    vector.store %1, %out[%c1, %c0] : memref<3x8xf32>, vector<8xf32>
    vector.store %2, %out[%c2, %c0] : memref<3x8xf32>, vector<8xf32>
  }
  func.return
}

/// A part that may be negative stays together with its constant: the pointer would lie before the buffer.
// CHECK-LABEL: @no_negative
func.func @no_negative(%x: memref<32xf32>, %n: index) -> vector<8xf32> {
  // CHECK: %[[I:.*]] = llvm.add %{{n.*}}, %{{.*}} : i64
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr inbounds %{{x.*}}[%[[I]]]
  // CHECK-NEXT: llvm.load %[[P]]
  %c8 = arith.constant 8 : index
  %i = arith.addi %n, %c8 : index
  %0 = vector.load %x[%i] : memref<32xf32>, vector<8xf32>
  func.return %0 : vector<8xf32>
}

/// Nor is a product taken apart that may wrap: for %n = -16 the index is 4.
// CHECK-LABEL: @no_wrapping
func.func @no_wrapping(%x: memref<32xf32>, %n: index) -> vector<8xf32> {
  // CHECK: llvm.udiv
  // CHECK-NEXT: %[[M:.*]] = llvm.mul %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: %[[I:.*]] = llvm.add %[[M]], %{{.*}} : i64
  // CHECK-NEXT: llvm.getelementptr inbounds %{{x.*}}[%[[I]]]
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  %q = arith.divui %n, %c16 : index
  %m = arith.muli %q, %c16 : index
  %i = arith.addi %m, %c20 : index
  %0 = vector.load %x[%i] : memref<32xf32>, vector<8xf32>
  func.return %0 : vector<8xf32>
}

/// A loop whose end nobody knows counts up to 2^63 only, so twice its variable and 1 does not wrap.
// CHECK-LABEL: @unknown_end
func.func @unknown_end(%x: memref<99x8xf32>, %out: memref<8xf32>, %n: index) {
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %{{x.*}}[%{{.*}}]
  // CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][8]
  // CHECK-NEXT: llvm.load %[[Q]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %r = arith.muli %i, %c2 : index
    %r1 = arith.addi %r, %c1 : index
    %0 = vector.load %x[%r1, %c0] : memref<99x8xf32>, vector<8xf32>
    vector.store %0, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  func.return
}

/// So do the parts of a difference, and of a product with one.
// CHECK-LABEL: @no_difference
func.func @no_difference(%x: memref<32xf32>, %out: memref<8xf32>) {
  // CHECK: llvm.sub
  // CHECK: %[[I:.*]] = llvm.add %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: llvm.getelementptr inbounds %{{x.*}}[%[[I]]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %d = arith.subi %i, %c4 : index
    %p = arith.addi %d, %c4 : index
    %0 = vector.load %x[%p] : memref<32xf32>, vector<8xf32>
    vector.store %0, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  func.return
}

/// The first element of a masked vector need not exist.
// CHECK-LABEL: @no_mask
func.func @no_mask(%x: memref<32xf32>, %out: memref<8xf32>, %m: vector<8xi1>, %z: vector<8xf32>) {
  // CHECK: %[[I:.*]] = llvm.add %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{x.*}}[%[[I]]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %p = arith.addi %i, %c1 : index
    %0 = vector.maskedload %x[%p], %m, %z : memref<32xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.store %0, %out[%c0] : memref<8xf32>, vector<8xf32>
  }
  func.return
}

/// Numbers have addresses of their own: LLVM makes vectors of their loops, and takes conditions out of them.
// CHECK-LABEL: @no_numbers
func.func @no_numbers(%x: memref<32xf32>, %out: memref<32xf32>) {
  // CHECK: %[[I:.*]] = llvm.add %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: llvm.getelementptr inbounds %{{x.*}}[%[[I]]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %p = arith.addi %i, %c1 : index
    %0 = memref.load %x[%p] : memref<32xf32>
    memref.store %0, %out[%i] : memref<32xf32>
  }
  func.return
}

/// Remainders and quotients of unsigned division by a constant are not negative, whatever is divided.
// CHECK-LABEL: @quotients
func.func @quotients(%x: memref<512xf32>, %out: memref<16xf32>, %n: index) {
  // CHECK: %[[P:.*]] = llvm.getelementptr inbounds %{{x.*}}[%{{.*}}]
  // CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr inbounds %[[P]][3]
  // CHECK-NEXT: llvm.load %[[Q]]
  // CHECK: %[[R:.*]] = llvm.getelementptr inbounds %[[P]][4]
  // CHECK-NEXT: llvm.load %[[R]]
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c14 = arith.constant 14 : index
  %q = arith.divui %n, %c14 : index
  %r = arith.remui %n, %c14 : index
  %s = arith.addi %q, %r : index
  %p = arith.addi %s, %c3 : index
  %0 = vector.load %x[%p] : memref<512xf32>, vector<8xf32>
  %p4 = arith.addi %s, %c4 : index
  %1 = vector.load %x[%p4] : memref<512xf32>, vector<8xf32>
  vector.store %0, %out[%c0] : memref<16xf32>, vector<8xf32>
  vector.store %1, %out[%c8] : memref<16xf32>, vector<8xf32>
  func.return
}
