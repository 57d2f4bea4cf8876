// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="one-of-two"}' | filecheck %s --check-prefix=ONE-OF-TWO
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="layout"}' | filecheck %s --check-prefix=LAYOUT
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="kernel"}' | filecheck %s --check-prefix=KERNEL
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="kind"}' | filecheck %s --check-prefix=KIND
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="perhaps-relu"}' | filecheck %s --check-prefix=PERHAPS-RELU
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="shape-of-result"}' | filecheck %s --check-prefix=SHAPE-OF-RESULT
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="type-of-elements"}' | filecheck %s --check-prefix=TYPE-OF-ELEMENTS
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="three-parts"}' | filecheck %s --check-prefix=THREE-PARTS
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="all-parts"}' | filecheck %s --check-prefix=ALL-PARTS
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="first-result"}' | filecheck %s --check-prefix=FIRST-RESULT
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="known-weights"}' | filecheck %s --check-prefix=KNOWN-WEIGHTS
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="zero"}' | filecheck %s --check-prefix=ZERO
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="smaller"}' | filecheck %s --check-prefix=SMALLER
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="call-of-sum"}' | filecheck %s --check-prefix=CALL-OF-SUM
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="call-of-any-sum"}' | filecheck %s --check-prefix=CALL-OF-ANY-SUM
// RUN: stepwell-opt %s -p 'partition-pattern{file="%S/rules/matches.mlir" rules="call-of-composite"}' | filecheck %s --check-prefix=CALL-OF-COMPOSITE

// The values that match.py asks for. Each rule of rules/matches.mlir makes functions of what it matches.

// ONE-OF-TWO: %sum = func.call @partitioned{{[0-9]+}}(%x, %y)
// ONE-OF-TWO: %difference = func.call @partitioned{{[0-9]+}}(%sum, %y)
// ONE-OF-TWO: %sum = func.call @partitioned{{[0-9]+}}(%product, %b)
// ONE-OF-TWO: %total = func.call @partitioned{{[0-9]+}}(%x, %y)
// ONE-OF-TWO: %rest = func.call @partitioned{{[0-9]+}}(%x, %y)
// ONE-OF-TWO: %moved = func.call @partitioned{{[0-9]+}}(%scaled, %z)
// ONE-OF-TWO: %above = func.call @partitioned{{[0-9]+}}(%square, %y)
// ONE-OF-TWO: %nothing = func.call @partitioned{{[0-9]+}}(%x, %zero)
// ONE-OF-TWO: %little = func.call @partitioned{{[0-9]+}}(%x, %negative_zero)
// ONE-OF-TWO: %integer = func.call @partitioned{{[0-9]+}}(%n, %zero_integer)
// ONE-OF-TWO-NOT: func.call @partitioned
// ONE-OF-TWO: graph.partitioned_from = "subtract_"

// LAYOUT: %conv_nhwc = func.call @partitioned{{[0-9]+}}(%last, %w)
// LAYOUT-NOT: func.call @partitioned
// LAYOUT: graph.partitioned_from = "conv2d_"

// KERNEL: %pointwise = func.call @partitioned{{[0-9]+}}(%active, %w1)
// KERNEL-NOT: func.call @partitioned
// KERNEL: graph.partitioned_from = "conv2d_"

// KIND: %product = func.call @partitioned{{[0-9]+}}(%difference, %y)
// KIND: %scaled = func.call @partitioned{{[0-9]+}}(%x, %y)
// KIND: %square = func.call @partitioned{{[0-9]+}}(%x)
// KIND-NOT: func.call @partitioned
// KIND: graph.partitioned_from = "multiply_"

// PERHAPS-RELU: %active = func.call @partitioned{{[0-9]+}}(%x, %w, %b)
// PERHAPS-RELU: %fixed = func.call @partitioned{{[0-9]+}}(%x, %known, %b)
// PERHAPS-RELU-NOT: func.call @partitioned
// PERHAPS-RELU: graph.partitioned_from = "conv2d_bias_add_"

// SHAPE-OF-RESULT: %large = func.call @partitioned{{[0-9]+}}(%x, %w)
// SHAPE-OF-RESULT-NOT: func.call @partitioned
// SHAPE-OF-RESULT: graph.partitioned_from = "conv2d_relu_"

