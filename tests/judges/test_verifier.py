"""The verifier: outcome first, then progress, then economy; no credit for guesses, dumps or claims."""

from dataclasses import replace

import pytest

from mcprl.config import JudgeConfig
from mcprl.errors import ConfigError
from mcprl.judges import open_judge
from mcprl.judges.checks import holds, same_arguments, says_missing
from mcprl.judges.verifier import Verifier
from mcprl.types import (
    Call,
    CallMade,
    CallRecord,
    Fact,
    Group,
    SaysMissing,
    Scenario,
    StateHolds,
    ToolResult,
    Trajectory,
)

LOOKUP = Scenario(
    "s",
    "What is the total of order O-17?",
    (Fact(12.5, "total"),),
    (Call("get_order", {"order_id": "O-17"}),),
    "The total is 12.5.",
)
RESULT = ToolResult('{"order_id":"O-17","total":12.5,"status":"paid"}', {"total": 12.5})


def tried(answer: str, *calls: CallRecord, state: tuple[ToolResult, ...] = (), name: str = "t") -> Trajectory:
    messages = ({"role": "user", "content": "?"}, {"role": "assistant", "content": answer})
    return Trajectory(name, "s", messages, (), calls, state)


def called(tool: str = "get_order", result: ToolResult = RESULT, **arguments: object) -> CallRecord:
    return CallRecord(0, tool, arguments, result)


def test_the_right_call_and_the_right_answer_score_one() -> None:
    score = Verifier().verify(LOOKUP, tried("It is 12.50 euros.", called(order_id="O-17")))
    assert (score.value, score.success) == (1.0, True)


def test_a_right_answer_that_no_result_held_is_a_guess() -> None:
    score = Verifier().verify(LOOKUP, tried("The total is 12.5."))
    assert (score.value, score.success) == (0.0, False)
    assert "no tool result held it" in score.explanation


def test_a_dump_of_everything_is_no_answer() -> None:
    dump = "12.5 " + "and the rest of the record is here " * 20
    assert not Verifier().verify(LOOKUP, tried(dump, called(order_id="O-17"))).success


def test_naming_what_other_rows_say_is_no_answer() -> None:
    pick = replace(LOOKUP, checks=(Fact(12.5, "total", rivals=(9, 80.0)),))
    rows = called(order_id="O-17", result=ToolResult('[{"total":9},{"total":12.5},{"total":80.0}]'))
    assert Verifier().verify(pick, tried("The total is 12.5.", rows)).success
    hedged = Verifier().verify(pick, tried("The total is 12.5 or 80.", rows))
    assert not hedged.success
    assert "also gives 80.0, which is another row's" in hedged.explanation


def test_progress_ranks_the_near_misses_below_success_and_above_nothing() -> None:
    verifier = Verifier()
    nothing = verifier.verify(LOOKUP, tried("I do not know.")).value
    wrong_tool = verifier.verify(LOOKUP, tried("?", called("list_orders", ToolResult("[]")))).value
    wrong_argument = verifier.verify(
        LOOKUP, tried("?", called(result=ToolResult("no", is_error=True), order_id="O-71"))
    ).value
    right_call = verifier.verify(LOOKUP, tried("?", called(order_id="O-17"))).value
    assert nothing == wrong_tool == 0.0 < wrong_argument < right_call < 0.5


def test_among_successes_the_shorter_wins_and_equals_tie_exactly() -> None:
    verifier = Verifier()
    short = verifier.verify(LOOKUP, tried("12.5", called(order_id="O-17")))
    longer = verifier.verify(LOOKUP, tried("12.5", called("list_orders"), called(order_id="O-17")))
    again = verifier.verify(LOOKUP, tried("It is 12.5", called(order_id="O-17")))
    assert short.value == again.value > longer.value > 0.9


def test_a_task_about_something_missing_wants_the_failed_call_and_the_word() -> None:
    scenario = Scenario(
        "s",
        "?",
        (CallMade("get_order", {"order_id": "O-9"}, failed=True), SaysMissing()),
        (Call("get_order", {"order_id": "O-9"}),),
    )
    failed = called(result=ToolResult("No order O-9", is_error=True), order_id="O-9")
    assert Verifier().verify(scenario, tried("I could not find order O-9.", failed)).success
    assert not Verifier().verify(scenario, tried("I could not find order O-9.")).success
    assert not Verifier().verify(scenario, tried("Its status is paid.", failed)).success


def test_a_write_counts_when_the_state_reads_back_not_when_the_answer_says_so() -> None:
    scenario = Scenario(
        "s", "?", (StateHolds("get_order", {"order_id": "O-17"}, ("shipped",)),), (Call("set_status", {}),)
    )
    assert not Verifier().verify(scenario, tried("Done, it is shipped.", state=(RESULT,))).success
    assert Verifier().verify(scenario, tried("", state=(ToolResult('{"status":"shipped"}'),))).success
    assert not Verifier().verify(scenario, tried("", state=(ToolResult("shipped not allowed", is_error=True),))).success
    assert not Verifier().verify(scenario, tried("Done.")).success


async def test_scores_carry_ids_and_broken_trajectories_get_none() -> None:
    broken = Trajectory("b", "s", (), (), stop="error", error="the server died")
    good = tried("12.5", called(order_id="O-17"), name="g")
    scores = await open_judge(JudgeConfig(), ()).score(Group(LOOKUP, (broken, good)))
    assert [(score.trajectory_id, score.success) for score in scores] == [("g", True)]


def test_an_unknown_judge_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown judge 'oracle'"):
        open_judge(JudgeConfig(name="oracle"), ())


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("the total is $12.50.", 12.5, True),
        ("1,200 units", 1200, True),
        ("order 129", 12, False),
        ("order O-179", "O-17", False),
        ("ADA  Byron lives here", "Ada Byron", True),
        ("the offset is +9.0h", "+9.0h", True),
        ("Yes, it is", True, True),
        ("it is untrue", True, False),
        ("at 09:30:00+09:00", "09:30:00+09:00", True),
    ],
)
def test_a_text_holds_a_value_as_whole_words_and_by_number(text: str, value: object, held: bool) -> None:
    assert holds(text, value) is held  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "text", ["I could not find order O-9.", "There is no such file.", "It doesn't exist", "not found"]
)
def test_many_ways_to_say_that_something_is_missing(text: str) -> None:
    assert says_missing(text)


def test_arguments_left_out_count_as_their_default() -> None:
    schema = {"properties": {"limit": {"type": "integer", "default": 5}}}
    assert same_arguments({"city": "Oslo"}, {"city": "Oslo", "limit": 5}, schema)
    assert same_arguments({"city": "Oslo", "status": None}, {"city": "Oslo"})
    assert same_arguments({"a": 1}, {"a": 1.0})
    assert not same_arguments({"a": True}, {"a": 1})
    assert not same_arguments(None, {})
