// RUN: stepwell-opt %s -p apply-fusion-plan | filecheck %s

/// Groups that differ only in a number share one function, and the number is its parameter. Both have a 0.5, which stays
/// a number in the function. One has its constant outside already.
// CHECK-LABEL: func.func @layers(
// CHECK-NEXT: %b = graph.constant dense<3.0> : tensor<f32>
// CHECK-NEXT: %a = graph.constant dense<2.0> : tensor<f32>
// CHECK-NEXT: %0 = func.call @fused_multiply_add_negative0(%x, %a) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %1 = func.call @fused_multiply_add_negative0(%0, %b) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: func.return %1
func.func @layers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 2.0 : tensor<f32>
  %b = graph.constant dense<3.0> : tensor<f32>
  %h = graph.full 0.5 : tensor<f32>
  %0 = graph.multiply %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.add %0, %h {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.negative %1 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.multiply %2, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.add %3, %h {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.negative %4 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %5 : tensor<4xf32>
}

/// A number that a group uses twice is one parameter, as in all groups like it. The same is true in prepare functions.
// CHECK-LABEL: func.func private @prepare_0(
// CHECK: func.call @fused_subtract_add0(%w, %{{.*}}) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
func.func private @prepare_0() -> tensor<4xi32> attributes {stepwell.prepare} {
  %w = graph.weight "w0" : tensor<4xi32>
  %z = graph.full 7 : tensor<i32>
  %0 = graph.subtract %w, %z {graph.group = 0 : i64} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = graph.add %z, %0 {graph.group = 0 : i64} : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %1 : tensor<4xi32>
}

// CHECK-LABEL: func.func private @prepare_1(
// CHECK: func.call @fused_subtract_add0(%w, %{{.*}}) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
func.func private @prepare_1() -> tensor<4xi32> attributes {stepwell.prepare} {
  %w = graph.weight "w1" : tensor<4xi32>
  %z = graph.full 9 : tensor<i32>
  %0 = graph.subtract %w, %z {graph.group = 0 : i64} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = graph.add %z, %0 {graph.group = 0 : i64} : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %1 : tensor<4xi32>
}

/// Multipliers and zero points of layers are parameters too.
// CHECK-LABEL: func.func @requantised(
// CHECK: func.call @fused_requantize_negative0(%x, %{{.*}}, %{{.*}}) : (tensor<4xi32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
// CHECK: func.call @fused_requantize_negative0(%x, %{{.*}}, %{{.*}}) : (tensor<4xi32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
func.func @requantised(%x: tensor<4xi32>) -> (tensor<4xi8>, tensor<4xi8>) {
  %a = graph.full 0.5 : tensor<f32>
  %b = graph.full 0.25 : tensor<f32>
  %y = graph.full 3 : tensor<i8>
  %z = graph.full 4 : tensor<i8>
  %0 = graph.requantize %x, %a, %y {graph.group = 0 : i64} : (tensor<4xi32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xi8>) -> tensor<4xi8>
  %2 = graph.requantize %x, %b, %z {graph.group = 1 : i64} : (tensor<4xi32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %3 = graph.negative %2 {graph.group = 1 : i64} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %1, %3 : tensor<4xi8>, tensor<4xi8>
}

/// Two numbers that are equal by chance are two parameters, as in the group where they differ.
// CHECK-LABEL: func.func @equal_by_chance(
// CHECK: func.call @fused_multiply_add_sqrt0(%x, %{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
// CHECK: func.call @fused_multiply_add_sqrt0(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
func.func @equal_by_chance(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<2.0> : tensor<f32>
  %b = graph.constant dense<3.0> : tensor<f32>
  %c = graph.constant dense<4.0> : tensor<f32>
  %0 = graph.multiply %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.add %0, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.sqrt %1 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.multiply %2, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.add %3, %c {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.sqrt %4 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %5 : tensor<4xf32>
}

/// The zeros are two numbers.
// CHECK-LABEL: func.func @zeros(
// CHECK: func.call @fused_add_abs0(%x, %{{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: func.call @fused_add_abs0(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func @zeros(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 0.0 : tensor<f32>
  %b = graph.full -0.0 : tensor<f32>
  %0 = graph.add %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.abs %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %1, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.abs %2 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// A divisor may be worth a special case, so it stays a number.
// CHECK-LABEL: func.func @no_divisors(
// CHECK-NEXT: func.call @fused_divide_negative0(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.call @fused_divide_negative1(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
func.func @no_divisors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 3.0 : tensor<f32>
  %b = graph.full 5.0 : tensor<f32>
  %0 = graph.divide %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.negative %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.divide %1, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.negative %2 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// A number is a parameter where it is added, and stays one in the same group where it is a bound.
// CHECK-LABEL: func.func @one_of_two_uses(
// CHECK: func.call @fused_clip_minimum_add0(%x, %{{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: func.call @fused_clip_minimum_add0(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func @one_of_two_uses(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 3.0 : tensor<f32>
  %b = graph.full 5.0 : tensor<f32>
  %0 = graph.clip %x, min = 0.0, max = 9.0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.minimum %0, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.add %1, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.clip %2, min = 0.0, max = 9.0 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.minimum %3, %a {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.add %4, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %5 : tensor<4xf32>
}

/// Constants with dimensions are copied.
// CHECK-LABEL: func.func @no_tensors(
// CHECK-NEXT: func.call @fused_multiply_exp0(%x) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: func.call @fused_multiply_exp1(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
func.func @no_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 3.0 : tensor<4xf32>
  %b = graph.full 5.0 : tensor<4xf32>
  %0 = graph.multiply %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.multiply %1, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.exp %2 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// Nothing is like this group, so its number is part of the arithmetic.
// CHECK-LABEL: func.func @no_others(
// CHECK-NEXT: func.call @fused_multiply_sin0(%x) : (tensor<4xf32>) -> tensor<4xf32>
func.func @no_others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = graph.full 3.0 : tensor<f32>
  %0 = graph.multiply %x, %s {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.sin %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Parameters are also the scales and zero points of conversions.
// CHECK-LABEL: func.func @conversions(
// CHECK: func.call @fused_quantize_dequantize0(%x, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>, tensor<i8>, tensor<f32>) -> tensor<4xf32>
// CHECK: func.call @fused_quantize_dequantize0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>, tensor<i8>, tensor<f32>) -> tensor<4xf32>
func.func @conversions(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 2.0 : tensor<f32>
  %b = graph.full 3.0 : tensor<f32>
  %t = graph.full 5.0 : tensor<f32>
  %y = graph.full 7 : tensor<i8>
  %z = graph.full 0 : tensor<i8>
  %0 = graph.quantize %x, %a, %y {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %1 = graph.dequantize %0, %t, %y {graph.group = 0 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  %2 = graph.quantize %1, %b, %z {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  %3 = graph.dequantize %2, %a, %z {graph.group = 1 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i8>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// Groups of two functions have the same numbers outside: each number is one constant, before the first group.
// CHECK-LABEL: func.func @shared_numbers(
// CHECK-NEXT: %b = graph.constant dense<4.0> : tensor<f32>
// CHECK-NEXT: %a = graph.constant dense<3.0> : tensor<f32>
// CHECK-NEXT: %0 = func.call @fused_multiply_tanh0(%x, %a)
// CHECK-NEXT: %1 = func.call @fused_multiply_tanh0(%0, %b)
// CHECK-NEXT: %2 = func.call @fused_multiply_erf0(%1, %b)
// CHECK-NEXT: %3 = func.call @fused_multiply_erf0(%2, %a)
// CHECK-NEXT: func.return %3
func.func @shared_numbers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.full 3.0 : tensor<f32>
  %0 = graph.multiply %x, %a {graph.group = 0 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.tanh %0 {graph.group = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = graph.constant dense<4.0> : tensor<f32>
  %2 = graph.multiply %1, %b {graph.group = 1 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.tanh %2 {graph.group = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.constant dense<4.0> : tensor<f32>
  %4 = graph.multiply %3, %c {graph.group = 2 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = graph.erf %4 {graph.group = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.constant dense<3.0> : tensor<f32>
  %6 = graph.multiply %5, %d {graph.group = 3 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = graph.erf %6 {graph.group = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %7 : tensor<4xf32>
}

/// A number in one group, and a tensor in its place in the other: the groups have a function each.
// CHECK-LABEL: func.func @turns(
// CHECK: %[[FIRST:.*]] = func.call @fused_add_tanh0(%a) : (tensor<f32>) -> tensor<f32>
// CHECK: func.call @fused_add_tanh1(%[[FIRST]], %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
func.func @turns(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %start = graph.full 0.5 : tensor<f32>
  %0 = graph.add %start, %a {graph.group = 0 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = graph.tanh %0 {graph.group = 0 : i64} : (tensor<f32>) -> tensor<f32>
  %2 = graph.add %1, %b {graph.group = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = graph.tanh %2 {graph.group = 1 : i64} : (tensor<f32>) -> tensor<f32>
  func.return %3 : tensor<f32>
}

// CHECK-LABEL: func.func private @fused_multiply_add_negative0(%x: tensor<4xf32>, %a: tensor<f32>)
// CHECK-NEXT: %h = graph.full 0.5 : tensor<f32>
// CHECK-NEXT: %0 = graph.multiply %x, %a
// CHECK-NEXT: %1 = graph.add %0, %h
// CHECK-LABEL: func.func private @fused_subtract_add0(%w: tensor<4xi32>, %z: tensor<i32>)
// CHECK-NEXT: %0 = graph.subtract %w, %z
// CHECK-NEXT: %1 = graph.add %z, %0
// CHECK-LABEL: func.func private @fused_divide_negative1(
// CHECK-NEXT: graph.full 5.0 : tensor<f32>
// CHECK-LABEL: func.func private @fused_multiply_sin0(
// CHECK-NEXT: graph.full 3.0 : tensor<f32>
