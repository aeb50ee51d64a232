"""Make a pack of tasks for any server, from nothing but its tools: grounded, executed, checked, and split by value.

`generate` probes the server (`scenarios.probe`). Then either `scenarios.compose` makes the tasks: it draws plans of 1-4
calls, executes each, keeps those that work and repeat, and words them. Or a language model writes them
(`scenarios.author`) and `scenarios.vetting` executes each. What the execution returned becomes the checks.

The split is by value: every entity value belongs to train, val or test by a hash of it and the seed, and a task is kept
only in the split to which all its values belong. The same seed gives the same pack.
"""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from mcprl.config import Config, ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ScenarioError
from mcprl.events import Emit, Event, GeneratingTasks, Note, TasksReady, ignore
from mcprl.files import find_cache
from mcprl.llm import LanguageModel, open_llm
from mcprl.llm.litellm import ChatModel
from mcprl.runs.journal import Journal
from mcprl.scenarios.author import BATCH, Author
from mcprl.scenarios.compose import Composer
from mcprl.scenarios.knowledge import Knowledge
from mcprl.scenarios.pack import Pack, load_pack, tool_hash
from mcprl.scenarios.probe import probe
from mcprl.servers.server import Server, connect
from mcprl.types import Fact, Scenario, Split, ToolServer

_log = logging.getLogger(__name__)


async def generate(
    server: ToolServer,
    config: ScenarioConfig,
    seed: int = 0,
    emit: Emit = ignore,
    policy: LanguageModel | None = None,
) -> Pack:
    """Make a pack for a server. `policy` is the run's own model, if it may write tasks.

    Notes for the user, such as the cost to expect, go to `emit`. Raises `ScenarioError` if no task could be made or
    repeated, `ConfigError` if the generator is unknown, and `LlmError` if the language model cannot be called.
    """
    if not server.tools:
        raise ScenarioError("the server offers no tool that may be called; see mcprl inspect and the --allow options")
    model = _model(config, emit, policy)
    known = await probe(server, seed, config.probe_calls)
    targets: dict[Split, int] = {"test": config.test, "val": config.val, "train": config.train}
    thrown_out: dict[str, int] = {}
    if model:
        author = Author(server, known, config, seed, model, _embedder(config), emit)
        scenarios = await author.write(targets)
        thrown_out = dict(author.thrown_out.most_common())
    else:
        scenarios = await _compose(server, known, config, seed, targets)
    if not {"train", "test"} <= {scenario.split for scenario in scenarios}:
        raise ScenarioError(_why_none(server, known))
    generator = f"llm:{model.name}" if model else "grounded"
    return Pack(tuple(scenarios), tool_hash(server.tools), seed, generator, _left_out(server, known), thrown_out)


async def _compose(
    server: ToolServer, known: Knowledge, config: ScenarioConfig, seed: int, targets: Mapping[Split, int]
) -> list[Scenario]:
    """The grounded tasks of all splits, without those about fields that proved volatile in any of them."""
    composed: list[Scenario] = []
    for split, target in targets.items():
        composed += await Composer(server, known, split, seed, config).compose(target)
    return [scenario for scenario in composed if not _asks_for_volatile(scenario, known)]


def _asks_for_volatile(scenario: Scenario, known: Knowledge) -> bool:
    names = [check.name for check in scenario.checks if isinstance(check, Fact)]
    return any((scenario.plan[-1].tool, name) in known.volatile for name in names)


def _left_out(server: ToolServer, known: Knowledge) -> dict[str, str]:
    """The tools that no task can use, each with the reason."""
    left_out = {name: "never gave a result when probed" for name in known.tools if not known.working.get(name)}
    for tool in server.tools:
        if tool.name not in known.tools:
            left_out[tool.name] = "its arguments cannot be filled from its schema"
    return left_out


async def prepare_pack(
    config: Config, journal: Journal, server: Server, policy: LanguageModel, emit: Emit = ignore
) -> Pack:
    """A run's tasks, recorded with the run: those of its journal, else of the configured pack, else new ones.

    Raises `ConfigError` if they do not fit the server's tools or the judge, or if a split is empty.
    """
    if recorded := journal.scenarios():
        pack = Pack(tuple(recorded), journal.fact("tool_hash"), config.seed)
    elif config.scenarios.pack:
        pack = load_pack(config.scenarios.pack)
    else:
        emit(GeneratingTasks())
        pack = await generate(server, config.scenarios, config.seed, emit, policy)
    if not pack.fits(server.tools):
        raise ConfigError(
            f"the tasks were made for other tools (hash {pack.tool_hash}, the server's is {tool_hash(server.tools)}); "
            "generate new ones, or name the same server and the same tool options"
        )
    if not recorded:
        _record(pack, journal, server, config.model.name)
    if config.judge.name == "verifier" and any(not scenario.checks for scenario in pack.train):
        raise ConfigError(
            "the pack has tasks without checks, which the verifier cannot score; name a judge that reads, such as "
            "--judge ruler:default --judge-model MODEL"
        )
    for split in ("train", "val", "test"):
        if not pack.split(split):
            raise ConfigError(f"the pack has no {split} tasks; it needs some in each of train, val and test")
    emit(TasksReady(len(pack.train), len(pack.val), len(pack.test)))
    if untested := pack.untested():
        emit(Note(f"no held-out task uses {', '.join(untested)}: the test says nothing about them"))
    return pack


