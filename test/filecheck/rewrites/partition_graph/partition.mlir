// RUN: stepwell-opt %s -p 'partition-graph' | filecheck %s
// RUN: stepwell-opt %s -p 'partition-graph,partition-graph' | filecheck %s
// RUN: stepwell-opt %s -p 'partition-graph{bind-constants}' | filecheck %s --check-prefix=BIND
// RUN: stepwell-opt %s -p 'partition-graph' --remarks 2>&1 | filecheck %s --check-prefix=REMARK

/// The second op of the region comes after its use of %2 is known: the call stands behind %2, and the op that uses a
/// result of the region moves behind the call.
// CHECK-LABEL: func.func @several_results(
// CHECK-NEXT: %[[SIN:.*]] = graph.sin %y
// CHECK-NEXT: %[[A:.*]], %[[S:.*]] = func.call @dsp_several_results_0(%x, %[[SIN]]) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[T:.*]] = graph.tanh %[[A]]
// CHECK-NEXT: func.return %[[T]], %[[S]], %[[S]], %[[A]] :
func.func @several_results(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.tanh %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.sin %y : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.add %0, %2 {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1, %3, %3, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

/// A value used twice is one parameter. Constants are parameters, or copied in.
// CHECK-LABEL: func.func @parameters(
// CHECK: %[[K:.*]] = graph.full
// CHECK-NEXT: func.call @dsp_parameters_0(%x, %[[K]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// BIND-LABEL: func.func @parameters(
// BIND-NEXT: func.call @dsp_parameters_0(%x) : (tensor<4xf32>) -> tensor<4xf32>
// BIND-NEXT: func.return
func.func @parameters(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.full 2.0 : tensor<4xf32>
  %0 = graph.multiply %x, %x {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.add %0, %k {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Ops without a region are one each; targets and functions with odd names make clean symbols.
// CHECK-LABEL: func.func @"odd/name"(
// CHECK-NEXT: %[[A:.*]] = func.call @d_p_odd_name_0(%x)
// CHECK-NEXT: %[[B:.*]] = func.call @d_p_odd_name_1(%[[A]])
// CHECK-NEXT: func.return %[[B]]
func.func @"odd/name"(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "d+p"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.abs %0 {graph.target = "d+p"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_use(
// CHECK-NEXT: graph.abs %x {graph.target = "dsp"}
// CHECK-NEXT: func.return %x
// REMARK: remark: 'graph.abs': left alone: nothing of its region is used
func.func @no_use(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}

/// A branch has its functions; ops inside a branch use results of a region around it.
// CHECK-LABEL: func.func @branch(
// CHECK-NEXT: %[[A:.*]] = func.call @dsp_branch_0(%x)
// CHECK-NEXT: scf.if
// CHECK-NEXT: func.call @dsp_branch_1(%[[A]])
func.func @branch(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.abs %x {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = scf.if %c -> (tensor<4xf32>) {
    %2 = graph.relu %0 {graph.target = "dsp", graph.region = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %1 : tensor<4xf32>
}

// CHECK: func.func private @dsp_several_results_0(%x: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.primitive, graph.compiler = "dsp"} {
// CHECK-NEXT: %[[A:.*]] = graph.abs %x : (
// CHECK-NEXT: %[[S:.*]] = graph.add %[[A]], %{{[a-z0-9]*}} : (
// CHECK-NEXT: func.return %[[A]], %[[S]] :
// BIND: func.func private @dsp_parameters_0(%x: tensor<4xf32>)
// BIND-NEXT: graph.full 2.0
