"""A language model puts the requests of tasks into the words of several people (`scenarios/personas.toml`).

A rewrite is kept only if it gives every value that the task's plan takes from the request, does not give the answer
away, and is solved by a blind solver, who sees the rewrite and the tools and calls the live server. The rest is counted
by reason, and its tasks keep their wording. Training and validation tasks are rewritten by one set of personas, the
test in forms that training never uses by another.
"""

import random
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from mcprl.config import POLICY, ScenarioConfig
from mcprl.errors import ConfigError, LlmError, ServerError
from mcprl.events import Emit, Note, ignore
from mcprl.files import find_bundled, find_cache
from mcprl.judges.checks import leaves, squash
from mcprl.llm import LanguageModel, open_llm
from mcprl.scenarios.authoring.derivable import derivable
from mcprl.scenarios.authoring.solver import Solver
from mcprl.scenarios.packs.handwritten import task_id
from mcprl.scenarios.slots import slots
from mcprl.text import counted, fill_template, find_json, inert
from mcprl.types import Fact, Scalar, Scenario, StateHolds, ToolServer

BATCH = 10
"""Requests in one call: enough to share the price of the prompt and to tell the rewrites apart."""
AT_ONCE = 8
"""Rewrites that are solved at the same time."""
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rewrites": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "request": {"type": "string"}},
                "required": ["id", "request"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["rewrites"],
    "additionalProperties": False,
}


def open_rewriter(
    server: ToolServer,
    config: ScenarioConfig,
    seed: int,
    emit: Emit = ignore,
    policy: LanguageModel | None = None,
    spent: float = 0.0,
    writable: bool = True,
) -> "Rewriter | None":
    """The configured rewriter, `None` if there is none. `spent` (US dollars) is part of `max_generator_cost` already;
    `writable`: whether what its solver writes on the server is undone.

    Raises `ConfigError` if the setting names none.
    """
    if not config.rewriter:
        return None
    kind, _, name = config.rewriter.partition(":")
    if config.rewriter == POLICY:
        name = POLICY
    elif kind != "llm" or not name:
        raise ConfigError(f"unknown rewriter {config.rewriter!r}; expected llm:MODEL or {POLICY}")
    model = open_llm(
        name,
        "scenarios.rewriter",
        policy,
        base_url=config.generator_base_url,
        max_cost=config.max_generator_cost - spent,
        cache=find_cache(config.generator_cache, "generator"),
        reply_tokens=60 * BATCH,
        limit="--max-generator-cost",
    )
    return Rewriter(server, model, seed, emit, writable)


class UnfitRewrite(Exception):
    """A rewrite that is not kept. The message is one of a few sentences, so that reasons can be counted."""


@dataclass(frozen=True)
class _Job:
    """A task to rewrite, the persona that words it, and the values that the rewrite must give."""

    index: int
    scenario: Scenario
    persona: str
    keep: tuple[Scalar, ...]


