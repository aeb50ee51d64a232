"""The tasks of a run: read or made, checked against its server and its judge, and recorded with it."""

from collections.abc import Sequence
from dataclasses import replace

from mcprl.config import Config, ScenarioConfig
from mcprl.errors import ConfigError
from mcprl.events import Emit, GeneratingTasks, Note, QualityMeasured, TasksReady, ignore
from mcprl.llm import LanguageModel
from mcprl.runs.journal import Journal
from mcprl.scenarios.generate import generate, keep_apart, require_writer
from mcprl.scenarios.injecting import inject
from mcprl.scenarios.packs.exclusion import excluded_values
from mcprl.scenarios.packs.pack import Pack, load_pack, load_test_pack, require_tools, tool_hash, with_tests
from mcprl.scenarios.packs.quality import as_table, quality, require_floor
from mcprl.scenarios.packs.standing import standing
from mcprl.scenarios.writers.inputs import write_inputs, writer
from mcprl.servers.rewards import require_behind, rewarded
from mcprl.servers.server import Server
from mcprl.servers.sharing import one_at_a_time, share_processes
from mcprl.text import counted
from mcprl.types import Scenario, Tool

_FEW_VALIDATION_TASKS = 12
"""Of so few tasks the share that is solved, if it is about a half, has a standard deviation of more than 0.14."""


def require_tasks(config: ScenarioConfig, tools: Sequence[Tool] | None = None) -> None:
    """Raise what is wrong with the configured packs and writer, before anything is made: `ConfigError`, or
    `ScenarioError` if a file cannot be read or, given `tools`, names a tool that is not among them.
    """
    read_test_pack(config, tools)
    if config.pack:
        pack = load_pack(config.pack)
        if tools is not None:
            _require_fit(pack, tools, config.pack)
    else:
        require_writer(config)


def require_splits(pack: Pack) -> Pack:
    """The pack. Raises `ConfigError` if one of its splits is empty."""
    for split in ("train", "val", "test"):
        if not pack.split(split):
            raise ConfigError(f"the pack has no {split} tasks; it needs some in each of train, val and test")
    return pack


async def prepare_pack(
    config: Config, journal: Journal, server: Server, policy: LanguageModel, emit: Emit = ignore
) -> Pack:
    """A run's tasks, recorded with the run: those of its journal, else those of the configured pack or new ones, with
    the configured test pack beside them. `policy` is the run's own model, which may write inputs for a task.

    Raises `ConfigError` if they do not fit the server's tools or the judge, or if a split is empty, and `ScenarioError`
    if they name tools that the server does not offer or are below the floor (`scenarios.packs.quality`).
    """
    recorded = journal.scenarios()
    if recorded:
        pack = Pack(tuple(recorded), journal.fact("tool_hash"), config.seed)
        _require_same_tools(journal, server.tools)
    else:
        pack = await _make(config, server, policy, emit)
    _require_fit(pack, server.tools, config.scenarios.pack or "the recorded tasks")
    require_behind(pack, server)
    made_before = [each for each in pack if recorded or config.scenarios.pack or each.suite == "people"]
    still = await standing(server, made_before, emit)
    if not recorded:
        measured = quality(pack, server.tools, standing=still)
        if not config.task:
            emit(QualityMeasured(as_table(measured)))
        if config.scenarios.floor:
            require_floor(measured)
        _record(replace(pack, quality=measured.as_toml()), journal, server, config.model.name)
    if config.judge.name in ("verifier", "reference") and any(not scenario.checks for scenario in pack.train):
        raise ConfigError(
            f"the pack has tasks without checks, which the judge {config.judge.name} cannot score; name one that "
            "compares, such as --judge ruler:default --judge-model MODEL"
        )
    require_splits(pack)
    if config.training.warm_start_steps and not any(each.plan or each.answer for each in pack.train):
        raise ConfigError("no training task has a plan or an answer to learn from; --recipe rl trains without")
    await share_processes(server, pack.train, emit)
    emit(TasksReady(len(pack.train), len(pack.val), len(pack.test)))
    if warning := one_at_a_time(server, pack.train):
        emit(Note(warning))
    if untested := pack.untested():
        emit(Note(f"no held-out task uses {', '.join(untested)}: the test says nothing about them"))
    if untrained := pack.untrained():
        emit(Note(f"no training task uses {', '.join(untrained)}, which the test does: training cannot teach them"))
    if len(pack.val) < _FEW_VALIDATION_TASKS:
        emit(Note(f"only {counted(len(pack.val), 'validation task')}: which step is best is little more than a guess"))
    return pack


