// RUN: stepwell-opt %s -p remove-unused-functions 2>&1 | filecheck %s

/// Nothing is an entry, so nothing is left, which is hardly wanted (AUDIT B3).
// CHECK: warning: 'builtin.module': no function is public, so all 2 are removed; name entries as in 'remove-unused-functions{entry=a}'
func.func private @a() {
  func.return
}
func.func private @b() {
  func.return
}
