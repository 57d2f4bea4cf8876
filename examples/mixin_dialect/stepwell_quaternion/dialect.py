"""The op: its types, its meaning as a tensor expression, nothing else. Lowering, folding and fusion follow from it."""

from stepwell.dialects import graph
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition

FLOATS = "F"
"""The class of element types, as in docs/semantics.md: F, S, U or B."""


@irdl_op_definition
class MulOp(graph.PureGraphOp):
    """
    The Hamilton product of quaternions, element by element along all dimensions but the last.

    Shapes: both operands and the result are equal; the last dimension is 4: w, x, y, z.
    Types: floats.
    Source: W. R. Hamilton, "On quaternions", 1844; not commutative.

    ```mlir
    %c = quaternion.mul %a, %b : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
    """

    name = "quaternion.mul"

    lhs = graph.tensor_operand(FLOATS)
    rhs = graph.tensor_operand(FLOATS)
    result = graph.tensor_result()

    @classmethod
    def infer(cls, lhs: graph.Shaped, rhs: graph.Shaped) -> tuple[graph.Shaped, ...]:
        if lhs.shape != rhs.shape:
            raise graph.ShapeError(
                f"lhs has shape {graph.shape_text(lhs.shape)} but rhs has shape {graph.shape_text(rhs.shape)}"
            )
        if not lhs.shape or lhs.shape[-1] != 4:
            raise graph.ShapeError(
                f"the last dimension holds w, x, y, z: expected 4, found shape {graph.shape_text(lhs.shape)}"
            )
        return (lhs,)

    def te(self, *operands):
        from stepwell import te

        a, b = operands

        def component(*index):
            *outer, last = index
            p = [a[(*outer, i)] for i in range(4)]
            q = [b[(*outer, i)] for i in range(4)]
            w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3]
            x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2]
            y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1]
            z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]
            upper = te.select(te.equal(last, 2), y, z)
            return te.select(te.equal(last, 0), w, te.select(te.equal(last, 1), x, upper))

        return (te.compute(a.shape, component, name="hamilton"),)


Quaternion = Dialect("quaternion", [MulOp], [])
