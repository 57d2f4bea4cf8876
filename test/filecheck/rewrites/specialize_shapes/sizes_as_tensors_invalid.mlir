// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="argument" shapes="3x8,2"}' 2>&1 | filecheck %s --check-prefix=ARGUMENT
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="data" shapes="3"}' 2>&1 | filecheck %s --check-prefix=DATA
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="fit" shapes="3x8"}' 2>&1 | filecheck %s --check-prefix=FIT
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="declared" shapes="3x8"}' 2>&1 | filecheck %s --check-prefix=DECLARED
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="copied" shapes="3x8"}' 2>&1 | filecheck %s --check-prefix=COPIED
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="negative" shapes="3x8"}' 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="standing" shapes="3"}' 2>&1 | filecheck %s --check-prefix=STANDING
// RUN: not stepwell-opt %s -p 'specialize-shapes{entry="endless" shapes="3"}' 2>&1 | filecheck %s --check-prefix=ENDLESS

// ARGUMENT: error: 'graph.dynamic_reshape': the sizes in 'shape' depend on the data of argument %s, expected them to follow from shapes
// ARGUMENT: hint: an argument that holds sizes can be given its value when the model is imported: --bind NAME=…
func.func @argument(%x: tensor<?x8xf32>, %s: tensor<2xi64>) {
  %y = graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// DATA: error: 'graph.arange': the sizes in 'limit' depend on the data of 'graph.cumulative_sum', expected them to follow from shapes
func.func @data(%x: tensor<?xi64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %total = graph.cumulative_sum %x, axis = 0 : (tensor<?xi64>) -> tensor<?xi64>
  %limit = graph.max %total : (tensor<?xi64>) -> tensor<i64>
  %y = graph.arange %zero, %limit, %zero : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return
}

// FIT: error: 'graph.dynamic_reshape': with the given sizes 3x8 has 24 elements but shape [2, 4] has 8
func.func @fit(%x: tensor<?x8xf32>) {
  %s = graph.constant dense<[2, 4]> : tensor<2xi64>
  %y = graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// DECLARED: error: 'graph.dynamic_reshape': the result has the shape 6x4 with the given sizes, declared is ?x8
func.func @declared(%x: tensor<?x8xf32>) {
  %s = graph.constant dense<[6, 4]> : tensor<2xi64>
  %y = graph.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  func.return
}

// COPIED: error: 'graph.dynamic_reshape': with the given sizes extent 2 of shape is 0, which copies one of 3x8
func.func @copied(%x: tensor<?x8xf32>) {
  %s = graph.constant dense<[3, 8, 0]> : tensor<3xi64>
  %y = graph.dynamic_reshape %x, %s, copy_zeros = true : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
  func.return
}

// NEGATIVE: error: 'graph.dynamic_broadcast_to': with the given sizes shape is [-3, 8], expected extents of at least 0
func.func @negative(%x: tensor<?x8xf32>) {
  %s = graph.constant dense<[-3, 8]> : tensor<2xi64>
  %y = graph.dynamic_broadcast_to %x, %s : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  func.return
}

// STANDING: error: 'graph.arange': with the given sizes delta is 0, expected a step forward or back
func.func @standing(%x: tensor<?xi64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %y = graph.arange %zero, %zero, %zero : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return
}

// ENDLESS: error: 'graph.arange': with the given sizes the range has 1000000000000 elements, expected at most 16777216
func.func @endless(%x: tensor<?xi64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %most = graph.constant dense<1000000000000> : tensor<i64>
  %y = graph.arange %zero, %most, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  func.return
}
