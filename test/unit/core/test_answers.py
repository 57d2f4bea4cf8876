"""Answers are kept while somebody says so, in the thread that says so."""

from __future__ import annotations

from threading import Thread

from stepwell.core.ir.answers import kept, kept_answers

asked: list[str] = []


@kept
def length(text: str) -> int:
    asked.append(text)
    return len(text)


@kept
def end(text: str) -> str:
    asked.append(text)
    return text[-1]


def test_each_answer_is_found_once() -> None:
    asked.clear()
    with kept_answers() as answers:
        assert [length("one"), length("three"), length("one"), end("one")] == [3, 5, 3, "e"]
        assert asked == ["one", "three", "one"]
        answers.clear()
        assert length("one") == 3
    assert asked == ["one", "three", "one", "one"]


def test_nothing_is_kept_outside_nor_in_other_threads() -> None:
    asked.clear()
    assert [length("one"), length("one")] == [3, 3]
    with kept_answers():
        length("one")
        with kept_answers():
            length("one")
        other = Thread(target=length, args=("one",))
        other.start()
        other.join()
        length("one")
    length("one")
    assert asked == ["one"] * 6
