"""The table of ranges that the pass `quantize` reads: statistics of the values of an entry, by name."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...core.messages.diagnostics import did_you_mean, fail
from ...lazy_dataclass import dataclass
from ..calibration.statistics import VALUES, TensorStatistics, load_statistics

MADE_BY = "stepwell calibrate --values --stats makes one"


@dataclass(frozen=True)
class Table:
    """The statistics of the values of `entry`, and the file that they are from."""

    file: str
    entry: str
    values: dict[str, TensorStatistics]

    @staticmethod
    def read(module: ModuleOp, file: str, entry: str) -> Table:
        """Returns the table in a file. Raises an error for a file that has no values of `@entry`."""
        found = load_statistics(file)
        call = found.get(entry)
        if not isinstance(call, dict) or VALUES not in call:
            known = ", ".join(f"@{name}" for name, each in found.items() if isinstance(each, dict) and VALUES in each)
            has = f"it has those of {known}" if known else "it has none of any function"
            fail(module, f"table '{file}' has no values of @{entry}", hint=f"{has}; {MADE_BY}")
        return Table(file, entry, call[VALUES])

    def of(self, value: SSAValue, name: str, user: Operation) -> TensorStatistics:
        """Returns the statistics of a value that `user` reads. Raises an error at `user` where there are none."""
        found = self.values.get(name)
        if found is None:
            hint = did_you_mean(name, self.values) or f"it was made of another program; {MADE_BY}"
            fail(user, f"table '{self.file}' has no value %{name}", hint=hint)
        if found.type != str(value.type):
            hint = f"it was made of another program; {MADE_BY}"
            fail(user, f"%{name} is {value.type}, but table '{self.file}' has a {found.type}", hint=hint)
        if found.minimum is None:
            fail(user, f"table '{self.file}' knows no finite element of %{name}, so there is no range")
        return found
