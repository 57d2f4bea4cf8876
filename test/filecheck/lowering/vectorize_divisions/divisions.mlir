// RUN: stepwell-opt %s -p 'vectorize-divisions{wide=true}' | filecheck %s
// RUN: stepwell-opt %s -p 'vectorize-divisions{wide=false}' | filecheck %s --check-prefix=NARROW

// CHECK-LABEL: @checked
func.func @checked(%a: memref<40xi32>, %b: memref<40xi32>, %out: memref<40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 40 : index
  %zero = arith.constant 0 : i32
  %minus = arith.constant -1 : i32
  %one = arith.constant 1 : i32
  // CHECK: %[[TRUE:.*]] = arith.constant true
  // CHECK-NEXT: %[[ALL:.*]] = scf.for {{.*}} iter_args(%[[SO_FAR:.*]] = %[[TRUE]]) -> (i1)
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<40xi32>
    %y = memref.load %b[%i] : memref<40xi32>
    %ok = arith.cmpi ne, %y, %zero : i32
    // CHECK-NOT: cf.assert
    cf.assert %ok, "division by zero"
    %none = arith.cmpi eq, %y, %zero : i32
    %less = arith.cmpi eq, %y, %minus : i32
    %bad = arith.ori %none, %less : i1
    %safe = arith.select %bad, %one, %y : i32
    // CHECK: %[[X:.*]] = arith.sitofp {{.*}} : i32 to f64
    // CHECK-NEXT: %[[Y:.*]] = arith.sitofp {{.*}} : i32 to f64
    // CHECK-NEXT: %[[Q:.*]] = arith.divf %[[X]], %[[Y]] : f64
    // CHECK-NEXT: arith.fptosi %[[Q]] : f64 to i32
    %q = arith.divsi %x, %safe : i32
    memref.store %q, %out[%i] : memref<40xi32>
    // CHECK: %[[NEXT:.*]] = arith.andi %[[SO_FAR]]
    // CHECK-NEXT: scf.yield %[[NEXT]] : i1
  }
  // CHECK-NEXT: } {stepwell.loop = "vectorize"}
  // CHECK-NEXT: cf.assert %[[ALL]], "division by zero"
  func.return
}

// CHECK-LABEL: @long
// NARROW-LABEL: @long
func.func @long(%a: memref<40xi64>, %b: memref<40xi64>, %out: memref<40xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 40 : index
  %zero = arith.constant 0 : i64
  %minus = arith.constant -1 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<40xi64>
    %y = memref.load %b[%i] : memref<40xi64>
    %none = arith.cmpi eq, %y, %zero : i64
    %less = arith.cmpi eq, %y, %minus : i64
    %bad = arith.ori %none, %less : i1
    %safe = arith.select %bad, %one, %y : i64
    // CHECK-NOT: arith.remsi
    // CHECK-COUNT-2: arith.divf {{.*}} : f64
    // CHECK-NOT: arith.remsi
    // NARROW: arith.remsi
    %r = arith.remsi %x, %safe : i64
    memref.store %r, %out[%i] : memref<40xi64>
  }
  func.return
}

// CHECK-LABEL: @no_division_of_places
func.func @no_division_of_places(%a: memref<40xi32>, %b: memref<40xi32>, %out: memref<40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 40 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<40xi32>
    %place = arith.index_cast %x : i32 to index
    %inside = arith.cmpi ult, %place, %n : index
    // CHECK: cf.assert
    cf.assert %inside, "out of range"
    %y = memref.load %b[%place] : memref<40xi32>
    %none = arith.cmpi eq, %y, %zero : i32
    %safe = arith.select %none, %one, %y : i32
    // CHECK: arith.divui
    %q = arith.divui %x, %safe : i32
    memref.store %q, %out[%i] : memref<40xi32>
  }
  func.return
}

// CHECK-LABEL: @no_constant_divisor
func.func @no_constant_divisor(%a: memref<40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 40 : index
  %seven = arith.constant 7 : i32
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<40xi32>
    // CHECK: arith.divsi
    %q = arith.divsi %x, %seven : i32
    memref.store %q, %a[%i] : memref<40xi32>
  }
  func.return
}
