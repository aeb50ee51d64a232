"""Demonstrations: the verified plans of training tasks, executed and written down as the turns of a policy."""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import anyio

from mcprl.chat.prompts import Tokenizer, control_pattern, encode, opening_messages, prompt_ids, render
from mcprl.chat.tool_search import ToolSearch, searching
from mcprl.chat.written import write_calls
from mcprl.config import Config
from mcprl.errors import ServerError
from mcprl.events import Emit, Note
from mcprl.runs.journal import Journal
from mcprl.servers.effects import turn_on, writes
from mcprl.servers.injecting import injected
from mcprl.servers.live import refreshed
from mcprl.servers.retries import again_if_lost
from mcprl.servers.server import Server
from mcprl.training.renaming import renamed
from mcprl.training.rows import training_rows
from mcprl.types import Completion, Message, Row, Scenario, Tool, ToolServer, Trajectory


def demonstration(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), name: str = "demonstration"
) -> Trajectory:
    """A written conversation as a trajectory: each assistant turn has the ids that a policy would have sampled.

    Text that the template puts behind the end-of-turn token (a line break) belongs to the next prompt, as in a rollout.
    """
    turns: list[Completion] = []
    control = control_pattern(tokenizer)
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns else ()
        prompt = prompt_ids(tokenizer, messages[:at], tools, context)
        before, after = render(tokenizer, messages[:at], tools), render(tokenizer, messages[: at + 1], tools, False)
        text = after.removeprefix(before)
        *_, end_of_turn = control.finditer(text)
        ids = encode(tokenizer, text[: end_of_turn.end()])
        turns.append(Completion(message, prompt, ids, (0.0,) * len(ids), "stop"))
    return Trajectory(name, name, tuple(messages), tuple(turns))


async def transcript(server: ToolServer, scenario: Scenario, search: ToolSearch | None = None) -> tuple[Message, ...]:
    """The ideal conversation of a scenario: its plan executed in a fresh session, then its answer. With `search` each
    tool is found before its first call. On a state that all sessions share a plan that writes has a turn of its own.
    Raises `ServerError`, also if a call was not made or got no answer: who learns from that learns to make one up.
    """
    messages = opening_messages(scenario.request, server.instructions)
    async with turn_on(server, writes(scenario, server.tools)), server.session(scenario.setup) as opened:
        records = await write_calls(messages, injected(opened, scenario), scenario.plan, search)
    if lost := [record.result.text for record in records if record.result.unanswered]:
        raise ServerError(f"{scenario.request!r} got no answer: {lost[0]}")
    return (*messages, {"role": "assistant", "content": refreshed(scenario, records)})


@dataclass
class Demonstrations:
    """The rows of each supervised step. A plan is executed once in a session, whichever steps draw its task, and each
    of these steps shows it with other identifiers (`renaming`)."""

    config: Config
    journal: Journal
    server: Server
    tokenizer: Tokenizer
    scenarios: Sequence[Scenario]
    """Those without a plan and an answer show nothing and are left out."""
    emit: Emit
    _told: dict[str, tuple[Message, ...]] = field(default_factory=dict[str, tuple[Message, ...]])
    _longest: int = 0

    async def rows(self, step: int) -> list[Row]:
        """The rows of a step. Raises `ServerError` if none of its tasks' plans can be executed."""
        shown = [scenario for scenario in self.scenarios if scenario.plan or scenario.answer]
        drawn = list(_drawn(shown, self.config.training.warm_start_plans, self.config.seed, step))
        new = {scenario.id: scenario for scenario in drawn if scenario.id not in self._told}
        await self._execute_all(new.values())
        shown_B = [self._demonstration(told, new[name]) for name in new if (told := self._told[name])]
        self.journal.write_trajectories("demonstration", step, shown_B)
        self._tell_if_cut(shown_B)
        rows_B = [row for scenario in drawn if self._told[scenario.id] for row in self._shown(scenario, step)]
        if not rows_B:
            raise ServerError(f"no plan of step {step} of the warm start could be executed; is the server running?")
        return rows_B

    async def _execute_all(self, scenarios: Collection[Scenario]) -> None:
        """Execute plans that read together, since a server far away takes its time, and those that write one by one.

        With several servers all go one by one: of two plans each could hold a process and wait for that of the other.
        """
        alone = [each for each in scenarios if len(self.server.describe()) > 1 or writes(each, self.server.tools)]
        async with anyio.create_task_group() as tasks:
            for scenario in scenarios:
                if scenario not in alone:
                    tasks.start_soon(self._execute, scenario)
        for scenario in alone:
            await self._execute(scenario)

    async def _execute(self, scenario: Scenario) -> None:
        """Keep the conversation; an empty one if the plan could not be executed."""
        try:
            messages = await again_if_lost(partial(transcript, self.server, scenario, self._search))
        except ServerError as error:
            self.emit(Note(f"a demonstration is left out: {error}"))
            messages = ()
        self._told[scenario.id] = messages

    def _tell_if_cut(self, shown_B: Sequence[Trajectory]) -> None:
        """Say once if plans have turns that a rollout cannot write to their end."""
        longest = max((len(turn.completion_ids) for shown in shown_B for turn in shown.turns), default=0)
        if longest > (most := self.config.rollout.max_tokens) >= self._longest:
            told = f"a plan has a turn of {longest} tokens, where rollouts are cut off after {most} and fail"
            self.emit(Note(f"{told}; --max-tokens {longest} lets them end it"))
        self._longest = max(self._longest, longest)

    def _shown(self, scenario: Scenario, step: int) -> list[Row]:
        rng = random.Random(f"{self.config.seed} step {step} of {scenario.id}")
        return training_rows(self._demonstration(renamed(self._told[scenario.id], self.server.tools, rng), scenario))

    def _demonstration(self, messages: Sequence[Message], scenario: Scenario) -> Trajectory:
        tools = (self._search.tool,) if self._search else self.server.tools
        return demonstration(self.tokenizer, messages, tools, scenario.id)

    @cached_property
    def _search(self) -> ToolSearch | None:
        return searching(self.server.tools, self.config.rollout.tool_search)


def _drawn(scenarios: Sequence[Scenario], count: int, seed: int, step: int) -> Iterator[Scenario]:
    """The scenarios of a step: shuffled epochs cut into steps, so that each scenario is drawn equally often."""
    count = min(count, len(scenarios))
    for at in range((step - 1) * count, step * count):
        epoch, position = divmod(at, len(scenarios))
        order = list(range(len(scenarios)))
        random.Random(f"{seed} epoch {epoch}").shuffle(order)
        yield scenarios[order[position]]
