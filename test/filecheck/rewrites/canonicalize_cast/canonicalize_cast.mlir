// RUN: stepwell-opt %s -p 'canonicalize-cast' | filecheck %s
// RUN: stepwell-opt %s -p 'canonicalize-cast,canonicalize-cast' | filecheck %s

/// Each user reads the narrow tensor by itself.
// CHECK-LABEL: func.func @each_user_its_own(
func.func @each_user_its_own(%x: tensor<8xi8>, %a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[W]], %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[W_1:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[T:.*]] = graph.add %b, %[[W_1]] : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: func.return %[[S]], %[[T]] : tensor<8xi32>, tensor<8xi32>
  %w = graph.astype %x, dtype = i32 : (tensor<8xi8>)
  %s = graph.add %w, %a : (tensor<8xi32>, tensor<8xi32>)
  %t = graph.add %b, %w : (tensor<8xi32>, tensor<8xi32>)
  func.return %s, %t : tensor<8xi32>, tensor<8xi32>
}

/// The returned value keeps the old conversion; a user with the value on both sides has one.
// CHECK-LABEL: func.func @others_keep_the_old_one(
func.func @others_keep_the_old_one(%x: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = f32 : (tensor<8xf16>) -> tensor<8xf32>
  // CHECK-NEXT: %[[W_1:.*]] = graph.astype %x, dtype = f32 : (tensor<8xf16>) -> tensor<8xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.multiply %[[W_1]], %[[W_1]] : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: func.return %[[W]], %[[S]] : tensor<8xf32>, tensor<8xf32>
  %w = graph.astype %x, dtype = f32 : (tensor<8xf16>)
  %s = graph.multiply %w, %w : (tensor<8xf32>, tensor<8xf32>)
  func.return %w, %s : tensor<8xf32>, tensor<8xf32>
}

/// One user.
// CHECK-LABEL: func.func @no_single_user(
func.func @no_single_user(%x: tensor<8xi8>, %a: tensor<8xi32>) -> tensor<8xi32> {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[W]], %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: func.return %[[S]] : tensor<8xi32>
  %w = graph.astype %x, dtype = i32 : (tensor<8xi8>)
  %s = graph.add %w, %a : (tensor<8xi32>, tensor<8xi32>)
  func.return %s : tensor<8xi32>
}

/// The wide tensor is the operand, so that sharing the result reads less.
// CHECK-LABEL: func.func @no_narrowing(
func.func @no_narrowing(%x: tensor<8xi32>, %a: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = i8 : (tensor<8xi32>) -> tensor<8xi8>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[W]], %a : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  // CHECK-NEXT: %[[T:.*]] = graph.subtract %[[W]], %a : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  // CHECK-NEXT: func.return %[[S]], %[[T]] : tensor<8xi8>, tensor<8xi8>
  %w = graph.astype %x, dtype = i8 : (tensor<8xi32>)
  %s = graph.add %w, %a : (tensor<8xi8>, tensor<8xi8>)
  %t = graph.subtract %w, %a : (tensor<8xi8>, tensor<8xi8>)
  func.return %s, %t : tensor<8xi8>, tensor<8xi8>
}

/// As many bytes.
// CHECK-LABEL: func.func @no_same_width(
func.func @no_same_width(%x: tensor<8xi32>, %a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = f32 : (tensor<8xi32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[S:.*]] = graph.add %[[W]], %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[T:.*]] = graph.subtract %[[W]], %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: func.return %[[S]], %[[T]] : tensor<8xf32>, tensor<8xf32>
  %w = graph.astype %x, dtype = f32 : (tensor<8xi32>)
  %s = graph.add %w, %a : (tensor<8xf32>, tensor<8xf32>)
  %t = graph.subtract %w, %a : (tensor<8xf32>, tensor<8xf32>)
  func.return %s, %t : tensor<8xf32>, tensor<8xf32>
}

/// Contractions read each element often: they share the wide tensor.
// CHECK-LABEL: func.func @no_contractions(
func.func @no_contractions(%x: tensor<4x4xi8>, %a: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = i32 : (tensor<4x4xi8>) -> tensor<4x4xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.matmul %[[W]], %a : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  // CHECK-NEXT: %[[T:.*]] = graph.matmul %a, %[[W]] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
  // CHECK-NEXT: func.return %[[S]], %[[T]] : tensor<4x4xi32>, tensor<4x4xi32>
  %w = graph.astype %x, dtype = i32 : (tensor<4x4xi8>)
  %s = graph.matmul %w, %a : (tensor<4x4xi32>, tensor<4x4xi32>)
  %t = graph.matmul %a, %w : (tensor<4x4xi32>, tensor<4x4xi32>)
  func.return %s, %t : tensor<4x4xi32>, tensor<4x4xi32>
}

/// Fused functions are as they are.
// CHECK-LABEL: func.func private @no_primitive(
func.func private @no_primitive(%x: tensor<8xi8>) -> (tensor<8xi32>, tensor<8xi32>) attributes {graph.primitive} {
  // CHECK-NEXT: %[[W:.*]] = graph.astype %x, dtype = i32 : (tensor<8xi8>) -> tensor<8xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.square %[[W]] : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[T:.*]] = graph.abs %[[W]] : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: func.return %[[S]], %[[T]] : tensor<8xi32>, tensor<8xi32>
  %w = graph.astype %x, dtype = i32 : (tensor<8xi8>)
  %s = graph.square %w : (tensor<8xi32>)
  %t = graph.abs %w : (tensor<8xi32>)
  func.return %s, %t : tensor<8xi32>, tensor<8xi32>
}

/// Of a chain each user gets the whole chain, and a second run finds nothing left to do.
// CHECK-LABEL: func.func @chains(
func.func @chains(%x: tensor<8xi8>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi16>) {
  // CHECK-NEXT: %[[V:.*]] = graph.astype %x, dtype = i16 : (tensor<8xi8>) -> tensor<8xi16>
  // CHECK-NEXT: %[[W:.*]] = graph.astype %[[V]], dtype = i32 : (tensor<8xi16>) -> tensor<8xi32>
  // CHECK-NEXT: %[[R:.*]] = graph.square %[[W]] : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[V_1:.*]] = graph.astype %x, dtype = i16 : (tensor<8xi8>) -> tensor<8xi16>
  // CHECK-NEXT: %[[W_1:.*]] = graph.astype %[[V_1]], dtype = i32 : (tensor<8xi16>) -> tensor<8xi32>
  // CHECK-NEXT: %[[S:.*]] = graph.abs %[[W_1]] : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: %[[V_2:.*]] = graph.astype %x, dtype = i16 : (tensor<8xi8>) -> tensor<8xi16>
  // CHECK-NEXT: %[[T:.*]] = graph.abs %[[V_2]] : (tensor<8xi16>) -> tensor<8xi16>
  // CHECK-NEXT: func.return %[[R]], %[[S]], %[[T]] : tensor<8xi32>, tensor<8xi32>, tensor<8xi16>
  %v = graph.astype %x, dtype = i16 : (tensor<8xi8>)
  %w = graph.astype %v, dtype = i32 : (tensor<8xi16>)
  %r = graph.square %w : (tensor<8xi32>)
  %s = graph.abs %w : (tensor<8xi32>)
  %t = graph.abs %v : (tensor<8xi16>)
  func.return %r, %s, %t : tensor<8xi32>, tensor<8xi32>, tensor<8xi16>
}
