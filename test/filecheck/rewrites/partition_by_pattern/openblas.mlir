// RUN: stepwell-opt %s -p 'partition-by-pattern{table=openblas}' --remarks 2>&1 | filecheck %s

// CHECK: remark: 'graph.add': not 'openblas.matmul_add': {{.*}} has 2 users

/// A product of f32 and its addend, on either side.
// CHECK-LABEL: func.func @openblas_matmul_add(
// CHECK-NEXT: func.call @openblas_matmul_add_{{[0-9]*}}(%x, %w, %b)
// CHECK-NEXT: func.return
func.func @openblas_matmul_add(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %1 : tensor<4x2xf32>
}

/// A stack of matrices of f64, and its addend.
// CHECK-LABEL: func.func @openblas_matmul_add_of_f64(
// CHECK-NEXT: func.call @openblas_matmul_add_
// CHECK-NEXT: func.return
func.func @openblas_matmul_add_of_f64(%x: tensor<3x4x8xf64>, %w: tensor<8x2xf64>, %b: tensor<2xf64>) -> tensor<3x4x2xf64> {
  %0 = graph.matmul %x, %w : (tensor<3x4x8xf64>, tensor<8x2xf64>) -> tensor<3x4x2xf64>
  %1 = graph.add %0, %b : (tensor<3x4x2xf64>, tensor<2xf64>) -> tensor<3x4x2xf64>
  func.return %1 : tensor<3x4x2xf64>
}

// CHECK-LABEL: func.func @openblas_matmul_add_of_a_matrix_of_f64(
// CHECK-NEXT: func.call @openblas_matmul_add_
// CHECK-NEXT: func.return
func.func @openblas_matmul_add_of_a_matrix_of_f64(%x: tensor<4x8xf64>, %w: tensor<8x2xf64>, %b: tensor<2xf64>) -> tensor<4x2xf64> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf64>, tensor<8x2xf64>) -> tensor<4x2xf64>
  %1 = graph.add %0, %b : (tensor<4x2xf64>, tensor<2xf64>) -> tensor<4x2xf64>
  func.return %1 : tensor<4x2xf64>
}

/// The addend stretches the product, which is computed by itself.
// CHECK-LABEL: func.func @no_openblas_matmul_add(
// CHECK-NEXT: func.call @openblas_matmul_{{[0-9]*}}(%x, %w)
// CHECK-NEXT: graph.add
func.func @no_openblas_matmul_add(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<3x4x2xf32>) -> tensor<3x4x2xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  func.return %1 : tensor<3x4x2xf32>
}

/// The product is its own addend, and it has two uses then.
// CHECK-LABEL: func.func @no_openblas_matmul_add_of_two_users(
// CHECK-NEXT: func.call @openblas_matmul_{{[0-9]*}}(%x, %w)
// CHECK-NEXT: graph.add
func.func @no_openblas_matmul_add_of_two_users(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %b : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %1, %0 : tensor<4x2xf32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @openblas_matmul(
// CHECK-NEXT: func.call @openblas_matmul_
// CHECK-NEXT: func.call @openblas_matmul_
// CHECK-NEXT: func.call @openblas_matmul_
// CHECK-NEXT: func.call @openblas_matmul_
// CHECK-NEXT: func.return
func.func @openblas_matmul(%x: tensor<3x4x8xf32>, %w: tensor<8x2xf32>, %y: tensor<3x4x8xf64>, %v: tensor<8x2xf64>, %z: tensor<4x8xf64>, %s: tensor<4x8xf32>) -> (tensor<3x4x2xf32>, tensor<3x4x2xf64>, tensor<4x2xf64>, tensor<4x2xf32>) {
  %0 = graph.matmul %x, %w : (tensor<3x4x8xf32>, tensor<8x2xf32>) -> tensor<3x4x2xf32>
  %1 = graph.matmul %y, %v : (tensor<3x4x8xf64>, tensor<8x2xf64>) -> tensor<3x4x2xf64>
  %2 = graph.matmul %z, %v : (tensor<4x8xf64>, tensor<8x2xf64>) -> tensor<4x2xf64>
  %3 = graph.matmul %s, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  func.return %0, %1, %2, %3 : tensor<3x4x2xf32>, tensor<3x4x2xf64>, tensor<4x2xf64>, tensor<4x2xf32>
}

/// Sums in another type, other element types, a vector on the left, a stack on both sides.
// CHECK-LABEL: func.func @no_openblas_matmul(
// CHECK-NOT: func.call
// CHECK: func.return
func.func @no_openblas_matmul(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %h: tensor<4x8xf16>, %u: tensor<8x2xf16>, %v: tensor<8xf32>, %s: tensor<3x4x8xf32>, %t: tensor<3x8x2xf32>) -> (tensor<4x2xf64>, tensor<4x2xf32>, tensor<2xf32>, tensor<3x4x2xf32>) {
  %0 = graph.matmul %x, %w, out_dtype = f64 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf64>
  %1 = graph.matmul %h, %u, out_dtype = f32 : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf32>
  %2 = graph.matmul %v, %w : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  %3 = graph.matmul %s, %t : (tensor<3x4x8xf32>, tensor<3x8x2xf32>) -> tensor<3x4x2xf32>
  func.return %0, %1, %2, %3 : tensor<4x2xf64>, tensor<4x2xf32>, tensor<2xf32>, tensor<3x4x2xf32>
}
