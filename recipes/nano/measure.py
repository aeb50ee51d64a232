"""How good the policy is on procedural servers that it never trained on: teacher-forced (quick), and really played."""

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from policy import hidden, layout
from talks import HELD_OUT, encode, lesson, pack_of
from torch.nn import functional
from transformers import Qwen3ForCausalLM
from worlds import world

from mcprl.config import Config, ModelConfig
from mcprl.engines.embedded.engine import EmbeddedEngine
from mcprl.errors import ScenarioError
from mcprl.judges.verifier import Verifier
from mcprl.models.load import load_model
from mcprl.rollout import Sampler
from mcprl.types import Call, Scenario, Trajectory


@torch.inference_mode()
def teacher_forced(model: Qwen3ForCausalLM, tokenizer: Any, worlds: int = 14) -> dict[str, str]:
    """The share of whole calls and whole final answers that greedy decoding would write token for token if all before
    were right, over all and by kind of task."""
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    call = tokenizer.convert_tokens_to_ids("<tool_call>")
    for seed in range(HELD_OUT, HELD_OUT + worlds):
        group = encode(tokenizer, *lesson(seed))
        if not group.branches:
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
