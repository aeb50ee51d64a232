"""Tasks that a language model writes from what the live server holds, each proved by executing its own plan.

The model gets the tools, resources, values and results that probing found, and writes drafts in batches; what earlier
batches left uncovered is asked for in the next. `vetting` says which drafts are tasks; what is thrown out is counted by
reason. Of tasks that are alike one is kept, whichever splits they belong to.
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
from mcprl.judges.checks import Scalar
from mcprl.llm import LanguageModel
from mcprl.llm.litellm import ChatModel
from mcprl.scenarios.drafts import ALIKE, ALIKE_BY_MEANING, SCHEMA, Draft, likeness, read, triples
from mcprl.scenarios.fields import usable
from mcprl.scenarios.knowledge import Knowledge
from mcprl.scenarios.pack import covered, split_of
from mcprl.scenarios.slots import build, slots
from mcprl.scenarios.vetting import UnfitDraft, Vetting
from mcprl.text import inert
from mcprl.types import Scenario, Split, ToolServer

BATCH = 12
"""Tasks asked for at once: enough to share the price of the prompt, few enough that a reply does not break off."""
AT_ONCE = 4
"""Batches under way at once. Those of the next round are told what these left uncovered."""
BARREN = 3
"""Rounds without one task that could be kept before the model is given up."""
_EXAMPLES, _VALUES, _RESULT_CHARS, _RESOURCE_CHARS = 6, 6, 700, 600


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
        self.server, self.known, self.config, self.seed = server, known, config, seed
        self.model, self.embedder, self.emit = model, embedder, emit
        self.vetting = Vetting(server, known, config, seed)
        self.rng = random.Random(f"author {seed}")
        self.thrown_out: Counter[str] = Counter()
        self.kept: list[Scenario] = []
        self._triples: list[frozenset[tuple[str, ...]]] = []
        self._vectors: list[NDArray[np.float64]] = []
        self._meanings: set[str] = set()
        self._last = ""

    async def write(self, targets: Mapping[Split, int]) -> list[Scenario]:
        """About as many tasks for each split as `targets` says.

        Raises `LlmError` where the model cannot be asked, `ScenarioError` where nothing that it wrote could be kept.
        """
        resources = [(uri, text[:_RESOURCE_CHARS]) for uri, text in await self.server.resources()][:5]
        barren = asked = 0
        while (missing := self._missing(targets)) and barren < BARREN:
            wanted: list[Split] = [split for split, n in missing.items() for _ in range(math.ceil(n / BATCH))]
            del wanted[AT_ONCE:]
            chats = [await self._chat(split, resources, asked + n) for n, split in enumerate(wanted)]
            if not asked:
                await self._forecast(chats[0], sum(math.ceil(target / BATCH) for target in targets.values()))
            asked += len(chats)
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
        if not self.kept:
            why = "; ".join(f"{count} {reason}" for reason, count in self.thrown_out.most_common(3))
            said = f"; it said {self._last[:120]!r}" if not self.thrown_out else ""
            raise ScenarioError(
                f"{self.model.name} wrote no task that could be kept ({why or 'no tasks at all'}{said})"
            )
        if missing := self._missing(targets):
            lacking = ", ".join(f"{count} {split}" for split, count in missing.items())
            self.emit(Note(f"fewer tasks than asked for: {lacking} are missing"))
        return self.kept

    def _missing(self, targets: Mapping[Split, int]) -> dict[Split, int]:
        made = Counter(scenario.split for scenario in self.kept)
        return {split: target - made[split] for split, target in targets.items() if made[split] < target}

    async def _forecast(self, chat: list[dict[str, str]], calls: int) -> None:
        price = await self.model.price(chat, calls)
        self.emit(Note(f"{self.model.name} will be asked for tasks {calls} times or more, {price}"))

    # --- asking -------------------------------------------------------------------------------------------------------

    async def _chat(self, split: Split, resources: list[tuple[str, str]], number: int) -> list[dict[str, str]]:
        """What one batch is asked with: the rules, and what the server holds that belongs to the split."""
        fence = f"server-{random.Random(f'{self.seed} {number}').getrandbits(48):012x}"
        instructions = f"- {self.config.instructions}\n" if self.config.instructions else ""
        filled = {"fence": fence, "max_calls": str(self.config.max_calls), "instructions": instructions}
        rules = find_bundled("scenarios", "writer.md").read_text()
        for name, value in filled.items():
            rules = rules.replace(f"{{{name}}}", value)
        data = {
            "tools": [tool.as_function()["function"] for tool in self.server.tools],
            "resources": dict(resources),
            "values": self._values(split),
            "calls": await self._examples(split),
        }
        parts = [f"<{fence}>", *(f"<{kind}>{inert(value)}</{kind}>" for kind, value in data.items()), f"</{fence}>"]
        used = {name for scenario in self.kept for name in covered(scenario)}
        names = [
            n for tool in self.server.tools for n in (tool.name, *(f"{tool.name}.{s.path[0]}" for s in slots(tool)))
        ]
        uncovered = [name for name in dict.fromkeys(names) if name not in used]
        self.rng.shuffle(uncovered)
        parts.append(f"Write {BATCH} tasks.")
        if uncovered and self.kept:
            parts.append(f"No task uses these tools and parameters yet; prefer them: {', '.join(uncovered[:10])}.")
        return [{"role": "system", "content": rules}, {"role": "user", "content": "\n".join(parts)}]

    def _values(self, split: Split) -> dict[str, list[Scalar]]:
        """A sample of the values that probing found and that belong to the split, by where they stood."""
        found: dict[str, list[Scalar]] = {}
        for group, values in self.known.base.pool.items():
            own = [value for value in values if split_of(self.seed, value) == split and len(str(value)) <= 60]
            if own:
                found[".".join(group[1:])] = self.rng.sample(own, min(len(own), _VALUES))
        return found

    async def _examples(self, split: Split) -> list[dict[str, Any]]:
        """A few calls of reading tools, with values of the split, and what they gave."""
        shown: list[dict[str, Any]] = []
        tools = self.known.reads()
        self.rng.shuffle(tools)
        async with self.server.session() as session:
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
                    call = {"tool": tool.name, "arguments": arguments}
                    shown.append(call | {"result": result.text[:_RESULT_CHARS]})
        return shown

    async def _drafts(self, chats: Sequence[list[dict[str, str]]]) -> list[Draft]:
        """What the model wrote, in the order of the batches."""
        replies: list[str | None] = [None] * len(chats)
        failed: list[LlmError] = []

        async def one(n: int) -> None:
            try:
                replies[n] = await self.model.reply(chats[n], SCHEMA)
            except LlmError as error:
                failed.append(error)

        async with anyio.create_task_group() as tasks:
            for n in range(len(chats)):
                tasks.start_soon(one, n)
        if len(failed) == len(chats):
            raise failed[0]
        drafts: list[Draft] = []
        for reply in [reply for reply in replies if reply is not None]:
            self._last = reply
            found, unreadable = read(reply)
            drafts += found
            self.thrown_out["could not be read"] += unreadable
            if not found and not unreadable:
                self.thrown_out["a reply without tasks"] += 1
        self.thrown_out = +self.thrown_out
        return drafts

    # --- proving ------------------------------------------------------------------------------------------------------

    async def _proved(self, drafts: Sequence[Draft]) -> list[Scenario]:
        """The drafts that are tasks: executed, checked, and the same when executed again."""
        began = anyio.current_time()
        made: list[tuple[Draft, Scenario]] = []
        for draft in drafts:
            try:
                made.append((draft, await self.vetting.prove(draft)))
            except UnfitDraft as reason:
                self.thrown_out[str(reason)] += 1
        await anyio.sleep(max(0.0, began + self.config.repeat_after_s - anyio.current_time()) if made else 0)
        kept: list[Scenario] = []
        for draft, scenario in made:
            try:
                if await self.vetting.prove(draft) != scenario:
                    raise UnfitDraft("changes from one execution to the next")
                kept.append(scenario)
            except UnfitDraft:
                self.thrown_out["changes from one execution to the next"] += 1
        return kept

    # --- keeping ------------------------------------------------------------------------------------------------------

    async def _keep(self, scenarios: Sequence[Scenario], targets: Mapping[Split, int]) -> None:
        """Take what is unlike all that was kept, in whichever split, and what there is room for."""
        vectors = await self._meaning([scenario.request for scenario in scenarios])
        for scenario, vector in zip(scenarios, vectors, strict=True):
            own = triples(scenario.request)
            meaning = json.dumps([[c.tool, c.arguments] for c in scenario.plan] + sorted(map(str, scenario.checks)))
            close = any(likeness(own, other) >= ALIKE for other in self._triples)
            if close or any(float(vector @ other) >= ALIKE_BY_MEANING for other in self._vectors):
                self.thrown_out["is much like another task"] += 1
            elif meaning in self._meanings:
                self.thrown_out["asks for the same as another task"] += 1
            elif scenario.split in self._missing(targets):
                self.kept.append(scenario)
                self._triples.append(own)
                self._vectors.append(vector)
                self._meanings.add(meaning)

    async def _meaning(self, requests: Sequence[str]) -> list[NDArray[np.float64]]:
        """A vector of length one for each request; of length zero without a model that makes vectors."""
        if not self.embedder or not requests:
            return [np.zeros(1) for _ in requests]
        found = np.array(await self.embedder.embed(requests))
        return list(found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-9))
