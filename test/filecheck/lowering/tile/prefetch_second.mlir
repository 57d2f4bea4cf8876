// RUN: stepwell-opt %s -p lower-to-llvm-dialect -t llvm-ir | filecheck %s

// A line of 64 bytes holds 16 f32; nothing is promised about the address.
// CHECK-LABEL: define void @ahead
// CHECK: %[[N:.*]] = getelementptr float, ptr %{{.*}}, i64
// CHECK-NEXT: %[[M:.*]] = getelementptr float, ptr %[[N]], i32 192
// CHECK-NEXT: call void @llvm.prefetch.p0(ptr %[[M]], i32 0, i32 2, i32 1)
// CHECK-NEXT: %[[L:.*]] = getelementptr float, ptr %[[N]], i32 208
// CHECK-NEXT: call void @llvm.prefetch.p0(ptr %[[L]], i32 0, i32 2, i32 1)
func.func @ahead(%b: memref<4x48xf32>, %p: index, %k: index) {
  tile.prefetch %b[%p, %k] ahead 192 count 32 second : memref<4x48xf32>
  func.return
}
