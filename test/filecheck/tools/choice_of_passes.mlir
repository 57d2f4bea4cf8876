// RUN: stepwell-opt %s -p 'graph-optimize' --opt-level 0 --remarks 2>&1 | filecheck %s --check-prefix=LEVEL
// RUN: stepwell-opt %s -p 'graph-optimize' --opt-level 0 --require-pass simplify-expr | filecheck %s --check-prefix=REQUIRED
// RUN: stepwell-opt %s -p 'simplify-expr' --disable-pass simplify-expr --require-pass simplify-expr | filecheck %s --check-prefix=DISABLED
// RUN: stepwell-opt %s -p 'simplify-expr' | filecheck %s --check-prefix=REQUIRED
// RUN: stepwell-opt %s -p 'simplify-expr' --print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: stepwell-opt %s -p 'simplify-expr,simplify-expr' --print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: not stepwell-opt %s -p 'simplify-expr' --config simplify-expr.numeric=fast 2>&1 | filecheck %s --check-prefix=CONFIG

// LEVEL: remark: 'builtin.module': pass 'simplify-expr' skipped: level 1 is above opt level 0
// LEVEL: remark: 'builtin.module': pass 'plan-fusion' skipped: level 2 is above opt level 0
// LEVEL: [[ONE:%.+]] = graph.relu
// LEVEL-NEXT: graph.relu [[ONE]]

// REQUIRED: graph.relu
// REQUIRED-NOT: graph.relu
// REQUIRED: func.return

// DISABLED: [[ONE:%.+]] = graph.relu
// DISABLED-NEXT: graph.relu [[ONE]]

// CHANGE: // IR after simplify-expr (pass 1 of
// CHANGE-NOT: // IR after

// CONFIG: error: unknown config key 'simplify-expr.numeric'; the keys of pass 'simplify-expr' are simplify-expr.rules
// CONFIG-NEXT: hint: did you mean 'simplify-expr.numerics'?

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %1 : tensor<4xf32>
}
