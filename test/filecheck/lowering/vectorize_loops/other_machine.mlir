// RUN: not stepwell-opt %s -p lower-to-llvm-dialect -t 'asm{machine="aarch64-neon"}' 2>&1 | filecheck %s --check-prefix NONE
// RUN: stepwell-opt %s -p lower-to-llvm-dialect -t 'asm{machine="x86-64-v4"}' | filecheck %s

/// One instruction each, on all of a register and on what is left of a row.
// CHECK: vrangeps
// CHECK: vscalefps %zmm
// CHECK: vscalefps %zmm
// NONE: error: the module has instructions of AVX-512, which aarch64-neon does not have
// NONE-NEXT: hint: run the passes for that machine: --config target=aarch64-neon
func.func @f(%t: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %a = tile.load %t[%c0] : memref<20xf32>, vector<1x20xf32>
  %b = tile.map(%x = %a) : (vector<1x20xf32>) -> vector<1x20xf32> {
    %bound = arith.constant 0.35 : f32
    %l = tile.limit %x, %bound : f32
    %y = tile.scale %l, %x : f32
    tile.yield %y : f32
  }
  tile.store %b, %t[%c0] along [-1, 0] : vector<1x20xf32>, memref<20xf32>
  func.return
}
