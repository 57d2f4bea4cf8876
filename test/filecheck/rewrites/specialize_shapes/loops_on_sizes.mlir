// RUN: stepwell-opt %s -p 'specialize-shapes{entry="turns" shapes="3x4,4"}' | filecheck %s --check-prefix=TURNS
// RUN: stepwell-opt %s -p 'specialize-shapes{entry="turns" shapes="0x4,4"}' | filecheck %s --check-prefix=NONE
// RUN: stepwell-opt %s -p 'specialize-shapes{entry="no_known_count" shapes="3x4,"}' | filecheck %s --check-prefix=DATA

// A number of turns that follows from sizes is a constant.
// TURNS-LABEL: @turns
// TURNS: %[[N:.*]] = arith.constant 3 : index
// TURNS: scf.for %{{.*}} = %{{.*}} to %[[N]]
// NONE-LABEL: @turns
// NONE-NOT: scf.for
// NONE: func.return %y
func.func @turns(%x: tensor<?x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %first = graph.strided_slice %s, axes = [0], begin = [0], end = [1] : (tensor<2xi64>) -> tensor<1xi64>
  %n = graph.reshape %first, shape = [] : (tensor<1xi64>) -> tensor<i64>
  %count = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %count : i64 to index
  %r = scf.for %i = %zero to %end step %one iter_args(%c = %y) -> (tensor<4xf32>) {
    %d = graph.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// DATA-LABEL: @no_known_count
// DATA: %[[END:.*]] = arith.index_cast
// DATA: scf.for %{{.*}} = %{{.*}} to %[[END]]
func.func @no_known_count(%x: tensor<?x4xf32>, %n: tensor<i64>) -> tensor<?x4xf32> {
  %count = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.index_cast %count : i64 to index
  %r = scf.for %i = %zero to %end step %one iter_args(%c = %x) -> (tensor<?x4xf32>) {
    %d = graph.add %c, %c : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    scf.yield %d : tensor<?x4xf32>
  }
  func.return %r : tensor<?x4xf32>
}
