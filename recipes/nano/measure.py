"""How good the policy is on procedural servers that it never trained on: teacher-forced (quick), and really played.

`surveyed` measures the servers themselves: what tasks they give.
"""

import itertools
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from policy import hidden, layout
from talks import HELD_OUT, Group, encode, lesson, pack_of
from torch.nn import functional
from transformers import Qwen3ForCausalLM
from worlds import world

from mcprl.config import Config, ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ScenarioError
from mcprl.judges.verifier import Verifier
from mcprl.models.load import load_model
from mcprl.rollout import Sampler
from mcprl.types import Call, Fact, Scenario, Trajectory

_groups: dict[int, Group] = {}
"""The tokens of held-out worlds: a training measures itself on the same ones again and again."""


@torch.inference_mode()
def teacher_forced(model: Qwen3ForCausalLM, tokenizer: Any, worlds: int = 14) -> dict[str, str]:
    """The share of whole calls and whole final answers that greedy decoding would write token for token if all before
    were right, over all and by kind of task."""
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    call = tokenizer.convert_tokens_to_ids("<tool_call>")
    for seed in range(HELD_OUT, HELD_OUT + worlds):
        if seed not in _groups:
            _groups[seed] = encode(tokenizer, *lesson(seed))
        if not (group := _groups[seed]).branches:
            continue
        batch = layout([(group.prefix, [branch.ids for branch in group.branches])])
        guess = functional.linear(hidden(model, batch), model.model.embed_tokens.weight).argmax(-1).tolist()
        at = len(group.prefix)
        for branch in group.branches:
            for first, last in _runs(branch.weights):
                what = "call" if branch.ids[first] == call else "answer"
                ok = guess[at + first - 1 : at + last - 1] == branch.ids[first:last]
                for name in (what, f"{what}/{branch.kind}"):
                    seen[name] += 1
                    right[name] += ok
            at += len(branch.ids)
    return _shares(right, seen)


def _runs(weights: Sequence[float]) -> list[tuple[int, int]]:
    """Where the turns of the assistant begin and end."""
    edges = itertools.groupby(range(len(weights)), lambda t: weights[t] > 0)
    return [(places[0], places[-1] + 1) for spoken, run in edges if spoken and (places := list(run))]


def _shares(right: Counter[str], seen: Counter[str]) -> dict[str, str]:
    return {name: f"{right[name] / seen[name]:.3f} of {seen[name]}" for name in sorted(seen)}


async def played(folder: Path, worlds: int, first: int) -> dict[str, str]:
    """Greedy rollouts with the real engine, checked by the real verifier, on worlds that were never trained on.

    `success` is by the verifier; `calls` the share of planned calls made exactly; `answers` the share of one-call
    tasks answered right among those whose call was right.
    """
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    engine = EmbeddedEngine(load_model(ModelConfig(name=str(folder))))
    try:
        for seed in range(first, first + worlds):
            server = world(seed)
            try:
                scenarios = (await pack_of(server, seed)).scenarios
            except ScenarioError:
                continue
            verifier = Verifier(server.tools)
            sampler = Sampler(Config(seed=seed), server, engine)
            for group in await sampler.groups("held-out", 0, scenarios, 1, None):
                scenario, tried = group.scenario, group.trajectories[0]
                success = verifier.verify(scenario, tried).success
                made = [_made(call, tried) for call in scenario.plan]
                counts = [("success", success), (f"success/{scenario.kind}", success), *(("calls", ok) for ok in made)]
                if len(made) == 1 and made[0] and _asks(scenario):
                    counts.append(("answers", success))
                for name, ok in counts:
                    seen[name] += 1
                    right[name] += bool(ok)
    finally:
        await engine.close()
    return _shares(right, seen)


def _made(call: Call, tried: Trajectory) -> bool:
    return any(record.tool == call.tool and record.arguments == call.arguments for record in tried.calls)


def _asks(scenario: Scenario) -> bool:
    return any(check.kind in ("fact", "missing") for check in scenario.checks)


async def surveyed(worlds: int, first: int) -> dict[str, str]:
    """What the generator makes of worlds: seconds a world, tasks a world, the shares of kinds, of plan lengths and of
    families of forms, and the share of tasks whose fact has a meaning other than text."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "calls", "form", "meaning")}
    started, tasks, barren = time.process_time(), 0, 0
    for seed in range(first, first + worlds):
        try:
            scenarios = (await pack_of(world(seed), seed)).scenarios
        except ScenarioError:
            barren += 1
            continue
        tasks += len(scenarios)
        for scenario in scenarios:
            counts["kind"][scenario.kind] += 1
            counts["calls"][str(len(scenario.plan))] += 1
            counts["form"][scenario.form.split("/")[0]] += 1
            counts["meaning"].update(check.meaning for check in scenario.checks if isinstance(check, Fact))
    passed = time.process_time() - started
    rows = {"worlds": f"{worlds}, {barren} of them without tasks", "CPU seconds a world": f"{passed / worlds:.2f}"}
    rows["tasks a world"] = f"{tasks / worlds:.1f}"
    for name, counter in counts.items():
        shares = (f"{each} {100 * count / counter.total():.0f} %" for each, count in counter.most_common(16))
        rows[name] = ", ".join(shares)
    return rows
