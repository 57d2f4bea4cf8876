"""
The pattern dialect: rewrite rules as text. `docs/rewrites.md` describes it, and `patterns/text/loading.py` reads it.

```mlir
pattern.rule "relu-of-relu" doc "relu is idempotent" : relu(relu(%x)) => relu(%x)
```

An equation is read into the normal form of the rule, which is what is printed:

```mlir
pattern.rule "relu-of-relu" doc "relu is idempotent" {
  %x = pattern.any
  %inner = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%inner)
  pattern.replace %root with %inner
}
```
"""

from xdsl.ir import Dialect

from .combinators import AssocOp, ExpressionOp, ReturnsOp, TogetherOp
from .constraints import (
    AndOp,
    ArgumentOp,
    AttributeOp,
    ComputeOp,
    HasAttrOp,
    HasDtypeOp,
    HasKindOp,
    HasShapeOp,
    HasTypeOp,
    HoldsOp,
    LiteralOp,
    NotOp,
)
from .groups import GroupOp, GroupRuleOp, MergeGroupsOp, RequireGroupsOp
from .loops import AxisOp, BlockOp, DecideOp, KernelOp, NestOp
from .ops import (
    AnyOp,
    AnyOperationOp,
    BuildOp,
    ConstantOp,
    CreateOp,
    OpOp,
    OrOp,
    PartitionOp,
    ReplaceOp,
    RequireOp,
    RestOp,
    ResultOp,
    RewriteOp,
    RuleOp,
    SplatOp,
    ValueType,
    YieldOp,
)
from .rules import DefineOp, GivesOp
from .structures import CallOp, ChainOp, DominatesOp, FunctionOp, IfOp

Pattern = Dialect(
    "pattern",
    [
        AndOp,
        AnyOp,
        AnyOperationOp,
        ArgumentOp,
        AssocOp,
        AttributeOp,
        AxisOp,
        BlockOp,
        BuildOp,
        CallOp,
        ChainOp,
        ComputeOp,
        ConstantOp,
        CreateOp,
        DecideOp,
        DefineOp,
        DominatesOp,
        ExpressionOp,
        FunctionOp,
        GivesOp,
        GroupOp,
        GroupRuleOp,
        HasAttrOp,
        HasDtypeOp,
        HasKindOp,
        HasShapeOp,
        HasTypeOp,
        HoldsOp,
        IfOp,
        KernelOp,
        LiteralOp,
        MergeGroupsOp,
        NestOp,
        NotOp,
        OpOp,
        OrOp,
        PartitionOp,
        ReplaceOp,
        RequireGroupsOp,
        RequireOp,
        RestOp,
        ResultOp,
        ReturnsOp,
        RewriteOp,
        RuleOp,
        SplatOp,
        TogetherOp,
        YieldOp,
    ],
    [ValueType],
)
"""The dialect as xDSL loads it."""

__all__ = [
    "AndOp",
    "AnyOp",
    "AnyOperationOp",
    "ArgumentOp",
    "AssocOp",
    "AttributeOp",
    "BuildOp",
    "CallOp",
    "ConstantOp",
    "CreateOp",
    "DefineOp",
    "DominatesOp",
    "ExpressionOp",
    "FunctionOp",
    "GivesOp",
    "GroupOp",
    "GroupRuleOp",
    "HasAttrOp",
    "HasDtypeOp",
    "HasKindOp",
    "HasShapeOp",
    "HasTypeOp",
    "HoldsOp",
    "IfOp",
    "LiteralOp",
    "MergeGroupsOp",
    "NotOp",
    "OpOp",
    "OrOp",
    "PartitionOp",
    "Pattern",
    "ReplaceOp",
    "RequireGroupsOp",
    "RequireOp",
    "RestOp",
    "ResultOp",
    "ReturnsOp",
    "RewriteOp",
    "RuleOp",
    "SplatOp",
    "TogetherOp",
    "ValueType",
    "YieldOp",
]
