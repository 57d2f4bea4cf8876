"""
Affine expressions of index values: recovery from arithmetic, normal form and bounds. The dialect `tensor_loop` does the
work.
"""

from __future__ import annotations

from ..dialects.tensor_loop.affine_expressions import Interval as Interval
from ..dialects.tensor_loop.affine_expressions import Known as Known
from ..dialects.tensor_loop.affine_expressions import affine_of_value as affine_of_value
from ..dialects.tensor_loop.affine_expressions import bounds as bounds
from ..dialects.tensor_loop.affine_expressions import constant_difference as constant_difference
from ..dialects.tensor_loop.affine_expressions import from_terms as from_terms
from ..dialects.tensor_loop.affine_expressions import is_linear as is_linear
from ..dialects.tensor_loop.affine_expressions import linear_terms as linear_terms
from ..dialects.tensor_loop.affine_expressions import normal_form as normal_form
