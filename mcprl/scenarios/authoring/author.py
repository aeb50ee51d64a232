"""Tasks that a language model writes about the data of the live server, each proved by executing its own plan.

The model gets the tools, resources, values and results that probing found, and writes drafts in batches. Each round
asks for the tools and parameters that no task uses yet. `vetting` makes scenarios of the drafts. Drafts that fail are
counted by reason. Of tasks that are alike only one is kept, even if they belong to different splits.
"""

import json
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray

from mcprl.config import ScenarioConfig
from mcprl.errors import LlmError, ScenarioError
from mcprl.events import Emit, Note, ignore
from mcprl.files import find_bundled
from mcprl.llm import LanguageModel
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios.authoring.drafts import ALIKE, ALIKE_BY_MEANING, SCHEMA, Draft, likeness, read, triples
from mcprl.scenarios.authoring.vetting import UnfitDraft, Vetting
from mcprl.scenarios.fields import usable
from mcprl.scenarios.packs.pack import covered, split_of
from mcprl.scenarios.probing.knowledge import Knowledge
from mcprl.scenarios.probing.sessions import Renewed
from mcprl.scenarios.slots import build, slots
from mcprl.servers.effects import turn_on
from mcprl.text import counted, inert
from mcprl.types import Scalar, Scenario, Split, ToolServer

BATCH = 12
"""Tasks in one reply: enough to share the price of the prompt, few enough that a reply does not break off."""
AT_ONCE = 4
"""Batches of one round, requested concurrently."""
BARREN = 3
"""Rounds in a row without a task kept after which writing ends."""
_EXAMPLES = 6
"""Tools of which the model sees a call and its result."""
_VALUES = 6
"""Values that the model sees of each place."""
_RESULT_CHARS = 700
_RESOURCE_CHARS = 600


