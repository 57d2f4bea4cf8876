// RUN: stepwell-opt %s -p 'annotate-target{targets=openblas}' | filecheck %s
// RUN: stepwell-opt %s -p 'annotate-target{targets=openblas},annotate-target{targets=openblas}' | filecheck %s
// RUN: stepwell-opt %s -p 'annotate-target{targets=default,openblas}' | filecheck %s --check-prefix=DEFAULT
// RUN: not stepwell-opt %s -p 'annotate-target{targets=openbla}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not stepwell-opt %s -p 'annotate-target' 2>&1 | filecheck %s --check-prefix=NONE

// DEFAULT-NOT: graph.target = "openblas"
// UNKNOWN: error: annotate-target: there is no target 'openbla', did you mean 'openblas'?; there is {{.*}}openblas{{.*}}, default
// NONE: error: pass 'annotate-target' requires the option 'targets'

/// The table `openblas` has patterns of one op (matmul) and of two; here only the former count.
// CHECK-LABEL: func.func @products(
// CHECK: graph.matmul %x, %w {graph.target = "openblas"}
// CHECK-NEXT: graph.add %{{[a-z0-9]*}}, %b : (
func.func @products(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  func.return %1 : tensor<4x16xf32>
}

/// Not of these element types, nor of these ranks.
// CHECK-LABEL: func.func @no_products(
// CHECK-NOT: graph.target
// CHECK: func.return
func.func @no_products(%i: tensor<4x8xi32>, %j: tensor<8x16xi32>, %x: tensor<8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xi32>, tensor<16xf32>) {
  %0 = graph.matmul %i, %j : (tensor<4x8xi32>, tensor<8x16xi32>) -> tensor<4x16xi32>
  %1 = graph.matmul %x, %w : (tensor<8xf32>, tensor<8x16xf32>) -> tensor<16xf32>
  func.return %0, %1 : tensor<4x16xi32>, tensor<16xf32>
}

/// A mark that is there stays, also of a target that nobody knows here. Branches are looked into.
// CHECK-LABEL: func.func @marked(
// CHECK: graph.matmul %x, %w {graph.target = "mine"}
// CHECK: scf.if
// CHECK-NEXT: graph.matmul %x, %w {graph.target = "openblas"}
func.func @marked(%c: i1, %x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = graph.matmul %x, %w {graph.target = "mine"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = scf.if %c -> (tensor<4x16xf32>) {
    %2 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    scf.yield %2 : tensor<4x16xf32>
  } else {
    scf.yield %0 : tensor<4x16xf32>
  }
  func.return %1 : tensor<4x16xf32>
}

/// Composite functions are asked for by the name of their pattern, other calls by nothing; fused functions are closed.
// CHECK-LABEL: func.func @composites(
// CHECK: func.call @known(%x, %w) {graph.target = "openblas"}
// CHECK-NEXT: func.call @unknown(%x, %w) : (
// CHECK-NEXT: func.call @fused(%x, %w) : (
func.func @composites(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = func.call @known(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = func.call @unknown(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = func.call @fused(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %0, %1, %2 : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>
}

// CHECK-LABEL: func.func private @known(
// CHECK-NOT: graph.target
func.func private @known(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> attributes {graph.primitive, graph.composite = "openblas.matmul"} {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}

func.func private @unknown(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> attributes {graph.primitive, graph.composite = "other.matmul"} {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}

func.func private @fused(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> attributes {graph.primitive} {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}
