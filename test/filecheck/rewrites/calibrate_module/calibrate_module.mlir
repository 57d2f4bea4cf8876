// RUN: stepwell-opt %s -p 'calibrate-map,calibrate-module' | filecheck %s
// RUN: stepwell-opt %s -p 'calibrate-map,calibrate-module' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: stepwell-opt %s -p 'calibrate-map' | filecheck %s --check-prefix=MAP
// RUN: stepwell-opt %s -p 'calibrate-map{entry=weighted},calibrate-module{entry=weighted}' | filecheck %s --check-prefix=ENTRY
// RUN: not stepwell-opt %s -p 'calibrate-module{entry=mian}' 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not stepwell-opt %s -p 'calibrate-map{multi=all}' 2>&1 | filecheck %s --check-prefix=MULTI

// MISSING: error: calibrate-module: there is no function @mian, did you mean 'main'?; the module has @main, @weighted, @halves
// MULTI: error: calibrate-map: multi is 'all', expected one of error, list

/// Arguments, then results, call by call; what main returned is gone. The first function has two results, so that the
/// data of the second starts at 3: result types count, not how the body returns them.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK-SAME: attributes {graph.calibration_map = {halves = array<i64: 0, 1, 2>, sum = array<i64: 3, 2, 1>, unused = array<i64: 6, 1, 1>}} {
// CHECK-NEXT: %[[LOW:.*]], %[[HIGH:.*]] = func.call @halves(%x)
// CHECK-NEXT: %[[T:.*]] = graph.tanh %[[HIGH]]
// CHECK-NEXT: %[[S:.*]] = func.call @sum(%[[LOW]], %[[T]])
// CHECK-NEXT: %{{.*}} = func.call @plain(%[[S]])
// CHECK-NEXT: %[[U:.*]] = func.call @unused(%[[S]])
// CHECK-NEXT: func.return %x, %[[LOW]], %[[HIGH]], %[[LOW]], %[[T]], %[[S]], %[[S]], %[[U]] :
// MAP-LABEL: func.func @main(
// MAP-SAME: -> tensor<4xf32> attributes {graph.calibration_map = {halves = array<i64: 0, 1, 2>, sum = array<i64: 3, 2, 1>, unused = array<i64: 6, 1, 1>}} {
// REMARK: calibrate_module.mlir:{{[0-9]+}}:3: remark: 'func.call': no result of this call of @unused is used; it is recorded all the same
func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %low, %high = func.call @halves(%x) : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %t = graph.tanh %high : (tensor<4xf32>) -> tensor<4xf32>
  %s = func.call @sum(%low, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = func.call @plain(%s) : (tensor<4xf32>) -> tensor<4xf32>
  %u = func.call @unused(%s) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %p : tensor<4xf32>
}

/// Another entry is left alone, unless it is asked for; then its signature follows, and attributes of results go.
// CHECK-LABEL: func.func @weighted(%x: tensor<4xf32> {stepwell.name = "input"}) -> (tensor<4xf32> {stepwell.name = "output"})
// CHECK-SAME: attributes {stepwell.signature = (tensor<4xf32>) -> tensor<4xf32>} {
// CHECK: func.return %{{.*}} : tensor<4xf32>
// ENTRY-LABEL: func.func @main({{.*}}) -> tensor<4xf32> {
// ENTRY-LABEL: func.func @weighted(%x: tensor<4xf32> {stepwell.name = "input"}) -> (tensor<4xf32>, tensor<4xf32>)
// ENTRY-SAME: attributes {stepwell.signature = (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>), graph.calibration_map = {unused = array<i64: 0, 1, 1>}} {
// ENTRY: %[[R:.*]] = func.call @unused(%x)
// ENTRY-NEXT: graph.relu
// ENTRY-NEXT: func.return %x, %[[R]] :
func.func @weighted(%x: tensor<4xf32> {stepwell.name = "input"}) -> (tensor<4xf32> {stepwell.name = "output"})
    attributes {stepwell.signature = (tensor<4xf32>) -> tensor<4xf32>} {
  %0 = func.call @unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}

/// Functions keep their bodies and lose the name of the compiler; the map pass leaves it.
// CHECK-LABEL: func.func private @halves(
// CHECK-SAME: attributes {graph.primitive} {
// MAP-LABEL: func.func private @halves(
// MAP-SAME: attributes {graph.primitive, graph.compiler = "npu"} {
func.func private @halves(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {graph.primitive, graph.compiler = "npu"} {
  %0, %1 = graph.split %x, sections = 2, axis = 0 : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: attributes {graph.primitive} {
func.func private @sum(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive, graph.compiler = "npu"} {
  %0 = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

/// Not made for a compiler: not recorded, however often it is called.
func.func private @plain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.primitive} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.compiler = "npu"} {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
