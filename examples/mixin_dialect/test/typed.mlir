// RUN: %roundtrip
// RUN: stepwell-opt %s -p lower-quats | filecheck %s --check-prefix=LOWERED
// RUN: stepwell-opt %s -p eliminate-common-subexpr | filecheck %s --check-prefix=CSE

// CHECK-LABEL: @square
// CHECK: quaternion.times %q, %q : tensor<2x!quaternion.quat>
// LOWERED-LABEL: @square(%x: tensor<2x4xf32>) -> tensor<2x4xf32>
// LOWERED-NEXT: %r = quaternion.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// LOWERED-NEXT: return %r
func.func @square(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %q = quaternion.pack %x : tensor<2x4xf32> -> tensor<2x!quaternion.quat>
  %r = quaternion.times %q, %q : tensor<2x!quaternion.quat>
  %y = quaternion.unpack %r : tensor<2x!quaternion.quat> -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

/// A private function may take the type, and so may a branch.
// LOWERED-LABEL: func.func private @twice(%q: tensor<2x4xf32>, %c: i1) -> (tensor<2x4xf32>, tensor<2x4xf32>)
// LOWERED: scf.if %c -> (tensor<2x4xf32>)
// CSE-LABEL: @twice
// CSE-COUNT-1: quaternion.times
// CSE-NOT: quaternion.times
func.func private @twice(%q: tensor<2x!quaternion.quat>, %c: i1) -> (tensor<2x!quaternion.quat>, tensor<2x!quaternion.quat>) {
  %0 = quaternion.times %q, %q : tensor<2x!quaternion.quat>
  %1 = quaternion.times %q, %q : tensor<2x!quaternion.quat>
  %2 = scf.if %c -> (tensor<2x!quaternion.quat>) {
    scf.yield %0 : tensor<2x!quaternion.quat>
  } else {
    scf.yield %q : tensor<2x!quaternion.quat>
  }
  func.return %1, %2 : tensor<2x!quaternion.quat>, tensor<2x!quaternion.quat>
}
