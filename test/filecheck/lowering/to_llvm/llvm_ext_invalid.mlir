// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | filecheck %s

llvm.func @lanes(%x: vector<4xf32>) {
  // expected-error@+1 {{operand is vector<4xf32> but result is vector<8xi32>: lanes differ}}
  %0 = llvm_ext.fptosi %x : vector<4xf32> to vector<8xi32>
  llvm.return
}

// -----

llvm.func @kinds(%x: i32) {
  // expected-error@+1 {{converts a float to an integer type, found i32 to f32}}
  %0 = llvm_ext.fptoui %x : i32 to f32
  llvm.return
}

// -----

llvm.func @condition(%c: vector<2xi1>, %x: vector<4xf32>) {
  // expected-error@+1 {{condition is vector<2xi1> but result is vector<4xf32>}}
  %0 = llvm_ext.select %c, %x, %x : vector<2xi1>, vector<4xf32>
  llvm.return
}

// -----

llvm.func @predicate(%x: f32) {
  // expected-error@+1 {{unknown fcmp predicate 'less'}}
  %0 = llvm_ext.fcmp "less" %x, %x : f32
  llvm.return
}

// -----

llvm.func @atomic(%p: !llvm.ptr, %x: i32) {
  // expected-error@+1 {{kind is 'mul', expected one of xchg, add}}
  %0 = llvm_ext.atomicrmw %p, %x {alignment = 4 : i64, kind = "mul", ordering = "monotonic"} : i32
  llvm.return
}

// -----

llvm.func @alignment(%p: !llvm.ptr, %m: vector<4xi1>, %x: vector<4xf32>) {
  // expected-error@+1 {{alignment is 3, expected a power of two}}
  llvm_ext.masked_store %x, %p, %m {alignment = 3 : i64} : vector<4xi1>, vector<4xf32>
  llvm.return
}

// -----

llvm.func @cases(%x: i32) {
  // expected-error@+1 {{case values [1, 1] are not distinct}}
  llvm_ext.switch %x : i32, default ^a, [1: ^a, 1: ^a]
^a:
  llvm.return
}

// -----

llvm.func @saturate_wide(%x: f32) {
  // expected-error@+1 {{result is i32, expected integers of 2 to 16 bits}}
  %0 = llvm_ext.saturate %x : f32 to i32
  llvm.return
}

// -----

llvm.func @saturate_lanes(%x: vector<4xf32>) {
  // expected-error@+1 {{operand is vector<4xf32> but result is vector<8xi8>: lanes differ}}
  %0 = llvm_ext.saturate %x : vector<4xf32> to vector<8xi8>
  llvm.return
}

// -----

llvm.func @saturate_integers(%x: i32) {
  // expected-error@+1 {{converts a float to an integer type, found i32 to i8}}
  %0 = llvm_ext.saturate %x : i32 to i8
  llvm.return
}

// -----

llvm.func @saturate_types(%x: f32, %y: f64) {
  // expected-error@+1 {{expected one or more arguments of one type, and as many results of one type}}
  %0, %1 = llvm_ext.saturate %x, %y : f32, f64 to i8, i8
  llvm.return
}

// -----

// CHECK: llvm.func @valid
llvm.func @valid(%x: f32) {
  %0 = llvm_ext.freeze %x : f32
  llvm.return
}
