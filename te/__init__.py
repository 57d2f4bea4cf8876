"""
Tensor expressions: immutable data that says what each element of a tensor is.

    A = te.placeholder((n, m), "f32", "A")
    k = te.reduce_axis(m, "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")

`te.library` holds ready tensor functions in the manner of NumPy (loaded at first use); the module `te.evaluate` runs
expressions on NumPy arrays.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import dtypes as dtypes
from .expr import Axis as Axis
from .expr import Const as Const
from .expr import Expr as Expr
from .expr import TEError as TEError
from .expr import Var as Var
from .expr import binary as binary
from .expr import compare as compare
from .expr import const as const
from .ops import abs as abs
from .ops import all as all
from .ops import all_of as all_of
from .ops import any as any
from .ops import any_of as any_of
from .ops import argmax as argmax
from .ops import argmin as argmin
from .ops import cast as cast
from .ops import check as check
from .ops import equal as equal
from .ops import erf as erf
from .ops import exp as exp
from .ops import floor as floor
from .ops import floordiv as floordiv
from .ops import floormod as floormod
from .ops import fma as fma
from .ops import highest as highest
from .ops import if_then_else as if_then_else
from .ops import isnan as isnan
from .ops import log as log
from .ops import logical_not as logical_not
from .ops import lowest as lowest
from .ops import max as max
from .ops import maximum as maximum
from .ops import min as min
from .ops import minimum as minimum
from .ops import not_equal as not_equal
from .ops import power as power
from .ops import prod as prod
from .ops import rsqrt as rsqrt
from .ops import select as select
from .ops import sqrt as sqrt
from .ops import sum as sum
from .ops import tanh as tanh
from .ops import truncdiv as truncdiv
from .ops import truncmod as truncmod
from .ops import unary as unary
from .reductions import Reducer as Reducer
from .reductions import Reduction as Reduction
from .reductions import post_order as post_order
from .tensor import Compute as Compute
from .tensor import Dim as Dim
from .tensor import Tensor as Tensor
from .tensor import compute as compute
from .tensor import free_vars as free_vars
from .tensor import placeholder as placeholder
from .tensor import reduce_axis as reduce_axis
from .tensor import stages as stages
from .tensor import var as var

if _TYPE_CHECKING:
    from . import library as library


def __getattr__(name: str) -> object:
    if name == "library":
        from importlib import import_module

        return import_module(".library", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
