// RUN: not stepwell-opt %s -p lower-to-llvm-dialect -t 'asm{machine="aarch64-neon"}' 2>&1 | filecheck %s --check-prefix NONE
// RUN: stepwell-opt %s -p lower-to-llvm-dialect -t 'asm{machine="x86-64-v4"}' | filecheck %s

/// One instruction each, on all of a register and on what is left of a row.
// CHECK: vrangeps $2
// CHECK: vrangeps $5
// CHECK: vrangeps $4
// CHECK: vscalefps %zmm
// CHECK: vscalefps %zmm
// CHECK: vpermps {{.*}}%zmm
// CHECK: vperm{{[it]}}2ps {{.*}}%zmm
// NONE: error: the module has instructions of avx512f, which aarch64-neon does not have
// NONE-NEXT: hint: run the passes for that machine: --config target=aarch64-neon
func.func @f(%t: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %t[%c0] : memref<20xf32>, vector<1x20xf32>
  %b = tile.map(%x = %a) : (vector<1x20xf32>) -> vector<1x20xf32> {
    %bound = arith.constant 0.35 : f32
    %l = tile.limit %x, %bound : f32
    %g = tile.larger %l, %x : f32
    %h = tile.smaller %g, %x : f32
    %y = tile.scale %h, %x : f32
    %i = arith.bitcast %y : f32 to i32
    %u = tile.lookup %i, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0] : f32
    %v = tile.lookup %i, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5, 25.5, 26.5, 27.5, 28.5, 29.5, 30.5, 31.5] : f32
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %b, %t[%c0] along [-1, 0] : vector<1x20xf32>, memref<20xf32>
  func.return
}
