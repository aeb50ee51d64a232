"""The warm start: a few supervised steps on verified plans before RL."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import anyio

from mcprl.chat.prompts import Tokenizer, control_pattern, encode, opening_messages, prompt_ids, render
from mcprl.config import Config
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import LoadedModel
from mcprl.runs.journal import Journal
from mcprl.servers.server import Server
from mcprl.training.rows import training_rows
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, Completion, Message, Row, Scenario, Tool, ToolServer, Trajectory

Say = Callable[..., None]


def demonstration(
    tokenizer: Tokenizer, messages: Sequence[Message], tools: Sequence[Tool] = (), name: str = "demonstration"
) -> Trajectory:
    """A conversation that somebody wrote, as a trajectory whose turns have the ids that a policy would have had to
    sample.

    What the template puts behind the assistant's words (a line break, say) is left to the next prompt, as in a rollout.
    """
    turns: list[Completion] = []
    end = control_pattern(tokenizer)
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        context = (*turns[-1].prompt_ids, *turns[-1].completion_ids) if turns else ()
        prompt = prompt_ids(tokenizer, messages[:at], tools, context)
        before, after = render(tokenizer, messages[:at], tools), render(tokenizer, messages[: at + 1], tools, False)
        said = after.removeprefix(before)
        last = list(end.finditer(said))[-1]
        ids = encode(tokenizer, said[: last.end()])
        turns.append(Completion(message, prompt, ids, (0.0,) * len(ids), "stop"))
    return Trajectory(name, name, tuple(messages), tuple(turns))


async def transcript(server: ToolServer, scenario: Scenario) -> tuple[Message, ...]:
    """The ideal conversation of a scenario: its plan executed in a fresh session, then its answer."""
    messages = opening_messages(scenario.request, server.instructions)
    async with server.session(scenario.setup) as session:
        for number, call in enumerate(scenario.plan):
            function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            calls = [{"id": f"call{number:05}", "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            result = await session.call(call.tool, call.arguments)
            messages.append({"role": "tool", "tool_call_id": f"call{number:05}", "content": result.text})
    return (*messages, {"role": "assistant", "content": scenario.answer})


async def warm_start(
    config: Config,
    journal: Journal,
    server: Server,
    loaded: LoadedModel,
    scenarios: Sequence[Scenario],
    say: Say,
    show: Callable[[str, dict[str, Any]], None],
) -> Adapter | None:
    """A few supervised steps on the training tasks' verified plans; the report keeps their part apart from RL's.

    Returns the adapter that RL starts from, `None` where there is no warm start.
    """
    training = config.training
    if not training.warm_start_steps or config.control != "none":
        return None
    adapter = Adapter(str(journal.folder / "adapters" / "warm"), 0)
    if any(saved.kind == "warm" for saved in journal.adapters()):
        load_adapter_weights(loaded, adapter.path)
        return adapter
    say("warming", steps=training.warm_start_steps)
    trainer = Trainer(loaded, training)
    for step in range(1, training.warm_start_steps + 1):
        batch: list[Row] = []
        for scenario in _epochs(scenarios, 2 * training.scenarios_per_step, config.seed, step):
            messages = await transcript(server, scenario)
            batch += training_rows(demonstration(loaded.tokenizer, messages, server.tools, scenario.id))
        metrics = await anyio.to_thread.run_sync(trainer.supervise, batch)
        show("warm", {"step": step, **metrics})
    trainer.save(adapter.path)
    journal.write_adapter(adapter, kind="warm")
    return adapter


def _epochs(scenarios: Sequence[Scenario], count: int, seed: int, step: int) -> Iterator[Scenario]:
    """The scenarios of a step: shuffled epochs cut into steps, so that each is drawn equally often."""
    count = min(count, len(scenarios))
    for at in range((step - 1) * count, step * count):
        epoch, position = divmod(at, len(scenarios))
        order = list(range(len(scenarios)))
        random.Random(f"{seed} epoch {epoch}").shuffle(order)
        yield scenarios[order[position]]
