// RUN: stepwell-opt %s -p inline-loops | filecheck %s

/// A choice costs nothing by itself, but in each term of a product it would keep the product from register tiles.
// CHECK-LABEL: @no_choice_in_a_product(
// CHECK: tensor_loop.block "choice"
// CHECK: tensor_loop.block "product"
tensor_loop.func @no_choice_in_a_product(%x: memref<16x16xf32>, %m: memref<16x16xi8>, %w: memref<16x16xf32>) outs(%out: memref<16x16xf32>) {
  %t = tensor_loop.alloc : memref<16x16xf32>
  tensor_loop.grid (%i, %j) in (16, 16) {
    tensor_loop.block "choice" spatial(%vi in 16 = %i, %vj in 16 = %j) {
      %a = memref.load %x[%vi, %vj] : memref<16x16xf32>
      %z = arith.constant 0.0 : f32
      %g = memref.load %m[%vi, %vj] : memref<16x16xi8>
      %n = arith.trunci %g : i8 to i1
      %c = arith.select %n, %z, %a : f32
      memref.store %c, %t[%vi, %vj] : memref<16x16xf32>
    }
  }
  tensor_loop.grid (%i, %j, %k) in (16, 16, 16) {
    tensor_loop.block "product" spatial(%vi in 16 = %i, %vj in 16 = %j) reduce(%vk in 16 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %out[%vi, %vj] : memref<16x16xf32>
      }
      %a = memref.load %t[%vi, %vk] : memref<16x16xf32>
      %b = memref.load %w[%vk, %vj] : memref<16x16xf32>
      %c = memref.load %out[%vi, %vj] : memref<16x16xf32>
      %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
      %s = arith.addf %c, %p fastmath<reassoc,contract> : f32
      memref.store %s, %out[%vi, %vj] : memref<16x16xf32>
    }
  }
}
