"""Make a pack of tasks for any server, from nothing but its tools: grounded, executed, checked, and split by value.

`generate` probes the server (`probing.probe`). Then either `compose` makes the tasks: it draws plans of 1-4 calls,
executes each, keeps those that work and repeat, and a writer words them (`writers`). Or a language model writes them
(`authoring.author`) and `authoring.vetting` executes each. What the execution returned becomes the checks.

The split is by value: every entity value belongs to train, val or test by a hash of it and the seed, and a task is kept
only in the split to which all its values belong. The same seed gives the same pack.
"""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ScenarioError
from mcprl.events import Composing, Emit, Event, Note, ignore
from mcprl.files import find_cache
from mcprl.judges import adversaries
from mcprl.judges.verifier import Verifier
from mcprl.llm import LanguageModel, open_llm
from mcprl.llm.litellm import ChatModel
from mcprl.runs.overlap import blanked
from mcprl.scenarios.authoring.author import BATCH, Author
from mcprl.scenarios.brief import Brief
from mcprl.scenarios.catalog import Catalog
from mcprl.scenarios.compose import Composer
from mcprl.scenarios.packs.exclusion import taken, without
from mcprl.scenarios.packs.pack import Pack, tool_hash
from mcprl.scenarios.packs.quality import quality
from mcprl.scenarios.probing.hints import read_hints
from mcprl.scenarios.probing.knowledge import Attempts, Knowledge
from mcprl.scenarios.probing.probe import probe, resets
from mcprl.scenarios.probing.writing import can_write
from mcprl.scenarios.writers import PLAIN, Writer, is_writer
from mcprl.scenarios.writers.model import BATCH as WRITTEN_AT_ONCE
from mcprl.scenarios.writers.model import ModelWriter
from mcprl.scenarios.writers.reword import in_other_words
from mcprl.servers.effects import is_read, is_reset, writes
from mcprl.servers.server import connect
from mcprl.text import counted
from mcprl.types import Fact, Scenario, Split, Suite, ToolServer

_IDLE_READ = "it works, but nothing that it returned could be asked for"
_IDLE_WRITE = "it works, but no read shows what it does"
_PLAYED = 10
"""Test tasks on which the adversaries of the checks are played."""
_log = logging.getLogger(__name__)


async def generate(
    server: ToolServer,
    config: ScenarioConfig,
    seed: int = 0,
    emit: Emit = ignore,
    policy: LanguageModel | None = None,
    excluded: frozenset[str] = frozenset(),
) -> Pack:
    """Make a pack for a server. `policy` is the run's own model, if it may write tasks.

    No training or validation task uses a value of `excluded` (`packs.exclusion`). Notes for the user go to `emit`.
    Raises `ScenarioError` if no task could be made or repeated, `ConfigError`, and `LlmError`.
    """
    if not server.tools:
        raise ScenarioError("the server offers no tool that may be called; mcprl inspect says why, and what allows it")
    if getattr(server, "processes", 0) == 1 and not is_reset(server) and any(not t.read_only for t in server.tools):
        raise ConfigError(
            "tasks that write cannot be made with --processes 1: while one process writes, another shows what was "
            "there before; give --processes 2 or more, or --read-only"
        )
    model = _model(config, emit, policy)
    hints = read_hints(config.values, config.examples, config.traffic)
    known = await probe(server, seed, config.probe_calls, emit, hints)
    if known.shared:
        kept = "the state is reset before each that writes" if can_write(server, known) else _no_writes(server)
        emit(Note(f"rollouts do not start alike: {known.sharing}; {kept}"))
    targets: dict[Split, int] = {"test": config.test, "val": config.val, "train": config.train}
    thrown_out: dict[str, int] = {}
    if model:
        author = Author(server, known, config, seed, model, _embedder(config), emit)
        scenarios = await author.write(targets)
        thrown_out = dict(author.thrown_out.most_common())
    else:
        scenarios = await _compose(server, known, config, seed, excluded, emit)
    scenarios = keep_apart(scenarios, excluded, emit)
    if repeated := getattr(server, "repeated", 0):
        emit(Note(f"{counted(repeated, 'read')} made again, since the server did not answer at first (503, 429, lost)"))
    if not {"train", "test"} <= {scenario.split for scenario in scenarios} or not any(s.plan for s in scenarios):
        raise ScenarioError(_why_none(server, known))
    writable = can_write(server, known)
    generator = f"llm:{model.name}" if model else "grounded"
    left_out = _left_out(server, known, scenarios)
    pack = Pack(tuple(scenarios), tool_hash(server.tools), seed, generator, left_out, thrown_out)
    tested = [scenario for scenario in pack.test if writable or not writes(scenario, server.tools)]
    played = await adversaries.quality(server, tested, Verifier(server.tools), _PLAYED)
    rates = {name: share.rate for name, share in played.items() if name != "gold"}
    return replace(pack, quality=quality(pack, server.tools, rates).as_toml())


