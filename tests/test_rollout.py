"""Rollouts on a real server: every turn is recorded, bad calls are data, what broke is tried again, nothing hangs."""

import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.events import Recorder
from support.paths import ODD, SERVERS, SHOP

from mcprl.chat.hermes import as_message, parse_reply
from mcprl.config import Config, ModelConfig, RolloutConfig, ServerConfig, ToolPolicy
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import EngineError, EngineLost, McprlError, PromptTooLong, ServerError
from mcprl.events import Emit, Event, Note, Repeated, ignore
from mcprl.judges.verifier import Verifier
from mcprl.models.load import load_model
from mcprl.rollout import LOSSES, Sampler, check_finished, rollout
from mcprl.runs.journal import Journal
from mcprl.runs.ledger import TOO_FEW, Ledger, ledger
from mcprl.runs.records import given_calls
from mcprl.runs.settings import parse
from mcprl.runs.trackers.files import Files
from mcprl.servers.server import connect
from mcprl.training.demonstrations import transcript
from mcprl.training.rows import certificate, training_rows
from mcprl.types import (
    Adapter,
    Call,
    Completion,
    CompletionRequest,
    Group,
    Message,
    Scenario,
    StateHolds,
    Trajectory,
)

CALL = '<tool_call>{"name": "get_order", "arguments": {"order_id": "O-2107"}}</tool_call>'
SHIP = '<tool_call>{"name": "set_order_status", "arguments": {"order_id": "O-2107", "status": "shipped"}}</tool_call>'
SHIPPED = StateHolds("get_order", {"order_id": "O-2107"}, ("shipped",))


