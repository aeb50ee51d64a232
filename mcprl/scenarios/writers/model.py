"""A language model as a writer: it words briefs, and tells which of several briefs a request is of."""

import random
from collections.abc import Sequence
from typing import Any

import anyio

from mcprl.errors import LlmError
from mcprl.events import Emit, Note, ignore
from mcprl.files import find_bundled
from mcprl.llm import LanguageModel
from mcprl.scenarios.brief import Brief, written_for
from mcprl.text import counted, fill_template, find_json, inert

BATCH = 10
"""Briefs in one call: enough to share the price of the prompt and to keep the requests apart."""
AT_ONCE = 8
_WRITTEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "requests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "texts": {"type": "array", "items": {"type": "string"}}},
                "required": ["id", "texts"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["requests"],
    "additionalProperties": False,
}
_CHOICE: dict[str, Any] = {
    "type": "object",
    "properties": {"choice": {"type": "integer"}},
    "required": ["choice"],
    "additionalProperties": False,
}
_ASK = (
    "A person typed a request to an agent that calls tools. Which of these briefs is it of? Each shows calls, what of "
    'their results matters, and the answer. Reply with JSON and nothing else: {"choice": NUMBER}, 0 if it fits none or '
    "several."
)


class ModelWriter:
    """Writes with a language model behind the `llm` seam. What is left at its cost limit stays unwritten."""

    def __init__(self, model: LanguageModel, seed: int, emit: Emit = ignore) -> None:
        self.name = f"llm:{model.name}"
        self._model, self._seed, self._emit = model, seed, emit
        self._failure: LlmError | None = None

    async def write(self, briefs: Sequence[Brief], k: int) -> list[list[str]]:
        """`k` requests for each brief. Raises `LlmError` if the model cannot be asked at all."""
        written: list[list[str]] = [[] for _ in briefs]
        for start in range(0, len(briefs), BATCH):
            chat = self._chat(briefs[start : start + BATCH], k, start)
            if start == 0:
                price = await self._model.price(chat, 1 + len(briefs) // BATCH + 2 * k * len(briefs))
                self._emit(
                    Note(f"{self._model.name} will word {counted(len(briefs), 'task')} and tell them apart, {price}")
                )
            try:
                reply = await self._model.reply(chat, _WRITTEN)
            except LlmError as error:
                if start == 0:
                    raise
                self._emit(Note(f"writing ends: {error}"))
                break
            for at, texts in _read(reply).items():
                if 0 <= at < len(briefs[start : start + BATCH]):
                    written[start + at] = texts[:k]
        return [[*texts, *[""] * (k - len(texts))] for texts in written]

    def _chat(self, briefs: Sequence[Brief], k: int, number: int) -> list[dict[str, str]]:
        """The messages for some briefs. The fence is drawn anew for each, so that no result can close it."""
        fence = f"briefs-{random.Random(f'write {self._seed} {number}').getrandbits(48):012x}"
        items = [{"id": at, "brief": written_for(each), "said": list(each.said)} for at, each in enumerate(briefs)]
        rules = fill_template(find_bundled("scenarios", "requests.md").read_text(), fence=fence, count=str(k))
        return [
            {"role": "system", "content": rules},
            {"role": "user", "content": f"<{fence}>{inert(items)}</{fence}>"},
        ]

    async def margins(self, contrasts: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
        """1 for a request that the model finds to be of its first brief, in two orders of the briefs, else -1; 0 where
        there is no other brief."""
        found = [0.0] * len(contrasts)
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def judge(n: int) -> None:
            request, briefs = contrasts[n]
            async with limiter:
                both = [await self._is_first(request, briefs, turned) for turned in (False, True)]
            found[n] = 1.0 if all(both) else -1.0

        async with anyio.create_task_group() as tasks:
            for n, (_, briefs) in enumerate(contrasts):
                if len(briefs) > 1:
                    tasks.start_soon(judge, n)
        return found

    async def _is_first(self, request: str, briefs: Sequence[str], turned: bool) -> bool:
        shown = [*reversed(briefs)] if turned else [*briefs]
        items = {"request": request, "briefs": {str(at): brief for at, brief in enumerate(shown, 1)}}
        chat = [{"role": "system", "content": _ASK}, {"role": "user", "content": inert(items)}]
        try:
            tree: Any = find_json(await self._model.reply(chat, _CHOICE))
        except LlmError:
            return False  # what cannot be told is not taken
        choice = tree.get("choice") if isinstance(tree, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return choice == (len(briefs) if turned else 1)


def _read(reply: str) -> dict[int, list[str]]:
    """The requests of a reply by the number of their brief; none if it cannot be read."""
    tree: Any = find_json(reply)
    entries: Any = tree.get("requests") if isinstance(tree, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    found: dict[int, list[str]] = {}
    for entry in entries if isinstance(entries, list) else []:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(entry, dict) and isinstance(entry.get("id"), int) and isinstance(entry.get("texts"), list):  # pyright: ignore[reportUnknownMemberType]
            found[entry["id"]] = [str(text).strip() for text in entry["texts"]]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return found
