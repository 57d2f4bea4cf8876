// RUN: stepwell-opt %s | filecheck %s
// RUN: stepwell-opt %s -t equations | filecheck %s --check-prefix=EQUATION
// RUN: stepwell-opt %s -t equations | stepwell-opt | filecheck %s

// EQUATION: pattern.rule "turned" doc "rows become columns" : unordered block(spatial %c in 64, spatial %r, %others... each spatial) {%y[%to...] = %x[%from...]} as %b => decide(%b, my.turned = true, my.rows = extent(%r) / 4) because "tiles are turned" where extent(%c) >= extent(%r)
// CHECK-LABEL: pattern.rule "turned"
pattern.rule "turned" doc "rows become columns" {
  // CHECK-NEXT: %c = pattern.axis spatial in 64
  // CHECK-NEXT: %r = pattern.axis spatial
  // CHECK-NEXT: %[[E:.*]] = pattern.axis spatial
  // CHECK-NEXT: %others = pattern.rest each %[[E]]
  %c = pattern.axis spatial in 64
  %r = pattern.axis spatial
  %0 = pattern.axis spatial
  %others = pattern.rest each %0
  // CHECK: pattern.op "memref.load"(%x, %from)
  // CHECK: %[[S:.*]] = pattern.op "memref.store"
  %y = pattern.any
  %to = pattern.rest
  %x = pattern.any
  %from = pattern.rest
  %load = pattern.op "memref.load"(%x, %from)
  %store = pattern.op "memref.store"(%load, %y, %to)
  // CHECK-NEXT: %[[B:.*]] = pattern.block unordered(%c, %r, %others) of %[[S]]
  %b = pattern.block unordered (%c, %r, %others) of %store
  // CHECK: pattern.compute "extent($0) / 4"(%r)
  %rows = pattern.compute "extent($0) / 4"(%r)
  pattern.require "compare"(%c, %r) with {formula = "extent($0) >= extent($1)"}
  // CHECK: pattern.decide %[[B]] with {my.turned = true} set ["my.rows"](%{{.*}}) because "tiles are turned"
  pattern.decide %b with {my.turned = true} set ["my.rows"](%rows) because "tiles are turned"
}

// EQUATION: pattern.rule "all" doc "loops in a loop function" : kernel(%x, %buffers...) {%before..., nest(serial %i in 4, parallel %j) {block(%axes..., block_name = "sum") {%stores...} as %b}} => decide(%b, my.mark = 1) because "the last", decide(%root, my.mark = 2) because "all"
// CHECK-LABEL: pattern.rule "all"
pattern.rule "all" doc "loops in a loop function" {
  // CHECK: %[[B:.*]] = pattern.block(%axes) of %stores with {block_name = "sum"}
  // CHECK: %[[N:.*]] = pattern.nest(%i, %j) of %[[B]]
  // CHECK: %root = pattern.kernel(%x, %buffers) of %before, %[[N]]
  %x = pattern.any
  %buffers = pattern.rest
  %before = pattern.rest
  %i = pattern.axis serial in 4
  %j = pattern.axis parallel
  %axes = pattern.rest
  %stores = pattern.rest
  %b = pattern.block(%axes) of %stores with {block_name = "sum"}
  %n = pattern.nest(%i, %j) of %b
  %root = pattern.kernel(%x, %buffers) of %before, %n
  // CHECK: pattern.decide %[[B]] with {my.mark = 1 : i64} because "the last"
  // CHECK-NEXT: pattern.decide %root with {my.mark = 2 : i64} because "all"
  pattern.decide %b with {my.mark = 1} because "the last"
  pattern.decide %root with {my.mark = 2} because "all"
}
