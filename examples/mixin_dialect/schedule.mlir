schedule.program {
  %product = schedule.get_block "hamilton" in @quaternion_mul_8x4xf32
  %i = schedule.get_loops %product : 1
  %outer, %inner = schedule.split %i [?, 4]
  quaternion.vectorize_product %inner
}