async def _compose(
    server: ToolServer, known: Knowledge, config: ScenarioConfig, seed: int, excluded: frozenset[str], emit: Emit
) -> list[Scenario]:
    """The grounded tasks of all splits, without those about fields that proved volatile in any of them.

    Nor is a task of the test on forms kept if its wording, values aside, stands in training.
    """
    catalog = Catalog(known, taken(excluded))
    parts: list[tuple[Split, Suite, int]] = [
        ("test", "entities", config.test),
        ("test", "forms", config.test_forms),
        ("val", "entities", config.val),
        ("train", "entities", config.train),
    ]
    composed: list[Scenario] = []
    writer = _open_writer(config, seed, emit)
    briefs: dict[str, Brief] = {}
    requests: set[str] = set()  # what names no value, as "Can you update the file?", may come up in any split
    for split, suite, target in parts:
        emit(Composing(split, target))
        composer = Composer(server, catalog, split, suite, seed, config, requests)
        made = await composer.compose(target)
        briefs |= {scenario.id: composer.brief(scenario) for scenario in made} if writer else {}
        composed += made
    composed = [scenario for scenario in composed if not _asks_for_volatile(scenario, known)]
    if writer:
        composed = await in_other_words(composed, briefs, writer, emit)
    trained = {blanked(scenario) for scenario in composed if scenario.split == "train"}
    return [scenario for scenario in composed if not (scenario.suite == "forms" and blanked(scenario) in trained)]


def _open_writer(config: ScenarioConfig, seed: int, emit: Emit) -> Writer | None:
    """The language model that words executed plans; `None` where plain English does."""
    if config.writer == PLAIN:
        return None
    model = open_llm(
        config.writer.partition(":")[2],
        "scenarios.writer",
        base_url=config.generator_base_url,
        max_cost=config.max_generator_cost,
        cache=_cache(config),
        reply_tokens=60 * WRITTEN_AT_ONCE,
        limit="--max-generator-cost",
    )
    return ModelWriter(model, seed, emit)


def _asks_for_volatile(scenario: Scenario, known: Knowledge) -> bool:
    facts = [check for check in scenario.checks if isinstance(check, Fact)]
    return any((scenario.plan[-1].tool, fact.name) in known.volatile for fact in facts)


def _left_out(server: ToolServer, known: Knowledge, scenarios: Iterable[Scenario]) -> dict[str, str]:
    """The tools that no task uses, each with the reason."""
    used = {call.tool for scenario in scenarios for call in (*scenario.plan, *scenario.setup)}
    idle = [name for name in known.tools if known.working.get(name) and name not in used]
    silent = [name for name in known.tools if not known.working.get(name)]
    left_out = {name: _IDLE_READ if is_read(known.tools[name]) else _IDLE_WRITE for name in idle}
    left_out |= {name: known.attempts.get(name, Attempts()).told for name in silent}
    left_out |= known.aside
    if not can_write(server, known):
        reason = f"all sessions share what it writes; {_resetting(server)} brings the state back"
        left_out |= {tool.name: reason for tool in known.writes()}
    return left_out


def _no_writes(server: ToolServer) -> str:
    return f"no task writes, unless {_resetting(server)} brings the state back or {{scratch}} keeps it apart"


def _resetting(server: ToolServer) -> str:
    """The flags that reset a server."""
    tool = next((tool.name for tool in server.tools if resets(tool)), "NAME")
    return f"--reset-tool {tool} or --reset-command"


def keep_apart(scenarios: Iterable[Scenario], excluded: frozenset[str], emit: Emit) -> list[Scenario]:
    """The scenarios that use no excluded value, with a note about how many do."""
    scenarios = list(scenarios)
    kept = without(scenarios, excluded)
    if dropped := len(scenarios) - len(kept):
        emit(Note(f"left out: {counted(dropped, 'task')} to train on that would use a value of the test pack"))
    return kept


async def generate_scenarios(
    num_scenarios: int = 24,
    server_url: str = "",
    *,
    generator: str = "auto",
    instructions: str = "",
    config: ScenarioConfig | None = None,
    policy: ToolPolicy | None = None,
    headers: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Pack:
    """Tasks for the server at a URL, or a command that speaks MCP on stdio. `headers` are sent with each HTTP request.

    A quarter of them are test tasks and an eighth validation tasks. No entity value of one split stands in another.
    `generator` is as in the configuration; its model and cost are logged. `config` holds further settings. Raises
    `ConfigError` if `num_scenarios` is below 8, and what `connect` and `generate` raise.
    """
    if num_scenarios < 8:
        raise ConfigError(f"num_scenarios is {num_scenarios}; a split into train, val and test needs at least 8")
    eighth = num_scenarios // 8
    sizes = {"test": num_scenarios // 4 - eighth, "test_forms": eighth, "val": eighth}
    given = {"train": num_scenarios - sum(sizes.values()), "generator": generator, "instructions": instructions}
    config = (config or ScenarioConfig()).model_copy(update=sizes | given)
    async with connect(
        [ServerConfig(target=server_url, headers=dict(headers or {}))], policy, emit=_log_notes
    ) as server:
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


def require_generator(config: ScenarioConfig) -> None:
    """Raise `ConfigError` if there is no such generator or writer."""
    if not is_writer(config.writer):
        raise ConfigError(f"unknown writer {config.writer!r}; expected plain or llm:MODEL")
    if config.generator not in ("grounded", "auto") and not re.fullmatch("llm:.+", config.generator):
        raise ConfigError(f"unknown generator {config.generator!r}; expected grounded, llm:MODEL or auto")


def _model(config: ScenarioConfig, emit: Emit, policy: LanguageModel | None) -> LanguageModel | None:
    """The language model that writes the tasks; `None` for the grounded generator. Raises `ConfigError`."""
    require_generator(config)
    generator = _auto(emit) if config.generator == "auto" else config.generator
    name = generator.partition(":")[2]
    if not name:
        return None
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
        f"no repeatable tasks could be made: {len(working)} of {counted(len(server.tools), 'tool')} gave results in "
        f"{counted(known.calls, 'probing call')}{examples}; give the server some data, allow tools that write "
        "(--assume, --allow-destructive), or write a pack by hand (--pack)"
    )
