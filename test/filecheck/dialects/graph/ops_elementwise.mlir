// RUN: %roundtrip
// RUN: %generic

// CHECK-LABEL: @negative
// GENERIC-LABEL: sym_name = "negative"
func.func @negative(%x: tensor<4xf32>) {
  // CHECK: graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.negative %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @abs
// GENERIC-LABEL: sym_name = "abs"
func.func @abs(%x: tensor<4xf32>) {
  // CHECK: graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sign
// GENERIC-LABEL: sym_name = "sign"
func.func @sign(%x: tensor<4xf32>) {
  // CHECK: graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sign"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @square
// GENERIC-LABEL: sym_name = "square"
func.func @square(%x: tensor<4xf32>) {
  // CHECK: graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.square"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.square %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @exp
// GENERIC-LABEL: sym_name = "exp"
func.func @exp(%x: tensor<4xf32>) {
  // CHECK: graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @exp2
// GENERIC-LABEL: sym_name = "exp2"
func.func @exp2(%x: tensor<4xf32>) {
  // CHECK: graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.exp2"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.exp2 %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @expm1
// GENERIC-LABEL: sym_name = "expm1"
func.func @expm1(%x: tensor<4xf32>) {
  // CHECK: graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.expm1"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @log
// GENERIC-LABEL: sym_name = "log"
func.func @log(%x: tensor<4xf32>) {
  // CHECK: graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.log"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.log %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @log2
// GENERIC-LABEL: sym_name = "log2"
func.func @log2(%x: tensor<4xf32>) {
  // CHECK: graph.log2 %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.log2"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.log2 %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @log10
// GENERIC-LABEL: sym_name = "log10"
func.func @log10(%x: tensor<4xf32>) {
  // CHECK: graph.log10 %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.log10"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.log10 %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @log1p
// GENERIC-LABEL: sym_name = "log1p"
func.func @log1p(%x: tensor<4xf32>) {
  // CHECK: graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.log1p"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sqrt
// GENERIC-LABEL: sym_name = "sqrt"
func.func @sqrt(%x: tensor<4xf32>) {
  // CHECK: graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sqrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @rsqrt
// GENERIC-LABEL: sym_name = "rsqrt"
func.func @rsqrt(%x: tensor<4xf32>) {
  // CHECK: graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.rsqrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sin
// GENERIC-LABEL: sym_name = "sin"
func.func @sin(%x: tensor<4xf32>) {
  // CHECK: graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sin"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @cos
// GENERIC-LABEL: sym_name = "cos"
func.func @cos(%x: tensor<4xf32>) {
  // CHECK: graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.cos"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @tan
// GENERIC-LABEL: sym_name = "tan"
func.func @tan(%x: tensor<4xf32>) {
  // CHECK: graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.tan"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.tan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @tanh
// GENERIC-LABEL: sym_name = "tanh"
func.func @tanh(%x: tensor<4xf32>) {
  // CHECK: graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @erf
// GENERIC-LABEL: sym_name = "erf"
func.func @erf(%x: tensor<4xf32>) {
  // CHECK: graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.erf"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sigmoid
// GENERIC-LABEL: sym_name = "sigmoid"
func.func @sigmoid(%x: tensor<4xf32>) {
  // CHECK: graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.sigmoid"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @silu
// GENERIC-LABEL: sym_name = "silu"
func.func @silu(%x: tensor<4xf32>) {
  // CHECK: graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.silu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.silu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @gelu
// GENERIC-LABEL: sym_name = "gelu"
func.func @gelu(%x: tensor<4xf32>) {
  // CHECK: graph.gelu %x, approximate = "tanh" : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.gelu"(%x) <{approximate = "tanh"}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.gelu %x, approximate = "tanh" : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @gelu_1
// GENERIC-LABEL: sym_name = "gelu_1"
func.func @gelu_1(%x: tensor<f16>) {
  // CHECK: graph.gelu %x : (tensor<f16>) -> tensor<f16>
  // GENERIC: "graph.gelu"(%x) <{approximate = "none"}> : (tensor<f16>) -> tensor<f16>
  %y = graph.gelu %x, approximate = "none" : (tensor<f16>)
  func.return
}

// CHECK-LABEL: @relu
// GENERIC-LABEL: sym_name = "relu"
func.func @relu(%x: tensor<4xf32>) {
  // CHECK: graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @leaky_relu
// GENERIC-LABEL: sym_name = "leaky_relu"
func.func @leaky_relu(%x: tensor<4xf32>) {
  // CHECK: graph.leaky_relu %x, alpha = 0.2 : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.leaky_relu"(%x) <{alpha = 2.000000e-01 : f64}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.leaky_relu %x, alpha = 0.2 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @leaky_relu_1
// GENERIC-LABEL: sym_name = "leaky_relu_1"
func.func @leaky_relu_1(%x: tensor<4xf32>) {
  // CHECK: graph.leaky_relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.leaky_relu"(%x) <{alpha = 1.000000e-02 : f64}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.leaky_relu %x, alpha = 0.01 : (tensor<4xf32>)
  func.return
}

// CHECK-LABEL: @floor
// GENERIC-LABEL: sym_name = "floor"
func.func @floor(%x: tensor<4xf32>) {
  // CHECK: graph.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.floor"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @ceil
// GENERIC-LABEL: sym_name = "ceil"
func.func @ceil(%x: tensor<4xf32>) {
  // CHECK: graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.ceil"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.ceil %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @trunc
// GENERIC-LABEL: sym_name = "trunc"
func.func @trunc(%x: tensor<4xf32>) {
  // CHECK: graph.trunc %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.trunc"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.trunc %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @round
// GENERIC-LABEL: sym_name = "round"
func.func @round(%x: tensor<4xf32>) {
  // CHECK: graph.round %x : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.round"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.round %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @logical_not
// GENERIC-LABEL: sym_name = "logical_not"
func.func @logical_not(%x: tensor<4xi1>) {
  // CHECK: graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  // GENERIC: "graph.logical_not"(%x) : (tensor<4xi1>) -> tensor<4xi1>
  %y = graph.logical_not %x : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @bitwise_not
// GENERIC-LABEL: sym_name = "bitwise_not"
func.func @bitwise_not(%x: tensor<4xi8>) {
  // CHECK: graph.bitwise_not %x : (tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.bitwise_not"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  %y = graph.bitwise_not %x : (tensor<4xi8>) -> tensor<4xi8>
  func.return
}

// CHECK-LABEL: @isnan
// GENERIC-LABEL: sym_name = "isnan"
func.func @isnan(%x: tensor<4xf32>) {
  // CHECK: graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.isnan"(%x) : (tensor<4xf32>) -> tensor<4xi1>
  %y = graph.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @isinf
// GENERIC-LABEL: sym_name = "isinf"
func.func @isinf(%x: tensor<4xf32>) {
  // CHECK: graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.isinf"(%x) : (tensor<4xf32>) -> tensor<4xi1>
  %y = graph.isinf %x : (tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @isfinite
// GENERIC-LABEL: sym_name = "isfinite"
func.func @isfinite(%x: tensor<4xf32>) {
  // CHECK: graph.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
  // GENERIC: "graph.isfinite"(%x) : (tensor<4xf32>) -> tensor<4xi1>
  %y = graph.isfinite %x : (tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @clip
// GENERIC-LABEL: sym_name = "clip"
func.func @clip(%x: tensor<4xf32>) {
  // CHECK: graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.clip"(%x) <{min = 0.000000e+00 : f64, max = 6.000000e+00 : f64}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.clip %x, min = 0.0, max = 6.0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @clip_1
// GENERIC-LABEL: sym_name = "clip_1"
func.func @clip_1(%x: tensor<4xi8>) {
  // CHECK: graph.clip %x, max = 100 : (tensor<4xi8>) -> tensor<4xi8>
  // GENERIC: "graph.clip"(%x) <{max = 100 : i64}> : (tensor<4xi8>) -> tensor<4xi8>
  %y = graph.clip %x, max = 100 : (tensor<4xi8>)
  func.return
}

// CHECK-LABEL: @clip_2
// GENERIC-LABEL: sym_name = "clip_2"
func.func @clip_2(%x: tensor<4xf32>) {
  // CHECK: graph.clip %x, min = 0xFFF0000000000000, max = -0.0 : (tensor<4xf32>) -> tensor<4xf32>
  // GENERIC: "graph.clip"(%x) <{min = 0xfff0000000000000 : f64, max = -0.000000e+00 : f64}> : (tensor<4xf32>) -> tensor<4xf32>
  %y = graph.clip %x, min = 0xFFF0000000000000, max = -0.0 : (tensor<4xf32>)
  func.return
}

// CHECK-LABEL: @astype
// GENERIC-LABEL: sym_name = "astype"
func.func @astype(%x: tensor<4xf32>) {
  // CHECK: graph.astype %x, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  // GENERIC: "graph.astype"(%x) <{dtype = f16}> : (tensor<4xf32>) -> tensor<4xf16>
  %y = graph.astype %x, dtype = f16 : (tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// CHECK-LABEL: @astype_1
// GENERIC-LABEL: sym_name = "astype_1"
func.func @astype_1(%x: tensor<?xui8>) {
  // CHECK: graph.astype %x, dtype = i1 : (tensor<?xui8>) -> tensor<?xi1>
  // GENERIC: "graph.astype"(%x) <{dtype = i1}> : (tensor<?xui8>) -> tensor<?xi1>
  %y = graph.astype %x, dtype = i1 : (tensor<?xui8>)
  func.return
}

// CHECK-LABEL: @bitcast
// GENERIC-LABEL: sym_name = "bitcast"
func.func @bitcast(%x: tensor<?xui16>) {
  // CHECK: graph.bitcast %x, dtype = bf16 : (tensor<?xui16>) -> tensor<?xbf16>
  // GENERIC: "graph.bitcast"(%x) <{dtype = bf16}> : (tensor<?xui16>) -> tensor<?xbf16>
  %y = graph.bitcast %x, dtype = bf16 : (tensor<?xui16>)
  func.return
}
