pattern.rule "quaternion_numpy.mul" : quaternion.mul(%p, %q) => partition
