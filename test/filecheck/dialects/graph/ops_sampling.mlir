// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @resample
// GENERIC-LABEL: sym_name = "resample"
func.func @resample(%x: tensor<4x8xf16>, %i: tensor<15x2xi32>, %w: tensor<15x2xf32>) {
  // CHECK: graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf16>, tensor<15x2xi32>, tensor<15x2xf32>) -> tensor<4x15xf16>
  // GENERIC: "graph.resample"(%x, %i, %w) <{axis = 1 : i64}> : (tensor<4x8xf16>, tensor<15x2xi32>, tensor<15x2xf32>) -> tensor<4x15xf16>
  %y = graph.resample %x, %i, %w, axis = 1 : (tensor<4x8xf16>, tensor<15x2xi32>, tensor<15x2xf32>)
  func.return
}

// CHECK-LABEL: @resample_unknown
func.func @resample_unknown(%x: tensor<?x8xf32>, %i: tensor<?x2xi64>, %w: tensor<3x2xf32>) {
  // CHECK: -> tensor<3x8xf32>
  %y = graph.resample %x, %i, %w, axis = -2 : (tensor<?x8xf32>, tensor<?x2xi64>, tensor<3x2xf32>)
  func.return
}

// CHECK-LABEL: @sample
// GENERIC-LABEL: sym_name = "sample"
func.func @sample(%x: tensor<1x3x8x8xf32>, %p: tensor<1x5x7x2xf64>) {
  // CHECK: graph.sample %x, %p, mode = "cubic", padding = "symmetric" : (tensor<1x3x8x8xf32>, tensor<1x5x7x2xf64>) -> tensor<1x3x5x7xf32>
  // GENERIC: "graph.sample"(%x, %p) <{mode = "cubic", padding = "symmetric"}> : (tensor<1x3x8x8xf32>, tensor<1x5x7x2xf64>) -> tensor<1x3x5x7xf32>
  %y = graph.sample %x, %p, mode = "cubic", padding = "symmetric" : (tensor<1x3x8x8xf32>, tensor<1x5x7x2xf64>)
  func.return
}

// CHECK-LABEL: @sample_unknown
func.func @sample_unknown(%x: tensor<?x3x?xf32>, %p: tensor<2x?x1xf32>) {
  // CHECK: graph.sample %x, %p : (tensor<?x3x?xf32>, tensor<2x?x1xf32>) -> tensor<2x3x?xf32>
  %y = graph.sample %x, %p : (tensor<?x3x?xf32>, tensor<2x?x1xf32>)
  func.return
}

// CHECK-LABEL: @pool_regions
// GENERIC-LABEL: sym_name = "pool_regions"
func.func @pool_regions(%x: tensor<2x9x9x8xf32>, %i: tensor<5xi64>, %h: tensor<5x3x9xf32>, %w: tensor<5x2x9xf32>) {
  // CHECK: graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf32>
  // GENERIC: "graph.pool_regions"(%x, %i, %h, %w) <{reduction = "sum"}> :
  %y = graph.pool_regions %x, %i, %h, %w : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf32>
  // CHECK: graph.pool_regions %x, %i, %h, %w, reduction = "max" :
  // GENERIC: "graph.pool_regions"(%x, %i, %h, %w) <{reduction = "max"}> :
  %z = graph.pool_regions %x, %i, %h, %w, reduction = "max" : (tensor<2x9x9x8xf32>, tensor<5xi64>, tensor<5x3x9xf32>, tensor<5x2x9xf32>) -> tensor<5x3x2x8xf32>
  func.return
}
