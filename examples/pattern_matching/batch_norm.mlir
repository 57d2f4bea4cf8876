// RUN: stepwell-opt %s -p 'apply-patterns{file="%S/rules/batch_norm.mlir"}' | filecheck %s

// The formula of batch normalisation as different people write it.

/// gamma * (x - mean) / sqrt(var + eps) + beta.
// CHECK-LABEL: func.func @written_out(
func.func @written_out(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: func.return %[[Y]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %centred : (tensor<8xf32>, tensor<4x8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// beta + (x - mean) * gamma / sqrt(eps + var).
// CHECK-LABEL: func.func @beta_first(
func.func @beta_first(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: func.return %[[Y]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %centred, %gamma : (tensor<4x8xf32>, tensor<8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %eps, %var : (tensor<f32>, tensor<8xf32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %beta, %quotient : (tensor<8xf32>, tensor<4x8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// gamma * ((x - mean) / sqrt(var + eps)) + beta.
// CHECK-LABEL: func.func @gamma_outside(
func.func @gamma_outside(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: func.return %[[Y]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %centred, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %quotient : (tensor<8xf32>, tensor<4x8xf32>)
  %y = graph.add %scaled, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// (x - mean) * (gamma / sqrt(var + eps)) + beta.
// CHECK-LABEL: func.func @gamma_over_deviation(
func.func @gamma_over_deviation(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: func.return %[[Y]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %factor = graph.divide %gamma, %deviation : (tensor<8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %centred, %factor : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %scaled, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// The epsilon is that of the program; here it is a vector.
// CHECK-LABEL: func.func @other_epsilon(
func.func @other_epsilon(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = 0.5 :
  // CHECK-NEXT: func.return %[[Y]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %centred : (tensor<8xf32>, tensor<4x8xf32>)
  %eps = graph.full 0.5 : tensor<8xf32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<8xf32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// beta is taken away, not added.
// CHECK-LABEL: func.func @no_beta_subtracted(
func.func @no_beta_subtracted(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: graph.subtract %x, %mean
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %centred : (tensor<8xf32>, tensor<4x8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.subtract %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// gamma has a number per row, and the other one makes the tensor larger.
// CHECK-LABEL: func.func @no_number_per_row(
func.func @no_number_per_row(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[C:.*]] = graph.subtract %x, %mean
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %rows = graph.full 2.0 : tensor<4x1xf32>
  %scaled = graph.multiply %rows, %centred : (tensor<4x1xf32>, tensor<4x8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %y : tensor<4x8xf32>
}

/// One after the other; both share the deviation.
// CHECK-LABEL: func.func @twice(
func.func @twice(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: %[[Z:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %[[Y]], %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: func.return %[[Z]]
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %centred : (tensor<8xf32>, tensor<4x8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  %centred2 = graph.subtract %y, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled2 = graph.multiply %gamma, %centred2 : (tensor<8xf32>, tensor<4x8xf32>)
  %quotient2 = graph.divide %scaled2, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %z = graph.add %quotient2, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %z : tensor<4x8xf32>
}

/// Only the first of the two is one.
// CHECK-LABEL: func.func @partly(
func.func @partly(%x: tensor<4x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[EPS:.*]] = graph.full
  // CHECK-NEXT: %[[SUM:.*]] = graph.add %var, %[[EPS]]
  // CHECK-NEXT: %[[DEVIATION:.*]] = graph.sqrt %[[SUM]]
  // CHECK-NEXT: %[[Y:.*]], %{{.*}}, %{{.*}} = graph.batch_norm %x, %gamma, %beta, %mean, %var, epsilon = {{.*}} :
  // CHECK-NEXT: graph.subtract %[[Y]], %mean
  %centred = graph.subtract %x, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled = graph.multiply %gamma, %centred : (tensor<8xf32>, tensor<4x8xf32>)
  %eps = graph.full 1.0e-05 : tensor<f32>
  %sum = graph.add %var, %eps : (tensor<8xf32>, tensor<f32>)
  %deviation = graph.sqrt %sum : (tensor<8xf32>)
  %quotient = graph.divide %scaled, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %y = graph.add %quotient, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  %centred2 = graph.subtract %y, %mean : (tensor<4x8xf32>, tensor<8xf32>)
  %scaled2 = graph.multiply %gamma, %centred2 : (tensor<8xf32>, tensor<4x8xf32>)
  %quotient2 = graph.divide %scaled2, %deviation : (tensor<4x8xf32>, tensor<8xf32>)
  %z = graph.subtract %quotient2, %beta : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %z : tensor<4x8xf32>
}
