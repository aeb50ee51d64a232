"""Tasks for a server that has told us nothing but its tools: grounded, executed, checked, and split so that nothing
leaks.

`generate` probes the server (`probing`), composes plans of 1-4 calls, executes each, keeps those that work and
repeat, words them (`wording`) and stores what the execution proved. The split is by value: every entity value belongs
to train, val or test by a hash of the seed, and a task is kept only in the split to which all its values belong. The
same seed gives the same pack.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from mcprl.config import POLICY, ScenarioConfig, ServerConfig, ToolPolicy
from mcprl.errors import ConfigError, ScenarioError
from mcprl.files import find_cache
from mcprl.llm import LanguageModel
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios.author import BATCH, Author
from mcprl.scenarios.compose import Composer
from mcprl.scenarios.knowledge import Knowledge
from mcprl.scenarios.pack import Pack, tool_hash
from mcprl.scenarios.probe import probe
from mcprl.servers.server import connect
from mcprl.types import Fact, Scenario, Split, ToolServer

_log = logging.getLogger(__name__)


async def generate(
    server: ToolServer,
    config: ScenarioConfig,
    seed: int = 0,
    note: Callable[[str], None] = lambda _: None,
    own: LanguageModel | None = None,
) -> Pack:
    """Make a pack for a server; `note` is told what a user should know, such as what it may cost; `own` is the run's
    own model, where it has one.

    Raises `ScenarioError` where no task could be made or repeated, `LlmError` where a language model is to write them
    and cannot be asked.
    """
    if not server.tools:
        raise ScenarioError("the server offers no tool that may be called; see mcprl inspect and the --allow options")
    model = _model(config, note, own)
    known = await probe(server, seed, config.probe_calls)
    targets: dict[Split, int] = {"test": config.test, "val": config.val, "train": config.train}
    made: list[Scenario] = []
    thrown_out: dict[str, int] = {}
    if model:
        author = Author(server, known, config, seed, model, _embedder(config), note)
        made = await author.write(targets)
        thrown_out = dict(author.thrown_out.most_common())
    else:
        for split, target in targets.items():
            made += await Composer(server, known, split, seed, config).compose(target)
        made = [
            s
            for s in made
            if not any((s.plan[-1].tool, c.name) in known.volatile for c in s.checks if isinstance(c, Fact))
        ]
    if not any(s.split == "train" for s in made) or not any(s.split == "test" for s in made):
        raise ScenarioError(_why_none(server, known))
    idle = {name: "never gave a result when probed" for name in known.tools if not known.working.get(name)}
    idle |= {
        tool.name: "its arguments cannot be filled from its schema"
        for tool in server.tools
        if tool.name not in known.tools
    }
    written = f"llm:{model.name}" if model else "grounded"
    return Pack(tuple(made), tool_hash(server.tools), seed, written, idle, thrown_out)


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
    """Tasks for the server at a URL, or a command that speaks MCP on stdio: a quarter of them held out for the test, an
    eighth for validation, and nothing that one names stands in the others.

    `generator` is as in the configuration; what it costs and picks is logged. `config` holds further settings. Raises
    as `connect` and `generate` do.
    """
    if num_scenarios < 8:
        raise ConfigError(f"num_scenarios is {num_scenarios}; a split into train, val and test needs at least 8")
    sizes = {"test": num_scenarios // 4, "val": num_scenarios // 8}
    own = {"train": num_scenarios - sum(sizes.values()), "generator": generator, "instructions": instructions}
    wanted = (config or ScenarioConfig()).model_copy(update=sizes | own)
    async with connect([ServerConfig(target=server_url)], policy) as server:
        return await generate(server, wanted, seed, _log.info)


_KEYS = {
    "OPENAI_API_KEY": "openai/o4-mini",
    "ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5",
    "GEMINI_API_KEY": "gemini/gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter/openai/o4-mini",
}
"""The model that `auto` takes for the first of these keys that is set."""


def _model(config: ScenarioConfig, note: Callable[[str], None], own: LanguageModel | None) -> LanguageModel | None:
    """The language model that is to write the tasks; `None` for the grounded generator. Raises `ConfigError`."""
    kind, _, name = config.generator.partition(":")
    if config.generator == "auto":
        key = next((key for key in _KEYS if os.environ.get(key)), None)
        why = f"{_KEYS[key]}, since {key} is set" if key else "the grounded generator, since no provider's key is set"
        note(f"tasks are written by {why}")
        if key is None:
            return None
        kind, name = "llm", _KEYS[key]
    if config.generator == "grounded":
        return None
    if kind != "llm" or not name:
        raise ConfigError(f"unknown generator {config.generator!r}; expected grounded, llm:MODEL or auto")
    if name == POLICY:
        if own is None:
            raise ConfigError(f"generator {config.generator!r}: no run is here whose model could write; name another")
        return own
    return ChatModel(
        name,
        config.generator_base_url,
        timeout_s=300.0,
        max_cost=config.max_generator_cost,
        cache=_cache(config),
        reply_tokens=300 * BATCH,
        limit="--max-generator-cost",
    )


def _embedder(config: ScenarioConfig) -> ChatModel | None:
    name = config.embedding_model
    return ChatModel(name, config.generator_base_url, cache=_cache(config)) if name else None


def _cache(config: ScenarioConfig) -> Path | None:
    return find_cache(config.generator_cache, "generator")


def _why_none(server: ToolServer, known: Knowledge) -> str:
    working = [name for name in known.tools if known.working.get(name)]
    return (
        f"no repeatable tasks could be made: of {len(server.tools)} tools {len(working)} gave results in "
        f"{known.calls} probing calls"
        f"{' (' + ', '.join(working[:5]) + ')' if working else ''}; give the server some data, allow tools that write "
        "(--allow-tool, --allow-destructive), or write a pack by hand (--pack)"
    )
