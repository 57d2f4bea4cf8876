// RUN: stepwell-opt %s | stepwell-opt | filecheck %s
// RUN: stepwell-opt %s --print-op-generic | stepwell-opt | filecheck %s

// CHECK-LABEL: @ops
llvm.func @ops(%x: f32, %v: vector<4xf32>, %i: i32, %p: !llvm.ptr, %m: vector<4xi1>) -> i32 {
  // CHECK: llvm_ext.fptosi %{{.*}} : f32 to i32
  %a = llvm_ext.fptosi %x : f32 to i32
  // CHECK-NEXT: llvm_ext.fptoui %{{.*}} : vector<4xf32> to vector<4xi8>
  %b = llvm_ext.fptoui %v : vector<4xf32> to vector<4xi8>
  // CHECK-NEXT: llvm_ext.uitofp %{{.*}} : i32 to bf16
  %c = llvm_ext.uitofp %i : i32 to bf16
  // CHECK-NEXT: llvm_ext.sitofp %{{.*}} : i32 to f64
  %c2 = llvm_ext.sitofp %i : i32 to f64
  // CHECK-NEXT: llvm_ext.saturate %{{.*}}, %{{.*}} : vector<4xf32>, vector<4xf32> to vector<4xi8>, vector<4xi8>
  %c3, %c4 = llvm_ext.saturate %v, %v : vector<4xf32>, vector<4xf32> to vector<4xi8>, vector<4xi8>
  // CHECK-NEXT: llvm_ext.saturate %{{.*}} unsigned : f32 to i16
  %c5 = llvm_ext.saturate %x unsigned : f32 to i16
  // CHECK-NEXT: llvm_ext.fcmp "olt" %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  %d = llvm_ext.fcmp "olt" %v, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>
  // CHECK-NEXT: llvm_ext.select %{{.*}} : vector<4xi1>, vector<4xf32>
  %e = llvm_ext.select %d, %v, %v : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: llvm_ext.extractelement %{{.*}}[%{{.*}} : i32] : vector<4xf32>
  %f = llvm_ext.extractelement %v[%i : i32] : vector<4xf32>
  // CHECK-NEXT: llvm_ext.freeze %{{.*}} : f32
  %g = llvm_ext.freeze %f : f32
  // CHECK-NEXT: llvm_ext.poison : vector<4xf32>
  %h = llvm_ext.poison : vector<4xf32>
  // CHECK-NEXT: llvm_ext.atomicrmw %{{.*}}, %{{.*}} {alignment = 4 : i64, kind = "add", ordering = "monotonic"} : i32
  %j = llvm_ext.atomicrmw %p, %i {alignment = 4 : i64, kind = "add", ordering = "monotonic"} : i32
  // CHECK-NEXT: llvm_ext.masked_load %{{.*}} {alignment = 4 : i64} : vector<4xi1>, vector<4xf32>
  %k = llvm_ext.masked_load %p, %m, %v {alignment = 4 : i64} : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: llvm_ext.masked_store %{{.*}} {alignment = 4 : i64} : vector<4xi1>, vector<4xf32>
  llvm_ext.masked_store %k, %p, %m {alignment = 4 : i64} : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: llvm_ext.switch %{{.*}} : i32, default ^[[A:.*]](%{{.*}} : i32), [0: ^[[B:.*]], -1: ^[[A]](%{{.*}} : i32)] {mine.x}
  llvm_ext.switch %i : i32, default ^bb1(%a : i32), [0: ^bb2, -1: ^bb1(%i : i32)] {mine.x}
^bb1(%q: i32):
  llvm.return %q : i32
^bb2:
  // CHECK: llvm_ext.switch %{{.*}} : i32, default ^{{.*}}, []
  llvm_ext.switch %i : i32, default ^bb3, []
^bb3:
  llvm.return %i : i32
}
