// RUN: stepwell-opt --check-rules=%S/mine.rules | filecheck %s --check-prefix=SET
// RUN: not stepwell-opt --test-rules=%S/wrong.rules --cases 2 | filecheck %s
// RUN: stepwell-opt --test-rules=%S/rare.rules --cases 1 | filecheck %s --check-prefix=RARE
// RUN: stepwell-opt --mutate-rules=%S/wrong.rules --cases 2 | filecheck %s --check-prefix=MUTANTS

// SET: note: rules without a replacement, which were left out: 3

/// A decision that the kernel refuses is wrong.
// CHECK: WRONG tiles-of-anything (exact): different; applied 1 of
// CHECK-NEXT: block {{.*}} cannot have 'stepwell.tiling' = #schedule.transpose<side = 4>
// CHECK: 1 rules: 0 right, 1 wrong, 0 not exercised

/// Loops that random programs do not have are no failure.
// RARE: -     copies-of-one-size: it decides nothing about the loops of {{[0-9]+}} random programs
// RARE: 0 rules: 0 right, 0 wrong, 0 not exercised

// MUTANTS: wrong: 1 rules, 1 mutants, 1 caught (100.0%), 0 survived
