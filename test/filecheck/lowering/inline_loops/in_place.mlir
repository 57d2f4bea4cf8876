// RUN: stepwell-opt %s -p inline-loops --split-input-file | filecheck %s
// RUN: stepwell-opt %s -p inline-loops,inline-loops --split-input-file | filecheck %s

/// Legal: the last reader is elementwise and nobody else touches the output before.
// CHECK-LABEL: @in_place
// CHECK-NOT: tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%O[%vi])
// CHECK: tensor_loop.block "scale" {{.*}} reads(%O[{{.*}}]) writes(%O[{{.*}}])
tensor_loop.func @in_place(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The last reader loads elsewhere than it stores.
// CHECK-LABEL: @no_other_index
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_other_index(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %c3 = arith.constant 3 : index
      %r = arith.subi %c3, %vi : index
      %t = memref.load %T[%r] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Something reads the temporary after %O is written: it may live in the output of that reader, not in %O.
// CHECK-LABEL: @no_reader_after
// CHECK: tensor_loop.block "sum" {{.*}} writes(%P[%vi])
// CHECK: tensor_loop.block "scale" {{.*}} reads(%P[{{.*}}]) writes(%O[
// CHECK: tensor_loop.block "copy" {{.*}} reads(%P[{{.*}}]) writes(%P[
tensor_loop.func @no_reader_after(%A: memref<4x8xf32>) outs(%O: memref<4xf32>, %P: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "copy" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      memref.store %t, %P[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The output is written before.
// CHECK-LABEL: @no_output_written_before
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_output_written_before(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "fill" spatial(%vi in 4 = %i) {
      %z = arith.constant 1.0 : f32
      memref.store %z, %O[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The last reader also reads the output.
// CHECK-LABEL: @no_output_read_by_last
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_output_read_by_last(%A: memref<4x8xf32>) outs(%O: memref<4xf32> {stepwell.in_place}) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %o = memref.load %O[%vi] : memref<4xf32>
      %s = arith.mulf %t, %o : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The last reader stores twice.
// CHECK-LABEL: @no_two_stores
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_two_stores(%A: memref<4x8xf32>) outs(%O: memref<4xf32>, %P: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
      memref.store %s, %P[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Another element type.
// CHECK-LABEL: @no_other_type
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_other_type(%A: memref<4x8xf32>) outs(%O: memref<4xf64>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.extf %t : f32 to f64
      memref.store %s, %O[%vi] : memref<4xf64>
    }
  }
}

// -----

/// The temporary is loaded after the store.
// CHECK-LABEL: @no_load_after_store
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_load_after_store(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %c = arith.constant 1.0 : f32
      memref.store %c, %O[%vi] : memref<4xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %z = arith.constant 0.0 : f32
      %ok = arith.cmpf ogt, %t, %z : f32
      cf.assert %ok, "negative"
    }
  }
}

// -----

/// Every element is visited twice: in place it would be squared twice.
// CHECK-LABEL: @no_point_twice
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_point_twice(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i, %j) in (4, 2) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Another reader in the same loop, at another index.
// CHECK-LABEL: @no_reader_beside
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_reader_beside(%A: memref<4x8xf32>) outs(%O: memref<4xf32>, %P: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.for %i in 4 {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
    tensor_loop.block "mirror" spatial(%vi in 4 = %i) {
      %c3 = arith.constant 3 : index
      %r = arith.subi %c3, %vi : index
      %t = memref.load %T[%r] : memref<4xf32>
      memref.store %t, %P[%vi] : memref<4xf32>
    }
  }
}

// -----

/// Another block of the same loop writes the output, ahead of the reader.
// CHECK-LABEL: @no_writer_beside
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_writer_beside(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.for %i in 4 {
    tensor_loop.block "clear" spatial(%vi in 4 = %i) {
      %z = arith.constant 0.0 : f32
      %c3 = arith.constant 3 : index
      %r = arith.subi %c3, %vi : index
      memref.store %z, %O[%r] : memref<4xf32>
    }
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}

// -----

/// The output is seen through a view.
// CHECK-LABEL: @no_view_of_output
// CHECK: %[[T:.*]] = tensor_loop.alloc
// CHECK: tensor_loop.block "sum" {{.*}} writes(%[[T]][%vi{{.*}}])
tensor_loop.func @no_view_of_output(%A: memref<4x8xf32>) outs(%O: memref<4xf32>) {
  %T = tensor_loop.alloc : memref<4xf32>
  %V = "memref.cast"(%O) : (memref<4xf32>) -> memref<4xf32>
  tensor_loop.grid (%i, %k) in (4, 8) {
    tensor_loop.block "sum" spatial(%vi in 4 = %i) reduce(%vk in 8 = %k) {
      init {
        %z = arith.constant 0.0 : f32
        memref.store %z, %T[%vi] : memref<4xf32>
      }
      %a = memref.load %A[%vi, %vk] : memref<4x8xf32>
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.addf %t, %a : f32
      memref.store %s, %T[%vi] : memref<4xf32>
    }
  }
  tensor_loop.grid (%i) in (4) {
    tensor_loop.block "scale" spatial(%vi in 4 = %i) {
      %t = memref.load %T[%vi] : memref<4xf32>
      %s = arith.mulf %t, %t : f32
      memref.store %s, %O[%vi] : memref<4xf32>
    }
  }
}
