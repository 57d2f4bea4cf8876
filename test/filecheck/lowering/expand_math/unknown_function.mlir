// RUN: not stepwell-opt %s -p 'expand-math{functions=sine}' 2>&1 | filecheck %s

// CHECK: expand-math has no function sine; did you mean 'sin'?
builtin.module {}