class Rewriter:
    """Rewrites the tasks of one server. `thrown_out` counts, by reason, the rewrites that were not kept."""

    def __init__(
        self, server: ToolServer, model: LanguageModel, seed: int, emit: Emit = ignore, writable: bool = True
    ) -> None:
        self.model, self.seed, self.emit = model, seed, emit
        self.thrown_out: Counter[str] = Counter()
        self._solver = Solver(server, model, seed, writable)
        self._listed = {
            (tool.name, str(slot.path[0]), squash(str(value)))
            for tool in server.tools
            for slot in slots(tool)
            for value in (*slot.choices, *((slot.schema["default"],) if "default" in slot.schema else ()))
        }
        self._personas: dict[str, dict[str, str]] = tomllib.loads(
            find_bundled("scenarios", "personas.toml").read_text()
        )
        self._failure: LlmError | None = None

    async def rewrite(self, scenarios: Sequence[Scenario]) -> list[Scenario]:
        """The scenarios, those of training, validation and the forms test in other words where a rewrite was kept.

        Ends with what was rewritten so far before the cost limit is passed. Raises `LlmError` if the model cannot be
        asked at all.
        """
        jobs = [self._job(n, each) for n, each in enumerate(scenarios) if _is_rewritten(each)]
        batches = [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]
        requests = {squash(scenario.request) for scenario in scenarios}
        rewritten = list(scenarios)
        kept = 0
        for number, batch in enumerate(batches):
            chat = self._chat(batch, number)
            if number == 0:
                price = await self.model.price(chat, len(batches) + 3 * len(jobs))
                self.emit(
                    Note(f"{self.model.name} will rewrite {counted(len(jobs), 'request')} and solve each, {price}")
                )
            for job, scenario in await self._rewrites(batch, chat):
                if squash(scenario.request) in requests:
                    self.thrown_out["a rewrite that another task has"] += 1
                    continue
                requests.add(squash(scenario.request))
                rewritten[job.index] = scenario
                kept += 1
            if self._failure:
                break
        if self._failure:
            if not kept and not self.thrown_out:
                raise self._failure
            self.emit(Note(f"rewriting ends: {self._failure}"))
        if jobs:
            self.emit(Note(f"{kept} of {counted(len(jobs), 'request')} in other words"))
        return rewritten

    def _job(self, index: int, scenario: Scenario) -> _Job:
        personas = self._personas["forms" if scenario.suite == "forms" and scenario.split == "test" else "train"]
        persona = random.Random(f"rewrite {self.seed} {scenario.id}").choice(sorted(personas))
        return _Job(index, scenario, persona, tuple(self._needed(scenario)))

    def _needed(self, scenario: Scenario) -> list[Scalar]:
        """The argument values of the plan that the request gives. Those from a schema's enum may be told as an event,
        and what the request does not give comes from an earlier result."""
        needed: dict[Scalar, None] = {}
        for call in scenario.plan:
            for path, value in leaves(call.arguments):
                listed = (call.tool, str(path[0]), squash(str(value))) in self._listed
                if not isinstance(value, bool) and not listed and derivable(value, scenario.request):
                    needed[value] = None
        return list(needed)

    # --- asking -------------------------------------------------------------------------------------------------------

    def _chat(self, batch: Sequence[_Job], number: int) -> list[dict[str, str]]:
        """The messages for one batch. The fence is drawn anew for each, so that no request can close it."""
        fence = f"requests-{random.Random(f'rewrite {self.seed} {number}').getrandbits(48):012x}"
        items = [
            {
                "id": at,
                "persona": self._personas["train"].get(job.persona) or self._personas["forms"][job.persona],
                "request": job.scenario.request,
                "keep": job.keep,
            }
            for at, job in enumerate(batch)
        ]
        rules = fill_template(find_bundled("scenarios", "rewriter.md").read_text(), fence=fence)
        data = f"<{fence}>{inert(items)}</{fence}>\nRewrite {len(batch)} requests."
        return [{"role": "system", "content": rules}, {"role": "user", "content": data}]

    async def _rewrites(self, batch: Sequence[_Job], chat: list[dict[str, str]]) -> list[tuple[_Job, Scenario]]:
        """The jobs of a batch whose rewrites are kept, in order, each with its task in other words."""
        try:
            texts = _read(await self.model.reply(chat, _SCHEMA))
        except LlmError as error:
            self._failure = error
            return []
        limiter = anyio.CapacityLimiter(AT_ONCE)
        kept: dict[int, Scenario] = {}

        async def validate(at: int, job: _Job) -> None:
            async with limiter:
                if self._failure:
                    return
                try:
                    kept[at] = await self._validated(job, texts.get(at, ""))
                except UnfitRewrite as reason:
                    self.thrown_out[str(reason)] += 1
                except LlmError as error:
                    self._failure = error

        async with anyio.create_task_group() as tasks:
            for at, job in enumerate(batch):
                tasks.start_soon(validate, at, job)
        return [(batch[at], kept[at]) for at in sorted(kept)]

    # --- what is kept -------------------------------------------------------------------------------------------------

    async def _validated(self, job: _Job, text: str) -> Scenario:
        """The task in the words of `text`. Raises `UnfitRewrite`, and `LlmError` if the solver cannot be asked."""
        scenario, text = job.scenario, " ".join(text.split())
        if not text:
            raise UnfitRewrite("a request that was not rewritten")
        if _wording(text) == _wording(scenario.request):
            raise UnfitRewrite("a rewrite in the same words")
        if not all(derivable(value, text) for value in job.keep):
            raise UnfitRewrite("a rewrite without a value that the task needs")
        if any(derivable(value, text) and not derivable(value, scenario.request) for value in _answers(scenario)):
            raise UnfitRewrite("a rewrite that gives the answer away")
        rewritten = replace(scenario, request=text, form=f"rewritten/{job.persona}")
        rewritten = replace(rewritten, id=task_id(rewritten))
        try:
            if await self._solver.solves(rewritten):
                return rewritten
        except ServerError:
            raise UnfitRewrite("a rewrite whose solution broke the connection") from None
        raise UnfitRewrite("a rewrite that was not solved from its words alone")


def _is_rewritten(scenario: Scenario) -> bool:
    return bool(scenario.checks) and (scenario.split != "test" or scenario.suite == "forms")


def _answers(scenario: Scenario) -> list[Scalar]:
    """The values that only the server can give: facts, without truth values and small numbers, which stand anywhere."""
    facts = [check.value for check in scenario.checks if isinstance(check, Fact)]
    shown = {value for check in scenario.checks if isinstance(check, StateHolds) for value in check.values}
    return [value for value in facts if value not in shown and not isinstance(value, bool) and len(str(value)) > 2]


def _wording(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _read(reply: str) -> dict[int, str]:
    """The rewrites of a reply by their number; none if it cannot be read."""
    tree = find_json(reply)
    entries: Any = tree.get("rewrites") if isinstance(tree, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    rewrites: dict[int, str] = {}
    for entry in entries if isinstance(entries, list) else []:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(entry, dict) and isinstance(entry.get("id"), int):  # pyright: ignore[reportUnknownMemberType]
            rewrites[entry["id"]] = str(entry.get("request") or "")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return rewrites
