// RUN: stepwell-opt %s -p 'sink-to-lca' | filecheck %s
// RUN: stepwell-opt %s -p 'sink-to-lca,check-lca-placement' | filecheck %s
// RUN: not stepwell-opt %s -p 'check-lca-placement' 2>&1 | filecheck %s --check-prefix=CHECKED

// CHECKED: error: 'graph.exp':

/// Both branches need the square, only one needs the exponential.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  // CHECK-NEXT: %[[SQUARE:.*]] = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[R:.*]] = scf.if %c -> (tensor<4xf32>) {
  // CHECK-NEXT: %[[EXP:.*]] = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = graph.add %[[SQUARE]], %[[EXP]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: scf.yield %[[SUM]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[SQUARE]] : tensor<4xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: func.return %[[R]] : tensor<4xf32>
  %square = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>)
  %exp = graph.exp %x : (tensor<4xf32>)
  %r = scf.if %c -> (tensor<4xf32>) {
    %sum = graph.add %square, %exp : (tensor<4xf32>, tensor<4xf32>)
    scf.yield %sum : tensor<4xf32>
  } else {
    scf.yield %square : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
