"""Rows and elements of the place of a tile in memory."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from ....dialects import llvm_ext
from ....dialects.tile import Place
from ..addressing import address, lane_alignment, layout_of, load_value, store_value
from ..convert_vector import broadcast
from ..llvm_body import LLVMBody


class PlaceCursor:
    """Addresses in the buffer of a place. Each is made once per block."""

    def __init__(self, builder: LLVMBody, place: Place):
        self.builder = builder
        self.layout = layout_of(builder, place.buffer)
        self.corner = address(builder, place.buffer, self.layout, place.indices, in_parts=True)
        self.steps = tuple(
            0 if dimension < 0 else self.layout.strides[dimension] * step
            for dimension, step in zip(place.along, place.by, strict=True)
        )

    def at(self, first: int, second: int) -> SSAValue:
        """Returns the pointer to element (first, second) of the place."""
        offset = first * self.steps[0] + second * self.steps[1]
        if offset == 0:
            return self.corner
        return self.builder.element_of_tile(self.corner, offset, self.layout.memory_type)

    def scalar(self, first: int, second: int) -> SSAValue:
        """Loads element (first, second)."""
        type_ = self.layout.value_type
        return load_value(self.builder, self.at(first, second), type_, lane_alignment(type_))

    def row(self, first: int, second: int, lanes: int) -> SSAValue:
        """Loads `lanes` elements from (first, second) on."""
        builder = self.builder
        type_ = builder.types.vector(self.layout.value_type, lanes)
        if self.steps[1] == 1 or lanes == 1:
            return load_value(builder, self.at(first, second), type_, lane_alignment(type_))
        if self.steps[1] == 0:
            return broadcast(builder, self.scalar(first, second), type_)
        gathered = builder.zero(type_)
        for lane in range(lanes):
            element = self.scalar(first, second + lane)
            gathered = builder.emit(llvm.InsertElementOp, (gathered, element, builder.constant(lane)), type_)
        return gathered

    def put_row(self, first: int, second: int, value: SSAValue) -> None:
        """Stores a vector from (first, second) on."""
        builder = self.builder
        assert isinstance(value.type, VectorType)
        (lanes,) = value.type.get_shape()
        if self.steps[1] == 1 or lanes == 1:
            store_value(builder, value, self.at(first, second), lane_alignment(value.type))
            return
        scalar = self.layout.value_type
        for lane in range(lanes):
            element = builder.emit(llvm_ext.ExtractElementOp, (value, builder.constant(lane)), scalar)
            store_value(builder, element, self.at(first, second + lane), lane_alignment(scalar))
