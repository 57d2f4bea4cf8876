"""What LLVM's passes are asked to do with a text."""

from __future__ import annotations

from stepwell.runtime.native import jit
from stepwell.runtime.native.effort import TIDY, UNROLLED_BLOCK, UNROLLED_LINES, Effort, effort_for

LOOP = "  %i = phi i64 [ 0, %0 ], [ %j, %1 ]\n"
LONG = "define internal void @a() {\n" + LOOP + "  fence seq_cst\n" * UNROLLED_LINES + "}\n"
SHORT = "define internal void @b() {\n" + LOOP + "  fence seq_cst\n" * 40 + "}\n"
STRAIGHT = "define i32 @entry() {\n" + "  call void @a()\n" * 3 * UNROLLED_LINES + "}\n"


def test_loops_that_are_unrolled_already_are_left_as_they_are() -> None:
    for text in (LONG, LONG + SHORT, LONG + STRAIGHT, "@g = internal constant i8 0\n\n" + LONG):
        assert effort_for(text, 2) == Effort(1, TIDY)


def test_a_long_block_is_unrolled_already() -> None:
    start = "define internal void @c() {\nb0:\n  br label %b1\nb1:\n" + LOOP
    long, short = ("  fence seq_cst\n" * lines for lines in (UNROLLED_BLOCK, UNROLLED_BLOCK // 2))
    assert effort_for(start + long + "}\n", 2) == Effort(1, TIDY)
    assert effort_for(start + short + "b2:\n" + short + "}\n", 2) == Effort(2)


def test_what_runs_once_is_not_unrolled() -> None:
    once = SHORT.replace("@b() {", "@b() nounwind cold optsize {")
    assert effort_for(once, 2) == effort_for(once * 2 + SHORT, 2) == Effort(1, TIDY)
    assert effort_for(once + SHORT * 2, 2) == Effort(2)
    assert effort_for(SHORT.replace("@b()", "@cold()"), 2) == Effort(2)


def test_short_loops_are_left_to_llvm() -> None:
    for text in (SHORT, STRAIGHT, SHORT + STRAIGHT, LONG + SHORT * 12, ""):
        assert effort_for(text, 2) == Effort(2)


def test_a_long_program_of_calls_is_left_as_it_is() -> None:
    program = STRAIGHT.replace("@entry()", "@_stepwell_entry_main()")
    assert effort_for(program, 2) == effort_for(program, 0) == Effort(0, code=0)
    status = "b0:\n  br i1 %c, label %b1, label %b2\nb1:\n  br label %b2\nb2:\n  %s = phi i32 [ 0, %b0 ], [ 1, %b1 ]\n"
    assert effort_for(program.replace("{\n", "{\n" + status), 2) == Effort(0, code=0), "nothing branches back"
    for computed in (
        "  %f = fmul float %a, %b\n",
        "  %v = load <16 x i8>, ptr %p\n",
        "  %n = add i32 %a, %b\n" * 30000,
    ):
        assert effort_for(program.replace("{\n", "{\n" + computed), 2) == Effort(2), computed[:20]
    loop = "b0:\n  br label %b1\nb1:\n  br i1 %c, label %b1, label %b2\nb2:\n"
    assert effort_for(program.replace("{\n", "{\n" + loop), 2) == Effort(2)
    assert effort_for("define i32 @_stepwell_entry_main() {\n" + "  call void @a()\n" * 40 + "}\n", 2) == Effort(2)


def test_no_passes_stay_no_passes() -> None:
    assert effort_for(LONG, 0) == effort_for(SHORT, 0) == Effort(0)


def test_code_of_other_passes_is_kept_apart() -> None:
    target = jit.host_code_target()
    keys = {jit._key(text, level, target) for text in (LONG, SHORT) for level in (0, 2)}
    assert len(keys) == 4


def test_texts_that_ask_for_vectors_are_unrolled() -> None:
    hint = '!6 = !{!"llvm.loop.vectorize.enable", i1 true}\n'
    assert effort_for(LONG + hint, 2) == Effort(1)
    assert effort_for(LONG + hint.replace("true", "false"), 2) == Effort(1, TIDY)