// TYPE-OF-ELEMENTS: %integer = func.call @partitioned{{[0-9]+}}(%n, %zero_integer)
// TYPE-OF-ELEMENTS-NOT: func.call @partitioned
// TYPE-OF-ELEMENTS: graph.partitioned_from = "add_"

// THREE-PARTS: %three = func.call @partitioned{{[0-9]+}}(%x, %y, %z)
// THREE-PARTS-NOT: func.call @partitioned
// THREE-PARTS: graph.partitioned_from = "concat_"

// ALL-PARTS: %three = func.call @partitioned{{[0-9]+}}(%x, %y, %z)
// ALL-PARTS: %four = func.call @partitioned{{[0-9]+}}(%x, %y, %z)
// ALL-PARTS-NOT: func.call @partitioned
// ALL-PARTS: graph.partitioned_from = "concat_"

// FIRST-RESULT: %only = func.call @partitioned{{[0-9]+}}(%x, %gamma, %beta, %mean, %var)
// FIRST-RESULT-NOT: func.call @partitioned
// FIRST-RESULT: graph.partitioned_from = "batch_norm_relu_"

// KNOWN-WEIGHTS: %fixed = func.call @partitioned{{[0-9]+}}(%x, %b)
// KNOWN-WEIGHTS-NOT: func.call @partitioned
// KNOWN-WEIGHTS: graph.partitioned_from = "conv2d_bias_add_"

// ZERO: %nothing = func.call @partitioned{{[0-9]+}}(%x)
// ZERO: %integer = func.call @partitioned{{[0-9]+}}(%n)
// ZERO-NOT: func.call @partitioned
// ZERO: graph.partitioned_from = "add_"

// SMALLER: %least = func.call @partitioned{{[0-9]+}}(%x, %y)
// SMALLER-NOT: func.call @partitioned
// SMALLER: graph.partitioned_from = "less_tensor.extract_scf.if_"

// CALL-OF-SUM: %summed = func.call @partitioned{{[0-9]+}}(%x, %y)
// CALL-OF-SUM-NOT: func.call @partitioned
// CALL-OF-SUM: graph.partitioned_from = "func.call_"

// CALL-OF-ANY-SUM: %summed = func.call @partitioned{{[0-9]+}}(%x, %y)
// CALL-OF-ANY-SUM: %blended = func.call @partitioned{{[0-9]+}}(%summed, %reduced, %y)
// CALL-OF-ANY-SUM: %last = func.call @partitioned{{[0-9]+}}(%blended, %y)
// CALL-OF-ANY-SUM-NOT: func.call @partitioned
// CALL-OF-ANY-SUM: graph.partitioned_from = "func.call_"

// CALL-OF-COMPOSITE: %summed = func.call @partitioned{{[0-9]+}}(%x, %y)
// CALL-OF-COMPOSITE-NOT: func.call @partitioned
// CALL-OF-COMPOSITE: graph.partitioned_from = "func.call_"

func.func @arithmetic(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sum = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>)
  %difference = graph.subtract %sum, %y : (tensor<4xf32>, tensor<4xf32>)
  %product = graph.multiply %difference, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %product : tensor<4xf32>
}

func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %product = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %sum = graph.add %product, %b : (tensor<4x8xf32>, tensor<8xf32>)
  func.return %sum : tensor<4x8xf32>
}

func.func @images(%x: tensor<1x3x28x28xf32>, %last: tensor<1x28x28x3xf32>, %w: tensor<32x3x3x3xf32>, %w1: tensor<32x32x1x1xf32>, %b: tensor<32xf32>) -> (tensor<1x32x28x28xf32>, tensor<1x26x26x32xf32>, tensor<1x32x13x13xf32>, tensor<1x32x26x26xf32>, tensor<1x32x26x26xf32>) {
  %conv = graph.conv2d %x, %w : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>)
  %biased = graph.bias_add %conv, %b : (tensor<1x32x26x26xf32>, tensor<32xf32>)
  %active = graph.relu %biased : (tensor<1x32x26x26xf32>)
  %pointwise = graph.conv2d %active, %w1 : (tensor<1x32x26x26xf32>, tensor<32x32x1x1xf32>)
  %small = graph.relu %pointwise : (tensor<1x32x26x26xf32>)
  %padded = graph.conv2d %x, %w, padding = [1, 1, 1, 1] : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>)
  %large = graph.relu %padded : (tensor<1x32x28x28xf32>)
  %conv_nhwc = graph.conv2d %last, %w, data_layout = "NHWC" : (tensor<1x28x28x3xf32>, tensor<32x3x3x3xf32>)
  %strided = graph.conv2d %x, %w, strides = [2, 2] : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>)
  %known = graph.full 0.5 : tensor<32x3x3x3xf32>
  %product = graph.conv2d %x, %known : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>)
  %fixed = graph.bias_add %product, %b : (tensor<1x32x26x26xf32>, tensor<32xf32>)
  func.return %large, %conv_nhwc, %strided, %small, %fixed : tensor<1x32x28x28xf32>, tensor<1x26x26x32xf32>, tensor<1x32x13x13xf32>, tensor<1x32x26x26xf32>, tensor<1x32x26x26xf32>
}

