"""Make a pack of tasks for any server, from nothing but its tools: grounded, executed, checked, and split by value.

`generate` probes the server (`probing.probe`). Then `compose` makes the tasks: it draws plans of 1-4 calls, executes
each, and keeps those that work and repeat. A writer words them (`writers`). What the execution returned becomes the
checks.

The split is by value: every entity value belongs to train, val or test by a hash of it and the seed, and a task is kept
only in the split to which all its values belong. The same seed gives the same pack.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

import anyio.to_thread

from mcprl.config import ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ScenarioError
from mcprl.events import Composing, Emit, Event, Note, ignore
from mcprl.files import find_cache
from mcprl.judges import adversaries
from mcprl.judges.verifier import Verifier
from mcprl.llm import open_llm
from mcprl.runs.overlap import blanked
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
from mcprl.scenarios.writers.model import BATCH, ModelWriter
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
    excluded: frozenset[str] = frozenset(),
) -> Pack:
    """Make a pack for a server.

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
    writer = await anyio.to_thread.run_sync(_open_writer, config, seed, emit)  # may load litellm
    hints = read_hints(config.values, config.examples, config.traffic)
    known = await probe(server, seed, config.probe_calls, emit, hints)
    if known.shared:
        kept = "the state is reset before each that writes" if can_write(server, known) else _no_writes(server)
        emit(Note(f"rollouts do not start alike: {known.sharing}; {kept}"))
    scenarios = keep_apart(await _compose(server, known, config, seed, writer, excluded, emit), excluded, emit)
    if repeated := getattr(server, "repeated", 0):
        emit(Note(f"{counted(repeated, 'read')} made again, since the server did not answer at first (503, 429, lost)"))
    if not {"train", "test"} <= {scenario.split for scenario in scenarios} or not any(s.plan for s in scenarios):
        raise ScenarioError(_why_none(server, known))
    writable = can_write(server, known)
    pack = Pack(tuple(scenarios), tool_hash(server.tools), seed, left_out=_left_out(server, known, scenarios))
    tested = [scenario for scenario in pack.test if writable or not writes(scenario, server.tools)]
    played = await adversaries.quality(server, tested, Verifier(server.tools), _PLAYED)
    rates = {name: share.rate for name, share in played.items() if name != "gold"}
    return replace(pack, quality=quality(pack, server.tools, rates).as_toml())


async def _compose(
    server: ToolServer,
    known: Knowledge,
    config: ScenarioConfig,
    seed: int,
    writer: Writer | None,
    excluded: frozenset[str],
    emit: Emit,
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
    """The language model that words executed plans; `None` where plain English does.

    Raises `ConfigError` if there is no such writer, and what keeps the model from being asked.
    """
    require_writer(config)
    if config.writer == PLAIN:
        return None
    model = open_llm(
        config.writer.partition(":")[2],
        "scenarios.writer",
        base_url=config.writer_base_url,
        max_cost=config.max_writer_cost,
        cache=find_cache(config.writer_cache, "writer"),
        reply_tokens=60 * BATCH,
        limit="--max-writer-cost",
    )
    model.require()
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
    config: ScenarioConfig | None = None,
    policy: ToolPolicy | None = None,
    headers: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Pack:
    """Tasks for the server at a URL, or a command that speaks MCP on stdio. `headers` are sent with each HTTP request.

    A quarter of them are test tasks and an eighth validation tasks. No entity value of one split stands in another.
    `config` holds further settings, such as the writer. Raises `ConfigError` if `num_scenarios` is below 8, and what
    `connect` and `generate` raise.
    """
    if num_scenarios < 8:
        raise ConfigError(f"num_scenarios is {num_scenarios}; a split into train, val and test needs at least 8")
    eighth = num_scenarios // 8
    sizes = {"test": num_scenarios // 4 - eighth, "test_forms": eighth, "val": eighth}
    sizes["train"] = num_scenarios - sum(sizes.values())
    config = (config or ScenarioConfig()).model_copy(update=sizes)
    async with connect(
        [ServerConfig(target=server_url, headers=dict(headers or {}))], policy, emit=_log_notes
    ) as server:
        return await generate(server, config, seed, _log_notes)


def _log_notes(event: Event) -> None:
    if isinstance(event, Note):
        _log.info(event.text)


def require_writer(config: ScenarioConfig) -> None:
    """Raise `ConfigError` if there is no such writer."""
    if not is_writer(config.writer):
        raise ConfigError(f"unknown writer {config.writer!r}; expected plain or llm:MODEL, not the model to train")


def _why_none(server: ToolServer, known: Knowledge) -> str:
    working = [name for name in known.tools if known.working.get(name)]
    examples = f" ({', '.join(working[:5])})" if working else ""
    return (
        f"no repeatable tasks could be made: {len(working)} of {counted(len(server.tools), 'tool')} gave results in "
        f"{counted(known.calls, 'probing call')}{examples}; give the server some data, allow tools that write "
        "(--assume, --allow-destructive), or write a pack by hand (--pack)"
    )