class Scripted:
    """An engine whose policy is a function from the request to text. Its token ids are the text's bytes."""

    def __init__(self, says: Callable[[CompletionRequest], str]) -> None:
        self.says = says
        self.requests: list[CompletionRequest] = []

    async def complete(self, request: CompletionRequest) -> Completion:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        text = self.says(request)
        reply = parse_reply(text, len(request.messages))
        message = as_message(reply)
        ids = tuple(text.encode())
        reason = "tool_calls" if message.get("tool_calls") else "length" if len(ids) >= request.max_tokens else "stop"
        prompt = (*request.context_ids, len(request.messages))
        return Completion(message, prompt, ids, (-0.5,) * len(ids), reason, malformed=reply.malformed)

    async def ready(self) -> None: ...

    def paused(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def load_adapter(self, adapter: Adapter) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


async def tries(
    engine: Scripted, *scenarios: Scenario, count: int = 1, read_only: bool = True, **settings: Any
) -> list[list[Trajectory]]:
    config = RolloutConfig.model_validate({"max_tokens": 400, **settings})
    found: dict[tuple[str, int], Trajectory] = {}

    async def sample(scenario: Scenario, number: int) -> None:
        name = f"train/1/{scenario.id}/{number}"
        found[scenario.id, number] = await rollout(scenario, server, engine, config, name=name, seed=7, adapter=None)

    policy = ToolPolicy(read_only=read_only)
    async with connect([ServerConfig(target=SHOP)], policy) as server, anyio.create_task_group() as tasks:
        for scenario in scenarios:
            for number in range(count):
                tasks.start_soon(sample, scenario, number)
    return [[found[scenario.id, number] for number in range(count)] for scenario in scenarios]


def script(*turns: str) -> Callable[[CompletionRequest], str]:
    def says(request: CompletionRequest) -> str:
        return turns[sum(message["role"] == "assistant" for message in request.messages)]

    return says


def scenario(name: str = "s", *checks: StateHolds) -> Scenario:
    return Scenario(name, f"What is the status of order O-2107 ({name})?", checks)


async def test_a_conversation_is_recorded_turn_by_turn_and_its_context_grows_by_what_was_sampled() -> None:
    engine = Scripted(script(CALL, "The status is open."))
    [[tried]] = await tries(engine, scenario())
    assert [message["role"] for message in tried.messages] == ["user", "assistant", "tool", "assistant"]
    assert tried.messages[2]["tool_call_id"] == tried.messages[1]["tool_calls"][0]["id"]
    assert tried.calls[0].tool == "get_order"
    assert "O-2107" in tried.calls[0].result.text
    assert (tried.stop, tried.answer) == ("answered", "The status is open.")
    first, second = tried.turns
    assert (
        second.prompt_ids[: len(first.prompt_ids) + len(first.completion_ids)]
        == first.prompt_ids + first.completion_ids
    )


async def test_trajectories_come_back_by_scenario_and_try_with_ids_and_seeds_of_their_own() -> None:
    engine = Scripted(script("I do not know."))
    tried_P_G = await tries(engine, scenario("a"), scenario("b"), count=3)
    assert [[tried.id for tried in tried_G] for tried_G in tried_P_G] == [
        [f"train/1/{name}/{g}" for g in range(3)] for name in ("a", "b")
    ]
    assert len({request.seed for request in engine.requests}) == 6


async def test_a_call_that_cannot_be_read_is_answered_with_what_is_wrong() -> None:
    engine = Scripted(script('<tool_call>{"name": "get_order", </tool_call>', CALL, "open"))
    [[tried]] = await tries(engine, scenario())
    assert tried.messages[2]["role"] == "user"
    assert tried.messages[2]["content"].startswith("Error: the tool call could not be read")
    assert (tried.calls[0].arguments, tried.calls[0].result.is_error) == (None, True)
    assert tried.stop == "answered"


async def test_a_tool_that_may_not_be_called_is_not_called() -> None:
    engine = Scripted(script(SHIP, "Done."))
    [[tried]] = await tries(engine, scenario("s", SHIPPED))
    assert tried.calls[0].result.is_error
    assert "shipped" not in tried.state[0].text


async def test_the_state_is_read_back_in_the_session_that_wrote_it_and_other_tries_do_not_see_it() -> None:
    engine = Scripted(
        lambda request: script(SHIP if "(w)" in request.messages[0]["content"] else CALL, "Done.")(request)
    )
    [[wrote], [read]] = await tries(engine, scenario("w", SHIPPED), scenario("r", SHIPPED), read_only=False)
    assert "shipped" in wrote.state[0].text
    assert "shipped" not in wrote.before[0].text
    assert "shipped" not in read.state[0].text


async def test_a_state_that_cannot_be_read_breaks_the_rollout_and_does_not_look_like_a_deletion() -> None:
    gone = scenario("s", StateHolds("get_order", {"order_id": "O-2107"}, (), ("O-2107",)))
    engine = Scripted(script("Order O-2107 is deleted."))
    policy = ToolPolicy(max_calls_per_tool={"get_order": 1})
    options: dict[str, Any] = {"name": "train/1/s/0", "seed": 7, "adapter": None}
    async with connect([ServerConfig(target=SHOP)], policy) as server:
        tried = await rollout(gone, server, engine, RolloutConfig(), **options)
    assert tried.stop == "error"
    assert "the state cannot be read: Error: 'get_order' is not called" in tried.error


async def test_a_rollout_waits_for_its_turn_on_a_shared_state_without_losing_time(tmp_path: Path) -> None:
    """Three writers on one file: each finds the state reset, and the wait does not count towards the deadline."""
    note = {"name": "a", "text": "x"}
    write = f'<tool_call>{{"name": "set_note", "arguments": {json.dumps(note)}}}</tool_call>'
    deadlines: list[float] = []

    class Slow(Scripted):
        async def complete(self, request: CompletionRequest) -> Completion:
            deadlines.append(anyio.current_effective_deadline() - anyio.current_time())
            return await super().complete(request)

    engine = Slow(script(write, "Done."))
    task = Scenario("s", "Note x.", (StateHolds("get_note", {"name": "a"}, ("x",)),), (Call("set_note", note),))
    config = ServerConfig(
        target=f"{sys.executable} {SERVERS / 'shared_notes.py'} {tmp_path / 'notes.json'}", reset_tool="clear_notes"
    )
    found: list[Trajectory] = []

    async def sample(number: int) -> None:
        name = f"train/1/s/{number}"
        found.append(
            await rollout(task, server, engine, RolloutConfig(deadline_s=100), name=name, seed=7, adapter=None)
        )

    async with connect([config]) as server, anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(sample, number)
    assert [each.stop for each in found] == ["answered"] * 3
    assert [(each.before[0].text, each.state[0].text) for each in found] == [("(empty)", "x")] * 3
    assert all(left > 90 for left in deadlines)
    assert all(Verifier(server.tools).verify(task, each).success for each in found)


async def test_a_policy_that_writes_in_a_readers_task_begins_again_alone_and_no_reader_sees_it(tmp_path: Path) -> None:
    """Two policies are asked to read a note, and one writes it first, while the other reads."""
    set_note, get_note = (
        f'<tool_call>{{"name": "{name}", "arguments": {json.dumps(arguments)}}}</tool_call>'
        for name, arguments in (("set_note", {"name": "a", "text": "x"}), ("get_note", {"name": "a"}))
    )
    started, both, again = [], anyio.Event(), anyio.Event()
    found: dict[str, Trajectory] = {}

    class Started(Scripted):
        """The first turns begin together; a reader's first call waits until the writer has begun again."""

        async def ready(self) -> None:
            started.append(self)
            (both if len(started) == 2 else again if len(started) == 3 else anyio.Event()).set()

        async def complete(self, request: CompletionRequest) -> Completion:
            await both.wait()
            if self is reader:
                await again.wait()
            return await super().complete(request)

    async def sample(name: str, engine: Started) -> None:
        task, config = scenario(), RolloutConfig(deadline_s=20.0)
        found[name] = await rollout(task, server, engine, config, name=name, seed=7, adapter=None)
        again.set()

    writer, reader = Started(script(set_note, get_note, "x")), Started(script(get_note, "Nothing."))
    target = f"{sys.executable} {SERVERS / 'shared_notes.py'} {tmp_path / 'notes.json'}"
    async with (
        connect([ServerConfig(target=target, reset_tool="clear_notes")]) as server,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(sample, "writer", writer)
        tasks.start_soon(sample, "reader", reader)
    results = {name: [call.result.text for call in each.calls] for name, each in found.items()}
    assert results == {"writer": ["ok", "x"], "reader": ["(empty)"]}


async def test_a_reset_that_fails_breaks_the_rollout_and_not_the_run(tmp_path: Path) -> None:
    engine = Scripted(script("Done."))
    target = f"{sys.executable} {SERVERS / 'shared_notes.py'} {tmp_path / 'notes.json'}"
    async with connect([ServerConfig(target=target, reset_tool="nothing")]) as server:
        trajectory = await rollout(scenario(), server, engine, RolloutConfig(), name="n", seed=7, adapter=None)
    assert trajectory.stop == "error"
    assert "the reset call nothing failed" in trajectory.error


@pytest.mark.parametrize(
    ("turns", "settings", "stop"),
    [([CALL] * 9, {"max_turns": 3}, "max_turns"), (["x" * 50], {"max_tokens": 20}, "max_tokens")],
)
async def test_budgets_end_a_rollout(turns: Sequence[str], settings: dict[str, Any], stop: str) -> None:
    [[tried]] = await tries(Scripted(script(*turns)), scenario(), **settings)
    assert (tried.stop, tried.answer) == (stop, "")
    assert tried.turns


async def test_a_policy_that_reads_more_than_it_can_hold_has_met_a_limit_and_did_not_break() -> None:
    class Short(Scripted):
        async def complete(self, request: CompletionRequest) -> Completion:
            if len(self.requests) == limit:
                raise PromptTooLong("the prompt has 5000 tokens")
            return await super().complete(request)

    limit = 2
    [[tried]] = await tries(Short(script(*[CALL] * 9)), scenario())
    assert (tried.stop, len(tried.turns), len(tried.calls)) == ("max_tokens", 2, 2)
    limit = 0  # the task itself is too long
    [[tried]] = await tries(Short(script(CALL)), scenario())
    assert (tried.stop, tried.turns) == ("error", ())
    assert "the prompt has 5000 tokens" in tried.error


async def test_an_engine_that_never_answers_costs_one_deadline() -> None:
    class Mute(Scripted):
        async def complete(self, request: CompletionRequest) -> Completion:
            await anyio.sleep_forever()
            raise AssertionError

    [[tried]] = await tries(Mute(script("")), scenario(), deadline_s=0.2)
    assert tried.stop == "deadline"


async def test_a_hung_turn_ends_with_the_deadline_and_the_other_members_do_not_wait_for_it() -> None:
    class Hung(Scripted):
        async def complete(self, request: CompletionRequest) -> Completion:
            first = not self.requests
            completion = await super().complete(request)
            if first:
                await anyio.sleep_forever()
            return completion

    began = time.monotonic()
    [members] = await tries(Hung(script(CALL, "Shipped.")), scenario(), count=4, deadline_s=3.0)
    assert time.monotonic() - began < 3.0 + 2 + 3  # the shop may take three seconds to start
    assert sorted(each.stop for each in members) == ["answered"] * 3 + ["deadline"]
    assert all(each.seconds < 3.0 for each in members if each.stop == "answered")
    assert max(each.seconds for each in members) < 3.0 + 2


async def test_a_hung_tool_ends_with_the_calls_deadline_and_the_other_members_do_not_wait_for_it() -> None:
    sleep = '<tool_call>{"name": "sleep", "arguments": {"seconds": 600}}</tool_call>'
    echo = '<tool_call>{"name": "echo", "arguments": {"x": 1}}</tool_call>'
    members: dict[str, Trajectory] = {}
    turns = iter([sleep, echo, echo, echo])

    async def sample(name: str, turn: str) -> None:
        engine, config = Scripted(script(turn, "Done.")), RolloutConfig(deadline_s=30.0)
        members[name] = await rollout(scenario(), server, engine, config, name=name, seed=7, adapter=None)

    servers = [ServerConfig(target=ODD, timeout_s=5.0)]
    async with connect(servers, ToolPolicy(read_only=True)) as server, anyio.create_task_group() as tasks:
        for number, turn in enumerate(turns):
            tasks.start_soon(sample, str(number), turn)
    assert {each.stop for each in members.values()} == {"answered"}
    assert [members[str(n)].calls[0].result.is_error for n in range(4)] == [True, False, False, False]
    assert "no answer within 5 s" in members["0"].calls[0].result.text
    assert 5.0 <= members["0"].seconds < 5.0 + 5
    assert max(members[str(n)].seconds for n in (1, 2, 3)) < 5.0


async def test_an_engine_that_takes_no_adapter_ends_the_run_with_the_deadline(tmp_path: Path) -> None:
    class Hung(Scripted):
        async def load_adapter(self, adapter: Adapter) -> None:
            await anyio.sleep_forever()

    config = parse({"rollout": {"deadline_s": 0.2}})
    async with connect([ServerConfig(target=ODD)], ToolPolicy(read_only=True)) as server:
        sampler = Sampler(config, server, Hung(script("")))
        began = time.monotonic()
        with pytest.raises(EngineError, match=r"took no adapter in 0.2 s"):
            await sampler.groups("train", 2, [scenario()], 1, Adapter(str(tmp_path), 1))
    assert time.monotonic() - began < 0.2 + 2


async def test_rollouts_whose_failure_stopped_the_run_are_sampled_anew_when_it_is_resumed(tmp_path: Path) -> None:
    def fails(request: CompletionRequest) -> str:
        raise EngineError("the worker died")

    config = parse({"rollout": {"retries": 0}})
    with Journal.create(tmp_path / "run", config) as journal:
        async with connect([ServerConfig(target=ODD)], ToolPolicy(read_only=True)) as server:
            with pytest.raises(ServerError, match="3 of 3 rollouts broke"):
                await Sampler(config, server, Scripted(fails), journal).groups("train", 1, [scenario()], 3, None)
            mended = Sampler(config, server, Scripted(script("It was shipped.")), journal)
            [group] = await mended.groups("train", 1, [scenario()], 3, None)
        assert [each.stop for each in group.trajectories] == ["answered"] * 3
        assert ledger(journal).issued == 6
        assert list(ledger(journal).dropped.values()) == [3]


class Failing(Scripted):
    """Fails at the first turns of one task: with an error, or by hanging."""

    def __init__(self, failures: int, hangs: bool) -> None:
        super().__init__(script("It was shipped."))
        self.left, self.hangs = failures, hangs

    async def complete(self, request: CompletionRequest) -> Completion:
        completion = await super().complete(request)
        if self.left and "(b)" in request.messages[0]["content"]:
            self.left -= 1
            if self.hangs:
                await anyio.sleep_forever()
            raise EngineError("the worker died")
        return completion


BOTH = pytest.mark.parametrize("hangs", [False, True], ids=["broken", "late"])


async def groups_of_four(run: Journal, engine: Scripted, emit: Emit = ignore) -> Counter[str]:
    """Three training groups; how the members of the second ended."""
    config = parse({"rollout": {"retries": 0, "deadline_s": 1.0}})
    async with connect([ServerConfig(target=ODD)], ToolPolicy(read_only=True)) as server:
        scenarios = [scenario(name) for name in "abc"]
        groups = await Sampler(config, server, engine, run, emit).groups("train", 2, scenarios, 4, None)
    assert [each.stop for group in (groups[0], groups[2]) for each in group.trajectories] == ["answered"] * 8
    assert sorted(run.trajectories("train", 2), key=lambda t: t.id) == [t for g in groups for t in g.trajectories]
    return Counter(each.stop for each in groups[1].trajectories)


@pytest.fixture
def run(tmp_path: Path) -> Generator[Journal]:
    with Journal.create(tmp_path / "run", Config()) as journal:
        yield journal


@BOTH
async def test_a_group_of_which_too_few_finished_is_issued_again(run: Journal, hangs: bool) -> None:
    engine, emitted = Failing(3, hangs), Recorder()
    assert await groups_of_four(run, engine, emitted) == {"answered": 4}
    assert ledger(run) == Ledger(0, {TOO_FEW: 3}, waiting=12)
    assert emitted.notes == ["too few rollouts finished in 1 of 3 groups of step 2: 3 rollouts issued again"]
    assert len({request.seed for request in engine.requests}) == 15, "what failed is not drawn alike again"


@BOTH
async def test_a_group_is_issued_again_once_and_the_ledger_knows_it_after_a_resume(run: Journal, hangs: bool) -> None:
    engine = Failing(99, hangs)
    for _ in range(2):  # the second time as a resumed run does
        assert await groups_of_four(run, engine) == {"deadline" if hangs else "error": 4}
        assert ledger(run) == Ledger(0, {TOO_FEW: 4}, waiting=12)
        assert len(engine.requests) == 16


async def test_a_group_of_which_half_finished_is_trained_on_as_it_is(run: Journal) -> None:
    engine = Failing(2, hangs=False)
    assert await groups_of_four(run, engine) == {"answered": 2, "error": 2}
    assert (ledger(run).dropped, len(engine.requests)) == ({}, 12)


async def test_a_run_that_is_killed_as_it_issues_a_group_again_does_so_when_it_is_resumed(run: Journal) -> None:
    def killed(event: Event) -> None:
        if isinstance(event, Note):
            raise RuntimeError

    engine = Failing(3, hangs=False)
    with pytest.raises(RuntimeError):
        await groups_of_four(run, engine, killed)
    assert ledger(run) == Ledger(0, {TOO_FEW: 3}, waiting=9)
    assert await groups_of_four(run, engine) == {"answered": 4}
    assert ledger(run) == Ledger(0, {TOO_FEW: 3}, waiting=12)


@pytest.mark.parametrize(
    ("stops", "turns", "said"),
    [
        (["answered"] * 9 + ["error"], 1, ""),
        (["answered"] * 9 + ["deadline"], 1, ""),
        (["answered"] * 8 + ["deadline"] * 2, 1, r"2 of 10 rollouts ran out of time: .* --deadline-s"),
        (["deadline"] * 10, 1, r"10 of 10 rollouts ran out of time"),
        (
            ["deadline"] * 10,
            0,
            r"EngineError: none of 10 rollouts had its first turn within 120 seconds; .*--deadline-s",
        ),
        (["answered"] * 4 + ["error"] * 6, 1, r"ServerError: 6 of 10 rollouts broke; the last: it fell"),
    ],
)
def test_what_was_cut_short_is_said_and_where_it_is_nearly_all_the_run_ends(
    stops: list[Any], turns: int, said: str
) -> None:
    turn = Completion(Message(role="assistant", content=""), (1,), (2,), (-1.0,), "stop", 0)
    cut = [Trajectory("t", "s", (), (turn,) * turns, stop=stop, error="it fell") for stop in stops]
    try:
        found = check_finished(cut, RolloutConfig())
    except McprlError as error:
        found = f"{type(error).__name__}: {error}"
    assert re.search(f"^{said}", found) if said else not found


async def test_the_time_that_an_engine_takes_to_start_is_no_tries_own() -> None:
    left: list[float] = []

    class Slow(Scripted):
        async def ready(self) -> None:
            left.append(anyio.current_effective_deadline())

        async def complete(self, request: CompletionRequest) -> Completion:
            left.append(anyio.current_effective_deadline())
            return await super().complete(request)

    [[tried]] = await tries(Slow(script("I do not know.")), scenario(), deadline_s=100)
    assert tried.stop == "answered"
    assert left[0] == math.inf
    assert left[1] < math.inf


async def test_an_engine_that_will_never_be_ready_ends_the_run() -> None:
    class Dead(Scripted):
        async def ready(self) -> None:
            raise EngineError("vLLM did not start")

    with pytest.RaisesGroup(pytest.RaisesExc(EngineError, match="did not start"), flatten_subgroups=True):
        await tries(Dead(script("")), scenario())


async def test_a_broken_engine_is_tried_again_and_then_is_data() -> None:
    def fails(request: CompletionRequest) -> str:
        raise EngineError("the worker died")

    engine, emitted = Scripted(fails), Recorder()
    async with connect([ServerConfig(target=ODD)], ToolPolicy(read_only=True)) as server:
        config = RolloutConfig(retries=2)
        tried = await rollout(scenario(), server, engine, config, name="n", seed=7, adapter=None, emit=emitted)
    assert len(engine.requests) == 3
    assert (tried.stop, tried.error) == ("error", "EngineError: the worker died")
    assert emitted.events == [Repeated("n", "EngineError: the worker died")] * 2


@pytest.mark.parametrize(("losses", "stop", "asked"), [(LOSSES + 1, "answered", LOSSES + 2), (99, "error", LOSSES + 2)])
async def test_a_rollout_that_lost_its_engine_keeps_its_own_retries(losses: int, stop: str, asked: int) -> None:
    left = iter(range(losses))

    def dies(request: CompletionRequest) -> str:
        if next(left, None) is not None:
            raise EngineLost("vLLM failed: Connection error.")
        return "I do not know."

    engine = Scripted(dies)
    [[tried]] = await tries(engine, scenario(), retries=1)
    assert (tried.stop, len(engine.requests)) == (stop, asked)


async def test_with_given_calls_the_policy_begins_behind_the_calls_that_were_made_for_it_in_the_same_session() -> None:
    engine = Scripted(script("", CALL, "It is shipped."))
    plan = Call("set_order_status", {"order_id": "O-2107", "status": "shipped"}), Call("get_order", {})
    task = Scenario("s", "Order O-2107 has left. What is its status?", (SHIPPED,), plan)
    options: dict[str, Any] = {"name": "train/1/s/0", "seed": 7, "adapter": None, "given_calls": 1}
    async with connect([ServerConfig(target=SHOP)], ToolPolicy(sandbox=True)) as server:
        tried = await rollout(task, server, engine, RolloutConfig(max_tokens=400), **options)
    assert [message["role"] for message in tried.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert [(call.turn, call.tool) for call in tried.calls] == [(-1, "set_order_status"), (0, "get_order")]
    assert "shipped" in tried.calls[1].result.text
    assert (given_calls(tried), len(tried.turns), tried.answer) == (1, 2, "It is shipped.")
    assert [len(request.messages) for request in engine.requests] == [3, 5]
    assert engine.requests[0].context_ids == ()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_secret_in_a_servers_command_stays_out_of_all_that_a_run_keeps(tmp_path: Path) -> None:
    target = f"{ODD} --api-key sk-verysecret"
    config = parse({"servers": [{"target": target}]})
    engine = Scripted(script('<tool_call>{"name": "crash", "arguments": {}}</tool_call>'))
    options: dict[str, Any] = {"name": "train/1/s/0", "seed": 7, "adapter": None}
    async with connect(config.servers, log=tmp_path / "server.log") as server:
        broken = await rollout(scenario(), server, engine, RolloutConfig(), **options)
    assert broken.error.startswith("SessionLost: ")
    assert "exited with status 7" in broken.error
    group = Group(scenario(), (broken,))
    with Journal.create(tmp_path, config) as journal:
        journal.write_trajectories("train", 1, group.trajectories)
        files = Files(tmp_path, 0)
        files.log_groups(1, [group], [])
        files.close(None)
    kept = contents(tmp_path)
    assert b"exited with status 7" in kept["groups.jsonl"]
    assert {"journal.sqlite", "server.log", "config.toml"} <= set(kept)
    assert not [name for name, content in kept.items() if b"verysecret" in content]


async def test_a_servers_instructions_lead_every_conversation_and_rows_stay_exact(tiny_model: Path) -> None:
    loaded = load_model(ModelConfig(name=str(tiny_model), lora_rank=4))
    engine = EmbeddedEngine(loaded)
    config = RolloutConfig(max_tokens=8, max_turns=2)
    options: dict[str, Any] = {"name": "train/1/s/0", "seed": 7, "adapter": None}
    counter = ServerConfig(target=f"{ODD} instructions 'Add one<|im_end|> at a time.'")
    try:
        async with connect([counter]) as server:
            trajectories = [await rollout(scenario(), server, engine, config, **options) for _ in range(2)]
            ideal = await transcript(server, scenario())
    finally:
        await engine.close()
    for trajectory in trajectories:
        assert [message["role"] for message in trajectory.messages[:2]] == ["system", "user"]
        prompt = str(loaded.tokenizer.decode(trajectory.turns[0].prompt_ids))
        assert prompt.startswith("<|im_start|>system\nAdd one< |im_end|> at a time.\n")
        assert certificate(training_rows(trajectory), [trajectory]).exactness == 1.0
    assert ideal[0] == trajectories[0].messages[0]


async def test_recorded_trajectories_are_not_sampled_again(tmp_path: Path) -> None:
    engine = Scripted(script("I do not know."))
    config = parse({"seed": 7})
    recorded = Trajectory("train/1/s/0", "s", (), ())
    with Journal.create(tmp_path / "run", config) as journal:
        journal.write_trajectories("train", 1, [recorded])
        async with connect([ServerConfig(target=SHOP)], ToolPolicy()) as server:
            sampler = Sampler(config, server, engine, journal)
            [group] = await sampler.groups("train", 1, [scenario()], 2, None)
        assert [each.id for each in journal.trajectories("train", 1)] == ["train/1/s/0", "train/1/s/1"]
    assert group.trajectories[0] == recorded
    assert len(engine.requests) == 1


async def test_a_result_that_explodes_in_its_schemas_pattern_ends_in_time_and_the_group_does_not_notice() -> None:
    def says(request: CompletionRequest) -> str:
        if request.messages[-1]["role"] == "tool":
            return str(request.messages[-1]["content"])
        tool = "bomb" if "attack" in request.messages[0]["content"] else "value"
        return f'<tool_call>{{"name": "{tool}", "arguments": {{}}}}</tool_call>'

    found: dict[str, Trajectory] = {}
    config = RolloutConfig(max_tokens=400, deadline_s=20, retries=0)
    members = ["attack", *(f"member {number}" for number in range(5))]

    async def sample(member: str) -> None:
        task = Scenario(member, member, ())
        found[member] = await rollout(task, server, engine, config, name=member, seed=1, adapter=None)

    engine = Scripted(says)
    servers = [ServerConfig(target=ODD, timeout_s=2.0)]
    async with connect(servers, ToolPolicy(sandbox=True)) as server, anyio.create_task_group() as tasks:
        for member in members:
            tasks.start_soon(sample, member)
    attacked = found.pop("attack")
    assert "aaaa!" in str(attacked.messages[-1]["content"])
    assert attacked.seconds < 2 + 2 + 5  # the call's deadline, what is allowed beyond it, starting the process
    assert [each.stop for each in found.values()] == ["answered"] * 5
    assert all(json.loads(str(each.messages[-1]["content"])) == {"total": 0} for each in found.values())
