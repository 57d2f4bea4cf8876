// RUN: stepwell-opt %s -p lower-graph-to-loops,inline-loops,schedule-cpu --split-input-file | filecheck %s

/// Channels first: some rows of the image are combined at first, between borders that are set once per image.
// CHECK-LABEL: tensor_loop.func private @max_pool2d(
// CHECK:       %row = tensor_loop.alloc : memref<1x6x11x23xf32>
// CHECK-NEXT:  tensor_loop.for %i_c in 6 {
// CHECK-NEXT:    tensor_loop.for %turn in 11 {
// CHECK-NEXT:      tensor_loop.block "max_pool2d_border" {{.*}} writes(%row[0, %vc, %vturn, 0])
// CHECK:           tensor_loop.block "max_pool2d_border_1" {{.*}} writes(%row[0, %vc_1, %vturn_1, 22])
// CHECK:         tensor_loop.for %i_turn in 11 {
// CHECK-NEXT:      tensor_loop.for %i_column in 21 vectorized {
// CHECK-NEXT:        tensor_loop.block "max_pool2d_rows"
// CHECK:               arith.maxsi
// CHECK-NOT:           scf.if
// CHECK:         tensor_loop.for %i_turn_1 in 11 {
// CHECK-NEXT:      tensor_loop.for %i_ow in 11 vectorized {
// CHECK-NEXT:        tensor_loop.block "max_pool2d"
// CHECK-SAME:          reads(%row[0, %vc_3, %vturn_3, %vow * 2 : 3]) writes(%out[0, %vc_3, %voh_1, %vow])
func.func @main(%x: tensor<1x6x21x21xf32>) -> tensor<1x6x11x11xf32> {
  %y = graph.max_pool2d %x, pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1] : (tensor<1x6x21x21xf32>) -> tensor<1x6x11x11xf32>
  func.return %y : tensor<1x6x11x11xf32>
}

// -----

/// Channels last: all taps of a vector of channels are combined one after the other.
// CHECK-LABEL: tensor_loop.func private @max_pool2d(
// CHECK-NOT:   tensor_loop.alloc
// CHECK:       tensor_loop.for %i_oh in 11 {
// CHECK-NEXT:    tensor_loop.for %i_ow in 11 {
// CHECK-NEXT:      tensor_loop.for %i_c in 6 vectorized {
func.func @main(%x: tensor<1x21x21x6xf32>) -> tensor<1x11x11x6xf32> {
  %y = graph.max_pool2d %x, pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1], layout = "NHWC" : (tensor<1x21x21x6xf32>) -> tensor<1x11x11x6xf32>
  func.return %y : tensor<1x11x11x6xf32>
}

// -----

/// No more than 16 rows are combined at once: here 14.
// CHECK-LABEL: tensor_loop.func private @max_pool2d(
// CHECK:       %row = tensor_loop.alloc : memref<1x6x14x30xf32>
// CHECK:         tensor_loop.for %i_oh in 2 {
// CHECK-NEXT:      tensor_loop.for %i_turn in 14 {
// CHECK:             writes(%row[0, %vc_2, %vturn_2, %vcolumn + 1])
func.func @main(%x: tensor<1x6x28x28xf32>) -> tensor<1x6x28x28xf32> {
  %y = graph.max_pool2d %x, pool_size = [3, 3], padding = [1, 1, 1, 1] : (tensor<1x6x28x28xf32>) -> tensor<1x6x28x28xf32>
  func.return %y : tensor<1x6x28x28xf32>
}

// -----

/// A sum takes no element twice: outside of the image a zero is chosen.
// CHECK-LABEL: tensor_loop.func private @avg_pool2d(
// CHECK:       tensor_loop.block "avg_pool2d_sum"
// CHECK-NOT:   scf.if
// CHECK:       arith.select
func.func @main(%x: tensor<1x21x21x6xf32>) -> tensor<1x21x21x6xf32> {
  %y = graph.avg_pool2d %x, pool_size = [3, 3], padding = [1, 1, 1, 1], layout = "NHWC" : (tensor<1x21x21x6xf32>) -> tensor<1x21x21x6xf32>
  func.return %y : tensor<1x21x21x6xf32>
}

// -----

/// Small floats are compared as integers, with all bits but the sign of negative ones flipped.
// CHECK-LABEL: tensor_loop.func private @max_pool2d
// CHECK-NOT: arith.maximumf
// CHECK: arith.bitcast %{{.*}} : bf16 to i16
// CHECK: arith.maxsi %{{.*}} : i16
// CHECK-NEXT: arith.minsi %{{.*}} : i16
// CHECK: arith.constant 32640 : i16
// CHECK: arith.cmpi sgt
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
func.func @main(%x: tensor<1x21x21x6xbf16>) -> tensor<1x11x11x6xbf16> {
  %y = graph.max_pool2d %x, pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1], layout = "NHWC" : (tensor<1x21x21x6xbf16>) -> tensor<1x11x11x6xbf16>
  func.return %y : tensor<1x11x11x6xbf16>
}
