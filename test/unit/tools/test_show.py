"""`stepwell-show`: pictures of programs; places and lines of boxes, what they say, and colours by time."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import stepwell
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwell.analysis.drawing.boxes import Box, Boxes, boxes_of, with_chains
from stepwell.analysis.drawing.drawing import heat, page, svg
from stepwell.analysis.drawing.layout import GAP, layout
from stepwell.tools import run, show

NET = """\
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %w = graph.weight "w<1>" : tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>)
  %1 = graph.relu %0 : (tensor<4x8xf32>)
  %2 = func.call @group(%1, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.softmax %2, axis = -1 : (tensor<4x8xf32>)
  func.return %3, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}
func.func private @group(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {graph.primitive} {
  %0 = graph.add %a, %b : (tensor<4x8xf32>, tensor<4x8xf32>)
  %1 = graph.exp %0 : (tensor<4x8xf32>)
  func.return %1 : tensor<4x8xf32>
}
"""
SVG = "{http://www.w3.org/2000/svg}"


def boxes() -> Boxes:
    return boxes_of(stepwell.parse(NET), "main")


def drawn(path: Path) -> list[list[str]]:
    """The texts of each box of a picture."""
    root = ElementTree.fromstring(path.read_text())
    groups = [each for each in root.iter(f"{SVG}g") if each.find(f"{SVG}rect") is not None]
    return [[text.text or "" for text in each.findall(f"{SVG}text")] for each in groups]


def test_boxes_say_what_they_are() -> None:
    found = boxes()
    assert [(box.kind, box.title) for box in found.boxes] == [
        ("input", "x"),
        ("op", "matmul"),
        ("op", "relu"),
        ("group", "@group"),
        ("op", "softmax"),
        ("result", "results"),
    ]
    assert found.boxes[1].lines == ("w<1>: 8x8xf32", "→ 4x8xf32")
    assert found.boxes[3].lines == ("add", "exp", "→ 4x8xf32") and found.boxes[3].ops == 2
    assert found.boxes[5].lines == ("4x8xf32", "4x8xf32")
    assert found.arrows == [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5), (2, 5)]


def test_chains_become_one_box() -> None:
    found = with_chains(boxes())
    assert [box.title for box in found.boxes] == ["x", "matmul relu", "@group softmax", "results"]
    assert found.boxes[1].lines == ("matmul", "relu", "→ 4x8xf32")
    assert found.arrows == [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]


def test_ops_with_regions_are_groups() -> None:
    found = boxes_of(
        stepwell.parse("""
func.func @main(%p: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %1 = graph.exp %x : (tensor<4xf32>)
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
"""),
        "main",
    )
    assert (found.boxes[2].kind, found.boxes[2].title, found.boxes[2].lines[0]) == ("group", "scf.if", "exp")
    assert (1, 2) in found.arrows, "a value used inside of a region"


graphs = st.integers(1, 14).flatmap(
    lambda count: st.tuples(
        st.lists(st.tuples(st.integers(20, 200), st.integers(15, 90)), min_size=count, max_size=count),
        st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda a: a[0] < a[1])),
    )
)


@given(graphs)
@settings(max_examples=60, deadline=None)
def test_boxes_stay_apart_and_arrows_point_down(graph: Any) -> None:
    sizes, arrows = graph[0], sorted(graph[1])
    found = layout(sizes, arrows)
    rectangles = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for x, y, (w, h) in zip(found.x, found.y, sizes, strict=True)
    ]
    for i, (left, top, right, bottom) in enumerate(rectangles):
        assert left >= GAP - 1e-6 and top >= GAP - 1e-6
        assert right <= found.width - GAP + 1e-6 and bottom <= found.height - GAP + 1e-6
        for other in rectangles[:i]:
            apart = left >= other[2] - 1e-6 or other[0] >= right - 1e-6
            assert apart or top >= other[3] - 1e-6 or other[1] >= bottom - 1e-6
    for (one, other), line in zip(arrows, found.lines, strict=True):
        assert line[0] == pytest.approx((found.x[one], found.y[one] + sizes[one][1] / 2))
        assert line[-1] == pytest.approx((found.x[other], found.y[other] - sizes[other][1] / 2))
        assert all(a[1] < b[1] + 1e-6 for a, b in zip(line, line[1:], strict=False))
    assert layout(sizes, arrows) == found


def test_a_fork_is_drawn_without_a_crossing() -> None:
    # two chains that cross in the order in which they are written
    found = layout([(40, 20)] * 6, [(0, 3), (1, 2), (2, 4), (3, 5)])
    assert (found.x[0] < found.x[1]) == (found.x[3] < found.x[2]) == (found.x[5] < found.x[4])


def test_long_programs_are_drawn_soon() -> None:
    count = 1200
    arrows = [(i, i + 1) for i in range(count - 1)] + [(i, i + 7) for i in range(0, count - 7, 5)] + [(0, count - 1)]
    assert len(layout([(60, 30)] * count, arrows).lines) == len(arrows)


def test_names_of_programs_are_text_in_the_picture() -> None:
    odd = Box("op", "<b>&\"'", ("</svg><script>alert(1)</script>",), ("a & b",))
    for text in (svg(Boxes([odd]), "<title>"), page(Boxes([odd]), "<title>")):
        assert "<script>alert" not in text and "<b>" not in text
    root = ElementTree.fromstring(svg(Boxes([odd]), "<title>"))
    assert [each.text for each in root.iter(f"{SVG}text")][0] == odd.title


def test_nothing_to_draw_is_an_empty_picture() -> None:
    assert ElementTree.fromstring(svg(Boxes(), "nothing")).tag == f"{SVG}svg"


def test_heat_grows_from_white_to_red() -> None:
    shares = [heat(share) for share in (0, 0.01, 0.1, 0.5, 1)]
    assert shares[0] == "#ffffff" and shares == sorted(shares, reverse=True) and len(set(shares)) == 5


def test_the_tool_writes_svg_and_html(tmp_path: Path) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(NET)
    assert show.main([str(model), "-o", str(tmp_path / "net.svg")]) == 0
    assert ["matmul", "w<1>: 8x8xf32", "→ 4x8xf32"] in drawn(tmp_path / "net.svg")
    assert show.main([str(model), "-o", str(tmp_path / "net.html"), "--chains", "yes"]) == 0
    text = (tmp_path / "net.html").read_text()
    assert text.startswith("<!DOCTYPE html>") and "wheel" in text and "matmul relu" in text
    assert not re.search(r'(src|href)="', text), "the page needs nothing else"
    assert show.main([str(model), "-o", str(tmp_path / "two.svg"), "-p", "graph-optimize"]) == 0
    assert any(lines[0].startswith("@fused_") for lines in drawn(tmp_path / "two.svg"))


def test_a_profile_colours_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWELL_CACHE_DIR", str(tmp_path / "cache"))
    model, profile = tmp_path / "net.mlir", tmp_path / "profile.json"
    model.write_text(
        NET.replace("func.func @main(%x", "func.func @main(%w: tensor<8x8xf32>, %x").replace(
            '  %w = graph.weight "w<1>" : tensor<8x8xf32>\n', ""
        )
    )
    assert run.main([str(model), "--random", "1", "--repeat", "2", "--profile-output", str(profile)]) == 0
    measured = json.loads(profile.read_text())
    assert show.main([str(model), "-o", str(tmp_path / "net.svg"), "--profile", str(profile)]) == 0
    timed = [lines for lines in drawn(tmp_path / "net.svg") if any(" µs  " in line for line in lines)]
    assert len(timed) == len(measured["calls"])
    assert sum(float(lines[-1].split()[0]) for lines in timed) == pytest.approx(
        sum(call["microseconds"] for call in measured["calls"]), abs=0.06 * len(timed)
    )


def test_kernels_find_their_boxes_by_place_then_name() -> None:
    made = Boxes(
        [
            Box("op", "exp", place="a/m.mlir:3:1", kernels=("exp",)),
            Box("op", "relu", place="a/m.mlir:3:1", kernels=("relu",)),
            Box("op", "sum", place="a/m.mlir:4:1", kernels=("sum",)),
        ]
    )
    calls = [
        ("relu_2", "b/m.mlir:3:1", 3.0),
        ("exp", "m.mlir:3:1", 1.0),
        ("other", "m.mlir:4:1", 5.0),
        ("lost", "m.mlir:9:1", 1.0),
    ]
    profile = {
        "microseconds": 10.0,
        "calls": [{"kernel": k, "place": p, "microseconds": t} for k, p, t in calls],
    }
    found = show.timed(made, profile).boxes
    assert [(box.microseconds, box.share) for box in found] == [(1.0, 0.1), (3.0, 0.3), (5.0, 0.5)]


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "net.mlir"
    model.write_text(NET)
    (tmp_path / "bad.json").write_text('{"calls": [{"kernel": 3}]}')
    cases = {
        "cannot draw 'out.png', expected a name that ends in .svg or .html": ["-o", "out.png"],
        "there is no func.func @mian of one block to draw": [
            "-o",
            str(tmp_path / "o.svg"),
            "--entry",
            "mian",
        ],
        "bad.json' is no profile": ["-o", str(tmp_path / "o.svg"), "--profile", str(tmp_path / "bad.json")],
        "absent.json': no such file": [
            "-o",
            str(tmp_path / "o.svg"),
            "--profile",
            str(tmp_path / "absent.json"),
        ],
        "absent/o.svg': no such file or directory": ["-o", str(tmp_path / "absent" / "o.svg")],
    }
    for message, words in cases.items():
        assert show.main([str(model), *words]) == 1
        assert message in capsys.readouterr().err
    assert show.main([str(tmp_path / "absent.mlir"), "-o", str(tmp_path / "o.svg")]) == 1
    assert "cannot read" in capsys.readouterr().err
    assert not (tmp_path / "o.svg").exists()
