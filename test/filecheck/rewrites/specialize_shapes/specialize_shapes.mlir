// RUN: stepwell-opt %s -p 'specialize-shapes{main="4x8,4x8,8x3,"}' | filecheck %s

/// Sizes go through ops, branches and calls; a function that is called with different sizes is copied.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<?x8xf32> {stepwell.dims = ["n", ""]}, %y: tensor<?x8xf32> {stepwell.dims = ["n", ""]}, %w: tensor<8x3xf32>, %c: tensor<i1>) -> (tensor<?x3xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-NEXT: %[[V0:.*]] = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[V1:.*]] = func.call @f(%[[V0]]) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: %[[CC:.*]] = tensor.extract %c[] : tensor<i1>
  // CHECK-NEXT: %[[R:.*]] = scf.if %[[CC]] -> (tensor<4x8xf32>) {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: scf.yield %[[E]] : tensor<4x8xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %y : tensor<4x8xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[S:.*]] = graph.concat %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %[[A:.*]] = func.call @g_0(%[[S]]) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %[[B:.*]] = func.call @g_1(%[[R]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[D:.*]] = func.call @g_1(%[[R]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %[[Z:.*]] = graph.add %[[B]], %[[D]] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: func.return %[[V1]], %[[Z]], %[[A]] : tensor<4x3xf32>, tensor<4x8xf32>, tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
  %1 = func.call @f(%0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %cc = tensor.extract %c[] : tensor<i1>
  %r = scf.if %cc -> (tensor<?x8xf32>) {
    %e = graph.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %e : tensor<?x8xf32>
  } else {
    scf.yield %y : tensor<?x8xf32>
  }
  %s = graph.concat %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %a = func.call @g(%s) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = func.call @g(%r) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %d = func.call @g(%r) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = graph.add %b, %d : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %1, %z, %a : tensor<?x3xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

/// Called once: changed in place.
// CHECK-LABEL: func.func private @f(
func.func private @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[V0:.*]] = graph.reshape %x, shape = [3, -1] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: %[[V1:.*]] = graph.permute_dims %[[V0]] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: func.return %[[V1]] : tensor<4x3xf32>
  %0 = graph.reshape %x, shape = [3, -1] : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %1 = graph.permute_dims %0 : (tensor<3x?xf32>) -> tensor<?x3xf32>
  func.return %1 : tensor<?x3xf32>
}

/// Other entries stay.
// CHECK-LABEL: func.func @other(
func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: func.return %x : tensor<?xf32>
  func.return %x : tensor<?xf32>
}

/// Called several times: replaced by a copy per size.
// CHECK-NOT: func.func private @g(
func.func private @g(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = graph.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @g_0(
// CHECK-NEXT: %[[V0:.*]] = graph.relu %[[X:.*]] : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: func.return %[[V0]] : tensor<8x8xf32>

// CHECK-LABEL: func.func private @g_1(
// CHECK-NEXT: %[[V0:.*]] = graph.relu %[[X:.*]] : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: func.return %[[V0]] : tensor<4x8xf32>
