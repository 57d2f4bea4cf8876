"""Lists of sizes, of which some may be any: `[?, 10]`."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, i64
from xdsl.parser import Parser


def parse_sizes(parser: Parser) -> DenseArrayBase[IntegerType]:
    """Reads sizes in brackets. `?` is `DYNAMIC_INDEX`."""
    sizes = parser.parse_comma_separated_list(Parser.Delimiter.SQUARE, lambda: _parse_size(parser))
    return DenseArrayBase.from_list(i64, sizes)


def _parse_size(parser: Parser) -> int:
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC_INDEX
    size = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    return parser.raise_error("expected a size or '?' in a shape") if size is None else size


def sizes_text(sizes: DenseArrayBase[IntegerType]) -> str:
    """Returns the text that `parse_sizes` reads."""
    texts = ["?" if size == DYNAMIC_INDEX else str(size) for size in sizes.get_values()]
    return f"[{', '.join(texts)}]"
