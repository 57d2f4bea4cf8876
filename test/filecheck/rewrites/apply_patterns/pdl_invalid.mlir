// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/pdl_invalid.rules"}' 2>&1 | filecheck %s --check-prefix=OUTSIDE
// RUN: not stepwell-opt %s -p 'apply-patterns{file="%S/pdl_never.rules"}' 2>&1 | filecheck %s --check-prefix=NEVER

// OUTSIDE: pdl_invalid.rules:5:3: error: 'pdl.rewrite': 'with' calls the function 'function' outside of the pattern, which is not supported
// NEVER: pdl_never.rules:3:3: error: 'pdl.operation': 'graph.exp' has 1 result, 0 written: nothing would match
// NEVER: hint: write each as in -> (%type : !pdl.type)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
