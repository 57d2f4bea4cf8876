// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/larger.rules"}' | filecheck %s

/// Two ops of one value are a function of two results.
// CHECK-LABEL: func.func @fork(
// CHECK-NEXT: %[[Q:.*]], %[[K:.*]] = func.call @partitioned0(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: func.return %[[Q]], %[[K]]
func.func @fork(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @no_fork(
// CHECK-NEXT: graph.exp %x
// CHECK-NEXT: graph.log %y
func.func @no_fork(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.log %y : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @halved(
// CHECK-NEXT: %[[R:.*]] = func.call @partitioned1(%x)
// CHECK-NEXT: func.return %[[R]]
func.func @halved(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = graph.full 0.5 : tensor<4xf32>
  %0 = graph.multiply %x, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Another number.
// CHECK-LABEL: func.func @no_halved(
// CHECK-NEXT: graph.full 0.25
// CHECK-NEXT: graph.multiply
// CHECK-NEXT: graph.tanh
func.func @no_halved(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = graph.full 0.25 : tensor<4xf32>
  %0 = graph.multiply %x, %half : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// `x * (y / z)` is a form of `(x * y) / z`.
// CHECK-LABEL: func.func @scaled(
// CHECK-NEXT: %[[R:.*]] = func.call @{{.*}}(%x, %y, %z)
// CHECK-NEXT: func.return %[[R]]
func.func @scaled(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.multiply %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled(
// CHECK-NEXT: graph.divide %y, %z
// CHECK-NEXT: graph.divide %x
func.func @no_scaled(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.divide %y, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.divide %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func private @partitioned0(
// CHECK-SAME: attributes {composite = "fork", graph.partitioned_from = "exp_log_"}
// CHECK: attributes {composite = "halved", graph.partitioned_from = "multiply_tanh_"}
// CHECK-NEXT: graph.full 0.5
// CHECK: attributes {composite = "scaled", graph.partitioned_from = "divide_multiply_"}
