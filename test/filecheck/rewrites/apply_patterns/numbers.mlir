// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/numbers.rules"}' | filecheck %s

/// The first tensor is tall enough, and the second square.
// CHECK-LABEL: func.func @tall(
// CHECK-NEXT: %{{.*}} = graph.tanh %x
// CHECK-NEXT: %{{.*}} = graph.tanh %y
// CHECK-NEXT: func.return
func.func @tall(%x: tensor<8x4xf32>, %y: tensor<5x5xf32>) -> (tensor<8x4xf32>, tensor<5x5xf32>) {
  %0 = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = graph.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = graph.sigmoid %y : (tensor<5x5xf32>) -> tensor<5x5xf32>
  func.return %1, %2 : tensor<8x4xf32>, tensor<5x5xf32>
}

/// Too wide; three columns; a size that is not known, with which neither a comparison nor its contrary holds.
// CHECK-LABEL: func.func @no_tall(
// CHECK-COUNT-4: graph.relu
// CHECK-NOT: graph.tanh
// CHECK: func.return
func.func @no_tall(%x: tensor<7x4xf32>, %y: tensor<6x3xf32>, %z: tensor<?x4xf32>, %u: tensor<4x?xf32>, %v: tensor<?x?xf32>) -> (tensor<7x4xf32>, tensor<6x3xf32>, tensor<?x4xf32>, tensor<4x?xf32>, tensor<?x?xf32>) {
  %0 = graph.exp %x : (tensor<7x4xf32>) -> tensor<7x4xf32>
  %1 = graph.relu %0 : (tensor<7x4xf32>) -> tensor<7x4xf32>
  %2 = graph.exp %y : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %3 = graph.relu %2 : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %4 = graph.exp %z : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = graph.relu %4 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %6 = graph.exp %u : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %7 = graph.relu %6 : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %8 = graph.sigmoid %v : (tensor<?x?xf32>) -> tensor<?x?xf32>
  func.return %1, %3, %5, %7, %8 : tensor<7x4xf32>, tensor<6x3xf32>, tensor<?x4xf32>, tensor<4x?xf32>, tensor<?x?xf32>
}

/// The new shape is computed from sizes and from an attribute.
// CHECK-LABEL: func.func @flat(
// CHECK-NEXT: graph.reshape %x, shape = [16, 2]
// CHECK-NEXT: func.return
func.func @flat(%x: tensor<8x4xf32>) -> tensor<16x2xf32> {
  %0 = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = graph.reshape %0, shape = [16, 2] : (tensor<8x4xf32>) -> tensor<16x2xf32>
  func.return %1 : tensor<16x2xf32>
}

/// Another last size; another rank; a size that is not known, from which no shape can be computed.
// CHECK-LABEL: func.func @no_flat(
// CHECK-COUNT-3: graph.exp
// CHECK: func.return
func.func @no_flat(%x: tensor<8x4xf32>, %z: tensor<?x4xf32>) -> (tensor<8x4xf32>, tensor<8x2x2xf32>, tensor<?x2xf32>) {
  %0 = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = graph.reshape %0, shape = [8, 4] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %3 = graph.reshape %2, shape = [8, 2, 2] : (tensor<8x4xf32>) -> tensor<8x2x2xf32>
  %4 = graph.exp %z : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = graph.reshape %4, shape = [-1, 2] : (tensor<?x4xf32>) -> tensor<?x2xf32>
  func.return %1, %3, %5 : tensor<8x4xf32>, tensor<8x2x2xf32>, tensor<?x2xf32>
}

/// Attributes are compared, and computed.
// CHECK-LABEL: func.func @other_axis(
// CHECK-NEXT: graph.softmax %x, axis = 1
// CHECK-NEXT: func.return
func.func @other_axis(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.softmax %x, axis = 2 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @no_other_axis(
// CHECK-COUNT-2: graph.softmax
// CHECK: func.return
func.func @no_other_axis(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = graph.softmax %x, axis = 1 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = graph.softmax %0, axis = 1 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %1 : tensor<2x3x4xf32>
}

/// One op uses the exponential twice; two ops use that of `%y`, of which one rule takes the negative.
// CHECK-LABEL: func.func @users(
// CHECK-NEXT: graph.abs %x
// CHECK-NEXT: graph.exp %y
// CHECK-NEXT: graph.abs %y
// CHECK-NEXT: func.return
func.func @users(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.subtract %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.negative %2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// Another user of the first; one user of the second; half floats.
// CHECK-LABEL: func.func @no_users(
// CHECK-NOT: graph.abs
// CHECK: func.return
func.func @no_users(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf16>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.subtract %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.negative %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.exp %z : (tensor<4xf16>) -> tensor<4xf16>
  %5 = graph.negative %4 : (tensor<4xf16>) -> tensor<4xf16>
  func.return %0, %1, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf16>
}
