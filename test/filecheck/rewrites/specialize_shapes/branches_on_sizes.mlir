// RUN: stepwell-opt %s -p 'specialize-shapes{main="3x8"}' | filecheck %s --check-prefix=SMALL
// RUN: stepwell-opt %s -p 'specialize-shapes{main="30x8"}' | filecheck %s --check-prefix=LARGE

/// The branch that is taken follows from the sizes; the other one has another shape, which does not matter.
// SMALL: func.func @main(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
// SMALL-NEXT: graph.exp %x : (tensor<3x8xf32>) -> tensor<3x8xf32>
// SMALL-NEXT: func.return
// LARGE: func.func @main(%x: tensor<30x8xf32>) -> tensor<1x8xf32> {
// LARGE-NEXT: graph.sum %x, axis = [0], keepdims = true : (tensor<30x8xf32>) -> tensor<1x8xf32>
// LARGE-NEXT: func.return
func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %shape = graph.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
  %limit = graph.constant dense<16> : tensor<i64>
  %less = graph.less %shape, %limit : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
  %zero = arith.constant 0 : index
  %small = tensor.extract %less[%zero] : tensor<2xi1>
  %y = scf.if %small -> (tensor<?x8xf32>) {
    %e = graph.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %e : tensor<?x8xf32>
  } else {
    %s = graph.sum %x, axis = [0], keepdims = true : (tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.yield %s : tensor<?x8xf32>
  }
  func.return %y : tensor<?x8xf32>
}
