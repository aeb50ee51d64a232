"""The warm start: a few supervised steps on verified plans before RL."""

import json
import random
from collections.abc import Iterator, Sequence
from functools import partial

import anyio

from mcprl.chat.prompts import Tokenizer, control_pattern, encode, opening_messages, prompt_ids, render
from mcprl.config import Config
from mcprl.errors import ServerError
from mcprl.events import Emit, Note, WarmStartBegan, WarmStartStep
from mcprl.models.adapters import load_adapter_weights
from mcprl.models.load import LoadedModel
from mcprl.runs.journal import Journal
from mcprl.servers.live import refreshed
from mcprl.servers.retries import again_if_lost
from mcprl.servers.server import Server
from mcprl.training.rows import training_rows
from mcprl.training.symptoms import notes
from mcprl.training.trainer import Trainer
from mcprl.types import Adapter, CallRecord, Completion, Message, Row, Scenario, Tool, ToolServer, Trajectory


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


async def transcript(server: ToolServer, scenario: Scenario) -> tuple[Message, ...]:
    """The ideal conversation of a scenario: its plan executed in a fresh session, then its answer."""
    messages = opening_messages(scenario.request, server.instructions)
    records: list[CallRecord] = []
    async with server.session(scenario.setup) as session:
        for number, call in enumerate(scenario.plan):
            function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
            calls = [{"id": f"call{number:05}", "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            result = await session.call(call.tool, call.arguments)
            records.append(CallRecord(number, call.tool, call.arguments, result))
            messages.append({"role": "tool", "tool_call_id": f"call{number:05}", "content": result.text})
    return (*messages, {"role": "assistant", "content": refreshed(scenario, records)})


async def warm_start(
    config: Config,
    journal: Journal,
    server: Server,
    loaded: LoadedModel,
    scenarios: Sequence[Scenario],
    emit: Emit,
) -> Adapter | None:
    """Take the supervised steps, or load what an earlier session of this run took.

    Returns the adapter that RL starts from, `None` without a warm start. The report tests it by itself, so that RL's
    part of the gain is known.
    """
    training = config.training
    if not training.warm_start_steps:
        return None
    adapter = Adapter(str(journal.folder / "adapters" / "warm"), 0)
    if saved := journal.adapters("warm"):
        if saved[-1].is_whole:
            load_adapter_weights(loaded, adapter.path)
            return adapter
        emit(Note("the warm start's adapter is damaged and is made again"))
    emit(WarmStartBegan(training.warm_start_steps))
    trainer, steps = Trainer(loaded, training), list[dict[str, float]]()
    for step in range(1, training.warm_start_steps + 1):
        rows_B: list[Row] = []
        for scenario in _drawn(scenarios, 2 * training.scenarios_per_step, config.seed, step):
            try:
                messages = await again_if_lost(partial(transcript, server, scenario))
            except ServerError as error:
                emit(Note(f"a demonstration is left out: {error}"))
                continue
            shown = demonstration(loaded.tokenizer, messages, server.tools, scenario.id)
            journal.write_trajectories("demonstration", step, [shown])
            rows_B += training_rows(shown)
        if not rows_B:
            raise ServerError(f"no plan of step {step} of the warm start could be executed; is the server running?")
        metrics = await anyio.to_thread.run_sync(trainer.supervise, rows_B)
        steps.append(metrics)
        for sentence in notes(steps):
            emit(Note(sentence))
        emit(WarmStartStep(step, training.warm_start_steps))
    trainer.save(adapter.path)
    journal.write_adapter(adapter, kind="warm")
    return adapter


def _drawn(scenarios: Sequence[Scenario], count: int, seed: int, step: int) -> Iterator[Scenario]:
    """The scenarios of a step: shuffled epochs cut into steps, so that each scenario is drawn equally often."""
    count = min(count, len(scenarios))
    for at in range((step - 1) * count, step * count):
        epoch, position = divmod(at, len(scenarios))
        order = list(range(len(scenarios)))
        random.Random(f"{seed} epoch {epoch}").shuffle(order)
        yield scenarios[order[position]]
