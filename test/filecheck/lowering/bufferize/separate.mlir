// RUN: stepwell-opt %s -p 'bufferize{separate=true}' | filecheck %s
// RUN: stepwell-opt %s -p 'bufferize{separate=true},to-llvm' | filecheck %s --check-prefix LLVM
// RUN: stepwell-opt %s -p 'bufferize{separate=true in-place=false}' | filecheck %s --check-prefix APART

/// No arena: each buffer is a block of the heap, which is freed at the end of the block of ops that it is made in.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stepwell.role = "arena"
// CHECK: %a = memref.alloc() {stepwell.separate} : memref<5xf32>
// CHECK-NEXT: tensor_loop.call @exp(%x) outs(%a)
// CHECK: scf.if
// CHECK: %b = memref.alloc() {stepwell.separate} : memref<5xf32>
// CHECK: memref.dealloc %b
// CHECK: memref.dealloc %a
// CHECK-NEXT: func.return

/// The block has exactly the 20 bytes of the buffer, and LLVM is not told how it is aligned.
// LLVM: %[[BYTES:.*]] = llvm.mlir.constant(20) : i64
// LLVM: %[[STATUS:.*]] = llvm.call @posix_memalign(%[[SLOT:.*]], %{{.*}}, %[[BYTES]])
// LLVM: llvm.icmp "ne" %[[STATUS]]
// LLVM: llvm.load %[[SLOT]]
// LLVM: llvm.call @free

// APART-COUNT-3: memref.alloc() {stepwell.separate}
func.func @main(%x: tensor<5xf32>, %c: tensor<i1>) -> tensor<5xf32> {
  %a = graph.call_kernel @exp(%x) : (tensor<5xf32>) -> tensor<5xf32>
  %condition = tensor.extract %c[] : tensor<i1>
  %r = scf.if %condition -> (tensor<5xf32>) {
    %b = graph.call_kernel @exp(%a) : (tensor<5xf32>) -> tensor<5xf32>
    %d = graph.call_kernel @exp(%b) : (tensor<5xf32>) -> tensor<5xf32>
    scf.yield %d : tensor<5xf32>
  } else {
    scf.yield %a : tensor<5xf32>
  }
  func.return %r : tensor<5xf32>
}
tensor_loop.func private @exp(%A: memref<5xf32>) outs(%B: memref<5xf32>) {
  tensor_loop.for %i in 5 {
    tensor_loop.block "exp" spatial(%vi in 5 = %i) reads(%A[%vi]) writes(%B[%vi]) {
      %0 = memref.load %A[%vi] : memref<5xf32>
      %1 = math.exp %0 : f32
      memref.store %1, %B[%vi] : memref<5xf32>
    }
  }
}
