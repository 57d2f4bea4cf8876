// RUN: stepwell-opt %s -p expand-math | filecheck %s

/// A scalar choice is a comparison of bits and a selection.
// CHECK-LABEL: @atan
func.func @atan(%x: f32) -> f32 {
  // CHECK: %[[SIZE:.*]] = math.absf %x : f32
  // CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[SIZE]] : f32 to i32
  // CHECK: %[[STEEP:.*]] = arith.cmpi slt, %{{.*}}, %[[BITS]] : i32
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SIZE]] : f32
  // CHECK-NEXT: arith.select %[[STEEP]], %[[INVERSE]], %[[SIZE]] : f32
  // CHECK-NOT: scf.if
  // CHECK: math.copysign %{{.*}}, %x : f32
  // CHECK-NEXT: func.return
  %y = math.atan %x : f32
  func.return %y : f32
}

/// A choice per lane is (a & mask) | (b & ~mask), mask the sign of a difference.
// CHECK-LABEL: @atan_of_vector
func.func @atan_of_vector(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: %[[SIZE:.*]] = math.absf %x : vector<8xf32>
  // CHECK-NEXT: %[[BITS:.*]] = arith.bitcast %[[SIZE]] : vector<8xf32> to vector<8xi32>
  // CHECK: %[[DIFFERENCE:.*]] = arith.subi %{{.*}}, %[[BITS]] : vector<8xi32>
  // CHECK: %[[MASK:.*]] = arith.shrsi %[[DIFFERENCE]]
  // CHECK: %[[THEN:.*]] = arith.andi %{{.*}}, %[[MASK]]
  // CHECK: %[[NOT:.*]] = arith.xori %[[MASK]]
  // CHECK: %[[ELSE:.*]] = arith.andi %{{.*}}, %[[NOT]]
  // CHECK: arith.ori %[[THEN]], %[[ELSE]]
  // CHECK: func.return
  %y = math.atan %x : vector<8xf32>
  func.return %y : vector<8xf32>
}
