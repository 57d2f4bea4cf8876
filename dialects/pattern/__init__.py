"""
The pattern dialect: rewrite rules as text. `docs/rewrites.md` describes it, `rewrites/engine/loading.py` reads it.

```mlir
pattern.rule "relu-of-relu" numerics "exact" doc "relu is idempotent" {
  %x = pattern.any
  %inner = pattern.op "graph.relu"(%x)
  %root = pattern.op "graph.relu"(%inner)
  pattern.replace %root with %inner
}
```
"""

from xdsl.ir import Dialect

from .ops import (
    AnyOp,
    AnyOperationOp,
    BuildOp,
    ConstantOp,
    CreateOp,
    OpOp,
    OrOp,
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

Pattern = Dialect(
    "pattern",
    [
        AnyOp,
        AnyOperationOp,
        BuildOp,
        ConstantOp,
        CreateOp,
        OpOp,
        OrOp,
        ReplaceOp,
        RequireOp,
        RestOp,
        ResultOp,
        RewriteOp,
        RuleOp,
        SplatOp,
        YieldOp,
    ],
    [ValueType],
)
