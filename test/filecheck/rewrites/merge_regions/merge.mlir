// RUN: stepwell-opt %s -p 'merge-regions' | filecheck %s
// RUN: stepwell-opt %s -p 'merge-regions,merge-regions' | filecheck %s
// RUN: stepwell-opt %s -p 'merge-regions' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: graph.abs %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.relu %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.exp %{{.*}} {graph.target = "npu", graph.region = 1 : i64}
// CHECK-NEXT: graph.tanh %{{[a-z0-9]*}} : (
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 {graph.target = "dsp", graph.region = 7 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.exp %1 {graph.target = "npu"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.tanh %2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// Ops that share no value stay apart; one that joins two regions makes them one.
// CHECK-LABEL: func.func @joined(
// CHECK-NEXT: graph.abs %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.abs %y {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.abs %z {graph.target = "dsp", graph.region = 1 : i64}
// CHECK-NEXT: graph.add %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
func.func @joined(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.abs %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %y {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.abs %z {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.add %0, %1 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3, %2 : tensor<4xf32>, tensor<4xf32>
}

/// The diamond: the tanh outside lies between, so the sum cannot be in the region of abs.
// CHECK-LABEL: func.func @no_cycle(
// CHECK-NEXT: graph.abs %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.relu %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.add %{{.*}} {graph.target = "dsp", graph.region = 1 : i64}
// REMARK: remark: 'graph.add': not merged with a region of 'dsp': it would depend on itself
func.func @no_cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.add %1, %2 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %3 : tensor<4xf32>
}

/// Once %4 has joined the regions of %0 and %1, %5 may not join them: it depends on %1 through the two ops between.
// CHECK-LABEL: func.func @no_cycle_after_a_merge(
// CHECK: graph.exp %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.exp %y {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.sin
// CHECK-NEXT: graph.add %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.add %{{.*}} {graph.target = "dsp", graph.region = 1 : i64}
func.func @no_cycle_after_a_merge(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.exp %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.exp %y {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.sin %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.add %0, %1 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.add %0, %3 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4, %5 : tensor<4xf32>, tensor<4xf32>
}

/// Restrictions are transitive: when %m makes one region of those of %q0 and %q1, %d, which depends on %q1, depends on
/// what %q0 does: %p. So %u cannot join %p.
// CHECK-LABEL: func.func @no_cycle_through_merged_regions(
// CHECK: graph.exp %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK: graph.exp %e {graph.target = "dsp", graph.region = 1 : i64}
// CHECK: graph.exp %y {graph.target = "dsp", graph.region = 1 : i64}
// CHECK: graph.add %q0, %q1 {graph.target = "dsp", graph.region = 1 : i64}
// CHECK: graph.add %p, %d {graph.target = "dsp", graph.region = 2 : i64}
func.func @no_cycle_through_merged_regions(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = graph.exp %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.tanh %p : (tensor<4xf32>) -> tensor<4xf32>
  %q0 = graph.exp %e {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %q1 = graph.exp %y {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.sin %q1 : (tensor<4xf32>) -> tensor<4xf32>
  %m = graph.add %q0, %q1 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = graph.add %p, %d {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %m, %u : tensor<4xf32>, tensor<4xf32>
}

/// The same when %m joins the region of %q and brings a new dependence with it.
// CHECK-LABEL: func.func @no_cycle_through_a_region_that_grew(
// CHECK: graph.exp %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK: graph.exp %y {graph.target = "dsp", graph.region = 1 : i64}
// CHECK: graph.add %q, %e {graph.target = "dsp", graph.region = 1 : i64}
// CHECK: graph.add %p, %d {graph.target = "dsp", graph.region = 2 : i64}
func.func @no_cycle_through_a_region_that_grew(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %p = graph.exp %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.tanh %p : (tensor<4xf32>) -> tensor<4xf32>
  %q = graph.exp %y {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.sin %q : (tensor<4xf32>) -> tensor<4xf32>
  %m = graph.add %q, %e {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = graph.add %p, %d {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %m, %u : tensor<4xf32>, tensor<4xf32>
}

/// Each branch has regions of its own, and what a branch uses lies between for the block around it.
// CHECK-LABEL: func.func @no_merge_across_branches(
// CHECK-NEXT: graph.abs %x {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: scf.if
// CHECK-NEXT: graph.relu %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
// CHECK-NEXT: graph.abs %{{.*}} {graph.target = "dsp", graph.region = 0 : i64}
// CHECK: graph.add %{{.*}} {graph.target = "dsp", graph.region = 1 : i64}
func.func @no_merge_across_branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = graph.relu %0 {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = graph.abs %2 {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %3 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %4 = graph.add %0, %1 {graph.target = "dsp"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}
