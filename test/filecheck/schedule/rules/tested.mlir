// RUN: stepwell-opt --test-rules=%S/mine.rules | filecheck %s
// RUN: stepwell-opt --check-rules=%S/mine.rules | filecheck %s --check-prefix=SET
// RUN: not stepwell-opt --mutate-rules=%S/mine.rules 2>&1 | filecheck %s --check-prefix=MUTANTS

/// A decision changes no value, so there is nothing to compare.
// CHECK: sums-of-rows: it decides about loops and changes no value
// CHECK: 0 rules: 0 right, 0 wrong, 0 not exercised
// SET: note: rules without a replacement, which were left out: 3
// MUTANTS: mine.rules has no rules with a replacement
