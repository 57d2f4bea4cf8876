// RUN: %invalid

// CHECK: #schedule.depthwise needs 'pixels'
"test.op"() {tiling = #schedule.depthwise<rows = 4>} : () -> ()

// -----
// CHECK: // -----

// CHECK: #schedule.depthwise has no 'pixel'; did you mean 'pixels'?
"test.op"() {tiling = #schedule.depthwise<rows = 4, pixel = 16>} : () -> ()

// -----
// CHECK: // -----

// CHECK: #schedule.winograd has no 'x'; expected one of images, rows, tile_rows, tile_columns
"test.op"() {tiling = #schedule.winograd<x = 4>} : () -> ()

// -----
// CHECK: // -----

// CHECK: 'rows' is given twice
"test.op"() {tiling = #schedule.depthwise<rows = 4, rows = 16>} : () -> ()

// -----
// CHECK: // -----

// CHECK: rows = 0, expected at least 1
"test.op"() {tiling = #schedule.depthwise<rows = 0, pixels = 1>} : () -> ()
