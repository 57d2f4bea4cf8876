// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/reach.rules" numerics="default"}' | filecheck %s

/// A chain of three ops; one of two sums through either operand, and one of none.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: graph.exp %x
// CHECK-NEXT: graph.negative
// CHECK-NEXT: graph.abs %x
// CHECK-NEXT: graph.abs %y
// CHECK-NEXT: func.return
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %k = graph.full 2.0 : tensor<4xf32>
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.abs %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.negative %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.add %5, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = graph.add %k, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = graph.square %7 : (tensor<4xf32>) -> tensor<4xf32>
  %9 = graph.sqrt %y : (tensor<4xf32>) -> tensor<4xf32>
  %10 = graph.square %9 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %4, %8, %10 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// No step; another op among the steps; a sum with what is no constant.
// CHECK-LABEL: func.func @no_chain(
// CHECK-COUNT-2: graph.negative
// CHECK: graph.square
// CHECK: func.return
func.func @no_chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.relu %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.negative %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.add %5, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = graph.square %6 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %4, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// Parts in either order, and parts that are all of one kind.
// CHECK-LABEL: func.func @lists(
// CHECK-NEXT: graph.concat %x, %y :
// CHECK-NEXT: %[[C:.*]] = graph.concat %x, %y, %x :
// CHECK-NEXT: graph.relu %[[C]]
// CHECK-NEXT: func.return
func.func @lists(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<12xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.floor %y : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.concat %1, %0, axis = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %3 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.relu %y : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.concat %3, %4, %3, axis = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  func.return %2, %5 : tensor<8xf32>, tensor<12xf32>
}

/// A part that is missing; one of three that is of another kind.
// CHECK-LABEL: func.func @no_lists(
// CHECK: graph.exp
// CHECK: graph.concat
// CHECK: graph.relu
// CHECK: graph.concat %{{.*}}, %y :
// CHECK-NEXT: func.return
func.func @no_lists(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.concat %y, %0, axis = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.concat %2, %y, axis = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  func.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

/// Either result; two values that differ.
// CHECK-LABEL: func.func @any_result(
// CHECK-COUNT-2: graph.abs
// CHECK: graph.subtract %x, %y
// CHECK-NEXT: graph.ceil
// CHECK: func.return
func.func @any_result(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = graph.split %0, axis = 0, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = graph.tanh %1#0 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.tanh %1#1 : (tensor<2xf32>) -> tensor<2xf32>
  %4 = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.ceil %y : (tensor<4xf32>) -> tensor<4xf32>
  %6 = graph.subtract %4, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %3, %6 : tensor<2xf32>, tensor<2xf32>, tensor<4xf32>
}

/// A split of something else; one value twice.
// CHECK-LABEL: func.func @no_any_result(
// CHECK-NOT: graph.abs
// CHECK: graph.subtract %[[C:.*]], %[[C]]
// CHECK: func.return
func.func @no_any_result(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %1:2 = graph.split %x, axis = 0, sections = 2 : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %2 = graph.tanh %1#1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.subtract %3, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %2, %4 : tensor<2xf32>, tensor<4xf32>
}
