"""Matches as functions: plain, with an attribute, and only where a check says so."""

from typing import Any

import stepwell
from stepwell.core import listening
from stepwell.patterns import Match, is_op, partition, wildcard

conv = is_op("graph.conv2d")(wildcard(), wildcard())
pattern = is_op("graph.relu")(conv | is_op("graph.bias_add")(conv, wildcard()))


def split(**settings: Any) -> None:
    """Prints the names and attributes of the functions that matches of the pattern become."""
    module = stepwell.parse("partition.mlir")
    with listening(lambda diagnostic: print("   ", diagnostic.message)):
        made = partition(pattern, next(iter(module.ops)), **settings)
    module.verify()
    for function in made:
        print("   ", function.sym_name.data, {name: value.data for name, value in function.attributes.items()})


def one_image_of_channels(match: Match) -> bool | str:
    """Checks what the pattern does not say: the layout, and the number of images. A text is the reason to refuse."""
    op = match.op(conv)
    if op.data_layout.data != "NCHW":
        return f"the layout is {op.data_layout.data}"
    return op.operands[0].type.get_shape()[0] == 1


print("plain")
split()
print("with an attribute")
split(attributes={"composite": "one_layer"}, name="layer")
print("with a check")
split(check=one_image_of_channels)
