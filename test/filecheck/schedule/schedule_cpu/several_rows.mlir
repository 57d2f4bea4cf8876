// RUN: stepwell-opt %s -p 'to-loops,schedule-cpu{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'to-loops,schedule-cpu{target="x86-64-v4"},schedule-cpu{target="x86-64-v4"}' | filecheck %s
// RUN: stepwell-opt %s -p 'to-loops,schedule-cpu{target="x86-64-v4"},bufferize,lower-loops-to-scf' | filecheck %s --check-prefix SCF

/// Two sums of each column: four rows at once, between which they stay in registers.
// CHECK-LABEL: tensor_loop.func private @moments(
// CHECK: tensor_loop.for %{{.*}} in 32 {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 96 vectorized {
// CHECK-NEXT: tensor_loop.for %{{.*}} in 4 unrolled {
// CHECK-NEXT: tensor_loop.block "sum_sum_1"
// SCF-LABEL: func.func private @moments(
// SCF: scf.for {{.*}} to %c32
// SCF-NEXT: scf.for {{.*}} to %c96
// SCF-COUNT-4: memref.load %x[
// SCF-NOT: scf.for
// SCF: stepwell.loop = "vectorize"
func.func private @moments(%x: tensor<128x96xf32>) -> (tensor<96xf32>, tensor<96xf32>) attributes {graph.primitive} {
  %0 = graph.sum %x, axis = [0] : (tensor<128x96xf32>) -> tensor<96xf32>
  %q = graph.multiply %x, %x : (tensor<128x96xf32>, tensor<128x96xf32>) -> tensor<128x96xf32>
  %1 = graph.sum %q, axis = [0] : (tensor<128x96xf32>) -> tensor<96xf32>
  func.return %0, %1 : tensor<96xf32>, tensor<96xf32>
}

/// One sum, maxima that look at NaNs, a prime number of rows, and rows that are summed up along themselves stay.
// CHECK-LABEL: tensor_loop.func private @no_single_sum(
// CHECK-NOT: unrolled
func.func private @no_single_sum(%x: tensor<128x96xf32>) -> tensor<96xf32> attributes {graph.primitive} {
  %0 = graph.sum %x, axis = [0] : (tensor<128x96xf32>) -> tensor<96xf32>
  func.return %0 : tensor<96xf32>
}

// CHECK-LABEL: tensor_loop.func private @no_range(
// CHECK-NOT: unrolled
func.func private @no_range(%x: tensor<128x96xf32>) -> (tensor<96xf32>, tensor<96xf32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [0] : (tensor<128x96xf32>) -> tensor<96xf32>
  %1 = graph.min %x, axis = [0] : (tensor<128x96xf32>) -> tensor<96xf32>
  func.return %0, %1 : tensor<96xf32>, tensor<96xf32>
}

// CHECK-LABEL: tensor_loop.func private @no_prime(
// CHECK-NOT: unrolled
func.func private @no_prime(%x: tensor<31x96xi32>) -> (tensor<96xi32>, tensor<96xi32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [0] : (tensor<31x96xi32>) -> tensor<96xi32>
  %1 = graph.min %x, axis = [0] : (tensor<31x96xi32>) -> tensor<96xi32>
  func.return %0, %1 : tensor<96xi32>, tensor<96xi32>
}

// CHECK-LABEL: tensor_loop.func private @no_rows(
// CHECK-NOT: unrolled
func.func private @no_rows(%x: tensor<32x96xi32>) -> (tensor<32xi32>, tensor<32xi32>) attributes {graph.primitive} {
  %0 = graph.max %x, axis = [1] : (tensor<32x96xi32>) -> tensor<32xi32>
  %1 = graph.min %x, axis = [1] : (tensor<32x96xi32>) -> tensor<32xi32>
  func.return %0, %1 : tensor<32xi32>, tensor<32xi32>
}

func.func @use(%x: tensor<128x96xf32>, %y: tensor<31x96xi32>, %z: tensor<32x96xi32>) -> (tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xi32>, tensor<96xi32>, tensor<32xi32>, tensor<32xi32>) {
  %0, %1 = func.call @moments(%x) : (tensor<128x96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
  %2 = func.call @no_single_sum(%x) : (tensor<128x96xf32>) -> tensor<96xf32>
  %3, %4 = func.call @no_range(%x) : (tensor<128x96xf32>) -> (tensor<96xf32>, tensor<96xf32>)
  %5, %6 = func.call @no_prime(%y) : (tensor<31x96xi32>) -> (tensor<96xi32>, tensor<96xi32>)
  %7, %8 = func.call @no_rows(%z) : (tensor<32x96xi32>) -> (tensor<32xi32>, tensor<32xi32>)
  func.return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xf32>, tensor<96xi32>, tensor<96xi32>, tensor<32xi32>, tensor<32xi32>
}
