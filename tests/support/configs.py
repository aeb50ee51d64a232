"""Configurations of small runs."""

from pathlib import Path
from typing import Any

from mcprl.config import Config
from mcprl.runs.settings import parse
from support.paths import SHOP


def small(model: Path, runs: Path, **more: Any) -> Config:
    """A run of seconds: a random policy, few tasks, two steps."""
    training = {
        "recipe": "sft+rl",
        "warm_start_steps": 2,
        "warm_start_plans": 4,
        "steps": 2,
        "scenarios_per_step": 2,
        "group_size": 3,
        "eval_every": 1,
        "learning_rate": 1e-2,
    }
    tree: dict[str, Any] = {
        "name": "small",
        "runs_dir": str(runs),
        "servers": [{"target": SHOP}],
        "tools": {"read_only": True},
        "scenarios": {"train": 6, "val": 3, "test": 4, "test_forms": 0, "probe_calls": 60, "repeat_after_s": 0.1},
        "model": {"name": str(model), "lora_rank": 4},
        "rollout": {"max_turns": 2, "max_tokens": 12},
        "training": training | more.pop("training", {}),
    }
    tree |= more
    tree["scenarios"] = {"floor": False, **tree["scenarios"]}
    return parse(tree)
