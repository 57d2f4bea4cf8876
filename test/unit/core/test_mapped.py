"""Mapped files: one mapping, pages that are given back, files that change, and side-cars made of them."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
import pytest
from stepwell.core import weights
from stepwell.core.mapped import ChangedError, map_file, place_of, release
from stepwell.core.weights import WeightsError, hold_weights, identity_of, open_weights

PAGE = mmap.PAGESIZE
NUMBERS = np.arange(16 * PAGE, dtype=np.uint8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    NUMBERS.tofile(tmp_path / "numbers")
    return tmp_path / "numbers"


def test_a_file_is_mapped_once(path: Path) -> None:
    first = map_file(path)
    assert map_file(path) is first and map_file(path, first.stamp) is first
    assert np.array_equal(first.bytes(), NUMBERS) and not first.bytes().flags.writeable


def test_a_view_knows_its_place(path: Path) -> None:
    mapping = map_file(path)
    view = mapping.bytes()[5:2053].view(np.float32).reshape(2, -1)
    assert place_of(view) == (mapping, 5) and place_of(view[1]) == (mapping, 5 + 1024)
    assert place_of(NUMBERS) is None and place_of(view.copy()) is None


def resident(path: Path) -> int:
    """Returns the bytes of a mapped file that the process has in memory."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if not line.split()[0].endswith(":"):
            inside = line.endswith(str(path))
        elif inside and line.startswith("Rss:"):
            found += int(line.split()[1]) * 1024
    return found


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="the system tells no sizes of mappings")
def test_pages_are_given_back_and_read_again(path: Path) -> None:
    array = map_file(path).bytes()[10:-10]
    total = int(array.sum())
    assert resident(path) == 16 * PAGE
    release(array)
    assert resident(path) == 0
    assert int(array.sum()) == total


def test_other_memory_stays_as_it_is() -> None:
    array = np.ones(4 * PAGE, np.uint8)
    release(array)
    release(array[::2])
    assert array.sum() == array.size


def test_a_changed_file_is_not_mapped(path: Path) -> None:
    mapping = map_file(path)
    stamp = mapping.stamp
    path.write_bytes(b"other")
    with pytest.raises(ChangedError):
        map_file(path, stamp)
    del mapping
    with pytest.raises(ChangedError):
        map_file(path, stamp)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        map_file(path, stamp)


def test_a_mapping_outlives_its_file(path: Path) -> None:
    mapping = map_file(path)
    path.rename(path.with_name("old"))
    assert map_file(path, mapping.stamp) is mapping
    path.write_bytes(b"other")
    assert map_file(path, mapping.stamp) is mapping
    assert bytes(map_file(path)) == b"other"


# Side-cars made of mapped files


def held(path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """A side-car of a matrix in a mapped file, one that is not row-major there, and one in other memory."""
    matrix = map_file(path).bytes()[:4096].view(np.float32).reshape(32, 32)
    arrays = {"in_file": matrix, "turned": matrix.T, "made": np.ones(3)}
    side_car = path.with_name("held.safetensors")
    hold_weights(side_car, arrays)
    return side_car, {key: np.array(array) for key, array in arrays.items()}


def test_what_is_mapped_stays_and_the_rest_is_written(path: Path) -> None:
    side_car, wanted = held(path)
    assert sorted(weights._opened(side_car).keys()) == ["made", "turned"]
    file = open_weights(side_car)
    assert {key: file.array(key).tobytes() for key in file.entries} == {k: a.tobytes() for k, a in wanted.items()}
    place = place_of(file.array("in_file"))
    assert place is not None and place[0].stamp.path == path
    file.verify()


def test_a_side_car_of_mapped_arrays_alone_is_no_file(path: Path, tmp_path: Path) -> None:
    side_car = tmp_path / "all.safetensors"
    hold_weights(side_car, {"w": map_file(path).bytes()})
    assert not side_car.exists()
    file = open_weights(side_car)
    file.verify()
    assert np.array_equal(file.array("w"), NUMBERS)


def test_a_change_of_the_file_is_an_error(path: Path) -> None:
    side_car, _ = held(path)
    before = identity_of(open_weights(side_car))
    os.utime(path, (1, 1))
    with pytest.raises(WeightsError, match="'.*numbers', which holds its tensors, has changed since the model was"):
        open_weights(side_car).array("in_file")
    with pytest.raises(WeightsError, match="has changed since the model was imported"):
        open_weights(side_car).verify()
    assert identity_of(open_weights(held(path)[0])) != before
    path.unlink()
    with pytest.raises(WeightsError, match="'.*numbers', which holds its tensors: no such file"):
        open_weights(side_car).array("in_file")
