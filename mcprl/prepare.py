"""What a run needs before its first step: tasks, recorded with the run, and a policy that tries every tool at all."""

import random
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from mcprl import memory
from mcprl.config import Config
from mcprl.engines import Engine, Show, open_engine
from mcprl.errors import ConfigError
from mcprl.journal import Journal
from mcprl.llm import LanguageModel
from mcprl.models import peft, unsloth
from mcprl.scenarios import Pack, generate, load_pack, tool_hash, transcript
from mcprl.server import Server
from mcprl.tokens import demonstration, rows
from mcprl.trainer import Trainer
from mcprl.types import Adapter, Row, Scenario

Say = Callable[..., None]
"""Records an event and shows it: `say(kind, **data)`."""


def settled(config: Config) -> Config:
    """The configuration with what this machine decides written out, so that the run goes on alike on another."""
    device, model, training = peft.device(config.model.device), config.model, config.training
    model = model.model_copy(update={"loader": "unsloth" if unsloth.wanted(model, device) else "transformers"})
    if training.pipeline == "auto":
        apart = memory.place(config, device) == "apart" and not config.engine.sleep
        training = training.model_copy(update={"pipeline": "on" if apart else "off"})
    return config.model_copy(update={"model": model, "training": training})


@asynccontextmanager
async def sampling(config: Config, log: Path, show: Show = lambda *_: None) -> AsyncGenerator[Engine]:
    """The configured model in the configured engine, to be sampled and not trained; a server's log goes to `log`."""
    loaded = peft.load(config.model)
    engine = open_engine(config, loaded, loaded.path, log, show)
    try:
        yield engine
    finally:
        await engine.close()


async def prepare_pack(config: Config, journal: Journal, server: Server, own: LanguageModel, say: Say) -> Pack:
    """The run's tasks: those of the journal when resuming, those of the configured pack, or new ones, which `own`,
    the run's own model, may write.

    Raises `ConfigError` where they do not fit the server's tools or the judge, or a split is empty.
    """
    folder = journal.folder / "scenarios"
    recorded = journal.scenarios()
    if recorded:
        pack = Pack(tuple(recorded), journal.fact("tool_hash"), config.seed)
    elif config.scenarios.pack:
        pack = load_pack(config.scenarios.pack)
    else:
        say("generating")
        note = lambda text: say("note", text=text)  # noqa: E731
        pack = await generate(server, config.scenarios, config.seed, note, own)
    if not pack.fits(server.tools):
        raise ConfigError(
            f"the scenarios were made for other tools (hash {pack.tool_hash}, the server's is "
            f"{tool_hash(server.tools)}); generate new ones or point to the same server and options"
        )
    if not recorded:
        pack.save(folder)
        journal.write_fact("server", [facts.title or facts.name for facts in server.describe()])
        journal.write_fact("tools", [tool.name for tool in server.tools])
        journal.write_fact("left_out", {s.name: s.reason for s in server.listing if not s.allowed})
        journal.write_fact("tool_hash", pack.tool_hash)
        journal.write_fact("model", config.model.name)
        journal.write_scenarios(pack.scenarios)
    if config.judge.name == "verifier" and any(not scenario.checks for scenario in pack.train):
        raise ConfigError(
            "the pack has tasks without checks, which the verifier cannot score; name a judge that reads, such as "
            "--judge ruler:default --judge-model MODEL"
        )
    counts = {split: len(pack.split(split)) for split in ("train", "val", "test")}
    for split, count in counts.items():
        if not count:
            raise ConfigError(f"the pack has no {split} tasks; it needs some in each of train, val and test")
    say("scenarios", **counts)
    if untested := pack.untested():
        say("note", text=f"no held-out task uses {', '.join(untested)}: the test will not tell about them")
    return pack


async def warm_start(
    config: Config,
    journal: Journal,
    server: Server,
    loaded: peft.LoadedModel,
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
        peft.load_adapter_weights(loaded, adapter.path)
        return adapter
    say("warming", steps=training.warm_start_steps)
    trainer = Trainer(loaded, training)
    for step in range(1, training.warm_start_steps + 1):
        batch: list[Row] = []
        for scenario in _epochs(scenarios, 2 * training.scenarios_per_step, config.seed, step):
            messages = await transcript(server, scenario)
            batch += rows(demonstration(loaded.tokenizer, messages, server.tools, scenario.id))
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
