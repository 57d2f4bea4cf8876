// RUN: stepwell-opt %s -p 'remove-unused-functions' | filecheck %s
// RUN: stepwell-opt %s -p 'remove-unused-functions{entry=main,lonely}' | filecheck %s --check-prefix=BOTH

// Nobody gets from @main to @lonely, nor to the two that call each other only.
// CHECK-LABEL: func.func @main(
// CHECK-LABEL: func.func private @first(
// CHECK-LABEL: func.func private @second(
// CHECK-NOT: func.func
// BOTH-LABEL: func.func private @lonely(
// BOTH-NOT: func.func

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @first(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @second(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>)
  func.return %0 : tensor<4xf32>
}

func.func private @lonely(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

func.func private @circle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @circle_back(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @circle_back(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @circle(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
