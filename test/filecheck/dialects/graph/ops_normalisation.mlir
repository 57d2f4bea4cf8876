// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @batch_norm
// GENERIC-LABEL: sym_name = "batch_norm"
func.func @batch_norm(%x: tensor<1x3x4x4xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
  // CHECK: graph.batch_norm %x, %gamma, %beta, %mean, %var : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  // GENERIC: "graph.batch_norm"(%x, %gamma, %beta, %mean, %var) <{axis = 1 : i64, epsilon = 1.000000e-05 : f64}> : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return
}

// CHECK-LABEL: @batch_norm_1
// GENERIC-LABEL: sym_name = "batch_norm_1"
func.func @batch_norm_1(%x: tensor<1x4x4x3xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) {
  // CHECK: graph.batch_norm %x, %gamma, %beta, %mean, %var, axis = -1, epsilon = 0.001 : (tensor<1x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // GENERIC: "graph.batch_norm"(%x, %gamma, %beta, %mean, %var) <{axis = -1 : i64, epsilon = 1.000000e-03 : f64}> : (tensor<1x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<1x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var, axis = -1, epsilon = 0.001 : (tensor<1x4x4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return
}

// CHECK-LABEL: @layer_norm
// GENERIC-LABEL: sym_name = "layer_norm"
func.func @layer_norm(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>) {
  // CHECK: graph.layer_norm %x, %gamma, %beta : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.layer_norm"(%x, %gamma, %beta) <{axes = array<i64: -1>, epsilon = 1.000000e-05 : f64}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = graph.layer_norm %x, %gamma, %beta : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @layer_norm_1
// GENERIC-LABEL: sym_name = "layer_norm_1"
func.func @layer_norm_1(%x: tensor<?x4x8xf32>, %gamma: tensor<4x8xf32>, %beta: tensor<4x8xf32>) {
  // CHECK: graph.layer_norm %x, %gamma, %beta, axes = [-2, -1] : (tensor<?x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<?x4x8xf32>
  // GENERIC: "graph.layer_norm"(%x, %gamma, %beta) <{axes = array<i64: -2, -1>, epsilon = 1.000000e-05 : f64}> : (tensor<?x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<?x4x8xf32>
  %y = graph.layer_norm %x, %gamma, %beta, axes = [-2, -1] : (tensor<?x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  func.return
}

// CHECK-LABEL: @bias_add
// GENERIC-LABEL: sym_name = "bias_add"
func.func @bias_add(%x: tensor<1x3x4x4xf32>, %bias: tensor<3xf32>) {
  // CHECK: graph.bias_add %x, %bias : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  // GENERIC: "graph.bias_add"(%x, %bias) <{axis = 1 : i64}> : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  %y = graph.bias_add %x, %bias : (tensor<1x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  func.return
}

// CHECK-LABEL: @bias_add_1
// GENERIC-LABEL: sym_name = "bias_add_1"
func.func @bias_add_1(%x: tensor<?x8xi32>, %bias: tensor<8xi32>) {
  // CHECK: graph.bias_add %x, %bias, axis = -1 : (tensor<?x8xi32>, tensor<8xi32>) -> tensor<?x8xi32>
  // GENERIC: "graph.bias_add"(%x, %bias) <{axis = -1 : i64}> : (tensor<?x8xi32>, tensor<8xi32>) -> tensor<?x8xi32>
  %y = graph.bias_add %x, %bias, axis = -1 : (tensor<?x8xi32>, tensor<8xi32>)
  func.return
}

// CHECK-LABEL: @instance_norm
// GENERIC-LABEL: sym_name = "instance_norm"
func.func @instance_norm(%x: tensor<1x3x4x4xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>) {
  // CHECK: graph.instance_norm %x, %gamma, %beta : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  // GENERIC: "graph.instance_norm"(%x, %gamma, %beta) <{axis = 1 : i64, epsilon = 1.000000e-05 : f64}> : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  %y = graph.instance_norm %x, %gamma, %beta : (tensor<1x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  func.return
}

// CHECK-LABEL: @instance_norm_1
// GENERIC-LABEL: sym_name = "instance_norm_1"
func.func @instance_norm_1(%x: tensor<?x4x3xf16>, %gamma: tensor<3xf16>, %beta: tensor<3xf16>) {
  // CHECK: graph.instance_norm %x, %gamma, %beta, axis = -1, epsilon = 0.001 : (tensor<?x4x3xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<?x4x3xf16>
  // GENERIC: "graph.instance_norm"(%x, %gamma, %beta) <{axis = -1 : i64, epsilon = 1.000000e-03 : f64}> : (tensor<?x4x3xf16>, tensor<3xf16>, tensor<3xf16>) -> tensor<?x4x3xf16>
  %y = graph.instance_norm %x, %gamma, %beta, axis = -1, epsilon = 0.001 : (tensor<?x4x3xf16>, tensor<3xf16>, tensor<3xf16>)
  func.return
}

// CHECK-LABEL: @group_norm
// GENERIC-LABEL: sym_name = "group_norm"
func.func @group_norm(%x: tensor<1x6x4x4xf32>, %gamma: tensor<6xf32>, %beta: tensor<6xf32>) {
  // CHECK: graph.group_norm %x, %gamma, %beta, num_groups = 2 : (tensor<1x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  // GENERIC: "graph.group_norm"(%x, %gamma, %beta) <{num_groups = 2 : i64, axis = 1 : i64, epsilon = 1.000000e-05 : f64}> : (tensor<1x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  %y = graph.group_norm %x, %gamma, %beta, num_groups = 2 : (tensor<1x6x4x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x4x4xf32>
  func.return
}

// CHECK-LABEL: @group_norm_1
// GENERIC-LABEL: sym_name = "group_norm_1"
func.func @group_norm_1(%x: tensor<?x4x6xbf16>, %gamma: tensor<6xbf16>, %beta: tensor<6xbf16>) {
  // CHECK: graph.group_norm %x, %gamma, %beta, num_groups = 3, axis = -1, epsilon = 0.001 : (tensor<?x4x6xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<?x4x6xbf16>
  // GENERIC: "graph.group_norm"(%x, %gamma, %beta) <{num_groups = 3 : i64, axis = -1 : i64, epsilon = 1.000000e-03 : f64}> : (tensor<?x4x6xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> tensor<?x4x6xbf16>
  %y = graph.group_norm %x, %gamma, %beta, num_groups = 3, axis = -1, epsilon = 0.001 : (tensor<?x4x6xbf16>, tensor<6xbf16>, tensor<6xbf16>)
  func.return
}

// CHECK-LABEL: @l2_normalize
// GENERIC-LABEL: sym_name = "l2_normalize"
func.func @l2_normalize(%x: tensor<4x8xf32>) {
  // CHECK: graph.l2_normalize %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.l2_normalize"(%x) <{axes = array<i64: -1>, epsilon = 1.000000e-12 : f64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.l2_normalize %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @l2_normalize_1
// GENERIC-LABEL: sym_name = "l2_normalize_1"
func.func @l2_normalize_1(%x: tensor<?x4x8xf64>) {
  // CHECK: graph.l2_normalize %x, axes = [2, 0], epsilon = 0.001 : (tensor<?x4x8xf64>) -> tensor<?x4x8xf64>
  // GENERIC: "graph.l2_normalize"(%x) <{axes = array<i64: 2, 0>, epsilon = 1.000000e-03 : f64}> : (tensor<?x4x8xf64>) -> tensor<?x4x8xf64>
  %y = graph.l2_normalize %x, axes = [2, 0], epsilon = 0.001 : (tensor<?x4x8xf64>)
  func.return
}

// CHECK-LABEL: @rms_norm
// GENERIC-LABEL: sym_name = "rms_norm"
func.func @rms_norm(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>) {
  // CHECK: graph.rms_norm %x, %gamma : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // GENERIC: "graph.rms_norm"(%x, %gamma) <{axes = array<i64: -1>, epsilon = 1.000000e-05 : f64}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = graph.rms_norm %x, %gamma : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @rms_norm_1
// GENERIC-LABEL: sym_name = "rms_norm_1"
func.func @rms_norm_1(%x: tensor<?x4x8xf16>, %gamma: tensor<4x8xf16>) {
  // CHECK: graph.rms_norm %x, %gamma, axes = [1, 2], epsilon = 0.001 : (tensor<?x4x8xf16>, tensor<4x8xf16>) -> tensor<?x4x8xf16>
  // GENERIC: "graph.rms_norm"(%x, %gamma) <{axes = array<i64: 1, 2>, epsilon = 1.000000e-03 : f64}> : (tensor<?x4x8xf16>, tensor<4x8xf16>) -> tensor<?x4x8xf16>
  %y = graph.rms_norm %x, %gamma, axes = [1, 2], epsilon = 0.001 : (tensor<?x4x8xf16>, tensor<4x8xf16>)
  func.return
}

// CHECK-LABEL: @dropout
// GENERIC-LABEL: sym_name = "dropout"
func.func @dropout(%x: tensor<4x8xf32>) {
  // CHECK: graph.dropout %x : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  // GENERIC: "graph.dropout"(%x) <{rate = 5.000000e-01 : f64}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  %y, %mask = graph.dropout %x : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi1>)
  func.return
}

// CHECK-LABEL: @dropout_1
// GENERIC-LABEL: sym_name = "dropout_1"
func.func @dropout_1(%x: tensor<?xf16>) {
  // CHECK: graph.dropout %x, rate = 0.1 : (tensor<?xf16>) -> (tensor<?xf16>, tensor<?xi1>)
  // GENERIC: "graph.dropout"(%x) <{rate = 1.000000e-01 : f64}> : (tensor<?xf16>) -> (tensor<?xf16>, tensor<?xi1>)
  %y, %mask = graph.dropout %x, rate = 0.1 : (tensor<?xf16>)
  func.return
}
