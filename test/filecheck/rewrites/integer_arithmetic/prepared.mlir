// RUN: stepwell-opt %s -p 'integer-arithmetic' | filecheck %s

/// Numbers of the caller are known at each call only, so nothing is gained by computing with them first.

/// The pass looks at programs with quantised tensors.
// CHECK-LABEL: func.func @quantised(
func.func @quantised(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4xi8> {
  %y = graph.quantize %x, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @no_scaled_sums_of_f(
// CHECK: %[[REAL:real]] = graph.add
// CHECK: graph.multiply %[[REAL]], %r
// CHECK-NEXT: func.return
func.func @no_scaled_sums_of_f(%sums: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %b = graph.weight "b" : tensor<4xf32>
  %r = graph.weight "r" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %real = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled_sums_of_b(
// CHECK: %[[REAL:real]] = graph.add
// CHECK: graph.multiply %[[REAL]], %r
// CHECK-NEXT: func.return
func.func @no_scaled_sums_of_b(%sums: tensor<4xi32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %f = graph.weight "f" : tensor<4xf32>
  %r = graph.weight "r" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %real = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled_sums_of_r(
// CHECK: %[[REAL:real]] = graph.add
// CHECK: graph.multiply %[[REAL]], %r
// CHECK-NEXT: func.return
func.func @no_scaled_sums_of_r(%sums: tensor<4xi32>, %r: tensor<4xf32>) -> tensor<4xf32> {
  %f = graph.weight "f" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %real = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled_products_of_f(
// CHECK: %[[REAL:real]] = graph.multiply %x, %f
// CHECK: graph.multiply %[[REAL]], %r
// CHECK-NEXT: func.return
func.func @no_scaled_products_of_f(%sums: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.weight "r" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %real = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_scaled_products_of_r(
// CHECK: %[[REAL:real]] = graph.multiply %x, %f
// CHECK: graph.multiply %[[REAL]], %r
// CHECK-NEXT: func.return
func.func @no_scaled_products_of_r(%sums: tensor<4xi32>, %r: tensor<4xf32>) -> tensor<4xf32> {
  %f = graph.weight "f" : tensor<4xf32>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %real = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.multiply %real, %r : (tensor<4xf32>, tensor<4xf32>)
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_requantised_sums_of_f(
// CHECK: %p = graph.multiply %x, %f
// CHECK: graph.requantize %p, %{{.*}}, %z : (tensor<4xf32>
func.func @no_requantised_sums_of_f(%sums: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xi8> {
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %p, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @no_requantised_sums_with_another_user(
// CHECK: %p = graph.multiply %x, %f
// CHECK: graph.requantize %p, %{{.*}}, %z : (tensor<4xf32>
func.func @no_requantised_sums_with_another_user(%sums: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi8>) {
  %f = graph.weight "f" : tensor<4xf32>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %p, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %p, %y : tensor<4xf32>, tensor<4xi8>
}

// CHECK-LABEL: func.func @no_scaled_offset_of_f(
// CHECK: %total = graph.add %p, %b
// CHECK: graph.requantize %total, %{{.*}}, %z : (tensor<4xf32>
func.func @no_scaled_offset_of_f(%sums: tensor<4xi32>, %f: tensor<4xf32>) -> tensor<4xi8> {
  %b = graph.weight "b" : tensor<4xf32>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %total = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %total, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @no_scaled_offset_of_b(
// CHECK: %total = graph.add %p, %b
// CHECK: graph.requantize %total, %{{.*}}, %z : (tensor<4xf32>
func.func @no_scaled_offset_of_b(%sums: tensor<4xi32>, %b: tensor<4xf32>) -> tensor<4xi8> {
  %f = graph.weight "f" : tensor<4xf32>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %total = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %total, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @no_scaled_offset_with_another_user_of_p(
// CHECK: %total = graph.add %p, %b
// CHECK: graph.requantize %total, %{{.*}}, %z : (tensor<4xf32>
func.func @no_scaled_offset_with_another_user_of_p(%sums: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi8>) {
  %f = graph.weight "f" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %total = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %total, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %p, %y : tensor<4xf32>, tensor<4xi8>
}

// CHECK-LABEL: func.func @no_scaled_offset_with_another_user_of_total(
// CHECK: %total = graph.add %p, %b
// CHECK: graph.requantize %total, %{{.*}}, %z : (tensor<4xf32>
func.func @no_scaled_offset_with_another_user_of_total(%sums: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi8>) {
  %f = graph.weight "f" : tensor<4xf32>
  %b = graph.weight "b" : tensor<4xf32>
  %s = graph.full 0.5 : tensor<f32>
  %z = graph.full 3 : tensor<i8>
  %x = graph.astype %sums, dtype = f32 : (tensor<4xi32>)
  %p = graph.multiply %x, %f : (tensor<4xf32>, tensor<4xf32>)
  %total = graph.add %p, %b : (tensor<4xf32>, tensor<4xf32>)
  %y = graph.quantize %total, %s, %z : (tensor<4xf32>, tensor<f32>, tensor<i8>)
  func.return %total, %y : tensor<4xf32>, tensor<4xi8>
}
