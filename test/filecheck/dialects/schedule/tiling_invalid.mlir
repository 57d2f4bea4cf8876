// RUN: %invalid

// CHECK: a tiling needs 'columns'
"test.op"() {tiling = #schedule.tiling<rows = 4>} : () -> ()

// -----
// CHECK: // -----

// CHECK: a tiling has no 'colums'; did you mean 'columns'?
"test.op"() {tiling = #schedule.tiling<rows = 4, colums = 16>} : () -> ()

// -----
// CHECK: // -----

// CHECK: a tiling has no 'x'; expected one of rows, columns, packed, parts, panels, panels_outside
"test.op"() {tiling = #schedule.tiling<x>} : () -> ()

// -----
// CHECK: // -----

// CHECK: 'rows' is given twice
"test.op"() {tiling = #schedule.tiling<rows = 4, rows = 5>} : () -> ()

// -----
// CHECK: // -----

// CHECK: parts = 0, expected at least 1
"test.op"() {tiling = #schedule.tiling<rows = 4, columns = 16, parts = 0>} : () -> ()
