// RUN: stepwell-opt %s --split-input-file --verify-diagnostics | stepwell-opt --split-input-file | filecheck %s

// CHECK-LABEL: @translate
func.func @translate(%x: vector<64xi8>, %t: vector<64xi8>) -> vector<64xi8> {
  // CHECK: %[[A:.*]] = tile.translate %x, %t, %t, %t, %t : vector<64xi8>
  // CHECK-NEXT: tile.translate permuted %[[A]], %t, %t, %t, %x : vector<64xi8>
  %a = tile.translate %x, %t, %t, %t, %t : vector<64xi8>
  %b = tile.translate permuted %a, %t, %t, %t, %x : vector<64xi8>
  func.return %b : vector<64xi8>
}

// -----

func.func @bytes(%x: vector<32xi8>) {
  // expected-error@+1 {{Expected attribute vector<64xi8> but got vector<32xi8>}}
  %a = tile.translate %x, %x, %x, %x, %x : vector<32xi8>
  func.return
}
