// RUN: not stepwell-opt %s -p canonicalise 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not stepwell-opt %s -p 'apply-pdl{pdl-fil="x"}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not stepwell-opt %s -p 'apply-pdl{pdl-file=3}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not stepwell-opt %s --print-ir-aftr=cse 2>&1 | filecheck %s --check-prefix=FLAG
// RUN: not stepwell-opt %s --print-ir-after=csa 2>&1 | filecheck %s --check-prefix=PRINT
// RUN: not stepwell-opt %s -t mlr 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not stepwell-opt %s -p 'canonicalize{' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not stepwell-opt %S/no_such_file.mlir 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not stepwell-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER

// PASS: error: unknown pass 'canonicalise'
// PASS-NEXT: hint: did you mean 'canonicalize'?
// OPTION: error: pass 'apply-pdl' has no option 'pdl-fil'
// OPTION-NEXT: hint: did you mean 'pdl-file'?
// TYPE: error: option 'pdl-file' of pass 'apply-pdl' is 3, expected string
// FLAG: error: unrecognized arguments: --print-ir-aftr=cse
// FLAG-NEXT: hint: did you mean '--print-ir-after'?
// PRINT: error: unknown pass 'csa'
// PRINT-NEXT: hint: did you mean 'cse'?
// TARGET: error: unknown target 'mlr'
// TARGET-NEXT: hint: did you mean 'mlir'?
// SYNTAX: error: malformed pipeline: expected argument name here
// FILE: error: cannot read '{{.*}}no_such_file.mlir': no such file or directory
// FOLDER: error: cannot read '{{.*}}': it is a directory, expected a file
func.func @main() {
  func.return
}