def _record(pack: Pack, journal: Journal, server: Server, model: str) -> None:
    pack.save(journal.folder / "scenarios")
    journal.write_fact("server", [facts.title or facts.name for facts in server.describe()])
    journal.write_fact("tools", [tool.name for tool in server.tools])
    journal.write_fact("left_out", {status.name: status.reason for status in server.listing if not status.allowed})
    journal.write_fact("tool_hash", pack.tool_hash)
    journal.write_fact("model", model)
    journal.write_scenarios(pack.scenarios)


async def generate_scenarios(
    num_scenarios: int = 24,
    server_url: str = "",
    *,
    generator: str = "auto",
    instructions: str = "",
    config: ScenarioConfig | None = None,
    policy: ToolPolicy | None = None,
    seed: int = 0,
) -> Pack:
    """Tasks for the server at a URL, or a command that speaks MCP on stdio.

    A quarter of them are test tasks and an eighth validation tasks. No entity value of one split stands in another.
    `generator` is as in the configuration; its model and cost are logged. `config` holds further settings. Raises
    `ConfigError` if `num_scenarios` is below 8, and what `connect` and `generate` raise.
    """
    if num_scenarios < 8:
        raise ConfigError(f"num_scenarios is {num_scenarios}; a split into train, val and test needs at least 8")
    sizes = {"test": num_scenarios // 4, "val": num_scenarios // 8}
    given = {"train": num_scenarios - sum(sizes.values()), "generator": generator, "instructions": instructions}
    config = (config or ScenarioConfig()).model_copy(update=sizes | given)
    async with connect([ServerConfig(target=server_url)], policy) as server:
        return await generate(server, config, seed, _log_notes)


def _log_notes(event: Event) -> None:
    if isinstance(event, Note):
        _log.info(event.text)


_KEYS = {
    "OPENAI_API_KEY": "openai/o4-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter/openai/o4-mini",
}
"""The generator `auto` takes the model of the first key that is set in the environment."""


def _model(config: ScenarioConfig, emit: Emit, policy: LanguageModel | None) -> LanguageModel | None:
    """The language model that writes the tasks; `None` for the grounded generator. Raises `ConfigError`."""
    generator = _auto(emit) if config.generator == "auto" else config.generator
    if generator == "grounded":
        return None
    kind, _, name = generator.partition(":")
    if kind != "llm" or not name:
        raise ConfigError(f"unknown generator {config.generator!r}; expected grounded, llm:MODEL or auto")
    return open_llm(
        name,
        "scenarios.generator",
        policy,
        base_url=config.generator_base_url,
        timeout_s=300.0,
        max_cost=config.max_generator_cost,
        cache=_cache(config),
        reply_tokens=300 * BATCH,
        limit="--max-generator-cost",
    )


def _auto(emit: Emit) -> str:
    """The generator that `auto` stands for in this environment."""
    for key, name in _KEYS.items():
        if os.environ.get(key):
            emit(Note(f"tasks are written by {name}, since {key} is set"))
            return f"llm:{name}"
    emit(Note("tasks are written by the grounded generator, since no provider's key is set"))
    return "grounded"


def _embedder(config: ScenarioConfig) -> ChatModel | None:
    """The model that compares tasks by meaning, if one is configured."""
    name = config.embedding_model
    return ChatModel(name, config.generator_base_url, cache=_cache(config)) if name else None


def _cache(config: ScenarioConfig) -> Path | None:
    return find_cache(config.generator_cache, "generator")


def _why_none(server: ToolServer, known: Knowledge) -> str:
    working = [name for name in known.tools if known.working.get(name)]
    examples = f" ({', '.join(working[:5])})" if working else ""
    return (
        f"no repeatable tasks could be made: {len(working)} of {len(server.tools)} tools gave results in {known.calls} "
        f"probing calls{examples}; give the server some data, allow tools that write (--allow-tool, "
        "--allow-destructive), or write a pack by hand (--pack)"
    )
