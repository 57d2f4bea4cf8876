// RUN: stepwell-opt %s -p lower-to-llvm-dialect | filecheck %s

// A prepare function runs once, and so does what it alone calls, directly or not.
// CHECK: llvm.func internal @prepare_0({{.*}}passthrough = ["cold", "optsize"]
func.func private @prepare_0(%w: memref<4xf32> {stepwell.role = "weight", stepwell.key = "w"},
    %out: memref<4xf32> {stepwell.role = "output", stepwell.name = "result0"}) attributes {stepwell.prepare} {
  func.call @pack(%w, %out) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @both(%out) : (memref<4xf32>) -> ()
  return
}

// CHECK: llvm.func @_stepwell_entry_prepare_0({{.*}}passthrough = ["cold", "optsize"]

// CHECK: llvm.func internal @pack({{.*}}passthrough = ["noinline", "cold", "optsize"]
func.func private @pack(%a: memref<4xf32>, %b: memref<4xf32>) attributes {passthrough = ["noinline"]} {
  func.call @copy(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// CHECK: llvm.func internal @copy({{.*}}passthrough = ["cold", "optsize"]
func.func private @copy(%a: memref<4xf32>, %b: memref<4xf32>) {
  func.call @slow(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// LLVM takes no function that is to be small and left as it is at the same time.
// CHECK-LABEL: llvm.func internal @slow
// CHECK-NOT: optsize
func.func private @slow(%a: memref<4xf32>, %b: memref<4xf32>) attributes {passthrough = ["noinline", "optnone"]} {
  return
}

// @no_mark: what another function calls as well runs more often.
// CHECK-LABEL: llvm.func internal @both
// CHECK-NOT: optsize
func.func private @both(%a: memref<4xf32>) {
  return
}

func.func @main(%out: memref<4xf32> {stepwell.role = "output", stepwell.name = "result0"}) {
  func.call @both(%out) : (memref<4xf32>) -> ()
  return
}
