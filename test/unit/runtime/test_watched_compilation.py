"""A program that an instrument of the caller sees while it is compiled."""

from __future__ import annotations

import stepwell
from stepwell.core.passes.instrument import Instrument
from xdsl.dialects.builtin import ModuleOp


class _Keeper(Instrument):
    """Keeps the module that it is shown."""

    module: ModuleOp | None = None

    def after_pipeline(self, module: ModuleOp) -> None:
        self.module = module


def test_what_an_instrument_keeps_stays_whole() -> None:
    keeper = _Keeper()
    with stepwell.PassContext(instruments=[keeper]):
        exe = stepwell.compile(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\nfunc.return %x : tensor<4xf32>\n}", cache=False
        )
        exe([1.0, 2.0, 3.0, 4.0])
    assert keeper.module is not None
    assert "llvm.func" in str(keeper.module)
