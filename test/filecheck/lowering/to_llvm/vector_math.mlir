// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

/// An access has the alignment of its element where nothing more is known.
// CHECK-LABEL: @load_store
func.func @load_store(%m: memref<64xf32>, %i: index) {
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  %v = vector.load %m[%i] : memref<64xf32>, vector<16xf32>
  vector.store %v, %m[%i] : memref<64xf32>, vector<16xf32>
  func.return
}

// CHECK-LABEL: @broadcast_fma_reduce
func.func @broadcast_fma_reduce(%v: vector<8xf32>, %s: f32) -> f32 {
  // CHECK: %[[P:.*]] = llvm_ext.poison : vector<8xf32>
  // CHECK: %[[F:.*]] = llvm.insertelement %{{.*}}, %[[P]][%{{.*}} : i64] : vector<8xf32>
  // CHECK-NEXT: llvm.shufflevector %[[F]], %[[P]] [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
  // CHECK-NEXT: %[[R:.*]] = llvm.call_intrinsic "llvm.fma"
  // CHECK-NEXT: %[[Z:.*]] = llvm.mlir.constant(-0.000000e+00 : f32) : f32
  // CHECK-NEXT: llvm.call_intrinsic "llvm.vector.reduce.fadd"(%[[Z]], %[[R]]) {fastmathFlags = #llvm.fastmath<reassoc>}
  %b = vector.broadcast %s : f32 to vector<8xf32>
  %f = vector.fma %v, %b, %v : vector<8xf32>
  %r = vector.reduction <add>, %f fastmath<reassoc> : vector<8xf32> into f32
  func.return %r : f32
}

/// Under a mask the first element need not exist: the address is not inbounds.
// CHECK-LABEL: @masked
func.func @masked(%m: memref<64xf32>, %i: index, %n: index, %p: vector<8xf32>) {
  // CHECK: llvm.call_intrinsic "llvm.smax"
  // CHECK: llvm.call_intrinsic "llvm.smin"
  // CHECK: %[[MASK:.*]] = llvm.icmp "slt" %{{.*}} : vector<8xi32>
  // CHECK-NEXT: %[[A:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK-NEXT: %[[V:.*]] = llvm_ext.masked_load %[[A]], %[[MASK]], %{{.*}} {alignment = 4 : i64}
  // CHECK-NEXT: llvm_ext.masked_store %[[V]], %[[A]], %[[MASK]] {alignment = 4 : i64}
  %k = vector.create_mask %n : vector<8xi1>
  %v = vector.maskedload %m[%i], %k, %p : memref<64xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  vector.maskedstore %m[%i], %k, %v : memref<64xf32>, vector<8xi1>, vector<8xf32>
  func.return
}

/// Instructions and intrinsics stay; the rest calls libm.
// CHECK-LABEL: @math
func.func @math(%x: f32, %y: f64) -> (f32, f64) {
  // CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f32) -> f32
  // CHECK-NEXT: llvm.call_intrinsic "llvm.roundeven"
  // CHECK-NEXT: llvm.call @expf(%{{.*}}) : (f32) -> f32
  // CHECK-NEXT: llvm.call @pow(%{{.*}}) : (f64, f64) -> f64
  %0 = math.sqrt %x : f32
  %1 = math.roundeven %0 : f32
  %2 = math.exp %1 : f32
  %3 = math.powf %y, %y : f64
  func.return %2, %3 : f32, f64
}

// CHECK: llvm.func @expf(f32) -> f32
// CHECK: llvm.func @pow(f64, f64) -> f64
