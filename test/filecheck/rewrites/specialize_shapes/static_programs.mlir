// A static program that takes sizes as tensors needs no shapes to become one without (AUDIT C11).
// RUN: stepwell-opt %s -p specialize-shapes --split-input-file --verify-diagnostics | filecheck %s

// CHECK-LABEL: func.func @main(%x: tensor<6xi64>) -> tensor<2x3xi64> {
// CHECK-NEXT:    %r = graph.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi64>
// CHECK-NEXT:    %y = graph.add %x, %r : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
// CHECK-NEXT:    %z = graph.reshape %y, shape = [2, 3] : (tensor<6xi64>) -> tensor<2x3xi64>
// CHECK-NEXT:    func.return %z : tensor<2x3xi64>
func.func @main(%x: tensor<6xi64>) -> tensor<?x3xi64> {
  %from = graph.constant dense<0> : tensor<i64>
  %to = graph.constant dense<6> : tensor<i64>
  %by = graph.constant dense<1> : tensor<i64>
  %r = graph.arange %from, %to, %by : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
  %y = graph.add %x, %r : (tensor<6xi64>, tensor<?xi64>) -> tensor<6xi64>
  %s = graph.constant dense<[2, 3]> : tensor<2xi64>
  %z = graph.dynamic_reshape %y, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<?x3xi64>
  func.return %z : tensor<?x3xi64>
}

// -----

// What a called function returns becomes known in the caller.
// CHECK-LABEL: func.func @calls(%x: tensor<6xi64>) -> tensor<2x3xi64> {
// CHECK-NEXT:    %y = func.call @rows(%x) : (tensor<6xi64>) -> tensor<2x3xi64>
// CHECK-LABEL: func.func private @rows(%x: tensor<6xi64>) -> tensor<2x3xi64> {
func.func @calls(%x: tensor<6xi64>) -> tensor<?x3xi64> {
  %y = func.call @rows(%x) : (tensor<6xi64>) -> tensor<?x3xi64>
  func.return %y : tensor<?x3xi64>
}
func.func private @rows(%x: tensor<6xi64>) -> tensor<?x3xi64> {
  %s = graph.constant dense<[-1, 3]> : tensor<2xi64>
  %z = graph.dynamic_reshape %x, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<?x3xi64>
  func.return %z : tensor<?x3xi64>
}

// -----

func.func @data(%x: tensor<6xi64>, %s: tensor<2xi64>) -> tensor<2x3xi64> {
  // expected-error@+1 {{the sizes in 'shape' depend on the data of argument %s, expected them to follow from shapes}}
  %z = graph.dynamic_reshape %x, %s : (tensor<6xi64>, tensor<2xi64>) -> tensor<2x3xi64>
  func.return %z : tensor<2x3xi64>
}
