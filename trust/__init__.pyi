from .cases import CheckOptions as CheckOptions
from .check import CheckSemantics as CheckSemantics
