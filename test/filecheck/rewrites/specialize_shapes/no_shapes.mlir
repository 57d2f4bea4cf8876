// RUN: stepwell-opt %s -p specialize-shapes | filecheck %s

/// Without shapes nothing is done.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: func.return %x : tensor<?xf32>
  func.return %x : tensor<?xf32>
}
