"""Code that calls programs is made while they are lowered, and is the same as when it is made later."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from stepwell.runtime import cache
from stepwell.runtime.native import jit

TEXT = "define i32 @seven{0}(ptr %a) {{\n  ret i32 {0}\n}}\n"


def test_code_made_ahead_is_taken_once(monkeypatch: pytest.MonkeyPatch):
    text = TEXT.format(71)
    with ThreadPoolExecutor(1) as pool:
        jit.make_ahead(text, False, pool)
        jit.make_ahead(text, False, pool)
    ahead = jit._AHEAD[jit.text_hash(text)].result()
    assert ahead == jit.kept_object(text, False, cache.CALLS, speed_level=0)
    monkeypatch.setattr(jit, "kept_object", lambda *_, **__: pytest.fail("it is compiled again"))
    assert jit._calling_code(text, False) == ahead and jit.text_hash(text) not in jit._AHEAD
    with ThreadPoolExecutor(1) as pool:
        jit.make_ahead(text, False, pool)
    assert jit.text_hash(text) not in jit._AHEAD


def test_what_fails_ahead_or_is_given_up_is_made_when_it_is_wanted():
    text = TEXT.format(72)
    failed: Future[bytes] = Future()
    failed.set_exception(RuntimeError("no memory"))
    given_up: Future[bytes] = Future()
    given_up.cancel()
    for future in (failed, given_up):
        jit._AHEAD[jit.text_hash(text)] = future
        assert jit.NativeLibrary.kept(text, ["seven72"], False).entry("seven72")(None) == 72


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_does_not_wait_for_a_thread_of_its_parent():
    waiting: Future[bytes] = Future()
    jit._AHEAD["never"] = waiting
    child = os.fork()
    if child == 0:
        os._exit(len(jit._AHEAD))
    _, status = os.waitpid(child, 0)
    del jit._AHEAD["never"]
    assert status == 0