class Author:
    """Writes the tasks of a pack with a language model. `thrown_out` counts, by reason, what was not kept."""

    def __init__(
        self,
        server: ToolServer,
        known: Knowledge,
        config: ScenarioConfig,
        seed: int,
        model: LanguageModel,
        embedder: ChatModel | None = None,
        emit: Emit = ignore,
    ) -> None:
        self.server = server
        self.known = known
        self.config = config
        self.seed = seed
        self.model = model
        self.embedder = embedder
        self.emit = emit
        self.vetting = Vetting(server, known, config, seed)
        self.rng = random.Random(f"author {seed}")
        self.thrown_out: Counter[str] = Counter()
        self.kept: list[Scenario] = []
        self._triples: list[frozenset[tuple[str, ...]]] = []
        self._vectors: list[NDArray[np.float64]] = []
        self._meanings: set[str] = set()
        self._last_reply = ""

    async def write(self, targets: Mapping[Split, int]) -> list[Scenario]:
        """About as many tasks for each split as `targets` says.

        Raises `LlmError` if the first round's calls fail, `ScenarioError` if no task that the model wrote could be
        kept.
        """
        resources = [(uri, text[:_RESOURCE_CHARS]) for uri, text in await self.server.resources()][:5]
        barren = 0
        batches = 0
        while (missing := self._missing(targets)) and barren < BARREN:
            wanted: list[Split] = [split for split, n in missing.items() for _ in range(math.ceil(n / BATCH))]
            chats = [await self._chat(split, resources, batches + n) for n, split in enumerate(wanted[:AT_ONCE])]
            if batches == 0:
                await self._forecast(chats[0], sum(math.ceil(target / BATCH) for target in targets.values()))
            batches += len(chats)
            try:
                drafts = await self._drafts(chats)
            except LlmError as error:
                if not self.kept:
                    raise
                self.emit(Note(f"writing tasks ends: {error}"))
                break
            before = len(self.kept)
            await self._keep(await self._proved(drafts), targets)
            barren = 0 if len(self.kept) > before else barren + 1
        if barren == BARREN:
            self.emit(Note(f"writing tasks ends: the last {BARREN} rounds gave no task that could be kept"))
        if not self.kept:
            reasons = "; ".join(f"{count} {reason}" for reason, count in self.thrown_out.most_common(3))
            why = reasons or f"no tasks at all; its last reply was {self._last_reply[:120]!r}"
            raise ScenarioError(f"{self.model.name} wrote no task that could be kept ({why})")
        if missing := self._missing(targets):
            lacking = ", ".join(f"{count} {split}" for split, count in missing.items())
            self.emit(Note(f"fewer tasks than asked for: {lacking} are missing"))
        return self.kept

    def _missing(self, targets: Mapping[Split, int]) -> dict[Split, int]:
        """How many tasks each split still needs, for those that need some."""
        made = Counter(scenario.split for scenario in self.kept)
        return {split: target - made[split] for split, target in targets.items() if made[split] < target}

    async def _forecast(self, chat: list[dict[str, str]], calls: int) -> None:
        price = await self.model.price(chat, calls)
        self.emit(Note(f"{self.model.name} will be asked for tasks {counted(calls, 'time')} or more, {price}"))

    # --- prompts and replies ------------------------------------------------------------------------------------------

    async def _chat(self, split: Split, resources: list[tuple[str, str]], number: int) -> list[dict[str, str]]:
        """The messages for one batch: the rules, the data of the server that belongs to the split, and the request.

        `number` counts the batches. The fence is drawn anew for each, so that no data of the server can close it.
        """
        fence = f"server-{random.Random(f'{self.seed} {number}').getrandbits(48):012x}"
        data = {
            "tools": [tool.as_function()["function"] for tool in self.vetting.tools.values()],
            "resources": dict(resources),
            "values": self._values(split),
            "calls": await self._examples(split),
        }
        parts = [f"<{fence}>", *(f"<{kind}>{inert(value)}</{kind}>" for kind, value in data.items()), f"</{fence}>"]
        parts.append(f"Write {BATCH} tasks.")
        uncovered = self._uncovered()
        if uncovered and self.kept:
            parts.append(f"No task uses these tools and parameters yet; prefer them: {', '.join(uncovered[:10])}.")
        return [{"role": "system", "content": self._rules(fence)}, {"role": "user", "content": "\n".join(parts)}]

    def _rules(self, fence: str) -> str:
        """`scenarios/writer.md` with its placeholders filled."""
        instructions = f"- {self.config.instructions}\n" if self.config.instructions else ""
        filled = {"fence": fence, "max_calls": str(self.config.max_calls), "instructions": instructions}
        rules = find_bundled("scenarios", "writer.md").read_text()
        for name, value in filled.items():
            rules = rules.replace(f"{{{name}}}", value)
        return rules

    def _uncovered(self) -> list[str]:
        """The tools and parameters that no task uses yet, in random order."""
        used = {name for scenario in self.kept for name in covered(scenario)}
        names: list[str] = []
        for tool in self.vetting.tools.values():
            names += [tool.name, *(f"{tool.name}.{slot.path[0]}" for slot in slots(tool))]
        uncovered = [name for name in dict.fromkeys(names) if name not in used]
        self.rng.shuffle(uncovered)
        return uncovered

    def _values(self, split: Split) -> dict[str, list[Scalar]]:
        """A sample of the harvested values that belong to the split, by their place."""
        samples: dict[str, list[Scalar]] = {}
        for source, values in self.known.base.pool.items():
            of_split = [value for value in values if split_of(self.seed, value) == split and len(str(value)) <= 60]
            if of_split:
                samples[".".join(source[1:])] = self.rng.sample(of_split, min(len(of_split), _VALUES))
        return samples

    async def _examples(self, split: Split) -> list[dict[str, Any]]:
        """A few calls of reading tools with values of the split, and their results."""
        examples: list[dict[str, Any]] = []
        tools = self.known.reads()
        self.rng.shuffle(tools)
        async with turn_on(self.server, writing=False), Renewed(self.server) as session:
            for tool in tools[:_EXAMPLES]:
                needed = [slot for slot in self.known.slots[tool.name] if slot.required]
                options = [
                    self.known.options(slot, self.known.base, self.rng, lambda v: split_of(self.seed, v) == split)
                    for slot in needed
                ]
                if not all(options):
                    continue
                filled = zip(needed, options, strict=True)
                arguments = build({slot.path: self.rng.choice(values) for slot, values in filled})
                result = await session.call(tool.name, arguments)
                if usable(result):
                    text = result.text[:_RESULT_CHARS]
                    examples.append({"tool": tool.name, "arguments": arguments, "result": text})
        return examples

    async def _drafts(self, chats: Sequence[list[dict[str, str]]]) -> list[Draft]:
        """The drafts of a round, in the order of its batches. Raises the first `LlmError` if all its calls failed."""
        replies: list[str | None] = [None] * len(chats)
        errors: list[LlmError] = []

        async def request(n: int) -> None:
            try:
                replies[n] = await self.model.reply(chats[n], SCHEMA)
            except LlmError as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            for n in range(len(chats)):
                tasks.start_soon(request, n)
        if len(errors) == len(chats):
            raise errors[0]
        drafts: list[Draft] = []
        for reply in replies:
            if reply is None:
                continue
            self._last_reply = reply
            readable, unreadable = read(reply)
            drafts += readable
            self.thrown_out["could not be read"] += unreadable
            if not readable and not unreadable:
                self.thrown_out["a reply without tasks"] += 1
        self.thrown_out = +self.thrown_out
        return drafts

    # --- proving ------------------------------------------------------------------------------------------------------

    async def _proved(self, drafts: Sequence[Draft]) -> list[Scenario]:
        """The scenarios of the drafts that pass vetting twice, `repeat_after_s` apart, with the same outcome."""
        began = anyio.current_time()
        proved: list[tuple[Draft, Scenario]] = []
        for draft in drafts:
            try:
                proved.append((draft, await self.vetting.prove(draft)))
            except UnfitDraft as reason:
                self.thrown_out[str(reason)] += 1
        if proved:
            await anyio.sleep(max(0.0, began + self.config.repeat_after_s - anyio.current_time()))
        kept: list[Scenario] = []
        for draft, scenario in proved:
            try:
                if await self.vetting.prove(draft) != scenario:
                    raise UnfitDraft("changes from one execution to the next")
                kept.append(scenario)
            except UnfitDraft:
                self.thrown_out["changes from one execution to the next"] += 1
        return kept

    # --- keeping ------------------------------------------------------------------------------------------------------

    async def _keep(self, scenarios: Sequence[Scenario], targets: Mapping[Split, int]) -> None:
        """Keep the scenarios that are unlike all kept ones of any split, as far as their split still needs tasks."""
        vectors = await self._meaning([scenario.request for scenario in scenarios])
        for scenario, vector in zip(scenarios, vectors, strict=True):
            words = triples(scenario.request)
            meaning = json.dumps([[c.tool, c.arguments] for c in scenario.plan] + sorted(map(str, scenario.checks)))
            alike = any(likeness(words, other) >= ALIKE for other in self._triples)
            if alike or any(float(vector @ other) >= ALIKE_BY_MEANING for other in self._vectors):
                self.thrown_out["is much like another task"] += 1
            elif meaning in self._meanings:
                self.thrown_out["asks for the same as another task"] += 1
            elif scenario.split in self._missing(targets):
                self.kept.append(scenario)
                self._triples.append(words)
                self._vectors.append(vector)
                self._meanings.add(meaning)

    async def _meaning(self, requests: Sequence[str]) -> list[NDArray[np.float64]]:
        """A unit vector for each request; without an embedding model a zero vector, which is like no other."""
        if not self.embedder or not requests:
            return [np.zeros(1) for _ in requests]
        vectors = np.array(await self.embedder.embed(requests))
        return list(vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9))
