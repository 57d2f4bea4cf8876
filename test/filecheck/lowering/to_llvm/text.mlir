// RUN: stepwell-opt %s -t llvm-ir | filecheck %s
// RUN: stepwell-opt %s -t 'llvm-ir{target_cpu="skylake"}' | filecheck %s --check-prefix=CPU

// CHECK: @s = internal constant [3 x i8] c"hi\00", align 16
llvm.mlir.global internal constant @s("hi\00") {alignment = 16 : i64, addr_space = 0 : i32} : !llvm.array<3 x i8>

// CHECK: define bfloat @f(ptr noalias align 64 %p.[[P:[0-9]+]], bfloat %x.[[X:[0-9]+]]) noinline {
// CPU: define bfloat @f({{.*}}) noinline "target-cpu"="skylake" {
llvm.func @f(%p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64}, %x: bf16) -> bf16 attributes {no_inline} {
  // CHECK: b0:
  // CHECK-NEXT: br label %b1
  %c0 = llvm.mlir.constant(0) : i64
  %c1 = llvm.mlir.constant(1) : i64
  %k = llvm.mlir.constant(1.5 : bf16) : bf16
  llvm.br ^loop(%c0 : i64)
^loop(%i: i64):
  // CHECK-NEXT: b1:
  // CHECK-NEXT: %i.[[I:[0-9]+]] = phi i64 [ 0, %b0 ], [ %n.[[N:[0-9]+]], %b1 ]
  // CHECK-NEXT: %a.[[A:[0-9]+]] = getelementptr inbounds bfloat, ptr %p.[[P]], i64 %i.[[I]]
  // CHECK-NEXT: store bfloat 0xR3FC0, ptr %a.[[A]], align 2
  // CHECK-NEXT: %n.[[N]] = add nsw i64 %i.[[I]], 1
  // CHECK-NEXT: %m.[[M:[0-9]+]] = icmp slt i64 %n.[[N]], 1
  // CHECK-NEXT: br i1 %m.[[M]], label %b1, label %b2, !llvm.loop !1
  %a = llvm.getelementptr inbounds %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  llvm.store %k, %a {alignment = 2 : i64} : bf16, !llvm.ptr
  %n = llvm.add %i, %c1 overflow<nsw> : i64
  %m = llvm.icmp "slt" %n, %c1 : i64
  llvm.cond_br %m, ^loop(%n : i64), ^done {stepwell.loop = "no-unroll"}
^done:
  // CHECK-NEXT: b2:
  // CHECK-NEXT: ret bfloat %x.[[X]]
  llvm.return %x : bf16
}
// CHECK: !0 = !{!"llvm.loop.unroll.disable"}
// CHECK-NEXT: !1 = distinct !{!1, !0}
