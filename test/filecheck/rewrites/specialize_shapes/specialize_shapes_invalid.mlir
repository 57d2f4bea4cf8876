// RUN: not stepwell-opt %s -p 'specialize-shapes{main="4x8,5x8"}' 2>&1 | filecheck %s --check-prefix=DIMS
// RUN: not stepwell-opt %s -p 'specialize-shapes{main="4x9,4x8"}' 2>&1 | filecheck %s --check-prefix=FIXED
// RUN: not stepwell-opt %s -p 'specialize-shapes{main="4x8"}' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not stepwell-opt %s -p 'specialize-shapes{main="4x?,4x8"}' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="mian" shapes="4"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="fit" shapes="4,5"}' 2>&1 | filecheck %s --check-prefix=OP
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="declared" shapes="4"}' 2>&1 | filecheck %s --check-prefix=DECLARED
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="unknown" shapes="4"}' 2>&1 | filecheck %s --check-prefix=LEFT

// DIMS: error: 'func.func': dimension 'n' is 4 (dimension 0 of argument 0) and 5 (dimension 0 of argument 1)
// FIXED: error: 'func.func': argument 0 (%x) of @main gets the shape 4x9, expected ?x8
// COUNT: error: 'func.func': @main has 2 arguments, found 1 shapes
// SYNTAX: error: specialize-shapes: '4x?' is not a shape, expected sizes joined by 'x' such as 4x784
// NAME: error: specialize-shapes: there is no function @mian, did you mean 'main'?; the module has @main, @fit, @declared, @unknown
func.func @main(%x: tensor<?x8xf32> {stepwell.dims = ["n", ""]}, %y: tensor<?x8xf32> {stepwell.dims = ["n", ""]}) {
  func.return
}

// OP: error: 'graph.add': with the given sizes {{.*}}4{{.*}}5
func.func @fit(%x: tensor<?xf32>, %y: tensor<?xf32>) {
  %0 = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// DECLARED: error: 'graph.exp': the result has the shape 4 with the given sizes, declared is 3
func.func @declared(%x: tensor<?xf32>) {
  %0 = graph.exp %x : (tensor<?xf32>) -> tensor<3xf32>
  func.return
}

// LEFT: error: 'tensor.cast': the result has type tensor<?xf32> after all sizes are given
func.func @unknown(%x: tensor<?xf32>) {
  %0 = "tensor.cast"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}
