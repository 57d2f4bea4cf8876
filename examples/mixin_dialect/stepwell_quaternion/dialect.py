"""The dialect: its ops and types by name."""

from xdsl.ir import Dialect

from .chain import ChainOp
from .product import MulOp
from .steps import VectorizeProductOp
from .typed import PackOp, QuatType, TimesOp, UnpackOp

QUATERNION = Dialect("quaternion", [MulOp, ChainOp, PackOp, UnpackOp, TimesOp, VectorizeProductOp], [QuatType])
