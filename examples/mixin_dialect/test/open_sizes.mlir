// RUN: stepwell-opt %s -p lower-quaternion-products | filecheck %s

/// A product of unknown sizes stays, since the name and the loops of a function have its sizes.
// CHECK-LABEL: @main
// CHECK-NEXT: quaternion.mul
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = quaternion.mul %a, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %0 : tensor<?x4xf32>
}
