// RUN: not stepwell-opt %s -p 'remove-unused-functions{entry=mian}' 2>&1 | filecheck %s

// CHECK: error: remove-unused-functions: there is no function @mian, did you mean 'main'?; the module has @main, @other
func.func @main() {
  func.return
}
func.func @other() {
  func.return
}