func.func @types(%x: tensor<10x10xf32>, %n: tensor<10x10xi32>, %row: tensor<1x10xf32>) {
  func.return
}

func.func @parts(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<12xf32>, tensor<16xf32>) {
  %three = graph.concat %x, %y, %z : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %four = graph.concat %x, %y, %z, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %three, %four : tensor<12xf32>, tensor<16xf32>
}

func.func @normalised(%x: tensor<1x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> (tensor<1x8xf32>, tensor<8xf32>) {
  %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var : (tensor<1x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %first = graph.relu %y : (tensor<1x8xf32>)
  %second = graph.relu %m : (tensor<8xf32>)
  func.return %first, %second : tensor<1x8xf32>, tensor<8xf32>
}

func.func private @plus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {composite = "add"} {
  %total = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %total : tensor<4xf32>
}

func.func private @minus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %rest = graph.subtract %x, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %rest : tensor<4xf32>
}

func.func private @three(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %scaled = graph.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>)
  %moved = graph.add %scaled, %z : (tensor<4xf32>, tensor<4xf32>)
  func.return %moved : tensor<4xf32>
}

func.func private @square_plus(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %square = graph.multiply %x, %x : (tensor<4xf32>, tensor<4xf32>)
  %above = graph.add %square, %y : (tensor<4xf32>, tensor<4xf32>)
  func.return %above : tensor<4xf32>
}

func.func @calls(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %summed = func.call @plus(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %reduced = func.call @minus(%summed, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %blended = func.call @three(%summed, %reduced, %y) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %last = func.call @square_plus(%blended, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %last : tensor<4xf32>
}

func.func @zeros(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %zero = graph.full 0.0 : tensor<4xf32>
  %nothing = graph.add %x, %zero : (tensor<4xf32>, tensor<4xf32>)
  %negative_zero = graph.full -0.0 : tensor<4xf32>
  %little = graph.add %x, %negative_zero : (tensor<4xf32>, tensor<4xf32>)
  %zero_integer = graph.full 0 : tensor<i32>
  %integer = graph.add %n, %zero_integer : (tensor<4xi32>, tensor<i32>)
  func.return %nothing, %little, %integer : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

func.func @branches(%x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i1>) {
  %condition = graph.less %x, %y : (tensor<i32>, tensor<i32>)
  %other = graph.less %y, %x : (tensor<i32>, tensor<i32>)
  %bit = tensor.extract %condition[] : tensor<i1>
  %smaller = scf.if %bit -> (tensor<i32>) {
    scf.yield %x : tensor<i32>
  } else {
    scf.yield %y : tensor<i32>
  }
  %greater = scf.if %bit -> (tensor<i32>) {
    scf.yield %y : tensor<i32>
  } else {
    scf.yield %x : tensor<i32>
  }
  func.return %smaller, %greater, %other : tensor<i32>, tensor<i32>, tensor<i1>
}

func.func @one_branch(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %condition = graph.less %x, %y : (tensor<i32>, tensor<i32>)
  %bit = tensor.extract %condition[] : tensor<i1>
  %least = scf.if %bit -> (tensor<i32>) {
    scf.yield %x : tensor<i32>
  } else {
    scf.yield %y : tensor<i32>
  }
  func.return %least : tensor<i32>
}

func.func @one_result(%x: tensor<1x8xf32>, %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %mean: tensor<8xf32>, %var: tensor<8xf32>) -> tensor<1x8xf32> {
  %y, %m, %v = graph.batch_norm %x, %gamma, %beta, %mean, %var : (tensor<1x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %only = graph.relu %y : (tensor<1x8xf32>)
  func.return %only : tensor<1x8xf32>
}
