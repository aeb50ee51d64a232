"""Inputs for a task without a server, written by a language model: kinds of inputs, each in three difficulties.

task -> kinds -> inputs of each kind and difficulty -> none like another -> train, val, test
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product, zip_longest
from typing import Any

import anyio

from mcprl.config import POLICY, JudgeConfig, ScenarioConfig
from mcprl.errors import LlmError, ScenarioError
from mcprl.events import Emit, InstallStep, Note, ignore
from mcprl.files import find_cache
from mcprl.llm import LanguageModel, open_llm
from mcprl.scenarios.packs.pack import Pack
from mcprl.text import counted, find_json, inert
from mcprl.types import Scenario, Split

KINDS = 12
"""Kinds of inputs that are asked for."""
DIFFICULTIES = ("easy", "medium", "hard")
EACH = 6
"""Inputs in one reply: few enough that a small model does not begin to repeat itself."""
ALIKE = 0.7
"""The share of words that two inputs have in common from which on one of them is left out."""
AT_ONCE = 8
_ROUNDS = 12
"""Replies for each kind and difficulty at most."""
_SHOWN = 12
"""Inputs that a writer is shown, to write others."""
_KINDS = (
    "You plan inputs on which a model is trained and tested. The user's message has, as JSON, what the model is to do "
    "with an input. Name {count} different kinds of inputs that people would give it, in a few words each. Reply with "
    'JSON alone: {{"kinds": ["...", "..."]}}'
)
_INPUTS = (
    "You write inputs on which a model is trained and tested. The user's message has, as JSON, what the model is to do "
    "with an input, and of which kind and how difficult the inputs are to be. Write {count} such inputs as people "
    "would type them, each complete in itself, all different, and different from those in `written`. Write no answers. "
    'Reply with JSON alone: {{"inputs": ["...", "..."]}}'
)


async def write_inputs(model: LanguageModel, config: ScenarioConfig, task: str, seed: int, emit: Emit = ignore) -> Pack:
    """Inputs for `task`, as many as `config` asks for in each split or as the model can think of.

    None is like another, and each kind stands in all splits. Raises `LlmError` if the model cannot be asked, and
    `ScenarioError` if it names no kind or writes no input.
    """
    wanted = config.train + config.val + config.test
    kinds = _distinct(await _ask(model, _KINDS.format(count=KINDS), "kinds", KINDS, {"task": task}))[:KINDS]
    if not kinds:
        raise ScenarioError(f"{model.name} named no kind of input for this task; name another --judge-model")
    emit(Note(f"{model.name} writes {counted(wanted, 'input')} of {counted(len(kinds), 'kind')}: {'; '.join(kinds)}"))
    cells = list(product(kinds, DIFFICULTIES))
    random.Random(f"cells {seed}").shuffle(cells)
    written: dict[tuple[str, str], list[str]] = {cell: [] for cell in cells}
    words: list[frozenset[str]] = []
    failed: list[str] = []
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def extend(cell: tuple[str, str]) -> None:
        kind, difficulty = cell
        asked = {"task": task, "kind": kind, "difficulty": difficulty, "written": written[cell][-_SHOWN:]}
        async with limiter:
            try:
                texts = await _ask(model, _INPUTS.format(count=EACH), "inputs", EACH, asked)
            except LlmError as error:
                failed.append(str(error))  # another reply may do
                return
        for text in texts:
            own = frozenset(text.lower().split())
            if own and not any(_alike(own, other) for other in words):
                words.append(own)
                written[cell].append(text)
                emit(InstallStep(f"writing inputs: {len(words)} of {wanted}"))

    for _ in range(_ROUNDS):
        before = len(words)
        async with anyio.create_task_group() as tasks:
            for cell in cells[: max(1, -(-(wanted - before) // EACH))]:
                tasks.start_soon(extend, cell)
        cells = sorted(cells, key=lambda cell: len(written[cell]))
        if len(words) >= wanted or (len(words) == before and before):
            break
    if not words:
        why = f"; the last failure: {failed[-1]}" if failed else ""
        raise ScenarioError(f"{model.name} wrote no input that can be read{why}")
    inputs = [(kind, difficulty, text) for (kind, difficulty), texts in written.items() for text in texts]
    return Pack(tuple(_dealt(inputs, config, seed)), seed=seed)


def writer(config: ScenarioConfig, judge: JudgeConfig, policy: LanguageModel) -> LanguageModel:
    """The language model that writes inputs: the configured writer, else the judge."""
    named = config.writer.partition(":")[2]
    if not named and judge.model == POLICY:
        return policy
    model = open_llm(
        named or judge.model,
        "scenarios.writer",
        policy,
        base_url=config.writer_base_url if named else judge.base_url,
        max_cost=config.max_writer_cost,
        cache=find_cache(config.writer_cache, "writer"),
        limit="--max-writer-cost",
    )
    model.require()
    return model


def _dealt(inputs: Sequence[tuple[str, str, str]], config: ScenarioConfig, seed: int) -> Iterable[Scenario]:
    """The inputs as scenarios. Those of each kind go to the splits in the proportion of the splits' sizes."""
    sizes: dict[Split, int] = {"train": config.train, "val": config.val, "test": config.test}
    wanted = sum(sizes.values())
    by_kind: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    shuffled = random.Random(f"inputs {seed}").sample(inputs, len(inputs))
    for kind, difficulty, text in shuffled:
        by_kind[kind].append((kind, difficulty, text))
    in_turn = [each for turn in zip_longest(*by_kind.values()) for each in turn if each][:wanted]
    dealt = dict.fromkeys(sizes, 0)
    for n, (kind, difficulty, text) in enumerate(sorted(in_turn, key=lambda each: each[0]), 1):
        split = max(sizes, key=lambda split: n * sizes[split] / wanted - dealt[split])
        dealt[split] += 1
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        yield Scenario(name, text, (), kind=difficulty, values=(kind,), split=split, suite="inputs")


async def _ask(model: LanguageModel, rules: str, key: str, count: int, asked: dict[str, Any]) -> list[str]:
    """The texts under `key` in the model's reply; none if it cannot be read."""
    each = {"type": "string", "maxLength": 600}
    items = {"type": "array", "items": each, "minItems": count, "maxItems": count}
    schema = {"type": "object", "properties": {key: items}, "required": [key], "additionalProperties": False}
    chat = [{"role": "system", "content": rules}, {"role": "user", "content": inert(asked)}]
    tree: Any = find_json(await model.reply(chat, schema))
    texts: Any = tree.get(key) if isinstance(tree, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [text.strip() for text in texts if isinstance(text, str)] if isinstance(texts, list) else []  # pyright: ignore[reportUnknownVariableType]


def _distinct(texts: Iterable[str]) -> list[str]:
    return list({text.casefold(): text for text in texts if text}.values())


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)
