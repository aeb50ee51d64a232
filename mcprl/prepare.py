"""What a run needs before its first step: tasks, recorded with the run, and a policy that tries every tool at all."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcprl.config import Config
from mcprl.engines import Engine, Show, open_engine, placement, server_device
from mcprl.errors import ConfigError
from mcprl.llm import LanguageModel
from mcprl.models import unsloth
from mcprl.models.load import find_device, load_model
from mcprl.runs.journal import Journal
from mcprl.scenarios.generate import generate
from mcprl.scenarios.pack import Pack, load_pack, tool_hash
from mcprl.servers.server import Server
from mcprl.training import memory

Say = Callable[..., None]
"""Records an event and shows it: `say(kind, **data)`."""


def fits(config: Config) -> str:
    """What the run needs of the memory that is free, in one line. Raises as `memory.check` does."""
    place = placement(config, find_device(config.model.device))
    return memory.check(config, place, server_device())


def settled(config: Config) -> Config:
    """The configuration with what this machine decides written out, so that the run goes on alike on another."""
    device, model, training = find_device(config.model.device), config.model, config.training
    model = model.model_copy(update={"loader": "unsloth" if unsloth.wanted(model, device) else "transformers"})
    if training.pipeline == "auto":
        apart = placement(config, device) == "apart" and not config.engine.sleep
        training = training.model_copy(update={"pipeline": "on" if apart else "off"})
    return config.model_copy(update={"model": model, "training": training})


@asynccontextmanager
async def sampling(config: Config, log: Path, show: Show = lambda *_: None) -> AsyncGenerator[Engine]:
    """The configured model in the configured engine, to be sampled and not trained; a server's log goes to `log`."""
    loaded = load_model(config.model)
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