async def _make(config: Config, server: Server, policy: LanguageModel, emit: Emit) -> Pack:
    """The configured or a new pack with the tasks of the configured test pack."""
    people = read_test_pack(config.scenarios, server.tools)
    excluded = excluded_values(people, server.tools)
    if config.scenarios.pack:
        pack = load_pack(config.scenarios.pack)
        pack = replace(pack, scenarios=tuple(keep_apart(pack, excluded, emit)))
    elif config.task:
        emit(GeneratingTasks())
        model = writer(config.scenarios, config.judge, policy)
        pack = await write_inputs(model, config.scenarios, config.task, config.seed, emit)
    else:
        emit(GeneratingTasks())
        pack = await generate(server, config.scenarios, config.seed, emit, excluded)
    pack = with_tests(inject(pack, server.tools, config.scenarios.injected, config.seed), people)
    return replace(pack, scenarios=tuple(rewarded(each, server.scoring) for each in pack))


def accept_tools(journal: Journal, tools: Sequence[Tool], emit: Emit = ignore) -> None:
    """Have a resumed run go on with the tools that its server has now. Raises `ScenarioError` if its tasks cannot."""
    require_tools(journal.scenarios(), tools, "the recorded tasks")
    if changes := _changes(journal, tools):
        emit(Note(f"the server's tools have changed since the run began, which is accepted: {changes}"))
    _record_tools(journal, tools)


def _require_same_tools(journal: Journal, tools: Sequence[Tool]) -> None:
    if changes := _changes(journal, tools):
        raise ConfigError(
            f"the server's tools have changed since the run began: {changes}; name the same server and the same tool "
            "options, or go on with --accept-tool-changes"
        )


def _changes(journal: Journal, tools: Sequence[Tool]) -> str:
    """How the tools differ from those that the run began with, empty if they do not, or if an older journal has no
    hash of each."""
    before: dict[str, str] = journal.fact("tool_hashes") or {}
    now = {tool.name: tool_hash([tool]) for tool in tools} if before else {}
    kinds = {
        "new": now.keys() - before.keys(),
        "gone": before.keys() - now.keys(),
        "changed": {name for name in now.keys() & before.keys() if now[name] != before[name]},
    }
    return "; ".join(f"{kind}: {', '.join(sorted(names))}" for kind, names in kinds.items() if names)


def _record_tools(journal: Journal, tools: Sequence[Tool]) -> None:
    journal.write_fact("tools", [tool.name for tool in tools])
    journal.write_fact("tool_hash", tool_hash(tools))
    journal.write_fact("tool_hashes", {tool.name: tool_hash([tool]) for tool in tools})


def _require_fit(pack: Pack, tools: Sequence[Tool], source: str) -> None:
    if pack.fits(tools):
        return
    if not pack.tool_hash:
        require_tools(pack, tools, source)
    raise ConfigError(
        f"the tasks were made for other tools (hash {pack.tool_hash}, the server's is {tool_hash(tools)}); "
        "generate new ones, or name the same server and the same tool options"
    )


def read_test_pack(config: ScenarioConfig, tools: Sequence[Tool] | None = None) -> tuple[Scenario, ...]:
    """The tasks of the configured test pack, none without one.

    Raises `ScenarioError` if it cannot be read or, given `tools`, if it names a tool that is not among them.
    """
    if not config.test_pack:
        return ()
    scenarios = load_test_pack(config.test_pack)
    if tools is not None:
        require_tools(scenarios, tools, config.test_pack)
    return scenarios


def _record(pack: Pack, journal: Journal, server: Server, model: str) -> None:
    pack.save(journal.folder / "scenarios")
    journal.write_fact("server", [facts.title or facts.name for facts in server.describe()])
    _record_tools(journal, server.tools)
    journal.write_fact("left_out", {status.name: status.reason for status in server.listing if not status.allowed})
    journal.write_fact("model", model)
    journal.write_scenarios(pack.scenarios)
