// RUN: stepwell-opt --test-rules=%S/../stepwell_quaternion/rules.mlir --cases 8 | filecheck %s

// CHECK: ok    mul-of-two-negatives (exact): equal bit for bit
// CHECK: ok    mul-of-negative (rounding): equal but for rounding
// CHECK: no reference in NumPy: 'quaternion.mul' is computed by its te
